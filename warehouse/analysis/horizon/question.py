"""The question how long tasks may be for a model to do them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import ChosenScores, Level, Seed
from warehouse.questions.question import Option, Question

#: As in ``stats.items.horizon``.
WEIGHTS = ("invsqrt", "equal", "none")
INTERVALS = ("auto", "ftr", "fieller")


@dataclass(frozen=True)
class TimeHorizon(ChosenScores, Question):
    """How long tasks are, by the minutes that people need, that models do with a given
    probability.

    Prompts say ``human_minutes`` and ``task_family`` in their metadata; scores are
    success or none.

    Raises:
        MisuseError: an unknown name, no prompt with minutes, or no scores of success.
        StatisticsError: a number out of range.
    """

    NAME = "horizon"

    benchmark: Annotated[
        str, Option("A suite, a benchmark, or several with commas.", "SUITE|BENCHMARK")
    ]
    _: KW_ONLY
    q: Annotated[
        Sequence[float],
        Option(
            "Probabilities of success.", "Q,...", least=0, most=1, is_open=(True, True)
        ),
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
        str,
        Option(
            "How much a task counts: by 1/√(tasks of its family), equally, or by its "
            "runs.",
            choices=WEIGHTS,
        ),
    ] = WEIGHTS[0]
    interval: Annotated[
        str,
        Option(
            "By families, tasks and runs drawn anew (ftr), or Fieller's by families "
            "left out in turn; auto: Fieller's for models with one run of each task.",
            choices=INTERVALS,
        ),
    ] = INTERVALS[0]
    trend: Annotated[
        bool, Option("Also over days of release: in how many days horizons double.")
    ] = False
    level: Level = 0.95
    n_resamples: Annotated[
        int, Option("Resamples of the interval.", "N", least=100, most=100_000)
    ] = 1000
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval == "fieller":
            self.refuse(
                "goes with {interval} ftr or auto: Fieller's draws nothing",
                "n_resamples",
                "seed",
                "trend",
            )
