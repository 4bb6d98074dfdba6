"""Is the newest run of a condition a draw like those before it? (statistics.md §20 C,
one run against the others)

Where runs differ by draws alone, each of the scores that they have on a prompt could as
well be the newest run's. Given these scores, the newest run's sum over prompts has a
known distribution: with two runs of 0/1 scores it is McNemar's, with more a sum of
unequal coins. Nothing is assumed of how hard prompts are, and a run that gets all right
says no more than it does, which a paired t test does not hold to: differences without
spread have no error there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import TIE, FloatArray, as_clusters, as_floats
from warehouse.stats.core.quantiles import SMALLEST_P, normal_p_value
from warehouse.stats.core.results import NamedFigures

#: Prompts with coins up to which their sum is counted out.
_MOST_COUNTED = 4_000
#: Halvings in which the tilt of the sum is found.
_HALVINGS = 100


@dataclass(frozen=True)
class NewestRunTest(NamedFigures):
    """The newest run of a condition held against the runs before it."""

    p_value: float  #: two-sided; 1 where no score differs.
    p_lower: float  #: one-sided: the chance of scores as low as these, or lower.
    p_higher: float  #: one-sided: the chance of scores as high as these, or higher.
    mean: float  #: of the newest run on the prompts that an earlier one has; NaN without any.
    mean_before: float  #: mean over these prompts of the mean over the earlier runs.
    n_runs: int  #: R, the newest among them.
    n_prompts: int  #: prompts that the newest run and an earlier one have (with clusters: all runs).
    n_differ: int  #: prompts among them on which runs differ.
    n_clusters: int | None  #: clusters of these prompts; None without clusters.
    method: str  #: ``"mcnemar_exact"``, ``"unequal_coins_exact"``, ``"permutation_saddlepoint"``, ``"no_difference"``.

    @property
    def difference(self) -> float:
        """The newest run's mean less that of the runs before."""
        return self.mean - self.mean_before


def newest_run_test(
    runs: ArrayLike, *, clusters: ArrayLike | None = None
) -> NewestRunTest:
    """Whether the last of some runs differs from the others by more than draws do.

    Args:
        runs: mean score of each run on each prompt, NaN where it has none, the newest
            last, shape (R, n), R at least 2.
        clusters: cluster of each prompt, integers or strings, shape (n,), or None. With
            clusters only prompts that all runs have count, and their sums by cluster.

    Raises:
        StatisticsError: another shape, infinite scores, fewer than two runs.

    Examples:
        >>> found = newest_run_test([[1, 1, 0, 1, 1, 1], [1, 0, 0, 0, 0, 0]])
        >>> found.method, round(found.p_value, 4)
        ('mcnemar_exact', 0.125)
    """
    table = as_floats(runs, "runs")
    if table.ndim != 2 or len(table) < 2:
        raise StatisticsError(
            "`runs` must be runs x prompts with two runs at least, found shape "
            f"{table.shape}"
        )
    if np.isinf(table).any():
        raise StatisticsError("`runs` holds infinite scores")
    scored = np.isfinite(table)
    if clusters is None:
        kept = scored[-1] & scored[:-1].any(axis=0)
    else:
        kept = scored.all(axis=0)
    table = table[:, kept]
    n = table.shape[1]
    if not n:
        return NewestRunTest(
            1.0, 1.0, 1.0, math.nan, math.nan, len(table), 0, 0, None, "no_difference"
        )
    mean = float(table[-1].mean())
    mean_before = float(np.nanmean(table[:-1], axis=0).mean())
    n_clusters = None
    units = table
    if clusters is not None:
        groups = as_clusters(np.asarray(clusters)[kept], n)
        units = np.array([groups.sums(row) for row in table])
        n_clusters = units.shape[1]
    n_differ = int(_differing(table).sum())
    units = units[:, _differing(units)]
    lower, upper, method = _tails(units)
    return NewestRunTest(
        p_value=max(min(1.0, 2 * min(lower, upper)), SMALLEST_P),
        p_lower=max(lower, SMALLEST_P),
        p_higher=max(upper, SMALLEST_P),
        mean=mean,
        mean_before=mean_before,
        n_runs=len(table),
        n_prompts=n,
        n_differ=n_differ,
        n_clusters=n_clusters,
        method=method,
    )


def _differing(table: FloatArray) -> np.ndarray:
    """Columns in which runs differ by more than rounding."""
    scale = max(float(np.nanmax(np.abs(table))), 1e-300)
    return np.asarray(np.nanmax(table, axis=0) - np.nanmin(table, axis=0) > TIE * scale)


