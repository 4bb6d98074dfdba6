"""The ledger of sources: what was read, when, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from warehouse.errors import MisuseError
from warehouse.records import Rejection, parse_json
from warehouse.records.answer_text import readable
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.clock import utc_now
from warehouse.records.credentials import masked, without_credentials
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.upkeep import remove_unheld, remove_unnamed
from warehouse.store.load import chains, restated, restated_prompts, scans
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.dimensions import allocate
from warehouse.store.load.scratch import Scratch, scratch_beside
from warehouse.store.load.state import SourceClaim
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

if TYPE_CHECKING:
    from warehouse.store.load.state import LoadReport


def settings_key(importer: str, version: str, settings: Mapping[str, Any]) -> str:
    """Everything besides the bytes that decides what a source becomes."""
    return canonical_digest([importer, version, dict(settings)])


def loaded(store: Store) -> dict[tuple[str, str], int]:
    """Id of every source that is in the store, by (sha256, settings key)."""
    table = tables.source
    query = sa.select(table.c.sha256, table.c.settings_key, table.c.id)
    with store.begin() as connection:
        rows = connection.execute(query.where(table.c.state == "loaded"))
        return {(row[0], row[1]): int(row[2]) for row in rows}


def refused(store: Store) -> dict[tuple[str, str], str]:
    """Why each source was refused that is in the ledger as such, by (sha256, settings
    key)."""
    table = tables.source
    query = sa.select(table.c.sha256, table.c.settings_key, table.c.notes).where(
        table.c.state == "refused"
    )
    with store.begin() as connection:
        return {
            (row[0], row[1]): "\n".join(row[2] or ())
            for row in connection.execute(query)
        }


def paths_of(store: Store, source_id: int) -> tuple[str, list[str]]:
    """Where a source lay when it came, as the ledger shows it, and where its runs stood
    in it."""
    source, links = tables.source, tables.run_source
    at = sa.select(source.c.path).where(source.c.id == source_id)
    query = sa.select(links.c.place).where(links.c.source_id == source_id).distinct()
    with store.begin() as connection:
        path = str(connection.execute(at).scalar_one())
        return path, [row[0] for row in connection.execute(query) if row[0] is not None]


def benchmarks_of(store: Store, source_ids: Sequence[int]) -> list[str]:
    """Names of the benchmarks that some sources hold runs of."""
    query = (
        sa.select(tables.benchmark.c.name)
        .join(tables.run, tables.run.c.benchmark_id == tables.benchmark.c.id)
        .join(tables.run_source, tables.run_source.c.run_id == tables.run.c.id)
        .where(tables.run_source.c.source_id.in_(source_ids))
    )
    with store.begin() as connection:
        return sorted({str(row[0]) for row in connection.execute(query)})


@dataclass(frozen=True)
class LedgerEntry:
    """The ledger's entry of a source before it is read."""

    path: str
    size: int
    sha256: str
    importer: str
    version: str
    settings: Mapping[str, Any]
    # hash of the bytes of each file, by its path in the source
    files: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """Its :func:`settings_key`."""
        return settings_key(self.importer, self.version, self.settings)

    @property
    def source(self) -> tuple[str, str]:
        """The identity of the source: hash and key."""
        return self.sha256, self.key

    def claimed(self, source_id: int) -> SourceClaim:
        """The source under its id."""
        return SourceClaim(
            source_id,
            self.path,
            self.sha256,
            self.key,
            self.settings.get("context"),
            files=self.files,
            is_mapped=self.settings.get("mapping") is not None,
        )


def claim(
    store: Store,
    *,
    path: str,
    size: int,
    sha256: str,
    importer: str,
    version: str,
    settings: Mapping[str, Any],
    dry_run: bool = False,
) -> SourceClaim | None:
    """Enter a source in the ledger before it is read; ``None`` if it is loaded already.

    Where others may write too, the source is one that :func:`reserve` has taken. A dry
    run claims nothing: its source has the id 0.
    """
    entry = LedgerEntry(path, size, sha256, importer, version, settings)
    return claim_all(store, [entry], dry_run=dry_run)[0]


def claim_all(
    store: Store, entries: Sequence[LedgerEntry], *, dry_run: bool = False
) -> list[SourceClaim | None]:
    """:func:`claim` for several different sources, in one transaction."""
    if dry_run:
        return [entry.claimed(0) for entry in entries]
    try:
        ids = _enter(store, entries)
    except Exception as error:
        if not engines.entered_already(error):
            raise
        # another process entered one in between, and now it is there
        ids = _enter(store, entries)
    return [
        None if source_id is None else entry.claimed(source_id)
        for entry, source_id in zip(entries, ids, strict=True)
    ]


