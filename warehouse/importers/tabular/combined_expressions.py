"""Expressions that are made of others: lists, objects, the first that is there, equal
values, an element of a list, and what is computed of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.columns import (
    Column,
    Constant,
    Unfit,
    are_text,
    as_list,
    combine,
    decode,
    encode,
    number_of,
)
from warehouse.importers.tabular.expressions import Equality, Source
from warehouse.importers.tabular.field_paths import PathError


@dataclass(frozen=True)
class Parts(Source):
    """The base of expressions over a list of others."""

    parts: tuple[Source, ...]

    def inner(self) -> Iterable[Source]:
        return self.parts

    def rows(self, view: RowView) -> Iterator[tuple[Any, ...]]:
        """The values of all parts, row by row."""
        return zip(
            *(as_list(part.column(view), view.size) for part in self.parts), strict=True
        )


@dataclass(frozen=True)
class Listing(Parts):
    """A list of the values of several expressions."""

    def raw(self, view: RowView) -> Column:
        return [list(row) for row in self.rows(view)]


def _first_known(row: Iterable[Any]) -> Any:
    for value in row:
        if value is not None:
            return value
    return None


def first_unfit(row: Iterable[Any]) -> Unfit | None:
    for value in row:
        if isinstance(value, Unfit):
            return value
    return None


@dataclass(frozen=True)
class First(Parts):
    """The first of several expressions that is not null. Of these alternatives one has
    to be in the file."""

    def raw(self, view: RowView) -> Column:
        columns = [_column_or_nulls(part, view) for part in self.parts]
        rows = zip(*(as_list(column, view.size) for column in columns), strict=True)
        return list(map(_first_known, rows))


def _column_or_nulls(part: Source, view: RowView) -> Column:
    """The values of an alternative; nulls where a table has no such column."""
    try:
        return part.column(view)
    except PathError:
        return Constant(None)


@dataclass(frozen=True)
class Record(Source):
    """An object of the values of several expressions."""

    parts: tuple[tuple[str, Source], ...]

    def raw(self, view: RowView) -> Column:
        encoded = [encode(part.column(view), view.size) for _, part in self.parts]
        codes, rows = combine(encoded, view.size)
        names = [name for name, _ in self.parts]
        unfit = map(first_unfit, rows)
        return decode(
            codes,
            [
                why or dict(zip(names, row, strict=True))
                for why, row in zip(unfit, rows, strict=True)
            ],
        )

    def inner(self) -> Iterable[Source]:
        return (part for _, part in self.parts)


@dataclass(frozen=True)
class Pick(Source):
    """The element of a list that an index (0-based) points to."""

    index: Source
    options: Source

    def raw(self, view: RowView) -> Column:
        indices = as_list(self.index.column(view), view.size)
        options = as_list(self.options.column(view), view.size)
        return [
            _picked(index, row) for index, row in zip(indices, options, strict=True)
        ]

    def inner(self) -> Iterable[Source]:
        return self.index, self.options


@dataclass(frozen=True)
class Equals(Source):
    """1 where two values are equal, else 0; null where one is null. ``among``: the
    first must equal exactly one of these options, else the result is null."""

    pair: tuple[Source, Source]
    equality: Equality = Equality()
    among: Source | None = None

    @property
    def is_computed(self) -> bool:
        return True

    def raw(self, view: RowView) -> Column:
        columns = [part.column(view) for part in self.pair]
        if self.equality == Equality() and self.among is None and are_text(columns):
            return pc.equal(*columns).cast(pa.int64())
        left, right = (as_list(column, view.size) for column in columns)
        if self.among:
            options = as_list(self.among.column(view), view.size)
        else:
            options = [None] * view.size
        return [self._verdict(*row) for row in zip(left, right, options, strict=True)]

    def inner(self) -> Iterable[Source]:
        if self.among:
            return (*self.pair, self.among)
        return self.pair

    def _verdict(self, left: Any, right: Any, options: Any) -> int | None | Unfit:
        unfit = next(
            (value for value in (left, right) if isinstance(value, Unfit)), None
        )
        if unfit is not None or left is None or right is None:
            return unfit
        if options is not None and not isinstance(options, list):
            return Unfit(repr(options)[:60], "a list of options")
        same = self.equality.same
        if options is not None and sum(same(left, option) for option in options) != 1:
            return None
        return int(same(left, right))


def _picked(index: Any, options: Any) -> Any:
    if index is None or options is None:
        return None
    number = number_of(index)
    if not isinstance(options, list) or not isinstance(number, int):
        return Unfit(repr(index)[:60], "the 0-based number of an option")
    if not 0 <= number < len(options):
        return Unfit(
            repr(index)[:60], f"the 0-based number of one of {len(options)} options"
        )
    return options[number]


@dataclass(frozen=True)
class Length(Source):
    """The number of elements of a list or an object."""

    of: Source

    @property
    def is_computed(self) -> bool:
        return True

    def raw(self, view: RowView) -> Column:
        return [_length(value) for value in as_list(self.of.column(view), view.size)]

    def inner(self) -> Iterable[Source]:
        return (self.of,)


def _length(value: Any) -> int | None | Unfit:
    if isinstance(value, list | dict):
        return len(value)
    if value is None or isinstance(value, Unfit):
        return value
    return Unfit(repr(value)[:60], "a list or an object")


# --- arithmetic -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Arithmetic(Parts):
    """The base of what is computed of numbers; null where one of them is."""

    @property
    def is_computed(self) -> bool:
        return True

    def raw(self, view: RowView) -> Column:
        return [self._of_row(row) for row in self.rows(view)]

    def _of_row(self, row: Iterable[Any]) -> int | float | None | Unfit:
        numbers: list[int | float] = []
        is_missing = False
        for value in row:
            number = number_of(value)
            if isinstance(number, Unfit):
                return number
            if number is None:
                is_missing = True
            else:
                numbers.append(number)
        if is_missing:
            return None
        return self.computed(numbers)

    def computed(self, numbers: list[int | float]) -> int | float | None | Unfit:
        """The result, of which no number is missing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Quotient(_Arithmetic):
    """A number divided by another: points earned by those possible.

    Where none could be earned, and none was, there is no score: null. Points out of
    none are a fault of the row.
    """

    def computed(self, numbers: list[int | float]) -> int | float | None | Unfit:
        number, divisor = numbers
        if divisor:
            return number / divisor
        if number:
            expected = "a second number other than 0"
            return Unfit(f"{number!r} / {divisor!r}", expected)
        return None


@dataclass(frozen=True)
class Difference(_Arithmetic):
    """A number less another."""

    def computed(self, numbers: list[int | float]) -> int | float | None | Unfit:
        number, other = numbers
        return number - other


@dataclass(frozen=True)
class Sum(_Arithmetic):
    """Numbers added up: those of several expressions, or of one list."""

    def computed(self, numbers: list[int | float]) -> int | float | None | Unfit:
        return sum(numbers)


@dataclass(frozen=True)
class SumOfList(_Arithmetic):
    """The numbers of a list added up; null where there is none to add."""

    def raw(self, view: RowView) -> Column:
        return [self._of_list(value) for (value,) in self.rows(view)]

    def _of_list(self, value: Any) -> int | float | None | Unfit:
        if value is None or isinstance(value, Unfit):
            return value
        if not isinstance(value, list):
            return Unfit(repr(value)[:60], "a list of numbers")
        if not value:
            return None
        return self._of_row(value)

    def computed(self, numbers: list[int | float]) -> int | float | None | Unfit:
        return sum(numbers)
