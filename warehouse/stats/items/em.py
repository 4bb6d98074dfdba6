"""The penalised marginal maximum of an item response model by an accelerated EM, and
the errors of its items (statistics.md §13).

A round: posterior of every ability; one Newton step of every item; then the shift and
scale of the ability axis, which EM alone moves slowly (parameter expansion, Liu, Rubin
and Wu 1998). Rounds are extrapolated by SQUAREM (Varadhan and Roland 2008, step S3),
falling back where that is worse.

Observed information = expected information of the complete data, less the posterior
variance of its score. An item's 2×2 block leaves out that mean and spread of these
models are known only as a sample's: a²/(Mρ) for d and a²/(2Mρ²) for a put that back, ρ
the reliability 1 − mean sd²(θ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.posterior import (
    AbilityPosterior,
    ItemSums,
    Prior,
    item_sums,
    model_groups,
    update_posterior,
)
from warehouse.stats.items.responses import Responses

#: Standard deviations of the normal priors of ln a and of d.
SD_LOG_A, SD_D = 0.5, 3.0
_LOG_A_RANGE, _D_RANGE = (-5.0, 2.5), 60.0
_LONGEST_STEP = 1.0


@dataclass(frozen=True)
class Penalty:
    """Precisions of the priors: of ln a (0 for a common one) and of d."""

    log_a: float
    d: float

    def value(self, log_a: FloatArray, d: FloatArray) -> float:
        """What is taken off the log likelihood."""
        return 0.5 * float(self.log_a * (log_a @ log_a) + self.d * (d @ d))


@dataclass(frozen=True, eq=False)
class Maximum:
    """Where EM ended."""

    log_a: FloatArray  #: ln a of each item (2PL) or of all (1PL), shape (J,) or (1,).
    d: FloatArray  #: intercepts, shape (J,).
    block_means: FloatArray  #: prior mean of each block, shape (G,).
    prior: Prior  #: of the abilities.
    posterior: AbilityPosterior  #: of the abilities, at these parameters.
    objective: float  #: log likelihood less penalty.
    rounds: int  #: EM rounds.
    converged: bool  #: whether the last one moved nothing by more than the tolerance.

    def slopes(self) -> FloatArray:
        """a of every item, shape (J,)."""
        return np.broadcast_to(np.exp(self.log_a), self.d.shape).copy()


def maximise(
    responses: Responses,
    *,
    common_a: bool,
    penalty: Penalty,
    blocks: NDArray[np.intp],
    tolerance: float,
    max_rounds: int,
) -> Maximum:
    """The maximum of Σ_m ln ∫ ΠP^Y(1−P)^(K−Y) φ(θ) dθ − Σ (ln a)²/(2·.5²) − Σ
    d²/(2·3²).

    Args:
        responses: the answers.
        common_a: 1PL: one a for all items.
        penalty: precisions of the priors.
        blocks: number of each model's block, 0 to G − 1, shape (M,).
        tolerance: EM stops when no parameter moves by more.
        max_rounds: at most so many EM rounds.
    """
    return _Search(responses, common_a, penalty, blocks).run(tolerance, max_rounds)


class _Search:
    """One search: the answers, and where the nodes of the last round lay."""

    def __init__(
        self,
        responses: Responses,
        common_a: bool,
        penalty: Penalty,
        blocks: NDArray[np.intp],
    ) -> None:
        self.groups = model_groups(responses)
        self.common_a, self.penalty, self.blocks = common_a, penalty, blocks
        self.n_items, self.n_models = responses.n_items, responses.n_models
        self.block_sizes = np.bincount(blocks).astype(np.float64)
        right = responses.successes.sum(axis=0, dtype=np.float64)
        wrong = responses.draws(0) - right
        self.start_d = np.log((right + 0.5) / (wrong + 0.5))
        self.posterior = _start_posterior(responses, self.start_d)
        self.rounds = 0

    def run(self, tolerance: float, max_rounds: int) -> Maximum:
        n_a = self.n_items
        if self.common_a:
            n_a = 1
        x = np.concatenate([np.zeros(n_a), self.start_d, np.zeros(self._n_means())])
        converged = False
        while self.rounds < max_rounds and not converged:
            x, converged = self._cycle(x, tolerance)
        log_a, d, means = self._split(x)
        objective = self._expect(x)
        prior = self._prior(means)
        return Maximum(
            log_a, d, means, prior, self.posterior, objective, self.rounds, converged
        )

    def _cycle(self, x: FloatArray, tolerance: float) -> tuple[FloatArray, bool]:
        """Two rounds and the extrapolation of both."""
        first, _ = self._round(x)
        if _change(first, x) < tolerance:
            return first, True
        second, before = self._round(first)
        step, bend = first - x, second - 2 * first + x
        if _change(second, first) < tolerance or not bend.any():
            return second, True
        length = max(1.0, math.sqrt(float(step @ step) / float(bend @ bend)))
        kept = self.posterior
        extrapolated = x + 2 * length * step + length**2 * bend
        far, after = self._round(self._bounded(extrapolated))
        if math.isfinite(after) and after >= before - 1e-9 * abs(before):
            return far, False
        self.posterior = kept
        return second, False

    def _expect(self, x: FloatArray) -> float:
        log_a, d, means = self._split(x)
        a = np.broadcast_to(np.exp(log_a), d.shape)
        self.posterior = update_posterior(
            self.groups, a, d, self._prior(means), self.posterior
        )
        return float(self.posterior.log_marginal.sum()) - self.penalty.value(log_a, d)

    def _round(self, x: FloatArray) -> tuple[FloatArray, float]:
        """One EM round from x, and the objective at x."""
        self.rounds += 1
        objective = self._expect(x)
        log_a, d, means = self._split(x)
        a = np.broadcast_to(np.exp(log_a), d.shape)
        sums = item_sums(self.groups, a, d, self.posterior)
        newton = _newton_each
        if self.common_a:
            newton = _newton_common
        log_a, d = newton(log_a, d, sums, self.penalty)
        log_a, d, means = self._rescale(log_a, d, means)
        parts = [log_a, d]
        if self._n_means():
            parts.append(means)
        return self._bounded(np.concatenate(parts)), objective

    def _rescale(
        self, log_a: FloatArray, d: FloatArray, means: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        prior, now = self._prior(means), self.posterior
        c, s = _shift_and_scale(now, prior, log_a, d, self.penalty)
        d = d + np.exp(log_a) * c
        now.mean, now.sd = (now.mean - c) / s, now.sd / s
        if self._n_means():
            means = self._block_means(now)
        return log_a + math.log(s), d, means

    def _block_means(self, now: AbilityPosterior) -> FloatArray:
        """Prior means of the blocks, the pool kept at mean 0 and standard deviation 1.

        The maximum over the means and the common variance ρ² = 1 − var(means) is q
        times the centred block means of the posterior, q a root of v q³ − v q² + E[θ²]
        q − 1.
        """
        centred = np.bincount(self.blocks, weights=now.mean) / self.block_sizes
        centred -= (self.block_sizes @ centred) / self.n_models
        v = float(self.block_sizes @ centred**2) / self.n_models
        second = float((now.mean**2 + now.sd**2).mean())
        q = 1 / second
        for _ in range(20):
            value = v * q**3 - v * q**2 + second * q - 1
            slope = 3 * v * q**2 - 2 * v * q + second
            q -= value / slope
        return _narrowed(q * centred, self.block_sizes)

    def _n_means(self) -> int:
        if len(self.block_sizes) > 1:
            return len(self.block_sizes)
        return 0

    def _split(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        if self.common_a:
            n_a = 1
        else:
            n_a = self.n_items
        if self._n_means():
            means = x[n_a + self.n_items :]
        else:
            means = np.zeros(1)
        return x[:n_a], x[n_a : n_a + self.n_items], means

    def _prior(self, means: FloatArray) -> Prior:
        between = float(self.block_sizes @ means**2) / self.n_models
        return Prior(means[self.blocks], math.sqrt(1 - between))

    def _bounded(self, x: FloatArray) -> FloatArray:
        """x with everything inside its range; the means of blocks centred."""
        log_a, d, means = self._split(x)
        parts = [np.clip(log_a, *_LOG_A_RANGE), np.clip(d, -_D_RANGE, _D_RANGE)]
        if self._n_means():
            centred = means - (self.block_sizes @ means) / self.n_models
            parts.append(_narrowed(centred, self.block_sizes))
        return np.concatenate(parts)


def _start_posterior(responses: Responses, d: FloatArray) -> AbilityPosterior:
    """Rough abilities: the logit of each model's share right, less that of its items."""
    right, draws = responses.successes.sum(axis=1, dtype=np.float64), responses.draws(1)
    if responses.trials is None:
        expected = np.full(len(right), float(d.mean()))
    else:
        summed = responses.trials @ d.astype(np.float32)
        expected = np.asarray(summed / draws, dtype=np.float64)
    ability = np.log((right + 0.5) / (draws - right + 0.5)) - expected
    spread = max(float(ability.std()), 0.5)
    mean = np.clip((ability - ability.mean()) / spread, -4, 4)
    share = (right + 0.5) / (draws + 1)
    variance_of_answer = np.maximum(share * (1 - share), 0.02)
    return AbilityPosterior(mean, 1 / np.sqrt(1 + draws * variance_of_answer))


