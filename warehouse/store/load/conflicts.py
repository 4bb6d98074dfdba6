"""What becomes of each run of a dump: new, seen again, superseding, a repeat, or a conflict.

A fact that a try could not settle (an unscored sample, a failed generation) is no loss: the other
try may say anything in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import pyarrow as pa

from warehouse.errors import ConflictError
from warehouse.records import RunHeader
from warehouse.store.connection import Store
from warehouse.store.load.run_keys import condition_key, published_digest, run_key
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import Measured
from warehouse.store.sql.query_files import query_text

OnConflict = Literal["error", "skip", "supersede"]


@dataclass(frozen=True)
class Decision:
    """What to do with run number ``run`` of a dump.

    ``new``: store it. ``seen``: the stored run ``same_as`` (or, if that is ``None``, run ``same_in_dump`` of this dump)
    holds the same. Under its ``run_key`` the stored runs ``supersedes`` give way to it, and it gives way itself to the
    stored run ``superseded_by``. ``skip``: leave it out.
    """

    run: int
    action: Literal["new", "seen", "skip"]
    condition_key: str
    run_key: str | None
    content_digest: str
    same_as: int | None = None
    same_in_dump: int | None = None
    supersedes: tuple[int, ...] = ()
    superseded_by: int | None = None
    repeat: bool = False
    note: str = ""


@dataclass(frozen=True)
class _Stored:
    """A stored run under one of its keys."""

    id: int
    condition_key: str
    run_key: str | None
    content_digest: str
    superseded_by: int | None
    n_found: int
    n_generations: int
    n_scores: int
    started_at: datetime | None
    sampling_seed: int | None
    status: str


@dataclass(frozen=True)
class _DumpRun:
    """A run of the dump."""

    index: int
    header: RunHeader
    condition: str
    key: str | None
    content: str
    measured: Measured | None
    execution: str

    @property
    def keys(self) -> tuple[str, str | None, str]:
        return self.condition, self.key, self.content


def _execution(key: str | None, condition: str, run: RunHeader | _Stored) -> str:
    """The key of the tool, else all that may tell a run from another of its condition."""
    return key or f"{condition} {run.sampling_seed} {run.started_at}"


#: Of more runs of one condition without any id none is held against the next: each costs a comparison of all rows.
MOST_TOLD_BY_ROWS = 20


class _StoredRuns:
    """The stored runs that a dump's runs may be the same as, by their keys."""

    def __init__(self, rows: Iterable[_Stored]) -> None:
        self.same: dict[tuple[str, str], dict[str | None, _Stored]] = defaultdict(dict)
        self.current_conditions: set[str] = set()
        self.by_key: dict[str, list[_Stored]] = defaultdict(list)
        self.invalidated: dict[str, int] = {}  # of each condition one
        for row in rows:
            self.same[row.condition_key, row.content_digest][row.run_key] = row
            if row.status == "invalidated":
                self.invalidated[row.condition_key] = row.id
                continue  # it supersedes nothing, and nothing supersedes it
            if row.superseded_by is None:
                self.current_conditions.add(row.condition_key)
            self.by_key[_execution(row.run_key, row.condition_key, row)].append(row)

    def rivals(self, run: _DumpRun) -> list[_Stored]:
        """Current runs of the same execution, with other content; where no tool names it, those that may hold all of
        it, or be all in it."""
        if self.holds(run):
            return []
        current = [row for row in self.by_key.get(run.execution, ()) if row.superseded_by is None]
        if run.key is None:
            return [row for row in current if not self.are_draws(run) and _may_be_part(run, row)]
        return current

    def are_draws(self, run: _DumpRun) -> bool:
        """Whether so many runs stand under a condition without any id that they are not held against each other."""
        return run.key is None and len(self.by_key.get(run.execution, ())) > MOST_TOLD_BY_ROWS

    def holds(self, run: _DumpRun) -> bool:
        """Whether a source brought the same under the same key."""
        return run.key in self.same.get((run.condition, run.content), ())

    def gave_way_to(self, execution: str, run_id: int) -> list[_Stored]:
        """The tries of a run that a stored one has superseded."""
        return [row for row in self.by_key.get(execution, ()) if row.superseded_by == run_id]


