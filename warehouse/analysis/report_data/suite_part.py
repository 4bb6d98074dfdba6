"""The part of a report on one suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.report_data.part import Section
from warehouse.analysis.selection.selection import Selection, row_rules
from warehouse.analysis.suites.answer import SuiteBoard, suite_board
from warehouse.analysis.suites.question import OnSuite
from warehouse.analysis.suites.read import read_suite_entries
from warehouse.analysis.suites.tree import EQUAL, Suite
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

#: Said where only the newest conditions of each model are shown.
NEWEST = "of several conditions of a model on a benchmark the newest is shown"


@dataclass(frozen=True)
class SuitePart:
    """One suite of the report."""

    name: str  #: of the suite.
    #: its leaderboard, leaves weighing the same; None with ``why_no_board``.
    board: SuiteBoard | None
    why_no_board: str
    #: what questions add, by name and in the order in which they stand.
    sections: Mapping[str, Section] = field(default_factory=dict)


def suite_part(store: Store, suite: Suite, ranks: Ranking) -> SuitePart:
    """A suite as the unweighted mean of its benchmarks, or why there is no figure.

    Args:
        suite: with its leaves that have runs.
        ranks: what makes a row, and the level of the intervals.
    """
    name, level = suite.name, ranks.level
    try:
        entries = read_suite_entries(
            store, suite, EQUAL, Selection(rows=row_rules(ranks))
        )
    except MisuseError as error:
        return SuitePart(name, None, str(error))
    try:
        return SuitePart(name, suite_board(entries, OnSuite(level=level)), "")
    except MisuseError:  # several conditions of a model
        newest = suite_board(entries, OnSuite(level=level, latest=True))
    return SuitePart(name, replace(newest, notes=(NEWEST, *newest.notes)), "")
