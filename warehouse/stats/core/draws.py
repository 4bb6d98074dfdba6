"""Several draws (generations) per prompt: means, variances within prompts, and their
checks.

Notation of all modules on draws: prompt i has K_i draws with mean p̂_i and sample
variance W_i (ddof 1); n prompts; the benchmark score is the unweighted mean of the p̂_i
(Miller 2024 §3.1).

Draws come in streams of `STREAM` rows, each from a generator of its own that is derived
from the seed and the number of the stream: the same weights whatever the size of the
blocks they are handed out in.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_floats, as_scores, check_length

PROMPTS_SAMPLED, PROMPTS_FIXED = "prompts_sampled", "prompts_fixed"
# A variance within 0/1 draws may differ by this from p(1-p)K/(K-1) of a rounded rate.
_ZERO_ONE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PromptDraws:
    """What the draws of each prompt come to."""

    means: FloatArray  #: p̂_i, finite, shape (n,).
    within: FloatArray  #: W_i at least 0, shape (n,); NaN where it is not known, as with one draw.
    n_draws: FloatArray  #: K_i, whole numbers of at least 1, shape (n,).

    @property
    def n(self) -> int:
        """Prompts n."""
        return len(self.means)

    @property
    def n_known(self) -> int:
        """Prompts whose W_i is known."""
        return int(np.isfinite(self.within).sum())

    @property
    def imputed(self) -> bool:
        """Some W_i are known and some are not: the mean of the known ones stands in."""
        return 0 < self.n_known < self.n

    @property
    def mean_within(self) -> float | None:
        """W̄, the mean of the known W_i; None where none is known."""
        spreads = self.within[np.isfinite(self.within)]
        if len(spreads):
            return float(spreads.mean())
        return None

    @property
    def part_within(self) -> float | None:
        """w = mean of W_i/K_i, W̄ for W_i that are not known; None where none is known."""
        if self.mean_within is None:
            return None
        return float((self.within_or_mean() / self.n_draws).mean())

    @property
    def fewest(self) -> int:
        """The smallest K_i."""
        return int(self.n_draws.min())

    @property
    def equal(self) -> bool:
        """Whether every prompt has the same number of draws."""
        return bool(self.n_draws.min() == self.n_draws.max())

    def within_or_mean(self) -> FloatArray:
        """W_i, W̄ where it is not known, shape (n,); all NaN where none is known."""
        mean = self.mean_within
        if mean is None:
            mean = np.nan
        return np.where(np.isfinite(self.within), self.within, mean)

    def are_zero_one(self) -> bool:
        """Whether the draws can all be 0 or 1: scores within [0, 1], K_i·p̂_i whole,
        and W_i = p̂_i(1−p̂_i)K_i/(K_i−1), which no other scores in [0, 1] reach."""
        p, k = self.means, self.n_draws
        counts = p * k
        if (
            p.min() < 0
            or p.max() > 1
            or not np.allclose(counts, np.round(counts), atol=1e-6)
        ):
            return False
        has_spread = np.isfinite(self.within)
        p, k = p[has_spread], k[has_spread]
        return np.allclose(
            self.within[has_spread], p * (1 - p) * k / (k - 1), atol=_ZERO_ONE_TOLERANCE
        )


def as_estimand(estimand: str) -> str:
    """``"prompts_sampled"`` or ``"prompts_fixed"``, also written with a hyphen
    (StatisticsError: another word)."""
    name = estimand.replace("-", "_")
    if name not in (PROMPTS_SAMPLED, PROMPTS_FIXED):
        raise StatisticsError(
            f"unknown `estimand` {estimand!r}, expected {PROMPTS_SAMPLED} or "
            f"{PROMPTS_FIXED}"
        )
    return name


def prompt_draws(
    means: ArrayLike, within: ArrayLike, n_draws: ArrayLike
) -> PromptDraws:
    """Check what `PromptDraws` holds.

    Args:
        means: finite, shape (n,), n at least 1.
        within: sample variance over the draws of each prompt, at least 0, shape (n,);
            NaN or None where it is not known. It is not read where there is one draw.
        n_draws: whole numbers of at least 1, shape (n,), or one for all prompts.

    Raises:
        StatisticsError: naming the argument, what was found and where.
    """
    values = as_scores(means, "means")
    counts = as_draw_counts(n_draws, len(values))
    variances = np.atleast_1d(as_floats(within, "within"))
    check_length(len(variances), len(values), "within")
    variances = np.where(counts > 1, variances, np.nan)
    wrong = np.isinf(variances) | (variances < 0)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise StatisticsError(
            "`within` must hold variances of at least 0 (NaN where unknown), found "
            f"{variances[first]} at index {first}"
        )
    return PromptDraws(values, variances, counts)


def as_draw_counts(n_draws: ArrayLike, n: int, name: str = "n_draws") -> FloatArray:
    """Numbers of draws of ``n`` prompts, from one number or one per prompt, shape (n,).

    Raises:
        StatisticsError: another length, or a number that is not whole or below 1.
    """
    counts = as_scores(np.atleast_1d(as_floats(n_draws, name)), name)
    if len(counts) == 1:
        counts = np.repeat(counts, n)
    check_length(len(counts), n, name)
    wrong = (counts < 1) | (counts != np.floor(counts))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise StatisticsError(
            f"`{name}` must hold whole numbers of at least 1, found {counts[first]} at "
            f"index {first}"
        )
    return counts


def summarise_draws(values: ArrayLike, prompts: ArrayLike) -> PromptDraws:
    """Means, variances and numbers of draws from the draws themselves.

    Args:
        values: score of each draw, finite, shape (m,).
        prompts: prompt of each draw as a number from 0 to n−1, each at least once,
            shape (m,).

    Returns:
        the prompts in order of their number.

    Raises:
        StatisticsError: values not finite, or prompt numbers that leave gaps.

    Examples:
        >>> draws = summarise_draws([1, 1, 0, 0, 0], [0, 0, 0, 1, 1])
        >>> draws.means.round(3).tolist(), draws.within.round(3).tolist()
        ([0.667, 0.0], [0.333, 0.0])
    """
    scores, codes, counts = _ragged(values, prompts)
    means = np.bincount(codes, weights=scores) / counts
    centred = scores - means[codes]
    squares = np.bincount(codes, weights=centred**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        within = np.where(counts > 1, squares / (counts - 1), np.nan)
    return PromptDraws(means, within, counts)


def single_draw_scores(values: ArrayLike, prompts: ArrayLike) -> FloatArray:
    """Benchmark scores of the single-draw runs, shape (min K_i,).

    Run k takes the k-th draw of every prompt, in the order in which ``values`` holds
    them; draws beyond the smallest K_i are not used. Arguments and errors as for
    `summarise_draws`.

    Examples:
        >>> single_draw_scores([1, 1, 0, 0, 1], [0, 0, 0, 1, 1]).tolist()
        [0.5, 1.0]
    """
    scores, codes, counts = _ragged(values, prompts)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
    first = starts[:, None] + np.arange(int(counts.min()))
    means: FloatArray = scores[order][first].mean(axis=0)
    return means


def _ragged(
    values: ArrayLike, prompts: ArrayLike
) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.intp]], FloatArray]:
    scores = as_scores(values, "values")
    codes = np.asarray(prompts)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise StatisticsError("`prompts` must hold one whole number for each draw")
    if len(codes) != len(scores):
        raise StatisticsError(
            f"`prompts` has {len(codes)} entries, expected one per draw: {len(scores)}"
        )
    if codes.min() < 0:
        raise StatisticsError(f"`prompts` must count from 0, found {codes.min()}")
    counts = np.bincount(codes).astype(np.float64)
    if counts.min() < 1:
        raise StatisticsError(
            f"`prompts` leaves out {int(np.argmin(counts))}: it has no draw"
        )
    return scores, codes.astype(np.intp), counts


#: Rows that one generator makes.
STREAM = 64
#: Webb's (2014) six points: mean 0, variance 1, each with probability 1/6.
WEBB = np.sqrt(np.array([0.5, 1.0, 1.5, 0.5, 1.0, 1.5])) * np.array(
    [-1, -1, -1, 1, 1, 1]
)
# Four weights for each random number: fewer of these, and rows of a length that numpy
# copies fast.
_FOURS = np.array(list(itertools.product(WEBB, repeat=4)))


def webb_draws(
    n: int, n_draws: int, seed: int, *, block: int = 4 * STREAM
) -> Iterator[tuple[slice, FloatArray]]:
    """Webb weights for ``n`` units, ``n_draws`` times.

    Args:
        n: units (prompts or clusters) that each draw has a weight for.
        n_draws: number of draws.
        seed: of the random numbers, a whole number, at least 0.
        block: most rows that are handed out at a time; rounded up to whole streams.

    Yields:
        which draws these are, and their weights, shape (rows, n).

    Examples:
        >>> [(rows.start, weights.shape) for rows, weights in webb_draws(3, 100, 0, block=64)]
        [(0, (64, 3)), (64, (36, 3))]
    """
    for rows in draw_blocks(n_draws, block):
        yield rows, webb_block(n, rows, seed)


def draw_blocks(n_draws: int, block: int) -> list[slice]:
    """The draws in blocks of whole streams, ``block`` rows or a little more each."""
    size = max(1, -(-block // STREAM)) * STREAM
    return [
        slice(start, min(start + size, n_draws)) for start in range(0, n_draws, size)
    ]


def _whole_streams(rows: slice) -> int:
    """Number of rows, rounded up to what whole streams make."""
    n_rows: int = rows.stop - rows.start
    n_streams = -(-n_rows // STREAM)
    return n_streams * STREAM


def webb_block(n: int, rows: slice, seed: int) -> FloatArray:
    """Weights of one of `draw_blocks`, shape (rows, n); blocks may be made in any
    order."""
    weights = np.empty((_whole_streams(rows), n))
    for first in range(0, len(weights), STREAM):
        stream = weights[first : first + STREAM].reshape(-1, _FOURS.shape[1])
        rng = _generator(seed, rows.start + first)
        codes = rng.integers(0, len(_FOURS), size=len(stream), dtype=np.uint16)
        _FOURS.take(codes, axis=0, out=stream, mode="clip")  # all codes are in range
    return weights[: rows.stop - rows.start]


def sign_block(
    n: int, rows: slice, seed: int, kind: DTypeLike = np.float64
) -> NDArray[Any]:
    """Random signs, −1 or 1 (Rademacher weights), as `webb_block` gives weights."""
    signs = np.empty((_whole_streams(rows), n), kind)
    for first in range(0, len(signs), STREAM):
        rng = _generator(seed, rows.start + first)
        words = rng.bit_generator.random_raw(STREAM * n // 64)
        octets = words.astype("<u8", copy=False).view(np.uint8)
        own = np.unpackbits(octets).view(np.int8)
        own *= 2
        own -= 1
        signs[first : first + STREAM] = own.reshape(STREAM, n)
    return signs[: rows.stop - rows.start]


def all_signs(n: int, rows: slice) -> FloatArray:
    """Some of all 2^n vectors of signs, the one of ones first, shape (rows, n)."""
    numbers = np.arange(rows.start, rows.stop)
    bits = numbers[:, None] >> np.arange(n) & 1
    return np.asarray(1.0 - 2.0 * bits)


def _generator(seed: int, row: int) -> np.random.Generator:
    """That of the stream which begins with a row."""
    return np.random.Generator(
        np.random.SFC64(np.random.SeedSequence([seed, row // STREAM]))
    )
