"""Training in the report of a benchmark: curves, what seeds change, and whether models
or recipes can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from markupsafe import Markup

from warehouse.analysis.curves.answer import curves_of
from warehouse.analysis.curves.leaderboard_charts import curve_charts
from warehouse.analysis.curves.on_leaderboard import BenchmarkCurves, training_curves
from warehouse.analysis.curves.view import CurvesReport
from warehouse.analysis.decide.answer import decide_of
from warehouse.analysis.decide.view import Decisions
from warehouse.analysis.leaderboard.answer import board_of
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.recipes.answer import recipes_of
from warehouse.analysis.recipes.row import RecipesRow
from warehouse.analysis.recipes.view import RecipesReport
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads, or_why
from warehouse.analysis.seeds.answer import recipe_seeds
from warehouse.analysis.seeds.view import SeedsReport
from warehouse.analysis.selection.conditions import group_runs
from warehouse.analysis.selection.reference import by_split
from warehouse.analysis.training.pools import Spread, stored_spreads
from warehouse.analysis.training.read import read_curves, read_recipes
from warehouse.analysis.training.section_tables import (
    curves_table,
    noise_table,
    seeds_table,
)
from warehouse.analysis.training.trajectories import Curve, RecipeScores, change
from warehouse.analysis.variance.answer import seeds_of
from warehouse.analysis.variance.seed_view import SeedReport
from warehouse.charts.page_parts import figures, heading, notes
from warehouse.stats.training.seed_means import SeedMean
from warehouse.store.connection import Store


def _spreads(report: ReportSetting) -> list[Spread]:
    """Over training seeds, on benchmarks of the store."""
    return stored_spreads(report.store, None, 1)


@dataclass(frozen=True)
class TrainingReads:
    """Trained models of one benchmark, as the store has them."""

    recipes: Sequence[RecipeScores]  #: figures along training.
    curves: Sequence[Curve]  #: those with two places in training, by prompt.


@dataclass(frozen=True)
class TrainingSection(Section):
    """Curves along training, and what another seed or checkpoint changes; there is at
    least one of the two."""

    WORDS = "Training"

    #: its rows along training; None where no model has two checkpoints.
    curves: BenchmarkCurves | None
    #: seeds and checkpoints of each recipe; None where no recipe has two of either.
    noise: SeedsReport | None
    #: training seeds crossed with prompts; None without seeds, with ``why_no_seeds``
    #: where seeds cannot be compared.
    seeds: SeedReport | None
    why_no_seeds: str
    #: what the curves show; None where no model has two checkpoints.
    along: CurvesReport | None
    #: whether the benchmark can decide between recipes; None for fewer than two.
    recipes: RecipesReport | None
    #: the two best trained models, whether they differ by more than seeds do; None for
    #: fewer.
    decided: Decisions | None

    @classmethod
    def read(cls, store: Store, reads: BenchmarkReads, ranks: Ranking) -> TrainingReads:
        """Figures of trained models; none where no run is one of training."""
        is_trained = any(
            run["training_seed"] or run["position"] is not None
            for run in reads.facts.runs
        )
        recipes = []
        if is_trained:
            recipes = read_recipes(store, reads.benchmark.ids)
        return TrainingReads(
            recipes, read_curves(store, reads.benchmark, reads.facts.metrics, recipes)
        )

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """All of it; None without curves and without two seeds or checkpoints of a
        recipe."""
        level = report.ranks.level
        trained = reads.own[cls]
        seeds, no_seeds = _seeds(reads)
        curves = None
        if reads.board and reads.scores:
            curves = _curves(reads, report.ranks)
        if not (curves and curves.rows):
            curves = None
        if not (curves or seeds or no_seeds):
            return None
        is_telling = any(recipe.is_telling for recipe in trained.recipes)
        noise = None
        if is_telling:
            noise = recipe_seeds(trained.recipes, level=level)
        if not (curves or noise):
            return None
        along = None
        if trained.curves:
            along = or_why(lambda: curves_of(trained.curves, level))[0]
        decided = None
        if noise:
            decided = _decided(reads, trained, noise, report)
        recipes = recipes_of(trained.recipes, level)
        return cls(curves, noise, seeds, no_seeds, along, recipes, decided)

    @property
    def has_curves(self) -> bool:
        """True if rows lie along training, which says more than the dates of their
        runs."""
        return self.curves is not None

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """Findings, then the curves with their table, and tables of noise and seeds."""
        charts = []
        if self.curves:
            charts = curve_charts(self.curves)
        if not charts and not self.noise:
            return Markup("")
        shown = heading(name, part.name, "Training") + "\n"
        for finding in findings(self):
            shown += Markup("<p>{}</p>\n").format(finding)
        if self.curves:
            shown += Markup("{}\n{}").format(
                figures(charts), curves_table(self.curves, part.name)
            )
        shown += "\n"
        if self.noise:
            shown += noise_table(self.noise, part.name)
        return shown + "\n" + self._seeds_html(part.name)

    def _seeds_html(self, benchmark: str) -> Markup:
        """Seeds crossed with prompts, or why they are not."""
        if self.seeds:
            return seeds_table(self.seeds, benchmark) + notes(self.seeds.left_out)
        if self.why_no_seeds:
            return Markup("<p>No split between seeds and prompts: {}</p>").format(
                self.why_no_seeds
            )
        return Markup("")


def _seeds(reads: BenchmarkReads) -> tuple[SeedReport | None, str]:
    """Training seeds crossed with prompts; why not where there are several that cannot
    be compared."""
    if (
        len(
            {
                run["training_seed_id"]
                for run in reads.facts.runs
                if run["training_seed"]
            }
        )
        < 2
    ):
        return None, ""
    targets, why_not = reads.targets
    if targets:
        return or_why(lambda: seeds_of(targets, "*"))
    return (None, why_not)


def _curves(reads: BenchmarkReads, options: Ranking) -> BenchmarkCurves | None:
    """Every checkpoint of the models that have several."""
    if reads.each is None or not any(
        run["position"] is not None for run in reads.facts.runs
    ):
        return None
    along = board_of(reads.each, Ranking(level=options.level, n_resamples=0))
    return training_curves(along, reads.each.runs)


def _decided(
    reads: BenchmarkReads,
    found: TrainingReads,
    noise: SeedsReport,
    report: ReportSetting,
) -> Decisions | None:
    """The two best of the models that have seeds or checkpoints; None for fewer."""
    trained = {row.model for row in noise.rows}
    shown = dict.fromkeys(row.model for row in reads.board.rows) if reads.board else {}
    best = [model for model in shown if model in trained][:2]
    if len(best) < 2:
        return None
    a, b = (
        (
            model,
            by_split(
                group_runs(run for run in reads.facts.runs if run["model"] == model)
            ),
        )
        for model in best
    )

    def by_prompt(first: RecipeScores, second: RecipeScores) -> SeedMean | None:
        ends = [
            (curve.checkpoints[side.common[-1]], curve.clusters)
            for side in (first, second)
            for curve in found.curves
            if side.common
            and replace(curve.recipe, trajectories=()) == replace(side, trajectories=())
        ]
        if len(ends) == 2:
            return change(ends[0][0], ends[1][0], ends[0][1], same_seeds=False).mean
        return None

    level = report.ranks.level
    spreads = report.once(_spreads)
    return or_why(
        lambda: decide_of(
            a, b, found.recipes, level=level, stored=spreads, by_prompt=by_prompt
        )
    )[0]


def findings(found: TrainingSection) -> list[str]:
    """The findings of curves and seeds, in plain sentences."""
    sentences = []
    if found.along:
        corrected = (
            "tests against chance and of drops are corrected over the checkpoints of a "
            "curve (Holm)"
        )
        sentences.append(f"Along training: {found.along.one_line}; {corrected}.")
        sentences += [
            f"{words[0].upper()}{words[1:]}."
            for words in dict.fromkeys(
                row.crossing_in_words for row in found.along.rows
            )
            if words
        ]
    floors = []
    if found.noise:
        floors = [
            row.noise_floor for row in found.noise.rows if row.noise_floor is not None
        ]
    if found.noise and floors:
        if len(floors) > 1:
            several = f"{min(floors):.3g} to {max(floors):.3g}"
        else:
            several = f"{floors[0]:.3g}"
        sentences.append(
            f"Two single runs of one recipe differ by more than {several} in "
            f"{100 * (1 - found.noise.level):.2g} % of cases, by their seeds alone."
        )
    if found.decided:
        sentences += [
            f"{row.sentence} More: warehouse training decide."
            for row in found.decided.rows
        ]
    if found.recipes:
        sentences += [_recipes_in_words(row) for row in found.recipes.rows]
    return sentences


def _recipes_in_words(row: RecipesRow) -> str:
    """A sentence on whether a benchmark can decide between recipes."""
    if row.n_both is None:
        n = row.n_recipes
    else:
        n = row.n_both
    of = f" by {row.metric}"
    if row.split:
        of += f" ({row.split})"
    verdict = "does not show whether it can decide"
    if row.verdict != "cannot tell":
        verdict = row.verdict
    why = "the noise of their training is not known"
    if row.noise_sd is not None and row.ceiling is not None:
        most = f"at most {100 * row.ceiling:.0f} % of pairs come out in the right order"
        why = f"by their noise ({row.noise_from}) {most}"
    return (
        f"Between its {n} recipes this benchmark{of} {verdict}: {why}. More: warehouse "
        "training recipes."
    )
