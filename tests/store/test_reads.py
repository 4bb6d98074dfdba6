"""Rows and columns of a SELECT, with lists of values in it; and the same where reads
are shared."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.support.builders import StoreRows
from tests.support.stores import ENGINES, filled_store
from warehouse.analysis.selection.benchmarks import read_names
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.errors import MisuseError
from warehouse.store.columns import FEW, Columns
from warehouse.store.connection import Store
from warehouse.store.engines.postgresql_rows import Packing
from warehouse.store.shared_reads import SharedReads, in_blocks, runs_by_benchmark
from warehouse.store.sql.bind_parameters import expand_lists

RUNS = (
    "select run_id, model from run_current where run_id in (:run_ids) order by run_id"
)


@pytest.fixture(scope="module", params=ENGINES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model in ("lab/a", "lab/b", "lab/c"):
        rows.scores(rows.run(model, "quiz"), {"q1": 1.0, "q2": 0.0})
    with filled_store(request, request.param, rows) as filled:
        yield filled


def test_a_list_stands_in_a_statement(store: Store) -> None:
    runs = store.rows("select run_id, model from run_current order by run_id")
    ids = [row["run_id"] for row in runs]
    assert store.rows(RUNS, {"run_ids": ids[:2]}) == runs[:2]
    assert store.rows(RUNS, {"run_ids": np.array(ids[1:])}) == runs[1:]
    assert store.rows(RUNS, {"run_ids": ()}) == []
    named = store.rows(
        "select model from run_current where model in (:names)",
        {"names": ["lab/b", "o'x", "'; --"]},
    )
    assert named == [{"model": "lab/b"}]
    both = (
        "select count(*) as n from run_current where run_id in (:run_ids) and model <> "
        ":model"
    )
    assert store.rows(both, {"run_ids": set(ids), "model": "lab/a"}) == [{"n": 2}]
    with pytest.raises(MisuseError, match="run_ids"):
        store.rows(RUNS)


def test_many_ids_in_a_row_stand_as_a_span(store: Store) -> None:
    runs = store.rows("select run_id, model from run_current order by run_id")
    ids = [row["run_id"] for row in runs]
    many = range(ids[0] - 20, ids[1] + 1)
    assert store.rows(RUNS, {"run_ids": many}) == runs[:2]
    assert store.rows(RUNS, {"run_ids": {*many, ids[2] + 1} - {ids[0]}}) == [runs[1]]
    others = (
        "select 'in (:run_ids)' as text from run_current where run_id not In ( "
        ":run_ids)"
    )
    assert store.rows(others, {"run_ids": many}) == [{"text": "in (:run_ids)"}]
    sql, bound = expand_lists(
        "id in (:ids) and n in (:ids) and f(:ids)", {"ids": np.arange(9)}
    )
    assert (sql, bound) == (
        "id between 0 and 8 and n between 0 and 8 and f(0, 1, 2, 3, 4, 5, 6, 7, 8)",
        {},
    )
    assert (
        expand_lists("value in (:values)", {"values": range(9)})[0]
        == "value in (0, 1, 2, 3, 4, 5, 6, 7, 8)"
    )


def test_shared_reads_answer_for_each_id_what_the_store_does(store: Store) -> None:
    ids = [
        row["run_id"]
        for row in store.rows("select run_id from run_current order by run_id")
    ]
    shared = SharedReads(store)
    shared.begin_block(run_id=ids[:2])
    for asked in (ids[:1], ids[:2], ids[1:], (), ids[:2]):
        assert shared.rows(RUNS, {"run_ids": asked}, per="run_id") == store.rows(
            RUNS, {"run_ids": asked}
        )


def test_shared_reads_of_a_block_are_few(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A range widens to the block; a block is not read again for each of many values of
    another parameter."""
    ids = [
        row["run_id"]
        for row in store.rows("select run_id from run_current order by run_id")
    ]
    read = RUNS.replace(
        "order",
        "and run_id between :first_run_id and :last_run_id and model <> :model order",
    )
    statements: list[str] = []
    select = Store._select

    def counted(self: Store, sql: str, *more: Any) -> Any:
        statements.append(sql)
        return select(self, sql, *more)

    monkeypatch.setattr(Store, "_select", counted)
    shared = SharedReads(store)
    shared.begin_block(run_id=ids)
    for model in ("a", "b", "c", "d", "e"):
        for run in ids:
            values = {
                "run_ids": [run],
                "first_run_id": run,
                "last_run_id": run,
                "model": model,
            }
            assert [
                row["run_id"] for row in shared.rows(read, values, per="run_id")
            ] == [run]
    assert len(statements) == 3 + 2 * len(ids)


