"""Contents of the store, listed, and the marks that people put on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import orjson

from warehouse.errors import MisuseError, did_you_mean
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load import run_tags
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

_WHERE = re.compile(r"(?P<name>\w+)(?P<sign>!?=)(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class RunEntry:
    """One run. ``superseded_by`` is the run that replaced it, ``started_at`` naive UTC."""

    run_id: int
    model: str
    checkpoint: str
    training_seed: str
    agent: str
    benchmark: str
    split: str
    harness: str
    fewshot: int | None
    temperature: float | None
    sampling_seed: int | None
    n_found: int
    n_scores: int
    status: str
    status_reason: str | None
    superseded_by: int | None
    started_at: datetime | None
    tags: tuple[str, ...]
    note: str | None
    sources: tuple[int, ...]
    condition_key: str


@dataclass(frozen=True)
class SourceEntry:
    """One source of the ledger; ``n_current`` counts current runs that it holds."""

    source_id: int
    path: str
    format: str
    state: str
    bytes: int
    n_runs: int | None
    n_seen_again: int | None
    n_superseded: int | None
    n_samples: int | None
    n_scores: int | None
    n_votes: int
    n_rejected: int | None
    n_current: int
    loaded_at: datetime | None
    seconds: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RejectedRow:
    """A row of a source that was not taken."""

    place: str
    found: str
    expected: str


def runs(
    store: Store, *, where: Sequence[str] = (), everything: bool = False
) -> list[RunEntry]:
    """The runs of a store, oldest first (MisuseError: another form, or no such field).

    Args:
        where: ``field=value`` or ``field!=value`` texts that a run must fit; fields are
            those of :class:`RunEntry`, values may have ``*`` and ``?``, a list
            (``tags``, ``sources``) fits by any element.
        everything: superseded and invalidated runs too.
    """
    filters = [_condition(text) for text in where]
    source_ids: dict[int, list[int]] = {}
    links = store.arrow(
        "select run_id, source_id from run_source order by run_id, source_id"
    )
    for row in links.to_pylist():
        source_ids.setdefault(row["run_id"], []).append(row["source_id"])
    entries = [
        RunEntry(
            **{
                **row,
                "tags": _listed(row["tags"]),
                "sources": tuple(dict.fromkeys(source_ids.get(row["run_id"], ()))),
            }
        )
        for row in store.rows(query_text("store", "runs"))
    ]
    if not everything:
        entries = [run for run in entries if _counts(run)]
    for name, equal, value in filters:
        entries = [run for run in entries if _fits(getattr(run, name), value) == equal]
    return entries


def _counts(run: RunEntry) -> bool:
    return run.status != "invalidated" and run.superseded_by is None


def hints_on_runs(store: Store, where: Sequence[str]) -> list[str]:
    """For conditions ``field=value`` that no run fits, values that are nearly the one
    asked for.

    Args:
        where: as of :func:`runs`.
    """
    all_runs = runs(store, everything=True)
    hints = []
    for name, equal, value in map(_condition, where):
        values = [getattr(run, name) for run in all_runs]
        if not equal or any(_fits(existing, value) for existing in values):
            continue
        texts = {
            str(existing)
            for existing in values
            if existing not in (None, "") and not isinstance(existing, tuple)
        }
        close = did_you_mean(value, texts, "")
        if close:
            hints += [f"no {name} is {value!r}: {close}"]
    return hints


def sources(store: Store, reference: str | None = None) -> list[SourceEntry]:
    """The ledger, oldest first (MisuseError: no such source).

    Args:
        reference: id or path of the source to show alone.
    """
    entries = [
        SourceEntry(**{**row, "notes": _listed(row["notes"])})
        for row in store.rows(query_text("store", "sources"))
    ]
    if reference is None:
        return entries
    fitting = [row for row in entries if reference in (str(row.source_id), row.path)]
    fitting = fitting or [row for row in entries if row.path.endswith(f"/{reference}")]
    if not fitting:
        raise MisuseError(f"no source '{reference}'; see: warehouse list sources")
    return fitting


def rejections(store: Store, source_id: int) -> list[RejectedRow]:
    """The rows of a source that were not taken."""
    sql = "select place, found, expected from rejection where source_id = :source"
    return [RejectedRow(**row) for row in store.rows(sql, {"source": source_id})]


# --- marks on runs ---------------------------------------------------------------------------


def invalidate(store: Store, run: str, reason: str) -> int:
    """Take a run out of every view; its rows stay. Ingesting its source again changes
    nothing; what it had superseded is current again, and what comes later is held
    against the other runs alone.

    Args:
        store: a store open for writing.
        run: ``run:ID`` or the id.
        reason: kept with the run.

    Returns:
        id of the run.

    Raises:
        MisuseError: no such run, or it is invalidated already, or no reason.
    """
    from warehouse.records.credentials import (
        masked,
    )  # those who list runs have no need of these
    from warehouse.store.load import chains

    if not reason.strip():
        raise MisuseError("a run is invalidated for a reason: give one")
    with store.begin() as connection:
        row = _run(connection, run)
        if row.status == "invalidated":
            raise MisuseError(
                f"run:{row.id} is invalidated already: {row.status_reason}"
            )
        chains.invalidate(connection, row, masked(reason))
    return int(row.id)


def validate(store: Store, run: str) -> int:
    """Give back a run that was invalidated: it is what it was, among the runs that
    there are now.

    Args:
        store: a store open for writing.
        run: ``run:ID`` or the id.

    Returns:
        id of the run.

    Raises:
        MisuseError: no such run, it is not invalidated, or another came under its id
            meanwhile, with other values.
    """
    from warehouse.store.load import chains  # those who list runs have no need of it

    with store.begin() as connection:
        row = _run(connection, run)
        if row.status != "invalidated":
            raise MisuseError(
                f"run:{row.id} is not invalidated; those that are: warehouse list runs --all"
            )
        chains.validate(connection, row)
    return int(row.id)


def tag(
    store: Store, run: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> list[str]:
    """Put tags on a run, and take tags off (MisuseError: no such run, or a tag to
    remove that it does not have).

    Returns:
        the run's tags from now on.
    """
    from warehouse.records.credentials import masked_name

    with store.begin() as connection:
        row = _run(connection, run)
        add = [masked_name(name) for name in add]
        lacking = [name for name in remove if name not in (row.tags or [])]
        if lacking:
            raise MisuseError(f"run:{row.id} has no tag {', '.join(lacking)}")
        return run_tags.say(connection, row.id, add, remove)


def note(store: Store, run: str, text: str) -> None:
    """Set the remark of a run, replacing an earlier one; an empty text removes it
    (MisuseError: no such run)."""
    from warehouse.records.credentials import masked

    with store.begin() as connection:
        _update(connection, _run(connection, run).id, note=masked(text) or None)


def _run(connection: sa.Connection, reference: str) -> Any:
    number = reference.removeprefix("run:")
    table = tables.run
    columns = (
        table.c.id,
        table.c.status,
        table.c.status_reason,
        table.c.tags,
        table.c.n_found,
        table.c.n_requested,
    )
    query = sa.select(*columns)
    row = None
    if number.isdigit():
        row = connection.execute(query.where(table.c.id == int(number))).first()
    if row is None:
        raise MisuseError(
            f"no run '{reference}'; expected run:ID, see: warehouse list runs"
        )
    return row


def _update(connection: sa.Connection, run_id: int, **values: Any) -> None:
    table = tables.run
    change = sa.update(table).where(table.c.id == run_id)
    connection.execute(change.values(**values))


# --- helpers ---------------------------------------------------------------------------------


def _listed(text: str | None) -> tuple[Any, ...]:
    if text:
        return tuple(orjson.loads(text) or ())
    return ()


def _condition(text: str) -> tuple[str, bool, str]:
    match = _WHERE.fullmatch(text)
    if match is None:
        raise MisuseError(
            f"condition {text!r}; expected field=value, such as temperature=0.8"
        )
    columns = list(RunEntry.__dataclass_fields__)
    if match["name"] not in columns:
        raise MisuseError(
            f"condition {text!r}: runs have no field '{match['name']}'; there are: "
            f"{', '.join(columns)}"
        )
    return match["name"], match["sign"] == "=", match["value"]


def _fits(value: Any, expected: str) -> bool:
    """True if a value matches a filter: numbers as numbers, texts as globs, an empty
    filter only a missing value."""
    if isinstance(value, tuple):
        if value:
            return any(_fits(item, expected) for item in value)
        return expected == ""
    if value in (None, ""):
        return expected == ""
    if isinstance(value, int | float):
        try:
            return float(expected) == value
        except ValueError:
            return False
    return str(value) == expected or fnmatchcase(str(value), expected)
