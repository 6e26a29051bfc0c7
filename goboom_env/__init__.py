"""Go Boom as a reinforcement-learning environment. Importing registers the environment ids and compiles nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from goboom_env.registration import register_envs
from goboom_env.rules import PRESETS, Rules
from goboom_env.version import __version__

if TYPE_CHECKING:
    from goboom_env.actions import IllegalActionError
    from goboom_env.engine.game import Game
    from goboom_env.envs.single import GoBoomEnv
    from goboom_env.envs.vector import GoBoomVectorEnv
    from goboom_env.policies import Policy
    from goboom_env.sampling import sample_legal

_LAZY = {
    "Game": "goboom_env.engine.game",
    "GoBoomEnv": "goboom_env.envs.single",
    "GoBoomVectorEnv": "goboom_env.envs.vector",
    "IllegalActionError": "goboom_env.actions",
    "Policy": "goboom_env.policies",
    "sample_legal": "goboom_env.sampling",
}

__all__ = ["PRESETS", "Game", "GoBoomEnv", "GoBoomVectorEnv", "IllegalActionError", "Policy", "Rules", "__version__", "sample_legal"]

register_envs()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'goboom_env' has no attribute {name!r}")
