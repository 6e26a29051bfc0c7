"""Every command of README, CONTRIBUTING and docs runs, made small, or is held against what it names."""

from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml

from goboom_env import cli
from goboom_env.observation import VERSION, size
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import get_rules

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

_BATCH = "n_envs=16 n_steps=8 batch_size=64 n_epochs=1 n_timesteps=256 eval_hands=8"
RUN = {
    "goboom arena": "--hands 8",
    "goboom bots": "",
    "goboom play": "",
    "goboom record": "",
    "goboom replay": "",
    "goboom watch": "--delay 0",
    "python -m training.train": f"--no-progress {_BATCH} eval_every=128 checkpoint_every=128 snapshot_every=128",
    "python -m training.selfplay": _BATCH,
    "python -m training.imitate": "decisions=200 rounds=1 deals=4 n_epochs=1 batch_size=64 eval_hands=8 num_threads=1",
    "python -m training.evaluate": "--hands 8",
    "python -m training.export": "",
    "python -m training.rllib_train": f"{_BATCH} --iterations 1 --num-env-runners 0 --envs-per-runner 2",
    "python -m benchmarks.speed": "--rounds 1 --seconds 0.01 --only single,memory",
    "python -m benchmarks.peers": "--rounds 1 --seconds 0.01",
}
"""Commands that run, and words that are added to make them small: of an option or a setting given twice the last one counts."""

OWN_PROCESS = ("training.rllib_train", "benchmarks.speed", "benchmarks.peers")
"""Modules that change the process they run in: they start Ray, or take a core for themselves."""

TOO_LARGE = {
    "export RAY_AUTH_MODE": "several machines",
    "ray start": "several machines",
    "ray stop": "several machines",
    "tensorboard": "a server",
    "mkdocs serve": "a server",
    "bash .ci/run": "what runs these tests",
    "python -m pytest": "what runs these tests",
    "python -m benchmarks.agents": "minutes at least",
    "python -m benchmarks.exploitability": "minutes at least",
    "python -m benchmarks.report": "writes the page of speed",
    "python -m benchmarks.strength": "hours",
}
"""Commands that no test runs, and why; the modules and files they name must be there."""


def commands(page: Path) -> list[list[str]]:
    """The commands of a page in order, as words: the lines of its `sh` blocks, and what stands in the text with its arguments."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines: list[str] = []
    for block, line in re.findall(
        r"```sh\n(.*?)```|(?<!`)`((?:goboom|python|make|pip|bash|ray|mkdocs|tensorboard|\S*bin/\w+) [^`]+)`", text, re.DOTALL
    ):
        lines += block.splitlines() if block else [f"{line} --help" if re.fullmatch(r"goboom \w+", line) else line]
    words = [shlex.split(line.replace(" --address auto", ""), comments=True) for line in lines]
    return [[re.sub(r"^\S*bin/", "", first), *rest] for first, *rest in filter(None, words)]


def make_policy(path: str) -> None:
    """A policy file of a network nobody trained, for mini in the folder `mini`, else for classic at four seats."""
    rules, players = ("mini", 2) if "mini" in path else ("classic", 4)
    actions = len(get_rules(rules).pack_for(players).types) + 2
    weights = np.random.default_rng(0).normal(size=(actions, size(rules, players))).astype(np.float32)
    metadata = {"rules": get_rules(rules).to_dict(), "num_players": players, "observation_version": VERSION, "activation": "relu"}
    NetworkPolicy([(weights, np.zeros(actions, np.float32))], metadata).save(path)


def execute(words: list[str]) -> object:
    """Exit code of a command, in this process where that does no harm."""
    if words[0] == "goboom":
        return cli.main(words[1:])
    module = words[2]
    if module in OWN_PROCESS:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run([sys.executable, *words[1:]], env=environment, stdout=subprocess.DEVNULL).returncode
    return importlib.import_module(module).main(words[3:])


def check(words: list[str]) -> None:
    """A command that does not run names only what is there."""
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), words
    elif words[0] == "pip":
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        assert words[1] == "install", words
        for extra in re.findall(r"\[(\w+)\]", " ".join(words)):
            assert re.search(rf"^{extra} = \[", project, re.MULTILINE), words
        assert all((ROOT / word).exists() for word in words if word.endswith(".txt")), words
    elif words[:3] != ["python3", "-m", "venv"]:
        assert any(" ".join(words).startswith(known) for known in TOO_LARGE), f"no test runs {' '.join(words)!r}: add it to RUN"
        assert words[:2] != ["python", "-m"] or find_spec(words[2]), words
        assert words[0] != "bash" or (ROOT / words[1]).exists(), words


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other in an empty folder with the configurations, as a reader would type them; trained policies are made first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("training.labels.TABLES", 32)
    Path("configs").symlink_to(ROOT / "configs")
    Path("benchmarks/results").mkdir(parents=True)
    for words in commands(page):
        smaller = next((more for start, more in RUN.items() if " ".join(words).startswith(start)), None)
        if smaller is None:
            check(words)
        elif "training.rllib_train" not in words or find_spec("ray"):  # `make rllib` runs it
            for path in re.findall(r"[\w/]+\.safetensors", " ".join(words)):
                if not Path(path).exists():
                    make_policy(path)
            monkeypatch.setattr(sys, "stdin", io.StringIO("?\n1\nq\n"))
            if words[-1] == "--help":
                with pytest.raises(SystemExit, match="0"):
                    execute(words)
            else:
                assert execute([*words, *smaller.split()]) in (0, None), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_settings_shown_are_yaml(page: Path) -> None:
    for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        assert isinstance(yaml.safe_load(block), dict), block
