"""Dumps that are asked in place of a store: read, with what is said of them in few
lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..state import State
from .progress import progress

if TYPE_CHECKING:
    from warehouse.dumps.stores import DumpStore

#: Notes that are told unless -v asks for all.
TOLD = 4


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
    found = store_of_dumps(state.dumps, reading, shown=lambda: progress(state.quiet))
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
    if found.is_new:
        state.say(f"read {said.n_sources} sources, {said.n_runs} runs")
    notes = [*said.changed, *said.on_files, *said.notes]
    shown = notes if state.verbose else notes[:TOLD]
    state.notes(shown)
    if len(notes) > len(shown):
        state.say(f"... and {len(notes) - len(shown)} more notes: -v shows all")