@pytest.mark.parametrize("engine", ENGINES)
def test_clusters_are_the_same_where_reads_are_shared(
    request: pytest.FixtureRequest, engine: str
) -> None:
    """Also those of a text that stands on several benchmarks."""
    rows = StoreRows()
    for name in ("same", "same too", "by topic"):
        rows.describe(name, rows.metric())
        for key in ("p1", "p2", "p3"):
            rows.prompt(name, key, text="one text")
        rows.scores(rows.run("lab/a", name), {"p1": 1.0, "p2": 0.0, "p3": 1.0})
    rows.clusters("by topic", {"one": ["p1", "p3"], "other": ["p2"]})
    with filled_store(request, engine, rows) as store:
        names = read_names(store)

        def clusters(own: Store, *of: str) -> list[int]:
            several = [names.benchmark(name) for name in of]
            ids = [row for one in several for row in one.ids]
            defaults = [row for one in several for row in one.clusterings]
            return cluster_map(own, ids, defaults, None).clusters.tolist()

        for name, shared in in_blocks(store, runs_by_benchmark(store)):
            for of in dict.fromkeys(
                [(name,), tuple({name, "same too"}), tuple({name, "by topic"})]
            ):
                assert clusters(shared, *of) == clusters(store, *of)
        assert len(set(clusters(store, "same", "same too"))) == 1
        assert len(set(clusters(store, "by topic"))) == 2


def test_columns_are_the_values_of_the_rows(store: Store) -> None:
    query = (
        "select prompt_id, value, case when value = 1 then null else value end as some "
        "from prompt_score"
    )
    rows, found = store.rows(query), store.columns(query)
    order = np.lexsort([found.numbers("value"), found.whole_numbers("prompt_id")])
    expected = sorted((row["prompt_id"], row["value"]) for row in rows)
    assert [
        *zip(
            found.whole_numbers("prompt_id")[order],
            found.numbers("value")[order],
            strict=True,
        )
    ] == expected
    assert (
        np.isnan(found.numbers("some")).sum()
        == sum(row["some"] is None for row in rows)
        == 3
    )
    assert len(found) == len(rows) == len(found.objects("some"))


#: Numbers of every width by a run, and with `{}` what is no number, without parameters.
BY_RUN = """
    select run.id as run_id, prompt.id as n, cast(prompt.id as smallint) as small, cast(null as integer) as nothing,
        case when prompt.id % 2 = 0 then cast('NaN' as double precision) when run.id % 2 = 0 then -1.5 end as x,
        case when prompt.id < 2 then cast(-1 as integer) end as y{}
    from run cross join prompt where run.id in (:run_ids) order by run.id, prompt.id desc"""


@pytest.mark.parametrize(
    "more",
    ["", ", 'x' as text", ", cast(1 as decimal(4, 1)) as z"],
    ids=["", "text", "decimal"],
)
def test_numbers_by_an_id_are_those_of_the_rows(store: Store, more: str) -> None:
    ids = store.arrow("select id from run").column(0).to_pylist()
    for asked in (ids, ids[:1], ()):
        table = store.arrow(BY_RUN.format(more), {"run_ids": asked})
        found = store.columns(
            BY_RUN.format(more), {"run_ids": asked}, per="run_id"
        ).table
        assert found.schema == table.schema
        assert str(found.to_pydict()) == str(table.to_pydict())
    if store.dialect.name == "postgresql":
        with store.reading():
            packed = store.dialect.by_id(
                store.connection, BY_RUN.format(more).replace(":run_ids", "1"), "run_id"
            )
        assert (packed is None) == bool(more)


#: Most of these numbers are the same for all prompts of a run, or null.
ALIKE = """
    select value, weight, within_variance, run_id, n_draws, n_unscored, prompt_id,
        cast(is_binary as integer) as is_binary
    from prompt_score where run_id in (:run_ids)"""


