"""Two formulations of one benchmark over the same finished models: do they agree on
them (statistics.md §19a)?

Sampling noise in the means pulls a correlation down, and resampling prompts adds it
again: percentile, basic and bias-corrected intervals of resampled prompts missed the
correlation of the true means in up to all samples. Here the noise is measured and taken
off: means are normal about the models' true means, which are normal themselves, and the
posterior of these is drawn from (Daniels's uniform shrinkage prior on either variance,
the arcsine prior on the correlation). Its coverage is in
docs/calibration_formulations.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_level, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.suites.score_table import comparable

#: Models below which there is no correlation, and no interval for other models.
FEWEST, FEWEST_FOR_OTHERS = 3, 5
#: Prompts, or clusters of them, below which the noise is not known well.
FEW_UNITS = 20
STATISTICS = ("pearson", "kendall", "spearman")
_DRAWS, _LATTICE, _ANGLES = 1000, 24, 61
#: Models up to which all pairs of all draws are gone through at once; scipy sorts,
#: which is faster with more.
_MOST_PAIRED = 250


@dataclass(frozen=True)
class FormulationNoise(NamedFigures):
    """Sampling noise of the models' means about one another, per model, in both
    formulations."""

    first: float  #: variance in the first.
    second: float  #: variance in the second.
    both: float  #: covariance; 0 where the two share no prompt.
    n_units: int  #: independent prompts or clusters of the formulation that has fewer.


def formulation_noise(
    first: ArrayLike, second: ArrayLike, units_first: ArrayLike, units_second: ArrayLike
) -> FormulationNoise | None:
    """The noise that prompts and answers make.

    What all models share does not change how they stand to one another and is taken
    off.

    Args:
        first: scores of each prompt (row) by each model in the first formulation, NaN
            for none, shape (n, M).
        second: the same models in the second, shape (n', M).
        units_first: number of the prompt or cluster that each row belongs to; the same
            number in ``units_second`` is the same prompt or cluster, shape (n,).
        units_second: shape (n',).

    Returns:
        None with one prompt or cluster, one model, or where nothing but rounding
        varies.
    """
    numbered = np.concatenate([np.asarray(units_first), np.asarray(units_second)])
    codes = np.unique(numbered, return_inverse=True)[1]
    split = len(np.asarray(units_first))
    parts, counts = [], []
    for scores, unit in ((first, codes[:split]), (second, codes[split:])):
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] < 2 or len(np.unique(unit)) < 2:
            return None
        parts.append(_influence(values, unit, int(codes.max()) + 1))
        counts.append(len(np.unique(unit)))
        if np.abs(parts[-1]).max() <= 1e-12 * np.nanmax(np.abs(values)):
            return None
    a, b = parts
    scale = 1 / (a.shape[1] - 1)
    own, other, both = (
        float((x * y).sum() * scale) for x, y in ((a, a), (b, b), (a, b))
    )
    return FormulationNoise(own, other, both, min(counts))


def _influence(values: FloatArray, codes: NDArray[np.intp], n_codes: int) -> FloatArray:
    """What each unit adds to the error of each model's mean, less what it adds to all,
    shape (units, M)."""
    there = np.isfinite(values)
    counts = there.sum(axis=0)
    means = np.where(there, values, 0.0).sum(axis=0) / counts
    parts = np.zeros((n_codes, values.shape[1]))
    np.add.at(parts, codes, np.where(there, values - means, 0.0) / counts)
    share = np.bincount(codes, minlength=n_codes) / len(codes)
    parts /= np.sqrt(np.maximum(1 - share, 1e-9))[
        :, None
    ]  # CR2; n − 1 where each prompt is a unit
    return np.asarray(parts - parts.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Agreement(NamedFigures):
    """How far the means of M models agree in two formulations, by one statistic."""

    statistic: str  #: ``pearson``, ``kendall`` (τ-b) or ``spearman``.
    level: float  #: nominal coverage of the intervals.
    #: of the means as they are, noise included; None below 3 models, or where a side is
    #: constant.
    estimate: float | None = None
    #: interval `models`: what other models like these would give on these prompts.
    models_low: float | None = None
    models_high: float | None = None  #: its upper end.
    #: interval `prompts`: these very models on all prompts like these, where there is
    #: no noise.
    prompts_low: float | None = None
    prompts_high: float | None = None  #: its upper end.
    #: interval `both`: all models like these on all prompts like these.
    both_low: float | None = None
    both_high: float | None = None  #: its upper end.


def formulation_agreement(
    first: ArrayLike,
    second: ArrayLike,
    noise: FormulationNoise | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[Agreement, ...]:
    """Pearson's, Kendall's and Spearman's correlation over models, each with three
    intervals.

    `models` is the hull of Fisher's z (Fieller's variance for τ, Bonett and Wright's
    for Spearman) and of the bias-corrected bootstrap of models. `prompts` and `both`
    are of the posterior (see the module), and need the noise.

    Args:
        first: mean of each model in the first formulation, finite, shape (M,).
        second: the same models in the second, shape (M,).
        noise: of the means; None where it is not known: then only `models`.
        level: nominal coverage of the intervals.
        seed: of the draws.

    Raises:
        StatisticsError: shapes that differ, values that are not finite, ``level`` or
            ``seed`` out of range.

    Examples:
        >>> [round(a.estimate, 4) for a in formulation_agreement([0.2, 0.5, 0.6, 0.7], [0.1, 0.3, 0.5, 0.4])]
        [0.9035, 0.6667, 0.8]
    """
    level, seed = as_level(level), as_seed(seed)
    x, y = (comparable(np.asarray(side, dtype=np.float64)) for side in (first, second))
    if x.ndim != 1 or x.shape != y.shape or not np.isfinite([x, y]).all():
        raise StatisticsError(
            f"`first` and `second` must be finite and alike, found {x.shape} and "
            f"{y.shape}"
        )
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return tuple(Agreement(name, level) for name in STATISTICS)
    rng = np.random.default_rng(seed)
    resampled = rng.integers(0, len(x), (_DRAWS, len(x)))
    others = _of_draws(x[resampled], y[resampled])
    true, population = None, None
    if noise is not None and min(noise.first, noise.second) > 0:
        u, v, rho, chances = _posterior(x, y, noise, rng)
        true = _of_draws(u, v)
        if len(x) >= FEWEST_FOR_OTHERS:
            half = float(special.ndtri((1 + level) / 2)) / math.sqrt(len(x) - 3)
            low, middle, high = np.interp(
                [(1 - level) / 2, 0.5, (1 + level) / 2],
                chances.cumsum() - chances / 2,
                rho,
            )
            fisher = np.tanh(
                np.arctanh(middle) + np.array([-half, half])
            )  # longer with few models
            ends = np.array([min(low, fisher[0]), max(high, fisher[1])])
            kendall, spearman = (
                2 / math.pi * np.arcsin(ends),
                6 / math.pi * np.arcsin(ends / 2),
            )  # of normal models
            population = {"pearson": ends, "kendall": kendall, "spearman": spearman}
    estimates = {
        name: float(draws[0]) for name, draws in _of_draws(x[None], y[None]).items()
    }
    return tuple(
        Agreement(
            name,
            level,
            estimates[name],
            *_for_other_models(name, estimates[name], len(x), others[name], level),
            *((None, None) if true is None else _central(true[name], level)),
            *((None, None) if population is None else map(float, population[name])),
        )
        for name in STATISTICS
    )


def _of_draws(x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """The statistics of each row; NaN where a side is constant."""
    ranks = (stats.rankdata(side, axis=1) for side in (x, y))
    return {
        "pearson": _pearson(x, y),
        "kendall": _kendall(x, y),
        "spearman": _pearson(*ranks),
    }


def _kendall(x: FloatArray, y: FloatArray) -> FloatArray:
    """τ-b of each row, to the bit as `scipy.stats.kendalltau` has it, which takes .1 ms
    to check its arguments."""
    if x.shape[1] > _MOST_PAIRED:
        return np.array(
            [float(stats.kendalltau(a, b).statistic) for a, b in zip(x, y, strict=True)]
        )
    both, of_x, of_y = np.zeros((3, len(x)))
    for apart in range(1, x.shape[1]):
        a, b = (np.sign(side[:, apart:] - side[:, :-apart]) for side in (x, y))
        for total, own, other in ((both, a, b), (of_x, a, a), (of_y, b, b)):
            total += np.einsum("ij,ij->i", own, other)
    with np.errstate(invalid="ignore"):
        return np.clip(both / np.sqrt(of_x) / np.sqrt(of_y), -1.0, 1.0)


def _pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    a, b = (side - side.mean(axis=1, keepdims=True) for side in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _central(draws: FloatArray, level: float) -> tuple[float, float]:
    low, high = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _for_other_models(
    name: str, estimate: float, m: int, draws: FloatArray, level: float
) -> tuple[float | None, float | None]:
    """Nothing where models are few, or all in one order: no other is seen that could
    be."""
    draws = draws[np.isfinite(draws)]
    if m < FEWEST_FOR_OTHERS or abs(estimate) > 1 - 1e-12:
        return None, None
    variance = {
        "pearson": 1 / (m - 3),
        "kendall": 0.437 / (m - 4),
        "spearman": (1 + estimate**2 / 2) / (m - 3),
    }[name]
    z = float(special.ndtri((1 + level) / 2))
    ends = np.tanh(np.arctanh(estimate) + np.array([-z, z]) * math.sqrt(variance))
    share_below = float(
        np.clip(
            ((draws < estimate).mean() + (draws <= estimate).mean()) / 2, 1e-3, 1 - 1e-3
        )
    )
    shift = 2 * float(special.ndtri(share_below))
    drawn = np.quantile(draws, special.ndtr(shift + np.array([-z, z])))
    return float(min(ends[0], drawn[0])), float(max(ends[1], drawn[1]))


def _posterior(
    x: FloatArray, y: FloatArray, noise: FormulationNoise, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Draws of the true means of both, shape (draws, M); the population's possible
    correlations, and their chances."""
    m, s = len(x), np.cov(x, y)
    of_x, weights_x = _lattice(noise.first, float(s[0, 0]), m)
    of_y, weights_y = _lattice(noise.second, float(s[1, 1]), m)
    angles = max(_ANGLES, int(30 * math.sqrt(m)))
    rho = np.sin((np.arange(angles) + 0.5) / angles * math.pi - math.pi / 2)
    a, b, r = (grid.ravel() for grid in np.meshgrid(of_x, of_y, rho, indexing="ij"))
    prior = (weights_x[:, None, None] * weights_y[:, None] * np.ones_like(rho)).ravel()
    c = r * np.sqrt(a * b)
    xx, yy, xy = a + noise.first, b + noise.second, c + noise.both
    determinant = xx * yy - xy**2
    distance = (yy * s[0, 0] - 2 * xy * s[0, 1] + xx * s[1, 1]) / determinant
    fit = -(m - 1) / 2 * (np.log(determinant) + distance)
    weights = np.exp(fit - fit.max()) * prior
    weights /= weights.sum()
    drawn = rng.choice(len(weights), _DRAWS, p=weights)
    a, b, c = a[drawn], b[drawn], c[drawn]
    true = np.array([[a, c], [c, b]]).transpose(2, 0, 1)
    slopes = true @ np.linalg.inv(
        true + np.array([[noise.first, noise.both], [noise.both, noise.second]])
    )
    rest = true - slopes @ true
    rest += 1e-12 * (a + b)[:, None, None] * np.eye(2)  # may have rounded below 0
    means = slopes @ np.array([x - x.mean(), y - y.mean()])
    means += np.linalg.cholesky(rest) @ rng.standard_normal((2, _DRAWS, m)).transpose(
        1, 0, 2
    )
    return means[:, 0], means[:, 1], rho, weights.reshape(-1, angles).sum(axis=0)


def _lattice(noise: float, seen: float, m: int) -> tuple[FloatArray, FloatArray]:
    """Possible variances of true means with their prior weights: noise/(noise +
    variance) is uniform."""
    largest, width = math.log(max(seen, noise)), 6 / math.sqrt(m)
    low, high = math.log(noise), largest + math.log(400)
    near = np.clip(np.linspace(largest - width, largest + width, _LATTICE), low, high)
    ends = np.unique(np.concatenate([np.linspace(low, high, _LATTICE // 2), near]))
    middle = np.exp((ends[1:] + ends[:-1]) / 2)
    return middle - noise, np.diff(ends) * noise / middle


@dataclass(frozen=True)
class Crossings(NamedFigures):
    """Pairs of models whose order differs between the two formulations; arrays of shape
    (P,)."""

    first: NDArray[np.intp]  #: number of the first model of each pair.
    second: NDArray[np.intp]  #: of the second, above ``first``.
    p_holm: FloatArray  #: the larger p of both differences, adjusted for all pairs of models (Holm); NaN without.


def find_crossings(
    first: ArrayLike,
    second: ArrayLike,
    p_first: ArrayLike | None = None,
    p_second: ArrayLike | None = None,
) -> Crossings:
    """Which pairs of models change places.

    A crossing needs both differences with opposite signs: its p is the larger of
    theirs, 1 for a pair of one order.

    Args:
        first: mean of each model in the first formulation, shape (M,).
        second: in the second.
        p_first: two-sided p of each pair's difference in the first, in the order of
            ``numpy.triu_indices(M, 1)``.
        p_second: in the second.

    Examples:
        >>> found = find_crossings([0.2, 0.5, 0.6], [0.4, 0.3, 0.5], [0.01, 0.01, 0.4], [0.02, 0.2, 0.03])
        >>> found.first, found.second, found.p_holm
        (array([0]), array([1]), array([0.06]))
    """
    x, y = (np.asarray(side, dtype=np.float64) for side in (first, second))
    i, j = np.triu_indices(len(x), 1)
    of_x, of_y = (np.sign(side[i] - side[j]) for side in map(comparable, (x, y)))
    crossed = of_x * of_y < 0
    p = np.full(len(i), np.nan)
    if p_first is not None and p_second is not None:
        larger = np.maximum(
            np.asarray(p_first, dtype=np.float64),
            np.asarray(p_second, dtype=np.float64),
        )
        p = holm(np.where(crossed, larger, np.where(np.isnan(larger), np.nan, 1.0)))
    return Crossings(i[crossed], j[crossed], p[crossed])
