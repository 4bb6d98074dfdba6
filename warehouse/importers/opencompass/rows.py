"""Predictions and details of OpenCompass as sample rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from warehouse.importers.base import batch_of
from warehouse.importers.common.json_fields import as_text, compact, whole_count
from warehouse.importers.opencompass.files import Row, Work
from warehouse.importers.opencompass.header import headline, verdict
from warehouse.records import Rejection

BATCH_ROWS = 1000
_LABEL = "label: "
_HUMAN = ("HUMAN", "user")


def batches(work: Work) -> Iterator[pa.RecordBatch]:
    """All rows. Index i of the predictions is sample i modulo the size of the data set."""
    total = max(len(work.predictions), len(work.details) * work.repeats)
    if total % work.repeats:
        work.notes.append(f"{total} predictions are no multiple of {work.repeats} repeats")
    size = len(work.details) or -(-total // work.repeats)
    metric = headline(work)
    held: list[Row] = []
    for place in range(total):
        draw, sample = divmod(place, size)
        said = work.predictions[place] if place < len(work.predictions) else {}
        several = work.details[sample] if sample < len(work.details) else []
        detail = several[draw] if draw < len(several) else {}
        try:
            if said or detail:
                held.append(
                    {
                        "run": 0,
                        "position": sample,
                        "draw": draw,
                        **_row(said, detail, str(sample)),
                        "scores": _scores(detail, metric),
                    }
                )
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            where = f"{work.dataset} prediction {place}"
            expected = "a prediction as OpenCompass writes it"
            work.rejections.append(Rejection(where, str(error)[:300], expected))
        if len(held) >= BATCH_ROWS:
            yield batch_of(held)
            held = []
    if held:
        yield batch_of(held)


def _scores(detail: Row, metric: str) -> list[Row]:
    if not detail or not metric:
        return []
    value = verdict(detail)
    return [
        {
            "metric": metric,
            "value": None if value is None else float(value),
            "status": "error" if value is None else None,
        }
    ]


def _row(said: Row, detail: Row, number: str) -> Row:
    sent = said.get("origin_prompt", said.get("prompt", detail.get("prompt")))
    labels = [key.removeprefix(_LABEL) for key in said if key.startswith(_LABEL)]
    gold = said.get("gold", detail.get("answer", detail.get("references")))
    options = said.get("choices") if isinstance(said.get("choices"), list) else labels or None
    name = detail.get("example_abbr")
    abbreviation = name if isinstance(name, str) and name else number
    text = _question(sent)
    target = None if gold is None else as_text(gold)
    identity = {"prompt": sent, "gold": target, "options": options}
    return {
        "prompt_id": abbreviation,
        "identity": compact(identity) if sent is not None else None,
        "text": text,
        "target": target,
        "choices": compact(options) if options else None,
        "prompt_sent": None if sent is None else as_text(sent),
        "input_tokens": whole_count(said.get("all_input_length")),
        "output_tokens": whole_count(said.get("res_length")),
        **_answer(said, detail, labels),
    }


def _answer(said: Row, detail: Row, labels: list[str]) -> Row:
    """What the model wrote, and what was taken from it."""
    found = detail.get("pred", detail.get("predictions"))
    extracted = None if found is None else as_text(found)
    if labels:
        asked = {label: said[_LABEL + label] for label in labels}
        likelihoods = {label: item.get("PPL") for label, item in asked.items() if isinstance(item, dict)}
        chosen = said.get("prediction")
        return {
            "response": compact({"PPL": likelihoods}),
            "extracted_answer": extracted if chosen is None else as_text(chosen),
        }
    if "pred_label" in said:
        place, options = said["pred_label"], said.get("choices")
        known = isinstance(options, list) and type(place) is int and 0 <= place < len(options)
        chosen = options[place] if known and isinstance(options, list) else place
        return {"response": compact({"probabilities": said.get("prediction")}), "extracted_answer": as_text(chosen)}
    response = said.get("prediction", detail.get("origin_prediction"))
    text = None if response is None else as_text(response)
    return {"response": text, "extracted_answer": extracted if extracted != text else None}


def _question(sent: Any) -> str | None:
    """What was asked last: of messages, the last one of the user."""
    if not isinstance(sent, list):
        return None if sent is None else as_text(sent)
    asked = [item for item in sent if isinstance(item, dict) and item.get("role") in _HUMAN]
    last = asked[-1].get("prompt", asked[-1].get("content")) if asked else sent
    return as_text(last)
