"""Figures that sources publish of a run that several of them hold: the first that
publishes a figure gives it.

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

#: What a figure is of: what stands in :data:`_NAME`.
Name = tuple[Any, ...]
#: What a source publishes of a run: what stands in :data:`_VALUE`, by :data:`_NAME`.
Word = dict[Name, tuple[Any, ...]]
#: A source and a run that it publishes figures of, by their ids.
Of = tuple[int, int]
Row = Mapping[str, Any]
#: A row that is to be stored: what stands in each column.
Cells = dict[str, Any]


def complete(connection: sa.Connection, published: Mapping[Of, Sequence[Row]]) -> None:
    """Take in what a load publishes of runs that another source has given.

    Args:
        connection: to the store, which has the links of the sources of the load.
        published: rows for ``published_score``, by source and run; a source that
            publishes nothing has none.
    """
    run_ids = {run_id for _, run_id in published}
    words = _Words(connection, run_ids)
    for (source_id, run_id), rows in published.items():
        word = word_of(rows)
        words.add(source_id, run_id, word)
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
    word = words.of(source_id, old)
    words.add(source_id, new, word)
    words.forget(source_id, old)
    words.write()


def word_of(rows: Iterable[Row]) -> Word:
    """The word of rows of ``published_score``."""
    name_of = itemgetter(*_NAME)
    value_of = itemgetter(*_VALUE)
    return {name_of(row): value_of(row) for row in rows}


def as_rows(word: Word, what: Row) -> list[Cells]:
    """Rows for ``published_score`` that say this of a run, or of several."""
    rows: list[Cells] = []
    for name, value in word.items():
        row = dict(what)
        row.update(zip(_NAME, name, strict=True))
        row.update(zip(_VALUE, value, strict=True))
        rows.append(row)
    return rows


def as_said(word: Word) -> list[list[Any]]:
    """A source's figures, as its statement keeps it."""
    in_order = sorted(word.items(), key=str)
    return [[*name, *value] for name, value in in_order]


def from_said(said: Iterable[Sequence[Any]]) -> Word:
    """A source's figures, by its statement."""
    n_names = len(_NAME)
    word: Word = {}
    for row in said:
        name = tuple(row[:n_names])
        word[name] = tuple(row[n_names:])
    return word


