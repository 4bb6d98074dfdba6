"""Rows that are no data: of another shape than the mapping reads, without what a prompt is known by, or summaries
of the others.

Such a row is rejected; taken for a prompt it would count in every mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.chunks import Chunk, NestedChunk, TableChunk, View
from warehouse.importers.tabular.columns import Unfit, to_text
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.field_paths import FieldPath, PathError, parse_path
from warehouse.importers.tabular.mapping import TabularMapping, Variant

#: How languages write a missing value where they make text of it.
_MISSING = ("", "nan", "NaN", "None", "null", "<NA>")
_LINE = r"^\s*:?[-=_+]{2,}:?\s*$"
_KEEP = '; if it is a prompt, give its id a word before it: prompt_id = { template = "id {…}" }'

Faults = dict[int, Unfit]


def stray_rows(view: View, mapping: TabularMapping, variant: Variant, columns: Mapping[str, pa.Array]) -> Faults:
    """Rows of a view that are no data, and why.

    Args:
        view: the rows.
        mapping: how they are read.
        variant: the reading of each.
        columns: the fields of the sample that were read of them, by name.
    """
    faults = _misshapen(view, variant) | _ruled(view.chunk)
    identifier = _stated(variant, columns, "prompt_id")
    if not mapping.key:
        known_by = identifier if identifier is not None else _stated(variant, columns, "position")
        for row in [] if known_by is None else _missing(known_by):
            name = "prompt_id" if identifier is not None else "position"
            expected = f"{variant.sample[name].where} in each row"
            faults.setdefault(row, Unfit(f"no {name} in {_shown(view, row)}", expected))
        if identifier is None:
            faults = _empty(view, variant) | faults
            for row in _without_question(variant, columns):
                expected = f"{variant.sample['text'].where} in each row (optional = true, where it may be missing)"
                faults.setdefault(row, Unfit(f"no text in {_shown(view, row)}", expected))
    for row, word in _summaries(view, mapping, identifier, columns):
        faults.setdefault(row, Unfit(f"{word!r}, a row that sums up others", f"rows of single prompts{_KEEP}"))
    return faults


def lacks_key(view: View, sources: Mapping[str, Source], parts: Mapping[str, Sequence[Any]]) -> Faults:
    """Rows that lack a part of their content key. A part whose expression is ``optional`` may be missing, but
    not all of them.

    Args:
        view: the rows.
        sources: the expression of each part.
        parts: the values of each part.
    """
    needed = [name for name in parts if not sources[name].optional]
    faults: Faults = {}
    for row, values in enumerate(zip(*parts.values(), strict=True)):
        lacking = {name for name, value in zip(parts, values, strict=True) if _is_missing(value)}
        wrong = [name for name in needed if name in lacking] or (list(parts) if len(lacking) == len(parts) else [])
        if wrong:
            faults[row] = Unfit(
                f"no {' and no '.join(wrong)} in {_shown(view, row)}",
                f"key: {listed(list(parts))} in each row (optional = true, or a default, where one may be missing)",
            )
    return faults


def _stated(variant: Variant, columns: Mapping[str, pa.Array], name: str) -> pa.Array | None:
    """A field that prompts are known by; ``None`` where it is not mapped, or where it may be missing and always is."""
    source = variant.sample.get(name)
    if source is None or (source.optional and columns[name].null_count == len(columns[name])):
        return None
    return columns[name]


def _without_question(variant: Variant, columns: Mapping[str, pa.Array]) -> list[int]:
    """Rows that lack the question that the mapping reads: known by their place, they would count as prompts."""
    source = variant.sample.get("text")
    return [] if source is None or source.optional else _missing(columns["text"])


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _missing(values: pa.Array) -> list[int]:
    if not pa.types.is_string(values.type):
        return _rows(pc.is_null(values))
    blank = pc.is_in(pc.utf8_trim_whitespace(values), pa.array(_MISSING))
    return _rows(pc.or_kleene(pc.is_null(values), blank))


def _rows(mask: pa.Array) -> list[int]:
    return np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False)).tolist()


def _shown(view: View, row: int) -> str:
    """A row as it stands, for a message."""
    record = view.chunk.keep([row]).records()[0]
    if isinstance(record, dict):
        record = {name: value for name, value in record.items() if value is not None}
    return repr(record)[:80]


# --- shapes ---------------------------------------------------------------------------------------


def _row_paths(variant: Variant) -> Iterator[FieldPath]:
    """The paths of a mapping that read the row itself."""
    for path in dict.fromkeys(path for source in variant.sources for path in source.paths()):
        try:
            parsed = parse_path(path)
        except PathError:
            continue  # a column's name that is no path
        if parsed.root == "row" and not parsed.up and parsed.steps:
            yield parsed


def _misshapen(view: View, variant: Variant) -> Faults:
    """Rows that are no objects where the mapping reads their keys."""
    chunk = view.chunk
    if not isinstance(chunk, NestedChunk):
        return {}
    prefix = chunk.draws.steps if chunk.draws else ()
    of_draw: list[Sequence[Any]] = []
    of_record: list[Sequence[Any]] = []
    for path in _row_paths(variant):
        if prefix and path.steps[: len(prefix)] == prefix:
            of_draw.append(path.steps[len(prefix) :])
        else:
            of_record.append(path.steps)
    faults = _no_objects((row.levels[-1][0] for row in chunk.rows), _keys(of_record))
    draws = (row.draw if row.draw is not None else {} for row in chunk.rows)  # a generation may be missing
    return _no_objects(draws, _keys(of_draw)) | faults


def _keys(paths: Iterable[Sequence[Any]]) -> list[str]:
    return list(dict.fromkeys(steps[0] for steps in paths if steps and isinstance(steps[0], str)))


def _no_objects(values: Iterable[Any], keys: Sequence[str]) -> Faults:
    if not keys:
        return {}
    expected = f"an object with {listed(keys, 5)}"
    return {row: Unfit(repr(value)[:60], expected) for row, value in enumerate(values) if type(value) is not dict}


def _empty(view: View, variant: Variant) -> Faults:
    """Rows in which nothing stands that the mapping reads, not even a null: they would be prompts by their place."""
    chunk = view.chunk
    if isinstance(chunk, TableChunk):
        return {row: Unfit("an empty row", "a row with values") for row in _blank(chunk.data)}
    if isinstance(chunk, NestedChunk) and chunk.draws:
        return {}
    keys = _keys(path.steps for path in _row_paths(variant))
    expected = f"an object with {listed(keys, 5)}"
    return {
        row: Unfit(repr(record)[:60], expected)
        for row, record in enumerate(chunk.records() if keys else ())
        if type(record) is not dict or record.keys().isdisjoint(keys)
    }


def _ruled(chunk: Chunk) -> Faults:
    """Rows of a table that are a line drawn under its header, or between its parts."""
    if not isinstance(chunk, TableChunk) or chunk.data.num_columns < 2:
        return {}
    if not all(pa.types.is_string(column.type) for column in chunk.data.columns):
        return {}
    drawn = np.ones(chunk.data.num_rows, dtype=np.bool_)
    for column in chunk.data.columns:
        drawn &= pc.fill_null(pc.match_substring_regex(column, _LINE), False).to_numpy()
        if not drawn.any():
            return {}
    return {int(row): Unfit("a drawn line", "a row with values") for row in np.flatnonzero(drawn)}


def _blank(table: pa.Table) -> list[int]:
    """Rows of several cells, all of them empty."""
    if table.num_columns < 2:
        return []
    empty = np.ones(table.num_rows, dtype=np.bool_)
    for column in table.columns:
        empty &= column.is_null().to_numpy()
    return np.flatnonzero(empty).tolist()


# --- summaries ------------------------------------------------------------------------------------


def _summaries(
    view: View, mapping: TabularMapping, identifier: pa.Array | None, columns: Mapping[str, pa.Array]
) -> Iterator[tuple[int, str]]:
    """Rows that are called by a name for all the others together, and have no question or answer of their own."""
    names, others = _names(view, mapping, identifier, columns)
    if names is None:
        return
    for word in filter(is_summary, pc.unique(names).to_pylist()):
        for row in _rows(pc.equal(names, word)):
            said = {columns[name][row].as_py() for name in others if name in columns}
            if not said - {None, word}:
                yield row, word


def _names(
    view: View, mapping: TabularMapping, identifier: pa.Array | None, columns: Mapping[str, pa.Array]
) -> tuple[pa.Array | None, tuple[str, ...]]:
    """What the rows are called, and the fields that only a prompt has."""
    if identifier is not None:
        return identifier, ("text", "response")
    if "text" in columns:
        return columns["text"], ("target", "response")
    return (None if mapping.key else _first_column(view.chunk)), ("response",)


def _first_column(chunk: Chunk) -> pa.Array | None:
    """The column that labels the rows of a table, where a mapping may not read it."""
    if not isinstance(chunk, TableChunk) or not chunk.data.num_columns:
        return None
    first = chunk.data.column(0).combine_chunks()
    return to_text(first, chunk.size).array if pa.types.is_string(first.type) else None


_OF_ALL = re.compile(
    r"(?:(?:grand|sub|macro|micro|weighted|overall)[ _-]*)?(?:total|overall|average|avg|mean)"
    r"|all|sum|summary|aggregate",
    re.IGNORECASE,
)


def is_summary(word: object) -> bool:
    """Whether a text is a name for all the others together, such as ``Overall`` or ``macro avg``."""
    return isinstance(word, str) and _OF_ALL.fullmatch(word.strip(" *_:.")) is not None
