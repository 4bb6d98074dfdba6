"""The fewest votes, voters or prompts without which the first model of a fit of votes
is no longer first (statistics.md §26.3).

What a vote adds to a gap of strengths is taken from its score and the curvature at the
fit; the votes that add most are left out and the rest is fitted anew, so that the answer
is *so many are enough*, never *so many are needed*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.preferences.ballots import Ballots, IntArray
from warehouse.stats.preferences.fit import Fit, NotConnectedError, fit_preferences

#: Kinds of units.
VOTES, VOTERS, PROMPTS = "votes", "voters", "prompts"
#: Rivals that look nearest, by either of two, which are tried; and searches of each.
_RIVALS, _ROUNDS = 12, 4


@dataclass(frozen=True)
class HandfulOfVotes(NamedFigures):
    """Units that are enough to turn the order of the first and a rival."""

    unit: str  #: ``votes``, ``voters`` or ``prompts``.
    #: so many are enough, proved by a fit without them; None where none were found.
    count: int | None
    n_units: int  #: units in all.
    first: int  #: number of the model that is first.
    rival: int  #: of the one that would lead it; of the second where none does.
    gap: float  #: strength of the first less that of the rival, of all votes.
    gap_after: float | None  #: the same without the units; below 0.
    left_out: NDArray[np.intp]  #: codes of the units: of votes their places.


def handful_of_votes(fit: Fit, unit: str = VOTES) -> HandfulOfVotes:
    """How few votes, voters or prompts put another model first.

    Args:
        fit: without a penalty, a tie as half a win.
        unit: what is left out: ``votes``, whole ``voters`` or ``prompts``.

    Raises:
        StatisticsError: a fit of another kind, or an unknown unit.
    """
    if fit.ridge or fit.ties != "half":
        raise StatisticsError(
            "how few votes turn an order is not defined with a penalty, or where ties "
            "have a probability of their own"
        )
    codes = _codes_of(fit.votes, unit)
    order = np.argsort(-fit.strengths, kind="stable")
    first = int(order[0])
    searches = {}
    for other in order[1:].tolist():
        search = _Search(fit, codes, first, other)
        enough = search.start()
        if enough is not None:
            searches[other] = enough, search
    best: _Turned | None = None
    for other in _nearest(searches):
        enough, search = searches[other]
        found = search.fewest(enough)
        if found is not None and (best is None or len(found.units) < len(best.units)):
            best = found
    n_units = len(np.unique(codes))
    if best is None:
        second = int(order[1])
        gap = float(fit.strengths[first] - fit.strengths[second])
        nothing = np.empty(0, dtype=np.intp)
        return HandfulOfVotes(unit, None, n_units, first, second, gap, None, nothing)
    gap = float(fit.strengths[first] - fit.strengths[best.rival])
    return HandfulOfVotes(
        unit,
        len(best.units),
        n_units,
        first,
        best.rival,
        gap,
        best.gap,
        np.sort(best.units),
    )


def _nearest(searches: Mapping[int, tuple[int, _Search]]) -> list[int]:
    """The rivals that look nearest: by how few units are enough, and by strength.

    Args:
        searches: of each rival, the strongest first, with how many units are enough.
    """
    by_strength = list(searches)[:_RIVALS]
    by_units = sorted(searches, key=lambda other: searches[other][0])[:_RIVALS]
    return list(dict.fromkeys([*by_units, *by_strength]))


def _codes_of(votes: Ballots, unit: str) -> IntArray:
    """The unit of each vote (StatisticsError: no such kind)."""
    if unit == VOTES:
        return np.arange(votes.n)
    if unit == VOTERS:
        return votes.voters
    if unit == PROMPTS:
        return votes.prompts
    raise StatisticsError(f"no unit {unit!r}: there are votes, voters and prompts")


@dataclass(frozen=True)
class _Turned:
    """Units without which a rival leads."""

    rival: int
    units: NDArray[np.intp]
    gap: float  #: of the first over the rival, without them.
    fit: Fit  #: of the votes that are left.


class _Search:
    """Looks for units without which a rival leads the first.

    Args:
        fit: of all votes.
        codes: the unit of each vote.
        first: number of the model that is first.
        rival: of the other.
    """

    def __init__(self, fit: Fit, codes: IntArray, first: int, rival: int) -> None:
        self._fit = fit
        self._codes = codes
        self._first = first
        self._rival = rival

    def start(self) -> int | None:
        """How many units are enough by what each adds at the fit of all votes; None
        where none speaks for the first."""
        return self._enough(self._fit)[1]

    def fewest(self, enough: int) -> _Turned | None:
        """The fewest units found; None where no number turns the order.

        Args:
            enough: what `start` says.
        """
        best: _Turned | None = None
        at: Fit = self._fit
        k: int | None = enough
        for _ in range(_ROUNDS):
            order, k = self._enough(at)
            if k is None:
                break
            found = self._shortest(order, k)
            if found is None or (best and len(found.units) >= len(best.units)):
                break
            best, at = found, found.fit
        return best

    def _enough(self, at: Fit) -> tuple[NDArray[np.intp], int | None]:
        """Units that speak for the first, those that add most in front, and how many of
        them add up to the gap of all votes; all where they do not."""
        adds = _adds(at, self._fit.votes, self._first, self._rival)
        units, places = np.unique(self._codes, return_inverse=True)
        totals = np.bincount(places, adds)
        order = np.argsort(-totals, kind="stable")
        order = order[totals[order] > 0]
        gap = self._gap(self._fit)
        enough = np.flatnonzero(np.cumsum(totals[order]) > gap)
        if not len(enough):  # to first order alone: they are tried all the same
            return units[order], len(order) or None
        return units[order], int(enough[0]) + 1

    def _gap(self, fit: Fit) -> float:
        return float(fit.strengths[self._first] - fit.strengths[self._rival])

    def _shortest(self, order: NDArray[np.intp], k: int) -> _Turned | None:
        """The shortest beginning of an order without which the rival leads."""
        low, high, found = 0, k, self._without(order[:k])
        while found is None:
            if high >= len(order):
                return None
            low = high
            high = min(len(order), high + max(1, high // 8))
            found = self._without(order[:high])
        while high - low > 1:
            middle = (low + high) // 2
            shorter = self._without(order[:middle])
            if shorter is None:
                low = middle
            else:
                high, found = middle, shorter
        return found

    def _without(self, units: NDArray[np.intp]) -> _Turned | None:
        """What is without some units; None where the first leads on, or the rest does
        not hold together."""
        kept = ~np.isin(self._codes, units)
        if not kept.any():
            return None
        try:
            fit = fit_preferences(self._fit.votes.subset(kept))
        except (NotConnectedError, StatisticsError):
            return None
        gap = self._gap(fit)
        if gap >= 0:
            return None
        return _Turned(self._rival, units, gap, fit)


def _adds(fit: Fit, votes: Ballots, first: int, rival: int) -> FloatArray:
    """I_v: what each vote adds to the gap of two models, to first order, shape (n,).

    Args:
        fit: strengths and curvature.
        votes: those that are looked at, which need not be those of the fit.
        first, rival: numbers of the models.
    """
    m = votes.n_models
    inverse = fit.inverse
    towards = inverse[first] - inverse[rival]
    a, b, x = votes.first, votes.second, votes.covariates
    eta = fit.theta[a] - fit.theta[b] + x @ fit.theta[m:]
    p = special.expit(eta)
    won = (1 + votes.signs) / 2
    along = towards[a] - towards[b] + x @ towards[m:]
    spread = votes.weights * p * (1 - p) * _curvature(inverse, m, (a, b), x)
    adds: FloatArray = votes.weights * (won - p) * along / (1 - spread)
    return adds


def _curvature(
    inverse: FloatArray, m: int, models: Sequence[IntArray], x: FloatArray
) -> FloatArray:
    """zᵀJz of each vote."""
    a, b = models
    diagonal = np.diag(inverse)
    of_models = diagonal[a] + diagonal[b] - 2 * inverse[a, b]
    mixed = ((inverse[a, m:] - inverse[b, m:]) * x).sum(axis=1)
    of_covariates = ((x @ inverse[m:, m:]) * x).sum(axis=1)
    curvature: FloatArray = of_models + 2 * mixed + of_covariates
    return curvature
