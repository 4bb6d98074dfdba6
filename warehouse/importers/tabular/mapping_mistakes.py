"""Names in a mapping that its files do not have, and files that a mapping is not
for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, MappingError
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.streams import members
from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.combined_expressions import First
from warehouse.importers.tabular.empty_sources import there_instead
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping_files import (
    in_row,
)
from warehouse.importers.tabular.mapping_rules import TabularMapping
from warehouse.importers.tabular.mapping_variants import RUN_FIELDS
from warehouse.importers.tabular.table import MappedTable, relative_name

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
                f"{table.member.name!r}; {there_instead(table)}; where it lies deeper "
                "say so, as "
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
    spared: set[int] = set()
    for alternatives in mapping.alternatives:
        mistakes, named = _alternatives(alternatives, view, table)
        spared |= named
        yield from mistakes
    for source, path in mapping.paths:
        if id(source) not in spared:
            yield from _wrong_path(mapping, view, table, source, path, cells)
    for where, path in _paths_of_rules(mapping):
        yield from _problem(view, table, where, path)


def _wrong_path(
    mapping: TabularMapping,
    view: RowView,
    table: MappedTable,
    source: Source,
    path: str,
    cells: Sequence[str],
) -> Iterator[str]:
    """The mistake in a path of an expression, if there is one."""
    if _join_of(path) not in ("", *(rule.name for rule in mapping.joins)):
        return
    if path in cells or (not mapping.matrix and path in _OF_CELLS):
        use = (
            f"is of no use with{'' if cells else 'out'} a [matrix]; there say "
            "'@cell' and '@column'"
        )
        yield f"{source.where} = {path!r}: {use}"
    elif path not in _OF_CELLS:
        yield from _problem(view, table, source.where, path, source.optional)


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


def _alternatives(
    source: First, view: RowView, table: MappedTable
) -> tuple[list[str], set[int]]:
    """The mistake in alternatives of which none is in a file, and the ids of the
    innermost expressions that may be absent, or are named by it."""
    parts = [part for part in source.parts if any(part.paths())]
    if len(parts) < 2:
        return [], set()
    leaves = {id(leaf) for part in parts for leaf in part.leaves()}
    lacking = [list(_lacking(part, view)) for part in parts]
    if not all(lacking):
        return [], leaves
    paths = list(dict.fromkeys(chain.from_iterable(lacking)))
    shown = listed([repr(path) for path in paths], 20)
    there_are = listed(view.chunk.names()) or "none"
    mistake = (
        f"{source.where}: none of {shown} is in {table.member.name!r}; expected one of "
        f"these alternatives; there are: {there_are}"
    )
    return [mistake], leaves


def _lacking(source: Source, view: RowView) -> Iterator[str]:
    """Paths of an expression that have to be in a file and are not."""
    for leaf in source.leaves():
        for path in leaf.paths():
            if not leaf.optional and not _holds(view, path):
                yield path


def _holds(view: RowView, path: str) -> bool:
    try:
        return view.holds(path)
    except PathError:
        return False


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
    names = view.chunk.names()
    last = path
    beside = getattr(view.chunk, "beside", None)
    if beside is not None and not why and parse_path(path).root != "join":
        names = beside(path)
        last = path.rpartition(".")[2]
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
