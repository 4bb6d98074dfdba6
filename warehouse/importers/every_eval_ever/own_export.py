"""Files of Every Eval Ever that ``warehouse export`` wrote: every field comes back as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of
from warehouse.importers.common.json_fields import mapping_of, number_or_none
from warehouse.importers.every_eval_ever.lines import read_lines
from warehouse.records import SAMPLE_SCHEMA, SCORE_TYPE, MetricSpec, PublishedScore, Rejection, RunHeader, parse_json

#: Where the export leaves what the format has no field for: a JSON object, as a text.
DETAILS = "eval_warehouse"

Row = dict[str, Any]

_SCORE_FIELDS = frozenset(item.name for item in SCORE_TYPE)


def own_header(document: Mapping[str, Any], place: str) -> RunHeader | None:
    """The header of an exported run; ``None``: written by something else.

    Raises:
        InputError: what the export left was changed to something that is no header.
    """
    stated = mapping_of(document, "eval_library", "additional_details").get(DETAILS)
    if stated is None:
        return None
    try:
        kept = parse_json(stated)
        known = _checked(RunHeader, kept)
        known["suite"], known["tags"] = tuple(kept.get("suite", ())), tuple(kept.get("tags", ()))
        known["metrics"] = tuple(MetricSpec(**_checked(MetricSpec, item)) for item in kept.get("metrics", ()))
        known["published"] = tuple(
            PublishedScore(**_checked(PublishedScore, item)) for item in kept.get("published", ())
        )
        if isinstance(kept.get("started_at"), str):
            known["started_at"] = datetime.fromisoformat(kept["started_at"])
        return RunHeader(**known)
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the details that the export left cannot be read: {error}",
            path=place,
            place=f"eval_library.additional_details.{DETAILS}",
            expected="what warehouse export writes",
            advice="export it again, or remove this field to have it read as of another tool",
        ) from None


def own_rows(path: Path, rejections: list[Rejection]) -> Iterator[Row]:
    """The sample rows of a file. A line that is not as it was exported is recorded."""
    for number, line in enumerate(read_lines(path, rejections), 1):
        try:
            row = _row(line)
            batch_of([row])  # whether its values are of the types of their columns
        except (TypeError, ValueError, AttributeError, InputError, pa.ArrowException) as error:
            expected = f"metadata.{DETAILS} as warehouse export writes it"
            where = f"{path.name} sample {number}"
            rejections.append(Rejection(where, str(error)[:300], expected))
        else:
            yield row


def _row(line: Row) -> Row:
    kept = parse_json(mapping_of(line, "metadata").get(DETAILS, "null"))
    if not isinstance(kept, dict) or not isinstance(kept.get("row"), dict):
        raise ValueError("no details of the export")
    if not isinstance(kept["row"].get("prompt_id"), str):
        raise ValueError("no key of a prompt")
    row = {name: value for name, value in kept["row"].items() if name in SAMPLE_SCHEMA.names}
    scores = _scores(kept.get("score"), mapping_of(line, "evaluation").get("score"))
    if kept.get("again"):  # an earlier line has the prompt and the response
        return {"run": 0, **row, "scores": scores}
    given, output = mapping_of(line, "input"), mapping_of(line, "output")
    texts = output.get("raw") or []
    answers = [item for item in line.get("answer_attribution") or [] if isinstance(item, dict)]
    milliseconds = mapping_of(line, "performance").get("latency_ms")
    generation = (
        {}
        if row.get("draw") == -1
        else {
            "prompt_sent": given.get("formatted"),
            "response": texts[0] if texts else None,
            "extracted_answer": answers[0].get("extracted_value") if answers else None,
            "latency": None if milliseconds is None else milliseconds / 1000,
            "error": line.get("error"),
        }
    )
    return {
        "run": 0,
        "text": given.get("raw"),
        "target": next(iter(given.get("reference") or []), None),
        **generation,
        **row,
        "scores": scores,
    }


def _scores(stated: Any, value: Any) -> list[Row]:
    """The one score of a line; lines of generations without a score have none."""
    if not isinstance(stated, dict):
        return []
    known = {name: item for name, item in stated.items() if name in _SCORE_FIELDS}
    return [{**known, "value": number_or_none(value)}]


def _checked(kind: Any, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a record with values of their types.

    Raises:
        ValueError: one is of another type.
    """
    hints = get_type_hints(kind)
    values = {}
    for item in fields(kind):
        value = stated.get(item.name)
        if value is None or "tuple" in str(hints[item.name]) or item.name == "started_at":
            continue
        if not _fits(value, str(hints[item.name])):
            raise ValueError(f"'{item.name}' is {str(value)[:60]!r}")
        values[item.name] = value
    return values


def _fits(value: Any, hint: str) -> bool:
    if isinstance(value, bool):
        return "bool" in hint
    if isinstance(value, str):
        return "str" in hint or "Literal" in hint
    if isinstance(value, int):
        return "int" in hint or "float" in hint
    if isinstance(value, float):
        return "float" in hint
    return isinstance(value, dict) and "Mapping" in hint
