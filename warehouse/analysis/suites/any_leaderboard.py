"""A leaderboard of what is named: a benchmark, a suite, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.leaderboard.answer import Leaderboard, leaderboard
from warehouse.analysis.leaderboard.every import Leaderboards, leaderboards
from warehouse.analysis.leaderboard.question import EveryLeaderboard, OneLeaderboard
from warehouse.analysis.suites.question import (
    FEWEST,
    AnyLeaderboard,
    SuiteLeaderboard,
)
from warehouse.analysis.suites.tree import is_suite
from warehouse.questions.question import answers
from warehouse.store.connection import Store

if TYPE_CHECKING:
    from warehouse.analysis.suites.answer import SuiteBoard


@answers(AnyLeaderboard)
def any_leaderboard(
    store: Store, question: AnyLeaderboard
) -> Leaderboard | SuiteBoard | Leaderboards:
    """The leaderboard that is meant.

    Raises:
        UnusedError: something is said that this kind of leaderboard does not know.
    """
    name = question.benchmark
    suite = (
        name
        if question.group is None and name is not None and is_suite(store, name)
        else question.group
    )
    if suite is not None:
        from warehouse.analysis.suites.answer import suite_leaderboard  # takes a while

        reason = f"is for benchmarks, and {suite} is a suite (group)"
        return suite_leaderboard.to(
            store, question.only(SuiteLeaderboard, reason, group=suite, benchmark=None)
        )
    reason = "is for suites: name one"
    if name is None:
        every = leaderboards.to(store, question.only(EveryLeaderboard, reason))
        if len(every.boards) < FEWEST:
            return every
        from warehouse.analysis.suites.across import across_benchmarks  # likewise

        return across_benchmarks(store, every, question)
    return leaderboard.to(store, question.only(OneLeaderboard, reason))
