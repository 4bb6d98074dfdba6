"""What commands are made with: the lazy group, and decorators that take texts from the
table."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.questions.registry import ADDED

from .command_table import (
    COMMANDS,
    EVERYDAY,
    FORMER,
    SECTIONS,
    CommandEntry,
    all_names,
    entry_of,
)
from .state import global_options, pass_state
from .ui.output_files import Command
from .ui.table import echo

#: Characters of an example's line.
EXAMPLE = 70
_OPTIONS = re.compile(r" (?=--?[a-z])")
READER_GONE = 141  # 128 + SIGPIPE, as any tool of the shell ends


class LazyGroup(click.Group):
    """The top of the command line: knows the table of commands, imports a module when
    it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in all_names() if " " not in name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in FORMER:
            module, function, _today = FORMER[cmd_name]
        else:
            entry = entry_of(cmd_name)
            if entry is None:
                return None
            if not entry.module:
                asking: click.Command = import_module(".ask", __package__).command_of(
                    entry
                )
                return asking
            module, function = entry.module, cmd_name.replace("-", "_")
        subcommand: click.Command = getattr(
            import_module(f".commands.{module}", __package__), function
        )
        return subcommand

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        is_ours = args[0] in COMMANDS or args[0] in FORMER or args[0].startswith("-")
        if (
            not is_ours and args[0] not in all_names()
        ):  # looks through what is installed, which takes a while
            advice = did_you_mean(args[0], all_names(), "")
            raise click.UsageError(
                "; ".join(filter(None, (f"no command '{args[0]}'", advice))), ctx
            )
        return super().resolve_command(ctx, args)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Commands first: they are what somebody looks for."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        parts = [("Every day", [*EVERYDAY])]
        for section, title in SECTIONS.items():
            names = [
                name for name in self.list_commands(ctx) if _section_of(name) == section
            ]
            parts.append(
                (
                    f"{section} - {title}",
                    [name for name in names if name not in EVERYDAY],
                )
            )
        for title, names in parts:
            if names:
                with formatter.section(title):
                    formatter.write_dl(
                        [(name, _sentence_of(name)) for name in names], col_max=12
                    )

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


class CommandGroup(click.Group):
    """A command with commands of its own; called without one it shows its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)


def command(
    name: str,
    *,
    group: click.Group | None = None,
    today: str = "",
    takes_state: bool = True,
    entry: CommandEntry | None = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function the command ``name`` of the table.

    Args:
        group: which it is a command of, if of one.
        today: whose texts it has, where not its own.
        takes_state: whether its first argument is the `State`.
        entry: its texts, where it is none of the table.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        texts = _texts(entry or COMMANDS[today or name])
        made: Any = click.command(
            name.split()[-1], **{"cls": Command, **texts, **settings}
        )
        made_command: click.Command = made(
            global_options(pass_state(function) if takes_state else function)
        )
        if group is not None:
            group.add_command(made_command)
        return made_command

    return decorate


def former(
    name: str, today: str, **settings: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a former command: not shown, with the texts of today's."""
    return command(name, today=today, hidden=True, **settings)


def group(name: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Group]:
    """Make a function the group ``name`` of the table."""

    def decorate(function: Callable[..., Any]) -> click.Group:
        made: Any = click.group(
            name, **{"cls": CommandGroup, **_texts(COMMANDS[name]), **settings}
        )
        made_command: click.Group = made(global_options(function))
        return made_command

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
