"""Which prompts to ask: strata along a prediction, and in each the smallest hashes; the
rank of a model asked so.

The sample depends on the ids, the predictions, the size and the seed alone, not on the
order of rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_floats, as_scores, as_seed
from warehouse.stats.core.results import NamedFigures

#: Prompts of the sample to a stratum, on average.
PER_STRATUM = 4
#: Fewer scored prompts than this: no interval; than that: a flag.
LEAST, FEW = 8, 25
#: The figure of these N prompts, as they were scored.
FULL_BENCHMARK = "full_benchmark"


@dataclass(frozen=True, eq=False)
class SubsetDesign(NamedFigures):
    """A stratified sample of a benchmark's prompts."""

    ids: tuple[str, ...]  #: of all N prompts.
    prediction: FloatArray  #: of each prompt's score, shape (N,).
    #: of each prompt, 0 to H − 1 along the prediction, shape (N,).
    stratum: NDArray[np.intp]
    selected: NDArray[np.bool_]  #: whether it is asked, shape (N,).
    seed: int  #: of ties and draws.

    @property
    def size(self) -> int:
        """Prompts that are asked, m."""
        return int(self.selected.sum())

    @property
    def n_strata(self) -> int:
        """H."""
        return int(self.stratum.max()) + 1

    @property
    def inclusion(self) -> FloatArray:
        """π = n_h/N_h of each prompt, shape (N,)."""
        sizes = np.bincount(self.stratum, minlength=self.n_strata)
        drawn = np.bincount(self.stratum[self.selected], minlength=self.n_strata)
        return np.asarray((drawn / sizes)[self.stratum])


def draw_subset(
    ids: Sequence[str], prediction: ArrayLike, size: int, *, seed: int = 0
) -> SubsetDesign:
    """Draw m of N prompts: H = max(1, ⌊m/4⌋) strata along the prediction (1 where it is
    constant).

    Args:
        ids: of the prompts, all different, N of them.
        prediction: of each prompt's score, shape (N,).
        size: m, from 1 to N.
        seed: of ties and draws, from 0.

    Raises:
        StatisticsError: ids twice, another number of predictions, predictions that are
            not finite, a size out of range.
    """
    names, f = [str(name) for name in ids], as_scores(prediction, "prediction")
    as_seed(seed)
    if len(names) != len(f):
        raise StatisticsError(f"{len(names)} ids, and predictions of {len(f)} prompts")
    if len(set(names)) < len(names):
        raise StatisticsError(
            f"{len(names) - len(set(names))} prompts have an id that another one has"
        )
    check_size(size, len(names))
    order = prediction_order(names, f, seed)
    constant = len(set(rounded(f))) == 1
    stratum = np.empty(len(names), np.intp)
    stratum[order] = runs_of(len(names), 1 if constant else n_strata(size))
    return SubsetDesign(
        tuple(names), f, stratum, smallest_hashes(names, stratum, size, seed), seed
    )


def extend_subset(design: SubsetDesign, size: int) -> SubsetDesign:
    """The same design with more prompts: the next hashes of the same strata.

    Only before any score of the sample is known; that is for the caller to see to.

    Args:
        design: what was drawn.
        size: prompts in all, from what it has to N.

    Raises:
        StatisticsError: a size out of range, or one at which a stratum would give
            prompts back.
    """
    check_size(size, len(design.ids))
    if size < design.size:
        raise StatisticsError(
            f"the sample has {design.size} prompts; it can grow, not shrink to {size}"
        )
    selected = smallest_hashes(design.ids, design.stratum, size, design.seed)
    if (
        design.selected & ~selected
    ).any():  # strata of other sizes than draw_subset makes
        raise StatisticsError(
            f"at {size} prompts a stratum would get fewer than it has; take another "
            "size"
        )
    return SubsetDesign(
        design.ids, design.prediction, design.stratum, selected, design.seed
    )


