"""Decisions on each run of a dump: new, seen again, superseding, a repeat, or a
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
    Execution,
    StoredRun,
    are_apart,
    extent,
    gives_way,
)
from warehouse.store.load.late_tries import put_into_chains
from warehouse.store.load.measures import Measured
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
    runs: list[DumpRun] = []
    for index, (header, told) in enumerate(zip(headers, settings, strict=True)):
        run = _run(index, header, told, ignored, measured.get(index), claims[index])
        runs.append(run)
    stored = StoredRuns(read_stored(store, runs))
    stored.one_responded = of_one_with_responses(store, runs, stored)
    if len(sources) > 1 and _depend(runs, stored, [part.runs for part in sources]):
        return None
    path = sources[0].source.path
    overlaps = compare(scratch, _rivals(runs, stored))
    dump = _Dump(runs, stored)
    for run in runs:
        decision = _decide_one(run, stored, overlaps, on_conflict, path)
        decision = with_note_on_invalidated(decision, run, stored)
        dump.add(run, decision)
    decisions = put_into_chains(scratch, runs, stored, dump.decisions)
    return with_notes_on_shared_ids(store, runs, stored, decisions)


class _Dump:
    """The runs of a dump, which are held against those before them too."""

    def __init__(self, runs: Sequence[DumpRun], stored: StoredRuns) -> None:
        self.runs = runs
        self.stored = stored
        self.decisions: list[Decision] = []
        #: numbers of the new runs, by their condition and content.
        self._new: dict[tuple[str, str], list[int]] = defaultdict(list)
        #: conditions of those of them that count.
        self._conditions: set[str] = set()

    def add(self, run: DumpRun, decision: Decision) -> None:
        """The next run, with what was decided of it by the store."""
        if decision.action == "seen" and decision.same_as is not None and run.measured:
            self.stored.complete(run, decision.same_as, decision.marks)
        if decision.action == "new":
            decision = self._among_new(run, decision)
        self.decisions.append(decision)

    def _among_new(self, run: DumpRun, decision: Decision) -> Decision:
        """The decision on a run that the store does not have: another of the dump may
        be the same, or be of its condition."""
        before = self._new[run.recorded, run.content]
        for index in before:
            first = self.decisions[index]
            if _are_one(run, self.runs[index], first.marks):
                marks = {**run.settings.marks, **first.marks}
                self.decisions[index] = replace(first, marks=marks)
                return replace(
                    decision, action="seen", same_in_dump=index, repeat=False
                )
        before.append(run.index)
        if decision.superseded_by is not None:
            return decision
        is_again = not decision.supersedes and run.condition in self._conditions
        self._conditions.add(run.condition)
        return replace(decision, repeat=decision.repeat or is_again)


def _are_one(run: DumpRun, other: DumpRun, marks: Mapping[str, str]) -> bool:
    """True where two runs of a dump with equal scores are one execution; ``marks`` are
    those of the other."""
    if _is_copy(run, other):
        return True
    return not are_apart(run.settings.marks, marks)


def _is_copy(run: DumpRun, other: DumpRun) -> bool:
    """True where two runs were read from equal bytes: in two sources, or in two files
    of one."""
    if run.source.id != other.source.id:
        return run.bytes_key is not None and run.bytes_key == other.bytes_key
    if run.header.place == other.header.place:
        return False
    return run.own_file is not None and run.own_file == other.own_file


def _depend(
    runs: Sequence[DumpRun], stored: StoredRuns, sources: Sequence[range]
) -> bool:
    """True where a run may take the place of a stored one, or of one that another
    source brings: under one key of the tool they hold different rows. What is the same
    again, or a repeat, is told alike among the runs of one source and of several."""
    brought: dict[Execution, tuple[int, tuple[object, ...]]] = {}
    for number, source in enumerate(sources):
        for run in runs[source.start : source.stop]:
            if _may_replace(run, stored):
                return True
            if stored.are_draws(run):
                continue
            execution, holds = _brought_by(run)
            first, first_holds = brought.setdefault(execution, (number, holds))
            is_of_other = first != number or run.key is None
            if is_of_other and first_holds != holds:
                return True
    return False


def _may_replace(run: DumpRun, stored: StoredRuns) -> bool:
    """True where a stored run may give way to a run, or its figures to those of it."""
    if stored.rivals(run):
        return True
    return not run.measured and bool(stored.figures.get(run.recorded))


def _brought_by(run: DumpRun) -> tuple[Execution, tuple[object, ...]]:
    """The execution that a run is a try of, and what two tries of it have in common
    where they hold the same."""
    if not run.measured:
        return (run.recorded, "figures"), (run.recorded, run.content)
    if run.key is None:
        counts = extent(run)[:3]
        return run.execution, (*counts, run.measured.has_responses)
    return run.execution, (run.recorded, run.content)


def _run(
    index: int,
    header: RunHeader,
    settings: RunSettings,
    ignored: IgnoredSettings,
    measured: Measured | None,
    source: SourceClaim,
) -> DumpRun:
    alone = settings.of_figures_alone()
    if measured:
        content = measured.content_digest
        own, other = settings, alone
    else:
        content = published_digest(header.published)
        own, other = alone, settings
    recorded = own.condition_key
    otherwise = ""
    if own is not other:
        otherwise = other.condition_key
    condition = ignored.condition_key(header.benchmark, own.settings)
    return DumpRun(
        index=index,
        header=header,
        settings=own,
        condition=condition or recorded,
        recorded=recorded,
        key=run_key(header),
        content=content,
        measured=measured,
        source=source,
        recorded_otherwise=otherwise,
    )


def _decide_one(
    run: DumpRun,
    stored: StoredRuns,
    overlaps: Mapping[Pair, Overlap],
    on_conflict: OnConflict,
    path: str,
) -> Decision:
    """The decision on a run by what the store holds."""
    same = stored.same(run)
    here = Decision(run.index, "new", *run.keys)
    if same:
        here = _seen(here, run, same)
        if same[0].is_invalidated or any(row.run_key == run.key for row in same):
            return here
    else:
        restated = _restated(here, run, stored)
        if restated:
            return restated
    if run.key is None:
        return _decide_without_id(here, run, stored, overlaps)
    decision = _among_tries(here, run, stored, overlaps, on_conflict, path)
    if decision.action != "new" or decision.superseded_by is not None:
        return decision
    if decision.supersedes:
        return decision
    return replace(decision, repeat=run.condition in stored.current_conditions)


def _among_tries(
    here: Decision,
    run: DumpRun,
    stored: StoredRuns,
    overlaps: Mapping[Pair, Overlap],
    on_conflict: OnConflict,
    path: str,
) -> Decision:
    """The decision on a run with an id among the current runs that came under it."""
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
    note = here.note
    if parts and not note:
        note = note_on_parts(run, parts)
    return replace(here, supersedes=tuple(superseded), note=note)


def _seen(here: Decision, run: DumpRun, same: Sequence[StoredRun]) -> Decision:
    """The decision on a run that is a stored one: ``same`` are its rows, one under each
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
    if run.measured:
        return None
    earlier: list[StoredRun] = []
    later: list[StoredRun] = []
    own = run.header.started_at or datetime.min
    for row in stored.figures.get(run.recorded, ()):
        if not _is_statement_of_another_time(run, row):
            continue
        if (row.started_at or datetime.min) < own:
            earlier.append(row)
        else:
            later.append(row)
    if later:
        return _restated_before(here, run, earlier, later)
    if not earlier:
        return None
    restates = _current_among(earlier, None)
    note = ""
    if restates:
        names = ", ".join(str(number) for number, _ in restates)
        note = (
            f"{run.header.benchmark}: figures that run {names} stated before are stated "
            "anew: these hold"
        )
    return replace(here, restates=restates, note=note)


