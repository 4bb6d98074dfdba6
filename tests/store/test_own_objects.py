"""A store that somebody sends may hold other things under names of ours: they are told,
and never used."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from tests.support.cli import Caller
from tests.support.stores import filled_once
from warehouse.errors import StoreError
from warehouse.store.engines.duckdb import DUCKDB
from warehouse.store.open import open_store
from warehouse.store.schema import found_before, head, migrate, objects, tables

CSV = "model,benchmark,prompt_id,score\nada,quiz,q1,1\nada,quiz,q2,0\nbob,quiz,q1,1\nbob,quiz,q2,1\n"


@pytest.fixture
def store(tmp_path: Path, run: Caller) -> str:
    """A store of a few scores."""
    (tmp_path / "a.csv").write_text(CSV)
    path = str(tmp_path / "s.duckdb")

    def fill() -> None:
        assert run("ingest", str(tmp_path / "a.csv"), db=path).code == 0

    filled_once(f"duckdb:///{path}", CSV, fill)
    return path


def change(path: str, *statements: str) -> None:
    """What another program does to a store."""
    with duckdb.connect(path) as raw:
        for statement in statements:
            raw.execute(statement)


VIEW_FOR_TABLE = (
    "create table kept as select * from prompt_score",
    "drop table prompt_score cascade",
    "create view prompt_score as select * replace (1 - value as value) from kept",
)
HOSTILE: dict[str, tuple[tuple[str, ...], str]] = {
    "a view for a table": (
        VIEW_FOR_TABLE,
        "prompt_score, which is a table, is none there",
    ),
    "a table for a view": (
        (
            "create table t as select * from run_current",
            "drop view run_current",
            "alter table t rename to run_current",
        ),
        "run_current, which is a view, is none there",
    ),
    "a view less": (("drop view seed_summary",), "view seed_summary is missing"),
    "another text": (
        ("create or replace view seed_summary as select 1 as model",),
        "the view seed_summary has another text",
    ),
    "a text that reads a file": (
        (
            "create or replace view seed_summary as select content as model from "
            "read_text('/etc/hostname')",
        ),
        "the view seed_summary has another text",
    ),
    "a view for the revision": (
        (
            "drop table alembic_version",
            "create view alembic_version as select '0018' as version_num",
        ),
        "alembic_version, which is a table, is none there",
    ),
    "a macro": (
        ("create macro avg(x) as 42",),
        "a function avg, as the engine has one",
    ),
    "a macro in capitals": (
        ('create macro "AVG"(x) as 42',),
        "a function avg, as the engine has one",
    ),
    "a default": (
        ("alter table run alter column status set default 'invalidated'",),
        "a value by itself for the column status of run",
    ),
    "a generated column": (
        (
            "create table kept as select * from preference",
            "drop table preference cascade",
            "create table preference (outcome varchar, weight double generated always "
            "as (2))",
        ),
        "a value by itself for the column weight of preference",
    ),
    "a table of a load": (
        ("create table stage_sample as select 1 as run",),
        "stage_sample, as a load calls what it is at",
    ),
    "a macro over tables": (
        ("create macro range(x) as table select 1",),
        "a function range, as the engine has one",
    ),
    "a macro in another schema": (
        ("create schema other", "create macro other.sqrt(x) as 42"),
        "a function sqrt, as the engine has one",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_not_ours_is_refused_by_name(store: str, what: str) -> None:
    statements, told = HOSTILE[what]
    change(store, *statements)
    with pytest.raises(StoreError, match=re.escape(told)):
        open_store(store)
    with open_store(store, check=False) as opened:
        assert told in "; ".join(migrate.schema_drift(opened))


@pytest.mark.parametrize("what", ["a view for a table", "another text"])
def test_commands_refuse_it_and_the_check_says_it(
    store: str, run: Caller, what: str, tmp_path: Path
) -> None:
    statements, told = HOSTILE[what]
    change(store, *statements)
    for command in (
        ("leaderboard",),
        ("query", "--sql", "select 1 as a"),
        ("ingest", str(tmp_path / "a.csv")),
    ):
        run(*command, db=store).fails(4, told)
    checked = run("store", "check", db=store)
    assert checked.code == 1 and told in checked.out


@pytest.mark.rare
def test_the_name_of_a_file_is_no_part_of_a_statement(
    run: Caller, tmp_path: Path
) -> None:
    """The database is called like its file: a quote in it ended a text of a statement
    that a load makes."""
    (tmp_path / "a.csv").write_text(CSV)
    for name in ("a'b", "a'; set threads = 1; --", 'x"y', "run", "temp"):
        path = str(tmp_path / f"{name}.duckdb")
        assert run("ingest", str(tmp_path / "a.csv"), db=path).code == 0, name
        assert run("store", "check", "--deep", db=path).code == 0, name


@pytest.mark.parametrize("name", ["s.duckdb", "s.duckdb.wal"])
def test_a_pipe_is_no_store(store: str, run: Caller, name: str, tmp_path: Path) -> None:
    """A folder may come from anybody, and a pipe in it was waited for without an end."""
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    for command in (
        ("leaderboard",),
        ("query", "--sql", "select 1 as a"),
        ("ingest", str(tmp_path / "a.csv")),
    ):
        run(*command, db=store).fails(4, f"{name} is no file")


def test_an_upgrade_makes_views_anew_and_leaves_the_rest_alone(
    store: str, run: Caller
) -> None:
    change(store, "create or replace view seed_summary as select 1 as model")
    assert run("store", "upgrade", db=store).code == 0
    assert run("store", "check", db=store).code == 0
    assert run("leaderboard", db=store).code == 0
    change(store, "create macro avg(x) as 42")
    run("store", "upgrade", db=store).fails(4, "a function avg", "may be hostile")


def test_what_a_user_adds_under_other_names_is_allowed(store: str, run: Caller) -> None:
    change(
        store,
        "create table mine as select 1 as a",
        "create view mine_too as select avg(value) as value from score",
        "create macro share_right(x) as avg(x)",
        "create schema notes",
        "create table notes.run as select 1 as a",
    )
    assert run("leaderboard", db=store).code == 0
    assert run("store", "check", db=store).code == 0
    assert run("query", "--sql", "select * from mine_too", db=store).code == 0


def test_a_file_is_looked_through_again_when_it_has_changed(
    store: str, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        assert opened.is_own
    before = os.stat(store)
    other = tmp_path / "other.duckdb"
    shutil.copy(store, other)
    change(str(other), "create macro avg(x) as 42")
    shutil.copy(other, store)  # the same file on the disk, with other bytes
    os.utime(store, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StoreError, match="a function avg"):
        open_store(store)


def test_the_log_of_a_store_is_looked_through(store: str, tmp_path: Path) -> None:
    raw = duckdb.connect(store)
    raw.execute("create macro avg(x) as 42")
    copy = tmp_path / "copy.duckdb"
    shutil.copy(store, copy)
    shutil.copy(store + ".wal", str(copy) + ".wal")
    raw.close()
    with pytest.raises(StoreError, match="a function avg"):
        open_store(str(copy))


@pytest.mark.parametrize("content", [b"", b"[]", b'{"made_by": 7}'])
def test_a_cache_that_cannot_be_read_is_as_none(
    store: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with open_store(store):
        pass
    kept = {
        file: file.read_bytes()
        for file in (tmp_path / "cache" / "warehouse" / "stores").iterdir()
    }
    assert {json.loads(text)["subject"] for text in kept.values()} == {store, "views"}
    for file in kept:
        file.write_bytes(content)
    with open_store(store) as opened:
        assert opened.is_own
    assert {file: file.read_bytes() for file in kept} == kept


def test_the_latest_findings_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(found_before, "KEPT", 2)
    for number in range(3):
        found_before.keep(f"store {number}", "1", number)
    assert [found_before.read(f"store {number}", "1") for number in range(3)] == [
        None,
        1,
        2,
    ]
    assert found_before.read("store 2", "2") is None


def test_without_a_place_for_a_cache_it_is_found_each_time(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with open_store(store) as opened:
        assert opened.is_own


def test_what_another_version_of_the_engine_prints_of_our_views_is_ours(
    store: str, monkeypatch: Any
) -> None:
    """Blanks and brackets that mean nothing stand for what another version writes."""
    own = DUCKDB.objects
    assert own is not None
    expected = objects.expected_views(own)
    (rows,) = (
        [
            {"name": name, "kind": "view", "text": text}
            for name, text in expected.items()
        ],
    )
    rows[0]["text"] = rows[0]["text"].replace("SELECT ", "SELECT  ", 1)
    assert objects._other_texts(own, rows) == []
    rows[0]["text"] = rows[0]["text"].replace("SELECT ", "SELECT 1 AS one, ", 1)
    assert objects._other_texts(own, rows) == [
        f"the view {rows[0]['name']} has another text"
    ]
    rows[0]["text"] = "drop table run"
    assert objects._other_texts(own, rows) == [
        f"the view {rows[0]['name']} has another text"
    ]


def test_the_names_of_tables_are_those_of_the_tables() -> None:
    assert tables.metadata.tables.keys() == head.TABLES


SERVER: dict[str, tuple[tuple[str, ...], str]] = {
    "a view for a table": (
        ("alter table price rename to kept", "create view price as select * from kept"),
        "price, which is a table, is none there",
    ),
    "a function": (
        (
            "create function round(double precision, integer) returns numeric language "
            "sql as 'select 42::numeric'",
        ),
        "a function round, as the engine has one",
    ),
    "a trigger": (
        (
            "create function spy() returns trigger language plpgsql as 'begin return "
            "new; end'",
            "create trigger spies before insert on run for each row execute function "
            "spy()",
        ),
        "trigger spies of run",
    ),
    "a default": (
        ("alter table run alter column status set default 'invalidated'",),
        "a value by itself for the column status of run",
    ),
    "a table that inherits": (
        ("create table more () inherits (prompt_score)",),
        "another table as part, more of",
    ),
    "a policy": (
        (
            "create policy none on score for select using (value > 0)",
            "alter table score enable row level security",
        ),
        "a policy none of score",
    ),
    "an operator": (
        (
            "create function zero(double precision, integer) returns double precision"
            " language sql as 'select 0.0::float8'",
            "create operator * (leftarg = double precision, rightarg = integer, "
            "function = zero)",
        ),
        "an operator *, as the engine has one",
    ),
    "a rule": (
        ("create rule lost as on insert to run do instead nothing",),
        "rule lost of run",
    ),
}


@pytest.mark.engine
@pytest.mark.parametrize("what", SERVER)
def test_on_a_server_too(postgres_url: str, what: str) -> None:
    statements, told = SERVER[what]
    engine = sa.create_engine(
        postgres_url.replace("postgresql:", "postgresql+psycopg:")
    )
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()
    with pytest.raises(StoreError, match=re.escape(told)):
        open_store(postgres_url)
    with open_store(postgres_url, check=False) as opened:
        assert told in "; ".join(migrate.schema_drift(opened))


def change_on_server(url: str, *statements: str) -> None:
    """What the owner of a store on a server does to it."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement.replace("%", "%%"))
    engine.dispose()


