"""A random sample of keys that people judge, and what their verdicts say of all keys
(statistics.md §14b).

The sample has two parts: keys that are in it for certain, and a random part of the
others in which each has the same chance, spread over the strata. So a rate needs no
approximation: of the certain part it is known, and in the other the wrong keys among N
are counted by the hypergeometric law, as Clopper and Pearson do by the binomial one.
Strata make that safe: a count spread over them varies less (Hoeffding 1956).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    FloatArray,
    as_floats,
    as_level,
    as_seed,
    check_length,
)
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.labels.audit import strata_of
from warehouse.stats.subsets.design import check_size, hashed

BoolArray = NDArray[np.bool_]

#: Wrong keys, and right ones, that a recalibration needs; and wrong ones among those
#: that stand for others. With fewer of these its 95 % intervals cover .04 to .88, by
#: simulation (docs/reference/methods_audit.md).
FEWEST_VERDICTS, FEWEST_AT_RANDOM = 10, 5
_STEPS, _AT_REST, _LARGEST = 60, 1e-10, 30.0
_CLIPPED = 1e-9


@dataclass(frozen=True, eq=False)
class AuditSample(NamedFigures):
    """Which of J keys people are asked to judge."""

    selected: BoolArray  #: those, shape (J,).
    certain: BoolArray  #: those of them that are in every sample, shape (J,).
    probability: FloatArray  #: chance of each key to be in it, shape (J,).


def draw_audit_sample(
    ids: Sequence[str],
    size: int,
    *,
    certain: ArrayLike = (),
    strata: Sequence[str] | None = None,
    seed: int = 0,
) -> AuditSample:
    """Draw a sample: some keys for certain, of the others each with the same chance.

    The others stand by stratum, within it in an order that their hashes make, and every
    so many is taken from a random start on: each stratum gives its share, rounded up or
    down. Without strata that is a simple random sample.

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
        raise StatisticsError(
            f"{len(ids) - len(set(ids))} keys have an id that another one has"
        )
    if chosen.sum() > size:
        raise StatisticsError(
            f"a sample of {size} keys cannot hold {chosen.sum()} for certain"
        )
    rest = np.flatnonzero(~chosen)
    n, total = size - int(chosen.sum()), len(rest)
    labels = [""] * len(ids)
    if strata is not None:
        labels = [str(label) for label in strata]
    check_length(len(labels), len(ids), "strata")
    hashes = hashed("audit", seed, ids)

    def by_stratum(key: int) -> tuple[str, str]:
        return labels[key], hashes[key]

    order = np.array(sorted(rest.tolist(), key=by_stratum), dtype=np.intp)
    start = int(hashed("start", seed, [f"{n} of {total}"])[0], 16) % max(total, 1)
    ranks = [rank for rank in range(total) if (rank * n + start) % total < n]
    selected = chosen.copy()
    selected[order[ranks]] = True
    chance = 1.0
    if total:
        chance = n / total
    return AuditSample(selected, chosen, np.where(chosen, 1.0, chance))


@dataclass(frozen=True)
class JudgedPart:
    """Keys of which each had the same chance to be judged."""

    n_items: int  #: all of them.
    n_judged: int  #: those with a verdict; all of them: nothing is left to chance.
    n_wrong: int  #: those that are wrong.


@dataclass(frozen=True)
class WrongRate(NamedFigures):
    """The share of wrong keys among all keys of some parts."""

    #: Σ N·wrong/judged over all keys; None where a part has no verdict, or there is no
    #: key.
    estimate: float | None
    low: float | None  #: lower end of the interval; None without keys, like the next.
    high: float | None  #: upper end.


