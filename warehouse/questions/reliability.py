"""How much of a suite its verdicts need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import ChosenScores, Level, Seed, SelectedAtLevel, SubsetOk
from warehouse.questions.question import Option, Options, Question

_ONE_AT_LEAST = "is empty: name one, or leave it out"


@dataclass(frozen=True)
class _OfSuite(Options):
    """The scenarios of a suite."""

    suite: Annotated[str, Option("Name of a suite, names of benchmarks with commas between, or one benchmark.")]
    _: KW_ONLY
    scenarios: Annotated[
        str | None,
        Option(
            "Split one benchmark by a field of its prompts, or a clustering; a second one makes subscenarios.",
            "FIELD[,FIELD]",
        ),
    ] = None
    standalone: Annotated[bool, Option("Every subscenario is a scenario of its own.")] = False


@dataclass(frozen=True)
class Reliability(SelectedAtLevel, _OfSuite, Question):
    """How far a suite's ranking, best model and win rates would change with other prompts.

    Also with other scenarios, subscenarios or few-shot seeds, another aggregate, or another pool of models.

    Raises:
        MisuseError: unknown names, ambiguous conditions, fewer than two models with scores of prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "reliability", "warehouse.analysis.reliability.reliability:reliability"

    _: KW_ONLY
    subset_ok: SubsetOk = False
    sizes: Annotated[
        Sequence[int] | None,
        Option("Prompts of a scenario to try. [default: 10, 20, 50 ... below the largest scenario]", "N,N...", least=1),
    ] = None
    ties: Annotated[
        float | None,
        Option(
            "What a tie on a scenario counts. [default: 0, as published, with all prompts; 0.5 with fewer]",
            "SHARE",
            least=0,
            most=1,
        ),
    ] = None
    datasets: Annotated[
        bool, Option("Each data set by itself too, as if it were the whole benchmark.", flags=("--part datasets",))
    ] = False
    n_resamples: Annotated[int, Option("Instances of each size.", "N", ("--resamples",), least=1)] = 1000
    seed: Seed = 0


@dataclass(frozen=True)
class Flash(ChosenScores, _OfSuite, Question):
    """Rank a model on a suite with as few prompts as its place needs, and name those to ask next.

    Prompts are asked in an order that depends on their keys and the seed alone. A low rank is settled by few, a high
    one by more (Flash, Perlitz et al. 2024 §6). Every stored model is ranked as if it were new, as a check.

    Raises:
        MisuseError: unknown names, ambiguous conditions, fewer than two stored models, new without a model.
        StatisticsError: numbers out of range.
    """

    NAME, ANSWER = "flash", "warehouse.analysis.reliability.flash:flash"

    _: KW_ONLY
    model: Annotated[str | None, Option("The model to rank. [default: only check the stored ones]", "MODEL")] = None
    new: Annotated[bool, Option("The model has no answers yet.")] = False
    sizes: Annotated[
        Sequence[int] | None,
        Option("Prompts of a scenario at each step before all. [default: 20, 50, 200, 1000]", "N,N...", least=1),
    ] = None
    tiers: Annotated[
        Sequence[int] | None,
        Option(
            "Best rank for which each size is enough. [default: 20, 10, 5, 2 for about 40 models, else by their"
            " number]",
            "RANK,...",
            least=1,
        ),
    ] = None
    n_resamples: Annotated[
        int, Option("Random orders of the prompts behind resolution and check.", "N", ("--resamples",), least=1)
    ] = 200
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is None:
            self.refuse("goes with {model}", "new")
        if self.sizes == ():
            raise MisuseError(f"sizes {_ONE_AT_LEAST}")


@dataclass(frozen=True)
class Anchors(ChosenScores, Question):
    """Anchors (tinyBenchmarks), biased by design, with their measured errors on models left out.

    All benchmarks count alike in the score, and all prompts of one. Scores that are no right draws are cut to right
    and wrong.

    Raises:
        MisuseError: unknown names, fewer than eight models with answers to the same prompts, as many anchors as
            prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "anchors", "warehouse.analysis.reliability.anchors:anchors"

    benchmarks: Annotated[Sequence[str], Option("Names of benchmarks and suites, globs among them.", "BENCHMARK...")]
    _: KW_ONLY
    sizes: Annotated[
        Sequence[int] | None,
        Option("Numbers of anchors. [default: 50, 100; a fifth of fewer than 200 prompts]", "N,N...", least=1),
    ] = None
    by: Annotated[
        str,
        Option(
            "Cluster prompts by (a, b) of an item response model, or by the scores of all models.",
            choices=("irt", "scores"),
        ),
    ] = "irt"
    model: Annotated[
        str | None, Option("Item response model. [default: 2pl from 20 models on, else 1pl]", "1pl|2pl")
    ] = None
    dimensions: Annotated[
        int | None, Option("A 2PL of N dimensions in place of one; see: warehouse irt dimensions.", "N", least=1)
    ] = None
    models: Annotated[
        bool, Option("Each model's score and estimates from the most anchors, with standard errors, instead.")
    ] = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimensions is not None:
            self.refuse("chooses between models of one dimension", "model")
        if self.sizes == ():
            raise MisuseError(f"sizes {_ONE_AT_LEAST}")

    def _command(self) -> str:
        if self.by == "irt":
            return "anchors"  # the errors are those of all ways to choose
        if self.models:
            raise MisuseError("by and models cannot both be said on the command line: ask in Python")
        return "anchors --list"


#: As in ``stats.items.horizon``.
WEIGHTS, INTERVALS = ("invsqrt", "equal", "none"), ("auto", "ftr", "fieller")


@dataclass(frozen=True)
class TimeHorizon(ChosenScores, Question):
    """How long tasks are, by the minutes that people need, that models do with a given probability.

    Prompts say ``human_minutes`` and ``task_family`` in their metadata; scores are success or none.

    Raises:
        MisuseError: an unknown name, no prompt with minutes, or no scores of success.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "horizon", "warehouse.analysis.suites.horizon:horizon"

    benchmark: Annotated[str, Option("A suite, a benchmark, or several with commas.", "SUITE|BENCHMARK")]
    _: KW_ONLY
    q: Annotated[
        Sequence[float], Option("Probabilities of success.", "Q,...", least=0, most=1, is_open=(True, True))
    ] = (0.5, 0.8)
    penalty: Annotated[
        float,
        Option(
            "Of the squared slope, halved; METR's is not small, as weights sum to 1.",
            "LAMBDA",
            least=0,
            is_open=(True, False),
        ),
    ] = 0.1
    weights: Annotated[
        str, Option("How much a task counts: by 1/√(tasks of its family), equally, or by its runs.", choices=WEIGHTS)
    ] = WEIGHTS[0]
    interval: Annotated[
        str,
        Option(
            "By families, tasks and runs drawn anew (ftr), or Fieller's by families left out in turn; auto: Fieller's"
            " for models with one run of each task.",
            choices=INTERVALS,
        ),
    ] = INTERVALS[0]
    trend: Annotated[bool, Option("Also over days of release: in how many days horizons double.")] = False
    level: Level = 0.95
    n_resamples: Annotated[int, Option("Resamples of the interval.", "N", least=100, most=100_000)] = 1000
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval == "fieller":
            self.refuse("goes with {interval} ftr or auto: Fieller's draws nothing", "n_resamples", "seed", "trend")
