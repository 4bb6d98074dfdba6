"""When two answers are the same: as text, as words without punctuation, as numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from warehouse.importers.tabular.values import text_of

#: Largest difference of equal numbers, relative to the larger of 1 and the second one.
TOLERANCE = 1e-9
_MINUS = "−"
_NOISE = re.compile(r"[^\w\s]|_")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_DECIMAL = r"(?:\d+\.?\d*|\.\d+)"
_NUMBER = re.compile(rf"([+-]?)\s*[$€£]?\s*({_DECIMAL}(?:e[+-]?\d{{1,3}})?)(?:\s*/\s*({_DECIMAL}))?")
_LONGEST = 400  # characters of a number


@dataclass(frozen=True)
class Equality:
    """How two values are compared.

    Attributes:
        normalise: as words: lower case, no punctuation, blanks as one. Signs, decimal points and
            fraction bars of numbers stay.
        numeric: as numbers where both are (``1,234``, ``18.0``, ``1/2``, ``-5``).
        tolerance: largest difference of equal numbers, relative to the larger of 1 and the second.
    """

    normalise: bool = False
    numeric: bool = False
    tolerance: float = TOLERANCE

    def same(self, left: Any, right: Any) -> bool:
        """Whether two values are equal."""
        if self.numeric:
            first, second = number_in(left), number_in(right)
            if first is not None and second is not None:
                bound = Fraction(self.tolerance) * max(Fraction(1), abs(second))
                return abs(first - second) <= bound
        return self.form(left) == self.form(right)

    def form(self, value: Any) -> str:
        """The text that is compared."""
        text = str(text_of(value))
        return normalised(text) if self.normalise else text


def normalised(text: str) -> str:
    """The text in lower case, without punctuation, blanks as one; numbers keep what tells them.

    >>> normalised(" The answer: -1,234.50 (or 1/2). ")
    'the answer -1234.50 or 1/2'
    """
    plain = _ungrouped(text.lower().replace(_MINUS, "-"))
    return " ".join(_NOISE.sub(_mark, plain).split())


def number_in(value: Any) -> Fraction | None:
    """The number that a value is, exactly; ``None`` where it is none."""
    if isinstance(value, bool):
        return None
    text = value if isinstance(value, str) else str(text_of(value))
    if len(text) > _LONGEST:
        return None
    found = _NUMBER.fullmatch(_ungrouped(text.strip().lower().replace(_MINUS, "-")))
    if found is None:
        return None
    sign, number, divisor = found.groups()
    below = Fraction(divisor) if divisor else Fraction(1)
    if below == 0:
        return None
    return Fraction(number) / below * (-1 if sign == "-" else 1)


def _ungrouped(text: str) -> str:
    """The text with the commas between thousands taken out."""
    return _GROUPED.sub(lambda found: found.group().replace(",", ""), text)


def _mark(found: re.Match[str]) -> str:
    """What becomes of a punctuation mark: nothing, unless it belongs to a number."""
    mark, before = found.group(), found.string[: found.start()][-1:]
    after = found.string[found.end() : found.end() + 2]
    number = after[:1].isdigit()
    if mark in "./" and before.isdigit() and number:
        return mark
    if mark == "." and number and not before.isalnum() and before != ".":
        return mark
    if mark == "-" and not before.isalnum() and before != "-":
        return mark if number or (after[:1] in (*".$€£",) and after[1:].isdigit()) else ""
    return " " if before.isdigit() and number else ""