def wrong_rate(parts: Sequence[JudgedPart], *, level: float = 0.95) -> WrongRate:
    """The share of wrong keys, with an interval that is exact for one uncertain part.

    Several share the chance to miss: their limits, each at its part of the tail, are
    added (Bonferroni).

    Args:
        parts: disjoint.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: counts that are none.

    Examples:
        >>> rate = wrong_rate([JudgedPart(50, 50, 12), JudgedPart(2850, 150, 1)])
        >>> round(rate.estimate, 5), round(rate.low, 5), round(rate.high, 5)
        (0.01069, 0.00448, 0.03931)
    """
    for part in parts:
        if not 0 <= part.n_wrong <= part.n_judged <= part.n_items:
            raise StatisticsError(f"wrong, judged and all keys must not fall: {part}")
    total = sum(part.n_items for part in parts)
    if not total:
        return WrongRate(None, None, None)
    uncertain = sum(part.n_judged < part.n_items for part in parts)
    tail = (1 - as_level(level)) / 2 / max(uncertain, 1)
    low = sum(_fewest_wrong(part, tail) for part in parts) / total
    mirrored = (
        JudgedPart(part.n_items, part.n_judged, part.n_judged - part.n_wrong)
        for part in parts
    )
    high = 1 - sum(_fewest_wrong(part, tail) for part in mirrored) / total
    if not all(part.n_judged for part in parts if part.n_items):
        return WrongRate(None, low, high)
    expected = sum(
        part.n_items * part.n_wrong / part.n_judged for part in parts if part.n_judged
    )
    return WrongRate(expected / total, low, high)


def _fewest_wrong(part: JudgedPart, tail: float) -> int:
    """The smallest number M of wrong keys with P(so many wrong among the judged, or
    more) above the tail."""
    low, high = part.n_wrong, part.n_wrong + part.n_items - part.n_judged
    while low < high:
        middle = (low + high) // 2
        if _at_least(part, middle) > tail:
            low, high = (low, middle)
        else:
            low, high = (middle + 1, high)
    return low


def _at_least(part: JudgedPart, wrong: int) -> float:
    """P(X ≥ n_wrong) of the hypergeometric law with M wrong keys: the shorter sum of
    the two."""
    n, total = part.n_judged, part.n_items
    right = total - wrong
    upper = 2 * part.n_wrong > n
    first, last = 0, part.n_wrong - 1
    if upper:
        first, last = part.n_wrong, n
    j = np.arange(max(first, n - right), min(last, wrong) + 1)
    logs = _ln_choose(wrong, j) + _ln_choose(right, n - j) - _ln_choose(total, n)
    summed = float(np.exp(logs).sum())
    if upper:
        return summed
    return 1 - summed


def _ln_choose(n: int, k: ArrayLike) -> FloatArray:
    ln_gamma, chosen = special.gammaln, np.asarray(k, dtype=np.float64)
    return np.asarray(
        ln_gamma(n + 1.0) - ln_gamma(chosen + 1) - ln_gamma(n - chosen + 1),
        dtype=np.float64,
    )


@dataclass(frozen=True, eq=False)
class Recalibration(NamedFigures):
    """Logistic regression of the verdicts on the logit of the posterior, weighted by 1
    over the chance to be judged."""

    #: intercept and slope, 0 and 1 where the posterior is calibrated; a slope below 1
    #: says that its log odds are too wide; None with a ``reason``, like the next two.
    coefficients: FloatArray | None
    errors: FloatArray | None  #: of the weighted sandwich.
    #: errors of an interval's half width: Student's quantile with the wrong keys (or
    #: right ones, if fewer) among those drawn at random less one as degrees of freedom,
    #: since these few stand for many.
    t: float | None
    #: recalibrated, of all keys, shape (J,); NaN where there was none.
    posterior: FloatArray | None
    reason: str  #: why there is no fit.


