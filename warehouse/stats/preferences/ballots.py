"""Votes on pairs of models as a statistic takes them: checked, counted, alike ones
together (statistics.md §15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_weights, check_length
from warehouse.stats.core.results import flags_of

IntArray = NDArray[np.intp]
#: Codes of outcomes, by their place: who of the two that were shown won.
OUTCOMES = ("first", "second", "tie", "both_bad")
FIRST, SECOND, TIE, BOTH_BAD = range(4)
_SIGNS = np.array([1.0, -1.0, 0.0, 0.0])
#: The covariate that is 1 where it is known who was shown first.
POSITION = "first shown"


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes that count, one an entry of each array."""

    #: first, second: numbers of the models as shown, below ``n_models``; never the
    #: same.
    first: IntArray
    second: IntArray
    outcome: IntArray  #: code, a place in `OUTCOMES`.
    #: voters, prompts: codes from 0, with gaps; who is unknown stands alone.
    voters: IntArray
    prompts: IntArray
    weights: FloatArray  #: above 0, summing to the number of votes.
    #: whether ``first`` is known to have been shown first.
    order_known: NDArray[np.bool_]
    #: first minus second, over its standard deviation, shape (n, k).
    covariates: FloatArray
    names: tuple[str, ...]  #: of the covariates.
    n_models: int  #: models, those without a vote too.
    left_out: dict[str, int]  #: votes that do not count, by reason.
    #: ``voters_unknown``, ``prompts_unknown`` where that is so of some.
    flags: tuple[str, ...]
    #: whether any voter is known, and whether any prompt is.
    identified: tuple[bool, bool]

    @property
    def n(self) -> int:
        """Votes."""
        return len(self.first)

    @property
    def signs(self) -> FloatArray:
        """1 where the first won, −1 where the second did, else 0."""
        signs: FloatArray = _SIGNS[self.outcome]
        return signs

    @property
    def pairs(self) -> IntArray:
        """One number for each unordered pair of models."""
        low, high = (
            np.minimum(self.first, self.second),
            np.maximum(self.first, self.second),
        )
        return low * self.n_models + high

    def totals(self, at: IntArray, n: int) -> FloatArray:
        """Of n kinds of votes the weight, that of wins less losses of the first, and
        that of ties, shape (n, 3)."""
        signs = self.signs
        parts = (self.weights, self.weights * signs, self.weights * (signs == 0))
        return np.stack([np.bincount(at, part, n) for part in parts], axis=1)

    def subset(self, kept: NDArray[np.bool_] | IntArray) -> Ballots:
        """Some of the votes; weights sum to their number again."""
        names = (
            "first",
            "second",
            "outcome",
            "voters",
            "prompts",
            "weights",
            "order_known",
            "covariates",
        )
        part = {name: getattr(self, name)[kept] for name in names}
        part["weights"] = part["weights"] * (
            len(part["weights"]) / part["weights"].sum()
        )
        return replace(self, **part)

    def with_position(self) -> Ballots:
        """The same with a covariate for being shown first."""
        column = self.order_known.astype(np.float64)[:, None]
        return replace(
            self,
            covariates=np.hstack([self.covariates, column]),
            names=(*self.names, POSITION),
        )


def ballots(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    n_models: int,
    voters: ArrayLike | None = None,
    prompts: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    order_known: ArrayLike | None = None,
    covariates: ArrayLike | None = None,
    names: Sequence[str] = (),
    uniform_pairs: bool = False,
    drop_both_bad: bool = False,
) -> Ballots:
    """Check votes, and leave out what is none.

    Args:
        first, second: numbers of the models as shown, in [0, n_models), shape (n,).
        outcome: codes of `OUTCOMES`; others do not count.
        n_models: models.
        voters, prompts: codes, below 0 where unknown: such a vote is a cluster of its
            own.
        weights: of each vote, above 0; None: 1.
        order_known: whether ``first`` was shown first; None: all.
        covariates: first minus second, shape (n, k); votes with one that is not finite
            do not count.
        names: of the covariates.
        uniform_pairs: each pair of models counts alike, however many votes it has.
        drop_both_bad: `both_bad` is no tie, but does not count.

    Raises:
        StatisticsError: no vote is left, lengths differ, or a covariate never changes.
    """
    a, b, y = (np.asarray(values, dtype=np.intp) for values in (first, second, outcome))
    n = len(a)
    x = np.zeros((n, 0))
    if covariates is not None:
        x = np.asarray(covariates, dtype=np.float64).reshape(n, len(names))
    order = np.ones(n, dtype=bool)
    if order_known is not None:
        order = np.asarray(order_known, dtype=bool)
    voter, prompt = _codes(voters, n), _codes(prompts, n)
    named = {
        "second": b,
        "outcome": y,
        "order_known": order,
        "voters": voter,
        "prompts": prompt,
    }
    for name, values in named.items():
        check_length(len(values), n, name)
    w = np.ones(n)
    if weights is not None and n:
        w = as_weights(weights, n)
    kept, left_out = _that_count(
        {
            "a model against itself": a == b,
            "an unknown outcome": (y < 0) | (y >= len(OUTCOMES)),
            "a covariate that is missing": np.asarray((~np.isfinite(x)).any(axis=1)),
            "both bad": (y == BOTH_BAD) & drop_both_bad,
        },
        n,
    )
    voter, prompt = voter[kept], prompt[kept]
    found = Ballots(
        first=a[kept],
        second=b[kept],
        outcome=y[kept],
        voters=_alone(voter),
        prompts=_alone(prompt),
        weights=w[kept],
        order_known=order[kept],
        covariates=_scaled(x[kept], names),
        names=tuple(names),
        n_models=n_models,
        left_out=left_out,
        flags=flags_of(
            voters_unknown=(voter < 0).any(), prompts_unknown=(prompt < 0).any()
        ),
        identified=(bool((voter >= 0).any()), bool((prompt >= 0).any())),
    )
    if uniform_pairs:
        votes_of_pair = np.bincount(found.pairs)[found.pairs]
        found = replace(found, weights=found.weights / votes_of_pair)
    return replace(found, weights=found.weights * (found.n / found.weights.sum()))


