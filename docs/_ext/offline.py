"""Fail the build when a page asks another host for something it needs to be shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Scripts, style sheets, pictures and fonts; ordinary links to other sites are of course fine.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video)\b[^>]*\ssrc=["']((?:https?:)?//[^"']+)"""
    r"""|<link\b(?=[^>]*rel=["'](?:stylesheet|preload|preconnect|icon))[^>]*href=["']((?:https?:)?//[^"']+)"""
    r"""|@import\s+(?:url\()?["']?((?:https?:)?//[^"')]+)""",
    re.IGNORECASE,
)


def outside_requests(text: str) -> list[str]:
    """Addresses on other hosts that a browser would fetch to show this page or style sheet."""
    return [next(filter(None, found)) for found in FETCHED.findall(text)]


def check(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in {".html", ".css"}:
            for address in outside_requests(path.read_text(encoding="utf-8")):
                logger.warning("%s fetches %s from another host", path.name, address)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
