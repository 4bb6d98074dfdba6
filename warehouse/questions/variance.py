"""Variance components: where the error of a run comes from, and the effect of more draws or seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import PROMPTS_FIXED, PROMPTS_SAMPLED, REFERENCE, ByMetric, Cluster, Level
from warehouse.questions.question import Option, Question

#: What may tell the forms of a prompt apart.
FACTORS = ("template", "fewshot", "perturbation", "judge")
#: What may be taken for a sample, as in ``stats.variance.templates``.
RANDOM = ("both", "prompts", "templates")


@dataclass(frozen=True)
class _OfTarget(ByMetric):
    """Every condition that is meant."""

    target: Annotated[
        str, Option("run:ID, a benchmark (every condition on it), or a reference of a model.", "RUN|BENCHMARK")
    ]
    _: KW_ONLY
    benchmark: Annotated[
        str | None, Option(f"Then the argument is {REFERENCE}; run:ID needs none.", "NAME", ("-b", "--benchmark"))
    ] = None


@dataclass(frozen=True)
class Variance(_OfTarget, Question):
    """How much of a run's error comes from the choice of prompts, and how much from the draws.

    A row is one condition; its repeats are pooled as draws.

    Raises:
        MisuseError: an unknown name, or nothing with scored prompts.
    """

    NAME, ANSWER = "variance", "warehouse.analysis.variance.variance:variance"

    _: KW_ONLY
    cluster: Cluster = None
    single_draws: Annotated[
        bool, Option("Also say how far runs of one draw would lie apart, which reads every draw.", in_python_only=True)
    ] = True


@dataclass(frozen=True)
class SeedVariance(_OfTarget, Question):
    """Split the variance between training seeds and prompts.

    Seeds belong together if model, recipe, position and every setting of the run agree.

    Raises:
        MisuseError: an unknown name, or no model with scores of two seeds.
    """

    NAME, ANSWER = "seed_variance", "warehouse.analysis.variance.variance:seed_variance"
    COMMAND = "variance --seeds"

    _: KW_ONLY
    cluster: Cluster = None


@dataclass(frozen=True)
class PassRates(_OfTarget, Question):
    """pass@k for each k in ``at`` and pass^k for each in ``hat``, of every condition meant.

    Where prompts have fewer than k draws the figure is that of the others, with bounds over all. It is None where none
    has k, and where the draws are not known to be right or wrong.

    Raises:
        MisuseError: an unknown name, no k, or nothing with scored prompts.
        StatisticsError: a k below 1, or ``level`` out of range.
    """

    NAME, ANSWER = "pass_rates", "warehouse.analysis.variance.variance:pass_rates"
    COMMAND = "variance"

    _: KW_ONLY
    cluster: Cluster = None
    at: Annotated[
        Sequence[int], Option("pass@k instead: at least one of k draws is right.", "K,...", ("--pass-at",))
    ] = ()
    hat: Annotated[Sequence[int], Option("pass^k instead: all k draws are right.", "K,...", ("--pass-hat",))] = ()
    estimand: Annotated[
        str,
        Option(
            "Of pass@k and pass^k: prompts are a sample, or only draws are random.",
            choices=(PROMPTS_SAMPLED, PROMPTS_FIXED),
        ),
    ] = PROMPTS_SAMPLED
    level: Level = 0.95


@dataclass(frozen=True)
class Templates(_OfTarget, Question):
    """What templates, few-shot draws, perturbations or judges add to the error, and whether they agree on the order.

    Each condition is taken on the prompts that have a score under each of its templates, or by each of its judges.

    Raises:
        MisuseError: an unknown name, nothing with two templates, several factors that vary at once, or judges that do
            not score on one scale.
        StatisticsError: a ``level`` or ``se`` out of range.
    """

    NAME, ANSWER = "templates", "warehouse.analysis.variance.templates:templates"

    _: KW_ONLY
    factor: Annotated[
        str,
        Option(
            "What varies: the template, the draw of few-shot examples, the perturbation, or who judges.",
            choices=FACTORS,
        ),
    ] = FACTORS[0]
    judges: Annotated[
        Sequence[str],
        Option(
            "With --factor judge: these, by scorer, model or metric. Repeatable. Default: all models that judge.",
            "NAME",
            ("--judge",),
        ),
    ] = ()
    random: Annotated[
        str, Option("What is a sample of what could have been: prompts, templates, or both.", choices=RANDOM)
    ] = RANDOM[0]
    conservative: Annotated[
        bool, Option("With both: as many degrees of freedom as the fewer of the two allow, less one.")
    ] = False
    se: Annotated[
        float | None,
        Option(
            "Also say how many templates would bring the error down to this.", "SE", least=0.0, is_open=(True, False)
        ),
    ] = None
    cluster: Cluster = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.factor != "judge":
            self.refuse("goes with --factor judge", "judges")
