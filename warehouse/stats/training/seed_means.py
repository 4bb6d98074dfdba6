"""Mean score of a checkpoint over seeds and prompts, or of two checkpoints' difference,
with both sources of error: another draw of seeds, and other prompts (statistics.md
§12).

With scores x_{s,i} of S seeds on n prompts the variance of the mean has two parts: a =
s²/S, s² that of the seeds' means, with S − 1 degrees of freedom; and b = max(0, e² −
w/(S·n)), e the (cluster-robust) error over prompts of the means over seeds, w the mean
over prompts of the variance over seeds, which a holds already. The interval is mean ±
sqrt(t_a²·a + t_b²·b), each part with its own quantile (the form of Howe 1974 and of
Graybill and Wang 1980): with two or three seeds Satterthwaite's degrees of freedom
cover as little as .87, and t_{S−1} for the whole is far too wide where the prompts make
the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    ROUNDING,
    FloatArray,
    as_floats,
    as_level,
    as_scores,
    clusters_if_any,
)
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.core.sample import describe

#: Smallest p that is told apart from 0.
_LEAST_P = 1e-300


@dataclass(frozen=True)
class SeedMean(NamedFigures):
    """A mean, or a difference of means, over seeds and prompts."""

    mean: float  #: the figure.
    #: a, the part of its variance that another draw of seeds makes.
    seed_variance: float
    seed_df: float | None  #: degrees of freedom of a; None without a second seed.
    prompt_variance: float  #: b, the part that other prompts make.
    #: of b, infinite for reported errors; None where prompts are taken as fixed.
    prompt_df: float | None
    #: ``seeds and prompts``, ``seeds`` (prompts fixed), ``prompts`` (these very runs),
    #: ``reported errors`` (these very runs, taken as independent), or empty: no error.
    basis: str

    @property
    def standard_error(self) -> float | None:
        """sqrt(a + b); None where nothing tells it, 0 where nothing varies."""
        if self.basis:
            return math.sqrt(self.seed_variance + self.prompt_variance)
        return None

    def half_width(self, level: float = 0.95) -> float | None:
        """sqrt(t_a²·a + t_b²·b); None without an error above 0."""
        if self.standard_error:
            return self._half((1 - as_level(level)) / 2)
        return None

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Mean ± half-width; None without an error above 0."""
        half = self.half_width(level)
        if half is None:
            return None
        return (self.mean - half, self.mean + half)

    def p_value(self, value: float = 0.0) -> float:
        """Two-sided: the size at which the interval just reaches ``value``; NaN without
        an error."""
        distance = abs(self.mean - value)
        if not self.standard_error:
            return math.nan
        low, high = math.log(_LEAST_P), math.log(0.5)
        if self._half(_LEAST_P) <= distance:
            return 2 * _LEAST_P
        while high - low > 1e-12:
            middle = (low + high) / 2
            if self._half(math.exp(middle)) > distance:
                low, high = (middle, high)
            else:
                low, high = (low, middle)
        return 2 * math.exp(high)

    def p_above(self, value: float = 0.0, sign: float = 1.0) -> float:
        """One-sided p of a mean above ``value`` (below it, with ``sign`` −1); NaN
        without an error."""
        half = self.p_value(value) / 2
        if sign * (self.mean - value) > 0:
            return half
        return 1 - half

    def _half(self, tail: float) -> float:
        parts = (
            (self.seed_variance, self.seed_df),
            (self.prompt_variance, self.prompt_df),
        )
        ends = (
            math.sqrt(v) * -float(special.stdtrit(nu, tail))
            for v, nu in parts
            if v and nu is not None
        )
        return math.hypot(*ends)


def seed_mean(scores: ArrayLike, *, clusters: ArrayLike | None = None) -> SeedMean:
    """Mean of one checkpoint, from its prompts' scores.

    Args:
        scores: of each seed on the same prompts, finite, shape (S, n). For a difference
            of two checkpoints of the same seeds: the differences.
        clusters: of the prompts, shape (n,), or None.

    Raises:
        StatisticsError: another shape, or scores that are not finite.
    """
    return _combined([_as_scores(scores)], [1.0], clusters)


def difference_of_seed_means(
    scores_a: ArrayLike, scores_b: ArrayLike, *, clusters: ArrayLike | None = None
) -> SeedMean:
    """Difference of two checkpoints whose seeds have nothing to do with each other.

    Args:
        scores_a: of the first, shape (S_A, n).
        scores_b: of the second on the same prompts in the same order, shape (S_B, n).
        clusters: of the prompts, shape (n,), or None.

    Raises:
        StatisticsError: other shapes, other numbers of prompts, or scores that are not
            finite.
    """
    a, b = _as_scores(scores_a), _as_scores(scores_b)
    if a.shape[1] != b.shape[1]:
        raise StatisticsError(
            f"the first has {a.shape[1]} prompts, the second {b.shape[1]}: common ones "
            "are needed"
        )
    return _combined([a, b], [1.0, -1.0], clusters)


def figure_mean(figures: ArrayLike, errors: ArrayLike | None = None) -> SeedMean:
    """Mean of figures without their prompts: over seeds from two seeds on, else by the
    reported error.

    Args:
        figures: one per seed, shape (S,).
        errors: reported standard errors, NaN where there is none, shape (S,).
    """
    x = np.atleast_2d(as_floats(figures, "figures")).T
    return _of_figures(
        [x[:, 0]], [1.0], None if errors is None else [np.asarray(errors, np.float64)]
    )


