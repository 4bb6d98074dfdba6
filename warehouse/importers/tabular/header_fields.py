"""Values of header fields: of the right type, or why not; whether two of them agree."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, get_args

from warehouse.importers.common.model_names import same_model
from warehouse.importers.tabular.values import Unfit, integer_of, number_of, text_of
from warehouse.records import RunHeader, RunStatus

_TYPES = {item.name: str(item.type) for item in fields(RunHeader)}
#: Fields that are compared as names of models are.
_NAMES = frozenset({"model", "base_checkpoint", "opponent"})


def agree(name: str, first: Any, second: Any) -> bool:
    """Whether two sources of a header field say the same, or one says nothing."""
    one, two = header_value(name, first), header_value(name, second)
    if one is None or two is None or isinstance(one, Unfit) or isinstance(two, Unfit):
        return True
    if name in _NAMES:
        return same_model(str(one), str(two))
    return bool(one == two)


def header_value(name: str, value: Any) -> Any:
    """A value of the type of a header field, or an :class:`Unfit`."""
    if value is None or isinstance(value, Unfit):
        return value
    kind = _TYPES[name]
    if kind.startswith("Mapping"):
        return value if isinstance(value, dict) else Unfit(repr(value)[:60], "an object")
    if kind.startswith("tuple"):
        parts = value if isinstance(value, list | tuple) else [value]
        unfit = next((part for part in parts if isinstance(part, Unfit)), None)
        return unfit or tuple(str(text_of(part)) for part in parts if part is not None)
    if kind.startswith("datetime"):
        return _time_of(value)
    return _scalar(kind.removesuffix(" | None"), value)


def _scalar(kind: str, value: Any) -> Any:
    if kind == "int":
        return integer_of(value)
    if kind == "float":
        number = number_of(value)
        return float(number) if isinstance(number, int) else number
    if kind == "bool":
        number = number_of(value)
        return bool(number) if number in (0, 1) else Unfit(repr(value)[:60], "true or false")
    if kind == "RunStatus" and value not in get_args(RunStatus):
        return Unfit(repr(value)[:60], f"one of {', '.join(get_args(RunStatus))}")
    return text_of(value)


def _time_of(value: Any) -> datetime | Unfit:
    number = number_of(value) if not isinstance(value, datetime) else None
    try:
        if isinstance(number, int | float):
            return datetime.fromtimestamp(number, UTC).replace(tzinfo=None)
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        wanted = "a time in ISO 8601 or Unix seconds (or give its `format`)"
        return Unfit(repr(value)[:60], wanted)
