"""Samples of simple-evals as rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from warehouse.importers.common.batches import batches_of
from warehouse.importers.common.chat_messages import content_of
from warehouse.importers.common.json_fields import Row, as_text, compact, part_of, text_or_none, whole_count
from warehouse.importers.simple_evals.header import SCORE
from warehouse.importers.simple_evals.results import SYSTEM, Results, Sample

#: Evaluations whose answers are letters: an answer "None" means that there was none.
_LETTERS = ("mmlu", "gpqa")
_OWN_PLACE = ("score", "usage", "rubric_items", "prompt", "completion", "prompt_id", "completion_id")


def batches(results: Results) -> Iterator[pa.RecordBatch]:
    """All rows."""
    samples = results.samples  # what is wrong with the lists is told before anything is read
    if samples and not results.is_scored:
        results.notes.append("no sample has a score that can be read: responses without scores")
    items = ((f"{results.files[0].name} sample {place}", (place, sample)) for place, sample in enumerate(samples))
    return batches_of(items, partial(_rows, results), results.rejections, "a sample as simple-evals writes it")


def _rows(results: Results, item: tuple[int, Sample]) -> Iterator[Row]:
    place, sample = item
    draw, position = divmod(place, results.size)
    usage = part_of(sample.known, "usage")
    number = text_or_none(sample.known.get("prompt_id"))
    other = {name: value for name, value in sample.known.items() if name not in _OWN_PLACE}
    rubric = sample.known.get("rubric_items")
    answer = sample.page.get("answer")
    unread = results.evaluation in _LETTERS and answer == "None"
    last = sample.messages[-1].get("content") if sample.is_answered else None
    yield {
        "run": 0,
        "position": position,
        "draw": draw,
        "prompt_id": number,
        "identity": None if number else compact({"messages": sample.key}),
        "text": _question(sample),
        "target": sample.page.get("target"),
        "metadata": compact(other) if other else None,
        "prompt_sent": compact(content_of(sample.prompt)) if sample.prompt else None,
        "response": None if last is None else as_text(last),
        "extracted_answer": None if unread else answer,
        "input_tokens": whole_count(usage.get("input_tokens")),
        "output_tokens": whole_count(usage.get("output_tokens")),
        "explanation": compact(rubric) if rubric else None,
        "scores": [_score(sample, unread)] if results.is_scored else [],
    }


def _question(sample: Sample) -> str | None:
    """What was asked last."""
    asked = [item for item in sample.prompt if item.get("role") == "user"] or [
        item for item in sample.prompt if item.get("role") not in SYSTEM
    ]
    return as_text(asked[-1].get("content", "")) if asked else None


def _score(sample: Sample, unread: bool) -> Row:
    value = sample.score
    status = "error" if value is None else "no_answer" if unread and not value else None
    return {"metric": SCORE, "value": value, "status": status}
