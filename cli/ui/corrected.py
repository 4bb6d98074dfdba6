"""``--corrected`` of ``leaderboard``, ``compare`` and ``gate``: a judge, people's labels and both, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .options import option
from .table import print_view

if TYPE_CHECKING:
    from warehouse.analysis.judges.corrected_figures import CorrectedFigures

    from ..state import State
    from .output import Output

#: Reason for what is refused beside it.
UNUSED = "changes nothing of corrected figures: leave out it or --corrected"


def corrected_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--corrected``, with the names of judge and people."""
    for decorate in (
        option("--human NAME", "With --corrected: whose labels. [default: the only people]"),
        option("--judge NAME", "With --corrected: who judges. [default: the only model]"),
        option("--corrected", "A judge's figure, people's labels, and what both give together.", is_flag=True),
    ):
        function = decorate(function)
    return function


def give_corrected(state: State, output: Output, found: CorrectedFigures) -> None:
    """The three figures of each row, and what they are; rows for programs."""
    output.give(found, lambda: print_view(found.view()))
    state.notes(found.notes)
