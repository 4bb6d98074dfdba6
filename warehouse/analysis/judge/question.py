"""The questions about a judge beside people: agreement, labels, corrected figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import isfinite
from typing import Annotated

from warehouse.analysis.gate.question import Replacement
from warehouse.errors import MisuseError
from warehouse.questions.options import (
    ChosenScores,
    Estimand,
    FalseVerdicts,
    Level,
    Reference,
    Seed,
    SelectedAtLevel,
)
from warehouse.questions.question import Option, Options, Question

Judge = Annotated[
    str,
    Option("Who judges: the scorer, its model, or the metric.", "NAME", ("--judge",)),
]


AnyJudge = Annotated[
    str | None,
    Option(
        "Who judges: the scorer, its model, or the metric; default: the only model "
        "that does.",
        "NAME",
        ("--judge",),
    ),
]


Human = Annotated[
    str | None,
    Option("Whose labels count: the scorer, or the metric.", "NAME", ("--human",)),
]


@dataclass(frozen=True)
class PlanLabels(ChosenScores, Question):
    """How many answers people have to label, where a judge has scored them all.

    For an interval of a width of each model's corrected mean, or for a difference of
    two models that is to be found. The judge's correlation with people is that of
    labels at hand, or one that is supposed.

    Raises:
        MisuseError: unknown names, not one of width and difference, nothing that says a
            correlation.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "judge_plan", "plan:plan"
    COMMAND = "judge plan"

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    models: Annotated[
        Sequence[str],
        Option(
            "With --difference: the two models; default: all pairs.",
            "[A B]",
            is_argument=True,
        ),
    ] = ()
    _: KW_ONLY
    judge: Judge
    human: Human = None
    width: Annotated[
        float | None,
        Option(
            "Of the interval that is wanted, in the unit of the metric.",
            "W",
            least=0,
            is_open=(True, False),
        ),
    ] = None
    difference: Annotated[
        float | None,
        Option(
            "Instead: the difference of two models to find.",
            "D",
            least=0,
            is_open=(True, False),
        ),
    ] = None
    correlation: Annotated[
        float | None,
        Option(
            "Of judge and people (of their differences, with --difference), instead of "
            "labels.",
            "R",
            least=-1,
            most=1,
        ),
    ] = None
    sd: Annotated[
        float | None,
        Option(
            "With --correlation: standard deviation of the labels (of their "
            "differences); default: the judge's.",
            "SD",
            least=0,
            is_open=(True, False),
        ),
    ] = None
    power: Annotated[
        float,
        Option(
            "With --difference: chance to find it.",
            "P",
            least=0.5,
            most=1,
            is_open=(False, True),
        ),
    ] = 0.8
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.width is None) == (self.difference is None):
            raise MisuseError(
                "say what the labels are for: one of --width and --difference"
            )
        if self.difference is None:
            self.refuse("goes with {difference}", "models", "power")
        if len(self.models) not in (0, 2):
            raise MisuseError(
                f"name two models, or none for all pairs; found {len(self.models)}"
            )
        if (self.correlation is None) == (self.human is None):
            raise MisuseError(
                "say how judge and people agree: labels at hand (--human), or a "
                "correlation (--correlation)"
            )
        if self.correlation is None:
            self.refuse("goes with {correlation}: labels at hand have their own", "sd")


