"""Abilities of the models in a pool, their errors, and contrasts of them (statistics.md §13).

The models are all there are, no sample of N(0, 1): abilities are standardised to mean 0 and standard
deviation 1 over them, and the posterior standard deviation is no error of a comparison. The error
comes from the joint information of abilities and items, items profiled out, with what the frame
fixes (shift and scale) projected out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, special
from scipy import stats as scipy_stats

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Clusters, FloatArray, as_clusters, as_level
from warehouse.stats.core.result_base import Figures
from warehouse.stats.items.irt import IrtFit
from warehouse.stats.items.responses import Responses

_BLOCK = 1 << 18
_ITEMS_PER_MODEL = 10
_MODE_STEPS = 100


@dataclass(frozen=True, eq=False)
class Abilities(Figures):
    """Abilities in the frame of the pool.

    Attributes:
        models: names, shape (M,).
        ability: MAP, standardised to mean 0 and standard deviation 1 (ddof 0) over the pool, shape (M,).
        se: standard error in that frame, shape (M,); NaN with ``reason``.
        covariance: of the abilities, shape (M, M); not part of `to_dict`.
        shift, scale: the MAP on the scale of the fit is shift + scale · ability.
        n_clusters: clusters of items behind the errors; None: items are independent given θ.
        mean_models: models per item n̄, behind the small-sample factor.
        flags: ``errors_short`` (more than 10 items per model: errors are a little too small),
            ``few_models``.
        reason: why there are no errors; empty if there are.
    """

    models: tuple[str, ...]
    ability: FloatArray
    se: FloatArray
    covariance: FloatArray = field(repr=False)
    shift: float = 0.0
    scale: float = 1.0
    n_clusters: int | None = None
    mean_models: float = math.nan
    flags: tuple[str, ...] = ()
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, without the covariance."""
        found = super().to_dict()
        del found["covariance"]
        return found

    def __str__(self) -> str:
        return f"{len(self.models)} abilities, median error {float(np.median(self.se)):.3g}"


@dataclass(frozen=True)
class AbilityContrast(Figures):
    """Difference of two abilities, in standard deviations of the pool.

    Attributes:
        model, other: the two.
        difference: ability of ``model`` less that of ``other``.
        se: its standard error; None without errors.
        low, high: normal interval.
        p_value: two-sided, of no difference.
        level: of the interval.
    """

    model: str
    other: str
    difference: float
    se: float | None
    low: float | None
    high: float | None
    p_value: float | None
    level: float

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.model} − {self.other}: {self.difference:.3g} sd, no interval"
        return f"{self.model} − {self.other}: {self.difference:.3g} sd ({self.low:.3g} to {self.high:.3g})"


def abilities(fit: IrtFit, responses: Responses, clusters: ArrayLike | None = None) -> Abilities:
    """Abilities and the covariance of their errors.

    S = diag(Σ Wa² + 1/ρ²) less the items' blocks in (ln a, d), W = KP(1−P); V = S⁻¹ projected off
    C = [1, θ̂], times n̄/(n̄−2) (1PL n̄/(n̄−1)).

    Args:
        fit: of these answers (`fit_irt`).
        responses: the answers.
        clusters: testlet of each item, shape (J,): their score contributions are summed, in a
            sandwich with G/(G−1) and the factor squared.

    Raises:
        StatisticsError: answers of another fit, labels of another length, a single cluster.
    """
    if fit.models != responses.models or fit.items != responses.items:
        raise StatisticsError("`fit` and `responses` must be of the same models and items")
    groups = None if clusters is None else as_clusters(clusters, responses.n_items)
    if groups is not None and groups.n < 2:
        raise StatisticsError("`clusters` puts all items into one; errors need at least 2")
    mode = ability_modes(responses, fit.a, fit.d, fit.prior_mean, fit.prior_sd)
    shift, scale = float(mode.mean()), float(mode.std())
    if not scale > 1e-9:
        return _without_errors(fit, mode - shift, shift, scale, "all models have the same ability")
    standard = (mode - shift) / scale
    mean_models = float(responses.cells(0).mean())
    lost = 1 if fit.model == "1pl" else 2
    if mean_models <= lost:
        return _without_errors(fit, standard, shift, scale, f"{mean_models:.3g} models per item are too few for errors")
    joint = _Joint(fit, responses, standard, fit.a * scale, fit.d + fit.a * shift)
    factor = mean_models / (mean_models - lost)
    covariance = joint.covariance(groups, factor)
    flags = {
        "errors_short": responses.n_items > _ITEMS_PER_MODEL * responses.n_models,
        "few_models": responses.n_models < 10,
    }
    return Abilities(
        models=fit.models,
        ability=standard,
        se=np.sqrt(np.maximum(covariance.diagonal(), 0)),
        covariance=covariance,
        shift=shift,
        scale=scale,
        n_clusters=None if groups is None else groups.n,
        mean_models=mean_models,
        flags=tuple(flag for flag, holds in flags.items() if holds),
    )


