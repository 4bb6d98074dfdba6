"""Abilities of the models in a pool, their errors, and contrasts of them (statistics.md §13).

The models are all there are, no sample of N(0, 1): abilities are standardised to mean 0 and standard
deviation 1 over them, and the posterior standard deviation is no error of a comparison. The error
comes from the joint information of abilities and items, items profiled out, with what the frame
fixes (shift and scale) projected out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_clusters, as_level
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.result_base import Figures
from warehouse.stats.items.ability_errors import pool_covariance
from warehouse.stats.items.ability_modes import ability_modes
from warehouse.stats.items.irt import IrtFit
from warehouse.stats.items.responses import Responses

_ITEMS_PER_MODEL = 10


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
        df: degrees of freedom of the errors: clusters − 1; infinite without clusters.
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
    df: float = math.inf
    mean_models: float = math.nan
    flags: tuple[str, ...] = ()
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, without the covariance."""
        figures = super().to_dict()
        del figures["covariance"]
        return figures

    def __str__(self) -> str:
        return f"{len(self.models)} abilities, median error {float(np.median(self.se)):.3g}"


@dataclass(frozen=True)
class AbilityContrast(Figures):
    """Difference of two abilities, in standard deviations of the pool.

    Attributes:
        model, other: the two.
        difference: ability of ``model`` less that of ``other``.
        se: its standard error; None without errors.
        low, high: interval of Student's t with the degrees of freedom of the abilities (normal without clusters).
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
        clusters: testlet of each item, shape (J,): their score contributions are summed, each over
            1 − its leverage (as CV3), in a sandwich with G/(G−1) and the factor squared. With several
            draws in a cell give at least every item a label of its own: draws of a model on an item
            go together, and a binomial count is then far too sure (measured .72 for .95).

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
    factor = mean_models / (mean_models - lost)
    covariance = pool_covariance(fit, responses, standard, (shift, scale), groups, factor)
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
        df=math.inf if groups is None else groups.n - 1.0,
        mean_models=mean_models,
        flags=tuple(flag for flag, holds in flags.items() if holds),
    )


def ability_contrast(estimates: Abilities, model: str, other: str, level: float = 0.95) -> AbilityContrast:
    """Difference of two models' abilities with its interval.

    Args:
        estimates: abilities of both (`abilities`).
        model, other: their names.
        level: of the interval.

    Raises:
        StatisticsError: a model that is not in the pool, a level outside (0, 1).
    """
    level = as_level(level)
    for name in (model, other):
        if name not in estimates.models:
            raise StatisticsError(f"{name!r} is no model of this pool")
    i, j = estimates.models.index(model), estimates.models.index(other)
    difference = float(estimates.ability[i] - estimates.ability[j])
    v = estimates.covariance
    variance = float(v[i, i] + v[j, j] - 2 * v[i, j]) if not estimates.reason else math.nan
    if not variance > 0:
        return AbilityContrast(model, other, difference, None, None, None, None, level)
    se = math.sqrt(variance)
    half = float(special.stdtrit(estimates.df, 0.5 + level / 2)) * se
    p_value = t_p_value(difference / se, estimates.df)
    return AbilityContrast(model, other, difference, se, difference - half, difference + half, p_value, level)


def _without_errors(fit: IrtFit, ability: FloatArray, shift: float, scale: float, reason: str) -> Abilities:
    m = len(fit.models)
    return Abilities(
        fit.models, ability, np.full(m, np.nan), np.full((m, m), np.nan), shift, scale, flags=(), reason=reason
    )
