"""Tabular dumps: CSV, TSV, JSON, JSON lines and Parquet, also inside zip or gzip.

A mapping file says which column or path is which field (docs/mappings.md). Without one, tables
whose columns already carry the names of fields are taken as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError, MappingError, NothingMatchesError
from warehouse.importers.common.globs import glob_matches
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.streams import FORMATS, members
from warehouse.importers.tabular.chunks import View
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping import RUN_FIELDS, TabularMapping
from warehouse.importers.tabular.parse_mapping import parse_mapping
from warehouse.importers.tabular.plain_tables import PlainTable, canonical_mapping, carries_names, plain_columns
from warehouse.importers.tabular.readers import ignore
from warehouse.importers.tabular.rows import Projection
from warehouse.importers.tabular.runs import RunColumns, RunRegistry
from warehouse.importers.tabular.same_content import same_content
from warehouse.importers.tabular.score_tally import ScoreTally
from warehouse.importers.tabular.sections import load_mapping
from warehouse.importers.tabular.table import Table, context_of_tables, has_context, joined_files
from warehouse.records import Candidate, Dump, ImportSettings, Rejection, SourceFiles

_OF_CELLS = ("@row", "@column", "@cell")


def refuse(mistakes: list[str], place: str) -> None:
    """Raise all mistakes as one error, if there are any.

    Raises:
        MappingError: the list is not empty.
    """
    if not mistakes:
        return
    if len(mistakes) == 1:
        raise MappingError(mistakes[0], path=place)
    raise MappingError("\n  - ".join([f"{len(mistakes)} mistakes", *mistakes]), path=place)


def mistakes_in(mapping: TabularMapping, table: Table, values: Mapping[str, Any] | None) -> list[str]:
    """What a mapping names that a file does not have.

    Args:
        mapping: the mapping.
        table: one file of the dump.
        values: header fields that the user set; ``None``: not known yet.
    """
    mistakes = [] if values is None else [*_unset(mapping, values)]
    if table.groups is None:
        shown = " and ".join(repr(pattern.pattern) for pattern in mapping.patterns)
        mistakes.append(
            f"[path] pattern = {shown} does not match {table.member.name!r}; "
            "it must match the end of the path from a folder boundary on"
        )
    mistakes += _unknown_joins(mapping)
    return list(dict.fromkeys(mistakes + _absent(mapping, table)))


def _unset(mapping: TabularMapping, values: Mapping[str, Any]) -> Iterator[str]:
    for name in values:
        if name not in RUN_FIELDS:
            yield f"--set {name}: no such field{similar(name, RUN_FIELDS)}"
    for name in ("model", "benchmark"):
        if name not in values and any(name not in variant.run for variant in mapping.variants):
            yield f"nothing says what the {name} is: map [run] {name}, or say --default {name}=…"


def _unknown_joins(mapping: TabularMapping) -> Iterator[str]:
    known = [rule.name for rule in mapping.joins]
    for source, path in _paths(mapping):
        name = _join_of(path)
        if name and name not in known:
            yield (
                f"{source.where} = {path!r}: no [join.{name}]{similar(name, known)}; joins: {listed(known) or 'none'}"
            )


def _join_of(path: str) -> str:
    """The joined file that a path reads; ``""`` if none, or if it is no path."""
    try:
        return parse_path(path).join
    except PathError:
        return ""


def _absent(mapping: TabularMapping, table: Table) -> list[str]:
    view = table.sample()
    if view is None:
        at = mapping.rules.at
        return [f"[rows] at = {at.text!r}: nothing there in {table.member.name!r}"] if at else []
    names = view.chunk.names()
    cells = mapping.matrix.cells_of(names) if mapping.matrix else []
    problems = [*_matrix_mistakes(mapping, names, cells)]
    joins = {"", *(rule.name for rule in mapping.joins)}
    for source, path in _paths(mapping):
        if _join_of(path) not in joins:
            continue
        if path in cells or (not mapping.matrix and path in _OF_CELLS):
            problems.append(
                f"{source.where} = {path!r}: is of no use with{'' if cells else 'out'}"
                " a [matrix]; there say '@cell' and '@column'"
            )
        elif path not in _OF_CELLS:
            problems.append(_problem(view, table, source.where, path, source.optional))
    for skip in mapping.skips:
        problems += [_problem(view, table, skip.source.where, path) for path in skip.source.paths()]
    for rule in mapping.joins:
        if rule.on:
            problems.append(_problem(view, table, f"[join.{rule.name}] on", rule.on))
    return [problem for problem in problems if problem]


def _matrix_mistakes(mapping: TabularMapping, names: list[str], cells: list[str]) -> Iterator[str]:
    matrix = mapping.matrix
    if matrix is None:
        return
    there = f"there are: {listed(names)}"
    if matrix.label and matrix.label not in names:
        close = similar(matrix.label, names)
        yield f"[matrix] label = {matrix.label!r}: no such column{close}; {there}"
    if not cells:
        pattern = f"cells = {matrix.cells.pattern!r} matches" if matrix.cells else "there is"
        yield f"[matrix] {pattern} no column beside the label; {there}"


def _problem(view: View, table: Table, where: str, path: str, optional: bool = False) -> str:
    """What is wrong with a path, ``""`` if nothing is."""
    try:
        if view.holds(path) or optional:
            return ""
        why = ""
    except PathError as error:
        why = f" ({error})"
    names = view.chunk.names()
    kind = "column" if table.reader.is_table else "key in the first records"
    return (
        f"{where} = {path!r}: no such {kind} in {table.member.name!r}{why}{similar(path, names)}; "
        f"there are: {listed(names)}"
    )


def _paths(mapping: TabularMapping) -> Iterator[tuple[Source, str]]:
    for source in mapping.sources:
        yield from ((source, path) for path in source.paths())


# --- the importer ---------------------------------------------------------------------------------

__all__ = ["IMPORTER", "MappedTabular", "Tabular", "load_mapping"]

_PACKED = (".gz", ".zip")


class Tabular:
    """The importer without a mapping: takes tables whose columns carry the names of fields."""

    name = "tabular"
    version = "1"
    folders = 0

    def for_mapping(self, mapping: Mapping[str, Any], place: str) -> MappedTabular:
        """The importer that claims files by what a mapping says.

        Args:
            mapping: parsed TOML (:func:`load_mapping`).
            place: the mapping file's path, for messages.
        """
        return MappedTabular(mapping, place)

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Tables whose columns have the usual names of prompts and scores, one source each."""
        chosen = [item.path for item in candidates if carries_names(item)]
        return _single(chosen, _common_folder(candidates))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source, with the mapping of the settings if they have one.

        Raises:
            MappingError: the mapping does not fit the source.
            InputError: the source is not what it claims to be.
        """
        place = settings.mapping_path or "mapping"
        values = settings.mapping
        plain = None
        if values is None:
            plain = PlainTable(plain_columns(source, settings.stated), settings.higher_is_better)
            values, place = canonical_mapping(plain.columns), source.name
        mapping, mistakes = parse_mapping(values, place)
        tables = _tables(mapping, source)
        for table in tables:
            mistakes += mistakes_in(mapping, table, settings.stated)
            if len(tables) > 1:
                table.forget()
        refuse(list(dict.fromkeys(mistakes)), place)
        return _Reading(mapping, tables, settings, plain).dump()


class MappedTabular(Tabular):
    """The importer under one mapping: claims the files that the mapping names."""

    def __init__(self, mapping: Mapping[str, Any], place: str) -> None:
        self.values, self.place = mapping, place
        self.mapping, self.mistakes = parse_mapping(mapping, place)

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Files that match ``files`` and not ``exclude``; each is a source, or all are one.

        Raises:
            NothingMatchesError: no file matches.
            MappingError: the mapping has mistakes that show without a dump; those that show in the
                first file are named with them.
        """
        paths = [item.path for item in candidates if self._takes(item.path)]
        root = _common_folder(candidates)
        mistakes = list(self.mistakes)
        if candidates and not paths:
            shown = listed(sorted(item.path.name for item in candidates), 5)
            wanted = list(self.mapping.files) or "any table"
            unmatched = f"files = {wanted} matches no file; there are: {shown}"
            if not mistakes:
                raise NothingMatchesError(unmatched, path=self.place)
            mistakes.append(unmatched)
        if mistakes and paths:
            mistakes += self._mistakes_in(paths[0], root)
        refuse(mistakes, self.place)
        if not self.mapping.together:
            return _single(paths, root)
        return [SourceFiles(str(root), root, tuple(sorted(paths)))] if paths else []

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        chosen = replace(settings, mapping=self.values, mapping_path=self.place)
        return super().read(source, chosen)

    def context(self, source: SourceFiles) -> dict[str, Any]:
        """Groups of the path pattern and the content of joined files."""
        return context_of_tables(self.mapping, self._located(source))

    def companions(self, source: SourceFiles) -> list[Path]:
        """The joined files."""
        return joined_files(self._located(source)) if self.mapping.joins else []

    def says_same(self, places: Sequence[str], context: Mapping[str, Any]) -> bool:
        """Whether the places alone give the groups that are the context."""
        return len(places) == 1 and has_context(self.mapping, places[0], context)

    def _located(self, source: SourceFiles) -> list[Table]:
        """The tables of a source where anything depends on where they are."""
        if not self.mapping.patterns and not self.mapping.joins:
            return []
        with suppress(InputError):  # a damaged archive: whoever reads it will say so
            return _tables(self.mapping, source)
        return []

    def _mistakes_in(self, path: Path, root: Path) -> list[str]:
        """What the mapping names that a file lacks; nothing if the file cannot be opened."""
        with suppress(InputError):
            first = members(path, _relative(path, root), self.mapping.members)[0]
            return mistakes_in(self.mapping, Table(first, self.mapping, root), None)
        return []

    def _takes(self, path: Path) -> bool:
        full = path.absolute()
        if any(glob_matches(glob, full) for glob in self.mapping.exclude):
            return False
        if self.mapping.files:
            return any(glob_matches(glob, full) for glob in self.mapping.files)
        return path.suffix.lower() in (*FORMATS, *_PACKED)


