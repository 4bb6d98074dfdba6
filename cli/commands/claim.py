"""``claim``: write a figure down so that others can check it, and check one."""

from __future__ import annotations

import inspect
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from warehouse.errors import MisuseError
from warehouse.files import CLAIM

from ..command_table import COMMANDS, names_below
from ..lazy_group import CommandGroup, command, group, load
from ..state import State
from ..ui.options import limit_options, option, output_options, refuse_typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.table import print_rows, print_text, visible

if TYPE_CHECKING:
    from warehouse.claims.verify import Verdict
    from warehouse.store.engines import Limits


class ClaimGroup(CommandGroup):
    """Whatever is no subcommand is what is claimed."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in names_below("claim"):
            return super().resolve_command(ctx, args)
        return "claim", make, args


@group("claim", cls=ClaimGroup)
def claim() -> None:
    pass


@command("claim make", entry=COMMANDS["claim"])
@click.argument("question", metavar="COMMAND")
@option("-o --out FILE", "Where to write it.", OutputFile(CLAIM), required=True)
@limit_options
def make(state: State, question: str, out: Path, limits: Limits) -> None:
    from warehouse.claims.bundle import write_claim
    from warehouse.claims.questions import make_claim

    kind, parameters = _parsed(question)
    if kind != "query":
        refuse_typed(f"is for claims on query, not on {kind}", "timeout", "memory")
    with state.open(
        guarded=kind == "query", limits=limits, typed=kind == "query"
    ) as store:
        made = make_claim(store, kind, parameters, command=question)
    size = write_claim(made, out, force=forced())
    print_text(made.answer)
    state.say(
        f"wrote {out}: {len(made.rows)} rows from {len(made.runs)} runs of "
        f"{len(made.sources)} sources, {size} bytes; check it with: warehouse claim "
        f"verify {shlex.quote(str(out))}"
    )


def _parsed(question: str) -> tuple[str, dict[str, Any]]:
    """The question that a command line asks, and its parameters where they are not the
    usual ones.

    Raises:
        MisuseError: a command of which nothing can be claimed, or an option that no
            claim has.
    """
    from warehouse.claims.questions import CORRECTED, accepted, kinds

    try:
        words = shlex.split(question)
    except ValueError as error:
        raise MisuseError(f"'{question}': {error}") from None
    name, rest = _command_of(words)
    kind_of = {_asked_by(kind): kind for kind in kinds() if CORRECTED not in kind}
    if name not in kind_of:
        raise MisuseError(
            f"nothing can be claimed of '{name}'; expected a command of: "
            f"{', '.join(kind_of)}"
        )
    kind = kind_of[name]
    context = _context(name, rest)
    typed = {
        name: value
        for name, value in context.params.items()
        if _is_typed(context, name)
    }
    if typed.pop("corrected", False):
        kind += CORRECTED
    defaults = accepted(kind)
    if "named" in typed and "benchmark" not in typed:
        typed["benchmark"] = typed.pop("named")
    parameters: dict[str, Any] = {}
    for name, value in typed.items():
        plain: Any = list(value) if isinstance(value, tuple) else value
        plain = plain.replace("-", "_") if name == "estimand" else plain
        if name not in defaults:
            raise MisuseError(
                f"a claim on {kind} cannot have {_as_typed(context, name)}"
            )
        if plain != defaults[name]:
            parameters[name] = plain
    missing = [
        name
        for name, default in defaults.items()
        if default is inspect.Parameter.empty and name not in parameters
    ]
    if missing:
        raise MisuseError(
            f'a claim on {kind} needs {missing[0]!r}, such as: warehouse claim "{kind} '
            '..." -o FILE'
        )
    return kind, parameters


def _asked_by(kind: str) -> str:
    """The command of a question that can be claimed."""
    if kind == "judge":
        return "judge agreement"
    return next((name for name in COMMANDS if name.split()[-1] == kind), kind)


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """The command that words begin with, and the words after it."""
    pair = " ".join(words[:2])
    if pair in COMMANDS:
        return pair, words[2:]
    if words[:1] == ["judge"]:
        return "judge agreement", words[1:]
    return " ".join(words[:1]), words[1:]


def _context(name: str, words: list[str]) -> click.Context:
    """What a command makes of its words, which may come from anybody: it is not run.

    Raises:
        MisuseError: it does not understand them, or they are about how it prints or
            which store it asks.
    """
    from ..main import cli

    top = click.Context(
        cli, info_name="warehouse", help_option_names=[]
    )  # what asks for help ends the program
    command = load(name)
    assert command is not None
    try:
        with top:  # closed at once: what its words change in the process ends with them
            context = command.make_context(name, words, parent=top)
    except click.ClickException as error:
        raise MisuseError(
            f"'{shlex.join([*name.split(), *words])}': {error.format_message()}"
        ) from None
    for param in command.params:
        if not param.expose_value and _is_typed(context, str(param.name)):
            raise MisuseError(
                f"a claim on {name} cannot have {_as_typed(context, str(param.name))}"
            )
    return context


def _is_typed(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _as_typed(context: click.Context, name: str) -> str:
    param = next(param for param in context.command.params if param.name == name)
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return f"--{name}"


@command("claim verify")
@click.argument("bundle", type=click.Path())
@option(
    "--from PATH",
    "Recompute from these dumps, in a store that is made for it, not from --db. "
    "Repeatable.",
    click.Path(),
    name="dumps",
    multiple=True,
)
@option(
    "--other-files",
    "The source files may be others, if the samples are the same.",
    is_flag=True,
)
@limit_options
@output_options
def verify(
    state: State,
    /,
    bundle: str,
    dumps: tuple[str, ...],
    other_files: bool,
    limits: Limits,
    output: Output,
) -> int:
    from warehouse.claims.bundle import read_claim
    from warehouse.claims.verify import (
        Difference,
        check_parameters,
        store_of_dumps,
        verify_claim,
    )
    from warehouse.store.temporary import temporary_folder

    read = read_claim(Path(bundle))
    check_parameters(read, bundle)
    typed = read.kind == "query"
    with ExitStack() as stack:
        checked_state = state
        if dumps:
            folder = stack.enter_context(temporary_folder())
            checked_state = State(store_of_dumps(folder, dumps, read), quiet=True)
        with checked_state.open(guarded=typed, limits=limits, typed=typed) as store:
            verdict = verify_claim(store, read, _parsed, other_files=other_files)
    output.answer(
        Difference, verdict.rows, lambda: _print(verdict, read.command, read.answer)
    )
    state.notes(verdict.notes)
    if verdict.holds:
        return 0
    return 1


def _print(verdict: Verdict, command: str, answer: str) -> None:
    print_text(visible(f"claimed: {answer} ({command})"))
    print_text(f"{verdict}")
    if verdict.rows:
        print_text("")
        print_rows(
            [
                {
                    "what": row.what,
                    "where": row.where,
                    "claimed": row.claimed,
                    "found": row.found,
                }
                for row in verdict.rows
            ]
        )
