"""Speed of this project: `python -m benchmarks.speed [--json F] [--rounds 5] [--seconds 1] [--only start,single,...]`.

Every figure is player actions a second, on one core. "vector" is random legal play of all seats through
`GoBoomVectorEnv.step` from Python, every action asked for: the draw from the mask by `sample_legal`, observation, mask,
reward, automatic reset and fresh arrays. "agent" counts the learner's actions only, against compiled bots. "bare" is a
compiled loop of legal actions, choice and play, with neither observation nor mask. "rollout" is `GoBoomVectorEnv.rollout`:
random legal play with observation, mask, reward and automatic reset as in "vector", many steps a compiled call.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Case, machine, measure, pin, report, write_json

import gymnasium as gym  # isort: skip - after the thread settings of benchmarks.common
import numpy as np

from goboom_env import GoBoomVectorEnv, sample_legal
from goboom_env.engine import kernels
from goboom_env.engine.jit import kernel
from goboom_env.engine.rng import next_word, stream_words
from goboom_env.engine.state import PLAYING, STATE, compile_rules, new_states
from goboom_env.policies.scripted import choose_random
from goboom_env.rules import PRESETS
from goboom_env.stepping import ROW

PARTS = ("start", "single", "vector", "rollout", "seats", "bots", "bare", "memory", "ppo")


@kernel
def play_bare(tables: Any, states: Any, rounds: int) -> int:
    """Random play of all seats, hand after hand."""
    t = tables[0]
    for _ in range(rounds):
        for i in range(len(states)):
            s = states[i]
            if s["status"] != PLAYING:
                kernels.start_match(t, s)
                kernels.shuffle_deck(t, s)
                kernels.deal(t, s)
            cards, more = kernels.legal(t, s)
            kernels.apply(t, s, choose_random(cards, more, int(t["types"]), next_word(s["policy_stream"])))
    return rounds * len(states)


def bare(rules: str, players: int, tables: int) -> Case:
    compiled, states = compile_rules(PRESETS[rules], players), new_states(tables)
    words = stream_words(0, tables)
    states["deal_stream"], states["policy_stream"], states["status"] = words[:, :2], words[:, 2:], 1
    return lambda: play_bare(compiled, states, max(1, 4096 // tables))


def vector(rules: str, players: int, tables: int, steps: int | None = None, **kwargs: Any) -> Case:
    """Random legal play through the vector env; counts the actions played, not the steps that only begin an episode."""
    env = GoBoomVectorEnv(tables, rules, players, **kwargs)
    rng = np.random.default_rng(0)
    state = [env.reset(seed=0)[1]["action_mask"], 0]
    count = steps or max(1, 8192 // tables)

    def case() -> int:
        played = 0
        for _ in range(count):
            played += tables - state[1]
            _, _, terminated, _, info = env.step(sample_legal(state[0], rng))
            state[:] = info["action_mask"], int(np.count_nonzero(terminated))
        return played

    return case


def rollout(tables: int, opponents: str, **kwargs: Any) -> Case:
    """As `vector` with the choice made by the compiled loop too."""
    env = GoBoomVectorEnv(tables, "classic", 4, opponents=opponents, **kwargs)
    env.reset(seed=0)
    last = [0]

    def case() -> int:
        result = env.rollout(max(2, 16_384 // tables))
        begun, last[0] = last[0] + int(np.count_nonzero(result.terminated[:-1])), int(np.count_nonzero(result.terminated[-1]))
        return result.actions.size - begun

    return case


def single(unwrapped: bool, **kwargs: Any) -> Case:
    env: Any = gym.make("GoBoom/Classic-v0", **kwargs)
    env = env.unwrapped if unwrapped else env
    rng = np.random.default_rng(0)
    state = [env.reset(seed=0)[1]]

    def case() -> int:
        for _ in range(500):
            _, _, terminated, _, state[0] = env.step(sample_legal(state[0]["action_mask"], rng))
            if terminated:
                state[0] = env.reset()[1]
        return 500

    return case


def start_times() -> dict[str, float]:
    """Seconds from the interpreter's start to the first observation: with an empty cache, then from the cache."""
    script = "import gymnasium; env = gymnasium.make('goboom_env:GoBoom/Classic-v0', opponents='greedy'); env.reset(seed=0)"
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "warm"):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", script], check=True, stderr=subprocess.DEVNULL, env={**os.environ, "NUMBA_CACHE_DIR": folder}
            )
            times[name] = round(time.perf_counter() - start, 2)
    return times


