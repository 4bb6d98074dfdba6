"""How few unscored prompts of the better of two would turn a verdict, if they were
wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.stats.core.draws import PROMPTS_SAMPLED
from warehouse.stats.paired.tipping import tips_at

#: Methods behind which p is that of Student's t on the differences of prompts.
_BY_T = ("paired_t", "paired_added_prompts")


class Tipping(NamedTuple):
    """How many prompts tip a verdict."""

    n: int  #: of the better's unscored prompts.
    of: int  #: all of these that the other has a score of.
    model: str  #: the better.

    def __str__(self) -> str:
        return (
            f"the verdict for {self.model} hangs on prompts that it has no score of: "
            f"with {self.n} of {self.of} wrong, and the others at its mean, no "
            "difference is shown"
        )


def tipping_of(pair: Pair, row: ComparisonRow) -> Tipping | None:
    """How few prompts of the better tip the verdict of a pair; None where none do, there
    is no verdict, or its test is no t test on single prompts."""
    bounds = pair.metric.bounds
    is_by_t = (
        row.test == "t"
        and row.method in _BY_T
        and row.estimand == PROMPTS_SAMPLED
        and pair.clusters is None
        and not pair.over_seeds
        and not pair.is_ratio
    )
    if not row.better or bounds is None or not is_by_t:
        return None
    own, other = pair.scores_a, pair.scores_b
    differences, model = pair.differences, pair.a.model
    if row.better == "b":
        own, other = other, own
        differences, model = -differences, pair.b.model
    sign, worst = 1.0, bounds[0]
    if pair.metric.higher_is_better is False:
        sign, worst = -1.0, bounds[1]
    if worst is None:
        return None
    unscored = np.setdiff1d(own.seen[own.unscored > 0], own.prompts, assume_unique=True)
    there = np.isin(other.prompts, unscored, assume_unique=True)
    n = tips_at(
        sign * differences,
        sign * other.values[there],
        mean=sign * float(own.values[np.isin(own.prompts, pair.prompts)].mean()),
        worst=sign * worst,
        level=row.level,
    )
    if n is None:
        return None
    return Tipping(n, int(there.sum()), model)
