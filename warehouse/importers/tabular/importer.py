"""Tabular dumps: CSV, TSV, JSON, JSON lines and Parquet, also inside zip or gzip;
sheets of workbooks and tables of SQLite.

A mapping file says which column or path is which field (docs/mappings.md). Without one,
tables whose columns already carry the names of fields are taken as they are.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError, NothingMatchesError
from warehouse.importers.common.messages import listed
from warehouse.importers.common.streams import (
    FORMATS,
    FORMATS_OF_SEVERAL,
    glob_matches,
    members,
)
from warehouse.importers.tabular.column_names import Guess, path_of
from warehouse.importers.tabular.constant_columns import (
    ConstantColumns,
    CrossedColumns,
    leaves_at,
)
from warehouse.importers.tabular.databases import is_sqlite
from warehouse.importers.tabular.empty_sources import refuse_empty
from warehouse.importers.tabular.head_columns import carries_names, may_hold_objects
from warehouse.importers.tabular.mapping import parse_mapping
from warehouse.importers.tabular.mapping_files import (
    in_row,
    load_mapping,
    named_by_others,
    shipped_mappings,
)
from warehouse.importers.tabular.mapping_mistakes import (
    mistakes_in,
    mistakes_in_file,
    refuse,
    without_strangers,
)
from warehouse.importers.tabular.mapping_rules import TabularMapping
from warehouse.importers.tabular.plain_evidence import heeded, is_doubtful
from warehouse.importers.tabular.plain_tables import (
    PlainTable,
    canonical_mapping,
    plain_columns,
    vote_mapping,
)
from warehouse.importers.tabular.readers import ignore
from warehouse.importers.tabular.rows import batch_of
from warehouse.importers.tabular.runs import RunColumns, RunRegistry
from warehouse.importers.tabular.score_tally import ScoreTally
from warehouse.importers.tabular.table import (
    MappedTable,
    context_of_tables,
    has_context,
    joined_files,
    relative_name,
)
from warehouse.importers.tabular.telling_columns import telling_words
from warehouse.importers.tabular.votes import votes_of
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    Rejection,
    RunHeader,
    SameContent,
    SourceFiles,
)

__all__ = ["IMPORTER", "MappedTabular", "Tabular", "load_mapping"]

_PACKED = (".gz", ".zip")
_KINDS = frozenset((*FORMATS, *_PACKED, *FORMATS_OF_SEVERAL))
#: Files of which an error says what they lack.
_EXPLAINED = 2


class Tabular:
    """The importer without a mapping: takes tables whose columns carry the names of
    fields."""

    name = "tabular"
    # 4: id 1.0 is 1; lang, subset; 5: forms without sums; 6: who scored is read from
    # its columns; 7: columns of one value in each run are settings
    version = "7"
    folders = 0

    def for_mapping(self, mapping: Mapping[str, Any], path: str) -> MappedTabular:
        """The importer that claims files by what a mapping says.

        Args:
            mapping: parsed TOML (:func:`load_mapping`).
            path: of the mapping file, for messages; the name of one that is shipped.
        """
        return MappedTabular(mapping, path)

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Tables whose columns have the usual names of prompts and scores, one source
        each."""
        return _one_each(
            [item.path for item in candidates if carries_names(item)],
            common_folder([item.path for item in candidates]),
        )

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source, with the mapping of the settings if they have one.

        Raises:
            MappingError: the mapping does not fit the source.
            InputError: the source is not what it claims to be.
        """
        reading, notes = self._reading(source, settings)
        dump = reading.dump()
        dump.notes += notes
        return dump

    def tells_apart(self, source: SourceFiles, settings: ImportSettings) -> str:
        """What tells apart rows of one prompt that contradict each other, as a
        sentence; empty where nothing does."""
        try:
            reading, _ = self._reading(source, settings)
            reading.dump()
        except InputError:
            return ""
        words = telling_words(reading.mapping, reading.tables, reading.registry)
        if words and reading.plain is not None:
            words += " (a mapping to begin from: `warehouse mapping FILE -o COPY`)"
        return words

    def _reading(
        self, source: SourceFiles, settings: ImportSettings
    ) -> tuple[_Reading, list[str]]:
        """A source that is checked against its mapping, and notes on it."""
        values = settings.mapping
        path = settings.mapping_path or "mapping"
        plain = None
        notes = list[str]()
        found = None
        if values is None:
            found = vote_mapping(source, settings.user_values)
        if found is not None:
            (values, notes), path = found, source.name
        elif values is None:
            columns = plain_columns(source, settings.user_values).with_metadata(
                settings.cluster_by
            )
            columns, note = _heeded(columns, source)
            notes += [note] if note else []
            plain = _with_objects(
                PlainTable(columns, settings.higher_is_better),
                source,
                settings.cluster_by,
            )
            values = canonical_mapping(plain.columns)
            path = source.name
        mapping, mistakes = parse_mapping(values)
        tables = _tables(mapping, source)
        for table in tables:
            mistakes += mistakes_in(mapping, table, settings.user_values)
            if len(tables) > 1:
                table.forget()
        refuse(list(dict.fromkeys(mistakes)), path)
        return _Reading(mapping, tables, settings, plain), notes


def _heeded(columns: Guess, source: SourceFiles) -> tuple[Guess, str]:
    """The columns of a plain table as its first rows allow, and a note on it."""
    if not is_doubtful(columns):
        return columns, ""
    mapping, _ = parse_mapping(canonical_mapping(columns))
    sample = _tables(mapping, source)[0].sample()
    if sample is None:
        return columns, ""
    return heeded(columns, sample)


def _with_objects(
    plain: PlainTable, source: SourceFiles, asked_for: Collection[str]
) -> PlainTable:
    """A plain table of which columns that hold objects are no properties of prompts,
    unless they are asked for."""
    if not plain.columns.metadata.keys() - {*asked_for} or not may_hold_objects(
        source.files[0]
    ):
        return plain
    mapping, _ = parse_mapping(canonical_mapping(plain.columns))
    sample = _tables(mapping, source)[0].sample()
    if sample is None:
        return plain
    return plain.with_objects(sample)


class MappedTabular(Tabular):
    """The importer under one mapping: claims the files that the mapping names."""

    def __init__(self, mapping: Mapping[str, Any], path: str) -> None:
        self.values, self.path = mapping, path
        self.is_shipped = path in shipped_mappings()
        self.left_out: list[
            str
        ] = []  # files that are named and tables of something else
        #: the folder of the walk, where the importer is offered some of its files only.
        self.folder: Path | None = None
        self.mapping, self.mistakes = parse_mapping(mapping)

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Files that match ``files`` and not ``exclude``; each is a source, or all are
        one.

        Raises:
            NothingMatchesError: no file matches.
            MappingError: the mapping has mistakes that show without a dump; those that
                show in the first file are named with them.
        """
        root = self.folder or common_folder([item.path for item in candidates])
        files = [item.path for item in candidates]
        paths = self._chosen(files, root)
        mistakes = list(self.mistakes)
        if files and not paths:
            unmatched = self._unmatched(files, root)
            if not mistakes:
                raise NothingMatchesError(unmatched, path=self.path)
            mistakes.append(unmatched)
        elif mistakes and paths:
            mistakes += mistakes_in_file(self.mapping, paths[0], root)
        refuse(mistakes, self.path)
        if not self.mapping.together:
            return _one_each(paths, root)
        together = without_strangers(self.mapping, paths, root)
        self.left_out = [
            relative_name(path, root) for path in paths if path not in together
        ]
        paths = together
        if paths:
            return [SourceFiles(str(root), root, tuple(sorted(paths)))]
        return []

    def _reading(
        self, source: SourceFiles, settings: ImportSettings
    ) -> tuple[_Reading, list[str]]:
        return super()._reading(
            source, replace(settings, mapping=self.values, mapping_path=self.path)
        )

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        dump = super().read(source, settings)
        if self.left_out:
            dump.notes.append(
                f"{listed(self.left_out, 5)}: nothing there says which prompt a row "
                "is; left out as a table of something else (exclude says so in the "
                "mapping)"
            )
        return dump

    def context(self, source: SourceFiles) -> dict[str, Any]:
        """Groups of the path pattern, the content of joined files, and which table of a
        file is read: another one is another source."""
        context = context_of_tables(self.mapping, self._located(source))
        if self.mapping.rules.table:
            context["table"] = self.mapping.rules.table
        return context

    def companions(self, source: SourceFiles) -> list[Path]:
        """The joined files."""
        if self.mapping.joins:
            return joined_files(self._located(source))
        return []

    def says_same(self, places: Sequence[str], context: Mapping[str, Any]) -> bool:
        """True if the places alone give the groups that are the context."""
        return len(places) == 1 and has_context(self.mapping, places[0], context)

    def _located(self, source: SourceFiles) -> list[MappedTable]:
        """The tables of a source where anything depends on where they are."""
        if not self.mapping.patterns and not self.mapping.joins:
            return []
        with suppress(InputError):  # a damaged archive: whoever reads it will say so
            return _tables(self.mapping, source)
        return []

    def _chosen(self, paths: Sequence[Path], root: Path) -> list[Path]:
        """The files that ``files`` names; where that are none, those of the mapping's
        shape, whatever they are called. A shipped mapping takes those of the same
        suffixes too, but for those that another one names."""
        globs = self.mapping.files
        tables = self._tables(paths)
        named = tables
        if globs:
            named = [
                path for path in self._not_excluded(paths) if _matches(path, globs)
            ]
        if self.mistakes or (named and not self.is_shipped):
            return named
        kinds = (
            {Path(glob).suffix.lower() for glob in globs} | {*_PACKED}
            if named
            else _KINDS
        )
        others = [
            path
            for path in tables
            if path not in named and path.suffix.lower() in kinds
        ]
        if self.is_shipped:
            own = shipped_mappings()[self.path]
            others = [
                path for path in others if not named_by_others(path.absolute(), own)
            ]
        return sorted(
            {
                *named,
                *(
                    path
                    for path in others
                    if not mistakes_in_file(self.mapping, path, root)
                ),
            }
        )

    def _tables(self, paths: Sequence[Path]) -> list[Path]:
        """Files with a suffix of tables that are not excluded; databases of other
        programs than SQLite are called ``.db`` too."""
        return [
            path
            for path in self._not_excluded(paths)
            if path.suffix.lower() in _KINDS
            and (path.suffix.lower() != ".db" or is_sqlite(path))
        ]

    def _not_excluded(self, paths: Sequence[Path]) -> list[Path]:
        return [path for path in paths if not _matches(path, self.mapping.exclude)]

    def _unmatched(self, paths: Sequence[Path], root: Path) -> str:
        """Why no file is taken: no name matches, and what the first of their kind
        lacks."""
        others = sorted(self._tables(paths))[:_EXPLAINED]
        lacks = "; ".join(
            chain.from_iterable(
                mistakes_in_file(self.mapping, path, root)[:1] for path in others
            )
        )
        files = list(self.mapping.files) or "any table"
        why = f"files = {files} matches no file"
        if lacks:
            why += f", and no other fits: {lacks}"
        there = listed(sorted(path.name for path in paths), 5)
        return f"{why}; there are: {there}"