@dataclass(frozen=True)
class NextLabels(ChosenScores, Question):
    """Draw the prompts whose answers people are to label, and write down by what
    chance, before any label is known.

    A prompt is drawn with the answers of all models chosen, so that they can be
    compared. A later wave goes on where the last one ended; it draws nothing again.
    Without ``n`` nothing is drawn: the sheet of what was drawn, once more.

    By ``strata`` of the judge's score each has its share of the prompts; a later wave
    goes on by the same, with more where judge and people were further apart (Neyman)
    once each has five labels.

    Raises:
        MisuseError: unknown names, answers that are no longer those of an earlier wave,
            more prompts than are left.
        StoreError: the store cannot be written.
    """

    NAME, ANSWER = "judge_next", "next:next_labels"
    COMMAND = "judge next"
    CHANGES_STORE = True
    OPENS = True

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    _: KW_ONLY
    judge: Judge
    n: Annotated[int | None, Option("Prompts to draw.", "K", ("--n",), least=1)] = None
    strata: Annotated[
        int | None,
        Option(
            "Draw by strata of the judge's score: K groups of alike size, or each "
            "score where there are fewer.",
            "K",
            least=2,
        ),
    ] = None
    seed: Seed = 0
    dry_run: Annotated[
        bool,
        Option(
            "Only say what would be drawn; nothing is written.", flags=("--dry-run",)
        ),
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n is None:
            self.refuse("goes with {n}", "seed", "dry_run", "strata")


@dataclass(frozen=True, kw_only=True)
class Corrected(Options):
    """Who judges, and whose labels correct that; without a name the only ones there
    are."""

    judge: AnyJudge = None
    human: Annotated[
        str | None,
        Option(
            "Whose labels correct: the scorer, or the metric; default: the only "
            "people.",
            "NAME",
        ),
    ] = None


@dataclass(frozen=True)
class CorrectedLeaderboard(SelectedAtLevel, Corrected, Question):
    """Each model's mean by a judge, by people's labels, and by both: what people would
    say of all answers.

    Best first by the corrected figure, with the ranks that the intervals of all
    differences leave it together.

    Raises:
        MisuseError: unknown names, several judges or people where none is named, no
            labels, or labels that were not drawn by known chance.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "leaderboard_corrected", "corrected_figures:corrected_leaderboard"
    COMMAND = "leaderboard --corrected"

    benchmark: Annotated[str, Option("Name of a benchmark.")]


@dataclass(frozen=True)
class CorrectedComparison(SelectedAtLevel, Corrected, Question):
    """The difference of two models by a judge, by people's labels, and by both, on the
    prompts that both have.

    Of models that were labelled on different prompts that of two figures, their errors
    added.

    Raises:
        MisuseError: as of ``leaderboard_corrected``, or an unknown or ambiguous
            reference.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "compare_corrected", "corrected_figures:corrected_comparison"
    COMMAND = "compare --corrected"

    a: Reference
    b: Reference
    _: KW_ONLY
    benchmark: Annotated[
        str, Option("Name of a benchmark.", "NAME", ("-b", "--benchmark"))
    ]


@dataclass(frozen=True)
class CorrectedGate(Corrected, Replacement, Question):
    """Whether a candidate may take the place of a baseline by the difference that
    people's labels correct.

    The non-inferiority test of the corrected difference, adjusted for the number of
    benchmarks (Holm). Undecided with fewer than 20 labels, or fewer than 10 on which
    the two differ.

    Raises:
        MisuseError: as of ``compare_corrected``, or no benchmark is named.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "gate_corrected", "corrected_figures:corrected_gate"
    COMMAND = "gate --corrected"

    _: KW_ONLY
    alpha: FalseVerdicts = 0.05
    max_unscored: Annotated[
        float,
        Option(
            "More of the answers drawn without a label: undecided.",
            "SHARE",
            least=0,
            most=1,
        ),
    ] = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse("changes nothing of corrected figures", "force")
        if not self.benchmarks:
            raise MisuseError(
                "name the benchmarks that the corrected gate is for: --benchmark NAME"
            )


#: What `warehouse.stats.rogan_gladen` rests on.
ASSUMPTION = (
    "the judge is as sensitive and as specific here as in the sample, and alike for "
    "all models"
)


@dataclass(frozen=True)
class HeldAgainstPeople(SelectedAtLevel, Question):
    """How far a judge and people agree, whom it favours, and what people would say on
    average.

    Of scores of single answers, or of votes between two. Agreement is of the answers
    that both have judged. The corrected mean moves the labels' by what the judge says
    of the others; it needs labels that were drawn by known chance (``judge_next``).

    Raises:
        MisuseError: unknown names, several judges and none named, no answer that both
            have judged.
        StatisticsError: a number out of range.
    """

    NAME = "judge"
    COMMAND = "judge agreement"

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    models: Annotated[
        Sequence[str],
        Option(
            "Two models: their difference as people would have it, too.",
            "[A B]",
            is_argument=True,
        ),
    ] = ()
    _: KW_ONLY
    judge: AnyJudge = None
    human: Human = None
    estimand: Estimand = "prompts_sampled"
    rogan_gladen: Annotated[
        str | None,
        Option(
            "Correct rates by the judge's errors on another benchmark, which people "
            "have labelled.",
            "SAMPLE",
        ),
    ] = None
    transportable: Annotated[
        bool, Option(f"With it, say so yourself: {ASSUMPTION}.")
    ] = False
    bar: Annotated[
        float | None,
        Option(
            "How few labels the other way would put each corrected mean on the other "
            "side of B.",
            "B",
        ),
    ] = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.models) not in (0, 2):
            raise MisuseError(f"name two models, or none; found {len(self.models)}")
        if self.bar is not None and not isfinite(self.bar):
            raise MisuseError(f"the bar has to be a finite number, found {self.bar:g}")
        if self.rogan_gladen is None:
            self.refuse("goes with {rogan_gladen}", "transportable")
        elif not self.transportable:
            raise MisuseError(
                f"the rate holds only if {ASSUMPTION}: nothing in the store can show "
                "that; say --transportable (transportable=True) if you take it for true"
            )
