"""Costs: none, below none, and far from those of the same model (B13, §25.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from warehouse.stats.board.finding import CHECK, NOTE, WRONG, Finding
from warehouse.stats.board.shares import SIZE_NAMES
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import short
from warehouse.stats.core.inputs import FloatArray

#: Names of columns of costs.
COST = re.compile(r"(?<![a-z])(?:costs?|price)(?![a-z])", re.IGNORECASE)
_CHANGE = re.compile(r"change|delta|diff|saving|reduction|increase|vs", re.IGNORECASE)
_TOTAL = re.compile(r"total", re.IGNORECASE)
_MOST_CATEGORIES, _FEWEST, _PRICED = 12, 8, 0.8
_APART = 5.0
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_DATE = re.compile(
    r"(?<!\d)(?:20\d{2}[-_.]?[01]\d[-_.]?[0-3]\d|[01]\d[-_][0-3]\d|[0-3]\d[-_](?:20)?\d{2}"
    r"|[01]\d[0-3]\d)(?!\d)"
)
_DROPPED = re.compile(
    r"(?<![a-z])(?:preview|latest|exp|experimental|high|medium|low|minimal|max|xhigh|none"
    r"|thinking|think|nothink|no|default|reasoning|effort|turbo)(?![a-z])"
)
_VENDOR = re.compile(r"^[\w.-]+/")


def cost_findings(board: Board) -> Iterator[Finding]:
    """B13 of each column of costs."""
    for column in board.figures:
        if COST.search(column.name) is None or _CHANGE.search(column.name):
            continue
        yield from _without_price(column)
        yield from _blank(board, column)
        yield from _jumps(board, column)


def _without_price(column: FigureColumn) -> Iterator[Finding]:
    zero = np.flatnonzero(column.there & (column.values == 0))
    if len(zero):
        rows = tuple(int(row) for row in zero)
        text = f"{column.name} 0: no price; left out of every ratio"
        yield Finding(NOTE, "B13", rows, column.name, text, float(len(rows)))
    for row in np.flatnonzero(column.there & (column.values < 0)):
        text = f"{column.name} {{printed}} is below 0"
        score = -float(column.values[row])
        yield Finding(WRONG, "B13", (int(row),), column.name, text, score)


def _blank(board: Board, column: FigureColumn) -> Iterator[Finding]:
    """Rows without a cost, where nearly all of their category have one."""
    for name, texts in board.texts.items():
        values = {text for text in texts if text}
        if not 1 < len(values) <= _MOST_CATEGORIES:
            continue
        for value in sorted(values):
            alike = np.array([text == value for text in texts])
            n_priced = int((alike & column.there).sum())
            blank = np.flatnonzero(alike & ~column.there)
            if n_priced < _FEWEST or n_priced < _PRICED * alike.sum() or not len(blank):
                continue
            rows = tuple(int(row) for row in blank)
            text = f"no {column.name}; {n_priced} of {int(alike.sum())} with {name} {value} have one"
            yield Finding(NOTE, "B13", rows, column.name, text, float(len(rows)))
            return


def _jumps(board: Board, column: FigureColumn) -> Iterator[Finding]:
    """Entries of one family whose costs are far apart; of each the lowest."""
    costs = column.values.copy()
    each = ""
    sizes = _sizes(board)
    if _TOTAL.search(column.name) and sizes is not None:
        costs = costs / sizes
        each = " a case"
    families: dict[str, list[int]] = {}
    for row, name in enumerate(board.entries):
        family = family_of(name)
        if family and np.isfinite(costs[row]) and costs[row] > 0:
            families.setdefault(family, []).append(row)
    for rows in families.values():
        lowest = min(rows, key=lambda row: costs[row])
        highest = max(rows, key=lambda row: costs[row])
        ratio = float(costs[highest] / costs[lowest])
        if ratio >= _APART:
            text = (
                f"{column.name} {{printed}}, {ratio:.1f} times less{each} than "
                f"{board.entries[highest]} ({short(float(column.values[highest]))})"
            )
            yield Finding(
                *(CHECK, "B13", (int(lowest),), column.name, text, ratio / _APART),
                is_suspicion=True,
            )


def _sizes(board: Board) -> FloatArray | None:
    for one in board.figures:
        if (
            one.name.casefold().strip() in SIZE_NAMES
            and (one.values[one.there] > 0).all()
        ):
            return one.values
    return None


def family_of(name: str) -> str:
    """What versions and settings of one model have in common of their names; empty
    where no version is left of it."""
    text = _BRACKETS.sub(" ", _VENDOR.sub("", name.strip().casefold()))
    text = _DROPPED.sub(" ", _DATE.sub(" ", text))
    family = " ".join(re.findall(r"[a-z]+|\d+(?:\.\d+)?", text))
    if not re.search(r"\d", family):
        return ""
    return family
