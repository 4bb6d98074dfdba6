"""The fewest units without which a difference is no longer shown: p passes α on what is
kept (statistics.md §26.1).

What is left after leaving out has no p: these counts describe the data, and are no test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_clusters,
    as_scores,
    check_one_sided,
)
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.paired.sign_flip import binomial_p_value

#: Prompts, and clusters, below which nothing is said.
FEWEST_PROMPTS, FEWEST_CLUSTERS = 8, 5
#: Sets of clusters up to which all of one size are tried.
MOST_SETS = 60_000
#: Tangents of the root of the sum of squares, as shares of that of all.
_TANGENTS = np.geomspace(0.02, 1.0, 60)


@dataclass(frozen=True)
class HandfulP(NamedFigures):
    """The fewest units without which p is above α."""

    #: 0 where it is above α as it stands; None where there are too few units.
    count: int | None
    #: no fewer units do; below ``count`` where that is not proved to be the fewest.
    at_least: int | None
    exact: bool  #: whether ``count`` is proved to be the fewest.
    p_value: float | None  #: of all units; None where it is not defined.
    left_out: NDArray[np.intp]  #: numbers of the units of one such set.
    method: str  #: ``mcnemar``, ``t`` or ``cr2``.


_NONE = np.empty(0, dtype=np.intp)


def passing_binary(differences: ArrayLike, alpha: float = 0.05) -> HandfulP:
    """Of differences of single verdicts: McNemar's exact test, wins left out.

    Exact: to leave out a loss never raises p.

    Args:
        differences: −1, 0 or 1 of each prompt, shape (n,).
        alpha: p above which a difference is not shown, between 0 and 0.5.
    """
    check_one_sided(alpha)
    values = as_scores(differences, "differences")
    wins, losses = _won_and_lost(values)
    p_value = binomial_p_value(len(wins), len(losses))
    count = None
    if len(values) >= FEWEST_PROMPTS:
        count = fewest_wins(len(wins), len(losses), alpha)
    return HandfulP(
        count=count,
        at_least=count,
        exact=True,
        p_value=p_value,
        left_out=wins[: count or 0],
        method="mcnemar",
    )


def fewest_wins(b: int, c: int, alpha: float) -> int:
    """Fewest of b wins without which McNemar's p against c losses is above α."""
    return _first(lambda k: binomial_p_value(b - k, c) > alpha, 0, b - c)