def check_size(size: object, n: int) -> None:
    """Refuse a size of a sample that is not from 1 to N."""
    if (
        isinstance(size, bool)
        or not isinstance(size, int | np.integer)
        or not 1 <= size <= n
    ):
        raise StatisticsError(f"a sample has from 1 to all {n} prompts, found {size}")


def n_strata(size: int) -> int:
    """H = max(1, ⌊m/4⌋)."""
    return max(1, size // PER_STRATUM)


def allocate(sizes: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """m·N_h/N by largest remainder, ties to the lower stratum, shape (H,)."""
    total = int(sizes.sum())
    shares = [size * int(members) for members in sizes]
    drawn = np.array([share // total for share in shares], np.intp)
    left = np.array([share % total for share in shares])
    drawn[np.argsort(-left, kind="stable")[: size - int(drawn.sum())]] += 1
    return drawn


def runs_of(n: int, strata: int) -> NDArray[np.intp]:
    """Strata of n prompts in order: H runs, the first n mod H one longer, shape (n,)."""
    sizes = np.full(strata, n // strata)
    sizes[: n % strata] += 1
    return np.repeat(np.arange(strata), sizes)


def prediction_order(
    ids: Sequence[str], prediction: FloatArray, seed: int
) -> NDArray[np.intp]:
    """Places of the prompts along the prediction, at 12 significant digits; ties by
    hash, shape (N,)."""
    keys = rounded(prediction)
    hashes = hashed("tie", seed, ids)
    return np.array(
        sorted(range(len(ids)), key=lambda i: (keys[i], hashes[i])), np.intp
    )


def rounded(values: FloatArray) -> list[float]:
    """At 12 significant digits: what differs by rounding only is equal."""
    return [float(f"{value:.12g}") for value in values.tolist()]


def hashed(purpose: str, seed: int, ids: Sequence[str]) -> list[str]:
    """SHA-256 (hex) of ``purpose|seed|id`` in UTF-8 of each id."""
    head = f"{purpose}|{seed}|"
    return [hashlib.sha256((head + prompt).encode()).hexdigest() for prompt in ids]


def smallest_hashes(
    ids: Sequence[str], stratum: NDArray[np.intp], size: int, seed: int
) -> NDArray[np.bool_]:
    """The prompts of the smallest hashes in each stratum, m in all, shape (N,)."""
    drawn = allocate(np.bincount(stratum), size)
    hashes = np.array(hashed("draw", seed, ids))
    order = np.lexsort((hashes, stratum))
    rank = np.arange(len(order)) - np.searchsorted(stratum[order], stratum[order])
    selected = np.zeros(len(order), bool)
    selected[order] = rank < drawn[stratum[order]]
    return selected


@dataclass(frozen=True)
class SubsetRank(NamedFigures):
    """A rank and the set that the interval leaves."""

    rank: int  #: 1 + models with a better figure.
    #: best rank in the set: 1 + models better than the interval's better end; None
    #: without one.
    rank_low: int | None
    #: worst rank in it: 1 + models at least as good as its worse end.
    rank_high: int | None


def rank_among(
    estimate: float,
    low: float | None,
    high: float | None,
    figures: ArrayLike,
    *,
    higher_is_better: bool = True,
) -> SubsetRank:
    """Where an estimate stands among known figures (statistics.md §10), at 12
    significant digits.

    Args:
        estimate: θ̂.
        low: lower end of its interval, None without one.
        high: upper end.
        figures: θ_k of the models with all prompts, shape (M,).
        higher_is_better: the direction of the metric.
    """
    sign = -1.0
    if higher_is_better:
        sign = 1.0
    others = np.array(rounded(sign * as_floats(figures, "figures")))
    (theta,) = rounded(np.array([sign * estimate]))
    rank = 1 + int((others > theta).sum())
    if low is None or high is None:
        return SubsetRank(rank, None, None)
    worse, better = sorted(rounded(sign * np.array([low, high])))
    return SubsetRank(
        rank, 1 + int((others > better).sum()), 1 + int((others >= worse).sum())
    )
