"""Answers as JSON for programs: the same bytes from a command, a page and a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

from warehouse.records.answer_text import without_surrogates

#: What JSON may hold as it is, and a terminal obeys: control characters beyond those of ASCII, marks of direction.
_STEERS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def json_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, lines: bool = False) -> Iterator[str]:
    """Parts of an array of objects, one on each line; NaN is null, times are ISO 8601.

    Args:
        columns: in this order.
        rows: a value for each of them.
        lines: the objects alone, without the array around them (JSON lines).
    """
    first, between, last = ("", "\n", "\n") if lines else ("[\n", ",\n", "\n]\n")
    lead = first
    for row in rows:
        text = json_text({name: row[name] for name in columns})
        yield f"{lead}{text}"
        lead = between
    if lead is between:
        yield last
    elif not lines:
        yield "[]\n"


def columns_of(kind: type) -> list[str]:
    """Columns of records of a dataclass: its own, or its fields."""
    return [*kind.columns()] if hasattr(kind, "columns") else [item.name for item in fields(kind)]


def records_as_json(kind: type, records: Iterable[Any]) -> str:
    """Records of a dataclass as a command's ``--json`` has them."""
    columns = columns_of(kind)
    return "".join(json_rows(columns, ({name: getattr(record, name) for name in columns} for record in records)))


def json_text(value: Any) -> str:
    """A value as JSON on one line, with nothing that a terminal obeys."""
    import orjson

    try:
        text = orjson.dumps(value, default=_without_json_form)
    except TypeError:  # a text with bytes that are no UTF-8, such as a file's name
        text = orjson.dumps(without_surrogates(value), default=_without_json_form)
    return _STEERS.sub(_escape, text.decode())


def _escape(steering: re.Match[str]) -> str:
    return f"\\u{ord(steering.group()):04x}"


def _without_json_form(value: Any) -> Any:
    """What JSON has no form for."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and abs(value) < 2**63
        return int(value) if whole else float(value)
    return str(value)
