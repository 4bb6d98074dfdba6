"""Differences of a pair on the whole benchmark, where one or both were asked a planned
subset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.hooks import PAIRS_ON_PLANS
from warehouse.analysis.comparison.pair_tests import (
    PLANNED,
    Tests,
    bounded_differences,
    careful_equivalence,
    equivalence_p,
)
from warehouse.analysis.comparison.pairing import Floats, Pair
from warehouse.analysis.selection.prompt_links import align_values, indices_among
from warehouse.analysis.subsets.stored import PlannedRun, known_plans, recognise
from warehouse.errors import StatisticsError
from warehouse.stats import PairedDifference
from warehouse.stats.core.draws import PROMPTS_SAMPLED
from warehouse.stats.paired.few_differ import FewDiffering
from warehouse.stats.paired.margins import (
    NonInferiorityTest,
    careful_noninferiority,
    noninferiority_of,
)
from warehouse.stats.subsets.design import FULL_BENCHMARK
from warehouse.stats.subsets.differences import (
    SubsetDifference,
    subset_against_baseline,
    subset_pair,
)
from warehouse.stats.subsets.sample import StratifiedSample


@dataclass(frozen=True)
class WholeDifference:
    """The difference of a pair on the whole benchmark, first less second."""

    estimate: SubsetDifference  #: with its interval.
    difference: float  #: that of the estimate, which is known.
    n_clusters: int | None  #: clusters of the whole benchmark; None without.
    basis: str  #: which prompts were asked.
    #: the differences, higher being better for the first, where t is not enough.
    few: FewDiffering | None

    @property
    def means(self) -> tuple[float, float]:
        """Figures of both on the whole benchmark."""
        return self.estimate.mean_a or 0.0, self.estimate.mean_b or 0.0

    @property
    def method(self) -> str:
        """The test against a margin, in words."""
        if self.few is None:
            return "t of a planned subset"
        return "t of a planned subset and Gaffke's"

    def as_paired(self) -> PairedDifference:
        """As rows have differences."""
        whole = self.estimate
        statistic = None
        if whole.standard_error:
            statistic = self.difference / whole.standard_error
        return PairedDifference.of(
            whole,
            statistic=statistic,
            n_prompts=whole.n_scored,
            n_clusters=self.n_clusters,
            flags=(PLANNED, *whole.flags),
        )

    def noninferiority(
        self, margin: float, alpha: float, *, higher_is_better: bool
    ) -> NonInferiorityTest:
        """The test that the first is worse by less than the margin, one-sided."""
        whole = self.estimate
        if higher_is_better:
            difference = self.difference
        else:
            difference = -self.difference
        by_t = noninferiority_of(
            margin,
            alpha=alpha,
            difference=difference,
            standard_error=whole.standard_error,
            degrees_of_freedom=whole.degrees_of_freedom,
            n_prompts=whole.n_scored,
            n_clusters=self.n_clusters,
            reason=whole.reason,
        )
        if self.few is None or by_t.p_value is None:
            return by_t
        return careful_noninferiority(by_t, self.few)

    def tests(self, options: Compare) -> Tests:
        """The t test, against a margin Gaffke's too; no other is defined for it."""
        whole = self.estimate
        reasons = tuple(
            f"{name}: not for a planned subset"
            for name in ("permutation test", "McNemar", "Wilcoxon")
        )
        equivalence = equivalence_p(
            self.difference, whole.standard_error, whole.degrees_of_freedom, options
        )
        p_equivalence = careful_equivalence(equivalence, self.few, options)
        return Tests(whole.p_value, p_equivalence=p_equivalence, reasons=reasons)


@dataclass(frozen=True)
class PlannedPair:
    """A pair with a planned subset in it."""

    note: str  #: what was done, or why it was not.
    #: on the whole benchmark; None where the plan does not hold.
    whole: WholeDifference | None = None


