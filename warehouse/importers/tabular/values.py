"""Single values: as text, as numbers, as scores."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import orjson

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_TRUTH = {"true": True, "false": False}
_LONG = "an integer of at most 64 bits"


@dataclass(frozen=True)
class Unfit:
    """In place of a value: why there is none. Its row is rejected."""

    found: str
    expected: str


def text_of(value: Any) -> str | None | Unfit:
    """One value as text (``True`` is ``true``, lists and objects are JSON)."""
    if value is None or isinstance(value, str | Unfit):
        return value
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError as error:
        return Unfit(str(value)[:80], f"text or a JSON value ({error})")


def number_of(value: Any) -> int | float | None | Unfit:
    """One value as a number; empty text, NaN and infinities are null."""
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(1 << 63) <= value < (1 << 63) else _too_long(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, Unfit) else _no_number(value)


def double_of(value: Any) -> float | None | Unfit:
    number = number_of(value)
    return float(number) if isinstance(number, int) else number


def integer_of(value: Any) -> int | None | Unfit:
    """One value as a whole number."""
    number = number_of(value)
    if not isinstance(number, float):
        return number
    if not number.is_integer():
        return Unfit(repr(value)[:60], "a whole number")
    whole = int(number)
    return whole if -(1 << 63) <= whole < (1 << 63) else _too_long(value)


def score_of(value: Any) -> tuple[float | None | Unfit, str | None, str | None]:
    """One value as a score: number, its text where that is no number, status of such text."""
    number = number_of(value)
    if isinstance(number, Unfit):
        if isinstance(value, Unfit) or number.expected == _LONG:
            return number, None, None
        return None, _short(value), "not_scalar"
    if number is None:
        return None, _short(value) if value not in (None, "") else None, None
    return float(number), None, None


def _short(value: Any) -> str:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(text_of(value))


def _parsed(text: str) -> int | float | None | Unfit:
    text = text.strip()
    if not text or _NOT_FINITE.fullmatch(text):
        return float(text) if text else None
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if _NUMBER.fullmatch(text) is None or not text.isascii():
        return _no_number(text)
    if text.lstrip("+-").isdigit():
        return int(text) if len(text) < 25 else _too_long(text)
    return float(text)


def _too_long(value: Any) -> Unfit:
    return Unfit(str(value)[:40], _LONG)


def _no_number(value: Any) -> Unfit:
    return Unfit(repr(value)[:80], "a number")
