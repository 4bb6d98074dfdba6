"""The bulk-load stream: what a real server makes of it, and what its own driver would
have sent."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.copy import FileWriter

from warehouse.errors import StoreError
from warehouse.store.engines.binary_copy import BLOCK_BYTES, BLOCK_ROWS, encode_stream

pytestmark = pytest.mark.engine


class Kind(NamedTuple):
    """An Arrow type, the server's type it loads into, values at its edges, and a
    strategy."""

    arrow: pa.DataType
    server: str
    values: list[Any]
    any_value: st.SearchStrategy[Any]


def _integers(bits: int) -> tuple[list[int], st.SearchStrategy[int]]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return [low, high, 0, -1, 1], st.integers(low, high)


FLOATS = [math.nan, math.inf, -math.inf, -0.0, 1.5]
TEXTS = ["", "plain", "größer 語 🙂", "line\nbreak\ttab\\N", "x" * 5000]
TIMES = [
    datetime(2000, 1, 1),
    datetime(1999, 12, 31, 23, 59, 59, 999999),
    datetime(1969, 7, 20, 20, 17, 40),
    datetime.min,
    datetime.max,
]
VECTORS = [[], [1.5], [0.0, -1.0, math.inf], [math.nan, None], [None]]
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9
)
FLOAT4 = st.floats(width=32)

KINDS = {
    "int16": Kind(pa.int16(), "int2", *_integers(16)),
    "int32": Kind(pa.int32(), "int4", *_integers(32)),
    "int64": Kind(pa.int64(), "int8", *_integers(64)),
    "float32": Kind(pa.float32(), "float4", [*FLOATS, 2.0**-149], FLOAT4),
    "float64": Kind(pa.float64(), "float8", [*FLOATS, 5e-324, 1.7e308], st.floats()),
    "bool": Kind(pa.bool_(), "bool", [True, False, False, True, True], st.booleans()),
    "string": Kind(pa.string(), "text", TEXTS, TEXT),
    "large_string": Kind(pa.large_string(), "text", TEXTS, TEXT),
    "binary": Kind(
        pa.binary(),
        "bytea",
        [b"", b"\0\xff\0", bytes(range(256))],
        st.binary(max_size=9),
    ),
    "large_binary": Kind(
        pa.large_binary(), "bytea", [b"", b"\0\xff"], st.binary(max_size=9)
    ),
    "timestamp": Kind(pa.timestamp("us"), "timestamp", TIMES, st.datetimes()),
    "vector": Kind(
        pa.list_(pa.float32()), "float4[]", VECTORS, st.lists(FLOAT4 | st.none())
    ),
    "large_vector": Kind(
        pa.large_list(pa.float32()), "float4[]", VECTORS, st.lists(FLOAT4)
    ),
    "fixed_vector": Kind(
        pa.list_(pa.float32(), 2),
        "float4[]",
        [[1.0, 2.0], [None, 0.5]],
        st.lists(FLOAT4, min_size=2, max_size=2),
    ),
}


@pytest.fixture
def connection(postgres_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as opened:
        yield opened


def copy(
    connection: psycopg.Connection, types: list[str], batches: Iterable[pa.RecordBatch]
) -> None:
    """Copy `batches` into a new table, `loaded`."""
    columns = ", ".join(f"c{i} {server}" for i, server in enumerate(types))
    connection.execute("drop table if exists loaded")
    connection.execute(f"create table loaded ({columns})")
    with (
        connection.cursor() as cursor,
        cursor.copy("copy loaded from stdin (format binary)") as stream,
    ):
        for part in encode_stream(batches):
            stream.write(part)


def load(
    connection: psycopg.Connection, types: list[str], batches: Iterable[pa.RecordBatch]
) -> list[tuple[Any, ...]]:
    """The rows of a new table, in order, after `batches` were copied into it."""
    copy(connection, types, batches)
    return connection.execute("select * from loaded", binary=True).fetchall()


def batch(*columns: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        list(columns), [f"c{i}" for i in range(len(columns))]
    )


def same(found: Iterable[Any], expected: Iterable[Any]) -> bool:
    """Equal, also where both are NaN, and -0.0 is not 0.0."""
    return repr(list(found)) == repr(list(expected))


EACH_KIND = pytest.mark.parametrize(
    "kind", [pytest.param(k, id=n) for n, k in KINDS.items()]
)


@EACH_KIND
def test_each_type_arrives(connection: psycopg.Connection, kind: Kind) -> None:
    holed = [None, *kind.values, None, *kind.values]
    for values in (kind.values, holed, [None, None]):
        found = load(connection, [kind.server], [batch(pa.array(values, kind.arrow))])
        assert same(found, [(value,) for value in values])


@EACH_KIND
def test_of_a_slice_nothing_else_arrives(
    connection: psycopg.Connection, kind: Kind
) -> None:
    values = [kind.values[0], None, *kind.values, None, kind.values[0]]
    for cut in (slice(1, 3), slice(2, 2 + len(kind.values)), slice(3, None)):
        found = load(
            connection, [kind.server], [batch(pa.array(values, kind.arrow)[cut])]
        )
        assert same(found, [(value,) for value in values[cut]])


def driver_stream(
    connection: psycopg.Connection, types: list[str], rows: list[tuple[Any, ...]]
) -> bytes:
    """What the server's own Python driver would send."""
    sent = io.BytesIO()
    with psycopg.Copy(
        connection.cursor(), binary=True, writer=FileWriter(sent)
    ) as stream:
        stream.set_types(types)
        for row in rows:
            stream.write_row(row)
    return sent.getvalue()


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Kind], list[tuple[Any, ...]]]:
    kinds = draw(
        st.lists(st.sampled_from(list(KINDS.values())), min_size=1, max_size=6)
    )
    columns = [
        kind.any_value | st.none() if draw(st.booleans()) else kind.any_value
        for kind in kinds
    ]
    return kinds, draw(st.lists(st.tuples(*columns), max_size=12))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(table=tables(), cut=st.integers(0, 12))