def _codes(labels: ArrayLike | None, n: int) -> IntArray:
    """Codes as given; −1, unknown, where there are none."""
    if labels is None:
        return np.full(n, -1)
    return np.asarray(labels, dtype=np.intp)


def _that_count(
    reasons: dict[str, NDArray[np.bool_]], n: int
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Votes that no reason leaves out, and how many each does (StatisticsError: none is
    left)."""
    kept = np.ones(n, dtype=bool)
    left_out: dict[str, int] = {}
    for reason, is_out in reasons.items():
        count = int((kept & is_out).sum())
        if count:
            left_out[reason] = count
        kept &= ~is_out
    if not kept.any():
        said = ""
        for reason, count in left_out.items():
            said += f"; {count} left out: {reason}"
        raise StatisticsError(f"there is no vote that counts{said}")
    return kept, left_out


def _alone(codes: IntArray) -> IntArray:
    """Each code that is below 0 becomes one of its own."""
    own = codes.copy()
    own[codes < 0] = codes.max(initial=0) + 1 + np.arange(int((codes < 0).sum()))
    return own


def _scaled(x: FloatArray, names: Sequence[str]) -> FloatArray:
    """Over the standard deviation, not centred: no difference stays 0."""
    if len(x) > 1:
        spread = x.std(axis=0, ddof=1)
    else:
        spread = np.zeros(x.shape[1])
    flat = [name for name, sd in zip(names, spread, strict=True) if not sd > 0]
    if flat:
        raise StatisticsError(
            f"covariate {flat[0]} is the same in all votes: leave it out"
        )
    scaled: FloatArray = x / spread
    return scaled


def numbered(codes: IntArray) -> IntArray:
    """Codes from 0 in their order, without gaps."""
    most = int(codes.max(initial=0))
    if most > 8 * len(codes) + 1_000_000:  # too many to count
        return np.unique(codes, return_inverse=True)[1].astype(np.intp)
    numbers = np.cumsum(np.bincount(codes, minlength=most + 1) > 0) - 1
    return numbers[codes].astype(np.intp)


@dataclass(frozen=True, eq=False)
class Design:
    """Kinds of votes that a model cannot tell apart, and how often each result was had."""

    #: a, b: models, shape (T,).
    a: IntArray
    b: IntArray
    extra: FloatArray  #: covariates, shape (T, k).
    kind: IntArray  #: which kind each vote is, shape (n,).
    n_models: int  #: M.


def design_of(votes: Ballots) -> Design:
    """The kinds of votes: ordered pairs, or with other covariates than position each
    vote by itself."""
    if any(name != POSITION for name in votes.names):
        return Design(
            votes.first,
            votes.second,
            votes.covariates,
            np.arange(votes.n),
            votes.n_models,
        )
    if votes.names:
        order_known = votes.order_known
    else:
        order_known = np.ones(votes.n, dtype=bool)
    key = (votes.first * votes.n_models + votes.second) * 2 + order_known
    kinds, at = np.flatnonzero(np.bincount(key)), numbered(key)
    pairs = kinds // 2
    extra = (kinds % 2).astype(np.float64)[:, None][:, : len(votes.names)]
    return Design(
        pairs // votes.n_models, pairs % votes.n_models, extra, at, votes.n_models
    )
