"""Every example runs, by its own command, for a few steps; where its library is not installed it is skipped."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
LIBRARIES = {
    "cleanrl_ppo": "torch",
    "pettingzoo_selfplay": "pettingzoo",
    "sb3_dqn": "stable_baselines3",
    "sb3_maskable_ppo": "sb3_contrib",
    "tianshou_dqn": "tianshou",
    "torchrl_selfplay": "torchrl",
}


def load(name: str) -> ModuleType:
    path = next(path for path in EXAMPLES if path.stem == name)
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_says_what_it_needs_and_how_to_run_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(text)) or ""
    assert "Needs " in words and re.search(rf"^ *python examples/{path.name} --steps \d+$", words, re.MULTILINE)
    assert 'if __name__ == "__main__":' in text


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_runs(path: Path, tmp_path: Path) -> None:
    library = LIBRARIES.get(path.stem)
    if library is not None and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    result = subprocess.run(
        [sys.executable, str(path), "--steps", "8" if path.stem == "record_video" else "600"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_the_pettingzoo_loop_credits_everybody() -> None:
    pytest.importorskip("pettingzoo")
    assert load("pettingzoo_selfplay").main(300) == pytest.approx(0)


def test_the_house_rule_holds() -> None:
    assert load("house_rule").main(30) <= 3


def test_the_custom_opponent_and_bot_play_whole_hands() -> None:
    assert 0 < load("custom_opponent").main(300) < 1
    assert 0.1 < load("custom_bot").main(100) < 0.4


def test_every_example_is_on_the_page() -> None:
    page = (Path(__file__).parent.parent / "docs" / "use.md").read_text(encoding="utf-8")
    assert {path.name for path in EXAMPLES} == set(re.findall(r"\(\.\./examples/(\w+\.py)\)", page))
