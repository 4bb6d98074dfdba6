"""Tables that need no mapping: their columns carry the names of the fields."""

from __future__ import annotations

import contextlib
import csv
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.tabular_delimited import delimiter_of
from warehouse.importers.tabular_files import FORMATS
from warehouse.importers.tabular_mapping import RUN_FIELDS, SAMPLE_FIELDS
from warehouse.records import Candidate, SourceFiles, parse_json

_NEEDED = {"model", "benchmark", "prompt_id"}
_VALUES = ("score", "value")
_HEAD_BYTES = 65_536


def carries_names(candidate: Candidate) -> bool:
    """Whether a file is a table with the columns prompt_id and score: model and benchmark may be
    columns too, or set by the user."""
    names = set(_columns(candidate.path, candidate.head))
    return "prompt_id" in names and not names.isdisjoint(_VALUES)


def canonical_mapping(source: SourceFiles, values: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping that a table's own column names amount to.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: columns that every table must have are missing.
    """
    path = source.files[0]
    with path.open("rb") as stream:
        names = _columns(path, stream.read(_HEAD_BYTES))
    missing = sorted(_NEEDED - {*names, *values})
    value = next((name for name in _VALUES if name in names), None)
    if missing or value is None:
        raise InputError(
            f"no column {', '.join(missing) or ' or '.join(_VALUES)}",
            path=source.name,
            expected="columns model, benchmark, prompt_id and score",
            advice=f"say {' '.join(f'--default {name}=NAME' for name in missing)}, or write a"
            " mapping (docs/mappings.md) and say --map FILE",
        )
    metric: Any = {"path": "metric"} if "metric" in names else "score"
    score = {"metric": metric, "value": value}
    return {
        "run": {name: name for name in RUN_FIELDS if name in names and name not in _SHARED},
        "sample": {name: name for name in SAMPLE_FIELDS if name in names},
        "scores": [score | ({"filter": {"path": "filter"}} if "filter" in names else {})],
    }


#: Names that a run and a row both have: in a table of rows they are the row's.
_SHARED = {*SAMPLE_FIELDS, "status"}


def _columns(path: Path, head: bytes) -> Sequence[str]:
    """Names of the columns of a plain file, as far as they can be told from its beginning."""
    if path.suffix.lower() == ".gz":
        path, head = path.with_suffix(""), _unpacked(head)
    kind = FORMATS.get(path.suffix.lower())
    if kind == "parquet" and head.startswith(b"PAR1"):
        return _parquet_columns(path)
    head = head.removeprefix(b"\xef\xbb\xbf")
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    if kind in ("csv", "tsv"):
        rows = csv.reader([line.strip("\r")], delimiter=delimiter_of(line, kind))
        with contextlib.suppress(csv.Error):  # then no importer knows the file
            return next(rows, [])
    if kind == "json" and head.lstrip().startswith(b"["):
        return _first_keys(head)
    return _keys(line) if kind == "jsonl" else []


def _unpacked(head: bytes) -> bytes:
    """The beginning of a file from that of its gzip; empty if it is none."""
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, _HEAD_BYTES)
    return b""


def _parquet_columns(path: Path) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return []  # damaged: whoever reads it will say so


def _first_keys(head: bytes) -> list[str]:
    """Keys of the first record of a list, if all of it stands in the beginning of the file."""
    text = head.decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    return list(record) if isinstance(record, dict) else []


def _keys(line: str) -> list[str]:
    try:
        record = parse_json(line)
    except ValueError:
        return []
    return list(record) if isinstance(record, dict) else []
