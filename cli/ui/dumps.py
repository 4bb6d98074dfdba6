"""Dumps that are asked in place of a store: read, with what is said of them in few
lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from warehouse.errors import InputError
from warehouse.tables.words import counted

from .progress import progress
from .refused import print_errors
from .table import echo, fitted, visible

if TYPE_CHECKING:
    from warehouse.dumps.reading import DumpReading
    from warehouse.dumps.stores import DumpStore

#: Notes that are told unless -v asks for all.
TOLD = 4
#: Options of ``ingest`` that go with ``--from`` too.
_TAKEN = frozenset(
    ("--map", "--set", "--default", "--format")
    + ("--higher-is-better", "--lower-is-better")
)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")

#: Commands that a message names, with their own options.
_OTHER_COMMANDS = re.compile(r"warehouse (?!ingest)[a-z]+[^);`]*")


def opened(
    paths: Sequence[str], reading: DumpReading, *, quiet: bool, verbose: bool
) -> DumpStore:
    """The store of the dumps that a command is asked of, with what is to be said of
    them on standard error.

    Raises:
        MisuseError: a path that is not there, or a wrong setting.
        InputError: nothing there can be read.
    """
    from warehouse.dumps.stores import store_of_dumps

    try:
        found = store_of_dumps(paths, reading, shown=lambda: progress(quiet))
    except InputError as error:
        advice = _of_ingest([str(error)])
        error.args = ("; ".join([str(error), *advice]), *error.args[1:])
        raise
    if found.said.refused:
        _tell_refused(found, verbose)
    for text in _remarks(found, quiet=quiet, verbose=verbose):
        echo(fitted(visible(text), sys.stderr), err=True)
    return found


def _tell_refused(found: DumpStore, verbose: bool) -> None:
    from warehouse.store.load.state import LoadReport  # slow to import, seldom needed

    pairs = found.said.refused
    refused = [LoadReport(source, "refused", error=error) for source, error in pairs]
    print_errors(refused, show_all=verbose)


def _remarks(found: DumpStore, *, quiet: bool, verbose: bool) -> Iterator[str]:
    """What is said of dumps beside their errors, in few lines; with -q only by what
    figures hang on how they were read, as ``ingest`` does."""
    said = found.said
    if quiet:
        yield from (f"note: {note}" for note in said.changed)
        return
    yield from _of_ingest([error for _, error in said.refused])
    if said.refused:
        lacking = counted(len(said.refused), "source")
        yield f"the answer is without {lacking} (exit code {InputError.exit_code})"
    if found.is_new:
        read = counted(said.n_sources, "source")
        again = f", {said.n_repeats} of them repeats" if said.n_repeats else ""
        yield f"read {read}: {counted(said.n_runs, 'run')}{again}"
    notes = [*said.changed, *said.on_files, *said.notes]
    shown = notes if verbose else notes[:TOLD]
    yield from (f"note: {note}" for note in shown)
    if len(notes) > len(shown):
        yield f"... and {len(notes) - len(shown)} more notes: -v shows all"


def _of_ingest(errors: Sequence[str]) -> list[str]:
    """What to do about options that errors name and that only ``ingest`` has."""
    said = _OTHER_COMMANDS.sub("", " ".join(errors))
    others = sorted(set(_OPTION.findall(said)) - _TAKEN)
    if not others:
        return []
    return [
        f"{' and '.join(others)}: an option of ingest: warehouse ingest PATH "
        f"{others[0]} ..., then ask without --from"
    ]
