"""Names of a table's columns, read from the head of its file."""

from __future__ import annotations

import contextlib
import csv
import json
from codecs import BOM_UTF8
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.jsonl import open_text, unpacked_start
from warehouse.importers.common.streams import (
    FORMATS_OF_SEVERAL,
    Member,
    members,
    parquet_place,
    read_exactly,
)
from warehouse.importers.tabular.column_names import (
    guess,
    guess_votes,
)
from warehouse.importers.tabular.databases import MAGIC, is_sqlite
from warehouse.importers.tabular.delimited import (
    DELIMITERS,
    delimiter_of,
    unique_names,
    without_sep,
)
from warehouse.importers.tabular.head_rows import are_of_several
from warehouse.importers.tabular.missing_roles import ROLES, in_words, missing_roles
from warehouse.importers.tabular.readers import ReadingRules, flavour_of
from warehouse.importers.tabular.table import open_reader
from warehouse.importers.tabular.titles import header_below
from warehouse.records import Candidate, parse_json

_HEAD_BYTES = 65_536
_OF_SEVERAL = frozenset(FORMATS_OF_SEVERAL.values())
# many small tables of the same columns come one after the other
cached_guess = lru_cache(maxsize=64)(guess)
cached_votes = lru_cache(maxsize=64)(guess_votes)


def carries_names(candidate: Candidate) -> bool:
    """True if a file is a table that names prompts (by an id or their text) and scores:
    model and benchmark may be columns too, or set by the user. Or two models and which
    of them did better."""
    columns = tuple(_columns(candidate.path, candidate.head))
    if cached_votes(columns):
        return True
    guessed = cached_guess(columns)
    names_prompts = bool(guessed.key or "prompt_id" in guessed.sample)
    if not guessed.scores or not names_prompts:
        return False
    return not are_of_several(candidate, [own for _, own in guessed.scores])


def names_runs(path: Path, known: Collection[str]) -> bool:
    """True if the columns of a table name model and benchmark, or they are known."""
    columns = tuple(head_columns(path))
    if cached_votes(columns):
        return True
    guessed = cached_guess(columns, objects=may_hold_objects(path))
    return {"model", "benchmark"} <= {*guessed.run, *known}


def without_roles(path: Path) -> str:
    """What is missing in a table that has some of what is read, and not all; else
    empty."""
    try:
        names = head_columns(path)
    except OSError:
        return ""  # which the walk has said
    guessed = cached_guess(tuple(names))
    missing = missing_roles(guessed)
    if not missing or len(missing) == len(ROLES):
        return ""
    return f"{path.name}: {in_words(missing, names)}"


def why_no_table(path: Path) -> str:
    """The fault of a workbook, a database or a run of a retrieval system; nothing where
    it is none, or can be read."""
    if path.suffix.lower() == ".zip":
        return ""
    try:
        member = members(path, path.name)[0]
        if member.format in ("", "txt", *_OF_SEVERAL):
            open_reader(member, ReadingRules())
    except InputError as error:
        is_known = path.suffix.lower() in FORMATS_OF_SEVERAL
        if is_known or "TREC" in error.found or is_sqlite(path):
            return str(error)
    except OSError:
        pass  # which the walk has said
    return ""


def holds_tables(path: Path) -> bool:
    """True if a file is called as one that holds tables of its own, and is one where the
    ending is that of others too."""
    suffix = path.suffix.lower()
    return suffix in FORMATS_OF_SEVERAL and (suffix != ".db" or is_sqlite(path))


def _format(path: Path) -> str:
    """The format that a file's name promises, or that of the first table in an archive;
    ``""`` if none."""
    return members(path, path.name)[0].format


def may_hold_objects(path: Path) -> bool:
    """True if a cell of a file may hold a list or an object."""
    return _format(path) not in ("csv", "tsv", "xlsx", "sqlite")


def head_columns(path: Path) -> Sequence[str]:
    with path.open("rb") as stream:
        return _columns(path, stream.read(_HEAD_BYTES))


def _columns(path: Path, head: bytes) -> Sequence[str]:
    """Names of the columns of a file, as far as they can be told from its beginning; of
    an archive those that all its tables have."""
    if path.suffix.lower() == ".zip":
        # hostile or damaged, or nothing in it is a table
        with contextlib.suppress(InputError):
            return _shared_names(members(path, path.name))
        return []
    kind = _format(path)
    if kind in _OF_SEVERAL or head.startswith(MAGIC):
        return _columns_of_one(path)
    if path.suffix.lower() == ".gz":
        head = unpacked_start(head)
    elif kind == "parquet" and head.startswith(b"PAR1"):
        return _parquet_columns(path)
    elif kind == "jsonl" and b"\n" not in head and head.startswith(b"{"):
        # a first row of megabytes
        with open_text(path) as handle:
            head = handle.readline(bounds.MAX_DOCUMENT_BYTES)
    return _names_in(kind, head)


def _columns_of_one(path: Path) -> Sequence[str]:
    """Names of the columns of a file with one sheet or table; none where it has
    several, or cannot be read, which whoever reads it will say."""
    with contextlib.suppress(InputError):
        reader = open_reader(members(path, path.name)[0], ReadingRules())
        return list(getattr(reader, "columns", ()))
    return []


def _shared_names(tables: Sequence[Member]) -> Sequence[str]:
    """Names of the columns that all tables have; none where some differ, or the first
    has none."""
    first = _names_in(tables[0].format, _head(tables[0]))
    if not first:
        return []
    for member in tables[1:]:
        if _names_in(member.format, _head(member)) != first:
            return []
    return first


def _head(member: Member) -> bytes:
    with member.open() as stream:
        return read_exactly(stream, _HEAD_BYTES)


def _names_in(kind: str, head: bytes) -> Sequence[str]:
    """Names of the columns of a table of some format from its beginning."""
    head = head.removeprefix(BOM_UTF8)
    line = head.lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    if kind in ("csv", "tsv"):
        text, mark = without_sep(head.decode("utf-8", "replace"))
        below = _below_titles(text, mark, len(head) < _HEAD_BYTES)
        if below:
            return below
        line = text.lstrip("\r\n").partition("\n")[0]
        rows = csv.reader(
            [line.strip("\r")], delimiter=mark or delimiter_of(line, kind)
        )
        with contextlib.suppress(csv.Error):  # then no importer knows the file
            return unique_names(next(rows, []))
    if kind not in ("json", "jsonl"):
        return []
    if flavour_of(head.lstrip(), kind) == "jsonl":
        return _keys_of_line(line)
    if head.lstrip().startswith(b"["):
        return _first_keys(head)
    return []


def _below_titles(text: str, mark: str, is_whole: bool) -> Sequence[str]:
    """Names of the columns of a CSV text that begins with titles; else none."""
    below = header_below(text, [mark] if mark else DELIMITERS, is_whole=is_whole)
    return unique_names(below.names) if below is not None else []


def _parquet_columns(path: Path) -> list[str]:
    try:
        with parquet_place(path) as place:
            return list(pq.read_schema(place).names)
    except (pa.ArrowException, OSError):
        return []  # damaged: whoever reads it will say so


def _first_keys(head: bytes) -> list[str]:
    """Keys of the first record of a list, if all of it stands in the beginning of the
    file."""
    text = head.decode("utf-8", "replace").lstrip().removeprefix("[").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(record, dict):
        return list(record)
    return []


def _keys_of_line(line: str) -> list[str]:
    with contextlib.suppress(ValueError):
        record = parse_json(line)
        if isinstance(record, dict):
            return list(record)
        return []
    return []
