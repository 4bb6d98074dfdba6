"""What may enter the statistics, every check in one place.

Missing and infinite scores are refused here, with their number and first position, so
that no function behind these checks has to think of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError

FloatArray = NDArray[np.float64]
Bounds = tuple[float | None, float | None]

# Numbers that differ by less than this share of their size differ by rounding only.
ROUNDING = 1e-12
# Resampled figures that differ from the observed one by less than this share of their
# scale are ties: scores that were written with ten digits (0.3333333333) must not lose
# them.
TIE = 1e-9
# Room for the rounding of a mean of draws, as a share of the width of the bounds.
_BOUNDS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Clusters:
    """Cluster labels as numbers."""

    codes: NDArray[np.intp]  #: cluster number of each prompt, 0 to G-1, shape (n,).
    sizes: FloatArray  #: prompts in each cluster, shape (G,), every one at least 1.

    @property
    def n(self) -> int:
        """Number of clusters G."""
        return len(self.sizes)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of ``values`` (one per prompt) in each cluster, shape (G,). One pass."""
        return np.bincount(self.codes, weights=values, minlength=self.n).astype(
            np.float64
        )


def as_scores(scores: ArrayLike, name: str = "scores") -> FloatArray:
    """``scores`` as a one-dimensional float array: not empty, every entry finite.

    Raises:
        StatisticsError: naming the argument, what was found and its first position.
    """
    values = as_floats(scores, name)
    if values.ndim != 1:
        raise StatisticsError(
            f"`{name}` must be one-dimensional, found {values.ndim} dimensions"
        )
    if len(values) == 0:
        raise StatisticsError(
            f"`{name}` is empty: a statistic needs at least one scored prompt"
        )
    wrong = ~np.isfinite(values)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise StatisticsError(
            f"`{name}` holds {int(wrong.sum())} value(s) that are not finite (first: "
            f"{values[first]} at index {first}); leave unscored prompts out and count "
            "them"
        )
    return values


def as_score_matrix(scores: ArrayLike, name: str = "scores") -> FloatArray:
    """``scores`` of several models as a two-dimensional float array, NaN where not
    scored.

    Args:
        scores: one row per prompt, one column per model, shape (n, M), n at least 1, M
            at least 2.

    Raises:
        StatisticsError: for another shape, and for infinite scores with their first
            position.
    """
    values = as_floats(scores, name)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise StatisticsError(
            f"`{name}` must be prompts x models with at least 1 prompt and 2 models, "
            f"found shape {values.shape}"
        )
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise StatisticsError(
            f"`{name}` holds {int(infinite.sum())} infinite value(s) (first: prompt "
            f"{row}, model {column}); a prompt that was not scored is NaN"
        )
    return values


def as_seed(seed: object) -> int:
    """``seed`` as a whole number of at least 0."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise StatisticsError(
            f"`seed` must be a whole number of at least 0, found {seed!r}"
        )
    return int(seed)


def as_weights(weights: ArrayLike, n: int) -> FloatArray:
    """``weights`` as a float array of length ``n``, every entry finite and above 0."""
    values = as_scores(weights, "weights")
    check_length(len(values), n, "weights")
    if values.min() <= 0:
        first = int(np.argmax(values <= 0))
        raise StatisticsError(
            f"`weights` must be above 0, found {values[first]} at index {first}; leave "
            "prompts without weight out"
        )
    return values


def as_prompt_weights(weights: ArrayLike, n: int, name: str = "weights") -> FloatArray:
    """``weights`` of ``n`` prompts: finite, at least 0, some above; prompts of weight 0
    count for nothing."""
    values = as_scores(weights, name)
    check_length(len(values), n, name)
    if values.min() < 0:
        first = int(np.argmax(values < 0))
        raise StatisticsError(
            f"`{name}` must not be below 0, found {values[first]} at index {first}"
        )
    if values.max() == 0:
        raise StatisticsError(f"`{name}` are all 0: a weighted mean needs some weight")
    return values


def as_shares(weights: ArrayLike | None, n: int) -> FloatArray:
    """``weights``, each above 0, over their sum, shape (n,); None: all alike."""
    if weights is None:
        return np.full(n, 1 / n)
    checked = as_weights(weights, n)
    shares: FloatArray = checked / checked.sum()
    return shares


def as_level(level: float) -> float:
    """``level`` as a confidence level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise StatisticsError(
            f"`level` must lie between 0 and 1 (such as 0.95), found {level}"
        )
    return float(level)


