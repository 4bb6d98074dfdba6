"""The view of what goes with figures of prompts: rows, the sentence, the tables, and
what their columns mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.groups import grouped
from warehouse.analysis.results import Result, Row
from warehouse.tables.view import Part, Table, View, legend
from warehouse.tables.words import excerpt, interval, listed, number, p_value

#: Largest p of what is called shown, and where a skewed figure makes p too small.
SHOWN, SHOWN_SKEWED = 0.05, 0.01
#: Kind of a row of one value among several.
VALUE = "value"
#: Values of a feature that are shown, and characters of one.
VALUES = 5
_LONG = 40


@dataclass(frozen=True)
class FeatureRow(Row):
    """One feature of prompts against one of their figures."""

    #: ``mean score`` over models, ``discrimination`` (r_c: correlation with the sum of
    #: the other prompts over models) or ``correlation`` (the mean one with each other
    #: prompt over models).
    figure: str
    #: ``length`` (logarithm of the words to base 2: a unit is a doubling), ``words``,
    #: ``options``, ``position`` of the right answer, ``has:TEXT``, ``metadata.FIELD``.
    feature: str
    #: the value that is compared with all others; None for a number, and for all values
    #: together.
    level: str | None
    #: ``slope`` of a number, ``difference`` of one value of two from the other,
    #: ``joint`` test of all of several values, ``value``: one of these against the
    #: rest.
    kind: str
    n_prompts: int  #: prompts that have the feature and the figure.
    n_level: int | None  #: of these those with the value.
    n_clusters: int | None  #: clusters; None without.
    #: change of the figure for a unit more, or the difference; None for a joint test.
    estimate: float | None = None
    standard_error: float | None = None  #: cluster-robust (CR2).
    #: ci_low, ci_high: ends of the interval.
    ci_low: float | None = None
    ci_high: float | None = None
    #: per_sd, per_sd_low, per_sd_high: the same for one standard deviation of a number.
    per_sd: float | None = None
    per_sd_low: float | None = None
    per_sd_high: float | None = None
    #: degrees of freedom (Satterthwaite); of a joint test those of the denominator.
    df: float | None = None
    statistic: float | None = None  #: F of a joint test.
    p_value: float | None = None  #: of no slope, no difference, none at all.
    #: after Holm, over slopes and joint tests of all figures; differences of values
    #: over one another.
    p_holm: float | None = None
    #: ``few_clusters``: the degrees of freedom are below 4; ``skewed``: the figure is
    #: so skewed that groups as small are found different too often: shown from p 0.01
    #: on, not 0.05.
    flags: tuple[str, ...] = ()
    reason: str = ""  #: why there is none.

    @property
    def is_shown(self) -> bool:
        """True if p after Holm is small enough to say so."""
        most = SHOWN
        if "skewed" in self.flags:
            most = SHOWN_SKEWED
        return self.p_holm is not None and self.p_holm <= most


@dataclass(frozen=True)
class FeatureReport(Result):
    """Features that go with the figures of prompts."""

    DRAWN_BY = "warehouse.analysis.items.feature_charts:feature_charts"

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "figure",
            "feature",
            "level",
            "n_prompts",
            "estimate",
            "ci_low",
            "ci_high",
            "per_sd",
            "p_holm",
        ),
    )

    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    n_prompts: int  #: prompts that two models have a score of.
    n_models: int  #: models.
    level: float  #: of the intervals.
    n_tests: int  #: slopes and joint tests that Holm's adjustment counts.
    rows: tuple[FeatureRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def tests(self) -> tuple[FeatureRow, ...]:
        """One row for each feature and figure: without the values that a joint test
        covers."""
        return tuple(row for row in self.rows if row.kind != VALUE)

    @property
    def one_line(self) -> str:
        """Which features go with which figure, in a sentence."""
        clusters = max((row.n_clusters or 0 for row in self.rows), default=0)
        in_clusters = ""
        if clusters:
            in_clusters = f" in {clusters} clusters"
        head = (
            f"{self.benchmark} by {self.metric}, {self.n_prompts} "
            f"prompts{in_clusters}, {self.n_models} models: "
        )
        by_figure = grouped(
            (row for row in self.tests if row.is_shown), lambda row: row.figure
        )
        what = "; ".join(
            f"{figure} goes with {listed([*map(_in_words, found)])}"
            for figure, found in by_figure.items()
        )
        features = len({row.feature for row in self.rows})
        none = f"of {features} features none is shown to go with a figure of prompts"
        if not self.n_tests:
            return f"{head}nothing could be tested"
        return (
            f"{head}{what or none} (p after Holm over {self.n_tests} tests at most "
            f"{SHOWN:g})"
        )

    def first(self, top: int) -> tuple[FeatureRow, ...]:
        """The first rows of each figure and feature: the test, then so many values,
        those that differ most first; 0: all."""
        found: list[FeatureRow] = []
        for figure, feature in dict.fromkeys(
            (row.figure, row.feature) for row in self.rows
        ):
            own = [
                row
                for row in self.rows
                if (row.figure, row.feature) == (figure, feature)
            ]
            values = [row for row in own if row.level is not None]
            values.sort(key=lambda row: -abs(row.estimate or 0))
            found += [row for row in own if row.level is None]
            if top:
                found += values[:top]
            else:
                found += values
        return tuple(found)

    def view(self, *, verbose: bool = False, top: int = VALUES) -> View:
        """Each figure with the features in turn, and the values that differ most.

        Args:
            top: values of a feature; 0 for all.
        """
        shown = self.first(top)
        notes = self.notes
        if len(shown) < len(self.rows):
            notes = (
                f"{len(self.rows) - len(shown)} more values: --top 0 has all",
                *notes,
            )
        return View(
            (
                self.one_line,
                *_figures(shown, self.level),
                "",
                *legend(_LEGEND, are_terms=False),
            ),
            notes,
        )


def _in_words(row: FeatureRow) -> str:
    if row.kind == "slope":
        return f"{row.feature} ({row.per_sd:+.3f} per SD)"
    if row.estimate is None:
        return row.feature
    return f"{row.feature}: {row.level:.40} ({row.estimate:+.3f})"


#: Columns in words.
_LEGEND = {
    "effect": (
        "change of the figure for one unit (of length a doubling); of a value its "
        "difference from all others"
    ),
    "per SD": "the same for a standard deviation of the feature",
    "p Holm": (
        "chance of as much without any effect, all tests here taken together; values "
        "among all values"
    ),
    "!": "skewed: with so few prompts and so skewed a figure p is too small, so 0.01 counts and not 0.05; few: fewer"
    " than 4 degrees of freedom",
}
#: Flags of a row, in the column ``!``.
_FLAGS = {"skewed": "skewed", "few_clusters": "few"}


def _figures(rows: tuple[FeatureRow, ...], level: float) -> list[Part]:
    """A table for each figure, and why features have no test."""
    parts: list[Part] = []
    for figure, own in grouped(rows, lambda row: row.figure).items():
        cells = [_cells(row, level) for row in own if not row.reason]
        table = Table.of(
            cells,
            hide_empty=("per SD", "!"),
            empty="nothing to test",
            minor=("prompts",),
        )
        parts += [
            "",
            figure,
            table,
            *(f"{_tested(row)}: {row.reason}" for row in own if row.reason),
        ]
    return parts


def _tested(row: FeatureRow) -> str:
    if row.level is None:
        return row.feature
    return f"{row.feature} = {excerpt(row.level, _LONG)}"


def _name(row: FeatureRow) -> str:
    """The name of a row; values of a feature stand below it."""
    if row.level is None:
        return row.feature
    level = excerpt(row.level, _LONG)
    if row.kind == VALUE:
        return f"= {level}"
    return f"{row.feature}: {level}"


def _cells(row: FeatureRow, level: float) -> dict[str, Any]:
    if row.n_level is None:
        prompts = row.n_prompts
    else:
        prompts = row.n_level
    return {
        "feature": _name(row),
        "prompts": prompts,
        "per SD": number(row.per_sd, 3),
        "effect": number(row.estimate, 3),
        f"{100 * level:g}% interval": interval(row.ci_low, row.ci_high, 3),
        "p Holm": p_value(row.p_holm),
        "!": ", ".join(_FLAGS[flag] for flag in row.flags) or None,
    }
