"""What scanners found, from batches to a scratch table."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.records import SCAN_SCHEMA, Dump
from warehouse.store.load.scratch import Scratch

_KINDS = {"int32": "integer", "string": "varchar", "double": "double", "timestamp[us]": "timestamp"}


def fill_scans(scratch: Scratch, dumps: Sequence[Dump]) -> None:
    """Bring the values of scans into ``stage_scan``, with the number of the dump among those of the load, and of the
    row; where no dump has a scan there is no such table."""
    scans = [(part, dump.scan) for part, dump in enumerate(dumps) if dump.scan is not None]
    if not scans:
        return
    columns = ", ".join(f"{field.name} {_KINDS[str(field.type)]}" for field in SCAN_SCHEMA)
    scratch.run(f"create or replace table stage_scan (part integer, r bigint, {columns})")
    first = 0
    for part, scan in scans:
        for batch in scan.batches:
            scratch.raw.register("incoming_scan", batch)
            numbers = f"{part} as part, {first} + row_number() over () as r"
            scratch.run(f"insert into stage_scan by name select {numbers}, * from incoming_scan")
            scratch.raw.unregister("incoming_scan")
            first += batch.num_rows
