"""Masked PPO in one file, in the manner of CleanRL, on `gym.make_vec`. Needs torch (extra `sb3` or `train`).

    python examples/cleanrl_ppo.py --steps 500000

The legal actions come in `infos["action_mask"]`; the logits of all others are set to minus infinity, when an action is drawn and
again in the loss.
"""

from __future__ import annotations

import argparse
import time

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

import goboom_env  # noqa: F401 - registers the ids

NUM_ENVS, NUM_STEPS, EPOCHS, BATCH = 128, 64, 2, 2048
CLIP, ENTROPY, VALUE, LAMBDA, LEARNING_RATE = 0.2, 0.01, 0.5, 0.95, 1e-3


class Agent(nn.Module):
    """One trunk; logits and a value on top of it."""

    def __init__(self, features: int, actions: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.logits, self.value = nn.Linear(256, actions), nn.Linear(256, 1)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """The distribution over legal actions, and the value."""
        hidden = self.trunk(observations.float())
        logits = self.logits(hidden).masked_fill(~masks, -torch.inf)
        return Categorical(logits=logits, validate_args=False), self.value(hidden).squeeze(-1)


def entropy(policy: Categorical) -> torch.Tensor:
    """Entropy with 0 log 0 = 0 for the illegal actions."""
    return -(policy.probs * policy.logits.clamp(min=-1e9)).sum(-1)


def main(steps: int = 500_000, opponents: str = "greedy", seed: int = 1) -> float:
    """Train for about `steps` decisions; returns the share of hands won in the last update."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = gym.make_vec("GoBoom/Classic-v0", num_envs=NUM_ENVS, num_players=4, opponents=opponents, reward="win", autoreset_mode="SameStep")
    agent = Agent(envs.single_observation_space.shape[0], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE)
    shape = (NUM_STEPS, NUM_ENVS)
    observations = torch.zeros(*shape, *envs.single_observation_space.shape, dtype=torch.uint8)
    masks = torch.zeros(*shape, int(envs.single_action_space.n), dtype=torch.bool)
    actions, ended = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.bool)
    log_probs, rewards, values = (torch.zeros(shape) for _ in range(3))

    observation, info = envs.reset(seed=seed)
    start, share = time.time(), 0.0
    for update in range(max(1, steps // (NUM_STEPS * NUM_ENVS))):
        for t in range(NUM_STEPS):
            observations[t], masks[t] = torch.as_tensor(observation), torch.as_tensor(info["action_mask"]).bool()
            with torch.no_grad():
                policy, values[t] = agent(observations[t], masks[t])
                actions[t] = policy.sample()
                log_probs[t] = policy.log_prob(actions[t])
            observation, reward, terminated, _, info = envs.step(actions[t].numpy())
            rewards[t], ended[t] = torch.as_tensor(reward), torch.as_tensor(terminated)

        with torch.no_grad():  # generalised advantages; gamma is 1, and nothing follows the end of a hand
            _, value = agent(torch.as_tensor(observation), torch.as_tensor(info["action_mask"]).bool())
            advantages, advantage = torch.zeros(shape), torch.zeros(NUM_ENVS)
            for t in reversed(range(NUM_STEPS)):
                goes_on = (~ended[t]).float()
                advantage = rewards[t] + goes_on * value - values[t] + LAMBDA * goes_on * advantage
                advantages[t], value = advantage, values[t]
            returns = advantages + values

        flat = [tensor.flatten(0, 1) for tensor in (observations, masks, actions, log_probs, advantages, returns)]
        for _ in range(EPOCHS):
            for rows in torch.randperm(NUM_STEPS * NUM_ENVS).split(BATCH):
                batch_obs, batch_masks, batch_actions, old, gain, target = (tensor[rows] for tensor in flat)
                policy, value = agent(batch_obs, batch_masks)
                ratio = (policy.log_prob(batch_actions) - old).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                loss = loss + VALUE * (value - target).pow(2).mean() - ENTROPY * entropy(policy).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        hands = int(ended.sum())
        share = int((rewards == 1).sum()) / max(1, hands)
        decisions = (update + 1) * NUM_STEPS * NUM_ENVS
        print(f"{decisions} decisions, won {share:.3f} of {hands} hands, {decisions / (time.time() - start):.0f} decisions a second")
    return share


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500_000)
    main(parser.parse_args().steps)
