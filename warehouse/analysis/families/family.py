"""Metric families: questions on a benchmark, and the figures that answer one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from warehouse.analysis.families.subjects import CONDITION as CONDITION
from warehouse.analysis.families.subjects import PART as PART
from warehouse.analysis.families.subjects import RECIPE as RECIPE
from warehouse.analysis.families.subjects import ROW as ROW
from warehouse.analysis.families.subjects import key_of as key_of
from warehouse.analysis.families.subjects import model_of as model_of
from warehouse.analysis.families.subjects import pair_of as pair_of
from warehouse.analysis.families.subjects import row_subject as row_subject
from warehouse.analysis.families.subjects import subject_of as subject_of
from warehouse.analysis.leaderboard.question import DRAWS
from warehouse.errors import MisuseError
from warehouse.stats.core.inputs import as_level

if TYPE_CHECKING:
    from warehouse.analysis.families.benchmark_data import BenchmarkData

#: Method of the row that says that a figure is no longer there.
GONE = "gone"


@dataclass(frozen=True)
class FamilySettings:
    """Settings of all figures of a refresh.

    Raises:
        StatisticsError: a level out of range.
        MisuseError: another number out of range.
    """

    level: float = 0.95  #: nominal coverage of the intervals, in (0, 1).
    #: references of models that all others are compared with.
    baselines: tuple[str, ...] = ()
    n_resamples: int = DRAWS  #: draws behind rank sets.
    permutations: int = 1000  #: shuffled matrices of the matrix tests.
    seed: int = 0  #: of everything random.

    def __post_init__(self) -> None:
        as_level(self.level)
        least = {"n_resamples": 0, "permutations": 1, "seed": 0}
        for name, number in least.items():
            if getattr(self, name) < number:
                raise MisuseError(
                    f"{name} is {getattr(self, name)}; expected {number} or more"
                )


@dataclass(frozen=True)
class RefreshQuestion:
    """One question of a family on a benchmark: what is recomputed, or not, as a whole."""

    subject: str  #: what it is about; with the family and the benchmark it names the question.
    conditions: tuple[str, ...]  #: keys of the conditions whose scores it reads.
    #: everything else that changes the answer; values that JSON can hold.
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Value:
    """One figure."""

    #: ``condition``, ``row`` (over seeds, at one checkpoint), ``part`` (a seed or
    #: checkpoint of one), ``pair``, ``step`` (a checkpoint and the one before),
    #: ``recipe`` (seeds and checkpoints together), ``benchmark``, or ``question`` where
    #: a family could not answer.
    subject_kind: str
    subject: str  #: natural key: `subject_of` a condition, or two of them.
    metric: str  #: name of the metric, with its filter.
    statistic: str  #: what the figure is: ``score``, ``difference``, ``rank`` …
    method: str  #: how it was computed.
    estimate: float | None = None  #: the figure; None with a ``reason``.
    standard_error: float | None = None  #: of it; None where not defined.
    low: float | None = None  #: lower end of its interval.
    high: float | None = None  #: upper end.
    n: int | None = None  #: prompts behind it.
    n_clusters: int | None = None  #: clusters behind it; None without clusters.
    #: why there is no figure or no interval, or what to know about it.
    reason: str = ""
    #: whatever else belongs to it; values that JSON can hold.
    details: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Family(Protocol):
    """Figures of one kind.

    A family with ``takes_suites = True`` is asked about suites too (`SuiteBenchmarks`).
    """

    name: str  #: of the family, without a slash.
    version: str  #: of the computation; another one makes all its figures stale.

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """The questions on a benchmark; reads no scores."""

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """The figures that answer one, at least one.

        Raises:
            WarehouseError: it cannot be answered from these data; stored as the reason.
        """


def about_all(data: BenchmarkData, **settings: Any) -> list[RefreshQuestion]:
    """One question about all conditions of a benchmark together; none where there is
    one alone."""
    if len(data.conditions) > 1:
        return [RefreshQuestion("all conditions", tuple(data.conditions), settings)]
    return []


def no_score(
    data: BenchmarkData, about: tuple[str, str], statistic: str
) -> list[Value]:
    """The values, without an estimate, of a condition or row that has no score by a
    headline metric.

    Args:
        about: its kind and subject.
    """
    reason = data.why_no_metric or "no score by the headline metric"
    return [Value(*about, "", statistic, "none", reason=reason)]
