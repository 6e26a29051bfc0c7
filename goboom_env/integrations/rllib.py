"""RLlib (new API stack): a `MultiAgentEnv`, the masked PPO module for it, and its network as a policy file.

Every keyword argument of `GoBoomEnv` goes through `env_config`. `training/rllib_train.py` is a whole training run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from goboom_env.actions import IllegalActionError
from goboom_env.engine import kernels
from goboom_env.engine.state import compile_rules
from goboom_env.envs.common import build_table
from goboom_env.observation import VERSION
from goboom_env.policies.network import ACTIVATIONS, FORMAT, NetworkPolicy
from goboom_env.render.scene import make_scene
from goboom_env.render.text import table_text
from goboom_env.rules import Rules, get_rules

SHARED = "shared"
"""Name of the one module of all seats."""


def agent(seat: int) -> str:
    """Name of the agent on a seat."""
    return f"player_{seat}"


class GoBoomMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]  # ray is untyped
    """A table with an agent on every seat, or one agent among policies of ours.

    An observation goes to the agent that is to act alone, as `{"observations": ..., "action_mask": ...}`, both float32 of 0
    and 1: what `GoBoomEnv` shows that seat, and its legal actions. Agents are paid when a hand ends (`reward="win"` in a match: when that
    ends), those that have acted in the episode: one that never had a choice learns nothing from it.

    Args:
        config: Keyword arguments of `GoBoomEnv`, `rules` to `render_mode`, with its defaults but one: `opponents="self"`, an agent
            `player_0`, `player_1`, ... on every seat. With any other `opponents` the one agent is `player_0`, on seat 0.

    Attributes:
        forfeited: Whether the episode ended by an illegal action.

    Raises:
        TypeError: An unknown key.
        ValueError: An unknown word or policy, or an impossible player count.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012 - as gymnasium.Env declares it

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._set_up(**dict(config or {}))

    def _set_up(
        self,
        rules: str | Rules = "classic",
        num_players: int | None = None,
        opponents: Any = "self",
        episode: str = "hand",
        reward: str = "score",
        forced: str = "auto",
        illegal_action: str = "forfeit",
        render_mode: str | None = None,
    ) -> None:
        self._table = build_table(rules, num_players, opponents, illegal_action, render_mode, episode=episode, reward=reward, forced=forced)
        self._by_hand = reward == "score"
        self.illegal_action, self.render_mode = illegal_action, render_mode
        self.rules, self.num_players = self._table.rules, self._table.num_players
        self._tables = compile_rules(self.rules, self.num_players)
        seats = range(self.num_players) if self._table.learner < 0 else [self._table.learner]
        self.possible_agents = [agent(seat) for seat in seats]
        self.agents = list(self.possible_agents)
        features, actions = self._table.num_features, self._table.num_actions
        one = spaces.Dict(
            {"observations": spaces.Box(0, 1, (features,), np.float32), "action_mask": spaces.Box(0, 1, (actions,), np.float32)}
        )
        self.observation_spaces: dict[str, gym.Space[Any]] = dict.fromkeys(self.possible_agents, one)
        self.action_spaces: dict[str, gym.Space[Any]] = dict.fromkeys(self.possible_agents, spaces.Discrete(actions))
        self._paid = np.zeros(self.num_players)
        self._acted: set[int] = set()
        self.forfeited = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal. The same seed gives the same episodes."""
        self._table.reset(None if seed is None else [seed])
        self.forfeited = False
        self._paid[:] = 0
        self._acted.clear()
        return self._observation(), {agent(int(self._table.acting[0])): {}}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Take the action of the agent that was shown an observation.

        Raises:
            IllegalActionError: With `illegal_action="raise"`; nothing has changed.
            ValueError: Actions of other agents than that one, or outside the action space; nothing has changed.
        """
        table = self._table
        seat = int(table.acting[0])
        if action_dict.keys() != {agent(seat)}:
            raise ValueError(f"{agent(seat)} is to act, got actions of {', '.join(action_dict) or 'nobody'}")
        actions = np.array([int(action_dict[agent(seat)])])
        if self.illegal_action == "raise":
            refusal = table.refuse(actions)
            if refusal:
                raise IllegalActionError(refusal)
        table.step(actions)
        self._acted.add(seat)
        ended = bool(table.ended[0])
        info = table.end_info(0) if ended else {}
        self.forfeited = bool(info.get("illegal_action"))
        rewards = {agent(seat): 0.0} | self._rewards(info)
        if ended:
            return {}, rewards, {"__all__": True}, {"__all__": False}, {agent(seat): info for seat in self._acted}
        return self._observation(), rewards, {"__all__": False}, {"__all__": False}, {agent(int(table.acting[0])): {}}

    def _observation(self) -> dict[str, dict[str, NDArray[np.float32]]]:
        table = self._table
        shown = {"observations": table.observations[0].astype(np.float32), "action_mask": table.masks[0].astype(np.float32)}
        return {agent(int(table.acting[0])): shown}

    def _rewards(self, end: Mapping[str, Any]) -> dict[str, float]:
        """What each agent that has acted gained since it was paid last."""
        rewards = {}
        for seat in sorted(self._acted):
            if end:
                total = float(end["payoffs"][seat])
            elif self._by_hand:
                total = float(kernels.score_payoff(self._tables[0], self._table.states[0]["score"], seat))
            else:
                total = 0.0
            if end or total != self._paid[seat]:
                rewards[agent(seat)] = total - float(self._paid[seat])
            self._paid[seat] = total
        return rewards

    def render(self) -> str | None:
        """The table as text in the mode `ansi`, as the seat to act sees it."""
        if self.render_mode != "ansi":
            return None
        table = self._table
        return table_text(make_scene(self.rules, table.pack, self.num_players, table.states[0], int(table.acting[0])))


