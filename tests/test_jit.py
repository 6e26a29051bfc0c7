"""Compiled code: its cache follows the sources, survives damage and absence, and agrees with plain Python."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import goboom_env

PACKAGE = Path(goboom_env.__file__).parent

# Hashes of states after random play: whatever runs must print the same lines.
PLAY = """
import hashlib
from goboom_env.engine.game import Game
for name, players in (("classic", 4), ("jokers", 3)):
    game = Game(name, players, seed=5)
    digest = hashlib.sha256(repr(game.deck).encode())
    for k in range(12):
        legal = game.legal()
        game.play(legal[k % len(legal)])
        digest.update(repr((game.hands, game.trick, game.turn)).encode())
    print(digest.hexdigest())
"""


def run(script: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, cwd=folder)


def test_plain_python_plays_the_same_hands() -> None:
    compiled, plain = run(PLAY), run(PLAY, NUMBA_DISABLE_JIT="1")
    assert plain.returncode == compiled.returncode == 0, plain.stderr + compiled.stderr
    assert plain.stdout == compiled.stdout != ""


def copy_package(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "goboom_env", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "goboom_env"


@pytest.mark.slow
def test_a_changed_callee_in_another_file_is_compiled_anew(tmp_path: Path) -> None:
    """numba alone would keep the old `next_word` inside the cached callers of another file."""
    package = copy_package(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    script = """
from goboom_env.engine.game import Game
print(Game("classic", 2, seed=1).deck[:5])
"""
    first = run(script, tmp_path, **cache)
    assert "compiling" in first.stderr
    again = run(script, tmp_path, **cache)
    assert again.stdout == first.stdout and again.stderr == ""
    rng = package / "engine" / "rng.py"
    text = rng.read_text()
    changed = text.replace("_A, _B, _C, _HALF = np.uint64(23)", "_A, _B, _C, _HALF = np.uint64(21)")
    assert changed != text
    rng.write_text(changed)
    third = run(script, tmp_path, **cache)
    assert third.stdout == run(script, tmp_path, NUMBA_DISABLE_JIT="1").stdout != first.stdout


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_truncated_cache_file_is_compiled_anew(tmp_path: Path, suffix: str) -> None:
    cache = tmp_path / "cache"
    script = "from goboom_env.engine.rng import below\nimport numpy as np\nprint(below(np.uint64(1) << np.uint64(63), 10))"
    assert run(script, NUMBA_CACHE_DIR=str(cache)).stdout == "5\n"
    files = list(cache.rglob(f"*.{suffix}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    damaged = run(script, NUMBA_CACHE_DIR=str(cache))
    assert (damaged.returncode, damaged.stdout) == (0, "5\n"), damaged.stderr
    assert "compiling" in damaged.stderr
    assert run(script, NUMBA_CACHE_DIR=str(cache)).stderr == ""


@pytest.mark.slow
def test_no_writable_folder_means_uncached_with_a_warning(tmp_path: Path) -> None:
    """Numba looks beside the file and in the user's cache folder; plain files stand in the way of both."""
    package = copy_package(tmp_path)
    for folder in (package, *(path for path in package.iterdir() if path.is_dir())):
        (folder / "__pycache__").write_text("")
    home = tmp_path / "home"
    home.write_text("")
    script = "from goboom_env.engine.rng import below\nimport numpy as np\nprint(below(np.uint64(1) << np.uint64(63), 10))"
    result = run(script, tmp_path, HOME=str(home), XDG_CACHE_HOME=str(home), IPYTHONDIR=str(home))
    assert (result.returncode, result.stdout) == (0, "5\n"), result.stderr
    assert "NUMBA_CACHE_DIR" in result.stderr


@pytest.mark.slow
def test_workers_that_start_at_once_on_an_empty_cache_all_finish(tmp_path: Path) -> None:
    script = "from goboom_env.engine.rng import below\nimport numpy as np\nprint(below(np.uint64(1) << np.uint64(63), 10))"
    for attempt in range(3):
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / str(attempt))}
        workers = [
            subprocess.Popen([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)
        ]
        assert [worker.communicate()[0] for worker in workers] == [b"5\n"] * 8


def test_the_hash_covers_every_source_with_a_kernel() -> None:
    from goboom_env.engine import jit

    files = [
        path for path in PACKAGE.rglob("*.py") if ("@kernel" in path.read_text() or "@hot" in path.read_text()) and path.name != "jit.py"
    ]
    assert len(files) >= 6
    folders = {(PACKAGE / folder).resolve() for folder in jit._KERNEL_FOLDERS}
    assert all(path.parent.resolve() in folders for path in files)
    assert len(bytes.fromhex(jit.source_stamp())) == hashlib.sha256().digest_size
