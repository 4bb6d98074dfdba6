"""``query`` and ``shell``: what they answer, and that they can change nothing and reach
nothing."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.cli import Caller, filled_url
from tests.support.world import build_world
from warehouse.errors import MisuseError
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store
from warehouse.store.sql import query_files
from warehouse.store.sql.run_query import run_sql


@pytest.fixture(scope="module")
def duckdb_world(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, "duckdb", build_world()) as filled:
        yield filled


@pytest.fixture(scope="module")
def postgres_world(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, "postgresql", build_world()) as filled:
        yield filled


# --- answers ---------------------------------------------------------------------------------


def test_every_form_has_the_same_columns_and_rows(
    run: Caller, url: str, tmp_path: Path
) -> None:
    rows = run("query", "score_summary", "--json", db=url).rows
    table = list(
        csv.DictReader(io.StringIO(run("query", "score_summary", "--csv", db=url).out))
    )
    file = tmp_path / "x.parquet"
    assert run("query", "score_summary", "--parquet", str(file), db=url).code == 0
    columns = [name for name, _ in query_files.find("score_summary").columns]
    assert (
        list(rows[0]) == list(table[0]) == pq.read_table(file).column_names == columns
    )
    assert len(rows) == len(table) == pq.read_table(file).num_rows > 50
    assert sorted(row["model"] for row in rows) == sorted(row["model"] for row in table)
    assert sum(row["standard_error"] is None for row in rows) == sum(
        row["standard_error"] == "" for row in table
    )
    plain = run("query", "score_summary", db=url).out.splitlines()
    assert plain[0].split() == columns and len(plain) == len(rows) + 2


def test_values_have_one_form_in_json_and_csv(run: Caller, url: str) -> None:
    sql = (
        "select cast('nan' as double precision) as n, cast(null as integer) as z, true "
        "as b, "
        "cast('2026-01-31 12:00:00' as timestamp) as t, 'a,\"b\"' as s, 0.5 as f, "
        "sum(cast(7 as bigint)) as whole"
    )
    expected = {
        "n": None,
        "z": None,
        "b": True,
        "t": "2026-01-31T12:00:00",
        "s": 'a,"b"',
        "f": 0.5,
        "whole": 7,
    }
    assert run("query", "--sql", sql, "--json", db=url).rows == [expected]
    lines = run("query", "--sql", sql, "--csv", db=url).out.splitlines()
    assert lines == ["n,z,b,t,s,f,whole", ',,true,2026-01-31T12:00:00,"a,""b""",0.5,7']


def test_parameters_are_values_never_text(run: Caller, url: str) -> None:
    sql = "select name from model where name = :name -- :ignored"
    found = run("query", "--sql", sql, "-p", "name=org/a", "--json", db=url)
    assert found.rows == [{"name": "org/a"}]
    attack = "name=x' or '1'='1"
    assert run("query", "--sql", sql, "-p", attack, "--json", db=url).rows == []
    assert run(
        "query",
        "--sql",
        "select 1 as n where 1.5e0 > :n",
        "-p",
        "n=1.25",
        "--json",
        db=url,
    ).rows == [{"n": 1}]
    run("query", "--sql", sql, db=url).fails(2, "no value for the parameter name")
    run("query", "--sql", sql, "-p", "name=x", "-p", "y=1", db=url).fails(
        2, "no parameter y"
    )


def test_a_wrong_query_is_misuse_with_the_engines_words(run: Caller, url: str) -> None:
    run("query", "--sql", "select nothing from nowhere", db=url).fails(2, "nowhere")
    run("query", "--sql", "selekt 1", db=url).fails(2)
    run("query", "--sql", " ", db=url).fails(2, "an empty query")
    run("query", "score_sumary", db=url).fails(2, "did you mean score_summary")
    run("query", "mine.sql", db=url).fails(2, "warehouse query --sql - < mine.sql")
    found = run("leaderboard", "--where", "temperatur=1", db=url)
    assert (
        found.err.count("no field 'temperatur'; did you mean temperature?") == 1
    )  # of all benchmarks once


# --- the shell -------------------------------------------------------------------------------


