"""Names and paths of the columns of a table, and of the fields of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from warehouse.importers.tabular.chunks import Chunk, NestedChunk, NestedRow
from warehouse.importers.tabular.column_names import (
    path_of,
    plain_name,
)
from warehouse.importers.tabular.columns import as_list
from warehouse.importers.tabular.drafts.record_locations import (
    DEPTH,
    RecordLocation,
    are_beside,
    keyed_kind,
)
from warehouse.importers.tabular.field_paths import FieldPath, parse_path

#: What exports call the objects that they flatten into columns (``inputs.question``).
_FLATTENED = frozenset(
    "dataset input inputs output outputs reference_outputs reference expected target "
    "feedback feedback_stats"
    " feedback_scores scores score metrics metadata meta example extra summary usage".split()
)
#: Records that are asked for their fields, most columns, most fields of an object that
#: is no map.
ASKED, _MOST, _FIELDS = 200, 400, 40
#: Name, path and objects around a column.
_Where = tuple[str, str, tuple[str, ...]]


def table_paths(chunk: Chunk) -> list[_Where]:
    """Columns of a table, and the fields of those that hold objects."""
    found: list[_Where] = []
    for name in chunk.names():
        column = chunk.column(name)
        is_nested = isinstance(column, list) or pa.types.is_nested(
            getattr(column, "type", pa.null())
        )
        objects = []
        if is_nested:
            objects = [
                value
                for value in as_list(column, chunk.size)
                if isinstance(value, dict)
            ]
        if not objects:
            found.append(_unflattened(name, path_of(name), ()))
        fields: dict[str, _Where] = {}
        for value in objects[:ASKED]:
            fields |= {field[1]: field for field in _fields({name: value})}
        found += fields.values()
    return found


def _unflattened(name: str, path: str, parents: tuple[str, ...]) -> _Where:
    """A column by its last name, where an export made it of objects
    (``inputs.question``)."""
    *around, last = name.split(".")
    is_inside = bool(around) and not parents and plain_name(around[0]) in _FLATTENED
    if is_inside:
        return (last, path, tuple(around))
    return (name, path, parents)


def record_paths(
    chunk: Chunk, location: RecordLocation, is_document: bool
) -> list[_Where]:
    """Names and paths of the fields of records, those inside objects included, and of
    what the records lie in."""
    found: dict[str, _Where] = {}
    inner = location.draws.removesuffix("[]")
    records = [part for part in chunk.records()[:ASKED] if isinstance(part, dict)]
    opened = _opened(records)
    for record in records:
        for item in _fields(record, opened=opened):
            if inner and are_beside(record.get(item[0]), record.get(inner)):
                # a list beside that of the generations
                item = (
                    item[0].removesuffix("s"),
                    f"{item[1]}[@draw]",
                    (),
                )
            if not inner or not item[1].startswith(inner):
                found.setdefault(item[1], item)
    if isinstance(chunk, NestedChunk):
        for row in chunk.rows[:ASKED]:
            for item in _around(row, location, is_document):
                found.setdefault(item[1], item)
    if (
        location.at
        and isinstance(chunk, NestedChunk)
        and not any(isinstance(part, dict) for part in chunk.records())
    ):
        found = {
            path: item
            for path, item in found.items()
            if path.lstrip("^").startswith("@")
        }
        found.setdefault("@", ("value", location.draws or "@", ()))
    return _gathered(found.values())[:_MOST]


def _gathered(found: Iterable[_Where]) -> list[_Where]:
    """The columns, with one for all fields of an object that has too many of them to be
    one record."""
    columns = list(found)
    counts = Counter(parents for _, _, parents in columns)
    keyed = {
        parents for parents, count in counts.items() if parents and count > _FIELDS
    }
    kept: dict[str, _Where] = {}
    for name, path, parents in columns:
        around = next(
            (parents[:n] for n in range(1, len(parents) + 1) if parents[:n] in keyed),
            None,
        )
        if around is not None and not path.startswith("^"):
            name = around[-1]
            path = ".".join(map(path_of, around))
            parents = around[:-1]
        kept.setdefault(path, (name, path, parents))
    return list(kept.values())


def _keys_of(location: RecordLocation) -> list[str]:
    """Paths of the keys that records lie under."""
    if location.at.endswith("{}{}"):
        return ["@key", "^@key"]
    if location.at.endswith("{}"):
        return ["@key"]
    if "{}" not in location.at:
        return []
    path = "^" * location.at.rpartition("{}")[2].count("[]") + "@key"
    if "{}{}" in location.at:
        return [path, f"^{path}"]
    return [path]


def _around(
    row: NestedRow, location: RecordLocation, is_document: bool
) -> Iterator[_Where]:
    """The key of a record, the fields of its generation, and those of the record that
    it lies in."""
    for path in _keys_of(location):
        yield path, path, ()
    if (
        location.draws != "[]"
        and row.draw is not None
        and not isinstance(row.draw, dict)
    ):
        yield location.draws.removesuffix("[]"), location.draws, ()
    elif location.draws and isinstance(row.draw, dict):
        yield from (
            (name, f"{location.draws}.{path}", parents)
            for name, path, parents in _fields(row.draw)
        )
    around = row.levels[-2][0] if len(row.levels) > 1 + is_document else None
    is_map = not location.at.endswith("[]")
    if not isinstance(around, dict):
        return
    for name, path, parents in _fields(around):
        value: Any = around
        for key in (*parents, name):
            value = value[key]
        if not isinstance(value, list | dict) and not (parents and is_map):
            yield name, f"^.{path}", parents


def _opened(records: Sequence[Mapping[str, Any]]) -> frozenset[tuple[str, ...]]:
    """Objects that are taken field by field in some records, which are so in all, as
    those of models that were asked about one task beside others about three."""
    around: set[tuple[str, ...]] = set()
    for record in records:
        around |= {parents for _, _, parents in _fields(record) if parents}
    return frozenset(
        parents[:n] for parents in around for n in range(1, len(parents) + 1)
    )


def _fields(
    record: Mapping[str, Any],
    parents: tuple[str, ...] = (),
    depth: int = 0,
    opened: Collection[tuple[str, ...]] = (),
) -> Iterator[_Where]:
    """The fields of a record; an object with keys that are no names of fields is one of
    them.

    Args:
        opened: objects of which the fields are wanted whatever their keys are.
    """
    for key, value in record.items():
        inside = (*parents, str(key))
        is_inside = isinstance(value, dict) and bool(value) and depth < DEPTH - 1
        if is_inside and (inside in opened or not keyed_kind(value)):
            yield from _fields(value, inside, depth + 1, opened)
        else:
            yield _unflattened(
                str(key),
                ".".join(path_of(str(step)) for step in (*parents, key)),
                parents,
            )


def parsed(text: str) -> FieldPath | None:
    if text:
        return parse_path(text)
    return None
