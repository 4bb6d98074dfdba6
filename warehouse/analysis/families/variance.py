"""Family ``variance``: how much of a figure's error the prompts make, how much the
draws."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import (
    CONDITION,
    FamilySettings,
    RefreshQuestion,
    Value,
    no_score,
    subject_of,
)
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.errors import StatisticsError

#: Stored figures: statistic -> field of the result, in squared units of the score but
#: for shares.
FIGURES = {
    "share_between": "share_between",
    "share_within": "share_within",
    "variance_prompts_fixed": "variance_prompts_fixed",
    "suggested_draws": "suggested_draws",
}


class VarianceFamily:
    """One question for each condition."""

    name, version = "variance", "1"

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """One for each condition."""
        return [
            RefreshQuestion(subject_of(condition), (key,))
            for key, condition in data.conditions.items()
        ]

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """The split by each headline metric that is a plain mean."""
        values = list(
            chain.from_iterable(
                _split(data, question.subject, entry)
                for entry in data.entries(question.conditions)
            )
        )
        return values or no_score(data, (CONDITION, question.subject), "share_within")


def _split(data: BenchmarkData, subject: str, entry: ScoredCondition) -> list[Value]:
    from warehouse.analysis.variance.row import NO_MEAN
    from warehouse.stats import variance_components

    scores = entry.usable
    metric = data.metric_name(entry.metric)
    if scores is None:
        return [
            Value(
                "condition",
                subject,
                metric,
                "share_within",
                "none",
                reason=entry.why_none,
            )
        ]
    if entry.metric.link != "identity" or scores.uneven_weights is not None:
        return [
            Value("condition", subject, metric, "share_within", "none", reason=NO_MEAN)
        ]
    clusters = data.clusters.labels(scores.prompts)
    try:
        components = variance_components(
            scores.values, scores.within, scores.n_draws, clusters
        )
    except StatisticsError as error:
        return [
            Value(
                "condition", subject, metric, "share_within", "none", reason=str(error)
            )
        ]
    return [
        Value(
            "condition",
            subject,
            metric,
            statistic,
            "miller_split",
            estimate=getattr(components, name),
            n=components.n_prompts,
            n_clusters=components.n_clusters,
            reason=components.reason if getattr(components, name) is None else "",
        )
        for statistic, name in FIGURES.items()
    ]


FAMILY = VarianceFamily()
