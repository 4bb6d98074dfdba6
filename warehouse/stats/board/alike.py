"""Entries that are right and wrong on the same prompts, more than their accuracies and
the difficulty of the prompts allow (§25.11, on scores of 0 and 1).

Source: Mantel and Haenszel (1959): prompts in strata, in each of which the agreement of
two entries is hypergeometric given how many each has right. A stratum is how many of the
other entries have a prompt right. What these leave of difficulty makes all pairs agree, so
that a pair has also to stand out among the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray

#: Entries and prompts below which nothing is said, and entries above which no pair is
#: looked at.
_FEWEST_ENTRIES, _FEWEST_PROMPTS, _MOST_ENTRIES = 6, 50, 200
#: Robust units by which a pair has to stand out among all pairs, and of its own.
_APART, _OWN = 6.0, 5.0
#: Share of the expected disagreements that a pair may have, at most.
_MOST_LEFT = 0.5


@dataclass(frozen=True)
class AlikePair:
    """Two entries whose scores are too alike."""

    first: int  #: number of the one.
    second: int  #: number of the other.
    n: int  #: prompts.
    n_differing: int  #: those that only one of the two has right.
    expected: float  #: how many these would be.
    z: float  #: how far the agreement is beyond what is expected, in its own errors.


def alike_pairs(scores: ArrayLike) -> list[AlikePair]:
    """The pairs that agree too often, the most alike first.

    Args:
        scores: of 0 and 1, shape (entries, prompts).

    Returns:
        nothing of fewer than 6 entries or 50 prompts, and of more than 200 entries.

    Raises:
        StatisticsError: scores that are neither 0 nor 1.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not np.isin(table, (0.0, 1.0)).all():
        raise StatisticsError("scores of 0 and 1 are needed, a row an entry")
    n_entries, n_prompts = table.shape
    if not _FEWEST_ENTRIES <= n_entries <= _MOST_ENTRIES:
        return []
    if n_prompts < _FEWEST_PROMPTS:
        return []
    right = table > 0
    totals = right.sum(axis=0)
    pairs = [_pair(right, totals, a, b) for a, b in combinations(range(n_entries), 2)]
    z = np.array([pair.z for pair in pairs])
    found = [
        pair
        for pair, apart in zip(pairs, _apart(z), strict=True)
        if apart > _APART and _is_alike(pair)
    ]
    return sorted(found, key=lambda pair: -pair.z)


def _is_alike(pair: AlikePair) -> bool:
    return pair.z > _OWN and pair.n_differing < _MOST_LEFT * pair.expected


def _apart(z: FloatArray) -> FloatArray:
    """How far each pair is from the middle of all, in robust units of at least 1."""
    middle = float(np.median(z))
    unit = 1.4826 * float(np.median(np.abs(z - middle)))
    return np.asarray((z - middle) / max(1.0, unit))


def _pair(
    right: NDArray[np.bool_], totals: NDArray[np.int_], a: int, b: int
) -> AlikePair:
    """Two entries, in strata of how many of the others have a prompt right."""
    one, other = right[a], right[b]
    strata = totals - one - other
    n = np.bincount(strata).astype(np.float64)
    n_one = np.bincount(strata, weights=one)
    n_other = np.bincount(strata, weights=other)
    both = np.bincount(strata, weights=one & other)
    with np.errstate(all="ignore"):
        expected = np.where(n > 0, n_one * n_other / n, 0.0)
        variance = expected * (n - n_one) * (n - n_other) / (n * (n - 1))
    total_variance = float(variance[n > 1].sum())
    n_differing = int((one != other).sum())
    expected_differing = float((n_one + n_other - 2 * expected).sum())
    z = 0.0
    if total_variance > 0:
        z = float((both - expected).sum()) / total_variance**0.5
    return AlikePair(a, b, right.shape[1], n_differing, expected_differing, z)
