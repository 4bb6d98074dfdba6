"""Tags of runs: those that any of its sources gives a run, in the order of the
alphabet, and those that people have put on it, in the order in which they did; without
those that people have taken off.

Each source's own, and what people said, are kept as statements, so that a tag goes with
the last source that gave it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.load.statements import EARLIER, of_sources, statement, write
from warehouse.store.schema.later import tables

#: What statements are about: the tags that a source gives a run, and those that people
#: have put on it and taken off.
OF_SOURCE, OF_PEOPLE = "tags", "tags of people"
#: Tags by the id of their run.
TagsOfRuns = Mapping[int, Collection[str]]


def of_people(connection: sa.Connection, run_id: int) -> dict[str, list[str]]:
    """The tags that people have put on a run and taken off it, as ``added`` and
    ``removed``; empty where none has."""
    return _of_people(connection, [run_id]).get(run_id, {})


def say(
    connection: sa.Connection,
    run_id: int,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> list[str]:
    """A person puts tags on a run, and takes tags off; gives its tags from now on."""
    before = of_people(connection, run_id)
    added = [name for name in before.get("added", []) if name not in remove]
    added += [name for name in dict.fromkeys(add) if name not in added]
    removed = [name for name in before.get("removed", []) if name not in add]
    removed += [name for name in dict.fromkeys(remove) if name not in removed]
    table = tables.statement
    is_earlier = (table.c.about == OF_PEOPLE) & (table.c.subject_id == run_id)
    connection.execute(sa.delete(table).where(is_earlier))
    write(
        connection,
        [statement(None, OF_PEOPLE, run_id, {"added": added, "removed": removed})],
    )
    give(connection, {run_id: add})
    return _standing(connection, [run_id])[run_id]


def give(connection: sa.Connection, given: TagsOfRuns) -> None:
    """A source that holds some runs gives them tags."""
    standing = _standing(connection, given)
    _settle(
        connection,
        standing,
        {run_id: {*own, *given[run_id]} for run_id, own in standing.items()},
    )


def take_back(connection: sa.Connection, taken: TagsOfRuns) -> None:
    """A source that held some runs gives them tags no more: those go that no other
    source gives, and no person.

    Of a source that an earlier version has loaded it is not known which tags it gave:
    while it holds a run, all stay.
    """
    kept_whole = _held_by_earlier(connection, taken)
    still: dict[int, set[str]] = defaultdict(set)
    for row in of_sources(connection, OF_SOURCE, taken):
        still[row.subject_id].update(row.said)
    standing = {
        run_id: own
        for run_id, own in _standing(connection, taken).items()
        if run_id not in kept_whole
    }
    left: dict[int, set[str]] = {}
    for run_id, own in standing.items():
        gone = {*taken[run_id]} - still[run_id]
        left[run_id] = {*own} - gone
    _settle(connection, standing, left)


def hand_over(connection: sa.Connection, source_id: int, old: int, new: int) -> None:
    """A source holds a run of equal values in place of another: its tags go with it."""
    table = tables.statement
    is_its = (
        (table.c.about == OF_SOURCE)
        & (table.c.source_id == source_id)
        & (table.c.subject_id == old)
    )
    tags = connection.execute(sa.select(table.c.said).where(is_its)).scalar()
    if tags is None:
        return
    connection.execute(sa.update(table).where(is_its).values(subject_id=new))
    give(connection, {new: tags})
    take_back(connection, {old: tags})


def copy_of_people(connection: sa.Connection, old: int, new: int) -> None:
    """Copy what people said of the tags of a run to another of equal values."""
    said = of_people(connection, old)
    if said:
        say(connection, new, said["added"], said["removed"])


def _of_people(
    connection: sa.Connection, run_ids: Collection[int]
) -> dict[int, dict[str, list[str]]]:
    return {
        row.subject_id: dict(row.said)
        for row in of_sources(connection, OF_PEOPLE, run_ids)
    }


def _held_by_earlier(connection: sa.Connection, run_ids: Collection[int]) -> set[int]:
    """The runs, of some, that a source holds which an earlier version has loaded."""
    sources = [row.source_id for row in of_sources(connection, EARLIER)]
    if not sources:
        return set()
    links = tables.run_source
    query = sa.select(links.c.run_id).where(
        links.c.source_id.in_(sources), links.c.run_id.in_(sorted(run_ids))
    )
    return set(connection.execute(query).scalars())


def _standing(
    connection: sa.Connection, run_ids: Collection[int]
) -> dict[int, list[str]]:
    """The tags that some runs have."""
    run = tables.run
    among = run.c.id.in_(sorted(run_ids))
    query = sa.select(run.c.id, run.c.tags).where(among)
    return {run_id: tags or [] for run_id, tags in connection.execute(query)}


def _settle(
    connection: sa.Connection, standing: TagsOfRuns, wanted: Mapping[int, set[str]]
) -> None:
    """Store the tags of some runs in their order, all runs of the same tags at once.

    Args:
        standing: the tags that the runs have.
        wanted: those that they shall have, but for what people say.
    """
    peoples = _of_people(connection, wanted)
    runs_of: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for run_id, tags in wanted.items():
        said: Mapping[str, Any] = peoples.get(run_id, {})
        added = said.get("added", [])
        removed = said.get("removed", [])
        settled = (*sorted(tags - {*added, *removed}), *added)
        if settled != tuple(standing[run_id]):
            runs_of[settled].append(run_id)
    run = tables.run
    for settled, run_ids in runs_of.items():
        connection.execute(
            sa.update(run)
            .where(run.c.id.in_(run_ids))
            .values(tags=list(settled) or None)
        )
