"""What becomes of each run of a dump: new, seen again, superseding, a repeat, or a
conflict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from warehouse.errors import ConflictError
from warehouse.records import RunHeader
from warehouse.records.settings import RunSettings
from warehouse.store.connection import Store
from warehouse.store.curate.ignored_settings import IgnoredSettings
from warehouse.store.load.decisions import Decision, OnConflict
from warehouse.store.load.dump_runs import (
    DumpRun,
    StoredRun,
    are_apart,
    extent,
    gives_way,
)
from warehouse.store.load.late_tries import put_into_chains
from warehouse.store.load.overlaps import Overlap, Pair, compare
from warehouse.store.load.parts import SourceClaim, SourcePart
from warehouse.store.load.run_keys import published_digest, run_key
from warehouse.store.load.run_notes import (
    APART,
    note_on_equal,
    note_on_parts,
    with_note_on_invalidated,
    with_notes_on_shared_ids,
)
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import Measured
from warehouse.store.load.stored_runs import (
    StoredRuns,
    of_one_with_responses,
    read_stored,
)


def decide(
    store: Store,
    scratch: Scratch,
    headers: Sequence[RunHeader],
    settings: Sequence[RunSettings],
    measured: Mapping[int, Measured],
    on_conflict: OnConflict,
    sources: Sequence[SourcePart],
) -> list[Decision] | None:
    """Hold every run of a dump against the store and against the runs before it in the
    dump.

    Where they come from several sources, the decisions are those that would be made of
    one source after the other; ``None`` where that cannot be said before the first of
    them is stored.

    Raises:
        ConflictError: a stored run has the same key of the tool and other rows.
    """
    ignored = IgnoredSettings.read(store)
    claims: dict[int, SourceClaim] = {}
    for part in sources:
        claims |= dict.fromkeys(part.runs, part.source)
    runs = [
        _run(index, header, told, ignored, measured.get(index), claims[index])
        for index, (header, told) in enumerate(zip(headers, settings, strict=True))
    ]
    path = sources[0].source.path
    stored = StoredRuns(read_stored(store, runs))
    stored.one_responded = of_one_with_responses(store, runs, stored)
    if len(sources) > 1 and _depend(runs, stored, [part.runs for part in sources]):
        return None
    overlaps = compare(scratch, _rivals(runs, stored))
    decisions: list[Decision] = []
    earlier: dict[tuple[str, str], list[int]] = defaultdict(list)
    conditions: set[str] = set()
    for run in runs:
        decision = _decide_one(run, stored, overlaps, on_conflict, path)
        decision = with_note_on_invalidated(decision, run, stored)
        if decision.action == "seen" and decision.same_as is not None and run.measured:
            stored.complete(run, decision.same_as, decision.marks)
        before = earlier[run.recorded, run.content]
        equal = [
            index
            for index in before
            if _are_one(run, runs[index], decisions[index].marks)
        ]
        if decision.action == "new" and equal:
            first = decisions[equal[0]]
            decisions[equal[0]] = replace(
                first, marks={**run.settings.marks, **first.marks}
            )
            decision = replace(
                decision, action="seen", same_in_dump=equal[0], repeat=False
            )
        if decision.action == "new":
            before.append(run.index)
            if decision.superseded_by is None:
                again = not decision.supersedes and run.condition in conditions
                decision = replace(decision, repeat=decision.repeat or again)
                conditions.add(run.condition)
        decisions.append(decision)
    decisions = put_into_chains(scratch, runs, stored, decisions)
    return with_notes_on_shared_ids(store, runs, stored, decisions)


def _are_one(run: DumpRun, other: DumpRun, marks: Mapping[str, str]) -> bool:
    """Whether two runs of a dump with equal scores are one execution; ``marks`` are
    those of the other."""
    if run.source.id != other.source.id:
        is_copy = run.bytes_key is not None and run.bytes_key == other.bytes_key
    else:
        is_copy = (
            run.header.place != other.header.place
            and run.own_file is not None
            and run.own_file == other.own_file
        )
    return is_copy or not are_apart(run.settings.marks, marks)


def _depend(
    runs: Sequence[DumpRun], stored: StoredRuns, sources: Sequence[range]
) -> bool:
    """Whether a run may take the place of a stored one, or of one that another source
    brings: under one key of the tool they hold different rows. What is the same again,
    or a repeat, is told alike among the runs of one source and of several."""
    brought: dict[tuple[str, str | None], tuple[int, tuple[object, ...]]] = {}
    for number, source in enumerate(sources):
        for run in runs[source.start : source.stop]:
            if stored.rivals(run) or (
                stored.figures.get(run.recorded) and not run.measured
            ):
                return True
            if stored.are_draws(run):
                continue
            execution = run.execution
            holds: tuple[object, ...] = (run.recorded, run.content)
            if not run.measured:
                execution = (run.recorded, "figures")
            elif run.key is None:
                holds = (*extent(run)[:3], run.measured.has_responses)
            first = brought.setdefault(execution, (number, holds))
            if first[1] != holds and (first[0] != number or run.key is None):
                return True
    return False


def _run(
    index: int,
    header: RunHeader,
    settings: RunSettings,
    ignored: IgnoredSettings,
    measured: Measured | None,
    source: SourceClaim,
) -> DumpRun:
    content = (
        measured.content_digest if measured else published_digest(header.published)
    )
    alone = settings.of_figures_alone()
    own, other = (settings, alone) if measured else (alone, settings)
    recorded = own.condition_key
    otherwise = "" if own is other else other.condition_key
    condition = ignored.condition_key(header.benchmark, own.settings) or recorded
    return DumpRun(
        index,
        header,
        own,
        condition,
        recorded,
        run_key(header),
        content,
        measured,
        source,
        otherwise,
    )


def _decide_one(
    run: DumpRun,
    stored: StoredRuns,
    overlaps: Mapping[Pair, Overlap],
    on_conflict: OnConflict,
    path: str,
) -> Decision:
    same = stored.same(run)
    here = Decision(run.index, "new", *run.keys)
    if same:
        here = _seen(here, run, same)
        if same[0].is_invalidated or any(row.run_key == run.key for row in same):
            return here
    elif restated := _restated(here, run, stored):
        return restated
    if run.key is None:
        return _decide_without_id(here, run, stored, overlaps)
    decision = _among_tries(here, run, stored, overlaps, on_conflict, path)
    if (
        decision.action == "new"
        and decision.superseded_by is None
        and not decision.supersedes
    ):
        return replace(decision, repeat=run.condition in stored.current_conditions)
    return decision


def _among_tries(
    here: Decision,
    run: DumpRun,
    stored: StoredRuns,
    overlaps: Mapping[Pair, Overlap],
    on_conflict: OnConflict,
    path: str,
) -> Decision:
    """What becomes of a run with an id among the current runs that came under it."""
    superseded: list[int] = []
    parts: list[int] = []
    for rival in stored.rivals(run):
        if not run.measured and rival.n_found:
            note = (
                f"{run.header.benchmark}: figures only; run {rival.id} already holds "
                "the samples"
            )
            return Decision(run.index, "seen", *run.keys, same_as=rival.id, note=note)
        overlap = overlaps.get((run.index, rival.id), Overlap(False, False))
        if on_conflict == "supersede" or gives_way(run, rival, overlap):
            superseded.append(rival.id)
        elif overlap.is_all_stored:
            return replace(here, superseded_by=rival.id)
        elif overlap.is_apart:
            parts.append(rival.id)
        elif on_conflict == "skip":
            note = f"{run.header.benchmark}: conflict, left out"
            return Decision(run.index, "skip", *run.keys, note=note)
        else:
            raise _conflict(run.header, rival, path)
    note = here.note or (note_on_parts(run, parts) if parts else "")
    return replace(here, supersedes=tuple(superseded), note=note)


def _seen(here: Decision, run: DumpRun, same: Sequence[StoredRun]) -> Decision:
    """What becomes of a run that is a stored one: ``same`` are its rows, one under each
    key that it came under."""
    first = same[0]
    marks = {**run.settings.marks, **first.marks}
    note = note_on_equal(run, first)
    here = replace(
        here,
        action="seen",
        same_as=first.id,
        marks=marks,
        note=note,
        is_doubtful=bool(note),
    )
    under_its_key = [row for row in same if row.run_key == run.key]
    if under_its_key and not first.is_invalidated:
        here = replace(here, superseded_by=under_its_key[0].superseded_by)
    return here


def _restated(here: Decision, run: DumpRun, stored: StoredRuns) -> Decision | None:
    """Published figures of a condition that were stated before, at another time: the
    later statement holds, since a board that is fetched again, or a tool that writes
    its results again, makes no further draw."""
    figures = () if run.measured else stored.figures.get(run.recorded, ())
    others = [row for row in figures if _is_statement_of_another_time(run, row)]
    if not others:
        return None
    own = run.header.started_at or datetime.min
    earlier = [row for row in others if (row.started_at or datetime.min) < own]
    later = [row for row in others if (row.started_at or datetime.min) > own]
    if later:
        winner = min(later, key=lambda row: (row.started_at, row.id))
        restates = tuple(
            (row.id, row.run_key) for row in earlier if row.superseded_by == winner.id
        )
        note = (
            f"{run.header.benchmark}: run {winner.id} states these figures anew, "
            "later: it holds"
        )
        return replace(here, superseded_by=winner.id, restates=restates, note=note)
    restates = tuple(
        (row.id, row.run_key) for row in earlier if row.superseded_by is None
    )
    names = ", ".join(str(number) for number, _ in restates)
    note = (
        f"{run.header.benchmark}: figures that run {names} stated before are stated "
        "anew: these hold"
    )
    return replace(here, restates=restates, note=note if restates else "")


def _is_statement_of_another_time(run: DumpRun, stored: StoredRun) -> bool:
    if stored.started_at is None or run.header.started_at is None:
        return False
    return stored.started_at != run.header.started_at


def _decide_without_id(
    here: Decision, run: DumpRun, stored: StoredRuns, overlaps: Mapping[Pair, Overlap]
) -> Decision:
    """Rows that stand in another run too are no further draws where nothing tells the
    two apart."""
    rivals = [(row, overlaps[run.index, row.id]) for row in stored.rivals(run)]
    if parts := [row.id for row, overlap in rivals if gives_way(run, row, overlap)]:
        names = ", ".join(map(str, parts))
        note = (
            f"{run.header.benchmark}: all of run {names} stands in this one, which "
            f"supersedes it{APART}"
        )
        return replace(here, supersedes=tuple(parts), note=note, is_doubtful=True)
    if wholes := [row.id for row, overlap in rivals if overlap.is_all_stored]:
        return replace(here, superseded_by=wholes[0])
    if here.same_as:
        return here
    return replace(here, repeat=run.condition in stored.current_conditions)


def _rivals(runs: Iterable[DumpRun], stored: StoredRuns) -> list[Pair]:
    """Runs of the dump, each with the stored ones that it is held against."""
    pairs: list[Pair] = []
    for run in runs:
        if run.measured:
            pairs += [(run.index, rival.id) for rival in stored.rivals(run)]
    return pairs


def _conflict(header: RunHeader, rival: StoredRun, path: str) -> ConflictError:
    return ConflictError(
        f"run {rival.id} of {header.model} on {header.benchmark} has the same id of "
        f"the tool ({header.run_id}) and other values",
        path=path,
        expected="every stored row to stand unchanged in the new file",
        advice="--on-conflict supersede replaces it, skip keeps it",
        run_id=rival.id,
    )
