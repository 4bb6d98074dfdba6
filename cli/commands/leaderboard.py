"""``leaderboard``: every condition on a benchmark, every model on a suite, best first."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.questions.question import UnusedError
from warehouse.records.own_files import own_text

from ..lazy_group import command
from ..state import State
from ..ui.corrected import Corrected, corrected_options
from ..ui.next_step import say_next
from ..ui.only_benchmark import of_one
from ..ui.options import (
    benchmark_argument,
    length_options,
    option,
    output_options,
    refuse_typed,
    typed,
)
from ..ui.output import Output
from ..ui.output_files import Command, writes
from ..ui.over_settings import OverSettings, over_options
from ..ui.questions import in_flags, options_of
from ..ui.slices import Sliced, board_options
from ..ui.table import print_view, rows_wanted

#: Weights of the benchmarks of a suite that have a name.
_WEIGHTS = ("equal", "prompts")
_WEIGHTS_HELP = (
    "Of a suite's benchmarks: equal (default), prompts, NAME=W,..., or a file of NAME=W "
    "lines. With --by, of prompts (default) or of slices, equal."
)


def weights_callback(
    _ctx: click.Context, _param: click.Parameter, text: str | None
) -> str | dict[str, float]:
    """``equal``, ``prompts``, ``name=weight,…``, or a file with one ``name=weight`` a
    line.

    Raises:
        UsageError: anything else, with the place.
    """
    if text is None or text in _WEIGHTS:
        return text or "equal"
    if Path(text).is_file():
        lines = own_text(text, "a file with one NAME=WEIGHT a line").splitlines()
        parts = [
            line.strip() for line in lines if line.strip() and not line.startswith("#")
        ]
    elif "=" in text:
        parts = [part.strip() for part in text.split(",") if part.strip()]
    else:
        raise click.UsageError(
            f"--weights '{text}' is none of equal, prompts, NAME=WEIGHT,... and no file"
        )
    return dict(_weight(part, parts) for part in parts)


def _weight(part: str, parts: list[str]) -> tuple[str, float]:
    name, sign, value = part.rpartition("=")
    name = name.strip()
    try:
        weight = float(value)
    except ValueError:
        sign, weight = "", 0.0
    if not sign or not name:
        raise click.UsageError(f"--weights: '{part}' is not NAME=WEIGHT")
    if sum(other.rpartition("=")[0].strip() == name for other in parts) > 1:
        raise click.UsageError(f"--weights gives {name} twice")
    return name, weight


class _OneOrAll(Command):
    """Of one benchmark or all; says how several are asked as one."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        more = super().parse_args(ctx, args)
        if more:
            several = ",".join((ctx.params["benchmark"], *more))
            raise click.UsageError(
                "one benchmark at a time, or all without a name; as one suite: --group "
                f"{several}"
            )
        return more


@command("leaderboard", cls=_OneOrAll)
@benchmark_argument(required=False)
@options_of(
    AnyLeaderboard,
    without=("benchmark",),
    weights={"default": None, "callback": weights_callback, "help": _WEIGHTS_HELP},
)
@option(
    "--handful",
    "How few questions carry the first place, and each place over the next.",
    name="carried_by",
    is_flag=True,
)
@option(
    "--winner",
    "The figure of the first, corrected for having been picked.",
    name="is_winner",
    is_flag=True,
)
@length_options
@over_options
@board_options
@corrected_options
@output_options
def leaderboard(
    state: State,
    /,
    output: Output,
    corrected: Corrected | None,
    sliced: Sliced | None,
    top: int | None,
    carried_by: bool,
    is_winner: bool,
    over_settings: OverSettings | None,
    **options: Any,
) -> None:
    question = AnyLeaderboard.from_command(options, typed(options))
    if over_settings is not None:
        return over_settings.give_board(state, output, question)
    if carried_by:
        refuse_typed("is another question: leave out it or --handful", "is_winner")
        return _carried_by(state, output, question, top)
    if is_winner:
        return _winner(state, output, question)
    if corrected is not None:
        refuse_typed("changes nothing of results by a field: leave out one", "by")
        corrected.give(state, output, question)
        return
    if sliced is not None:
        own = tuple(typed(options))
        sliced.give(state, output, question, top=top, typed=own)
        return
    with state.open() as store:
        try:
            result: Any = question.ask(store)
        except UnusedError as error:
            if error.name != "force" or not writes():
                raise
            result = replace(question, force=False).ask(
                store
            )  # it was said for the file
    if output.for_people:
        view = state.view_of(partial(result.view, top=rows_wanted(top)))
        print_view(view)
        state.notes(in_flags(AnyLeaderboard, note) for note in view.notes)
    else:
        state.notes(f"left out: {reason}" for reason in getattr(result, "left_out", ()))
        output.emit_records(result.kind_of(), result.rows)
    say_next(state, output, result, question)


def _carried_by(
    state: State, output: Output, question: AnyLeaderboard, top: int | None
) -> None:
    """How few questions carry the places, in place of the leaderboard."""
    from warehouse.analysis.handful.question import LeaderboardHandful

    unused = "changes nothing of what a place rests on: leave out it or --handful"
    refuse_typed(unused, "by", "corrected")
    one = of_one(state, question, "--handful")
    found = state.ask(one.only(LeaderboardHandful, unused))
    view = partial(found.view, top=rows_wanted(top))
    state.give(output, found, lambda: state.view_of(view))


def _winner(state: State, output: Output, question: AnyLeaderboard) -> None:
    """The corrected figure of the first, in place of the leaderboard."""
    from warehouse.analysis.winner.question import Winner

    unused = "changes nothing of the figure of the first: leave out it or --winner"
    refuse_typed(unused, "by", "corrected", "top", "show_all")
    one = of_one(state, question, "--winner")
    found = state.ask(one.only(Winner, unused))
    state.give(output, found, lambda: state.view_of(found.view))
