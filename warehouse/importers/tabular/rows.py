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
from warehouse.importers.tabular.chunks import (
    Chunk,
    NestedChunk,
    PathError,
    RowView,
    TableChunk,
    parse_path,
)
from warehouse.importers.tabular.columns import (
    Column,
    Converted,
    Unfit,
    as_list,
    converted_by,
    text_of,
    to_integer,
    to_number,
    to_scores,
    to_text,
)
from warehouse.importers.tabular.expressions import At, Equals, Literal, Source
from warehouse.importers.tabular.mapping import (
    ChoiceRule,
    ScoreRule,
    TabularMapping,
    Variant,
)
from warehouse.importers.tabular.readers import RowFault
from warehouse.importers.tabular.runs import RunColumns, summaries
from warehouse.records import CHOICE_TYPE, SAMPLE_SCHEMA, SCORE_STATUSES, SCORE_TYPE


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
    if "prompt_id" not in sources and not variant.is_long:
        sources.setdefault("position", At("[rows]", "@index"))
    return sources


def taken(found: Converted, where: str, faults: Faults) -> pa.Array:
    """The values of a column; the rows that lack one for a reason are noted."""
    for row, unfit in found.faults.items():
        faults.setdefault(row, Unfit(unfit.found, f"{where}: {unfit.expected}"))
    return found.array


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


# --- scores ---------------------------------------------------------------------------------------

Faults = dict[int, Unfit]


def scores_of(view: RowView, rules: Sequence[ScoreRule], faults: Faults) -> pa.Array:
    """The scores of each row.

    Args:
        rules: where the scores stand.
        faults: grows by the rows whose scores cannot be read.
    """
    size, count = view.size, len(rules)
    parts = [_struct(view, rule, faults) for rule in rules]
    kept = np.stack([keep for _, keep in parts], axis=1)
    if count == 1 and kept.all():
        return pa.ListArray.from_arrays(
            pa.array(np.arange(size + 1), pa.int32()), parts[0][0]
        )
    order = np.arange(size)[:, None] + size * np.arange(count)[None, :]
    arrays = pa.concat_arrays([array for array, _ in parts])
    flat = arrays.take(pa.array(order[kept]))
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)


def _struct(
    view: RowView, rule: ScoreRule, faults: Faults
) -> tuple[pa.Array, np.ndarray[Any, np.dtype[np.bool_]]]:
    """One score per row, and which rows have it."""
    size = view.size
    values, raw, status = to_scores(rule.value.column(view), size)
    value = taken(values, rule.value.where, faults)
    metric = _metrics(view, rule, faults)
    if rule.value.recode.values:  # words that were mapped to numbers stay readable
        raw = to_text(rule.value.raw(view), size).array
    elif isinstance(rule.value, Equals):
        raw = _judged_number(view, rule.value, value)
    if raw is None:
        lost = pc.is_null(value)
    else:
        lost = pc.and_(pc.is_null(value), pc.is_null(raw))
    if rule.omit_null:
        kept = ~_as_numpy(lost)
    else:
        kept = np.ones(size, dtype=np.bool_)
    if rule.omit_absent and not any(map(view.holds, rule.value.paths())):
        kept[:] = False
    if rule.null_value is not None:
        value = pc.if_else(lost, pa.scalar(float(rule.null_value)), value)
    columns = {
        "metric": metric,
        "filter": pc.fill_null(to_text(rule.filter.column(view), size).array, ""),
        "value": value,
        "weight": _weights(view, rule, faults),
        "n_draws": _draws(view, rule, faults),
        "raw": raw,
        "status": _statuses(view, rule, status, lost, faults),
        "origin": _origins(rule, value),
    }
    arrays = [
        pa.nulls(size, field.type)
        if (column := columns[field.name]) is None
        else column.cast(field.type)
        for field in SCORE_TYPE
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(SCORE_TYPE)), kept


