"""Every condition on one benchmark, with its figure, its interval and its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from warehouse.analysis.comparison.words import not_compared_notes
from warehouse.analysis.leaderboard.footnotes import describe_basis, describe_ranks
from warehouse.analysis.leaderboard.planned import NO_PLANS, PlannedRows, planned_rows
from warehouse.analysis.leaderboard.ranks import with_ranks
from warehouse.analysis.leaderboard.row import LeaderboardRow, make_row
from warehouse.analysis.leaderboard.stopped import STOPPED
from warehouse.analysis.leaderboard.view import leaderboard_table, legend_lines, reasons_of
from warehouse.analysis.leaderboard.words import counted_left_out, in_short, label_of, rows_in_words
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import OtherMetric, describe_others, direction_unknown
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    is_partial,
    list_differences,
    list_editions,
    select_entries,
)
from warehouse.analysis.selection.scores import unstated_bounds
from warehouse.analysis.selection.selection import selection_of
from warehouse.questions.leaderboard import OneLeaderboard, Ranking
from warehouse.questions.options import PROMPTS_SAMPLED
from warehouse.questions.question import answers
from warehouse.store.connection import Store
from warehouse.tables.view import Below, View
from warehouse.tables.words import direction, listed, visible

Line = tuple[ScoredCondition, LeaderboardRow]


@dataclass(frozen=True)
class Leaderboard(Result):
    """Rows in order of rank; those of another split, task version or metric come after, and
    rows without a rank after all that have one.

    Attributes:
        benchmark: name of the benchmark.
        metric: name of the metric, with its filter.
        higher_is_better: direction of the ranks; None if unknown (then higher is first).
        notes: what a reader should know before comparing rows.
        basis: in words, how intervals and errors were made, and why so.
        legend: in words, what the statistical ranks say; empty where there are none.
        others: the metrics that are not shown, and how many conditions have figures of each.
        n_left_out: rows that have no rank beside the first: on a part of the benchmark, stopped, without a figure.
        left_out_higher: of these the number with a better figure than the first.
    """

    ROW = LeaderboardRow

    benchmark: str
    metric: str
    higher_is_better: bool | None
    rows: tuple[LeaderboardRow, ...]
    notes: tuple[str, ...]
    basis: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()
    others: tuple[OtherMetric, ...] = ()
    n_left_out: int = 0
    left_out_higher: int = 0

    @property
    def one_line(self) -> str:
        """The result in one line."""
        first = in_short(self.rows, self.higher_is_better)
        return f"{self.benchmark} by {self.metric}: {len(self.rows)} conditions{first}"

    def view(self, *, verbose: bool = False) -> View:
        """The command's sentence and table, how it was made, and what its columns mean."""
        head = f"{self.benchmark} by {self.metric} ({direction(self.higher_is_better)})"
        table = leaderboard_table(self.rows, verbose=verbose)
        others = describe_others(self.others)
        below: list[str | Below] = [*self.basis, *legend_lines(self.legend), *([others] if others else [])]
        sentence = [visible(str(rows_in_words(self.rows, self.higher_is_better)))] if self.rows else []
        return View((head, *sentence, table, *below), (*self.notes, *reasons_of(self.rows, verbose=verbose)))


@answers(OneLeaderboard)
def leaderboard(store: Store, question: OneLeaderboard) -> Leaderboard:
    """A row is one condition; its repeats are pooled as draws. Conditions are ranked among those
    with the same split, task version, metric and judge.

    Raises:
        MisuseError: unknown benchmark, metric, clustering or field; a suite; nothing to show.
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    return board_of(select_entries(store, selection_of(question)), question)


def board_of(scores: BenchmarkScores, options: Ranking) -> Leaderboard:
    """The leaderboard of scores that were read; asks the store nothing.

    Args:
        scores: every condition with its scores.

    Raises:
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    planned = planned_rows(scores, options)
    groups = rank_rows(scores, options, planned)
    rows = sorted((line for group in groups for line in group), key=_has_no_rank)
    names = tuple(other.metric for other in scores.others)
    ranked = [replace(row, other_metrics=names) for _, row in rows]
    return Leaderboard(
        benchmark=scores.benchmark.name,
        metric=scores.metric.label,
        higher_is_better=scores.metric.higher_is_better,
        rows=tuple(ranked),
        n_left_out=ranked[0].n_left_out if ranked else 0,
        left_out_higher=ranked[0].left_out_higher if ranked else 0,
        notes=(*_notes(rows, scores.subset_ok), *filter(None, [scores.clusters.note]), *planned.refusals),
        basis=(*describe_basis(ranked), *planned.describe(ranked)),
        legend=tuple(describe_ranks(ranked)),
        others=scores.others,
    )


