"""From the rows of a file to batches of the sample schema.

Rows that are no data are rejected: of another shape than the mapping reads, without what a prompt is known by, or
summaries of the others. Taken for a prompt such a row would count in every mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.chunks import Chunk, FieldPath, NestedChunk, PathError, TableChunk, View, parse_path
from warehouse.importers.tabular.columns import (
    Column,
    Converted,
    Unfit,
    as_list,
    encode,
    integer_of,
    text_of,
    to_integer,
    to_number,
    to_scores,
    to_text,
)
from warehouse.importers.tabular.expressions import At, Equals, Source
from warehouse.importers.tabular.mapping import ChoiceRule, ScoreRule, TabularMapping, Variant
from warehouse.importers.tabular.runs import RunColumns, is_summary
from warehouse.records import CHOICE_TYPE, SAMPLE_SCHEMA, SCORE_STATUSES, SCORE_TYPE

#: Told of a row that cannot be taken: its number in the view, what was found, what was expected.
RowFault = Callable[[int, str, str], None]


@dataclass
class Projection:
    """Rows of one variant of a mapping as batches."""

    mapping: TabularMapping
    variant: Variant
    runs: RunColumns

    def batch(self, view: View, reject: RowFault) -> pa.RecordBatch | None:
        """The rows of a view, without those that are rejected; ``None`` if none is left."""
        runs, faults = self.runs.runs(view)
        columns: dict[str, pa.Array] = {"run": pa.array(runs, pa.int32())}
        for name, source in self._sources().items():
            columns[name] = self._field(name, source, view, faults)
        columns.update(self._documents(view, columns, faults))
        for row, fault in stray_rows(view, self.mapping, self.variant, columns).items():
            faults[row] = fault
        if self.variant.scores:
            columns["scores"] = scores_of(view, self.variant.scores, faults)
        if self.variant.choices:
            columns["choice_scores"] = choices_of(view, self.variant.choices, faults)
        for row, fault in sorted(faults.items()):
            reject(row, fault.found, fault.expected)
        return _batch(columns, view.size, faults)

    def _sources(self) -> dict[str, Source]:
        """The mapped fields, and position and number of generation where they go without saying."""
        sources = dict(self.variant.sample)
        if self.mapping.rules.draws is not None:
            sources.setdefault("draw", At("[rows] draws", "@draw"))
        if "prompt_id" not in sources and not self.variant.is_long:
            sources.setdefault("position", At("[rows]", "@index"))
        return sources

    def _field(self, name: str, source: Source, view: View, faults: Faults) -> pa.Array:
        kind = SAMPLE_SCHEMA.field(name).type
        column = source.column(view)
        converted = _converted(name, kind, column, view.size)
        for row, fault in converted.faults.items():
            faults.setdefault(row, Unfit(fault.found, f"{source.where}: {fault.expected}"))
        return converted.array

    def _documents(self, view: View, columns: Mapping[str, pa.Array], faults: Faults) -> dict[str, pa.Array]:
        """The columns ``metadata`` and ``identity``, as JSON texts."""
        named = {name: as_list(source.column(view), view.size) for name, source in self.variant.metadata.items()}
        documents: dict[str, pa.Array] = {}
        if named:
            documents["metadata"] = _json_rows(named, faults)
        if self.mapping.key:
            parts = {
                name: named[name] if name in named else _key_part(name, columns[name]) for name in self.mapping.key
            }
            documents["identity"] = _json_rows(parts, faults)
            for row, fault in lacks_key(view, {**self.variant.sample, **self.variant.metadata}, parts).items():
                faults.setdefault(row, fault)
        return documents


def _converted(name: str, kind: pa.DataType, column: Column, size: int) -> Converted:
    if name == "choices":
        return _to_choices(column, size)
    if pa.types.is_integer(kind):
        return to_integer(column, size, kind)
    return to_number(column, size) if pa.types.is_floating(kind) else to_text(column, size)


def _to_choices(column: Column, size: int) -> Converted:
    """Lists of option texts as JSON; an object counts as the list of its values."""
    texts: list[str | None] = []
    faults: dict[int, Unfit] = {}
    for row, value in enumerate(as_list(column, size)):
        options = list(value.values()) if isinstance(value, dict) else value
        if isinstance(options, list):
            words = [word if type(word) is str else text_of(word) for word in options]
            texts.append(orjson.dumps(words).decode())
            continue
        texts.append(None)
        if isinstance(options, Unfit) or options is not None:
            wanted = Unfit(repr(value)[:60], "a list of options")
            faults[row] = options if isinstance(options, Unfit) else wanted
    return Converted(pa.array(texts, pa.string()), faults)


def _key_part(name: str, array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    if name != "choices":
        return values
    return [None if value is None else orjson.loads(value) for value in values]


def _json_rows(columns: Mapping[str, Sequence[Any]], faults: Faults) -> pa.Array:
    """One JSON object per row. Rows next to each other are often about one prompt: the same."""
    names = list(columns)
    texts: list[str | None] = []
    last, text = None, None
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        if values != last:
            last, text = values, None
            if not any(isinstance(value, Unfit) for value in values):
                document = dict(zip(names, values, strict=True))
                text = orjson.dumps(document, default=str).decode()
        if text is None:
            faults.setdefault(row, next(value for value in values if isinstance(value, Unfit)))
        texts.append(text)
    return pa.array(texts, pa.string())


def _batch(columns: Mapping[str, pa.Array], size: int, faults: Faults) -> pa.RecordBatch | None:
    names = [name for name in SAMPLE_SCHEMA.names if name in columns]
    schema = pa.schema([SAMPLE_SCHEMA.field(name) for name in names])
    batch = pa.RecordBatch.from_arrays([columns[name] for name in names], schema=schema)
    if not faults:
        return batch
    rows = [row for row in range(size) if row not in faults]
    return batch.take(pa.array(rows, pa.int64())) if rows else None


# --- scores ---------------------------------------------------------------------------------------

Faults = dict[int, Unfit]


def scores_of(view: View, rules: Sequence[ScoreRule], faults: Faults) -> pa.Array:
    """The scores of each row.

    Args:
        view: the rows.
        rules: where the scores stand.
        faults: grows by the rows whose scores cannot be read.
    """
    size, count = view.size, len(rules)
    parts = [_struct(view, rule, faults) for rule in rules]
    kept = np.stack([keep for _, keep in parts], axis=1)
    if count == 1 and kept.all():
        return pa.ListArray.from_arrays(pa.array(np.arange(size + 1), pa.int32()), parts[0][0])
    order = np.arange(size)[:, None] + size * np.arange(count)[None, :]
    flat = pa.concat_arrays([array for array, _ in parts]).take(pa.array(order[kept]))
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)


def _struct(view: View, rule: ScoreRule, faults: Faults) -> tuple[pa.Array, np.ndarray[Any, np.dtype[np.bool_]]]:
    """One score per row, and which rows have it."""
    size = view.size
    values, raw, status = to_scores(rule.value.column(view), size)
    _note(values.faults, rule.value.where, faults)
    metric = _names(view, rule, faults)
    raw = _original(view, rule, raw)
    kept = np.ones(size, dtype=np.bool_)
    lost = pc.is_null(values.array) if raw is None else pc.and_(pc.is_null(values.array), pc.is_null(raw))
    if rule.omit_null:
        kept = ~lost.to_numpy(zero_copy_only=False)
    value = values.array
    if rule.null_value is not None:
        value = pc.if_else(lost, pa.scalar(float(rule.null_value)), value)
    columns = {
        "metric": metric,
        "filter": _filters(view, rule),
        "value": value,
        "weight": _weights(view, rule, faults),
        "n_draws": _draws(view, rule, faults),
        "raw": raw if raw is not None else pa.nulls(size, pa.string()),
        "status": _statuses(view, rule, status, lost, faults),
        "origin": _origins(rule, value),
    }
    arrays = [columns[field.name].cast(field.type) for field in SCORE_TYPE]
    return pa.StructArray.from_arrays(arrays, fields=list(SCORE_TYPE)), kept


def _names(view: View, rule: ScoreRule, faults: Faults) -> pa.Array:
    metric = to_text(rule.metric.column(view), view.size)
    _note(metric.faults, rule.metric.where, faults)
    if metric.array.null_count:
        for row in np.flatnonzero(pc.is_null(metric.array).to_numpy(zero_copy_only=False)):
            faults.setdefault(int(row), Unfit("no name", f"{rule.metric.where}: a metric"))
    return metric.array


def _filters(view: View, rule: ScoreRule) -> pa.Array:
    return pc.fill_null(to_text(rule.filter.column(view), view.size).array, "")


def _weights(view: View, rule: ScoreRule, faults: Faults) -> pa.Array:
    if rule.weight is None:
        return pa.nulls(view.size, pa.float64())
    weight = to_number(rule.weight.column(view), view.size)
    _note(weight.faults, rule.weight.where, faults)
    for row in np.flatnonzero(~(pc.fill_null(weight.array, 0.0).to_numpy(zero_copy_only=False) >= 0)):
        faults.setdefault(int(row), Unfit(f"{weight.array[int(row)]}", f"{rule.weight.where}: a weight of at least 0"))
    return weight.array


def _draws(view: View, rule: ScoreRule, faults: Faults) -> pa.Array:
    if rule.n_draws is None:
        return pa.nulls(view.size, pa.int32())
    draws = to_integer(_counted(rule.n_draws.column(view)), view.size, pa.int32())
    _note(draws.faults, rule.n_draws.where, faults)
    return draws.array


def _counted(column: Column) -> Column:
    """The column with the length of a list in its place."""
    if not isinstance(column, list):
        return column
    return [len(value) if isinstance(value, list) else value for value in column]


def _statuses(view: View, rule: ScoreRule, value_status: pa.Array | None, lost: pa.Array, faults: Faults) -> pa.Array:
    """The mapped status, else that of the value, else the one for missing values."""
    status = value_status if value_status is not None else pa.nulls(view.size, pa.string())
    if rule.null_status is not None:
        status = pc.if_else(lost, pa.scalar(rule.null_status), status)
    if rule.status is None:
        return status
    codes, words = encode(rule.status.column(view), view.size)
    for code, word in enumerate(words):
        if word is not None and word not in SCORE_STATUSES:
            wanted = f"{rule.status.where}: one of {', '.join(SCORE_STATUSES)}"
            for row in np.flatnonzero(codes == code).tolist():
                faults.setdefault(row, Unfit(repr(word)[:60], wanted))
    known = [word if word in SCORE_STATUSES else None for word in words]
    return pc.coalesce(pa.array(known, pa.string()).take(pa.array(codes)), status)


def _original(view: View, rule: ScoreRule, raw: pa.Array | None) -> pa.Array | None:
    """The text behind a value that was mapped from words to numbers."""
    if not rule.value.recode.values:
        return raw
    return to_text(rule.value.raw(view), view.size).array


def _origins(rule: ScoreRule, value: pa.Array) -> pa.Array:
    if not rule.value.recode.is_mapping and not isinstance(rule.value, Equals):
        return pa.nulls(len(value), pa.string())
    return pc.if_else(pc.is_valid(value), pa.scalar("mapped"), pa.scalar(None, pa.string()))


# --- options --------------------------------------------------------------------------------------


def choices_of(view: View, rule: ChoiceRule, faults: Faults) -> pa.Array:
    """The numbers of each option, one list per row; null where a row has none."""
    lists = {name: as_list(source.column(view), view.size) for name, source in rule.lists.items()}
    aligned = enumerate(zip(*lists.values(), strict=True))
    lengths = [_length(values, row, faults) for row, values in aligned]
    flat = {name: _flattened(name, column, lengths, rule, faults) for name, column in lists.items()}
    total = sum(lengths)
    index = [number for length in lengths for number in range(length)]
    flat["choice_index"] = pa.array(index, pa.int32())
    flat["is_target"] = _targets(view, rule, lengths, faults)
    arrays = [
        flat[field.name].cast(field.type) if field.name in flat else pa.nulls(total, field.type)
        for field in CHOICE_TYPE
    ]
    structs = pa.StructArray.from_arrays(arrays, fields=list(CHOICE_TYPE))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), structs)


def _length(values: tuple[Any, ...], row: int, faults: Faults) -> int:
    """How many options a row has; all its lists must agree."""
    lengths = {len(value) if isinstance(value, list) else -1 for value in values}
    lengths -= {-1} if all(value is None or isinstance(value, list) for value in values) else set()
    if not lengths:
        return 0
    if len(lengths) > 1 or -1 in lengths:
        faults[row] = Unfit(repr(values)[:80], "[choice_scores]: lists of one length")
        return 0
    return lengths.pop()


def _flattened(name: str, column: list[Any], lengths: list[int], rule: ChoiceRule, faults: Faults) -> pa.Array:
    flat: list[Any] = []
    rows: list[int] = []
    for row, (value, length) in enumerate(zip(column, lengths, strict=True)):
        flat += value if value is not None and length else [None] * length
        rows += [row] * length
    converted = to_number(flat, len(flat))
    unfit = {rows[place]: fault for place, fault in converted.faults.items()}
    _note(unfit, rule.lists[name].where, faults)
    return converted.array.cast(CHOICE_TYPE.field(name).type, safe=False)


def _targets(view: View, rule: ChoiceRule, lengths: list[int], faults: Faults) -> pa.Array:
    if rule.target is None:
        return pa.nulls(sum(lengths), pa.bool_())
    flat: list[bool | None] = []
    targets = as_list(rule.target.column(view), view.size)
    for row, (value, length) in enumerate(zip(targets, lengths, strict=True)):
        index = integer_of(value)
        if isinstance(index, Unfit):
            _note({row: index}, rule.target.where, faults)
            index = None
        flat += [None if index is None else number == index for number in range(length)]
    return pa.array(flat, pa.bool_())


def _note(unfit_by_row: Mapping[int, Unfit], where: str, faults: Faults) -> None:
    for row, unfit in unfit_by_row.items():
        faults.setdefault(row, Unfit(unfit.found, f"{where}: {unfit.expected}"))


#: How languages write a missing value where they make text of it.
_MISSING = ("", "nan", "NaN", "None", "null", "<NA>")
_LINE = r"^\s*:?[-=_+]{2,}:?\s*$"
_KEEP = '; if it is a prompt, give its id a word before it: prompt_id = { template = "id {…}" }'


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
    names, others = _labels(view, mapping, identifier, columns)
    if names is None:
        return
    for word in filter(is_summary, pc.unique(names).to_pylist()):
        for row in _rows(pc.equal(names, word)):
            said = {columns[name][row].as_py() for name in others if name in columns}
            if not said - {None, word}:
                yield row, word


def _labels(
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
