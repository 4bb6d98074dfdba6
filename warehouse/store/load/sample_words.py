"""Words of sources on single samples of a run that several of them hold, beyond what
makes it the same run.

The first source that says a value gives it: the second one's latencies stand where the
first has none. What a source says otherwise is kept, sample by sample, as a statement
(``statements``), so that a value goes with its last source. Of prompts as they were
sent only whether a source has them: one text stands, in the words of the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import pyarrow as pa

from warehouse.store.alchemy import sa
from warehouse.store.load.bulk_insert import as_arrow
from warehouse.store.load.decisions import Decision
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load
from warehouse.store.load.statements import (
    holders_of_runs,
    of_sources,
    statement,
    write,
)
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: What such a statement is about: its subject is the run, its words are by column.
SAMPLES = "samples"

#: Where a sample stands in its run: prompt, variant, draw, and the choice or metric
#: where there is one.
Place = tuple[int, ...]
#: What a source says of one column, by place; a place that it says nothing of is not
#: there.
Word = dict[Place, Any]


@dataclass(frozen=True)
class _Table:
    """A table of facts on single samples."""

    name: str
    place: tuple[str, ...]  #: columns that, with the run, say which sample a row is of.
    #: columns that are no part of what makes two runs the same.
    details: tuple[str, ...]

    def columns(self) -> list[str]:
        """Its details, as statements call them."""
        return [f"{self.name}.{detail}" for detail in self.details]


_SAMPLE = ("prompt_id", "variant_id", "draw")
_TABLES = (
    _Table(
        "generation",
        _SAMPLE,
        (
            "extracted_answer",
            "finish_reason",
            "input_tokens",
            "output_tokens",
            "latency",
            "cost",
            "error",
            "explanation",
            "prompt_hash",
        ),
    ),
    _Table(
        "choice",
        (*_SAMPLE, "choice_index"),
        (
            "unconditional_loglikelihood",
            "is_greedy",
            "n_tokens",
            "n_bytes",
            "is_target",
        ),
    ),
    _Table("score", (*_SAMPLE, "metric_id"), ("raw",)),
)
_TABLE_OF: dict[str, _Table] = {}
for _one in _TABLES:
    _TABLE_OF |= dict.fromkeys(_one.columns(), _one)


#: What was sent: a hash, of which the text stands elsewhere.
_SENT = "generation.prompt_hash"

#: A run and one of its columns.
Subject = tuple[int, str]


def complete(
    connection: sa.Connection,
    scratch: Scratch,
    state: _Load,
    decisions: Sequence[Decision],
    run_ids: Mapping[int, int],
) -> None:
    """Take in what a load says of the samples of runs that another source has given, or
    the load itself before.

    Args:
        connection: to the store, which has the facts of the load and the links of its
            sources.
        scratch: with the staged facts.
        state: the load.
        decisions: what becomes of each of its runs.
        run_ids: ids of its new runs, by their number.
    """
    again = _seen_again(state, decisions, run_ids)
    unlike = {}
    if again:
        unlike = _unlike(scratch, again)
    if not unlike:
        return
    subjects: list[tuple[int, str]] = []
    for run, columns in unlike.items():
        subjects += [(again[run], column) for column in columns]
    words = _Words(connection, subjects)
    given_by = {run_ids[run]: state.part_of(run).source.id for run in run_ids}
    staged = _Staged(scratch, unlike)
    _push_sent(scratch, [run for run, columns in unlike.items() if _SENT in columns])
    for run, run_id in again.items():
        source_id = state.part_of(run).source.id
        words.add(
            source_id,
            run_id,
            staged.words_of(run),
            has_given=given_by.get(run_id) == source_id,
        )
    words.settle(scratch)


def restate(
    connection: sa.Connection, scratch: Scratch, run_ids: Iterable[int]
) -> bool:
    """Work out what stands of the samples of runs that have lost a source, or hold
    others than before.

    Returns:
        whether texts may be held no longer.
    """
    ids = sorted(run_ids)
    stated = []
    if ids:
        stated = of_sources(connection, SAMPLES, ids)
    if not stated:
        return False
    subjects: list[tuple[int, str]] = []
    for row in stated:
        subjects += [(row.subject_id, column) for column in row.said]
    words = _Words(connection, subjects)
    words.settle(scratch)
    return any(_SENT in row.said for row in stated)


def hand_over(connection: sa.Connection, source_id: int, old: int, new: int) -> None:
    """A source holds a run of equal values in place of another: what it says of the
    samples goes with it.

    What stands of the samples of the new run is worked out afterwards
    (:func:`restate`).
    """
    its = [
        row
        for row in of_sources(connection, SAMPLES, [old])
        if row.source_id == source_id
    ]
    columns: set[str] = set()
    for row in its:
        columns.update(row.said)
    for table in _TABLES:
        columns.update(_unlike_in_store(connection, table, old, new))
    before = _Words(connection, [(old, column) for column in columns])
    after = _Words(connection, [(new, column) for column in columns])
    for column in columns:
        word = before.word_of(source_id, (old, column))
        after.state(source_id, (new, column), word)
        before.unsay(source_id, (old, column))
    before.write()
    after.write()


def _seen_again(
    state: _Load, decisions: Iterable[Decision], run_ids: Mapping[int, int]
) -> dict[int, int]:
    """Ids of the stored runs that runs of the load are, by the numbers of these."""
    return {
        decision.run: decision.stored_as(run_ids)
        for decision in decisions
        if decision.action == "seen" and decision.run in state.measured
    }


def _unlike(scratch: Scratch, again: Mapping[int, int]) -> dict[int, list[str]]:
    """Columns of which a run of the load says something else than what stands, by its
    number."""
    numbers = pa.array(list(again), pa.int32())
    ids = pa.array(list(again.values()), pa.int64())
    scratch.put("again_run", pa.table({"run": numbers, "run_id": ids}))
    unlike: dict[int, list[str]] = defaultdict(list)
    for table in _TABLES:
        if not scratch.value(
            f"select count(*) from stage_{table.name} semi join again_run using (run)"
        ):
            continue
        names = ", ".join(("run_id", *table.place, *table.details))
        of_runs = "where run_id in (select unnest(cast(:ids as bigint[])))"
        scratch.pull(
            "held_sample",
            f"select {names} from {table.name} {of_runs}",
            {"ids": sorted(set(again.values()))},
        )
        place = ", ".join(table.place)
        parts = {
            "differs": _differences(table),
            "table": f"stage_{table.name}",
            "place": place,
        }
        for run, *flags in scratch.rows(
            query_text("ingest", "unlike_samples").format(**parts)
        ):
            unlike[run] += [
                column
                for column, is_unlike in zip(table.columns(), flags, strict=True)
                if is_unlike
            ]
    return {run: columns for run, columns in unlike.items() if columns}


def _unlike_in_store(
    connection: sa.Connection, table: _Table, old: int, new: int
) -> list[str]:
    """Columns in which the samples of two stored runs differ."""
    text = query_text("store", "unlike_columns").format(
        differs=_differences(table), table=table.name, place=", ".join(table.place)
    )
    row = connection.execute(sa.text(text), {"old": old, "new": new}).one()
    return [
        column
        for column, is_unlike in zip(table.columns(), row, strict=True)
        if is_unlike
    ]


def _differences(table: _Table) -> str:
    return ", ".join(
        f"bool_or(said.{name} is distinct from held.{name})" for name in table.details
    )


def _push_sent(scratch: Scratch, runs: Sequence[int]) -> None:
    """Store what was sent in some runs of the load, as texts that the store may lack."""
    if not runs:
        return
    sent = (
        "select prompt_hash from stage_generation where run in "
        f"({', '.join(map(str, runs))})"
    )
    scratch.push_new(
        "content",
        "sha256",
        f"select sha256, text from stage_text where sha256 in ({sent})",
    )


class _Staged:
    """Words of a load's runs on the columns in which they differ from what stands."""

    def __init__(self, scratch: Scratch, unlike: Mapping[int, Sequence[str]]) -> None:
        self._words: dict[int, dict[str, Word]] = {}
        for run, columns in unlike.items():
            self._words[run] = {column: {} for column in columns}
        for column in sorted(set().union(*unlike.values())):
            runs = [run for run, columns in unlike.items() if column in columns]
            table = _TABLE_OF[column]
            name = column.partition(".")[2]
            rows = scratch.rows(
                f"select run, {name}, {', '.join(table.place)} from stage_{table.name}"
                f" where {name} is not null and run in ({', '.join(map(str, runs))})"
            )
            for run, value, *place in rows:
                self._words[run][column][tuple(place)] = _storable(value)

    def words_of(self, run: int) -> Mapping[str, Word]:
        """By column; a column is missing of which the run says what stands."""
        return self._words.get(run, {})


