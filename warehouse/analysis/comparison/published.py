"""Two models of which one or both have no samples but a published figure: what can be
compared of them, each figure with its own error."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from warehouse.analysis.comparison.pairing import NotComparable, refuse_incomparable
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.metric_names import of_one
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores, RunFigures
from warehouse.errors import MisuseError
from warehouse.stats import Estimate, published_estimate
from warehouse.store.connection import Store

#: What a figure without an error needs.
_NEEDED = (
    "ingest the samples behind it, or results that print its standard error (a mapping "
    "takes it as `standard_error` of [[published]])"
)


class TwoModels(Protocol):
    """What reads two models (`read.TwoModels`)."""

    @property
    def store(self) -> Store:
        """An open store."""

    @property
    def a(self) -> str:
        """Reference of the first."""

    @property
    def b(self) -> str:
        """Of the second."""

    @property
    def force(self) -> bool:
        """Also where judge, scale or task version differ."""

    def chosen_metrics(self, a: Condition, b: Condition) -> list[Metric]:
        """The metrics that were named, else the headline metrics."""

    def scores_by_metric(
        self, a: Condition, b: Condition, metrics: Sequence[Metric]
    ) -> tuple[list[tuple[Metric, dict[str, PromptScores]]], ...]:
        """The metrics of each with its scores."""

    def labels(self, a: Condition, b: Condition) -> list[str]:
        """What sets two conditions apart, in words."""

    def row_of(
        self, condition: Condition, metric: Metric, members: Mapping[str, PromptScores]
    ) -> ScoredCondition:
        """The row of a condition, over its seeds and repeats."""

    def finite_scores(self, row: ScoredCondition) -> PromptScores:
        """The scores of a row."""


@dataclass(frozen=True, eq=False)
class OneSide:
    """What one of two models has by a metric: scores, else a published figure."""

    condition: Condition
    metric: Metric
    label: str  #: what sets the condition apart from the other.
    scores: PromptScores | None
    published: PublishedFigure | None

    def estimate(self, level: float) -> Estimate:
        """The published figure with its error.

        Raises:
            NotComparable: it has none.
        """
        figure = self.published
        assert figure is not None
        if not isfinite(figure.value) or not figure.standard_error:
            raise NotComparable(self._why_not(figure))
        df = None
        if figure.seeds:
            df = len(figure.seeds) - 1.0
        return published_estimate(
            figure.value,
            figure.standard_error,
            degrees_of_freedom=df,
            n_prompts=figure.n,
            level=level,
        )

    def _why_not(self, figure: PublishedFigure) -> str:
        model = self.condition.model
        if not isfinite(figure.value):
            return f"the published figure of {model} is infinite: no difference of it is one"
        error = "no standard error"
        if figure.standard_error == 0:
            error = "a standard error of 0"
        return (
            f"the published figure of {model} ({figure.value:g}) has {error}, so that "
            f"nothing says how far chance moves it; {_NEEDED}"
        )


def sides_of(models: TwoModels, a: Condition, b: Condition) -> tuple[OneSide, OneSide]:
    """Each of two conditions by the first metric of which both have scores or a
    published figure.

    Raises:
        NotComparable: there is none, or they should not be compared.
        MisuseError: unknown metric.
    """
    chosen = models.chosen_metrics(a, b)
    published = _published(models, (a, b), chosen)
    by_side = models.scores_by_metric(a, b, chosen)
    labels = models.labels(a, b)
    for alike in of_one(chosen):
        sides = []
        for side, condition in enumerate((a, b)):
            found = _side(models, condition, alike, by_side[side], published[side])
            if found is not None:
                sides.append(OneSide(condition, found[0], labels[side], *found[1:]))
        if len(sides) == 2:
            first, second = sides
            refuse_incomparable(a, b, first.metric, second.metric, models.force)
            return first, second
    raise NotComparable(_nothing_alike((a, b), chosen[0].label, by_side, published))


def _published(
    models: TwoModels, both: Sequence[Condition], metrics: Sequence[Metric]
) -> list[dict[int, PublishedFigure]]:
    """The published figures of each side, by the id of the metric."""
    runs: dict[int, int] = {}
    for side, condition in enumerate(both):
        for member in condition.members or (condition,):
            runs |= dict.fromkeys(member.run_ids, side)
    figures = RunFigures(models.store, runs, [metric.id for metric in metrics])
    found: list[dict[int, PublishedFigure]] = [{}, {}]
    for metric in metrics:
        for side, figure in figures.published(metric.id).items():
            found[side][metric.id] = figure
    return found


def _side(
    models: TwoModels,
    condition: Condition,
    alike: Sequence[Metric],
    scored: Sequence[tuple[Metric, dict[str, PromptScores]]],
    published: Mapping[int, PublishedFigure],
) -> tuple[Metric, PromptScores | None, PublishedFigure | None] | None:
    """What a condition has by one metric under any of its names; None for nothing."""
    ids = [metric.id for metric in alike]
    for metric, members in scored:
        if metric.id in ids:
            row = models.row_of(condition, metric, members)
            return metric, models.finite_scores(row), None
    for metric in alike:
        if metric.id in published:
            return metric, None, published[metric.id]
    return None


def _nothing_alike(
    both: Sequence[Condition],
    label: str,
    scored: Sequence[Sequence[object]],
    published: Sequence[Mapping[int, PublishedFigure]],
) -> str:
    without = [
        condition.model
        for condition, scores, figures in zip(both, scored, published, strict=True)
        if not scores and not figures
    ]
    if without:
        return f"{' and '.join(without)} has neither scores nor a figure by {label}"
    return (
        f"{both[0].model} and {both[1].model} have no metric in common; name one of "
        "each: --metric A --metric B"
    )


def way_out(models: TwoModels, a: Condition, b: Condition) -> str:
    """The end of a refusal to pair a published figure: how it may be compared, or what
    is missing for that."""
    try:
        sides = sides_of(models, a, b)
        for side in sides:
            if side.scores is None:
                side.estimate(level=0.95)
    except MisuseError as error:
        return f"; {error}"
    words = ["warehouse", "compare", models.a, models.b, "--unpaired"]
    if any(one.setting("position") is not None for one in (a, b)):
        words.append("--latest")  # of its checkpoints a model has here the last one
    call = shlex.join(words)
    return f"; each figure with its own error, as if of other questions: {call}"
