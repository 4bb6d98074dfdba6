"""``--over`` of ``leaderboard`` and ``compare``: its options, and the way to what
answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from .only_benchmark import only_benchmark
from .options import option, refuse_typed

if TYPE_CHECKING:
    from warehouse.questions.question import Question

    from ..state import State
    from .output import Output

#: Reason for what is refused beside it.
UNUSED = "is of these settings alone: leave out it or --over"


@dataclass(frozen=True)
class OverSettings:
    """That other settings of their kind are to be in the error."""

    over: tuple[str, ...]  #: settings that are a sample of their kind.
    fixed: tuple[str, ...]  #: settings that are averaged over.
    two_levels: bool  #: two values of a setting count too.
    as_sampled: bool  #: what somebody chose counts too.

    def give_board(self, state: State, output: Output, question: Any) -> None:
        """Scores of a benchmark, in place of the board (UsageError: it is of several)."""
        from warehouse.analysis.facets.question import TotalError

        refuse_typed(UNUSED, "by", "corrected", "top", "carried_by", "is_winner")
        benchmark = question.benchmark
        if benchmark is None:
            benchmark = only_benchmark(state, "--over is about one benchmark: name it")
        target = {"target": benchmark, "benchmark": None}
        asked = question.only(TotalError, UNUSED, **target, **asdict(self))
        self._give(state, output, asked)

    def give_pair(self, state: State, output: Output, question: Any) -> None:
        """The difference of two models, in place of the comparison."""
        from warehouse.analysis.facets.question import TotalDifference

        refuse_typed(UNUSED, "only_overall", "unpaired", "by", "slope", "corrected")
        refuse_typed(UNUSED, "carried_by")
        self._give(
            state, output, question.only(TotalDifference, UNUSED, **asdict(self))
        )

    def _give(self, state: State, output: Output, asked: Question) -> None:
        found: Any = state.ask(asked)
        state.give(output, found, lambda: found.view(verbose=state.explains))
        state.notes(found.notes)


def over_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--over`` with what goes with it; the command gets ``over_settings``, None
    without."""

    @option(
        "--over SETTING,...",
        "With the error that counts other values of a setting: template, judge or any "
        "in which runs differ.",
        multiple=True,
    )
    @option(
        "--fixed SETTING,...",
        "With --over: settings that are averaged over.",
        multiple=True,
    )
    @option(
        "--two-levels",
        "With --over: count a setting of two values too.",
        is_flag=True,
    )
    @option(
        "--as-sampled",
        "With --over: count what somebody chose (temperature, shots) too.",
        is_flag=True,
    )
    @wraps(function)
    def wrapper(
        *args: Any,
        over: tuple[str, ...],
        fixed: tuple[str, ...],
        two_levels: bool,
        as_sampled: bool,
        **others: Any,
    ) -> Any:
        if not over:
            refuse_typed("goes with --over", "fixed", "two_levels", "as_sampled")
            return function(*args, over_settings=None, **others)
        asked = OverSettings(over, fixed, two_levels, as_sampled)
        return function(*args, over_settings=asked, **others)

    return wrapper
