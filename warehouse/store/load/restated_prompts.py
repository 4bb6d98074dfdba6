"""Prompts once a source is gone: what the first of the others said, completed by the
later ones."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa

from warehouse.records.canonical_json import canonical_digest
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.load.prompt_statements import (
    COLUMNS,
    WHOLE,
    Unsaid,
    document_of,
    fields_of,
    holders,
)
from warehouse.store.load.restated import Held
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.statements import (
    EARLIER,
    PROMPTS,
    of_sources,
    statement,
    write,
)
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Prompts that are worked out at a time, to bound memory.
BLOCK = 20_000

#: What a source says of a prompt beside what stands (``prompt_statements``).
Apart = dict[str, Any]


@dataclass
class _Benchmark:
    """The remaining sources of a benchmark."""

    number: int
    order: Mapping[int, int]  # place of each source among all, by id
    unsaid: Mapping[int, Unsaid]  # what each says of none of its prompts
    earlier: frozenset[int]  # sources that an earlier version has loaded
    n_unknown: int = 0  # prompts of which such a source may say less than stands

    def of(self, source: int) -> Unsaid:
        return self.unsaid.get(source, Unsaid())


def restate_prompts(store: Store, scratch: Scratch, held: Held) -> int:
    """Work out anew what stands of the prompts of a source that is gone, and all that
    is made of it: clusters by fields, and the fingerprints of benchmarks.

    Args:
        store: in the transaction in which the source has gone.
        scratch: of this store, made before the transaction.
        held: what the source spoke of.

    Returns:
        number of prompts that a source holds which an earlier version has loaded: what
        stands of them counts as said by that.
    """
    connection = store.connection
    source = tables.source
    query = sa.select(source.c.id).order_by(
        sa.nulls_last(source.c.loaded_at), source.c.id
    )
    rows = connection.execute(query)
    places = {int(row[0]): place for place, row in enumerate(rows)}
    earlier = frozenset(int(row.source_id) for row in of_sources(connection, EARLIER))
    n_unknown = 0
    for benchmark, prompts in held.prompts.items():
        words = of_sources(connection, PROMPTS, [benchmark])
        left = _Benchmark(
            benchmark,
            places,
            {row.source_id: Unsaid.of_json(row.said) for row in words},
            earlier,
        )
        changed: list[int] = []
        for start in range(0, len(prompts), BLOCK):
            changed += _restate_block(
                store, scratch, left, prompts[start : start + BLOCK]
            )
        _restate_clusters(store, benchmark, changed)
        _restate_fingerprint(scratch, connection, benchmark)
        n_unknown += left.n_unknown
    return n_unknown


def _restate_block(
    store: Store, scratch: Scratch, left: _Benchmark, prompts: Sequence[int]
) -> list[int]:
    """Work out some prompts; ids of those whose documents changed."""
    connection = store.connection
    sources: dict[int, list[int]] = defaultdict(list)
    for source, prompt in holders(connection, left.number, prompts):
        sources[prompt].append(source)
    exceptions = _exceptions(connection, sources)
    by_holders: dict[tuple[int, ...], list[int]] = defaultdict(list)
    apart: list[int] = []
    for prompt, names in sources.items():
        names.sort(key=left.order.__getitem__)
        left.n_unknown += not left.earlier.isdisjoint(names)
        if exceptions.get(prompt):
            apart.append(prompt)
        else:
            by_holders[tuple(names)].append(prompt)
    gone: dict[int, Unsaid] = {}
    for together, alike in by_holders.items():
        unsaid = reduce(Unsaid.__and__, [left.of(name) for name in together])
        if unsaid:
            gone |= dict.fromkeys(alike, unsaid)
    stored = _stored(store, [*gone, *apart])
    changed = [_without(stored[prompt], unsaid) for prompt, unsaid in gone.items()]
    for prompt in apart:
        said = {name: exceptions[prompt].get(name, {}) for name in sources[prompt]}
        changed.append(_worked_out(connection, left, stored[prompt], said))
    return _write(scratch, [row for row in changed if row is not None], stored)


def _exceptions(
    connection: sa.Connection, prompts: Iterable[int]
) -> dict[int, dict[int, Apart]]:
    """Words of sources on single prompts, by prompt and source."""
    table = tables.statement
    text = (
        "select source_id, subject_id, said from statement where about = 'prompt'"
        " and subject_id in (select unnest(cast(:prompts as bigint[])))"
    )
    columns = {
        "source_id": table.c.source_id,
        "subject_id": table.c.subject_id,
        "said": table.c.said,
    }
    query = sa.text(text).columns(*columns.values())
    found: dict[int, dict[int, Apart]] = defaultdict(dict)
    for source, prompt, said in connection.execute(query, {"prompts": list(prompts)}):
        known = found[prompt].setdefault(source, {})
        for name, value in said.items():
            if isinstance(known.get(name), dict) and isinstance(value, dict):
                known[name] = {**known[name], **value}
            else:
                known[name] = value
    return found


def _stored(store: Store, prompts: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Stored values of some prompts: their columns, and the fields of their documents
    under ``metadata``."""
    text = (
        f"select id, {', '.join(COLUMNS)} from prompt"
        " where id in (select unnest(cast(:prompts as bigint[]))) order by id"
    )
    rows = []
    if prompts:
        rows = store.arrow(text, {"prompts": list(prompts)}).to_pylist()
    for row in rows:
        metadata = row["metadata"]
        choices = row["choices"]
        if metadata:
            row["metadata"] = fields_of(json.loads(metadata))
        else:
            row["metadata"] = {}
        if choices:
            row["choices"] = json.loads(choices)
        else:
            row["choices"] = None
    return {row["id"]: row for row in rows}


