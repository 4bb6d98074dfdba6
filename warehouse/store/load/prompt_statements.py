"""Words of sources on prompts, so that it goes with its source.

What stands of a prompt is what its first source said, completed by the later ones. By
itself a source is taken to say all that stands of its prompts; what it does not is
written down, in the fewest rows:

- what it says of none of its prompts of a benchmark, once (:class:`Unsaid`);
- of single prompts only what it does not say there, or says otherwise (an exception:
  ``{"target": "C", "metadata": {"topic": null}}``; null is "not said").
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.statements import (
    PROMPTS,
    Statement,
    of_sources,
    statement,
    write,
)
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Columns of prompts that sources say something in.
COLUMNS = ("tool_id", "text", "target", "choices", "metadata")
#: Columns of samples under the names that they have as columns of prompts.
_OF_SAMPLES = {"prompt_id": "tool_id"} | {name: name for name in COLUMNS[1:]}
#: The field that a document is which has no fields.
WHOLE = ""


@dataclass(frozen=True)
class Unsaid:
    """Columns of prompts, and fields of their documents."""

    columns: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.columns or self.fields)

    def __or__(self, other: Unsaid) -> Unsaid:
        return Unsaid(self.columns | other.columns, self.fields | other.fields)

    def __and__(self, other: Unsaid) -> Unsaid:
        """Parts that both do not say; one that says nothing of documents says none of
        their fields."""
        fields = self.fields & other.fields
        if "metadata" in self.columns:
            fields |= other.fields
        if "metadata" in other.columns:
            fields |= self.fields
        return Unsaid(self.columns & other.columns, fields)

    def __sub__(self, other: Unsaid) -> Unsaid:
        fields: frozenset[str] = frozenset()
        if "metadata" not in other.columns:
            fields = self.fields - other.fields
        return Unsaid(self.columns - other.columns, fields)

    def as_exception(self) -> dict[str, Any]:
        """The exception of a prompt of which a source does not say this."""
        said: dict[str, Any] = dict.fromkeys(sorted(self.columns))
        if self.fields and "metadata" not in self.columns:
            said["metadata"] = dict.fromkeys(sorted(self.fields))
        return said

    def as_json(self) -> dict[str, list[str]]:
        """As a statement keeps it."""
        return {"columns": sorted(self.columns), "fields": sorted(self.fields)}

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> Unsaid:
        """The record that a statement keeps."""
        return cls(frozenset(said["columns"]), frozenset(said["fields"]))


@dataclass(frozen=True)
class Word:
    """A source's words on a prompt beside what stands: what it does not say, and what
    it says otherwise."""

    unsaid: Unsaid
    otherwise: Mapping[str, Any] = field(default_factory=dict)

    def exception(self, of_all: Unsaid) -> dict[str, Any]:
        """The entry to be written of the prompt, where a source does not say ``of_all``
        of any of its prompts."""
        said = (self.unsaid - of_all).as_exception()
        for name, value in self.otherwise.items():
            if name == "metadata" and isinstance(said.get(name), dict):
                said[name] = {**said[name], **value}
            else:
                said[name] = value
        return said


@dataclass
class Words:
    """Words of a load's sources on prompts that stood, or stand since."""

    by_prompt: dict[int, Word] = field(default_factory=dict)
    #: what stored prompts have been given, by id.
    gained: dict[int, Unsaid] = field(default_factory=dict)
    #: what prompts lack that were held against the store before in this session: ids by
    #: what it is.
    settled: dict[Unsaid, list[int]] = field(default_factory=dict)


def fields_of(document: Any) -> dict[str, Any]:
    """The fields of a prompt's document that have a value; one without fields is a
    single field."""
    if document is None:
        return {}
    if isinstance(document, dict):
        return {name: value for name, value in document.items() if value is not None}
    return {WHOLE: document}


def document_of(fields: Mapping[str, Any]) -> Any:
    """The document with some fields; None where there are none."""
    if list(fields) == [WHOLE]:
        return fields[WHOLE]
    return dict(fields) or None