def test_the_bytes_are_those_of_the_driver(
    connection: psycopg.Connection,
    table: tuple[list[Kind], list[tuple[Any, ...]]],
    cut: int,
) -> None:
    kinds, rows = table
    types = [kind.server for kind in kinds]
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    whole = batch(*(pa.array(v, k.arrow) for v, k in zip(columns, kinds, strict=True)))
    stream = b"".join(encode_stream([whole.slice(0, cut), whole.slice(cut)]))
    assert stream == driver_stream(connection, types, rows)


def test_no_rows_are_a_valid_stream(connection: psycopg.Connection) -> None:
    empty = batch(*(pa.array([], kind.arrow) for kind in KINDS.values()))
    types = [kind.server for kind in KINDS.values()]
    assert load(connection, types, []) == load(connection, types, [empty, empty]) == []


def test_all_types_share_a_row(connection: psycopg.Connection) -> None:
    kinds = [*KINDS.values(), KINDS["int32"]]
    rows = [
        tuple(kind.values[i % len(kind.values)] for kind in kinds) for i in range(5)
    ]
    rows.insert(2, (None,) * len(kinds))
    columns = zip(kinds, zip(*rows, strict=True), strict=True)
    one = batch(*(pa.array(values, kind.arrow) for kind, values in columns))
    assert same(
        load(connection, [kind.server for kind in kinds], [one, one]), rows + rows
    )


def test_dictionaries_are_decoded(connection: psycopg.Connection) -> None:
    values = pa.array(["acc", None, "größe"])
    metrics = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None, 1, 0], pa.int8()), values
    )
    times = pa.array([TIMES[0], TIMES[1], None, TIMES[0], None], pa.timestamp("us"))
    found = load(
        connection, ["text", "timestamp"], [batch(metrics, times.dictionary_encode())]
    )
    texts = ["größe", "acc", None, None, "acc"]
    assert found == list(zip(texts, times.to_pylist(), strict=True))


def test_a_column_without_a_type_is_null(connection: psycopg.Connection) -> None:
    found = load(connection, ["int8", "json"], [batch(pa.array([1, 2]), pa.nulls(2))])
    assert found == [(1, None), (2, None)]


def test_what_lies_under_a_null_is_not_sent(connection: psycopg.Connection) -> None:
    hidden = pa.py_buffer(b"\x05")  # of three values, the middle one is null
    offsets = pa.py_buffer(np.array([0, 1, 3, 4], np.int32))
    texts = pa.Array.from_buffers(
        pa.string(), 3, [hidden, offsets, pa.py_buffer(b"a\0bc")]
    )
    inner = pa.array([1.0, 2.0, 3.0, 4.0], pa.float32())
    vectors = pa.ListArray.from_buffers(
        pa.list_(inner.type), 3, [hidden, offsets], children=[inner]
    )
    numbers = pa.Array.from_buffers(pa.int64(), 3, [hidden, pa.py_buffer(np.arange(3))])
    replaced: Counter[str] = Counter()
    list(encode_stream([batch(texts)], replaced=replaced))
    assert replaced == {}
    found = load(
        connection, ["text", "float4[]", "int8"], [batch(texts, vectors, numbers)]
    )
    assert found == [("a", [1.0], 0), (None, None, None), ("c", [4.0], 2)]