def _without(row: Mapping[str, Any], unsaid: Unsaid) -> dict[str, Any] | None:
    """A prompt without what nobody says any more; None where that changes nothing."""
    left = {
        name: None if name in unsaid.columns else row[name]
        for name in COLUMNS
        if name != "metadata"
    }
    if "metadata" in unsaid.columns:
        fields = {}
    else:
        fields = row["metadata"]
    left["metadata"] = {
        name: value for name, value in fields.items() if name not in unsaid.fields
    }
    if all(left[name] == row[name] for name in COLUMNS):
        return None
    return {"id": row["id"], **left}


def _worked_out(
    connection: sa.Connection,
    left: _Benchmark,
    row: Mapping[str, Any],
    said: Mapping[int, Apart],
) -> dict[str, Any] | None:
    """A prompt by what its sources say, in their order; None where that changes
    nothing. What some said by what stood becomes an exception where something else
    stands now.

    Args:
        row: what has stood until now.
        said: by source, the exceptions of each.
    """
    after: dict[str, Any] = {"id": row["id"], "metadata": {}}
    fresh: dict[int, Apart] = {source: {} for source in said}
    for name in COLUMNS[:-1]:
        words = {
            source: _word(left.of(source), apart, name, row[name])
            for source, apart in said.items()
        }
        after[name] = _first(words)
        if row[name] not in (None, after[name]):
            for source in _as_stood(
                words, [source for source, apart in said.items() if name in apart]
            ):
                fresh[source][name] = row[name]
    for name in _all_fields(row, said):
        standing = row["metadata"].get(name)
        words = {
            source: _field_word(left.of(source), apart, name, standing)
            for source, apart in said.items()
        }
        value = _first(words)
        if value is not None:
            after["metadata"][name] = value
        if standing not in (None, value):
            for source in _as_stood(
                words,
                [source for source, apart in said.items() if _speaks(apart, name)],
            ):
                fresh[source].setdefault("metadata", {})[name] = standing
    if WHOLE in after["metadata"] and len(after["metadata"]) > 1:
        after["metadata"] = {WHOLE: after["metadata"][WHOLE]}
    write(
        connection,
        [
            statement(s, "prompt", row["id"], exception)
            for s, exception in fresh.items()
            if exception
        ],
    )
    return None if all(after[name] == row[name] for name in COLUMNS) else after


def _word(unsaid: Unsaid, exception: Apart, name: str, standing: Any) -> Any:
    if name in exception:
        return exception[name]
    if name in unsaid.columns:
        return None
    return standing


