"""The questions which model is best on a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from warehouse.analysis.leaderboard.question import BOTH, Ranking
from warehouse.errors import MisuseError
from warehouse.questions.options import (
    AsRows,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question

#: Benchmarks from which on models are shown across all of them.
FEWEST = 3

_GROUP = Option(
    "Rank on a suite: its name, or names and globs of benchmarks with commas.",
    "SUITE",
    ("--group",),
)


@dataclass(frozen=True, kw_only=True)
class OnSuite(UnderPolicy, AsRows, SelectedAtLevel):
    """How the rows of a suite are made."""

    subset_ok: SubsetOk = False
    weights: Annotated[
        str | Mapping[str, float],
        Option(
            "Of a suite's benchmarks: equal (default), prompts, NAME=W,..., or a file "
            "of NAME=W lines.",
            "WEIGHTS",
        ),
    ] = "equal"
    partial_ok: Annotated[
        bool,
        Option("With a suite: rank rows that lack benchmarks.", flags=("--partial",)),
    ] = False
    force: Annotated[bool, Option("With a suite: mix scales, judges, versions.")] = (
        False
    )


@dataclass(frozen=True)
class SuiteLeaderboard(OnSuite, Question):
    """Every model on the benchmarks of a suite, best first."""

    NAME, ANSWER = "leaderboard", "answer:suite_leaderboard"

    group: Annotated[str, _GROUP]


@dataclass(frozen=True)
class AnyLeaderboard(OnSuite, Ranking, Question):
    """Every model on a benchmark with its interval, or on the benchmarks of a suite;
    best first.

    A row is one condition, its repeats pooled as draws; on a suite it is one condition
    of a model on each benchmark, and its figure the weighted mean of theirs. A list of
    benchmarks is a suite of these.

    Raises:
        MisuseError: both benchmark and group; a keyword of the other kind; unknown
            names; ambiguous conditions; nothing to show.
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """

    NAME, ANSWER = "leaderboard", "any_leaderboard:any_leaderboard"

    benchmark: Annotated[
        str | None,
        Option(
            "Name of a benchmark or a suite; default: every benchmark.",
            is_argument=True,
        ),
    ] = None
    _: KW_ONLY
    group: Annotated[str | None, _GROUP] = None

    def __post_init__(self) -> None:
        several: Any = self.benchmark
        if isinstance(several, list | tuple):
            self._rank_on(several)
        super().__post_init__()
        if self.benchmark is not None and self.group is not None:
            raise MisuseError(BOTH)

    def _rank_on(self, names: Sequence[Any]) -> None:
        """Several benchmarks are a suite; one is itself."""
        if not names or not all(
            isinstance(name, str) and name and "," not in name for name in names
        ):
            raise MisuseError(
                f"several benchmarks are names without commas, found {names!r}; give "
                "such names"
            )
        if self.group is not None:
            raise MisuseError(BOTH)
        if len(names) > 1:
            object.__setattr__(self, "group", ",".join(names))
        object.__setattr__(self, "benchmark", None if len(names) > 1 else names[0])
