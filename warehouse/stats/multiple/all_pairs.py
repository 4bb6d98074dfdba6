"""All pairs of many models: differences, errors, and tests adjusted for their number
(statistics.md §2; Miller 2024 §4).

One sign for each cluster (each prompt, without clusters) multiplies the differences of
all pairs alike, so that the pairs keep their dependence; every draw studentises a pair
by its own s*, for which the weighted sum N_ab is taken off each unit by its share f_c.
This is done twice. With the null imposed (differences not centred) equal models are
kept together: where few prompts differ this is the test by sign flips. Tests go step by
step: a pair's |T| is held against the largest |T*| of the pairs whose |T| is no larger.
But where models differ by far, all pairs swing alike then, and intervals hold one at a
time only. So for intervals differences are centred too, and the larger critical value
counts.

Webb's weights told equal models apart in 10 to 19 % of samples in place of 5, with 0/1
scores of 8 to 15 prompts; an error held fixed over the draws in 6 to 9 %, with sparse
scores of 1 000 prompts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    TIE,
    FloatArray,
    as_level,
    as_score_matrix,
    as_seed,
    clusters_if_any,
    rejects,
)
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.quantiles import t_p_values, t_quantiles
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.multiple.adjust import benjamini_hochberg, holm
from warehouse.stats.multiple.max_t import Draws, MaxT, max_t_draws
from warehouse.stats.multiple.pair_moments import (
    IntArray,
    PairMoments,
    ScoreMatrix,
    centre,
    pair_moments,
)


@dataclass(frozen=True)
class AllPairs(NamedFigures):
    """Every pair of M models, first minus second, on the prompts that both have.

    Figures of pairs are arrays of shape (P,), P = M(M−1)/2, in the order of ``first``
    and ``second``; NaN where not defined, and then ``reasons`` says why.
    """

    n_models: int  #: M.
    level: float  #: of the simultaneous intervals; 1 − level is the size of the tests.
    higher_is_better: bool  #: direction of the scores.
    means: FloatArray  #: of each model over its own scored prompts, shape (M,).
    first: IntArray  #: number of the first model of each pair.
    second: IntArray  #: number of the second model, above ``first``.
    difference: FloatArray  #: mean of first − second over the common prompts.
    standard_error: FloatArray  #: CLT (Miller eq. 7), or CR2 with clusters; NaN where 0 or not defined.
    degrees_of_freedom: FloatArray  #: n − 1, or Satterthwaite's.
    correlation: FloatArray  #: Pearson's, over the common prompts.
    n_prompts: IntArray  #: common prompts.
    n_clusters: IntArray | None  #: clusters that hold one, None without clusters.
    statistic: FloatArray  #: difference / standard_error.
    p_value: FloatArray  #: two-sided, from Student's t.
    p_holm: FloatArray  #: Holm's adjustment over all pairs.
    p_bh: FloatArray  #: Benjamini and Hochberg's.
    #: from max-|T|, step by step with the null imposed (Romano and Wolf 2005): the
    #: share of draws, the sample among them, whose largest |T*| over this pair and
    #: those with a smaller |T| reaches |T|; never below ``p_value`` or that of a pair
    #: with a larger |T|. Holm's with ``places_by_holm``.
    p_step_down: FloatArray
    #: lower end of the interval difference ± c · CR1 error, or of the pair's own
    #: interval where that is wider.
    simultaneous_low: FloatArray
    simultaneous_high: FloatArray  #: upper end.
    #: the CR1 error (CLT without clusters) that max-|T| is scaled by.
    error_max_t: FloatArray
    #: c, for all pairs at once, of two ways to draw the larger
    #: (`warehouse.stats.multiple.all_pairs`); NaN without draws, infinite (and the
    #: intervals NaN) where there are too few units to tell any difference.
    critical_value: float
    critical_values: FloatArray  #: c of each model against all others, shape (M,).
    n_resamples: int  #: draws B, or all 2^G vectors of signs where they are no more than B + 1; 0: no max-|T|.
    exact: bool  #: whether these are all vectors of signs.
    seed: int  #: of the draws.
    reasons: tuple[str, ...]  #: why a pair has no error, ``""`` where it has.
    #: some models are over several training seeds: no max-|T|; simultaneous intervals
    #: are by Bonferroni.
    over_seeds: bool = False
    #: max-|T| says too little: ``p_step_down`` is Holm's p, and rank sets are of Holm's
    #: tests.
    places_by_holm: bool = False

    @property
    def p_max_t(self) -> FloatArray:
        """``p_step_down``, under its former name."""
        return self.p_step_down

    @property
    def differ(self) -> NDArray[np.bool_]:
        """Whether a pair differs significantly by Holm's test, shape (P,)."""
        return rejects(self.p_holm, 1 - self.level)

    def __len__(self) -> int:
        return len(self.first)

    def __str__(self) -> str:
        significant = int(np.sum(self.differ))
        if len(self) == 1:
            pairs = "1 pair"
        else:
            pairs = f"{len(self)} pairs"
        return (
            f"{self.n_models} models, {pairs}: {significant} differ "
            f"({100 * self.level:g} % family-wise, Holm)"
        )

    def square(self, name: str) -> FloatArray:
        """A figure of the pairs as a matrix, row minus column, shape (M, M), NaN on the
        diagonal.

        Differences, statistics and interval ends change sign with the order of the
        pair.
        """
        values = np.asarray(getattr(self, name), dtype=np.float64)
        turned = {"difference": -values, "statistic": -values}
        turned["simultaneous_low"] = -self.simultaneous_high
        turned["simultaneous_high"] = -self.simultaneous_low
        matrix = np.full((self.n_models, self.n_models), np.nan)
        matrix[self.first, self.second] = values
        matrix[self.second, self.first] = turned.get(name, values)
        return matrix


