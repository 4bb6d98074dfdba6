"""The questions how models do by a field of the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.gate.question import Replacement
from warehouse.errors import MisuseError
from warehouse.questions.options import (
    MAX_UNSCORED,
    AsRows,
    FalseVerdicts,
    Force,
    MaxUnscored,
    OfSomePrompts,
    Reference,
    Seed,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question

PROMPTS, EQUAL = "prompts", "equal"

By = Annotated[
    Sequence[str],
    Option(
        "Field of the prompts, a clustering, or split; of cells several with commas. "
        "Repeatable.",
        "FIELD",
        ("--by",),
    ),
]
Bins = Annotated[
    str | None,
    Option(
        "Cut a number: q:4 into quarters of the prompts, or at edges, 100,1000.",
        "BINS",
    ),
]


@dataclass(frozen=True, kw_only=True)
class BySlices(UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel):
    """How prompts are sliced, and what is computed of the slices."""

    bins: Bins = None
    seed: Seed = 0


def _checked(by: Sequence[str]) -> tuple[str, ...]:
    """Names of fields, each once (MisuseError: none)."""
    if isinstance(by, str):
        return (by,)
    names = tuple(dict.fromkeys(by))
    if not names or not all(names):
        raise MisuseError("name a field of the prompts, such as by='language'")
    return names


@dataclass(frozen=True)
class LeaderboardBy(BySlices, Question):
    """Every model on a benchmark, slice by slice of a field of its prompts.

    Rows are ranked by the figure of all prompts, or by the mean of the slices, each of
    which counts alike (``weights``), or by one slice.

    Raises:
        MisuseError: unknown benchmark, metric, clustering, field or slice; a field that
            names prompts; a mean of slices that share prompts.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "leaderboard_by", "board:leaderboard_by"
    COMMAND = "leaderboard"

    benchmark: Annotated[str, Option("Name of a benchmark with prompts of its own.")]
    by: By
    _: KW_ONLY
    weights: Annotated[
        str,
        Option(
            "Of the overall figure: every prompt counts alike, or every slice.",
            choices=(PROMPTS, EQUAL),
        ),
    ] = PROMPTS
    rank_by: Annotated[
        str | None,
        Option("Rank by this slice in place of the overall figure.", "VALUE"),
    ] = None
    subset_ok: SubsetOk = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", _checked(self.by))
        if self.rank_by is not None and len(self.by) > 1:
            raise MisuseError(
                "rank_by is a slice of one field, and several were named: leave out "
                "all but one"
            )


@dataclass(frozen=True)
class CompareBy(BySlices, Question):
    """The paired difference of two models on one benchmark, slice by slice of a field
    of its prompts.

    Verdicts allow for reading all slices of the field together; beside them stands one
    test whether the difference varies over the slices at all.

    Raises:
        MisuseError: an unknown or ambiguous reference or field, nothing in common, or
            runs that should not be compared.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "compare_by", "answer:compare_by"
    COMMAND = "compare"

    a: Reference
    b: Reference
    by: By
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option("Default: the only one that both have.", "NAME", ("-b", "--benchmark")),
    ] = None
    n_resamples: Annotated[
        int,
        Option(
            "Random signs behind the tests that are not exact.",
            "N",
            ("--resamples",),
            least=1,
        ),
    ] = 9999
    force: Force = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", _checked(self.by))


@dataclass(frozen=True)
class CompareSlope(UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, Question):
    """How the paired difference of two models goes up with a number of the prompts.

    Raises:
        MisuseError: an unknown or ambiguous reference or field, one that is no number,
            nothing in common, or runs that should not be compared.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "compare_slope", "slopes:compare_slope"
    COMMAND = "compare"
    a: Reference
    b: Reference
    slope: Annotated[
        str, Option("Field of the prompts that is a number.", "FIELD", ("--slope",))
    ]
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option("Default: the only one that both have.", "NAME", ("-b", "--benchmark")),
    ] = None
    per_doubling: Annotated[
        bool, Option("Per doubling of the number, all of which are above 0.")
    ] = False
    force: Force = False


@dataclass(frozen=True)
class GateBy(UnderPolicy, OfSomePrompts, AsRows, Replacement, Question):
    """Whether a candidate may take the place of a baseline on a benchmark, and is worse
    by more than a loss on no slice of a field of its prompts.

    The gate of all prompts, and beside it a verdict on each slice, each at the same
    alpha: all of them have to pass, so that nothing is adjusted.

    Raises:
        MisuseError: an unknown or ambiguous reference or field, not one benchmark,
            nothing in common, or runs that should not be compared.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "gate_by", "gate:gate_by"
    COMMAND = "gate"

    _: KW_ONLY
    by: By
    no_slice_worse_than: Annotated[
        float,
        Option(
            "Loss that is tolerated on each slice, in the unit of the metric.",
            "LOSS",
            ("--no-slice-worse-than",),
            least=0,
        ),
    ]
    bins: Bins = None
    alpha: FalseVerdicts = 0.05
    max_unscored: MaxUnscored = MAX_UNSCORED

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", _checked(self.by))
