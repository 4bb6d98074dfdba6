"""Rows of a model's card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import NO_VERDICT, better_in_words
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Column, Row
from warehouse.analysis.selection.benchmarks import (
    Metric,
)
from warehouse.analysis.selection.conditions import Condition

#: A figure of this method is its source's own: nothing here recomputes it.
PUBLISHED = "published"
_VERDICTS = {
    "a": "better",
    "b": "worse",
    "neither": "cannot be told apart",
    "not known": "differs, direction unknown",
}


@dataclass(frozen=True)
class CardRow(Row):
    """The figure of one condition on one benchmark, and the difference from a
    reference.

    What is not said here has the meaning that it has in its leaderboard (`figure`) or
    comparison (`paired`).
    """

    benchmark: ClassVar[Column[str]] = Column("figure.benchmark")
    split: ClassVar[Column[str]] = Column("figure.split")
    condition: ClassVar[Column[str]] = Column("figure.condition")
    metric: ClassVar[Column[str]] = Column("figure.metric")
    #: of the figure: as it is stored, ``share of 1`` or ``LOW to HIGH`` by the metric's
    #: bounds; empty: unknown.
    unit: str
    higher_is_better: bool | None  #: direction of the metric; None if unknown.
    estimate: ClassVar[Column[float | None]] = Column("figure.estimate")
    standard_error: ClassVar[Column[float | None]] = Column("figure.standard_error")
    ci_low: ClassVar[Column[float | None]] = Column("figure.ci_low")
    ci_high: ClassVar[Column[float | None]] = Column("figure.ci_high")
    level: ClassVar[Column[float]] = Column("figure.level")
    #: prompts with a score; of a published figure as published, None if unknown.
    n_prompts: int | None
    n_clusters: ClassVar[Column[int | None]] = Column("figure.n_clusters")
    n_draws: ClassVar[Column[int]] = Column("figure.n_draws")
    n_unscored: ClassVar[Column[int]] = Column("figure.n_unscored")
    runs: ClassVar[Column[int]] = Column("figure.runs")
    #: of the interval; ``published``: the source's own figure, which no sample here
    #: gives.
    method: ClassVar[Column[str]] = Column("figure.method")
    flags: ClassVar[Column[tuple[str, ...]]] = Column("figure.flags")
    reason: ClassVar[Column[str]] = Column("figure.reason")
    model: ClassVar[Column[str]] = Column("figure.model")
    checkpoint: str  #: revision or key of the weights, or the position in training; empty if unknown.
    training_seed: str  #: label of the trained replicate.
    harness: str  #: tool and version that made the runs.
    fewshot: int | None  #: examples in the prompt; None if unknown.
    temperature: float | None  #: of the sampling; None if unknown.
    date: str  #: day on which the newest of the runs began [UTC]; empty if unknown.
    reference: ClassVar[Column[str]] = Column("paired.model_b", "")
    #: mean of this model minus the reference's, on common prompts.
    difference: ClassVar[Column[float | None]] = Column("paired.difference")
    difference_standard_error: ClassVar[Column[float | None]] = Column(
        "paired.standard_error"
    )
    difference_ci_low: ClassVar[Column[float | None]] = Column("paired.ci_low")
    difference_ci_high: ClassVar[Column[float | None]] = Column("paired.ci_high")
    n_common: ClassVar[Column[int | None]] = Column("paired.n_prompts")
    p_value: ClassVar[Column[float | None]] = Column("paired.p_value")
    #: adjusted for the number of benchmarks; None with one.
    p_holm: ClassVar[Column[float | None]] = Column("paired.p_holm")
    verdict: str  #: ``better``, ``worse``, ``cannot be told apart``; else why there is no difference.
    run_ids: ClassVar[Column[tuple[int, ...]]] = Column("figure.run_ids")
    figure: LeaderboardRow  #: the row of the leaderboard that figures come from.
    #: the row of the comparison that differences come from.
    paired: ComparisonRow | None = None

    PARTS = ("figure", "paired")

    @property
    def is_published(self) -> bool:
        """True if it is the source's own figure."""
        return self.method == PUBLISHED

    def against(self, paired: ComparisonRow | None, why_not: str) -> CardRow:
        """The row with the difference from a reference, or with the reason why there is
        none."""
        verdict = why_not
        if paired is not None:
            words = better_in_words(paired)
            untested = words == NO_VERDICT or (
                paired.ci_low is None and words == "neither"
            )
            if untested:
                verdict = f"{NO_VERDICT}: {paired.reason}"
            else:
                verdict = _VERDICTS.get(words, words)
        return replace(self, paired=paired, verdict=verdict)


def card_row(figure: LeaderboardRow, condition: Condition, metric: Metric) -> CardRow:
    """The row of a condition, without a reference."""
    newest = max(
        (run["started_at"] for run in condition.runs if run["started_at"]), default=None
    )
    tools = dict.fromkeys(
        f"{run['harness']} {run['harness_version'] or ''}".strip()
        for run in condition.runs
    )
    date = ""
    if newest:
        date = f"{newest:%Y-%m-%d}"
    return CardRow(
        unit=_unit(metric),
        higher_is_better=metric.higher_is_better,
        n_prompts=figure.n_prompts or (None if figure.method == PUBLISHED else 0),
        checkpoint=_checkpoint(condition.runs[0]),
        training_seed=", ".join(
            dict.fromkeys(
                run["training_seed"] for run in condition.runs if run["training_seed"]
            )
        ),
        harness=", ".join(tools),
        fewshot=condition.setting("fewshot"),
        temperature=condition.setting("temperature"),
        date=date,
        verdict="",
        figure=figure,
    )


def _unit(metric: Metric) -> str:
    # the unit is that of a prompt, the figure has another
    if metric.link not in (
        "identity",
        "none",
    ):
        return ""
    if metric.unit:
        return metric.unit
    low, high = metric.bounds or (None, None)
    if low is None or high is None:
        return ""
    if (low, high) == (0, 1):
        return "share of 1"
    return f"{low:g} to {high:g}"


def _checkpoint(run: Mapping[str, Any]) -> str:
    if run["position"] is not None:
        return f"{run['position_unit'] or 'position'}={run['position']:g}"
    return str(run["revision"] or run["checkpoint"] or "")
