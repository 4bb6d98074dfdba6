"""Abilities of the models in a pool, their errors, contrasts and ranks (statistics.md
§2 and §13).

The models are all there are, no sample of N(0, 1): abilities are standardised to mean 0
and standard deviation 1 over them, and the posterior standard deviation is no error of
a comparison. The error comes from the joint information of abilities and items, items
profiled out, with what the frame fixes (shift and scale) projected out.

S is the joint penalised information of abilities and items with the items profiled out:
diag(ΣWa² + 1/ρ²) less each item's 2×2 block in (ln a, d); 1PL: the d, then the one ln
a. V = S⁻¹, and what the frame fixes, C = [1, θ̂], is projected out: V* = V −
VC(CᵀVC)⁻¹CᵀV.

The set of a model holds [1 + models wholly better, M − models wholly worse] by
intervals of its differences with all others that hold together (Mogstad, Romano, Shaikh
and Wilhelm 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_level,
    as_seed,
    clusters_if_any,
    number_of,
)
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.items.em import Penalty
from warehouse.stats.items.irt import IrtFit
from warehouse.stats.items.responses import Responses, ability_modes, cell_blocks

_ITEMS_PER_MODEL = 10


@dataclass(frozen=True, eq=False)
class Abilities(NamedFigures):
    """Abilities in the frame of the pool."""

    models: tuple[str, ...]  #: names, shape (M,).
    ability: FloatArray  #: MAP, standardised to mean 0 and standard deviation 1 (ddof 0) over the pool, shape (M,).
    se: FloatArray  #: standard error in that frame, shape (M,); NaN with ``reason``.
    #: of the abilities, shape (M, M); not part of `to_dict`.
    covariance: FloatArray = field(repr=False)
    #: shift, scale: the MAP on the scale of the fit is shift + scale · ability.
    shift: float = 0.0
    scale: float = 1.0
    #: clusters of items behind the errors; None: items are independent given θ.
    n_clusters: int | None = None
    #: degrees of freedom of the errors: clusters − 1; infinite without clusters.
    df: float = math.inf
    #: ``errors_short`` (more than 10 items per model: errors are a little too small),
    #: ``few_models``.
    flags: tuple[str, ...] = ()
    reason: str = ""  #: why there are no errors; empty if there are.

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, without the covariance."""
        figures = super().to_dict()
        del figures["covariance"]
        return figures

    def __str__(self) -> str:
        return (
            f"{len(self.models)} abilities, median error "
            f"{float(np.median(self.se)):.3g}"
        )


@dataclass(frozen=True)
class AbilityContrast(NamedFigures):
    """Difference of two abilities, in standard deviations of the pool."""

    #: model, other: the two.
    model: str
    other: str
    difference: float  #: ability of ``model`` less that of ``other``.
    se: float | None  #: its standard error; None without errors.
    #: low, high: interval of Student's t with the degrees of freedom of the abilities
    #: (normal without clusters).
    low: float | None
    high: float | None
    p_value: float | None  #: two-sided, of no difference.
    level: float  #: of the interval.

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.model} − {self.other}: {self.difference:.3g} sd, no interval"
        return (
            f"{self.model} − {self.other}: {self.difference:.3g} sd ({self.low:.3g} to "
            f"{self.high:.3g})"
        )


