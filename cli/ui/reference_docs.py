"""``docs/reference/cli.md``: what ``--help`` of every command prints, what
many share only once.

Renew it with
``python -m warehouse.cli.ui.reference_docs docs/reference/cli.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from pathlib import Path

import click

from warehouse.files import replace_file

from ..command_table import COMMANDS
from ..main import cli
from .output_files import TABLES

START = (
    "<!-- from here on: "
    "python -m warehouse.cli.ui.reference_docs docs/reference/cli.md -->"
)
WIDTH = 90
#: Commands that have an option, from which on it is said once.
MANY = 4


def reference() -> str:
    """The help of the program and of each command, as Markdown; options of many
    commands once, above."""
    contexts = {name: context_of(name) for name in COMMANDS}
    shared = _shared(contexts.values())
    parts = [
        f"## Reference\n\n{_block(top(), {})}",
        "### Options of many commands\n"
        "\n"
        "Of every command `-h, --help`; *tables*: the forms under [Answers](../cli.md#answers). "
        "Commands name which of these they have:\n"
        "\n"
        f"{_listed(shared)}",
    ]
    for name, context in contexts.items():
        own = [
            param.opts[0] for param in context.command.params if _key(param) in shared
        ]
        tables = []
        if {param.name for param in context.command.params} >= TABLES:
            tables = ["tables"]
        also = ""
        if own or tables:
            also = f"\nAlso {', '.join([*(f'`{flag}`' for flag in own), *tables])}.\n"
        parts.append(f"### warehouse {name}\n\n{_block(context, shared)}{also}")
    return "\n".join(parts)


def _key(parameter: click.Parameter) -> tuple[str, str]:
    """Key by which two options are the same: flags and help."""
    if not isinstance(parameter, click.Option):
        return "", ""
    return " ".join(
        parameter.opts
    ), f"{parameter.help} {parameter.default if parameter.show_default else ''}"


def _shared(
    contexts: Iterable[click.Context],
) -> dict[tuple[str, str], tuple[click.Option, click.Context]]:
    """Options that at least so many commands have, with one of these."""
    by_key: dict[tuple[str, str], list[tuple[click.Option, click.Context]]] = {}
    for context in contexts:
        for param in context.command.params:
            if (
                isinstance(param, click.Option)
                and not param.hidden
                and param.name not in TABLES
            ):
                by_key.setdefault(_key(param), []).append((param, context))
    return {
        key: several[0]
        for key, several in sorted(by_key.items())
        if len(several) >= MANY
    }


def _listed(
    shared: Mapping[tuple[str, str], tuple[click.Option, click.Context]],
) -> str:
    records = [
        record
        for param, context in shared.values()
        if (record := param.get_help_record(context))
    ]
    formatter = click.HelpFormatter(width=WIDTH)
    formatter.write_dl(records)
    return f"```text\n{formatter.getvalue().rstrip()}\n```\n"


def renewed(document: str) -> str:
    """The document with its reference made anew."""
    written, _, _ = document.partition(START)
    return f"{written}{START}\n\n{reference()}"


def _block(context: click.Context, shared: Collection[tuple[str, str]]) -> str:
    command = copy(context.command)
    if context.parent is not None:
        command.params = [
            param
            for param in command.params
            if param.name not in TABLES and _key(param) not in shared
        ]
        command.add_help_option = False
    return f"```text\n{command.get_help(context).rstrip()}\n```\n"


def top() -> click.Context:
    """The program, called without a command."""
    return click.Context(
        cli,
        info_name="warehouse",
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )


def context_of(name: str, program: click.Context | None = None) -> click.Context:
    """A command, as it is called; by default on a page of this width."""
    context = program or top()
    for word in name.split():
        group = context.command
        assert isinstance(group, click.Group)
        command = group.get_command(context, word)
        assert command is not None
        context = click.Context(command, info_name=word, parent=context)
    return context


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        path = Path(argument)
        replace_file(path, renewed(path.read_text(encoding="utf-8")).encode())
