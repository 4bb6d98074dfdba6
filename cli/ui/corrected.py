"""``--corrected`` of ``leaderboard``, ``compare`` and ``gate``: its options, and the
way to what answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from .options import option, refuse_typed

if TYPE_CHECKING:
    from warehouse.analysis.judge.corrected_figures import CorrectedFigures
    from warehouse.questions.question import Question

    from ..state import State
    from .output import Output

#: Reason for what is refused beside it.
UNUSED = "changes nothing of corrected figures: leave out it or --corrected"


@dataclass(frozen=True)
class Corrected:
    """That a judge's figure, people's labels and both together are asked for, side by
    side."""

    judge: str | None  #: who judges; None: the only model.
    human: str | None  #: whose labels correct; None: the only people.

    def give(
        self, state: State, output: Output, question: Question
    ) -> CorrectedFigures:
        """Ask for the corrected figures in place of a command's own, and print them
        (UsageError: not of one benchmark).

        Args:
            question: that the command would have asked.
        """
        from ..commands.corrected import give_corrected

        return give_corrected(
            state, output, question, UNUSED, judge=self.judge, human=self.human
        )


def corrected_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--corrected``, with the names of judge and people; the command gets
    ``corrected``, None without."""

    @option(
        "--corrected",
        "A judge's figure, people's labels, and what both give together.",
        is_flag=True,
    )
    @option("--judge NAME", "With --corrected: who judges. [default: the only model]")
    @option(
        "--human NAME", "With --corrected: whose labels. [default: the only people]"
    )
    @wraps(function)
    def wrapper(
        *args: Any, corrected: bool, judge: str | None, human: str | None, **others: Any
    ) -> Any:
        if not corrected:
            refuse_typed("goes with --corrected", "judge", "human")
        return function(
            *args, corrected=Corrected(judge, human) if corrected else None, **others
        )

    return wrapper
