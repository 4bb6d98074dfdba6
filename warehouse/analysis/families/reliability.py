"""Family ``reliability``: what another draw of a benchmark's prompts would change of
its ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.families.benchmark_data import BenchmarkData, SuiteBenchmarks
from warehouse.analysis.families.family import (
    FamilySettings,
    RefreshQuestion,
    Value,
    about_all,
)
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError

if TYPE_CHECKING:
    from warehouse.analysis.reliability.suite_data import SuiteData
    from warehouse.stats.suites.score_table import SuiteScores

_INSTANCES = 1000


class ReliabilityFamily:
    """One question for each benchmark, as a suite of one scenario (Perlitz et al. 2024
    appendix D), and one for each suite."""

    name, version, takes_suites = "reliability", "1", True

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """One, where two conditions can be ranked."""
        return about_all(
            data, level=settings.level, seed=settings.seed, instances=_INSTANCES
        )

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """DIoR of ranking, quality and best model over other prompts, and the rank
        resolution; of a suite over other scenarios too.

        Raises:
            MisuseError: there is no one metric, or fewer than two conditions with
                scores of prompts.
        """
        from warehouse.analysis.reliability.suite_data import benchmark_scores

        if isinstance(data, SuiteBenchmarks):
            suite = _suite(data)
            scenarios = _values(
                suite.scores, suite.metric, "scenarios", question, settings
            )
            return [
                *_values(suite.scores, suite.metric, "prompts", question, settings),
                *scenarios,
            ]
        return _values(
            benchmark_scores(data.all_scores()),
            data.metrics[0].label,
            "prompts",
            question,
            settings,
        )


def _suite(data: SuiteBenchmarks) -> SuiteData:
    """The scores of a suite; of several conditions of a model on a leaf the newest."""
    from warehouse.analysis.reliability.suite_data import read_suite

    with data.opened() as store:
        try:
            return read_suite(store, data.benchmark.name, Selection())
        except MisuseError:
            return read_suite(store, data.benchmark.name, Selection(latest=True))


def _values(
    scores: SuiteScores,
    metric: str,
    granularity: str,
    question: RefreshQuestion,
    settings: FamilySettings,
) -> list[Value]:
    from warehouse.stats.suites.dior import reliability

    dior = reliability(
        scores,
        granularity,
        n_resamples=_INSTANCES,
        seed=settings.seed,
        level=settings.level,
    )
    if dior.ranking.value is None and not dior.reason:
        raise MisuseError("no ranking of the instances is defined")
    details = {
        "models": len(scores.models),
        "n_undefined": dior.n_undefined,
        "best_errors": [
            None if np.isnan(error) else error for error in dior.best_errors
        ],
    }
    figures = {
        "dior_ranking": (dior.ranking.value, dior.ranking.low, dior.ranking.high),
        "dior_quality": (dior.quality.value, dior.quality.low, dior.quality.high),
        "dior_best": (dior.best.value, dior.best.low, dior.best.high),
        "same_order": (dior.same_order, None, None),
        "rank_resolution": (dior.rank_resolution, None, None),
    }
    head = "" if granularity == "prompts" else f"{granularity}_"
    return [
        Value(
            "benchmark",
            question.subject,
            metric,
            head + statistic,
            "bootstrap",
            estimate=estimate,
            low=low,
            high=high,
            n=scores.n_prompts,
            reason=dior.reason if estimate is None else "",
            details=details,
        )
        for statistic, (estimate, low, high) in figures.items()
    ]


FAMILY = ReliabilityFamily()
