"""What a report shows of suites: every model's weighted mean over the benchmarks of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warehouse.analysis.report_data.partial_runs import StoredReliability
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.leaderboard import SuiteBoard, suite_board
from warehouse.analysis.suites.read import read_suite_entries
from warehouse.analysis.suites.tree import EQUAL, Suite
from warehouse.errors import MisuseError
from warehouse.questions.leaderboard import OnSuite
from warehouse.store.connection import Store

#: Said where only the newest conditions of each model are shown.
NEWEST = "of several conditions of a model on a benchmark the newest is shown"


@dataclass(frozen=True)
class SuitePart:
    """One suite of the report.

    Attributes:
        name: of the suite.
        board: its leaderboard, leaves weighing the same; None with ``why_no_board``.
        reliability: of its ranking; None where no refresh has figures of it.
    """

    name: str
    board: SuiteBoard | None
    why_no_board: str
    reliability: StoredReliability | None = None


def suite_part(store: Store, suite: Suite, level: float) -> SuitePart:
    """A suite with its leaves weighing the same, or why there is no figure.

    Args:
        suite: with its leaves that have runs.
        level: nominal coverage of the intervals, in (0, 1).
    """
    name = suite.name
    try:
        entries = read_suite_entries(store, suite, EQUAL, Selection())
    except MisuseError as error:
        return SuitePart(name, None, str(error))
    try:
        return SuitePart(name, suite_board(entries, OnSuite(level=level)), "")
    except MisuseError:  # several conditions of a model
        newest = suite_board(entries, OnSuite(level=level, latest=True))
    return SuitePart(name, replace(newest, notes=(NEWEST, *newest.notes)), "")
