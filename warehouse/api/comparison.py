"""Two models, or all pairs of them."""

from __future__ import annotations

from warehouse.api.connection import Connection
from warehouse.questions.comparison import AllPairs, Compare, CompareUnpaired, ReleaseGate
from warehouse.questions.question import method


class ComparisonMethods(Connection):
    """Compare models, pair by pair, and decide whether one may replace another.

    A reference of a model is ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
    """

    compare = method(Compare)
    compare_unpaired = method(CompareUnpaired)
    pairs = method(AllPairs)
    gate = method(ReleaseGate)
