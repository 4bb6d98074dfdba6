"""Tries of one run: which stands in the place of which, as runs come, go, and are taken
out of view.

Under each key of its tool a run may give way to a newer one
(``run_source.superseded_by``); it is superseded (``run.superseded_by``) where it is so
under every key that it came under. An invalidated run supersedes none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from warehouse.errors import MisuseError
from warehouse.store.alchemy import sa
from warehouse.store.load.statements import statement, write
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: What is said of a run that a person took out of every view: what it was before.
INVALIDATED = "invalidated"

#: (key of the tool, id of a run that came under it): the run that replaced it there, if
#: any.
Tries = dict[tuple[str | None, int], int | None]
#: A run, a key that it came under, and the run that it gives way to under this.
Replaced = tuple[int, str | None, int | None]


def tries_of(connection: sa.Connection, run_ids: Iterable[int]) -> Tries:
    """All tries under the keys that some runs came under; of those without one, and of
    figures without samples, all of their condition."""
    links = tables.run_source
    run = tables.run
    ids = list(run_ids)
    keys = sa.select(links.c.run_key).where(links.c.run_id.in_(ids))
    conditions = sa.select(run.c.recorded_key).where(run.c.id.in_(ids))
    of_condition = sa.select(run.c.id).where(run.c.recorded_key.in_(conditions))
    is_alike = links.c.run_key.is_(None) & links.c.run_id.in_(of_condition)
    is_figure = links.c.run_id.in_(of_condition.where(run.c.n_found == 0))
    query = sa.select(links.c.run_key, links.c.run_id, links.c.superseded_by)
    query = query.where(links.c.run_key.in_(keys) | is_alike | is_figure)
    return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def take_out(connection: sa.Connection, before: Tries, shared: Collection[int]) -> None:
    """Restore runs that a try that is gone had superseded: they are current, or
    superseded by what had superseded that, or by another that holds all of it.

    Args:
        connection: with an open transaction.
        before: the tries while it was there (:func:`tries_of`).
        shared: runs that stay, though a source of theirs has gone.
    """
    left = tries_of(connection, {run_id for _, run_id in before})
    runs_left = {run_id for _, run_id in left}
    newer_of = {run_id: newer for (_, run_id), newer in before.items()}
    replaced: list[Replaced] = []
    for (key, run_id), newer in left.items():
        heir = newer
        while heir is not None and (key, heir) not in left:
            if (key, heir) in before:
                heir = before[key, heir]
            elif heir in runs_left:  # figures are stated anew under another key
                break
            else:
                heir = newer_of.get(heir)
        if heir != newer:
            replaced.append((run_id, key, heir))
    supersede(connection, replaced, shared)
    _hold_against_others(
        connection, [(run_id, key) for run_id, key, heir in replaced if heir is None]
    )


def _hold_against_others(
    connection: sa.Connection, freed: Sequence[tuple[int, str | None]]
) -> None:
    """A try that nothing supersedes any more gives way to a current one that holds all
    of it, as if it came now."""
    for run_id, key in freed:
        for other in _others(connection, run_id, key):
            if holds(connection, other, run_id):
                supersede(connection, [(run_id, key, other)])
                break


def _others(connection: sa.Connection, run_id: int, key: str | None) -> list[int]:
    """The other current runs that came under a key; without one, those that nothing
    tells from the run."""
    rows = connection.execute(
        sa.text(query_text("ingest", "other_tries")), {"run": run_id, "key": key}
    )
    return [int(row[0]) for row in rows]


def holds(connection: sa.Connection, whole: int, part: int) -> bool:
    """True if every fact that a stored run has settled stands in another."""
    values = {"whole": whole, "part": part}
    return bool(
        connection.execute(
            sa.text(query_text("store", "run_holds")), values
        ).scalar_one()
    )


def are_apart(connection: sa.Connection, one: int, other: int) -> bool:
    """True if no draw of a prompt stands in both of two runs: parts of one."""
    values = {"one": one, "other": other}
    return bool(
        connection.execute(
            sa.text(query_text("store", "runs_are_apart")), values
        ).scalar_one()
    )


def supersede(
    connection: sa.Connection,
    replaced: Collection[Replaced],
    others: Collection[int] = (),
) -> None:
    """Mark runs as superseded under a key: (id, key, id of the newer run, if any);
    whether these and ``others`` are current follows from all their keys."""
    if replaced:
        old, keys, new = map(list, zip(*replaced, strict=True))
        connection.execute(
            sa.text(query_text("ingest", "supersede")),
            {"old": old, "keys": keys, "new": new},
        )
    if ids := sorted({old for old, _, _ in replaced}.union(others)):
        connection.execute(
            sa.text(query_text("ingest", "settle_superseded")), {"ids": ids}
        )


def invalidate(connection: sa.Connection, run: Any, reason: str) -> None:
    """Take a run out of every view, and out of its chain; what it was is kept.

    Args:
        connection: with an open transaction.
        run: its ``id``, ``status`` and ``status_reason``.
        reason: kept with it.
    """
    tries = tries_of(connection, [run.id])
    own = []
    for (key, run_id), newer in tries.items():
        if run_id == run.id:
            own.append((key, newer))
    heirs = dict(own)
    replaced = [
        (run_id, key) for (key, run_id), newer in tries.items() if newer == run.id
    ]
    said = {
        "status": run.status,
        "status_reason": run.status_reason,
        "superseded_by": [[key, newer] for key, newer in own if newer is not None],
        "supersedes": [[key, run_id] for run_id, key in replaced],
    }
    write(connection, [statement(None, INVALIDATED, run.id, said)])
    _update(connection, run.id, status="invalidated", status_reason=reason)
    freed: list[Replaced] = [(run_id, key, heirs.get(key)) for run_id, key in replaced]
    supersede(
        connection,
        freed + [(run.id, key, None) for key, newer in own if newer is not None],
    )
    _hold_against_others(
        connection, [(run_id, key) for run_id, key, heir in freed if heir is None]
    )


def validate(connection: sa.Connection, run: Any) -> None:
    """Give an invalidated run back: it is what it was, among the runs that there are
    now.

    Args:
        connection: with an open transaction.
        run: its ``id``, ``n_found`` and ``n_requested``.

    Raises:
        MisuseError: another run came under its id meanwhile, with other rows.
    """
    said = _said(connection, run)
    _update(
        connection, run.id, status=said["status"], status_reason=said["status_reason"]
    )
    tries = tries_of(connection, [run.id])
    newer = {
        key: run_id for key, run_id in said["superseded_by"] if (key, run_id) in tries
    }
    before = [(key, run_id) for key, run_id in said["supersedes"]]
    replaced: list[Replaced] = [(run.id, key, run_id) for key, run_id in newer.items()]
    replaced += [
        (run_id, key, run.id)
        for key, run_id in before
        if tries.get((key, run_id), 0) == newer.get(key)
    ]
    for key in {key for key, run_id in tries if run_id == run.id}:
        for other in _others(connection, run.id, key):
            if (key, other) not in before and other != newer.get(key):
                replaced += _placed(connection, run.id, other, key)
    supersede(connection, replaced, [run.id])


def _placed(
    connection: sa.Connection, run_id: int, other: int, key: str | None
) -> list[Replaced]:
    """Which of two runs under a key gives way, where one came while the other was out
    of view."""
    if holds(connection, other, run_id):
        return [(run_id, key, other)]
    if holds(connection, run_id, other):
        return [(other, key, run_id)]
    if key is None or are_apart(connection, run_id, other):
        return []
    raise MisuseError(
        f"run:{other} came under the same id of the tool as run:{run_id}, with other "
        f"values; invalidate one of them (warehouse fix invalidate run:{other} --reason "
        "TEXT), or forget its source"
    )


def _said(connection: sa.Connection, run: Any) -> dict[str, Any]:
    """The state of a run before it was invalidated, which is given once."""
    table = tables.statement
    is_it = (table.c.about == INVALIDATED) & (table.c.subject_id == run.id)
    row = connection.execute(sa.select(table.c.said).where(is_it)).first()
    connection.execute(sa.delete(table).where(is_it))
    if row is not None:
        return dict(row.said)
    # an earlier version kept no more
    is_short = run.n_requested is not None and 0 < run.n_found < run.n_requested
    status, reason = "complete", None
    if is_short:
        status = "truncated"
        reason = f"{run.n_found} prompts found, {run.n_requested} declared"
    return {
        "status": status,
        "status_reason": reason,
        "superseded_by": [],
        "supersedes": [],
    }


def _update(connection: sa.Connection, run_id: int, **values: Any) -> None:
    table = tables.run
    change = sa.update(table).where(table.c.id == run_id)
    connection.execute(change.values(**values))
