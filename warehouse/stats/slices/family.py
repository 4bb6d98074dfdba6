"""Which slices of one field differ, with the error of the whole family held.

Of right and wrong answers with one draw each, the step-down test uses what p-values
each slice can reach at all: one that has 2 differing prompts cannot cost the others
anything. Of everything else signs are drawn, one for each cluster and all slices, and
the smallest p of those that are left is held against its own distribution (Westfall and
Young 1993, Romano and Wolf 2005; statistics.md §21 c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    TIE,
    Clusters,
    FloatArray,
    as_clusters,
    as_scores,
    as_seed,
    clusters_if_any,
)
from warehouse.stats.core.moments import skewness
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.core.sample import describe
from warehouse.stats.paired.sign_flip import binomial_p_value
from warehouse.stats.slices.membership import (
    IntArray,
    members,
    slice_codes,
    units_of,
    within,
)
from warehouse.stats.slices.signs import enumerated, sums_under_signs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STEP_DOWN, MIN_P = "discrete_step_down", "min_p"
#: Digits to which sums under signs are held against one another.
_DIGITS = 10
#: Prompts, and prompts per squared skewness, below which no verdict is given of
#: unbounded scores.
FEWEST_UNBOUNDED, PER_SQUARED_SKEWNESS = 30, 100
SKEWED = "skewed"


@dataclass(frozen=True)
class SliceTests(NamedFigures):
    """Tests of H0 δ_g = 0 over the slices of one field."""

    p_value: FloatArray  #: of each slice alone, NaN where it is not tested, shape (S,).
    #: family-wise: chance of any false verdict at most α where a verdict needs α, shape
    #: (S,); NaN where not tested.
    p_adjusted: FloatArray
    method: str  #: ``discrete_step_down`` or ``min_p``.
    #: sign vectors drawn beside the identity; 0 where p is exact.
    n_resamples: int
    #: why a slice is not tested (``skewed``), by its number; empty text where it is.
    reasons: tuple[str, ...]


def discrete_step_down(b: ArrayLike, c: ArrayLike) -> FloatArray:
    """Step-down adjusted exact McNemar p-values of slices that share no prompt.

    p_(j) = max over i ≤ j of 1 − Π (1 − F_h(p_(i))), over the slices not among the
    first i − 1, F_h(x) the chance that the p of slice h is x or less given how many
    prompts differ there. Where p is continuous this is Holm and Šidák's.

    Args:
        b: prompts that only the first model has right, by slice, shape (S,).
        c: prompts that only the second has right, shape (S,).

    Raises:
        StatisticsError: counts that are negative, not whole, or not aligned.

    Examples:
        >>> print(discrete_step_down([3, 5, 9, 0], [0, 1, 2, 0]).round(6))
        [0.25     0.21875  0.094635 1.      ]
    """
    wins, losses = _counts(b, "b"), _counts(c, "c")
    if len(wins) != len(losses):
        raise StatisticsError(f"`b` has {len(wins)} slices, `c` {len(losses)}")
    p = np.array([binomial_p_value(*pair) for pair in zip(wins, losses, strict=True)])
    reachable = [_reachable(k) for k in np.add(wins, losses).tolist()]
    order = np.argsort(p, kind="stable")
    adjusted, largest = np.ones(len(p)), 0.0
    for place, own in enumerate(order):
        none = 0.0
        for other in order[place:]:
            none += _log_not_reached(reachable[other], float(p[own]))
        largest = max(largest, -math.expm1(none))
        adjusted[own] = largest
    return adjusted


def _counts(values: ArrayLike, name: str) -> list[int]:
    numbers = as_scores(values, name)
    if numbers.min() < 0 or np.any(numbers != np.floor(numbers)):
        raise StatisticsError(f"`{name}` must hold counts of prompts")
    return [int(number) for number in numbers]


def _reachable(k: int) -> FloatArray:
    """The p-values that k differing prompts can give, ascending."""
    smaller = np.arange(k // 2 + 1)
    p = np.minimum(1.0, 2 * special.bdtr(smaller, k, 0.5))
    if k % 2 == 0:
        p[-1] = 1.0
    return np.asarray(p, dtype=np.float64)


def _log_not_reached(reachable: FloatArray, x: float) -> float:
    """log(1 − F(x)): F is the largest p-value up to x that can be had, 0 without one."""
    n = int(np.searchsorted(reachable, x * (1 + TIE), side="right"))
    if n == 0:
        return 0.0
    if reachable[n - 1] >= 1:
        return -math.inf
    return math.log1p(-float(reachable[n - 1]))


def slice_tests(
    differences: ArrayLike,
    slices: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    bounded: bool,
    zero_one: bool | None = None,
    same_draws: bool = True,
    prompts: ArrayLike | None = None,
    n_resamples: int = 9999,
    seed: int = 0,
) -> SliceTests:
    """Tests whether the difference of two models is 0, slice by slice.

    Differences of 0/1 scores with one draw each and no clusters get
    `discrete_step_down`, all others ``min_p``: one sign for each cluster and all
    slices, the p of each slice the share of draws with |Σ ±d| as large, and the
    smallest of those that are left held against its own distribution; never below the
    t (CR2) p-value of the slice alone.

    Args:
        differences: a − b of each entry (a prompt in a slice), finite, shape (m,).
        slices: slice of each entry, 0 to S − 1, shape (m,).
        clusters: cluster of each entry, shape (m,), or None.
        bounded: scores have a smallest and a largest value; of others a slice with
            fewer than 30 prompts, or 100 times its squared skewness or that of all
            slices together, is not tested.
        zero_one: these are differences of 0/1 scores with one draw each; None: so they
            are where they are -1, 0 or 1.
        same_draws: both models have as many draws of each prompt. Where they have not,
            differences of equal models are skewed: then the rule of scores without
            bounds holds.
        prompts: the prompt of each entry, whole numbers from 0, where one may be in
            several slices, shape (m,); None: each entry is a prompt of its own.
        n_resamples: sign vectors beside the identity; all are gone through where there
            are no more.
        seed: of the signs.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.
    """
    values = as_scores(differences, "differences")
    codes = slice_codes(slices, len(values))
    if zero_one is None:
        zero_one = bool(np.all(np.isin(values, (-1.0, 0.0, 1.0))))
    if prompts is None and clusters is None and zero_one:
        return _exact(values, codes)
    groups = clusters_if_any(clusters, len(values))
    own = _own_p_values(values, codes, groups)
    reasons = [""] * len(own)
    if not (bounded and same_draws):
        least = skewness_of_all(values, codes)
        parts = [values[entries] for entries in members(codes)]
        reasons = [too_skewed(part, least) for part in parts]
    tested = np.flatnonzero([not reason for reason in reasons])
    if groups is None and prompts is not None:
        groups = as_clusters(prompts, len(values))
    p, adjusted = np.full((2, len(own)), np.nan)
    drawn = 0
    if len(tested):
        totals = units_of(values, codes, groups).totals[tested]
        p[tested], adjusted[tested] = min_p(
            totals, own[tested], n_resamples=n_resamples, seed=as_seed(seed)
        )
        if not enumerated(totals.shape[1], n_resamples):
            drawn = n_resamples
    return SliceTests(p, adjusted, MIN_P, drawn, tuple(reasons))


def skewness_of_all(values: FloatArray, codes: IntArray) -> float:
    """The skewness of all slices together, each about its own mean: the larger of that
    of the values as they are and in units of the slice's spread."""
    sizes = np.bincount(codes)
    centred = values - (np.bincount(codes, values) / sizes)[codes]
    spread = np.sqrt(np.bincount(codes, centred**2) / sizes)
    spread[spread == 0] = 1.0
    both = (skewness(centred), skewness(centred / spread[codes]))
    return max(abs(figure) for figure in both)


