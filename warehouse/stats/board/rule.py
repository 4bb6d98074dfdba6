"""A rule of a column: what its figures are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.board.table import FigureColumn
from warehouse.stats.core.inputs import FloatArray

#: Rows that must have all cells, and the share of them that must keep a rule.
FEWEST_ROWS, KEPT = 8, 0.9
#: Rank of the last kind of rules that are made of counts, which were not rounded.
_OF_COUNTS = 3


@dataclass(frozen=True, eq=False)
class Rule:
    """What the figures of a column are made of, where other columns say it."""

    column: FigureColumn
    parts: tuple[FigureColumn, ...]  #: columns that it is made of.
    formula: str  #: in words, as in ``100 x b/n``.
    rank: int  #: kinds of rules from the simplest, 0, on.
    expected: FloatArray  #: of each row, NaN where a cell is missing.
    keeps: NDArray[np.bool_]  #: which rows keep it.
    #: the count that a share is of; None for other rules.
    denominator: FigureColumn | None = None
    is_equal_mean: bool = False  #: True for the mean of parts of equal weight.
    is_fitted: bool = False  #: True where its weights were estimated from the rows.

    @property
    def slack(self) -> FloatArray:
        """How far a figure may lie from what the rule says: its own rounding, and that
        of its parts on average."""
        of_parts = np.mean([part.tolerances for part in self.parts], axis=0)
        return np.asarray(self.column.tolerances + of_parts)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Rows that have all cells."""
        return np.isfinite(self.expected) & self.column.there

    @property
    def n_rows(self) -> int:
        """Rows that have all cells."""
        return int(self.there.sum())

    @property
    def n_keeping(self) -> int:
        """Rows that keep it."""
        return int((self.keeps & self.there).sum())

    @property
    def n_exceptions(self) -> int:
        """Rows that break it."""
        return self.n_rows - self.n_keeping

    @property
    def holds(self) -> bool:
        """Whether so many rows keep it that the others are exceptions, and most of them
        not only because few digits of theirs were printed."""
        if self.n_rows < FEWEST_ROWS or self.n_keeping < KEPT * self.n_rows:
            return False
        fine = self.column.fine_tolerances
        if self.rank > _OF_COUNTS:
            of_parts = [part.fine_tolerances for part in self.parts]
            fine = fine + np.mean(of_parts, axis=0)
        with np.errstate(invalid="ignore"):
            close = np.abs(self.column.values - self.expected) <= fine
        return 2 * int((close & self.there).sum()) >= self.n_rows


def keeps_within(
    column: FigureColumn, expected: FloatArray, slack: FloatArray | float = 0.0
) -> NDArray[np.bool_]:
    """Which rows are within the tolerance of their figure, and of what it is made of."""
    with np.errstate(invalid="ignore"):
        gaps = np.abs(column.values - expected)
        kept: NDArray[np.bool_] = gaps <= column.tolerances + slack
    return kept
