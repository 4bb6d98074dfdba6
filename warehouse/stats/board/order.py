"""Entries that stand elsewhere than the others (B7), and ties of win rates (B8, §25.6)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.shares import learn_step, width
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import short
from warehouse.stats.core.inputs import FloatArray

_FEWEST_ROWS, _FEWEST_VALUES, _MISSING, _MONOTONE = 8, 6, 0.1, 0.9
_MOST_OUTSIDE = 0.05
_WIN_RATE = re.compile(r"mean[\s_-]*win[\s_-]*rate", re.IGNORECASE)
_FEWEST_STEPS = 3
#: Decimals of a share by which equal figures are taken for equal.
_TELLING_DECIMALS = 3
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def order_findings(board: Board) -> Iterator[Finding]:
    """B7: a table that is sorted by a column, but for few entries."""
    rows = np.flatnonzero(board.is_entry)
    if not board.is_ordered or len(rows) < _FEWEST_ROWS:
        return
    if _is_sorted_by_text(board, rows):
        return
    candidates = _sorted_columns(board, rows)
    if not candidates:
        return
    fewest, column, outside_rows = min(candidates, key=lambda one: one[0])
    if not 0 < fewest <= max(2, _MOST_OUTSIDE * len(rows)):
        return
    for row in outside_rows:
        text = f"{column.name} {{printed}} is out of order: the table is sorted by it"
        yield Finding(CHECK, "B7", (int(row),), column.name, text, 1.0)


def _sorted_columns(
    board: Board, rows: np.ndarray
) -> list[tuple[int, FigureColumn, np.ndarray]]:
    """Columns that the table is nearly sorted by: entries out of order, how many, which."""
    candidates = []
    for column in board.figures:
        used = rows[column.there[rows]]
        if len(used) < max(_FEWEST_ROWS, (1 - _MISSING) * len(rows)):
            continue
        values = column.values[used]
        if len(np.unique(values)) < _FEWEST_VALUES:
            continue
        outside = _fewest_outside(values)
        if outside is None:
            continue
        candidates.append((len(outside), column, used[outside]))
    return candidates


def _fewest_outside(values: FloatArray) -> list[int] | None:
    """Places out of order, of the direction in which figures are nearly sorted; None
    where they are not."""
    found = None
    for direction in (-1, 1):
        steps = direction * np.diff(values)
        if (steps >= 0).all():
            return []
        if np.mean(steps >= 0) > _MONOTONE:
            outside = _outside(direction * values)
            if found is None or len(outside) < len(found):
                found = outside
    return found


def _is_sorted_by_text(board: Board, rows: np.ndarray) -> bool:
    """Whether entries stand in the order of their names, or of dates."""
    columns = [board.entries]
    for texts in board.texts.values():
        if all(_DATE.match(text) for text in texts if text):
            columns.append(texts)
    for texts in columns:
        words = [texts[row].casefold() for row in rows if texts[row]]
        if len(set(words)) < _FEWEST_VALUES:
            continue
        for one in (words, words[::-1]):
            if all(first <= second for first, second in pairwise(one)):
                return True
    return False


def _outside(values: FloatArray) -> list[int]:
    """Places outside of a longest part that never falls."""
    tails: list[float] = []
    ends: list[int] = []
    before = [-1] * len(values)
    for place, value in enumerate(values):
        length = bisect_right(tails, float(value))
        if length == len(tails):
            tails.append(float(value))
            ends.append(place)
        else:
            tails[length], ends[length] = float(value), place
        if length:
            before[place] = ends[length - 1]
    kept = set()
    place = ends[-1]
    while place >= 0:
        kept.add(place)
        place = before[place]
    return [place for place in range(len(values)) if place not in kept]


def tie_findings(board: Board) -> Iterator[Finding]:
    """B8: rows of one score whose mean win rates over others differ."""
    for column in board.figures:
        if not _WIN_RATE.search(column.name):
            continue
        scores = [one for one in board.scores if not _WIN_RATE.search(one.name)]
        for score in scores:
            if _goes_with(column, score, is_only=len(scores) == 1):
                yield from _ties(board, column, score)


def _goes_with(column: FigureColumn, score: FigureColumn, *, is_only: bool) -> bool:
    """Whether win rates rise, or fall, with a score wherever that changes."""
    if is_only:
        return True
    both = column.there & score.there
    distinct = np.unique(score.values[both])
    if len(distinct) <= _FEWEST_STEPS:
        return False
    groups = [column.values[both & (score.values == one)] for one in distinct]
    rises = all(first.max() <= second.min() for first, second in pairwise(groups))
    falls = all(first.min() >= second.max() for first, second in pairwise(groups))
    return rises or falls


def _tells_ties(score: FigureColumn, row: int) -> bool:
    """Whether figures that print the same are the same: enough of them was printed, or
    they are shares of few items."""
    figure = score.figures[row]
    if figure is None or figure.is_exact:
        return True
    scale = score.scale or 1
    if figure.decimals >= _TELLING_DECIMALS - (scale == 100) * 2:
        return True
    step = learn_step(score)
    return step is not None and width(figure, step.n, scale) < 1


def _ties(board: Board, column: FigureColumn, score: FigureColumn) -> Iterator[Finding]:
    both = column.there & score.there
    for value in np.unique(score.values[both]):
        rows = np.flatnonzero(both & (score.values == value))
        for one, other in pairwise(rows):
            gap = abs(float(column.values[one] - column.values[other]))
            slack = float(column.tolerances[one] + column.tolerances[other])
            if gap > slack:
                grade = CHECK
                if _tells_ties(score, int(one)):
                    grade = WRONG
                text = (
                    f"{column.name} {{printed}}, but "
                    f"{short(float(column.values[other]))} of {board.entries[other]} "
                    f"with the same {score.name}, {short(float(value))}"
                )
                rows_of = (int(one), int(other))
                yield Finding(grade, "B8", rows_of, column.name, text, gap / slack)
