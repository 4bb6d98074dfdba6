"""The man page ``warehouse(1)``, from the commands themselves as
``docs/reference/cli.md`` is.

``make man``, or ``python -m warehouse.cli.ui.man_page > warehouse.1``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version

import click

from ..command_table import COMMANDS, SECTIONS
from ..main import EXIT_CODES, cli
from .reference_docs import context_of, top

ENVIRONMENT = {
    "WAREHOUSE_URL": "The store, where --db does not name one.",
    "WAREHOUSE_CONFIG": "The file of settings, where --config does not name one.",
    "WAREHOUSE_MEMORY_LIMIT": (
        "What a load into a store that is a file may take of memory, such as 2GB."
    ),
    "WAREHOUSE_THREADS": (
        "Threads that a store which is a file is asked with; default: one for each "
        "core."
    ),
    "WAREHOUSE_CACHE_SIZE": (
        "What result files that were asked by --from may take in the cache; default: 2GB, "
        "0: nothing is kept."
    ),
    "NO_COLOR": "Tables without colour.",
}
FILES = {
    "warehouse.toml": (
        "Settings, in the current folder, else in $XDG_CONFIG_HOME/warehouse or "
        "~/.config/warehouse."
    ),
    "~/.cache/warehouse/stores": "Which stores were found to be whole; may be deleted.",
    "~/.cache/warehouse/dumps": "What was read by --from; may be deleted.",
    "duckdb:///warehouse.duckdb": "The store, where nothing names another.",
}


def man_page() -> str:
    """The page, in the language of man(7)."""
    context = top()
    return "\n".join(
        [
            f'.TH WAREHOUSE 1 "{_date()}" "eval-warehouse '
            f'{_text(version("eval-warehouse"))}" "User Commands"',
            ".nh\n.ad l",
            *_section(
                "Name", ["warehouse \\- " + _text(_first(cli.help).rstrip(".").lower())]
            ),
            *_section(
                "Synopsis",
                [f".B warehouse\n{_text(' '.join(cli.collect_usage_pieces(context)))}"],
            ),
            *_section("Options", _options(context)),
            *_section("Commands", _commands()),
            *_section("Exit status", [_text(EXIT_CODES)]),
            *_section("Environment", _terms(ENVIRONMENT.items())),
            *_section("Files", _terms(FILES.items())),
            *_section(
                "See also",
                [_text("warehouse COMMAND --help; the pages in docs/ of the source.")],
            ),
            "",
        ]
    )


def _date() -> str:
    """When the page was made; packagers set SOURCE_DATE_EPOCH, so that equal sources
    give equal pages."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds:
        made = datetime.fromtimestamp(int(seconds), UTC)
    else:
        made = datetime.now(UTC)
    return f"{made:%Y-%m-%d}"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f".SH {title.upper()}", *lines]


def _commands() -> Iterator[str]:
    """All commands, by the sections of the help; one that only has commands below it is
    not listed."""
    for number, (section, title) in enumerate(SECTIONS.items()):
        yield f"{'.PP' if number else '.'}\n.B {_text(title)}"
        for name, entry in COMMANDS.items():
            if entry.section != section:
                continue
            context = context_of(name)
            yield f".SS {_text(name)}"
            yield _text(entry.sentence)
            usage = " ".join(context.command.collect_usage_pieces(context))
            yield f".PP\n.B {_text(context.command_path)}\n{_text(usage)}"
            yield from _options(context)
            yield ".PP\nExample:\n.PP\n.nf\n.RS 4"
            yield from map(_text, entry.examples)
            yield ".RE\n.fi"


def _options(context: click.Context) -> Iterator[str]:
    """What a command takes, but for what its usage says, and --help, which all have."""
    own = [
        param
        for param in context.command.get_params(context)
        if context.parent is None or param.name != "help"
    ]
    records = filter(None, (param.get_help_record(context) for param in own))
    return _terms((name, meaning) for name, meaning in records if meaning)


def _terms(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in pairs:
        yield f".TP\n.B {_text(name)}\n{_text(meaning)}"


def _first(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def _text(text: str) -> str:
    """Text that groff prints as it stands; a hyphen stays one, so that options can be
    copied."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    plain = "".join(
        sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in plain
    )
    if plain[:1] in (".", "'"):
        return f"\\&{plain}"
    return plain


if __name__ == "__main__":
    sys.stdout.write(man_page())
