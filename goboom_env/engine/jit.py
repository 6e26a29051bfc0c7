"""The decorators that compile: `kernel` and `hot`, numba's `njit` with the lock released and a cache that follows the sources.

`NUMBA_DISABLE_JIT=1` runs every kernel as plain Python. Where no folder is writable kernels compile anew in each process.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import FunctionCache

COMPILED: bool = not numba.config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_PACKAGE = Path(__file__).resolve().parent.parent
_KERNEL_FOLDERS = (".", "engine", "observation", "policies")


@lru_cache(maxsize=1)
def source_stamp() -> str:
    """A hash over every source that kernels are made of.

    numba looks only at the file of the function it loads, so a caller would keep the old code of a callee in another file.
    """
    digest = hashlib.sha256()
    for path in sorted(path for folder in _KERNEL_FOLDERS for path in (_PACKAGE / folder).glob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _SourceCache(FunctionCache):  # type: ignore[misc]  # numba is untyped
    """numba's cache, stale when any kernel source changes; a damaged file in it means compiling again, never an error."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = source_stamp()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - unpickling a truncated file may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # noqa: BLE001 - a damaged index: start it anew
            try:
                self.flush()
                super().save_overload(sig, data)
            except Exception as error:  # noqa: BLE001 - a full disk must not stop play
                warnings.warn(f"goboom_env: compiled code could not be cached: {error}", RuntimeWarning, stacklevel=2)


class _Notice(event.Listener):  # type: ignore[misc]  # numba is untyped
    """Says once a process on standard error that a compilation has begun."""

    said = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.startswith("goboom_env."):
            _Notice.said = True
            print("goboom_env: compiling what this run needs first, kept for the next (up to 25 s)", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


if COMPILED:
    event.register("numba:compile", _Notice())


def kernel(function: _Function) -> _Function:
    """Compile on first use: no Python objects inside, no exceptions, the interpreter lock released."""
    return _compile(function, inline=False)


def hot(function: _Function) -> _Function:
    """A kernel that is always copied into its callers: small ones on the way of every action. It saves calls, and where an
    array is an argument the counting of references."""
    return _compile(function, inline=True)


def _compile(function: _Function, inline: bool) -> _Function:
    dispatcher = numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function)
    if COMPILED:
        try:
            dispatcher._cache = _SourceCache(function)
        except (RuntimeError, OSError, AttributeError):
            # No writable folder, or a numba whose cache is built otherwise: run uncached.
            _warn_uncached()
    return dispatcher  # type: ignore[no-any-return]


def direct(function: Callable[..., Any], *examples: Any) -> Callable[..., Any]:
    """What calls a kernel without numba's look at the type of every argument, which takes 0.1 us an array.

    Unchecked: the arguments must always be of the types, dimensions and layouts of the examples.
    """
    if not COMPILED:
        return function
    call: Callable[..., Any] = function.compile(tuple(numba.typeof(example) for example in examples))  # type: ignore[attr-defined]
    return call


@lru_cache(maxsize=1)
def _warn_uncached() -> None:
    warnings.warn(
        "goboom_env: no folder for compiled code is writable, so every process compiles anew; set NUMBA_CACHE_DIR to one that is",
        RuntimeWarning,
        stacklevel=4,
    )