def check_one_sided(alpha: float) -> None:
    """Refuse a level of a one-sided test that is not between 0 and 0.5."""
    if not 0 < alpha < 0.5:
        raise StatisticsError(
            f"`alpha` must lie between 0 and 0.5 (such as 0.05), found {alpha}"
        )


def as_clusters(clusters: ArrayLike, n: int) -> Clusters:
    """Cluster labels of ``n`` prompts as numbers; equal labels are one cluster.

    Args:
        clusters: integers or strings, shape (n,).

    Raises:
        StatisticsError: where the length differs, or a label is missing or neither of
            the two.
    """
    labels = _as_labels(clusters)
    if labels.ndim != 1:
        raise StatisticsError(
            f"`clusters` must be one-dimensional, found {labels.ndim} dimensions"
        )
    check_length(len(labels), n, "clusters")
    if labels.dtype.kind in "iu":
        codes = _integer_codes(labels)
    else:
        codes = _object_codes(labels)
    return Clusters(codes, np.bincount(codes).astype(np.float64))


def clusters_if_any(clusters: ArrayLike | None, n: int) -> Clusters | None:
    """`as_clusters`; None where prompts are not clustered."""
    if clusters is None:
        return None
    return as_clusters(clusters, n)


def one_unit_each(n: int) -> Clusters:
    """``n`` prompts, each a cluster of its own."""
    return Clusters(np.arange(n), np.ones(n))


def number_of(clusters: Clusters | None) -> int | None:
    """G; None where prompts are not clustered."""
    if clusters is None:
        return None
    return clusters.n


def codes_of(clusters: Clusters | None) -> NDArray[np.intp] | None:
    """Cluster number of each prompt; None where prompts are not clustered."""
    if clusters is None:
        return None
    return clusters.codes


def unit_sums(values: FloatArray, clusters: Clusters | None) -> FloatArray:
    """Sum of ``values`` in each unit: prompt, or cluster where there are any."""
    if clusters is None:
        return values
    return clusters.sums(values)


def check_length(length: int, expected: int, name: str) -> None:
    """Refuse an argument that is not aligned with the scores."""
    if length != expected:
        raise StatisticsError(
            f"`{name}` has {length} entries, expected one per prompt: {expected}"
        )


def finite_bounds(bounds: Bounds | None) -> tuple[float, float] | None:
    """``bounds`` where both ends are finite numbers, else None (unbounded on a side)."""
    if bounds is None:
        return None
    low, high = bounds
    if low is None:
        low = -math.inf
    else:
        low = float(low)
    if high is None:
        high = math.inf
    else:
        high = float(high)
    if not low < high:  # also where one of them is NaN
        raise StatisticsError(
            f"`bounds` must be (low, high) with low < high, found {bounds}"
        )
    if math.isfinite(low) and math.isfinite(high):
        return (low, high)
    return None


def check_within(scores: FloatArray, bounds: tuple[float, float]) -> None:
    """Refuse scores that lie outside the bounds of their metric."""
    low, high = bounds
    slack = _BOUNDS_TOLERANCE * (high - low)
    smallest, largest = float(scores.min()), float(scores.max())
    if smallest < low - slack or largest > high + slack:
        raise StatisticsError(
            f"`scores` run from {smallest} to {largest}, outside the `bounds` ({low}, "
            f"{high}); give the bounds on the scale of the scores"
        )


def is_constant(scores: FloatArray) -> bool:
    """Whether all scores are the same number, up to rounding."""
    low, high = float(scores.min()), float(scores.max())
    return high - low <= ROUNDING * max(abs(low), abs(high))


