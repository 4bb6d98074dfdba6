"""Where the value of a field comes from: expressions of the mapping language.

A :class:`Source` turns the rows of a :class:`RowView` into a column. Its ``recode``
then changes single values (null, pattern, value map, scale …).
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from itertools import chain
from typing import Any

from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.columns import (
    Column,
    Constant,
    Unfit,
    as_list,
    decode,
    encode,
    number_of,
    text_of,
)
from warehouse.importers.tabular.null_words import NO_NULLS, NullWords, null_words
from warehouse.records import parse_json
from warehouse.records.answer_text import normalised, number_of_text
from warehouse.records.canonical_json import sha256_of

#: Numbers with separators of thousands, by their decimal mark.
_GROUPED = {
    mark: re.compile(
        rf"[+-]?[1-9]\d{{0,2}}(?:\{other}\d{{2,3}})*\{other}\d{{3}}(?:\{mark}\d*)?"
    )
    for mark, other in ((",", "."), (".", ","))
}
#: Largest difference of equal numbers, relative to the larger of 1 and the second one.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Equality:
    """How two values are compared."""

    #: as words: lower case, no punctuation, blanks as one. Signs, decimal points and
    #: fraction bars of numbers stay.
    normalise: bool = False
    #: as numbers where both are (``1,234``, ``18.0``, ``1/2``, ``-5``).
    numeric: bool = False
    tolerance: float = TOLERANCE  #: largest difference of equal numbers, relative to the larger of 1 and the second.

    def same(self, left: Any, right: Any) -> bool:
        """True if two values are equal."""
        if self.numeric:
            first = number_in(left)
            second = number_in(right)
            if first is not None and second is not None:
                bound = Fraction(self.tolerance) * max(Fraction(1), abs(second))
                return abs(first - second) <= bound
        return self.form(left) == self.form(right)

    def form(self, value: Any) -> str:
        """The text that is compared."""
        text = str(text_of(value))
        if self.normalise:
            return normalised(text)
        return text


def number_in(value: Any) -> Fraction | None:
    """The number that a value is, exactly; ``None`` where it is none."""
    if isinstance(value, bool):
        return None
    return number_of_text(value if isinstance(value, str) else str(text_of(value)))


@dataclass(frozen=True)
class Recode:
    """Changes to single values, applied in the order of the fields
    (docs/reference/mapping_language.md)."""

    json: bool = False
    null: NullWords | tuple[str, ...] = NO_NULLS  # texts, or texts and numbers
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
        """True if numbers that come out are not those of the file."""
        return bool(self.values) or self.scale != 1 or self.add != 0

    @property
    def nulls(self) -> NullWords:
        """What means null."""
        if isinstance(self.null, NullWords):
            return self.null
        return null_words(self.null)

    def apply(self, value: Any) -> Any:
        """One value, changed; an :class:`Unfit` where it cannot be."""
        if value is None or isinstance(value, Unfit):
            if value is None:
                return self.default
            return value
        if self.null and self.nulls.holds(value):
            return self.default
        for change in (
            self._parse,
            self._cut,
            self._translate,
            self._date,
            self._point,
            self._calculate,
        ):
            value = change(value)
            if value is None or isinstance(value, Unfit):
                if value is None:
                    return self.default
                return value
        if self.sha256:
            return sha256_of(str(text_of(value)))
        return value

    def _parse(self, value: Any) -> Any:
        if not self.json or not isinstance(value, str):
            return value
        try:
            return parse_json(value)
        except ValueError as error:
            printed = _printed_by_python(value)
            if printed is None:
                return Unfit(repr(value)[:60], f"JSON ({error})")
            return printed

    def _cut(self, value: Any) -> Any:
        if self.pattern is None:
            return value
        text = str(text_of(value))
        match = self.pattern.search(text)
        if match is None:
            expected = f"text that matches {self.pattern.pattern!r}"
            if self.default is None:
                return Unfit(repr(text)[:60], expected)
            return None
        if self.pattern.groups:
            group = 1
        else:
            group = 0
        return match.group(group)

    def _translate(self, value: Any) -> Any:
        if not self.values and self.otherwise is None:
            return value
        key = str(text_of(value))
        if key not in self.values and self.otherwise is None:
            known = ", ".join(map(repr, self.values))
            return Unfit(repr(key)[:60], f"one of {known}")
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
        thousands = ","
        if self.decimal == ",":
            thousands = "."
        if thousands in value and not _GROUPED[self.decimal].fullmatch(value.strip()):
            return value  # ``0.9`` among ``0,85`` is not 9
        return value.replace(thousands, "").replace(self.decimal, ".")

    def _calculate(self, value: Any) -> Any:
        if self.scale == 1 and self.add == 0:
            return value
        number = number_of(value)
        if number is None or isinstance(number, Unfit):
            return number
        return number * self.scale + self.add


def _printed_by_python(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or object that Python printed so (``['a', "b's"]``, as frames are
    written to CSV)."""
    if text.strip()[:1] not in ("[", "{"):
        return None
    try:
        literal: Any = literal_eval(text.strip())
        if isinstance(literal, list | dict) and json.dumps(literal, allow_nan=False):
            return literal
        return None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