class IllegalActions(RLlibCallback):  # type: ignore[misc]  # ray is untyped
    """Reports how many episodes ended by an illegal action as the metric `illegal_actions` of the env runners."""

    def on_episode_end(self, *, metrics_logger: Any, env: Any, env_index: int, **_: Any) -> None:
        """Count the episode that ended."""
        metrics_logger.log_value("illegal_actions", int(env.envs[env_index].unwrapped.forfeited), reduce="sum")


def ppo_config(env_config: Mapping[str, Any], net_arch: list[int], separate: bool = False, activation: str = "relu") -> PPOConfig:
    """PPO for `GoBoomMultiAgentEnv` with illegal actions masked out, still to be given runners and training settings.

    Args:
        env_config: As the env takes it.
        net_arch: Widths of the hidden layers, one trunk for policy and value.
        separate: A module for each agent, named as the agent, rather than one, `SHARED`, for all.
        activation: `relu` or `tanh`, those a policy file knows.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation={activation!r} is not one of {', '.join(ACTIVATIONS)}")
    agents = GoBoomMultiAgentEnv(env_config).possible_agents
    model = DefaultModelConfig(
        fcnet_hiddens=net_arch, fcnet_activation=activation, head_fcnet_hiddens=[], head_fcnet_activation=activation, vf_share_layers=True
    )
    names = agents if separate else [SHARED]
    modules = {name: RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model) for name in names}
    # RLlib checks an env with an unmasked action, which an env that raises would refuse.
    unchecked = env_config.get("illegal_action") == "raise"
    config = PPOConfig().framework("torch")
    config = config.environment(GoBoomMultiAgentEnv, env_config=dict(env_config), disable_env_checking=unchecked)
    config = config.callbacks(IllegalActions)
    config = config.multi_agent(policies=set(names), policy_mapping_fn=_own_module if separate else _shared_module)
    return config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))


def _own_module(agent_id: str, *_: Any, **__: Any) -> str:
    return agent_id


def _shared_module(agent_id: str, *_: Any, **__: Any) -> str:
    return SHARED


def network_policy(module: Any, rules: str | Rules, num_players: int, name: str = "rllib", **metadata: Any) -> NetworkPolicy:
    """The policy network of a module that `ppo_config` described, to be saved as a `.safetensors` file.

    Args:
        module: An `ActionMaskingTorchRLModule`, as `algorithm.get_module(name)` gives it.
        rules, num_players: The table it was trained at.
        name: Name in tables.
        **metadata: What else the file should tell, as JSON values.

    Raises:
        ValueError: Layers that a policy file cannot hold.
    """
    rules = get_rules(rules)
    encoder = module.encoder.encoder if hasattr(module.encoder, "encoder") else module.encoder.actor_encoder
    steps = [*encoder.net.mlp, *module.pi.net.mlp]
    kinds = [type(step).__name__ for step in steps]
    activation = kinds[1].lower() if len(kinds) > 1 else ACTIVATIONS[0]
    hidden = len(steps) // 2
    if activation not in ACTIVATIONS or kinds != ["Linear", kinds[1] if hidden else ""] * hidden + ["Linear"]:
        raise ValueError(f"a policy file holds linear layers with {' or '.join(ACTIVATIONS)} between them, got {', '.join(kinds)}")
    layers = [(step.weight.detach().cpu().numpy().copy(), step.bias.detach().cpu().numpy().copy()) for step in steps[::2]]
    told = {
        "format": FORMAT,
        "rules": rules.to_dict(),
        "num_players": num_players,
        "observation_version": VERSION,
        "activation": activation,
        **metadata,
    }
    return NetworkPolicy(layers, told, name=name)
