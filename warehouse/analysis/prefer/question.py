"""The question which models are preferred, by votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import Level, Seed
from warehouse.questions.question import Option, Question

#: What ties are; what errors are of (the second as statsmodels has it); how votes
#: count.
TIES = ("half", "davidson")
ERRORS = ("two_way", "cr1", "voters", "prompts")
WEIGHTS = ("votes", "uniform_pairs")


@dataclass(frozen=True)
class Prefer(Question):
    """Strengths of models by votes on pairs of answers (Bradley and Terry), and how
    little the votes decide.

    Several who judge are never pooled: one is named, or each stands by itself.

    Raises:
        MisuseError: an unknown name, several scorers and none chosen, or votes that do
            not hold all models together.
        StatisticsError: covariates that explain all votes, or nothing that others do
            not.
    """

    NAME = "prefer"

    benchmark: Annotated[str, Option("Name of a benchmark with votes.", "BENCHMARK")]
    models: Annotated[
        Sequence[str],
        Option(
            "Two models: only these, the first against the second; default: all.",
            "[MODEL MODEL]",
            is_argument=True,
        ),
    ] = ()
    _: KW_ONLY
    scorer: Annotated[
        str | None, Option("Who judged; needed where several did.", "NAME")
    ] = None
    by: Annotated[
        str | None,
        Option(
            "Each who judged by themselves, and how far they agree.",
            choices=("scorer",),
        ),
    ] = None
    reference: Annotated[
        str | None,
        Option("Strengths are less this model's; default: their mean.", "MODEL"),
    ] = None
    covariate: Annotated[
        Sequence[str],
        Option(
            "Hold this covariate of the answers (first less second) alike, such as "
            "length. Repeatable.",
            "NAME",
        ),
    ] = ()
    ties: Annotated[
        str,
        Option("A tie is half a win of both, or a result of its own.", choices=TIES),
    ] = TIES[0]
    drop_both_bad: Annotated[
        bool, Option("Votes that both are bad do not count; default: they are ties.")
    ] = False
    weights: Annotated[
        str,
        Option(
            "Votes as they are, or each pair of models alike, however often it met.",
            choices=WEIGHTS,
        ),
    ] = WEIGHTS[0]
    errors: Annotated[
        str,
        Option(
            "By voters and prompts (jackknife, or CR1), or with one of the two taken "
            "for fixed.",
            choices=ERRORS,
        ),
    ] = ERRORS[0]
    component: Annotated[
        int | None,
        Option(
            "Only the N-th largest group of models that votes hold together.",
            "N",
            least=1,
        ),
    ] = None
    ridge: Annotated[
        float,
        Option(
            "Penalty of the squared strengths, halved: they exist then, without "
            "intervals.",
            "TAU",
            least=0,
        ),
    ] = 0.0
    level: Level = 0.95
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.models) not in (0, 2) or len(set(self.models)) < len(self.models):
            raise MisuseError(
                f"name two models, or none; found {', '.join(self.models)}"
            )
        if self.models:
            self.refuse("is the second of the two models", "reference")
        if self.by:
            self.refuse(
                "goes without {by} scorer, which takes all of them",
                "scorer",
                "component",
            )
        if self.ridge:
            self.refuse(
                "changes nothing beside {ridge}: penalised strengths have no errors",
                "errors",
                "level",
                "seed",
            )