def all_pairs(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 0,
    higher_is_better: bool = True,
) -> AllPairs:
    """Paired differences of all models with one another, prompts sampled.

    Each pair uses the prompts that both models have a score on. Besides each pair's own
    t test come three adjustments for the number of pairs: Holm, Benjamini–Hochberg, and
    max-|T| by random signs that keep the pairs' dependence and give simultaneous
    intervals. Pairs whose differences are all equal have no error and are left out of
    the adjustments.

    Args:
        scores: mean score of each prompt and model, NaN where not scored, shape (n, M).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        level: nominal coverage of the simultaneous intervals, in (0, 1).
        n_resamples: draws of max-|T|; 0 leaves it out.
        seed: of the draws; the same figures for the same seed.
        higher_is_better: direction, for those who rank by the result.

    Raises:
        StatisticsError: for arguments out of range or misaligned, infinite scores, or
            too few draws for the level.

    Examples:
        >>> import numpy as np
        >>> scores = np.random.default_rng(1).normal([0, 0, 1], 1, (300, 3))
        >>> pairs = all_pairs(scores)
        >>> print(pairs)
        3 models, 3 pairs: 2 differ (95 % family-wise, Holm)
        >>> [tuple(pair) for pair in zip(pairs.first.tolist(), pairs.second.tolist())]
        [(0, 1), (0, 2), (1, 2)]
    """
    values, level = as_score_matrix(scores), as_level(level)
    groups = clusters_if_any(clusters, len(values))
    draws = Draws(_check_draws(n_resamples, level), as_seed(seed))
    matrix = centre(values, groups)
    with one_blas_thread():
        moments = pair_moments(matrix)
        drawn = max_t_draws(matrix, moments, draws)
    usable = moments.error > 0
    error = np.where(usable, moments.error, np.nan)
    statistic = moments.difference / error
    p = t_p_values(statistic, moments.degrees_of_freedom)
    return AllPairs(
        n_models=values.shape[1],
        level=level,
        higher_is_better=bool(higher_is_better),
        means=matrix.means,
        first=matrix.pairs[0],
        second=matrix.pairs[1],
        difference=moments.difference,
        standard_error=error,
        degrees_of_freedom=moments.degrees_of_freedom,
        correlation=moments.correlation,
        n_prompts=moments.n_prompts,
        n_clusters=None if groups is None else moments.n_units,
        statistic=statistic,
        p_value=p,
        p_holm=holm(p),
        p_bh=benjamini_hochberg(p),
        n_resamples=drawn.n_vectors if draws.n else 0,
        exact=drawn.exact,
        seed=draws.seed,
        reasons=_reasons(moments, clustered=groups is not None),
        **(_simultaneous(moments, drawn, p, level) | _few_clusters(matrix, draws, p)),
    )


