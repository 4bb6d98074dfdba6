"""The question how far a suite's verdicts hang on its prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import Seed, SelectedAtLevel, SubsetOk
from warehouse.questions.question import Option, Options, Question

ONE_AT_LEAST = "is empty: name one, or leave it out"


@dataclass(frozen=True)
class OfSuite(Options):
    """The scenarios of a suite."""

    suite: Annotated[
        str,
        Option(
            "Name of a suite, names of benchmarks with commas between, or one "
            "benchmark."
        ),
    ]
    _: KW_ONLY
    scenarios: Annotated[
        str | None,
        Option(
            "Split one benchmark by a field of its prompts, or a clustering; a second "
            "one makes subscenarios.",
            "FIELD[,FIELD]",
        ),
    ] = None
    standalone: Annotated[
        bool, Option("Every subscenario is a scenario of its own.")
    ] = False


@dataclass(frozen=True)
class Reliability(SelectedAtLevel, OfSuite, Question):
    """How far a suite's ranking, best model and win rates would change with other
    prompts.

    Also with other scenarios, subscenarios or few-shot seeds, another aggregate, or
    another pool of models.

    Raises:
        MisuseError: unknown names, ambiguous conditions, fewer than two models with
            scores of prompts.
        StatisticsError: a number out of range.
    """

    NAME = "reliability"
    COMMAND = "noise reliability"

    _: KW_ONLY
    subset_ok: SubsetOk = False
    sizes: Annotated[
        Sequence[int] | None,
        Option(
            "Prompts of a scenario to try. [default: 10, 20, 50 ... below the largest "
            "scenario]",
            "N,N...",
            least=1,
        ),
    ] = None
    ties: Annotated[
        float | None,
        Option(
            "What a tie on a scenario counts. [default: 0, as published, with all "
            "prompts; 0.5 with fewer]",
            "SHARE",
            least=0,
            most=1,
        ),
    ] = None
    datasets: Annotated[
        bool,
        Option(
            "Each data set by itself too, as if it were the whole benchmark.",
            flags=("--part datasets",),
        ),
    ] = False
    n_resamples: Annotated[
        int, Option("Instances of each size.", "N", ("--resamples",), least=1)
    ] = 1000
    seed: Seed = 0