def with_other_text(url: str, name: str, old: str, new: str) -> str:
    """The statement that gives a view another text."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        text = connection.exec_driver_sql(
            f"select pg_get_viewdef('{name}'::regclass)"
        ).scalar_one()
    engine.dispose()
    assert old in text
    return f"create or replace view {name} as {text.replace(old, new, 1)}"


@pytest.mark.engine
@pytest.mark.parametrize("told", ["before", "never"])
def test_another_text_of_a_view_on_a_server_is_refused(
    postgres_url: str,
    run: Caller,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether the store was found to be ours before it was changed or nobody here has
    seen it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "a.csv").write_text(CSV)
    assert run("ingest", str(tmp_path / "a.csv"), db=postgres_url).code == 0
    assert run("leaderboard", db=postgres_url).code == 0
    if told == "never":
        shutil.rmtree(tmp_path / "cache")
    change_on_server(
        postgres_url, with_other_text(postgres_url, "seed_summary", "avg(", "max(")
    )
    other = "the view seed_summary has another text"
    for command in (
        ("leaderboard",),
        ("query", "--sql", "select 1 as a"),
        ("ingest", str(tmp_path / "a.csv")),
    ):
        run(*command, db=postgres_url).fails(4, other, "store upgrade")
    checked = run("store", "check", db=postgres_url)
    assert checked.code == 1 and other in checked.out
    assert run("store", "upgrade", db=postgres_url).code == 0
    assert run("leaderboard", db=postgres_url).code == 0


#: What gives views on a server another meaning, with what is said of it; no statement
#: names one of the views.
UNDER_VIEWS: dict[str, tuple[tuple[str, ...], str]] = {
    "a table in place of another": (
        (
            "alter table prompt_score rename to kept",
            "create table prompt_score as select * from kept",
        ),
        "has another text",
    ),
    "columns that change places": (
        (
            "alter table run_metric rename column n_scored to kept",
            "alter table run_metric rename column metric_id to n_scored",
            "alter table run_metric rename column kept to metric_id",
        ),
        "has another text",
    ),
    "a view less": (
        ("drop view seed_summary cascade",),
        "view seed_summary is missing",
    ),
}


@pytest.mark.engine
@pytest.mark.parametrize("what", UNDER_VIEWS)
def test_views_on_a_server_that_read_something_else_are_refused(
    postgres_url: str, run: Caller, what: str
) -> None:
    assert run("store", "init", db=postgres_url).code == 0
    with open_store(postgres_url) as store:
        assert store.is_own
    statements, told = UNDER_VIEWS[what]
    change_on_server(postgres_url, *statements)
    with pytest.raises(StoreError, match=told):
        open_store(postgres_url)


@pytest.mark.engine
def test_what_is_ours_on_a_server_is_printed_once(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was made here is known; what somebody else has made is, once it was printed;
    whatever others add beside."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    open_store(postgres_url, create=True).close()
    (made,) = (tmp_path / "cache" / "warehouse" / "stores").iterdir()
    shutil.rmtree(tmp_path / "cache")
    change_on_server(
        postgres_url,
        "create table mine as select 1 as a",
        "create view mine_too as select * from run",
    )
    for _ in range(2):
        open_store(postgres_url).close()
    (found,) = (tmp_path / "cache" / "warehouse" / "stores").iterdir()
    assert found.name == made.name
    change_on_server(
        postgres_url, with_other_text(postgres_url, "seed_summary", "avg(", "avg (")
    )
    open_store(postgres_url).close()
    assert len([*found.parent.iterdir()]) == 2  # made anew with the same text


#: Why a role makes no temporary view.
NO_VIEWS = {
    "none is allowed": 'revoke temporary on database "{database}" from public',
    "nothing is written": "alter role modest set default_transaction_read_only = on",
    "there is no second session": "alter role modest connection limit 1",
}


@pytest.mark.engine
@pytest.mark.parametrize("why", NO_VIEWS)
def test_a_role_that_can_make_no_views_opens_a_store_on_a_server(
    postgres_url: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot tell: it takes what another has found, and goes on without."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    open_store(postgres_url, create=True).close()
    shutil.rmtree(tmp_path / "cache")
    url = sa.make_url(postgres_url)
    change_on_server(
        postgres_url,
        "create role modest login",
        "grant select on all tables in schema public to modest",
        NO_VIEWS[why].format(database=url.database),
    )
    modest = url.set(username="modest").render_as_string(hide_password=False)
    try:
        with open_store(modest) as store:
            assert store.rows("select count(*) as n from run_current") == [{"n": 0}]
        assert not (tmp_path / "cache").exists()
    finally:
        change_on_server(postgres_url, "drop owned by modest", "drop role modest")


@pytest.mark.engine
def test_a_search_path_leads_to_nothing_of_another_schema(
    postgres_url: str, run: Caller, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    assert run("ingest", str(tmp_path / "a.csv"), db=postgres_url).code == 0
    engine = sa.create_engine(
        postgres_url.replace("postgresql:", "postgresql+psycopg:")
    )
    with engine.begin() as connection:
        connection.exec_driver_sql("create schema evil")
        connection.exec_driver_sql(
            "create function evil.count() returns bigint language sql as 'select "
            "42::bigint'"
        )
        name = connection.exec_driver_sql("select current_database()").scalar_one()
        connection.exec_driver_sql(
            f'alter database "{name}" set search_path = public, evil, pg_catalog'
        )
    engine.dispose()
    with open_store(postgres_url) as store:
        (row,) = store.rows("select current_setting('search_path') as path")
        assert row["path"] == "public, pg_temp"
    assert run("leaderboard", db=postgres_url).code == 0