def _won_and_lost(
    values: FloatArray,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The prompts that speak for the one that leads, and for the other."""
    won, lost = np.flatnonzero(values > 0), np.flatnonzero(values < 0)
    if len(won) < len(lost):
        return lost, won
    return won, lost


def _first(is_reached: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number between two, from which on something holds; it holds at the
    higher."""
    while low < high:
        middle = (low + high) // 2
        if is_reached(middle):
            high = middle
        else:
            low = middle + 1
    return low


def passing_t(differences: ArrayLike, alpha: float = 0.05) -> HandfulP:
    """Of real-valued differences: Student's t.

    p is above α just where A < ρ√B, with A and B the sums of the kept differences and of
    their squares and ρ² = t²n′/(n′ − 1 + t²). √B is at most B/2λ + λ/2 for each λ > 0:
    the k largest d − ρd²/2λ are a set to try, and show that no k prompts do where
    A − ρ(B/2λ + λ/2) is above 0 without them.

    Args:
        differences: of each prompt, finite, shape (n,).
        alpha: p above which a difference is not shown, between 0 and 0.5.
    """
    check_one_sided(alpha)
    values = as_scores(differences, "differences")
    if values.sum() < 0:
        values = -values
    n = len(values)
    p_value = _p_of_t(values)
    if n < FEWEST_PROMPTS or p_value is None:
        return HandfulP(None, None, True, p_value, _NONE, "t")
    if p_value > alpha:
        return HandfulP(0, 0, True, p_value, _NONE, "t")
    search = _Tangents(values, alpha)
    most = n - 2
    count = _first(lambda k: search.at(k).found is not None, 1, most)
    found = search.at(count).found
    if found is None:
        return HandfulP(None, None, True, p_value, _NONE, "t")
    at_least = count
    while at_least > 1 and not search.at(at_least - 1).is_ruled_out:
        at_least -= 1
        fewer = search.at(at_least).found
        if fewer is not None:
            count, found = at_least, fewer
    return HandfulP(count, at_least, count == at_least, p_value, found, "t")


@dataclass(frozen=True)
class _Tried:
    """What is known of sets of one size."""

    found: NDArray[np.intp] | None  #: one without which p is above α.
    is_ruled_out: bool  #: none of this size does.


class _Tangents:
    """Sets of the k prompts whose loss takes most from one of several lines above the
    root.

    Args:
        values: differences of the one that leads, shape (n,).
        alpha: of the test, two-sided.
    """

    def __init__(self, values: FloatArray, alpha: float) -> None:
        self._values = values
        self._squares = values**2
        self._level = 1 - alpha
        self._known: dict[int, _Tried] = {}

    def at(self, k: int) -> _Tried:
        """What the sets of k prompts show."""
        if k not in self._known:
            self._known[k] = self._try(k)
        return self._known[k]

    def _try(self, k: int) -> _Tried:
        kept = len(self._values) - k
        rho = _slope(self._level, kept)
        total, squares = float(self._values.sum()), float(self._squares.sum())
        bound = -inf
        for scale in sqrt(squares) * _TANGENTS:
            gains = self._values - rho * self._squares / (2 * scale)
            chosen = np.argpartition(-gains, k - 1)[:k]
            rest = total - float(self._values[chosen].sum())
            rest_squares = squares - float(self._squares[chosen].sum())
            if rest < rho * sqrt(max(rest_squares, 0.0)):
                order = np.argsort(-gains[chosen], kind="stable")
                return _Tried(chosen[order], False)
            line = rho * (rest_squares / (2 * scale) + scale / 2)
            bound = max(bound, rest - line)
        return _Tried(None, bound > 0)


def _slope(level: float, n: int) -> float:
    """ρ: p is above 1 − level just where the sum is below ρ times the root of the sum of
    squares."""
    t = t_quantile(level, n - 1)
    return sqrt(t**2 * n / (n - 1 + t**2))


def _p_of_t(values: FloatArray) -> float | None:
    """Student's two-sided p of a mean of 0; None where all are equal."""
    n = len(values)
    if n < 2:
        return None
    error = float(values.std(ddof=1)) / sqrt(n)
    if error == 0:
        return None
    return float(2 * special.stdtr(n - 1, -abs(float(values.mean())) / error))


def passing_clusters(
    differences: ArrayLike, clusters: ArrayLike, alpha: float = 0.05
) -> HandfulP:
    """Of whole clusters: t by the cluster-robust error CR2, with its degrees of freedom
    (§1).

    All sets of a size are tried while these are few; beyond that the cluster whose loss
    raises p most is left out each time, and ``exact`` is False.

    Args:
        differences: of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,).
        alpha: p above which a difference is not shown, between 0 and 0.5.
    """
    check_one_sided(alpha)
    values = as_scores(differences, "differences")
    groups = as_clusters(clusters, len(values))
    if groups.n < 2:
        return HandfulP(None, None, True, None, _NONE, "cr2")
    sums = _ClusterTotals.of(values, groups)
    everything = np.arange(groups.n)
    p_value = float(sums.p_values(everything[None, :])[0])
    if groups.n < FEWEST_CLUSTERS:
        return HandfulP(None, None, True, p_value, _NONE, "cr2")
    if p_value > alpha:
        return HandfulP(0, 0, True, p_value, _NONE, "cr2")
    k = 0
    while k + 1 <= groups.n - 2 and comb(groups.n, k + 1) <= MOST_SETS:
        k += 1
        found = sums.set_of(k, alpha)
        if found is not None:
            return HandfulP(k, k, True, p_value, found, "cr2")
    return sums.one_by_one(k, alpha, p_value)


@dataclass(frozen=True)
class _ClusterTotals:
    """What the clusters add to the mean of all."""

    totals: FloatArray  #: sum of the differences of each, shape (G,).
    sizes: FloatArray  #: prompts of each, shape (G,).

    @classmethod
    def of(cls, values: FloatArray, groups: Clusters) -> _ClusterTotals:
        """Those of prompts."""
        return cls(groups.sums(values), groups.sizes)

    def p_values(self, kept: NDArray[np.intp]) -> FloatArray:
        """p of the mean over some of the clusters; 1 where nothing differs.

        Args:
            kept: numbers of the clusters of each set, shape (sets, clusters of each).
        """
        totals, sizes = self.totals[kept], self.sizes[kept]
        n = sizes.sum(axis=1, keepdims=True)
        mean = totals.sum(axis=1, keepdims=True) / n
        shares = sizes / n
        deviations = totals - sizes * mean
        errors = np.sqrt((deviations**2 / (1 - shares)).sum(axis=1)) / n[:, 0]
        freedom = _freedom(shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean[:, 0]) / errors
        p_values: FloatArray = 2 * special.stdtr(freedom, -t)
        return np.where(np.isnan(p_values), 1.0, p_values)

    def set_of(self, k: int, alpha: float) -> NDArray[np.intp] | None:
        """k clusters without which p is above α; None where no k are."""
        for some in _sets(len(self.totals), k):
            p_values = self.p_values(_others(some, len(self.totals)))
            if p_values.max() > alpha:
                units: NDArray[np.intp] = some[int(p_values.argmax())]
                return units
        return None

    def one_by_one(self, ruled_out: int, alpha: float, p_value: float) -> HandfulP:
        """One cluster after the other, each time that without which p is largest.

        Args:
            ruled_out: no set of as many clusters passes.
            alpha: to pass.
            p_value: of all clusters.
        """
        n = len(self.totals)
        left_out: list[int] = []
        while len(left_out) < n - 2:
            rest = [unit for unit in range(n) if unit not in left_out]
            sets = np.array([[*left_out, unit] for unit in rest])
            p_values = self.p_values(_others(sets, n))
            left_out = sets[int(p_values.argmax())].tolist()
            if p_values.max() > alpha:
                units = np.array(left_out, dtype=np.intp)
                return HandfulP(len(units), ruled_out + 1, False, p_value, units, "cr2")
        return HandfulP(None, ruled_out + 1, False, p_value, _NONE, "cr2")


def _freedom(shares: FloatArray) -> FloatArray:
    """Satterthwaite's degrees of freedom of CR2, of each set of clusters."""
    squares = shares**2
    g = squares / (1 - shares)
    inverse = squares.sum(axis=1) + g.sum(axis=1) ** 2 - (g**2).sum(axis=1)
    freedom: FloatArray = 1 / inverse
    return freedom


def _sets(n: int, k: int) -> Iterator[NDArray[np.intp]]:
    """All sets of k of n units, some thousands at a time, shape (sets, k)."""
    some: list[tuple[int, ...]] = []
    for one in combinations(range(n), k):
        some.append(one)
        if len(some) == 4096:
            yield np.array(some, dtype=np.intp)
            some = []
    if some:
        yield np.array(some, dtype=np.intp)


def _others(sets: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """The units that are in none of some sets of one size, shape (sets, n − k)."""
    is_kept = np.ones((len(sets), n), dtype=bool)
    np.put_along_axis(is_kept, sets, False, axis=1)
    return np.nonzero(is_kept)[1].reshape(len(sets), -1)