def _enter(store: Store, entries: Sequence[LedgerEntry]) -> list[int | None]:
    """The ids of some sources in the ledger, where they are entered; ``None`` for
    loaded ones."""
    table = tables.source
    keys = [(entry.sha256, entry.key) for entry in entries]
    columns = (table.c.sha256, table.c.settings_key, table.c.id, table.c.state)
    hashes = {entry.sha256 for entry in entries}
    query = sa.select(*columns).where(table.c.sha256.in_(hashes))
    with store.begin() as connection:
        stored = {
            (row.sha256, row.settings_key): row for row in connection.execute(query)
        }
        existing = [stored.get(key) for key in keys]
        ids = [None if row is None else int(row.id) for row in existing]
        loaded = [row is not None and row.state == "loaded" for row in existing]
        if all(loaded):
            return [None] * len(entries)
        store.dialect.prepare(connection)
        missing = [at for at, row in enumerate(existing) if row is None]
        if missing:
            first = allocate(connection, table.name, len(missing))
            ids = _numbered(ids, first)
            rows = [{"id": ids[at], **_entered(entries[at])} for at in missing]
            append(connection, table, rows)
        for at, row in enumerate(existing):
            if row is not None and not loaded[at]:
                values = _entered(entries[at])
                connection.execute(
                    sa.update(table).where(table.c.id == ids[at]).values(values)
                )
    return [None if done else number for number, done in zip(ids, loaded, strict=True)]


def _numbered(ids: Sequence[int | None], first: int) -> list[int | None]:
    """Ids, of which the missing ones are counted from ``first`` on."""
    free = count(first)
    return [next(free) if number is None else number for number in ids]


def _entered(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "sha256": entry.sha256,
        "settings_key": entry.key,
        "path": masked(readable(entry.path)),
        "bytes": entry.size,
        "format": entry.importer,
        "importer_version": entry.version,
        "settings": without_credentials(dict(entry.settings)) or None,
        "state": "loading",
        "claimed_at": utc_now(),
    }


def reserve(
    store: Store, sources: Sequence[tuple[str, str]], *, patient: bool = False
) -> list[bool]:
    """Take some sources for this process, so that no other reads the same at the same
    time.

    Args:
        store: a store open for writing.
        sources: hash and :func:`settings_key` of each.
        patient: wait until another process that has one is done.

    Returns:
        whether this process has each; :func:`release` gives it back, and so does the
        end of the process.
    """
    with store.begin() as connection:
        return store.dialect.reserve(connection, _names(sources), patient)


def release(store: Store, sources: Sequence[tuple[str, str]]) -> None:
    """Give back sources that :func:`reserve` took; a connection that has failed holds
    none."""
    with suppress(sa.exc.DBAPIError), store.begin() as connection:
        store.dialect.release(connection, _names(sources))


def _names(sources: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{sha256} {key}" for sha256, key in sources]


def any_loaded(connection: sa.Connection, sources: Sequence[SourceClaim]) -> bool:
    """True if another process has loaded one of some sources since they were claimed."""
    ids = _listed(source.id for source in sources)
    query = f"select id from source where id in ({ids}) and state = 'loaded' limit 1"
    return connection.exec_driver_sql(query).first() is not None


def _listed(numbers: Iterable[int]) -> str:
    """Ids as they stand in a text, which takes a quarter of the time of a statement
    that has to be compiled."""
    return ", ".join(str(int(number)) for number in numbers)


def finish(
    connection: sa.Connection,
    sources: Sequence[tuple[SourceClaim, LoadReport, Sequence[Rejection]]],
) -> None:
    """Mark sources as loaded, in the transaction that holds their facts."""
    columns: dict[str, list[Any]] = {}
    for name in _REPORTED:
        columns[name] = [getattr(report, name) for _, report, _ in sources]
    columns["id"] = [source.id for source, _, _ in sources]
    columns["notes"] = []
    for _, report, _ in sources:
        notes = None
        if report.notes:
            notes = engines.json_text(list(report.notes))
        columns["notes"].append(notes)
    text = sa.text(query_text("ingest", "finish_sources"))
    connection.execute(text, {**columns, "loaded_at": utc_now()})
    _replace_rejections(
        connection, {source.id: rejections for source, _, rejections in sources}
    )


#: What the row of a loaded source takes from its report as it is.
_REPORTED = (
    "n_runs",
    "n_seen_again",
    "n_superseded",
    "n_samples",
    "n_scores",
    "n_votes",
    "n_rejected",
    "seconds",
)


@dataclass(frozen=True)
class OtherReading:
    """Another reading of the same bytes, before."""

    source_id: int
    n_runs: int
    n_scores: int
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]

    def note(self) -> str:
        """A note on what becomes of it."""
        runs = f"{self.n_runs} runs and {self.n_scores} scores"
        if self.n_runs == 1:
            runs = f"1 run and {self.n_scores} scores"
        names = "of nothing"
        if self.models:
            names = f"of {_few(self.models)} on {_few(self.benchmarks)}"
        return (
            f"the same bytes were read otherwise before, as source {self.source_id}: "
            f"{runs} {names} are replaced by what is read now; --beside keeps both"
        )


