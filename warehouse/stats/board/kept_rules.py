"""A rule between columns that nearly all rows keep, and the rows that break it (B2,
§25.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from warehouse.stats.board.count_rules import count_rules
from warehouse.stats.board.finding import NOTE, WRONG, Finding
from warehouse.stats.board.mean_rules import mean_rules
from warehouse.stats.board.missing_parts import missing_part_findings
from warehouse.stats.board.rule import Rule
from warehouse.stats.board.table import Board, FigureColumn, is_mean_row
from warehouse.stats.board.words import listed, short

_DIGITS = re.compile(r"\d+")
#: Columns in which a row of means has to agree with the rows above it.
_FEWEST_MEANS = 3
#: Tolerances beyond which a figure contradicts a rule whose weights were fitted.
_OF_FIT = 2


def rule_findings(board: Board) -> Iterator[Finding]:
    """B2 of a whole board."""
    found = kept_rules(board)
    for rule in found:
        for row in np.flatnonzero(rule.there & ~rule.keeps):
            if not _is_of_fit(rule, int(row)):
                yield _exception(rule, int(row))
    yield from _two_denominators(board, found)
    yield from missing_part_findings(board, found)
    yield from _rows_of_means(board)


def kept_rules(board: Board) -> list[Rule]:
    """The rule of each column that has one: that with the fewest exceptions, then the
    simplest, then that of most rows."""
    found: list[Rule] = []
    for column in board.figures:
        rules = [*count_rules(column, board)]
        if column.is_score:
            rules += mean_rules(column, board.scores)
        if rules:
            found.append(min(rules, key=_order))
    return found


def _order(rule: Rule) -> tuple[int, int, int, int]:
    n_rows = int(rule.there.sum())
    return rule.n_exceptions, rule.rank, -n_rows, len(rule.parts)


def _is_of_fit(rule: Rule, row: int) -> bool:
    """Whether a row may break a rule because its weights are estimates."""
    gap = abs(float(rule.column.values[row] - rule.expected[row]))
    return rule.is_fitted and gap <= _OF_FIT * float(rule.slack[row])


def _exception(rule: Rule, row: int) -> Finding:
    column = rule.column
    figure = column.figures[row]
    assert figure is not None  # the row has all cells
    value, expected = float(figure.value), float(rule.expected[row])
    gap = abs(value - expected) / max(float(figure.tolerance), 1e-300)
    cut = 0 <= expected - value < 2 * float(figure.half)
    if cut and not figure.is_exact:
        text = f"{column.name} {{printed}} is {short(expected)} cut, not rounded"
        return Finding(NOTE, "B2", (row,), column.name, text, gap, "", expected)
    text = (
        f"{column.name} {{printed}}, but {rule.formula} = {short(expected)} "
        f"({rule.n_keeping} of {rule.n_rows} entries keep this rule)"
    )
    return Finding(WRONG, "B2", (row,), column.name, text, gap, "", expected)


def _two_denominators(board: Board, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Columns that differ in digits alone and are shares of different counts."""
    shares = [rule for rule in rules if rule.denominator is not None]
    for one, other in combinations(shares, 2):
        if _without_digits(one) != _without_digits(other):
            continue
        a, b = one.denominator, other.denominator
        assert a is not None
        assert b is not None
        if _DIGITS.sub("#", a.name) == _DIGITS.sub("#", b.name):
            continue  # one and the same, or each column has its own
        differ = np.flatnonzero(a.there & b.there & (a.values != b.values))
        if not len(differ):
            continue
        names = [board.entries[row] for row in differ]
        text = (
            f"{one.column.name} is a share of {a.name}, {other.column.name} of "
            f"{b.name}: {listed(names)}"
        )
        rows = tuple(int(row) for row in differ)
        score = float(np.abs(a.values[differ] - b.values[differ]).max())
        yield Finding(WRONG, "B2", rows, one.column.name, text, score)


def _without_digits(rule: Rule) -> str:
    return _DIGITS.sub("#", rule.column.name)


def _rows_of_means(board: Board) -> Iterator[Finding]:
    """A row called average that is the mean of the rows above it, but for a column."""
    for row, name in enumerate(board.entries):
        if not is_mean_row(name):
            continue
        checked = []
        for column in board.scores:
            found = _mean_above(column, row, board)
            if found is not None:
                checked.append((column, *found))
        broken = [one for one in checked if one[2] > 1]
        if len(checked) - len(broken) < _FEWEST_MEANS:
            continue
        if len(broken) > max(1, 0.1 * len(checked)):
            continue
        for column, expected, gap in broken:
            text = (
                f"{column.name} {{printed}}, but the mean of the rows above is "
                f"{short(expected)}; {len(checked) - len(broken)} of {len(checked)} "
                "columns are"
            )
            yield Finding(WRONG, "B2", (row,), column.name, text, gap, "", expected)


def _mean_above(
    column: FigureColumn, row: int, board: Board
) -> tuple[float, float] | None:
    """The mean above a row, and how far its figure is from it, in tolerances."""
    above = column.there & board.is_entry & (np.arange(len(column.there)) < row)
    if not column.there[row] or above.sum() < 2:
        return None
    expected = float(column.values[above].mean())
    tolerance = column.tolerances[row] + column.tolerances[above].mean()
    return expected, abs(float(column.values[row]) - expected) / float(tolerance)
