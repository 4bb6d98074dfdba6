"""What a table of models across benchmarks is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warehouse.analysis.leaderboard.brief import RankedRow
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.suites.answer import SuiteBoard


@dataclass(frozen=True)
class Shown:
    """A figure of a model on a benchmark, as a table across benchmarks has it."""

    row: RankedRow  #: of the benchmark's leaderboard.
    #: among the rows that it is ranked with, such as ``best`` or ``tie``; empty where
    #: no test says.
    verdict: str
    is_part: bool  #: rests on a part of the benchmark.
    place: str = ""  #: that it may have, such as ``1-2``; empty where no test says.


@dataclass(frozen=True)
class Column:
    """A benchmark, or a suite of several, with the figures of models on it."""

    name: str  #: of the benchmark or suite.
    n_benchmarks: int  #: that it holds: 1, or those of a suite.
    is_share: bool  #: scores lie between 0 and 1: people read them in percent.
    figures: tuple[Shown, ...]  #: one for each row of its leaderboard, best first.


@dataclass(frozen=True)
class ModelAcross:
    """A model, in one set of settings, across benchmarks."""

    model: str  #: its name.
    settings: str  #: what tells it from other rows of the model.
    figures: Mapping[str, Shown]  #: by name of the column; a missing one is missing.
    mean: Shown | None = None  #: over all columns of the mean; None where it lacks one.


@dataclass(frozen=True)
class RowAcross(LeaderboardRow):
    """A row of a leaderboard, with the mean of its model over all benchmarks."""

    #: mean over the benchmarks and suites of ``mean_of``, each counting the same; None
    #: for a row whose model, in these settings, has none.
    mean_estimate: float | None = None
    mean_standard_error: float | None = None  #: of it.
    mean_ci_low: float | None = None  #: lower end of its interval.
    mean_ci_high: float | None = None  #: upper end.
    mean_rank: int | None = None  #: place by the mean, 1 is best, ties share it.
    #: places that tests leave it, such as ``1-2``; empty where no test says.
    mean_place: str = ""
    mean_of: tuple[str, ...] = ()  #: benchmarks and suites that the mean is over.


@dataclass(frozen=True)
class Across:
    """Models across benchmarks."""

    columns: tuple[Column, ...] = ()  #: benchmarks and suites, by name.
    models: tuple[ModelAcross, ...] = ()  #: those with a mean first, best first.
    mean: SuiteBoard | None = None  #: over the columns; None with a reason.
    why_no_mean: str = ""  #: why there is none, else empty.
    in_mean: tuple[str, ...] = ()  #: names of the columns that the mean is over.
    #: why each of the others is not among them, by its name.
    not_in_mean: Mapping[str, str] = field(default_factory=dict)
