"""A progress bar on terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def progress_bar(total: int, unit: str) -> Iterator[Callable[[int], None] | None]:
    """What to call with the number of units done since the last call, None where there is nothing to show.

    The bar is on standard error and gone at the end. There is none unless that is a terminal and tqdm is installed.
    """
    if not sys.stderr.isatty() or find_spec("tqdm") is None:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit=f" {unit}", file=sys.stderr, leave=False, dynamic_ncols=True) as bar:

        def advance(count: int) -> None:
            bar.update(count)

        yield advance
