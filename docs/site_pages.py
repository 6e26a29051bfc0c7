"""Hook of `mkdocs.yml`: README, CONTRIBUTING and CHANGELOG are pages of the site too, and the examples that pages link to.

All from the files themselves, whose links are those of the repository.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](").replace("](README.md", "](index.md")
        files.append(File.generated(config, page, content=text))
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
        files.append(File.generated(config, f"examples/{path.stem}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Lead links to an example to its page."""
    return re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](examples/\1.md)", markdown)