def _few_clusters(matrix: ScoreMatrix, draws: Draws, p: FloatArray) -> dict[str, Any]:
    """Holm's p in place of the steps where signs of so few clusters reach no small p:
    all ranks are of one test."""
    if matrix.clusters is None or matrix.clusters.n > MOST_FOR_HOLM or not draws.n:
        return {}
    return {"p_step_down": holm(p), "places_by_holm": True}


def _check_draws(n: int, level: float) -> int:
    if n < 0 or (n and _rank_of_critical(n, level) > n):
        least = math.ceil(level / (1 - level))
        raise StatisticsError(
            f"`n_resamples` is {n}; a level of {level:g} needs at least {least} (0: no "
            "max-|T|)"
        )
    return int(n)


def _rank_of_critical(n_draws: int, level: float) -> int:
    """ceil(level · (B + 1)), with the rounding of the product taken off."""
    return math.ceil(level * (n_draws + 1) * (1 - 1e-14))


def _simultaneous(
    moments: PairMoments, drawn: MaxT, p: FloatArray, level: float
) -> dict[str, Any]:
    """Critical values, adjusted p and intervals from the draws, by field name.

    Of the two ways to draw, the larger critical value counts; no p is below that of the
    pair alone, and no interval narrower than its own.
    """
    error = np.where(moments.error_cr1 > 0, moments.error_cr1, np.nan)
    nothing = np.full_like(error, np.nan)
    columns: dict[str, Any] = {
        "error_max_t": error,
        "critical_value": math.nan,
        "p_step_down": nothing,
        "critical_values": np.full(drawn.largest.shape[1], np.nan),
        "simultaneous_low": nothing,
        "simultaneous_high": nothing,
    }
    if not drawn.n_vectors or np.isnan(error).all():
        return columns
    critical = _rank_of_critical(drawn.n_vectors - drawn.exact, level) - 1
    by_way: list[list[float]] = []
    for way in drawn.largest:
        by_way.append([np.partition(model, critical)[critical] for model in way])
    own = np.array(by_way).max(axis=0)
    largest = np.partition(drawn.largest.max(axis=1), critical)[:, critical].max()
    columns["p_step_down"] = np.maximum(drawn.p_step, p)
    columns["critical_values"] = np.where(own > 0, own, np.nan)
    columns["critical_value"] = c = float(largest)
    if math.isfinite(c):
        half = np.maximum(
            c * error, t_quantiles(level, moments.degrees_of_freedom) * moments.error
        )
        columns["simultaneous_low"] = moments.difference - half
        columns["simultaneous_high"] = moments.difference + half
    return columns


def _reasons(moments: PairMoments, clustered: bool) -> tuple[str, ...]:
    n, no_error = moments.n_prompts, ~(moments.error > 0)
    reasons = {
        "no common prompt": n == 0,
        "a single common prompt": n == 1,
        "a single cluster": clustered & (moments.n_units == 1),
        "the standard error is 0": clustered
        & no_error
        & (moments.correlation < 1 - TIE),  # clusters' sums alone agree
        "all differences are equal": no_error,
    }
    return tuple(np.select(list(reasons.values()), list(reasons), "").tolist())


#: Of so few clusters signs reach .0625 at the least.
MOST_FOR_HOLM = 5
