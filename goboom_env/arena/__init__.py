"""Play between policies: recording, paired evaluation, and tournaments with ratings."""

from goboom_env.arena.match import Comparison, compare
from goboom_env.arena.rating import Rating
from goboom_env.arena.tournament import PolicyResult, RoundRobin, planned_deals, round_robin

__all__ = ["Comparison", "PolicyResult", "Rating", "RoundRobin", "compare", "planned_deals", "round_robin"]
