"""Changes to single values that an expression of the mapping asks for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from warehouse.importers.tabular_values import Unfit, number_of, text_of
from warehouse.records import parse_json


@dataclass(frozen=True)
class Recode:
    """Changes to single values, applied in the order of the fields (docs/mappings.md)."""

    json: bool = False
    null: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
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
        for change in (
            self._parse, self._cut, self._translate, self._date, self._point, self._calculate
        ):  # fmt: skip
            value = change(value)
            if value is None or isinstance(value, Unfit):
                return self.default if value is None else value
        return hashlib.sha256(str(text_of(value)).encode()).hexdigest() if self.sha256 else value

    def _parse(self, value: Any) -> Any:
        if not self.json or not isinstance(value, str):
            return value
        try:
            return parse_json(value)
        except ValueError as error:
            return Unfit(repr(value)[:60], f"JSON ({error})")

    def _cut(self, value: Any) -> Any:
        if self.pattern is None:
            return value
        text = str(text_of(value))
        found = self.pattern.search(text)
        if found is None:
            wanted = f"text that matches {self.pattern.pattern!r}"
            return Unfit(repr(text)[:60], wanted) if self.default is None else None
        return found.group(1 if self.pattern.groups else 0)

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


#: No change.
PLAIN = Recode()
