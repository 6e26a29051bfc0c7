"""The policy protocol, and policies by name, path, function or mix."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.state import Records
from goboom_env.observation import features
from goboom_env.rules import Rules, nearest

PolicyFunction: TypeAlias = Callable[[NDArray[np.uint8], NDArray[np.int8]], int]
"""A plain function `(observation, mask) -> action`."""


class Policy:
    """Chooses actions for seats from what they may know.

    Subclass it and write `act`; write `bind` too where the policy must know the rules it plays.

    Attributes:
        name: How tables and records call the policy.
        code: Number of a rule bot in compiled loops, -1 for every other policy.
    """

    name: str = "policy"
    code: int = -1

    def bind(self, rules: Rules, num_players: int) -> Policy:
        """The policy ready for a table of these rules and seats; `ValueError` where it cannot play there."""
        return self

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Actions for a batch of decisions.

        Args:
            views: Records of `goboom_env.observation.view.VIEW`, shape (k,), each of a seat that is to act.
            rng: 64 random bits for each, shape (k,), uint64, from the policy stream of its table. Whatever a policy draws
                comes from them, so that play does not depend on which tables share a batch.

        Returns:
            Action ids, shape (k,), each legal in its view.
        """
        raise NotImplementedError


class FunctionPolicy(Policy):
    """A user's function `(observation, mask) -> action`, asked once for each decision."""

    def __init__(self, function: PolicyFunction, name: str | None = None) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self._table: tuple[Rules, int] | None = None

    def bind(self, rules: Rules, num_players: int) -> FunctionPolicy:
        """The function, with the observation of this table."""
        bound = FunctionPolicy(self.function, self.name)
        bound._table = (rules, num_players)
        return bound

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The function's answer to each observation and mask."""
        if self._table is None:
            raise RuntimeError(f"policy {self.name!r} is not bound to rules: use the result of .bind(rules, num_players)")
        observations, masks = features.encode(*self._table, views)
        answers = [self.function(observation, mask) for observation, mask in zip(observations, masks, strict=True)]
        try:
            return np.array([operator.index(answer) for answer in answers], np.int64)
        except (TypeError, OverflowError):
            wrong = next(answer for answer in answers if not hasattr(answer, "__index__") or not -(2**63) <= operator.index(answer) < 2**63)
            raise ValueError(f"policy {self.name!r} must return an action id, got {wrong!r}") from None


PolicySpec: TypeAlias = "str | Path | Policy | PolicyFunction"
"""A policy's name, the path of a trained one, a `Policy`, or a function."""

Mix: TypeAlias = "PolicySpec | Mapping[Any, float]"
"""One policy, or policies with weights of which one is drawn each episode."""


def names() -> dict[str, str]:
    """Names that `make` knows, with a line on each."""
    from goboom_env.policies.scripted import BOTS

    return {
        **BOTS,
        "endgame": "exact where two players have emptied the stock, a bot before: endgame:BOT:OBJECTIVE, as in endgame:void",
        "search": "determinised Monte Carlo: search:BUDGET:BOT:OBJECTIVE, as in search:128, search:50ms or search:64:lead:points",
        "trained": "the published network of the table's rules and seats",
        "search+trained": "search that a network guides: search+NETWORK:BUDGET:BOT:OBJECTIVE, as in search+trained:64",
    }


def make(spec: PolicySpec) -> Policy:
    """A policy from its name, the path of a `.safetensors` file, a `Policy` or a function.

    Raises:
        ValueError: Unknown name, or a file that is missing or no trained policy.
    """
    from goboom_env.policies.endgame import EndgamePolicy
    from goboom_env.policies.network import NetworkPolicy
    from goboom_env.policies.scripted import BOTS, ScriptedPolicy
    from goboom_env.policies.search import SearchPolicy
    from goboom_env.policies.trained import TrainedPolicy

    if isinstance(spec, Policy):
        return spec
    if isinstance(spec, (str, Path)):
        text = str(spec)
        if text in BOTS:
            return ScriptedPolicy(text)
        if text == "trained":
            return TrainedPolicy()
        if text.split(":")[0] == "endgame":
            return EndgamePolicy.from_text(text)
        if text.split(":")[0].split("+")[0] == "search":
            return SearchPolicy.from_text(text)
        if isinstance(spec, Path) or Path(text).suffix or "/" in text:
            return NetworkPolicy.load(spec)
        raise ValueError(f"there is no policy {text!r}{nearest(text, names())} (a trained policy is the path of a .safetensors file)")
    if callable(spec):
        return FunctionPolicy(spec)
    raise ValueError(f"{spec!r} is no policy: give a name ({', '.join(names())}), a .safetensors path, a Policy or a function")


def make_seats(opponents: Mix | Sequence[Mix], seats: int) -> list[list[tuple[Policy, float]]]:
    """Policies and weights for each of `seats` seats, from one policy or mix for all of them or a list with one each.

    Raises:
        ValueError: A list of another length, an unknown policy, or weights that are no shares.
    """
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        if len(opponents) != seats:
            raise ValueError(f"opponents names {len(opponents)} policies for {seats} opponent seats: give one a seat, or one for all")
        return [_make_mix(mix) for mix in opponents]
    return [_make_mix(opponents)] * seats


def _make_mix(mix: Mix) -> list[tuple[Policy, float]]:
    if not isinstance(mix, Mapping):
        return [(make(mix), 1.0)]
    weights = [float(weight) if isinstance(weight, (int, float)) else math.nan for weight in mix.values()]
    total = sum(weights)
    if not mix or not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not total:
        raise ValueError(f"weights of a mix must be numbers of 0 or more that do not sum to 0, got {dict(mix)}")
    return [(make(spec), weight / total) for spec, weight in zip(mix, weights, strict=True) if weight]
