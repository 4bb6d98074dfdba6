"""Rows of a benchmark in a report that were asked a part of it: on planned subsets, and
stopped early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from markupsafe import Markup

from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.row import PLANNED, STOPPED, LeaderboardRow
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.sequential.stopped import StoppedScores, StoppingRecord
from warehouse.analysis.subsets.on_leaderboard import planned_runs
from warehouse.analysis.subsets.plan import SubsetPlan
from warehouse.charts.page_parts import heading
from warehouse.tables.page import count, model_and_condition, number, table, text
from warehouse.tables.words import decimals


@dataclass(frozen=True)
class PartialSection(Section):
    """Rows of the leaderboard that were asked a part of the benchmark."""

    WORDS = "Parts of it"

    runs: tuple[PartialRun, ...]  #: in the order of the leaderboard.

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The rows; None where all were asked the whole."""
        if not reads.board or not reads.scores:
            return None
        runs = partial_runs(reads.board, reads.scores)
        if runs:
            return cls(runs)
        return None

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """The rows and what they rest on."""
        shown = partial_table(self.runs, part.name)
        return Markup("{}\n{}").format(
            heading(name, part.name, "Planned and stopped runs"), shown
        )


@dataclass(frozen=True)
class PartialRun:
    """A row of a leaderboard that was asked a part of the benchmark, by plan or by a
    rule."""

    row: LeaderboardRow  #: of the leaderboard.
    plan: SubsetPlan | None = None  #: which was asked; None for a run that was stopped.
    #: of the rule that stopped it; None for a run on a plan.
    record: StoppingRecord | None = None

    @property
    def kind(self) -> str:
        """How it came to be a part."""
        if self.plan is not None:
            return "planned subset"
        return "stopped early"

    @property
    def n_all(self) -> int | None:
        """Prompts of the whole benchmark; None if unknown."""
        if self.plan is not None:
            return self.plan.n_prompts
        if self.record is None:
            return None
        return self.record.population

    @property
    def says(self) -> str:
        """A sentence on what it rests on."""
        if self.plan is not None:
            against = ""
            if self.plan.baseline:
                against = f", against {self.plan.baseline}"
            return f"plan {self.plan.key} from {len(self.plan.history)} models{against}"
        record = self.record
        if record is None or not record.is_ours:
            if record is not None:
                return record.name
            return ""
        verdict = (
            f"{record.verdict} after {record.decided_at or record.n_prompts} prompts "
            f"against {record.baseline}"
        )
        return (
            f"{verdict}, margin {record.margin:g}, alpha {record.alpha:g}, at most "
            f"{record.n_max}"
        )


def partial_runs(board: Leaderboard, scores: BenchmarkScores) -> tuple[PartialRun, ...]:
    """The rows of a leaderboard that are on a plan or were stopped early, in its order.

    Args:
        scores: those that it is made of.
    """
    on_plans = [] if scores.plans is None else planned_runs(scores).values()
    plans = {run.condition.run_ids: run.plan for run in on_plans}
    stopped = {entry.condition.run_ids: entry.stopped for entry in scores.entries}
    records = {
        runs: own.record
        for runs, own in stopped.items()
        if isinstance(own, StoppedScores)
    }
    return tuple(
        PartialRun(row, plan=plans.get(row.run_ids))
        if PLANNED in row.flags
        else PartialRun(row, record=records.get(row.run_ids))
        for row in board.rows
        if {PLANNED, STOPPED} & set(row.flags)
    )


def partial_table(runs: Sequence[PartialRun], benchmark: str) -> Markup:
    """Rows that were asked a part of the benchmark, and what they rest on."""
    rows = [run.row for run in runs]
    n_decimals = decimals(row.standard_error for row in rows)
    return table(
        f"Planned and stopped runs of {benchmark}",
        "Planned: the figure of all prompts, from a stratified sample of them. Stopped "
        "early: the mean so far, with the interval that holds whenever one stops; "
        "statistics for a fixed number of prompts do not hold for it.",
        [
            *model_and_condition(
                "Run of", [row.model for row in rows], [row.condition for row in rows]
            ),
            text("Kind", [run.kind for run in runs], keep=True),
            count("Prompts", [row.n_prompts for row in rows], keep=True),
            count("Of", [run.n_all for run in runs], keep=True),
            number("Estimate", [row.estimate for row in rows], n_decimals),
            number("Low", [row.ci_low for row in rows], n_decimals),
            number("High", [row.ci_high for row in rows], n_decimals),
            text("Rests on", [run.says for run in runs], wrap=True, minor=True),
        ],
    )
