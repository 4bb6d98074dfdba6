"""Bootstrap-t of all pairs at once, step by step, for scores without bounds
(statistics.md §1e b).

Random signs take the differences of two models for symmetric. Where one model's scores
are skewed and the other's are not they are not, and six models of one mean are told
apart in .19 of samples in place of .05, whatever the p of each pair alone. Resampled
units, the same for all pairs, keep both the skew and the dependence of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import ROUNDING, TIE, Clusters, FloatArray
from warehouse.stats.intervals.bootstrap_t import (
    FEWEST_UNITS,
    grouped,
    jointly_studentised,
)
from warehouse.stats.multiple.all_pairs import AllPairs

#: Resamples of all pairs together.
N_JOINT = 399
#: With fewer units (prompts, or clusters) the steps still reject too often (.08 at 60):
#: there Holm's p count.
FEWEST_FOR_STEPS = 100
_ENTRIES = 1 << 22  # of the largest temporary array
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class JointSteps:
    """What resamples of all pairs together say."""

    #: share of resamples, the sample among them, whose largest |t*| over this pair and
    #: those with a smaller |T| reaches |T|; no smaller than that of a pair with a
    #: larger |T|; NaN for a pair without an error, shape (P,).
    p_step: FloatArray
    largest: FloatArray  #: the largest |t*| of the pairs that each model is in, shape (M, B).
    n_units: int  #: units of the pair, of those tested, that has the fewest.

    def critical_values(self, level: float) -> FloatArray:
        """What the largest |t*| of each model reaches in 1 − level of the resamples,
        shape (M,)."""
        return self._critical(self.largest, level)

    def critical_value(self, level: float) -> float:
        """The same over all pairs."""
        return float(self._critical(self.largest.max(axis=0)[None], level)[0])

    def _critical(self, largest: FloatArray, level: float) -> FloatArray:
        n = largest.shape[1]
        place = min(math.ceil(level * (n + 1) * (1 - 1e-14)), n)
        return np.partition(largest, place - 1, axis=1)[:, place - 1]


def joint_steps(
    scores: FloatArray, clusters: Clusters | None, pairs: AllPairs
) -> JointSteps | None:
    """The joint bootstrap-t of pairs; None where none has an error. Of too few units to
    be resampled p is NaN.

    Args:
        scores: of M models, NaN where not scored, shape (n, M).
        clusters: of the prompts, or None.
        pairs: of these scores; their seed is that of the resamples.
    """
    tested = np.flatnonzero(pairs.error_max_t > 0)
    scores, clusters, sizes = as_groups(scores, clusters, pairs.seed)
    units = pairs.n_prompts
    if pairs.n_clusters is not None:
        units = pairs.n_clusters
    most = len(scores)
    if clusters is not None:
        most = clusters.n
    fewest = int(units[tested].min(initial=most))
    if not len(tested):
        return None
    largest = np.zeros((pairs.n_models, N_JOINT))
    p = np.full(len(pairs), np.nan)
    if fewest < FEWEST_UNITS:  # Holm's p alone
        return JointSteps(p, largest, fewest)
    reach = np.abs(pairs.difference[tested] / pairs.error_max_t[tested])
    ascending = tested[np.argsort(reach, kind="stable")]
    running = np.zeros(N_JOINT)
    for some in blocks(ascending, len(scores)):
        totals, own_sizes = unit_totals(
            scores, clusters, sizes, pairs.first[some], pairs.second[some]
        )
        draws = np.abs(jointly_studentised(totals, own_sizes, pairs.seed, N_JOINT)).T
        for pair, own in zip(some.tolist(), draws, strict=True):
            first, second = pairs.first[pair], pairs.second[pair]
            np.maximum(largest[first], own, out=largest[first])
            np.maximum(largest[second], own, out=largest[second])
            np.maximum(running, own, out=running)
            statistic = abs(pairs.difference[pair] / pairs.error_max_t[pair])
            n_reached = np.count_nonzero(running >= statistic * (1 - TIE))
            p[pair] = (1 + n_reached) / (N_JOINT + 1)
    p[ascending] = np.maximum.accumulate(p[ascending][::-1])[::-1]
    return JointSteps(p, largest, fewest)


def blocks(pairs: Indices, n: int) -> Iterator[Indices]:
    """Pairs, so many at a time as memory allows.

    Args:
        pairs: their numbers.
        n: prompts.
    """
    step = max(1, _ENTRIES // max(1, n))
    for start in range(0, len(pairs), step):
        yield pairs[start : start + step]


def as_groups(
    scores: FloatArray, clusters: Clusters | None, seed: int
) -> tuple[FloatArray, Clusters | None, FloatArray | None]:
    """Many complete scores as the deviations of the groups that the bootstrap makes of
    them, with their sizes: the sums of each model once, and not those of each pair."""
    if clusters is not None or np.isnan(scores).any():
        return scores, clusters, None
    sums, sizes = grouped((scores - scores.mean(axis=0)).T, None, seed)
    if sizes is None:
        return sums.T, None, None
    return sums.T, None, sizes[0]


def unit_totals(
    scores: FloatArray,
    clusters: Clusters | None,
    sizes: FloatArray | None,
    a: Indices,
    b: Indices,
) -> tuple[FloatArray, FloatArray | None]:
    """Deviations of the differences by unit and prompts of each unit, one row a pair.

    Args:
        scores, clusters, sizes: from `as_groups`.
        a: first model of each pair, shape (p,).
        b: the second.
    """
    d = (scores[:, a] - scores[:, b]).T
    if sizes is not None:
        return d, np.broadcast_to(sizes, d.shape)
    scored = np.isfinite(d)
    n = scored.sum(axis=1, keepdims=True)
    d = np.where(scored, d, 0.0)
    means = d.sum(axis=1, keepdims=True) / np.maximum(n, 1)
    d = np.where(scored, d - means, 0.0)
    rounding = ROUNDING * np.nanmax(np.abs(scores), initial=0.0)
    d[np.abs(d).max(axis=1) <= rounding] = 0.0
    if clusters is not None:
        member = _members(clusters)
        return (member @ d.T).T, (member @ scored.T.astype(np.float64)).T
    if scored.all():
        return d, None
    return d, scored.astype(np.float64)


def _members(clusters: Clusters) -> Any:
    """1 where a prompt (column) is in a cluster (row), sparse."""
    from scipy.sparse import csr_matrix  # takes a while

    n = len(clusters.codes)
    return csr_matrix((np.ones(n), (clusters.codes, np.arange(n))))
