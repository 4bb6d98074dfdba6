"""Every model on a benchmark or a suite."""

from __future__ import annotations

from warehouse.api.connection import Connection
from warehouse.questions.leaderboard import AnyLeaderboard, EveryLeaderboard, OneLeaderboard, SuiteLeaderboard
from warehouse.questions.question import method_by_kind


class LeaderboardMethods(Connection):
    """Rank models."""

    leaderboard = method_by_kind(AnyLeaderboard, OneLeaderboard, SuiteLeaderboard, EveryLeaderboard)
