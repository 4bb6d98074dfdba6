"""Figures that can only rise, or only fall, from one column to the next (B3, §25.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.table import Board, FigureColumn

#: Names of metrics at k: recall, hits and reciprocal ranks rise with it, the chance that
#: all of k tries succeed falls.
_RISING = re.compile(
    r"(?P<stem>(?:.*[\W_])?(?:recall|hit_rate|hits?|mrr|pass_rate(?=_\d)))"
    r"(?P<sign>@|_at_|(?<=pass_rate)_)(?P<k>\d{1,5})",
    re.IGNORECASE,
)
_FALLING = re.compile(
    r"(?P<stem>(?:.*[\W_])?pass)(?P<sign>\^|_hat_|_pow_|_)(?P<k>\d{1,3})", re.IGNORECASE
)
#: Benchmarks whose name with a plus is the same tasks under more tests.
_MORE_TESTS = frozenset(("humaneval", "mbpp"))
_FEWEST, _MOST_BROKEN = 5, 0.2


@dataclass(frozen=True)
class _Pair:
    """Two columns, of which the first can only be the smaller one."""

    low: FigureColumn
    high: FigureColumn
    grade: str


def ladder_findings(board: Board) -> Iterator[Finding]:
    """B3: rows in which what can only be larger is smaller."""
    for pair in _pairs(board):
        both = pair.low.there & pair.high.there
        if both.sum() < _FEWEST:
            continue
        slack = pair.low.tolerances + pair.high.tolerances
        with np.errstate(invalid="ignore"):
            excess = pair.low.values - pair.high.values
            broken = both & (excess > slack)
        if broken.sum() > _MOST_BROKEN * both.sum():
            continue
        for row in np.flatnonzero(broken):
            text = (
                f"{pair.low.name} {{printed}} is above {pair.high.name} "
                f"{float(pair.high.values[row]):g}, which it cannot be"
            )
            score = float(excess[row] / slack[row])
            yield Finding(pair.grade, "B3", (int(row),), pair.low.name, text, score)


def _pairs(board: Board) -> Iterator[_Pair]:
    columns = [one for one in board.figures if one.scale is not None]
    for pattern, rises in ((_RISING, True), (_FALLING, False)):
        for steps in _ladders(columns, pattern):
            for first, second in pairwise(steps):
                if rises:
                    yield _Pair(first, second, WRONG)
                else:
                    yield _Pair(second, first, WRONG)
    names = {one.name.casefold(): one for one in columns}
    for name, column in names.items():
        bare = names.get(name.removesuffix("+"))
        if name.endswith("+") and bare is not None and not name.endswith("++"):
            grade = CHECK
            if re.split(r"[|.\s]", name.removesuffix("+"))[-1] in _MORE_TESTS:
                grade = WRONG
            yield _Pair(column, bare, grade)


def _ladders(
    columns: list[FigureColumn], pattern: re.Pattern[str]
) -> Iterator[list[FigureColumn]]:
    """Columns of one metric by rising k."""
    found: dict[tuple[str, str], list[tuple[int, FigureColumn]]] = {}
    for column in columns:
        read = pattern.fullmatch(column.name.strip())
        if read:
            key = (read["stem"].casefold(), read["sign"])
            found.setdefault(key, []).append((int(read["k"]), column))
    for steps in found.values():
        yield [column for _, column in sorted(steps, key=lambda step: step[0])]