def _newton_each(
    log_a: FloatArray, d: FloatArray, sums: ItemSums, penalty: Penalty
) -> tuple[FloatArray, FloatArray]:
    """One Newton step in (ln a, d) of every item.

    Expected second derivatives, and for items that go against ability the exact one in
    ln a: without it steps overshoot where the data ask for a below 0.
    """
    a = np.exp(log_a)
    slope = a * sums.residual_theta
    g_a = slope - penalty.log_a * log_a
    g_d = sums.residual - penalty.d * d
    h_aa = a**2 * sums.w_theta2 + penalty.log_a + np.maximum(-slope, 0)
    h_ad, h_dd = a * sums.w_theta, sums.w + penalty.d
    determinant = np.maximum(h_aa * h_dd - h_ad**2, 1e-12)
    step_a = (h_dd * g_a - h_ad * g_d) / determinant
    step_d = (h_aa * g_d - h_ad * g_a) / determinant
    longer = np.maximum(np.abs(step_a), np.abs(step_d))
    shorter = _LONGEST_STEP / np.maximum(_LONGEST_STEP, longer)
    return log_a + shorter * step_a, d + shorter * step_d


def _newton_common(
    log_a: FloatArray, d: FloatArray, sums: ItemSums, penalty: Penalty
) -> tuple[FloatArray, FloatArray]:
    """One Newton step of one ln a and of every d together."""
    a = float(np.exp(log_a[0]))
    slope = a * float(sums.residual_theta.sum())
    g_a = slope - penalty.log_a * float(log_a[0])
    g_d = sums.residual - penalty.d * d
    h_ad, h_dd = a * sums.w_theta, sums.w + penalty.d
    h_aa = a**2 * float(sums.w_theta2.sum()) + penalty.log_a + max(-slope, 0.0)
    # d solved for: what is left of slope and curvature of ln a (Schur complement)
    slope_a = g_a - float((h_ad * g_d / h_dd).sum())
    curve_a = max(h_aa - float((h_ad**2 / h_dd).sum()), 1e-12)
    step_a = float(np.clip(slope_a / curve_a, -_LONGEST_STEP, _LONGEST_STEP))
    step_d = np.clip((g_d - h_ad * step_a) / h_dd, -_LONGEST_STEP, _LONGEST_STEP)
    return log_a + step_a, d + step_d


