"""Figures out of range or on another scale than their column (B4, §25.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.table import Board, FigureColumn

#: Metrics whose range is another one.
_OTHER_RANGE = re.compile(
    r"nauc|pearson|spearman|corr|kappa|mcc|centered|diff|elo|loss|ppl|perplex|bias"
    r"|(?<![a-z])(?:ratio|speed\w*|[wct]er|mse|mae|rmse|fid|kl|nll|bp[bcd]|bits|entropy"
    r"|Δ|distance|gain|lift|margin|delta|change\w*|increase|improve\w*|growth"
    r"|relative|vs|normali[sz]\w*|r2|logprob\w*|reward|z-?score)"
    r"(?![a-z])",
    re.IGNORECASE,
)
#: Metrics that are shares by their name.
_SHARE = re.compile(
    r"(?<![a-z])(?:acc\w*|rates?|percent\w*|pass\w*|exact\w*|em|f1|precision|recall"
    r"|correct\w*|resolved|solved|success\w*|mmlu\w*|gsm8k|hellaswag|gpqa\w*)(?![a-z])|%",
    re.IGNORECASE,
)
_FEWEST, _INSIDE, _NEARLY_ALL = 6, 0.9, 0.97
#: Beyond these a share is no rounding of one in 0..1.
_FAR_BELOW, _FAR_ABOVE = -0.5, 1.5
_OF_LOW_END, _PERCENTS = 0.05, 0.8


def range_findings(board: Board) -> Iterator[Finding]:
    """B4 of each column of figures with decimals."""
    for column in board.figures:
        if column.is_count or column.is_error or _OTHER_RANGE.search(column.name):
            continue
        values = column.values[column.there]
        if len(values) < _FEWEST or 2 * _n_with_decimals(column) < len(values):
            continue
        are_shares = np.mean((values >= 0) & (values <= 1)) >= _INSIDE
        are_percents = np.mean((values >= 0) & (values <= 100)) >= _INSIDE
        if are_shares:
            yield from _of_shares(column, values)
        elif are_percents and np.mean(values > _FAR_ABOVE) >= _PERCENTS:
            yield from _of_percents(board, column, values)


def _n_with_decimals(column: FigureColumn) -> int:
    return sum(one is not None and one.value.denominator > 1 for one in column.figures)


def _of_shares(column: FigureColumn, values: np.ndarray) -> Iterator[Finding]:
    inside = np.mean((values >= 0) & (values <= 1))
    low, high = np.quantile(values[values <= 1], [0.1, 1.0])
    for row in np.flatnonzero(column.there):
        value = float(column.values[row])
        slack = float(column.tolerances[row])
        is_far = value < _FAR_BELOW or value > _FAR_ABOVE
        is_outside = value < -slack or value > 1 + slack
        if not is_far and not (inside >= _NEARLY_ALL and is_outside):
            continue
        text = f"{column.name} {{printed}} among shares of 1"
        grade = _grade(column)
        if _FAR_ABOVE < value <= 100:
            text += ": percent?"
            if low <= value / 100 <= high:
                grade = WRONG
        yield Finding(grade, "B4", (int(row),), column.name, text, abs(value))


def _grade(column: FigureColumn) -> str:
    """Of a figure out of range: some scores may lie there, shares cannot."""
    if _SHARE.search(column.name):
        return WRONG
    return CHECK


def _of_percents(
    board: Board, column: FigureColumn, values: np.ndarray
) -> Iterator[Finding]:
    inside = np.mean((values >= 0) & (values <= 100))
    low = float(np.quantile(values, 0.1)) * _OF_LOW_END
    for row in np.flatnonzero(column.there):
        value = float(column.values[row])
        slack = float(column.tolerances[row])
        figure = column.figures[row]
        assert figure is not None
        if inside >= _NEARLY_ALL and (value < -slack or value > 100 + slack):
            text = f"{column.name} {{printed}} among percents"
            grade = _grade(column)
            yield Finding(grade, "B4", (int(row),), column.name, text, abs(value))
            continue
        is_low = 0 < value <= 1 and value < low and figure.decimals >= 2
        if not is_low or _stands_in_order(column, int(row)) or _is_low(board, int(row)):
            continue
        text = f"{column.name} {{printed}} among percents: a fraction?"
        yield Finding(
            *(CHECK, "B4", (int(row),), column.name, text, low / value),
            expected=100 * value,
        )


def _stands_in_order(column: FigureColumn, row: int) -> bool:
    """Whether the table is sorted by the column, and the cell is where it belongs."""
    values = column.values[column.there]
    steps = np.diff(values)
    place = int(column.there[:row].sum())
    for direction in (1, -1):
        if np.mean(direction * steps >= 0) < _INSIDE:
            continue
        around = direction * steps[max(0, place - 1) : place + 1]
        if (around >= 0).all():
            return True
    return False


def _is_low(board: Board, row: int) -> bool:
    """Whether the other percents of a row have a median below half of the board's."""
    own: list[float] = []
    typical: list[float] = []
    for column in board.scores:
        if column.scale == 100 and column.there[row] and column.values[row] > 1:
            own.append(float(column.values[row]))
            typical.append(float(np.median(column.values[column.there])))
    return bool(own) and float(np.median(own)) < float(np.median(typical)) / 2
