"""Which model is best: on a benchmark, on a suite, on every benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from warehouse.errors import MisuseError
from warehouse.questions.options import (
    MAX_UNSCORED,
    PROMPTS_FIXED,
    PROMPTS_SAMPLED,
    REFERENCE,
    AsRows,
    Estimand,
    Reference,
    Seed,
    SelectedAtLevel,
    SubsetOk,
)
from warehouse.questions.question import Option, Question

#: Draws behind the rank sets of a leaderboard (``pairs`` takes more).
DRAWS = 1999
BOTH = "give a benchmark, or the group (suite) to rank on, not both"
_GROUP = Option("Rank on a suite: its name, or names and globs of benchmarks with commas.", "SUITE", ("--group",))


@dataclass(frozen=True, kw_only=True)
class Ranking(AsRows, SelectedAtLevel):
    """How the rows of a leaderboard are estimated and compared."""

    method: Annotated[
        str, Option("Of the intervals, such as t, normal, wilson, bca; an unknown one is answered with all.", "NAME")
    ] = "auto"
    estimand: Estimand = PROMPTS_SAMPLED
    max_unscored: Annotated[
        float, Option("Mark rows with more unscored samples: many_unscored.", "SHARE", least=0, most=1)
    ] = MAX_UNSCORED
    subset_ok: SubsetOk = False
    n_resamples: Annotated[
        int, Option("Draws behind the rank confidence sets; 0: no sets.", "N", ("--resamples",), least=0)
    ] = DRAWS
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimand == PROMPTS_FIXED and self.method != "auto":
            raise MisuseError(f"method {self.method!r} is for prompts sampled; prompts fixed has one of its own")


@dataclass(frozen=True, kw_only=True)
class OnSuite(AsRows, SelectedAtLevel):
    """How the rows of a suite are made."""

    subset_ok: SubsetOk = False
    weights: Annotated[
        str | Mapping[str, float],
        Option("Of a suite's benchmarks: equal (default), prompts, NAME=W,..., or a file of NAME=W lines.", "WEIGHTS"),
    ] = "equal"
    partial_ok: Annotated[bool, Option("With a suite: rank rows that lack benchmarks.", flags=("--partial",))] = False
    force: Annotated[bool, Option("With a suite: mix scales, judges, versions.")] = False


@dataclass(frozen=True)
class OneLeaderboard(Ranking, Question):
    """All conditions on a benchmark, best first."""

    NAME, ANSWER = "leaderboard", "warehouse.analysis.leaderboard.leaderboard:leaderboard"

    benchmark: Annotated[str, Option("Name of a benchmark.")]


@dataclass(frozen=True)
class EveryLeaderboard(Ranking, Question):
    """Leaderboards of all benchmarks with runs."""

    NAME, ANSWER = "leaderboard", "warehouse.analysis.leaderboard.leaderboard:leaderboards"


@dataclass(frozen=True)
class SuiteLeaderboard(OnSuite, Question):
    """Every model on the benchmarks of a suite, best first."""

    NAME, ANSWER = "leaderboard", "warehouse.analysis.suites.leaderboard:suite_leaderboard"

    group: Annotated[str, _GROUP]


@dataclass(frozen=True)
class AnyLeaderboard(OnSuite, Ranking, Question):
    """Every model on a benchmark with its interval, or on the benchmarks of a suite; best first.

    A row is one condition, its repeats pooled as draws; on a suite it is one condition of a model on each benchmark,
    and its figure the weighted mean of theirs. A list of benchmarks is a suite of these.

    Raises:
        MisuseError: both benchmark and group; a keyword of the other kind; unknown names; ambiguous conditions;
            nothing to show.
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """

    NAME, ANSWER = "leaderboard", "warehouse.analysis.suites.any_leaderboard:any_leaderboard"

    benchmark: Annotated[
        str | None, Option("Name of a benchmark or a suite; default: every benchmark.", is_argument=True)
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
        if not names or not all(isinstance(name, str) and name and "," not in name for name in names):
            raise MisuseError(f"several benchmarks are names without commas, found {names!r}; give such names")
        if self.group is not None:
            raise MisuseError(BOTH)
        if len(names) > 1:
            object.__setattr__(self, "group", ",".join(names))
        object.__setattr__(self, "benchmark", None if len(names) > 1 else names[0])


@dataclass(frozen=True)
class Card(AsRows, SelectedAtLevel, Question):
    """Every figure of a model, or of a run, with how it was made: a row for each condition on each benchmark.

    Raises:
        MisuseError: an unknown or ambiguous reference, a benchmark that the model lacks, or nothing to show.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "card", "warehouse.analysis.card.card:card"

    model: Reference
    _: KW_ONLY
    against: Annotated[
        str | None, Option("Add the paired differences from this model, adjusted for their number (Holm).", REFERENCE)
    ] = None
    benchmarks: Annotated[
        Sequence[str], Option("Only these. Repeatable. Default: all that it has.", "NAME", ("-b", "--benchmark"))
    ] = ()