def of_load(
    scratch: Scratch,
    columns: Collection[str],
    words: Words,
    sources: Mapping[int, Collection[int]],
) -> list[Statement]:
    """Statements of the sources of a load about prompts that others speak of too.

    Args:
        scratch: with their samples.
        columns: of these that may hold anything.
        words: what :func:`~warehouse.store.load.prompt_completion.fill` found.
        sources: ids of the benchmarks that each has prompts of, by id of the source.
    """
    never = frozenset(
        name for column, name in _OF_SAMPLES.items() if column not in columns
    )
    lacking = Unsaid()
    for word in words.by_prompt.values():
        lacking |= word.unsaid
    for unsaid in words.settled:
        lacking |= unsaid
    of_all = Unsaid(never) | _said_nowhere(scratch, lacking, never)
    exceptions = {
        prompt: word.exception(of_all) for prompt, word in words.by_prompt.items()
    }
    for unsaid, prompts in words.settled.items():
        said = (unsaid - of_all).as_exception()
        exceptions |= dict.fromkeys(prompts, said)
    found = []
    for source_id, benchmarks in sources.items():
        if of_all:
            found += [
                statement(source_id, PROMPTS, benchmark, of_all.as_json())
                for benchmark in benchmarks
            ]
        found += [
            statement(source_id, "prompt", prompt, said)
            for prompt, said in exceptions.items()
            if said
        ]
    return found


def _said_nowhere(scratch: Scratch, lacking: Unsaid, never: frozenset[str]) -> Unsaid:
    """The columns and fields, of some, that no sample of the load says anything in."""
    nowhere = set()
    for column, name in _OF_SAMPLES.items():
        if name not in lacking.columns - never:
            continue
        if not scratch.rows(
            f"select 1 from stage_sample where {column} is not null limit 1"
        ):
            nowhere.add(name)
    fields: frozenset[str] = frozenset()
    if lacking.fields and "metadata" not in never:
        names = {row[0] for row in scratch.rows(query_text("ingest", "said_fields"))}
        fields = frozenset(
            name
            for name in lacking.fields
            if name not in names or not _says_field(scratch, name)
        )
    return Unsaid(frozenset(nowhere), fields)


def _says_field(scratch: Scratch, name: str) -> bool:
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    return bool(scratch.rows(query_text("ingest", "says_field"), {"pointer": pointer}))


def note_gained(
    store: Store,
    words: Words,
    benchmark_ids: Sequence[int],
    new: range,
    own: Collection[int],
) -> None:
    """Note that what stored prompts have been given was not said by the sources that
    came before.

    Args:
        store: in the transaction of the load.
        words: with what prompts have gained.
        benchmark_ids: of the load.
        new: ids of the prompts that this load has brought.
        own: ids of its sources.
    """
    if not words.gained:
        return
    connection = store.connection
    for benchmark in benchmark_ids:
        earlier = _sources_of(connection, benchmark) - set(own)
        prompts = _in_benchmark(connection, benchmark, words.gained) if earlier else []
        if not prompts:
            continue
        stood = _stood_before(
            connection,
            benchmark,
            {prompt: words.gained[prompt] for prompt in prompts},
            new,
        )
        known = {
            row.source_id: Unsaid.of_json(row.said)
            for row in of_sources(connection, PROMPTS, [benchmark])
        }
        of_all: dict[int, Unsaid] = {}
        for source in earlier:
            before = known.get(source, Unsaid())
            of_all[source] = before | _never_stood(words, prompts, stood)
            if of_all[source] != before:
                replace_unsaid(connection, source, benchmark, of_all[source])
        if stood:
            _add_exceptions(
                connection,
                benchmark,
                {prompt: words.gained[prompt] for prompt in prompts},
                stood,
                of_all,
            )


def _sources_of(connection: sa.Connection, benchmark: int) -> set[int]:
    run = tables.run
    links = tables.run_source
    votes = tables.preference
    of_runs = (
        sa.select(links.c.source_id)
        .join(run, run.c.id == links.c.run_id)
        .where(run.c.benchmark_id == benchmark)
    )
    of_votes = sa.select(votes.c.source_id).where(votes.c.benchmark_id == benchmark)
    return {int(row[0]) for row in connection.execute(of_runs.union(of_votes))}


