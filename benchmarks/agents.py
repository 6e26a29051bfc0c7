"""How strong the published agents are, and how they were trained: `python -m benchmarks.agents [--hands 20000]`.

Win share and points a hand on paired deals with 95 % intervals over deals. Writes `benchmarks/results/agents.json` and
`docs/agents.md`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.common import machine, pin, write_json  # isort: skip - sets the number of threads before NumPy is imported

from goboom_env.arena import compare
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.trained import AGENTS, FOLDER, published

ROOT = Path(__file__).parent.parent
SEED = 4

TEXT = """# Published agents

`opponents="trained"` seats the agent of the table's rules and number of seats; `search+trained` lets it guide a search.
Each is one file of the package: weights in half precision and a description of its training, made by one command on two
cores:

{training}

Each round labels decisions of self-play by search and fits a network to them, which then guides the search of the next round;
see [training.md](training.md). The objective is what the search and so the agent aim at: on `classic` the win, elsewhere
points a hand.

## How strong

One seat against the same opponent on all others, each deal played once with it on each seat. An equal player wins 1 / seats and
scores 0. Intervals are 95 %, over deals. These figures stand in the policy files; the run that trained an agent measured them
at its end.

{strength}

At two seats of classic the agent is above `search:128`. At four it is about as strong as `search:128` is against three `greedy`:
a larger network, more rounds, and PPO from it against bots and frozen copies of itself brought nothing on top. On points,
agents with the objective `points` are above `search:128` of the default objective
everywhere.

The agent as the guide of a search, and the presets of the same play and scoring, measured by `python -m benchmarks.agents`
(seed {seed}):

{guided}

{others}
"""

TRAINING_HEAD = "| agent | objective | decisions labelled | rounds | minutes | command |\n|---|---|---|---|---|---|"
STRENGTH_HEAD = "| rules | seats | policy | against | win share | 95 % interval | points a hand | 95 % interval | hands |\n|" + "---|" * 9


def training_row(agent: str, seats: int) -> str:
    policy = NetworkPolicy.load(FOLDER / f"{agent}-{seats}.safetensors")
    summary = policy.metadata["summary"]
    kept = [row for row in summary["rounds"] if "decisions" in row]
    return (
        f"| {agent} at {seats} | {policy.objective} | {kept[-1]['decisions']:,} | {len(kept)} | {summary['seconds'] / 60:.0f} | "
        f"`python -m training.imitate configs/{agent}-{seats}.yaml` |"
    )


def row(policy: str, result: dict[str, Any]) -> str:
    (low, high), (points_low, points_high) = result["win_interval"], result["points_interval"]
    return (
        f"| {result['rules']} | {result['num_players']} | `{policy}` | `{result['field']}` | {result['win_share']:.3f} | "
        f"{low:.3f} to {high:.3f} | {result['points']:+.2f} | {points_low:+.2f} to {points_high:+.2f} | {result['hands']:,} |"
    )


def measured_row(policy: str, against: str, rules: str, seats: int, hands: int, results: list[dict[str, Any]]) -> str:
    results.append(compare(policy, against, rules, seats, -(-hands // seats), SEED).to_dict())
    print(row(policy, results[-1]), flush=True)
    return row(policy, results[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--hands", type=int, default=20_000)
    hands = parser.parse_args().hands
    pin()
    results: list[dict[str, Any]] = []
    strength, others = [STRENGTH_HEAD], [STRENGTH_HEAD]
    for agent, seats in published():
        policy = NetworkPolicy.load(FOLDER / f"{agent}-{seats}.safetensors")
        strength += [row("trained", result) for result in policy.metadata["summary"]["evaluation"]]
    guided = [STRENGTH_HEAD] + [
        measured_row("search+trained", against, "classic", 2, hands, results) for against in ("greedy", "search:128", "trained")
    ]
    for preset, agent in AGENTS.items():
        if preset != agent:
            others += [measured_row("trained", "greedy", preset, seats, hands, results) for name, seats in published() if name == agent]
    training = "\n".join([TRAINING_HEAD, *(training_row(agent, seats) for agent, seats in published())])
    text = TEXT.format(seed=SEED, training=training, strength="\n".join(strength), guided="\n".join(guided), others="\n".join(others))
    (ROOT / "docs" / "agents.md").write_text(text, encoding="utf-8")
    write_json(ROOT / "benchmarks" / "results" / "agents.json", {"machine": machine(["goboom_env", "numpy", "numba"]), "results": results})


if __name__ == "__main__":
    main()
