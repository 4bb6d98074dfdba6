"""Runs on planned subsets and runs that were stopped early, and how reliable rankings are, as a report shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter

from warehouse.analysis.groups import grouped
from warehouse.analysis.leaderboard.leaderboard import Leaderboard
from warehouse.analysis.leaderboard.row import PLANNED, STOPPED, LeaderboardRow
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.selection.selection import Selection, row_rules
from warehouse.analysis.sequential.stopped import StoppedScores, StoppingRecord
from warehouse.analysis.subsets.on_leaderboard import planned_runs
from warehouse.analysis.subsets.plan import SubsetPlan
from warehouse.analysis.suites.leaderboard import SuiteBoard, suite_board
from warehouse.analysis.suites.read import read_suite_entries
from warehouse.analysis.suites.tree import EQUAL, Suite
from warehouse.errors import MisuseError
from warehouse.questions.leaderboard import OnSuite, Ranking
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class PartialRun:
    """A row of a leaderboard that was asked a part of the benchmark, by plan or by a rule."""

    row: LeaderboardRow  #: of the leaderboard.
    plan: SubsetPlan | None = None  #: which was asked; None for a run that was stopped.
    record: StoppingRecord | None = None  #: of the rule that stopped it; None for a run on a plan.

    @property
    def kind(self) -> str:
        """How it came to be a part."""
        return "planned subset" if self.plan is not None else "stopped early"

    @property
    def n_all(self) -> int | None:
        """Prompts of the whole benchmark; None if unknown."""
        if self.plan is not None:
            return self.plan.n_prompts
        return None if self.record is None else self.record.population

    @property
    def says(self) -> str:
        """What it rests on."""
        if self.plan is not None:
            against = f", against {self.plan.baseline}" if self.plan.baseline else ""
            return f"plan {self.plan.key} from {len(self.plan.history)} models{against}"
        record = self.record
        if record is None or not record.is_ours:
            return record.name if record is not None else ""
        verdict = f"{record.verdict} after {record.decided_at or record.n_prompts} prompts against {record.baseline}"
        return f"{verdict}, margin {record.margin:g}, alpha {record.alpha:g}, at most {record.n_max}"


def partial_runs(board: Leaderboard, scores: BenchmarkScores) -> tuple[PartialRun, ...]:
    """The rows of a leaderboard that are on a plan or were stopped early, in its order.

    Args:
        scores: those that it is made of.
    """
    on_plans = [] if scores.plans is None else planned_runs(scores).values()
    plans = {run.condition.run_ids: run.plan for run in on_plans}
    stopped = {entry.condition.run_ids: entry.stopped for entry in scores.entries}
    records = {runs: own.record for runs, own in stopped.items() if isinstance(own, StoppedScores)}
    return tuple(
        PartialRun(row, plan=plans.get(row.run_ids))
        if PLANNED in row.flags
        else PartialRun(row, record=records.get(row.run_ids))
        for row in board.rows
        if {PLANNED, STOPPED} & set(row.flags)
    )


@dataclass(frozen=True)
class StoredReliability:
    """What the newest refresh says of how reliable a benchmark's or suite's verdicts are."""

    #: estimate, lower and upper end by statistic.
    figures: Mapping[str, tuple[float | None, float | None, float | None]]
    n_prompts: int | None  #: of it.
    refreshed_at: datetime  #: when, UTC.
    reason: str  #: why there are no figures.

    def estimate(self, statistic: str) -> float | None:
        """A figure, None where there is none."""
        return self.figures.get(statistic, (None, None, None))[0]

    @property
    def sentence(self) -> str:
        """What a reader wants to know of it."""
        tau, same, wide = (self.estimate(name) for name in ("dior_ranking", "same_order", "rank_resolution"))
        if tau is None or same is None:
            return f"No figure: {self.reason}" if self.reason else "No figure."
        ranks = "" if wide is None else f"; 95 % of ranks stay within {wide:g} of their place"
        return (
            f"A resample of the prompts gives the same order of all models in {100 * same:.0f} % of cases, and a"
            f" ranking with τ of at least {tau:.2f} in 97.5 %{ranks}."
        )


def stored_reliability(store: Store) -> dict[str, StoredReliability]:
    """By name of benchmark or suite; those that a refresh of the family ``reliability`` has figures of."""
    by_benchmark = grouped(store.rows(query_text("analysis", "report_reliability")), itemgetter("benchmark"))
    return {
        name: StoredReliability(
            {row["statistic"]: (row["estimate"], row["low"], row["high"]) for row in rows},
            rows[0]["n"],
            max(row["refreshed_at"] for row in rows),
            next((row["reason"] for row in rows if row["reason"]), ""),
        )
        for name, rows in by_benchmark.items()
    }


#: Said where only the newest conditions of each model are shown.
NEWEST = "of several conditions of a model on a benchmark the newest is shown"


@dataclass(frozen=True)
class SuitePart:
    """One suite of the report."""

    name: str  #: of the suite.
    board: SuiteBoard | None  #: its leaderboard, leaves weighing the same; None with ``why_no_board``.
    why_no_board: str
    reliability: StoredReliability | None = None  #: of its ranking; None where no refresh has figures of it.


def suite_part(store: Store, suite: Suite, ranks: Ranking) -> SuitePart:
    """A suite as the unweighted mean of its benchmarks, or why there is no figure.

    Args:
        suite: with its leaves that have runs.
        ranks: what makes a row, and the level of the intervals.
    """
    name, level = suite.name, ranks.level
    try:
        entries = read_suite_entries(store, suite, EQUAL, Selection(rows=row_rules(ranks)))
    except MisuseError as error:
        return SuitePart(name, None, str(error))
    try:
        return SuitePart(name, suite_board(entries, OnSuite(level=level)), "")
    except MisuseError:  # several conditions of a model
        newest = suite_board(entries, OnSuite(level=level, latest=True))
    return SuitePart(name, replace(newest, notes=(NEWEST, *newest.notes)), "")
