"""A likelihood and whether it was the greedy one, as harnesses write them."""

from __future__ import annotations

from typing import Any

from warehouse.importers.common.json_fields import compact, number_or_none

_FLAGS = {"True": True, "False": False}


def response_pair(response: Any) -> tuple[float | None, bool | None]:
    """Log-likelihood and "this is what greedy decoding gives" of one response."""
    number, greedy = response if isinstance(response, list) and len(response) == 2 else (response, None)
    return _number(number), _FLAGS.get(str(greedy))


def _number(text: Any) -> float | None:
    try:
        return number_or_none(float(text))
    except (TypeError, ValueError):
        return None


def paired_value(value: Any) -> dict[str, Any]:
    """(log-likelihood, n) as nats per word or byte, weighted by n."""
    if value is None:
        return {"status": "error"}
    parts = value if isinstance(value, list) and len(value) == 2 else [None, None]
    total, count = number_or_none(parts[0]), number_or_none(parts[1])
    if total is None or not count:
        return {"status": "not_scalar", "raw": compact(value)}
    return {"value": total / count, "weight": count, "raw": compact(value)}
