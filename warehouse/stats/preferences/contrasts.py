"""What strengths say: differences, intervals that hold together, ranks that may be (statistics.md §15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_level, as_seed
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.preferences.ballots import Ballots, IntArray
from warehouse.stats.preferences.errors import Errors, preference_errors
from warehouse.stats.preferences.fit import fit_preferences

N_DRAWS = 9999
NO_SPREAD = "the votes leave nothing that varies"
LOOSE = "one voter, or one prompt, alone holds it to the others"


@dataclass(frozen=True)
class Contrast(NamedFigures):
    """A sum of coefficients with its error."""

    estimate: float  #: in log-odds, as all else.
    standard_error: float | None  #: None with a reason.
    #: low, high: of the t interval.
    low: float | None
    high: float | None
    degrees_of_freedom: float | None  #: of it.
    p_value: float | None  #: of no difference, two-sided.
    largest: str  #: the part of the variance that was the largest: ``sum``, ``voters`` or ``prompts``.
    reason: str  #: why there is no error.


def contrasts(theta: FloatArray, errors: Errors, weights: FloatArray, *, level: float = 0.95) -> list[Contrast]:
    """Each row of ``weights`` times the coefficients, with its interval.

    Args:
        theta: coefficients, shape (d,).
        errors: theirs.
        weights: shape (m, d); those of strengths sum to 0, or stand for the mean of all models.
        level: of the intervals.
    """
    variances, largest = errors.variance(weights)
    found = []
    for estimate, variance, part in zip(weights @ theta, variances, largest, strict=True):
        error, df = float(np.sqrt(variance)), errors.degrees_of_freedom
        reason = errors.reason or (LOOSE if np.isnan(error) else "" if error > 1e-12 else NO_SPREAD)
        if reason or df is None:
            found.append(Contrast(float(estimate), None, None, None, None, None, "", reason))
            continue
        half = t_quantile(as_level(level), df) * error
        p = t_p_value(float(estimate) / error, df)
        ends = float(estimate) - half, float(estimate) + half
        found.append(Contrast(float(estimate), error, *ends, df, p, part, ""))
    return found


@dataclass(frozen=True, eq=False)
class Band:
    """Intervals of all differences that hold together, about as often as the level says."""

    critical_value: float | None  #: half of an interval over its standard error; None without errors.
    apart: NDArray[np.bool_]  #: whether the interval of a pair leaves 0 out, shape (M, M).
    #: rank_low, rank_high: the best and the worst rank that each model may have.
    rank_low: IntArray
    rank_high: IntArray


def simultaneous(
    strengths: FloatArray, errors: Errors, *, level: float = 0.95, n_draws: int = N_DRAWS, seed: int = 0
) -> Band:
    """The band of all pairs: the largest of |Z_a − Z_b| over its error, of normal draws with a common χ².

    Args:
        strengths: of the models, shape (M,).
        errors: theirs.
        level: of the band.
        n_draws: of the normal.
        seed: of the draws.
    """
    m = len(strengths)
    variances = errors.of_pairs(m)
    usable = variances > 1e-24
    critical = None
    if usable.any() and errors.degrees_of_freedom is not None:
        sigma = next(iter(errors.parts.values()))[:m, :m]  # the sum of both ways, or the only one
        values, vectors = np.linalg.eigh(sigma)
        rng = np.random.default_rng(as_seed(seed))
        drawn = rng.standard_normal((n_draws, m)) @ (vectors * np.sqrt(np.maximum(values, 0))).T
        degrees = errors.degrees_of_freedom
        drawn /= np.sqrt(rng.chisquare(degrees, n_draws) / degrees)[:, None]
        largest = _largest(
            np.ascontiguousarray(drawn.T), np.where(usable, 1 / np.sqrt(np.where(usable, variances, 1)), 0)
        )
        drawn_value = np.sort(largest)[min(n_draws, int(np.ceil(as_level(level) * (n_draws + 1) - 1e-9))) - 1]
        # never below a single interval's: the draws know the sum of both ways, of which a part may be the larger
        critical = max(float(drawn_value), t_quantile(level, degrees))
    ahead = strengths[:, None] - strengths[None]
    half = np.where(usable, (critical or 0) * np.sqrt(np.where(usable, variances, 1)), np.inf)
    better = ahead - half > 0
    return Band(critical, better | better.T, 1 + better.sum(axis=0), m - better.sum(axis=1))


def _largest(drawn: FloatArray, inverse_errors: FloatArray) -> FloatArray:
    """Of each draw the largest studentised difference; drawn has shape (M, B)."""
    best = np.zeros(drawn.shape[1])
    gap = np.empty_like(best)
    for a in range(len(drawn) - 1):
        for b in range(a + 1, len(drawn)):
            np.subtract(drawn[a], drawn[b], out=gap)
            np.abs(gap, out=gap)
            gap *= inverse_errors[a, b]
            np.maximum(best, gap, out=best)
    return best


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """Strengths by two judges of the same pairs, those of the first less those of the second."""

    contrasts: tuple[Contrast, ...]  #: one for each model.
    tau: float  #: Kendall's τ-b of the two; ``spearman`` of their ranks.
    spearman: float


def two_judges(
    votes: Ballots, by_second: NDArray[np.bool_], *, ties: str = "half", errors: str = "two_way", level: float = 0.95
) -> TwoJudges:
    """Fit two judges on the pairs (prompt and models) that both saw; who or what they have in common is one cluster.

    Args:
        votes: of both.
        by_second: which are of the second.
        ties: of the fits; ``errors``, not resampled; ``level`` of the intervals.
    """
    from scipy.stats import kendalltau, spearmanr

    keys = votes.prompts * votes.n_models**2 + votes.pairs
    both = np.intersect1d(keys[by_second], keys[~by_second])
    if not len(both):
        raise StatisticsError("the two judged no prompt and pair of models in common")
    fits = [fit_preferences(votes.subset(own & np.isin(keys, both)), ties=ties) for own in (~by_second, by_second)]
    m, variances = votes.n_models, preference_errors(*fits, method=errors)
    theta = np.concatenate([*(fit.strengths for fit in fits), *(fit.theta[m:] for fit in fits)])
    weights = np.eye(m, len(theta)) - np.eye(m, len(theta), m)
    a, b = (fit.strengths for fit in fits)
    return TwoJudges(
        tuple(contrasts(theta, variances, weights, level=level)),
        float(kendalltau(a, b).statistic),
        float(spearmanr(a, b).statistic),
    )
