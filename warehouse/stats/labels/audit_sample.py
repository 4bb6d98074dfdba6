"""A random sample of keys that people judge, and what their verdicts say of all keys (statistics.md §14b).

The sample has two parts: keys that are in it for certain, and a random part of the others in which each has the same
chance, spread over the strata. So a rate needs no approximation: of the certain part it is known, and in the other
the wrong keys among N are counted by the hypergeometric law, as Clopper and Pearson do by the binomial one. Strata
make that safe: a count spread over them varies less (Hoeffding 1956).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_floats, as_level, as_seed, check_length
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.labels.audit import strata_of
from warehouse.stats.subsets.design import check_size, hashed

BoolArray = NDArray[np.bool_]

#: Wrong keys, and right ones, that a recalibration needs; and wrong ones among those that stand for others. With
#: fewer of these its 95 % intervals cover .04 to .88, by simulation (docs/audit.md).
FEWEST_VERDICTS, FEWEST_AT_RANDOM = 10, 5
_STEPS, _AT_REST, _LARGEST = 60, 1e-10, 30.0
_CLIPPED = 1e-9
_GRID = 500  # tails at which the limits of two uncertain parts are put together


@dataclass(frozen=True, eq=False)
class AuditSample(NamedFigures):
    """Which of J keys people are asked to judge.

    Attributes:
        selected: those, shape (J,).
        certain: those of them that are in every sample, shape (J,).
        probability: chance of each key to be in it, shape (J,).
    """

    selected: BoolArray
    certain: BoolArray
    probability: FloatArray


def draw_audit_sample(
    ids: Sequence[str], size: int, *, certain: ArrayLike = (), strata: Sequence[str] | None = None, seed: int = 0
) -> AuditSample:
    """Draw a sample: some keys for certain, of the others each with the same chance.

    The others stand by stratum, within it in an order that their hashes make, and every so many is taken from a
    random start on: each stratum gives its share, rounded up or down. Without strata that is a simple random sample.

    Args:
        ids: of the keys, all different, J of them.
        size: keys of the sample, 1 to J.
        certain: numbers of the keys that are in it for certain, at most ``size``.
        strata: label of each key, shape (J,).
        seed: of order and start, from 0.

    Raises:
        StatisticsError: ids twice, a size out of range, more certain keys than that.

    Examples:
        >>> sample = draw_audit_sample(["a", "b", "c", "d", "e"], 3, certain=[1])
        >>> int(sample.selected.sum()), sample.selected[1], sample.probability.tolist()
        (3, np.True_, [0.5, 1.0, 0.5, 0.5, 0.5])
    """
    as_seed(seed)
    check_size(size, len(ids))
    chosen = np.zeros(len(ids), dtype=bool)
    chosen[np.asarray(certain, dtype=np.intp)] = True
    if len(set(ids)) < len(ids):
        raise StatisticsError(f"{len(ids) - len(set(ids))} keys have an id that another one has")
    if chosen.sum() > size:
        raise StatisticsError(f"a sample of {size} keys cannot hold {chosen.sum()} for certain")
    rest = np.flatnonzero(~chosen)
    n, total = size - int(chosen.sum()), len(rest)
    labels = [""] * len(ids) if strata is None else [str(label) for label in strata]
    check_length(len(labels), len(ids), "strata")
    hashes = hashed("audit", seed, ids)
    order = np.array(sorted(rest.tolist(), key=lambda i: (labels[i], hashes[i])), dtype=np.intp)
    start = int(hashed("start", seed, [f"{n} of {total}"])[0], 16) % max(total, 1)
    places = [rank for rank in range(total) if (rank * n + start) % total < n]
    selected = chosen.copy()
    selected[order[places]] = True
    return AuditSample(selected, chosen, np.where(chosen, 1.0, n / total if total else 1.0))


@dataclass(frozen=True)
class JudgedPart:
    """Keys of which each had the same chance to be judged.

    Attributes:
        n_items: all of them.
        n_judged: those with a verdict; all of them: nothing is left to chance.
        n_wrong: those that are wrong.
    """

    n_items: int
    n_judged: int
    n_wrong: int


@dataclass(frozen=True)
class WrongRate(NamedFigures):
    """The share of wrong keys among all keys of some parts.

    Attributes:
        estimate: Σ N·wrong/judged over all keys; None where a part has no verdict, or there is no key.
        low: lower end of the interval; None without keys, like the next.
        high: upper end.
        level: its nominal coverage.
        n_items: keys.
        n_judged: those with a verdict.
        n_wrong: those that are wrong.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    n_items: int
    n_judged: int
    n_wrong: int


