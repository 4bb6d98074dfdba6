"""Notes on decisions: what a reader should know of a run that looks like another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.load.decisions import Decision
from warehouse.store.load.dump_runs import DumpRun, StoredRun
from warehouse.store.load.stored_runs import MOST_TOLD_BY_ROWS, StoredRuns

INVALIDATED = (
    "run {id} holds the same and is invalidated: it does not count (warehouse "
    "fix invalidate run:{id} --undo)"
)


APART = "; if they are different executions, name each: --set run_id=NAME"


def note_on_parts(run: DumpRun, others: Sequence[int]) -> str:
    """A note on a run that has samples of its own under the id of others."""
    numbers = ", ".join(map(str, others))
    runs = f"runs {numbers}"
    if len(others) == 1:
        runs = f"run {numbers}"
    return (
        f"{run.header.benchmark}: {runs} and this one have the same id of the tool "
        f"({run.header.run_id}) and no sample in common: parts of one run, which count "
        "together"
    )


def note_on_equal(run: DumpRun, stored: StoredRun) -> str:
    """A note on what a run of equal scores may be as well, where nothing says whether
    it is the stored one."""
    if stored.is_invalidated:
        return f"{run.header.benchmark}: {INVALIDATED.format(id=stored.id)}"
    is_copy = run.bytes_key is not None and run.bytes_key == stored.bytes_key
    both_say = run.settings.marks.keys() & stored.marks.keys()
    is_told = is_copy or run.key is not None or bool(both_say)
    if is_told or run.is_greedy or not run.measured:
        return ""
    return (
        f"{run.header.benchmark}: run {stored.id} has the same scores, and nothing in "
        f"either says whether they are one execution or two: taken for one{APART}"
    )


def with_note_on_invalidated(
    decision: Decision, run: DumpRun, stored: StoredRuns
) -> Decision:
    """A decision on a new run, which says that one of its settings was invalidated."""
    if decision.action != "new" or decision.note:
        return decision
    other = stored.invalidated.get(run.condition)
    if other is None:
        return decision
    note = (
        f"{run.header.benchmark}: run {other} of the same settings is invalidated, and "
        "plays no part here"
    )
    return replace(decision, note=note)


#: Settings by which the runs of one training or experiment differ under one id, as
#: everybody expects.
_EXPECTED_UNDER_ONE_ID = frozenset(
    """
    revision training_seed initialisation_seed data_order_seed step epoch tokens base_checkpoint model benchmark split
    """.split()
)


def with_notes_on_shared_ids(
    store: Store,
    runs: Sequence[DumpRun],
    stored: StoredRuns,
    decisions: list[Decision],
) -> list[Decision]:
    """Decisions with a note on each new run whose id of the tool another run has under
    other settings."""
    rivals: dict[int, int] = {}
    for run in runs:
        others = stored.under_other_settings(run)
        if others:
            rivals[run.index] = others[0].id
    if not rivals:
        return decisions
    ids = sorted(set(rivals.values()))[:MOST_TOLD_BY_ROWS]
    rows = store.rows(
        "select id, cast(settings as varchar) as settings from run where id in (:ids)",
        {"ids": ids},
    )
    told = {row["id"]: parse_json(row["settings"]) for row in rows if row["settings"]}
    for index, rival in rivals.items():
        decision = decisions[index]
        if decision.action == "new" and not decision.note and rival in told:
            note = _note_on_shared_id(runs[index], rival, told[rival])
            decisions[index] = replace(decision, note=note)
    return decisions


def _note_on_shared_id(run: DumpRun, rival: int, settings: Mapping[str, str]) -> str:
    own = run.settings.settings
    names = sorted(own.keys() | settings.keys())
    differing = [name for name in names if own.get(name) != settings.get(name)]
    if _EXPECTED_UNDER_ONE_ID.issuperset(differing):
        return ""
    first: list[str] = []
    for name in differing[:2]:
        there = settings.get(name, "not said")
        here = own.get(name, "not said")
        first.append(f"{name} {there} there, {here} here")
    more = ""
    if len(differing) > 2:
        more = f" and {len(differing) - 2} more"
    return (
        f"{run.header.benchmark}: run {rival} has the same id of the tool "
        f"({run.header.run_id}) under other settings ({'; '.join(first)}{more}): "
        "taken for another run"
    )
