"""Means of rows that lack some of the parts (B2, §25.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.rule import Rule
from warehouse.stats.board.table import Board
from warehouse.stats.board.words import listed


def missing_part_findings(board: Board, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Rows in which parts of a mean count as 0, or are left out of it."""
    for rule in rules:
        if rule.is_equal_mean:
            yield from _of_rule(board, rule)


def _of_rule(board: Board, rule: Rule) -> Iterator[Finding]:
    column, k = rule.column, len(rule.parts)
    values = np.stack([part.values for part in rule.parts], axis=1)
    slacks = np.stack([part.tolerances for part in rule.parts], axis=1)
    n_there = np.isfinite(values).sum(axis=1)
    as_zero: list[int] = []
    left_out: list[int] = []
    for row in np.flatnonzero(column.there & (n_there < k) & (n_there > 0)):
        total = float(np.nansum(values[row]))
        slack = float(column.tolerances[row] + np.nansum(slacks[row]) / n_there[row])
        if abs(column.values[row] - total / n_there[row]) <= slack:
            left_out.append(int(row))
        elif abs(column.values[row] - total / k) <= slack:
            as_zero.append(int(row))
    if as_zero:
        yield _line(board, rule, WRONG, as_zero, "counts missing parts as 0")
    if left_out:
        words = f"is a mean of fewer than {k} parts"
        yield _line(board, rule, CHECK, left_out, words)


def _line(board: Board, rule: Rule, grade: str, rows: list[int], words: str) -> Finding:
    names = [board.entries[row] for row in rows]
    text = f"{rule.column.name} {words}"
    if len(rows) > 1:
        text += f": {listed(names)}"
    return Finding(grade, "B2", tuple(rows), rule.column.name, text, float(len(rows)))
