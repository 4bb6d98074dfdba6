"""Rows of runs on planned subsets: the figure of the whole benchmark, placed among rows
that have all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warehouse.analysis.leaderboard.estimates import UnscoredBounds
from warehouse.analysis.leaderboard.hooks import ROWS_ON_PLANS, Line
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.leaderboard.row import PLANNED, LeaderboardRow, RowRanks
from warehouse.analysis.selection.scored_conditions import BenchmarkScores, is_partial
from warehouse.analysis.subsets.stored import (
    PlannedRun,
    estimate_of,
    known_plans,
    recognise,
)
from warehouse.questions.options import PROMPTS_FIXED
from warehouse.stats.subsets.design import FULL_BENCHMARK, rank_among

if TYPE_CHECKING:
    from warehouse.stats.subsets.estimate import SubsetEstimate

#: Models on plans, and refusals, that footnotes name.
_NAMED = 5


@dataclass(frozen=True)
class PlannedRows:
    """Runs on planned subsets."""

    #: by condition key and id of the metric.
    runs: Mapping[tuple[str, int], PlannedRun] = field(default_factory=dict)
    #: of the whole benchmark, of those that have one.
    figures: Mapping[tuple[str, int], SubsetEstimate] = field(default_factory=dict)
    refusals: tuple[str, ...] = ()  #: why others have none.

    def divide(self, lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
        """Rows as they are, and rows on plans with the figure of the whole benchmark."""
        plain: list[Line] = []
        planned: list[Line] = []
        for entry, row in lines:
            figure = self.figures.get((entry.condition.key, entry.metric.id))
            if figure is None:
                plain.append((entry, row))
                continue
            own = () if row.sampled is None else row.sampled.flags
            flags = tuple(flag for flag in row.flags if flag not in own) + figure.flags
            changed = replace(
                row,
                figure=figure,
                flags=(PLANNED, *flags),
                reason=figure.reason
                or "a stratified sample of the benchmark's prompts",
                estimand=figure.estimand,
                n_prompts=figure.n_scored,
                unscored=UnscoredBounds(
                    figure.bound_low,
                    figure.bound_high,
                    figure.bound_ci_low,
                    figure.bound_ci_high,
                ),
            )
            planned.append((entry, changed))
        return plain, planned

    def insert(
        self, groups: Sequence[Sequence[Line]], planned: Sequence[Line]
    ) -> list[list[Line]]:
        """Groups with the rows on plans, each at the place that its figure has among
        rows of all prompts."""
        merged = [list(group) for group in groups]
        for line in planned:
            at = next(
                (
                    i
                    for i, lines in enumerate(merged)
                    if lines[0][0].group == line[0].group
                ),
                len(merged),
            )
            merged[at : at + 1] = [
                _insert(merged[at] if at < len(merged) else [], line)
            ]
        return merged

    def describe(self, rows: Sequence[LeaderboardRow]) -> Iterator[str]:
        """Lines on what figures on plans say; nothing where there are none."""
        shown = [row for row in rows if PLANNED in row.flags]
        if not shown:
            return
        yield (
            "planned: asked a planned subset; the figure and its interval are those of "
            "all prompts, from a stratified sample of them (docs/subsets.md), and its "
            "rank is among the rows that have all"
        )
        by_runs = {run.condition.run_ids: run for run in self.runs.values()}
        for row in shown[:_NAMED]:
            condition = ""
            if row.condition:
                condition = f" {row.condition}"
            yield by_runs[row.run_ids].describe(row.model + condition)
        if len(shown) > _NAMED:
            yield f"and {len(shown) - _NAMED} more on plans"


def planned_runs(scores: BenchmarkScores) -> dict[tuple[str, int], PlannedRun]:
    """The entries of a benchmark with plans that are on one, by condition key and id of
    the metric."""
    assert scores.plans is not None
    plans = known_plans(scores.plans)
    runs: dict[tuple[str, int], PlannedRun] = {}
    for entry in scores.entries:
        if entry.usable is None:
            continue
        run = recognise(plans, entry.condition, entry.metric.label, entry.usable)
        if run is not None:
            runs[entry.condition.key, entry.metric.id] = run
    return runs


def planned_rows(scores: BenchmarkScores, options: Ranking) -> PlannedRows:
    """The runs of a benchmark that are on a stored plan, with the figures of all its
    prompts."""
    runs = planned_runs(scores)
    estimand = FULL_BENCHMARK
    if options.estimand == PROMPTS_FIXED:
        estimand = PROMPTS_FIXED
    estimates = {
        key: estimate_of(run, level=options.level, estimand=estimand)
        for key, run in runs.items()
    }
    return PlannedRows(
        runs,
        {key: figure for key, (figure, _) in estimates.items() if figure is not None},
        tuple(
            f"{runs[key].condition.model}: {why}"
            for key, (figure, why) in estimates.items()
            if figure is None
        ),
    )


ROWS_ON_PLANS.fill(planned_rows)


def _insert(group: Sequence[Line], line: Line) -> list[Line]:
    """A group with one more row, at the rank that its figure has among those of all
    prompts."""
    entry, row = line
    whole = [other for _, other in group if not is_partial(other.flags)]
    figures = [
        other.estimate
        for other in whole
        if other.rank is not None and other.estimate is not None
    ]
    if not figures or row.estimate is None:
        return [
            *group,
            (
                entry,
                replace(row, ranks=RowRanks(rank_reason="no row with all prompts")),
            ),
        ]
    higher = entry.metric.higher_is_better is not False
    rank = rank_among(
        row.estimate, row.ci_low, row.ci_high, figures, higher_is_better=higher
    )
    ranks = RowRanks(
        rank_low=rank.rank_low,
        rank_high=rank.rank_high,
        rank_reason="a planned subset: no pairs",
    )
    ranked = [line for line in group if line[1].rank is not None]
    ranked.append((entry, replace(row, rank=rank.rank, ranks=ranks)))
    sign = 1
    if higher:
        sign = -1
    ranked.sort(key=lambda line: sign * float(f"{line[1].estimate:.12g}"))
    return [*ranked, *(line for line in group if line[1].rank is None)]
