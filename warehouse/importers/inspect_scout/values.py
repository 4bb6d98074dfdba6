"""Values of scanners as scores."""

from __future__ import annotations

from typing import Any, NamedTuple

from warehouse.importers.common.json_fields import (
    as_text,
)
from warehouse.records import (
    parse_json,
)
from warehouse.records.credentials import masked

#: Characters that are kept of a value that is a text, and of an error; that an id may
#: have.
LONGEST, LONGEST_ERROR, LONGEST_ID = 10_000, 300, 500


class Value(NamedTuple):
    """A value as the store has it."""

    number: float | None
    raw: str | None
    status: str


def failed_value(error: Any, is_refusal: bool) -> Value:
    message = None
    if error is not None:
        message = masked(whole_text(error)[:LONGEST_ERROR])
    status = "error"
    if is_refusal:
        status = "refused"
    return Value(None, message, status)


def whole_text(content: Any) -> str:
    """The value of a column of another type than is expected, as text."""
    try:
        return as_text(content)
    except TypeError:
        return str(content)


def parsed_value(text: Any) -> Any:
    """A text parsed as JSON; nothing where it is none."""
    if not isinstance(text, str):
        return None
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return None
