"""The question whether two formulations of a benchmark rank models alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import Seed, SelectedAtLevel, SubsetOk
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Formulations(SelectedAtLevel, Question):
    """Whether two formulations of a benchmark agree on the models that have both.

    Two benchmarks, or one named twice whose conditions ``first_where`` and
    ``second_where`` tell apart. Correlations over models, each with three intervals:
    for other models, for other prompts, for both; ranks; pairs of models that change
    places; each model's difference over the prompts that both have.

    Raises:
        MisuseError: an unknown name, no model that has both, or the same runs twice.
        StatisticsError: ``level`` or ``seed`` out of range.
    """

    NAME = "formulations"
    COMMAND = "noise formulations"

    first: Annotated[str, Option("Name of a benchmark.", "FIRST")]
    second: Annotated[
        str, Option("Name of its other formulation, or the same again.", "SECOND")
    ]
    _: KW_ONLY
    first_where: Annotated[
        Sequence[str], Option("Of the first only such runs. Repeatable.", "FIELD=VALUE")
    ] = ()
    second_where: Annotated[
        Sequence[str],
        Option("Of the second only such runs. Repeatable.", "FIELD=VALUE"),
    ] = ()
    second_metric: Annotated[
        str | None,
        Option(
            "Metric of the second. [default: --metric, else its headline metric]",
            "NAME",
        ),
    ] = None
    subset_ok: SubsetOk = False
    seed: Seed = 0
