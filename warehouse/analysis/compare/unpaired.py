"""Two models on prompts that they do not share: the unpaired difference (Miller 2024
§4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from warehouse.analysis.compare.question import CompareUnpaired
from warehouse.analysis.compare.unpaired_row import UnpairedRow
from warehouse.analysis.compare.unpaired_view import brief, whole
from warehouse.analysis.comparison.pairing import NotComparable
from warehouse.analysis.comparison.published import OneSide, sides_of
from warehouse.analysis.comparison.read import TwoModels
from warehouse.analysis.comparison.row import which_better, with_holm
from warehouse.analysis.comparison.words import difference_in_words
from warehouse.analysis.leaderboard.row import usable_bounds
from warehouse.analysis.results import Result, SingleTest
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap, outside_clusters
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    Estimate,
    UnpairedDifference,
    estimate_mean,
    unpaired_difference,
)
from warehouse.stats.intervals.published import PUBLISHED
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.view import View

#: Why there is an interval of a difference of figures without samples.
_OF_FIGURES = (
    "a published figure with its own error: which questions both had is not known, so "
    "that the errors are taken as independent"
)


@dataclass(frozen=True)
class UnpairedComparison(SingleTest, Result):
    """Unpaired differences, one row per benchmark and split."""

    a: str  #: the first reference, as given.
    b: str  #: the second reference, as given.
    rows: tuple[UnpairedRow, ...]
    left_out: tuple[str, ...]  #: what was not compared, each with the reason.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def one_line(self) -> str:
        if len(self.rows) > 1:
            return (
                f"{self.a} against {self.b}, unpaired, on {len(self.rows)} benchmarks"
            )
        (row,) = self.rows
        difference, p = difference_in_words(row)
        prompts = f"{row.n_prompts_a} and {row.n_prompts_b} prompts"
        if row.is_of_published:
            prompts = "published figures"
        return (
            f"{row.model_a} - {row.model_b} on {row.benchmark}, unpaired: {difference} "
            f"({prompts}{p})"
        )

    def view(self, *, verbose: bool = False) -> View:
        """Who is better and by how much; with ``verbose`` every column, and how the
        figures were made."""
        if verbose:
            return whole(self.rows)
        return brief(self.rows, is_share=self.is_share)


@answers(CompareUnpaired)
def compare_unpaired(store: Store, question: CompareUnpaired) -> UnpairedComparison:
    """Row by row: each model's figure is over its own prompts."""
    models = TwoModels(
        SharedReads(store),
        question.a,
        question.b,
        selection_of(question),
        question.force,
    )
    both = models.on_each(partial(_read, models))
    rows, refused = both.compute(partial(_row, level=question.level))
    if not rows:
        raise MisuseError("; ".join(refused))
    made = [row for row, _ in rows]
    adjusted = made
    if len(rows) > 1:
        adjusted = with_holm(made, (metric.higher_is_better for _, metric in rows))
    return UnpairedComparison(
        question.a,
        question.b,
        tuple(adjusted),
        (*refused, *both.missing),
        is_share=all(metric.bounds == (0.0, 1.0) for _, metric in rows),
    )


@dataclass(frozen=True, eq=False)
class _Unpaired:
    """Parts of a row: scores or figures, the prompts that both have, clusters."""

    sides: tuple[OneSide, OneSide]
    n_shared: int
    clusters: ClusterMap


def _read(models: TwoModels, a: Condition, b: Condition) -> _Unpaired:
    first, second = sides = sides_of(models, a, b)
    models.refuse_policy(a, first.metric, "--unpaired")
    n_shared = 0
    if first.scores is not None and second.scores is not None:
        shared = np.intersect1d(first.scores.prompts, second.scores.prompts)
        n_shared = len(shared)
    if n_shared and not models.force:
        raise NotComparable(
            f"they share {n_shared} scored prompts: leave out --unpaired, and these "
            "are paired, which says more; --force takes them as independent all the "
            "same"
        )
    return _Unpaired(sides, n_shared, models.clusters(a, b))


def _row(read: _Unpaired, level: float) -> tuple[UnpairedRow, Metric]:
    """The row of two conditions, and their metric."""
    a, b = read.sides
    metric = a.metric
    first, second = (_figure(side, read.clusters, level) for side in read.sides)
    bounds = metric.bounds if metric.link == "identity" else None
    unpaired = unpaired_difference(first, second, bounds=bounds, level=level)
    if PUBLISHED in (first.method, second.method):
        unpaired = replace(unpaired, reason=_OF_FIGURES)
    row = UnpairedRow(
        benchmark=a.condition.benchmark_split[0],
        split=a.condition.benchmark_split[1],
        metric=metric.label,
        model_a=a.condition.model,
        condition_a=a.label,
        model_b=b.condition.model,
        condition_b=b.label,
        p_holm=None,
        better=which_better(
            unpaired.p_value, unpaired.difference, metric.higher_is_better, level
        ),
        n_shared=read.n_shared,
        n_draws_a=_count(a, "n_draws"),
        n_draws_b=_count(b, "n_draws"),
        unscored_a=_count(a, "n_unscored"),
        unscored_b=_count(b, "n_unscored"),
        flags=_flags(read, unpaired),
        runs_a=a.condition.run_ids,
        runs_b=b.condition.run_ids,
        unpaired=unpaired,
        figure_a=first,
        figure_b=second,
    )
    return row, metric


def _count(side: OneSide, name: str) -> int:
    """Draws or unscored samples of a side; 0 of a published figure."""
    if side.scores is None:
        return 0
    return int(np.sum(getattr(side.scores, name)))


def _flags(read: _Unpaired, unpaired: UnpairedDifference) -> tuple[str, ...]:
    outside: dict[str, None] = {}
    for side in read.sides:
        if side.scores is not None:
            labels = read.clusters.labels(side.scores.prompts)
            outside |= dict.fromkeys(outside_clusters(labels))
    shared = ("shared_prompts",) if read.n_shared else ()
    return (*unpaired.flags, *outside, *shared)


def _figure(side: OneSide, clusters: ClusterMap, level: float) -> Estimate:
    """The figure of one side with its own error."""
    if side.scores is None:
        return side.estimate(level)
    return _estimate(side.scores, side.metric, clusters, level)


def _estimate(
    scores: PromptScores, metric: Metric, clusters: ClusterMap, level: float
) -> Estimate:
    return estimate_mean(
        scores.values,
        clusters=clusters.labels(scores.prompts),
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=usable_bounds(scores, metric)[0],
        n_draws=scores.n_draws,
        level=level,
    )
