"""A folder of one file an entry: files alike are the rows of one table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from warehouse.boards.evalscope import evalscope_table, is_evalscope
from warehouse.boards.harness import is_lm_eval, is_mteb, mteb_record
from warehouse.boards.nested import leaves, text_of
from warehouse.boards.table import (
    FEWEST_ROWS,
    MOST_COLUMNS,
    RawTable,
    table_of_records,
)

#: Shares of the keys that files have in common, of any name and of one.
_ALIKE, _ALIKE_OF_ONE_NAME, _FILLED = 0.6, 0.3, 0.1
_NAMES = ("model_name", "model", "name", "model_id")


@dataclass(frozen=True)
class Entry:
    """A file that may be one entry."""

    path: PurePath  #: below the folder.
    kind: str  #: of which files may stand in one table.
    keys: frozenset[str]
    document: Mapping[str, Any]


def entry_of(path: PurePath, document: Any) -> Entry | None:
    """A document as one entry of a table; None where it is no record."""
    if not isinstance(document, Mapping):
        return None
    kind = "record"
    if is_lm_eval(document):
        kind = "lm_eval"
    elif is_evalscope(document):
        kind = "evalscope"
    elif is_mteb(document):
        kind = f"mteb {text_of(document['task_name'])}"
    keys = frozenset(str(key) for key in document)
    return Entry(path, kind, keys, document)


def grouped(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Files that are alike, together."""
    groups: list[list[Entry]] = []
    for entry in entries:
        for group in groups:
            if _are_alike(group[0], entry):
                group.append(entry)
                break
        else:
            groups.append([entry])
    return groups


def tables_of_entries(
    groups: Sequence[Sequence[Entry]], name: str
) -> Iterator[RawTable]:
    """One table for all files that are alike, where these are enough.

    Args:
        groups: files that are alike.
        name: of the folder.
    """
    for group in groups:
        if group[0].kind == "evalscope":
            table = evalscope_table((entry.document for entry in group), name)
            if table is not None:
                yield table
        elif len(group) >= FEWEST_ROWS:
            yield _table(group, name)


def _are_alike(one: Entry, other: Entry) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind != "record":
        return True
    needed = _ALIKE
    if one.path.name == other.path.name:
        needed = _ALIKE_OF_ONE_NAME
    shared = len(one.keys & other.keys)
    return shared >= needed * len(one.keys | other.keys)


def _table(group: Sequence[Entry], name: str) -> RawTable:
    records = [_record(entry) for entry in group]
    fewest = max(FEWEST_ROWS, _FILLED * len(group))
    counts: dict[tuple[str, ...], int] = {}
    for record in records:
        for path, text in record.items():
            counts[path] = counts.get(path, 0) + bool(text)
    kept = [path for path, count in counts.items() if count >= fewest]
    kept = sorted(kept, key=lambda path: -counts[path])[:MOST_COLUMNS]
    order = {path: place for place, path in enumerate(counts)}
    kept = sorted(kept, key=order.__getitem__)
    parts = [_part(record, kept) for record in records]
    table = table_of_records(f"{name}: {_what(group)}", parts, is_ordered=False)
    return RawTable(table.name, table.columns, _entry_names(group), is_ordered=False)


def sorted_records(
    records: Sequence[Mapping[tuple[str, ...], str]],
    order: Mapping[tuple[str, ...], int],
) -> list[dict[tuple[str, ...], str]]:
    """Records whose keys stand in one order."""
    return [_part(record, sorted(record, key=order.__getitem__)) for record in records]


def _part(
    record: Mapping[tuple[str, ...], str], kept: Collection[tuple[str, ...]]
) -> dict[tuple[str, ...], str]:
    """What a record has of some keys, in their order."""
    return {path: record[path] for path in kept if path in record}


def _record(entry: Entry) -> dict[tuple[str, ...], str]:
    if entry.kind.startswith("mteb "):
        return mteb_record(entry.document)
    if entry.kind == "lm_eval":
        return leaves(entry.document["results"])
    return leaves(entry.document)


def _what(group: Sequence[Entry]) -> str:
    if group[0].kind.startswith("mteb "):
        return group[0].kind.removeprefix("mteb ")
    return f"{len(group)} files"


def _entry_names(group: Sequence[Entry]) -> tuple[str, ...]:
    """What tells the files apart: a name in them, else the parts of their paths that
    differ."""
    for key in _NAMES:
        names = [text_of(entry.document.get(key)) for entry in group]
        if all(names) and len(set(names)) == len(names):
            return tuple(names)
    parts = [entry.path.with_suffix("").parts for entry in group]
    shared = set(parts[0]).intersection(*parts[1:])
    names = []
    for one in parts:
        own = [part for part in one if part not in shared]
        names.append("/".join(own or one))
    return tuple(names)
