"""Models on one scale by published figures: rows, the sentences and the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result, Row
from warehouse.stats.items import published_scale as stats
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import interval, level_column, number, some_of, visible


@dataclass(frozen=True)
class ScaleRow(Row):
    """A model on the scale."""

    model: str  #: its name, with checkpoint and training seed where it has several.
    rank: int  #: 1 for the highest estimate.
    estimate: float  #: ability in standard deviations of these models, their mean 0.
    standard_error: float  #: the larger of the two that follow.
    ci_low: float  #: lower end of the interval.
    ci_high: float  #: upper end.
    level: float  #: nominal coverage of the interval.
    se_information: float  #: by the curvature of the fit: too small where benchmarks measure different things.
    se_jackknife: float  #: by leaving out one benchmark after the other.
    n_benchmarks: int  #: benchmarks that the model has a figure on.
    n_samples: int  #: of these, those whose figure is of stored samples.
    #: day of release, ISO 8601; None where the store does not know it.
    release_date: str | None
    difference: float | None  #: ability less that of the reference; None for itself.
    difference_se: float | None  #: its standard error.
    difference_low: float | None  #: lower end of its interval.
    difference_high: float | None  #: upper end.


@dataclass(frozen=True)
class ScaleBenchmarkRow(Row):
    """A benchmark on the scale."""

    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    n_models: int  #: models with a figure.
    difficulty: float  #: ability at which half of what lies between chance and the best figure is expected.
    slope: float  #: logits per standard deviation of the models: how far it tells them apart.
    residual: float  #: root mean square of its figures around the fit, as a share of that range.
    chance: float  #: the figure of guessing, 0 of the range; the metric's lower end where nobody said another.


@dataclass(frozen=True)
class PredictionRow(Row):
    """The figure to expect of a model on a benchmark where it has none."""

    model: str  #: its name.
    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    estimate: float  #: in the unit of the metric.
    ci_low: float  #: lower end of the interval of what would be published.
    ci_high: float  #: upper end.
    level: float  #: nominal coverage of the interval.


@dataclass(frozen=True)
class ScaleReport(Result):
    """Models on one scale."""

    rows: tuple[ScaleRow, ...]  #: the models, the highest first.
    benchmarks: tuple[ScaleBenchmarkRow, ...]  #: the easiest first.
    predicted: str | None  #: the model of the predictions; None without one.
    #: what is expected of it where it has no figure.
    predictions: tuple[PredictionRow, ...]
    reference: str  #: the model that differences are to.
    level: float  #: nominal coverage of intervals.
    misfit: float  #: standard deviation of a figure around the fit, as a share of the range of its benchmark.
    n_figures: int  #: figures in the fit.
    n_merged: int  #: of these, those that are the largest of several.
    n_clipped: int  #: of these, those below chance or out of range, taken for its end.
    #: how well figures are predicted that the fit has not seen, beside simpler ways.
    held_out: stats.HeldOut
    #: over days of release; None where too few are known.
    trend: stats.ScaleTrend | None
    left_out: tuple[str, ...]  #: what has no figures here, and why.

    @property
    def one_line(self) -> str:
        return (
            f"{len(self.rows)} models on {len(self.benchmarks)} benchmarks by "
            f"{self.n_figures} figures"
        )

    def view(
        self, *, verbose: bool = False, top: int = 20, by_benchmark: bool = False
    ) -> View:
        """The models, or what is expected of one, and how far all that can be relied
        on.

        Args:
            verbose: every column, and how well the fit predicts.
            top: models in the table; 0 for all.
            by_benchmark: the benchmarks in place of the models.
        """
        if top:
            shown = self.rows[:top]
        else:
            shown = self.rows
        if not verbose:
            kept = (*_brief(self, shown, by_benchmark=by_benchmark), "", _off(self))
            return View(kept, self.left_out)
        if by_benchmark:
            parts = _benchmarks(self)
        elif self.predicted is not None:
            parts = _predictions(self)
        else:
            parts = _models(self, shown)
        head = f"{self.one_line}; abilities in standard deviations of these models."
        return View((head, "", *parts, "", *_reliance(self)), self.left_out)


def _off(report: ScaleReport) -> str:
    """How well figures are predicted, in a sentence."""
    return (
        "A figure that the fit had not seen is off by "
        f"{100 * report.held_out.scale:.0f} % of the range of its benchmark (root mean "
        "square)."
    )


def _brief(
    report: ScaleReport, shown: Sequence[ScaleRow], *, by_benchmark: bool
) -> list[Part]:
    """What was found, in names, and the table in a few columns."""
    basis = f"{report.one_line}; abilities in standard deviations of these models."
    if by_benchmark:
        table, *_ = _benchmarks(report)
        parts: list[Part] = [_hardest(report), basis, ""]
        if isinstance(table, Table):
            parts.append(table.without(("chance",)))
        return [
            *parts,
            "difficulty: ability at which half of the range is expected; slope: how far "
            "it tells models apart; residual: what the scale leaves of its figures",
        ]
    if report.predicted is not None:
        return [*_predictions(report), "", basis]
    parts = [_highest(report), *_rise(report), basis, "", _places(report, shown)]
    if len(shown) < len(report.rows):
        parts.append(f"… {len(report.rows) - len(shown)} more (--top 0)")
    return parts


def _highest(report: ScaleReport) -> str:
    """Who has the highest ability, and which models cannot be told from the one that
    differences are to."""
    first = visible(report.rows[0].model)
    reference = visible(report.reference)
    alike = [visible(row.model) for row in report.rows if _is_alike(row)]
    said = f"{first} has the highest ability"
    if not alike:
        return f"{said}; all others can be told from {reference}."
    told = "it"
    if reference != first:
        told = reference
    return f"{said}; {some_of(alike)} cannot be told from {told}, one by one."


def _is_alike(row: ScaleRow) -> bool:
    return row.difference_low is not None and _has_zero(row)


def _rise(report: ScaleReport) -> list[str]:
    """How fast abilities rise, where days of release are known."""
    trend = report.trend
    if trend is None:
        return []
    ends = interval(trend.ci_low, trend.ci_high, 2)
    return [
        f"Ability rises by {trend.estimate:.2f} {ends} a year, by {trend.n_models} "
        "models with a day of release."
    ]


def _places(report: ScaleReport, rows: Sequence[ScaleRow]) -> Table:
    cells: list[dict[str, Any]] = [
        {
            "place": row.rank,
            "model": visible(row.model),
            "ability": f"{row.estimate:.2f} ({row.standard_error:.2f})",
            "difference": number(row.difference, 2, sign=True),
            level_column(report.level): interval(
                row.difference_low, row.difference_high, 2
            ),
            "benchmarks": row.n_benchmarks,
            "released": row.release_date,
        }
        for row in rows
    ]
    minor = ("released", "benchmarks", "place")
    return Table.of(cells, hide_empty=("released",), minor=minor)


def _hardest(report: ScaleReport) -> str:
    """Which benchmark is the hardest, the easiest, and the most telling."""
    rows = report.benchmarks
    if len(rows) == 1:
        return f"{visible(rows[0].benchmark)} is the only benchmark."
    telling = max(rows, key=lambda row: row.slope)
    return (
        f"{visible(rows[-1].benchmark)} is the hardest benchmark, "
        f"{visible(rows[0].benchmark)} the easiest; {visible(telling.benchmark)} tells "
        "models apart best."
    )


def _reliance(report: ScaleReport) -> list[str]:
    """How well figures are predicted that the fit had not seen, and what was taken for
    what."""
    check = report.held_out
    found = [
        f"Figures that the fit had not seen are off by {check.scale:.3f} (root mean "
        f"square, in shares of the range of a benchmark): {check.additive:.3f} if all "
        f"benchmarks had one slope, {check.means:.3f} by their means."
    ]
    if report.n_merged:
        found.append(f"{report.n_merged} of the figures are the largest of several.")
    if report.n_clipped:
        found.append(
            f"{report.n_clipped} figures lie below chance or out of range, and count "
            "as its end."
        )
    return found


def _models(report: ScaleReport, rows: Sequence[ScaleRow]) -> list[Part]:
    level = level_column(report.level)
    cells: list[dict[str, Any]] = [
        {
            "rank": row.rank,
            "model": visible(row.model),
            "ability": number(row.estimate, 2),
            "se": number(row.standard_error, 2),
            f"its {level}": interval(row.ci_low, row.ci_high, 2),
            "difference": number(row.difference, 2, sign=True),
            level: interval(row.difference_low, row.difference_high, 2),
            "benchmarks": row.n_benchmarks,
            "released": row.release_date,
        }
        for row in rows
    ]
    minor = (f"its {level}", "released", "benchmarks", "rank", "se")
    parts: list[Part] = [Table.of(cells, hide_empty=("released",), minor=minor), ""]
    alike = [
        row for row in report.rows if row.difference_low is not None and _has_zero(row)
    ]
    words = "1 model cannot"
    if len(alike) != 1:
        words = f"{len(alike)} models cannot"
    parts.append(
        f"{words} be told from {visible(report.reference)} by their intervals of "
        f"{100 * report.level:g} %, which are for one difference each; figures on more "
        "benchmarks that both have would tell."
    )
    trend = report.trend
    if trend is not None:
        parts.append(
            f"Ability rises by {trend.estimate:.2f} standard deviations a year "
            f"{interval(trend.ci_low, trend.ci_high, 2)} over {trend.n_models} models "
            f"of {trend.n_days} days of release, which explain "
            f"{100 * trend.r_squared:.0f} % of its variance."
        )
    return parts


def _has_zero(row: ScaleRow) -> bool:
    return (row.difference_low or 0.0) <= 0 <= (row.difference_high or 0.0)


def _benchmarks(report: ScaleReport) -> list[Part]:
    cells: list[dict[str, Any]] = [
        {
            "benchmark": visible(row.benchmark),
            "metric": visible(row.metric),
            "difficulty": number(row.difficulty, 2),
            "slope": number(row.slope, 2),
            "residual": number(row.residual, 3),
            "chance": number(row.chance, 2),
            "models": row.n_models,
        }
        for row in report.benchmarks
    ]
    return [
        Table.of(cells, minor=("metric", "chance")),
        "",
        "difficulty: ability at which half of the range from chance up is expected; "
        "slope: how far the benchmark tells models apart there, in logits; residual: "
        "its figures around the fit, a share of that range",
    ]


def _predictions(report: ScaleReport) -> list[Part]:
    cells: list[dict[str, Any]] = [
        {
            "benchmark": visible(row.benchmark),
            "metric": visible(row.metric),
            "expected": number(row.estimate, 3),
            level_column(row.level): interval(row.ci_low, row.ci_high, 3),
        }
        for row in report.predictions
    ]
    return [
        f"What {visible(report.predicted or '')} is expected to have where it has no "
        "figure:",
        Table.of(cells, empty="it has a figure on each of them", minor=("metric",)),
    ]
