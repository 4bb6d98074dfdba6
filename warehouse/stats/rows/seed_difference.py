"""Two rows, each over its training seeds: their difference on the prompts that both
have (statistics.md §20 B).

The half-width of the interval at size α is h(α) = sqrt(max(t²_{ν_p} b + T(α), t²_{ν_p}
V_p)), b the part of V_p that other prompts make, T(α) that of the seeds; p is the α at
which h(α) reaches the difference. The seeds' part is pooled where both rows have as
many seeds (size .02 to .06 for seed variances of any ratio up to 10), and the larger of
the pooled and Welch's elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED
from warehouse.stats.core.inputs import (
    ROUNDING,
    Bounds,
    FloatArray,
    as_level,
    finite_bounds,
)
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws
from warehouse.stats.rows.seed_fit import SeedFit, as_cells, fit_seeds, squared_error

#: The smallest p that is told apart.
LEAST_P = 1e-15
_STEPS = 60


@dataclass(frozen=True)
class SeedParts:
    """What the error of differences over seeds is made of; shape (P,) each, for P pairs
    (or scalars)."""

    #: V_p, squared error of the differences of the prompts' parts.
    v_prompts: FloatArray
    df_prompts: FloatArray  #: ν_p.
    b: FloatArray  #: V_p less what draws alone would make, at least 0.
    v_pooled: FloatArray  #: the seeds' squared error, pooled over both rows; 0 where neither has a second seed.
    df_pooled: FloatArray  #: its degrees of freedom.
    v_welch: FloatArray  #: Welch's, where the numbers of seeds differ; else 0.
    df_welch: FloatArray  #: its degrees of freedom.

    @property
    def standard_error(self) -> FloatArray:
        """sqrt(max(b + the largest seeds' part, V_p))."""
        seeds = np.maximum(self.v_pooled, self.v_welch)
        return np.sqrt(np.maximum(self.b + seeds, self.v_prompts))

    def half_width(self, alpha: float | FloatArray) -> FloatArray:
        """h(α) of each pair."""
        prompts = _squared_t(self.df_prompts, alpha)
        pooled = _squared_t(self.df_pooled, alpha) * self.v_pooled
        welch = _squared_t(self.df_welch, alpha) * self.v_welch
        seeds = np.maximum(pooled, welch)
        return np.sqrt(np.maximum(prompts * self.b + seeds, prompts * self.v_prompts))

    def p_values(self, differences: FloatArray) -> FloatArray:
        """p of each pair: the α at which h(α) is the absolute difference; NaN without
        an error.

        Args:
            differences: of each pair, shape (P,).
        """
        distance = np.abs(np.asarray(differences, dtype=np.float64))
        low = np.full(distance.shape, math.log(LEAST_P))
        high = np.zeros(distance.shape)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            reaches = self.half_width(np.exp(middle)) > distance
            low = np.where(reaches, middle, low)
            high = np.where(reaches, high, middle)
        p = np.where(self.half_width(LEAST_P) <= distance, LEAST_P, np.exp(high))
        p = np.where(distance == 0, 1.0, p)
        return np.where(self.standard_error > 0, p, np.nan)


def _squared_t(df: FloatArray, alpha: float | FloatArray) -> FloatArray:
    """t²_ν at 1 − α/2."""
    quantiles: FloatArray = special.stdtrit(df, np.asarray(alpha) / 2)
    return quantiles**2


@dataclass(frozen=True)
class SeedReach(StudentisedDraws):
    """How far a difference over seeds may lie off, in its standard errors: in place of
    a bootstrap, for margins."""

    parts: SeedParts | None = None  #: of one pair.

    def ends(self, level: float) -> tuple[float, float]:
        """∓ h(1 − level)/se."""
        assert self.parts is not None
        reach = float(
            self.parts.half_width(1 - level)[0] / self.parts.standard_error[0]
        )
        return -reach, reach

    def upper_tail(self, t: float) -> float:
        """One-sided p of a difference of t standard errors."""
        half = self.p_value(t) / 2
        if t > 0:
            return half
        return 1 - half

    @property
    def turned(self) -> SeedReach:
        """It is symmetric."""
        return self

    def p_value(self, t: float) -> float:
        """Two-sided p of a difference of t standard errors."""
        assert self.parts is not None
        return float(self.parts.p_values(t * self.parts.standard_error)[0])


@dataclass(frozen=True)
class RowSeeds:
    """What a row's seeds say of another draw of them, on some prompts."""

    n_seeds: int  #: S; 1 where there are none.
    v_seeds: float  #: V_s; 0 for one seed.
    v_interaction: float  #: V_i; 0 for one seed.
    fixed: bool = False  #: the weights are fixed (no training seed): there is nothing that another seed would change.

    @classmethod
    def of(cls, fit: SeedFit, *, fixed: bool) -> RowSeeds:
        """Of a fit on the prompts that are compared."""
        return cls(fit.n_seeds, fit.v_seeds or 0.0, fit.v_interaction or 0.0, fixed)


def seed_parts(
    v_prompts: FloatArray,
    df_prompts: FloatArray,
    rows: Sequence[tuple[RowSeeds, RowSeeds]],
) -> SeedParts:
    """The parts of the errors of pairs of rows whose seeds have nothing to do with each
    other.

    One seed of a trained model against several of another: the spread of the several
    stands for both. Against fixed weights only the several's counts.

    Args:
        v_prompts: V_p of each pair, shape (P,).
        df_prompts: ν_p of each, shape (P,).
        rows: both rows of each pair.
    """
    found = np.array([_seeds_part(a, b) for a, b in rows]).reshape(len(rows), 5)
    v_pooled, df_pooled, v_welch, df_welch, draws = found.T
    b = np.maximum(0.0, v_prompts - draws)
    return SeedParts(v_prompts, df_prompts, b, v_pooled, df_pooled, v_welch, df_welch)


def _seeds_part(a: RowSeeds, b: RowSeeds) -> tuple[float, float, float, float, float]:
    """Pooled variance and df, Welch's and its df, and the part of V_p that is draws."""
    if a.n_seeds < 2 and b.n_seeds < 2:
        return 0.0, 1.0, 0.0, 1.0, 0.0
    if a.n_seeds < 2 or b.n_seeds < 2:
        one, several = b, a
        if a.n_seeds < 2:
            one, several = a, b
        times = 1.0 + several.n_seeds  # S·(1 + 1/S)
        if one.fixed:
            times = 1.0
        pooled, draws = times * several.v_seeds, times * several.v_interaction
        return pooled, several.n_seeds - 1.0, 0.0, 1.0, draws
    draws = a.v_interaction + b.v_interaction
    df = a.n_seeds + b.n_seeds - 2.0
    if a.n_seeds == b.n_seeds:
        return a.v_seeds + b.v_seeds, df, 0.0, 1.0, draws
    squares = sum((row.n_seeds - 1) * row.n_seeds * row.v_seeds for row in (a, b))
    pooled = squares / df * (1 / a.n_seeds + 1 / b.n_seeds)
    welch = a.v_seeds + b.v_seeds
    squared = a.v_seeds**2 / (a.n_seeds - 1) + b.v_seeds**2 / (b.n_seeds - 1)
    df_welch = df
    if squared > 0:
        df_welch = welch**2 / squared
    return pooled, df, welch, df_welch, draws


@dataclass(frozen=True)
class SeedDifference(NamedFigures):
    """Difference of two rows over their seeds, first minus second, on common prompts."""

    difference: float  #: mean over prompts of the difference of the prompts' parts.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval, None where none can be given.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage.
    #: two-sided, agrees with the interval; None without an error.
    p_value: float | None
    mean_a: float  #: figure of the first row on these prompts.
    mean_b: float  #: figure of the second.
    n_prompts: int  #: common prompts.
    n_clusters: int | None  #: clusters that hold one, None without.
    n_seeds_a: int  #: seeds of the first row.
    n_seeds_b: int  #: seeds of the second.
    v_prompts: float | None  #: V_p.
    df_prompts: float | None  #: ν_p.
    b: float | None  #: V_p less what draws alone would make.
    v_seeds_pooled: float  #: the seeds' part, pooled (or of paired seeds).
    df_seeds_pooled: float | None  #: its degrees of freedom.
    v_seeds_welch: float  #: Welch's, where the numbers of seeds differ; else 0.
    df_seeds_welch: float | None  #: its degrees of freedom.
    method: str  #: ``"independent_seeds"`` or ``"paired_seeds"``.
    reason: str  #: why there is no interval, else empty.
    #: ``one_seed``: the spread of the seeds of one row is unknown.
    flags: tuple[str, ...]
    estimand: str = PROMPTS_SAMPLED  #: other prompts and other seeds, or ``prompts_fixed``: other seeds alone.
    #: for tests against a margin; None without an error.
    reach: SeedReach | None = None

    def __str__(self) -> str:
        if self.ci_low is None or self.ci_high is None:
            return f"{self.difference:.4g} (no interval: {self.reason})"
        return (
            f"{self.difference:.4g} [{self.ci_low:.4g}, {self.ci_high:.4g}] "
            f"(p={self.p_value:.3g}, {self.method})"
        )


def difference_over_seeds(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    fixed_a: bool = False,
    fixed_b: bool = False,
    estimand: str = PROMPTS_SAMPLED,
) -> SeedDifference:
    """Difference of two rows whose seeds have nothing to do with each other, also where
    their numbers are equal.

    Args:
        a: mean over draws of each seed of the first on each prompt, NaN where it has
            none, shape (S_a, n).
        b: the same prompts in the same order of the second, shape (S_b, n). One of the
            two has two seeds or more.
        clusters: cluster of each prompt, shape (n,), or None.
        weights: weight of each prompt, shape (n,), or None.
        bounds: of the scores; the interval is cut to ± their range.
        level: nominal coverage, in (0, 1).
        fixed_a: the first has fixed weights, not one seed of a training that could have
            had others.
        fixed_b: so has the second.
        estimand: ``prompts_sampled``, or ``prompts_fixed``: other seeds on these very
            prompts.

    Raises:
        StatisticsError: other shapes, other numbers of prompts, no row with two seeds,
            arguments out of range.

    Examples:
        >>> a = [[1, 1, 0, 1, 0, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 0]]
        >>> b = [[1, 0, 0, 1, 0, 0, 1, 0], [0, 1, 0, 1, 0, 1, 0, 0]]
        >>> print(difference_over_seeds(a, b, bounds=(0, 1)))
        0.25 [0.02656, 0.4734] (p=0.0331, independent_seeds)
    """
    level = as_level(level)
    first, second = as_cells(a, "a"), as_cells(b, "b")
    _check_aligned(first, second)
    if len(first) < 2 and len(second) < 2:
        raise StatisticsError(
            "a difference over seeds needs two seeds of a row; `paired_difference` is "
            "for one each"
        )
    fit_a = fit_seeds(first, clusters=clusters, weights=weights)
    fit_b = fit_seeds(second, clusters=clusters, weights=weights)
    d = fit_a.prompt_parts - fit_b.prompt_parts
    values = None
    if weights is not None:
        values = np.asarray(weights, dtype=np.float64)
    _, v_prompts, df = squared_error(_steady(d, first, second), clusters, values)
    rows = (RowSeeds.of(fit_a, fixed=fixed_a), RowSeeds.of(fit_b, fixed=fixed_b))
    parts = _parts_of(v_prompts, df, rows, estimand)
    flags = flags_of(
        one_seed=(len(first) == 1 and not fixed_a) or (len(second) == 1 and not fixed_b)
    )
    how = _How(bounds, level, "independent_seeds", flags, estimand)
    return _difference(fit_a, fit_b, parts, clusters, how)


def difference_over_paired_seeds(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    estimand: str = PROMPTS_SAMPLED,
) -> SeedDifference:
    """Difference of two rows whose k-th seeds go together (the same data order or
    few-shot draw).

    Valid whether or not seeds do go together; without it loses power.

    Args:
        a: as of `difference_over_seeds`, shape (S, n), S at least 2.
        b: the same seeds in the same order of the second, shape (S, n).
        clusters: cluster of each prompt, shape (n,), or None.
        weights: weight of each prompt, shape (n,), or None.
        bounds: of the scores; the interval is cut to ± their range.
        level: nominal coverage, in (0, 1).
        estimand: as of `difference_over_seeds`.

    Raises:
        StatisticsError: other shapes, fewer than two seeds, arguments out of range.
    """
    level = as_level(level)
    first, second = as_cells(a, "a"), as_cells(b, "b")
    _check_aligned(first, second)
    if len(first) != len(second) or len(first) < 2:
        raise StatisticsError(
            f"paired seeds: two at least of each are needed, found {len(first)} and "
            f"{len(second)}"
        )
    fit = fit_seeds(first - second, clusters=clusters, weights=weights)
    fit_a = fit_seeds(first, clusters=clusters, weights=weights)
    fit_b = fit_seeds(second, clusters=clusters, weights=weights)
    own = RowSeeds.of(fit, fixed=False)
    parts = _parts_of(
        fit.v_prompts,
        fit.df_prompts,
        (own, RowSeeds(1, 0.0, 0.0, fixed=True)),
        estimand,
    )
    how = _How(bounds, level, "paired_seeds", (), estimand)
    return _difference(fit_a, fit_b, parts, clusters, how)


def _check_aligned(first: FloatArray, second: FloatArray) -> None:
    if first.shape[1] != second.shape[1]:
        raise StatisticsError(
            f"the first has {first.shape[1]} prompts, the second {second.shape[1]}: "
            "take those that both have"
        )


def _steady(d: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Differences that vary by no more than rounding as one number."""
    scale = max(float(np.nanmax(np.abs(first))), float(np.nanmax(np.abs(second))))
    if float(np.ptp(d)) <= ROUNDING * scale:
        return np.full_like(d, d.mean())
    return d


class _How(NamedTuple):
    """How a difference is shown."""

    bounds: Bounds | None
    level: float
    method: str
    flags: tuple[str, ...]
    estimand: str


def _parts_of(
    v_prompts: float | None,
    df: float | None,
    rows: tuple[RowSeeds, RowSeeds],
    estimand: str,
) -> SeedParts | None:
    if estimand == PROMPTS_FIXED:
        return seed_parts(np.zeros(1), np.ones(1), [rows])
    if v_prompts is None or df is None:
        return None
    return seed_parts(np.array([v_prompts]), np.array([df]), [rows])


def _difference(
    fit_a: SeedFit,
    fit_b: SeedFit,
    parts: SeedParts | None,
    clusters: ArrayLike | None,
    how: _How,
) -> SeedDifference:
    level = how.level
    difference = fit_a.mean - fit_b.mean
    error = None if parts is None else float(parts.standard_error[0]) or None
    low, high, p = None, None, None
    if parts is not None and error is not None:
        half = float(parts.half_width(1 - level)[0])
        low, high = cut_to_range(difference - half, difference + half, how.bounds)
        p = float(parts.p_values(np.array([difference]))[0])
    return SeedDifference(
        difference=difference,
        standard_error=error,
        ci_low=low,
        ci_high=high,
        level=level,
        p_value=p,
        mean_a=fit_a.mean,
        mean_b=fit_b.mean,
        n_prompts=fit_a.n_prompts,
        n_clusters=None
        if clusters is None
        else len(set(np.asarray(clusters).tolist())),
        n_seeds_a=fit_a.n_seeds,
        n_seeds_b=fit_b.n_seeds,
        v_prompts=None if parts is None else float(parts.v_prompts[0]),
        df_prompts=None if parts is None else float(parts.df_prompts[0]),
        b=None if parts is None else float(parts.b[0]),
        v_seeds_pooled=0.0 if parts is None else float(parts.v_pooled[0]),
        df_seeds_pooled=None if parts is None else float(parts.df_pooled[0]),
        v_seeds_welch=0.0 if parts is None else float(parts.v_welch[0]),
        df_seeds_welch=None
        if parts is None or not parts.v_welch[0]
        else float(parts.df_welch[0]),
        method=how.method,
        reason=_why_none(parts, error),
        flags=how.flags,
        estimand=how.estimand,
        reach=None
        if parts is None or error is None
        else SeedReach(np.empty(0), float(parts.df_prompts[0]), parts),
    )


def _why_none(parts: SeedParts | None, error: float | None) -> str:
    if parts is None:
        return "a single prompt or cluster in common"
    if error is not None:
        return ""
    return "all differences are equal"


def cut_to_range(low: float, high: float, bounds: Bounds | None) -> tuple[float, float]:
    """An interval of a difference within ± the range of the scores."""
    limits = finite_bounds(bounds)
    if limits is None:
        return low, high
    most = limits[1] - limits[0]
    return max(-most, low), min(most, high)
