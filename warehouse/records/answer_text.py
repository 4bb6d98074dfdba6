r"""Texts: when two answers are the same, and valid Unicode for every store and output.

A name of a file may hold bytes that are no UTF-8, which Python keeps as lone surrogates; they become escapes
(``\udcff`` for the byte 0xff), by which the ledger, JSON and Parquet show such a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

_MINUS = "−"
_NOISE = re.compile(r"[^\w\s]|_")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_DECIMAL = r"(?:\d+\.?\d*|\.\d+)"
_NUMBER = re.compile(
    rf"([+-]?)\s*[$€£]?\s*({_DECIMAL}(?:e[+-]?\d{{1,3}})?)(?:\s*/\s*({_DECIMAL}))?"
)
_LONGEST = 400  # characters of a number


def normalised(text: str) -> str:
    """The text in lower case, without punctuation, with single blanks; numbers keep
    their signs and points.

    >>> normalised(" The answer: -1,234.50 (or 1/2). ")
    'the answer -1234.50 or 1/2'
    """
    plain = _ungrouped(text.lower().replace(_MINUS, "-"))
    return " ".join(_NOISE.sub(_mark, plain).split())


def number_of_text(text: str) -> Fraction | None:
    """The number that a text is (``1,234``, ``18.0``, ``1/2``, ``$-5``), exactly; None
    where it is none.

    >>> number_of_text("1,234.50"), number_of_text("about 7")
    (Fraction(2469, 2), None)
    """
    if len(text) > _LONGEST:
        return None
    match = _NUMBER.fullmatch(_ungrouped(text.strip().lower().replace(_MINUS, "-")))
    if match is None:
        return None
    sign, number, divisor = match.groups()
    value = Fraction(number)
    if divisor:
        below = Fraction(divisor)
        if below == 0:
            return None
        value = value / below
    if sign == "-":
        return -value
    return value


def _ungrouped(text: str) -> str:
    """The text with the commas between thousands taken out."""
    return _GROUPED.sub(lambda found: found.group().replace(",", ""), text)


def _mark(match: re.Match[str]) -> str:
    """The text in place of a punctuation mark: nothing, unless it belongs to a number.

    A blank stands before one that begins a number, so that the number does not grow
    together with a word or number when the marks between them are gone (``x=-5``,
    ``1,.5``).
    """
    mark, start = match.group(), match.start()
    earlier = match.string[max(0, start - 2) : max(0, start - 1)]
    before = match.string[max(0, start - 1) : start]
    after = match.string[match.end() : match.end() + 2]
    number = after[:1].isdigit()
    if mark in "./" and before.isdigit() and number:
        return mark
    if mark == "." and number and not before.isalnum() and before != ".":
        if before == "-" and _may_be_sign(earlier):
            return mark
        return f" {mark}"
    if mark == "-" and _may_be_sign(before):
        if number or (after[:1] in (*".$€£",) and after[1:].isdigit()):
            return f" {mark}"
        return ""
    if before.isdigit() and number:
        return " "
    return ""


def _may_be_sign(before: str) -> bool:
    """Whether a minus is a sign, by the character before it, and no hyphen."""
    return not before.isalnum() and before != "-"


def readable(text: str) -> str:
    """Text that every store takes: bytes that are no UTF-8 become escapes, U+0000
    U+FFFD."""
    fit: str = without_surrogates(text)
    return fit.replace("\0", "\ufffd")


def without_surrogates(value: Any) -> Any:
    """A value with the lone surrogates of all texts in it, keys too, as escapes."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {
            without_surrogates(name): without_surrogates(item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    return value
