"""The questions where the error of a run comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    PROMPTS_FIXED,
    PROMPTS_SAMPLED,
    REFERENCE,
    ByMetric,
    Cluster,
    Level,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class OfTarget(ByMetric):
    """Every condition that is meant."""

    target: Annotated[
        str,
        Option(
            "run:ID, a benchmark (every condition on it), or a reference of a model.",
            "RUN|BENCHMARK",
        ),
    ]
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option(
            f"Then the argument is {REFERENCE}; run:ID needs none.",
            "NAME",
            ("-b", "--benchmark"),
        ),
    ] = None


@dataclass(frozen=True)
class Variance(OfTarget, Question):
    """How much of a run's error comes from the choice of prompts, and how much from the
    draws.

    A row is one condition; its repeats are pooled as draws.

    Raises:
        MisuseError: an unknown name, or nothing with scored prompts.
    """

    NAME = "variance"
    COMMAND = "noise variance"

    _: KW_ONLY
    cluster: Cluster = None
    by: Annotated[
        str | None,
        Option(
            "Slice by slice of a field of the prompts, a clustering or split; of cells "
            "several with commas.",
            "FIELD",
            ("--by",),
        ),
    ] = None
    single_draws: Annotated[
        bool,
        Option(
            "Also say how far runs of one draw would lie apart, which reads every "
            "draw.",
            in_python_only=True,
        ),
    ] = True


@dataclass(frozen=True)
class SeedVariance(OfTarget, Question):
    """Split the variance between training seeds and prompts.

    Seeds belong together if model, recipe, position and every setting of the run agree.

    Raises:
        MisuseError: an unknown name, or no model with scores of two seeds.
    """

    NAME = "seed_variance"
    COMMAND = "noise variance --seeds"

    _: KW_ONLY
    cluster: Cluster = None


@dataclass(frozen=True)
class PassRates(OfTarget, Question):
    """pass@k for each k in ``at`` and pass^k for each in ``hat``, of every condition
    meant.

    Where prompts have fewer than k draws the figure is that of the others, with bounds
    over all. It is None where none has k, and where the draws are not known to be right
    or wrong.

    Raises:
        MisuseError: an unknown name, no k, or nothing with scored prompts.
        StatisticsError: a k below 1, or ``level`` out of range.
    """

    NAME = "pass_rates"
    COMMAND = "noise variance"

    _: KW_ONLY
    cluster: Cluster = None
    at: Annotated[
        Sequence[int],
        Option(
            "pass@k instead: at least one of k draws is right.", "K,...", ("--pass-at",)
        ),
    ] = ()
    hat: Annotated[
        Sequence[int],
        Option("pass^k instead: all k draws are right.", "K,...", ("--pass-hat",)),
    ] = ()
    estimand: Annotated[
        str,
        Option(
            "Of pass@k and pass^k: prompts are a sample, or only draws are random.",
            choices=(PROMPTS_SAMPLED, PROMPTS_FIXED),
        ),
    ] = PROMPTS_SAMPLED
    level: Level = 0.95
