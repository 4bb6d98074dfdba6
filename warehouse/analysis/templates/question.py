"""The question what the wording of prompts adds to an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.variance.question import OfTarget
from warehouse.questions.options import Cluster, Level
from warehouse.questions.question import Option, Question

#: What may tell the forms of a prompt apart.
FACTORS = ("template", "fewshot", "perturbation", "judge")


#: What may be taken for a sample, as in ``stats.variance.templates``.
RANDOM = ("both", "prompts", "templates")


@dataclass(frozen=True)
class Templates(OfTarget, Question):
    """What templates, few-shot draws, perturbations or judges add to the error, and
    whether they agree on the order.

    Each condition is taken on the prompts that have a score under each of its
    templates, or by each of its judges.

    Raises:
        MisuseError: an unknown name, nothing with two templates, several factors that
            vary at once, or judges that do not score on one scale.
        StatisticsError: a ``level`` or ``se`` out of range.
    """

    NAME = "templates"
    COMMAND = "noise templates"

    _: KW_ONLY
    factor: Annotated[
        str,
        Option(
            "What varies: the template, the draw of few-shot examples, the "
            "perturbation, or who judges.",
            choices=FACTORS,
        ),
    ] = FACTORS[0]
    judges: Annotated[
        Sequence[str],
        Option(
            "With --factor judge: these, by scorer, model or metric. Repeatable. "
            "Default: all models that judge.",
            "NAME",
            ("--judge",),
        ),
    ] = ()
    random: Annotated[
        str,
        Option(
            "What is a sample of what could have been: prompts, templates, or both.",
            choices=RANDOM,
        ),
    ] = RANDOM[0]
    conservative: Annotated[
        bool,
        Option(
            "With both: as many degrees of freedom as the fewer of the two allow, less "
            "one."
        ),
    ] = False
    se: Annotated[
        float | None,
        Option(
            "Also say how many templates would bring the error down to this.",
            "SE",
            least=0.0,
            is_open=(True, False),
        ),
    ] = None
    cluster: Cluster = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.factor != "judge":
            self.refuse("goes with --factor judge", "judges")