def _storable(value: Any) -> Any:
    """A value as every engine keeps it in JSON."""
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, bytes | memoryview):
        return value.hex()
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    return value


class _Words:
    """Words of each source on some columns of runs, and what stands of them."""

    def __init__(self, connection: sa.Connection, subjects: Iterable[Subject]) -> None:
        self._connection = connection
        self._subjects = sorted(set(subjects))
        ids = sorted({run_id for run_id, _ in self._subjects})
        self._standing = _standing(connection, self._subjects)
        #: what statements say, as they are stored: by source and run, then by column.
        self._said: dict[tuple[int, int], dict[str, Any]] = {
            (row.source_id, row.subject_id): dict(row.said)
            for row in of_sources(connection, SAMPLES, ids)
        }
        self._changed: set[tuple[int, int]] = set()
        self._holders = holders_of_runs(connection, ids)
        #: words of sources that come with the load.
        self._coming: dict[tuple[int, Subject], Word] = {}

    def add(
        self, source_id: int, run_id: int, said: Mapping[str, Word], *, has_given: bool
    ) -> None:
        """A source brings a run that is stored.

        Args:
            source_id: which.
            run_id: of the stored run.
            said: by column; what it says of others is what stands.
            has_given: whether the source gave the stored run itself, at another place.
        """
        for subject in self._subjects:
            if subject[0] != run_id:
                continue
            word = said.get(subject[1], self._standing[subject])
            if subject[1] == _SENT:
                word = {
                    place: self._standing[subject].get(place, sent)
                    for place, sent in word.items()
                }
            before = self._coming.get((source_id, subject))
            if before is None and has_given:
                before = self._standing[subject]
            if before is None:
                self._coming[source_id, subject] = word
            else:
                self._coming[source_id, subject] = {**word, **before}

    def word_of(self, source_id: int, subject: Subject) -> Word:
        """All that a source says of a column of a run."""
        if (source_id, subject) in self._coming:
            return self._coming[source_id, subject]
        run_id, column = subject
        standing = self._standing[subject]
        of_source = self._said.get((source_id, run_id), {})
        if column not in of_source:
            return standing
        if of_source[column] is None:
            return {}
        word = dict(standing)
        for *place, value in of_source[column]:
            word[tuple(place)] = value
        return {place: value for place, value in word.items() if value is not None}

    def settle(self, scratch: Scratch) -> None:
        """The first source that says a value gives it; what the others say otherwise is
        kept."""
        changes: dict[str, list[tuple[int, Place, Any]]] = defaultdict(list)
        for subject in self._subjects:
            run_id, column = subject
            words = {
                source_id: self.word_of(source_id, subject)
                for source_id in self._holders.get(run_id, ())
            }
            stands: Word = {}
            for word in words.values():
                stands = {**word, **stands}
            standing = self._standing[subject]
            if stands != standing:
                places = sorted(standing.keys() | stands.keys())
                unlike = [
                    place
                    for place in places
                    if standing.get(place) != stands.get(place)
                ]
                changes[column] += [
                    (run_id, place, stands.get(place)) for place in unlike
                ]
            self._standing[subject] = stands
            for source_id, word in words.items():
                self.state(source_id, subject, word)
        for column, values in changes.items():
            _give(scratch, column, values)
        self.write()

    def state(self, source_id: int, subject: Subject, word: Word) -> None:
        """Keep what a source says of a column, where it is not what stands."""
        run_id, column = subject
        standing = self._standing[subject]
        if word == standing:
            self.unsay(source_id, subject)
            return
        places = sorted(standing.keys() | word.keys())
        unlike = [
            [*place, word.get(place)]
            for place in places
            if word.get(place) != standing.get(place)
        ]
        if word:
            self._said.setdefault((source_id, run_id), {})[column] = unlike
        else:
            self._said.setdefault((source_id, run_id), {})[column] = None
        self._changed.add((source_id, run_id))

    def unsay(self, source_id: int, subject: Subject) -> None:
        """Unsay a source's words on a column: they are what stands."""
        run_id, column = subject
        said = self._said.get((source_id, run_id), {})
        if column in said:
            del said[column]
            self._changed.add((source_id, run_id))

    def write(self) -> None:
        """Store the statements on the runs of which some have changed."""
        table = tables.statement
        run_ids = {run_id for _, run_id in self._changed}
        if not run_ids:
            return
        is_on_them = (table.c.about == SAMPLES) & table.c.subject_id.in_(
            sorted(run_ids)
        )
        self._connection.execute(sa.delete(table).where(is_on_them))
        kept = [
            (*key, words)
            for key, words in sorted(self._said.items())
            if key[1] in run_ids and words
        ]
        write(
            self._connection,
            [
                statement(source_id, SAMPLES, run_id, words)
                for source_id, run_id, words in kept
            ],
        )
        self._changed.clear()


