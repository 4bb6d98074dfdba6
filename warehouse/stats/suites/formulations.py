"""Two formulations of one benchmark over the same finished models: do they agree on
them (statistics.md §19a)?

Sampling noise in the means pulls a correlation down, and resampling prompts adds it
again: percentile, basic and bias-corrected intervals of resampled prompts missed the
correlation of the true means in up to all samples. Here the noise is measured and taken
off: means are normal about the models' true means, which are normal themselves, and the
posterior of these is drawn from (Daniels's uniform shrinkage prior on either variance,
the arcsine prior on the correlation). Its coverage is in
docs/reference/calibration_formulations.md.
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
    units, codes = np.unique(numbered, return_inverse=True)
    split = len(np.asarray(units_first))
    codes_first, codes_second = codes[:split], codes[split:]
    errors_first = _errors_of_units(first, codes_first, len(units))
    errors_second = _errors_of_units(second, codes_second, len(units))
    if errors_first is None or errors_second is None:
        return None
    scale = 1 / (errors_first.shape[1] - 1)
    return FormulationNoise(
        first=float((errors_first * errors_first).sum() * scale),
        second=float((errors_second * errors_second).sum() * scale),
        both=float((errors_first * errors_second).sum() * scale),
        n_units=min(len(np.unique(codes_first)), len(np.unique(codes_second))),
    )


def _errors_of_units(
    scores: ArrayLike, codes: NDArray[np.intp], n_codes: int
) -> FloatArray | None:
    """`_influence`; None with one unit, one model, or where only rounding varies."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    if len(np.unique(codes)) < 2:
        return None
    errors = _influence(values, codes, n_codes)
    rounding = 1e-12 * np.nanmax(np.abs(values))
    if np.abs(errors).max() <= rounding:
        return None
    return errors


def _influence(values: FloatArray, codes: NDArray[np.intp], n_codes: int) -> FloatArray:
    """What each unit adds to the error of each model's mean, less what it adds to all,
    shape (units, M)."""
    there = np.isfinite(values)
    counts = there.sum(axis=0)
    means = np.where(there, values, 0.0).sum(axis=0) / counts
    residuals = np.where(there, values - means, 0.0)
    parts = np.zeros((n_codes, values.shape[1]))
    np.add.at(parts, codes, residuals / counts)
    share = np.bincount(codes, minlength=n_codes) / len(codes)
    # CR2; n − 1 where each prompt is a unit
    not_own = np.maximum(1 - share, 1e-9)
    parts /= np.sqrt(not_own)[:, None]
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
    x = comparable(np.asarray(first, dtype=np.float64))
    y = comparable(np.asarray(second, dtype=np.float64))
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
    prompts, both = _without_noise(x, y, noise, level, rng)
    found = []
    for name, observed in _of_draws(x[None], y[None]).items():
        estimate = float(observed[0])
        models = _for_other_models(name, estimate, len(x), others[name], level)
        ends = (*models, *prompts[name], *both[name])
        found.append(Agreement(name, level, estimate, *ends))
    return tuple(found)


_Intervals = dict[str, tuple[float | None, float | None]]


def _without_noise(
    x: FloatArray,
    y: FloatArray,
    noise: FormulationNoise | None,
    level: float,
    rng: np.random.Generator,
) -> tuple[_Intervals, _Intervals]:
    """Intervals `prompts` and `both` of each statistic, from the posterior."""
    prompts: _Intervals = dict.fromkeys(STATISTICS, (None, None))
    both: _Intervals = dict.fromkeys(STATISTICS, (None, None))
    if noise is None or min(noise.first, noise.second) <= 0:
        return prompts, both
    true_x, true_y, rho, chances = _posterior(x, y, noise, rng)
    for name, draws in _of_draws(true_x, true_y).items():
        prompts[name] = _central(draws, level)
    if len(x) >= FEWEST_FOR_OTHERS:
        both |= _population(rho, chances, len(x), level)
    return prompts, both


def _population(
    rho: FloatArray, chances: FloatArray, m: int, level: float
) -> _Intervals:
    """Interval `both` of each statistic: of the correlation of normal models, of which
    τ and Spearman's are functions."""
    quantiles = [(1 - level) / 2, 0.5, (1 + level) / 2]
    low, middle, high = np.interp(quantiles, chances.cumsum() - chances / 2, rho)
    half = float(special.ndtri((1 + level) / 2)) / math.sqrt(m - 3)
    # Fisher's z is longer with few models
    fisher_low, fisher_high = np.tanh(np.arctanh(middle) + np.array([-half, half]))
    ends = np.array([min(low, fisher_low), max(high, fisher_high)])
    kendall = 2 / math.pi * np.arcsin(ends)
    spearman = 6 / math.pi * np.arcsin(ends / 2)
    return {
        "pearson": (float(ends[0]), float(ends[1])),
        "kendall": (float(kendall[0]), float(kendall[1])),
        "spearman": (float(spearman[0]), float(spearman[1])),
    }