def test_the_shell_answers_what_is_piped_into_it(
    run: Caller, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        *(
            "select 1 as one,",
            "",
            "  2 as two;",
            "",
            ".help",
            "benchmark_tree",
            "select",
            " count(*) as n",
        ),
        "from model",
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    found = run("shell", db=url)
    assert found.code == 0
    assert found.out.startswith("one  two\n---  ---\n  1    2\n")
    assert ".quit" in found.out and "benchmark" in found.out
    assert found.out.splitlines()[-3].split() == ["n"]


def test_a_piped_statement_that_fails_ends_the_shell(
    run: Caller, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("delete from run;\nselect 1;\n"))
    found = run("shell", db=url)
    found.fails(2, "expected one SELECT")
    assert found.out == ""


# --- nothing can be changed or reached -------------------------------------------------------

WRITING = [
    *(
        "insert into model (id, name) values (99, 'x')",
        "update model set name = 'x'",
        "delete from run",
    ),
    *(
        "drop table run",
        "alter table run add column x integer",
        "create table x (a integer)",
    ),
    *(
        "create view x as select 1",
        "truncate table run",
        "select 1; delete from run",
        "; delete from run",
    ),
    *("/* select */ delete from run", "-- select\ndelete from run"),
]
SNEAKING = [
    "with gone as (delete from run returning id) select * from gone",
    "select 1 into x",
]
OF_DUCKDB = [
    "copy (select 1) to '{folder}/out.csv'",
    "copy run to '{folder}/out.parquet' (format parquet)",
    "export database '{folder}/out'",
    "select * from read_text('{folder}/secret.csv')",
    "select * from read_blob('{folder}/secret.csv')",
    "select * from read_csv('{folder}/secret.csv')",
    "select * from '{folder}/secret.csv'",
    "from glob('{folder}/*')",
    "attach '{folder}/other.duckdb' as other",
    "install httpfs",
    "load httpfs",
    "set threads = 1",
    "set enable_external_access = true",
    "pragma threads = 1",
    "reset memory_limit",
]
#: What the connection lets through: the statement is refused.
OF_DUCKDB_FUNCTIONS = [
    "from enable_logging('QueryLog', storage = 'file', storage_path = '{folder}/l')",
    "from ENABLE_logging/* (a) /* b */ */ (storage_path = '{folder}/log', storage = "
    "'file')",
    "from enable_profiling(format = 'json', save_location = '{folder}/profile.json')",
    "select * from \"enable_profiling\"(save_location = '{folder}/profile.json')",
    "from query('from enable_logging()')",
    "from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "from force_checkpoint()",
    "select write_log('hush')",
    "from arrow_scan(1, 2, 3)",
    "select getenv('HOME')",
    "from read_duckdb('{folder}/other.duckdb')",
    "from sniff_csv('{folder}/secret.csv')",
    "select $$ :x $$; drop table run",
]
OF_POSTGRESQL = [
    "copy (select 1) to program 'touch {folder}/out.csv'",
    "copy (select 1) to '{folder}/out.csv'",
    "copy model (name) from program 'echo x'",
    "select pg_read_file('{folder}/secret.csv')",
    "select lo_import('{folder}/secret.csv')",
    "select lo_export(1, '{folder}/out.csv')",
    "select * from pg_ls_dir('{folder}')",
    "select set_config('role', 'postgres', false), pg_read_file('{folder}/secret.csv')",
    "select set_config('transaction_read_only', 'off', false)",
    "set transaction read write",
    "reset role",
    "do $$ begin delete from run; end $$",
    "create temp table x as select 1",
    "begin; commit",
    "select set_config('role', 'none', false), pg_read_file('{folder}/secret.csv')",
    "select x.a, pg_read_file('{folder}/secret.csv') from (select set_config('role', "
    "'none', false)"
    " as a offset 0) as x where x.a is not null",
    "select set_config('session_authorization', 'postgres', false), "
    "pg_ls_dir('{folder}')",
    "select query_to_xml('select pg_read_file(''{folder}/secret.csv'')', true, true, "
    "'')",
    "select pg_stat_file('{folder}/secret.csv')",
    "select rolname, rolpassword from pg_authid",
    "select passwd from pg_shadow",
    "select * from pg_hba_file_rules",
    "select pg_create_physical_replication_slot('slot', true)",
    "select pg_create_logical_replication_slot('slot', 'test_decoding')",
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres'",
    "select pg_cancel_backend(pid) from pg_stat_activity where usename = 'postgres'",
    "select pg_reload_conf()",
    "select pg_switch_wal()",
    "select loread(lo_open(1, 262144), 10)",
    "select nextval('x')",
    "select * from dblink('dbname=postgres', 'select 1') as t(a integer)",
    "prepare x as delete from run",
    "execute x",
    "listen x",
    "copy (select 1) to stdout",
    "explain analyze delete from run",
    "set session authorization postgres",
    "lock table run",
    "declare c cursor for select 1",
    "vacuum",
    "call x()",
    "select 1 from run for update",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A world-readable file with a secret, in a folder where nothing else may appear."""
    (tmp_path / "secret.csv").write_text("word\nhush\n")
    for path in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        path.chmod(0o777)
    return tmp_path


def held(url: str) -> list[object]:
    """What a change would show in."""
    with open_store(url) as store:
        found = store.arrow(
            "select count(*), min(model.name), max(run.id) from model, run"
        ).to_pylist()
        tables = "select count(*) as n from information_schema.tables"
        return [found, store.arrow(tables).to_pylist()]


def test_no_query_writes(run: Caller, url: str) -> None:
    before = held(url)
    for statement in (*WRITING, *SNEAKING):
        run("query", "--sql", statement, db=url).fails(2)
        assert held(url) == before, statement


@pytest.mark.engine
@pytest.mark.parametrize("statement", OF_DUCKDB)
def test_no_query_of_the_file_engine_reaches_out(
    run: Caller, duckdb_world: str, statement: str, folder: Path
) -> None:
    found = run("query", "--sql", statement.format(folder=folder), db=duckdb_world)
    found.fails(2)
    assert "hush" not in found.err + found.out
    assert [path.name for path in folder.iterdir()] == ["secret.csv"]


@pytest.mark.engine
@pytest.mark.parametrize("statement", OF_POSTGRESQL)
def test_no_query_of_the_server_engine_reaches_out(
    run: Caller, postgres_world: str, statement: str, folder: Path
) -> None:
    found = run("query", "--sql", statement.format(folder=folder), db=postgres_world)
    found.fails(2)
    assert "hush" not in found.err + found.out
    assert [path.name for path in folder.iterdir()] == ["secret.csv"]


@pytest.mark.engine
@pytest.mark.parametrize("statement", OF_DUCKDB)
def test_the_connection_itself_refuses(
    duckdb_world: str, statement: str, folder: Path
) -> None:
    """Also where the statement is not looked at first."""
    with open_store(duckdb_world, guarded=True) as store:
        raw = store.connection.connection.driver_connection
        assert raw is not None
        with pytest.raises(
            Exception, match=r"(?i)permission|disabled|locked|read-only|not found"
        ):
            raw.execute(statement.format(folder=folder)).fetchall()
    assert [path.name for path in folder.iterdir()] == ["secret.csv"]


@pytest.mark.engine
@pytest.mark.parametrize("statement", OF_DUCKDB_FUNCTIONS)
def test_functions_that_do_more_than_read_are_refused(
    run: Caller, duckdb_world: str, statement: str, folder: Path
) -> None:
    run("query", "--sql", statement.format(folder=folder), db=duckdb_world).fails(2)
    assert [path.name for path in folder.iterdir()] == ["secret.csv"]


@pytest.mark.engine
def test_a_query_that_loosens_the_connection_does_not_help_the_next(
    postgres_world: str,
) -> None:
    with open_store(postgres_world, guarded=True) as store:
        for setting, value in (
            ("default_transaction_read_only", "off"),
            ("statement_timeout", "0"),
            ("search_path", "pg_temp"),
        ):
            run_sql(store, f"select set_config('{setting}', '{value}', false)", {})
        run_sql(store, "select pg_advisory_lock(7236070)", {})
        with pytest.raises(MisuseError, match="session authorization"):
            run_sql(
                store,
                "select set_config('session_authorization', 'postgres', false)",
                {},
            )
        for statement in (
            "with x as (delete from run returning id) select * from x",
            "select pg_ls_dir('/')",
        ):
            with pytest.raises(MisuseError):
                run_sql(store, statement, {})
        settings = (
            "select current_setting('statement_timeout') as t, current_setting('jit') "
            "as j"
        )
        assert run_sql(store, settings, {}).to_pylist() == [{"t": "5min", "j": "off"}]
        locks = "select count(*) as n from pg_locks where locktype = 'advisory'"
        assert run_sql(store, locks, {}).to_pylist() == [{"n": 0}]
        assert run_sql(store, "select count(*) as n from run", {})["n"][0].as_py() > 0


def test_what_a_function_in_a_select_writes_is_taken_back(postgres_url: str) -> None:
    """PostgreSQL 15 lets lo_create through in a read-only transaction."""
    with open_store(postgres_url, create=True) as store:
        upkeep.make_reader(store)
    with (
        open_store(postgres_url, guarded=True) as store,
        contextlib.suppress(MisuseError),
    ):
        run_sql(store, "select lo_put(lo_create(7), 0, 'hush') as made", {})
    with open_store(postgres_url) as store:
        found = store.arrow("select count(*) as n from pg_largeobject_metadata")
    assert found.to_pylist() == [{"n": 0}]


def test_a_library_query_that_is_taken_for_a_table_is_named(
    run: Caller, url: str
) -> None:
    asked = run("query", "--sql", "select model from leaderboard", db=url)
    asked.fails(2, "leaderboard is a query of the library", "warehouse query leaderb")
