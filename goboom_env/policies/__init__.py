"""Policies: a batch of VIEW records in, actions out."""

from goboom_env.policies.base import FunctionPolicy, Policy, PolicySpec, make, make_seats, names

__all__ = ["FunctionPolicy", "Policy", "PolicySpec", "make", "make_seats", "names"]
