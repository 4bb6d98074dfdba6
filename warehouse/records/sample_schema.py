"""The columns of sample batches, and whole numbers that one of them cannot hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

SCORE_STATUSES = ("scored", "no_answer", "error", "limit", "refused", "not_scalar")
SCORE_ORIGINS = ("recorded", "mapped", "implied")

#: One score of one sample.
SCORE_TYPE = pa.struct(
    [
        # name of the metric, e.g. "acc"; with `filter` it names one entry of RunHeader.metrics
        pa.field("metric", pa.string()),
        # filter pipeline of the harness ("" = none)
        pa.field("filter", pa.string()),
        # the number, in the metric's additive unit; null where there is no number (see status)
        pa.field("value", pa.float64()),
        # weight of this value in the benchmark's mean (words, bytes); null means 1
        pa.field("weight", pa.float64()),
        # generations behind the value (a stored pass rate of 10 has 10); null means 1
        pa.field("n_draws", pa.int32()),
        # the value as it stood in the dump, where that differs from the number
        pa.field("raw", pa.string()),
        # one of SCORE_STATUSES; null means: scored if there is a value, else error
        pa.field("status", pa.string()),
        # one of SCORE_ORIGINS; null means recorded
        pa.field("origin", pa.string()),
    ]
)

#: One option of a multiple-choice sample.
CHOICE_TYPE = pa.struct(
    [
        pa.field("choice_index", pa.int32()),  # 0-based
        pa.field("loglikelihood", pa.float64()),  # nats, of the option given the prompt
        pa.field("unconditional_loglikelihood", pa.float64()),  # nats, of the option alone
        pa.field("is_greedy", pa.bool_()),  # greedy decoding gives this option
        pa.field("n_tokens", pa.int32()),
        pa.field("n_bytes", pa.int32()),
        pa.field("is_target", pa.bool_()),  # null = unknown
    ]
)

SAMPLE_SCHEMA = pa.schema(
    [
        # index of the RunHeader in Dump.runs
        pa.field("run", pa.int32()),
        # 0-based place of the item in the data set or dump; equal for all rows of one item
        pa.field("position", pa.int64()),
        # the tool's own id of the prompt, as text; null where it has none
        pa.field("prompt_id", pa.string()),
        # JSON text of what makes the prompt this prompt (document and target, say). The key is
        # sha256 of its canonical form (`content_key`). Null: prompt_id is the key, else position
        pa.field("identity", pa.string()),
        pa.field("text", pa.string()),  # the question, without few-shot examples or template
        pa.field("target", pa.string()),
        pa.field("choices", pa.string()),  # JSON list of option texts
        pa.field("metadata", pa.string()),  # JSON object of all document fields
        # perturbation or prompt format ("" = the headline form); never averaged over
        pa.field("perturbation", pa.string()),
        pa.field("fewshot_draw", pa.string()),  # which draw of few-shot examples ("" = only one)
        pa.field("template", pa.string()),  # template of this row, where it varies inside a run
        # 0-based number of the generation; -1 = a value of all draws together (maj@k);
        # null = 0, or numbered by the loader under `--on-duplicate draws`
        pa.field("draw", pa.int32()),
        pa.field("prompt_sent", pa.string()),  # the prompt as sent to the model
        pa.field("response", pa.string()),  # what the model wrote
        pa.field("extracted_answer", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("latency", pa.float64()),  # seconds
        pa.field("cost", pa.float64()),  # US dollars
        pa.field("error", pa.string()),  # why there is no response
        pa.field("explanation", pa.string()),  # what the grader wrote
        pa.field("scores", pa.list_(SCORE_TYPE)),
        pa.field("choice_scores", pa.list_(CHOICE_TYPE)),
    ]
)


def too_large(value: Any, kind: pa.DataType) -> int | None:
    """The first whole number in a value that its Arrow type cannot hold.

    Args:
        value: of the type, or nearly so; may hold lists and mappings.
        kind: type of the column.

    Returns:
        the number; ``None`` if all fit.
    """
    if pa.types.is_struct(kind):
        parts = value if isinstance(value, Mapping) else {}
        numbers = (too_large(parts.get(field.name), field.type) for field in kind)
    elif pa.types.is_list(kind):
        items = value if isinstance(value, list | tuple) else ()
        numbers = (too_large(item, kind.value_type) for item in items)
    else:
        if not pa.types.is_signed_integer(kind) or not isinstance(value, int):
            return None
        bound = 1 << (kind.bit_width - 1)
        return None if -bound <= value < bound else value
    return next((number for number in numbers if number is not None), None)
