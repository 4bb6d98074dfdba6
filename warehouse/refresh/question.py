"""What refreshes computed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class FigureHistory(Question):
    """Every figure that refreshes computed of a model on a benchmark.

    A row stands for a refresh that changed the figure; in between it was the same.

    Raises:
        MisuseError: unknown names, or nothing has been computed; says what to do.
    """

    NAME, ANSWER = "history", "history:history"

    model: Annotated[
        str | None,
        Option(
            "Reference of a model, or run:ID; a model whose runs are gone by its name "
            "alone; None for the figures of the benchmark as a whole, such as the "
            "matrix tests, or of all models where there are none."
        ),
    ]
    benchmark: Annotated[
        str | None,
        Option("Name of a benchmark; None for all that the model has figures on."),
    ] = None
    _: KW_ONLY
    metric: Annotated[
        str | None,
        Option(
            "Metric, or METRIC,FILTER; default: the headline metric.",
            "NAME",
            ("-m", "--metric"),
        ),
    ] = None
    statistic: Annotated[
        str | None, Option("Only this figure, such as score or difference.", "NAME")
    ] = None
    last: Annotated[int | None, Option("Only the newest N of each.", "N", least=1)] = (
        None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is None and self.benchmark is None:
            raise MisuseError("name a model, a benchmark, or both")