def decide(
    store: Store,
    scratch: Scratch,
    headers: Sequence[RunHeader],
    measured: Mapping[int, Measured],
    on_conflict: OnConflict,
    path: str,
    sources: Sequence[range] = (),
) -> list[Decision] | None:
    """Hold every run of a dump against the store and against the runs before it in the dump.

    ``sources`` says which runs come from which source, where they come from several. Then the
    decisions are those that would be made of one source after the other; ``None`` where that cannot
    be said before the first of them is stored.

    Raises:
        ConflictError: a stored run has the same key of the tool and other rows.
    """
    runs = [_run(index, header, measured.get(index)) for index, header in enumerate(headers)]
    stored = _StoredRuns(_stored(store, runs))
    if len(sources) > 1 and _depend(runs, stored, sources):
        return None
    overlaps = compare(scratch, ((run.index, rival.id) for run in runs if run.measured for rival in stored.rivals(run)))
    decisions: list[Decision] = []
    earlier: dict[tuple[str, str], int] = {}
    conditions: set[str] = set()
    for run in runs:
        decision = _decide_one(run, stored, overlaps, on_conflict, path)
        if decision.action == "new" and not decision.note and run.condition in stored.invalidated:
            other = stored.invalidated[run.condition]
            note = f"{run.header.benchmark}: run {other} of the same settings is invalidated, and plays no part here"
            decision = replace(decision, note=note)
        same_earlier = earlier.get((run.condition, run.content))
        if decision.action == "new" and same_earlier is not None:
            decision = replace(decision, action="seen", same_in_dump=same_earlier, repeat=False)
        if decision.action == "new":
            earlier[run.condition, run.content] = run.index
            if decision.superseded_by is None:
                again = not decision.supersedes and run.condition in conditions
                decision = replace(decision, repeat=decision.repeat or again)
                conditions.add(run.condition)
        decisions.append(decision)
    return _put_into_chains(scratch, runs, stored, decisions)


def _depend(runs: Sequence[_DumpRun], stored: _StoredRuns, sources: Sequence[range]) -> bool:
    """Whether a run may take the place of a stored one, or of one that another source brings: under
    one key of the tool they hold different rows. What is the same again, or a repeat, is told alike
    among the runs of one source and of several."""
    brought: dict[str, tuple[int, tuple[object, ...]]] = {}
    for number, source in enumerate(sources):
        for run in runs[source.start : source.stop]:
            if stored.rivals(run):
                return True
            if stored.are_draws(run):
                continue
            holds = (run.condition, run.content) if run.key else _extent(run)[:3]
            first = brought.setdefault(run.execution, (number, holds))
            if first[1] != holds and (first[0] != number or run.key is None):
                return True
    return False


def _run(index: int, header: RunHeader, measured: Measured | None) -> _DumpRun:
    content = measured.content_digest if measured else published_digest(header.published)
    condition, key = condition_key(header), run_key(header)
    return _DumpRun(index, header, condition, key, content, measured, _execution(key, condition, header))


_COLUMNS = (
    "run.id, run.condition_key, run_source.run_key, run.content_digest, run_source.superseded_by,"
    " run.n_found, run.n_generations, run.n_scores, run.started_at, run.sampling_seed, run.status"
)


def _stored(store: Store, runs: Sequence[_DumpRun]) -> list[_Stored]:
    """Stored runs with the condition or a key of a run of the dump, by id, under each of their keys."""
    keys = {
        "conditions": sorted({run.condition for run in runs}),
        "run_keys": sorted({run.key for run in runs if run.key}),
    }
    rows = store.arrow(query_text("ingest", "stored_run").format(columns=_COLUMNS), keys)
    return sorted((_Stored(**row) for row in rows.to_pylist()), key=lambda row: row.id)


