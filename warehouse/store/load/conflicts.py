"""What becomes of each run of a dump: new, seen again, superseding, a repeat, or a
conflict.

A fact that a try could not settle (an unscored sample, a failed generation) is no loss:
the other try may say anything in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa

from warehouse.errors import ConflictError
from warehouse.records import RunHeader, parse_json
from warehouse.records.settings import RunSettings
from warehouse.store.connection import Store
from warehouse.store.curate.ignored_settings import IgnoredSettings
from warehouse.store.load.parts import SourceClaim, SourcePart
from warehouse.store.load.run_keys import published_digest, run_key
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import Measured
from warehouse.store.sql.query_files import query_text

OnConflict = Literal["error", "skip", "supersede"]


@dataclass(frozen=True)
class Decision:
    """What to do with run number ``run`` of a dump.

    ``new``: store it. ``seen``: the stored run ``same_as`` (or, if that is ``None``,
    run ``same_in_dump`` of this dump) is the same execution. Under its ``run_key`` the
    stored runs ``supersedes`` give way to it, and it gives way itself to the stored run
    ``superseded_by``. ``skip``: leave it out. ``condition_key`` leaves out what does
    not matter by a person's word; ``marks`` are those that the execution is known by
    from now on.
    """

    run: int
    action: Literal["new", "seen", "skip"]
    condition_key: str
    recorded_key: str
    run_key: str | None
    content_digest: str
    marks: Mapping[str, str] = field(default_factory=dict)
    same_as: int | None = None
    same_in_dump: int | None = None
    supersedes: tuple[int, ...] = ()
    restates: tuple[
        tuple[int, str | None], ...
    ] = ()  # stored runs whose figures are stated anew, under their own keys
    superseded_by: int | None = None
    repeat: bool = False
    note: str = ""
    is_doubtful: bool = False  # the note is on what may be read in two ways

    def stored_as(self, run_ids: Mapping[int, int]) -> int:
        """Id of the run of the store that this one is, a new one or one that was there;
        of none that is left out.

        Args:
            run_ids: ids of the new runs of the load, by their number.
        """
        if self.same_as is not None:
            return self.same_as
        return run_ids[self.run if self.same_in_dump is None else self.same_in_dump]


@dataclass(frozen=True)
class _Stored:
    """A stored run under one of its keys."""

    id: int
    condition_key: str
    recorded_key: str
    run_key: str | None
    content_digest: str
    superseded_by: int | None
    n_found: int
    n_generations: int
    n_scores: int
    started_at: datetime | None
    marks: Mapping[str, str]
    bytes_key: str | None
    status: str

    @property
    def is_invalidated(self) -> bool:
        """Whether a person took it out of every view."""
        return self.status == "invalidated"


@dataclass(frozen=True)
class _DumpRun:
    """A run of the dump."""

    index: int
    header: RunHeader
    settings: RunSettings
    condition: (
        str  # its condition, without settings that do not matter by a person's word
    )
    recorded: str  # its condition as the dump has it
    key: str | None
    content: str
    measured: Measured | None
    source: SourceClaim
    #: its condition if it came without samples, where it has some, and the other way
    #: round: figures alone name the subset of prompts that was asked among their
    #: settings. Empty: the same.
    recorded_otherwise: str = ""

    @property
    def bytes_key(self) -> str | None:
        """What stands for the bytes that it was read from; none where a mapping says
        what tells runs apart."""
        if self.source.is_mapped:
            return None
        return self.source.bytes_key(self.header.place)

    @property
    def own_file(self) -> str | None:
        """Hash of the bytes of its own file, where the header names one of the
        source's."""
        if self.source.is_mapped:
            return None
        return self.source.files.get(self.header.place)

    @property
    def keys(self) -> tuple[str, str, str | None, str, Mapping[str, str]]:
        return (
            self.condition,
            self.recorded,
            self.key,
            self.content,
            self.settings.marks,
        )

    @property
    def execution(self) -> tuple[str, str | None]:
        """What the tries of one execution have in common: a tool's id names one run of
        each condition, since the checkpoints of a training or the temperatures of an
        experiment may share it."""
        return self.recorded, self.key

    @property
    def is_greedy(self) -> bool:
        """Whether the likeliest token was always taken, so that repeats are equal."""
        return self.settings.settings.get("temperature") == "0"


