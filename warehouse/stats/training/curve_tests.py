"""What a curve along training shows: where it leaves chance, falls, crosses another,
and whether it rises at all.

Every family of tests is adjusted over the checkpoints by Holm (1979): statistics.md
asks for a correction over checkpoints and names none. Neighbouring checkpoints depend
on each other, which Holm allows.

Kendall's τ-b against the order of checkpoints, and how often a
curve that goes nowhere would look as if it rose (Madaan et al. 2024 §3.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    TIE,
    FloatArray,
    as_level,
    as_scores,
    as_seed,
    rejects,
)
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.training.seed_means import as_trajectory


def binomial_p_above(successes: float, n: int, chance: float) -> float:
    """P(X ≥ successes) of n independent answers that are right with probability
    ``chance``: the exact test of one run whose scores are 0 or 1.

    Args:
        successes: right answers, a whole number in [0, n].
        n: prompts, at least 1.
        chance: in [0, 1].
    """
    if not 0 <= chance <= 1 or not 0 <= successes <= n:
        raise StatisticsError(
            f"expected chance in [0, 1] and successes in [0, n], found {chance}, "
            f"{successes} of {n}"
        )
    if successes > 0:
        return float(special.bdtrc(successes - 1, n, chance))
    return 1.0


@dataclass(frozen=True)
class Departure(NamedFigures):
    """Which checkpoints are significant."""

    #: adjusted over the checkpoints that could be tested, NaN for the others.
    p_holm: tuple[float, ...]
    first: int | None  #: place of the first significant checkpoint; None without one.


def departure(p_values: ArrayLike, *, level: float = 0.95) -> Departure:
    """Where a curve leaves a line, from one-sided p-values by checkpoint
    (StatisticsError: a value outside [0, 1]).

    Args:
        p_values: in the order of training, NaN where there is no test, shape (T,).
        level: 1 − the chance of any false alarm over the curve, in (0, 1).
    """
    adjusted = holm(p_values)
    significant = np.flatnonzero(rejects(adjusted, 1 - as_level(level)))
    first = None
    if len(significant):
        first = int(significant[0])
    return Departure(tuple(adjusted.tolist()), first)


@dataclass(frozen=True)
class Crossing(NamedFigures):
    """Where the difference of two curves changes its sign."""

    #: last checkpoint at which the one is significantly ahead before the other first
    #: is: with probability ``level`` the true curves change places between ``low`` and
    #: ``high``. None where no change is shown.
    low: float | None
    high: float | None  #: first checkpoint at which the other is significantly ahead.
    #: between the two, where the sum of differences turns, interpolated linearly
    #: between neighbouring checkpoints; None where no change is shown.
    position: float | None
    ahead_before: int  #: +1 if the first curve is the higher one before, −1 if the second; 0 unknown.
    ahead_after: int  #: the same after.
    n_changes: int  #: significant changes; the first is shown.
    n_ahead: int  #: checkpoints at which the first is significantly the higher.
    n_behind: int  #: at which it is significantly the lower.
    p_holm: tuple[float, ...]  #: two-sided p by checkpoint, adjusted over checkpoints.
    level: float  #: in (0, 1).


def crossing(
    differences: ArrayLike,
    p_values: ArrayLike,
    positions: ArrayLike,
    *,
    level: float = 0.95,
) -> Crossing:
    """Where two curves cross (Madaan et al. 2024 §3.3), with an interval of the place.

    The interval is one of signs: between two checkpoints whose differences are
    significant with opposite signs (Holm over all checkpoints, two-sided) the true
    difference must change its sign, whatever the curves look like in between. It needs
    no model and no bootstrap, and its level holds also where the curves touch more than
    once.

    Args:
        differences: first curve minus second, finite, shape (T,).
        p_values: of each, two-sided, NaN where there is no test, shape (T,).
        positions: of the common checkpoints, strictly increasing, shape (T,).
        level: in (0, 1).

    Raises:
        StatisticsError: lengths that differ, or values that cannot be used.
    """
    d, u = as_trajectory(differences, positions)
    adjusted = holm(p_values)
    if adjusted.shape != d.shape:
        raise StatisticsError(
            f"`p_values` has {len(adjusted)} entries, expected one per checkpoint: "
            f"{len(d)}"
        )
    signs = np.where(rejects(adjusted, 1 - as_level(level)), np.sign(d), 0.0)
    nonzero = np.flatnonzero(signs)
    changes = np.flatnonzero(np.diff(signs[nonzero]))
    side = 0
    if len(nonzero):
        side = int(signs[nonzero[0]])
    none = Crossing(
        low=None,
        high=None,
        position=None,
        ahead_before=side,
        ahead_after=side,
        n_changes=0,
        n_ahead=int((signs > 0).sum()),
        n_behind=int((signs < 0).sum()),
        p_holm=tuple(adjusted.tolist()),
        level=level,
    )
    if not len(changes):
        return none
    left, right = int(nonzero[changes[0]]), int(nonzero[changes[0] + 1])
    between = slice(left, right + 1)
    return replace(
        none,
        low=float(u[left]),
        high=float(u[right]),
        position=_turning_point(d[between], u[between]),
        ahead_after=int(signs[right]),
        n_changes=len(changes),
    )


def _turning_point(d: FloatArray, u: FloatArray) -> float:
    """Where the sum of differences is at its extreme, between checkpoints of opposite
    signs."""
    d = d * math.copysign(1.0, -d[0])  # from below to above
    k = int(np.argmin(np.cumsum(d)[:-1]))
    step = d[k + 1] - d[k]
    share = 0.5
    if step > 0:
        share = -d[k] / step
    return float(u[k] + (u[k + 1] - u[k]) * share)


#: Seeds from which their signs are flipped, and checkpoints from which one curve is
#: tested.
FROM_SEEDS, FROM_CHECKPOINTS = 5, 8
#: p of the seeds' common path below which their mean curve is tested as one as well.
SHARED_PATH = 0.2
#: Sign vectors up to which all are tried.
EXACT = 1 << 16
#: Highest autocorrelation that the sieve supposes, and above which it may reach 10 %.
HIGHEST, WANDERING = 0.97, 0.9


def monotonicity_tau(scores: ArrayLike) -> float | None:
    """τ-b of one curve against an increasing sequence: concordant minus discordant
    pairs over sqrt of all pairs times those not tied; None for a constant curve.

    Args:
        scores: in the order of checkpoints, oriented so that higher is better, shape
            (T,).

    Raises:
        StatisticsError: scores that are not finite.
    """
    x = as_scores(scores)
    return kendall_tau(np.arange(len(x), dtype=np.float64), x)


def kendall_tau(x: FloatArray, y: FloatArray) -> float | None:
    """τ-b: concordant minus discordant pairs over sqrt of the pairs not tied in x times
    those not tied in y; None where one is constant.

    Args:
        x: finite, shape (n,).
        y: finite, shape (n,).
    """
    pairs = np.triu_indices(len(x), 1)
    of_x = np.sign(x[None, :] - x[:, None])[pairs]
    of_y = np.sign(y[None, :] - y[:, None])[pairs]
    untied = float(np.count_nonzero(of_x)) * float(np.count_nonzero(of_y))
    if untied:
        return float(of_x @ of_y) / math.sqrt(untied)
    return None


def monotonicity_spearman(scores: ArrayLike) -> float | None:
    """Spearman's correlation of a series with its order, ties at their mean rank; None
    where it is constant or has one value.

    Args:
        scores: in order, shape (T,).

    Raises:
        StatisticsError: scores that are not finite.
    """
    x = as_scores(scores, "scores")
    _, groups, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[groups]
    if len(counts) > 1:
        return float(np.corrcoef(ranks, np.arange(len(x)))[0, 1])
    return None


def relative_spread(scores: ArrayLike) -> float | None:
    """Standard deviation (ddof 0) of the last five checkpoints over the size of their
    mean; None for fewer checkpoints, or a mean of 0.

    Args:
        scores: of one run in the order of training, shape (T,).

    Raises:
        StatisticsError: scores that are not finite.
    """
    x = as_scores(scores, "scores")[-5:]
    mean = abs(float(x.mean()))
    if len(x) == 5 and mean > 0:
        return float(x.std()) / mean
    return None


@dataclass(frozen=True)
class Monotonicity(NamedFigures):
    """Does the score rise?"""

    tau: float | None  #: mean τ-b over seeds that are not constant; None without any.
    p_value: float | None  #: one-sided, of a rise; None where it cannot be told.
    #: ``sign_flip`` (seeds), ``ar1_sieve`` (one curve, or the mean of few seeds), or
    #: ``sign_flip_and_ar1_sieve``: the larger p of both, where seeds go up and down
    #: together.
    method: str
    n_seeds: int  #: seeds whose curve is not constant.
    n_checkpoints: int  #: of the longest curve.
    #: ``wandering_curve``: ρ above .9, a flat curve that wanders can reach 10 %.
    flags: tuple[str, ...]
    reason: str  #: why there is no p-value.


def monotonicity(
    curves: Sequence[ArrayLike], *, n_series: int = 999, seed: int = 0
) -> Monotonicity:
    """Monotonicity of one benchmark over seeds of one recipe.

    Args:
        curves: one per seed, scores in the order of checkpoints, oriented so that
            higher is better; below five usable seeds all on the same checkpoints, shape
            (T,) each.
        n_series: B, simulated series of the sieve, and sampled sign vectors above 2¹⁶.
        seed: of the random numbers, at least 0.

    Raises:
        StatisticsError: no curve, scores that are not finite, arguments out of range.
    """
    seed = as_seed(seed)
    if not len(curves) or n_series < 1:
        raise StatisticsError(
            f"at least one curve and one series are needed, found {len(curves)}, "
            f"{n_series}"
        )
    values = [
        as_scores(curve, f"curves[{index}]") for index, curve in enumerate(curves)
    ]
    longest = max(map(len, values))
    all_tau = [monotonicity_tau(x) for x in values]
    taus = np.array([tau for tau in all_tau if tau is not None])
    if not len(taus):
        return Monotonicity(None, None, "", 0, longest, (), "every curve is constant")
    plain = Monotonicity(
        float(taus.mean()), None, "", len(taus), longest, flags=(), reason=""
    )
    if len(taus) >= FROM_SEEDS:
        return _of_seeds(plain, taus, values, n_series, seed)
    return _of_one_curve(plain, values, n_series, seed)


def _of_seeds(
    plain: Monotonicity,
    taus: FloatArray,
    values: Sequence[FloatArray],
    n_series: int,
    seed: int,
) -> Monotonicity:
    """With the p of seeds that are enough to flip their signs."""
    p = _sign_flip(taus, n_series, seed)
    if not _share_a_path(values):
        return replace(plain, p_value=p, method="sign_flip")
    p_path, rho = _sieve(np.mean(values, axis=0), n_series, seed)
    return replace(
        plain,
        p_value=max(p, p_path),
        method="sign_flip_and_ar1_sieve",
        flags=flags_of(wandering_curve=rho > WANDERING),
    )


def _of_one_curve(
    plain: Monotonicity, values: Sequence[FloatArray], n_series: int, seed: int
) -> Monotonicity:
    """With the p of one curve, or of the mean of few seeds."""
    if len({len(x) for x in values}) > 1:
        return replace(
            plain,
            reason=(
                f"{plain.n_seeds} seeds with different checkpoints: {FROM_SEEDS} "
                "seeds, or the same checkpoints, are needed"
            ),
        )
    if plain.n_checkpoints < FROM_CHECKPOINTS:
        return replace(
            plain,
            reason=(
                f"{plain.n_checkpoints} checkpoints: a single curve needs "
                f"{FROM_CHECKPOINTS}"
            ),
        )
    mean_curve = np.mean(values, axis=0)
    if np.ptp(mean_curve) == 0:
        return replace(plain, reason="the mean curve is constant")
    p, rho = _sieve(mean_curve, n_series, seed)
    return replace(
        plain,
        p_value=p,
        method="ar1_sieve",
        flags=flags_of(wandering_curve=rho > WANDERING),
    )


def _share_a_path(curves: Sequence[FloatArray]) -> bool:
    """Whether the seeds of a recipe go up and down together beyond a straight line, by
    the F test of their checkpoints.

    y_st = a_s + c_t + e_st; checkpoints beyond the line: T − 2 degrees of freedom
    against (S − 1)(T − 1). Signs of whole seeds take these for independent: flat curves
    on one path were called rising in .36 to .46 (§1e e).
    """
    n_seeds, n = len(curves), len(curves[0])
    if n < FROM_CHECKPOINTS or any(len(curve) != n for curve in curves):
        return False
    table = np.array(curves) - np.mean(curves, axis=1, keepdims=True)
    middle = table.mean(axis=0)
    line = np.arange(n) - (n - 1) / 2
    beyond = middle - line * (line @ middle) / (line @ line)
    df_path, df_rest = n - 2, (n_seeds - 1) * (n - 1)
    rest = float(((table - middle) ** 2).sum()) / df_rest
    path = n_seeds * float(beyond @ beyond) / df_path
    if rest <= 0:
        return path > 0
    p_value = float(special.fdtrc(df_path, df_rest, path / rest))
    return p_value < SHARED_PATH


def _sign_flip(taus: FloatArray, n_sampled: int, seed: int) -> float:
    """Share of sign vectors with a sum of at least the observed one."""
    n = len(taus)
    least = taus.sum() - TIE * float(np.abs(taus).sum())
    if 1 << n <= EXACT:
        sums = np.zeros(1)
        for tau in taus:
            sums = np.concatenate([sums + tau, sums - tau])
        return float(np.mean(sums >= least))
    bits = np.random.default_rng(seed).integers(0, 2, size=(n_sampled, n))
    signs = bits * 2 - 1
    n_reached = np.count_nonzero(signs @ taus >= least)
    return float((1 + n_reached) / (1 + n_sampled))


def _sieve(x: FloatArray, n_series: int, seed: int) -> tuple[float, float]:
    """p and ρ against stationary Gaussian AR(1) series of the curve's autocorrelation."""
    n, d = len(x), x - x.mean()
    r = float(d[1:] @ d[:-1] / (d @ d))
    rho = min(max((n * r + 1) / (n - 3), 0.0), HIGHEST)
    noise = np.random.default_rng(seed).standard_normal((n_series, n))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / math.sqrt(1 - rho**2)
    for t in range(1, n):
        series[:, t] = rho * series[:, t - 1] + noise[:, t]
    observed = _rises(x[None])[0]
    n_reached = np.count_nonzero(_rises(series) >= observed)
    return float((1 + n_reached) / (1 + n_series)), rho


def _rises(series: FloatArray) -> FloatArray:
    """Rising minus falling pairs of each row."""
    total = np.zeros(len(series))
    for t in range(1, series.shape[1]):
        over_earlier = series[:, t : t + 1] - series[:, :t]
        total += np.sign(over_earlier).sum(axis=1)
    return total