def _judged_number(view: RowView, rule: Equals, value: pa.Array) -> pa.Array | None:
    """The numbers, as texts, that a threshold made right or wrong, where they are not
    what it made of them."""
    number, constant = rule.pair
    if not rule.equality.numeric or not isinstance(constant, Literal):
        return None
    texts = to_text(number.column(view), view.size).array
    numbers = to_number(number.column(view), view.size).array
    return pc.if_else(
        pc.fill_null(pc.equal(numbers, value), False),
        pa.scalar(None, pa.string()),
        texts,
    )


def not_binary(
    scores: pa.ListArray,
    metrics: Mapping[str, Mapping[str, Any]],
    known: Mapping[int, Unfit],
) -> Faults:
    """Rows with a value that is neither right nor wrong, of a metric that the mapping
    declares to be binary.

    The rate of several generations (``n_draws``) may lie between.

    Args:
        scores: the scores of each row.
        metrics: what the mapping declares, by name of the metric.
        known: rows that are rejected anyway.
    """
    faults: Faults = {}
    flat, rows = scores.flatten(), pc.list_parent_indices(scores)
    for name, declared in metrics.items():
        if declared.get("kind") != "binary":
            continue
        low = float(declared.get("low", 0))
        high = float(declared.get("high", 1))
        ends = sorted({low, high})
        of_metric = pc.equal(flat.field("metric"), name)
        is_single = pc.less_equal(pc.fill_null(flat.field("n_draws"), 1), 1)
        is_end = pc.is_in(flat.field("value"), pa.array(ends, pa.float64()))
        has_value = pc.is_valid(flat.field("value"))
        wrong = pc.and_(
            pc.and_(of_metric, is_single), pc.and_(has_value, pc.invert(is_end))
        )
        for at in _rows(wrong):
            row = rows[at].as_py()
            if row not in known:
                expected = (
                    f"[metrics.{name}] kind = 'binary': {ends[0]:g} or {ends[-1]:g}; "
                    "n_draws, where it is the rate of"
                    ' several generations; a threshold ({ equals = ["path", { const = '
                    "1 }], numeric = true }); or"
                    " kind = 'bounded'"
                )
                faults.setdefault(
                    row,
                    Unfit(f"{name} is {flat.field('value')[at].as_py():g}", expected),
                )
    return faults


def _metrics(view: RowView, rule: ScoreRule, faults: Faults) -> pa.Array:
    metrics = taken(
        to_text(rule.metric.column(view), view.size), rule.metric.where, faults
    )
    if metrics.null_count:
        for row in _rows(pc.is_null(metrics)):
            faults.setdefault(row, Unfit("no name", f"{rule.metric.where}: a metric"))
    return metrics


def _weights(view: RowView, rule: ScoreRule, faults: Faults) -> pa.Array | None:
    if rule.weight is None:
        return None
    weights = taken(
        to_number(rule.weight.column(view), view.size), rule.weight.where, faults
    )
    for row in _rows(pc.invert(pc.greater_equal(pc.fill_null(weights, 0.0), 0))):
        faults.setdefault(
            row,
            Unfit(f"{weights[row]}", f"{rule.weight.where}: a weight of at least 0"),
        )
    return weights


def _draws(view: RowView, rule: ScoreRule, faults: Faults) -> pa.Array | None:
    if rule.n_draws is None:
        return None
    column = rule.n_draws.column(view)
    if isinstance(column, list):  # of a list, its length
        column = [len(value) if isinstance(value, list) else value for value in column]
    return taken(to_integer(column, view.size, pa.int32()), rule.n_draws.where, faults)


def _statuses(
    view: RowView,
    rule: ScoreRule,
    value_status: pa.Array | None,
    lost: pa.Array,
    faults: Faults,
) -> pa.Array:
    """The mapped status, else that of the value, else the one for missing values."""
    if value_status is not None:
        status = value_status
    else:
        status = pa.nulls(view.size, pa.string())
    if rule.null_status is not None:
        status = pc.if_else(lost, pa.scalar(rule.null_status), status)
    if rule.status is None:
        return status
    found = converted_by(rule.status.column(view), view.size, _status_of, pa.string())
    return pc.coalesce(taken(found, rule.status.where, faults), status)


def _status_of(word: Any) -> Any:
    if word is None or word in SCORE_STATUSES:
        return word
    return Unfit(repr(word)[:60], f"one of {', '.join(SCORE_STATUSES)}")


