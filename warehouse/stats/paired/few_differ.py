"""Tests against a margin where few prompts differ: Gaffke's bound beside Student's t.

A candidate that is nearly the baseline differs on few prompts, and t takes its error from these: with a true loss of
.05 one prompt of 56 is lost, or none, in 22 % of samples, so small an error that t calls the loss less than .06.
Gaffke's bound gives the worst difference that there can be a weight too, and does not (docs/gate.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import ROUNDING, TIE, FloatArray, as_clusters, as_scores
from warehouse.stats.core.results import PairedDifference
from warehouse.stats.intervals.gaffke import p_at_most_zero

#: Prompts (clusters) that differ, below which t is not enough whatever the flags say.
FEW = 10
#: Flags of a difference that say the same. ``few_prompts`` alone does not: t holds where ten of them differ.
_FLAGS = tuple(f"{what}_{unit}" for what in ("differing", "skewed", "tailed") for unit in ("prompts", "clusters"))


class FewDiffering:
    """Differences of bounded scores by independent unit: a prompt, or a cluster."""

    def __init__(self, differences: ArrayLike, units: ArrayLike, width: float) -> None:
        """Take differences within ±width, shape (n,), and what each belongs to."""
        values = as_scores(differences)
        groups = as_clusters(units, len(values))
        self.width, self.sizes, self.totals = width, groups.sizes, groups.sums(values)
        #: prompts of the cluster that an unseen difference stands in: that of a prompt drawn at random.
        self.size = float(self.sizes @ self.sizes / self.sizes.sum())

    @property
    def n_differing(self) -> int:
        """Units whose differences do not cancel."""
        return int(np.count_nonzero(np.abs(self.totals) > TIE * self.width * self.sizes))

    def are_few(self, flags: Sequence[str]) -> bool:
        """Whether t alone is not to be relied on."""
        return self.n_differing < FEW or any(flag.endswith(_FLAGS) for flag in flags)

    def p_above(self, threshold: float) -> float:
        """p of "the mean difference is at most ``threshold``", one-sided."""
        return self._p(self.totals - threshold * self.sizes, -self.width - threshold)

    def p_below(self, threshold: float) -> float:
        """p of "the mean difference is at least ``threshold``"."""
        return self._p(threshold * self.sizes - self.totals, threshold - self.width)

    def lower_end(self, alpha: float) -> float:
        """What the mean is shown to be above, at a one-sided ``alpha``: where `p_above` is that."""
        low, high = -self.width, float(self.totals.sum() / self.sizes.sum())
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.p_above(middle) <= alpha else (low, middle)
        return low

    @classmethod
    def where_t_is_not_enough(
        cls, paired: PairedDifference, differences: FloatArray, units: ArrayLike, width: float | None
    ) -> FewDiffering | None:
        """Where few of the differences of a pair say something; None where t holds, or scores have no bounds.

        Args:
            paired: of these differences, prompts sampled.
            differences: with the sign of the question.
            units: what each belongs to: a cluster, or each prompt itself.
            width: of the range of the scores; None without bounds.
        """
        if width is None or paired.draws is not None or not paired.standard_error:
            return None
        if not np.abs(differences).max() <= width * (1 + ROUNDING):
            return None
        few = cls(differences, units, width)
        return few if few.are_few(paired.flags) else None

    def _p(self, excess: FloatArray, worst: float) -> float:
        return p_at_most_zero(np.append(excess, worst * self.size))
