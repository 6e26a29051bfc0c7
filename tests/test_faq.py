"""Every message on the page of questions and errors is brought about, and reads as it is printed there."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

from goboom_env import PRESETS, GoBoomEnv, GoBoomVectorEnv, Rules, sample_legal
from goboom_env.cli import main
from goboom_env.engine import jit
from goboom_env.observation import size
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from training import train

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^```text\n(.*)\n```$", PAGE, re.MULTILINE)


# What brings them about: each function raises, warns, or returns what was printed.


def python(*arguments: str, **environment: str) -> str:
    """Standard error of Python in the folder of the test."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True).stderr


def printed(command: Callable[[list[str]], int], *arguments: str) -> str:
    """Standard error of a command in this process."""
    with contextlib.redirect_stderr(io.StringIO()) as lines, contextlib.redirect_stdout(io.StringIO()):
        assert command(list(arguments)) > 0
    return lines.getvalue().strip()


def without(module: str, action: Callable[[], Any]) -> Any:
    """An action where a module is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module, None)
        return action()


def compile_one() -> str:
    call = "from goboom_env.engine.rng import below; import numpy as np; below(np.uint64(1), 10)"
    return python("-c", call, NUMBA_CACHE_DIR=str(Path.cwd()), NUMBA_DISABLE_JIT="0").strip()


def make_without_import() -> str:
    last = python("-c", 'import gymnasium as gym; gym.make("GoBoom/Classic-v0")').splitlines()[-1]
    return last.removeprefix("gymnasium.error.")


def train_elsewhere() -> str:
    return re.findall(r"\((.*)\)", python("-m", "training.train", "configs/quick.yaml", PYTHONPATH=""))[0]


def act(action: Any = None, **arguments: Any) -> None:
    """A step of a fresh env, by default with an action that is not legal."""
    env = GoBoomEnv(**arguments)
    env.reset(seed=1)
    env.step(int(env.action_masks().argmin()) if action is None else action)


def step_after_the_end() -> None:
    env = GoBoomEnv()
    env.reset(seed=1)
    while not env.step(int(env.action_masks().argmax()))[2]:
        pass
    env.step(0)


def step_too_few() -> None:
    envs = GoBoomVectorEnv(4)
    envs.reset(seed=1)
    envs.step([1, 2, 3])


def reset(**arguments: Any) -> None:
    GoBoomEnv(**arguments).reset(seed=1)


def render() -> None:
    env = GoBoomEnv()
    env.reset(seed=1)
    env.render()


def first(observation: Any, mask: Any) -> int:
    return 0


def silent(observation: Any, mask: Any) -> None:
    pass


def broken(observation: Any, mask: Any) -> int:
    raise ZeroDivisionError


def step_after_a_broken_policy() -> None:
    env = GoBoomEnv(opponents=broken)
    with pytest.raises(ZeroDivisionError):
        env.reset(seed=1)
    env.step(0)


def play_elsewhere() -> None:
    rules = PRESETS["classic"]
    layer = (np.zeros((54, size(rules, 4)), np.float32), np.zeros(54, np.float32))
    metadata = {"rules": rules.to_dict(), "num_players": 4, "observation_version": 1, "activation": "relu"}
    NetworkPolicy([layer], metadata).save("policy.safetensors")
    GoBoomEnv("hundred", opponents="policy.safetensors")


def train_with(*words: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return printed(train.main, "configs/quick.yaml", "--no-progress", *words)


def evaluate() -> None:
    model = MaskablePPO("MlpPolicy", gym.make("GoBoom/Classic-v0"), device="cpu")
    evaluate_policy(model, gym.make("GoBoom/Classic-v0"), n_eval_episodes=1)


def replay_changed() -> str:
    with contextlib.redirect_stdout(io.StringIO()):
        main(["record", "--out", "games.jsonl"])
    record = json.loads(Path("games.jsonl").read_text(encoding="utf-8"))
    record["winner"] = 3
    Path("games.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    return printed(main, "replay", "games.jsonl")


CAUSES: list[Callable[[], Any]] = [
    compile_one,
    jit._warn_uncached.__wrapped__,
    make_without_import,
    train_elsewhere,
    lambda: without("PIL", lambda: GoBoomEnv(render_mode="rgb_array")),
    lambda: without("choix", lambda: printed(main, "arena", "--hands", "1")),
    lambda: GoBoomEnv("clasic"),
    lambda: GoBoomEnv(opponents="gredy"),
    lambda: GoBoomEnv("jokers", num_players=5),
    lambda: GoBoomEnv(dataclasses.replace(PRESETS["hundred"], hand_size=10), num_players=6),
    lambda: GoBoomEnv(opponents=["greedy", "lead"]),
    lambda: Rules(draw="one", draw_limit=3),
    lambda: act(illegal_action="raise", opponents="greedy"),
    lambda: GoBoomEnv().step(0),
    step_after_the_end,
    lambda: act(54),
    step_too_few,
    lambda: sample_legal(np.ones(54), np.random.default_rng(1)),
    lambda: sample_legal(np.zeros(54, np.int8), np.random.default_rng(1)),
    lambda: gym.make("GoBoom/Classic-v0").action_masks(),
    lambda: reset(rules=Rules(hand_size=1)),
    render,
    lambda: GoBoomEnv(opponents="runs/quick/policy.safetensors"),
    play_elsewhere,
    lambda: GoBoomEnv("dig", opponents="trained"),
    lambda: make("greedy").act(np.zeros(0), np.zeros(0, np.uint64)),
    lambda: reset(opponents=first),
    lambda: reset(opponents=silent),
    step_after_a_broken_policy,
    lambda: train_with("lerning_rate=0.1"),
    lambda: train_with("learning_rate=1e-3"),
    lambda: train_with("--resume", "output=runs/quick"),
    lambda: torch.nn.Linear(4, 1)(torch.zeros(4, dtype=torch.uint8)),
    lambda: MaskablePPO("MlpPolicy", gym.make_vec("GoBoom/Classic-v0")),
    evaluate,
    replay_changed,
    lambda: printed(main, "record", "--seats", "greedy,lead", "--out", "games.jsonl"),
]


def said(cause: Callable[[], Any]) -> str:
    """What Python's last line, or the command's, would be."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            line = cause()
        except Exception as error:  # noqa: BLE001 - whatever it is, the page must name it
            return f"{type(error).__name__}: {error}"
    if caught:
        return re.sub(r"\x1b\[\d*m", "", f"{caught[-1].category.__name__}: {caught[-1].message}")
    return str(line)


@pytest.mark.parametrize(("message", "cause"), list(zip(MESSAGES, CAUSES, strict=True)), ids=[text[:40] for text in MESSAGES])
def test_message(message: str, cause: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(cause) == message


def test_extras_of_missing_libraries_exist() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `(\w+)`", PAGE, re.MULTILINE)
    assert len(rows) == 8
    for modules, extra in rows:
        (libraries,) = re.findall(rf"^{extra} = \[(.*)\]", project, re.MULTILINE)
        for module in modules.replace("`", "").split(", "):
            library = {"PIL": "pillow", "yaml": "pyyaml", "pyspiel": "open_spiel"}.get(module, module)
            assert re.search(rf'"{library}\b', libraries), (module, extra)