def _matches(path: Path, globs: Sequence[str]) -> bool:
    return any(glob_matches(glob, path.absolute()) for glob in globs)


class _Reading:
    """One source being read: a survey of its runs, then its rows."""

    def __init__(
        self,
        mapping: TabularMapping,
        tables: Sequence[MappedTable],
        settings: ImportSettings,
        plain: PlainTable | None = None,
    ) -> None:
        self.mapping = mapping
        self.tables = tables
        self.plain = plain
        self.registry = RunRegistry(settings.values, mapping.metrics, settings.defaults)
        self.settings = settings
        self.constants = ConstantColumns({})  # of a mapping; a plain table has its own
        self.has_samples = any(variant.has_samples for variant in mapping.variants)
        self.has_votes = any(variant.votes for variant in mapping.variants)
        self.tally = ScoreTally()
        self._dump = Dump((), ())

    def dump(self) -> Dump:
        """Survey the runs; the rows are read when the batches are asked for."""
        if self.has_votes:
            self._dump.votes = self._votes()
            return self._dump
        self._survey_all()
        if self.plain is not None:
            self._settle(self._with_crossed(self.plain))
        elif self.mapping.constants:
            taken = self._take_constants(self.constants)
            if taken:
                settings = ", ".join(taken)
                note = f"taken as settings of the runs: {settings}"
                self._dump.assumed.append(note)
                self._dump.notes.append(note)
        of_several = len(self.tables) > 1
        self._dump.notes += [
            f"{file}: {note}" if of_several else note
            for file, note in self.registry.notes
        ]
        self.registry.closed = True
        self._dump.same_content = same_content(self.mapping, by_user=self.plain is None)
        self._dump.runs = self._headers()
        self._dump.batches = self._batches()
        return self._dump

    def _headers(self) -> tuple[RunHeader, ...]:
        """The runs; of tables of figures alone those that have one."""
        runs = self.registry.headers()
        if self.has_samples:
            return runs
        stated = self.registry.without_empty()
        n_empty = len(runs) - len(stated)
        if n_empty:
            self._dump.notes.append(f"{n_empty} cells without a figure left out")
        return tuple(runs[run] for run in stated)

    def _survey_all(self) -> None:
        for table in self.tables:
            self._survey(table)
            if len(self.tables) > 1:
                table.forget()

    def _with_crossed(self, plain: PlainTable) -> PlainTable:
        """The table as learnt; anew where columns tell runs apart that were taken for
        one."""
        crossed = self._crossed(plain)
        if not crossed:
            return plain
        self.plain = plain.again(crossed)
        self.mapping, _ = parse_mapping(canonical_mapping(self.plain.columns, crossed))
        for table in self.tables:
            table.mapping = self.mapping
        self.registry = RunRegistry(
            self.registry.values, self.mapping.metrics, self.registry.defaults
        )
        self._survey_all()
        return self.plain

    def _crossed(self, plain: PlainTable) -> list[str]:
        """Columns that tell rows of one prompt apart which nothing else does."""
        columns = plain.constants.that_may_split()
        if not columns:
            return []
        crossed = CrossedColumns(columns, plain.key())
        for table in self.tables:
            (runs,) = self._runs(table)
            paths = {*runs.paths(), *crossed.paths()}
            for view in table.views(paths, ignore):
                crossed.learn(view, runs.runs(view)[0])
        return crossed.found()

    def _settle(self, plain: PlainTable) -> None:
        """Read the scores as their values want it; columns of one value in each run are
        its settings."""
        plain.settings = tuple(self._take_constants(plain.constants))
        objects = (setting.partition(".")[0] for setting in plain.settings)
        taken = {*plain.settings, *objects}
        plain.columns = replace(
            plain.columns,
            unused=tuple(name for name in plain.columns.unused if name not in taken),
        )
        name = self.tables[0].member.name
        self.mapping = plain.settled(self.mapping, name)
        self.registry.metrics = plain.metrics()
        path = self.tables[0].member.path
        named = shlex.quote(str(path))
        assumed = list(plain.assumed(named))
        self._dump.assumed += assumed
        self._dump.notes += [*assumed, *plain.notes(named)]

    def _take_constants(self, constants: ConstantColumns) -> list[str]:
        """Columns of one value in each run, which become settings of the runs."""
        found = constants.settings()
        for column, values in found.items():
            for run, value in values.items():
                self.registry.add_setting(run, column, value)
        return list(found)

    def _shortlist(self, table: MappedTable) -> None:
        """Add columns of a table that may be settings by its mapping."""
        sample = table.sample()
        if sample is None:
            return
        taken = {path for _, path in self.mapping.paths}
        columns: dict[str, str] = {}
        for path in self.mapping.constants:
            if path == "*":
                free = [
                    name for name in sample.chunk.names() if path_of(name) not in taken
                ]
                columns |= {name: path_of(name) for name in free}
            else:
                columns |= leaves_at(sample, path, taken)
        self.constants.add(columns)
        self.constants.shortlist(sample)

    def _runs(self, table: MappedTable) -> list[RunColumns]:
        return [
            RunColumns(variant, self.registry, table.member.name)
            for variant in self.mapping.variants
        ]

    def _survey(self, table: MappedTable) -> None:
        runs = self._runs(table)
        has_constants = bool(self.mapping.constants)
        if (
            self.plain is None
            and not has_constants
            and not any(part.per_row for part in runs)
        ):
            for part in runs:
                part.learn(
                    table.constants(), partial(_refuse_constant, table.member.name)
                )
            return
        paths = set(chain.from_iterable(part.paths() for part in runs))
        paths |= set(
            chain.from_iterable(rule.source.paths() for rule in self.mapping.skips)
        )
        paths |= {rule.on for rule in self.mapping.joins}
        if has_constants:
            self._shortlist(table)
            paths |= self.constants.paths()
        if self.plain is not None:
            self.plain.delimiter = getattr(table.reader, "delimiter", ",")
            if (sample := table.sample()) is not None:
                self.plain.shortlist(sample)
            paths |= self.plain.paths()
        # bad rows are named when the rows are read; if they never are, now
        views = table.views(paths, ignore if self.has_samples else self._reject)
        needed = views
        if table.tells_all(paths):
            needed = islice(views, 1)
        for view in needed:
            numbers = [
                part.learn(view, table.rejected(view, self._reject)) for part in runs
            ]
            if has_constants:
                self.constants.learn(view, numbers[0])
            if self.plain is not None:
                self.plain.learn(view, numbers[0])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        has_rows = any(run.published for run in self._dump.runs)
        absent: list[str] = []
        for table in self.tables:
            if self.has_samples:
                for batch in self._rows(table):
                    has_rows = True
                    yield batch
            self._dump.notes += table.notes()
            if not table.reader.is_table:
                absent += [
                    note.removeprefix(f"{table.member.name}: ")
                    for note in table.reader.notes()
                ]
            table.forget()
        if not has_rows and not self._dump.rejections:
            refuse_empty(self.mapping, self.tables, absent)
        if self.tables:
            self._dump.notes += self.tally.settle(
                self.tables[0].member.name, self.mapping.variants
            )

    def _votes(self) -> Iterator[pa.RecordBatch]:
        has_votes = False
        for table in self.tables:
            n_votes = n_outcomes = 0
            for view in table.views(None, self._reject):
                rejected = table.rejected(view, self._reject)
                for variant in self.mapping.variants:
                    batch = votes_of(
                        view, self.mapping, variant, self.settings, rejected
                    )
                    if batch is not None:
                        n_votes += batch.num_rows
                        n_outcomes += (
                            len(batch.column("outcome"))
                            - batch.column("outcome").null_count
                        )
                        has_votes = True
                        yield batch
            if not n_outcomes:
                said = "no votes"
                if n_votes:
                    said = f"no verdict in any of {n_votes} votes"
                self._dump.notes.append(f"{table.member.name}: {said}")
            self._dump.notes += table.notes()
            table.forget()
        if not has_votes and not self._dump.rejections:
            refuse_empty(self.mapping, self.tables, [])

    def _rows(self, table: MappedTable) -> Iterator[pa.RecordBatch]:
        variants = self._runs(table)
        is_empty = True
        for view in table.views(None, self._reject):
            is_empty = False
            for runs in variants:
                batch = batch_of(
                    view, self.mapping, runs, table.rejected(view, self._reject)
                )
                if batch is not None:
                    self.tally.add(batch, runs.variant)
                    yield batch
        if is_empty:
            self._dump.notes.append(f"{table.member.name}: no rows")

    def _reject(self, location: str, found: str, expected: str) -> None:
        self._dump.rejections.append(Rejection(location, found, expected))