def _field_word(unsaid: Unsaid, exception: Apart, name: str, standing: Any) -> Any:
    if _speaks(exception, name):
        fields = exception["metadata"]
        if fields is None:
            return None
        return fields[name]
    if "metadata" in unsaid.columns or name in unsaid.fields:
        return None
    return standing


def _speaks(exception: Apart, name: str) -> bool:
    """True if an exception is about a field: null is about all."""
    if "metadata" not in exception:
        return False
    return exception["metadata"] is None or name in exception["metadata"]


def _first(words: Mapping[int, Any]) -> Any:
    return next((value for value in words.values() if value is not None), None)


def _as_stood(words: Mapping[int, Any], exceptions: Sequence[int]) -> list[int]:
    """The sources that said what has stood."""
    return [
        source
        for source, value in words.items()
        if value is not None and source not in exceptions
    ]


def _all_fields(row: Mapping[str, Any], said: Mapping[int, Apart]) -> list[str]:
    names = dict.fromkeys(row["metadata"])
    for exception in said.values():
        names |= dict.fromkeys(exception.get("metadata") or ())
    return list(names)


_TYPES = {
    "id": pa.int64(),
    "tool_id": pa.string(),
    "text": pa.string(),
    "target": pa.string(),
    "choices": pa.string(),
    "metadata": pa.string(),
}


def _write(
    scratch: Scratch,
    rows: Sequence[Mapping[str, Any]],
    before: Mapping[int, Mapping[str, Any]],
) -> list[int]:
    """Write prompts; ids of those whose documents changed."""
    if not rows:
        return []
    texts: list[dict[str, Any]] = []
    for row in rows:
        choices = row["choices"]
        if choices is not None:
            choices = json.dumps(choices, ensure_ascii=False)
        metadata = _as_text(document_of(row["metadata"]))
        texts.append({**row, "choices": choices, "metadata": metadata})
    columns: dict[str, pa.Array] = {}
    for name, kind in _TYPES.items():
        columns[name] = pa.array([row[name] for row in texts], kind)
    scratch.put("worked_out", pa.table(columns))
    hashed = "select *, text_hash(text) as text_hash from worked_out"
    scratch.run(f"create or replace temp table restated_prompt as {hashed}")
    scratch.change("prompt", "restated_prompt", query_text("ingest", "restate_prompt"))
    scratch.drop(["worked_out", "restated_prompt"])
    return [
        row["id"] for row in rows if row["metadata"] != before[row["id"]]["metadata"]
    ]


def _as_text(document: Any) -> str | None:
    if document is None:
        return None
    return json.dumps(
        document, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def _restate_clusters(store: Store, benchmark: int, changed: Sequence[int]) -> None:
    """Clusters by fields hold the prompts whose documents say so; one that holds none
    any more goes, and a clustering with it."""
    connection = store.connection
    values = {"benchmark": benchmark, "prompts": list(changed)}
    if changed:
        connection.execute(sa.text(query_text("store", "take_out_of_clusters")), values)
        field_clusters.extend(store, [benchmark])
    for name in ("empty_clusters", "unused_default_clustering", "empty_clusterings"):
        connection.execute(sa.text(query_text("store", name)), {"benchmark": benchmark})


def _restate_fingerprint(
    scratch: Scratch, connection: sa.Connection, benchmark: int
) -> None:
    """The digest of the prompts that a benchmark has left; none: null."""
    scratch.pull(
        "known_prompt",
        "select benchmark_id, split, key, occurrence from prompt where benchmark_id = "
        ":benchmark",
        {"benchmark": benchmark},
    )
    scratch.run(
        "create or replace temp table new_prompt as select distinct benchmark_id from "
        "known_prompt"
    )
    rows = scratch.rows(query_text("ingest", "fingerprint"))
    fingerprint = None
    if rows:
        fingerprint = canonical_digest([rows[0][1], rows[0][2]])
    scratch.drop(["known_prompt", "new_prompt"])
    table = tables.benchmark
    connection.execute(
        sa.update(table).where(table.c.id == benchmark).values(fingerprint=fingerprint)
    )
