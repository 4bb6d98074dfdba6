"""Markdown of a response as HTML that can do nothing and load nothing.

It is parsed without HTML, links and images, which stay as they were written, so that
their addresses can be read; what comes of it may have the elements of a list, none of
them with an attribute.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from markupsafe import Markup

from warehouse.extras import load

#: Elements that are left, and of one page; a table of a few thousand characters may
#: have a hundred thousand cells.
ELEMENTS = frozenset(
    "p br hr h4 h5 h6 em strong s code pre blockquote ul ol li table thead tbody tr th td".split()
)
MOST_ELEMENTS = 2_000
#: Elements in one another at most: the parser leaves out what stands deeper.
DEEPEST = 100
#: What the parser leaves alone.
_AS_WRITTEN = ("link", "image", "autolink", "reference", "html_block", "html_inline")


def is_installed() -> bool:
    """True where Markdown can be shown."""
    return all(find_spec(name) is not None for name in ("markdown_it", "nh3"))


def as_html(text: str, most: int = MOST_ELEMENTS) -> tuple[Markup | None, int]:
    """HTML of a text, and how many elements it has; None where these are more than
    ``most``, or too deep.

    Raises:
        MisuseError: what it takes is not installed.
    """
    parser, sanitiser = _parser(), load("nh3", "serve", "Markdown")
    tokens = parser.parse(text)
    n = 0
    for token in tokens:
        parts = (token, *(token.children or ()))
        n += sum(part.nesting >= 0 and bool(part.tag) for part in parts)
    if n > most or any(token.level >= DEEPEST - 1 for token in tokens):
        return None, n
    for token in tokens:
        if token.type in (
            "heading_open",
            "heading_close",
        ):  # below the heading of the response
            token.tag = f"h{min(6, int(token.tag[1:]) + 3)}"
    html = parser.renderer.render(tokens, parser.options, {})
    return Markup(sanitiser.clean(html, tags=ELEMENTS, attributes={}, link_rel=None)), n


@cache
def _parser() -> Any:
    parser = load("markdown_it", "serve", "Markdown").MarkdownIt(
        "commonmark", {"html": False, "maxNesting": DEEPEST}
    )
    return parser.enable(["table", "strikethrough"]).disable(_AS_WRITTEN)
