"""A sample of an Inspect log as parsed JSON."""

from __future__ import annotations

from typing import Any

#: The key of the one score of a sample in the oldest logs; the results name its scorer.
UNNAMED = "88F74D2C"

Sample = dict[str, Any]


def as_sample(value: Any) -> Sample:
    """A sample in its present form; the oldest logs have one ``score``.

    Raises:
        ValueError: it is no sample.
    """
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    if isinstance(value.get("id"), bool) or not isinstance(value.get("id"), (str, int)):
        raise ValueError("no id that is a text or a whole number")
    if "input" not in value:
        raise ValueError("no input")
    if "score" in value and "scores" not in value:
        value["scores"] = {UNNAMED: value["score"]} if value["score"] is not None else {}
    return value
