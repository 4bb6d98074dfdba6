"""What a report shows of one benchmark: each part, or why it is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from warehouse.analysis.audit.audit import suspects_of
from warehouse.analysis.audit.read import StoredAnswers
from warehouse.analysis.audit.rows import AuditRow
from warehouse.analysis.comparison.all_pairs import Pairs, comparable, pairs_of
from warehouse.analysis.leaderboard.curves import BenchmarkCurves, training_curves
from warehouse.analysis.leaderboard.leaderboard import Leaderboard, board_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.matrix.cached import StoredMatrix
from warehouse.analysis.preferences.prefer_report import PreferenceReport
from warehouse.analysis.report_data.partial_runs import PartialRun, StoredReliability, partial_runs
from warehouse.analysis.report_data.read import BenchmarkReads, Maps, or_why
from warehouse.analysis.report_data.run_facts import RunFacts
from warehouse.analysis.selection.conditions import group_runs
from warehouse.analysis.selection.reference import by_split
from warehouse.analysis.selection.score_matrix import score_table
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.selection.targets import Targets, targets_of
from warehouse.analysis.training.curves import curves_of
from warehouse.analysis.training.curves_report import CurvesReport
from warehouse.analysis.training.decide import decide_of
from warehouse.analysis.training.decide_report import Decisions
from warehouse.analysis.training.pools import Spread
from warehouse.analysis.training.recipes import recipes_of
from warehouse.analysis.training.recipes_report import RecipesReport
from warehouse.analysis.training.seeds import recipe_seeds
from warehouse.analysis.training.seeds_report import SeedsReport
from warehouse.analysis.training.trajectories import RecipeScores, change
from warehouse.analysis.variance.seed_report import SeedReport
from warehouse.analysis.variance.variance import VarianceReport, seeds_of, variance_of
from warehouse.questions.leaderboard import Ranking
from warehouse.stats.items.discrimination import discrimination
from warehouse.stats.labels.wrong_keys import THRESHOLD
from warehouse.stats.training.seed_means import SeedMean


@dataclass(frozen=True)
class BenchmarkPart:
    """One benchmark of the report."""

    name: str  #: of the benchmark.
    board: Leaderboard | None  #: its leaderboard; None with ``why_no_board``.
    why_no_board: str = ""
    #: of its conditions, with the rows of the first condition of each group; None with ``why_no_pairs``.
    pairs: Pairs | None = None
    why_no_pairs: str = ""
    #: its conditions' variance, split between prompts and draws; None where that cannot be, or no prompt has two draws.
    variance: VarianceReport | None = None
    curves: BenchmarkCurves | None = None  #: its rows along training; None where no model has two checkpoints.
    #: training seeds crossed with prompts; None without seeds, with ``why_no_seeds`` where seeds cannot be compared.
    seeds: SeedReport | None = None
    why_no_seeds: str = ""
    noise: SeedsReport | None = None  #: seeds and checkpoints of each recipe; None where no recipe has two of either.
    along: CurvesReport | None = None  #: what the curves show; None where no model has two checkpoints.
    maps: Maps | None = None  #: P(correct) against S(consistency); None where no prompt has several generations.
    #: the analyses of its performance matrix that the store holds.
    matrix: StoredMatrix = field(default_factory=StoredMatrix)
    hard: HardPrompts | None = None  #: single prompts to look at; None for fewer than two conditions or prompts.
    suspects: Suspects | None = None  #: keys that answers speak against; None where the store has too few answers.
    bounds: tuple[float | None, float | None] | None = None  #: of the metric's values; None where unknown.
    #: by other metrics, rows of the conditions that have none on ``board``.
    other_rows: tuple[LeaderboardRow, ...] = ()
    recipes: RecipesReport | None = None  #: whether it can decide between recipes; None for fewer than two.
    #: the two best trained models, whether they differ by more than seeds do; None for fewer.
    decided: Decisions | None = None
    partial: tuple[PartialRun, ...] = ()  #: rows of ``board`` on planned subsets, and of runs that were stopped early.
    reliability: StoredReliability | None = None  #: of its ranking; None where no refresh has figures of it.
    preferences: PreferenceReport | None = None  #: strengths by votes; None without.
    #: by id, what the single prompts that it names ask.
    prompts: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    #: by id of its runs, when they were made and what they cost.
    facts: Mapping[int, RunFacts] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """What it costs to keep in memory: pairs, most of it."""
        return 1 + sum(len(group.pairs) for group in self.pairs.groups) if self.pairs else 1


def benchmark_part(reads: BenchmarkReads, options: Ranking, spreads: Sequence[Spread] = ()) -> BenchmarkPart:
    """All sections of a benchmark that was read; a section that cannot be made gives its error message instead.

    Args:
        options: level of all intervals, and draws behind simultaneous ones.
        spreads: over training seeds, on benchmarks of the store.
    """
    level = options.level
    board, scores, runs = reads.board, reads.scores, reads.facts.runs
    pairs, targets, no_pairs, no_split = None, None, reads.why_no_scores, reads.why_no_scores
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
        targets, no_split = or_why(lambda: targets_of(reads.each or scores))
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
        variance_of(targets, "*", {}) if targets and _has_draws(targets) else None,
        curves if curves and curves.rows else None,
        seeds,
        no_seeds,
        noise,
        along,
        reads.maps,
        reads.matrix,
        hard_prompts(reads.each or scores) if scores else None,
        suspects(reads.answers) if reads.answers else None,
        _bounds(scores) if scores else None,
        _rows_by_other_metrics(reads, level),
        recipes=deciding,
        decided=decided,
        partial=partial_runs(board, scores) if board and scores else (),
    )


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


def _has_draws(targets: Targets) -> bool:
    """Whether a variance can be split at all."""
    return any(int(target.scores.n_draws.max(initial=1)) > 1 for target in targets.scored)


#: Prompts of each kind.
MOST_HARD = 5


@dataclass(frozen=True)
class HardPrompts:
    """What `items` says of single prompts, in short."""

    n_prompts: int  #: prompts that all conditions have a score of.
    n_models: int  #: conditions.
    n_constant: int  #: prompts with one score for all.
    #: prompts on which conditions do the worse, the better they do on the rest (false ones at most 5 %, Benjamini and
    #: Hochberg).
    n_negative: int
    hardest: tuple[tuple[int, float], ...]  #: ids and mean scores of the hardest, at most 5.
    negative: tuple[tuple[int, float], ...]  #: ids and correlations with the rest of the most negative, at most 5.

    @property
    def prompts(self) -> tuple[int, ...]:
        """Ids of all that are named."""
        return tuple(prompt for prompt, _ in (*self.hardest, *self.negative))


def hard_prompts(scores: BenchmarkScores) -> HardPrompts | None:
    """The largest group of conditions on a benchmark; None for fewer than two of either."""
    groups = [comparable(members, scores) for members in scores.groups().values()]
    members = max(groups, key=len, default=[])
    if len(members) < 2 or scores.metric.link != "identity":
        return None
    table = score_table(members, scores.clusters)
    complete = ~np.isnan(table.values).any(axis=1)
    values, ids = table.values[complete], table.prompts[complete]
    if len(ids) < 2:
        return None
    sign = -1.0 if scores.metric.higher_is_better is False else 1.0
    correlations = discrimination(sign * values.T)
    means = values.mean(axis=1)
    hardest = np.lexsort([ids, sign * means])[:MOST_HARD]
    against = np.flatnonzero(correlations.is_negative)
    against = against[np.lexsort([ids[against], correlations.q_negative[against]])]
    return HardPrompts(
        n_prompts=len(ids),
        n_models=len(members),
        n_constant=int(correlations.is_constant.sum()),
        n_negative=len(against),
        hardest=tuple((int(ids[index]), float(means[index])) for index in hardest),
        negative=tuple((int(ids[index]), float(correlations.corrected[index])) for index in against[:MOST_HARD]),
    )


#: Keys that are shown.
MOST_SUSPECTS = 5


@dataclass(frozen=True)
class Suspects:
    """What `audit` says of a benchmark, in short."""

    n_judged: int  #: prompts whose key can be judged.
    n_models: int  #: models that were heard.
    n_listed: int  #: keys that are suspect.
    threshold: float  #: posterior from which on a key is suspect.
    rows: tuple[AuditRow, ...]  #: the most suspect, at most 5.


def suspects(stored: StoredAnswers) -> Suspects | None:
    """The keys of a benchmark that its models' answers speak against; None where keys cannot be judged."""
    found, _ = or_why(lambda: suspects_of(stored, MOST_SUSPECTS))
    if found is None:
        return None
    judgement, n_listed, rows = found
    n_judged = len(judgement.posterior) - judgement.n_refused
    return Suspects(n_judged, len(judgement.models), n_listed, THRESHOLD, rows)
