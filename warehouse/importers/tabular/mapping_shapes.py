"""Stored mappings whose shape a file has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.streams import (
    FORMATS_OF_SEVERAL,
    glob_matches,
    members,
)
from warehouse.importers.tabular.chunks import NestedChunk
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping import parse_mapping
from warehouse.importers.tabular.mapping_files import (
    load_mapping,
    shipped_mappings,
)
from warehouse.importers.tabular.mapping_mistakes import mistakes_in, mistakes_in_file
from warehouse.importers.tabular.mapping_rules import TabularMapping
from warehouse.importers.tabular.readers import ReadingRules, ignore
from warehouse.importers.tabular.table import (
    MappedTable,
    open_reader,
    relative_name,
)

#: Columns or fields that a mapping has to read for its shape to be its own.
_TELLING = 2
_UNNAMED = re.compile(r"column_\d+")
_LETTERS = re.compile(r"[A-Za-z]")


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
#: The same of workbooks, which are packed and whose texts come before their rows.
_QUICK_WORKBOOK = 1 << 18


def _is_quick(path: Path) -> bool:
    """True if the first rows of a file are read at once."""
    with suppress(OSError), path.open("rb") as file:
        if FORMATS_OF_SEVERAL.get(path.suffix.lower()) == "xlsx":
            return len(file.read(_QUICK_WORKBOOK)) < _QUICK_WORKBOOK
        head = file.read(_QUICK_BYTES)
        is_whole = len(head) < _QUICK_BYTES
        return is_whole or (
            path.suffix.lower() not in (".json", ".zip") and head.count(b"\n") > 1
        )
    return False


def mappings_for(path: Path) -> list[str]:
    """Names of the shipped mappings whose columns, fields and places a file has; of one
    whose first row alone is large nothing is said, as it would be read whole."""
    if not _is_quick(path):
        return []
    names = _names_in(path)
    return [
        name
        for name, mapping in _shipped().items()
        if _required_names(mapping) <= names
        and (is_shaped_for(mapping, path) or _is_named_for(mapping, path))
    ]


#: Letters of a file's name that a pattern has to spell out to say more than its suffix.
_LEAST_LETTERS = 6


def _is_named_for(mapping: TabularMapping, path: Path) -> bool:
    """True if a mapping, whose paths alone tell little, names a file by a name of its
    own (``all_results.json``), and nothing that it reads is missing there."""
    for glob in mapping.files:
        stem = glob.rpartition("/")[2].rpartition(".")[0]
        if len(_LETTERS.findall(stem)) < _LEAST_LETTERS:
            continue
        if glob_matches(glob, path.absolute()):
            return not mistakes_in_file(mapping, path, path.parent)
    return False


#: Folders above a file of which the pattern of a mapping may speak.
_FOLDERS = 4


def fitting_mapping(path: Path, values: Mapping[str, Any]) -> str:
    """The name of the one shipped mapping that a file fits as a whole, so that it can
    be read by it as it stands; empty where there is none, or several.

    Args:
        values: header fields that the user set.
    """
    names = mappings_for(path)
    if len(names) != 1:
        return ""
    mapping = _shipped()[names[0]]
    whole = path.absolute()
    root = whole.parents[min(_FOLDERS, len(whole.parents)) - 1]
    table = MappedTable(
        members(whole, relative_name(whole, root), mapping.members)[0], mapping, root
    )
    if mistakes_in(mapping, table, values):
        return ""
    return names[0]


@lru_cache(maxsize=1)
def _shipped() -> dict[str, TabularMapping]:
    """The shipped mappings, parsed, by name."""
    return {
        name: parse_mapping(load_mapping(file))[0]
        for name, file in shipped_mappings().items()
    }


def _required_names(mapping: TabularMapping) -> set[str]:
    """Names of columns and fields without which a file has not the shape of a mapping."""
    names: set[str] = set()
    either = set(chain.from_iterable(one.paths() for one in mapping.alternatives))
    for source, text in mapping.paths:
        if source.optional or text in either or "{" in text:
            continue
        with suppress(PathError):
            path = parse_path(text)
            if path.root in ("row", "document"):
                names |= {step for step in path.steps if isinstance(step, str)}
    if mapping.rules.at is not None:
        names |= {step for step in mapping.rules.at.steps if isinstance(step, str)}
    return {name for name in names if not _UNNAMED.fullmatch(name)}


#: Records that are asked for the names of their fields, and objects within each other.
_ASKED, _DEPTH = 200, 8


def _names_in(path: Path) -> set[str]:
    """Names of all columns and fields of the first rows of a file, and the parts of
    those that an export flattened (``inputs.question``)."""
    try:
        reader = open_reader(members(path, path.name)[0], ReadingRules())
        chunk = next(iter(reader.chunks(None, ignore)), None)
    except InputError:
        return set()
    if chunk is None:
        return set()
    names: set[str] = set()
    for name in chunk.names():
        names |= {name, *name.split(".")}
    for record in chunk.keep(range(min(chunk.size, _ASKED))).records():
        names |= set(_fields_of(record))
    if isinstance(chunk, NestedChunk):
        for row in chunk.rows[:_ASKED]:
            names |= set(_fields_of(row.levels[0][0]))
    return names


def _fields_of(value: Any, depth: int = 0) -> Iterator[str]:
    """Names of the fields of a value and of what lies in it; of a list, of its first
    elements."""
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _fields_of(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value[:_ASKED]:
            yield from _fields_of(inner, depth + 1)