def abilities(
    fit: IrtFit, responses: Responses, clusters: ArrayLike | None = None
) -> Abilities:
    """Abilities and the covariance of their errors.

    S = diag(Σ Wa² + 1/ρ²) less the items' blocks in (ln a, d), W = KP(1−P); V = S⁻¹
    projected off C = [1, θ̂], times n̄/(n̄−2) (1PL n̄/(n̄−1)).

    Args:
        fit: of these answers (`fit_irt`).
        responses: the answers.
        clusters: testlet of each item, shape (J,): their score contributions are
            summed, each over 1 − its leverage (as CV3), in a sandwich with G/(G−1) and
            the factor squared. With several draws in a cell give at least every item a
            label of its own: draws of a model on an item go together, and a binomial
            count is then far too sure (measured .72 for .95).

    Raises:
        StatisticsError: answers of another fit, labels of another length, a single
            cluster.
    """
    fit.check_same(responses)
    groups = clusters_if_any(clusters, responses.n_items)
    if groups is not None and groups.n < 2:
        raise StatisticsError(
            "`clusters` puts all items into one; errors need at least 2"
        )
    mode = ability_modes(responses, fit.a, fit.d, fit.prior_mean, fit.prior_sd)
    shift, scale = float(mode.mean()), float(mode.std())
    if not scale > 1e-9:
        return _without_errors(
            fit, mode - shift, shift, scale, "all models have the same ability"
        )
    standard = (mode - shift) / scale
    mean_models = float(responses.cells(0).mean())
    lost = 1 if fit.model == "1pl" else 2
    if mean_models <= lost:
        return _without_errors(
            fit,
            standard,
            shift,
            scale,
            f"{mean_models:.3g} models per item are too few for errors",
        )
    factor = mean_models / (mean_models - lost)
    covariance = pool_covariance(
        fit, responses, standard, (shift, scale), groups, factor
    )
    return Abilities(
        models=fit.models,
        ability=standard,
        se=np.sqrt(np.maximum(covariance.diagonal(), 0)),
        covariance=covariance,
        shift=shift,
        scale=scale,
        n_clusters=number_of(groups),
        df=math.inf if groups is None else groups.n - 1.0,
        flags=flags_of(
            errors_short=responses.n_items > _ITEMS_PER_MODEL * responses.n_models,
            few_models=responses.n_models < 10,
        ),
    )


def ability_contrast(
    estimates: Abilities, model: str, other: str, level: float = 0.95
) -> AbilityContrast:
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
    if not estimates.reason:
        variance = float(v[i, i] + v[j, j] - 2 * v[i, j])
    else:
        variance = math.nan
    if not variance > 0:
        return AbilityContrast(model, other, difference, None, None, None, None, level)
    se = math.sqrt(variance)
    half = float(special.stdtrit(estimates.df, 0.5 + level / 2)) * se
    p_value = t_p_value(difference / se, estimates.df)
    return AbilityContrast(
        model,
        other,
        difference,
        se,
        difference - half,
        difference + half,
        p_value,
        level,
    )


def _without_errors(
    fit: IrtFit, ability: FloatArray, shift: float, scale: float, reason: str
) -> Abilities:
    m = len(fit.models)
    return Abilities(
        fit.models,
        ability,
        np.full(m, np.nan),
        np.full((m, m), np.nan),
        shift,
        scale,
        flags=(),
        reason=reason,
    )


_LARGEST_LEVERAGE = 0.9


def pool_covariance(
    fit: IrtFit,
    responses: Responses,
    theta: FloatArray,
    frame: tuple[float, float],
    clusters: Clusters | None,
    factor: float,
) -> FloatArray:
    """Covariance of the abilities ``theta`` (mean 0, standard deviation 1), shape (M,
    M).

    Args:
        fit: the items.
        responses: the answers.
        theta: abilities in the frame of the pool, shape (M,).
        frame: (shift, scale): abilities on the scale of the fit are shift + scale ·
            theta.
        clusters: testlets of the items, or None.
        factor: small-sample factor of the variance, squared in the sandwich.
    """
    shift, scale = frame
    items = _Items(
        fit.a * scale,
        fit.d + fit.a * shift,
        fit.model == "1pl",
        fit.precisions,
        clusters,
    )
    joint = _profile(responses, theta, items)
    information = np.diag(joint.diagonal) + _prior_precision(fit) - joint.lost
    inverse = linalg.cho_solve(
        linalg.cho_factor(information, lower=True), np.eye(len(theta))
    )
    fixed = np.stack([np.ones_like(theta), theta], axis=1)
    moved = inverse @ fixed
    inverse -= moved @ np.linalg.solve(fixed.T @ moved, moved.T)
    if clusters is None:
        return np.asarray(factor * 0.5 * (inverse + inverse.T))
    leverage = joint.leverage / (joint.diagonal[:, None] + fit.prior_sd**-2)
    spread = inverse @ (joint.scores / (1 - np.minimum(leverage, _LARGEST_LEVERAGE)))
    return np.asarray(factor**2 * clusters.n / (clusters.n - 1) * (spread @ spread.T))


