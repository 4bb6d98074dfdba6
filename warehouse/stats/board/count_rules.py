"""Rules on counts: shares of a count, halves for draws, sums (B2, §25.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.board.rule import FEWEST_ROWS, KEPT, Rule, keeps_within
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.core.inputs import FloatArray

#: Integer columns that are tried, for shares and for rules of three of them.
_MOST_COLUMNS, _MOST_OF_THREE = 30, 12
_FEWEST_INFORMATIVE, _FEWEST_VALUES = 6, 4
_SHARE, _LOSS, _HALF, _SUM = range(4)


def count_rules(column: FigureColumn, board: Board) -> Iterator[Rule]:
    """Rules of counts that hold of a column."""
    counts = [one for one in board.figures if one.is_integer and one is not column]
    if column.is_score and column.scale is not None:
        yield from _shares(column, counts[:_MOST_COLUMNS], column.scale)
        if not column.is_integer:
            yield from _halves(column, _of_three(counts), column.scale)
    if column.is_integer:
        yield from _sums(column, _of_three(counts))


def _of_three(counts: list[FigureColumn]) -> list[FigureColumn]:
    """Columns for rules of three: those with most values, in their order."""
    if len(counts) <= _MOST_OF_THREE:
        return counts
    by_values = sorted(counts, key=lambda one: -len(set(one.values[one.there])))
    kept = {one.name for one in by_values[:_MOST_OF_THREE]}
    return [one for one in counts if one.name in kept]


def _shares(
    column: FigureColumn, counts: list[FigureColumn], scale: int
) -> Iterator[Rule]:
    for b, n in permutations(counts, 2):
        with np.errstate(all="ignore"):
            share = b.values / n.values
            share[~(n.values > 0)] = np.nan
        within = (b.values > 0) & (b.values < n.values)
        rules = (
            (_SHARE, scale * share, f"{_times(scale)}{b.name}/{n.name}"),
            (_LOSS, scale * (1 - share), f"{_times(scale)}(1 - {b.name}/{n.name})"),
        )
        for rank, expected, formula in rules:
            keeps = keeps_within(column, expected)
            if _can_hold(column, expected, keeps) and _informs(column, keeps & within):
                rule = Rule(column, (b, n), formula, rank, expected, keeps, n)
                if rule.holds:
                    yield rule


def _times(scale: int) -> str:
    if scale == 1:
        return ""
    return f"{scale} x "


def _can_hold(
    column: FigureColumn, expected: FloatArray, keeps: NDArray[np.bool_]
) -> bool:
    n_rows = int((np.isfinite(expected) & column.there).sum())
    return n_rows >= FEWEST_ROWS and keeps.sum() >= KEPT * n_rows


def _informs(column: FigureColumn, kept: NDArray[np.bool_]) -> bool:
    """Whether rows that keep a rule say something: enough of them, of enough values."""
    if kept.sum() < _FEWEST_INFORMATIVE:
        return False
    return len(np.unique(column.values[kept])) >= _FEWEST_VALUES


def _halves(
    column: FigureColumn, counts: list[FigureColumn], scale: int
) -> Iterator[Rule]:
    drawn = [one for one in counts if (one.values > 0).sum() >= _FEWEST_INFORMATIVE]
    for b, n in permutations(counts, 2):
        for e in drawn:
            if e is b or e is n:
                continue
            with np.errstate(all="ignore"):
                expected = scale * (b.values + e.values / 2) / n.values
                expected[~(n.values > 0)] = np.nan
            keeps = keeps_within(column, expected)
            informs = _informs(column, keeps & (e.values > 0))
            if informs and _can_hold(column, expected, keeps):
                formula = f"{_times(scale)}({b.name} + {e.name}/2)/{n.name}"
                rule = Rule(column, (b, e, n), formula, _HALF, expected, keeps, n)
                if rule.holds:
                    yield rule


def _sums(column: FigureColumn, counts: list[FigureColumn]) -> Iterator[Rule]:
    telling = [one for one in counts if _varies(one)]
    for size in (2, 3):
        for parts in combinations(telling, size):
            expected = np.sum([part.values for part in parts], axis=0)
            keeps: NDArray[np.bool_] = column.values == expected
            if not _can_hold(column, expected, keeps):
                continue
            all_count = np.logical_and.reduce([part.values > 0 for part in parts])
            if (keeps & all_count).sum() < _FEWEST_INFORMATIVE:
                continue
            formula = " + ".join(part.name for part in parts)
            rule = Rule(column, parts, formula, _SUM, expected, keeps)
            if rule.holds:
                yield rule


def _varies(column: FigureColumn) -> bool:
    return len(np.unique(column.values[column.there])) >= _FEWEST_VALUES
