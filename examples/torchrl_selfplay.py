"""Self-play by policy gradient in TorchRL, through PettingZoo. Needs the extras `pettingzoo` and `examples`.

    python examples/torchrl_selfplay.py --steps 50000

`PettingZooWrapper(env, use_mask=True)` gives a group `player` with a row an agent: `action_mask` says what is legal, `mask` which
agent is to act. Rows of agents that are not to act have no legal action; what is chosen there is ignored.
"""

from __future__ import annotations

import argparse

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from goboom_env.integrations import pettingzoo as goboom_v0


class Logits(nn.Module):
    """The same network for every agent, and masks in which agents that are not to act may do anything."""

    def __init__(self, features: int, actions: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 128), nn.ReLU(), nn.Linear(128, actions))

    def forward(self, observation: torch.Tensor, action_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and masks, shape (agents, actions)."""
        idle = ~action_mask.any(-1, keepdim=True)
        return self.net(observation.float()), action_mask | idle


def main(steps: int = 50_000, num_players: int = 2) -> int:
    """Play and learn from whole hands; returns the number of hands."""
    torch.manual_seed(1)
    env = PettingZooWrapper(
        goboom_v0.env(rules="classic", num_players=num_players, reward="win", forced="auto"),
        use_mask=True,
        group_map={"player": [f"player_{seat}" for seat in range(num_players)]},
        categorical_actions=True,
        seed=1,
    )
    features = env.observation_spec["player", "observation", "observation"].shape[-1]
    actions = env.full_action_spec["player", "action"].space.n
    actor = ProbabilisticActor(
        TensorDictModule(
            Logits(features, actions),
            in_keys=[("player", "observation", "observation"), ("player", "action_mask")],
            out_keys=[("player", "logits"), ("player", "allowed")],
        ),
        in_keys={"logits": ("player", "logits"), "mask": ("player", "allowed")},
        out_keys=[("player", "action")],
        distribution_class=MaskedCategorical,
    )
    optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    decisions = hands = 0
    while decisions < steps:
        with torch.no_grad():
            hand = env.rollout(1_000, actor)
        acted = hand["player", "mask"]
        returns = hand["next", "player", "reward"].sum(0).squeeze(-1)  # one an agent: 1 for the winner, -1/(n-1) for the others
        log_probs = actor.get_dist(hand).log_prob(hand["player", "action"])
        loss = -(log_probs * returns)[acted].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decisions, hands = decisions + int(acted.sum()), hands + 1
    print(f"{decisions} decisions in {hands} hands of self-play")
    return hands


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50_000)
    main(parser.parse_args().steps)
