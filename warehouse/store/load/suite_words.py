"""Figures that sources publish of several runs together, where other sources have given
all of these runs.

A source that is the first to give one of its runs publishes its figures of suites under
its own invocation. Those of one that only gives runs again stand beside them: in the
invocation of these runs, where no earlier source says them. All that such a source
publishes is kept as a statement (``statements``), and worked out anew when another is
gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.figure_words import (
    Row,
    Word,
    as_rows,
    as_said,
    from_said,
    word_of,
)
from warehouse.store.load.statements import (
    holders_of_runs,
    of_sources,
    statement,
    write,
)
from warehouse.store.schema.later import tables

#: What such a statement is about: its subject is the invocation that the source names.
SUITE_FIGURES = "suite figures"


@dataclass
class _Source:
    """A source that publishes figures of suites."""

    id: int
    own_group: int  #: id of the invocation that it names.
    said: Word  #: all its figures of suites.
    run_ids: set[int] = field(default_factory=set)
    #: ids of the invocations that its runs are stored under.
    groups: set[int] = field(default_factory=set)
    gives_a_run: bool = False  #: it is the first source of one of its runs.

    @property
    def group(self) -> int:
        """Id of the invocation that its figures stand in.

        Runs of several invocations are in none together, so that nothing could be held
        against a figure there.
        """
        if self.gives_a_run or len(self.groups) != 1:
            return self.own_group
        return next(iter(self.groups))


def complete(connection: sa.Connection, published: Mapping[int, Sequence[Row]]) -> None:
    """Take in what a load publishes of suites all of whose runs other sources have
    given.

    Args:
        connection: to the store, which has the links of the sources of the load.
        published: rows for ``published_score``, by source; each source has some.
    """
    statements: list[dict[str, Any]] = []
    for source_id, rows in published.items():
        group = rows[0]["run_group_id"]
        said = as_said(word_of(rows))
        statements.append(statement(source_id, SUITE_FIGURES, group, said))
    write(connection, statements)
    _settle(connection, set(published))


def restate(
    connection: sa.Connection, groups: Collection[int], run_ids: Collection[int]
) -> None:
    """Work out which figures of suites stand once a source is gone.

    Args:
        connection: to the store, without the source.
        groups: ids of the invocations of the runs that it held.
        run_ids: ids of those of its runs that stay.
    """
    run = tables.run
    links = tables.run_source
    said = tables.statement
    is_of_groups = run.c.run_group_id.in_(sorted(groups))
    is_among_runs = run.c.id.in_(sorted(run_ids))
    beside = (
        sa.select(links.c.source_id)
        .join(run, run.c.id == links.c.run_id)
        .where(is_of_groups | is_among_runs)
    )
    query = sa.select(said.c.source_id).where(
        said.c.about == SUITE_FIGURES,
        said.c.source_id.in_(beside),
    )
    source_ids = set(connection.execute(query).scalars())
    _settle(connection, source_ids)


def _settle(connection: sa.Connection, source_ids: Collection[int]) -> None:
    """Store the figures of some sources that have a statement, the first source first."""
    if not source_ids:
        return
    sources = _sources(connection, source_ids)
    figures = tables.published_score
    deletion = sa.delete(figures).where(
        figures.c.source_id.in_(sorted(source_ids)),
        figures.c.run_id.is_(None),
    )
    connection.execute(deletion)
    groups = {source.group for source in sources}
    standing = _standing(connection, groups, source_ids)
    for source in sources:
        new = _new_words(source, standing)
        standing.add(source, new)
        what = {
            "source_id": source.id,
            "run_group_id": source.group,
            "run_id": None,
        }
        append(connection, figures, as_rows(new, what))
        if source.gives_a_run:
            _delete_statement(connection, source)


def _new_words(source: _Source, standing: _Standing) -> Word:
    """The figures of a source that it gives itself: all of those in its own
    invocation, else what no earlier source says."""
    if source.gives_a_run:
        return source.said
    said_before = standing.before(source)
    new: Word = {}
    for name, value in source.said.items():
        if name not in said_before:
            new[name] = value
    return new


def _delete_statement(connection: sa.Connection, source: _Source) -> None:
    said = tables.statement
    deletion = sa.delete(said).where(
        said.c.about == SUITE_FIGURES,
        said.c.source_id == source.id,
    )
    connection.execute(deletion)


def _sources(connection: sa.Connection, source_ids: Collection[int]) -> list[_Source]:
    """The sources with what they publish and which runs they hold, in the order in
    which they came."""
    sources: dict[int, _Source] = {}
    for row in of_sources(connection, SUITE_FIGURES):
        if row.source_id in source_ids:
            said = from_said(row.said)
            sources[row.source_id] = _Source(row.source_id, row.subject_id, said)
    run = tables.run
    links = tables.run_source
    query = (
        sa.select(links.c.source_id, run.c.id, run.c.run_group_id)
        .join(run, run.c.id == links.c.run_id)
        .where(links.c.source_id.in_(sorted(sources)))
    )
    for source_id, run_id, group in connection.execute(query):
        source = sources[source_id]
        source.run_ids.add(run_id)
        source.groups.add(group)
    firsts = _first_sources(connection, sources.values())
    for source in sources.values():
        givers = {firsts[run_id] for run_id in source.run_ids}
        source.gives_a_run = source.id in givers
    return list(sources.values())


def _first_sources(
    connection: sa.Connection, sources: Iterable[_Source]
) -> dict[int, int]:
    """The source that came first of those that hold a run, by run."""
    run_ids: set[int] = set()
    for source in sources:
        run_ids.update(source.run_ids)
    holders = holders_of_runs(connection, run_ids)
    return {run_id: source_ids[0] for run_id, source_ids in holders.items()}


@dataclass
class _Standing:
    """Figures of suites that stand in some invocations."""

    #: of each source among those that publish them, the first first.
    places: dict[int, int]
    words: dict[tuple[int, int], Word]  #: by invocation and source.

    def before(self, source: _Source) -> Word:
        """Words of earlier sources in the invocation in which the figures of a source
        stand."""
        place = self.places[source.id]
        found: Word = {}
        for (group, other), word in self.words.items():
            is_earlier = self.places[other] < place
            if is_earlier and group == source.group:
                found.update(word)
        return found

    def add(self, source: _Source, word: Word) -> None:
        """The figures of a source stand."""
        self.words[source.group, source.id] = word


def _standing(
    connection: sa.Connection, groups: Collection[int], source_ids: Collection[int]
) -> _Standing:
    """The figures of suites in some invocations, with the order of all sources that
    say them."""
    figures = tables.published_score
    query = sa.select(figures).where(
        figures.c.run_id.is_(None),
        figures.c.run_group_id.in_(sorted(groups)),
    )
    words: dict[tuple[int, int], Word] = defaultdict(dict)
    for row in connection.execute(query).mappings():
        found: dict[str, Any] = {str(name): value for name, value in row.items()}
        key = (found["run_group_id"], found["source_id"])
        words[key].update(word_of([found]))
    others = [source_id for _, source_id in words]
    places = _places(connection, {*source_ids, *others})
    return _Standing(places, dict(words))


def _places(connection: sa.Connection, source_ids: Collection[int]) -> dict[int, int]:
    """The place of each source among those that were loaded, the first first."""
    source = tables.source
    in_order = (
        sa.select(source.c.id)
        .where(source.c.id.in_(sorted(source_ids)))
        .order_by(sa.nulls_last(source.c.loaded_at), source.c.id)
    )
    ids = connection.execute(in_order).scalars()
    return {source_id: place for place, source_id in enumerate(ids)}
