"""``--by`` of ``leaderboard`` and ``compare``: its options, and the way to what answers
it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from .options import option, refuse_typed
from .questions import Number

if TYPE_CHECKING:
    from warehouse.questions.question import Question

    from ..state import State
    from .output import Output

_BY = (
    "By a field of the prompts, a clustering or split; FIELD,FIELD: cells. Repeatable."
)
_BINS = (
    "With --by: cut a number, q:4 into quarters of the prompts, or at edges 100,1000."
)


@dataclass(frozen=True)
class Sliced:
    """That results are asked for by a field of the prompts."""

    by: tuple[str, ...] = ()  #: the fields; none where a slope is asked for.
    bins: str | None = None  #: how numbers are cut.
    rank_by: str | None = None  #: slice that rows are ranked by.
    slope: str | None = None  #: the number along which a slope is asked for.
    per_doubling: bool = False  #: of that, per doubling.

    def give(
        self,
        state: State,
        output: Output,
        question: Question,
        *,
        top: int | None = None,
        typed: tuple[str, ...] = (),
    ) -> None:
        """Ask by the field in place of a command's own question, and print the answer.

        Args:
            question: that the command would have asked.
            top: rows of a table; 0: all.
            typed: names of options that were given.
        """
        from ..commands.sliced import give_along, give_by

        if self.slope is not None:
            give_along(state, output, question, self.slope, self.per_doubling)
            return
        fields: dict[str, Any] = {"by": self.by, "bins": self.bins}
        fields["rank_by"] = self.rank_by
        give_by(state, output, question, fields, top=top, typed=typed)


def board_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--by``, ``--bins`` and ``--rank-by``; the command gets ``sliced``, None
    without."""

    @option("--by FIELD", _BY, multiple=True)
    @option("--bins BINS", _BINS)
    @option("--rank-by VALUE", "With --by: rank by this slice alone.")
    @wraps(function)
    def wrapper(
        *args: Any,
        by: tuple[str, ...],
        bins: str | None,
        rank_by: str | None,
        **others: Any,
    ) -> Any:
        if not by:
            refuse_typed("goes with --by", "bins", "rank_by")
        sliced = Sliced(by, bins, rank_by) if by else None
        return function(*args, sliced=sliced, **others)

    return wrapper


def pair_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--by``, ``--bins``, ``--all``, ``--slope`` and ``--per-doubling``; the command
    gets ``sliced``, None without, and ``show_all``."""

    @option("--by FIELD", _BY, multiple=True)
    @option("--bins BINS", _BINS)
    @option("--all", "With --by: all slices.", name="show_all", is_flag=True)
    @option(
        "--slope FIELD", "How the difference changes along a number of the prompts."
    )
    @option("--per-doubling", "With --slope: per doubling of it.", is_flag=True)
    @wraps(function)
    def wrapper(
        *args: Any,
        by: tuple[str, ...],
        bins: str | None,
        slope: str | None,
        per_doubling: bool,
        **others: Any,
    ) -> Any:
        if not by:
            refuse_typed("goes with --by", "bins", "show_all")
        if slope is None:
            refuse_typed("goes with --slope", "per_doubling")
        else:
            refuse_typed("is another question than --slope: leave out one", "by")
        sliced = None
        if by or slope is not None:
            sliced = Sliced(by, bins, None, slope, per_doubling)
        return function(*args, sliced=sliced, **others)

    return wrapper


def gate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--no-slice-worse-than``, ``--by`` and ``--bins``; the command gets ``sliced``,
    None without."""

    @option(
        "--no-slice-worse-than LOSS",
        "With --by: also no slice may be worse by so much.",
        Number(),
    )
    @option("--by FIELD", _BY, multiple=True)
    @option("--bins BINS", _BINS)
    @wraps(function)
    def wrapper(
        *args: Any,
        no_slice_worse_than: float | None,
        by: tuple[str, ...],
        bins: str | None,
        **others: Any,
    ) -> Any:
        if not by:
            refuse_typed("goes with --by", "bins", "no_slice_worse_than")
        if no_slice_worse_than is None:
            refuse_typed("goes with --no-slice-worse-than", "by")
        sliced: dict[str, Any] | None = None
        if by:
            sliced = {"no_slice_worse_than": no_slice_worse_than}
            sliced |= {"by": by, "bins": bins}
        return function(*args, sliced=sliced, **others)

    return wrapper
