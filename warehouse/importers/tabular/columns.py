"""Columns of cells: told apart by value, and converted whole where they are plain."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

Column = Any  # pa.Array | list[Any] | Constant
Codes = npt.NDArray[np.int64]
_SIMPLE = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Constant:
    """A column that holds one value in all its rows."""

    value: Any


@dataclass
class Converted:
    """An Arrow array, and which rows of it (by number) could not be filled and why."""

    array: pa.Array
    faults: dict[int, Unfit] = field(default_factory=dict)


def as_list(column: Column, size: int) -> list[Any]:
    """The column's values as Python objects."""
    if isinstance(column, Constant):
        return [column.value] * size
    if isinstance(column, list):
        return column
    return list(column.to_pylist())


def as_array(column: Column, size: int) -> pa.Array:
    """The column as an Arrow array; values that Arrow has no common type for become
    text."""
    if isinstance(column, pa.Array):
        return column
    array = _exact_array(as_list(column, size))
    if array is not None:
        return array
    return to_text(column, size).array


def are_text(columns: Sequence[Column]) -> bool:
    """True if all columns are Arrow text."""
    return all(
        isinstance(column, pa.Array) and _is_text(column.type) for column in columns
    )


def combine(
    parts: Sequence[tuple[Codes, list[Any]]], size: int
) -> tuple[Codes, list[Any]]:
    """Several encoded columns as one, whose values are tuples. Only combinations that
    occur."""
    total = np.zeros(size, dtype=np.int64)
    for codes, values in parts:
        if len(values) > 1:
            total = np.unique(total * len(values) + codes, return_inverse=True)[1]
    rows = np.unique(total, return_index=True)[1].tolist()

    def values_in(row: int) -> tuple[Any, ...]:
        return tuple(values[codes[row]] for codes, values in parts)

    return total, list(map(values_in, rows))


def encode(column: Column, size: int) -> tuple[Codes, list[Any]]:
    """Distinct values of a column and, for each row, the number of its value.

    Returns:
        codes of shape (size,), and the values that they index. Values of different
        types are different, even where Python calls them equal (1, 1.0, True).
    """
    if isinstance(column, Constant):
        return np.zeros(size, dtype=np.int64), [column.value]
    array = _exact_array(column)
    if array is None:
        if isinstance(column, list):
            objects = column
        else:
            objects = column.to_pylist()
        return _encode_objects(objects)
    encoded = array.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


def decode(codes: Codes, values: Sequence[Any]) -> Column:
    """The opposite of :func:`encode`."""
    if len(values) == 1:
        return Constant(values[0])
    array = _exact_array(list(values))
    if array is not None:
        return array.take(pa.array(codes))
    return [values[code] for code in codes.tolist()]


def to_text(column: Column, size: int, *, labels: bool = False) -> Converted:
    """Text: strings as they are, other values as their JSON; labels as ``label_of`` has
    them."""
    array = _string_array(column)
    convert = text_of
    if labels:
        convert = label_of
    if array is not None:
        return Converted(array)
    return converted_by(column, size, convert, pa.string())


def to_integer(column: Column, size: int, kind: pa.DataType) -> Converted:
    """Whole numbers, also from text."""
    if isinstance(column, Constant):
        array = None
    else:
        array = _simple_array(column)
    if array is not None and pa.types.is_integer(array.type):
        try:
            return Converted(array.cast(kind))
        except pa.ArrowInvalid:
            pass  # beyond the type: named value by value below
    return converted_by(column, size, _bounded(kind), kind)


def to_number(column: Column, size: int) -> Converted:
    """Finite numbers, also from text; NaN and infinities become null."""
    array = _number_array(column)
    if array is not None:
        return Converted(
            pc.if_else(pc.is_finite(array), array, pa.scalar(None, pa.float64()))
        )
    return converted_by(column, size, double_of, pa.float64())


def to_scores(
    column: Column, size: int
) -> tuple[Converted, pa.Array | None, pa.Array | None]:
    """Scores: the number, its text where that is no number, and ``not_scalar`` for such
    text.

    Returns:
        values; raw texts and statuses, each ``None`` where all are null.
    """
    array = _number_array(column)
    if array is not None and pc.all(pc.is_finite(array)).as_py() is not False:
        return Converted(array), None, None
    codes, values = encode(column, size)
    triples = [score_of(value) for value in values]
    converted = _spread(codes, [triple[0] for triple in triples], pa.float64())
    taken = pa.array(codes)
    raws = pa.array([triple[1] for triple in triples], pa.string()).take(taken)
    statuses = pa.array([triple[2] for triple in triples], pa.string()).take(taken)
    return converted, raws, statuses


def _bounded(kind: pa.DataType) -> Callable[[Any], int | None | Unfit]:
    half = 1 << (kind.bit_width - 1)

    def convert(value: Any) -> int | None | Unfit:
        number = integer_of(value)
        if isinstance(number, int) and not -half <= number < half:
            return Unfit(str(number), f"an integer of at most {kind.bit_width} bits")
        return number

    return convert


def converted_by(
    column: Column, size: int, convert: Callable[[Any], Any], kind: pa.DataType
) -> Converted:
    """A column by what each of its distinct values becomes; an :class:`Unfit` is a
    fault."""
    codes, values = encode(column, size)
    return _spread(codes, [convert(value) for value in values], kind)