def _restated_before(
    here: Decision,
    run: DumpRun,
    earlier: Sequence[StoredRun],
    later: Sequence[StoredRun],
) -> Decision:
    """Figures that a stored run states anew: the next later statement holds."""
    winner = min(later, key=lambda row: (row.started_at, row.id))
    note = (
        f"{run.header.benchmark}: run {winner.id} states these figures anew, "
        "later: it holds"
    )
    restates = _current_among(earlier, winner.id)
    return replace(here, superseded_by=winner.id, restates=restates, note=note)


def _current_among(
    rows: Iterable[StoredRun], superseded_by: int | None
) -> tuple[tuple[int, str | None], ...]:
    """Ids and keys of the runs that gave way to one, or of those that gave way to
    none."""
    kept = [row for row in rows if row.superseded_by == superseded_by]
    return tuple((row.id, row.run_key) for row in kept)


def _is_statement_of_another_time(run: DumpRun, stored: StoredRun) -> bool:
    if stored.started_at is None or run.header.started_at is None:
        return False
    return stored.started_at != run.header.started_at


def _decide_without_id(
    here: Decision, run: DumpRun, stored: StoredRuns, overlaps: Mapping[Pair, Overlap]
) -> Decision:
    """Rows that stand in another run too are no further draws where nothing tells the
    two apart."""
    parts: list[int] = []
    wholes: list[int] = []
    for row in stored.rivals(run):
        overlap = overlaps[run.index, row.id]
        if gives_way(run, row, overlap):
            parts.append(row.id)
        if overlap.is_all_stored:
            wholes.append(row.id)
    if parts:
        names = ", ".join(map(str, parts))
        note = (
            f"{run.header.benchmark}: all of run {names} stands in this one, which "
            f"supersedes it{APART}"
        )
        return replace(here, supersedes=tuple(parts), note=note, is_doubtful=True)
    if wholes:
        return replace(here, superseded_by=wholes[0])
    if here.same_as:
        return here
    return replace(here, repeat=run.condition in stored.current_conditions)


def _rivals(runs: Iterable[DumpRun], stored: StoredRuns) -> list[Pair]:
    """Runs of the dump, each with the stored ones that it is held against."""
    pairs: list[Pair] = []
    for run in runs:
        if not run.measured:
            continue
        for rival in stored.rivals(run):
            pairs.append((run.index, rival.id))
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
