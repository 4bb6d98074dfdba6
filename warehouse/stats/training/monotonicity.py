"""Does a score rise in training? Kendall's τ-b against the order of checkpoints, and how often a
curve that goes nowhere would look as if it rose (Madaan et al. 2024 §3.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import TIE, FloatArray, as_scores, as_seed
from warehouse.stats.core.result_base import Figures

#: Seeds from which their signs are flipped, and checkpoints from which one curve is tested.
FROM_SEEDS, FROM_CHECKPOINTS = 5, 8
#: Sign vectors up to which all are tried.
EXACT = 1 << 16
#: Highest autocorrelation that the sieve supposes, and above which it may reach 10 %.
HIGHEST, WANDERING = 0.97, 0.9


def monotonicity_tau(scores: ArrayLike) -> float | None:
    """τ-b of one curve against an increasing sequence: concordant minus discordant pairs over
    sqrt of all pairs times those not tied; None for a constant curve.

    Args:
        scores: in the order of checkpoints, oriented so that higher is better, shape (T,).

    Raises:
        StatisticsError: scores that are not finite.
    """
    x = as_scores(scores)
    return kendall_tau(np.arange(len(x), dtype=np.float64), x)


def kendall_tau(x: FloatArray, y: FloatArray) -> float | None:
    """τ-b: concordant minus discordant pairs over sqrt of the pairs not tied in x times those not
    tied in y; None where one is constant.

    Args:
        x: finite, shape (n,).
        y: finite, shape (n,).
    """
    pairs = np.triu_indices(len(x), 1)
    of_x, of_y = (np.sign(z[None, :] - z[:, None])[pairs] for z in (x, y))
    untied = float(np.count_nonzero(of_x)) * float(np.count_nonzero(of_y))
    return float(of_x @ of_y) / math.sqrt(untied) if untied else None


@dataclass(frozen=True)
class Monotonicity(Figures):
    """Does the score rise?

    Attributes:
        tau: mean τ-b over seeds that are not constant; None without any.
        tau_standard_deviation: over seeds, ddof 1; None below 2.
        p_value: one-sided, of a rise; None where it cannot be told.
        method: ``sign_flip`` (seeds), ``ar1_sieve`` (one curve, or the mean of few seeds).
        n_seeds: seeds whose curve is not constant.
        n_checkpoints: of the longest curve.
        autocorrelation: ρ that the sieve supposes; None for sign flips.
        flags: ``wandering_curve``: ρ above .9, a flat curve that wanders can reach 10 %.
        reason: why there is no p-value.
    """

    tau: float | None
    tau_standard_deviation: float | None
    p_value: float | None
    method: str
    n_seeds: int
    n_checkpoints: int
    autocorrelation: float | None
    flags: tuple[str, ...]
    reason: str


def monotonicity(curves: Sequence[ArrayLike], *, n_series: int = 999, seed: int = 0) -> Monotonicity:
    """Monotonicity of one benchmark over seeds of one recipe.

    Args:
        curves: one per seed, scores in the order of checkpoints, oriented so that higher is
            better; below five usable seeds all on the same checkpoints, shape (T,) each.
        n_series: B, simulated series of the sieve, and sampled sign vectors above 2¹⁶.
        seed: of the random numbers, at least 0.

    Raises:
        StatisticsError: no curve, scores that are not finite, arguments out of range.
    """
    seed = as_seed(seed)
    if not len(curves) or n_series < 1:
        raise StatisticsError(f"at least one curve and one series are needed, found {len(curves)}, {n_series}")
    values = [as_scores(curve, f"curves[{place}]") for place, curve in enumerate(curves)]
    longest = max(map(len, values))
    all_tau = [monotonicity_tau(x) for x in values]
    taus = np.array([tau for tau in all_tau if tau is not None])
    if not len(taus):
        return Monotonicity(None, None, None, "", 0, longest, None, (), "every curve is constant")
    mean, spread = float(taus.mean()), float(np.std(taus, ddof=1)) if len(taus) > 1 else None
    if len(taus) >= FROM_SEEDS:
        p = _sign_flip(taus, n_series, seed)
        return Monotonicity(mean, spread, p, "sign_flip", len(taus), longest, None, (), "")
    reason = ""
    if len({len(x) for x in values}) > 1:
        reason = (
            f"{len(taus)} seeds with different checkpoints: {FROM_SEEDS} seeds, or the same checkpoints, are needed"
        )
    elif longest < FROM_CHECKPOINTS:
        reason = f"{longest} checkpoints: a single curve needs {FROM_CHECKPOINTS}"
    middle = np.mean(values, axis=0) if not reason else values[0]
    if not reason and np.ptp(middle) == 0:
        reason = "the mean curve is constant"
    if reason:
        return Monotonicity(mean, spread, None, "", len(taus), longest, None, (), reason)
    p, rho = _sieve(middle, n_series, seed)
    flags = ("wandering_curve",) if rho > WANDERING else ()
    return Monotonicity(mean, spread, p, "ar1_sieve", len(taus), longest, rho, flags, "")


def _sign_flip(taus: FloatArray, n_sampled: int, seed: int) -> float:
    """Share of sign vectors with a sum of at least the observed one."""
    n, room = len(taus), TIE * float(np.abs(taus).sum())
    if 1 << n <= EXACT:
        sums = np.zeros(1)
        for tau in taus:
            sums = np.concatenate([sums + tau, sums - tau])
        return float(np.mean(sums >= taus.sum() - room))
    draws = np.random.default_rng(seed).integers(0, 2, size=(n_sampled, n)) * 2 - 1
    return float((1 + np.count_nonzero(draws @ taus >= taus.sum() - room)) / (1 + n_sampled))


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
    return float((1 + np.count_nonzero(_rises(series) >= observed)) / (1 + n_series)), rho


def _rises(series: FloatArray) -> FloatArray:
    """Rising minus falling pairs of each row."""
    total = np.zeros(len(series))
    for t in range(1, series.shape[1]):
        total += np.sign(series[:, t : t + 1] - series[:, :t]).sum(axis=1)
    return total
