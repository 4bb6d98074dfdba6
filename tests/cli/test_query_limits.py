"""Queries end in time and leave memory to others: on the command line, in the shell, in
Python, in claims."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse import connect
from warehouse.errors import MisuseError, QueryLimitError
from warehouse.store.engines.base import Limits, machine_memory
from warehouse.store.open import open_store
from warehouse.store.sql.run_query import run_query, run_sql

pytestmark = pytest.mark.engine
#: Rows of all pairs; hours where there are many.
SERIES = "generate_series(1, {0}) as a(i), generate_series(1, {0}) as b(i)"
PAIRS = f"select count(*) as n from {SERIES} where (a.i + b.i) % 7 = 6"
ENDLESS = PAIRS.format(10_000_000)
#: More rows than any memory holds; the engines find the first at once.
VAST = f"select a.i from {SERIES.format(1_000_000)}"


def ends_soon(began: float) -> bool:
    """Far sooner than the queries would; the machine may be busy."""
    return time.monotonic() - began < 60


def test_a_query_is_stopped_and_the_message_says_what_to_do(
    run: Caller, url: str
) -> None:
    began = time.monotonic()
    stopped = run("query", "--sql", ENDLESS, "--timeout", "0.5", db=url)
    stopped.fails(2, "stopped after 0.5 s", "--timeout SECONDS")
    assert len(stopped.err.splitlines()) <= 2 and ends_soon(began)
    assert run(
        "query", "--sql", "select 1 as one", "--timeout", "0", "--json", db=url
    ).rows == [{"one": 1}]
    for option, value in (
        ("--timeout", "-1"),
        ("--timeout", "nan"),
        ("--timeout", "inf"),
        ("--memory", "1MB"),
    ):
        run("query", "--sql", "select 1", option, value, db=url).fails(2, option)
    run("query", "--sql", "select 1", "--memory", "much", db=url).fails(2, "no size")


def test_a_store_goes_on_after_a_query_that_was_stopped(url: str) -> None:
    with open_store(url, guarded=True, limits=Limits(seconds=0.5)) as store:
        for _ in range(3):
            with pytest.raises(QueryLimitError, match="0.5 s"):
                run_sql(store, ENDLESS, {})
            assert run_sql(store, "select 1 as one", {}).to_pylist() == [{"one": 1}]
            assert run_query(store, "benchmark_overview", {}).num_rows


def test_python_and_the_shell_stop_a_query_too(
    run: Caller, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(QueryLimitError, match="timeout="):
        connect(url).query(ENDLESS, timeout=0.5)
    for wrong in (-1, float("nan"), "3", None):
        with pytest.raises(MisuseError, match="in Python: timeout="):
            connect(url).query("select 1", timeout=wrong)
    with pytest.raises(MisuseError, match="in Python: memory="):
        connect(url).query("select 1", memory=-1)
    found = connect(url).query("select 1 as one", timeout=0, memory=10**9)
    assert found.records() == [{"one": 1}]
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{ENDLESS};\n"))
    run("shell", "--timeout", "0.5", db=url).fails(2, "stopped after 0.5 s")


def test_the_query_of_a_claim_is_stopped(
    run: Caller, bare_duckdb_url: str, tmp_path: Path
) -> None:
    url = bare_duckdb_url  # a store that is made by hand proves nothing
    assert run("store", "init", db=url).code == 0
    out = str(tmp_path / "c.json")
    run(
        "claim", f'query --sql "{ENDLESS}"', "--timeout", "0.5", "-o", out, db=url
    ).fails(2, "stopped after 0.5 s")
    assert not os.path.exists(out)
    short = PAIRS.format(10_000)  # .4 s, which no machine does in .01
    assert run("claim", f'query --sql "{short}"', "-o", out, db=url).code == 0
    run("claim", "verify", out, "--timeout", "0.01", db=url).fails(
        2, "stopped after 0.01 s"
    )


def test_an_answer_larger_than_memory_is_refused(url: str) -> None:
    with open_store(url, guarded=True, limits=Limits(memory=60_000_000)) as store:
        with pytest.raises(QueryLimitError, match="more than 15 MB"):
            run_sql(store, VAST, {})
        assert run_sql(store, "select count(*) as n from run", {})["n"][0].as_py() > 0


def test_an_engine_in_this_process_has_less_than_half_of_the_memory(
    run: Caller, duckdb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAREHOUSE_MEMORY_LIMIT", raising=False)
    open_store(duckdb_url, create=True).close()
    asked = "select current_setting('{}') as setting"

    def setting(name: str, **limits: int) -> float:
        with open_store(duckdb_url, guarded=True, limits=Limits(**limits)) as store:
            number, unit = (
                run_sql(store, asked.format(name), {})["setting"][0].as_py().split()
            )
        return float(number) * 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)

    assert 0.3 < setting("memory_limit") / machine_memory() < 0.4
    assert setting("memory_limit") + Limits().answer < 0.5 * machine_memory()
    assert setting("memory_limit", memory=10**9) == pytest.approx(1e9, rel=0.01)
    assert setting("max_temp_directory_size") > 0
    run(
        "query",
        "--sql",
        "select list(range) from range(20000000)",
        "--memory",
        "50MB",
        db=duckdb_url,
    ).fails(2, "more than the 50MB of memory", "--memory SIZE")
    monkeypatch.setenv("WAREHOUSE_MEMORY_LIMIT", "300MB")
    assert setting("memory_limit") == pytest.approx(3e8, rel=0.01)


def test_what_a_query_spills_is_bounded_and_gone_afterwards(
    run: Caller, duckdb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(duckdb_url, create=True).close()
    monkeypatch.setenv(
        "WAREHOUSE_THREADS", "2"
    )  # one by itself needs more than 60 MB for this
    folder = Path(duckdb_url.removeprefix("duckdb:///")).parent
    before = sorted(path.name for path in folder.iterdir())
    rows = "select range::varchar || repeat('abcdefghij', 10) as s from range(1000000)"
    spilling = f"select max(s) as s from (select distinct s from ({rows}))"
    with monkeypatch.context() as little:
        little.setattr("warehouse.store.engines.duckdb.SPILL", 1e-9)
        limits = Limits(memory=60_000_000)
        with (
            open_store(duckdb_url, guarded=True, limits=limits) as store,
            pytest.raises(QueryLimitError, match="half of what is free"),
        ):
            run_sql(store, spilling, {})
    assert run("query", "--sql", spilling, "--memory", "60MB", db=duckdb_url).code == 0
    assert sorted(path.name for path in folder.iterdir()) == before