class _Words:
    """Figures that each source publishes of some runs, and which figures stand of
    them."""

    def __init__(self, connection: sa.Connection, run_ids: Collection[int]) -> None:
        self._connection = connection
        self._run_ids = sorted(run_ids)
        #: the figures that stand of each run, and the source of each figure.
        self._standing: dict[int, Word] = {}
        for run_id in self._run_ids:
            self._standing[run_id] = {}
        self._given_by: dict[int, dict[Name, int]] = defaultdict(dict)
        #: what sources publish otherwise, as statements have it.
        self._stated: dict[Of, Word] = {}
        self._changed: set[Of] = set()
        self._read_standing()
        self._read_stated()

    def _read_standing(self) -> None:
        figures = tables.published_score
        is_of_runs = figures.c.run_id.in_(self._run_ids)
        query = sa.select(figures).where(is_of_runs)
        for found in self._connection.execute(query).mappings():
            row = {str(name): value for name, value in found.items()}
            run_id = row["run_id"]
            word = word_of([row])
            self._standing[run_id].update(word)
            given = dict.fromkeys(word, row["source_id"])
            self._given_by[run_id].update(given)

    def _read_stated(self) -> None:
        for row in of_sources(self._connection, FIGURES, self._run_ids):
            key = (row.source_id, row.subject_id)
            self._stated[key] = from_said(row.said)

    def of(self, source_id: int, run_id: int) -> Word:
        """All that a source publishes of a run."""
        standing = self._standing[run_id]
        return self._stated.get((source_id, run_id), standing)

    def add(self, source_id: int, run_id: int, word: Word) -> None:
        """A source publishes this; of what it had published before, the earlier stands."""
        key = (source_id, run_id)
        before = self._stated.get(key, {})
        self._stated[key] = {**word, **before}
        self._changed.add(key)

    def forget(self, source_id: int, run_id: int) -> None:
        """A source says nothing of a run any more."""
        key = (source_id, run_id)
        if self._stated.pop(key, None) is not None:
            self._changed.add(key)

    def settle(self) -> None:
        """The first source that publishes a figure gives it; what the others publish
        otherwise is kept."""
        stated = {run_id for _, run_id in self._stated}
        published = {run_id for run_id in self._run_ids if self._standing[run_id]}
        holders = holders_of_runs(self._connection, stated | published)
        for run_id in sorted(holders):
            self._settle_run(run_id, holders[run_id])
        self.write()

    def _settle_run(self, run_id: int, source_ids: Iterable[int]) -> None:
        """The same of one run, by its sources, the first first."""
        words = {source_id: self.of(source_id, run_id) for source_id in source_ids}
        stands: Word = {}
        given_by: dict[Name, int] = {}
        for source_id, word in words.items():
            stands = {**word, **stands}
            given = dict.fromkeys(word, source_id)
            given_by = {**given, **given_by}
        before = (self._standing[run_id], self._given_by[run_id])
        if before != (stands, given_by):
            _replace(self._connection, run_id, stands, given_by)
        for source_id, word in words.items():
            self._state(source_id, run_id, word, stands)

    def _state(self, source_id: int, run_id: int, word: Word, stands: Word) -> None:
        """Keep what a source publishes of a run, where it is not what stands."""
        key = (source_id, run_id)
        if word == stands:
            self.forget(source_id, run_id)
        elif self._stated.get(key) != word:
            self._stated[key] = word
            self._changed.add(key)

    def write(self) -> None:
        """Store the statements that have changed."""
        statements: list[Cells] = []
        for source_id, run_id in sorted(self._changed):
            self._delete_statement(source_id, run_id)
            word = self._stated.get((source_id, run_id))
            if word is not None:
                said = as_said(word)
                row = statement(source_id, FIGURES, run_id, said)
                statements.append(row)
        write(self._connection, statements)
        self._changed.clear()

    def _delete_statement(self, source_id: int, run_id: int) -> None:
        columns = tables.statement.c
        deletion = sa.delete(tables.statement).where(
            columns.about == FIGURES,
            columns.source_id == source_id,
            columns.subject_id == run_id,
        )
        self._connection.execute(deletion)


def _replace(
    connection: sa.Connection,
    run_id: int,
    stands: Word,
    given_by: Mapping[Name, int],
) -> None:
    """Store the figures of a run."""
    figures = tables.published_score
    run = tables.run
    groups = sa.select(run.c.run_group_id)
    query = groups.where(run.c.id == run_id)
    group = connection.execute(query).scalar_one()
    deletion = sa.delete(figures).where(figures.c.run_id == run_id)
    connection.execute(deletion)
    rows: list[Cells] = []
    for name, value in stands.items():
        what = {
            "run_group_id": group,
            "run_id": run_id,
            "source_id": given_by[name],
        }
        rows += as_rows({name: value}, what)
    append(connection, figures, rows)
    published = {row["metric_id"] for row in rows}
    _list_metrics(connection, run_id, published)


def _list_metrics(connection: sa.Connection, run_id: int, published: set[int]) -> None:
    """Say which metrics a run has figures of: those of its samples, and those that are
    published."""
    measured = tables.run_metric
    scores = tables.prompt_score
    scored = sa.select(scores.c.metric_id).distinct()
    query = scored.where(scores.c.run_id == run_id)
    of_samples = set(connection.execute(query).scalars())
    deletion = sa.delete(measured).where(
        measured.c.run_id == run_id,
        measured.c.metric_id.not_in(of_samples),
    )
    connection.execute(deletion)
    rows: list[Cells] = []
    for metric in sorted(published - of_samples):
        row = {"run_id": run_id, "metric_id": metric, "n_scored": 0}
        rows.append(row)
    append(connection, measured, rows)
