"""What becomes of each run of a dump: new, seen again, superseding, a repeat, or a conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import sqlalchemy as sa

from warehouse.errors import ConflictError
from warehouse.records import RunHeader
from warehouse.store import tables
from warehouse.store.identity import condition_key, published_digest, run_key
from warehouse.store.staging import Measured
from warehouse.store.workbench import Workbench

OnConflict = Literal["error", "skip", "supersede"]


@dataclass(frozen=True)
class Decision:
    """What to do with run number ``run`` of a dump.

    ``new``: store it, and mark ``supersedes`` as superseded if that is set. ``seen``: the stored
    run ``same_as`` (or, if that is ``None``, run ``same_in_dump`` of this dump) holds the same.
    ``skip``: leave it out.
    """

    run: int
    action: Literal["new", "seen", "skip"]
    condition_key: str
    run_key: str | None
    content_digest: str
    same_as: int | None = None
    same_in_dump: int | None = None
    supersedes: int | None = None
    repeat: bool = False
    note: str = ""


@dataclass(frozen=True)
class _Stored:
    id: int
    condition_key: str
    run_key: str | None
    content_digest: str
    superseded_by: int | None
    n_found: int


def decide(
    connection: sa.Connection,
    bench: Workbench,
    headers: Sequence[RunHeader],
    measured: Mapping[int, Measured],
    on_conflict: OnConflict,
    path: str,
) -> list[Decision]:
    """Hold every run of a dump against the store and against the runs before it in the dump.

    Raises:
        ConflictError: a stored run has the same key of the tool and other rows.
    """
    keys = [_keys(header, measured.get(place)) for place, header in enumerate(headers)]
    stored = _stored(connection, keys)
    decisions: list[Decision] = []
    earlier: dict[tuple[str, str], int] = {}
    for place, header in enumerate(headers):
        condition, key, content = keys[place]
        if (condition, content) in earlier:
            decision = Decision(place, "seen", *keys[place],
                                same_in_dump=earlier[condition, content])  # fmt: skip
        else:
            decision = _decide_one(
                bench, place, header, keys[place], stored, place in measured, on_conflict, path
            )
        if decision.action == "new":
            if decision.supersedes is None and condition in (known for known, _ in earlier):
                decision = replace(decision, repeat=True)
            earlier[condition, content] = place
        decisions.append(decision)
    return decisions


def _keys(header: RunHeader, found: Measured | None) -> tuple[str, str | None, str]:
    content = found.content_digest if found else published_digest(header.published)
    return condition_key(header), run_key(header), content


def _stored(
    connection: sa.Connection, keys: Sequence[tuple[str, str | None, str]]
) -> list[_Stored]:
    run = tables.run
    conditions = sorted({item[0] for item in keys})
    run_keys = sorted({item[1] for item in keys if item[1]})
    query = sa.select(
        run.c.id, run.c.condition_key, run.c.run_key, run.c.content_digest, run.c.superseded_by,
        run.c.n_found,
    ).where(run.c.condition_key.in_(conditions) | run.c.run_key.in_(run_keys))  # fmt: skip
    return [_Stored(*row) for row in connection.execute(query.order_by(run.c.id))]


def _decide_one(
    bench: Workbench,
    place: int,
    header: RunHeader,
    keys: tuple[str, str | None, str],
    stored: Sequence[_Stored],
    has_samples: bool,
    on_conflict: OnConflict,
    path: str,
) -> Decision:
    condition, key, content = keys
    same = [
        row for row in stored if (row.condition_key, row.content_digest) == (condition, content)
    ]
    if same:
        return Decision(place, "seen", *keys, same_as=same[0].id)
    rivals = [row for row in stored if key and row.run_key == key and row.superseded_by is None]
    for rival in rivals:
        if not has_samples and rival.n_found:
            note = f"{header.benchmark}: figures only; run {rival.id} already holds the samples"
            return Decision(place, "seen", *keys, same_as=rival.id, note=note)
        if on_conflict == "supersede" or _contains(bench, place, header, rival, has_samples):
            return Decision(place, "new", *keys, supersedes=rival.id)
        if on_conflict == "skip":
            return Decision(place, "skip", *keys, note=f"{header.benchmark}: conflict, left out")
        raise _conflict(header, rival, path)
    repeat = any(row.condition_key == condition and row.superseded_by is None for row in stored)
    return Decision(place, "new", *keys, repeat=repeat)


def _conflict(header: RunHeader, rival: _Stored, path: str) -> ConflictError:
    return ConflictError(
        f"run {rival.id} of {header.model} on {header.benchmark} has the same id of the tool"
        f" ({header.run_id}) and other values",
        path=path,
        expected="every stored row to stand unchanged in the new file",
        advice="--on-conflict supersede replaces it, skip keeps it",
    )


def _contains(
    bench: Workbench, place: int, header: RunHeader, rival: _Stored, has_samples: bool
) -> bool:
    """Whether every stored row of a run stands unchanged in the new one."""
    if not has_samples:
        return False
    return not any(_missing(bench, *item, place, rival.id) for item in _STORED)


#: (facts that a newer file must hold, columns that must agree, stored rows that may change)
_STORED = (
    ("score", "metric_id, value", "value is null"),
    ("generation", "response_hash", "error is not null"),
    ("choice", "choice_index, loglikelihood", "loglikelihood is null"),
)


def _missing(bench: Workbench, fact: str, values: str, free: str, run: int, rival: int) -> bool:
    columns = f"prompt_id, variant_id, draw, {values}"
    bench.pull(
        f"stored_{fact}",
        f"select {columns} from {fact} where run_id = :run and not ({free})",
        {"run": rival},
    )
    gone = bench.value(
        f"select count(*) from (select {columns} from stored_{fact} "
        f"except select {columns} from stage_{fact} where run = {run}) as gone"
    )
    bench.drop([f"stored_{fact}"])
    return bool(gone)
