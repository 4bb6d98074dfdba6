"""The figure that would be published of a model on a benchmark that it was not run on,
with an interval that holds such figures as often as it says (statistics.md §24).

Figures that are there are hidden, predicted by the others and compared: how far off
they are gives the width. That says something of absent cells only if they are absent
for other reasons than their result, which no table of figures can show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from warehouse.stats.completion import checks, predictions
from warehouse.stats.completion.folds import support
from warehouse.stats.completion.predictions import (
    NextBenchmark,
    NextBenchmarks,
    PredictedFigure,
    PredictedPair,
)
from warehouse.stats.completion.scale import (
    Cells,
    HeldOutFigures,
    expected_cells,
    features,
    half_widths,
    held_out_figures,
    log_scale,
)
from warehouse.stats.completion.sweeps import Factors, fitted_factors
from warehouse.stats.completion.table import (
    HIGHEST,
    LOWEST,
    BoolArray,
    Table,
    as_table,
    known_variance,
)
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.published_figures import Figures, IntArray


@dataclass(frozen=True, eq=False)
class PublishedCompletion(NamedFigures):
    """A table of published figures, and what would be expected in its gaps."""

    models: tuple[str, ...]  #: names in order, shape (M,).
    benchmarks: tuple[str, ...]  #: names in order, shape (J,).
    level: float  #: 1 − α.
    n_figures: int  #: N.
    shown: BoolArray  #: absent cells that have an estimate, shape (M, J).
    extrapolated: BoolArray  #: cells beyond all models that ran the benchmark, (M, J).
    run_by: tuple[str | None, ...]  #: `strong_only`, `weak_only` or None by benchmark.
    support: IntArray  #: c, runs that link a cell with the rest, shape (M, J).
    support_needed: int  #: of them, for an estimate.
    quantiles: tuple[float | None, ...]  #: q by benchmark; None: too few held out.
    scale: FloatArray  #: γ, by which h is too small or large, shape (4,).
    n_held_out: int  #: residuals behind both.
    n_far: int  #: of them, those hidden with half of their model's figures.
    median_error: float  #: by how much held-out figures are off.
    left_out_models: checks.LeftOut  #: models of too few figures, with their number.
    left_out_benchmarks: checks.LeftOut  #: benchmarks of too few, with their number.
    _table: Table = field(repr=False)
    _factors: Factors = field(repr=False)
    _cells: Cells = field(repr=False)
    _held_out: HeldOutFigures = field(repr=False)

    def __str__(self) -> str:
        return (
            f"{len(self.models)} models on {len(self.benchmarks)} benchmarks by "
            f"{self.n_figures} figures, {int(self.shown.sum())} absent ones expected"
        )

    def at(self, level: float) -> PublishedCompletion:
        """The same with intervals of another level."""
        wanted = as_level(level)
        quantiles = _quantiles(self._held_out, self.scale, len(self.benchmarks), wanted)
        return replace(self, level=wanted, quantiles=quantiles)

    def predicted(self, model: str, benchmark: str) -> PredictedFigure:
        """What would be expected of a model on a benchmark.

        Raises:
            StatisticsError: one of the two has too few figures, or none.
        """
        i, j = self._model(model), self._benchmark(benchmark)
        reason = self._reason(i, j)
        estimate = low = high = published = None
        if reason == predictions.PUBLISHED:
            published = float(self._table.values[i, j])
        if reason is None:
            estimate = float(special.expit(self._cells.means[i, j]))
            low, high = self._interval(i, j)
        return PredictedFigure(
            model=model,
            benchmark=benchmark,
            estimate=estimate,
            ci_low=low,
            ci_high=high,
            level=self.level,
            published=published,
            n_of_model=int(self._table.has[i].sum()),
            n_of_benchmark=int(self._table.has[:, j].sum()),
            support=int(self.support[i, j]),
            support_needed=self.support_needed,
            flags=self._flags(i, j),
            reason=reason,
            median_error=self.median_error,
        )

    def pair(self, a: str, b: str, benchmark: str) -> PredictedPair:
        """Which of two models would be expected above on a benchmark: stated only where
        a published figure is outside of the other's interval, or where two predicted
        ones differ by more than both are off together.

        Raises:
            StatisticsError: one of the three has too few figures, or none.
        """
        j = self._benchmark(benchmark)
        numbers = self._model(a), self._model(b)
        reasons = [self._reason(i, j) for i in numbers]
        n_predicted = reasons.count(None)
        above = difference = needed = reason = None
        if predictions.TOO_FAR in reasons:
            reason = predictions.TOO_FAR
        elif n_predicted == 0:
            reason = predictions.PUBLISHED
        elif n_predicted == 1:
            above = self._above_published(numbers, j, (a, b))
        else:
            difference, needed = self._apart(*numbers, j)
            if needed is not None and abs(difference) > needed:
                above = a if difference > 0 else b
        return PredictedPair(
            a, b, benchmark, above, n_predicted, difference, needed, reason
        )

    def next_benchmarks(self, model: str, k: int = 5) -> NextBenchmarks:
        """The k benchmarks whose figure would narrow the model's other intervals most.

        Args:
            model: name.
            k: benchmarks at most, at least 1.

        Raises:
            StatisticsError: the model has too few figures, or none.
        """
        i = self._model(model)
        absent = np.flatnonzero(self.shown[i])
        if any(self.quantiles[j] is None for j in absent) or not len(absent):
            return NextBenchmarks(model, None, ())
        factors = self._factors
        now = self._widths(i, absent, factors.own_variances()[i])
        falls = []
        for j in absent.tolist():
            others = absent != j
            if others.any():
                after = self._widths(i, absent, self._variances_after(i, j))
                fall = float((now - after)[others].mean())
                falls.append(NextBenchmark(self.benchmarks[j], fall))
        falls.sort(key=lambda fall: -fall.narrows_by)
        return NextBenchmarks(model, float(now.mean()), tuple(falls[: max(k, 1)]))

    def _model(self, name: str) -> int:
        return checks.number_of(name, self.models, self.left_out_models, "model")

    def _benchmark(self, name: str) -> int:
        gone = self.left_out_benchmarks
        return checks.number_of(name, self.benchmarks, gone, "benchmark")

    def _reason(self, i: int, j: int) -> str | None:
        """Why a cell has no estimate."""
        if self._table.has[i, j]:
            return predictions.PUBLISHED
        if not self.shown[i, j]:
            return predictions.TOO_FAR
        return None

    def _flags(self, i: int, j: int) -> tuple[str, ...]:
        flags = []
        if self.shown[i, j] and self.extrapolated[i, j]:
            flags.append(predictions.EXTRAPOLATED)
        run_by = self.run_by[j]
        if run_by is not None:
            flags.append(run_by)
        return tuple(flags)

    def _spread(self, i: int, j: int) -> float:
        """s = h·e^(γᵀξ) of a cell, in logits."""
        return float(_spreads(self._cells, self.scale)[i, j])

    def _interval(self, i: int, j: int) -> tuple[float | None, float | None]:
        quantile = self.quantiles[j]
        if quantile is None:
            return None, None
        half = np.array(quantile * self._spread(i, j))
        low, high = interval_of(np.array(self._cells.means[i, j]), half)
        return float(low), float(high)

    def _above_published(
        self, numbers: tuple[int, int], j: int, names: tuple[str, str]
    ) -> str | None:
        """Of one published and one predicted figure, whose model is above; None: the
        interval holds the published one, or there is none."""
        is_first = bool(self._table.has[numbers[0], j])
        run, absent = numbers if is_first else (numbers[1], numbers[0])
        of_run, of_absent = names if is_first else (names[1], names[0])
        low, high = self._interval(absent, j)
        if low is None or high is None:
            return None
        figure = float(self._table.values[run, j])
        if figure > high:
            return of_run
        if figure < low:
            return of_absent
        return None

    def _apart(self, a: int, b: int, j: int) -> tuple[float, float | None]:
        """Difference of two expected logits, and what it must exceed."""
        difference = float(self._cells.means[a, j] - self._cells.means[b, j])
        quantile = self.quantiles[j]
        if quantile is None:
            return difference, None
        return difference, quantile * math.hypot(self._spread(a, j), self._spread(b, j))

    def _widths(self, i: int, at: IntArray, variances: FloatArray) -> FloatArray:
        """Widths of the model's intervals if its means had other variances (J,)."""
        means = self._cells.means[i, at]
        own = variances[at]
        estimates = special.expit(means)
        known = known_variance(estimates, self._table.questions[at])
        h = np.sqrt(own + self._factors.unexplained[at] + known)
        logs = features(estimates, own, h) @ self.scale
        quantiles = np.array([self.quantiles[j] for j in at], dtype=np.float64)
        low, high = interval_of(means, quantiles * h * np.exp(logs))
        return high - low

    def _variances_after(self, i: int, j: int) -> FloatArray:
        """tr(EC) + λᵀFλ of a model's cells, had it a figure on one benchmark more."""
        factors = self._factors
        estimate = special.expit(self._cells.means[i, j])
        noise = float(factors.unexplained[j] + factors.own_variances()[i, j])
        noise += float(known_variance(estimate, self._table.questions[j]))
        pull = factors.f_cov[i] @ factors.loadings[j]
        alone = replace(
            factors,
            f=factors.f[[i]],
            f_cov=(factors.f_cov[i] - np.outer(pull, pull) / noise)[None],
        )
        after: FloatArray = alone.own_variances()[0]
        return after


