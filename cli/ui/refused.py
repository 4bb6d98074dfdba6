"""Why sources were refused: each error once."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from warehouse.errors import names_of

from .table import echo, fitted, visible

if TYPE_CHECKING:
    from warehouse.store.load.state import LoadReport

#: How many further sources with the same error are named.
NAMED = 3


#: What an error says that helps: an option with its value.
_HELPS = re.compile(
    r"--(?:default|set) \w+=[\w/]+|--(?:map|format|on-conflict|on-duplicate) [\w-]+"
)


def print_errors(refused: Iterable[LoadReport], *, show_all: bool = False) -> None:
    """Why sources were refused, on standard error, and which options take how many of
    them."""
    refused = list(refused)
    for line in error_lines(refused, show_all=show_all):
        echo(fitted(visible(f"Error: {line}"), sys.stderr), err=True)
    if len(refused) > 1:
        for options, number in _needed(refused).items():
            files = "1 file" if number == 1 else f"{number} files"
            echo(f"  -> for {files}: {options}", err=True)


def _needed(refused: Iterable[LoadReport]) -> Counter[str]:
    """How many files options would take, by these."""
    needed: Counter[str] = Counter()
    for item in refused:
        if options := list(dict.fromkeys(_HELPS.findall(item.error))):
            needed[_together(options)] += item.n_files
    return needed


def _together(options: Iterable[str]) -> str:
    """Options as they are typed: fields side by side, others in their place."""
    fields: list[str] = []
    others: list[str] = []
    for option in options:
        named = option.startswith(("--default", "--set"))
        (fields if named else others).append(option)
    return " or ".join(filter(None, (" ".join(fields), *others)))


def error_lines(refused: Iterable[LoadReport], *, show_all: bool = False) -> list[str]:
    """Each error once, with the number and the first of the sources of which the same
    is said but for their names and for numbers; with ``show_all`` all of them are
    named."""
    alike: dict[str, list[LoadReport]] = {}
    for item in refused:
        alike.setdefault(
            re.sub(r"\d+", "0", _without_name(item.error, item.source)), []
        ).append(item)
    lines = []
    for first, *others in alike.values():
        # the folder that all lie in, with its slash; empty for none
        common = os.path.commonprefix([item.source for item in (first, *others)])
        folder = common[: common.rfind("/") + 1]
        names = ", ".join(
            item.source.removeprefix(folder)
            for item in (others if show_all else others[:NAMED])
        )
        more = ""
        if len(others) > NAMED and not show_all:
            more = ", … (-v names all)"
        lines.append(
            first.error
            + (f" [and {len(others)} more like it: {names}{more}]" if others else "")
        )
    return lines


def _without_name(error: str, source: str) -> str:
    """What an error says of any source."""
    for name in names_of(source):
        error = error.replace(name, "\0")
    return error
