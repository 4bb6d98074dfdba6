"""How two models differ, or all pairs of them, and whether one may take the place of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.options import (
    COSTS,
    MAX_UNSCORED,
    PROMPTS_SAMPLED,
    AsRows,
    Estimand,
    Force,
    Level,
    PairSeeds,
    Prices,
    Reference,
    Seed,
    Selected,
    SelectedAtLevel,
    SubsetOk,
)
from warehouse.questions.question import Option, Options, Question

METHODS = ("auto", "t", "permutation", "mcnemar", "wilcoxon")


@dataclass(frozen=True)
class _Two(Options):
    """Two models, on one benchmark or on several."""

    a: Reference
    b: Reference
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option(
            "Default: every benchmark that both have.",
            "NAME",
            ("-b", "--benchmark"),
            if_several="leave it out for all that both have, and take their rows of the answer",
        ),
    ] = None


@dataclass(frozen=True)
class CompareUnpaired(SelectedAtLevel, _Two, Question):
    """The difference of two models that answered different prompts of a benchmark.

    Each model's figure is over its own prompts, and the errors are taken as independent. Where prompts are shared the
    paired comparison is the one to make: it is refused without ``force``.

    Raises:
        MisuseError: an unknown or ambiguous reference, no benchmark in common, prompts in common, or runs that should
            not be compared.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "compare_unpaired", "warehouse.analysis.comparison.unpaired:compare_unpaired"
    COMMAND = "compare --unpaired"

    _: KW_ONLY
    force: Force = False


@dataclass(frozen=True)
class Compare(AsRows, SelectedAtLevel, _Two, Question):
    """The paired difference of two models, on one benchmark or on all that both have.

    Raises:
        MisuseError: an unknown or ambiguous reference, nothing in common, or runs that should not be compared.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "compare", "warehouse.analysis.comparison.compare:compare"

    _: KW_ONLY
    method: Annotated[str, Option("The test that decides what is better; auto: t.", choices=METHODS)] = "auto"
    estimand: Estimand = PROMPTS_SAMPLED
    equivalence: Annotated[
        float | None,
        Option(
            "Test whether they are equal within ±MARGIN, in the unit of the metric.",
            "MARGIN",
            least=0,
            most=float("inf"),
            is_open=(True, True),
        ),
    ] = None
    across_links: Annotated[
        bool, Option("On two benchmarks whose prompts are linked: two formulations, the models named or one model.")
    ] = False
    second_metric: Annotated[
        str | None, Option("Metric of B, where its tool has another name for it. [default: the same as of A]", "NAME")
    ] = None
    cost: Annotated[str | None, Option("Also what an answer costs, and the ratio of both.", choices=COSTS)] = None
    prices: Prices = None
    pair_seeds: PairSeeds = False
    flips: Annotated[int, Option("List the N prompts of each benchmark on which they differ most.", "N", least=0)] = 0
    n_resamples: Annotated[
        int, Option("Random patterns of a permutation test that is not exact.", "N", ("--resamples",), least=1)
    ] = 9999
    seed: Seed = 0
    force: Force = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.equivalence is not None and self.level <= 0.5:
            raise StatisticsError(f"equivalence needs a level above 0.5, found {self.level}")
        if self.cost != "dollars":
            self.refuse("makes dollars of tokens: it goes with --cost dollars", "prices")

    @property
    def test(self) -> str:
        """The test behind ``p_value``."""
        return "t" if self.method == "auto" else self.method


@dataclass(frozen=True)
class Formulations(SelectedAtLevel, Question):
    """Whether two formulations of a benchmark agree on the models that have both.

    Two benchmarks, or one named twice whose conditions ``first_where`` and ``second_where`` tell apart. Correlations
    over models, each with three intervals: for other models, for other prompts, for both; ranks; pairs of models that
    change places; each model's difference over the prompts that both have.

    Raises:
        MisuseError: an unknown name, no model that has both, or the same runs twice.
        StatisticsError: ``level`` or ``seed`` out of range.
    """

    NAME, ANSWER = "formulations", "warehouse.analysis.comparison.formulations:formulations"

    first: Annotated[str, Option("Name of a benchmark.", "FIRST")]
    second: Annotated[str, Option("Name of its other formulation, or the same again.", "SECOND")]
    _: KW_ONLY
    first_where: Annotated[Sequence[str], Option("Of the first only such runs. Repeatable.", "FIELD=VALUE")] = ()
    second_where: Annotated[Sequence[str], Option("Of the second only such runs. Repeatable.", "FIELD=VALUE")] = ()
    second_metric: Annotated[
        str | None, Option("Metric of the second. [default: --metric, else its headline metric]", "NAME")
    ] = None
    subset_ok: SubsetOk = False
    seed: Seed = 0


@dataclass(frozen=True)
class AllPairs(AsRows, SelectedAtLevel, Question):
    """Paired differences of all conditions on a benchmark, adjusted for the number of pairs.

    Conditions are those of the leaderboard, compared within one split, task version, metric and judge.

    Raises:
        MisuseError: unknown benchmark, metric, clustering or field; a suite; fewer than two conditions that can be
            compared.
        StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
    """

    NAME, ANSWER = "pairs", "warehouse.analysis.comparison.all_pairs:pairs"

    benchmark: Annotated[str, Option("Name of a benchmark with prompts of its own.")]
    _: KW_ONLY
    subset_ok: SubsetOk = False
    pair_seeds: PairSeeds = False
    n_resamples: Annotated[
        int, Option("Draws for the simultaneous intervals; 0: without.", "N", ("--resamples",), least=0)
    ] = 9999
    seed: Seed = 0
    with_flags: Annotated[
        bool,
        Option("Give each pair the flags of a comparison; takes a while for thousands of pairs.", in_python_only=True),
    ] = True


@dataclass(frozen=True)
class Replacement(Selected):
    """Two models, of which one is to take the place of the other, and the loss that is tolerated."""

    candidate: Annotated[str, Option("The model to be released, if it is not named first.")]
    baseline: Annotated[str, Option("The model that it follows, if it is not named second.")]
    margin: Annotated[
        float | None,
        Option(
            "Loss that is tolerated, in the unit of the metric; None: each benchmark has its own.",
            flags=("--margin",),
            least=0,
        ),
    ]
    _: KW_ONLY
    margins: Annotated[Mapping[str, float] | None, Option("Such losses by benchmark.", flags=("--margin",))] = None
    benchmarks: Annotated[
        Sequence[str],
        Option(
            "Has to be there for both. Repeatable. Default: every benchmark that both have.",
            "NAME",
            ("-b", "--benchmark"),
        ),
    ] = ()
    force: Force = False


@dataclass(frozen=True)
class ReleaseGate(AsRows, Replacement, Question):
    """Whether a candidate may take the place of a baseline.

    On each benchmark the non-inferiority test of the paired differences (clustered where the benchmark is), adjusted
    for the number of benchmarks (Holm).

    Raises:
        MisuseError: an unknown or ambiguous reference, a benchmark that one of them lacks, nothing in common, or runs
            that should not be compared.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "gate", "warehouse.analysis.comparison.gate:gate"

    _: KW_ONLY
    alpha: Annotated[
        float, Option("Chance of any false pass, and of any false fail.", "P", least=0, most=0.5, is_open=(True, True))
    ] = 0.05
    cheaper: Annotated[
        float | None,
        Option("Also how many times cheaper the candidate has to be, at least; passes by both.", "X", least=1),
    ] = None
    cost: Annotated[str, Option("With --cheaper: what an answer costs.", choices=COSTS)] = COSTS[0]
    prices: Prices = None
    pair_seeds: PairSeeds = False
    max_unscored: Annotated[
        float, Option("More of the candidate's samples without a score: undecided.", "SHARE", least=0, most=1)
    ] = MAX_UNSCORED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cheaper is None:
            self.refuse("goes with --cheaper", "cost", "prices")
        if self.cost != "dollars":
            self.refuse("makes dollars of tokens: it goes with --cost dollars", "prices")