def too_skewed(differences: FloatArray, least: float) -> str:
    """``skewed`` where the mean of unbounded differences is too skewed for a verdict at
    so few prompts, else empty.

    A slice that lacks its tail by chance looks symmetric, and is the one that would be
    called wrong; the tails that others have tell of it. By its own skewness alone any
    false verdict stood in .25 of samples (lognormal less normal scores, 12 slices of
    50), .35 (50 slices); so in 0.

    Args:
        differences: of the slice, shape (n,).
        least: skewness of all slices together.
    """
    n = len(differences)
    skew = max(abs(skewness(differences)), least)
    needed = PER_SQUARED_SKEWNESS * skew**2
    if n < FEWEST_UNBOUNDED or n < needed:
        return SKEWED
    return ""


def _exact(values: FloatArray, codes: IntArray) -> SliceTests:
    n_slices = int(codes.max()) + 1
    b = np.bincount(codes[values > 0], minlength=n_slices)
    c = np.bincount(codes[values < 0], minlength=n_slices)
    p = [binomial_p_value(*pair) for pair in zip(b.tolist(), c.tolist(), strict=True)]
    adjusted = discrete_step_down(b, c)
    return SliceTests(np.array(p), adjusted, STEP_DOWN, 0, ("",) * n_slices)


def _own_p_values(
    values: FloatArray, codes: IntArray, clusters: Clusters | None
) -> FloatArray:
    """t or CR2 t p-value of each slice, 1 where it has no error above 0."""
    p = np.ones(int(codes.max()) + 1)
    for number, entries in enumerate(members(codes)):
        sample = describe(values[entries], within(clusters, entries))
        if sample.se and sample.df:
            p[number] = t_p_value(sample.mean / sample.se, sample.df)
    return p


def min_p(
    totals: csr_matrix, own: FloatArray, *, n_resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Single and step-down p-values under signs of units.

    Args:
        totals: sum of the differences of unit c in slice g, shape (S, C).
        own: the t p-value of each slice, below which its adjusted one is not, (S,).
        n_resamples: sign vectors beside the identity.
        seed: of these.

    Returns:
        p of each slice alone, and adjusted, both of shape (S,).
    """
    sizes = np.asarray(abs(totals).sum(axis=1)).reshape(-1, 1)
    sizes[sizes == 0] = 1.0
    sums = np.hstack(list(sums_under_signs(totals, n_resamples, seed)))
    shares = _p_of_draws(np.round(np.abs(sums) / sizes, _DIGITS))
    p = shares[:, 0].copy()
    order = np.argsort(p, kind="stable")
    adjusted, largest = np.empty(len(p)), 0.0
    smallest = np.minimum.accumulate(shares[order[::-1]], axis=0)[::-1]
    for place, number in enumerate(order):
        reached = smallest[place] <= p[number] * (1 + TIE)
        largest = max(largest, float(np.mean(reached)))
        adjusted[number] = max(largest, float(own[number]))
    return p, adjusted


def _p_of_draws(figures: FloatArray) -> FloatArray:
    """The share of draws with a figure as large as that of each draw, by row."""
    n = figures.shape[1]
    shares = np.empty_like(figures)
    for row, own in zip(shares, figures, strict=True):
        below = np.searchsorted(np.sort(own), own, side="left")
        row[:] = (n - below) / n
    return shares