def are_apart(marks: Mapping[str, str], others: Mapping[str, str]) -> bool:
    """Whether two executions are told apart by something that both say: ids, seeds,
    times, costs."""
    return any(others.get(name, value) != value for name, value in marks.items())


def _seed_and_start(marks: Mapping[str, str]) -> tuple[str | None, str | None]:
    """What tells two tries apart that no tool names, of which one may hold a part of
    the other."""
    return marks.get("sampling_seed"), marks.get("started_at")


def _is_same_execution(run: _DumpRun, stored: _Stored) -> bool:
    """Whether a run of equal scores is the stored one: by the tool's id, or as the same
    bytes in a folder or file of another name, else unless something tells them apart.
    """
    if run.key is not None and run.key == stored.run_key:
        return True
    if run.bytes_key is not None and run.bytes_key == stored.bytes_key:
        return True
    return not are_apart(run.settings.marks, stored.marks)


#: Of more runs of one condition without any id none is held against the next: each
#: costs a comparison of all rows.
MOST_TOLD_BY_ROWS = 20


class _StoredRuns:
    """The stored runs that a dump's runs may be the same as, by their keys."""

    def __init__(self, rows: Iterable[_Stored]) -> None:
        self.equal: dict[tuple[str, str], list[_Stored]] = defaultdict(list)
        self.current_conditions: set[str] = set()
        self.by_execution: dict[tuple[str, str | None], list[_Stored]] = defaultdict(
            list
        )
        self.by_run_key: dict[str, list[_Stored]] = defaultdict(list)
        self.figures: dict[str, list[_Stored]] = defaultdict(list)
        self.invalidated: dict[str, int] = {}  # of each condition one
        #: runs of the dump with stored ones of equally many rows of which either alone
        #: has responses, so that it may be all of the other.
        self.one_responded: set[Pair] = set()
        for row in rows:
            self.equal[row.recorded_key, row.content_digest].append(row)
            if row.is_invalidated:
                self.invalidated[row.condition_key] = row.id
                continue  # it supersedes nothing, and nothing supersedes it
            if row.superseded_by is None:
                self.current_conditions.add(row.condition_key)
            self.by_execution[row.recorded_key, row.run_key].append(row)
            if row.run_key is not None:
                self.by_run_key[row.run_key].append(row)
            if row.n_found == 0:
                self.figures[row.recorded_key].append(row)

    def same(self, run: _DumpRun) -> list[_Stored]:
        """The stored run that this one is, under each key that it came under; none if
        there is no such run.

        Of several that it may be, the one that the tool's id names, else one that no
        mark tells from it (the same bytes may hold several executions), else the first.
        """
        rows = [
            row
            for row in self.equal.get((run.recorded, run.content), ())
            if _is_same_execution(run, row)
        ]
        named = [row for row in rows if run.key is not None and row.run_key == run.key]
        alike = [row for row in rows if not are_apart(run.settings.marks, row.marks)]
        both = [row for row in named if row in alike]
        chosen = (both or named or alike or rows)[:1]
        return [row for row in rows if row.id == chosen[0].id] if chosen else []

    def complete(self, run: _DumpRun, run_id: int, marks: Mapping[str, str]) -> None:
        """A stored run is known by more marks from now on: those of a run of the dump,
        which it is."""
        key = (run.recorded, run.content)
        self.equal[key] = [
            replace(row, marks=marks) if row.id == run_id else row
            for row in self.equal[key]
        ]

    def rivals(self, run: _DumpRun) -> list[_Stored]:
        """Current runs of the same execution, with other content; where no tool names
        it, those that may hold all of it, or be all in it."""
        if self.holds(run):
            return []
        current = [row for row in self.tries(run) if row.superseded_by is None]
        if run.key is None:
            if self.are_draws(run):
                return []
            return [
                row
                for row in current
                if _may_be_part(run, row) or (run.index, row.id) in self.one_responded
            ]
        return current

    def tries(self, run: _DumpRun) -> list[_Stored]:
        """Stored runs under the key of a run; without one, those of its condition, of
        the same seed and start."""
        rows = self.by_execution.get(run.execution, [])
        if run.key is not None and run.recorded_otherwise:
            others = self.by_execution.get((run.recorded_otherwise, run.key), [])
            rows = rows + [
                row for row in others if bool(row.n_found) != bool(run.measured)
            ]
        if run.key is not None:
            return rows
        own = _seed_and_start(run.settings.marks)
        return [row for row in rows if _seed_and_start(row.marks) == own]

    def are_draws(self, run: _DumpRun) -> bool:
        """Whether so many runs stand under a condition without any id that they are not
        held against each other."""
        return (
            run.key is None
            and len(self.by_execution.get(run.execution, ())) > MOST_TOLD_BY_ROWS
        )

    def holds(self, run: _DumpRun) -> bool:
        """Whether a source brought the same under the same key."""
        return any(row.run_key == run.key for row in self.same(run))

    def gave_way_to(self, run: _DumpRun, run_id: int) -> list[_Stored]:
        """The tries of a run that a stored one has superseded."""
        return [row for row in self.tries(run) if row.superseded_by == run_id]

    def under_other_settings(self, run: _DumpRun) -> list[_Stored]:
        """Stored runs that have the tool's id of a run, and were made under other
        settings."""
        own = (run.recorded, run.recorded_otherwise)
        return [
            row
            for row in self.by_run_key.get(run.key or "", ())
            if row.recorded_key not in own
        ]


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
    stored = _StoredRuns(_stored(store, runs))
    stored.one_responded = _of_one_with_responses(store, runs, stored)
    if len(sources) > 1 and _depend(runs, stored, [part.runs for part in sources]):
        return None
    overlaps = compare(scratch, _rivals(runs, stored))
    decisions: list[Decision] = []
    earlier: dict[tuple[str, str], list[int]] = defaultdict(list)
    conditions: set[str] = set()
    for run in runs:
        decision = _decide_one(run, stored, overlaps, on_conflict, path)
        decision = _with_note_on_invalidated(decision, run, stored)
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
    decisions = _put_into_chains(scratch, runs, stored, decisions)
    return _with_notes_on_shared_ids(store, runs, stored, decisions)


