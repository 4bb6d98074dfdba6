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
    expected = [
        _with_floats(row) for row in _rows(store, question, sql or question.SQL)
    ]
    found = [_with_floats(plain(row)) for row in result.rows]
    if len(found) != len(expected):
        return f"{len(found)} rows, and {len(expected)} in SQL"
    if not found:
        return ""
    exact: list[str] = []
    rounded: list[str] = []
    for name in found[0]:
        if name in expected[0]:
            if _has_fractions(name, found) or _has_fractions(name, expected):
                rounded.append(name)
            else:
                exact.append(name)
    if not exact + rounded:
        return f"SQL calls no column like one of {', '.join(found[0])}"
    for own, other in zip(
        _chosen(found, exact, rounded), _chosen(expected, exact, rounded), strict=True
    ):
        for name in own:
            if not is_same(own[name], other[name]):
                return f"{name} is {own[name]!r}, and {other[name]!r} in SQL, of {own}"
    return ""


def _rows(store: Store, question: Question, sql: str) -> list[dict[str, Any]]:
    """The rows of a view that a question is about, those of a library query with its
    values, or those of a SELECT."""
    if not is_name(sql):
        return store.rows(
            sql, {name: _said(question, name) for name in bind_names(sql)}
        )
    query = find(sql, store.dialect.name)
    if query.kind == "library":
        given: dict[str, Any] = {}
        for parameter in query.parameters:
            value = getattr(question, parameter.name, None)
            if value is not None:
                given[parameter.name] = value
        return store.rows(query.text, query.bind(given))
    about: dict[str, Any] = {}
    for column, _ in query.columns:
        value = getattr(question, column, None)
        if isinstance(value, str | int | float):
            about[column] = value
    conditions = "".join(f" and {name} = :{name}" for name in about)
    return store.rows(f"select * from {query.name} where 1 = 1{conditions}", about)


def _said(question: Question, name: str) -> Any:
    """A field of a question (MisuseError: it has none of that name)."""
    if not hasattr(question, name):
        raise MisuseError(f"SQL needs {name}, which is no field of {question.NAME}")
    return getattr(question, name)


def _with_floats(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in which each number is a float, as one engine gives whole ones and another
    decimals, and None where there is none."""
    return {name: _as_float(value) for name, value in row.items()}


def _as_float(value: Any) -> Any:
    is_number = isinstance(value, int | float | Decimal)
    if not is_number or isinstance(value, bool):
        return value
    number = float(value)
    if math.isnan(number):
        return None
    return number


def _has_fractions(name: str, rows: PlainRows) -> bool:
    values = [row[name] for row in rows]
    return any(isinstance(item, float) and not item.is_integer() for item in values)


def _chosen(
    rows: PlainRows, exact: Sequence[str], rounded: Sequence[str]
) -> list[dict[str, Any]]:
    """Some columns of rows, in the order of the exact ones, then of numbers without
    their last digits, which may differ."""
    placed: list[tuple[list[str], dict[str, Any]]] = []
    for row in rows:
        chosen = {name: row[name] for name in (*exact, *rounded)}
        places = [repr(row[name]) for name in exact]
        places += [_without_last_digits(row[name]) for name in rounded]
        placed.append((places, chosen))
    placed.sort(key=lambda item: item[0])
    return [chosen for _, chosen in placed]


def _without_last_digits(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value)
