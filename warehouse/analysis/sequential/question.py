"""The questions whether it is settled already that a model may take the place of
another."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.gate.question import Replacement
from warehouse.questions.options import PROMPTS_SAMPLED, Cluster
from warehouse.questions.question import Option, Options, Question

FULL = "full_benchmark"


_Alpha = Annotated[
    float,
    Option(
        "Chance of a wrong verdict, both sides together.",
        "P",
        least=0,
        most=1,
        is_open=(True, True),
    ),
]


@dataclass(frozen=True, kw_only=True)
class Sequential(Options):
    """What is fixed before the first score, besides alpha."""

    n_max: Annotated[int | None, Option("The most prompts.", "N", least=1)] = None
    seed: Annotated[int, Option("Of the order of the prompts.", "N", least=0)] = 0
    estimand: Annotated[
        str,
        Option(
            "What is asked about, the full benchmark or prompts like its own.",
            choices=(FULL, PROMPTS_SAMPLED),
        ),
    ] = FULL
    looks: Annotated[
        int | None,
        Option(
            "Looks of O'Brien and Fleming's bounds; default: after every prompt.",
            "K",
            least=1,
            most=50,
        ),
    ] = None
    use_history: Annotated[
        bool,
        Option(
            "Predict scores by other models of the store, besides the baseline.",
            flags=("--no-history",),
        ),
    ] = True


@dataclass(frozen=True)
class SequentialSettings(Sequential):
    """The same for one benchmark."""

    margin: Annotated[
        float, Option("Loss that is tolerated, in the unit of the metric.", least=0)
    ]
    _: KW_ONLY
    alpha: _Alpha = 0.05
    cluster: Cluster = None


@dataclass(frozen=True)
class SequentialReleaseGate(Sequential, Replacement, Question):
    """Whether it is settled already that a candidate may take the place of a baseline.

    Of the candidate's results the longest beginning of the declared order counts
    (statistics.md §11). The verdict and the interval hold however often one asks and
    whenever one stops. Several benchmarks share alpha equally.

    Raises:
        MisuseError: an unknown or ambiguous reference, a benchmark that one of them
            lacks, nothing in common, runs that should not be compared, settings under
            which the run was not stopped, or a clustering of the full benchmark.
        StatisticsError: a number out of range.
    """

    NAME = "sequential_gate"
    COMMAND = "gate --sequential"

    _: KW_ONLY
    alpha: _Alpha = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimand == FULL:
            self.refuse(
                "is for prompts sampled: the full benchmark is no sample of clusters",
                "cluster",
            )

    def _command(self) -> str:
        if self.looks is None:
            return self.COMMAND
        return f"{self.COMMAND} --obf"
