"""Findings of scanners, and votes, from batches to scratch tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from warehouse.records import SCAN_SCHEMA, VOTE_SCHEMA, Dump, content_key
from warehouse.store.load.scratch import Scratch

_KINDS = {
    "int32": "integer",
    "string": "varchar",
    "double": "double",
    "timestamp[us]": "timestamp",
}


def fill_scans(scratch: Scratch, dumps: Sequence[Dump]) -> None:
    """Bring the values of scans into ``stage_scan``, with the number of the dump among
    those of the load, and of the row; where no dump has a scan there is no such table.
    """
    scans = [
        (part, dump.scan) for part, dump in enumerate(dumps) if dump.scan is not None
    ]
    if not scans:
        return
    _fill(
        scratch,
        "stage_scan",
        SCAN_SCHEMA,
        ((part, scan.batches) for part, scan in scans),
    )


def fill_votes(scratch: Scratch, dumps: Sequence[Dump]) -> None:
    """Bring votes into ``stage_vote`` likewise, with the keys of their questions in
    place of what makes them."""
    voted = [
        (part, map(_with_key, dump.votes))
        for part, dump in enumerate(dumps)
        if dump.votes is not None
    ]
    if voted:
        _fill(scratch, "stage_vote", VOTE_SCHEMA, voted)


def _fill(
    scratch: Scratch,
    table: str,
    schema: pa.Schema,
    parts: Iterable[tuple[int, Iterable[pa.RecordBatch]]],
) -> None:
    typed = [f"{field.name} {_KINDS[str(field.type)]}" for field in schema]
    columns = ", ".join(typed)
    scratch.run(f"create or replace table {table} (part integer, r bigint, {columns})")
    first = 0
    for part, batches in parts:
        for batch in batches:
            scratch.raw.register("incoming_rows", batch)
            numbers = f"{part} as part, {first} + row_number() over () as r"
            scratch.run(
                f"insert into {table} by name select {numbers}, * from incoming_rows"
            )
            scratch.raw.unregister("incoming_rows")
            first += batch.num_rows


def _with_key(batch: pa.RecordBatch) -> pa.RecordBatch:
    at = batch.schema.get_field_index("identity")
    if at < 0 or batch.column(at).null_count == batch.num_rows:
        return batch
    identities = batch.column(at).dictionary_encode()
    keys = [content_key(text) for text in identities.dictionary.to_pylist()]
    return batch.set_column(
        at, batch.schema.field(at), pa.array(keys, pa.string()).take(identities.indices)
    )
