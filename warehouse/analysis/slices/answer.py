"""Two models slice by slice: where one is better, and whether the difference varies at
all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.row import which_better
from warehouse.analysis.results import finite_or_none
from warehouse.analysis.selection.policies import policy_notes
from warehouse.analysis.slices.declared import FieldLabel, labels_of
from warehouse.analysis.slices.fields import Slicing
from warehouse.analysis.slices.question import CompareBy
from warehouse.analysis.slices.read import read_pair
from warehouse.analysis.slices.view import (
    NONE,
    FieldTest,
    SliceComparison,
    SliceRow,
)
from warehouse.questions.options import OfSomePrompts
from warehouse.questions.question import answers
from warehouse.stats import (
    SliceDifference,
    SliceTests,
    holm,
    simultaneous_interval,
    slice_difference,
    slice_tests,
    variation_test,
)
from warehouse.stats.core.results import ends_of, flags_of
from warehouse.stats.paired.added_prompts import width_of
from warehouse.stats.slices.family import SKEWED
from warehouse.store.connection import Store

#: Prompts, and clusters, of a slice below which its interval is flagged.
FEW_PROMPTS, FEW_CLUSTERS = 30, 20
#: Share of prompts with another number of draws up to which models have as many.
OTHER_DRAWS = 0.05
OVERLAPPING = "a prompt counts in several slices"
#: Why there is no family of tests.
_WEIGHTED = "a weighted figure, of which slices are not tested together"
_SEEDS = (
    "over training seeds, of which slices are not tested together (--seeds-are sampling "
    "tests them: it takes seeds for draws of one model, and says nothing of other seeds)"
)
#: Why a slice has no verdict.
_TOO_SKEWED = "too few prompts for so skewed differences"

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@answers(CompareBy)
def compare_by(store: Store, question: CompareBy) -> SliceComparison:
    """Every field by itself; the tests whether the difference varies are adjusted for
    the number of fields."""
    pair, fields = read_pair(store, question, question.a, question.b)
    slicings = fields.slicings(question.by, pair.prompts, question.bins)
    sliced = [SlicedPair.of(pair, slicing, question) for slicing in slicings]
    tests = adjusted([one.field_test(question) for one in sliced])
    labels = labels_of_pair(store, pair, [one.name for one in slicings], question)
    rows = []
    for one, test, label in zip(sliced, tests, labels, strict=True):
        columns = {"p_varies": test.p, **label.columns}
        rows += [replace(row, **columns) for row in one.rows(question)]
    notes = (*filter(None, [pair.note]), *policy_notes(pair.policy, pair.filled))
    return SliceComparison(
        a=question.a,
        b=question.b,
        rows=tuple(rows),
        fields=tuple(tests),
        notes=notes,
        higher_is_better=pair.metric.higher_is_better,
        is_share=pair.metric.bounds == (0.0, 1.0),
        policy=pair.policy.text,
        labels=labels,
    )


def labels_of_pair(
    store: Store, pair: Pair, fields: Sequence[str], question: OfSomePrompts
) -> tuple[FieldLabel, ...]:
    """What each field counts as in an answer on two models."""
    runs = [*pair.a.run_ids, *pair.b.run_ids]
    name = pair.a.benchmark_split[0]
    return labels_of(store, name, fields, runs, question.where)


def adjusted(tests: list[FieldTest]) -> list[FieldTest]:
    """With the p-values adjusted for the number of fields that were asked for; of one
    field none is."""
    if len(tests) < 2:
        return tests
    p = [math.nan if test.p_value is None else test.p_value for test in tests]
    pairs = zip(tests, holm(p).tolist(), strict=True)
    return [replace(test, p_holm=finite_or_none(value)) for test, value in pairs]


@dataclass(frozen=True)
class SlicedPair:
    """Two models on the prompts that both have, by the slices of a field."""

    pair: Pair
    slicing: Slicing
    differences: Floats  #: first minus second, of each prompt, shape (n,).
    width: float | None  #: range of the scores; None without bounds.
    tests: SliceTests | None  #: over the slices; None where there are none.
    why_none: str  #: why not; empty where there are.

    @classmethod
    def of(cls, pair: Pair, slicing: Slicing, question: CompareBy) -> SlicedPair:
        """With the tests of its slices."""
        why = ""
        if pair.is_ratio:
            why = _WEIGHTED
        elif pair.over_seeds:
            why = _SEEDS
        width = None if pair.is_ratio else width_of_scores(pair)
        bare = cls(pair, slicing, pair.differences, width, None, why)
        if why:
            return bare
        return replace(bare, tests=bare._tested(question))

    def _tested(self, question: CompareBy) -> SliceTests:
        places, codes = self.slicing.entries
        return slice_tests(
            self.differences[places],
            codes,
            self._clusters(places),
            bounded=self.width is not None,
            zero_one=self.pair.is_zero_one,
            same_draws=self._same_draws,
            prompts=places if self.slicing.overlaps else None,
            n_resamples=question.n_resamples,
            seed=question.seed,
        )

    @property
    def draws(self) -> Floats:
        """Harmonic mean of the draws of both models on each prompt, shape (n,)."""
        pair = self.pair
        a, b = pair.scores_a.n_draws[pair.of_a], pair.scores_b.n_draws[pair.of_b]
        found: Floats = 2 / (1 / a + 1 / b)
        return found

    @property
    def _same_draws(self) -> bool:
        """Whether both models have as many draws of nearly all prompts."""
        pair = self.pair
        a, b = pair.scores_a.n_draws[pair.of_a], pair.scores_b.n_draws[pair.of_b]
        return bool(np.mean(a != b) <= OTHER_DRAWS)

    def _clusters(self, places: Places) -> NDArray[np.int64] | None:
        if self.pair.clusters is None:
            return None
        return self.pair.clusters[places]

    def field_test(self, question: CompareBy) -> FieldTest:
        """The one test whether the difference varies over the slices."""
        found = field_test_of(
            self.slicing,
            self.differences,
            self.pair.clusters,
            why_none=self.why_none,
            n_resamples=question.n_resamples,
            seed=question.seed,
        )
        if self.tests is None:
            return found
        return replace(found, family=self.tests.method)

    def rows(self, question: CompareBy) -> list[SliceRow]:
        """A row for each slice, and one for the prompts without the field."""
        places, codes = self.slicing.entries
        rows = []
        for number in range(len(self.slicing.values)):
            own = places[codes == number]
            rows.append(self._row(number, own, question))
        if self.slicing.n_without:
            rows.append(self._row_without(question))
        return rows

    def _row(self, number: int, own: Places, question: CompareBy) -> SliceRow:
        found, (mean_a, mean_b) = self._difference(own, question)
        n_slices = len(self.slicing.values)
        p, p_adjusted, reason = self._p_values(number)
        joint = None
        if self.width is not None and not self.pair.over_seeds:
            joint = simultaneous_interval(
                self.differences[own],
                n_slices,
                width=self.width,
                clusters=self._clusters(own),
                draws=self._draws_of(own),
                level=question.level,
            )
        low, high = ends_of(joint)
        return SliceRow(
            **self._who(),
            field=self.slicing.name,
            slice=self.slicing.values[number],
            n_prompts=len(own),
            n_clusters=found.n_clusters,
            mean_a=mean_a,
            mean_b=mean_b,
            difference=found.difference,
            standard_error=found.standard_error,
            ci_low=found.ci_low,
            ci_high=found.ci_high,
            level=question.level,
            method=found.method,
            simultaneous_low=low,
            simultaneous_high=high,
            p_value=p,
            p_adjusted=p_adjusted,
            p_varies=None,
            better=self._better(found.difference, p_adjusted, question.level),
            flags=_flags(found, overlapping=self.slicing.overlaps),
            reason="; ".join(filter(None, (found.reason, reason))),
        )

    def _row_without(self, question: CompareBy) -> SliceRow:
        return SliceRow(
            **self._who(),
            field=self.slicing.name,
            slice=NONE,
            n_prompts=self.slicing.n_without,
            n_clusters=None,
            mean_a=None,
            mean_b=None,
            difference=None,
            standard_error=None,
            ci_low=None,
            ci_high=None,
            level=question.level,
            method="none",
            simultaneous_low=None,
            simultaneous_high=None,
            p_value=None,
            p_adjusted=None,
            p_varies=None,
            better="",
            flags=(),
            reason=f"no {self.slicing.name}",
        )

    def _who(self) -> dict[str, str]:
        pair = self.pair
        return {
            "benchmark": pair.benchmark,
            "split": pair.split,
            "metric": pair.metric.label,
            "model_a": pair.a.model,
            "condition_a": pair.labels[0],
            "model_b": pair.b.model,
            "condition_b": pair.labels[1],
        }

    def _means(self, own: Places) -> tuple[float, float]:
        a, b = self.pair.values
        return float(a[own].mean()), float(b[own].mean())

    def _difference(
        self, own: Places, question: CompareBy
    ) -> tuple[SliceDifference, tuple[float, float]]:
        """The difference on a slice, and the figures of both models."""
        if self.pair.is_ratio or self.pair.over_seeds:
            return _by_pair(self.pair, own, question)
        found = slice_difference(
            self.differences[own],
            width=self.width,
            clusters=self._clusters(own),
            draws=self._draws_of(own),
            level=question.level,
            seed=question.seed,
        )
        return found, self._means(own)

    def _draws_of(self, own: Places) -> float | None:
        """Harmonic mean of the draws; None of scores that are neither 0/1 nor means of
        draws."""
        draws = float(len(own) / np.sum(1 / self.draws[own]))
        if self.pair.is_zero_one or draws > 1:
            return draws
        return None

    def _p_values(self, number: int) -> tuple[float | None, float | None, str]:
        """p of the slice alone, adjusted, and why there is none."""
        if self.tests is None:
            return None, None, self.why_none
        reason = self.tests.reasons[number]
        if reason == SKEWED:
            reason = _TOO_SKEWED
        p = finite_or_none(float(self.tests.p_value[number]))
        p_adjusted = finite_or_none(float(self.tests.p_adjusted[number]))
        return p, p_adjusted, reason

    def _better(self, difference: float, p: float | None, level: float) -> str:
        return which_better(p, difference, self.pair.metric.higher_is_better, level)


def field_test_of(
    slicing: Slicing,
    values: Floats,
    clusters: NDArray[np.int64] | None,
    *,
    why_none: str,
    n_resamples: int,
    seed: int,
) -> FieldTest:
    """Whether differences, or scores, vary over the slices of a field.

    Args:
        slicing: of the prompts.
        values: of each prompt, shape (n,).
        clusters: of each prompt, or None.
        why_none: why there is no test; empty where there is one.
        n_resamples: random signs, and the seed of these.
        seed: of the signs.
    """
    bare = FieldTest(
        field=slicing.name,
        n_slices=len(slicing.values),
        n_prompts=len(slicing.prompts) - slicing.n_without,
        n_clusters=None,
        n_without=slicing.n_without,
        statistic=None,
        p_value=None,
        p_holm=None,
        left_out=(),
        n_resamples=0,
        family="",
        flags=flags_of(overlapping=slicing.overlaps),
        reason=why_none,
    )
    if slicing.overlaps:
        return replace(bare, reason=OVERLAPPING)
    if why_none:
        return bare
    places, codes = slicing.entries
    own = None if clusters is None else clusters[places]
    found = variation_test(
        values[places], codes, own, n_resamples=n_resamples, seed=seed
    )
    statistic = found.statistic
    if statistic is not None:
        statistic = finite_or_none(statistic)
    return replace(
        bare,
        statistic=statistic,
        p_value=found.p_value,
        n_clusters=found.n_clusters,
        left_out=tuple(slicing.values[number] for number in found.left_out),
        n_resamples=found.n_resamples,
        flags=bare.flags + found.flags,
        reason=found.reason,
    )


def width_of_scores(pair: Pair) -> float | None:
    """The range of the scores; None where they have no bounds, or break them."""
    a, b = pair.values
    low, high = min(a.min(), b.min()), max(a.max(), b.max())
    bounds = pair.metric.bounds_of(float(low), float(high))
    if bounds is not None and None not in bounds:
        return width_of(bounds)
    if pair.is_zero_one:
        return 1.0
    return None


def _by_pair(
    pair: Pair, own: Places, question: CompareBy
) -> tuple[SliceDifference, tuple[float, float]]:
    """The difference as it is taken of all prompts, weighted or over seeds, and the
    figures of both models."""
    clusters = None if pair.clusters is None else pair.clusters[own]
    part = replace(
        pair,
        prompts=pair.prompts[own],
        of_a=pair.of_a[own],
        of_b=pair.of_b[own],
        clusters=clusters,
        plans=None,
    )
    found = part.difference(question.level, seed=question.seed)
    has_interval = found.ci_low is not None
    difference = SliceDifference(
        difference=found.difference,
        standard_error=found.standard_error,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        level=question.level,
        n_prompts=found.n_prompts,
        n_clusters=found.n_clusters,
        method=found.method if has_interval else "none",
        reason="" if has_interval else found.reason,
    )
    return difference, (found.mean_a, found.mean_b)


def _flags(found: SliceDifference, *, overlapping: bool) -> tuple[str, ...]:
    few_clusters = found.n_clusters is not None and found.n_clusters < FEW_CLUSTERS
    return flags_of(
        few_prompts=found.n_prompts < FEW_PROMPTS,
        few_clusters=few_clusters,
        overlapping=overlapping,
    )
