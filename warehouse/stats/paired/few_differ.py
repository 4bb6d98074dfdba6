"""Tests against a margin where few prompts differ: Gaffke's bound beside Student's t.

A candidate that is nearly the baseline differs on few prompts, and t takes its error
from these: with a true loss of .05 one prompt of 56 is lost, or none, in 22 % of
samples, so small an error that t calls the loss less than .06. Gaffke's bound gives the
worst difference that there can be a weight too, and does not
(docs/reference/methods_gate.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import (
    ROUNDING,
    TIE,
    FloatArray,
    as_clusters,
    as_scores,
    is_constant,
)
from warehouse.stats.core.results import Interval
from warehouse.stats.intervals.defaults import FEW_CLUSTERS
from warehouse.stats.intervals.gaffke import gaffke_interval, p_at_most_zero
from warehouse.stats.paired.paired import paired_difference

IntArray = NDArray[np.intp]
#: Prompts (clusters) that differ, below which t is not enough whatever the flags say.
FEW = 10
#: Tails below this are beyond what 1 − 2·alpha tells.
_LEAST = 1e-12
#: Flags of a difference that say the same. ``few_prompts`` alone does not: t holds
#: where ten of them differ.
_FLAGS = (
    *("differing_prompts", "differing_clusters"),
    *("skewed_prompts", "skewed_clusters"),
    *("tailed_prompts", "tailed_clusters"),
)


class FewDiffering:
    """Differences of bounded scores by independent unit: a prompt, or a cluster."""

    def __init__(
        self,
        differences: ArrayLike,
        units: ArrayLike,
        width: float,
        *,
        weights: FloatArray | None = None,
        parts: IntArray | None = None,
    ) -> None:
        """Take differences within ±width, shape (n,), and what each belongs to.

        Args:
            differences: of each prompt.
            units: a cluster, or each prompt itself.
            width: of the range of the scores.
            weights: of the prompts, above 0: their weighted mean is tested; None: all
                alike.
            parts: number of the benchmark, or stratum, that each was drawn from; None:
                one.
        """
        values = as_scores(differences)
        groups = as_clusters(units, len(values))
        own = np.ones(len(values)) if weights is None else weights
        self.width, self.sizes, self.totals = (
            width,
            groups.sums(own),
            groups.sums(own * values),
        )
        part = np.zeros(len(values), np.intp) if parts is None else parts
        sizes = np.bincount(part, weights=own * self.sizes[groups.codes]) / np.bincount(
            part, weights=own
        )
        #: weight of the unit that an unseen difference stands in: that of a prompt
        #: drawn at random, from the part whose units weigh most, as all the loss may be
        #: there.
        self.size = float(sizes.max())
        #: the most that a unit's differences add up to, in prompts.
        self.reach = width * self.size * len(values) / float(self.sizes.sum())

    @property
    def n_differing(self) -> int:
        """Units whose differences do not cancel."""
        return int(
            np.count_nonzero(np.abs(self.totals) > TIE * self.width * self.sizes)
        )

    def are_few(self, flags: Sequence[str]) -> bool:
        """Whether t alone is not to be relied on."""
        return (
            self.n_differing < FEW
            or self.are_dominated
            or any(flag.endswith(_FLAGS) for flag in flags)
        )

    @property
    def are_dominated(self) -> bool:
        """Whether few of many units hold most of the weight: what these would lose, the
        others do not say.

        With a third of 300 prompts in one cluster t passes .2 of losses of the margin,
        with two such .27.
        """
        effective = float(self.sizes.sum() ** 2 / (self.sizes @ self.sizes))
        return effective < min(FEW_CLUSTERS, len(self.sizes) / 2)

    def p_above(self, threshold: float) -> float:
        """p of "the mean difference is at most ``threshold``", one-sided."""
        return self._p(self.totals - threshold * self.sizes, -self.width - threshold)

    def p_below(self, threshold: float) -> float:
        """p of "the mean difference is at least ``threshold``"."""
        return self._p(threshold * self.sizes - self.totals, threshold - self.width)

    def lower_end(self, alpha: float) -> float:
        """What the mean is shown to be above, at a one-sided ``alpha``: where `p_above`
        is that."""
        interval = self._interval(alpha)
        if interval is None:
            return self._end(self.p_above, -self.width, alpha)
        return interval.low

    def upper_end(self, alpha: float) -> float:
        """What the mean is shown to be below."""
        interval = self._interval(alpha)
        if interval is None:
            return self._end(self.p_below, self.width, alpha)
        return interval.high

    def _interval(self, alpha: float) -> Interval | None:
        """Gaffke's, where units weigh alike."""
        if alpha < _LEAST or not is_constant(self.sizes):
            return None
        return gaffke_interval(
            self.totals / self.sizes, (-self.width, self.width), 1 - 2 * alpha
        )

    def _end(self, p: Callable[[float], float], worst: float, alpha: float) -> float:
        mean = float(self.totals.sum() / self.sizes.sum())
        for _ in range(40):
            middle = (worst + mean) / 2
            if p(middle) <= alpha:
                worst, mean = (middle, mean)
            else:
                worst, mean = (worst, middle)
        return worst

    @classmethod
    def where_t_is_not_enough(
        cls,
        differences: FloatArray,
        units: ArrayLike,
        width: float | None,
        *,
        flags: Sequence[str] | None = None,
        weights: FloatArray | None = None,
    ) -> FewDiffering | None:
        """Where few of the differences of a pair say something; None where t holds, or
        scores have no bounds.

        Args:
            differences: with the sign of the question.
            units: what each belongs to: a cluster, or each prompt itself.
            width: of the range of the scores; None without bounds.
            flags: of their paired difference; None: found here.
            weights: of the prompts, from 0; None: all alike.
        """
        if width is None or not np.abs(differences).max() <= width * (1 + ROUNDING):
            return None
        if weights is not None:
            used = weights > 0
            differences, units, weights = (
                differences[used],
                np.asarray(units)[used],
                weights[used],
            )
        few = cls(differences, units, width, weights=weights)
        if flags is None:
            labels = None if len(few.sizes) == len(differences) else units
            flags = paired_difference(
                differences,
                np.zeros(len(differences)),
                clusters=labels,
                bounds=(-width, width),
            ).flags
        if few.are_few(flags):
            return few
        return None

    def _p(self, excess: FloatArray, worst: float) -> float:
        return p_at_most_zero(np.append(excess, worst * self.size))
