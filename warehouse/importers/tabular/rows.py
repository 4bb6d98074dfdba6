"""From the rows of a file to batches of the sample schema.

Rows that are no data are rejected: of another shape than the mapping reads, without
what a prompt is known by, or summaries of the others. Taken for a prompt such a row
would count in every mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.chunks import Chunk, NestedChunk, RowView, TableChunk
from warehouse.importers.tabular.columns import (
    Column,
    Converted,
    Unfit,
    as_list,
    text_of,
    to_integer,
    to_number,
    to_text,
)
from warehouse.importers.tabular.expressions import At, Source
from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping_rules import (
    TabularMapping,
    Variant,
)
from warehouse.importers.tabular.readers import RowFault
from warehouse.importers.tabular.runs import RunColumns, summaries
from warehouse.importers.tabular.score_columns import (
    Faults,
    choices_of,
    not_binary,
    row_numbers,
    scores_of,
    taken,
)
from warehouse.records import SAMPLE_SCHEMA


def batch_of(
    view: RowView, mapping: TabularMapping, runs: RunColumns, reject: RowFault
) -> pa.RecordBatch | None:
    """The rows of a view, without those that are rejected; ``None`` if none is left."""
    numbers, faults = runs.runs(view)
    columns: dict[str, pa.Array] = {"run": pa.array(numbers, pa.int32())}
    for name, source in _sources(mapping, runs.variant).items():
        columns[name] = taken(
            _converted(name, source.column(view), view.size), source.where, faults
        )
    columns |= documents_of(view, mapping, runs.variant, columns, faults)
    faults |= stray_rows(view, mapping, runs.variant, columns)
    if runs.variant.scores:
        columns["scores"] = scores_of(view, runs.variant.scores, faults)
        faults |= not_binary(columns["scores"], mapping.metrics, faults)
    if runs.variant.choices:
        columns["choice_scores"] = choices_of(view, runs.variant.choices, faults)
    return without_faults(columns, SAMPLE_SCHEMA, view.size, faults, reject)


def without_faults(
    columns: Mapping[str, pa.Array],
    whole: pa.Schema,
    size: int,
    faults: Faults,
    reject: RowFault,
) -> pa.RecordBatch | None:
    """Columns in the order of a schema as a batch, without the rows that are at fault;
    ``None`` if none is left."""
    for row, fault in sorted(faults.items(), key=lambda item: item[0]):
        reject(row, fault.found, fault.expected)
    schema = pa.schema([field for field in whole if field.name in columns])
    batch = pa.RecordBatch.from_arrays(
        [columns[name] for name in schema.names], schema=schema
    )
    kept = None
    if faults:
        kept = [row for row in range(size) if row not in faults]
    if kept is None:
        return batch
    if kept:
        return batch.take(pa.array(kept, pa.int64()))
    return None


def _sources(mapping: TabularMapping, variant: Variant) -> dict[str, Source]:
    """The mapped fields, and position and number of generation where they go without
    saying."""
    sources = dict(variant.sample)
    if mapping.rules.draws is not None:
        sources.setdefault("draw", At("[rows] draws", "@draw"))
    # the generations of a record are one prompt's, also where a file has several runs
    are_in_records = mapping.rules.draws is not None and bool(mapping.key)
    if "prompt_id" not in sources and (are_in_records or not variant.is_long):
        sources.setdefault("position", At("[rows]", "@index"))
    return sources


def documents_of(
    view: RowView,
    mapping: TabularMapping,
    variant: Variant,
    columns: Mapping[str, pa.Array],
    faults: Faults,
) -> dict[str, pa.Array]:
    """The columns ``metadata`` and ``identity``, as JSON texts."""
    metadata = {
        name: as_list(source.column(view), view.size)
        for name, source in variant.metadata.items()
    }
    documents = {}
    if metadata:
        documents = {"metadata": json_rows(metadata, faults)}
    if mapping.key:
        parts = {
            name: metadata[name] if name in metadata else _key_part(name, columns[name])
            for name in mapping.key
        }
        documents["identity"] = json_rows(parts, faults)
        for row, fault in lacks_key(
            view, {**variant.sample, **variant.metadata}, parts
        ).items():
            faults.setdefault(row, fault)
    return documents


def _converted(name: str, column: Column, size: int) -> Converted:
    if name == "choices":
        return _to_choices(column, size)
    return converted(column, size, SAMPLE_SCHEMA.field(name))


def converted(column: Column, size: int, field: pa.Field) -> Converted:
    """A column as whole numbers, numbers or texts."""
    kind = field.type
    if pa.types.is_integer(kind):
        return to_integer(column, size, kind)
    if pa.types.is_floating(kind):
        return to_number(column, size)
    return to_text(column, size, labels=field.name == "prompt_id")


def _to_choices(column: Column, size: int) -> Converted:
    """Lists of option texts as JSON; an object counts as the list of its values."""
    texts: list[str | None] = []
    faults: dict[int, Unfit] = {}
    for row, value in enumerate(as_list(column, size)):
        options = value
        if isinstance(value, dict):
            options = list(value.values())
        if isinstance(options, list):
            words = [word if type(word) is str else text_of(word) for word in options]
            texts.append(orjson.dumps(words).decode())
            continue
        texts.append(None)
        if options is not None:
            if isinstance(options, Unfit):
                faults[row] = options
            else:
                faults[row] = Unfit(repr(value)[:60], "a list of options")
    return Converted(pa.array(texts, pa.string()), faults)


def _key_part(name: str, array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    if name != "choices":
        return values
    return [None if value is None else orjson.loads(value) for value in values]


def json_rows(columns: Mapping[str, Sequence[Any]], faults: Faults) -> pa.Array:
    """One JSON object per row. Rows next to each other are often about one prompt: the
    same."""
    texts: list[str | None] = []
    last, text = None, None
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        if values != last:
            unfit = next((value for value in values if isinstance(value, Unfit)), None)
            last, text = values, None
            if unfit is None:
                text = orjson.dumps(
                    dict(zip(columns, values, strict=True)), default=str
                ).decode()
        if unfit is not None:
            faults.setdefault(row, unfit)
        texts.append(text)
    return pa.array(texts, pa.string())


# --- rows that are no data ------------------------------------------------------------------------

#: How languages write a missing value where they make text of it.
_MISSING = ("", "nan", "NaN", "None", "null", "<NA>")
_LINE = r"^\s*:?[-=_+]{2,}:?\s*$"
_KEEP = (
    '; if it is a prompt, give its id a word before it: prompt_id = { template = "id '
    '{…}" }'
)


def stray_rows(
    view: RowView,
    mapping: TabularMapping,
    variant: Variant,
    columns: Mapping[str, pa.Array],
) -> Faults:
    """Rows of a view that are no data, and why.

    Args:
        mapping: how they are read.
        variant: the reading of each.
        columns: the fields of the sample that were read of them, by name.
    """
    faults = _misshapen(view, variant) | _ruled(view.chunk)
    identifier = _identifier(variant, columns, "prompt_id")
    if not mapping.key:
        name = "prompt_id"
        if identifier is None:
            name = "position"
        identifying = _identifier(variant, columns, name)
        for row in [] if identifying is None else _missing(identifying):
            expected = f"{variant.sample[name].where} in each row"
            found = f"no {name} in {_shown(view, row)}"
            faults.setdefault(row, Unfit(found, expected))
        if identifier is None:
            faults = _empty(view, variant) | faults
            # without it rows that are known by their number would count as prompts
            text = variant.sample.get("text")
            if text is not None and not text.optional:
                expected = (
                    f"{text.where} in each row (optional = true, where it may be "
                    "missing)"
                )
                for row in _missing(columns["text"]):
                    faults.setdefault(
                        row, Unfit(f"no text in {_shown(view, row)}", expected)
                    )
    for row, word in _summaries(view, mapping, identifier, columns):
        faults.setdefault(
            row,
            Unfit(
                f"{word!r}, a row that sums up others", f"rows of single prompts{_KEEP}"
            ),
        )
    return faults


def lacks_key(
    view: RowView, sources: Mapping[str, Source], parts: Mapping[str, Sequence[Any]]
) -> Faults:
    """Rows that lack a part of their content key. A part whose expression is
    ``optional`` may be missing, but not all of them.

    Args:
        sources: the expression of each part.
        parts: the values of each part.
    """
    needed = [name for name in parts if not sources[name].optional]
    faults: Faults = {}
    for row, values in enumerate(zip(*parts.values(), strict=True)):
        missing = [
            name
            for name, value in zip(parts, values, strict=True)
            if value is None or (isinstance(value, str) and not value.strip())
        ]
        wrong = [name for name in needed if name in missing] or (
            missing if len(missing) == len(parts) else []
        )
        if wrong:
            faults[row] = Unfit(
                f"no {' and no '.join(wrong)} in {_shown(view, row)}",
                f"key: {listed(list(parts))} in each row (optional = true, or a "
                "default, where one may be missing)",
            )
    return faults


def _identifier(
    variant: Variant, columns: Mapping[str, pa.Array], name: str
) -> pa.Array | None:
    """A field that prompts are known by; ``None`` where it is not mapped, or where it
    may be missing and always is."""
    source = variant.sample.get(name)
    if source is None or (
        source.optional and columns[name].null_count == len(columns[name])
    ):
        return None
    return columns[name]


def _missing(values: pa.Array) -> list[int]:
    if not pa.types.is_string(values.type):
        return row_numbers(pc.is_null(values))
    blank = pc.is_in(pc.utf8_trim_whitespace(values), pa.array(_MISSING))
    return row_numbers(pc.or_kleene(pc.is_null(values), blank))


def _shown(view: RowView, row: int) -> str:
    """A row as it stands, for a message."""
    record = view.chunk.keep([row]).records()[0]
    if isinstance(record, dict):
        record = {name: value for name, value in record.items() if value is not None}
    return repr(record)[:80]


# --- shapes ---------------------------------------------------------------------------------------


def _row_steps(variant: Variant) -> Iterator[tuple[Any, ...]]:
    """The steps of the paths that read the row itself."""
    for path in dict.fromkeys(
        chain.from_iterable(source.paths() for source in variant.sources)
    ):
        with suppress(PathError):  # a column's name that is no path
            parsed = parse_path(path)
            if parsed.root == "row" and not parsed.up and parsed.steps:
                yield parsed.steps


def _misshapen(view: RowView, variant: Variant) -> Faults:
    """Rows that are no objects where the mapping reads their keys."""
    chunk = view.chunk
    if not isinstance(chunk, NestedChunk):
        return {}
    if chunk.draws:
        prefix = chunk.draws.steps
    else:
        prefix = ()
    depth = len(prefix)
    of_record, of_draw = [], []
    for steps in _row_steps(variant):
        if depth and steps[:depth] == prefix:
            of_draw.append(steps[depth:])
        else:
            of_record.append(steps)
    records = (row.levels[-1][0] for row in chunk.rows)
    faults = _no_objects(records, _keys(of_record))
    # a generation may be missing
    draws = (row.draw if row.draw is not None else {} for row in chunk.rows)
    return _no_objects(draws, _keys(of_draw)) | faults


def _keys(paths: Iterable[Sequence[Any]]) -> list[str]:
    return list(
        dict.fromkeys(
            steps[0] for steps in paths if steps and isinstance(steps[0], str)
        )
    )


def _no_objects(values: Iterable[Any], keys: Sequence[str]) -> Faults:
    if not keys:
        return {}
    expected = f"an object with {listed(keys, 5)}"
    return {
        row: Unfit(repr(value)[:60], expected)
        for row, value in enumerate(values)
        if type(value) is not dict
    }


def _empty(view: RowView, variant: Variant) -> Faults:
    """Rows in which nothing stands that the mapping reads, not even a null: they would
    be prompts by their number."""
    chunk = view.chunk
    if isinstance(chunk, TableChunk):
        columns = chunk.data.columns
        empty = []
        if len(columns) > 1:
            empty = np.logical_and.reduce(
                [column.is_null().to_numpy() for column in columns]
            )
        return {
            int(row): Unfit("an empty row", "a row with values")
            for row in np.flatnonzero(empty)
        }
    if isinstance(chunk, NestedChunk) and chunk.draws:
        return {}
    keys = _keys(_row_steps(variant))
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
    return {
        int(row): Unfit("a drawn line", "a row with values")
        for row in np.flatnonzero(drawn)
    }


# --- summaries ------------------------------------------------------------------------------------


def _summaries(
    view: RowView,
    mapping: TabularMapping,
    identifier: pa.Array | None,
    columns: Mapping[str, pa.Array],
) -> Iterator[tuple[int, str]]:
    """Rows that are called by a name for all the others together, and have no question
    or answer of their own."""
    names, others = _labels(view, mapping, identifier, columns)
    if names is None:
        return
    for row in row_numbers(summaries(names)):
        word = names[row].as_py()
        if {columns[name][row].as_py() for name in others if name in columns} <= {
            None,
            word,
        }:
            yield row, word


def _labels(
    view: RowView,
    mapping: TabularMapping,
    identifier: pa.Array | None,
    columns: Mapping[str, pa.Array],
) -> tuple[pa.Array | None, tuple[str, ...]]:
    """Labels of the rows, and the fields that only a prompt has."""
    if identifier is not None:
        return identifier, ("text", "response")
    if "text" in columns:
        return columns["text"], ("target", "response")
    first_column = None
    if not mapping.key:
        first_column = _first_column(view.chunk)
    return first_column, ("response",)


def _first_column(chunk: Chunk) -> pa.Array | None:
    """The column that labels the rows of a table, where a mapping may not read it."""
    if not isinstance(chunk, TableChunk) or not chunk.data.num_columns:
        return None
    first = chunk.data.column(0).combine_chunks()
    if pa.types.is_string(first.type):
        return to_text(first, chunk.size).array
    return None
