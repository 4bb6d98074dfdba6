"""Predictions and details of OpenCompass as sample rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from warehouse.importers.common.batches import ODD_VALUES, batches_of
from warehouse.importers.common.json_fields import as_text, compact, whole_count
from warehouse.importers.opencompass.files import Row, Work
from warehouse.importers.opencompass.header import headline, verdict

_LABEL = "label: "
_HUMAN = ("HUMAN", "user")


def batches(work: Work) -> Iterator[pa.RecordBatch]:
    """All rows. Index i of the predictions is sample i modulo the size of the data set."""
    total = max(len(work.predictions), len(work.details) * work.repeats)
    if total % work.repeats:
        work.notes.append(f"{total} predictions are no multiple of {work.repeats} repeats")
    size = len(work.details) or -(-total // work.repeats)
    metric = headline(work)

    def rows_of(number: int) -> Iterator[Row]:
        draw, sample = divmod(number, size)
        prediction = work.predictions[number] if number < len(work.predictions) else {}
        several = work.details[sample] if sample < len(work.details) else []
        detail = several[draw] if draw < len(several) else {}
        if prediction or detail:
            row = _row(prediction, detail, str(sample))
            yield {"run": 0, "position": sample, "draw": draw, **row, "scores": _scores(detail, metric)}

    items = ((f"{work.dataset} prediction {number}", number) for number in range(total))
    return batches_of(items, rows_of, work.rejections, "a prediction as OpenCompass writes it", ODD_VALUES)


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


def _row(prediction: Row, detail: Row, number: str) -> Row:
    sent = prediction.get("origin_prompt", prediction.get("prompt", detail.get("prompt")))
    labels = [key.removeprefix(_LABEL) for key in prediction if key.startswith(_LABEL)]
    gold = prediction.get("gold", detail.get("answer", detail.get("references")))
    options = prediction.get("choices") if isinstance(prediction.get("choices"), list) else labels or None
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
        "input_tokens": whole_count(prediction.get("all_input_length")),
        "output_tokens": whole_count(prediction.get("res_length")),
        **_answer(prediction, detail, labels),
    }


def _answer(prediction: Row, detail: Row, labels: list[str]) -> Row:
    """What the model wrote, and what was taken from it."""
    postprocessed = detail.get("pred", detail.get("predictions"))
    extracted = None if postprocessed is None else as_text(postprocessed)
    if labels:
        asked = {label: prediction[_LABEL + label] for label in labels}
        likelihoods = {label: item.get("PPL") for label, item in asked.items() if isinstance(item, dict)}
        chosen = prediction.get("prediction")
        return {
            "response": compact({"PPL": likelihoods}),
            "extracted_answer": extracted if chosen is None else as_text(chosen),
        }
    if "pred_label" in prediction:
        place, options = prediction["pred_label"], prediction.get("choices")
        known = isinstance(options, list) and type(place) is int and 0 <= place < len(options)
        chosen = options[place] if known and isinstance(options, list) else place
        return {
            "response": compact({"probabilities": prediction.get("prediction")}),
            "extracted_answer": as_text(chosen),
        }
    response = prediction.get("prediction", detail.get("origin_prediction"))
    text = None if response is None else as_text(response)
    return {"response": text, "extracted_answer": extracted if extracted != text else None}


def _question(sent: Any) -> str | None:
    """What was asked last: of messages, the last one of the user."""
    if not isinstance(sent, list):
        return None if sent is None else as_text(sent)
    asked = [item for item in sent if isinstance(item, dict) and item.get("role") in _HUMAN]
    last = asked[-1].get("prompt", asked[-1].get("content")) if asked else sent
    return as_text(last)
