"""The reference part of ``docs/cli.md``: what ``--help`` of every command prints.

Renew it with ``python -m warehouse.cli.ui.reference_docs docs/cli.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..command_table import COMMANDS
from ..main import cli

START = "<!-- from here on: python -m warehouse.cli.ui.reference_docs docs/cli.md -->"
WIDTH = 90


def reference() -> str:
    """The help of the program and of each command, as Markdown."""
    parts = [f"## Reference\n\n{_block(top())}"]
    for name in COMMANDS:
        parts.append(f"### warehouse {name}\n\n{_block(context_of(name))}")
    return "\n".join(parts)


def renewed(document: str) -> str:
    """The document with its reference made anew."""
    written, _, _ = document.partition(START)
    return f"{written}{START}\n\n{reference()}"


def _block(context: click.Context) -> str:
    return f"```text\n{context.command.get_help(context)}\n```\n"


def top() -> click.Context:
    """The program, called without a command."""
    return click.Context(
        cli, info_name="warehouse", terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=["-h", "--help"]
    )


def context_of(name: str) -> click.Context:
    """A command, as it is called."""
    context = top()
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
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