def _of_draws(x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """The statistics of each row; NaN where a side is constant."""
    ranks_x = stats.rankdata(x, axis=1)
    ranks_y = stats.rankdata(y, axis=1)
    return {
        "pearson": _pearson(x, y),
        "kendall": _kendall(x, y),
        "spearman": _pearson(ranks_x, ranks_y),
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
        sign_x = np.sign(x[:, apart:] - x[:, :-apart])
        sign_y = np.sign(y[:, apart:] - y[:, :-apart])
        both += np.einsum("ij,ij->i", sign_x, sign_y)
        of_x += np.einsum("ij,ij->i", sign_x, sign_x)
        of_y += np.einsum("ij,ij->i", sign_y, sign_y)
    with np.errstate(invalid="ignore"):
        return np.clip(both / np.sqrt(of_x) / np.sqrt(of_y), -1.0, 1.0)


def _pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    a = x - x.mean(axis=1, keepdims=True)
    b = y - y.mean(axis=1, keepdims=True)
    covariance = (a * b).sum(axis=1)
    variances = (a * a).sum(axis=1) * (b * b).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = covariance / np.sqrt(variances)
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
    variance_of_z = {
        "pearson": 1 / (m - 3),
        "kendall": 0.437 / (m - 4),
        "spearman": (1 + estimate**2 / 2) / (m - 3),
    }[name]
    z = float(special.ndtri((1 + level) / 2))
    both_sides = np.array([-z, z])
    ends = np.tanh(np.arctanh(estimate) + both_sides * math.sqrt(variance_of_z))
    share_below = ((draws < estimate).mean() + (draws <= estimate).mean()) / 2
    share_below = float(np.clip(share_below, 1e-3, 1 - 1e-3))
    shift = 2 * float(special.ndtri(share_below))
    drawn = np.quantile(draws, special.ndtr(shift + both_sides))
    return float(min(ends[0], drawn[0])), float(max(ends[1], drawn[1]))


def _posterior(
    x: FloatArray, y: FloatArray, noise: FormulationNoise, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Draws of the true means of both, shape (draws, M); the population's possible
    correlations, and their chances."""
    m, seen = len(x), np.cov(x, y)
    of_x, weights_x = _lattice(noise.first, float(seen[0, 0]), m)
    of_y, weights_y = _lattice(noise.second, float(seen[1, 1]), m)
    angles = max(_ANGLES, int(30 * math.sqrt(m)))
    # the arcsine prior: angles are uniform
    rho = np.sin((np.arange(angles) + 0.5) / angles * math.pi - math.pi / 2)
    grids = np.meshgrid(of_x, of_y, rho, indexing="ij")
    a, b, r = (grid.ravel() for grid in grids)
    c = r * np.sqrt(a * b)
    prior = (weights_x[:, None, None] * weights_y[:, None] * np.ones_like(rho)).ravel()
    fit = _log_likelihood((a, b, c), noise, seen, m)
    weights = np.exp(fit - fit.max()) * prior
    weights /= weights.sum()
    drawn = rng.choice(len(weights), _DRAWS, p=weights)
    true_x, true_y = _true_means(x, y, (a[drawn], b[drawn], c[drawn]), noise, rng)
    chances = weights.reshape(-1, angles).sum(axis=0)
    return true_x, true_y, rho, chances


_Moments = tuple[FloatArray, FloatArray, FloatArray]


def _log_likelihood(
    true: _Moments, noise: FormulationNoise, seen: FloatArray, m: int
) -> FloatArray:
    """Of the covariance of means that was seen, noise included (Wishart)."""
    a, b, c = true
    xx, yy, xy = a + noise.first, b + noise.second, c + noise.both
    determinant = xx * yy - xy**2
    adjugate = yy * seen[0, 0] - 2 * xy * seen[0, 1] + xx * seen[1, 1]
    distance = adjugate / determinant
    return np.asarray(-(m - 1) / 2 * (np.log(determinant) + distance))


def _true_means(
    x: FloatArray,
    y: FloatArray,
    drawn: _Moments,
    noise: FormulationNoise,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """One draw of all true means about 0 for each of the moments, shape (draws, M)."""
    a, b, c = drawn
    true = np.array([[a, c], [c, b]]).transpose(2, 0, 1)
    of_noise = np.array([[noise.first, noise.both], [noise.both, noise.second]])
    slopes = true @ np.linalg.inv(true + of_noise)
    rest = true - slopes @ true
    rest += 1e-12 * (a + b)[:, None, None] * np.eye(2)  # may have rounded below 0
    means = slopes @ np.array([x - x.mean(), y - y.mean()])
    standard = rng.standard_normal((2, len(a), len(x))).transpose(1, 0, 2)
    means += np.linalg.cholesky(rest) @ standard
    return means[:, 0], means[:, 1]


def _lattice(noise: float, seen: float, m: int) -> tuple[FloatArray, FloatArray]:
    """Possible variances of true means with their prior weights: noise/(noise +
    variance) is uniform."""
    largest, width = math.log(max(seen, noise)), 6 / math.sqrt(m)
    low, high = math.log(noise), largest + math.log(400)
    near = np.linspace(largest - width, largest + width, _LATTICE)
    near = np.clip(near, low, high)
    far = np.linspace(low, high, _LATTICE // 2)
    ends = np.unique(np.concatenate([far, near]))
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
    x = comparable(np.asarray(first, dtype=np.float64))
    y = comparable(np.asarray(second, dtype=np.float64))
    i, j = np.triu_indices(len(x), 1)
    crossed = np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) < 0
    p = np.full(len(i), np.nan)
    if p_first is not None and p_second is not None:
        larger = np.maximum(
            np.asarray(p_first, dtype=np.float64),
            np.asarray(p_second, dtype=np.float64),
        )
        of_one_order = np.where(np.isnan(larger), np.nan, 1.0)
        p = holm(np.where(crossed, larger, of_one_order))
    return Crossings(i[crossed], j[crossed], p[crossed])
