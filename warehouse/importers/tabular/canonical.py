"""Tables that need no mapping: their columns have the usual names (docs/mappings.md)."""

from __future__ import annotations

import contextlib
import csv
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.common.streams import FORMATS
from warehouse.importers.tabular.delimited import delimiter_of, unique_names
from warehouse.importers.tabular.usual_names import Guess, guess, path_of
from warehouse.records import Candidate, SourceFiles, parse_json

_NEEDED = ("model", "benchmark")
_HEAD_BYTES = 65_536


def carries_names(candidate: Candidate) -> bool:
    """Whether a file is a table that names prompts (by an id or their text) and scores: model and
    benchmark may be columns too, or set by the user."""
    found = guess(_columns(candidate.path, candidate.head))
    return bool(found.scores) and bool(found.key or "prompt_id" in found.sample)


def plain_columns(source: SourceFiles, values: Mapping[str, Any]) -> Guess:
    """What the columns of a table are by their names.

    Args:
        source: one file.
        values: header fields that the user set, which need no column.

    Raises:
        InputError: columns that every table must have are missing.
    """
    path = source.files[0]
    with path.open("rb") as stream:
        names = _columns(path, stream.read(_HEAD_BYTES))
    found = guess(names, objects=_format(path) not in ("csv", "tsv"))
    missing = [name for name in _NEEDED if name not in values and name not in found.run]
    if "prompt_id" not in found.sample and not found.key:
        missing.append("prompt_id")
    if missing or not found.scores:
        options = [f"--default {name}=NAME" for name in missing if name in _NEEDED]
        raise InputError(
            f"no column {', '.join(missing) or 'score'}",
            path=source.name,
            expected="columns model, benchmark, prompt_id and score",
            advice=(f"say {' '.join(options)}, or " if options else "")
            + "let `warehouse mapping FILE` begin a mapping for --map",
        )
    return found


def canonical_mapping(found: Guess) -> dict[str, Any]:
    """The mapping that a table's own column names amount to."""
    parts: dict[str, Any] = {
        "run": {name: path_of(column) for name, column in found.run.items()},
        "sample": {name: path_of(column) for name, column in found.sample.items()},
        "metadata": {name: path_of(column) for name, column in found.metadata.items()},
        "scores": [dict(_score(found, *pair)) for pair in found.scores],
    }
    return parts | ({"key": list(found.key)} if found.key else {})


def _score(found: Guess, metric: str, column: str) -> Iterator[tuple[str, Any]]:
    yield "metric", metric or {"path": path_of(found.metric)}
    yield "value", path_of(column)
    if found.filter:
        yield "filter", {"path": path_of(found.filter)}


def _format(path: Path) -> str:
    """The format that a plain file's name promises, ``""`` if it promises none."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return FORMATS.get(inner.suffix.lower(), "")


def _columns(path: Path, head: bytes) -> Sequence[str]:
    """Names of the columns of a plain file, as far as they can be told from its beginning."""
    kind = _format(path)
    if path.suffix.lower() == ".gz":
        head = _unpacked(head)
    elif kind == "parquet" and head.startswith(b"PAR1"):
        return _parquet_columns(path)
    head = head.removeprefix(b"\xef\xbb\xbf")
    line = head.lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    if kind in ("csv", "tsv"):
        rows = csv.reader([line.strip("\r")], delimiter=delimiter_of(line, kind))
        with contextlib.suppress(csv.Error):  # then no importer knows the file
            return unique_names(next(rows, []))
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