def recalibrate(
    posterior: ArrayLike,
    wrong: ArrayLike,
    weight: ArrayLike,
    *,
    certain: ArrayLike = False,
    level: float = 0.95,
) -> Recalibration:
    """The posterior on the scale of people's verdicts.

    Args:
        posterior: of all keys, NaN where there is none, shape (J,).
        wrong: verdicts, 1, 0, NaN where not judged, shape (J,).
        weight: keys that a judged one stands for, shape (J,).
        certain: keys that stand in every sample, so not for others drawn at random,
            shape (J,).
        level: nominal coverage of the intervals.
    """
    p = as_floats(posterior, "posterior")
    y, w = as_floats(wrong, "wrong"), as_floats(weight, "weight")
    x = special.logit(np.clip(p, _CLIPPED, 1 - _CLIPPED))
    judged = np.isfinite(y) & np.isfinite(x)
    n_wrong = int(y[judged].sum())
    least = min(n_wrong, int(judged.sum()) - n_wrong)
    if least < FEWEST_VERDICTS:
        which = "right"
        if n_wrong == least:
            which = "wrong"
        return _no_fit(f"it needs {FEWEST_VERDICTS} keys found {which}, found {least}")
    at_random = judged & ~np.asarray(certain, dtype=bool)
    n_random, drawn = int(at_random.sum()), int(y[at_random].sum())
    least_drawn = min(drawn, n_random - drawn)
    if n_random and least_drawn < FEWEST_AT_RANDOM:
        return _no_fit(
            f"it needs {FEWEST_AT_RANDOM} keys found wrong among those drawn at "
            f"random, and as many right, found {drawn} wrong of {n_random}: judge "
            "more of these"
        )
    own = np.column_stack([np.ones(len(x)), x])
    fitted = _regression(own[judged], y[judged], w[judged])
    if fitted is None:
        return _no_fit(
            "the posterior tells wrong and right keys apart without an error, or not "
            "at all"
        )
    if drawn:
        least = least_drawn
    t = t_quantile(as_level(level), least - 1)
    return Recalibration(*fitted, t, special.expit(own @ fitted[0]), "")


def _no_fit(reason: str) -> Recalibration:
    return Recalibration(None, None, None, None, reason)


def _regression(
    x: FloatArray, y: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Weighted logistic regression by Newton's method, errors by the sandwich; None
    where it does not come to rest."""
    weight = w / w.mean()
    beta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = special.expit(x @ beta)
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x
        if np.linalg.cond(hessian) > 1e12:
            return None
        step = np.linalg.solve(hessian, x.T @ (weight * (y - p)))
        longest = float(np.abs(step).max())
        beta = beta + step * min(1.0, 4.0 / max(longest, 1e-300))
        if longest < _AT_REST:
            break
    if longest >= _AT_REST or np.abs(beta[1:]).max() > _LARGEST:
        return None
    scores = x * (weight * (y - p))[:, None]
    bread = np.linalg.inv(hessian)
    sandwich = bread @ (scores.T @ scores) @ bread
    n, k = x.shape
    return beta, np.sqrt(np.diag(sandwich) * n / (n - k))


def weighted_order(
    score: ArrayLike,
    wrong: ArrayLike,
    weight: ArrayLike,
    strata: ArrayLike | None = None,
) -> dict[str, float]:
    """How well a score orders the keys that were judged; arguments as of `recalibrate`.

    Returns:
        P(a wrong key scores above a right one), ties one half, pairs weighted by what
        both stand for: ``auc`` of all pairs, with strata ``auc_within`` of those in
        one, ``auc_between`` of those in two; without what has no pair.
    """
    s, y = as_floats(score, "score"), as_floats(wrong, "wrong")
    w = as_floats(weight, "weight")
    judged = np.isfinite(s) & np.isfinite(y)
    s, w, bad = s[judged], w[judged], y[judged] == 1
    of_wrong, of_right = s[bad][:, None], s[~bad]
    won = (of_wrong > of_right) + 0.5 * (of_wrong == of_right)
    pairs = np.multiply.outer(w[bad], w[~bad])
    chosen = {"auc": np.ones_like(pairs)}
    if strata is not None and judged.any():
        codes = strata_of(strata, judged).groups.codes
        same = (codes[bad][:, None] == codes[~bad]).astype(np.float64)
        chosen |= {"auc_within": same, "auc_between": 1 - same}
    found = {}
    for name, which in chosen.items():
        total = float((pairs * which).sum())
        if total:
            found[name] = float((pairs * won * which).sum()) / total
    return found