def _tails(units: FloatArray) -> tuple[float, float, str]:
    """P(the sum is as low as the newest run's, or lower), P(as high, or higher), and
    how they were found."""
    if not units.shape[1]:
        return 1.0, 1.0, "no_difference"
    values = units[np.isfinite(units)]
    is_coins = bool(((values == 0) | (values == 1)).all())
    if is_coins and units.shape[1] <= _MOST_COUNTED:
        method = "unequal_coins_exact"
        if len(units) == 2:
            method = "mcnemar_exact"
        return *_coins(units), method
    centred = np.where(np.isfinite(units), units - np.nanmean(units, axis=0), np.nan)
    lower = _saddlepoint_tail(-centred)
    upper = _saddlepoint_tail(centred)
    return lower, upper, "permutation_saddlepoint"


def _coins(units: FloatArray) -> tuple[float, float]:
    """Both tails of a sum of coins, each of which falls on 1 as often as runs have a 1
    on its prompt."""
    chances = np.nanmean(units, axis=0)
    masses = np.ones(1)
    for chance in chances.tolist():
        longer = np.append(masses, 0.0) * (1 - chance)
        longer[1:] += masses * chance
        masses = longer
    found = round(float(units[-1].sum()))
    return min(1.0, float(masses[: found + 1].sum())), min(
        1.0, float(masses[found:].sum())
    )


def _saddlepoint_tail(centred: FloatArray) -> float:
    """P(a sum of one value of each column is as high as that of the last row, or
    higher).

    Robinson's saddlepoint approximation for permutations (1982), with Lugannani and
    Rice's formula; at the largest sum that there is, the chance of that sum.
    """
    counts = np.isfinite(centred).sum(axis=0)
    filled = np.where(np.isfinite(centred), centred, -np.inf)
    highest = filled.max(axis=0)
    scale = float(
        (highest - np.where(np.isfinite(centred), centred, np.inf).min(axis=0)).max()
    )
    target, most = float(centred[-1].sum()), float(highest.sum())
    if most - target <= 1e-9 * max(abs(most), scale):
        n_highest = (filled >= highest - TIE * scale).sum(axis=0)
        return math.exp(float(np.log(n_highest / counts).sum()))
    variance = float(
        (np.where(np.isfinite(centred), centred, 0.0) ** 2).sum(axis=0) @ (1 / counts)
    )
    standardised = target / math.sqrt(variance)
    if (
        abs(standardised) < 0.1 or target < 0
    ):  # not in the tail: what is asked is whether it is
        p = normal_p_value(abs(standardised))
        if standardised > 0:
            return p / 2
        return 1 - p / 2
    tilt = _tilt(filled, highest, counts, target, scale)
    cumulant, _, spread = _tilted(filled, highest, counts, tilt)
    w = math.sqrt(max(2 * (tilt * target - cumulant), 0.0))
    u = tilt * math.sqrt(spread)
    upper = normal_p_value(w) / 2
    p = upper + math.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (1 / u - 1 / w)
    return min(
        max(p, 0.0), math.exp(-w * w / 2)
    )  # Chernoff's bound holds whatever the approximation does


def _tilt(
    filled: FloatArray,
    highest: FloatArray,
    counts: np.ndarray,
    target: float,
    scale: float,
) -> float:
    """The tilt under which the mean of the sum is the target, which is above 0 and
    below the largest sum."""
    low, high = 0.0, 1.0 / scale
    while _tilted(filled, highest, counts, high)[1] < target and high < 1e6 / scale:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _tilted(filled, highest, counts, middle)[1] < target:
            low = middle
        else:
            high = middle
        if high - low <= 1e-10 * high:
            break
    return (low + high) / 2


def _tilted(
    filled: FloatArray, highest: FloatArray, counts: np.ndarray, tilt: float
) -> tuple[float, float, float]:
    """Cumulant generating function of the sum at a tilt, and its first two derivatives."""
    weights = np.exp(tilt * (filled - highest))
    totals = weights.sum(axis=0)
    shares = weights / totals
    values = np.where(np.isfinite(filled), filled, 0.0)
    means = (shares * values).sum(axis=0)
    spread = (shares * (values - means) ** 2).sum(axis=0)
    cumulant = tilt * highest + np.log(totals / counts)
    return float(cumulant.sum()), float(means.sum()), float(spread.sum())