def interval_of(means: FloatArray, halves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """σ(mean ± half); an end of at most .01 becomes 0, of at least .99 becomes 1."""
    low, high = special.expit(means - halves), special.expit(means + halves)
    ends = []
    for end in (low, high):
        lifted = np.where(end >= HIGHEST, 1.0, end)
        ends.append(np.where(end <= LOWEST, 0.0, lifted))
    return ends[0], ends[1]


def _spreads(cells: Cells, scale: FloatArray) -> FloatArray:
    logs = features(cells.estimates, cells.variances, cells.errors) @ scale
    spreads: FloatArray = cells.errors * np.exp(logs)
    return spreads


def _quantiles(
    held_out: HeldOutFigures, scale: FloatArray, width: int, level: float
) -> tuple[float | None, ...]:
    scaled = np.abs(held_out.residuals) * np.exp(-held_out.features @ scale)
    return tuple(half_widths(scaled, held_out, width, level))


@one_blas_thread()
def published_completion(figures: Figures, level: float = 0.95) -> PublishedCompletion:
    """What would be published of models on benchmarks that they were not run on.

    Models and benchmarks of fewer than four figures are left out. Sixteen fits without
    a random number; the order of the figures changes nothing.

    Args:
        figures: as for `published_scale`. A figure that others of the table give (an
            average, an index) is no benchmark: leave it out.
        level: nominal coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: too few figures, models or benchmarks, or models that no
            benchmark connects with the others.

    Example:
        >>> from warehouse.stats import published_completion
        >>> from warehouse.stats.items.published_figures import as_figures
        >>> names, easy = range(12), [0.9, 0.7, 0.6, 0.45, 0.3, 0.5, 0.8, 0.4]
        >>> cells = [(m, b) for m in names for b in range(8) if m or b]
        >>> values = [easy[b] * (0.6 + 0.03 * m) for m, b in cells]
        >>> models = [f"m{m:02}" for m, b in cells]
        >>> table = as_figures(values, models, [f"b{b}" for m, b in cells])
        >>> found = published_completion(table).predicted("m00", "b0")
        >>> f"{found.estimate:.2f} ({found.ci_low:.2f}, {found.ci_high:.2f})"
        '0.53 (0.52, 0.54)'
    """
    wanted = as_level(level)
    kept = checks.enough_figures(figures)
    table = as_table(kept)
    factors = fitted_factors(table)
    cells = expected_cells(table, factors)
    held_out = held_out_figures(table)
    scale = log_scale(held_out.residuals, held_out.features)
    shown, needed = checks.supported(table, held_out.support)
    models, benchmarks = checks.left_out(figures, kept)
    return PublishedCompletion(
        models=kept.models,
        benchmarks=kept.benchmarks,
        level=wanted,
        n_figures=table.n_figures,
        shown=shown,
        extrapolated=checks.beyond_all(table, cells.means),
        run_by=checks.one_sided(table),
        support=support(table).astype(np.intp),
        support_needed=needed,
        quantiles=_quantiles(held_out, scale, len(kept.benchmarks), wanted),
        scale=scale,
        n_held_out=len(held_out.residuals),
        n_far=int(held_out.is_far.sum()),
        median_error=float(np.median(held_out.off_by)),
        left_out_models=models,
        left_out_benchmarks=benchmarks,
        _table=table,
        _factors=factors,
        _cells=cells,
        _held_out=held_out,
    )
