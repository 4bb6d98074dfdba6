"""Figures as rows of ``metric_value``: computed, without numbers that are none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.families.family import GONE, Settings, Value
from warehouse.errors import WarehouseError
from warehouse.refresh.plan import KEY, Question, StoredValue


def computed(question: Question, settings: Settings) -> Sequence[Value]:
    """The figures; a reason where these data do not allow any."""
    try:
        values = question.family.compute(question.data, question.asked, settings)
    except WarehouseError as error:
        name, kind = question.asked.subject, "question"
        return [Value(kind, name, "", question.family.name, "none", reason=str(error))]
    if not values:
        raise ValueError("no figure and no reason: a family has to say one of them")
    finite = [_finite(value) for value in values]
    for value in finite:
        json.dumps(dict(value.details), allow_nan=False)  # else this question has failed
    return finite


def _finite(value: Value) -> Value:
    """Without numbers that are none."""
    details = {
        name: None if isinstance(detail, float) and not math.isfinite(detail) else detail
        for name, detail in value.details.items()
    }
    value = replace(value, details=details)
    names = ("estimate", "standard_error", "low", "high")
    bad = {name: None for name in names if (number := getattr(value, name)) is not None and not math.isfinite(number)}
    if not bad:
        return value
    reason = "; ".join(filter(None, (value.reason, f"not finite: {', '.join(bad)}")))
    return replace(value, reason=reason, **bad)  # type: ignore[arg-type]


def row_of(question: Question, value: Value) -> dict[str, Any]:
    """The row of a figure, but for the id of its refresh."""
    own = {name: getattr(value, name) for name in value.__dataclass_fields__ if name != "details"}
    numbers = {
        name: None if own[name] is None else float(own[name]) for name in ("estimate", "standard_error", "low", "high")
    }
    return (
        own
        | numbers
        | {
            "benchmark": question.data.benchmark.name,
            "method_version": question.family.version,
            "parameters": value.details,
            "input_fingerprint": question.fingerprint,
        }
    )


def gone_row(value: StoredValue, fingerprint: str) -> dict[str, Any]:
    """The row that says that a stored figure is no longer there."""
    none = dict.fromkeys(("estimate", "standard_error", "low", "high", "n", "n_clusters"))
    names = ("subject_kind", "subject", "benchmark", "metric", "statistic", "method_version")
    return (
        {name: value[name] for name in names}
        | none
        | {
            "method": GONE,
            "reason": "not asked for any more, or its runs are gone",
            "parameters": {},
            "input_fingerprint": fingerprint,
        }
    )


def key_of_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells the figure of a row from others."""
    return tuple(row[name] for name in KEY)
