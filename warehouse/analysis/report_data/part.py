"""The part of a report on one benchmark: its leaderboard and pairs, and the sections
that questions add to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

from markupsafe import Markup

from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.pairs.answer import Pairs
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.analysis.report_data.run_facts import RunFacts
from warehouse.analysis.selection.benchmarks import BenchmarkNames
from warehouse.store.connection import Store

T = TypeVar("T")


class ReportSetting:
    """The report that sections are made for.

    Args:
        store: that it is of.
        names: of all benchmarks.
        ranks: what makes a row, level of all intervals, and draws behind rank sets.
    """

    def __init__(self, store: Store, names: BenchmarkNames, ranks: Ranking) -> None:
        self.store = store
        self.names = names
        self.ranks = ranks
        self._read: dict[Any, Any] = {}

    def once(self, read: Callable[[ReportSetting], T]) -> T:
        """The result of a function that reads for all benchmarks together, read for the
        first that asks for it."""
        if read not in self._read:
            self._read[read] = read(self)
        found: T = self._read[read]
        return found


class Section:
    """A question's findings on one benchmark, and how a page shows it.

    A subclass is a frozen dataclass that holds what it found.
    """

    WORDS: ClassVar[str]  #: that lead to it from the head of the benchmark.

    @classmethod
    def read(cls, store: Store, reads: BenchmarkReads, ranks: Ranking) -> Any:
        """The data that it asks of the store for one benchmark; :meth:`of` finds it as
        ``reads.own[cls]``.

        Args:
            store: reads for many benchmarks at once what several of them ask for.
            reads: what was read for all sections.
            ranks: what makes a row, level of all intervals.
        """
        return None

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The section of a benchmark; None where there is nothing to show.

        Args:
            reads: what was read of the benchmark.
            report: it is a section of.

        Raises:
            MisuseError: the same, as what was read does not allow it.
        """
        raise NotImplementedError

    @classmethod
    def of_suite(cls, name: str, report: ReportSetting) -> Self | None:
        """The section of a suite; None where there is nothing to show."""
        return None

    @property
    def answer(self) -> str:
        """The sentence of a benchmark that has this section and no leaderboard; empty
        where it has none."""
        return ""

    @property
    def prompts(self) -> tuple[int, ...]:
        """Ids of the single prompts that it names: what they ask is read for many
        benchmarks at once."""
        return ()

    @property
    def has_curves(self) -> bool:
        """True where rows lie along training, which says more than the dates of their
        runs."""
        return False

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """The section with its heading.

        Args:
            part: of the benchmark.
            name: of the section, which its anchor begins with
                (`charts.page_parts.heading`).
        """
        raise NotImplementedError

    def suite_html(self, name: str) -> Markup:
        """The section of a suite, without a heading."""
        raise NotImplementedError

    def claims(self, part: BenchmarkPart) -> tuple[str, ...]:
        """The questions that others check its figures by, as ``warehouse claim`` takes
        them."""
        return ()


@dataclass(frozen=True)
class BenchmarkPart:
    """One benchmark of the report."""

    name: str  #: of the benchmark.
    board: Leaderboard | None  #: its leaderboard; None with ``why_no_board``.
    why_no_board: str = ""
    #: of its conditions, with the rows of the first condition of each group; None with
    #: ``why_no_pairs``.
    pairs: Pairs | None = None
    why_no_pairs: str = ""
    #: by other metrics, rows of the conditions that have none on ``board``.
    other_rows: tuple[LeaderboardRow, ...] = ()
    #: by id of its runs, when they were made and what they cost.
    facts: Mapping[int, RunFacts] = field(default_factory=dict)
    #: by id, what the single prompts that its sections name ask.
    prompts: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    #: by name, in the order in which they stand: what questions add.
    sections: Mapping[str, Section] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """The sentence of a section that needs no leaderboard; empty where it has no
        such section."""
        return next(
            (section.answer for section in self.sections.values() if section.answer), ""
        )

    @property
    def has_curves(self) -> bool:
        """True if its rows lie along training."""
        return any(section.has_curves for section in self.sections.values())

    @property
    def weight(self) -> int:
        """The memory that it costs: pairs, most of it."""
        if self.pairs:
            return 1 + sum(len(group.pairs) for group in self.pairs.groups)
        return 1