def _few(names: Sequence[str]) -> str:
    more = ""
    if len(names) > 3:
        more = f" and {len(names) - 3} more"
    return f"{', '.join(names[:3])}{more}"


def other_readings(store: Store, sources: Sequence[SourceClaim]) -> list[OtherReading]:
    """Loaded sources of the same bytes as some, read with another mapping, other
    settings or an earlier importer.

    Where the folders above a file say something of it, equal files below other folders
    are other sources; a file that was there before under the same path is none, unless
    its path says something else now.
    """
    by_bytes = {source.sha256: source for source in sources}
    ids = [source.id for source in sources]
    rows = store.rows(
        query_text("ingest", "other_readings"), {"hashes": sorted(by_bytes), "ids": ids}
    )
    readings = []
    for row in rows:
        source = by_bytes[row["sha256"]]
        settings = {}
        if row["settings"]:
            settings = parse_json(row["settings"])
        before = settings.get("context") or None
        now = dict(source.context) if source.context else None
        is_same = canonical_digest(before) == canonical_digest(now)
        is_same_path = row["path"] == source.path
        if not is_same and not (
            is_same_path and _may_be_of_one(before or {}, now or {})
        ):
            continue
        named = store.rows(
            query_text("ingest", "names_of_source"), {"source": row["id"]}
        )
        models = tuple(sorted({str(name["model"]) for name in named}))
        benchmarks = tuple(sorted({str(name["benchmark"]) for name in named}))
        readings.append(
            OtherReading(row["id"], row["n_runs"], row["n_scores"], models, benchmarks)
        )
    return readings


