"""Play between policies: recording, paired evaluation, reports."""

from goboom_env.arena.match import Comparison, compare

__all__ = ["Comparison", "compare"]
