"""Scores of a stratified sample of a benchmark's prompts, and the interval of a mean
that it gives."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_floats, check_length
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws
from warehouse.stats.intervals.closed_form import (
    interval_clopper_pearson,
    interval_wilson,
)
from warehouse.stats.intervals.stratified_bootstrap_t import (
    stratified_draws,
    stratified_skewness,
)
from warehouse.stats.subsets.design import LEAST


@dataclass(frozen=True, eq=False)
class StratifiedSample:
    """N prompts in strata, some of them scored."""

    #: NaN outside the sample and where there is no score, shape (N,).
    scores: FloatArray
    stratum: NDArray[np.intp]  #: of each prompt, 0 to H − 1, shape (N,).
    selected: NDArray[np.bool_]  #: whether it is in the sample, shape (N,).

    @property
    def n(self) -> int:
        """N."""
        return len(self.scores)

    @property
    def n_strata(self) -> int:
        """H."""
        return len(self.sizes)

    @property
    def n_selected(self) -> int:
        """m."""
        return int(self.selected.sum())

    @property
    def n_missing(self) -> int:
        """Prompts of the sample without a score."""
        return self.n_selected - len(self.y)

    @cached_property
    def y(self) -> FloatArray:
        """The scores that there are."""
        return self.scores[np.isfinite(self.scores)]

    @cached_property
    def sizes(self) -> FloatArray:
        """N_h, shape (H,)."""
        return np.bincount(self.stratum).astype(np.float64)

    @cached_property
    def scored_in(self) -> FloatArray:
        """n_h, the scored prompts of each stratum, shape (H,)."""
        return self._sums(np.isfinite(self.scores).astype(np.float64))

    @cached_property
    def means(self) -> FloatArray:
        """ȳ_h, shape (H,)."""
        return self._sums(np.nan_to_num(self.scores)) / self.scored_in

    @property
    def estimate(self) -> float:
        """θ̂ = Σ W_h ȳ_h."""
        return float(self.sizes @ self.means / self.n)

    @property
    def degrees_of_freedom(self) -> float:
        """ν = Σ (n_h − 1)."""
        return float((self.scored_in - 1).sum())

    @property
    def variance(self) -> float:
        """v = Σ W_h² (1 − n_h/N_h) s_h²/n_h; every stratum has at least two scores."""
        centred = np.nan_to_num(self.scores - self.means[self.stratum])
        centred[np.abs(centred) <= ROUNDING * np.abs(self.y).max()] = (
            0.0  # equal but for rounding
        )
        squares = self._sums(centred**2) / (self.scored_in - 1)
        left = 1 - self.scored_in / self.sizes
        return float(
            ((self.sizes / self.n) ** 2 * left * squares / self.scored_in).sum()
        )

    def joined(self) -> StratifiedSample:
        """From h = H down, a stratum with fewer than two scores joins its lower
        neighbour, the first the second."""
        counts, name = self.scored_in.tolist(), list(range(self.n_strata))
        for h in range(self.n_strata - 1, 0, -1):
            if counts[h] < 2:
                counts[h - 1] += counts[h]
                name = [h - 1 if number == h else number for number in name]
        left = sorted(set(name))
        if len(left) > 1 and counts[0] < 2:
            name = [left[1] if number == 0 else number for number in name]
        if len(set(name)) == self.n_strata:
            return self
        codes = np.unique(name, return_inverse=True)[1]
        return replace(self, stratum=codes[self.stratum].astype(np.intp))

    def draws(self, degrees_of_freedom: float) -> StudentisedDraws | None:
        """Bootstrap distribution of θ̂, strata resampled each by itself; every stratum
        has at least two scores."""
        there = np.isfinite(self.scores)
        return stratified_draws(
            self.scores[there],
            self.stratum[there],
            self.sizes / self.n,
            degrees_of_freedom,
        )

    @property
    def skewness(self) -> float:
        """Of θ̂; every stratum has at least two scores."""
        there = np.isfinite(self.scores)
        return stratified_skewness(
            self.scores[there], self.stratum[there], self.sizes / self.n
        )

    def filled(self, value: float) -> StratifiedSample:
        """With every missing score of the sample at one value."""
        missing = self.selected & ~np.isfinite(self.scores)
        return replace(self, scores=np.where(missing, value, self.scores))

    def _sums(self, values: FloatArray) -> FloatArray:
        return np.bincount(
            self.stratum, weights=values, minlength=len(self.sizes)
        ).astype(np.float64)


def as_sample(
    scores: ArrayLike, stratum: ArrayLike, selected: ArrayLike
) -> StratifiedSample:
    """Checked arrays of N prompts.

    Raises:
        StatisticsError: shapes that do not fit, infinite scores, scores outside the
            sample, strata that are not numbered from 0 without gaps, none scored.
    """
    y = as_floats(scores, "scores")
    if y.ndim != 1 or not len(y):
        raise StatisticsError(
            "`scores` must be one-dimensional, with NaN for prompts that were not asked"
        )
    of, chosen = np.asarray(stratum), np.asarray(selected)
    check_length(len(of), len(y), "stratum")
    check_length(len(chosen), len(y), "selected")
    if of.dtype.kind not in "iu" or len(np.unique(of)) != of.max() + 1 or of.min() != 0:
        raise StatisticsError("`stratum` must number the strata from 0 without gaps")
    if chosen.dtype != bool:
        raise StatisticsError(f"`selected` must be true or false, found {chosen.dtype}")
    if np.isinf(y).any():
        raise StatisticsError(
            f"`scores` holds {int(np.isinf(y).sum())} infinite value(s); a missing "
            "score is NaN"
        )
    outside = int((np.isfinite(y) & ~chosen).sum())
    if outside:
        raise StatisticsError(
            f"{outside} scores are of prompts outside the sample; leave them out and "
            "count them"
        )
    if not np.isfinite(y).any():
        raise StatisticsError("no prompt of the sample has a score")
    return StratifiedSample(y, of.astype(np.intp), chosen)


#: Fewer prompts than this above, or at or below, the middle of the range: the interval
#: is kept wide.
FEW_OFF = 5

Ends = tuple[float, float]


@dataclass(frozen=True)
class Sampled:
    """What an interval is made of, scores rescaled to [0, 1] where they have bounds."""

    estimate: float  #: θ̂.
    variance: float | None  #: v of it; None where it is not defined.
    degrees_of_freedom: float  #: ν.
    scores: FloatArray  #: of the sample, shape (m,).
    n: int  #: prompts of the benchmark, N.
    finite: bool  #: whether the figure is that of these N prompts; else of others like them, or of other generations.
    #: bootstrap distribution of scores without bounds; None: Student's t alone.
    draws: StudentisedDraws | None = None

    @property
    def size(self) -> int:
        """m."""
        return len(self.scores)

    @property
    def is_zero_one(self) -> bool:
        """Every score is 0 or 1."""
        return bool(np.isin(self.scores, (0.0, 1.0)).all())

    @property
    def n_off(self) -> int:
        """k = min(#{y > ½}, #{y ≤ ½})."""
        above = int((self.scores > 0.5).sum())
        return min(above, self.size - above)

    @property
    def size_as_infinite(self) -> float:
        """n_0: prompts of a simple sample with replacement that would say as much."""
        if self.finite:
            return self.size / (1 - self.size / self.n)
        return float(self.size)


def bounded_interval(
    sample: Sampled, level: float
) -> tuple[Ends | None, float | None, str, str]:
    """Wilson's interval at an effective number of prompts, for scores in [0, 1].

    Returns:
        its ends, n_e, how it was computed, and why there is none.
    """
    if sample.finite and sample.size == sample.n:
        return (sample.estimate, sample.estimate), None, "all_prompts", ""
    if sample.size < LEAST:
        return None, None, "none", f"fewer than {LEAST} scored prompts"
    if sample.variance is None:
        return None, None, "none", "no stratum with two scored prompts"
    effective = _effective(sample, level)
    if effective is None:
        return (
            None,
            None,
            "none",
            "the sample has no variance, and the scores are not 0 and 1",
        )
    wilson = interval_wilson(sample.estimate * effective, effective, level=level)
    low, high, method = wilson.low, wilson.high, "wilson_subset"
    if sample.is_zero_one and sample.n_off < FEW_OFF:
        right = int(sample.scores.sum())
        if sample.finite:
            exact = hypergeometric_interval(right, sample.n, sample.size, level=level)
            method = "wilson_hypergeometric"
        else:
            binomial = interval_clopper_pearson(right, sample.size, level=level)
            exact, method = (binomial.low, binomial.high), "wilson_clopper_pearson"
        low, high = min(low, exact[0]), max(high, exact[1])
    return (low, high), effective, method, ""


def _effective(sample: Sampled, level: float) -> float | None:
    """n_e, None where there is none."""
    n_0 = sample.size_as_infinite
    spread = sample.estimate * (1 - sample.estimate)
    if not sample.variance or spread <= 0:
        if sample.is_zero_one:
            return n_0
        return None
    ratio = z_quantile(level) / t_quantile(level, sample.degrees_of_freedom)
    effective = spread / sample.variance * ratio**2
    if sample.n_off < FEW_OFF:
        return min(effective, n_0)
    return effective


def unbounded_interval(
    sample: Sampled, level: float
) -> tuple[Ends | None, float | None, str, str]:
    """The hull of Student's t, ν degrees of freedom, and bootstrap-t; returns what
    :func:`bounded_interval` does."""
    if sample.finite and sample.size == sample.n:
        return (sample.estimate, sample.estimate), None, "all_prompts", ""
    if sample.size < LEAST:
        return None, None, "none", f"fewer than {LEAST} scored prompts"
    if sample.variance is None:
        return None, None, "none", "no stratum with two scored prompts"
    if sample.variance == 0:
        return None, None, "none", "the sample has no variance"
    error = math.sqrt(sample.variance)
    ends = hull_ends(sample.draws, level)
    if ends is None:
        half = t_quantile(level, sample.degrees_of_freedom) * error
        return (sample.estimate - half, sample.estimate + half), None, "t_subset", ""
    return (
        (sample.estimate - ends[1] * error, sample.estimate - ends[0] * error),
        None,
        "hull_subset",
        "",
    )


def hull_ends(draws: StudentisedDraws | None, level: float) -> Ends | None:
    """Low and high of t (`StudentisedDraws.ends`); None without draws, or where too
    many resamples have no error."""
    if draws is None:
        return None
    low, high = draws.ends(level)
    if math.isfinite(high - low):
        return (low, high)
    return None


def hypergeometric_interval(
    successes: int, n: int, size: int, *, level: float = 0.95
) -> Ends:
    """Exact interval of the share of successes among N, from those in a simple sample
    of m.

    The successes K that neither tail of the hypergeometric distribution refuses at (1 −
    level)/2.

    Args:
        successes: in the sample, from 0 to ``size``.
        n: N.
        size: m, from 1 to ``n``.
        level: nominal coverage, in (0, 1).
    """
    least, most, tail = successes, n - (size - successes), (1 - level) / 2
    # P(X ≥ x) rises with K, P(X ≤ x) falls: each end is found by halving
    low = bisect(
        range(least, most + 1),
        False,
        key=lambda k: scipy.stats.hypergeom.sf(successes - 1, n, k, size) > tail,
    )
    high = bisect(
        range(least, most + 1),
        False,
        key=lambda k: scipy.stats.hypergeom.cdf(successes, n, k, size) <= tail,
    )
    return (least + low) / n, (least + high - 1) / n