def ppo_share(decisions: int = 200_000) -> dict[str, float]:
    """Share of MaskablePPO's wall time that is spent in the environment, with the configuration `configs/quick.yaml`."""
    from training.config import TrainConfig, load_config
    from training.train import make_model

    config = load_config(Path(__file__).parent.parent / "configs" / "quick.yaml", [f"n_timesteps={decisions}"], TrainConfig)
    model = make_model(config)
    spent = [0.0]

    def timed(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            result = function(*args, **kwargs)
            spent[0] += time.perf_counter() - start
            return result

        return call

    env: Any = model.env
    env.step_wait, env.env_method = timed(env.step_wait), timed(env.env_method)
    with tempfile.TemporaryDirectory() as folder:
        from stable_baselines3.common.logger import configure

        model.set_logger(configure(folder, ["csv"]))
        start = time.perf_counter()
        model.learn(decisions)
        total = time.perf_counter() - start
        model.logger.close()
    return {
        "seconds": total,
        "environment_seconds": spent[0],
        "environment_share": spent[0] / total,
        "decisions_a_second": decisions / total,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    options = parser.parse_args()
    parts = options.only.split(",")
    pin()
    data: dict[str, Any] = {
        "rounds": options.rounds,
        "machine": machine(["goboom_env", "numpy", "numba", "gymnasium", "torch", "stable_baselines3"]),
    }
    if "start" in parts:
        data["start_seconds"] = start_times()
        print(f"first observation after {data['start_seconds']['cold']} s cold, {data['start_seconds']['warm']} s warm")
    if "memory" in parts:
        data["bytes_a_table"] = {"state": STATE.itemsize, "row": ROW.itemsize, "both": STATE.itemsize + ROW.itemsize}
        print(f"bytes a table: {data['bytes_a_table']}")
    groups: dict[str, dict[str, Case]] = {}
    if "single" in parts:
        groups["single"] = {
            "single env, gym.make, 3 greedy": single(False, opponents="greedy"),
            "single env, unwrapped, 3 greedy": single(True, opponents="greedy"),
        }
    if "vector" in parts:
        groups["vector"] = {
            f"vector, classic, 4 seats, {tables:,} tables": vector("classic", 4, tables, opponents="self", forced="ask")
            for tables in (1, 64, 1024, 16_384)
        }
        groups["vector"]["vector, jokers, 4 seats, 1,024 tables"] = vector("jokers", 4, 1024, opponents="self", forced="ask")
        groups["vector"] |= {
            f"vector, auto, classic, 4 seats, {tables:,} tables": vector("classic", 4, tables, opponents="self")
            for tables in (64, 1024, 16_384)
        }
    if "rollout" in parts:
        groups["rollout"] = {
            f"rollout, classic, 4 seats, {tables:,} tables": rollout(tables, "self", forced="ask") for tables in (64, 1024, 16_384)
        }
        groups["rollout"] |= {f"agent, 3 {bot}, 1,024 tables, rollout": rollout(1024, bot) for bot in ("random", "greedy")}
    if "seats" in parts:
        groups["seats"] = {
            f"vector, classic, {players} seats, 1,024 tables": vector("classic", players, 1024, opponents="self", forced="ask")
            for players in (2, 4, 8, 12)
        }
    if "bots" in parts:
        groups["bots"] = {
            f"agent, 3 {bot}, 1,024 tables": vector("classic", 4, 1024, opponents=bot) for bot in ("random", "shed", "greedy", "lead")
        }
        policy = Path("runs/quick/policy.safetensors")
        if policy.exists():
            groups["bots"]["agent, 3 trained networks, 1,024 tables"] = vector("classic", 4, 1024, steps=1, opponents=str(policy))
    if "bare" in parts:
        groups["bare"] = {f"bare, {rules}, 4 seats, 1,024 tables": bare(rules, 4, 1024) for rules in ("classic", "jokers")}
    results = measure({name: case for group in groups.values() for name, case in group.items()}, options.rounds, options.seconds)
    data["actions_a_second"] = results
    if results:
        report(results, "a second")
    if "ppo" in parts:
        data["maskable_ppo"] = ppo_share()
        share = data["maskable_ppo"]
        rate, part = share["decisions_a_second"], share["environment_share"]
        print(f"MaskablePPO: {rate:,.0f} decisions a second, {part:.1%} of the time in the environment")
    write_json(options.json, data)


if __name__ == "__main__":
    main()