def _are_one(run: _DumpRun, other: _DumpRun, marks: Mapping[str, str]) -> bool:
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
    runs: Sequence[_DumpRun], stored: _StoredRuns, sources: Sequence[range]
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
                holds = (*_extent(run)[:3], run.measured.has_responses)
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
) -> _DumpRun:
    content = (
        measured.content_digest if measured else published_digest(header.published)
    )
    alone = settings.of_figures_alone()
    own, other = (settings, alone) if measured else (alone, settings)
    recorded = own.condition_key
    otherwise = "" if own is other else other.condition_key
    condition = ignored.condition_key(header.benchmark, own.settings) or recorded
    return _DumpRun(
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


_COLUMNS = (
    "run.id, run.condition_key, run.recorded_key, run_source.run_key, "
    "run.content_digest, run_source.superseded_by, run.n_found, run.n_generations, "
    "run.n_scores, run.started_at, cast(run.marks as varchar) as marks, run.bytes_key, "
    "run.status"
)


def _stored(store: Store, runs: Sequence[_DumpRun]) -> list[_Stored]:
    """Stored runs with the condition or a key of a run of the dump, by id, under each
    of their keys."""
    conditions = {run.condition for run in runs} | {run.recorded for run in runs}
    keys = {
        "conditions": sorted(conditions),
        "run_keys": sorted({run.key for run in runs if run.key}),
    }
    rows = store.arrow(
        query_text("ingest", "stored_run").format(columns=_COLUMNS), keys
    )
    return sorted(
        (_stored_run(row) for row in rows.to_pylist()), key=lambda row: row.id
    )


def _stored_run(row: dict[str, Any]) -> _Stored:
    marks = row.pop("marks")
    return _Stored(**row, marks=parse_json(marks) if marks else {})


def _decide_one(
    run: _DumpRun,
    stored: _StoredRuns,
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
    run: _DumpRun,
    stored: _StoredRuns,
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
        if on_conflict == "supersede" or _replaces(run, rival, overlap):
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
    note = here.note or (_note_on_parts(run, parts) if parts else "")
    return replace(here, supersedes=tuple(superseded), note=note)


def _note_on_parts(run: _DumpRun, others: Sequence[int]) -> str:
    """What is said of a run that has samples of its own under the id of others."""
    runs = f"run{'' if len(others) == 1 else 's'} {', '.join(map(str, others))}"
    return (
        f"{run.header.benchmark}: {runs} and this one have the same id of the tool "
        f"({run.header.run_id}) and no sample in common: parts of one run, which count "
        "together"
    )


def _seen(here: Decision, run: _DumpRun, same: Sequence[_Stored]) -> Decision:
    """What becomes of a run that is a stored one: ``same`` are its rows, one under each
    key that it came under."""
    first = same[0]
    marks = {**run.settings.marks, **first.marks}
    note = _note_on_equal(run, first)
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


def _note_on_equal(run: _DumpRun, stored: _Stored) -> str:
    """What a run of equal scores may be as well, where nothing says whether it is the
    stored one."""
    if stored.is_invalidated:
        return f"{run.header.benchmark}: {_INVALIDATED.format(id=stored.id)}"
    is_copy = run.bytes_key is not None and run.bytes_key == stored.bytes_key
    is_told = (
        is_copy
        or run.key is not None
        or bool(run.settings.marks.keys() & stored.marks.keys())
    )
    if is_told or run.is_greedy or not run.measured:
        return ""
    return (
        f"{run.header.benchmark}: run {stored.id} has the same scores, and nothing in "
        f"either says whether they are one execution or two: taken for one{_APART}"
    )


#: Settings by which the runs of one training or experiment differ under one id, as
#: everybody expects.
_EXPECTED_UNDER_ONE_ID = frozenset(
    """
    revision training_seed initialisation_seed data_order_seed step epoch tokens base_checkpoint model benchmark split
    """.split()
)


def _with_notes_on_shared_ids(
    store: Store,
    runs: Sequence[_DumpRun],
    stored: _StoredRuns,
    decisions: list[Decision],
) -> list[Decision]:
    """Decisions with a note on each new run whose id of the tool another run has under
    other settings."""
    rivals = {
        run.index: others[0].id
        for run in runs
        if (others := stored.under_other_settings(run))
    }
    if not rivals:
        return decisions
    ids = sorted(set(rivals.values()))[:MOST_TOLD_BY_ROWS]
    rows = store.rows(
        "select id, cast(settings as varchar) as settings from run where id in (:ids)",
        {"ids": ids},
    )
    told = {row["id"]: parse_json(row["settings"]) for row in rows if row["settings"]}
    for index, rival in rivals.items():
        decision, run = decisions[index], runs[index]
        if decision.action == "new" and not decision.note and rival in told:
            decisions[index] = replace(
                decision, note=_note_on_shared_id(run, rival, told[rival])
            )
    return decisions


def _note_on_shared_id(run: _DumpRun, rival: int, settings: Mapping[str, str]) -> str:
    own = run.settings.settings
    differing = sorted(
        name
        for name in own.keys() | settings.keys()
        if own.get(name) != settings.get(name)
    )
    if _EXPECTED_UNDER_ONE_ID.issuperset(differing):
        return ""
    names = [
        f"{name} {settings.get(name, 'not said')} there, {own.get(name, 'not said')} "
        "here"
        for name in differing
    ]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return (
        f"{run.header.benchmark}: run {rival} has the same id of the tool "
        f"({run.header.run_id}) under other settings ({'; '.join(names[:2])}{more}): "
        "taken for another run"
    )


# --- figures that a source states anew ----------------------------------------------------------


def _restated(here: Decision, run: _DumpRun, stored: _StoredRuns) -> Decision | None:
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


def _is_statement_of_another_time(run: _DumpRun, stored: _Stored) -> bool:
    if stored.started_at is None or run.header.started_at is None:
        return False
    return stored.started_at != run.header.started_at


_INVALIDATED = (
    "run {id} holds the same and is invalidated: it does not count (warehouse "
    "invalidate run:{id} --undo)"
)
_APART = "; if they are different executions, name each: --set run_id=NAME"


def _decide_without_id(
    here: Decision, run: _DumpRun, stored: _StoredRuns, overlaps: Mapping[Pair, Overlap]
) -> Decision:
    """Rows that stand in another run too are no further draws where nothing tells the
    two apart."""
    rivals = [(row, overlaps[run.index, row.id]) for row in stored.rivals(run)]
    if parts := [row.id for row, overlap in rivals if _replaces(run, row, overlap)]:
        names = ", ".join(map(str, parts))
        note = (
            f"{run.header.benchmark}: all of run {names} stands in this one, which "
            f"supersedes it{_APART}"
        )
        return replace(here, supersedes=tuple(parts), note=note, is_doubtful=True)
    if wholes := [row.id for row, overlap in rivals if overlap.is_all_stored]:
        return replace(here, superseded_by=wholes[0])
    if here.same_as:
        return here
    return replace(here, repeat=run.condition in stored.current_conditions)


def _replaces(run: _DumpRun, stored: _Stored, overlap: Overlap) -> bool:
    """Whether a stored run gives way. Where neither has a settled fact that the other
    lacks, the longer stays, then the later, whichever came into the store first."""
    if not overlap.has_all_stored:
        return False
    return not overlap.is_all_stored or _extent(run) >= _extent_of_stored(stored)


def _may_be_part(run: _DumpRun, stored: _Stored) -> bool:
    """Whether one may hold a strict part of the other: both have samples, and one has
    more."""
    shorter, longer = sorted([_extent(run)[:3], _extent_of_stored(stored)[:3]])
    return (
        shorter[0] > 0
        and shorter != longer
        and all(low <= high for low, high in zip(shorter, longer, strict=True))
    )


def _of_one_with_responses(
    store: Store, runs: Sequence[_DumpRun], stored: _StoredRuns
) -> set[Pair]:
    """Pairs of a run without an id and a stored one, with equally many rows, of which
    one alone has responses; nothing tells the two apart."""
    pairs: list[tuple[_DumpRun, _Stored]] = []
    for run in runs:
        if run.key is None and run.measured and run.measured.n_generations:
            pairs += [(run, row) for row in stored.tries(run) if _may_be_one(run, row)]
    if not pairs:
        return set()
    responded = (
        "select distinct run_id from generation where run_id in (:ids) and "
        "response_hash is not null"
    )
    ids = sorted({row.id for _, row in pairs})
    with_responses = {found["run_id"] for found in store.rows(responded, {"ids": ids})}
    return {
        (run.index, row.id)
        for run, row in pairs
        if run.measured and run.measured.has_responses != (row.id in with_responses)
    }


def _extent(run: _DumpRun) -> tuple[int, int, int, datetime]:
    measured = run.measured or Measured("", 0, 0, 0, 0)
    started = run.header.started_at or datetime.min
    return measured.n_prompts, measured.n_generations, measured.n_scores, started


def _extent_of_stored(row: _Stored) -> tuple[int, int, int, datetime]:
    return row.n_found, row.n_generations, row.n_scores, row.started_at or datetime.min


# --- a try that comes after its successor ------------------------------------------------------


def _rivals(runs: Iterable[_DumpRun], stored: _StoredRuns) -> list[Pair]:
    """Runs of the dump, each with the stored ones that it is held against."""
    pairs: list[Pair] = []
    for run in runs:
        if run.measured:
            pairs += [(run.index, rival.id) for rival in stored.rivals(run)]
    return pairs


def _with_note_on_invalidated(
    decision: Decision, run: _DumpRun, stored: _StoredRuns
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


def _may_be_one(run: _DumpRun, row: _Stored) -> bool:
    """True where a run and a stored one have equally many rows, and no marks that tell
    them apart."""
    if _extent(run)[:3] != _extent_of_stored(row)[:3]:
        return False
    return not are_apart(run.settings.marks, row.marks)


def _put_into_chains(
    scratch: Scratch,
    runs: Sequence[_DumpRun],
    stored: _StoredRuns,
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
    run: _DumpRun,
    stored: _StoredRuns,
    overlaps: Mapping[Pair, Overlap],
) -> Decision:
    winner_id = decision.superseded_by
    assert winner_id is not None
    while True:
        superseded = stored.gave_way_to(run, winner_id)
        replaced = tuple(
            row.id
            for row in superseded
            if _replaces(run, row, overlaps[run.index, row.id])
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
        note += _APART
    placed = replace(decision, superseded_by=winner_id, supersedes=replaced, note=note)
    return placed if run.key else replace(placed, is_doubtful=True)


def _conflict(header: RunHeader, rival: _Stored, path: str) -> ConflictError:
    return ConflictError(
        f"run {rival.id} of {header.model} on {header.benchmark} has the same id of "
        f"the tool ({header.run_id}) and other values",
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
    is_apart: bool = False  #: no draw of a prompt stands in both.


def compare(scratch: Scratch, pairs: Iterable[Pair]) -> dict[Pair, Overlap]:
    """Hold runs of the dump (with their samples, in the scratch tables) against stored
    runs."""
    ordered = sorted(set(pairs))
    overlaps: dict[Pair, Overlap] = {}
    for start in range(0, len(ordered), BLOCK):
        overlaps |= _compare(scratch, ordered[start : start + BLOCK])
    return overlaps


#: (facts that a try holds, columns that must agree, facts that are not settled, stored
#: facts that are the dump's own)
_FACTS = (
    ("score", "metric_id, value", "value is null", "origin <> 'scanned'"),
    (
        "generation",
        "response_hash",
        "error is not null or response_hash is null",
        "true",
    ),
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
    touching: set[Pair] = set()  # both have a fact of one draw of a prompt
    ids = sorted({stored for _, stored in pairs})
    for fact, values, unsettled, own in _FACTS:
        columns = f"prompt_id, variant_id, draw, {values}"
        scratch.pull(
            "stored_fact",
            f"select run_id, {columns}, ({unsettled}) as is_unsettled from {fact} "
            f"where run_id in (select unnest(cast(:ids as bigint[]))) and {own}",
            {"ids": ids},
        )
        stored = (
            f"select run, stored_id, {columns} from pair join stored_fact on run_id = "
            "stored_id"
        )
        new = (
            f"select run, stored_id, {columns} from pair join stage_{fact} using (run)"
        )
        lacking |= _differing(scratch, f"{stored} where not is_unsettled", new)
        beyond |= _differing(scratch, f"{new} where not ({unsettled})", stored)
        touching |= _touching(scratch, fact)
    scratch.drop(["pair", "stored_fact"])
    return {
        pair: Overlap(pair not in lacking, pair not in beyond, pair not in touching)
        for pair in pairs
    }


def _touching(scratch: Scratch, fact: str) -> set[Pair]:
    """The pairs that both have a fact of one draw of a prompt."""
    rows = scratch.rows(
        query_text("ingest", "touching_runs").format(staged=f"stage_{fact}")
    )
    return {(run, stored) for run, stored in rows}


def _differing(scratch: Scratch, facts: str, others: str) -> set[Pair]:
    """The pairs of which a fact is not among the others."""
    rows = scratch.rows(
        f"select distinct run, stored_id from ({facts} except {others}) as gone"
    )
    return {(run, stored) for run, stored in rows}
