"""Rows of two answers, and of an answer and SQL, held against each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from warehouse.analysis.results import Result, plain
from warehouse.errors import MisuseError
from warehouse.questions.question import Question
from warehouse.store.connection import Store
from warehouse.store.sql.bind_parameters import bind_names
from warehouse.store.sql.query_files import find
from warehouse.store.sql.run_query import is_name

#: Relative difference of two figures that are the same.
_CLOSE = 1e-9

PlainRows = Sequence[Mapping[str, Any]]


def is_same(found: Any, expected: Any) -> bool:
    """Whether two plain values are the same but for the last digits of numbers."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            is_same(found[name], expected[name]) for name in found
        )
    if isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    if isinstance(found, float) and isinstance(expected, float):
        both_nan = math.isnan(found) and math.isnan(expected)
        return both_nan or math.isclose(found, expected, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(found == expected)


def first_difference(found: PlainRows, expected: PlainRows) -> str:
    """Where two answers begin to differ; empty where they are the same."""
    if len(found) != len(expected):
        return f"{len(found)} rows, not {len(expected)}"
    for number, (own, other) in enumerate(zip(found, expected, strict=True)):
        for name in own:
            if not is_same(own[name], other.get(name)):
                return f"row {number}, {name}: {own[name]!r}, not {other.get(name)!r}"
        if own.keys() != other.keys():
            return f"row {number}: other columns"
    return ""


def difference_from_sql(
    store: Store, question: Question, result: Result, sql: str = ""
) -> str:
    """Where the rows of an answer and those of SQL begin to differ, in the columns that
    are called alike; empty where they are the same, in whatever order.

    Args:
        store: that was asked.
        question: as it was asked.
        result: its answer.
        sql: a view, library query or SELECT; empty: that of the question's class.

    Raises:
        MisuseError: there is no such query, or it needs what the question does not say.
    """
    expected = _numbers_as_floats(_rows(store, question, sql or question.SQL))
    found = _numbers_as_floats([plain(row) for row in result.rows])
    if len(found) != len(expected):
        return f"{len(found)} rows, and {len(expected)} in SQL"
    if not found:
        return ""
    shared = [name for name in found[0] if name in expected[0]]
    if not shared:
        return f"SQL calls no column like one of {', '.join(found[0])}"
    # numbers whose last digits may differ say last which row stands where
    shared.sort(key=lambda name: any(map(_is_fraction, _column(name, found, expected))))
    pairs = zip(_sorted(found, shared), _sorted(expected, shared), strict=True)
    for own, other in pairs:
        for name in shared:
            if not is_same(own[name], other[name]):
                return f"{name} is {own[name]!r}, and {other[name]!r} in SQL, of {own}"
    return ""


def _rows(store: Store, question: Question, sql: str) -> list[dict[str, Any]]:
    """The rows of a view that a question is about, those of a library query with its
    values, or those of a SELECT."""
    if not is_name(sql):
        given = {name: _value(question, name) for name in bind_names(sql)}
        return store.rows(sql, given)
    query = find(sql, store.dialect.name)
    if query.kind == "library":
        names = [parameter.name for parameter in query.parameters]
        said = {name: getattr(question, name, None) for name in names}
        given = {name: value for name, value in said.items() if value is not None}
        return store.rows(query.text, query.bind(given))
    columns = [name for name, _ in query.columns]
    about = {
        name: getattr(question, name)
        for name in columns
        if isinstance(getattr(question, name, None), str | int | float)
    }
    conditions = "".join(f" and {name} = :{name}" for name in about)
    return store.rows(f"select * from {query.name} where 1 = 1{conditions}", about)


def _value(question: Question, name: str) -> Any:
    if not hasattr(question, name):
        raise MisuseError(f"SQL needs {name}, which is no field of {question.NAME}")
    return getattr(question, name)


def _numbers_as_floats(rows: PlainRows) -> list[dict[str, Any]]:
    """Rows in which a number is a float, as one engine gives whole ones and another
    decimals, and None where there is none."""
    return [{name: _as_float(value) for name, value in row.items()} for row in rows]


def _as_float(value: Any) -> Any:
    is_number = isinstance(value, int | float | Decimal)
    if not is_number or isinstance(value, bool):
        return value
    number = float(value)
    if math.isnan(number):
        return None
    return number


def _column(name: str, *tables: PlainRows) -> list[Any]:
    return [row[name] for rows in tables for row in rows]


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _sorted(rows: PlainRows, names: Sequence[str]) -> list[dict[str, Any]]:
    """Some columns of rows, in the order of these columns."""
    chosen = [{name: row[name] for name in names} for row in rows]
    return sorted(chosen, key=lambda row: [_place(value) for value in row.values()])


def _place(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value)