def ability_contrast(found: Abilities, model: str, other: str, level: float = 0.95) -> AbilityContrast:
    """Difference of two models' abilities with its interval.

    Args:
        found: abilities of both (`abilities`).
        model, other: their names.
        level: of the interval.

    Raises:
        StatisticsError: a model that is not in the pool, a level outside (0, 1).
    """
    level = as_level(level)
    for name in (model, other):
        if name not in found.models:
            raise StatisticsError(f"{name!r} is no model of this pool")
    i, j = found.models.index(model), found.models.index(other)
    difference = float(found.ability[i] - found.ability[j])
    v = found.covariance
    variance = float(v[i, i] + v[j, j] - 2 * v[i, j]) if not found.reason else math.nan
    if not variance > 0:
        return AbilityContrast(model, other, difference, None, None, None, None, level)
    se = math.sqrt(variance)
    half = float(scipy_stats.norm.ppf(0.5 + level / 2)) * se
    p_value = 2 * float(scipy_stats.norm.sf(abs(difference) / se))
    return AbilityContrast(model, other, difference, se, difference - half, difference + half, p_value, level)


def ability_modes(
    responses: Responses, a: FloatArray, d: FloatArray, prior_mean: ArrayLike = 0.0, prior_sd: float = 1.0
) -> FloatArray:
    """MAP ability of each model under a normal prior, items given, shape (M,): finite where all is right or wrong."""
    mean = np.broadcast_to(np.asarray(prior_mean, dtype=np.float64), (responses.n_models,))
    theta = mean.copy()
    step = np.ones_like(theta)
    for _ in range(_MODE_STEPS):
        slope, curve = (mean - theta) / prior_sd**2, np.full_like(theta, prior_sd**-2)
        for items, y, k in cell_blocks(responses):
            p = special.expit(np.multiply.outer(theta, a[items]) + d[items])
            slope += (y - k * p) @ a[items]
            curve += (k * p * (1 - p)) @ a[items] ** 2
        step = np.clip(slope / curve, -1, 1)
        theta += step
        if np.abs(step).max() < 1e-10:
            break
    return theta


def cell_blocks(responses: Responses) -> Iterator[tuple[slice, FloatArray, FloatArray | float]]:
    """Items in blocks: which, successes and draws of their cells."""
    width = max(1, _BLOCK // responses.n_models)
    for start in range(0, responses.n_items, width):
        items = slice(start, min(responses.n_items, start + width))
        k = 1.0 if responses.trials is None else responses.trials[:, items].astype(np.float64)
        yield items, responses.successes[:, items].astype(np.float64), k


@dataclass(frozen=True, eq=False)
class _Joint:
    """The joint penalised likelihood of abilities and items, in the frame of the pool."""

    fit: IrtFit
    responses: Responses
    theta: FloatArray
    a: FloatArray
    d: FloatArray

    def covariance(self, clusters: Clusters | None, factor: float) -> FloatArray:
        scores = None if clusters is None else np.zeros((len(self.theta), clusters.n))
        information = self._information(clusters, scores)
        inverse = linalg.cho_solve(linalg.cho_factor(information, lower=True), np.eye(len(self.theta)))
        frame = np.stack([np.ones_like(self.theta), self.theta], axis=1)
        moved = inverse @ frame
        inverse -= moved @ np.linalg.solve(frame.T @ moved, moved.T)
        if scores is None or clusters is None:
            return factor * 0.5 * (inverse + inverse.T)
        spread = inverse @ scores
        found: FloatArray = factor**2 * clusters.n / (clusters.n - 1) * (spread @ spread.T)
        return found

    def _information(self, clusters: Clusters | None, scores: FloatArray | None) -> FloatArray:
        """S, items profiled out; adds each item's profiled score to its cluster's column of ``scores``."""
        m = len(self.theta)
        diagonal = np.full(m, self.fit.prior_sd**-2)
        lost = np.zeros((m, m))
        common = self.fit.model == "1pl"
        precisions = self.fit.precisions
        cross_a, info_a, score_a = np.zeros(m), 0.0, []
        for items, y, k in cell_blocks(self.responses):
            a, theta = self.a[items], self.theta[:, None]
            p = special.expit(theta * a + self.d[items])
            w = k * p * (1 - p)
            residual = y - k * p
            diagonal += w @ a**2
            w_theta = w * theta
            b_dd = w.sum(axis=0) + precisions.d
            b_ad = a * w_theta.sum(axis=0)
            b_aa = a**2 * (w_theta * theta).sum(axis=0)
            c_d, c_a = w * a, w_theta * a**2
            part_d = c_d / np.sqrt(b_dd)
            lost += part_d @ part_d.T
            slope = b_ad / b_dd
            c_a -= c_d * slope  # ln a, what d takes over left out
            b_aa += (0.0 if common else precisions.log_a) - slope * b_ad
            own_d = residual.sum(axis=0) - precisions.d * self.d[items]
            own_a = a * (self.theta @ residual) - precisions.log_a * np.log(a) - slope * own_d
            if common:
                cross_a += c_a.sum(axis=1)
                info_a += float(b_aa.sum())
                score_a.append(own_a)
            else:
                part_a = c_a / np.sqrt(b_aa)
                lost += part_a @ part_a.T
            if clusters is not None and scores is not None:
                profiled = residual * a - c_d * (own_d / b_dd)
                if not common:
                    profiled -= c_a * (own_a / b_aa)
                np.add.at(scores.T, clusters.codes[items], profiled.T)
        if common:
            lost += np.outer(cross_a, cross_a) / info_a
            if clusters is not None and scores is not None:
                by_cluster = clusters.sums(np.concatenate(score_a))
                scores -= np.outer(cross_a, by_cluster / info_a)
        return np.diag(diagonal) - lost


def _without_errors(fit: IrtFit, ability: FloatArray, shift: float, scale: float, reason: str) -> Abilities:
    m = len(fit.models)
    return Abilities(
        fit.models, ability, np.full(m, np.nan), np.full((m, m), np.nan), shift, scale, flags=(), reason=reason
    )