def wrong_rate(parts: Sequence[JudgedPart], *, level: float = 0.95) -> WrongRate:
    """The share of wrong keys, with an interval that is exact for one uncertain part.

    Of two uncertain parts the limits are melded (Fay, Proschan and Brittain 2015): each end is the quantile of the
    sum of both parts' limits at random tails.

    Args:
        parts: disjoint, at most two of them uncertain.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: counts that are none, or three uncertain parts.

    Examples:
        >>> wrong_rate([JudgedPart(50, 50, 12), JudgedPart(2850, 150, 1)]).n_wrong
        13
    """
    tail = (1 - as_level(level)) / 2
    for part in parts:
        if not 0 <= part.n_wrong <= part.n_judged <= part.n_items:
            raise StatisticsError(f"wrong, judged and all keys must not fall: {part}")
    counts = [sum(getattr(part, name) for part in parts) for name in ("n_items", "n_judged", "n_wrong")]
    if not counts[0]:
        return WrongRate(None, None, None, level, 0, 0, 0)
    known = all(part.n_judged for part in parts if part.n_items)
    expected = sum(part.n_items * part.n_wrong / part.n_judged for part in parts if part.n_judged)
    mirrored = [JudgedPart(part.n_items, part.n_judged, part.n_judged - part.n_wrong) for part in parts]
    ends = [_fewest_wrong(parts, tail), counts[0] - _fewest_wrong(mirrored, tail)]
    low, high = (end / counts[0] for end in ends)
    return WrongRate(expected / counts[0] if known else None, low, high, level, *counts)


def _fewest_wrong(parts: Sequence[JudgedPart], tail: float) -> int:
    """The lower limit of the number of wrong keys in all parts."""
    fixed = sum(part.n_wrong for part in parts if part.n_judged == part.n_items)
    open_parts = [part for part in parts if part.n_judged < part.n_items]
    if len(open_parts) > 2:
        raise StatisticsError(f"{len(open_parts)} parts are uncertain, at most two can be put together")
    if len(open_parts) < 2:
        return fixed + sum(int(_limits(part, np.array([tail]))[0]) for part in open_parts)
    tails = (np.arange(_GRID) + 0.5) / _GRID
    sums = np.add.outer(*(_limits(part, tails) for part in open_parts)).ravel()
    place = int(tail * len(sums))
    return fixed + int(np.partition(sums, place)[place])


def _limits(part: JudgedPart, tails: FloatArray) -> NDArray[np.int64]:
    """For each tail the smallest number M of wrong keys with P(so many wrong among the judged, or more) above it."""
    low = np.full(len(tails), part.n_wrong, dtype=np.int64)
    high = low + part.n_items - part.n_judged
    while (low < high).any():
        middle = (low + high) // 2
        enough = _at_least(part, middle) > tails
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return low


def _at_least(part: JudgedPart, wrong: NDArray[np.int64]) -> FloatArray:
    """P(X ≥ n_wrong) of the hypergeometric law with M wrong keys, for each M: the shorter sum of the two."""
    n, total = part.n_judged, part.n_items
    upper = 2 * part.n_wrong > n
    counts = range(part.n_wrong, n + 1) if upper else range(part.n_wrong)
    summed = np.zeros(len(wrong))
    for j in counts:
        possible = (wrong >= j) & (total - wrong >= n - j)
        m = np.where(possible, wrong, j + (total - n))
        logs = _ln_choose(m, j) + _ln_choose(total - m, n - j) - _ln_choose(np.array([total]), n)
        summed += np.where(possible, np.exp(logs), 0.0)
    return summed if upper else 1 - summed


def _ln_choose(n: NDArray[np.int64], k: int) -> FloatArray:
    ln_gamma = special.gammaln
    return np.asarray(ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0), dtype=np.float64)


@dataclass(frozen=True)
class Slope(NamedFigures):
    """A coefficient of a logistic regression.

    Attributes:
        estimate: change of the log odds of a wrong key.
        standard_error: of the weighted sandwich.
        low: lower end of Student's interval, with the wrong keys (or right ones, if fewer) among those drawn at random
            less one as degrees of freedom.
        high: upper end.
    """

    estimate: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Recalibration(NamedFigures):
    """Logistic regression of the verdicts on the logit of the posterior, weighted by one over the chance to be judged.

    Attributes:
        intercept: 0 where the posterior is calibrated; None with a ``reason``, like the next two.
        slope: 1 where it is calibrated; below 1 its log odds are too wide.
        posterior: recalibrated, of all keys, shape (J,); NaN where there was none.
        within: slope on the difference to the mean of the stratum; None without strata, or a fit.
        between: slope on the mean of the stratum.
        reason: why there is no fit.
    """

    intercept: Slope | None
    slope: Slope | None
    posterior: FloatArray | None
    within: Slope | None
    between: Slope | None
    reason: str


