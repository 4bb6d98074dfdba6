"""Tries that come after their successor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from warehouse.store.load.decisions import Decision
from warehouse.store.load.dump_runs import DumpRun, gives_way
from warehouse.store.load.overlaps import Overlap, Pair, compare
from warehouse.store.load.run_notes import APART
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.stored_runs import StoredRuns


def put_into_chains(
    scratch: Scratch,
    runs: Sequence[DumpRun],
    stored: StoredRuns,
    decisions: Sequence[Decision],
) -> list[Decision]:
    """Tries that came late, where they would stand had they come in time: below the
    shortest that holds all of theirs, above those of which they hold all."""
    late: set[int] = set()
    superseded: list[Pair] = []
    for item in decisions:
        run = runs[item.run]
        if item.superseded_by is None or not run.measured or stored.holds(run):
            continue
        late.add(item.run)
        for row in stored.tries(run):
            if row.superseded_by is not None:
                superseded.append((item.run, row.id))
    overlaps = compare(scratch, superseded)
    placed: list[Decision] = []
    for item in decisions:
        if item.run in late:
            item = _placed(item, runs[item.run], stored, overlaps)
        placed.append(item)
    return placed


def _placed(
    decision: Decision,
    run: DumpRun,
    stored: StoredRuns,
    overlaps: Mapping[Pair, Overlap],
) -> Decision:
    winner_id = decision.superseded_by
    assert winner_id is not None
    while True:
        replaced: list[int] = []
        shorter: list[int] = []
        for row in stored.gave_way_to(run, winner_id):
            overlap = overlaps[run.index, row.id]
            if gives_way(run, row, overlap):
                replaced.append(row.id)
            elif overlap.is_all_stored:
                shorter.append(row.id)
        if not shorter:
            break
        winner_id = shorter[0]
    note = (
        f"{run.header.benchmark}: run {winner_id} holds all of this one, which is "
        "superseded by it"
    )
    is_doubtful = decision.is_doubtful
    if not run.key:
        note += APART
        is_doubtful = True
    return replace(
        decision,
        superseded_by=winner_id,
        supersedes=tuple(replaced),
        note=note,
        is_doubtful=is_doubtful,
    )