def _prior_precision(fit: IrtFit) -> FloatArray:
    """Of the abilities; with several blocks their prior means are estimated too, and
    profiled out."""
    precision = fit.prior_sd**-2
    if len(fit.block_means) == 1:
        return np.eye(len(fit.theta)) * precision
    same = (fit.block[:, None] == fit.block).astype(np.float64)
    return np.asarray(
        precision * (np.eye(len(fit.theta)) - same / same.sum(axis=1, keepdims=True))
    )


@dataclass(frozen=True, eq=False)
class _Items:
    """Items in the frame of the pool."""

    a: FloatArray
    d: FloatArray
    common_a: bool
    precisions: Penalty
    clusters: Clusters | None


@dataclass(eq=False)
class _Profile:
    """What items add to the information of abilities, and take off as they are
    estimated too."""

    diagonal: FloatArray  #: ΣWa² of each model, shape (M,).
    lost: FloatArray  #: what the items take off, shape (M, M).
    scores: FloatArray  #: profiled score of each model, summed by cluster of items, shape (M, G).
    leverage: FloatArray  #: ΣWa² by cluster, shape (M, G).


@dataclass(frozen=True, eq=False)
class _ItemBlock:
    """A block of items: per cell Wa² and (Y−KP)a; what each parameter shares with each
    ability, and its score."""

    information: FloatArray
    residual: FloatArray
    cross_d: FloatArray
    info_d: FloatArray
    score_d: FloatArray
    cross_a: FloatArray
    info_a: FloatArray
    score_a: FloatArray


def _profile(responses: Responses, theta: FloatArray, items: _Items) -> _Profile:
    m, clusters = len(theta), items.clusters
    if clusters is None:
        n_clusters = 0
    else:
        n_clusters = clusters.n
    profile = _Profile(
        np.zeros(m),
        np.zeros((m, m)),
        np.zeros((m, n_clusters)),
        np.zeros((m, n_clusters)),
    )
    cross, info, score = np.zeros(m), 0.0, []
    for columns, y, k in cell_blocks(responses):
        block = _block(theta, items, columns, y, k)
        profile.diagonal += block.information.sum(axis=1)
        _take_off(profile.lost, block.cross_d, block.info_d)
        if items.common_a:
            cross, info = (
                cross + block.cross_a.sum(axis=1),
                info + float(block.info_a.sum()),
            )
            score.append(block.score_a)
        else:
            _take_off(profile.lost, block.cross_a, block.info_a)
        if clusters is not None:
            _add_clusters(profile, block, clusters.codes[columns], items.common_a)
    if items.common_a:
        profile.lost += np.outer(cross, cross) / info
        if clusters is not None:
            profile.scores -= np.outer(
                cross, clusters.sums(np.concatenate(score)) / info
            )
    return profile


def _block(
    theta: FloatArray,
    items: _Items,
    columns: slice,
    y: FloatArray,
    k: FloatArray | float,
) -> _ItemBlock:
    a, d, precisions = items.a[columns], items.d[columns], items.precisions
    p = special.expit(np.multiply.outer(theta, a) + d)
    w, residual = k * p * (1 - p), y - k * p
    w_theta = w * theta[:, None]
    info_d = w.sum(axis=0) + precisions.d
    slope = a * w_theta.sum(axis=0) / info_d
    info_a = (
        a**2 * (theta @ w_theta)
        + (0.0 if items.common_a else precisions.log_a)
        - slope**2 * info_d
    )
    score_d = residual.sum(axis=0) - precisions.d * d
    score_a = a * (theta @ residual) - precisions.log_a * np.log(a) - slope * score_d
    cross_d = w * a
    return _ItemBlock(
        w * a**2,
        residual * a,
        cross_d,
        info_d,
        score_d,
        w_theta * a**2 - cross_d * slope,
        info_a,
        score_a,
    )


