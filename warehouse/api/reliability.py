"""How much of a suite its verdicts need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.question import Gives, method
from warehouse.questions.reliability import Anchors, Flash, Reliability

if TYPE_CHECKING:  # named in strings
    from warehouse.analysis.reliability.anchors import AnchorReport  # noqa: F401
    from warehouse.analysis.reliability.flash import FlashReport  # noqa: F401
    from warehouse.analysis.reliability.reliability import ReliabilityReport  # noqa: F401


class ReliabilityMethods(Connection):
    """Say how far verdicts hold, and what a cheaper one costs."""

    reliability = method(Reliability, Gives["ReliabilityReport"])
    flash = method(Flash, Gives["FlashReport"])
    anchors = method(Anchors, Gives["AnchorReport"])
