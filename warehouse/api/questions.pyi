# Made of the questions by `python -m tests.support.method_stub`: change these.

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import overload

from warehouse.analysis.anchors.answer import AnchorReport
from warehouse.analysis.answers.view import AnswerReport
from warehouse.analysis.audit.report import AuditReport
from warehouse.analysis.card.answer import ModelCard
from warehouse.analysis.compare.answer import Comparison
from warehouse.analysis.compare.unpaired import UnpairedComparison
from warehouse.analysis.curves.view import CurvesReport
from warehouse.analysis.datamap.view import DataMap
from warehouse.analysis.decide.view import Decisions
from warehouse.analysis.facets.answer import TotalErrorReport
from warehouse.analysis.facets.difference import TotalDifferenceReport
from warehouse.analysis.flash.answer import FlashReport
from warehouse.analysis.formulations.view import FormulationsReport
from warehouse.analysis.frontier.view import FrontierReport
from warehouse.analysis.gate.view import Gate
from warehouse.analysis.grep.view import GrepReport
from warehouse.analysis.handful.answer import HandfulAnswer
from warehouse.analysis.handful.board import PlacesAnswer
from warehouse.analysis.handful.votes import PreferHandfulAnswer
from warehouse.analysis.horizon.view import HorizonReport
from warehouse.analysis.irt.answer import Irt
from warehouse.analysis.irt.completed_view import CompletionReport
from warehouse.analysis.irt.scale_view import ScaleReport
from warehouse.analysis.items.feature_view import FeatureReport
from warehouse.analysis.items.pruning_view import PruningReport, SplitReport
from warehouse.analysis.items.view import ItemReport
from warehouse.analysis.judge.corrected_figures import CorrectedBoard, CorrectedFigures
from warehouse.analysis.judge.next import LabelWave
from warehouse.analysis.judge.plan import LabelPlans
from warehouse.analysis.judge.view import JudgeReport
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.every import Leaderboards
from warehouse.analysis.matrix.answer import Matrix
from warehouse.analysis.pairs.answer import Pairs
from warehouse.analysis.power.costs import CostPlan
from warehouse.analysis.prefer.view import PreferenceReport
from warehouse.analysis.recipes.view import RecipesReport
from warehouse.analysis.records.answer import RecordsAnswer
from warehouse.analysis.reliability.view import ReliabilityReport
from warehouse.analysis.seeds.view import SeedsReport
from warehouse.analysis.sequential.view import SequentialGate
from warehouse.analysis.show.view import PromptRuns, PromptView, RunView
from warehouse.analysis.slices.board_view import BoardOfSlices
from warehouse.analysis.slices.gate import SliceGate
from warehouse.analysis.slices.slopes import SlopeComparison
from warehouse.analysis.slices.view import SliceComparison
from warehouse.analysis.subsets.exchange import Export
from warehouse.analysis.subsets.plan import SubsetPlans
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.templates.view import TemplatesReport
from warehouse.analysis.text.clusters_view import SemanticClusters
from warehouse.analysis.text.duplicates_view import Duplicates
from warehouse.analysis.text.embed_view import Embedding
from warehouse.analysis.text.similar_view import Similar
from warehouse.analysis.variance.answer import VarianceReport
from warehouse.analysis.variance.pass_view import PassReport
from warehouse.analysis.variance.seed_view import SeedReport
from warehouse.analysis.winner.answer import WinnerAnswer
from warehouse.api.connection import Connection
from warehouse.questions.text_models import Embedder, Entailment, Steps
from warehouse.refresh.history_report import History