def test_nul_characters_are_replaced_and_counted(
    connection: psycopg.Connection,
) -> None:
    texts = pa.array(["\0", "a\0\0ä", None, "clean", ""])
    coded = pa.array(["x", "\0", "\0", None, "x"]).dictionary_encode()
    binary = pa.array([b"\0", b"", None, b"\0\0", b"x"])
    replaced: Counter[str] = Counter()
    one = pa.RecordBatch.from_arrays(
        [texts, coded, binary], ["response", "answer", "hash"]
    )
    list(encode_stream([one, one.slice(1, 2)], replaced=replaced))
    assert replaced == {"response": 3 + 2, "answer": 2 + 2}
    assert load(connection, ["text", "text", "bytea"], [one]) == [
        ("\ufffd", "x", b"\0"),
        ("a\ufffd\ufffdä", "\ufffd", b""),
        (None, "\ufffd", None),
        ("clean", None, b"\0\0"),
        ("", "x", b"x"),
    ]


def test_times_reach_as_far_as_the_server(connection: psycopg.Connection) -> None:
    first = -210_866_803_200_000_000  # microseconds from 1970-01-01
    times = pa.array([first, 2**63 - 1], pa.timestamp("us"))
    copy(connection, ["timestamp"], [batch(times)])
    assert connection.execute("select c0::text from loaded").fetchall() == [
        ("4714-11-24 00:00:00 BC",),
        ("294247-01-10 04:00:54.775807",),
    ]
    for earlier in (first - 1, -(2**63)):
        column = pa.array([None, earlier], pa.timestamp("us"))
        with pytest.raises(StoreError, match=f"'c0' holds a time {earlier} micro"):
            list(encode_stream([batch(column)]))


@pytest.mark.parametrize(
    "kind",
    [
        pa.uint8(),
        pa.decimal128(38, 0),
        pa.timestamp("ns"),
        pa.timestamp("us", "UTC"),
        pa.list_(pa.float64()),
        pa.dictionary(pa.int8(), pa.uint32()),
    ],
    ids=str,
)
def test_a_type_that_the_format_has_no_form_for(kind: pa.DataType) -> None:
    one = pa.RecordBatch.from_arrays(
        [pa.array([1]), pa.array([None], kind)], ["run", "value"]
    )
    with pytest.raises(
        StoreError, match="'value' is of type .*, which cannot be bulk-loaded"
    ):
        list(encode_stream([one]))


def test_many_rows_arrive_in_order(connection: psycopg.Connection) -> None:
    n = 2 * BLOCK_ROWS + 3
    numbers = np.arange(n)
    columns = [
        pa.array(numbers),
        pa.array(numbers / 7, mask=numbers % 3 == 0),
        pa.array([f"n{i}" if i % 5 else None for i in range(n)]),
    ]
    copy(connection, ["int8", "float8", "text"], pa.table(columns, "abc").to_batches())
    wrong = """
        select count(*) from (select *, row_number() over (order by ctid) - 1 as i from loaded) t
        where c0 <> i
          or c1 is distinct from case when i % 3 <> 0 then i::float8 / 7 end
          or c2 is distinct from case when i % 5 <> 0 then 'n' || i end"""
    assert connection.execute("select count(*) from loaded").fetchall() == [(n,)]
    assert connection.execute(wrong).fetchall() == [(0,)]


def test_long_texts_leave_in_bounded_parts(connection: psycopg.Connection) -> None:
    answer = "a long answer " * 1000
    texts = pa.array([answer] * 4000 + ["b" * (2 * BLOCK_BYTES)])
    rows = batch(pa.array(range(4001), pa.int32()), texts)
    assert max(map(len, encode_stream([rows.slice(0, 4000)]))) < 1.1 * BLOCK_BYTES
    copy(connection, ["int4", "text"], [rows])  # the last row alone is longer than that
    found = "select count(distinct c0), sum(length(c1)) from loaded"
    expected = (4001, 4000 * len(answer) + 2 * BLOCK_BYTES)
    assert connection.execute(found).fetchall() == [expected]


def test_a_query_of_the_other_engine_streams_into_this_one(
    connection: psycopg.Connection,
) -> None:
    query = """
        select i, i::int as small, i / 3.0::double as ratio, i % 2 = 0 as even,
            case when i % 3 > 0 then 'größe ' || i end as text, {'i': i}::json as document,
            encode('b' || i) as bytes, timestamp '1990-05-17 01:02:03' + to_days(i::int) as time,
            [i::float, null] as vector, ['acc', 'f1'][1 + i % 2]::enum('acc', 'f1') as metric
        from range(10000) as t(i) order by i"""
    types = ["int8", "int4", "float8", "bool", "text", "json", "bytea", "timestamp"]
    with duckdb.connect() as other:
        found = load(
            connection,
            [*types, "float4[]", "text"],
            other.sql(query).to_arrow_reader(3000),
        )
        expected = other.execute(query).fetchall()
    texts = [(*row[:5], {"i": row[0]}, *row[6:]) for row in expected]
    assert found == texts
