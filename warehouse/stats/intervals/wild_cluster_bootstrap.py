"""Wild cluster bootstrap-t of a mean (Cameron, Gelbach and Miller 2008; Webb 2014).

The null is imposed: residuals are taken from μ0, each cluster's are multiplied by one Webb
weight ξ_c, and the mean of each such sample is studentised by its own CR1 error. With
E_c = D_c + n_c(s̄ − μ0) the sums of those residuals and N = Σ ξ_c E_c,

    t* = N / sqrt(G/(G−1) Σ (ξ_c E_c − f_c N)²),

which is a ratio of polynomials in μ0: seven sums per draw give it for every μ0 at once, so that
turning the test into an interval costs little (Roodman et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import TIE, FloatArray, as_clusters, as_level, as_scores, as_seed
from warehouse.stats.core.multipliers import webb_draws
from warehouse.stats.core.result_base import Figures
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.bootstrap import check_resamples

N_RESAMPLES = 9999
_DOUBLINGS = 40
_HALVINGS = 50
_BLOCK = 1 << 18  # weights at a time


@dataclass(frozen=True)
class WildBootstrapTest(Figures):
    """Wild cluster bootstrap test of H0: the mean is ``null``.

    Attributes:
        p_value: two-sided, (1 + #{|t*| >= |t|})/(1 + B).
        statistic: t, the distance of the mean from ``null`` in CR1 errors.
        mean: of the scores (or differences).
        null: μ0.
        n_prompts: n.
        n_clusters: G; without clusters each prompt is one.
        n_resamples: B.
    """

    p_value: float
    statistic: float
    mean: float
    null: float
    n_prompts: int
    n_clusters: int
    n_resamples: int

    def __str__(self) -> str:
        return (
            f"p={self.p_value:.3g} (wild cluster bootstrap, mean {self.mean:.4g} against"
            f" {self.null:.4g}, t={self.statistic:.4g}, G={self.n_clusters})"
        )


class _Draws(NamedTuple):
    """Sums over clusters of each draw: Σξ·{D, n, fD, fn} and Σξ²·{D², Dn, n²}, shape (B,)."""

    d: FloatArray
    n: FloatArray
    fd: FloatArray
    fn: FloatArray
    dd: FloatArray
    dn: FloatArray
    nn: FloatArray


@dataclass(frozen=True)
class WildBootstrap:
    """The draws of a wild bootstrap, ready for any μ0.

    Attributes:
        mean: s̄.
        error: its CR1 error, above 0.
        n_clusters: G.
        shares: Σ f_c².
        draws: sums of each draw.
    """

    mean: float
    error: float
    n_clusters: int
    shares: float
    draws: _Draws

    def statistics(self, null: float) -> FloatArray:
        """t* of each draw at μ0 = ``null``, infinite where its error is 0, shape (B,)."""
        w, shift = self.draws, self.mean - null
        total = w.d + shift * w.n
        spread = w.dd + 2 * shift * w.dn + shift * shift * w.nn
        cross = w.fd + shift * w.fn
        squares = spread - 2 * total * cross + total * total * self.shares
        scale = self.n_clusters / (self.n_clusters - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: FloatArray = total / np.sqrt(scale * np.maximum(squares, 0.0))
        ratios[np.isnan(ratios)] = 0.0
        return ratios

    def p_value(self, null: float) -> float:
        """Two-sided p of the mean being ``null``: (1 + #{|t*| >= |t|})/(1 + B)."""
        t = abs(self.mean - null) / self.error * (1 - TIE)  # equal weights give t itself
        larger = np.count_nonzero(np.abs(self.statistics(null)) >= t)
        return float((1 + larger) / (1 + len(self.draws.d)))


def wild_bootstrap_test(
    scores: ArrayLike,
    *,
    null: float = 0.0,
    clusters: ArrayLike | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> WildBootstrapTest | None:
    """Test of a mean, or of a mean paired difference, with few clusters.

    Args:
        scores: value of each prompt (a score, or a difference of two runs), shape (n,).
        null: μ0, the mean under the null hypothesis.
        clusters: cluster of each prompt, integers or strings, shape (n,); None: each its own.
        n_resamples: B, at least 100.
        seed: of the weights, at least 0.

    Returns:
        The test; None with one cluster, and where the clustered error is 0.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> labels = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
        >>> shifts = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
        >>> wild_bootstrap_test(shifts, clusters=labels).p_value < 0.05
        True
    """
    if not np.isfinite(null):
        raise StatisticsError(f"`null` must be a finite number, found {null}")
    sample = _sample(scores, clusters)
    prepared = wild_draws(sample, n_resamples, seed)
    if prepared is None:
        return None
    return WildBootstrapTest(
        p_value=prepared.p_value(null),
        statistic=(prepared.mean - null) / prepared.error,
        mean=prepared.mean,
        null=float(null),
        n_prompts=sample.n,
        n_clusters=prepared.n_clusters,
        n_resamples=int(n_resamples),
    )


def interval_wild_bootstrap(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """The μ0 that `wild_bootstrap_test` does not reject, by bisection with fixed weights.

    Arguments and errors as for `wild_bootstrap_test`.

    Args:
        scores: value of each prompt, shape (n,).
        clusters: cluster of each prompt, shape (n,); None: each its own.
        n_resamples: B, at least 100.
        level: nominal coverage, in (0, 1).
        seed: of the weights, at least 0.

    Returns:
        The interval; None with one cluster, where the clustered error is 0, and where no μ0
        however far is rejected (two or three clusters).
    """
    sample = _sample(scores, clusters)
    return wild_interval(sample, as_level(level), n_resamples, seed)


def wild_interval(sample: Sample, level: float, n_resamples: int, seed: int) -> Interval | None:
    """`interval_wild_bootstrap` for a described sample."""
    prepared = wild_draws(sample, n_resamples, seed)
    if prepared is None:
        return None
    alpha = 1 - level
    low, high = (_end(prepared, alpha, side * prepared.error) for side in (-1, 1))
    return None if low is None or high is None else Interval(low, high, level, "wild_bootstrap")


def wild_draws(sample: Sample, n_resamples: int, seed: int) -> WildBootstrap | None:
    """The draws for a sample; None with one cluster, and where the clustered error is 0."""
    check_resamples(n_resamples)
    seed = as_seed(seed)
    centred = sample.values - sample.mean
    if sample.clusters is None:
        sums, sizes, error = centred, np.ones(sample.n), sample.se_clt
    else:
        sums, sizes = sample.clusters.sums(centred), sample.clusters.sizes
        error = None if sample.robust is None else sample.robust.se_cr1
    if not error:
        return None
    shares = sizes / sizes.sum()
    return WildBootstrap(
        mean=sample.mean,
        error=error,
        n_clusters=len(sizes),
        shares=float((shares**2).sum()),
        draws=_draw(sums, sizes, shares, int(n_resamples), seed),
    )


def _draw(sums: FloatArray, sizes: FloatArray, shares: FloatArray, n_resamples: int, seed: int) -> _Draws:
    linear = np.column_stack([sums, sizes, shares * sums, shares * sizes])
    square = np.column_stack([sums * sums, sums * sizes, sizes * sizes])
    drawn = np.empty((n_resamples, 7))
    block = max(1, _BLOCK // len(sums))
    for rows, weights in webb_draws(len(sums), n_resamples, seed, block=block):
        drawn[rows, :4] = weights @ linear
        drawn[rows, 4:] = (weights * weights) @ square
    return _Draws(*np.ascontiguousarray(drawn.T))


def _end(prepared: WildBootstrap, alpha: float, step: float) -> float | None:
    """The mean at which p falls to alpha, going from the estimate in steps that double."""
    inside, outside = 0.0, step
    for _ in range(_DOUBLINGS):
        if prepared.p_value(prepared.mean + outside) <= alpha:
            break
        inside, outside = outside, 2 * outside
    else:
        return None
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if prepared.p_value(prepared.mean + middle) <= alpha:
            outside = middle
        else:
            inside = middle
    return prepared.mean + outside


def _sample(scores: ArrayLike, clusters: ArrayLike | None) -> Sample:
    values = as_scores(scores)
    return describe(values, None if clusters is None else as_clusters(clusters, len(values)))
