"""Scores of Inspect: names, numbers and states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.importers.common.json_fields import as_text, part_of
from warehouse.importers.inspect.sample import UNNAMED, Sample

#: What Inspect itself makes of letters and words; N is "no answer".
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

Score = dict[str, Any]


def scores_of(sample: Sample) -> dict[str, Mapping[str, Any]]:
    """The scores of a sample by scorer; what is no score is left out."""
    scores = part_of(sample, "scores")
    return {name: score for name, score in scores.items() if isinstance(score, dict)}


def metric_name(scorer: str, key: str | None) -> str:
    """A metric as the store calls it: the scorer, or ``scorer.key`` for a value in an object."""
    return scorer if key is None else f"{scorer}.{key}"


def values_of(scores: Mapping[str, Mapping[str, Any]], unnamed: str) -> Iterator[tuple[str, Any]]:
    """Metric and value of everything that a sample was scored by.

    Args:
        scores: its scores by scorer.
        unnamed: the scorer whose name the oldest logs do not put beside the score.
    """
    for name, score in scores.items():
        scorer = unnamed if name == UNNAMED else name
        value = score.get("value")
        if isinstance(value, dict):
            yield from ((metric_name(scorer, str(key)), item) for key, item in value.items())
        else:
            yield metric_name(scorer, None), value


def as_score(metric: str, value: Any, state: str | None = None, filter: str = "") -> Score:
    """One score as a row of the store.

    Args:
        metric: its name.
        value: as it stands in the log; ``None`` also for NaN: unscored.
        state: what happened to the sample (``error``, ``limit``, ``refused``), if anything.
        filter: the reducer, for a value of all epochs together.
    """
    number, status, is_mapped = _number(value)
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "metric": metric,
        "filter": filter,
        "value": number,
        "raw": None if value is None or plain else as_text(value),
        "status": status if status == "not_scalar" else state or status,
        "origin": "mapped" if is_mapped else "recorded",
    }


def state_of(sample: Sample) -> str | None:
    """What kept a sample from its natural end, as a status of its scores."""
    if sample.get("error") is not None:
        return "error"
    if sample.get("limit") is not None:
        return "limit"
    return "refused" if stop_reason(sample) == "content_filter" else None


def stop_reason(sample: Sample) -> str | None:
    """Why the model stopped."""
    choices = part_of(sample, "output").get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = first.get("stop_reason") if isinstance(first, dict) else None
    return reason if isinstance(reason, str) else None


def _number(value: Any) -> tuple[float | None, str, bool]:
    """Number and status of a value, and whether the number stands for something else."""
    if value is None:
        return None, "error", False
    if isinstance(value, (bool, int, float)):
        finite = math.isfinite(value)
        return ((float(value) if finite else None), "scored" if finite else "error", value is True or value is False)
    if not isinstance(value, str):
        return None, "not_scalar", False
    known = _LETTERS.get(value, _WORDS.get(value.lower()))
    if known is not None:
        return known, "no_answer" if value == "N" else "scored", True
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (number, "scored", True) if math.isfinite(number) else (None, "not_scalar", False)
