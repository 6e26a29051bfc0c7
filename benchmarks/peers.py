"""This project beside its peers, in one run: `python -m benchmarks.peers [--json F] [--rounds 5] [--seconds 1]`.

Random legal play, player actions a second, one core, rounds that alternate. A peer that is not installed is named as skipped.
Every case steps from Python and gets an observation and the legal actions at each step, unless its name says otherwise.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import Case, machine, measure, pin, report, write_json

import numpy as np  # isort: skip - after the thread settings of benchmarks.common

from benchmarks.speed import bare, single, vector

OURS = "goboom_env, vector, 1,024 tables"
PACKAGES = ("goboom_env", "open_spiel", "rlcard", "pettingzoo", "pgx", "pufferlib", "gymnasium", "numpy", "numba")


def open_spiel(observe: bool) -> Case:
    """`pyspiel` crazy_eights at four seats, stepped from Python."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("crazy_eights(players=4)")
    buffer = make_observation(game) if observe else None  # refills one NumPy buffer: OpenSpiel's fastest way
    rng = random.Random(0)

    def case() -> int:
        count = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(actions, chances)[0])
                continue
            legal = state.legal_actions()
            if buffer is not None:
                buffer.set_from(state, state.current_player())
            state.apply_action(rng.choice(legal))
            count += 1
        return count

    return case


def rlcard() -> Case:
    """RLCard's uno, two players, its own loop."""
    import rlcard as library

    env = library.make("uno", config={"seed": 0})
    rng = random.Random(0)

    def case() -> int:
        count = 0
        state, _ = env.reset()
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            count += 1
        return count

    return case


def pettingzoo() -> Case:
    """PettingZoo's AEC loop on Leduc hold'em, wrappers included."""
    from pettingzoo.classic import leduc_holdem_v4

    env = leduc_holdem_v4.env()
    seed = [0]

    def case() -> int:
        count = 0
        seed[0] += 1
        env.reset(seed=seed[0])
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            count += 1
        return count

    return case


def pgx() -> Case:
    """Pgx's Leduc hold'em on the CPU, 1,024 games inside one compiled scan of 100 steps, with automatic reset."""
    import jax
    import pgx as library
    from pgx.experimental import auto_reset

    env = library.make("leduc_holdem")
    step = auto_reset(env.step, env.init)

    def act(carry: Any, _: Any) -> Any:
        state, key = carry
        key, choose, seeds = jax.random.split(key, 3)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
        action = jax.random.categorical(choose, logits, axis=1)
        state = jax.vmap(step)(state, action, jax.random.split(seeds, 1024))
        return (state, key), state.observation.sum()

    run = jax.jit(lambda carry: jax.lax.scan(act, carry, None, length=100))
    carry = [(jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), 1024)), jax.random.PRNGKey(1))]

    def case() -> int:
        carry[0], _ = jax.block_until_ready(run(carry[0]))
        return 100 * 1024

    return case


def blackjack() -> Case:
    """Gymnasium's Blackjack, a single env."""
    import gymnasium as gym

    env = gym.make("Blackjack-v1")
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def case() -> int:
        for _ in range(500):
            _, _, terminated, truncated, _ = env.step(int(rng.integers(2)))
            if terminated or truncated:
                env.reset()
        return 500

    return case


PEERS: dict[str, Callable[[], Case]] = {
    "open_spiel crazy_eights, 4 seats, legal actions only": lambda: open_spiel(False),
    "open_spiel crazy_eights, 4 seats, with observation": lambda: open_spiel(True),
    "rlcard uno": rlcard,
    "pettingzoo leduc_holdem": pettingzoo,
    "pgx leduc_holdem, 1,024 games in a compiled scan": pgx,
    "gymnasium Blackjack, single": blackjack,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    pin()
    cases: dict[str, Case] = {
        OURS: vector("classic", 4, 1024, opponents="self", forced="ask"),
        "goboom_env, vector, 16,384 tables": vector("classic", 4, 16_384, opponents="self", forced="ask"),
        "goboom_env, single env through gym.make": single(False, opponents="self", forced="ask"),
        "goboom_env, bare engine in a compiled loop": bare("classic", 4, 1024),
    }
    skipped = {}
    for name, make in PEERS.items():
        try:
            cases[name] = make()
        except ImportError as error:
            skipped[name] = str(error)
            print(f"skipped: {name} ({error})")
    results = measure(cases, options.rounds, options.seconds)
    report(results, "a second", OURS)
    ours = results[OURS]["median"]
    ratios = {name: ours / result["median"] for name, result in results.items()}
    write_json(options.json, {"machine": machine(PACKAGES), "actions_a_second": results, "ours_over": ratios, "skipped": skipped})


if __name__ == "__main__":
    main()
