"""`goboom replay FILE --html PAGE`."""

from __future__ import annotations

import argparse
from pathlib import Path

from goboom_env.arena.review import review
from goboom_env.engine.record import read_records
from goboom_env.files import whole_file
from goboom_env.policies import make
from goboom_env.policies.search import SearchPolicy
from goboom_env.render.html import replay_page

MOST_HANDS = 50
"""Hands on a page unless asked otherwise: a hand is some 40 kB."""


def write_page(options: argparse.Namespace) -> str:
    """Write the page of a file whose records are good; returns what to say of it, `ValueError` for policies that cannot be."""
    policy = None if options.policy is None else make(options.policy)
    search = None if options.search == "none" else make(options.search or "search:64")
    if search is not None and not isinstance(search, SearchPolicy):
        raise ValueError(f"--search {options.search} is no search: write search:DEALS as in search:64, or none")
    records = [record for _, record in read_records(options.file)]
    limit = options.limit or MOST_HANDS
    data = review(records[:limit], policy, search) | {"total": len(records)}
    page = replay_page(data, Path(options.file).name)
    with whole_file(options.html) as file:
        file.write(page.encode("utf-8"))
    shown = f"the first {limit} of {len(records)} hands" if limit < len(records) else f"{len(records)} hands"
    return f"page of {shown} written to {options.html}"
