"""The default intervals for many samples at once: units of one size, totals as input.

The choice of the method is `warehouse.stats.choose_interval` itself; the formulas are
those of `estimate_mean`, written for arrays. tests/stats/test_calibration.py holds them
to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from warehouse.stats import choose_interval
from warehouse.stats.core.quantiles import t_quantiles
from warehouse.stats.intervals.asymmetry import implied_skewnesses, skewness_factor
from warehouse.stats.intervals.bootstrap_t import _rank, studentised
from warehouse.stats.intervals.gaffke import gaffke_interval

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
TAIL = 0.025
_SETS = 256  # samples that are resampled at a time
Z = float(special.ndtri(1 - TAIL))


class Samples(NamedTuple):
    """What the methods need of each of S samples of U units, shape (S,) each, and the
    totals."""

    mean: Array
    error: Array
    kurtosis: Array
    skewness: Array
    effective: Array
    tail_units: Array
    totals: Array


class SampleIntervals(NamedTuple):
    """Ends (NaN for no interval), method and whether a flag warns, shape (S,) each."""

    low: Array
    high: Array
    method: NDArray[np.str_]
    flagged: Flags


def describe(totals: Array, size: int) -> Samples:
    """Figures of samples.

    Args:
        totals: total score of each unit, shape (S, U).
        size: prompts per unit.
    """
    units = totals.shape[1]
    mean = totals.mean(axis=1) / size
    centred = totals - (mean * size)[:, None]
    centred[np.abs(centred) <= 1e-12 * size] = 0.0
    squares = centred * centred
    second = squares.mean(axis=1)
    safe = np.where(second > 0, second, 1.0)
    skewness = (squares * centred).mean(axis=1) / safe**1.5
    plain = (squares * squares).mean(axis=1) / safe**2 - np.where(second > 0, 3.0, 0.0)
    kurtosis = ((units + 1) * plain + 6) * (units - 1) / ((units - 2) * (units - 3))
    rest = size - totals
    sides = [_kish(totals), _kish(rest)]
    return Samples(
        mean=mean,
        error=np.sqrt(second / (units - 1)) / size,
        kurtosis=np.where(second > 0, kurtosis, 0.0),
        skewness=skewness,
        effective=np.minimum(*sides),
        tail_units=_tail_units(totals, squares),
        totals=totals,
    )


def _tail_units(totals: Array, squares: Array) -> Array:
    fourth = (squares * squares).sum(axis=1)
    units = squares.sum(axis=1) ** 2 / np.where(fourth > 0, fourth, 1.0)
    apart = np.abs(totals - np.median(totals, axis=1)[:, None])
    apart = (apart > 1e-12 * np.sqrt(squares.max(axis=1))[:, None]).sum(axis=1)
    return np.where((fourth > 0) & (apart > 6 * units), units, np.inf)


def _unseen(samples: Samples, units: int) -> Array:
    farther = np.maximum(1 - samples.mean, samples.mean)
    error = np.where(samples.error > 0, samples.error, np.inf)
    return np.asarray(-np.log(TAIL) * farther / units / error)


def _kish(side: Array) -> Array:
    squares = (side * side).sum(axis=1)
    return np.where(
        squares > 0, side.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1), 0.0
    )


def intervals(
    totals: Array,
    size: int,
    *,
    clustered: bool,
    binary: bool,
    bounded: bool,
    paired: bool = False,
) -> SampleIntervals:
    """The default interval of each sample.

    Args:
        totals: total score of each unit, shape (S, U); bounded scores lie in [0, 1].
        size: prompts per unit, 1 without clusters.
        clustered: units are clusters.
        binary: scores are 0 or 1, one draw each.
        bounded: scores lie in [0, 1].
        paired: scores are differences of two runs with scores in [0, 1].
    """
    samples, units = describe(totals, size), totals.shape[1]
    effective_n = samples.effective if bounded else np.full(len(totals), np.inf)
    if paired:
        effective_n = _kish(np.abs(totals))
    skewness = samples.skewness
    if not (bounded or paired):
        skewness = skewness / units**0.5
    elif paired and units >= 50:
        raised = np.abs(skewness) * skewness_factor(units)
        skewness = np.maximum(raised, implied_skewnesses(totals))
    choices = [
        choose_interval(
            n_prompts=units * size,
            n_clusters=units if clustered else None,
            binary=binary,
            bounded=bounded or paired,
            effective_n=float(effective),
            skewness=float(skew),
            tail_units=float(tails) if paired else np.inf,
            unseen=float(missed),
            constant=missed == 0,
            effective_clusters=float(units) if clustered else np.inf,
            differences=paired,
        )
        for effective, skew, tails, missed in zip(
            effective_n,
            skewness,
            samples.tail_units,
            _unseen(samples, units),
            strict=True,
        )
    ]
    method = np.array([choice.method for choice in choices])
    low, high = np.full((2, len(totals)), np.nan)
    for name in set(method.tolist()):
        rows = method == name
        part = Samples(*(field[rows] for field in samples))
        low[rows], high[rows] = METHODS[name](part, units, size)
    return SampleIntervals(
        low, high, method, np.array([bool(choice.flags) for choice in choices])
    )


def _t(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    half = samples.error * special.stdtrit(units - 1, 1 - TAIL)
    half = np.where(half > 0, half, np.nan)
    return samples.mean - half, samples.mean + half


def _hull_ends(
    draws: Array, degrees_of_freedom: Array, level: float
) -> tuple[Array, Array]:
    """`StudentisedDraws.ends` of several sets, shape (S,) each.

    Args:
        draws: of `studentised`, shape (B, S).
        degrees_of_freedom: shape (S,).
        level: nominal coverage, in (0, 1).
    """
    n = len(draws)
    low_rank, high_rank = _rank((1 - level) / 2, n) - 1, _rank((1 + level) / 2, n) - 1
    ranked = np.partition(draws, (low_rank, high_rank), axis=0)
    t = t_quantiles(level, degrees_of_freedom)
    return np.minimum(ranked[low_rank], -t), np.maximum(ranked[high_rank], t)


def _hull(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    centred = samples.totals - samples.totals.mean(axis=1)[:, None]
    ends = [np.full(len(centred), np.nan) for _ in range(2)]
    for start in range(0, len(centred), _SETS):
        rows = slice(start, start + _SETS)
        draws = studentised(centred[rows], None, seed=0)
        low, high = _hull_ends(
            draws, np.full(draws.shape[1], units - 1.0), 1 - 2 * TAIL
        )
        known = np.isfinite(high - low) & (samples.error[rows] > 0)
        for end, reach in zip(ends, (high, low), strict=True):
            end[rows] = np.where(
                known, samples.mean[rows] - reach * samples.error[rows], np.nan
            )
    return ends[0], ends[1]


def _gaffke(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    ends = [
        gaffke_interval(scores, (0.0, 1.0), 1 - 2 * TAIL) for scores in samples.totals
    ]
    return np.array([each.low for each in ends]), np.array([each.high for each in ends])


def _wilson(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    return score_interval(samples.mean, np.full(len(samples.mean), float(units)))


def _wilson_bounded(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    mean = samples.mean
    ratio = (Z / special.stdtrit(units - 1, 1 - TAIL)) ** 2
    with np.errstate(divide="ignore"):
        return score_interval(mean, mean * (1 - mean) / samples.error**2 * ratio)


def _korn_graubard(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    mean, prompts = samples.mean, float(units * size)
    with np.errstate(divide="ignore"):
        naive = np.minimum(prompts, mean * (1 - mean) / samples.error**2)
    ratio = special.stdtrit(prompts - 1, 1 - TAIL) / special.stdtrit(
        units - 1, 1 - TAIL
    )
    return score_interval(mean, naive * ratio**2)


def _effective(samples: Samples, units: int, size: int) -> tuple[Array, Array]:
    mean = np.clip(samples.mean, 0.0, 1.0)
    df = np.minimum(
        units - 1, 2 / (2 / (units - 1) + np.maximum(samples.kurtosis, 0) / units)
    )
    ratio = (Z / special.stdtrit(df, 1 - TAIL)) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.maximum(float(units), mean * (1 - mean) / samples.error**2 * ratio)
    n = np.where((samples.effective < 4) | (samples.error == 0), float(units), n)
    return exact_interval(mean, n)


def score_interval(mean: Array, n: Array) -> tuple[Array, Array]:
    """Wilson's interval."""
    r = Z * Z / n
    half = np.sqrt(r * (mean * (1 - mean) + r / 4))
    low, high = (mean + r / 2 - half) / (1 + r), (mean + r / 2 + half) / (1 + r)
    return np.where(mean == 0, 0.0, low), np.where(mean == 1, 1.0, high)


def exact_interval(mean: Array, n: Array) -> tuple[Array, Array]:
    """Clopper–Pearson's interval."""
    x, rest = mean * n, n - mean * n
    low = special.betaincinv(np.where(mean > 0, x, 1.0), rest + 1, TAIL)
    high = special.betaincinv(x + 1, np.where(mean < 1, rest, 1.0), 1 - TAIL)
    return np.where(mean > 0, low, 0.0), np.where(mean < 1, high, 1.0)


METHODS = {
    "hull": _hull,
    "t": _t,
    "cr2_t": _t,
    "wilson": _wilson,
    "gaffke": _gaffke,
    "wilson_bounded": _wilson_bounded,
    "korn_graubard_wilson": _korn_graubard,
    "clopper_pearson_effective": _effective,
}