#: No change.
PLAIN = Recode()


_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def placeholders(text: str) -> list[str]:
    """The names in braces in a text."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def fill_in(text: str, words: Mapping[str, Any]) -> str:
    """The text with words in place of names in braces."""
    return _PLACEHOLDER.sub(lambda found: str(text_of(words[found[1]])), text)


@dataclass(frozen=True)
class Source(ABC):
    """One expression. ``where`` is its place in the mapping, for messages; ``optional``
    says that its paths may be absent from the file."""

    where: str
    recode: Recode = field(default=PLAIN, kw_only=True)
    optional: bool = field(default=False, kw_only=True)

    @property
    def is_computed(self) -> bool:
        """True if what comes out is computed, and stands nowhere in the file."""
        return self.recode.is_mapping

    @abstractmethod
    def raw(self, view: RowView) -> Column:
        """The values before they are changed."""

    def inner(self) -> Iterable[Source]:
        """The expressions that this one is made of."""
        return ()

    def leaves(self) -> Iterator[Source]:
        """The innermost expressions that this one is made of; itself where it is made
        of none."""
        parts = tuple(self.inner())
        if not parts:
            yield self
        for part in parts:
            yield from part.leaves()

    def paths(self) -> Iterator[str]:
        """Field paths that the expression reads."""
        return chain.from_iterable(source.paths() for source in self.inner())

    def groups(self) -> Iterator[str]:
        """Groups of the path pattern that the expression reads."""
        return chain.from_iterable(source.groups() for source in self.inner())

    def column(self, view: RowView) -> Column:
        """The values, one per row of the view."""
        raw = self.raw(view)
        if self.recode is PLAIN:
            return raw
        codes, values = encode(raw, view.size)
        return decode(codes, [self.recode.apply(value) for value in values])


@dataclass(frozen=True)
class Literal(Source):
    """A constant of the mapping."""

    value: Any

    def raw(self, view: RowView) -> Column:
        return Constant(self.value)


@dataclass(frozen=True)
class At(Source):
    """The value at a field path."""

    path: str

    def raw(self, view: RowView) -> Column:
        if self.optional and not view.holds(self.path):
            return Constant(None)
        return view.column(self.path)

    def paths(self) -> Iterator[str]:
        return iter((self.path,))


@dataclass(frozen=True)
class PathGroup(Source):
    """A named group of the path pattern."""

    name: str

    def raw(self, view: RowView) -> Column:
        return Constant(view.groups.get(self.name))

    def groups(self) -> Iterator[str]:
        return iter((self.name,))


@dataclass(frozen=True)
class TextTemplate(Source):
    """Text with ``{name}`` for groups of the path pattern and for field paths."""

    text: str
    path_groups: frozenset[str]  # all of the pattern

    def raw(self, view: RowView) -> Column:
        names = placeholders(self.text)
        columns = [as_list(self._part(view, name), view.size) for name in names]
        if not any(self.paths()):
            return Constant(self._filled(names, [column[0] for column in columns]))
        return [self._filled(names, row) for row in zip(*columns, strict=True)]

    def paths(self) -> Iterator[str]:
        return (
            name for name in placeholders(self.text) if name not in self.path_groups
        )

    def groups(self) -> Iterator[str]:
        return (name for name in placeholders(self.text) if name in self.path_groups)

    def _part(self, view: RowView, name: str) -> Column:
        if name in self.path_groups:
            return Constant(view.groups.get(name))
        if self.optional and not view.holds(name):
            return Constant(None)
        return view.column(name)

    def _filled(self, names: Sequence[str], words: Sequence[Any]) -> str | None:
        if None in words:
            return None
        return fill_in(self.text, dict(zip(names, words, strict=True)))
