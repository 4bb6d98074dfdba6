"""What a mapping names that a file does not have, and whether it fits a file's shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, MappingError, MisuseError, did_you_mean
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.streams import glob_matches, members
from warehouse.importers.tabular.chunks import View
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping import RUN_FIELDS, TabularMapping
from warehouse.importers.tabular.parse_mapping import parse_mapping
from warehouse.importers.tabular.sections import load_mapping
from warehouse.importers.tabular.table import Table

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
    """The paths that a mapping reads, each with the innermost expression that does."""
    for source in mapping.sources:
        yield from ((leaf, path) for leaf in source.leaves() for path in leaf.paths())


# --- shapes ---------------------------------------------------------------------------------------

#: Columns or fields that a mapping has to read for its shape to be its own.
_TELLING = 2
_UNNAMED = re.compile(r"column_\d+")


def mistakes_in_file(mapping: TabularMapping, path: Path, root: Path) -> list[str]:
    """What a mapping names that the first table of a file lacks, or why that cannot be read."""
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    try:
        found = members(path, name, mapping.members)
        if not found:
            return ["no table in it"]
        table = Table(found[0], mapping, root)
        return mistakes_in(mapping, table, None) or ([] if table.sample() is not None else ["no rows in it"])
    except (InputError, OSError) as error:
        return [str(error)]


def is_shaped_for(mapping: TabularMapping, path: Path) -> bool:
    """Whether a file has the columns, fields or places that tell the shape of a mapping from others."""
    telling = {text for source, text in _paths(mapping) if not source.optional and _is_telling(text)}
    at = mapping.rules.at
    count = len(telling) + len([step for step in at.steps if isinstance(step, str)] if at else ())
    if count < _TELLING or mapping.matrix is not None and not mapping.matrix.label:
        return False
    anywhere = replace(mapping, patterns=(), joins=tuple(replace(rule, optional=True) for rule in mapping.joins))
    return not mistakes_in_file(anywhere, path, path.parent)


def _is_telling(text: str) -> bool:
    with suppress(PathError):
        path = parse_path(text)
        named = any(isinstance(step, str) and not _UNNAMED.fullmatch(step) for step in path.steps)
        return path.root in ("row", "document") and named
    return True


def shipped_mappings() -> dict[str, Path]:
    """The files of the mappings for published dumps, by name."""
    paths = (Path(str(item)) for item in files("warehouse.mappings").iterdir() if item.name.endswith(".toml"))
    return {path.stem: path for path in sorted(paths)}


def describe_mapping(path: Path) -> str:
    """The first sentence of the comment that a mapping begins with."""
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("#").strip()
        if not line.startswith("#") or not text:
            break
        words += text.split()
    comment = " ".join(words)
    return comment.partition(". ")[0].rstrip(".:")


def mapping_file(given: str | Path) -> Path:
    """The file that a path, or the name of a shipped mapping, stands for; a file that is there goes first.

    Raises:
        MisuseError: a word that is neither. A path is given back as it is, whether or not a file is there.
    """
    path = Path(given)
    if path.is_file() or path.suffix or len(path.parts) != 1:
        return path
    known = shipped_mappings()
    if str(given) not in known:
        hint = did_you_mean(str(given), known, "names of those that are: warehouse mapping --list")
        raise MisuseError(f"there is no file '{given}', and no mapping of that name is shipped; {hint}")
    return known[str(given)]


def mappings_for(path: Path) -> list[str]:
    """Names of the shipped mappings whose columns, fields and places a file has."""
    parsed = {name: parse_mapping(load_mapping(file), name)[0] for name, file in shipped_mappings().items()}
    return [name for name, mapping in parsed.items() if is_shaped_for(mapping, path)]


def named_by_others(path: Path, but: Path) -> bool:
    """Whether the ``files`` of another shipped mapping name a file: it is of another dump then.

    Args:
        path: of the file, absolute.
        but: the mapping that is asked for, which does not count.
    """
    return any(
        glob_matches(glob, path)
        for file, globs in _globs().items()
        if file != but
        for glob in globs
        if "/" in glob  # one of a suffix alone says nothing
    )


@cache
def _globs() -> dict[Path, tuple[str, ...]]:
    return {file: tuple(load_mapping(file).get("files", ())) for file in shipped_mappings().values()}