class QuestionMethods(Connection):
    def anchors(
        self,
        benchmarks: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        sizes: Sequence[int] | None = None,
        by: str = "irt",
        model: str | None = None,
        dimensions: int | None = None,
        models: bool = False,
        seed: int = 0,
    ) -> AnchorReport:
        """Anchors (tinyBenchmarks), biased by design, with their measured errors on models
        left out."""

    def answer_metrics(
        self,
        benchmark: str,
        models: Sequence[str] = (),
        *,
        metric: Sequence[str] = (),
        of_class: str | None = None,
        kind: str | None = None,
        answered: bool = False,
        confidence: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        seed: int = 0,
    ) -> AnswerReport:
        """Answers held against targets: precision, recall, F1, balanced accuracy, Cohen's
        kappa, Matthews' correlation; of numbers errors and correlations."""

    def audit(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        threshold: float = 0.1,
        strata: str | None = None,
        n_options: int | None = None,
        effect: bool = False,
        against: str | Path | None = None,
        wrong_is: Sequence[str] = (),
        sample: int | None = None,
        certain: int = 0,
        seed: int = 0,
        verdicts: str | Path | None = None,
        level: float = 0.95,
    ) -> AuditReport:
        """The posterior probability that the recorded key is wrong, for each prompt of a
        benchmark."""

    def card(
        self,
        model: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        against: str | None = None,
        benchmarks: Sequence[str] = (),
    ) -> ModelCard:
        """Every figure of a model, or of a run, with how it was made: a row for each
        condition on each benchmark."""

    def cluster_semantic(
        self,
        benchmark: str,
        *,
        threshold: float = 0.8,
        embedder: str | None = None,
        part: str = "prompt",
        name: str | None = None,
        default: bool = False,
        replace: bool = False,
        store_result: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> SemanticClusters:
        """Cluster the prompts of a benchmark by the similarity of their texts, and store
        that."""

    def compare(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        method: str = "auto",
        estimand: str = "prompts_sampled",
        equivalence: float | None = None,
        across_links: bool = False,
        second_metric: str | None = None,
        cost: str | None = None,
        prices: str | None = None,
        pair_seeds: bool = False,
        flips: int = 0,
        n_resamples: int = 9999,
        seed: int = 0,
        force: bool = False,
    ) -> Comparison:
        """The paired difference of two models, on one benchmark or on all that both have."""

    def compare_by(
        self,
        a: str,
        b: str,
        by: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        bins: str | None = None,
        seed: int = 0,
        benchmark: str | None = None,
        n_resamples: int = 9999,
        force: bool = False,
    ) -> SliceComparison:
        """The paired difference of two models on one benchmark, slice by slice of a field
        of its prompts."""

    def compare_corrected(
        self,
        a: str,
        b: str,
        *,
        judge: str | None = None,
        human: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        benchmark: str,
    ) -> CorrectedFigures:
        """The difference of two models by a judge, by people's labels, and by both, on the
        prompts that both have."""

    def compare_slope(
        self,
        a: str,
        b: str,
        slope: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        benchmark: str | None = None,
        per_doubling: bool = False,
        force: bool = False,
    ) -> SlopeComparison:
        """How the paired difference of two models goes up with a number of the prompts."""

    def compare_unpaired(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        force: bool = False,
    ) -> UnpairedComparison:
        """The difference of two models that answered different prompts of a benchmark."""

    def cost_power(
        self,
        references: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        benchmark: str | None = None,
        correlation: float | None = None,
        cost: str,
        prices: str | None = None,
        cheaper: float = 1.0,
        seed: int = 0,
        n: int | None = None,
        power: float | None = None,
        alpha: float = 0.05,
    ) -> CostPlan:
        """How many prompts show that the first of two models costs less, by what answers to
        stored prompts cost."""

    def curves(
        self,
        benchmark: str,
        references: Sequence[str] = (),
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        against: str | None = None,
        chance: float | None = None,
        cluster: str | None = None,
        level: float = 0.95,
    ) -> CurvesReport:
        """Scores along training: above chance from where, significant drops, and where two
        curves cross."""

    def datamap(
        self,
        reference: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        group: str | None = None,
        embedder: str | Embedder | None = None,
        threshold: float = 0.9,
        entailment: str | Entailment | None = None,
        device: str | None = None,
        correct_at: float | None = None,
        max_p: float = 0.1,
        min_s: float = -0.8,
        interval: str = "wilson",
        fresh: bool = False,
        store_result: bool = True,
        level: float = 0.95,
        progress: Callable[[float], None] | None = None,
    ) -> DataMap:
        """P(correct) and S(consistency) of every prompt with several generations."""

    def decide(
        self,
        a: str,
        b: str,
        *,
        averaged: int = 1,
        metric: str | None = None,
        where: Sequence[str] = (),
        benchmark: str | None = None,
        level: float = 0.95,
    ) -> Decisions:
        """Is the difference of two trained models more than another training seed would
        make?"""

    @overload
    def duplicates(
        self,
        benchmarks: Sequence[str] = (),
        *,
        threshold: float = 0.95,
        embedder: str | None = None,
        keep: int = 10000,
        fresh: bool = False,
        part: str = "prompt",
        store_result: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> Duplicates:
        """Pairs of prompts whose texts are nearly the same, within and across benchmarks."""

    @overload
    def duplicates(
        self,
        first: str,
        second: str,
        /,
        *more: str,
        threshold: float = 0.95,
        embedder: str | None = None,
        keep: int = 10000,
        fresh: bool = False,
        part: str = "prompt",
        store_result: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> Duplicates:
        """Pairs of prompts whose texts are nearly the same, within and across benchmarks."""

    @overload
    def embed(
        self,
        benchmarks: Sequence[str] = (),
        *,
        embedder: Sequence[str | Embedder] | str | Embedder,
        batch_size: int = 32,
        device: str | None = None,
        chunk: int | None = None,
        whole: bool = False,
        part: Sequence[str] = ("prompt",),
        progress: Steps | None = None,
    ) -> Embedding:
        """Embed the texts of parts of prompts that have no vector yet, or the vector of
        another text."""

    @overload
    def embed(
        self,
        first: str,
        second: str,
        /,
        *more: str,
        embedder: Sequence[str | Embedder] | str | Embedder,
        batch_size: int = 32,
        device: str | None = None,
        chunk: int | None = None,
        whole: bool = False,
        part: Sequence[str] = ("prompt",),
        progress: Steps | None = None,
    ) -> Embedding:
        """Embed the texts of parts of prompts that have no vector yet, or the vector of
        another text."""

    def flash(
        self,
        suite: str,
        *,
        scenarios: str | None = None,
        standalone: bool = False,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        model: str | None = None,
        new: bool = False,
        sizes: Sequence[int] | None = None,
        tiers: Sequence[int] | None = None,
        n_resamples: int = 200,
        seed: int = 0,
    ) -> FlashReport:
        """Rank a model on a suite with as few prompts as its place needs, and name those to
        ask next."""

    def formulations(
        self,
        first: str,
        second: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        first_where: Sequence[str] = (),
        second_where: Sequence[str] = (),
        second_metric: str | None = None,
        subset_ok: bool = False,
        seed: int = 0,
    ) -> FormulationsReport:
        """Whether two formulations of a benchmark agree on the models that have both."""

    def frontier(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        cost: str = "dollars",
        prices: str | None = None,
        margin: float | None = None,
        cheaper: float = 1.0,
        fieller: bool = False,
        allow_missing_cost: bool = False,
        subset_ok: bool = False,
        n_resamples: int = 1000,
        seed: int = 0,
    ) -> FrontierReport:
        """Score and cost of every model, who is beaten in both, and who may be on the
        frontier."""

    def gate(
        self,
        candidate: str,
        baseline: str,
        margin: float | None,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        margins: Mapping[str, float] | None = None,
        benchmarks: Sequence[str] = (),
        force: bool = False,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        alpha: float = 0.05,
        cheaper: float | None = None,
        cost: str = "dollars",
        prices: str | None = None,
        pair_seeds: bool = False,
        max_unscored: float = 0.05,
    ) -> Gate:
        """Whether a candidate may take the place of a baseline."""

    def gate_by(
        self,
        candidate: str,
        baseline: str,
        margin: float | None,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        margins: Mapping[str, float] | None = None,
        benchmarks: Sequence[str] = (),
        force: bool = False,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        by: Sequence[str],
        no_slice_worse_than: float,
        bins: str | None = None,
        alpha: float = 0.05,
        max_unscored: float = 0.05,
    ) -> SliceGate:
        """Whether a candidate may take the place of a baseline on a benchmark, and is worse
        by more than a loss on no slice of a field of its prompts."""

    def gate_corrected(
        self,
        candidate: str,
        baseline: str,
        margin: float | None,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        margins: Mapping[str, float] | None = None,
        benchmarks: Sequence[str] = (),
        force: bool = False,
        judge: str | None = None,
        human: str | None = None,
        alpha: float = 0.05,
        max_unscored: float = 0.05,
    ) -> CorrectedFigures:
        """Whether a candidate may take the place of a baseline by the difference that
        people's labels correct."""

    def grep(
        self,
        pattern: str,
        *,
        fixed_strings: bool = False,
        ignore_case: bool = False,
        word_regexp: bool = False,
        places: Sequence[str] = (),
        role: str | None = None,
        tool: str | None = None,
        benchmark: str | None = None,
        where: Sequence[str] = (),
        max_count: int = 3,
        count: bool = False,
    ) -> GrepReport:
        """Samples whose texts match a pattern, counted by model, settings and benchmark, and
        the first of each model."""

    def handful(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        force: bool = False,
    ) -> HandfulAnswer:
        """How few questions, clusters or training seeds would have to be left out, or have
        had another verdict, for the comparison of two models to turn."""

    def history(
        self,
        model: str | None,
        benchmark: str | None = None,
        *,
        metric: str | None = None,
        statistic: str | None = None,
        last: int | None = None,
    ) -> History:
        """Every figure that refreshes computed of a model on a benchmark."""

    def horizon(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        q: Sequence[float] = (0.5, 0.8),
        penalty: float = 0.1,
        weights: str = "invsqrt",
        interval: str = "auto",
        trend: bool = False,
        level: float = 0.95,
        n_resamples: int = 1000,
        seed: int = 0,
    ) -> HorizonReport:
        """How long tasks are, by the minutes that people need, that models do with a given
        probability."""

    def irt(
        self,
        benchmarks: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        model: str | None = None,
        fresh: bool = False,
        store_result: bool = True,
    ) -> Irt:
        """An item response model of all models' answers, missing ones allowed."""

    def item_features(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        by: Sequence[str] = (),
    ) -> FeatureReport:
        """What goes with difficulty and discrimination of prompts: length, options,
        position of the right answer, fields."""

    def item_pruning(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        shares: Sequence[float] = (0.0, 0.05, 0.1, 0.15, 0.2),
        n_random: int = 100,
        seed: int = 0,
    ) -> PruningReport:
        """What dropping the least discriminating prompts does to other models, beside
        random drops."""

    def item_splits(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        n_splits: int = 20,
        seed: int = 0,
    ) -> SplitReport:
        """Discrimination of prompts on some models against that on others."""

    def items(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        irt: str | None = None,
    ) -> ItemReport:
        """Difficulty and discrimination of every prompt that two models have a score of."""

    def judge(
        self,
        benchmark: str,
        models: Sequence[str] = (),
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        judge: str | None = None,
        human: str | None = None,
        estimand: str = "prompts_sampled",
        rogan_gladen: str | None = None,
        transportable: bool = False,
        bar: float | None = None,
        seed: int = 0,
    ) -> JudgeReport:
        """How far a judge and people agree, whom it favours, and what people would say on
        average."""

    def judge_next(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        judge: str,
        n: int | None = None,
        strata: int | None = None,
        seed: int = 0,
        dry_run: bool = False,
    ) -> LabelWave:
        """Draw the prompts whose answers people are to label, and write down by what
        chance, before any label is known."""

    def judge_plan(
        self,
        benchmark: str,
        models: Sequence[str] = (),
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        judge: str,
        human: str | None = None,
        width: float | None = None,
        difference: float | None = None,
        correlation: float | None = None,
        sd: float | None = None,
        power: float = 0.8,
        level: float = 0.95,
    ) -> LabelPlans:
        """How many answers people have to label, where a judge has scored them all."""

    @overload
    def leaderboard(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        method: str = "auto",
        estimand: str = "prompts_sampled",
        max_unscored: float = 0.05,
        subset_ok: bool = False,
        n_resamples: int = 1999,
        seed: int = 0,
    ) -> Leaderboard:
        """Every model on a benchmark with its interval, or on the benchmarks of a suite;
        best first."""

    @overload
    def leaderboard(
        self,
        group: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        subset_ok: bool = False,
        weights: str | Mapping[str, float] = "equal",
        partial_ok: bool = False,
        force: bool = False,
    ) -> SuiteBoard:
        """Every model on a benchmark with its interval, or on the benchmarks of a suite;
        best first."""

    @overload
    def leaderboard(
        self,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        method: str = "auto",
        estimand: str = "prompts_sampled",
        max_unscored: float = 0.05,
        subset_ok: bool = False,
        n_resamples: int = 1999,
        seed: int = 0,
    ) -> Leaderboards:
        """Every model on a benchmark with its interval, or on the benchmarks of a suite;
        best first."""

    def leaderboard_by(
        self,
        benchmark: str,
        by: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        bins: str | None = None,
        seed: int = 0,
        weights: str = "prompts",
        rank_by: str | None = None,
        subset_ok: bool = False,
    ) -> BoardOfSlices:
        """Every model on a benchmark, slice by slice of a field of its prompts."""

    def leaderboard_corrected(
        self,
        benchmark: str,
        *,
        judge: str | None = None,
        human: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
    ) -> CorrectedBoard:
        """Each model's mean by a judge, by people's labels, and by both: what people would
        say of all answers."""

    def leaderboard_handful(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        subset_ok: bool = False,
    ) -> PlacesAnswer:
        """How few questions carry the first place of a leaderboard, and each place over the
        next."""

    def matrix(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        fresh: bool = False,
        store_result: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> Matrix:
        """The performance matrix of a benchmark: prompts × models, complete rows only."""

    def pairs(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        subset_ok: bool = False,
        pair_seeds: bool = False,
        n_resamples: int = 9999,
        seed: int = 0,
        with_flags: bool = True,
    ) -> Pairs:
        """Paired differences of all conditions on a benchmark, adjusted for the number of
        pairs."""

    def pass_rates(
        self,
        target: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        benchmark: str | None = None,
        cluster: str | None = None,
        at: Sequence[int] = (),
        hat: Sequence[int] = (),
        estimand: str = "prompts_sampled",
        level: float = 0.95,
    ) -> PassReport:
        """pass@k for each k in ``at`` and pass^k for each in ``hat``, of every condition
        meant."""

    def prefer(
        self,
        benchmark: str,
        models: Sequence[str] = (),
        *,
        scorer: str | None = None,
        by: str | None = None,
        reference: str | None = None,
        covariate: Sequence[str] = (),
        ties: str = "half",
        drop_both_bad: bool = False,
        weights: str = "votes",
        errors: str = "two_way",
        component: int | None = None,
        ridge: float = 0.0,
        level: float = 0.95,
        seed: int = 0,
    ) -> PreferenceReport:
        """Strengths of models by votes on pairs of answers (Bradley and Terry), and how
        little the votes decide."""

    def prefer_handful(
        self,
        benchmark: str,
        *,
        scorer: str | None = None,
        covariate: Sequence[str] = (),
        drop_both_bad: bool = False,
        weights: str = "votes",
        component: int | None = None,
    ) -> PreferHandfulAnswer:
        """How few votes, voters or prompts are enough for another model to be first."""

    def published_completion(
        self,
        benchmarks: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        model: str | None = None,
        benchmark: str | None = None,
        run_next: int = 3,
        since: str | None = None,
        level: float = 0.95,
    ) -> CompletionReport:
        """Figures that would be expected of models on benchmarks that they were not run on,
        published or of samples, with intervals by figures held out."""

    def published_scale(
        self,
        benchmarks: Sequence[str],
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        reference: str | None = None,
        predict: str | None = None,
        since: str | None = None,
        min_benchmarks: int = 4,
        min_models: int = 4,
        level: float = 0.95,
        seed: int = 0,
    ) -> ScaleReport:
        """All models on one scale by their figures on whole benchmarks, published or of
        samples."""

    def recipes(
        self,
        benchmarks: Sequence[str] = (),
        *,
        small: Sequence[str] = (),
        large: Sequence[str] = (),
        delta: float | None = None,
        power: float = 0.8,
        run_cost: float = 1.0,
        checkpoint_cost: float = 0.0,
        budget: float | None = None,
        prompts_sampled: bool = False,
        level: float = 0.95,
        averaged: int = 1,
        metric: str | None = None,
        where: Sequence[str] = (),
    ) -> RecipesReport:
        """Which benchmarks can decide between recipes, and what a decision costs."""

    def records(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        steps: bool = False,
        subset_ok: bool = False,
    ) -> RecordsAnswer:
        """Which records of a benchmark over time are more than the luck of many entries."""

    def reliability(
        self,
        suite: str,
        *,
        scenarios: str | None = None,
        standalone: bool = False,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        subset_ok: bool = False,
        sizes: Sequence[int] | None = None,
        ties: float | None = None,
        datasets: bool = False,
        n_resamples: int = 1000,
        seed: int = 0,
    ) -> ReliabilityReport:
        """How far a suite's ranking, best model and win rates would change with other
        prompts."""

    def seed_variance(
        self,
        target: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        benchmark: str | None = None,
        cluster: str | None = None,
    ) -> SeedReport:
        """Split the variance between training seeds and prompts."""

    def seeds(
        self,
        benchmarks: Sequence[str] = (),
        *,
        averaged: int = 1,
        metric: str | None = None,
        where: Sequence[str] = (),
        against: str | None = None,
        level: float = 0.95,
    ) -> SeedsReport:
        """How much a figure would change with another training seed, and from checkpoint to
        checkpoint."""

    def sequential_gate(
        self,
        candidate: str,
        baseline: str,
        margin: float | None,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        margins: Mapping[str, float] | None = None,
        benchmarks: Sequence[str] = (),
        force: bool = False,
        n_max: int | None = None,
        seed: int = 0,
        estimand: str = "full_benchmark",
        looks: int | None = None,
        use_history: bool = True,
        alpha: float = 0.05,
    ) -> SequentialGate:
        """Whether it is settled already that a candidate may take the place of a baseline."""

    def show(
        self,
        run: str | int,
        prompt: str | int | None = None,
    ) -> RunView | PromptView | PromptRuns:
        """A run, or one prompt of it with every response and score, or a prompt in all
        runs."""

    def similar(
        self,
        wanted: str | int,
        *,
        benchmark: str | None = None,
        top: int = 10,
        embedder: str | Embedder | None = None,
        device: str | None = None,
        part: str = "prompt",
    ) -> Similar:
        """The prompts whose text is nearest to that of a prompt, or to a text."""

    def subset_export(
        self,
        plan: str | Path,
        *,
        to: str,
    ) -> Export:
        """The prompts of a plan as a harness takes them."""

    def subset_extend(
        self,
        plan: str | Path,
        *,
        size: int,
        now: datetime | None = None,
    ) -> SubsetPlans:
        """The plan with more prompts: the next ones of the same order, in the same strata."""

    def subset_import(
        self,
        path: str | Path,
        *,
        as_dated: bool = False,
        now: datetime | None = None,
    ) -> SubsetPlans:
        """Store the plans of a file from another warehouse, so that runs on them are
        recognised."""

    def subset_plan(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        size: int | None = None,
        width: float | None = None,
        budget: float | None = None,
        draws: int = 1,
        against: str | None = None,
        level: float = 0.95,
        seed: int = 0,
        store_result: bool = True,
        now: datetime | None = None,
    ) -> SubsetPlans:
        """Draw the prompts of a benchmark to ask, and store the plan."""

    def templates(
        self,
        target: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        benchmark: str | None = None,
        factor: str = "template",
        judges: Sequence[str] = (),
        random: str = "both",
        conservative: bool = False,
        se: float | None = None,
        cluster: str | None = None,
        level: float = 0.95,
    ) -> TemplatesReport:
        """What templates, few-shot draws, perturbations or judges add to the error, and
        whether they agree on the order."""

    def total_difference(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        over: Sequence[str] = (),
        fixed: Sequence[str] = (),
        two_levels: bool = False,
        as_sampled: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
    ) -> TotalDifferenceReport:
        """The difference of two models with the error that counts other settings too, on
        the prompts and settings that both have."""

    def total_error(
        self,
        target: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        benchmark: str | None = None,
        over: Sequence[str] = (),
        fixed: Sequence[str] = (),
        two_levels: bool = False,
        as_sampled: bool = False,
        judges: Sequence[str] = (),
        half_width: float | None = None,
        cluster: str | None = None,
        level: float = 0.95,
    ) -> TotalErrorReport:
        """A score with the error that counts other settings too: other templates, judges or
        backends of their kind."""

    def variance(
        self,
        target: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        benchmark: str | None = None,
        cluster: str | None = None,
        by: str | None = None,
        single_draws: bool = True,
    ) -> VarianceReport:
        """How much of a run's error comes from the choice of prompts, and how much from the
        draws."""

    def winner(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        level: float = 0.95,
        each: str | None = None,
        repeats: str = "auto",
        seeds_are: str = "training",
        policy: str | None = None,
        subset_ok: bool = False,
        seed: int = 0,
    ) -> WinnerAnswer:
        """The figure of the first of a leaderboard, corrected for having been picked: of
        many alike the first is the lucky one."""
