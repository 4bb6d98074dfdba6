"""Types that an engine has and others do not: every form of an answer has a value for
them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.cli import Caller, filled_url
from tests.support.world import build_world

pytestmark = pytest.mark.engine

DUCKDB = {
    "interval '1 month 2 days'": "1 month 2 days",
    "'10101'::bit": "10101",
    "340282366920938463463374607431768211455::uhugeint": "340282366920938463463374607431768211455",
    "123456789012345678901234567890::bignum": "123456789012345678901234567890",
    "union_value(num := 2)": "2",
    "row(1, 'a')": "(1, a)",
    "map {'a': interval '1 day'}": "{a=1 day}",
    "{'a': interval '1 day', 'b': date 'infinity'}": "{'a': 1 day, 'b': infinity}",
    "'infinity'::date": "infinity",
    "'-infinity'::timestamp": "-infinity",
    "[date 'infinity']": "[infinity]",
    "date '4000-01-01 (BC)'": "4000-01-01 (BC)",
    "time '24:00:00'": "24:00:00",
    "'10:00:00+02'::timetz": "10:00:00+02",
    "'POINT(1 2)'::geometry": "POINT (1 2)",
    "{'a': 1}::variant": "{'a': 1}",
    "{'a': [1, 2], 'b': {'c': null}}": {"a": [1, 2], "b": {"c": None}},
    "'\\xAA'::blob": "aa",
    "uuid '00000000-0000-0000-0000-000000000001'": "00000000-0000-0000-0000-000000000001",
    "sum(1)": 1,
    "date '2026-01-31'": "2026-01-31",
}
POSTGRESQL = {
    "interval '1 month 2 days'": "1 mon 2 days",
    "inet '1.2.3.4/24'": "1.2.3.4/24",
    "'<a/>'::xml": "<a/>",
    "12.3::money": "$12.30",
    "int4range(1, 4)": "[1,4)",
    "'{[1,3)}'::int4multirange": "{[1,3)}",
    "B'101'": "101",
    "point(1, 2)": "(1,2)",
    "row(1, 'a')": "(1,a)",
    "'infinity'::date": "infinity",
    "'-infinity'::timestamp": "-infinity",
    "array[date 'infinity']": "{infinity}",
    "'4000-01-01 BC'::date": "4000-01-01 BC",
    "time '24:00'": "24:00:00",
    "timetz '10:00+02'": "10:00:00+02",
    "array[1.5::numeric]": "{1.5}",
    "array[interval '1 day']": '{"1 day"}',
    "'{\"a\": 123456789012345678901234567890}'::jsonb": '{"a": 123456789012345678901234567890}',
    "bytea '\\x00ff'": "00ff",
    "uuid '00000000-0000-0000-0000-000000000001'": "00000000-0000-0000-0000-000000000001",
    "'1 2'::tsvector": "'1' '2'",
    "'int4'::regtype": "integer",
    "makeaclitem(10, 10, 'SELECT', false)": "postgres=r/postgres",
    "sum(1)": 1,
    "date '2026-01-31'": "2026-01-31",
}
VALUES: dict[str, dict[str, object]] = {"duckdb": DUCKDB, "postgresql": POSTGRESQL}


@pytest.fixture(scope="module")
def urls(request: pytest.FixtureRequest) -> dict[str, str]:
    found = {}
    for engine in ("duckdb", "postgresql"):
        opened = filled_url(request, engine, build_world())
        found[engine] = opened.__enter__()
        request.addfinalizer(lambda opened=opened: opened.__exit__(None, None, None))
    return found


@pytest.mark.parametrize("engine", VALUES)
def test_every_form_has_a_value(
    run: Caller, urls: dict[str, str], engine: str, tmp_path: Path
) -> None:
    """Each value is a column of one query, as each query is a process of its own."""
    columns = [f'{value} as "{place}, y"' for place, value in enumerate(VALUES[engine])]
    names = [f"{place}, y" for place in range(len(columns))]
    given, url = (
        ("query", "--sql", f"select {', '.join(columns)}, :n as n", "-p", "n=%"),
        urls[engine],
    )
    (row,) = run(*given, "--json", db=url).rows
    assert list(row) == [*names, "n"]
    assert dict(zip(VALUES[engine], row.values(), strict=False)) == VALUES[engine]
    assert row["n"] == "%"
    assert run(*given, "--csv", db=url).code == 0
    assert run(*given, db=url).code == 0
    file = tmp_path / "x.parquet"
    assert run(*given, "--parquet", str(file), db=url).code == 0
    assert pq.read_table(file).column_names == [*names, "n"]


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_the_order_of_rows_and_the_names_stay(
    run: Caller, urls: dict[str, str], engine: str
) -> None:
    sql = (
        'select interval \'1 day\' as a, id as a, name as "b""c" from model order by '
        "id desc;"
    )
    rows = run("query", "--sql", sql, "--json", db=urls[engine]).rows
    assert list(rows[0]) == ["a", "a_2", 'b"c']
    assert [row["a_2"] for row in rows] == sorted(
        (row["a_2"] for row in rows), reverse=True
    )