def planned_pair(pair: Pair, *, level: float, estimand: str) -> PlannedPair | None:
    """The difference of a pair on the whole benchmark; None where neither was asked a
    planned subset.

    Args:
        level: of the interval.
        estimand: ``prompts_sampled``; for another there is none.
    """
    if pair.plans is None:
        return None
    plans, metric = known_plans(pair.plans.of_benchmark), pair.metric.label
    a = recognise(plans, pair.a, metric, pair.scores_a, pair.plans.links)
    b = recognise(plans, pair.b, metric, pair.scores_b, pair.plans.links)
    run = a or b
    if run is None:
        return None
    basis = "; ".join(
        planned.describe(planned.condition.model)
        for planned in (a, b)
        if planned is not None
    )
    try:
        why = _why_no_plan(a, b, estimand)
        if why:
            raise StatisticsError(why)
        labels = pair.plans.clusters.labels(run.prompts)
        sampled = _whole_difference(
            pair, a, b, estimand=PROMPTS_SAMPLED, clusters=labels, level=level
        )
        fixed = _whole_difference(
            pair, a, b, estimand=FULL_BENCHMARK, clusters=None, level=level
        )
    except StatisticsError as error:
        return PlannedPair(f"{basis}: compared on common prompts only, {error}")
    if sampled.difference is None:
        return PlannedPair(
            f"{basis}: compared on common prompts only, {sampled.reason}"
        )
    ends = ""
    if fixed.ci_low is not None:
        ends = f" [{fixed.ci_low:.3g}, {fixed.ci_high:.3g}]"
    note = (
        f"{basis}; the difference is that on the whole benchmark with its prompts a "
        "sample of others like them; on these very prompts "
        f"{fixed.difference:+.3g}{ends}"
    )
    n_clusters = None if labels is None else len(set(labels.tolist()))
    whole = WholeDifference(
        sampled, sampled.difference, n_clusters, basis, _few_in_sample(pair, run)
    )
    return PlannedPair(note, whole)


PAIRS_ON_PLANS.fill(planned_pair)


def _few_in_sample(pair: Pair, run: PlannedRun) -> FewDiffering | None:
    """The differences on the prompts of a plan that both have, where t is not enough."""
    found = bounded_differences(pair)
    if found is None:
        return None
    sign = 1.0
    if pair.metric.higher_is_better is False:
        sign = -1.0
    return FewDiffering.where_t_is_not_enough(
        sign * found[0],
        pair.units,
        found[1],
        weights=found[2] * _planned_weights(pair, run),
    )


def _planned_weights(pair: Pair, run: PlannedRun) -> Floats:
    """N_h/n_h of each common prompt, 0 of those outside of the sample."""
    rows = indices_among(pair.prompts, run.prompts)
    there = (rows < pair.n) & run.plan.selected
    sample = StratifiedSample(
        np.where(there, 0.0, np.nan), run.plan.stratum, run.plan.selected
    ).joined()
    weights = np.zeros(pair.n)
    weights[rows[there]] = (sample.sizes / sample.scored_in)[sample.stratum[there]]
    return weights


def _why_no_plan(a: PlannedRun | None, b: PlannedRun | None, estimand: str) -> str:
    refused = [
        f"plan {run.plan.key} does not hold: {run.refused}"
        for run in (a, b)
        if run is not None and run.refused
    ]
    if refused:
        return refused[0]
    if estimand != PROMPTS_SAMPLED:
        return "prompts fixed is not defined for a planned subset"
    if a is not None and b is not None and a.plan.key != b.plan.key:
        return "they are on different plans"
    return ""


def _whole_difference(
    pair: Pair,
    a: PlannedRun | None,
    b: PlannedRun | None,
    *,
    estimand: str,
    clusters: NDArray[np.int64] | None,
    level: float,
) -> SubsetDifference:
    run = a or b
    assert run is not None
    plan = run.plan
    if a is not None and b is not None:
        return subset_pair(
            a.scores,
            b.scores,
            plan.stratum,
            plan.selected,
            bounds=run.bounds,
            estimand=estimand,
            clusters=clusters,
            level=level,
        )
    if a is not None:
        other = pair.scores_b
    else:
        other = pair.scores_a
    baseline_values = align_values(other.prompts, other.values, run.prompts)
    difference = subset_against_baseline(
        run.scores,
        baseline_values,
        plan.stratum,
        plan.selected,
        bounds=run.bounds,
        estimand=estimand,
        clusters=clusters,
        level=level,
    )
    if a is not None:
        return difference
    return difference.turned()
