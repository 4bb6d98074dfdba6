"""What a report shows of one benchmark: each part, or why it is not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from warehouse.analysis.comparison.all_pairs import pairs_of
from warehouse.analysis.items.single_prompts import hard_prompts, suspects
from warehouse.analysis.leaderboard.curves import BenchmarkCurves, training_curves
from warehouse.analysis.leaderboard.leaderboard import board_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads, or_why
from warehouse.analysis.report_data.section_table import section_kinds
from warehouse.analysis.selection.conditions import group_runs
from warehouse.analysis.selection.reference import by_split
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.training.curves import curves_of
from warehouse.analysis.training.decide import decide_of
from warehouse.analysis.training.decide_report import Decisions
from warehouse.analysis.training.pools import Spread
from warehouse.analysis.training.recipes import recipes_of
from warehouse.analysis.training.seeds import recipe_seeds
from warehouse.analysis.training.seeds_report import SeedsReport
from warehouse.analysis.training.trajectories import RecipeScores, change
from warehouse.analysis.variance.variance import seeds_of
from warehouse.questions.leaderboard import Ranking
from warehouse.stats.training.seed_means import SeedMean


def benchmark_part(reads: BenchmarkReads, report: ReportSetting, spreads: Sequence[Spread] = ()) -> BenchmarkPart:
    """All sections of a benchmark that was read; a section that cannot be made gives its error message instead.

    Args:
        report: that it is a part of.
        spreads: over training seeds, on benchmarks of the store.
    """
    options, level = report.ranks, report.ranks.level
    board, scores, runs = reads.board, reads.scores, reads.facts.runs
    pairs, no_pairs = None, reads.why_no_scores
    targets, no_split = reads.targets
    if scores:
        pairs, no_pairs = or_why(
            lambda: pairs_of(
                scores,
                level=level,
                n_resamples=options.n_resamples,
                seed=options.seed,
                with_flags=True,
                only_first=True,
            )
        )
    seeds, no_seeds = (None, "")
    if len({run["training_seed_id"] for run in runs if run["training_seed"]}) > 1:
        seeds, no_seeds = or_why(lambda: seeds_of(targets, "*")) if targets else (None, no_split)
    curves = _curves(reads, options) if board and scores else None
    noise = along = deciding = decided = None
    if (curves and curves.rows) or seeds or no_seeds:
        noise = recipe_seeds(reads.recipes, level=level) if any(recipe.is_telling for recipe in reads.recipes) else None
        along, _ = or_why(lambda: curves_of(reads.curves, level)) if reads.curves else (None, "")
        deciding = recipes_of(reads.recipes, level)
        decided = _decided(reads, noise, spreads, level) if noise else None
    return BenchmarkPart(
        reads.name,
        board,
        reads.why_no_scores,
        pairs,
        no_pairs,
        curves=curves if curves and curves.rows else None,
        seeds=seeds,
        why_no_seeds=no_seeds,
        noise=noise,
        along=along,
        maps=reads.maps,
        matrix=reads.matrix,
        hard=hard_prompts(reads.each or scores) if scores else None,
        suspects=suspects(reads.answers) if reads.answers else None,
        bounds=_bounds(scores) if scores else None,
        other_rows=_rows_by_other_metrics(reads, level),
        recipes=deciding,
        decided=decided,
        sections=_sections(reads, report),
    )


def _sections(reads: BenchmarkReads, report: ReportSetting) -> dict[str, Section]:
    """What questions add, by name; a section that what was read does not allow is none."""
    found = {name: or_why(partial(kind.of, reads, report))[0] for name, kind in section_kinds().items()}
    return {name: section for name, section in found.items() if section is not None}


def suite_sections(name: str, report: ReportSetting) -> dict[str, Section]:
    """What questions add to the part of a suite, by name."""
    found = {kind_name: kind.of_suite(name, report) for kind_name, kind in section_kinds().items()}
    return {kind_name: section for kind_name, section in found.items() if section is not None}


def _curves(reads: BenchmarkReads, options: Ranking) -> BenchmarkCurves | None:
    """Every checkpoint of the models that have several."""
    if reads.each is None or not any(run["position"] is not None for run in reads.facts.runs):
        return None
    along = board_of(reads.each, Ranking(level=options.level, n_resamples=0))
    return training_curves(along, reads.each.runs)


def _decided(reads: BenchmarkReads, noise: SeedsReport, spreads: Sequence[Spread], level: float) -> Decisions | None:
    """The two best of the models that have seeds or checkpoints; None for fewer."""
    trained = {row.model for row in noise.rows}
    shown = dict.fromkeys(row.model for row in reads.board.rows) if reads.board else {}
    best = [model for model in shown if model in trained][:2]
    if len(best) < 2:
        return None
    a, b = ((model, by_split(group_runs(run for run in reads.facts.runs if run["model"] == model))) for model in best)

    def by_prompt(first: RecipeScores, second: RecipeScores) -> SeedMean | None:
        ends = [
            (curve.checkpoints[side.common[-1]], curve.clusters)
            for side in (first, second)
            for curve in reads.curves
            if side.common and replace(curve.recipe, trajectories=()) == replace(side, trajectories=())
        ]
        return change(ends[0][0], ends[1][0], ends[0][1], same_seeds=False).mean if len(ends) == 2 else None

    return or_why(lambda: decide_of(a, b, reads.recipes, level=level, stored=spreads, by_prompt=by_prompt))[0]


def _bounds(scores: BenchmarkScores) -> tuple[float | None, float | None] | None:
    """Bounds of the metric that is shown, where the figure is a mean of its values."""
    shown = [metric for metric in scores.metrics if metric.label == scores.metric.label]
    bounds = {metric.bounds if metric.link == "identity" else None for metric in shown}
    return bounds.pop() if len(bounds) == 1 else None


def _rows_by_other_metrics(reads: BenchmarkReads, level: float) -> tuple[LeaderboardRow, ...]:
    """Rows of the conditions that a board lacks, by each other metric that some of them have."""
    shown = {run for row in reads.board.rows for run in row.run_ids} if reads.board else set()
    boards = [board_of(scores, Ranking(level=level, n_resamples=0)) for scores in reads.by_other_metrics]
    return tuple(row for board in boards for row in board.rows if shown.isdisjoint(row.run_ids))
