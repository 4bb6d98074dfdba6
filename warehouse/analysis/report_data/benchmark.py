"""What a report shows of one benchmark: each part, or why it is not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from warehouse.analysis.audit.read import read_answers
from warehouse.analysis.comparison.all_pairs import Pairs, pairs_of
from warehouse.analysis.items.datamap import DataMap, datamap
from warehouse.analysis.leaderboard.curves import Curves, training_curves
from warehouse.analysis.leaderboard.leaderboard import Leaderboard, board_of
from warehouse.analysis.leaderboard.ranks import RankOptions
from warehouse.analysis.leaderboard.row import LeaderboardRow, RowOptions
from warehouse.analysis.matrix.cached import StoredMatrix, stored_matrix
from warehouse.analysis.report_data.hard_prompts import HardPrompts, hard_prompts
from warehouse.analysis.report_data.partial_runs import PartialRun, StoredReliability, partial_runs
from warehouse.analysis.report_data.suspects import Suspects, has_votes, suspects
from warehouse.analysis.selection.benchmarks import BenchmarkNames, KnownBenchmark, find_among, read_facts
from warehouse.analysis.selection.conditions import Run
from warehouse.analysis.selection.scored_conditions import BenchmarkScores, select_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.selection.targets import targets_of
from warehouse.analysis.training.curve_rows import CurvesReport
from warehouse.analysis.training.curves import curves as curves_of_training
from warehouse.analysis.training.decide import Decisions, decide
from warehouse.analysis.training.recipes import RecipesReport, recipes
from warehouse.analysis.training.seeds import SeedsReport
from warehouse.analysis.training.seeds import seeds as training_seeds
from warehouse.analysis.variance.seeds import SeedReport, seeds_of
from warehouse.analysis.variance.variance import VarianceReport, variance_of
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.opener import StoreOpener

#: Conditions whose data maps a report shows for one benchmark.
MOST_MAPS = 12

Found = TypeVar("Found")


@dataclass(frozen=True)
class Maps:
    """Data maps of the conditions with several generations of a prompt, best first.

    Attributes:
        maps: one per model.
        left_out: models whose generations allow none, with the reason.
        more: models beyond the most that are shown.
    """

    maps: tuple[DataMap, ...]
    left_out: tuple[str, ...]
    more: tuple[str, ...]


@dataclass(frozen=True)
class BenchmarkPart:
    """One benchmark of the report.

    Attributes:
        name: of the benchmark.
        board: its leaderboard; None with ``why_no_board``.
        pairs: all pairs of its conditions; None with ``why_no_pairs``.
        variance: its conditions' variance, split between prompts and draws; None with
            ``why_no_variance``.
        curves: its rows along training; None where no model has two checkpoints.
        seeds: training seeds crossed with prompts; None without seeds, with ``why_no_seeds``
            where seeds cannot be compared.
        noise: seeds and checkpoints of each recipe; None where no recipe has two of either.
        along: what the curves show; None where no model has two checkpoints.
        maps: P(correct) against S(consistency); None where no prompt has several generations.
        matrix: the analyses of its performance matrix that the store holds.
        hard: single prompts to look at; None for fewer than two conditions or prompts.
        suspects: keys that answers speak against; None where the store has too few answers.
        bounds: of the metric's values; None where unknown.
        other_rows: by other metrics, rows of the conditions that have none on ``board``.
        recipes: whether it can decide between recipes; None for fewer than two.
        decided: the two best trained models, whether they differ by more than seeds do; None for fewer.
        partial: rows of ``board`` on planned subsets, and of runs that were stopped early.
        reliability: of its ranking; None where no refresh has figures of it.
    """

    name: str
    board: Leaderboard | None
    why_no_board: str
    pairs: Pairs | None
    why_no_pairs: str
    variance: VarianceReport | None
    why_no_variance: str
    curves: Curves | None
    seeds: SeedReport | None
    why_no_seeds: str
    noise: SeedsReport | None
    along: CurvesReport | None
    maps: Maps | None
    matrix: StoredMatrix
    hard: HardPrompts | None = None
    suspects: Suspects | None = None
    bounds: tuple[float | None, float | None] | None = None
    other_rows: tuple[LeaderboardRow, ...] = ()
    recipes: RecipesReport | None = None
    decided: Decisions | None = None
    partial: tuple[PartialRun, ...] = ()
    reliability: StoredReliability | None = None


def benchmark_part(
    store: Store, names: BenchmarkNames, name: str, level: float, n_resamples: int, seed: int
) -> BenchmarkPart:
    """All parts of a benchmark; what is asked for wrongly is not raised but told.

    Args:
        names: of all benchmarks.
        name: of a benchmark with current runs.
        level: nominal coverage of all intervals, in (0, 1).
        n_resamples: draws behind rank sets and simultaneous intervals.
        seed: of the draws.
    """
    found, no_board = _or_why(lambda: find_among(store, names, name))
    known, scores = None, None
    if found:
        known = found, read_facts(store, found.ids)
        scores, no_board = _or_why(lambda: select_entries(store, Selection(name), known))
    board, pairs, no_pairs = None, None, no_board
    if scores:
        board = board_of(scores, RowOptions(level), RankOptions(level, n_resamples, seed))
        pairs, no_pairs = _or_why(
            lambda: pairs_of(scores, level=level, n_resamples=n_resamples, seed=seed, with_flags=False)
        )
    targets, no_split = _or_why(lambda: targets_of(scores)) if scores else (None, no_board)
    split = variance_of(targets, "*", {}) if targets else None
    seeds, no_seeds = (None, "")
    if known and _n_seeds(known[1].runs) > 1:
        seeds, no_seeds = _or_why(lambda: seeds_of(targets, "*")) if targets else (None, no_split)
    curves = training_curves(board, scores.runs) if board and scores else None
    noise = along = deciding = decided = None
    if (curves and curves.rows) or seeds or no_seeds:
        noise, _ = _or_why(lambda: training_seeds(store, [name], level=level))
        along, _ = _or_why(lambda: curves_of_training(store, name, level=level))
        deciding, _ = _or_why(lambda: recipes(store, [name], level=level))
        decided = _decided(store, name, board, noise)
    answers = None
    if board and scores and has_votes(board, scores):
        answers, _ = _or_why(lambda: read_answers(store, scores))
    return BenchmarkPart(
        name,
        board,
        no_board,
        pairs,
        no_pairs,
        split,
        no_split,
        curves if curves and curves.rows else None,
        seeds,
        no_seeds,
        noise,
        along,
        _maps(store, board, level) if board else None,
        stored_matrix(store, name),
        hard_prompts(scores) if scores else None,
        suspects(answers) if answers else None,
        _bounds(scores) if scores else None,
        _rows_elsewhere(store, known, board, level) if known and board else (),
        recipes=deciding,
        decided=decided,
        partial=partial_runs(board, scores) if board and scores else (),
    )


def _decided(store: Store, name: str, board: Leaderboard | None, noise: SeedsReport | None) -> Decisions | None:
    """The two best of the models that have seeds or checkpoints; None for fewer."""
    trained = {row.model for row in noise.rows} if noise else set()
    best = [model for model in dict.fromkeys(row.model for row in board.rows) if model in trained] if board else []
    if len(best) < 2:
        return None
    return _or_why(lambda: decide(store, best[0], best[1], benchmark=name))[0]


def _bounds(scores: BenchmarkScores) -> tuple[float | None, float | None] | None:
    """Bounds of the metric that is shown, where the figure is a mean of its values."""
    shown = [one for one in scores.metrics if one.label == scores.metric.label]
    found = {one.bounds if one.link == "identity" else None for one in shown}
    return found.pop() if len(found) == 1 else None


def _rows_elsewhere(
    store: Store, known: KnownBenchmark, board: Leaderboard, level: float
) -> tuple[LeaderboardRow, ...]:
    """Rows of the conditions that a board lacks, by each other metric that some of them have."""
    shown = {run for row in board.rows for run in row.run_ids}
    rows: list[LeaderboardRow] = []
    for other in board.others:
        if other.n_elsewhere:
            scores = select_entries(store, Selection(board.benchmark, other.metric), known)
            found = board_of(scores, RowOptions(level), RankOptions(level, 0, 0))
            rows += [row for row in found.rows if shown.isdisjoint(row.run_ids)]
    return tuple(rows)


def _n_seeds(runs: Sequence[Run]) -> int:
    """Trained replicates among some runs."""
    return len({run["training_seed_id"] for run in runs if run["training_seed"]})


def _or_why(compute: Callable[[], Found]) -> tuple[Found | None, str]:
    try:
        return compute(), ""
    except MisuseError as error:
        return None, str(error)


def _maps(store: Store, board: Leaderboard, level: float) -> Maps | None:
    rows = [row for row in board.rows if row.n_draws > row.n_prompts]
    models = list(dict.fromkeys(row.model for row in rows))
    found: list[DataMap] = []
    left_out: list[str] = []
    for place, model in enumerate(models):
        if sum(len(one.distribution) for one in found) >= MOST_MAPS:
            return Maps(tuple(found), tuple(left_out), tuple(models[place:]))
        one, why_not = _or_why(
            lambda model=model: datamap(  # type: ignore[misc]
                StoreOpener.of(store), model, benchmark=board.benchmark, level=level
            )
        )
        if one is None:
            left_out.append(why_not)
        else:
            found.append(one)
            left_out += one.left_out
    return Maps(tuple(found), tuple(left_out), ()) if models else None
