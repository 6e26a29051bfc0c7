"""`Calls`: a batch's way into compiled code, past numba's dispatch and in several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from goboom_env.engine.jit import direct

_CHUNK = 256
"""Fewest rows worth a thread of their own."""


class Calls:
    """Calls kernels directly. Each must always be called with arguments of the same types, see `jit.direct`.

    Args:
        num_threads: Threads to split large batches over.
    """

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._direct: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._pool: ThreadPoolExecutor | None = None

    def __reduce__(self) -> tuple[type[Calls], tuple[int]]:
        return Calls, (self.num_threads,)

    def __call__(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        """A kernel's result."""
        call = self._direct.get(kernel) or self._make(kernel, *arguments)
        return call(*arguments)

    def split(self, kernel: Callable[..., Any], count: int, arguments: tuple[Any, ...]) -> list[Any]:
        """Results of a kernel on the rows 0 to `count`, where there are many in several threads.

        The kernel's last three arguments are its first and last row and the number of its scratch space, two for each thread.
        """
        call = self._direct.get(kernel) or self._make(kernel, *arguments, 0, 0, 0)
        parts = 1 if self.num_threads == 1 else min(self.num_threads, count // _CHUNK)
        if parts <= 1:
            return [call(*arguments, 0, count, 0)]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.num_threads, "goboom_env")
        bounds = [count * part // parts for part in range(parts + 1)]
        jobs = [self._pool.submit(call, *arguments, bounds[part], bounds[part + 1], 2 * part) for part in range(1, parts)]
        return [call(*arguments, 0, bounds[1], 0), *(job.result() for job in jobs)]

    def _make(self, kernel: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        call = self._direct[kernel] = direct(kernel, *arguments)
        return call
