"""What a pair's own test says where Student's t of plain differences is not it: weights, no bounds.

`all_pairs` works with one matrix of figures and the errors of plain means. Here each pair gets the
error and p of `paired_difference`, and the adjustments for the number of pairs follow from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import ROUNDING, Clusters, FloatArray, deviations
from warehouse.stats.core.quantiles import t_p_values, t_quantiles
from warehouse.stats.intervals.bootstrap_t import FEWEST_UNITS, StudentisedDraws, grouped, studentised
from warehouse.stats.intervals.standard_errors import unit_weights
from warehouse.stats.multiple.adjust import benjamini_hochberg, holm
from warehouse.stats.multiple.all_pairs import AllPairs

_ENTRIES = 1 << 22  # of the largest temporary array
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class PairTests:
    """The test of each pair alone, shape (P,) each; NaN where there is none."""

    error: FloatArray  #: standard error of the difference.
    degrees_of_freedom: FloatArray  #: of ``error``.
    p_value: FloatArray  #: two-sided.
    low: FloatArray  #: lower end of the pair's own interval.
    high: FloatArray  #: upper end.


def with_own_tests(pairs: AllPairs, tests: PairTests) -> AllPairs:
    """All pairs with the error and p of each pair's own test; nothing adjusted says more than it does."""
    with np.errstate(invalid="ignore"):
        statistic = pairs.difference / tests.error
        half = pairs.critical_value * tests.error if math.isfinite(pairs.critical_value) else np.nan
        low = np.minimum(np.minimum(pairs.simultaneous_low, pairs.difference - half), tests.low)
        high = np.maximum(np.maximum(pairs.simultaneous_high, pairs.difference + half), tests.high)
    return replace(
        pairs,
        standard_error=tests.error,
        degrees_of_freedom=tests.degrees_of_freedom,
        statistic=statistic,
        p_value=tests.p_value,
        p_holm=holm(tests.p_value),
        p_bh=benjamini_hochberg(tests.p_value),
        p_step_down=np.maximum(pairs.p_step_down, tests.p_value),
        simultaneous_low=low,
        simultaneous_high=high,
    )


def weighted_tests(figures: FloatArray, weights: FloatArray, clusters: Clusters | None, pairs: AllPairs) -> PairTests:
    """Tests of differences of weighted means: squared error Σ (u_a − u_b)², the smaller ν (see `paired`).

    Args:
        figures: linearised scores of M models, all scored, shape (n, M).
        weights: of each prompt in each model, shape (n, M).
        clusters: of the prompts, or None.
        pairs: of these figures.
    """
    n, m = figures.shape
    by_model = [unit_weights(weights[:, model], clusters) for model in range(m)]
    centred = [deviations(figures[:, model]) / n for model in range(m)]
    totals = centred if clusters is None else [clusters.sums(own) for own in centred]
    pulls = np.array([own.pulls(sums) for own, sums in zip(by_model, totals, strict=True)])
    freedoms = np.array([own.degrees_of_freedom or np.nan for own in by_model])
    a, b = pairs.first, pairs.second
    error = np.concatenate([np.linalg.norm(pulls[a[some]] - pulls[b[some]], axis=1) for some in _blocks(a, n)])
    error = np.where(np.isfinite(pairs.standard_error), error, np.nan)
    df = np.fmin(freedoms[a], freedoms[b])
    with np.errstate(invalid="ignore"):
        reach = t_quantiles(pairs.level, df) * error
        p = t_p_values(pairs.difference / error, df)
    return PairTests(error, df, p, pairs.difference - reach, pairs.difference + reach)


def hull_tests(scores: FloatArray, clusters: Clusters | None, pairs: AllPairs) -> PairTests:
    """Tests of differences of scores without bounds: of Student's t and bootstrap-t the more careful.

    Args:
        scores: of M models, NaN where not scored, shape (n, M).
        clusters: of the prompts, or None.
        pairs: of these scores; their seed is that of the bootstrap.
    """
    p, df = pairs.p_value.copy(), pairs.degrees_of_freedom
    reach = t_quantiles(pairs.level, df)
    low, high = -reach, reach
    scores, clusters, sizes = _as_groups(scores, clusters, pairs.seed)
    for some in _blocks(pairs.first, len(scores)):
        totals, own_sizes = _totals(scores, clusters, sizes, pairs.first[some], pairs.second[some])
        if totals.shape[1] < FEWEST_UNITS:
            continue
        draws = np.sort(studentised(totals, own_sizes, pairs.seed), axis=0)
        enough = np.full(len(some), totals.shape[1]) if own_sizes is None else np.count_nonzero(own_sizes, axis=1)
        for column, pair in enumerate(some):
            if enough[column] < FEWEST_UNITS or not np.isfinite(pairs.statistic[pair]):
                continue
            own = StudentisedDraws(draws[:, column], float(df[pair]))
            p[pair] = own.p_value(float(pairs.statistic[pair]))
            low[pair], high[pair] = own.ends(pairs.level)
    error = pairs.standard_error
    with np.errstate(invalid="ignore"):
        return PairTests(error, df, p, pairs.difference - high * error, pairs.difference - low * error)


def _blocks(pairs: Indices, n: int) -> Iterator[Indices]:
    step = max(1, _ENTRIES // max(1, n))
    for start in range(0, len(pairs), step):
        yield np.arange(start, min(start + step, len(pairs)))


def _as_groups(
    scores: FloatArray, clusters: Clusters | None, seed: int
) -> tuple[FloatArray, Clusters | None, FloatArray | None]:
    """Many complete scores as the deviations of the groups that the bootstrap makes of them, with their sizes:
    the sums of each model once, and not those of each pair."""
    if clusters is not None or np.isnan(scores).any():
        return scores, clusters, None
    sums, sizes = grouped((scores - scores.mean(axis=0)).T, None, seed)
    return sums.T, None, None if sizes is None else sizes[0]


def _totals(
    scores: FloatArray, clusters: Clusters | None, sizes: FloatArray | None, a: Indices, b: Indices
) -> tuple[FloatArray, FloatArray | None]:
    """Deviations of the differences by unit and prompts of each unit, one row a pair."""
    if sizes is not None:
        totals = (scores[:, a] - scores[:, b]).T
        return totals, np.broadcast_to(sizes, totals.shape)
    d = (scores[:, a] - scores[:, b]).T
    scored = np.isfinite(d)
    n = scored.sum(axis=1, keepdims=True)
    d = np.where(scored, d, 0.0)
    d = np.where(scored, d - d.sum(axis=1, keepdims=True) / np.maximum(n, 1), 0.0)
    d[np.abs(d).max(axis=1) <= ROUNDING * np.nanmax(np.abs(scores), initial=0.0)] = 0.0
    if clusters is None:
        return d, None if scored.all() else scored.astype(np.float64)
    from scipy.sparse import csr_matrix  # takes a while

    member = csr_matrix((np.ones(len(scores)), (clusters.codes, np.arange(len(scores)))))
    return (member @ d.T).T, (member @ scored.T.astype(np.float64)).T
