"""Tests of paired scores: the sign flip test, McNemar's and Wilcoxon's (statistics.md
§2).

Three routes give the same distribution: all 2^m sign patterns; a sum of binomials where
the differences take few distinct sizes (one draw per size and resample); else packed
random bits, eight differences to a byte, whose 256 partial sums stand in a table. The
last takes one gather per eight differences and no more memory than one block of tables
and one of resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    is_zero_one,
    number_of,
)
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.quantiles import SMALLEST_P
from warehouse.stats.core.results import NamedFigures

#: Differences up to which all 2^m sign patterns are gone through.
MOST_EXACT = 16
#: Units below which no two-sided p of 0.05 can be reached: 2/2^5 is 0.0625.
FEWEST_UNITS = 6


@dataclass(frozen=True)
class SignFlipTest(NamedFigures):
    """Sign flip test of paired differences: H0, their distribution is symmetric about
    0."""

    p_value: float  #: two-sided.
    statistic: float  #: Σ d.
    n_prompts: int  #: differences, zeros included.
    n_clusters: int | None  #: clusters, None without; then their sums are flipped.
    n_units: int  #: what is flipped and not 0: differences, or sums of clusters.
    #: random sign patterns drawn, without the identity; 0 where p is exact.
    n_resamples: int
    #: ``"exact"`` (all patterns), ``"binomial"`` (exact: all differences are of one
    #: size) or ``"monte_carlo"``.
    method: str
    #: the smallest p that these data or this many resamples could give.
    smallest_p: float
    reason: str  #: how p was computed, and why it cannot be small where that is so.
    #: ``too_few_units`` where 0.05 is out of reach, ``all_differences_zero``.
    flags: tuple[str, ...]

    def __str__(self) -> str:
        units = "differences"
        if self.n_clusters is not None:
            units = "clusters"
        return (
            f"p={self.p_value:.3g} (sign flip, {self.method}, {self.n_units} {units})"
        )


def sign_flip_test(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_resamples: int = 9999,
    seed: int = 0,
) -> SignFlipTest:
    """Two-sided paired permutation test of |Σ d|.

    Exact where 16 units or fewer are not 0, and where all that are not 0 have one size
    (0/1 scores with one draw: then it is McNemar's exact test). Else (1 + #{|Σ ±d| >=
    |Σ d|})/(1 + N), the identity included; sums within 1e-9 Σ|d| are ties. Differences
    of 0 are kept: they change no sum. With clusters the uncentred sums of each cluster
    are flipped.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        n_resamples: random sign patterns N, at least 1; not used where p is exact.
        seed: of the random signs, an integer from 0; the same seed gives the same p
            whatever the number of threads or the block size.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> print(sign_flip_test([0.3, -0.1, 0.5, 0.2, 0.4, 0.0]))
        p=0.125 (sign flip, exact, 5 differences)
    """
    values = as_scores(differences, "differences")
    if n_resamples < 1:
        raise StatisticsError(f"`n_resamples` must be at least 1, found {n_resamples}")
    as_seed(seed)
    groups = clusters_if_any(clusters, len(values))
    units = _units(values, groups)
    method = _method(units)
    n_drawn = 0
    if method == "monte_carlo":
        n_drawn = n_resamples
    return SignFlipTest(
        p_value=flip_p_value(units, n_resamples, seed),
        statistic=mean_of(values) * len(values),
        n_prompts=len(values),
        n_clusters=number_of(groups),
        n_units=len(units),
        n_resamples=n_drawn,
        method=method,
        smallest_p=_smallest(len(units), method, n_resamples),
        reason=_reason(len(units), method, n_resamples, groups is not None),
        flags=_flags(units),
    )


def too_few_units(differences: FloatArray, clusters: ArrayLike | None = None) -> bool:
    """Whether so few units are not 0 that no pattern of signs gives a p of 0.05.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, or None.
    """
    if clusters is None:
        groups = None
    else:
        groups = as_clusters(clusters, len(differences))
    return are_too_few(len(_units(differences, groups)))


def are_too_few(units: int) -> bool:
    """Whether no pattern of signs of so many units that are not 0 gives a p of 0.05; no
    units have no pattern."""
    return 0 < units < FEWEST_UNITS


def binomial_p_value(b: int, c: int) -> float:
    """Exact two-sided sign test min(1, 2·P(Bin(b+c, 1/2) <= min(b, c))); 1 at b + c =
    0."""
    p = float(min(1.0, 2 * special.bdtr(min(b, c), b + c, 0.5)))
    if b == c:
        return 1.0
    return max(p, SMALLEST_P)


def _units(values: FloatArray, clusters: Clusters | None) -> FloatArray:
    """What is flipped: differences or their sums by cluster, in units of the largest
    difference, without those that are 0 up to rounding."""
    scaled = values / (float(np.abs(values).max()) or 1.0)
    if clusters is None:
        sums = scaled
    else:
        sums = clusters.sums(scaled)
    return sums[np.abs(sums) > TIE]


def _method(units: FloatArray) -> str:
    if len(distinct_sizes(units)[0]) == 1:
        return "binomial"
    if len(units) <= MOST_EXACT:
        return "exact"
    return "monte_carlo"


def flip_p_value(units: FloatArray, n_resamples: int, seed: int) -> float:
    """p of units that are not 0 under signs, shape (m,), as `sign_flip_test` has it; 1
    without any."""
    method = _method(units)
    if method == "binomial":
        positive = int(np.count_nonzero(units > 0))
        return binomial_p_value(positive, len(units) - positive)
    threshold = abs(float(units.sum())) - TIE * float(np.abs(units).sum())
    if method == "exact":
        return count_all_patterns(units, threshold) / 2.0 ** len(units)
    extreme = count_random_patterns(units, threshold, n_resamples, seed)
    return (1 + extreme) / (1 + n_resamples)


def _smallest(n: int, method: str, n_resamples: int) -> float:
    if method == "monte_carlo":
        return 1 / (1 + n_resamples)
    return min(1.0, 2.0 ** (1 - n))


def _flags(units: FloatArray) -> tuple[str, ...]:
    if not len(units):
        return ("all_differences_zero",)
    if are_too_few(len(units)):
        return ("too_few_units",)
    return ()


def _reason(n: int, method: str, n_resamples: int, clustered: bool) -> str:
    units = "differences"
    if clustered:
        units = "sums of clusters"
    if not n:
        return f"all {units} are 0"
    if n < FEWEST_UNITS:
        return (
            f"{n} {units} that are not 0 give no p below {2.0 ** (1 - n):.4g}: 0.05 is "
            "out of reach"
        )
    words = {
        "exact": f"all 2^{n} signs of {units}",
        "binomial": f"exact: all {units} that are not 0 have one size",
        "monte_carlo": f"{n_resamples} random signs of {units}",
    }
    return words[method]


#: Resamples that share one stream of random numbers; part of what a seed means.
CHUNK = 1 << 13
#: Differences for which a table of bytes costs as much as one binomial draw.
DIFFERENCES_PER_SIZE = 128
_BITS = 8
_COLUMNS = 64


def count_all_patterns(differences: FloatArray, threshold: float) -> int:
    """How many of the 2^m sign patterns have |Σ ±d| at or above ``threshold``.

    Args:
        differences: shape (m,), m small: 2^m sums are held.
    """
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums - difference, sums + difference])
    return int(np.count_nonzero(np.abs(sums) >= threshold))


def count_random_patterns(
    differences: FloatArray,
    threshold: float,
    n_resamples: int,
    seed: int,
    *,
    columns: int = _COLUMNS,
) -> int:
    """How many of ``n_resamples`` random sign patterns have |Σ ±d| at or above
    ``threshold``.

    Args:
        differences: shape (m,).
        columns: bytes of eight differences that are handled at a time; changes the
            speed only.
    """
    sizes, counts = distinct_sizes(differences)
    few = len(sizes) * DIFFERENCES_PER_SIZE <= len(differences)
    count = 0
    for number, first in enumerate(range(0, n_resamples, CHUNK)):
        n = min(CHUNK, n_resamples - first)
        stream = np.random.SeedSequence([seed, number])
        if few:
            sums = _binomial_sums(sizes, counts, n, stream)
        else:
            sums = _byte_sums(differences, n, stream, columns)
        count += int(np.count_nonzero(np.abs(sums) >= threshold))
    return count


def distinct_sizes(differences: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """The distinct |d| above 0, ascending, and how many differences have each.

    Sizes that differ by less than a tie (1e-9 of the largest) are one, their mean.
    """
    sizes = np.sort(np.abs(differences))
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return sizes, np.zeros(0, np.int64)
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > TIE * sizes[-1])
    counts = np.diff(starts, append=len(sizes)).astype(np.int64)
    return np.add.reduceat(sizes, starts) / counts, counts


def _binomial_sums(
    sizes: FloatArray, counts: NDArray[np.int64], n: int, stream: np.random.SeedSequence
) -> FloatArray:
    """Σ_v v·(2·Bin(m_v, 1/2) − m_v), n times: the signs of m_v equal differences at
    once."""
    sums = np.zeros(n)
    for size, count, own in zip(sizes, counts, stream.spawn(len(sizes)), strict=True):
        positive = np.random.default_rng(own).binomial(count, 0.5, n)
        sums += size * (2.0 * positive - count)
    return sums


def _byte_sums(
    differences: FloatArray, n: int, stream: np.random.SeedSequence, columns: int
) -> FloatArray:
    """Σ ±d with independent fair signs, n times."""
    words = -(-n // 8)  # 64 random bits hold the bytes of eight resamples
    source = np.random.PCG64(stream)
    sums, part = np.zeros(n), np.empty(n)
    for tables in _tables(differences, columns):
        random = source.random_raw(words * len(tables)).view(np.uint8)
        bytes_drawn = random.reshape(len(tables), -1)[:, :n].astype(np.intp)
        for table, index in zip(tables, bytes_drawn, strict=True):
            # clip: no check of bounds, none needed
            np.take(table, index, out=part, mode="clip")
            sums += part
    return sums


def _tables(differences: FloatArray, columns: int) -> Iterator[FloatArray]:
    """The 256 sums ±d of each eight differences, shape (columns or fewer, 256)."""
    padded = np.zeros(-(-len(differences) // _BITS) * _BITS)
    padded[: len(differences)] = differences
    rows = padded.reshape(-1, _BITS)
    for first in range(0, len(rows), columns):
        block = rows[first : first + columns]
        sums = np.zeros((len(block), 1))
        for bit in range(_BITS):
            column = block[:, bit : bit + 1]
            sums = np.concatenate([sums - column, sums + column], axis=1)
        yield sums


#: Differences up to which the signed-rank distribution is counted out.
MOST_EXACT_RANKS = 50


@dataclass(frozen=True)
class McNemarTest(NamedFigures):
    """McNemar's exact test of paired 0/1 scores: H0, as many prompts are won as lost."""

    p_value: float  #: two-sided, min(1, 2·P(Bin(b+c, 1/2) <= min(b, c))).
    b: int  #: prompts that only the first has right.
    c: int  #: prompts that only the second has right.
    n_prompts: int  #: prompts.

    def __str__(self) -> str:
        return f"p={self.p_value:.3g} (McNemar, exact, {self.b} against {self.c})"


