"""Scores and options of rows as columns of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.chunks import (
    RowView,
)
from warehouse.importers.tabular.columns import (
    Converted,
    Unfit,
    as_list,
    converted_by,
    to_integer,
    to_number,
    to_scores,
    to_text,
)
from warehouse.importers.tabular.combined_expressions import Equals
from warehouse.importers.tabular.expressions import Literal
from warehouse.importers.tabular.mapping_rules import (
    ChoiceRule,
    ScoreRule,
)
from warehouse.records import CHOICE_TYPE, SCORE_STATUSES, SCORE_TYPE


def taken(found: Converted, where: str, faults: Faults) -> pa.Array:
    """The values of a column; the rows that lack one for a reason are noted."""
    for row, unfit in found.faults.items():
        faults.setdefault(row, Unfit(unfit.found, f"{where}: {unfit.expected}"))
    return found.array


Faults = dict[int, Unfit]


def scores_of(view: RowView, rules: Sequence[ScoreRule], faults: Faults) -> pa.Array:
    """The scores of each row.

    Args:
        rules: where the scores stand.
        faults: grows by the rows whose scores cannot be read.
    """
    size = view.size
    count = len(rules)
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
        raw = _without_nulls(to_text(rule.value.raw(view), size).array, rule)
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


def _without_nulls(words: pa.Array, rule: ScoreRule) -> pa.Array:
    """Words that were mapped, but for those that mean that there is nothing."""
    nulls = rule.value.recode.nulls
    if not nulls:
        return words
    distinct = [word for word in pc.unique(words).to_pylist() if word is not None]
    meant = pa.array(list(filter(nulls.holds, distinct)), pa.string())
    return pc.if_else(pc.is_in(words, meant), pa.scalar(None, pa.string()), words)


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
    flat = scores.flatten()
    rows = pc.list_parent_indices(scores)
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
        for at in row_numbers(wrong):
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
        for row in row_numbers(pc.is_null(metrics)):
            faults.setdefault(row, Unfit("no name", f"{rule.metric.where}: a metric"))
    return metrics


def _weights(view: RowView, rule: ScoreRule, faults: Faults) -> pa.Array | None:
    if rule.weight is None:
        return None
    weights = taken(
        to_number(rule.weight.column(view), view.size), rule.weight.where, faults
    )
    for row in row_numbers(pc.invert(pc.greater_equal(pc.fill_null(weights, 0.0), 0))):
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
    if not rule.value.recode.is_mapping and not rule.value.is_computed:
        return None
    return pc.if_else(
        pc.is_valid(value), pa.scalar("mapped"), pa.scalar(None, pa.string())
    )


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


def _as_numpy(mask: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """A mask; null is false."""
    mask_of_rows: np.ndarray[Any, np.dtype[np.bool_]] = pc.fill_null(
        mask, False
    ).to_numpy(zero_copy_only=False)
    return mask_of_rows


def row_numbers(mask: pa.Array) -> list[int]:
    """The rows that a mask marks."""
    return np.flatnonzero(_as_numpy(mask)).tolist()
