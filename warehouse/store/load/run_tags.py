"""Tags of runs: those that any of its sources gives a run, in the order of the alphabet, and those that people have put
on it, in the order in which they did; without those that people have taken off.

Each source's own, and what people said, are kept as statements, so that a tag goes with the last source that gave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.load.statements import EARLIER, holders_of, of_sources, statement, write
from warehouse.store.schema.later import tables

#: What statements are about: the tags that a source gives a run, and those that people have put on it and taken off.
OF_SOURCE, OF_PEOPLE = "tags", "tags of people"


def of_people(connection: sa.Connection, run_id: int) -> dict[str, list[str]]:
    """The tags that people have put on a run and taken off it, as ``added`` and ``removed``; empty where none has."""
    table = tables.statement
    query = sa.select(table.c.said).where(table.c.about == OF_PEOPLE, table.c.subject_id == run_id)
    return dict(connection.execute(query).scalar() or {})


def say(connection: sa.Connection, run_id: int, add: Sequence[str] = (), remove: Sequence[str] = ()) -> list[str]:
    """A person puts tags on a run, and takes tags off; gives its tags from now on."""
    before = of_people(connection, run_id)
    added = [name for name in before.get("added", []) if name not in remove]
    added += [name for name in dict.fromkeys(add) if name not in added]
    removed = [name for name in before.get("removed", []) if name not in add]
    removed += [name for name in dict.fromkeys(remove) if name not in removed]
    table = tables.statement
    is_earlier = (table.c.about == OF_PEOPLE) & (table.c.subject_id == run_id)
    connection.execute(sa.delete(table).where(is_earlier))
    write(connection, [statement(None, OF_PEOPLE, run_id, {"added": added, "removed": removed})])
    return _settle(connection, run_id, [*_standing(connection, run_id), *add])


def give(connection: sa.Connection, run_id: int, tags: Iterable[str]) -> None:
    """A source that holds a run gives it tags."""
    _settle(connection, run_id, [*_standing(connection, run_id), *tags])


def take_back(connection: sa.Connection, run_id: int, tags: Iterable[str]) -> None:
    """A source that held a run gives it tags no more: those go that no other source gives, and no person.

    Of a source that an earlier version has loaded it is not known which tags it gave: while it is there, all stay.
    """
    table = tables.statement
    earlier = {row.source_id for row in of_sources(connection, EARLIER)}
    if earlier.intersection(holders_of(connection, "run", run_id)):
        return
    query = sa.select(table.c.said).where(table.c.about == OF_SOURCE, table.c.subject_id == run_id)
    still = {name for (said,) in connection.execute(query) for name in said}
    still.update(of_people(connection, run_id).get("added", []))
    gone = set(tags) - still
    _settle(connection, run_id, [name for name in _standing(connection, run_id) if name not in gone])


def hand_over(connection: sa.Connection, source_id: int, old: int, new: int) -> None:
    """A source holds a run of equal values in place of another: its tags go with it."""
    table = tables.statement
    is_its = (table.c.about == OF_SOURCE) & (table.c.source_id == source_id) & (table.c.subject_id == old)
    tags = connection.execute(sa.select(table.c.said).where(is_its)).scalar()
    if tags is None:
        return
    connection.execute(sa.update(table).where(is_its).values(subject_id=new))
    give(connection, new, tags)
    take_back(connection, old, tags)


def copy_of_people(connection: sa.Connection, old: int, new: int) -> None:
    """What people said of the tags of a run holds of another of equal values too."""
    said: Mapping[str, Any] = of_people(connection, old)
    if said:
        say(connection, new, said["added"], said["removed"])


def _standing(connection: sa.Connection, run_id: int) -> list[str]:
    run = tables.run
    return connection.execute(sa.select(run.c.tags).where(run.c.id == run_id)).scalar() or []


def _settle(connection: sa.Connection, run_id: int, tags: Iterable[str]) -> list[str]:
    """Store the tags of a run in their order; gives them."""
    said = of_people(connection, run_id)
    added, removed = said.get("added", []), said.get("removed", [])
    of_sources = sorted({name for name in tags if name not in added and name not in removed})
    settled = [*of_sources, *added]
    run = tables.run
    connection.execute(sa.update(run).where(run.c.id == run_id).values(tags=settled or None))
    return settled
