"""The point: three factors by thirty sweeps (statistics.md §24 A).

z_ij = x_iᵀt_j + e_ij with x_i = (1, f_i), f_i ~ N(0, I), t_j = (μ_j, λ_j) ~ N(m, S);
e_ij of variance (ψ_j + κ_ij)/u_ij, u_ij that of a t with 8 degrees of freedom, and 1/ψ_j
~ Γ(2.5, b). Models and benchmarks are kept as means with covariances, each found from
the other's; thirty sweeps by definition, without a rule of stopping.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warehouse.stats.completion.start import one_factor
from warehouse.stats.completion.table import Table
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.scale_steps import Parameters

#: Factors r, and sweeps.
FACTORS, SWEEPS = 3, 30
#: Covariance that a benchmark begins with, and what is added to that of all.
FIRST_SPREAD = 0.05
#: Degrees of freedom of the errors, and shape of the precisions' distribution.
TAILS, SHAPE = 8.0, 2.5
#: Of the distribution of the benchmarks: scale added to its covariance, and its weight.
_SPREAD_PRIOR, _SPREAD_WEIGHT = 0.2, 2.0


@dataclass(frozen=True, eq=False)
class Factors:
    """Models and benchmarks as a sweep left them."""

    f: FloatArray  #: means of the models, shape (M, r).
    f_cov: FloatArray  #: F, their covariances, shape (M, r, r).
    t: FloatArray  #: means of the benchmarks (μ, λ), shape (J, r + 1).
    t_cov: FloatArray  #: C, their covariances, shape (J, r + 1, r + 1).
    precision: FloatArray  #: τ = 1/ψ, shape (J,).
    centre: FloatArray  #: m, mean of the benchmarks' distribution, shape (r + 1,).
    spread: FloatArray  #: S, its covariance.
    rate: float  #: b of the precisions' distribution.
    tails: FloatArray  #: u of each figure, shape (M, J).
    weights: FloatArray  #: P of each figure in the last sweep, 0 where absent.

    @property
    def x(self) -> FloatArray:
        """(1, f) of each model, shape (M, r + 1)."""
        return np.column_stack([np.ones(len(self.f)), self.f])

    @property
    def means(self) -> FloatArray:
        """xᵀt of every cell, in logits, shape (M, J)."""
        means: FloatArray = self.x @ self.t.T
        return means

    @property
    def loadings(self) -> FloatArray:
        """λ of each benchmark, shape (J, r)."""
        return self.t[:, 1:]

    @property
    def unexplained(self) -> FloatArray:
        """ψ of each benchmark."""
        unexplained: FloatArray = 1 / self.precision
        return unexplained

    def squares(self) -> FloatArray:
        """E of each model, the mean of xxᵀ, shape (M, r + 1, r + 1)."""
        squares = _outer(self.x)
        squares[:, 1:, 1:] += self.f_cov
        return squares

    def own_variances(self) -> FloatArray:
        """tr(EC) + λᵀFλ of every cell: the variance of its mean as sweeps see it."""
        width = self.t.shape[1]
        of_squares = self.squares().reshape(-1, width**2)
        variances: FloatArray = of_squares @ self.t_cov.reshape(-1, width**2).T
        loadings = _outer(self.loadings).reshape(len(self.t), -1)
        variances += self.f_cov.reshape(len(self.f), -1) @ loadings.T
        return variances


def fitted_factors(
    table: Table, sweeps: int = SWEEPS, factors: int = FACTORS
) -> Factors:
    """The factors after so many sweeps from the start.

    Args:
        table: of which each benchmark has a figure.
        sweeps: that are made.
        factors: r.
    """
    now = _begun(table, one_factor(table), factors)
    for _ in range(sweeps):
        now = swept(table, now)
    return now


def _begun(table: Table, start: Parameters, factors: int) -> Factors:
    """One factor of the start, the others from what it leaves."""
    count, width = table.shape
    theta, a = start.theta, np.exp(start.log_a)
    t = np.zeros((width, factors + 1))
    t[:, 0] = start.d + a * theta.mean()
    t[:, 1] = a * theta.std()
    left = table.logits - (start.d + np.outer(theta, a))
    _, singular, right = np.linalg.svd(np.where(table.has, left, 0), False)
    more = min(factors - 1, len(singular))
    t[:, 2 : 2 + more] = (singular[:more, None] * right[:more] / np.sqrt(count)).T
    eye = np.eye(factors + 1)
    return Factors(
        f=np.zeros((count, factors)),
        f_cov=np.broadcast_to(np.eye(factors), (count, factors, factors)),
        t=t,
        t_cov=np.broadcast_to(FIRST_SPREAD * eye, (width, *eye.shape)),
        precision=np.full(width, 1 / start.variance),
        centre=t.mean(axis=0),
        spread=np.cov(t.T, ddof=0) + FIRST_SPREAD * eye,
        rate=SHAPE * start.variance,
        tails=np.ones(table.shape),
        weights=np.zeros(table.shape),
    )


def swept(table: Table, now: Factors) -> Factors:
    """The factors after one more sweep."""
    known_share = 1 / (1 + now.precision * table.known)
    weights = np.where(table.has, now.tails * known_share * now.precision, 0)
    now = replace(now, weights=weights)
    now = _standardised(_models(table, now))
    now = _benchmarks(table, now)
    return _precisions(table, now, known_share)


def _models(table: Table, now: Factors) -> Factors:
    """f and F of each model, given the benchmarks."""
    loadings, factors = now.loadings, now.f.shape[1]
    moments = _outer(loadings) + now.t_cov[:, 1:, 1:]
    summed = now.weights @ moments.reshape(len(now.t), -1)
    information = np.eye(factors) + summed.reshape(-1, factors, factors)
    f_cov = _inverses(information)
    centred = now.weights * (table.logits - now.t[:, 0])
    right = centred @ loadings - now.weights @ now.t_cov[:, 1:, 0]
    return replace(now, f=_applied(f_cov, right), f_cov=f_cov)


def _standardised(now: Factors) -> Factors:
    """Models of mean 0 and covariance I, the benchmarks' distribution turned with
    them."""
    centre = now.f.mean(axis=0)
    away = now.f - centre
    root = np.linalg.cholesky(away.T @ away / len(away) + now.f_cov.mean(axis=0))
    back = np.linalg.inv(root)
    turned = np.eye(len(now.centre))
    turned[0, 1:] = centre
    turned[1:, 1:] = root.T
    return replace(
        now,
        f=away @ back.T,
        f_cov=back @ now.f_cov @ back.T,
        centre=turned @ now.centre,
        spread=turned @ now.spread @ turned.T,
    )


def _benchmarks(table: Table, now: Factors) -> Factors:
    """t and C of each benchmark given the models, and their distribution."""
    width, size = now.t.shape
    prior = np.linalg.inv(now.spread)
    summed = now.weights.T @ now.squares().reshape(-1, size**2)
    information = prior + summed.reshape(width, size, size)
    t_cov = _inverses(information)
    right = prior @ now.centre + (now.weights * table.logits).T @ now.x
    t = _applied(t_cov, right)
    centre = t.mean(axis=0)
    away = t - centre
    scatter = t_cov.sum(axis=0) + away.T @ away
    prior_scatter = _SPREAD_PRIOR * np.eye(size)
    spread = (prior_scatter + scatter) / (width + _SPREAD_WEIGHT)
    return replace(now, t=t, t_cov=t_cov, centre=centre, spread=spread)


def _precisions(table: Table, now: Factors, known_share: FloatArray) -> Factors:
    """u of each figure and τ of each benchmark, given all else."""
    has, precision = table.has, now.precision
    squares = (table.logits - now.means) ** 2 + now.own_variances()
    tails = (TAILS + 1) / (TAILS + precision * known_share * squares)
    of_each = tails * known_share**2 * squares + (1 - known_share) / precision
    total = np.where(has, of_each, 0).sum(axis=0)
    shape = SHAPE + has.sum(axis=0) / 2
    after = shape / (now.rate + total / 2)
    rate = SHAPE * len(after) / float(after.sum())
    return replace(now, tails=tails, precision=after, rate=rate)


def _inverses(matrices: FloatArray) -> FloatArray:
    """Of each matrix."""
    inverses = np.linalg.inv(matrices)
    return np.asarray(inverses, dtype=np.float64)


def _outer(rows: FloatArray) -> FloatArray:
    """vvᵀ of each row v."""
    outer: FloatArray = rows[:, :, None] * rows[:, None, :]
    return outer


def _applied(matrices: FloatArray, rows: FloatArray) -> FloatArray:
    """Each matrix times its row."""
    applied: FloatArray = (matrices @ rows[:, :, None])[:, :, 0]
    return applied