def _may_be_of_one(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """True if two contexts do not contradict each other: of what paths say, a mapping
    may read more or less than another."""
    for name in before.keys() & now.keys():
        one = before[name]
        two = now[name]
        if canonical_digest(one) == canonical_digest(two):
            continue
        are_groups = name == "path" and isinstance(one, list) and isinstance(two, list)
        if not are_groups or len(one) != len(two) or not all(map(_agree, one, two)):
            return False
    return True


def _agree(one: Any, two: Any) -> bool:
    """True if the groups of two patterns say the same wherever both have one."""
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    return all(one[name] == two[name] for name in one.keys() & two.keys())


def refuse(
    store: Store, source: SourceClaim, reason: str, rejections: Sequence[Rejection]
) -> None:
    """Mark a source as refused: nothing of it is in the store but the reason."""
    table = tables.source
    with store.begin() as connection:
        connection.execute(
            sa.update(table)
            .where(table.c.id == source.id)
            .values(
                state="refused",
                notes=[masked(readable(reason))],
                n_rejected=len(rejections),
            )
        )
        _replace_rejections(connection, {source.id: rejections})


def _replace_rejections(
    connection: sa.Connection, rejections: Mapping[int, Sequence[Rejection]]
) -> None:
    """The rejected rows of some sources, by id of the source, instead of those stored."""
    connection.exec_driver_sql(
        f"delete from rejection where source_id in ({_listed(rejections)})"
    )
    rows: list[dict[str, Any]] = []
    for source_id, rejected in rejections.items():
        for item in rejected:
            rows.append(
                {
                    "source_id": source_id,
                    "place": masked(readable(item.place)),
                    "found": masked(readable(item.found[:2000])),
                    "expected": readable(item.expected),
                }
            )
    append(connection, tables.rejection, rows)


def forget(
    store: Store, reference: str, *, say: Callable[[str], None] | None = None
) -> tuple[int, int]:
    """Remove a source, the runs that no other source holds, and all that rests on it
    alone: the store is then the one that never had it. Prompts, texts and names that
    nothing holds any more stay where another process loads; then ``vacuum`` removes
    them later.

    With a scan go its values and the scores that were made of them; what scans say of a
    removed run stays. With a source of votes go its votes, and with a run what was
    drawn of it to be labelled.

    Args:
        store: a store open for writing.
        reference: id of the source, or its path as the ledger shows it.
        say: told what cannot be worked out anew.

    Returns:
        number of runs removed, number of runs kept because another source holds them.

    Raises:
        MisuseError: no such source, or several.
    """
    with scratch_beside(store) as scratch, store.begin() as connection:
        store.dialect.lock_all(connection)
        return forget_source(
            store, scratch, connection, _find(connection, reference), say
        )


def _runs_of(connection: sa.Connection, source_id: int) -> tuple[set[int], set[int]]:
    """Runs of a source, and those of them that another source has too."""
    links = tables.run_source
    own = sa.select(links.c.run_id).where(links.c.source_id == source_id)
    run_ids = {int(row[0]) for row in connection.execute(own)}
    of_others = sa.select(links.c.run_id).where(
        links.c.run_id.in_(run_ids), links.c.source_id != source_id
    )
    return run_ids, {int(row[0]) for row in connection.execute(of_others)}


def forget_source(
    store: Store,
    scratch: Scratch,
    connection: sa.Connection,
    source_id: int,
    say: Callable[[str], None] | None = None,
) -> tuple[int, int]:
    """:func:`forget` in a transaction of the caller's during which no process loads."""
    store.n_forgotten += 1
    run_ids, shared = _runs_of(connection, source_id)
    tries = chains.tries_of(connection, run_ids)
    held = restated.held_by(connection, source_id)
    held.shared = shared
    _remove_runs(connection, sorted(run_ids - shared))
    restated.remove_transcripts(connection, held)
    scans.forget(store, source_id)
    _hand_over_figures(connection, source_id)
    of_source = (
        tables.rejection,
        tables.published_score,
        tables.preference,
        tables.label_draw,
        tables.statement,
    )
    for table in (tables.run_source, *of_source):
        connection.execute(sa.delete(table).where(table.c.source_id == source_id))
    chains.take_out(connection, tries, shared)
    connection.execute(sa.delete(tables.source).where(tables.source.c.id == source_id))
    is_alone = store.dialect.no_source_reserved(connection)
    if is_alone:
        remove_unheld(connection)
    has_freed_texts = restated.restate(store, scratch, held)
    n_unknown = restated_prompts.restate_prompts(store, scratch, held)
    if n_unknown and say is not None:
        say(
            f"of {n_unknown} of its prompts another source stays which an earlier "
            "version of this program has loaded: what that said of them is not known "
            "apart, so their questions, targets and fields stay as they were; forget "
            "that source too and ingest it again to have them anew (warehouse list sources)"
        )
    if is_alone:
        if has_freed_texts:
            remove_unheld(connection)
        remove_unnamed(connection)
    return len(run_ids - shared), len(shared)


def _remove_runs(connection: sa.Connection, run_ids: Sequence[int]) -> None:
    if not run_ids:
        return
    of_runs = (
        tables.published_score,
        tables.draw_score,
        tables.run_metric,
        tables.run_source,
        tables.label_draw,
    )
    for table in (*tables.RUN_FACTS, *of_runs):
        connection.execute(sa.delete(table).where(table.c.run_id.in_(run_ids)))
    votes = tables.preference  # stay, as votes between models
    for column in (votes.c.run_a_id, votes.c.run_b_id):
        connection.execute(
            sa.update(votes).where(column.in_(run_ids)).values({column.name: None})
        )
    run = tables.run
    connection.execute(sa.delete(run).where(run.c.id.in_(run_ids)))


def _hand_over_figures(connection: sa.Connection, source_id: int) -> None:
    """Published figures of runs that stay belong to another source of the run from now
    on."""
    figures, links = tables.published_score, tables.run_source
    heir = (
        sa.select(sa.func.min(links.c.source_id))
        .where(links.c.run_id == figures.c.run_id, links.c.source_id != source_id)
        .scalar_subquery()
    )
    connection.execute(
        sa.update(figures)
        .where(
            figures.c.source_id == source_id,
            figures.c.run_id.in_(
                sa.select(links.c.run_id).where(links.c.source_id != source_id)
            ),
        )
        .values(source_id=heir)
    )


def _find(connection: sa.Connection, reference: str) -> int:
    table = tables.source
    reference = masked(readable(reference))
    condition = table.c.path == reference
    if reference.isdigit():
        condition |= table.c.id == int(reference)
    matching = connection.execute(
        sa.select(table.c.id, table.c.path).where(condition)
    ).all()
    if not matching:  # the end of a path is enough where it is the only one
        tail = table.c.path.endswith(f"/{reference}", autoescape=True)
        matching = connection.execute(
            sa.select(table.c.id, table.c.path).where(tail)
        ).all()
    if not matching:
        raise MisuseError(f"no source '{reference}'; see: warehouse list sources")
    if len(matching) > 1:
        listed = ", ".join(f"{row.id} ({row.path})" for row in matching)
        raise MisuseError(f"'{reference}' names several sources: {listed}; give the id")
    return int(matching[0].id)
