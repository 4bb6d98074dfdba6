"""What commands are made with: the lazy group, and decorators that take texts from the
table."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from itertools import takewhile
from typing import Any

import click

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.questions.registry import ADDED

from .command_table import (
    COMMANDS,
    SECTIONS,
    CommandEntry,
    all_names,
    entry_of,
    meant_by,
    names_below,
    takes_dumps,
)
from .state import State, dump_options, global_options, pass_state
from .ui.output_files import Command
from .ui.table import echo

#: Characters of an example's line.
EXAMPLE = 70
_OPTIONS = re.compile(r" (?=--?[a-z])")
READER_GONE = 141  # 128 + SIGPIPE, as any tool of the shell ends


#: Commands and groups by their names in the table, as far as their modules are loaded.
_MADE: dict[str, click.Command] = {}


def load(name: str) -> click.Command | None:
    """A command by its whole name, its module imported; None where there is none.

    Raises:
        WarehouseError: it asks a question of another package that does not load.
    """
    entry = entry_of(name)
    if entry is None:
        return None
    if entry.module:
        import_module(f".commands.{entry.module}", __package__)
    if name in _MADE:
        return _MADE[name]
    if entry.asks:
        asking: click.Command = import_module(".ask", __package__).command_of(entry)
        return asking
    return group(name)(_hold_commands)


def _hold_commands() -> None:
    """A group that only holds its commands does nothing itself."""


class CommandGroup(click.Group):
    """A command with commands of its own, whose modules are imported when they run;
    called without one it shows its help."""

    @property
    def place(self) -> str:
        """Its name in the table; empty of the program itself."""
        return self.name or ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return names_below(self.place)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(f"{self.place} {cmd_name}".strip())

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        word = args[0]
        if not word.startswith("-") and not self.holds(word):
            raise click.UsageError(_no_command(self.place, word), ctx)
        return super().resolve_command(ctx, args)

    def holds(self, word: str) -> bool:
        """True if the group has a command of this name."""
        return f"{self.place} {word}" in COMMANDS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, COMMANDS[f"{self.place} {name}"].sentence)
                    for name in names_below(self.place)
                ]
            )


class LazyGroup(CommandGroup):
    """The top of the command line: knows the table of commands."""

    @property
    def place(self) -> str:
        return ""

    def holds(self, word: str) -> bool:
        # to look at what is installed takes a while
        return word in COMMANDS or word in all_names()

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """A command; paths in place of one are dumps, and mean their leaderboard."""
        if not os.path.exists(args[0]) or self.holds(args[0]):
            return super().resolve_command(ctx, args)
        paths = list(takewhile(os.path.exists, args))
        ctx.ensure_object(State).dumps.paths += tuple(paths)
        return super().resolve_command(ctx, ["leaderboard", *args[len(paths) :]])

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Commands first: they are what somebody looks for."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        names = self.list_commands(ctx)
        for section, title in SECTIONS.items():
            shown = [
                (name, _sentence_of(name))
                for name in names
                if _section_of(name) == section
            ]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown, col_max=12)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(READER_GONE) from None
        return result


def _section_of(name: str) -> str:
    if name in COMMANDS:
        return COMMANDS[name].section
    return ADDED


def _sentence_of(name: str) -> str:
    """The sentence of a command, also of another package's that is broken."""
    try:
        entry = entry_of(name)
    except WarehouseError as error:
        return str(error)
    if entry:
        return entry.sentence
    return ""


def looks_like_path(word: str) -> bool:
    """True of what nobody calls a command: it has a slash, or the ending of a file."""
    return "/" in word or "\\" in word or bool(_ENDING.search(word))


#: Ending of a file's name.
_ENDING = re.compile(r"\w\.[a-z][a-z0-9]{1,7}$", re.IGNORECASE)


def _no_command(group: str, word: str) -> str:
    """The message for a word that is no command of a group: what is spelled like it
    there, else where it stands."""
    ways = " or ".join(f"warehouse {name}" for name in meant_by(word))
    if ways:
        return f"no command '{word}' here: {ways}"
    if looks_like_path(word):
        return f"there is no file or folder {word}"
    advice = did_you_mean(word, names_below(group), "")
    return "; ".join(filter(None, (f"no command '{word}'", advice)))


def command(
    name: str,
    *,
    takes_state: bool = True,
    entry: CommandEntry | None = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function the command ``name`` of the table.

    Args:
        takes_state: whether its first argument is the `State`.
        entry: its texts, where it is none of the table.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        shown = entry or COMMANDS[name]
        texts = _texts(shown)
        made: Any = click.command(
            name.split()[-1], **{"cls": Command, **texts, **settings}
        )
        if takes_state:
            asks = takes_dumps(shown)
            function = pass_state(_asking(function) if asks else _changing(function))
            function = dump_options(function) if asks else function
        _MADE[name] = made(global_options(function))
        return _MADE[name]

    return decorate


def _asking(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command that asks; of dumps it ends as ``ingest`` would have, unless its own
    answer is not fine."""

    @wraps(function)
    def wrapper(state: State, /, *args: Any, **values: Any) -> Any:
        state.dumps.require(state.db)
        try:
            answered = function(state, *args, **values)
            code = answered if isinstance(answered, int) else 0
        except click.exceptions.Exit as ended:
            code = ended.exit_code
        except WarehouseError as error:
            error.args = (state.dumps.in_commands(str(error)), *error.args[1:])
            raise
        code = code or state.dumps.exit_code
        if code:
            raise click.exceptions.Exit(code)

    return wrapper


def _changing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command that is not asked of dumps, and says so."""

    @wraps(function)
    def wrapper(state: State, /, *args: Any, **values: Any) -> Any:
        if state.dumps:
            ctx = click.get_current_context()
            raise click.UsageError(
                f"--from is for commands that only ask; {ctx.command_path} needs a store "
                "that stays: warehouse ingest PATH, then the same without --from"
            )
        return function(state, *args, **values)

    return wrapper


def group(name: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Group]:
    """Make a function the group ``name`` of the table."""

    def decorate(function: Callable[..., Any]) -> click.Group:
        made: Any = click.group(
            name, **{"cls": CommandGroup, **_texts(COMMANDS[name]), **settings}
        )
        made_group: click.Group = made(global_options(function))
        _MADE[name] = made_group
        return made_group

    return decorate


def _texts(entry: CommandEntry) -> dict[str, Any]:
    examples = "\n".join(f"  {_in_lines(example)}" for example in entry.examples)
    return {
        "help": f"{entry.sentence}\n\n\b\nExample:\n{examples}",
        "short_help": entry.sentence,
    }


def _in_lines(example: str) -> str:
    """A long command goes on in the next line, as a shell takes it."""
    lines = [""]
    for part in _OPTIONS.split(example):
        if lines[-1] and len(lines[-1]) + len(part) > EXAMPLE:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".strip()
    return " \\\n      ".join(lines)
