"""Holding a mapping against a dump before any row is read: every mistake at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.errors import MappingError
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping import RUN_FIELDS, TabularMapping
from warehouse.importers.tabular.sections import listed, similar
from warehouse.importers.tabular.table import Table
from warehouse.importers.tabular.view import View

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
    found = [] if values is None else [*_unset(mapping, values)]
    if table.groups is None:
        shown = " and ".join(repr(pattern.pattern) for pattern in mapping.patterns)
        found.append(
            f"[path] pattern = {shown} does not match {table.member.name!r}; "
            "it must match the end of the path from a folder boundary on"
        )
    found += _unknown_joins(mapping)
    return list(dict.fromkeys(found + _absent(mapping, table)))


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
    found = [*_matrix_mistakes(mapping, names, cells)]
    joins = {"", *(rule.name for rule in mapping.joins)}
    for source, path in _paths(mapping):
        if _join_of(path) not in joins:
            continue
        if path in cells or (not mapping.matrix and path in _OF_CELLS):
            found.append(
                f"{source.where} = {path!r}: is of no use with{'' if cells else 'out'}"
                " a [matrix]; there say '@cell' and '@column'"
            )
        elif path not in _OF_CELLS:
            found.append(_problem(view, table, source.where, path, source.optional))
    for skip in mapping.skips:
        found += [_problem(view, table, skip.source.where, path) for path in skip.source.paths()]
    for rule in mapping.joins:
        if rule.on:
            found.append(_problem(view, table, f"[join.{rule.name}] on", rule.on))
    return [problem for problem in found if problem]


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