#: What ties are; what errors are of (the second as statsmodels has it); how votes count.
TIES, ERRORS, WEIGHTS = ("half", "davidson"), ("two_way", "cr1", "voters", "prompts"), ("votes", "uniform_pairs")


@dataclass(frozen=True)
class Prefer(Question):
    """Strengths of models by votes on pairs of answers (Bradley and Terry), and how little the votes decide.

    Several who judge are never pooled: one is named, or each stands by itself.

    Raises:
        MisuseError: an unknown name, several scorers and none chosen, or votes that do not hold all models together.
        StatisticsError: covariates that explain all votes, or nothing that others do not.
    """

    NAME, ANSWER = "prefer", "warehouse.analysis.preferences.prefer:prefer"

    benchmark: Annotated[str, Option("Name of a benchmark with votes.", "BENCHMARK")]
    models: Annotated[
        Sequence[str],
        Option(
            "Two models: only these, the first against the second; default: all.", "[MODEL MODEL]", is_argument=True
        ),
    ] = ()
    _: KW_ONLY
    scorer: Annotated[str | None, Option("Who judged; needed where several did.", "NAME")] = None
    by: Annotated[str | None, Option("Each who judged by themselves, and how far they agree.", choices=("scorer",))] = (
        None
    )
    reference: Annotated[str | None, Option("Strengths are less this model's; default: their mean.", "MODEL")] = None
    covariate: Annotated[
        Sequence[str],
        Option("Hold this covariate of the answers (first less second) alike, such as length. Repeatable.", "NAME"),
    ] = ()
    ties: Annotated[str, Option("A tie is half a win of both, or a result of its own.", choices=TIES)] = TIES[0]
    drop_both_bad: Annotated[bool, Option("Votes that both are bad do not count; default: they are ties.")] = False
    weights: Annotated[
        str, Option("Votes as they are, or each pair of models alike, however often it met.", choices=WEIGHTS)
    ] = WEIGHTS[0]
    errors: Annotated[
        str,
        Option("By voters and prompts (jackknife, or CR1), or with one of the two taken for fixed.", choices=ERRORS),
    ] = ERRORS[0]
    component: Annotated[
        int | None, Option("Only the N-th largest group of models that votes hold together.", "N", least=1)
    ] = None
    ridge: Annotated[
        float, Option("Penalty of the squared strengths, halved: they exist then, without intervals.", "TAU", least=0)
    ] = 0.0
    level: Level = 0.95
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.models) not in (0, 2) or len(set(self.models)) < len(self.models):
            raise MisuseError(f"name two models, or none; found {', '.join(self.models)}")
        if self.models:
            self.refuse("is the second of the two models", "reference")
        if self.by:
            self.refuse("goes without {by} scorer, which takes all of them", "scorer", "component")
        if self.ridge:
            self.refuse("changes nothing beside {ridge}: penalised strengths have no errors", "errors", "level", "seed")