def recalibrate(
    posterior: ArrayLike, wrong: ArrayLike, weight: ArrayLike, strata: ArrayLike | None = None, *, level: float = 0.95
) -> Recalibration:
    """The posterior on the scale of people's verdicts.

    Args:
        posterior: of all keys, NaN where there is none, shape (J,).
        wrong: verdicts, 1, 0, NaN where not judged, shape (J,).
        weight: keys that a judged one stands for, shape (J,).
        strata: label of each key, shape (J,).
        level: nominal coverage of the intervals.
    """
    p, y, w = (as_floats(one, name) for one, name in ((posterior, "posterior"), (wrong, "wrong"), (weight, "weight")))
    x = special.logit(np.clip(p, _CLIPPED, 1 - _CLIPPED))
    judged = np.isfinite(y) & np.isfinite(x)
    n_wrong = int(y[judged].sum())
    least = min(n_wrong, int(judged.sum()) - n_wrong)
    if least < FEWEST_VERDICTS:
        which = "wrong" if n_wrong == least else "right"
        return _no_fit(f"it needs {FEWEST_VERDICTS} keys found {which}, found {least}")
    at_random = judged & (w > 1)
    drawn = int(y[at_random].sum())
    if at_random.any() and min(drawn, int(at_random.sum()) - drawn) < FEWEST_AT_RANDOM:
        return _no_fit(
            f"it needs {FEWEST_AT_RANDOM} keys found wrong among those drawn at random, and as many right, found"
            f" {drawn} wrong of {int(at_random.sum())}: judge more of these"
        )
    own = np.column_stack([np.ones(len(x)), x])
    # What makes the error are the few wrong (or right) keys that stand for many.
    t = t_quantile(as_level(level), (min(drawn, int(at_random.sum()) - drawn) if drawn else least) - 1)
    fitted = _regression(own[judged], y[judged], w[judged], t)
    if fitted is None:
        return _no_fit("the posterior tells wrong and right keys apart without an error, or not at all")
    within, between = _by_stratum(x, y, w, strata, t)
    intercept, slope = fitted
    recalibrated = special.expit(intercept.estimate + slope.estimate * x)
    return Recalibration(intercept, slope, recalibrated, within, between, "")


def _no_fit(reason: str) -> Recalibration:
    return Recalibration(None, None, None, None, None, reason)


def _by_stratum(
    x: FloatArray, y: FloatArray, w: FloatArray, strata: ArrayLike | None, t: float
) -> tuple[Slope | None, Slope | None]:
    """Slopes on a key's difference to its stratum's mean, and on that mean."""
    known = np.isfinite(x)
    if strata is None:
        return None, None
    groups = strata_of(strata, known).groups
    mean = np.full(len(x), np.nan)
    mean[known] = (groups.sums(x[known]) / groups.sizes)[groups.codes]
    judged = known & np.isfinite(y)
    design = np.column_stack([np.ones(len(x)), x - mean, mean])[judged]
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None, None
    fitted = _regression(design, y[judged], w[judged], t)
    return (None, None) if fitted is None else (fitted[1], fitted[2])


def _regression(x: FloatArray, y: FloatArray, w: FloatArray, t: float) -> tuple[Slope, ...] | None:
    """Weighted logistic regression by Newton's method, errors by the sandwich; None where it does not come to rest."""
    weight = w / w.mean()
    beta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = special.expit(x @ beta)
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x
        if np.linalg.cond(hessian) > 1e12:
            return None
        step = np.linalg.solve(hessian, x.T @ (weight * (y - p)))
        beta = beta + step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < _AT_REST:
            break
    if np.abs(step).max() >= _AT_REST or np.abs(beta[1:]).max() > _LARGEST:
        return None
    scores = x * (weight * (y - p))[:, None]
    bread = np.linalg.inv(hessian)
    errors = np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread) * len(y) / (len(y) - x.shape[1]))
    return tuple(
        Slope(float(b), float(e), float(b - t * e), float(b + t * e)) for b, e in zip(beta, errors, strict=True)
    )


@dataclass(frozen=True)
class WeightedOrder(NamedFigures):
    """P(a wrong key scores above a right one), ties one half, over pairs weighted by what both stand for.

    Attributes:
        overall: all pairs; None where there is none, like the next two.
        within: pairs of one stratum.
        between: pairs of two strata.
    """

    overall: float | None
    within: float | None
    between: float | None


def weighted_order(
    score: ArrayLike, wrong: ArrayLike, weight: ArrayLike, strata: ArrayLike | None = None
) -> WeightedOrder:
    """How well a score orders the keys that were judged; arguments as of `recalibrate`."""
    s, y, w = (as_floats(one, name) for one, name in ((score, "score"), (wrong, "wrong"), (weight, "weight")))
    judged = np.isfinite(s) & np.isfinite(y)
    if not judged.any():
        return WeightedOrder(None, None, None)
    codes = strata_of(strata, judged).groups.codes
    s, w, y = s[judged], w[judged], y[judged] == 1
    won = (s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])
    pairs = np.multiply.outer(w[y], w[~y])
    same = codes[y][:, None] == codes[~y]

    def share(chosen: BoolArray) -> float | None:
        total = float(pairs[chosen].sum())
        return float((won * pairs)[chosen].sum()) / total if total else None

    within, between = (None, None) if strata is None else (share(same), share(~same))
    return WeightedOrder(share(np.ones_like(same)), within, between)
