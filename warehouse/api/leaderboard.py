"""Every model on a benchmark or a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.leaderboard import AnyLeaderboard, EveryLeaderboard, OneLeaderboard, SuiteLeaderboard
from warehouse.questions.question import Gives, method_by_kind

if TYPE_CHECKING:  # named in strings
    from warehouse.analysis.leaderboard.leaderboard import (
        Leaderboard,  # noqa: F401
        Leaderboards,  # noqa: F401
    )
    from warehouse.analysis.suites.leaderboard import SuiteBoard  # noqa: F401


class LeaderboardMethods(Connection):
    """Rank models."""

    leaderboard = method_by_kind(
        AnyLeaderboard,
        (OneLeaderboard, Gives["Leaderboard"]),
        (SuiteLeaderboard, Gives["SuiteBoard"]),
        (EveryLeaderboard, Gives["Leaderboards"]),
    )
