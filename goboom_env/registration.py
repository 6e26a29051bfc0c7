"""Presets to environment ids."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

from goboom_env.rules import PRESETS


def env_id(preset: str) -> str:
    """`"classic-reverse"` is `"GoBoom/ClassicReverse-v0"`."""
    return f"GoBoom/{''.join(word.capitalize() for word in preset.split('-'))}-v0"


ENV_IDS = {env_id(preset): preset for preset in PRESETS}
"""Every registered id and the preset it plays."""


def register_envs() -> None:
    """Register an id for each preset; again does nothing."""
    for name, preset in ENV_IDS.items():
        if name not in registry:
            register(
                name,
                entry_point="goboom_env.envs.single:GoBoomEnv",
                vector_entry_point="goboom_env.envs.vector:GoBoomVectorEnv",
                kwargs={"rules": preset},
            )