@dataclass(frozen=True)
class WilcoxonTest(NamedFigures):
    """Wilcoxon's signed-rank test: H0, the differences are symmetric about 0."""

    p_value: float | None  #: two-sided; None where all differences are 0.
    #: the smaller of the rank sums of positive and negative differences.
    statistic: float | None
    n_prompts: int  #: differences.
    n_zero: int  #: differences of 0, left out before ranking (Wilcoxon's way).
    #: ``"exact"`` or ``"normal"`` (tied sizes share their mean rank, the variance is
    #: corrected for ties, no continuity correction).
    method: str
    reason: str  #: why this method, or why there is no p.

    def __str__(self) -> str:
        if self.p_value is None:
            p = "no p"
        else:
            p = f"p={self.p_value:.3g}"
        return f"{p} (Wilcoxon signed rank, {self.method}: {self.reason})"


def mcnemar_test(a: ArrayLike, b: ArrayLike) -> McNemarTest:
    """McNemar's exact test of two runs with one draw per prompt.

    Args:
        a: 0/1 score of each prompt in the first run, shape (n,).
        b: the same prompts in the second run, shape (n,).

    Raises:
        StatisticsError: for scores that are not 0 or 1, or not aligned.

    Examples:
        >>> print(mcnemar_test([1, 1, 1, 0, 1], [0, 0, 1, 0, 0]))
        p=0.25 (McNemar, exact, 3 against 0)
    """
    first, second = as_scores(a, "a"), as_scores(b, "b")
    if len(first) != len(second):
        raise StatisticsError(f"`a` has {len(first)} prompts, `b` {len(second)}")
    for name, scores in (("a", first), ("b", second)):
        if not is_zero_one(scores):
            raise StatisticsError(
                f"`{name}` holds scores other than 0 and 1: McNemar's test is for one "
                "draw of a right or wrong answer; the sign flip test takes any score"
            )
    wins, losses = int(np.sum(first > second)), int(np.sum(first < second))
    return McNemarTest(binomial_p_value(wins, losses), wins, losses, len(first))


