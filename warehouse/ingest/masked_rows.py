"""Rows of a dump without keys and passwords in names and in messages of errors.

Of each column the distinct texts are looked at, since most rows repeat them. Questions,
responses and what else a model was sent or wrote stay as they are
(``docs/reference/rules_ingest.md``).
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from warehouse.records.credentials import masked, masked_name

#: Columns of samples that name something.
_NAMES_OF_SAMPLES = ("perturbation", "fewshot_draw", "template")
_NAMES_OF_SCORES = ("metric", "filter")
_NAMES_OF_VOTES = (
    *("benchmark", "split", "perturbation", "template"),
    *("model_a", "model_b", "scorer", "judge_model", "voter"),
)


def samples_without_credentials(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of samples whose names are masked, and messages of errors: services
    repeat there what they were sent."""
    batch = _with_masked(batch, _NAMES_OF_SAMPLES, masked_name)
    batch = _with_masked(batch, ("error",), masked)
    at = batch.schema.get_field_index("scores")
    if at < 0:
        return batch
    scores = batch.column(at)
    kept = _scores_masked(scores)
    if kept is scores:
        return batch
    return batch.set_column(at, batch.schema.field(at), kept)


def votes_without_credentials(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of votes whose names are masked."""
    return _with_masked(batch, _NAMES_OF_VOTES, masked_name)


def _with_masked(
    batch: pa.RecordBatch, names: tuple[str, ...], mask: Callable[[str], str]
) -> pa.RecordBatch:
    for at, field in enumerate(batch.schema):
        if field.name in names:
            column = batch.column(at)
            kept = _masked_texts(column, mask)
            if kept is not column:
                batch = batch.set_column(at, field, kept)
    return batch


def _scores_masked(scores: pa.ListArray) -> pa.ListArray:
    items = scores.values
    columns = [items.field(at) for at in range(items.type.num_fields)]
    kept = [
        _masked_texts(column, masked_name) if field.name in _NAMES_OF_SCORES else column
        for field, column in zip(items.type, columns, strict=True)
    ]
    if all(new is old for new, old in zip(kept, columns, strict=True)):
        return scores
    structs = pa.StructArray.from_arrays(
        kept, fields=list(items.type), mask=items.is_null()
    )
    return pa.ListArray.from_arrays(
        _offsets(scores), structs, type=scores.type, mask=scores.is_null()
    )


def _offsets(lists: pa.ListArray) -> pa.Array:
    """Where each list begins, without the offset of a slice, beside which no mask may
    stand."""
    if lists.offset:
        return pa.array(lists.offsets.to_pylist(), pa.int32())
    return lists.offsets


def _masked_texts(column: pa.Array, mask: Callable[[str], str]) -> pa.Array:
    """A column of texts, itself where none of them is masked."""
    if column.null_count == len(column):
        return column
    said = column.unique().to_pylist()
    kept = {text: mask(text) for text in said if text is not None}
    if all(text == new for text, new in kept.items()):
        return column
    return pa.array(
        [None if text is None else kept[text] for text in column.to_pylist()],
        column.type,
    )
