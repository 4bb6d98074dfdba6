"""What an expression does to each value, and when two answers are the same: as text, as words without
punctuation, as numbers."""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.values import Unfit, number_of, text_of
from warehouse.records import parse_json
from warehouse.records.answer_text import normalised, number_of_text
from warehouse.records.hashing import sha256_of

#: Largest difference of equal numbers, relative to the larger of 1 and the second one.
TOLERANCE = 1e-9


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


def number_in(value: Any) -> Fraction | None:
    """The number that a value is, exactly; ``None`` where it is none."""
    return None if isinstance(value, bool) else number_of_text(value if isinstance(value, str) else str(text_of(value)))


@dataclass(frozen=True)
class Recode:
    """Changes to single values, applied in the order of the fields (docs/mappings.md)."""

    json: bool = False
    null: tuple[str, ...] = ()
    pattern: Pattern | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    otherwise: Any = None
    format: str = ""
    decimal: str = ""
    scale: float | int = 1
    add: float | int = 0
    sha256: bool = False
    default: Any = None

    @property
    def is_mapping(self) -> bool:
        """Whether numbers that come out are not those of the file."""
        return bool(self.values) or self.scale != 1 or self.add != 0

    def apply(self, value: Any) -> Any:
        """One value, changed; an :class:`Unfit` where it cannot be."""
        if value is None or isinstance(value, Unfit):
            return self.default if value is None else value
        if self.null and text_of(value) in self.null:
            return self.default
        for change in (self._parse, self._cut, self._translate, self._date, self._point, self._calculate):
            value = change(value)
            if value is None or isinstance(value, Unfit):
                return self.default if value is None else value
        return sha256_of(str(text_of(value))) if self.sha256 else value

    def _parse(self, value: Any) -> Any:
        if not self.json or not isinstance(value, str):
            return value
        try:
            return parse_json(value)
        except ValueError as error:
            printed = _printed_by_python(value)
            return Unfit(repr(value)[:60], f"JSON ({error})") if printed is None else printed

    def _cut(self, value: Any) -> Any:
        if self.pattern is None:
            return value
        text = str(text_of(value))
        match = self.pattern.search(text)
        if match is None:
            wanted = f"text that matches {self.pattern.pattern!r}"
            return Unfit(repr(text)[:60], wanted) if self.default is None else None
        return match.group(1 if self.pattern.groups else 0)

    def _translate(self, value: Any) -> Any:
        if not self.values and self.otherwise is None:
            return value
        key = str(text_of(value))
        if key not in self.values and self.otherwise is None:
            return Unfit(repr(key)[:60], f"one of {', '.join(map(repr, self.values))}")
        return self.values.get(key, self.otherwise)

    def _date(self, value: Any) -> Any:
        if not self.format:
            return value
        try:
            return datetime.strptime(str(value), self.format)
        except ValueError:
            return Unfit(repr(value)[:60], f"a time written as {self.format!r}")

    def _point(self, value: Any) -> Any:
        """A number as text with a decimal point, whatever stood there."""
        if not self.decimal or not isinstance(value, str):
            return value
        thousands = "." if self.decimal == "," else ","
        return value.replace(thousands, "").replace(self.decimal, ".")

    def _calculate(self, value: Any) -> Any:
        if self.scale == 1 and self.add == 0:
            return value
        number = number_of(value)
        if number is None or isinstance(number, Unfit):
            return number
        return number * self.scale + self.add


def _printed_by_python(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or object that Python printed so (``['a', "b's"]``, as frames are written to CSV)."""
    if text.strip()[:1] not in ("[", "{"):
        return None
    try:
        literal: Any = literal_eval(text.strip())
        return literal if isinstance(literal, list | dict) and json.dumps(literal, allow_nan=False) else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


#: No change.
PLAIN = Recode()