def _in_benchmark(
    connection: sa.Connection, benchmark: int, prompts: Iterable[int]
) -> list[int]:
    text = (
        "select id from prompt where benchmark_id = :benchmark"
        " and id in (select unnest(cast(:prompts as bigint[]))) order by id"
    )
    rows = connection.execute(
        sa.text(text), {"benchmark": benchmark, "prompts": list(prompts)}
    )
    return [int(row[0]) for row in rows]


def _stood_before(
    connection: sa.Connection, benchmark: int, gained: Mapping[int, Unsaid], new: range
) -> frozenset[tuple[str, str]]:
    """Parts that some prompts have gained and others of their benchmark have had
    before: column, and field."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for unsaid in gained.values():
        for item in _items(unsaid):
            counts[item] += 1
    stood = set()
    for (column, name), n_gained in counts.items():
        condition = f"{column} is not null"
        if column == "metadata" and name:
            condition = "position(:name in cast(metadata as varchar)) > 0"
        text = (
            "select count(*) from prompt where benchmark_id = :benchmark"
            f" and not id between :first and :last and {condition}"
        )
        values: dict[str, Any] = {
            "benchmark": benchmark,
            "first": new.start,
            "last": new.stop - 1,
        }
        if ":name" in condition:
            values["name"] = json.dumps(name)
        held = connection.execute(sa.text(text), values).scalar_one()
        is_plain = (
            name.isascii() and name.isprintable() and json.dumps(name) == f'"{name}"'
        )
        if held > n_gained or not is_plain:
            stood.add((column, name))
    return frozenset(stood)


def _items(unsaid: Unsaid) -> list[tuple[str, str]]:
    return [(column, "") for column in sorted(unsaid.columns)] + [
        ("metadata", name) for name in sorted(unsaid.fields)
    ]


def _unsaid(items: Iterable[tuple[str, str]]) -> Unsaid:
    columns = frozenset(column for column, name in items if not name)
    return Unsaid(columns, frozenset(name for _, name in items if name))


def _never_stood(
    words: Words, prompts: Iterable[int], stood: Collection[tuple[str, str]]
) -> Unsaid:
    items: set[tuple[str, str]] = set()
    for prompt in prompts:
        items.update(_items(words.gained[prompt]))
    return _unsaid(items - set(stood))


def replace_unsaid(
    connection: sa.Connection, source_id: int, benchmark: int, unsaid: Unsaid
) -> None:
    """Write what a source does not say of any of its prompts of a benchmark."""
    table = tables.statement
    is_it = (
        (table.c.source_id == source_id)
        & (table.c.about == PROMPTS)
        & (table.c.subject_id == benchmark)
    )
    connection.execute(sa.delete(table).where(is_it))
    connection.execute(
        sa.insert(table).values(
            statement(source_id, PROMPTS, benchmark, unsaid.as_json())
        )
    )


def _add_exceptions(
    connection: sa.Connection,
    benchmark: int,
    gained: Mapping[int, Unsaid],
    stood: Collection[tuple[str, str]],
    of_all: Mapping[int, Unsaid],
) -> None:
    rows = []
    for source_id, prompt in holders(connection, benchmark, gained):
        if source_id not in of_all:
            continue
        had = set(_items(gained[prompt])) & set(stood)
        unsaid = _unsaid(had) - of_all[source_id]
        if unsaid:
            rows.append(statement(source_id, "prompt", prompt, unsaid.as_exception()))
    write(connection, rows)


def holders(
    connection: sa.Connection, benchmark: int, prompts: Iterable[int]
) -> list[tuple[int, int]]:
    """The sources that hold some prompts of a benchmark: source and prompt."""
    values = {"benchmark": benchmark, "prompts": list(prompts)}
    rows = connection.execute(sa.text(query_text("ingest", "prompt_holders")), values)
    return [(int(row[0]), int(row[1])) for row in rows]