class _Reading:
    """One source being read: a survey of its runs, then its rows."""

    def __init__(
        self,
        mapping: TabularMapping,
        tables: Sequence[Table],
        settings: ImportSettings,
        plain: PlainTable | None = None,
    ) -> None:
        self.mapping, self.tables, self.plain = mapping, tables, plain
        self.registry = RunRegistry(settings.values, mapping.metrics, settings.defaults)
        self.has_samples = any(variant.has_samples for variant in mapping.variants)
        self.tally = ScoreTally()
        self._dump = Dump((), ())

    def dump(self) -> Dump:
        """Survey the runs; the rows are read when the batches are asked for."""
        for table in self.tables:
            self._survey(table)
            if len(self.tables) > 1:
                table.forget()
        if self.plain is not None:
            self._settle(self.plain)
        several = len(self.tables) > 1
        self._dump.notes += [f"{place}: {note}" if several else note for place, note in self.registry.notes]
        self.registry.closed = True
        self._dump.same_content = same_content(self.mapping, stated=self.plain is None)
        self._dump.runs = self.registry.headers()
        self._dump.batches = self._batches()
        return self._dump

    def _settle(self, plain: PlainTable) -> None:
        """Read the scores as their values want it."""
        self.mapping = plain.settled(self.mapping)
        self.registry.metrics = plain.metrics()
        self._dump.notes += plain.notes(self.tables[0].member.name)

    def _runs(self, table: Table) -> list[RunColumns]:
        place = table.member.name
        return [RunColumns(variant, self.registry, place) for variant in self.mapping.variants]

    def _survey(self, table: Table) -> None:
        runs = self._runs(table)
        if self.plain is None and not any(part.per_row for part in runs):
            for part in runs:
                part.learn(table.constants(), partial(_refuse_constant, table.member.name))
            return
        wanted = {path for part in runs for path in part.paths()}
        wanted |= {path for rule in self.mapping.skips for path in rule.source.paths()}
        wanted |= {rule.on for rule in self.mapping.joins}
        if self.plain is not None:
            wanted |= self.plain.paths()
            self.plain.delimiter = getattr(table.reader, "delimiter", ",")
        # bad rows are named when the rows are read; if they never are, now
        views = table.views(wanted, ignore if self.has_samples else self._reject)
        for view in islice(views, 1) if table.tells_all(wanted) else views:
            for part in runs:
                part.learn(view, table.rejected(view, self._reject))
            if self.plain is not None:
                self.plain.learn(view)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for table in self.tables:
            if self.has_samples:
                yield from self._rows(table)
            self._dump.notes += table.notes()
            table.forget()
        if self.tables:
            self._dump.notes += self.tally.settle(self.tables[0].member.name, self.mapping.variants)

    def _rows(self, table: Table) -> Iterator[pa.RecordBatch]:
        projections = [Projection(self.mapping, runs.variant, runs) for runs in self._runs(table)]
        has_rows = False
        for view in table.views(None, self._reject):
            has_rows = True
            for projection in projections:
                batch = projection.batch(view, table.rejected(view, self._reject))
                if batch is not None:
                    self.tally.add(batch, projection.variant)
                    yield batch
        if not has_rows:
            self._dump.notes.append(f"{table.member.name}: no rows")

    def _reject(self, place: str, found: str, expected: str) -> None:
        self._dump.rejections.append(Rejection(place, found, expected))


def _refuse_constant(name: str, _row: int, found: str, expected: str) -> None:
    raise InputError(found, path=name, expected=expected)


def _tables(mapping: TabularMapping, source: SourceFiles) -> list[Table]:
    """Every table in the files of a source."""
    return [
        Table(member, mapping, source.root)
        for path in source.files
        for member in members(path, _relative(path, source.root), mapping.members)
    ]


def _single(paths: Sequence[Path], root: Path) -> list[SourceFiles]:
    """A source of each file, named relative to a folder."""
    return [SourceFiles(str(path), root, (path,)) for path in paths]


def _common_folder(candidates: Sequence[Candidate]) -> Path:
    """The folder that holds all files of the walk."""
    folders = [item.path.parent for item in candidates]
    return Path(os.path.commonpath(folders)) if folders else Path()


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


IMPORTER = Tabular()