def test_numbers_that_are_mostly_alike_come_as_they_are(
    request: pytest.FixtureRequest,
) -> None:
    """The server says of which columns it counted one value for each id; what was
    written since may have others."""
    rows = StoreRows()
    for model in "abc":
        rows.scores(
            rows.run(model, "quiz"),
            {f"q{number}": float(number % 2) for number in range(40)},
        )
    with filled_store(request, "postgresql", rows) as store:
        with store.begin() as connection:
            store.dialect.analyze(connection)

        def by_prompt(table: pa.Table) -> list[dict[str, Any]]:
            return sorted(
                table.to_pylist(), key=lambda row: (row["run_id"], row["prompt_id"])
            )

        for others in (
            "weight = 1",
            "weight = prompt_id, n_draws = 2, within_variance = value",
            "weight = 1e-300",
        ):
            with store.begin() as connection:
                connection.exec_driver_sql(
                    f"update prompt_score set {others} where prompt_id < 4 and run_id "
                    "= 2"
                )
            for asked in ([1, 2, 3], [2], []):
                table = store.columns(ALIKE, {"run_ids": asked}, per="run_id").table
                read = store.arrow(ALIKE, {"run_ids": asked})
                assert table.schema == read.schema and by_prompt(table) == by_prompt(
                    read
                )
                assert table["run_id"].to_pylist() == sorted(read["run_id"].to_pylist())
        with store.reading():
            raw = store.connection.connection.driver_connection
            packing = Packing.of(raw, ALIKE.replace(":run_ids", "1, 2, 3"), "run_id")
        assert packing and {packing.columns[head][0] for head in packing.heads} >= {
            "run_id",
            "n_unscored",
            "is_binary",
        }
        few = ALIKE.replace(
            "run_id in (:run_ids)",
            " and ".join(f"n_draws + {n} > {n}" for n in range(9)),
        )
        with store.reading():  # what the server takes for one row
            packing = Packing.of(
                store.connection.connection.driver_connection, few, "run_id"
            )
        assert packing and [packing.columns[head][0] for head in packing.heads] == [
            "run_id"
        ]


@pytest.mark.parametrize(
    "values",
    [[2.5], [None], [1.0, 1.0, 2.0], [None, 1.0]],
    ids=["equal", "null", "different", "some null"],
)
def test_long_columns_of_equal_values_are_the_same_numbers(
    values: list[float | None],
) -> None:
    column = (values * FEW)[: FEW + 1]
    halves = pa.chunked_array([column[:7], column[7:]], pa.float64())
    found = Columns(pa.table({"x": halves})).numbers("x")
    np.testing.assert_array_equal(found, np.array(column, dtype=np.float64))


#: One row of each kind of value that our statements ask for, a row of nothing, one of
#: extremes.
KINDS = """
select * from (values
  (1, true, cast(7 as integer), cast(-3 as bigint), cast(0.5 as double precision), cast(1.25 as decimal(9, 3)),
    'é''x', cast('2024-02-29 12:00:00.000001' as timestamp)),
  (2, null, null, null, null, null, null, null),
  (3, false, -2147483648, 9223372036854775807, cast('nan' as double precision), -1.0, '',
    timestamp '1969-12-31 00:00:00')
) as kinds(n, truth, small, whole, number, exact, words, moment) order by n
"""


def test_values_of_every_kind_come_as_they_are(store: Store) -> None:
    first, nothing, extremes = store.rows(KINDS)
    assert first == {
        "n": 1,
        "truth": True,
        "small": 7,
        "whole": -3,
        "number": 0.5,
        "exact": 1.25,
        "words": "é'x",
        "moment": datetime(2024, 2, 29, 12, 0, 0, 1),
    }
    assert nothing == dict.fromkeys(first) | {"n": 2}
    assert np.isnan(extremes.pop("number")) and extremes == {
        "n": 3,
        "truth": False,
        "small": -(2**31),
        "whole": 2**63 - 1,
        "exact": -1.0,
        "words": "",
        "moment": datetime(1969, 12, 31),
    }
    none = store.arrow(f"select * from ({KINDS}) as kinds where n = 0")
    assert none.num_rows == 0 and none.column_names == [*first]


def test_reading_imports_no_pandas(store_url: str) -> None:
    """Which takes longer than most commands."""
    read = (
        "import sys; from warehouse.store.open import open_store\n"
        "with open_store(sys.argv[1]) as store: store.rows(sys.argv[2])\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", read, store_url, KINDS], check=True)


@pytest.mark.parametrize("first", [0, 3, 8, 13])
def test_numbers_of_a_part_of_an_array_have_its_nulls(first: int) -> None:
    values = [None if place % 5 == 2 else float(place) for place in range(40)]
    part = pa.table({"value": pa.array(values)}).slice(first, 17)
    found = Columns(part).numbers("value").tolist()
    expected = values[first : first + 17]
    assert [None if number != number else number for number in found] == expected
