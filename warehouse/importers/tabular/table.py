"""One file of a dump under a mapping: its rows, what is joined to them, what is
skipped, what of it depends on where the file is, and what the mapping names that the
file lacks.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from warehouse.errors import InputError
from warehouse.importers.common.file_walk import open_regular
from warehouse.importers.common.streams import Member, members, read_exactly
from warehouse.importers.tabular.chunks import Chunk, FlatChunk, Joined, RowView
from warehouse.importers.tabular.columns import as_list, encode, text_of
from warehouse.importers.tabular.databases import MAGIC, DatabaseReader
from warehouse.importers.tabular.delimited import DelimitedReader
from warehouse.importers.tabular.expressions import fill_in, placeholders
from warehouse.importers.tabular.field_paths import match_tail, parse_path
from warehouse.importers.tabular.mapping import NUMBERS, TEXT
from warehouse.importers.tabular.mapping_rules import JoinRule, SkipRule, TabularMapping
from warehouse.importers.tabular.readers import (
    JsonLinesReader,
    JsonReader,
    MatrixReader,
    ParquetReader,
    ReadingRules,
    Reject,
    RowFault,
    RowReader,
    ignore,
    json_flavour,
)
from warehouse.importers.tabular.sheets import open_sheet
from warehouse.records import canonical_json
from warehouse.records.canonical_json import sha256_of


def lines_by_number(path: Path, key: str) -> dict[str, Any]:
    """Lines of a file (also in gzip, or the files in a zip) by their number.

    Args:
        key: ``@index`` counts from 0, ``@line`` from 1.

    Raises:
        InputError: it cannot be read, or is no UTF-8.
    """
    lines: list[str] = []
    for member in members(
        path, path.name, ("*",) if path.suffix.lower() == ".zip" else ()
    ):
        try:
            text = member.content().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"bytes that are not UTF-8 ({error.reason})",
                path=path.name,
                expected="lines of text in UTF-8",
            ) from None
        lines += text.removesuffix("\n").split("\n")
    first = int(key == NUMBERS[1])
    return {
        str(number): line.removesuffix("\r") for number, line in enumerate(lines, first)
    }


# --- tables ---------------------------------------------------------------------------------------

#: Ends of names of spreadsheets: the first are read by sheets, the others by no reader.
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
#: Bytes by which the kind of a file is known.
_HEAD_BYTES = 4_096
_READERS: dict[str, Callable[[Member, ReadingRules], RowReader]] = {
    "json": JsonReader,
    "jsonl": JsonLinesReader,
    "parquet": ParquetReader,
    "csv": DelimitedReader,
    "tsv": DelimitedReader,
    "txt": DelimitedReader,
    "xlsx": open_sheet,
    "sqlite": DatabaseReader,
}
#: A line of what a retrieval system gives: query, Q0, document, rank, score, name.
_TREC_LINE = re.compile(rb"\S+[ \t]+Q0[ \t]+\S+[ \t]+\d+[ \t]+[-+.\deE]+[ \t]+\S+\s*")


def open_reader(member: Member, rules: ReadingRules) -> RowReader:
    """The reader that fits a file, by what the mapping says, its name and its first
    bytes.

    Raises:
        InputError: nothing tells the format, or it is one of no figures.
    """
    chosen = rules.format or _format_of(member)
    if (
        chosen == "json"
        and rules.format != "json"
        or chosen == "jsonl"
        and not rules.format
    ):
        chosen = json_flavour(member)
    if chosen in _READERS:
        return _READERS[chosen](member, rules)
    found = "a file whose name does not tell its format"
    advice = 'say format = "…" in the mapping'
    if member.name.lower().endswith(SHEETS):
        found = "a spreadsheet"
        advice = "save each of its sheets as CSV"
    elif member.name.lower().endswith((".arrow", ".feather")):
        advice = "save it as Parquet"
    raise InputError(
        found,
        path=member.name,
        expected=".csv, .tsv, .json, .jsonl, .parquet, also in .gz or .zip; .xlsx; .sqlite",
        advice=advice,
    )


def _format_of(member: Member) -> str:
    """The format that the name promises, or the first bytes tell (InputError: these are
    of a run of a retrieval system)."""
    chosen = member.format
    if chosen not in ("", "txt", "sqlite") or not member.is_plain:
        return chosen
    with member.open() as stream:
        head = read_exactly(stream, _HEAD_BYTES)
    if head.startswith(MAGIC):
        return "sqlite"
    if _TREC_LINE.fullmatch(head.partition(b"\n")[0]):
        raise InputError(
            "a TREC run: documents that were found for each query, without a score of "
            "the query",
            path=member.name,
            expected="a score for each query",
            advice=(
                f"evaluate it: trec_eval -q -m ndcg_cut.10 QRELS {member.path.name} > "
                "scores.txt, then `warehouse ingest scores.txt --map trec_eval`"
            ),
        )
    return chosen


def groups_of(mapping: TabularMapping, path: Path | str) -> dict[str, str] | None:
    """Groups of the first of the mapping's path patterns that matches; ``None`` if none
    does."""
    if not mapping.patterns:
        return {}
    matches = (match_tail(pattern, path) for pattern in mapping.patterns)
    return next((groups for groups in matches if groups is not None), None)


class MappedTable:
    """One file (or archive entry) of a dump.

    Args:
        member: the file.
        mapping: how to read it.
        root: folder up to which joined files are looked for.

    ``groups`` are those of the first path pattern that matches, ``None`` where none
    does.
    """

    def __init__(self, member: Member, mapping: TabularMapping, root: Path) -> None:
        self.member = member
        self.mapping = mapping
        self.root = root
        self.groups = groups_of(mapping, member.path.absolute() / member.entry)
        self.skipped: Counter[str] = Counter()
        self._joins: dict[str, Joined] | None = None
        self._reader: RowReader | None = None

    @property
    def reader(self) -> RowReader:
        """The reader of the file, opened on first use."""
        if self._reader is None:
            reader = open_reader(self.member, self.mapping.rules)
            matrix = self.mapping.matrix
            if matrix is not None:
                reader = MatrixReader(reader, matrix, self.member.name, self._select)
            self._reader = reader
        return self._reader

    def forget(self) -> None:
        """Let go of what reading has brought into memory."""
        self._reader, self._joins = None, None

    @property
    def joins(self) -> dict[str, Joined]:
        """The joined files, read on first use."""
        if self._joins is None:
            self._joins = {rule.name: self._join(rule) for rule in self.mapping.joins}
        return self._joins

    def views(self, paths: Collection[str] | None, reject: Reject) -> Iterator[RowView]:
        """The rows, without those that the mapping skips.

        Args:
            paths: the only field paths that will be asked for; ``None``: all.
            reject: told of rows that cannot be read.
        """
        self.skipped.clear()
        name = self.member.name
        chunks = self.reader.chunks(
            paths, lambda location, *fault: reject(f"{name} {location}", *fault)
        )
        if self.mapping.matrix:
            selected = chunks
        else:
            selected = map(self._select, chunks)
        for chunk in selected:
            if chunk.size:
                yield self._view(chunk)

    def tells_all(self, paths: Collection[str]) -> bool:
        """True if the first row already gives the values at some paths for the whole
        file."""
        unkeyed = {rule.name for rule in self.mapping.joins if not rule.key}
        return isinstance(self.reader, JsonReader) and all(
            path.root == "document" or path.root == "join" and path.join in unkeyed
            for path in map(parse_path, filter(None, paths))
        )

    def sample(self) -> RowView | None:
        """The first rows as they stand: a matrix is still wide, nothing is skipped yet.
        ``None`` where there are no rows."""
        reader = self.reader
        if isinstance(reader, MatrixReader):
            reader = reader.table
        chunk = next(iter(reader.chunks(None, ignore)), None)
        if chunk is None:
            return None
        return self._view(chunk)

    def constants(self) -> RowView:
        """A view of one row, for expressions that read no row."""
        return RowView(
            FlatChunk([{}], [0], [1]), self.groups or {}, {}, self.mapping.nulls
        )

    def rejected(self, view: RowView, reject: Reject) -> RowFault:
        """``reject`` for rows of a view, by their number in it."""
        return lambda row, found, expected: reject(
            f"{self.member.name} {view.chunk.location(row)}", found, expected
        )

    def notes(self) -> list[str]:
        """Notes on what the reading showed."""
        name = self.member.name
        skipped = [
            f"{name}: {count} rows skipped, {why}"
            for why, count in self.skipped.items()
        ]
        return self.reader.notes() + skipped

    def _view(self, chunk: Chunk) -> RowView:
        return RowView(chunk, self.groups or {}, self.joins, self.mapping.nulls)

    def _select(self, chunk: Chunk) -> Chunk:
        """The rows that no rule skips."""
        view = self._view(chunk)
        skipped = np.zeros(view.size, dtype=np.bool_)
        for rule in self.mapping.skips:
            codes, values = encode(rule.source.column(view), view.size)
            hits = [code for code, value in enumerate(values) if _skips(rule, value)]
            newly_skipped = np.isin(codes, hits) & ~skipped
            if newly_skipped.any():
                self.skipped[rule.source.where.removesuffix(" path")] += int(
                    newly_skipped.sum()
                )
            skipped |= newly_skipped
        if skipped.any():
            return chunk.keep(np.flatnonzero(~skipped).tolist())
        return chunk

    def _join(self, rule: JoinRule) -> Joined:
        path = self.joined_file(rule)
        if path is None:
            return Joined({}, rule.on, missing=True)
        status = path.stat()
        return Joined(_records(path, status.st_mtime_ns, status.st_size, rule), rule.on)

    def joined_file(self, rule: JoinRule) -> Path | None:
        """The file that a join names, in the table's folder or above; ``None`` if it
        may lack.

        Raises:
            InputError: it is not there.
        """
        name = self._joined_name(rule)
        if not name:
            return None
        for folder in (self.member.path.parent, *self.member.path.parent.parents):
            if (folder / name).is_file():
                return folder / name
            if folder == self.root or self.root not in folder.parents:
                break
        if rule.optional:
            return None
        raise InputError(
            f"[join.{rule.name}] file {name!r} is not there",
            path=self.member.name,
            expected=(
                f"a file of that name in the folder of {self.member.name} or one above "
                "it"
            ),
            advice=f"copy it there, or say optional = true in [join.{rule.name}]",
        )

    def _joined_name(self, rule: JoinRule) -> str:
        """The file's name with the groups of the path filled in; ``""`` where one has
        no value and the file may be missing.

        Raises:
            InputError: one has no value, and the file is needed.
        """
        groups = self.groups or {}
        lacking = [name for name in placeholders(rule.file) if name not in groups]
        if not lacking:
            return fill_in(rule.file, groups)
        if rule.optional:
            return ""
        raise InputError(
            f"[join.{rule.name}] file {rule.file!r}: the path has no {lacking[0]!r}",
            path=self.member.name,
            advice=f"say optional = true in [join.{rule.name}]",
        )


def _skips(rule: SkipRule, value: Any) -> bool:
    """True if a rule skips rows with this value."""
    if value is None:
        return rule.null or rule.not_matching is not None
    text = str(text_of(value))
    return (
        (rule.matching is not None and bool(rule.matching.search(text)))
        or (rule.not_matching is not None and not rule.not_matching.search(text))
        or text in rule.equal_to
    )


@lru_cache(maxsize=2)
def _records(path: Path, _changed: int, _size: int, rule: JoinRule) -> dict[str, Any]:
    """Records of a joined file by key. The last ones are remembered: many sources share
    a file."""
    if rule.rules.format == TEXT:
        return lines_by_number(path, rule.key)
    records: dict[str, Any] = {}
    for member in members(path, path.name):
        reader = open_reader(member, rule.rules)
        for chunk in reader.chunks(None, partial(_refuse, path.name)):
            keys = [""]
            if rule.key:
                keys = as_list(chunk.column(rule.key), chunk.size)
            for key, record in zip(keys, chunk.records(), strict=bool(rule.key)):
                records[str(text_of(key))] = record
    return records


def _refuse(name: str, location: str, found: str, expected: str) -> None:
    raise InputError(found, path=name, place=location, expected=expected)


# --- what a table takes from elsewhere ------------------------------------------------------------

#: Of so many tables the groups are kept as they are; of more, a hash.
_SHOWN = 10


def context_of_tables(
    mapping: TabularMapping, tables: Sequence[MappedTable]
) -> dict[str, Any]:
    """Groups of the path pattern, and hashes of the joined files; empty where there are
    none."""
    context: dict[str, Any] = {}
    if groups := [table.groups for table in tables if table.groups]:
        context["path"] = _short(groups)
    if mapping.joins and tables:
        joined = []
        for table in tables:
            joined.append(
                {name: path and _sha256(path) for name, path in _joined(table)}
            )
        context["joined"] = _short(joined)
    return context


def joined_files(tables: Sequence[MappedTable]) -> list[Path]:
    """The files that are joined to some tables, each once."""
    joined = chain.from_iterable(_joined(table) for table in tables)
    return list(dict.fromkeys(path for _, path in joined if path is not None))


def has_context(mapping: TabularMapping, path: str, context: Mapping[str, Any]) -> bool:
    """True if a single table at a path, of which the beginning may be missing,
    certainly has a context."""
    groups = groups_of(mapping, path)
    return not mapping.joins and bool(groups) and context == {"path": _short([groups])}


def _joined(table: MappedTable) -> Iterator[tuple[str, Path | None]]:
    for rule in table.mapping.joins:
        path = None
        with suppress(InputError):  # it is not there: whoever reads it will say so
            path = table.joined_file(rule)
        yield rule.name, path


def _short(parts: Sequence[Any]) -> list[Any]:
    """Values of some tables, in their order; a hash where there are many."""
    if len(parts) <= _SHOWN:
        return list(parts)
    return [sha256_of(b"\n".join(map(canonical_json, parts)))]


def _sha256(path: Path) -> str | None:
    """Hash of a file that many tables may be joined to; ``None`` if it cannot be
    read."""
    try:
        status = path.stat()
        return _hash_of(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _hash_of(path: Path, _changed: int, _entered: int, _size: int) -> str:
    with open_regular(path) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


# --- shapes ---------------------------------------------------------------------------------------


def relative_name(path: Path, root: Path) -> str:
    """The name of a file in messages: its path from a folder on, if it lies there."""
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    return path.name
