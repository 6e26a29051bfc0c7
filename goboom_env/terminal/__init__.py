"""Play, watching and replay for people at a terminal."""