def _standing(
    connection: sa.Connection, subjects: Iterable[Subject]
) -> dict[Subject, Word]:
    """Stored values of some columns of runs."""
    standing: dict[Subject, Word] = {subject: {} for subject in subjects}
    runs_of: dict[str, list[int]] = defaultdict(list)
    for run_id, column in standing:
        runs_of[column].append(run_id)
    for column, run_ids in runs_of.items():
        table = _TABLE_OF[column]
        name = column.partition(".")[2]
        facts = tables.metadata.tables[table.name]
        value = facts.c[name]
        query = sa.select(
            facts.c.run_id, value, *(facts.c[part] for part in table.place)
        )
        for run_id, said, *place in connection.execute(
            query.where(facts.c.run_id.in_(run_ids), value.is_not(None))
        ):
            standing[run_id, column][tuple(place)] = _storable(said)
    return standing


def _give(
    scratch: Scratch, column: str, values: Iterable[tuple[int, Place, Any]]
) -> None:
    """Change what stands of a column, as run, place and value."""
    table = _TABLE_OF[column]
    name = column.partition(".")[2]
    rows = []
    for run_id, place, value in values:
        if column == _SENT and value is not None:
            value = bytes.fromhex(value)
        rows.append(
            {
                "run_id": run_id,
                **dict(zip(table.place, place, strict=True)),
                name: value,
            }
        )
    scratch.put("given_sample", as_arrow(tables.metadata.tables[table.name], rows))
    same = " and ".join(
        f"{table.name}.{part} = given_sample.{part}"
        for part in ("run_id", *table.place)
    )
    scratch.change(
        table.name,
        "given_sample",
        f"update {table.name} set {name} = given_sample.{name} from given_sample where "
        f"{same}",
    )
