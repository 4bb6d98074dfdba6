"""What sources publish of a run that several of them hold: the first that publishes a
figure gives it.

What a source publishes otherwise is kept as a statement (``statements``), so that a
figure goes with its last source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.statements import (
    holders_of_runs,
    of_sources,
    statement,
    write,
)
from warehouse.store.schema.later import tables

#: What such a statement is about: its subject is the run, its words are all figures of
#: the source.
FIGURES = "figures"

#: Columns of ``published_score`` that say what a figure is of, and those that hold it.
_NAME = ("benchmark_id", "metric_id", "statistic", "perturbation", "split")
_VALUE = ("value", "standard_error", "n", "raw")

#: What a source publishes of a run: what stands in :data:`_VALUE`, by :data:`_NAME`.
Word = dict[tuple[Any, ...], tuple[Any, ...]]
Row = Mapping[str, Any]


def complete(
    connection: sa.Connection, published: Mapping[tuple[int, int], Sequence[Row]]
) -> None:
    """Take in what a load publishes of runs that another source has given.

    Args:
        connection: to the store, which has the links of the sources of the load.
        published: rows for ``published_score``, by source and run; a source that
            publishes nothing has none.
    """
    words = _Words(connection, {run_id for _, run_id in published})
    for (source_id, run_id), rows in published.items():
        words.add(source_id, run_id, word_of(rows))
    words.settle()


def restate(connection: sa.Connection, run_ids: Collection[int]) -> None:
    """Work out which figures stand of runs that have lost a source, or hold others than
    before."""
    _Words(connection, run_ids).settle()


def hand_over(connection: sa.Connection, source_id: int, old: int, new: int) -> None:
    """A source holds a run of equal values in place of another: what it publishes goes
    with it.

    Which figures stand of both is worked out afterwards (:func:`restate`).
    """
    words = _Words(connection, {old, new})
    words.add(source_id, new, words.of(source_id, old))
    words.forget(source_id, old)
    words.write()


def word_of(rows: Iterable[Row]) -> Word:
    """The word of rows of ``published_score``."""
    name_of, value_of = itemgetter(*_NAME), itemgetter(*_VALUE)
    return {name_of(row): value_of(row) for row in rows}


def as_rows(word: Word, what: Row) -> list[dict[str, Any]]:
    """Rows for ``published_score`` that say this of a run, or of several."""
    return [
        {
            **what,
            **dict(zip(_NAME, name, strict=True)),
            **dict(zip(_VALUE, value, strict=True)),
        }
        for name, value in word.items()
    ]


def as_said(word: Word) -> list[list[Any]]:
    """What a source publishes, as its statement keeps it."""
    return [[*name, *value] for name, value in sorted(word.items(), key=str)]


def from_said(said: Iterable[Sequence[Any]]) -> Word:
    """What a source publishes, by its statement."""
    return {tuple(row[: len(_NAME)]): tuple(row[len(_NAME) :]) for row in said}


class _Words:
    """What each source publishes of some runs, and which figures stand of them."""

    def __init__(self, connection: sa.Connection, run_ids: Collection[int]) -> None:
        self._connection = connection
        self._run_ids = sorted(run_ids)
        self._standing: dict[int, Word] = {run_id: {} for run_id in self._run_ids}
        self._given_by: dict[int, dict[tuple[Any, ...], int]] = defaultdict(dict)
        figures = tables.published_score
        query = sa.select(figures).where(figures.c.run_id.in_(self._run_ids))
        for found in connection.execute(query).mappings():
            row = {str(name): value for name, value in found.items()}
            word = word_of([row])
            self._standing[row["run_id"]].update(word)
            for name in word:
                self._given_by[row["run_id"]][name] = row["source_id"]
        self._stated: dict[tuple[int, int], Word] = {
            (row.source_id, row.subject_id): from_said(row.said)
            for row in of_sources(connection, FIGURES, self._run_ids)
        }
        self._changed: set[tuple[int, int]] = set()

    def of(self, source_id: int, run_id: int) -> Word:
        """All that a source publishes of a run."""
        return self._stated.get((source_id, run_id), self._standing[run_id])

    def add(self, source_id: int, run_id: int, word: Word) -> None:
        """A source publishes this; of what it had published before, the earlier stands."""
        key = (source_id, run_id)
        self._stated[key] = {**word, **self._stated.get(key, {})}
        self._changed.add(key)

    def forget(self, source_id: int, run_id: int) -> None:
        """A source says nothing of a run any more."""
        if self._stated.pop((source_id, run_id), None) is not None:
            self._changed.add((source_id, run_id))

    def settle(self) -> None:
        """The first source that publishes a figure gives it; what the others publish
        otherwise is kept."""
        stated = {run_id for _, run_id in self._stated}
        published = {run_id for run_id in self._run_ids if self._standing[run_id]}
        holders = holders_of_runs(self._connection, stated | published)
        for run_id in sorted(holders):
            words = {
                source_id: self.of(source_id, run_id) for source_id in holders[run_id]
            }
            stands: Word = {}
            given_by: dict[tuple[Any, ...], int] = {}
            for source_id, word in words.items():
                stands = {**word, **stands}
                given_by = {**dict.fromkeys(word, source_id), **given_by}
            if (stands, given_by) != (self._standing[run_id], self._given_by[run_id]):
                _replace(self._connection, run_id, stands, given_by)
            for source_id, word in words.items():
                self._state(source_id, run_id, word, stands)
        self.write()

    def _state(self, source_id: int, run_id: int, word: Word, stands: Word) -> None:
        """Keep what a source publishes of a run, where it is not what stands."""
        if word == stands:
            self.forget(source_id, run_id)
        elif self._stated.get((source_id, run_id)) != word:
            self._stated[source_id, run_id] = word
            self._changed.add((source_id, run_id))

    def write(self) -> None:
        """Store the statements that have changed."""
        table = tables.statement
        stored = set(self._stated)
        for source_id, run_id in sorted(self._changed):
            is_its = (
                (table.c.about == FIGURES)
                & (table.c.source_id == source_id)
                & (table.c.subject_id == run_id)
            )
            self._connection.execute(sa.delete(table).where(is_its))
        statements = []
        for source_id, run_id in sorted(self._changed & stored):
            statements.append(
                statement(
                    source_id, FIGURES, run_id, as_said(self._stated[source_id, run_id])
                )
            )
        write(self._connection, statements)
        self._changed.clear()


def _replace(
    connection: sa.Connection,
    run_id: int,
    stands: Word,
    given_by: Mapping[tuple[Any, ...], int],
) -> None:
    """Store the figures of a run."""
    figures, run = tables.published_score, tables.run
    group = connection.execute(
        sa.select(run.c.run_group_id).where(run.c.id == run_id)
    ).scalar_one()
    connection.execute(sa.delete(figures).where(figures.c.run_id == run_id))
    rows: list[dict[str, Any]] = []
    for name, value in stands.items():
        what = {"run_group_id": group, "run_id": run_id, "source_id": given_by[name]}
        rows += as_rows({name: value}, what)
    append(connection, figures, rows)
    _list_metrics(connection, run_id, {row["metric_id"] for row in rows})


def _list_metrics(connection: sa.Connection, run_id: int, published: set[int]) -> None:
    """Say which metrics a run has figures of: those of its samples, and those that are
    published."""
    measured, scores = tables.run_metric, tables.prompt_score
    query = sa.select(scores.c.metric_id).where(scores.c.run_id == run_id).distinct()
    of_samples = set(connection.execute(query).scalars())
    is_published = (measured.c.run_id == run_id) & measured.c.metric_id.not_in(
        of_samples
    )
    connection.execute(sa.delete(measured).where(is_published))
    rows = [
        {"run_id": run_id, "metric_id": metric, "n_scored": 0}
        for metric in sorted(published - of_samples)
    ]
    append(connection, measured, rows)