def difference_of_figures(
    figures_a: ArrayLike,
    figures_b: ArrayLike,
    errors_a: ArrayLike | None = None,
    errors_b: ArrayLike | None = None,
) -> SeedMean:
    """Difference of two checkpoints without their prompts; arguments as of
    `figure_mean`."""
    if errors_a is None or errors_b is None:
        errors = None
    else:
        errors = [np.asarray(e, np.float64) for e in (errors_a, errors_b)]
    return _of_figures(
        [as_floats(figures_a, "figures_a"), as_floats(figures_b, "figures_b")],
        [1.0, -1.0],
        errors,
    )


def _as_scores(scores: ArrayLike) -> FloatArray:
    x = as_floats(scores, "scores")
    if x.ndim != 2 or not x.size:
        raise StatisticsError(
            f"`scores` must be seeds x prompts, found shape {x.shape}"
        )
    if not np.isfinite(x).all():
        raise StatisticsError(
            "`scores` holds values that are not finite; take the prompts that all "
            "seeds have"
        )
    return x


def _combined(
    groups: Sequence[FloatArray], signs: Sequence[float], clusters: ArrayLike | None
) -> SeedMean:
    n = groups[0].shape[1]
    of_prompts = np.sum(
        [sign * x.mean(axis=0) for sign, x in zip(signs, groups, strict=True)], axis=0
    )
    sample = describe(of_prompts, clusters_if_any(clusters, n))
    seeds, seed_df = _seed_part([x.mean(axis=1) for x in groups])
    scale = max(float(np.abs(x).max()) for x in groups)
    prompts = 0.0
    if sample.se and sample.se > ROUNDING * scale:
        prompts = sample.se**2
    if sample.se is None:  # one prompt
        return SeedMean(
            sample.mean, seeds, seed_df, 0.0, None, "seeds" if seed_df else ""
        )
    if seed_df is None:
        return SeedMean(sample.mean, 0.0, None, prompts, sample.df, "prompts")
    within = (
        sum(
            float(x.var(axis=0, ddof=1).mean()) * (len(x) - 1)
            for x in groups
            if len(x) > 1
        )
        / seed_df
    )
    items = max(0.0, prompts - within / n * sum(1 / len(x) for x in groups))
    return SeedMean(sample.mean, seeds, seed_df, items, sample.df, "seeds and prompts")


def _seed_part(groups: Sequence[FloatArray]) -> tuple[float, float | None]:
    """Squared error of the difference of means over seeds (pooled), and its degrees of
    freedom; no degrees of freedom where nobody has a second seed."""
    nu = sum(len(x) - 1 for x in groups)
    if not nu:
        return 0.0, None
    squares = sum(float(np.sum((x - x.mean()) ** 2)) for x in groups)
    scale = max(float(np.abs(x).max()) for x in groups)
    if squares <= (ROUNDING * scale) ** 2 * sum(map(len, groups)):
        squares = 0.0
    return squares / nu * sum(1 / len(x) for x in groups), float(nu)


def _of_figures(
    groups: Sequence[FloatArray],
    signs: Sequence[float],
    errors: Sequence[FloatArray] | None,
) -> SeedMean:
    mean = float(sum(sign * x.mean() for sign, x in zip(signs, groups, strict=True)))
    variance, nu = _seed_part(groups)
    if nu is not None:
        return SeedMean(mean, variance, nu, 0.0, None, "seeds")
    if errors is None or not all(np.isfinite(e).all() for e in errors):
        return SeedMean(mean, 0.0, None, 0.0, None, "")
    return SeedMean(
        mean,
        0.0,
        None,
        sum(float(e[0]) ** 2 for e in errors),
        math.inf,
        "reported errors",
    )


def as_trajectory(
    scores: ArrayLike, positions: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Scores of one run and the positions of its checkpoints, strictly increasing.

    Raises:
        StatisticsError: scores that are not finite, other lengths, positions that do
            not increase.
    """
    x, u = as_scores(scores), as_scores(positions, "positions")
    if len(x) != len(u):
        raise StatisticsError(
            f"`positions` has {len(u)} entries, expected one per checkpoint: {len(x)}"
        )
    if (np.diff(u) <= 0).any():
        first = int(np.argmax(np.diff(u) <= 0))
        raise StatisticsError(
            f"`positions` must increase strictly, found {u[first]} and then "
            f"{u[first + 1]}"
        )
    return x, u


def as_table(
    scores: ArrayLike, *, rows: str, least_rows: int = 2, least_columns: int = 2
) -> FloatArray:
    """A complete table, runs x checkpoints (StatisticsError: another shape, too small,
    or values that are not finite).

    Args:
        scores: finite, shape (runs, checkpoints).
        rows: what a row is, for messages.
    """
    table = as_floats(scores, "scores")
    if table.ndim != 2 or table.shape[0] < least_rows or table.shape[1] < least_columns:
        raise StatisticsError(
            f"`scores` must be {rows} x checkpoints with at least {least_rows} {rows} "
            f"and {least_columns} checkpoints, found shape {table.shape}"
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise StatisticsError(
            f"`scores` holds values that are not finite (first: row {row}, checkpoint "
            f"{column}); take the checkpoints that all {rows} have"
        )
    return table