def _decide_one(
    run: _DumpRun, stored: _StoredRuns, overlaps: Mapping[Pair, Overlap], on_conflict: OnConflict, path: str
) -> Decision:
    same = stored.same.get((run.condition, run.content))
    here = Decision(run.index, "new", *run.keys)
    if same:
        again = next(iter(same.values()))
        here = replace(here, action="seen", same_as=again.id)
        if again.status == "invalidated":
            return replace(here, note=f"{run.header.benchmark}: {_INVALIDATED.format(id=again.id)}")
        if run.key in same:
            return replace(here, superseded_by=same[run.key].superseded_by)
    if run.key is None:
        return _decide_without_id(here, run, stored, overlaps)
    for rival in stored.rivals(run):
        if not run.measured and rival.n_found:
            note = f"{run.header.benchmark}: figures only; run {rival.id} already holds the samples"
            return Decision(run.index, "seen", *run.keys, same_as=rival.id, note=note)
        overlap = overlaps.get((run.index, rival.id), Overlap(False, False))
        if on_conflict == "supersede" or _replaces(run, rival, overlap):
            return replace(here, supersedes=(rival.id,))
        if overlap.is_all_stored:
            return replace(here, superseded_by=rival.id)
        if on_conflict == "skip":
            note = f"{run.header.benchmark}: conflict, left out"
            return Decision(run.index, "skip", *run.keys, note=note)
        raise _conflict(run.header, rival, path)
    return here if same else replace(here, repeat=run.condition in stored.current_conditions)


_INVALIDATED = "run {id} holds the same and is invalidated: it does not count (warehouse invalidate run:{id} --undo)"
_APART = "; if they are different executions, name each: --set run_id=NAME"


def _decide_without_id(
    here: Decision, run: _DumpRun, stored: _StoredRuns, overlaps: Mapping[Pair, Overlap]
) -> Decision:
    """Rows that stand in another run too are no further draws where nothing tells the two apart."""
    rivals = [(row.id, overlaps[run.index, row.id]) for row in stored.rivals(run)]
    if parts := [number for number, overlap in rivals if overlap.has_all_stored]:
        names = ", ".join(map(str, parts))
        note = f"{run.header.benchmark}: all of run {names} stands in this one, which supersedes it{_APART}"
        return replace(here, supersedes=tuple(parts), note=note)
    if wholes := [number for number, overlap in rivals if overlap.is_all_stored]:
        return replace(here, superseded_by=wholes[0])
    return here if here.same_as else replace(here, repeat=run.condition in stored.current_conditions)


def _replaces(run: _DumpRun, stored: _Stored, overlap: Overlap) -> bool:
    """Whether a stored run gives way. Where neither has a settled fact that the other lacks, the
    longer stays, then the later, whichever came into the store first."""
    if not overlap.has_all_stored:
        return False
    return not overlap.is_all_stored or _extent(run) >= _extent_of_stored(stored)


def _may_be_part(run: _DumpRun, stored: _Stored) -> bool:
    """Whether one may hold a strict part of the other: both have samples, and one has more."""
    shorter, longer = sorted([_extent(run)[:3], _extent_of_stored(stored)[:3]])
    return shorter[0] > 0 and shorter != longer and all(low <= high for low, high in zip(shorter, longer, strict=True))


def _extent(run: _DumpRun) -> tuple[int, int, int, datetime]:
    measured = run.measured or Measured("", 0, 0, 0, 0)
    started = run.header.started_at or datetime.min
    return measured.n_prompts, measured.n_generations, measured.n_scores, started


def _extent_of_stored(row: _Stored) -> tuple[int, int, int, datetime]:
    return row.n_found, row.n_generations, row.n_scores, row.started_at or datetime.min


# --- a try that comes after its successor ------------------------------------------------------


def _put_into_chains(
    scratch: Scratch, runs: Sequence[_DumpRun], stored: _StoredRuns, decisions: Sequence[Decision]
) -> list[Decision]:
    """Tries that came late, where they would stand had they come in time: below the shortest that
    holds all of theirs, above those of which they hold all."""
    late = {item.run for item in decisions if item.superseded_by is not None and not stored.holds(runs[item.run])}
    overlaps = compare(
        scratch,
        (
            (index, row.id)
            for index in late
            for row in stored.by_key.get(runs[index].execution, ())
            if row.superseded_by is not None
        ),
    )
    return [_placed(item, runs[item.run], stored, overlaps) if item.run in late else item for item in decisions]


