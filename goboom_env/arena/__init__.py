"""Play between policies: recording, and paired evaluation."""

from goboom_env.arena.match import Comparison, compare

__all__ = ["Comparison", "compare"]
