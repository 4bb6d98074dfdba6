"""Entries of other names with the same figures (B6, §25.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from warehouse.stats.board.cells import Figure
from warehouse.stats.board.finding import CHECK, Finding
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import listed
from warehouse.stats.core.inputs import FloatArray

_FEWEST_ROWS, _MOST_ROWS, _FEWEST_COLUMNS = 8, 3_000, 3
#: Evidence in nats: about one board in a hundred by chance.
_EVIDENCE = 4.6
#: Figures that entries share for no reason.
_COMMON = (0.0, 1.0, 100.0)
_NO_CHANCE, _MOST_DENOMINATOR, _DIGITS = 0.001, 20_000, 15


def same_figure_findings(board: Board) -> Iterator[Finding]:
    """B6: clusters of entries that agree in every figure that both have."""
    columns = [one for one in board.figures if not (one.is_count or one.is_error)]
    n = len(board.entries)
    if not _FEWEST_ROWS <= n <= _MOST_ROWS or len(columns) < _FEWEST_COLUMNS:
        return
    values = np.stack([one.values for one in columns], axis=1)
    chances = [_chance_of_tie(one) for one in columns]
    cluster = list(range(n))
    evidence: dict[int, float] = {}
    for one, other in _equal_pairs(board, values):
        found = _evidence(columns, chances, values, one, other)
        if found > _EVIDENCE:
            _join(cluster, one, other)
            evidence[one] = max(found, evidence.get(one, 0.0))
    members: dict[int, list[int]] = {}
    for row in range(n):
        members.setdefault(_root(cluster, row), []).append(row)
    for rows in members.values():
        if len(rows) > 1:
            yield _same(board, values, rows, max(evidence.get(row, 0) for row in rows))


def _same(board: Board, values: FloatArray, rows: list[int], score: float) -> Finding:
    n_columns = int(np.isfinite(values[rows]).all(axis=0).sum())
    others = [board.entries[row] for row in rows[1:]]
    text = f"the same figures in {n_columns} columns as {listed(others)}"
    return Finding(CHECK, "B6", tuple(rows), "", text, score)


def _equal_pairs(board: Board, values: FloatArray) -> Iterator[tuple[int, int]]:
    there = np.isfinite(values)
    telling = there & ~np.isin(values, _COMMON)
    names = [name.strip().casefold() for name in board.entries]
    for one in range(len(values) - 1):
        if telling[one].sum() < _FEWEST_COLUMNS or not board.is_entry[one]:
            continue
        rest = slice(one + 1, None)
        with np.errstate(invalid="ignore"):
            equal = values[rest] == values[one]
        both = there[rest] & there[one]
        agree = (equal | ~both).all(axis=1)
        n_telling = (both & telling[rest]).sum(axis=1)
        for place in np.flatnonzero(agree & (n_telling >= _FEWEST_COLUMNS)):
            other = one + 1 + int(place)
            if board.is_entry[other] and names[one] != names[other]:
                yield one, other


def _chance_of_tie(column: FigureColumn) -> float:
    """Share of neighbours in the sorted column that are equal."""
    values = np.sort(column.values[column.there])
    return float(((np.diff(values) == 0).sum() + 1) / (len(values) + 2))


def _evidence(
    columns: Sequence[FigureColumn],
    chances: Sequence[float],
    values: FloatArray,
    one: int,
    other: int,
) -> float:
    total = -math.log(len(values) ** 2 / 2)
    for column, chance in zip(columns, chances, strict=True):
        first, second = column.figures[one], column.figures[other]
        if first is None or second is None:
            continue
        if first.is_exact and second.is_exact and not _is_share(first, column.scale):
            chance = min(chance, _NO_CHANCE)
        total -= math.log(chance)
    return total


def _is_share(figure: Figure, scale: int | None) -> bool:
    """Whether an exact figure is a fraction of a small denominator, to its last digit."""
    value = figure.value / (scale or 1)
    near = value.limit_denominator(_MOST_DENOMINATOR)
    digits = figure.decimals
    if figure.value:
        size = math.floor(math.log10(abs(float(figure.value))))
        digits = min(digits, _DIGITS - 1 - size)
    slack = Fraction(1) / Fraction(10) ** digits / (scale or 1)
    return abs(near - value) <= slack


def _root(cluster: list[int], row: int) -> int:
    while cluster[row] != row:
        cluster[row] = cluster[cluster[row]]
        row = cluster[row]
    return row


def _join(cluster: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(cluster, one), _root(cluster, other)))
    cluster[second] = first