def _take_off(lost: FloatArray, cross: FloatArray, info: FloatArray) -> None:
    part = cross / np.sqrt(info)
    lost += part @ part.T


def _add_clusters(
    profile: _Profile, block: _ItemBlock, codes: NDArray[np.intp], common_a: bool
) -> None:
    profiled = block.residual - block.cross_d * (block.score_d / block.info_d)
    if not common_a:
        profiled -= block.cross_a * (block.score_a / block.info_a)
    np.add.at(profile.scores.T, codes, profiled.T)
    np.add.at(profile.leverage.T, codes, block.information.T)


#: With more models the critical values are Bonferroni's: a little wider, and at once.
MOST_DRAWN = 200


@dataclass(frozen=True, eq=False)
class AbilityRanks(NamedFigures):
    """Ranks by ability, 1 the most able."""

    #: by the estimates, ties in the order of the models, shape (M,).
    rank: NDArray[np.intp]
    #: low, high: ends of each model's rank set, shape (M,); None without errors.
    low: NDArray[np.intp] | None
    high: NDArray[np.intp] | None
    level: float  #: chance that the set holds the model's rank.
    method: str  #: ``max_t`` (draws of the largest |T| over a model's own differences) or ``bonferroni``.


def ability_ranks(
    estimates: Abilities, *, level: float = 0.95, seed: int = 0, n_draws: int = 1999
) -> AbilityRanks:
    """Rank sets from the joint errors of abilities (StatisticsError: a level outside
    (0, 1), too few draws for it).

    Args:
        estimates: abilities with their covariance (`abilities`).
        level: of each set.
        seed: of the draws.
        n_draws: from the normal, or Student's t with the degrees of freedom of the
            abilities.
    """
    level = as_level(level)
    rng = np.random.default_rng(as_seed(seed))
    m = len(estimates.ability)
    rank = np.empty(m, dtype=np.intp)
    rank[np.argsort(-estimates.ability, kind="stable")] = np.arange(1, m + 1)
    if estimates.reason:
        return AbilityRanks(rank, None, None, level, "none")
    index = math.ceil(level * (n_draws + 1))
    if index > n_draws:
        raise StatisticsError(
            f"`n_draws` must be at least {math.ceil(level / (1 - level))}, found "
            f"{n_draws}"
        )
    variance = estimates.covariance.diagonal()
    se = np.sqrt(np.maximum(variance[:, None] + variance - 2 * estimates.covariance, 0))
    np.fill_diagonal(se, np.inf)
    if m > MOST_DRAWN:
        method = "bonferroni"
        critical = np.full(
            m, special.stdtrit(estimates.df, 1 - (1 - level) / (2 * (m - 1)))
        )
    else:
        method = "max_t"
        z = _draws(estimates, n_draws, rng)
        largest = (
            (np.abs(z[:, i : i + 1] - z) / _safe(se[i])).max(axis=1) for i in range(m)
        )
        critical = np.array(
            [np.partition(own, index - 1)[index - 1] for own in largest]
        )
    gap = estimates.ability[:, None] - estimates.ability
    far = critical[:, None] * se
    low, high = 1 + (gap < -far).sum(axis=1), m - (gap > far).sum(axis=1)
    return AbilityRanks(rank, low.astype(np.intp), high.astype(np.intp), level, method)


def _draws(estimates: Abilities, n: int, rng: np.random.Generator) -> FloatArray:
    """Errors of the abilities, shape (n, M)."""
    values, vectors = np.linalg.eigh(estimates.covariance)
    z = (
        rng.standard_normal((n, len(values)))
        * np.sqrt(np.maximum(values, 0))
        @ vectors.T
    )
    if math.isfinite(estimates.df):
        z /= np.sqrt(rng.chisquare(estimates.df, (n, 1)) / estimates.df)
    return np.asarray(z)


def _safe(se: FloatArray) -> FloatArray:
    """Differences without an error separate nobody in the draws."""
    return np.where(se > 0, se, np.inf)