def wilcoxon_test(differences: ArrayLike) -> WilcoxonTest:
    """Wilcoxon's signed-rank test, by `scipy.stats.wilcoxon`.

    Differences of 0 (up to 1e-9 of the largest) are left out; exact where at most 50
    are left and no two are of one size, else normal.

    Args:
        differences: a − b of each prompt, finite, shape (n,).

    Raises:
        StatisticsError: for differences that are empty or not finite.

    Examples:
        >>> print(wilcoxon_test([0.3, -0.1, 0.5, 0.2, 0.4, 0.0]))
        p=0.125 (Wilcoxon signed rank, exact: 5 distinct sizes)
    """
    values = as_scores(differences, "differences")
    largest = float(np.abs(values).max())
    nonzero = values[np.abs(values) > TIE * largest]
    n_zero = len(values) - len(nonzero)
    if not len(nonzero):
        reason = "all differences are 0"
        return WilcoxonTest(None, None, len(values), n_zero, "exact", reason)
    from scipy import stats

    sizes, _ = distinct_sizes(nonzero)  # what differs by rounding is a tie
    ranks = 1 + np.searchsorted((sizes[1:] + sizes[:-1]) / 2, np.abs(nonzero))
    distinct = len(sizes)
    why = ", ties share their mean rank"
    if distinct == len(nonzero):
        why = ""
    method, of_scipy = "normal", "approx"
    if distinct == len(nonzero) <= MOST_EXACT_RANKS:
        method, of_scipy = "exact", "exact"
    signed = np.sign(nonzero) * ranks
    test = stats.wilcoxon(signed, zero_method="wilcox", method=of_scipy)
    return WilcoxonTest(
        p_value=float(test.pvalue),
        statistic=float(test.statistic),
        n_prompts=len(values),
        n_zero=n_zero,
        method=method,
        reason=f"{distinct} distinct sizes{why}",
    )