def _shift_and_scale(
    now: AbilityPosterior,
    prior: Prior,
    log_a: FloatArray,
    d: FloatArray,
    penalty: Penalty,
) -> tuple[float, float]:
    """(c, s) of θ = c + sθ' with the highest expected log prior less penalties at (a s,
    d + a c)."""
    a = np.broadcast_to(np.exp(log_a), d.shape)
    m = len(now.mean)
    m1, m2 = float(now.mean.mean()), float((now.mean**2 + now.sd**2).mean())
    between = float((prior.mean * now.mean).mean())
    a_a, a_d, sum_log_a = float(a @ a), float(a @ d), float(log_a.sum())
    c = u = 0.0
    for _ in range(25):
        s, rho2 = math.exp(u), prior.sd**2
        q = m2 - 2 * c * m1 + c * c
        f_c = m / (rho2 * s * s) * (c - m1) + penalty.d * (c * a_a + a_d)
        of_penalty = penalty.log_a * (len(log_a) * u + sum_log_a)
        f_u = m / rho2 * (between / s - q / s**2) + m + of_penalty
        f_cc = m / (rho2 * s * s) + penalty.d * a_a
        f_cu = -2 * m / (rho2 * s * s) * (c - m1)
        f_uu = max(m / rho2 * (2 * q / s**2 - between / s), 0.1 * m)
        f_uu += penalty.log_a * len(log_a)
        determinant = f_cc * f_uu - f_cu**2
        if determinant <= 1e-9 * f_cc * f_uu:
            f_cu, determinant = 0.0, f_cc * f_uu
        step_c = (f_uu * f_c - f_cu * f_u) / determinant
        step_u = (f_cc * f_u - f_cu * f_c) / determinant
        c -= min(1.0, max(-1.0, step_c))
        u -= min(0.5, max(-0.5, step_u))
        if max(abs(step_c), abs(step_u)) < 1e-12:
            break
    return c, math.exp(u)


def _narrowed(means: FloatArray, sizes: FloatArray) -> FloatArray:
    """Block means whose variance leaves some for the models within a block."""
    between = float(sizes @ means**2) / float(sizes.sum())
    if between > 0.98:
        return means * math.sqrt(0.98 / between)
    return means


def _change(x: FloatArray, y: FloatArray) -> float:
    return float(np.abs(x - y).max())