def _spread(codes: Codes, values: Sequence[Any], kind: pa.DataType) -> Converted:
    """The values, by code, as an Arrow array; null and a fault where one is unfit."""
    unfit = {
        code: value for code, value in enumerate(values) if isinstance(value, Unfit)
    }
    clean = [None if code in unfit else value for code, value in enumerate(values)]
    array = pa.array(clean, kind).take(pa.array(codes))
    rows = []
    if unfit:
        rows = np.flatnonzero(np.isin(codes, list(unfit))).tolist()
    return Converted(array, {row: unfit[int(codes[row])] for row in rows})


def _string_array(column: Column) -> pa.Array | None:
    if isinstance(column, Constant):
        return None
    if isinstance(column, list):
        try:
            return pa.array(column, pa.string())
        except (pa.ArrowTypeError, pa.ArrowInvalid):
            return None
    if _is_text(column.type):
        return column.cast(pa.string())
    return None


def _number_array(column: Column) -> pa.Array | None:
    """The column as doubles, if that takes no judgement."""
    if isinstance(column, Constant):
        array = None
    else:
        array = _simple_array(column)
    if array is None:
        return None
    if not _is_text(array.type):
        return array.cast(pa.float64(), safe=False)
    try:
        numbers = array.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    largest = pc.max(pc.abs(numbers)).as_py()
    if largest is None or largest < 2.0**63:
        return numbers
    return None


def _exact_array(column: Column) -> pa.Array | None:
    """As :func:`_simple_array`, but only where no value changes its type by it."""
    array = _simple_array(column)
    if (
        array is None
        or not isinstance(column, list)
        or not pa.types.is_floating(array.type)
    ):
        return array
    if all(type(value) in (float, type(None)) for value in column):
        return array
    return None


def _simple_array(column: Column) -> pa.Array | None:
    """The column as Arrow text, integers, doubles or booleans, if it is of one such
    type."""
    if isinstance(column, list):
        if not all(isinstance(value, _SIMPLE) for value in column[:8]):
            return None
        try:
            column = pa.array(column)
        except (pa.ArrowException, OverflowError):
            return None
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    plain = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or _is_text(kind)
    if plain:
        return column
    return None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _encode_objects(column: Sequence[Any]) -> tuple[Codes, list[Any]]:
    numbers: dict[Any, int] = {}
    values: list[Any] = []
    codes = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        key = (
            type(value),
            value if isinstance(value, (*_SIMPLE, Unfit)) else str(text_of(value)),
        )
        code = numbers.setdefault(key, len(values))
        if code == len(values):
            values.append(value)
        codes[row] = code
    return codes, values


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
    if isinstance(value, float):
        value += 0.0  # -0.0 is 0.0, which it equals: else its text hung on what stands before it
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError as error:
        return Unfit(str(value)[:80], f"text or a JSON value ({error})")


def label_of(value: Any) -> str | None | Unfit:
    """One value as the text by which something is named: ``1.0`` is ``1``, as pandas
    has integers beside gaps."""
    return text_of(
        int(value) if isinstance(value, float) and value.is_integer() else value
    )


def number_of(value: Any) -> int | float | None | Unfit:
    """One value as a number; empty text, NaN and infinities are null."""
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        if -(1 << 63) <= value < (1 << 63):
            return value
        return _too_long(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if value is None or isinstance(value, Unfit):
        return value
    return _no_number(value)


def double_of(value: Any) -> float | None | Unfit:
    number = number_of(value)
    if isinstance(number, int):
        return float(number)
    return number


def integer_of(value: Any) -> int | None | Unfit:
    """One value as a whole number."""
    number = number_of(value)
    if not isinstance(number, float):
        return number
    if not number.is_integer():
        return Unfit(repr(value)[:60], "a whole number")
    whole = int(number)
    if -(1 << 63) <= whole < (1 << 63):
        return whole
    return _too_long(value)


def score_of(value: Any) -> tuple[float | None | Unfit, str | None, str | None]:
    """One value as a score: number, its text where that is no number, status of such
    text."""
    number = number_of(value)
    if isinstance(number, Unfit):
        if isinstance(value, Unfit) or number.expected == _LONG:
            return number, None, None
        return None, _short(value), "not_scalar"
    if number is None:
        shown = None
        if value not in (None, ""):
            shown = _short(value)
        return None, shown, None
    return float(number), None, None


def _short(value: Any) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if value > 0:
            return "Infinity"
        return "-Infinity"
    return str(text_of(value))


def _parsed(text: str) -> int | float | None | Unfit:
    text = text.strip()
    if _NUMBER.fullmatch(text) is not None and text.isascii():
        if not text.lstrip("+-").isdigit():
            return float(text)
        return int(text) if len(text) < 25 else _too_long(text)
    if not text or _NOT_FINITE.fullmatch(text):
        if text:
            return float(text)
        return None
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    return _no_number(text)


def _too_long(value: Any) -> Unfit:
    return Unfit(str(value)[:40], _LONG)


def _no_number(value: Any) -> Unfit:
    shown = value[:80] if isinstance(value, str) else value  # of a text the beginning
    return Unfit(repr(shown)[:80], "a number")
