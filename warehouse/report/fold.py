"""What a page holds and does not show at first: text of a ``noscript`` element, of
which a browser that runs scripts makes no nodes before somebody opens it (script.js),
and which stands there as it is for one that runs none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.tables.page import folded

#: Nodes of a page before something is opened.
MOST_NODES = 5_000
#: Of these, what script.js adds: a button in each head of a table, one to copy each
#: table and figure.
OF_SCRIPT = 600
#: Where a section's head ends, which is always seen (benchmark.html.j2, suite.html.j2).
BODY = "<!-- body -->"

_FOLDED = re.compile(r"<noscript>.*?</noscript>", re.DOTALL)
_PIECE = re.compile(r"(?=<h3)")
_HEADING = re.compile(r"<h3.*?</h3>", re.DOTALL)
_END = "</section>"


def n_nodes(html: str) -> int:
    """Elements that a browser makes of a part of a page before something is opened."""
    shown = _FOLDED.sub("", html)
    return (
        shown.count("<")
        - shown.count("</")
        - shown.count("<!")
        + html.count("<noscript>")
    )


def fit(sections: Sequence[str], room: int) -> list[str]:
    """Sections that together have no more nodes than there is room for: of those at the
    end the heads alone are seen, and of the first, where it is too large by itself, its
    parts that are small enough.

    Args:
        sections: HTML, each a ``section`` element.
        room: nodes.
    """
    fitting = list(sections)
    sizes = [n_nodes(section) for section in fitting]
    for at in range(len(fitting) - 1, 0, -1):
        if sum(sizes) <= room:
            return fitting
        fitting[at] = _without_body(fitting[at])
        sizes[at] = n_nodes(fitting[at])
    if fitting and sum(sizes) > room:
        fitting[0] = _without_large(fitting[0], room - sum(sizes[1:]))
    return fitting


def _without_body(section: str) -> str:
    head, mark, body = section.partition(BODY)
    if not mark:
        return section
    return f"{head}{folded(body.removesuffix(_END), 'All of it')}{_END}"


def _without_large(section: str, room: int) -> str:
    """The largest parts below headings folded, as many as it takes."""
    head, _, body = section.partition(BODY)
    pieces = _PIECE.split(body.removesuffix(_END))
    sizes = [n_nodes(piece) for piece in pieces]
    left = room - n_nodes(head)
    for at in sorted(range(len(pieces)), key=lambda at: -sizes[at]):
        if sum(sizes) <= left:
            break
        heading = _HEADING.match(pieces[at])
        start = 0
        if heading:
            start = heading.end()
        pieces[at] = f"{pieces[at][:start]}{folded(pieces[at][start:], 'Show')}"
        sizes[at] = n_nodes(pieces[at])
    return f"{head}{''.join(pieces)}{_END}"
