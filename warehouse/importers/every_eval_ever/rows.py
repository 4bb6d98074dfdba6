"""Samples of Every Eval Ever as sample rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.importers.common.json_fields import (
    as_text,
    compact,
    mapping_of,
    number_or_none,
    objects_of,
    text_or_none,
    whole_count,
)
from warehouse.importers.every_eval_ever.lines import Row, read_lines
from warehouse.records import Rejection

if TYPE_CHECKING:
    from warehouse.importers.every_eval_ever.evaluation import Evaluation


def foreign_rows(evaluation: Evaluation, path: Path, rejections: list[Rejection]) -> Iterator[Row]:
    """The samples of a file. What is wrong with one is recorded."""
    for number, line in enumerate(read_lines(path, rejections), 1):
        try:
            yield from _rows(evaluation, line)
        except (TypeError, ValueError) as error:
            where = f"{path.name} sample {number}"
            expected = "input, output or messages, and evaluation"
            rejections.append(Rejection(where, str(error)[:300], expected))


def _rows(evaluation: Evaluation, line: Row) -> list[Row]:
    run, metric, filter_name = evaluation.entry_of(line)
    number = str(line["sample_id"])
    place = evaluation.positions.setdefault((run, number), len(evaluation.positions))
    score = {"metric": metric, "filter": filter_name, **_value(line)}
    prompt = {"run": run, "position": place, "prompt_id": number, **_prompt(line)}
    draws = _draws(line)
    stated = _epoch(line)
    if len(draws) == 1:
        return [{**prompt, "draw": stated or 0, **draws[0], "scores": [score]}]
    rows = [{**prompt, "draw": draw, **answer} for draw, answer in enumerate(draws)]
    return [*rows, {**prompt, "draw": -1, "scores": [score]}]


def _value(line: Row) -> Row:
    stated = mapping_of(line, "evaluation")
    if "score" not in stated:
        raise ValueError("no evaluation with a score")
    number = number_or_none(stated["score"])
    if number is not None:
        return {"value": number}
    raw = None if stated["score"] is None else as_text(stated["score"])
    return {"status": "error" if raw is None else "not_scalar", "raw": raw}


def _prompt(line: Row) -> Row:
    given = mapping_of(line, "input")
    if not isinstance(given.get("raw"), str):
        raise ValueError("no input with a text")
    references = given.get("reference")
    listed = references if isinstance(references, list) else [references]
    golds = [as_text(item) for item in listed if item is not None]
    options = given.get("choices")
    choices = [as_text(item) for item in options] if isinstance(options, list) else []
    details = mapping_of(line, "metadata")
    return {
        "identity": compact({"input": given["raw"], "choices": sorted(choices), "target": golds}),
        "text": given["raw"],
        "target": golds[0] if len(golds) == 1 else (compact(golds) if golds else None),
        "choices": compact(choices) if choices else None,
        "metadata": compact(details) if details else None,
    }


def _draws(line: Row) -> list[Row]:
    """What the model wrote: one row for each text."""
    common = _circumstances(line)
    output = line.get("output")
    raw = output.get("raw") if isinstance(output, dict) else None
    texts = raw if isinstance(raw, list) else [raw]
    sent = mapping_of(line, "input").get("formatted")
    if not isinstance(output, dict):
        sent, texts = _conversation(line)
    common["prompt_sent"] = sent if isinstance(sent, str) else None
    draws = [{"response": None if text is None else as_text(text)} for text in texts] or [{}]
    if len(draws) == 1:
        return [{**common, **draws[0]}]
    shared = {"prompt_sent": common["prompt_sent"]}  # counts are of all texts together
    return [{**shared, **item} for item in draws]


def _conversation(line: Row) -> tuple[str | None, list[Any]]:
    """What was said before the last answer, and that answer."""
    messages = line.get("messages", line.get("interactions"))
    listed = objects_of(messages)
    answers = [place for place, item in enumerate(listed) if item.get("role") == "assistant"]
    if not answers:
        return (compact(listed) if listed else None), [None]
    last = listed[answers[-1]]
    answer = last.get("content")
    if answer is None and last.get("tool_calls"):
        answer = compact(last["tool_calls"])
    return compact(listed[: answers[-1]]), [answer]


def _circumstances(line: Row) -> Row:
    usage, performance = mapping_of(line, "token_usage"), mapping_of(line, "performance")
    listed = line.get("answer_attribution")
    attributions = objects_of(listed)
    answers = [item for item in attributions if item.get("is_terminal") is not False] or attributions
    times = (number_or_none(performance.get(key)) for key in ("latency_ms", "generation_time_ms"))
    milliseconds = next((value for value in times if value is not None), None)
    answer = answers[-1].get("extracted_value") if answers else None
    return {
        "extracted_answer": answer if isinstance(answer, str) else None,
        "input_tokens": whole_count(usage.get("input_tokens")),
        "output_tokens": whole_count(usage.get("output_tokens")),
        "latency": None if milliseconds is None else milliseconds / 1000,
        "error": text_or_none(line.get("error")),
    }


def _epoch(line: Mapping[str, Any]) -> int | None:
    """Which repeat it is, where a converter left that among the details; they count from 1."""
    stated = str(mapping_of(line, "metadata").get("epoch", ""))
    return int(stated) - 1 if stated.isdecimal() and 0 < int(stated[:9]) < 1 << 30 else None