def _origins(rule: ScoreRule, value: pa.Array) -> pa.Array | None:
    if not rule.value.recode.is_mapping and not isinstance(rule.value, Equals):
        return None
    return pc.if_else(
        pc.is_valid(value), pa.scalar("mapped"), pa.scalar(None, pa.string())
    )


# --- options --------------------------------------------------------------------------------------


def choices_of(view: RowView, rule: ChoiceRule, faults: Faults) -> pa.Array:
    """The numbers of each option, one list per row; null where a row has none."""
    lists = {
        name: as_list(source.column(view), view.size)
        for name, source in rule.lists.items()
    }
    lengths = [
        _length(values, row, faults)
        for row, values in enumerate(zip(*lists.values(), strict=True))
    ]
    flat = {
        name: _flattened(name, column, lengths, rule, faults)
        for name, column in lists.items()
    }
    flat["choice_index"] = pa.array(
        list(chain.from_iterable(range(length) for length in lengths)), pa.int32()
    )
    flat["is_target"] = _targets(view, rule, lengths, faults)
    arrays = [
        flat[field.name].cast(field.type)
        if field.name in flat
        else pa.nulls(sum(lengths), field.type)
        for field in CHOICE_TYPE
    ]
    structs = pa.StructArray.from_arrays(arrays, fields=list(CHOICE_TYPE))
    return pa.ListArray.from_arrays(
        pa.array(np.cumsum([0, *lengths]), pa.int32()), structs
    )


def _length(values: tuple[Any, ...], row: int, faults: Faults) -> int:
    """How many options a row has; all its lists must agree."""
    lengths = {len(value) for value in values if isinstance(value, list)}
    if len(lengths) > 1 or not all(
        value is None or isinstance(value, list) for value in values
    ):
        faults[row] = Unfit(repr(values)[:80], "[choice_scores]: lists of one length")
        return 0
    return max(lengths, default=0)


def _flattened(
    name: str, column: list[Any], lengths: list[int], rule: ChoiceRule, faults: Faults
) -> pa.Array:
    flat: list[Any] = []
    rows: list[int] = []
    for row, (value, length) in enumerate(zip(column, lengths, strict=True)):
        if value is not None and length:
            flat += value
        else:
            flat += [None] * length
        rows += [row] * length
    numbers = to_number(flat, len(flat))
    unfit = Converted(
        numbers.array, {rows[number]: fault for number, fault in numbers.faults.items()}
    )
    return taken(unfit, rule.lists[name].where, faults).cast(
        CHOICE_TYPE.field(name).type, safe=False
    )


def _targets(
    view: RowView, rule: ChoiceRule, lengths: list[int], faults: Faults
) -> pa.Array:
    if rule.target is None:
        return pa.nulls(sum(lengths), pa.bool_())
    indices = taken(
        to_integer(rule.target.column(view), view.size, pa.int64()),
        rule.target.where,
        faults,
    )
    flat: list[bool | None] = []
    for index, length in zip(indices.to_pylist(), lengths, strict=True):
        if index is None:
            flat += [None] * length
        else:
            flat += [number == index for number in range(length)]
    return pa.array(flat, pa.bool_())


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
            text = variant.sample.get(
                "text"
            )  # without it rows that are known by their number would count as prompts
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
        return _rows(pc.is_null(values))
    blank = pc.is_in(pc.utf8_trim_whitespace(values), pa.array(_MISSING))
    return _rows(pc.or_kleene(pc.is_null(values), blank))


def _as_numpy(mask: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """A mask; null is false."""
    mask_of_rows: np.ndarray[Any, np.dtype[np.bool_]] = pc.fill_null(
        mask, False
    ).to_numpy(zero_copy_only=False)
    return mask_of_rows


def _rows(mask: pa.Array) -> list[int]:
    """The rows that a mask marks."""
    return np.flatnonzero(_as_numpy(mask)).tolist()


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
    draws = (
        row.draw if row.draw is not None else {} for row in chunk.rows
    )  # a generation may be missing
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
    for row in _rows(summaries(names)):
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
