"""One file of a dump under a mapping: its rows, what is joined to them, what is
skipped, what of it depends on where the file is, and what the mapping names that the
file lacks.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from warehouse.errors import InputError, MappingError
from warehouse.importers.common.file_walk import open_regular
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.streams import Member, members
from warehouse.importers.tabular.chunks import (
    Chunk,
    FlatChunk,
    Joined,
    PathError,
    RowView,
    match_tail,
    parse_path,
)
from warehouse.importers.tabular.columns import as_list, encode, text_of
from warehouse.importers.tabular.delimited import DelimitedReader
from warehouse.importers.tabular.expressions import fill_in, placeholders
from warehouse.importers.tabular.mapping import (
    NUMBERS,
    RUN_FIELDS,
    TEXT,
    JoinRule,
    SkipRule,
    TabularMapping,
    parse_mapping,
)
from warehouse.importers.tabular.mapping_files import (
    in_row,
    load_mapping,
    shipped_mappings,
)
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

#: Ends of names of spreadsheets, which no reader opens.
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


def open_reader(member: Member, rules: ReadingRules) -> RowReader:
    """The reader that fits a file, by what the mapping says, its name and its first
    bytes.

    Raises:
        InputError: nothing tells the format.
    """
    chosen = rules.format or member.format
    if (
        chosen == "json"
        and rules.format != "json"
        or chosen == "jsonl"
        and not rules.format
    ):
        chosen = json_flavour(member)
    if chosen == "json":
        return JsonReader(member, rules)
    if chosen == "jsonl":
        return JsonLinesReader(member, rules)
    if chosen == "parquet":
        return ParquetReader(member, rules)
    if chosen in ("csv", "tsv", "txt"):
        return DelimitedReader(member, rules)
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
        expected=".csv, .tsv, .json, .jsonl, .parquet, also in .gz or .zip",
        advice=advice,
    )


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
        self.member, self.mapping, self.root = member, mapping, root
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


_OF_CELLS = ("@row", "@column", "@cell")


def refuse(mistakes: list[str], path: str) -> None:
    """Raise all mistakes as one error, if there are any.

    Raises:
        MappingError: the list is not empty.
    """
    if mistakes:
        count = []
        if len(mistakes) > 1:
            count = [f"{len(mistakes)} mistakes"]
        raise MappingError("\n  - ".join([*count, *mistakes]), path=path)


def mistakes_in(
    mapping: TabularMapping, table: MappedTable, values: Mapping[str, Any] | None
) -> list[str]:
    """Names in a mapping that a file does not have.

    Args:
        table: one file of the dump.
        values: header fields that the user set; ``None``: not known yet.
    """
    if values is None:
        mistakes = []
    else:
        mistakes = [*_unset(mapping, values)]
    if table.groups is None:
        shown = " and ".join(repr(pattern.pattern) for pattern in mapping.patterns)
        mistakes.append(
            f"[path] pattern = {shown} does not match {table.member.name!r}; "
            "it must match the end of the path from a folder boundary on"
        )
    mistakes += _unknown_joins(mapping)
    return list(dict.fromkeys([*mistakes, *_absent(mapping, table)]))


def _unset(mapping: TabularMapping, values: Mapping[str, Any]) -> Iterator[str]:
    for name in values:
        if name not in RUN_FIELDS:
            yield f"--set {name}: no such field{similar(name, RUN_FIELDS)}"
    for name in ("model", "benchmark"):
        lacking = [
            part
            for part in mapping.variants
            if name not in part.run and (name != "model" or not part.votes)
        ]
        if name not in values and lacking:
            yield (
                f"nothing says what the {name} is: map [run] {name}, or say --default "
                f"{name}=…"
            )


def _unknown_joins(mapping: TabularMapping) -> Iterator[str]:
    joins = [rule.name for rule in mapping.joins]
    for source, path in mapping.paths:
        name = _join_of(path)
        if name and name not in joins:
            hint = f"{similar(name, joins)}; joins: {listed(joins) or 'none'}"
            yield f"{source.where} = {path!r}: no [join.{name}]{hint}"


def _join_of(path: str) -> str:
    """The joined file that a path reads; ``""`` if none, or if it is no path."""
    try:
        return parse_path(path).join
    except PathError:
        return ""


def _absent(mapping: TabularMapping, table: MappedTable) -> Iterator[str]:
    view = table.sample()
    if view is None:
        if at := mapping.rules.at:
            draws = (
                f" with draws = {mapping.rules.draws.text!r}"
                if mapping.rules.draws
                else ""
            )
            yield (
                f"[rows] at = {at.text!r}{draws}: nothing there in "
                f"{table.member.name!r}; where it lies deeper say so, as "
                f"'data[].{at.text}' (`warehouse mapping FILE` finds where; `warehouse "
                "mapping NAME -o COPY` copies a shipped mapping, to change it)"
            )
        return
    names = view.chunk.names()
    for name in names if mapping.columns else ():
        if name not in mapping.columns:
            meant = similar(name, mapping.columns)
            yield (
                f"columns: {name!r} in {table.member.name!r} is none of them{meant}; "
                f"{listed(mapping.columns)}"
            )
    cells = mapping.matrix.cells_of(names) if mapping.matrix else []
    yield from _matrix_mistakes(mapping, names, cells)
    joins = {"", *(rule.name for rule in mapping.joins)}
    for source, path in mapping.paths:
        if _join_of(path) not in joins:
            continue
        if path in cells or (not mapping.matrix and path in _OF_CELLS):
            use = (
                f"is of no use with{'' if cells else 'out'} a [matrix]; there say "
                "'@cell' and '@column'"
            )
            yield f"{source.where} = {path!r}: {use}"
        elif path not in _OF_CELLS:
            yield from _problem(view, table, source.where, path, source.optional)
    for where, path in _paths_of_rules(mapping):
        yield from _problem(view, table, where, path)


def _paths_of_rules(mapping: TabularMapping) -> Iterator[tuple[str, str]]:
    """Paths that skips and joins read, each with where it stands in the mapping."""
    for skip in mapping.skips:
        for path in skip.source.paths():
            yield skip.source.where, path
    for rule in mapping.joins:
        if rule.on:
            yield f"[join.{rule.name}] on", rule.on


def _matrix_mistakes(
    mapping: TabularMapping, names: list[str], cells: list[str]
) -> Iterator[str]:
    matrix = mapping.matrix
    if matrix is None:
        return
    there_are = f"there are: {listed(names)}"
    if matrix.label and matrix.label not in names:
        yield (
            f"[matrix] label = {matrix.label!r}: no such "
            f"column{similar(matrix.label, names)}; {there_are}"
        )
    if not cells:
        pattern = "there is"
        if matrix.cells:
            pattern = f"cells = {matrix.cells.pattern!r} matches"
        yield f"[matrix] {pattern} no column beside the label; {there_are}"


def _problem(
    view: RowView, table: MappedTable, where: str, path: str, optional: bool = False
) -> Iterator[str]:
    """The mistake in a path, if there is one."""
    why = ""
    try:
        if view.holds(path) or optional:
            return
    except PathError as error:
        why = f" ({error})"
    names, last, beside = view.chunk.names(), path, getattr(view.chunk, "beside", None)
    if beside is not None and not why and parse_path(path).root != "join":
        names, last = beside(path), path.rpartition(".")[2]
    kind = "key in the first records"
    if table.reader.is_table:
        kind = "column"
    there_are = (
        listed(names)
        or "none, as what stands there is no object; '@' is itself the number, text or list"
    )
    missing = (
        f"{where} = {path!r}: no such {kind} in "
        f"{table.member.name!r}{why}{similar(last, names)}"
    )
    yield f"{missing}; there are: {there_are}"


# --- shapes ---------------------------------------------------------------------------------------

#: Columns or fields that a mapping has to read for its shape to be its own.
_TELLING = 2
_UNNAMED = re.compile(r"column_\d+")


def mistakes_in_file(mapping: TabularMapping, path: Path, root: Path) -> list[str]:
    """Names in a mapping that the first table of a file lacks, or why that cannot be
    read."""
    try:
        tables = members(path, relative_name(path, root), mapping.members)
        if not tables:
            return ["no table in it"]
        table = MappedTable(tables[0], mapping, root)
        return mistakes_in(mapping, table, None) or (
            [] if table.sample() is not None else ["no rows in it"]
        )
    except (InputError, OSError) as error:
        return [str(error)]


def without_strangers(
    mapping: TabularMapping, paths: Sequence[Path], root: Path
) -> list[Path]:
    """The files, of those that are read together, that are no table of something else,
    such as a summary beside its subjects: one that lacks everything by which prompts
    are known. What is named differently in one file only is a mistake."""
    if len(paths) < 2:
        return list(paths)
    known_by = _known_by(mapping)
    strangers = [
        path for path in paths if known_by and _lacks_all(mapping, path, root, known_by)
    ]
    if len(strangers) == len(paths):
        return list(paths)
    return [path for path in paths if path not in strangers]


def _known_by(mapping: TabularMapping) -> set[str]:
    """Columns or fields of rows that say which prompt a row is."""
    names = {"prompt_id", "text", *mapping.key}
    texts: set[str] = set()
    for variant in mapping.variants:
        for name in names & variant.sample.keys():
            texts.update(variant.sample[name].paths())
    return {text for text in texts if in_row(text) and not text.startswith("@")}


def _lacks_all(
    mapping: TabularMapping, path: Path, root: Path, names: set[str]
) -> bool:
    try:
        tables = members(path, relative_name(path, root), mapping.members)
        view = None
        if tables:
            view = MappedTable(tables[0], mapping, root).sample()
        return view is not None and not any(view.holds(name) for name in names)
    except (InputError, OSError, PathError):
        return False  # whoever reads it will say so


def relative_name(path: Path, root: Path) -> str:
    """The name of a file in messages: its path from a folder on, if it lies there."""
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    return path.name


def is_shaped_for(mapping: TabularMapping, path: Path) -> bool:
    """True if a file has the columns, fields or places that tell the shape of a mapping
    from others; of those that may be missing, each that is there counts half."""
    telling = {
        text
        for source, text in mapping.paths
        if not source.optional and _is_telling(text)
    }
    further = {
        text for source, text in mapping.paths if source.optional and _is_telling(text)
    } - telling
    at = mapping.rules.at
    count = len(telling) + len(
        [step for step in at.steps if isinstance(step, str)] if at else ()
    )
    if (
        count < _TELLING
        and not (telling and further)
        or mapping.matrix is not None
        and not mapping.matrix.label
    ):
        return False
    anywhere = replace(
        mapping,
        patterns=(),
        joins=tuple(replace(rule, optional=True) for rule in mapping.joins),
    )
    if mistakes_in_file(anywhere, path, path.parent):
        return False
    if count >= _TELLING:
        return True
    view = MappedTable(
        members(path, path.name, mapping.members)[0], anywhere, path.parent
    ).sample()
    return (
        count + sum(view is not None and view.holds(text) for text in further) // 2
        >= _TELLING
    )


def _is_telling(text: str) -> bool:
    with suppress(PathError):
        path = parse_path(text)
        named = any(
            isinstance(step, str) and not _UNNAMED.fullmatch(step)
            for step in path.steps
        )
        return path.root in ("row", "document") and named
    return True


#: Bytes that are read once for each shipped mapping, at most.
_QUICK_BYTES = 1 << 22


def _is_quick(path: Path) -> bool:
    """True if the first rows of a file are read at once."""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_QUICK_BYTES)
        is_whole = len(head) < _QUICK_BYTES
        return is_whole or (
            path.suffix.lower() not in (".json", ".zip") and head.count(b"\n") > 1
        )
    return False


def mappings_for(path: Path) -> list[str]:
    """Names of the shipped mappings whose columns, fields and places a file has; of one
    whose first row alone is large nothing is said, as each mapping would read it."""
    if not _is_quick(path):
        return []
    parsed = {
        name: parse_mapping(load_mapping(file))[0]
        for name, file in shipped_mappings().items()
    }
    return [name for name, mapping in parsed.items() if is_shaped_for(mapping, path)]