def is_zero_one(scores: FloatArray) -> bool:
    """Whether every score is exactly 0 or 1."""
    return bool(np.all((scores == 0) | (scores == 1)))


def is_binary(
    scores: FloatArray, binary: bool | None, n_draws: ArrayLike | None
) -> bool:
    """Whether the scores are 0/1 with one draw per prompt, as declared or as found.

    A prompt mean of several draws may be 0 or 1 by chance, so ``n_draws`` decides as
    well.
    """
    one_draw = n_draws is None or _one_draw_each(n_draws, len(scores))
    zero_one = one_draw and is_zero_one(scores)
    if binary and not zero_one:
        requirement = "one draw per prompt (`n_draws` is above 1)"
        if one_draw:
            requirement = "every score 0 or 1"
        raise StatisticsError(
            f"`binary=True` needs {requirement}; pass binary=None to let data decide"
        )
    if binary is None:
        return zero_one
    return binary


def _one_draw_each(n_draws: ArrayLike, n: int) -> bool:
    draws = np.atleast_1d(as_floats(n_draws, "n_draws"))
    if draws.shape not in ((1,), (n,)):
        raise StatisticsError(f"`n_draws` must be one number or one per prompt ({n})")
    if not np.all(draws >= 1):
        raise StatisticsError("`n_draws` must be at least 1 for every prompt")
    return bool(np.all(draws == 1))


def as_floats(values: ArrayLike, name: str) -> FloatArray:
    """``values`` as a float array of any shape; NaN where an entry is missing."""
    try:
        if isinstance(
            values, np.ma.MaskedArray
        ):  # np.asarray would show what is masked
            values = np.ma.filled(values.astype(np.float64), np.nan)
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"`{name}` must hold numbers: {error}") from None


def _as_labels(clusters: ArrayLike) -> NDArray[Any]:
    if isinstance(clusters, np.ma.MaskedArray):
        clusters = clusters.tolist()  # None where masked
    if isinstance(
        clusters, list | tuple
    ):  # else numpy would turn ["a", nan] into ["a", "nan"]
        return np.asarray(clusters, dtype=object)
    return np.asarray(clusters)


def _integer_codes(labels: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(labels, return_inverse=True)[1].astype(np.intp, copy=False)


def _object_codes(labels: NDArray[Any]) -> NDArray[np.intp]:
    numbers: defaultdict[object, int] = defaultdict(
        count().__next__
    )  # numbered as first seen
    try:
        codes = np.fromiter(
            map(numbers.__getitem__, labels.tolist()), np.intp, len(labels)
        )
    except TypeError as error:
        raise StatisticsError(
            f"`clusters` must hold integers or strings: {error}"
        ) from None
    for label in numbers:
        _check_label(label)
    return codes


def _check_label(label: object) -> None:
    if isinstance(label, str | Integral):
        return
    if (
        isinstance(label, float) and label.is_integer()
    ):  # a column of integers that had gaps
        return
    raise StatisticsError(
        f"`clusters` must hold integers or strings, found {label!r}; a prompt without "
        "a cluster needs a label of its own"
    )


#: ``1 - level`` and sums of p-values are rounded: at level 0.9 a p of 0.1 is above ``1
#: - 0.9``.
_ROUNDED = 1e-12


@overload
def rejects(p_values: float | None, alpha: float) -> bool: ...
@overload
def rejects(p_values: FloatArray, alpha: float) -> NDArray[np.bool_]: ...
def rejects(
    p_values: float | FloatArray | None, alpha: float
) -> bool | NDArray[np.bool_]:
    """Whether a p is at most ``alpha``, but for rounding; one that is NaN or None never
    is.

    Args:
        p_values: one, or an array of any shape.
        alpha: size of the test, 1 − level.

    Examples:
        >>> rejects(0.1, 1 - 0.9), rejects(0.11, 1 - 0.9), rejects(None, 0.05)
        (True, False, False)
    """
    found = np.less_equal(np.asarray(p_values, dtype=np.float64), alpha + _ROUNDED)
    if found.ndim:
        return found
    return bool(found)
