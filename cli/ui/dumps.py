"""Dumps that are asked in place of a store: read, with what is said of them in few
lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.errors import InputError

from ..state import State
from .progress import progress

if TYPE_CHECKING:
    from warehouse.dumps.stores import DumpStore

#: Notes that are told unless -v asks for all.
TOLD = 4
#: Options of ``ingest`` that go with ``--from`` too.
_TAKEN = frozenset(
    ("--map", "--set", "--default", "--higher-is-better", "--lower-is-better")
)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def opened(state: State) -> DumpStore:
    """The store of the dumps that a command is asked of; what was said when they were
    read is said again.

    Raises:
        MisuseError: a path that is not there, or a wrong setting.
        InputError: nothing there can be read.
    """
    from warehouse.dumps.reading import DumpReading
    from warehouse.dumps.stores import store_of_dumps
    from warehouse.importers.common.header_values import parse_values

    reading = DumpReading(
        mapping=state.dump_mapping,
        values=parse_values(state.dump_values),
        defaults=parse_values(state.dump_defaults),
        higher_is_better=state.dump_direction,
        rules=state.file_rules(),
    )
    try:
        found = store_of_dumps(
            state.dumps, reading, shown=lambda: progress(state.quiet)
        )
    except InputError as error:
        error.args = (f"{error}{_of_ingest(str(error))}", *error.args[1:])
        raise
    _tell(state, found)
    return found


def _tell(state: State, found: DumpStore) -> None:
    from warehouse.store.load.state import LoadReport

    from .ingest_summary import print_errors

    said = found.said
    refused = [
        LoadReport(source, "refused", error=error) for source, error in said.refused
    ]
    print_errors(refused, show_all=state.verbose)
    advice = _of_ingest(" ".join(error for _, error in said.refused))
    if advice:
        state.say(advice.removeprefix("; "))
    if found.is_new:
        state.say(f"read {said.n_sources} sources, {said.n_runs} runs")
    notes = [*said.changed, *said.on_files, *said.notes]
    shown = notes if state.verbose else notes[:TOLD]
    state.notes(shown)
    if len(notes) > len(shown):
        state.say(f"... and {len(notes) - len(shown)} more notes: -v shows all")


def _of_ingest(text: str) -> str:
    """What to do about options that errors name and that only ``ingest`` has; empty for
    none."""
    others = sorted(set(_OPTION.findall(text)) - _TAKEN)
    if not others:
        return ""
    return (
        f"; {' and '.join(others)}: an option of ingest: warehouse ingest PATH "
        f"{others[0]} ..., then ask without --from"
    )
