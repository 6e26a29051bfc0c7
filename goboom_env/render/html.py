"""A page to step through records: one file that needs no other and asks nothing of any network."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_DATA, _TITLE = "@@DATA@@", "@@TITLE@@"


def script_json(data: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, separators=(",", ":"))  # ASCII, so that line separators are escaped too
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def replay_page(review: Mapping[str, Any], title: str) -> str:
    """The page as text, from what `goboom_env.arena.review.review` gives.

    Args:
        review: The review, JSON values; its texts are shown as texts, whatever they hold.
        title: Heading of the page.
    """
    template = files("goboom_env.render").joinpath("replay.html").read_text(encoding="utf-8")
    before, after = template.split(_DATA)
    return before.replace(_TITLE, html.escape(title)) + script_json(review) + after
