"""Cells that nearly all other entries have (B10), and other numbers of items (B11,
§25.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from warehouse.stats.board.costs import COST
from warehouse.stats.board.finding import CHECK, NOTE, Finding
from warehouse.stats.board.shares import SIZE_NAMES
from warehouse.stats.board.table import Board
from warehouse.stats.board.words import counted, listed, short

_FILLED, _FEWEST_ROWS = 0.9, 8
#: Entries without some cell beyond which, of how many rows, all are one note.
_MANY, _OF_ROWS = 0.02, 100
_HEADLINE = re.compile(
    r"(?:main_score|overall|score|average|mean|avg)(?:[\s_](?:score|acc|accuracy))?",
    re.IGNORECASE,
)
_HEADLINE_FILLED, _USUAL = 0.8, 0.6


def gap_findings(board: Board) -> Iterator[Finding]:
    """B10: entries that lack what nearly all have."""
    n = int(board.is_entry.sum())
    if n < _FEWEST_ROWS:
        return
    lacking: dict[int, list[str]] = {}
    for column in board.figures:
        if not column.is_score and not COST.search(column.name):
            continue
        share = float(column.there[board.is_entry].mean())
        is_headline = _HEADLINE.fullmatch(column.name.strip()) is not None
        fewest = _HEADLINE_FILLED if is_headline else _FILLED
        if not fewest <= share < 1:
            continue
        for row in np.flatnonzero(~column.there & board.is_entry):
            lacking.setdefault(int(row), []).append(column.name)
    lacking = {row: names for row, names in lacking.items() if not _is_bare(board, row)}
    if n > _OF_ROWS and len(lacking) > _MANY * n:
        columns = list(
            dict.fromkeys(name for names in lacking.values() for name in names)
        )
        text = (
            f"{counted(len(lacking), 'entry')} without {listed(columns)}, which 9 in 10 "
            "entries have"
        )
        yield Finding(NOTE, "B10", tuple(lacking), "", text, float(len(lacking)))
        return
    for entry, names in lacking.items():
        text = f"no {listed(names)}; 9 in 10 entries have one"
        yield Finding(CHECK, "B10", (entry,), names[0], text, float(len(names)))


def _is_bare(board: Board, row: int) -> bool:
    """Whether a row has no figure at all: a heading, or an entry that is announced."""
    return not any(column.there[row] for column in board.scores)


def size_findings(board: Board) -> Iterator[Finding]:
    """B11: entries of another number of items than most."""
    for column in board.figures:
        if column.name.casefold().strip() not in SIZE_NAMES:
            continue
        values = column.values[column.there]
        distinct, counts = np.unique(values, return_counts=True)
        if counts.max() < _USUAL * len(board.entries):
            continue
        usual = float(distinct[counts.argmax()])
        rows = np.flatnonzero(column.there & (column.values != usual))
        if len(rows):
            text = f"{column.name} is not {short(usual, 9)}"
            numbers = tuple(int(row) for row in rows)
            yield Finding(NOTE, "B11", numbers, column.name, text, float(len(rows)))
