"""Models on one scale by figures that were published of them, without a sample
(statistics.md §13b).

A figure y in [0, 1] of model m on benchmark j is σ(a_j θ_m + d_j) + e: one ability per
model, a slope and an intercept per benchmark, and a misfit e of standard deviation s
that is the same for all. The fit is Gauss and Newton's on the residuals and the priors,
s alternating with it; models are profiled out, so that a step takes the time of the
figures and of a system of the benchmarks alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level, as_seed
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.published_figures import (
    Figures,
    IntArray,
    check_connected,
    where,
    without,
)
from warehouse.stats.items.scale_steps import (
    FIRST_DAMPING,
    Parameters,
    Slopes,
    System,
    damped_step,
    linearised,
)

#: Where s begins, and the figures that it counts as in the spread of a benchmark of
#: few.
START_SD, OWN_FIGURES = 0.08, 10
#: Of figures of like size at least so many say how far they scatter.
FEWEST_NEAR = 20
#: Parameters move by less than this in the last step: of the scale, and of what is told
#: of it by leaving out figures.
TOLERANCE, ROUGH, MAX_STEPS = 1e-6, 1e-4, 200
#: Abilities that differ by less are alike.
SAME = 1e-6
#: Folds of the figures held out, and days of release that a trend needs.
FOLDS, MIN_DAYS = 10, 3


class _Parameters(Parameters):
    """Parameters that expect σ(aθ + d)."""

    def chances(self, model: IntArray, benchmark: IntArray) -> FloatArray:
        chances: FloatArray = special.expit(
            np.exp(self.log_a[benchmark]) * self.theta[model] + self.d[benchmark]
        )
        return chances

    def gradients(self, model: IntArray, benchmark: IntArray) -> Slopes:
        """Of the chances by θ, ln a and d."""
        slopes, chances = np.exp(self.log_a[benchmark]), self.chances(model, benchmark)
        steep = chances * (1 - chances)
        return Slopes(steep * slopes, steep * slopes * self.theta[model], steep)

    @property
    def standardised(self) -> FloatArray:
        return _standardised(self.theta)

    def without(self, benchmark: int) -> _Parameters:
        return _Parameters(
            self.theta,
            np.delete(self.log_a, benchmark),
            np.delete(self.d, benchmark),
            self.variance,
        )


@dataclass(frozen=True, eq=False)
class ScaleFit(NamedFigures):
    """Models on one scale."""

    models: tuple[str, ...]  #: names, shape (M,).
    benchmarks: tuple[str, ...]  #: names, shape (J,).
    ability: FloatArray  #: mean 0 and standard deviation 1 in the pool (ddof 0).
    se_info: FloatArray  #: by the curvature of the fit: right where misfits are independent, else too small.
    se_jackknife: FloatArray  #: by leaving out one benchmark after the other.
    #: the larger of the two, as for differences (see `differences`).
    standard_error: FloatArray
    n_benchmarks: IntArray  #: figures of each model.
    difficulty: FloatArray  #: ability at which a figure of .5 is expected, in the same frame, shape (J,).
    slope: FloatArray  #: logits per standard deviation of the pool.
    #: root mean square of what the fit leaves of a benchmark's figures.
    residual: FloatArray
    n_models: IntArray  #: figures of each benchmark.
    misfit: float  #: s, standard deviation of a figure around the fit, free of the parameters' number.
    n_figures: int  #: N.
    pool_sd: float  #: standard deviation of θ before it became 1.
    left_out: FloatArray  #: abilities without each benchmark, in the frame of that fit, shape (J, M).
    _parameters: _Parameters = field(repr=False)
    _system: System = field(repr=False)
    _expected: FloatArray = field(repr=False)  # what the fit expects of each figure
    _residuals: FloatArray = field(repr=False)  # each figure less that

    def __str__(self) -> str:
        size = (
            f"{len(self.models)} models on {len(self.benchmarks)} benchmarks by "
            f"{self.n_figures} figures"
        )
        return f"{size}, misfit {self.misfit:.3f}"

    def differences(self, reference: int) -> tuple[FloatArray, FloatArray]:
        """Abilities less that of one model, and their standard errors (0 for the model
        itself), shape (M,)."""
        variances, shares = _variances(self._system), self._system.shares()
        covariance = shares @ np.linalg.solve(
            self._system.profiled(), shares[reference]
        )
        covariance[reference] += 1 / self._system.models[reference]
        info = (
            np.maximum(variances + variances[reference] - 2 * covariance, 0)
            / self.pool_sd**2
        )
        jackknife = _jackknife(self.left_out - self.left_out[:, [reference]])
        errors = np.maximum(np.sqrt(info), jackknife)
        errors[reference] = 0
        return self.ability - self.ability[reference], errors

    def predicted(
        self, model: int, benchmark: int, level: float = 0.95
    ) -> tuple[float, float, float]:
        """The figure to expect of a model on a benchmark, and an interval for what
        would be published, in [0, 1].

        The spread is that of the benchmark's own figures, drawn towards s as by ten
        figures of all, and as much wider as the quarter of all figures whose expected
        values are nearest scatter more than all do: one spread for high and low figures
        alike covered .94 of 95 %, with it .95.
        """
        row, n, width = (
            np.array([model]),
            int(self.n_models[benchmark]),
            len(self.benchmarks),
        )
        estimate = float(self._parameters.chances(row, np.array([benchmark]))[0])
        slopes = self._parameters.gradients(row, np.array([benchmark]))
        by_model, by_slope = float(slopes.ability[0]), float(slopes.log_a[0])
        by_difficulty = float(slopes.d[0])
        along = -by_model * self._system.shares()[model]
        along[benchmark] += by_slope
        along[width + benchmark] += by_difficulty
        variance = by_model**2 / self._system.models[model]
        variance += float(along @ np.linalg.solve(self._system.profiled(), along))
        own = (OWN_FIGURES * self.misfit**2 + n * self.residual[benchmark] ** 2) / (
            OWN_FIGURES + n
        )
        own *= max(1.0, self._scatter_near(estimate))
        half = t_quantile(as_level(level), n + OWN_FIGURES - 2) * float(
            np.sqrt(own + variance)
        )
        return estimate, max(0.0, estimate - half), min(1.0, estimate + half)

    def _scatter_near(self, expected: float) -> float:
        """Mean square of the residuals of figures of like size, over that of all."""
        squares = self._residuals**2
        of_all = float(squares.mean())
        n_near = min(len(squares), max(FEWEST_NEAR, len(squares) // 4))
        near = np.argsort(np.abs(self._expected - expected), kind="stable")[:n_near]
        if of_all:
            return float(squares[near].mean()) / of_all
        return 1.0


@one_blas_thread()
def published_scale(figures: Figures) -> ScaleFit:
    """Abilities of all models by the figures of all benchmarks, with errors.

    Raises:
        StatisticsError: no more figures than parameters, models that no benchmark
            connects with the others, or all alike.
    """
    n, count, width = len(figures.values), len(figures.models), len(figures.benchmarks)
    if n <= count + 2 * width:
        raise StatisticsError(
            f"{n} figures are too few for {count} models and {width} benchmarks: more "
            f"than {count + 2 * width} are needed, one for each model and two for each "
            "benchmark"
        )
    check_connected(figures)
    fitted, system = _fit(figures)
    a, sd = np.exp(fitted.log_a), float(fitted.theta.std())
    if sd <= SAME:
        raise StatisticsError(
            "the figures of each benchmark are the same for all models: they tell no "
            "two apart"
        )
    left_out = np.empty((width, count))
    for j in range(width):
        rest, _ = _fit(without(figures, j), fitted.without(j), tolerance=ROUGH)
        left_out[j] = rest.standardised
    residuals = figures.values - fitted.chances(figures.model, figures.benchmark)
    sizes = np.bincount(figures.benchmark, minlength=width)
    info, jackknife = np.sqrt(_variances(system)) / sd, _jackknife(left_out)
    return ScaleFit(
        models=figures.models,
        benchmarks=figures.benchmarks,
        ability=fitted.standardised,
        se_info=info,
        se_jackknife=jackknife,
        standard_error=np.maximum(info, jackknife),
        n_benchmarks=np.bincount(figures.model, minlength=count),
        difficulty=(-fitted.d / a - fitted.theta.mean()) / sd,
        slope=a * sd,
        residual=np.sqrt(np.bincount(figures.benchmark, residuals**2, width) / sizes),
        n_models=sizes,
        misfit=float(np.sqrt(fitted.variance)),
        n_figures=n,
        pool_sd=sd,
        left_out=left_out,
        _parameters=fitted,
        _system=system,
        _expected=figures.values - residuals,
        _residuals=residuals,
    )


@dataclass(frozen=True)
class HeldOut(NamedFigures):
    """Root mean square error of figures that were held out, each by a fit to nine
    tenths of all."""

    scale: float  #: of the scale.
    additive: float  #: of the same with one slope for all benchmarks.
    means: float  #: of the benchmark's mean.
    n: int  #: figures.


@one_blas_thread()
def held_out(figures: Figures, *, seed: int = 0) -> HeldOut:
    """How well figures are predicted that the fit has not seen; ten folds of single
    figures.

    Args:
        figures: as for `published_scale`.
        seed: of the folds.
    """
    n, width = len(figures.values), len(figures.benchmarks)
    fold = np.random.default_rng(as_seed(seed)).permutation(n) % FOLDS
    squares = np.zeros((3, n))
    whole, additive = _fit(figures)[0], _fit(figures, slopes=False)[0]
    for number in range(min(FOLDS, n)):
        test, seen = fold == number, where(figures, fold != number)
        model, benchmark = figures.model[test], figures.benchmark[test]
        sizes = np.bincount(seen.benchmark, minlength=width)
        means = np.bincount(seen.benchmark, seen.values, width) / np.maximum(sizes, 1)
        expected = (
            _fit(seen, whole, tolerance=ROUGH)[0].chances(model, benchmark),
            _fit(seen, additive, slopes=False, tolerance=ROUGH)[0].chances(
                model, benchmark
            ),
            np.where(sizes > 0, means, seen.values.mean())[benchmark],
        )
        squares[:, test] = (np.array(expected) - figures.values[test]) ** 2
    scale, one_slope, mean = np.sqrt(squares.mean(axis=1)).tolist()
    return HeldOut(scale, one_slope, mean, n)


@dataclass(frozen=True)
class ScaleTrend(NamedFigures):
    """Abilities over days of release: the slope of least squares."""

    estimate: float  #: standard deviations of the pool in a year.
    #: √(jackknife over days of release + jackknife over benchmarks). Models of one day
    #: stay together, as those of one developer do mostly; the pool is standardised anew
    #: without each.
    standard_error: float
    ci_low: float  #: lower end of the interval.
    ci_high: float  #: upper end.
    r_squared: float  #: share of the variance of abilities that the days explain.
    n_models: int  #: models with a day.
    n_days: int  #: different days.


def scale_trend(scale: ScaleFit, years: ArrayLike, level: float = 0.95) -> ScaleTrend:
    """How abilities rise over time (StatisticsError: another shape, or fewer than three
    different days).

    Args:
        scale: of the models.
        years: of the release of each, such as 2024.5; NaN where unknown, shape (M,).
        level: nominal coverage of the interval, in (0, 1).
    """
    numbers = np.asarray(years, dtype=np.float64)
    n_days = len(np.unique(numbers[np.isfinite(numbers)]))
    if numbers.shape != scale.ability.shape or n_days < MIN_DAYS:
        raise StatisticsError(
            f"a trend needs {MIN_DAYS} different days of release, one for each model"
        )
    dated = np.isfinite(numbers)
    released, ability = numbers[dated], scale.ability[dated]
    slope = _slope(released, ability)
    explained = float(np.corrcoef(released, ability)[0, 1] ** 2)
    by_day = []
    for day in np.unique(released):
        others = released != day
        by_day.append(_slope(released[others], _standardised(ability[others])))
    by_benchmark = [_slope(released, own) for own in scale.left_out[:, dated]]
    of_days = _jackknife(np.array(by_day)) * ability.std()
    of_benchmarks = _jackknife(np.array(by_benchmark))
    error = float(np.hypot(of_days, of_benchmarks))
    half = z_quantile(as_level(level)) * error
    low, high = slope - half, slope + half
    return ScaleTrend(slope, error, low, high, explained, len(released), len(by_day))


def _slope(years: FloatArray, ability: FloatArray) -> float:
    centred = years - years.mean()
    return float(centred @ ability / (centred @ centred))


def _standardised(values: FloatArray) -> FloatArray:
    sd = float(values.std())
    standardised: FloatArray = (values - values.mean()) / (
        sd if sd > SAME else 1.0
    )  # zeros where all are alike
    return standardised


# --- the fit -------------------------------------------------------------------------------------


def _fit(
    figures: Figures,
    start: _Parameters | None = None,
    *,
    slopes: bool = True,
    tolerance: float = TOLERANCE,
) -> tuple[_Parameters, System]:
    """The parameters where the sum of squares and priors is least, with s² such that
    Σr²/(s²+v) = N − M − 2J.

    Without so many figures (some are left out) s² stays as it began.
    """
    now, damping = start or _start(figures), FIRST_DAMPING
    free = len(figures.values) - len(figures.models) - 2 * len(figures.benchmarks)
    for _ in range(MAX_STEPS):
        system, gradient = _linearised(figures, now, slopes)
        loss = partial(_loss, figures)
        moved, damping = damped_step(now, system, gradient, loss, damping)
        residuals = figures.values - moved.chances(figures.model, figures.benchmark)
        ratio = (
            float((residuals**2 / (moved.variance + figures.variance)).sum()) / free
            if free > 0
            else 1.0
        )
        change = max(
            np.abs(moved.theta - now.theta).max(),
            np.abs(moved.d - now.d).max(),
            abs(ratio - 1),
        )
        now = _Parameters(
            moved.theta, moved.log_a, moved.d, max(moved.variance * ratio, 1e-8)
        )
        if change < tolerance:
            break
    return now, _linearised(figures, now, slopes)[0]


def _start(figures: Figures) -> _Parameters:
    width = len(figures.benchmarks)
    sizes = np.bincount(figures.benchmark, minlength=width)
    means = np.clip(
        np.bincount(figures.benchmark, figures.values, width) / np.maximum(sizes, 1),
        0.03,
        0.97,
    )
    return _Parameters(
        np.zeros(len(figures.models)),
        np.zeros(width),
        special.logit(means),
        START_SD**2,
    )


def _loss(figures: Figures, at: _Parameters) -> float:
    residuals = figures.values - at.chances(figures.model, figures.benchmark)
    weighted = residuals**2 / (at.variance + figures.variance)
    return float(weighted.sum()) + at.prior()


def _linearised(
    figures: Figures, at: _Parameters, slopes: bool
) -> tuple[System, tuple[FloatArray, FloatArray]]:
    """The system of a step, and the gradient (of models, of benchmarks)."""
    model, benchmark = figures.model, figures.benchmark
    of_chances = at.gradients(model, benchmark)
    if not slopes:
        of_chances = replace(of_chances, log_a=np.zeros_like(of_chances.log_a))
    weights = 1 / (at.variance + figures.variance)
    residuals = figures.values - at.chances(model, benchmark)
    return linearised(at, model, benchmark, of_chances, weights, residuals)


def _variances(system: System) -> FloatArray:
    """Of θ, shape (M,)."""
    shares = system.shares()
    variances: FloatArray = 1 / system.models + (
        shares * np.linalg.solve(system.profiled(), shares.T).T
    ).sum(axis=1)
    return variances


def _jackknife(left_out: FloatArray) -> FloatArray:
    """Standard errors by what came out without one benchmark after the other, shape (J,
    ...)."""
    width = len(left_out)
    errors: FloatArray = np.sqrt(
        (width - 1) / width * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    )
    return errors
