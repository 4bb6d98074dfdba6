"""What the first of a leaderboard would score, had nobody picked it for being first
(statistics.md §28.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.leaderboard.placed import placed_rows
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import Metric, direction_unknown
from warehouse.analysis.selection.score_matrix import (
    ScoreTable,
    score_table,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.winner.question import Winner
from warehouse.analysis.winner.view import WinnerRow, how_made, winner_parts
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import WinnersLuck, interval_wilson, winners_luck
from warehouse.stats.core.inputs import Bounds
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.special import ndtr
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import visible


@dataclass(frozen=True)
class WinnerAnswer(Result):
    """The first of a leaderboard, of equal figures all."""

    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    higher_is_better: bool | None  #: direction of the metric; None if unknown.
    rows: tuple[WinnerRow, ...]
    notes: tuple[str, ...]  #: what a reader should know of the rows.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    def view(self, *, verbose: bool = False) -> View:
        """The corrected figure beside the measured one; with ``verbose`` how it was
        made."""
        parts = winner_parts(self.rows, is_share=self.is_share)
        if verbose:
            parts += how_made(
                self.rows,
                higher_is_better=self.higher_is_better,
                is_share=self.is_share,
            )
        head = visible(f"{self.benchmark} · {self.metric}")
        return View((head, *parts), self.notes)


@answers(Winner)
def winner(store: Store, question: Winner) -> WinnerAnswer:
    """Of the rows that are ranked among one another with the first."""
    scores = select_entries(store, selection_of(question))
    options = question.shared_with(OneLeaderboard, n_resamples=0)
    placed, notes = placed_rows(
        scores, options, "it is not known how far they move together"
    )
    metric = placed[0][0].metric
    table = score_table([entry for entry, _ in placed], scores.clusters)
    if table.is_weighted or metric.link != "identity":
        raise MisuseError(
            f"{metric.label} of {scores.benchmark.name} is no plain mean of the scores "
            "of questions, of which alone the luck of the first is known"
        )
    rows = [row for _, row in placed]
    luck = _luck_of(rows, table, metric, question)
    return WinnerAnswer(
        benchmark=scores.benchmark.name,
        metric=metric.label,
        higher_is_better=metric.higher_is_better,
        rows=tuple(_row(rows[number], luck, metric) for number in luck.tied),
        notes=(*_own_notes(scores.benchmark.name, metric), *notes),
        is_share=scores.metric.bounds == (0.0, 1.0),
    )


@one_blas_thread()
def _luck_of(
    rows: Sequence[LeaderboardRow], table: ScoreTable, metric: Metric, question: Winner
) -> WinnersLuck:
    """The luck of the first, with the variance of training seeds where rows are over
    some."""
    values = table.values
    if metric.higher_is_better is False:
        values = -values
    return winners_luck(
        values,
        table.clusters,
        more_variance=[_seed_variance(row) for row in rows],
        level=question.level,
        seed=question.seed,
    )


def _seed_variance(row: LeaderboardRow) -> float:
    """What another draw of seeds adds to the variance of other prompts."""
    sampled = row.sampled
    if row.over_seeds is None or sampled is None:
        return 0.0
    of_both = row.standard_error or 0.0
    of_prompts = sampled.standard_error or 0.0
    return max(0.0, of_both**2 - of_prompts**2)


def _row(row: LeaderboardRow, luck: WinnersLuck, metric: Metric) -> WinnerRow:
    """A winner; of a metric of which lower is better all is mirrored."""
    estimate = row.estimate or 0.0
    low, high = row.ci_low, row.ci_high
    bounds = metric.bounds
    is_mirrored = metric.higher_is_better is False
    if is_mirrored:
        low, high = _mirrored(low, high)
        bounds = None if bounds is None else _mirrored(*bounds)
    low, high = luck.interval(low, high, bounds)
    simultaneous = _simultaneous(row, luck, bounds, is_mirrored=is_mirrored)
    gain = luck.luck if luck.is_corrected else 0.0
    corrected = estimate - gain
    if is_mirrored:
        corrected = estimate + gain
        low, high = _mirrored(low, high)
    return WinnerRow(
        benchmark=row.benchmark,
        split=row.split,
        metric=row.metric,
        model=row.model,
        condition=row.condition,
        n_rows=luck.n_rows,
        n_tied=len(luck.tied),
        n_prompts=row.n_prompts,
        n_clusters=row.n_clusters,
        estimate=estimate,
        standard_error=row.standard_error,
        ci_low=row.ci_low,
        ci_high=row.ci_high,
        level=row.level,
        method=row.method,
        luck=luck.luck,
        is_corrected=luck.is_corrected,
        corrected=corrected,
        corrected_low=low,
        corrected_high=high,
        critical=luck.critical,
        simultaneous_low=simultaneous,
        n_draws=luck.n_draws,
    )


def _mirrored(
    low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """Ends with the sign turned."""
    return (None if high is None else -high), (None if low is None else -low)


def _simultaneous(
    row: LeaderboardRow, luck: WinnersLuck, bounds: Bounds | None, *, is_mirrored: bool
) -> float | None:
    """The end that holds whichever row is first: Wilson's at the critical value, else of
    t so many errors from the mean."""
    if row.method == "wilson" and row.n_clusters is None and not is_mirrored:
        level = float(2 * ndtr(luck.critical) - 1)
        mean = row.estimate or 0.0
        return interval_wilson(mean * row.n_prompts, row.n_prompts, level=level).low
    if row.method != "t" or row.standard_error is None:
        return None
    end = luck.mean - luck.critical * row.standard_error
    if bounds is not None and bounds[0] is not None:
        end = max(end, bounds[0])
    if is_mirrored:
        return -end
    return end


def _own_notes(benchmark: str, metric: Metric) -> list[str]:
    """What it is of, and which way the metric points where nobody has said so."""
    notes = [
        "of the rows stored here; what else was tried would make the correction larger"
    ]
    if metric.higher_is_better is None:
        unknown = direction_unknown(metric.label, benchmark)
        notes.append(f"higher is first; {unknown}")
    return notes