def _refuse_constant(name: str, _row: int, found: str, expected: str) -> None:
    raise InputError(found, path=name, expected=expected)


def _tables(mapping: TabularMapping, source: SourceFiles) -> list[MappedTable]:
    """Every table in the files of a source."""
    tables = []
    for path in source.files:
        name = relative_name(path, source.root)
        for member in members(path, name, mapping.members):
            tables.append(MappedTable(member, mapping, source.root))
    return tables


def _one_each(paths: Sequence[Path], root: Path) -> list[SourceFiles]:
    """A source of each file, named relative to a folder."""
    return [SourceFiles(str(path), root, (path,)) for path in paths]


def common_folder(files: Sequence[Path]) -> Path:
    """The folder that holds all files of a walk."""
    folders = [path.parent for path in files]
    if folders:
        return Path(os.path.commonpath(folders))
    return Path()


IMPORTER = Tabular()


#: What a prompt is besides its id, where no key names it.
_CONTENT = ("text", "target", "choices")


def same_content(mapping: TabularMapping, *, by_user: bool) -> SameContent | None:
    """A test of whether such rows are draws of one prompt; ``None`` where the mapping
    settles it in another way: by numbered generations in a record, or by places that it
    names.

    Args:
        by_user: whether a user wrote it, or the names of the columns did.
    """
    first = mapping.variants[0]
    if mapping.rules.draws is not None or "position" in first.sample:
        return None
    key = mapping.key or tuple(name for name in _CONTENT if name in first.sample)
    if not key:
        return None
    are_draws = by_user and bool(mapping.key) and "draw" not in first.sample
    metrics = chain.from_iterable(rule.metric.paths() for rule in first.scores)
    return SameContent(
        are_draws,
        belong_together=are_draws or (first.is_long and bool(mapping.key)),
        by_metric=any(map(in_row, metrics)),
        by_id="prompt_id" in first.sample,
        key=f"key = {json.dumps(list(key))}",
    )
