"""Two models, or all pairs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.comparison import AllPairs, Compare, CompareUnpaired, ReleaseGate
from warehouse.questions.question import Gives, method

if TYPE_CHECKING:  # named in strings
    from warehouse.analysis.comparison.all_pairs import Pairs  # noqa: F401
    from warehouse.analysis.comparison.compare import Comparison  # noqa: F401
    from warehouse.analysis.comparison.gate import Gate  # noqa: F401
    from warehouse.analysis.comparison.unpaired import UnpairedComparison  # noqa: F401


class ComparisonMethods(Connection):
    """Compare models, pair by pair, and decide whether one may replace another.

    A reference of a model is ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
    """

    compare = method(Compare, Gives["Comparison"])
    compare_unpaired = method(CompareUnpaired, Gives["UnpairedComparison"])
    pairs = method(AllPairs, Gives["Pairs"])
    gate = method(ReleaseGate, Gives["Gate"])
