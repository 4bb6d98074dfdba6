"""Standard errors that cannot belong to their figures (B5, §25.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.board.finding import NOTE, WRONG, Finding
from warehouse.stats.board.shares import SIZE_NAMES
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import counted, short
from warehouse.stats.core.inputs import FloatArray

_WORDS = r"(?:stderr|standard_error|std_err|se)"
#: ``acc_stderr``, ``acc stderr``, ``acc_stderr,none``, ``acc_stderr|none``.
_OF_FIGURE = re.compile(
    rf"(?P<name>.+?)[\s_.-]{_WORDS}(?P<rest>(?:[,|].*)?)", re.IGNORECASE
)
_ALONE = re.compile(_WORDS, re.IGNORECASE)
_FEWEST_ROWS, _NEARLY_ALL, _FEWEST_EQUAL = 8, 0.9, 6
_LARGER, _RANGE = 1.05, 0.1
#: Items of the largest benchmark: an error that rounds to 0 has more.
_MOST_ITEMS = 100_000


def error_findings(board: Board, *, of_tasks: bool = False) -> Iterator[Finding]:
    """B5 of each column of errors beside its figures.

    Args:
        board: the table.
        of_tasks: whether rows are tasks, of which some may have scores between 0 and 1,
            and then smaller errors than the others.
    """
    for column, errors in error_columns(board):
        if column.scale is None:
            continue
        sizes = _sizes(board, column)
        wrong = [*_zeros(column, errors, sizes)]
        equal = _all_equal(column, errors)
        if equal is not None:
            yield equal
            continue
        yield from wrong
        yield from _at_the_ends(column, errors)
        if sizes is not None:
            yield from _of_sizes(column, errors, sizes, of_tasks=of_tasks)


def error_columns(board: Board) -> Iterator[tuple[FigureColumn, FigureColumn]]:
    """Figures with the column of their standard errors."""
    by_name = {column.name.casefold(): column for column in board.figures}
    scores = [one for one in board.figures if not (one.is_count or one.is_error)]
    for errors in board.figures:
        if not errors.is_error:
            continue
        found = _OF_FIGURE.fullmatch(errors.name.strip())
        if found:
            name = f"{found['name']}{found['rest']}".casefold()
            if name in by_name and not by_name[name].is_error:
                yield by_name[name], errors
        elif _ALONE.fullmatch(errors.name.strip()) and len(scores) == 1:
            yield scores[0], errors


def _sizes(board: Board, column: FigureColumn) -> FloatArray | None:
    """Items of each row; None where nothing says them."""
    if column.name in board.sizes:
        return np.full(len(board.entries), float(board.sizes[column.name]))
    for one in board.figures:
        if one.name.casefold().strip() in SIZE_NAMES and one.is_integer:
            return one.values
    return None


def _zeros(
    column: FigureColumn, errors: FigureColumn, sizes: FloatArray | None
) -> Iterator[Finding]:
    scale = column.scale or 1
    for row in np.flatnonzero(column.there & errors.there):
        p = float(column.values[row]) / scale
        if errors.values[row] != 0 or not 0 < p < 1:
            continue
        if p == 0.5 and "win" in column.name.casefold():
            continue  # the baseline against itself
        n = float(_MOST_ITEMS)
        if sizes is not None and np.isfinite(sizes[row]):
            n = float(sizes[row])
        if n < 2:
            continue
        least = scale * math.sqrt(p * (1 - p) / n)
        if not errors.exact.any() and least <= float(errors.fine_tolerances[row]):
            continue  # a small error may round to 0
        of = 200
        if sizes is not None and np.isfinite(sizes[row]):
            of = int(sizes[row])
        text = (
            f"{errors.name} {{printed}} at {column.name} "
            f"{short(float(column.values[row]))}: 0 needs every score equal; 0/1 scores "
            f"of {of} with this mean give {short(scale * math.sqrt(p * (1 - p) / (of - 1)), 4)}"
        )
        yield Finding(WRONG, "B5", (int(row),), errors.name, text, least)


def _all_equal(column: FigureColumn, errors: FigureColumn) -> Finding | None:
    both = column.there & errors.there
    if both.sum() < _FEWEST_EQUAL or len(np.unique(errors.values[both])) > 1:
        return None
    values = column.values[both]
    scale = column.scale or 1
    value = float(errors.values[both][0])
    if np.ptp(values) <= _RANGE * scale or _rounds_alike(errors, both, values / scale):
        return None
    rows = tuple(int(row) for row in np.flatnonzero(both))
    text = (
        f"{errors.name} is {short(value)} in all {counted(len(rows), 'row')}, whose "
        f"scores go from {short(float(values.min()))} to {short(float(values.max()))}"
    )
    return Finding(WRONG, "B5", rows, errors.name, text, float(len(rows)))


def _rounds_alike(
    errors: FigureColumn, both: NDArray[np.bool_], shares: FloatArray
) -> bool:
    """Whether errors of different scores may print the same: of few digits."""
    value = float(errors.values[both].max())
    slack = float(errors.tolerances[both].max())
    within = np.clip(shares, 0, 1)
    spread = np.sqrt(within * (1 - within))
    if not spread.max():
        return True
    ratio = float(spread.min() / spread.max())
    return (value + slack) * ratio >= value - slack


def _at_the_ends(column: FigureColumn, errors: FigureColumn) -> Iterator[Finding]:
    """Errors of 0 where all or none is right: they say nothing of what is not seen."""
    scale = column.scale or 1
    ends = column.there & errors.there & (errors.values == 0)
    ends &= (column.values == 0) | (column.values == scale)
    rows = tuple(int(row) for row in np.flatnonzero(ends))
    if rows:
        text = f"{errors.name} 0 at {column.name} 0 or {scale}: not the error to expect"
        yield Finding(NOTE, "B5", rows, errors.name, text, float(len(rows)))


def _of_sizes(
    column: FigureColumn, errors: FigureColumn, sizes: FloatArray, *, of_tasks: bool
) -> Iterator[Finding]:
    """Errors against those of 0/1 scores of so many items."""
    scale = column.scale or 1
    p = column.values / scale
    both = column.there & errors.there & (sizes > 1) & (p > 0) & (p < 1)
    both &= errors.values > 0
    if not both.any():
        return
    with np.errstate(all="ignore"):
        closed = scale * np.sqrt(p * (1 - p) / (sizes - 1))
        plain = scale * np.sqrt(p * (1 - p) / sizes)
    slack = errors.tolerances + _of_rounding(column, p, sizes, scale)
    for expected in (closed, plain):
        keeps = np.abs(errors.values - expected) <= slack
        n_keeping, n_rows = int((keeps & both).sum()), int(both.sum())
        is_closed = n_rows >= _FEWEST_ROWS and n_keeping >= _NEARLY_ALL * n_rows
        if is_closed and not of_tasks:
            for row in np.flatnonzero(both & ~keeps):
                yield _not_closed(column, errors, int(row), float(expected[row]))
            return
    large = both & (errors.values > _LARGER * closed + errors.tolerances)
    if large.any():
        rows = tuple(int(row) for row in np.flatnonzero(large))
        text = (
            f"{errors.name} is more than unclustered scores in 0..1 with this mean and "
            "n can have: clusters, or a smaller n"
        )
        yield Finding(NOTE, "B5", rows, errors.name, text, float(len(rows)))


def _of_rounding(
    column: FigureColumn, p: FloatArray, sizes: FloatArray, scale: int
) -> FloatArray:
    """What the rounding of the figure does to the error."""
    with np.errstate(all="ignore"):
        slope = np.abs(1 - 2 * p) / (2 * np.sqrt(p * (1 - p) * sizes))
    return np.asarray(slope * column.tolerances)


def _not_closed(
    column: FigureColumn, errors: FigureColumn, row: int, expected: float
) -> Finding:
    text = (
        f"{errors.name} {{printed}}, but 0/1 scores with {column.name} "
        f"{short(float(column.values[row]))} and this n give {short(expected, 4)}, as in "
        "the other rows"
    )
    gap = abs(float(errors.values[row]) - expected) / float(errors.tolerances[row])
    return Finding(WRONG, "B5", (row,), errors.name, text, gap, "", expected)
