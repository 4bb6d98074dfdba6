"""Conversions: the fast road over whole columns and the slow one value by value agree."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from warehouse.importers.tabular.columns import (
    Constant,
    Unfit,
    as_list,
    combine,
    decode,
    encode,
    integer_of,
    number_of,
    score_of,
    text_of,
    to_integer,
    to_number,
    to_scores,
    to_text,
)

CELLS = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(str),
    st.sampled_from(
        [
            "",
            " 1 ",
            "1_000",
            "0x1f",
            "1e400",
            "Infinity",
            "-nan",
            "True",
            "٣",
            "5.",
            "+.5",
        ]
    ),
    st.text(max_size=4),
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**66), 2**66),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(0, 3), max_size=2),
)


def columns(cells: list[Any]) -> list[Any]:
    """The same column as Arrow and as a list, as far as it can be either."""
    found: list[Any] = [cells]
    if all(cell is None or isinstance(cell, str) for cell in cells):
        found.append(pa.array(cells, pa.string()))
        found.append(pa.array(cells, pa.string()).dictionary_encode())
    return found


def clean(cells: list[Any], convert: Any) -> list[Any]:
    values = [convert(cell) for cell in cells]
    return [None if isinstance(value, Unfit) else value for value in values]


@settings(deadline=None)  # the first array imports much
@given(st.lists(st.one_of(CELLS, VALUES), max_size=12) | st.lists(CELLS, max_size=12))
@example(cells=["0", 0.0, -0.0])
def test_columns_convert_as_their_values_do(cells: list[Any]) -> None:
    size = len(cells)
    for column in columns(cells):
        numbers = to_number(column, size)
        doubles = [None if v is None else float(v) for v in clean(cells, number_of)]
        assert numbers.array.to_pylist() == doubles
        assert to_text(column, size).array.to_pylist() == clean(cells, text_of)
        whole = to_integer(column, size, pa.int64())
        assert whole.array.to_pylist() == clean(cells, integer_of)
        faults = [
            row for row, cell in enumerate(cells) if isinstance(integer_of(cell), Unfit)
        ]
        assert sorted(whole.faults) == faults
        scored, raw, status = to_scores(column, size)
        triples = [score_of(cell) for cell in cells]
        assert scored.array.to_pylist() == clean(
            [t[0] for t in triples], lambda value: value
        )
        if raw is not None and status is not None:
            assert raw.to_pylist() == [triple[1] for triple in triples]
            assert status.to_pylist() == [triple[2] for triple in triples]
        else:
            assert {triple[1:] for triple in triples} <= {(None, None)}


@settings(deadline=None)
@given(st.lists(VALUES.filter(lambda value: value == value), max_size=12))
def test_decoding_undoes_encoding(cells: list[Any]) -> None:
    codes, values = encode(cells, len(cells))
    if cells:
        found = as_list(decode(codes, values), len(cells))
        assert [(type(v), str(v)) for v in found] == [(type(v), str(v)) for v in cells]
    assert len({(type(value), str(value)) for value in values}) == len(values)


def test_combined_columns_list_only_what_occurs() -> None:
    parts = [
        encode(["a", "a", "b", "b"], 4),
        encode([1, 2, 1, 1], 4),
        encode(Constant("x"), 4),
    ]
    codes, combinations = combine(parts, 4)
    assert sorted(combinations) == [("a", 1, "x"), ("a", 2, "x"), ("b", 1, "x")]
    assert [combinations[code] for code in codes] == [
        ("a", 1, "x"),
        ("a", 2, "x"),
        ("b", 1, "x"),
        ("b", 1, "x"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, (None, None, None)),
        (True, (1.0, None, None)),
        ("0.5", (0.5, None, None)),
        (math.inf, (None, "Infinity", None)),
        (math.nan, (None, "NaN", None)),
        ("NaN", (None, "NaN", None)),
        ("1e999", (None, "1e999", None)),
        ("C", (None, "C", "not_scalar")),
        ([1], (None, "[1]", "not_scalar")),
        ("", (None, None, None)),
    ],
)
def test_what_a_score_can_be(value: Any, expected: tuple[Any, ...]) -> None:
    assert score_of(value) == expected