def _placed(decision: Decision, run: _DumpRun, stored: _StoredRuns, overlaps: Mapping[Pair, Overlap]) -> Decision:
    winner_id = decision.superseded_by
    assert winner_id is not None
    while True:
        superseded = stored.gave_way_to(run.execution, winner_id)
        replaced = tuple(row.id for row in superseded if _replaces(run, row, overlaps[run.index, row.id]))
        shorter = [row.id for row in superseded if row.id not in replaced and overlaps[run.index, row.id].is_all_stored]
        if not shorter:
            break
        winner_id = shorter[0]
    note = f"{run.header.benchmark}: run {winner_id} holds all of this one, which is superseded by it"
    note += "" if run.key else _APART
    return replace(decision, superseded_by=winner_id, supersedes=replaced, note=note)


def _conflict(header: RunHeader, rival: _Stored, path: str) -> ConflictError:
    return ConflictError(
        f"run {rival.id} of {header.model} on {header.benchmark} has the same id of the tool"
        f" ({header.run_id}) and other values",
        path=path,
        expected="every stored row to stand unchanged in the new file",
        advice="--on-conflict supersede replaces it, skip keeps it",
        run_id=rival.id,
    )


#: Pairs that are held against each other at a time, to bound memory.
BLOCK = 200

Pair = tuple[int, int]  # number of a run in the dump, id of a stored run


@dataclass(frozen=True)
class Overlap:
    """What a run of the dump and a stored run have of each other."""

    has_all_stored: bool
    is_all_stored: bool


def compare(scratch: Scratch, pairs: Iterable[Pair]) -> dict[Pair, Overlap]:
    """Hold runs of the dump (with their samples, in the scratch tables) against stored runs."""
    ordered = sorted(set(pairs))
    overlaps: dict[Pair, Overlap] = {}
    for start in range(0, len(ordered), BLOCK):
        overlaps |= _compare(scratch, ordered[start : start + BLOCK])
    return overlaps


#: (facts that a try holds, columns that must agree, facts that are not settled, stored facts that are the dump's own)
_FACTS = (
    ("score", "metric_id, value", "value is null", "origin <> 'scanned'"),
    ("generation", "response_hash", "error is not null", "true"),
    ("choice", "choice_index, loglikelihood", "loglikelihood is null", "true"),
)


def _compare(scratch: Scratch, pairs: Sequence[Pair]) -> dict[Pair, Overlap]:
    scratch.put(
        "pair",
        pa.table(
            {
                "run": pa.array([run for run, _ in pairs], pa.int32()),
                "stored_id": pa.array([stored for _, stored in pairs], pa.int64()),
            }
        ),
    )
    lacking: set[Pair] = set()  # the dump's run lacks a stored fact
    beyond: set[Pair] = set()  # and has one that is not stored
    ids = sorted({stored for _, stored in pairs})
    for fact, values, unsettled, own in _FACTS:
        columns = f"prompt_id, variant_id, draw, {values}"
        scratch.pull(
            "stored_fact",
            f"select run_id, {columns}, ({unsettled}) as is_unsettled from {fact} "
            f"where run_id in (select unnest(cast(:ids as bigint[]))) and {own}",
            {"ids": ids},
        )
        stored = f"select run, stored_id, {columns} from pair join stored_fact on run_id = stored_id"
        new = f"select run, stored_id, {columns} from pair join stage_{fact} using (run)"
        lacking |= _differing(scratch, f"{stored} where not is_unsettled", new)
        beyond |= _differing(scratch, f"{new} where not ({unsettled})", stored)
    scratch.drop(["pair", "stored_fact"])
    return {pair: Overlap(pair not in lacking, pair not in beyond) for pair in pairs}


def _differing(scratch: Scratch, facts: str, others: str) -> set[Pair]:
    """The pairs of which a fact is not among the others."""
    rows = scratch.rows(f"select distinct run, stored_id from ({facts} except {others}) as gone")
    return {(run, stored) for run, stored in rows}
