"""The view of whether prompts are correlated beyond chance: rows and tables."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.matrix.results import MatrixResult, heading
from warehouse.analysis.results import Row
from warehouse.stats.matrix.permutation import PermutedStatistic
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import listed, number, p_value


@dataclass(frozen=True)
class TestRow(Row, PermutedStatistic):
    """One statistic of one similarity (their table 2)."""


@dataclass(frozen=True)
class HistogramRow(Row):
    """Share of pairs in one bin of similarity."""

    similarity: str  #: which.
    low: float  #: lower edge.
    high: float  #: upper edge; belongs to the next bin, but for the last one.
    observed: float  #: share of pairs in the matrix.
    permuted: float  #: mean share over the permutations.


@dataclass(frozen=True)
class MatrixTest(MatrixResult):
    """Are prompts correlated beyond chance? ``histogram`` has the similarities behind
    it."""

    DRAWN_BY = "warehouse.analysis.matrix.charts:similarity_charts"

    rows: tuple[TestRow, ...]
    n_permutations: int
    histogram: tuple[HistogramRow, ...]

    def view(self, *, verbose: bool = False, histogram: bool = False) -> View:
        """The statistics, with what lies behind each p.

        Args:
            histogram: shares of pairs by similarity instead.
        """
        head = (
            *self._beyond_chance,
            *heading(self, f"{self.n_permutations} permutations, seed {self.seed}"),
        )
        parts = [_histogram(self.histogram)] if histogram else _statistics(self.rows)
        return View((*head, *parts), self.notes)

    @property
    def _beyond_chance(self) -> list[str]:
        """By which similarities prompts go together otherwise than by chance."""
        shown: list[str] = []
        others: list[str] = []
        for row in self.rows:
            if row.statistic == "ks" and row.p_value is not None:
                named = f"{row.similarity} (p {row.p_value:.2g})"
                (shown if row.p_value <= _SIZE else others).append(named)
        if not shown and not others:
            return []
        if not shown:
            return [f"Nothing beyond chance is shown: {listed(others)}."]
        rest = ""
        if others:
            rest = f"; not shown by {listed(others)}"
        return [f"Prompts go together otherwise than by chance: {listed(shown)}{rest}."]


#: Up to which p of the distribution of similarities it is said to be no chance.
_SIZE = 0.05


def _statistics(tests: tuple[TestRow, ...]) -> list[Part]:
    """Their table 2, and what each p rests on."""
    cells = [
        {
            "similarity": row.similarity,
            "statistic": row.statistic,
            "observed": number(row.observed, 4),
            "shuffled": number(row.permuted_mean, 4),
            "95% of shuffled": f"[{row.permuted_low:.4f}, {row.permuted_high:.4f}]",
            "p": p_value(row.p_value),
            "p textbook": p_value(row.p_textbook),
        }
        for row in tests
    ]
    reasons = dict.fromkeys(_reason(row) for row in tests if row.reason)
    return [Table.of(cells), "", *(reasons or [""])]


def _reason(row: TestRow) -> str:
    if row.statistic == "ks":
        return f"ks: {row.reason}"
    return f"{row.similarity} {row.statistic} {row.reason}"


def _histogram(bins: tuple[HistogramRow, ...]) -> Table:
    """Shares of pairs, observed against shuffled; empty bins left out."""
    cells = [
        (
            row.similarity,
            f"{row.low:.2f} to {row.high:.2f}",
            number(row.observed, 4),
            number(row.permuted, 4),
            "#" * round(40 * row.observed),
        )
        for row in bins
        if row.observed or row.permuted
    ]
    return Table(("similarity", "bin", "observed", "shuffled", ""), tuple(cells))
