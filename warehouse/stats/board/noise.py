"""Whether the highest figure of a column can be told from the next ones, where the number
of items is known (§2a on published shares).

Source: two independent shares, pooled error; Holm (1979) over all pairs of entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warehouse.stats.board.cells import without_marks
from warehouse.stats.board.count_rules import count_rules
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import counted, listed, short
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.special import ndtr
from warehouse.stats.multiple.adjust import holm

#: Entries beyond which a column is not looked at: all pairs of them are tested.
_MOST_ENTRIES = 1_000
_ALPHA = 0.05


def unclear_leaders(board: Board) -> Iterator[str]:
    """A sentence for each column whose highest figure is within noise of others.

    Columns are those whose items are stated, or that are a count of the items of another
    column. Nothing says which answers two entries share, so that these are compared as
    independent ones: of samples a leaderboard tells more apart.
    """
    sizes = _sizes(board)
    for column in board.scores:
        if column.name in sizes:
            sentence = _of_column(board, column, sizes[column.name])
            if sentence:
                yield sentence


def _sizes(board: Board) -> dict[str, FloatArray]:
    """Items of each row, of the columns of which they are known."""
    found: dict[str, FloatArray] = {}
    for column in board.scores:
        rules = list(count_rules(column, board))
        if rules:
            best = min(rules, key=lambda rule: (rule.n_exceptions, rule.rank))
            if best.denominator is not None:
                found[column.name] = best.denominator.values
    for name, n in board.sizes.items():
        found[name] = np.full(len(board.entries), float(n))
    return found


def _of_column(board: Board, column: FigureColumn, sizes: FloatArray) -> str:
    """The sentence of a column; empty where its highest figure is clear."""
    rows = np.flatnonzero(column.there & board.is_entry & (sizes > 0))
    if not 2 <= len(rows) <= _MOST_ENTRIES:
        return ""
    shares = column.values[rows] / (column.scale or 1)
    if shares.min() < 0 or shares.max() > 1:
        return ""
    order = np.argsort(-shares, kind="stable")
    rows, shares, n = rows[order], shares[order], sizes[rows][order]
    beside = _beside_first(shares, n)
    unclear = [board.entries[row] for row in rows[1:][beside >= _ALPHA]]
    if not unclear:
        return ""
    first = without_marks(board.cells[board.columns.index(column.name)][rows[0]])
    return (
        f"{column.name}: {board.entries[rows[0]]} has the highest figure, {first}; "
        f"{_cannot_be_told(unclear)} (n {_said(n)}, Holm)."
    )


def _beside_first(shares: FloatArray, n: FloatArray) -> FloatArray:
    """p of the first beside each of the others, by Holm over all pairs."""
    one, other = np.triu_indices(len(shares), 1)
    pooled = (n[one] * shares[one] + n[other] * shares[other]) / (n[one] + n[other])
    error = np.sqrt(pooled * (1 - pooled) * (1 / n[one] + 1 / n[other]))
    gap = np.abs(shares[one] - shares[other])
    z = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
    adjusted = holm(2 * ndtr(-z))
    return np.asarray(adjusted[one == 0])


def _cannot_be_told(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} cannot be told from it"
    return f"{counted(len(names), 'other')} cannot be told from it: {listed(names)}"


def _said(n: FloatArray) -> str:
    """``150``, or ``148 to 150``."""
    low, high = float(n.min()), float(n.max())
    if low == high:
        return short(low, 9)
    return f"{short(low, 9)} to {short(high, 9)}"
