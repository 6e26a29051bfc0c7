"""Every Python block of README and docs runs; `test_doc_commands.py` runs the commands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from goboom_env.engine.record import replay

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    """The blocks of a page run one after the other, as a reader would type them; files they name are made first."""
    if page.name == "rllib.md":
        pytest.importorskip("ray")  # `make rllib` runs it
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    text = "\n".join(blocks)
    if "runs/quick/policy.safetensors" in text:
        train = [sys.executable, "-m", "training.train", str(ROOT / "configs" / "quick.yaml"), "--no-progress"]
        settings = ["n_timesteps=16384", "eval_hands=40", f"output={tmp_path / 'runs' / 'quick'}"]
        subprocess.run([*train, *settings], check=True, cwd=ROOT, capture_output=True)
    if "games.jsonl" in text:
        record = [sys.executable, "-m", "goboom_env.cli", "record", "--matches", "1", "--out", str(tmp_path / "games.jsonl")]
        subprocess.run(record, check=True, cwd=ROOT, capture_output=True)
    script = tmp_path / "page.py"
    script.write_text(text, encoding="utf-8")
    result = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_file_of_a_rule_is_on_the_page_of_extending() -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE))
    assert all("draw_limit" in (ROOT / file).read_text(encoding="utf-8") for file in named)
    package = [path for path in (ROOT / "goboom_env").rglob("*.py") if "draw_limit" in path.read_text(encoding="utf-8")]
    assert {path.relative_to(ROOT).as_posix() for path in package} <= named


def test_the_record_shown_can_be_replayed() -> None:
    (record,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "records.md").read_text(encoding="utf-8"), re.DOTALL)
    assert replay(json.loads(record), 1).winner == 0
