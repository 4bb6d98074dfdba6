"""The interval of a mean over a finite benchmark that a subset of its prompts gives."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass

import numpy as np
import scipy

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.intervals.closed_form import interval_clopper_pearson, interval_wilson

#: Fewer scored prompts than this: no interval; than that: a flag.
LEAST, FEW = 8, 25
#: Fewer prompts than this above, or at or below, the middle of the range: the interval is kept wide.
FEW_OFF = 5

Ends = tuple[float, float]


@dataclass(frozen=True)
class Sampled:
    """What an interval is made of, scores rescaled to [0, 1] where they have bounds.

    Attributes:
        estimate: θ̂.
        variance: v of it; None where it is not defined.
        degrees_of_freedom: ν.
        scores: of the sample, shape (m,).
        n: prompts of the benchmark, N.
        finite: whether the figure is that of these N prompts; else of others like them, or of other
            generations.
    """

    estimate: float
    variance: float | None
    degrees_of_freedom: float
    scores: FloatArray
    n: int
    finite: bool

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
        return self.size / (1 - self.size / self.n) if self.finite else float(self.size)


def bounded_interval(sample: Sampled, level: float) -> tuple[Ends | None, float | None, str, str]:
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
        return None, None, "none", "the sample has no variance, and the scores are not 0 and 1"
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
        return n_0 if sample.is_zero_one else None
    ratio = z_quantile(level) / t_quantile(level, sample.degrees_of_freedom)
    effective = spread / sample.variance * ratio**2
    return min(effective, n_0) if sample.n_off < FEW_OFF else effective


def unbounded_interval(sample: Sampled, level: float) -> tuple[Ends | None, float | None, str, str]:
    """Student's t with ν degrees of freedom; returns what :func:`bounded_interval` does."""
    if sample.finite and sample.size == sample.n:
        return (sample.estimate, sample.estimate), None, "all_prompts", ""
    if sample.size < LEAST:
        return None, None, "none", f"fewer than {LEAST} scored prompts"
    if sample.variance is None:
        return None, None, "none", "no stratum with two scored prompts"
    if sample.variance == 0:
        return None, None, "none", "the sample has no variance"
    half = t_quantile(level, sample.degrees_of_freedom) * math.sqrt(sample.variance)
    return (sample.estimate - half, sample.estimate + half), None, "t_subset", ""


def hypergeometric_interval(successes: int, n: int, size: int, *, level: float = 0.95) -> Ends:
    """Exact interval of the share of successes among N, from those in a simple sample of m.

    The successes K that neither tail of the hypergeometric distribution refuses at (1 − level)/2.

    Args:
        successes: in the sample, from 0 to ``size``.
        n: N.
        size: m, from 1 to ``n``.
        level: nominal coverage, in (0, 1).
    """
    least, most, tail = successes, n - (size - successes), (1 - level) / 2
    # P(X ≥ x) rises with K, P(X ≤ x) falls: each end is found by halving
    low = bisect(
        range(least, most + 1), False, key=lambda k: scipy.stats.hypergeom.sf(successes - 1, n, k, size) > tail
    )
    high = bisect(range(least, most + 1), False, key=lambda k: scipy.stats.hypergeom.cdf(successes, n, k, size) <= tail)
    return (least + low) / n, (least + high - 1) / n
