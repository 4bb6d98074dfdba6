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
    late = {
        item.run
        for item in decisions
        if item.superseded_by is not None
        and runs[item.run].measured
        and not stored.holds(runs[item.run])
    }
    superseded: list[Pair] = []
    for index in late:
        superseded += [
            (index, row.id)
            for row in stored.tries(runs[index])
            if row.superseded_by is not None
        ]
    overlaps = compare(scratch, superseded)
    return [
        _placed(item, runs[item.run], stored, overlaps) if item.run in late else item
        for item in decisions
    ]


def _placed(
    decision: Decision,
    run: DumpRun,
    stored: StoredRuns,
    overlaps: Mapping[Pair, Overlap],
) -> Decision:
    winner_id = decision.superseded_by
    assert winner_id is not None
    while True:
        superseded = stored.gave_way_to(run, winner_id)
        replaced = tuple(
            row.id
            for row in superseded
            if gives_way(run, row, overlaps[run.index, row.id])
        )
        shorter = [
            row.id
            for row in superseded
            if row.id not in replaced and overlaps[run.index, row.id].is_all_stored
        ]
        if not shorter:
            break
        winner_id = shorter[0]
    note = (
        f"{run.header.benchmark}: run {winner_id} holds all of this one, which is "
        "superseded by it"
    )
    if not run.key:
        note += APART
    placed = replace(decision, superseded_by=winner_id, supersedes=replaced, note=note)
    return placed if run.key else replace(placed, is_doubtful=True)
