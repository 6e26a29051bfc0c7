"""How strong the published agents are, and how they were trained: `python -m benchmarks.agents [--only strength,guided,others]`.

Win share and points a hand on paired deals with 95 % intervals over deals. Writes `benchmarks/results/agents.json` and
`docs/agents.md`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import machine, pin, write_json  # isort: skip - sets the number of threads before NumPy is imported

from goboom_env.arena import compare
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.trained import AGENTS, FOLDER, published

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "agents.json"
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
scores 0. Intervals are 95 %, over deals. Measured by `python -m benchmarks.agents` (seed {seed}) with the files as they ship; each
file also tells what the run that trained it measured at its end.

{strength}

At two seats of classic the agent is above `search:128`. At four it wins about as often against three `greedy` as `search:128`
does (0.402 on 10,000 hands, where `search:512` has 0.412), and nothing tried brought more, with intervals of 0.004: a quarter, a
half and all of the labels gave 0.390, 0.395 and 0.397, wider and deeper networks 0.396 to 0.399, fitting the expected worth or the
worth of each action in place of a softmax 0.398 and 0.397, a third round 0.397, and 6 million decisions of PPO from the agent,
against bots, 0.389 to 0.395. Neither search nor agent wins two hands of three against `counter` heads-up. On points, agents with
the objective `points` are above `search:128` of the default objective everywhere.

The agent as the guide of a search:

{guided}

Presets that play with the agent of another, since play and scoring are the same:

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


def sections(hands: int, results: list[dict[str, Any]]) -> dict[str, Callable[[], list[str]]]:
    """What makes the rows of each table of the page."""
    return {
        "strength": lambda: [
            measured_row("trained", against, agent, seats, hands, results)
            for agent, seats in published()
            for against in ("greedy", "counter", "search:128")
        ],
        "guided": lambda: [
            measured_row("search+trained", against, "classic", seats, hands, results)
            for seats, field in ((2, ("greedy", "search:128", "trained")), (4, ("greedy", "trained")))
            for against in field
        ],
        "others": lambda: [
            measured_row("trained", "greedy", preset, seats, hands, results)
            for preset, agent in AGENTS.items()
            if preset != agent
            for name, seats in published()
            if name == agent
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--only", help="sections to measure anew, with commas; the others stay as the last run left them")
    options = parser.parse_args()
    pin()
    kept: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))["sections"] if options.only else {}
    for name in options.only.split(",") if options.only else list(sections(0, [])):
        results: list[dict[str, Any]] = []
        rows = sections(options.hands, results)[name]()
        kept[name] = {"rows": rows, "results": results, "machine": machine(["goboom_env", "numpy", "numba"])}
    tables = {name: "\n".join([STRENGTH_HEAD, *kept[name]["rows"]]) for name in kept}
    training = "\n".join([TRAINING_HEAD, *(training_row(agent, seats) for agent, seats in published())])
    (ROOT / "docs" / "agents.md").write_text(TEXT.format(seed=SEED, training=training, **tables), encoding="utf-8")
    write_json(RESULTS, {"sections": kept})


if __name__ == "__main__":
    main()