def rank_rows(scores: BenchmarkScores, options: Ranking, planned: PlannedRows = NO_PLANS) -> list[list[Line]]:
    """The rows of a benchmark in groups of what can be compared, ranked.

    Args:
        planned: runs on planned subsets; their rows stand among those with all prompts by the figure that
            their sample gives of the whole benchmark.

    Raises:
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    rows = [
        (entry, make_row(entry, scores.clusters, options, scores.coverages[entry.group])) for entry in scores.entries
    ]
    rows, on_plan = planned.divide(rows) if planned.figures else (rows, [])
    groups = _ranked(rows, scores.subset_ok)
    if options.estimand == PROMPTS_SAMPLED:
        groups = [with_ranks(group, scores.clusters, options) for group in groups]
    groups = planned.insert(groups, on_plan) if on_plan else groups
    return [_with_left_out(group) for group in groups]


def _with_left_out(group: Sequence[Line]) -> list[Line]:
    rows = counted_left_out([row for _, row in group], group[0][0].metric.higher_is_better)
    return [(entry, row) for (entry, _), row in zip(group, rows, strict=True)]


def _ranked(rows: Sequence[Line], subset_ok: bool) -> list[list[Line]]:
    """Rows in groups of what can be compared, the largest first, each in order of rank."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    for entry, row in rows:
        groups.setdefault(entry.group, []).append((entry, row))
    largest_first = sorted(groups.values(), key=len, reverse=True)
    return [_rank_group(group, subset_ok) for group in largest_first]


def _rank_group(group: Sequence[Line], subset_ok: bool) -> list[Line]:
    """Rows with a rank, best first, then the others by their figure, then those without one."""
    sign = 1 if group[0][0].metric.higher_is_better is False else -1
    lines = [line for line in group if line[1].estimate is not None]
    lines.sort(key=lambda line: (float(_comparable(line[1])) * sign, *_words(line[1])))
    whole = [row for _, row in lines if STOPPED not in row.flags]
    best = min(map(_standing, whole), default=0)
    eligible = [row for row in whole if subset_ok or _standing(row) == best]
    figures = [_comparable(row) for row in eligible]
    ranks = {row.run_ids: figures.index(_comparable(row)) + 1 for row in eligible}
    rest = [line for line in group if line[1].estimate is None]
    ranked = [(entry, replace(row, rank=ranks.get(row.run_ids))) for entry, row in lines + rest]
    return sorted(ranked, key=_has_no_rank)


def _has_no_rank(line: Line) -> bool:
    return line[1].rank is None


def _standing(row: LeaderboardRow) -> int:
    """What rows are ranked among, the first that a group has: 0 for scores of all prompts, 1 for
    published figures, 2 for a single prompt, 3 for a part of the benchmark."""
    if is_partial(row.flags):
        return 3
    if row.method == "published":
        return 1
    return 2 if row.n_prompts < 2 else 0


def _comparable(row: LeaderboardRow) -> str:
    """The figure at 12 significant digits: what differs only by rounding is a tie."""
    return f"{row.estimate:.12g}"


def _words(row: LeaderboardRow) -> tuple[str, str]:
    """What orders rows of one figure, whichever came first into the store."""
    return row.model, row.condition


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def _unranked(rows: Sequence[LeaderboardRow], subset_ok: bool) -> Iterator[str]:
    """What has a figure and no rank, and why."""
    kinds = {3: "on a part of the benchmark", 2: "on a single prompt", 1: "with published figures"}
    unranked = [row for row in rows if row.estimate is not None and row.rank is None]
    left = [_standing(row) for row in unranked if STOPPED not in row.flags]
    stopped = len(unranked) - len(left)
    if stopped:
        yield f"{_rows(stopped)} of runs that were stopped early because of their scores: not ranked"
    for kind, words in kinds.items():
        if kind in left and not subset_ok:
            how = "not ranked beside those with scores of all prompts" if kind < 3 else "not ranked"
            yield f"{_rows(left.count(kind))} {words} {how} (subset_ok ranks them)"
    cut = sum(row.part_estimate is not None for row in rows)
    if cut:
        yield (
            f"{_rows(cut)} of truncated runs: the figure is the published one, beside it that of"
            " the samples that are stored"
        )


def _notes(rows: Sequence[Line], subset_ok: bool) -> list[str]:
    notes = list(_unranked([row for _, row in rows], subset_ok))
    others = sum("other_prompts" in row.flags for _, row in rows)
    if others:
        notes.append(f"{_rows(others)} saw other prompts than most (compare pairs the common ones)")
    if differing := list_differences({entry.group for entry, _ in rows}):
        notes.append(f"rows differ in {listed(differing)}; each group is ranked alone")
    if editions := list_editions(entry for entry, _ in rows):
        notes.append(f"rows differ in {editions} takes one alone")
    unknown = dict.fromkeys(
        (entry.metric.label, entry.condition.benchmark_split[0])
        for entry, _ in rows
        if entry.metric.higher_is_better is None
    )
    notes += [f"higher is ranked first; {direction_unknown(*names)}" for names in unknown]
    named = ((entry.condition.benchmark_split[0], entry.metric, entry.usable) for entry, _ in rows)
    notes += not_compared_notes((label_of(row), row.n_not_compared) for _, row in rows)
    notes += unstated_bounds((name, metric, scores) for name, metric, scores in named if scores is not None)
    return notes
