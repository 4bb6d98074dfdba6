"""A store that is only read: without SQLAlchemy, and with it where something asks for
that."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import duckdb
import psycopg
import pytest
import sqlalchemy as sa

from tests.refresh.test_refresh import build
from warehouse.errors import StoreError
from warehouse.store.engines import parse_url, shown_url
from warehouse.store.engines.reading import ReadingConnection
from warehouse.store.engines.urls import PlainUrl, full_url
from warehouse.store.open import open_store
from warehouse.store.schema.tables import run as run_table

READS = """
import sys
from warehouse.store.open import open_store
with open_store(sys.argv[1]) as store, store.reading():
    assert store.rows("select count(*) as n from run")[0]["n"]
assert not {"sqlalchemy", "duckdb_sqlalchemy", "pandas"} & set(sys.modules)
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with runs, which nobody has open."""
    path = str(tmp_path / "s.duckdb")
    with open_store(path, create=True) as store:
        build().write(store)
    return path


def test_reading_a_file_loads_no_sqlalchemy(url: str) -> None:
    run([sys.executable, "-c", READS, url], check=True)


def test_statements_of_sqlalchemy_see_what_others_see(url: str) -> None:
    with open_store(url) as store:
        assert isinstance(store.connection, ReadingConnection)
        n = store.rows("select count(*) as n from run")[0]["n"]
        with store.begin() as connection:
            assert connection.in_transaction()
            assert (
                connection.execute(
                    sa.select(sa.func.count()).select_from(run_table)
                ).scalar_one()
                == n
                > 0
            )
            assert store.rows("select count(*) as n from run")[0]["n"] == n
            assert connection.in_transaction()
        assert not store.connection.in_transaction()
        with store.reading():
            assert store.connection.in_transaction()
        assert not store.connection.in_transaction()
        odd = {"name": "\ud800"}  # no text of the engine: taken off before it is bound
        with store.begin() as connection:
            assert (
                connection.execute(
                    sa.text("select cast(:name as varchar)"), odd
                ).scalar_one()
                != odd["name"]
            )
            with pytest.raises(sa.exc.DBAPIError):
                connection.execute(run_table.delete())


def test_after_an_error_the_connection_goes_on(url: str) -> None:
    with open_store(url) as store:
        for _ in range(2):
            with pytest.raises(duckdb.Error), store.reading():
                store.arrow("select nothing from run")
            assert not store.connection.in_transaction()
        with pytest.raises(duckdb.Error), store.begin() as connection:
            connection.driver_connection.execute("delete from run")
        store.connection.begin()
        store.connection.driver_connection.close()  # as an engine that failed for good
        store.connection.rollback()
        assert store.rows("select count(*) as n from run")[0]["n"] > 0


def test_a_connection_is_closed_once_and_for_all(url: str) -> None:
    store = open_store(url)
    store.connection.exec_driver_sql("select 1")
    store.close()
    store.close()
    with open_store(url, write=True):  # nobody holds the file
        pass


@pytest.fixture
def server(postgres_url: str) -> str:
    """The same on a server."""
    with open_store(postgres_url, write=True) as store:
        build().write(store)
    return postgres_url


def test_reading_a_server_loads_no_sqlalchemy(server: str) -> None:
    run([sys.executable, "-c", READS, server], check=True)


def test_a_server_that_is_read_loses_nothing_that_was_written(server: str) -> None:
    with open_store(server) as store:
        assert isinstance(store.connection, ReadingConnection)
        n = store.rows("select count(*) as n from run")[0]["n"]
        with (
            pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
            store.begin() as connection,
        ):
            connection.driver_connection.execute("delete from run")
        store.connection.begin()
        store.connection.driver_connection.close()  # as a server that was started anew
        store.connection.rollback()
        assert store.rows("select count(*) as n from run")[0]["n"] == n > 0
        with (
            store.begin() as connection
        ):  # a role that reads is let in on such a connection
            assert store.rows("select 1 as n") and connection.in_transaction()
            connection.execute(sa.text("create table own (x int)"))
    with open_store(server) as store:
        assert store.rows("select x from own") == []
    with pytest.raises(
        StoreError, match="closed"
    ):  # nor is it opened again, which nobody would close
        store.dialect.interrupt(store.connection)


@pytest.mark.parametrize(
    "text", ["postgresql://127.0.0.1/s", "postgres://a.b:c-1@h.example:5433/s_1"]
)
def test_a_plain_address_of_a_server_is_the_url_that_sqlalchemy_makes_of_it(
    text: str,
) -> None:
    short, whole = (
        parse_url(text),
        sa.make_url(text).set(drivername="postgresql+psycopg"),
    )
    assert isinstance(short, PlainUrl) and full_url(short) == whole
    for name in ("database", "drivername", "username", "password", "host", "port"):
        assert getattr(short, name) == getattr(whole, name)
    assert short.get_backend_name() == whole.get_backend_name() and shown_url(
        short
    ) == shown_url(whole)
    for hide in (True, False):
        assert short.render_as_string(hide) == whole.render_as_string(hide)
    assert (
        str(short) == repr(short) == str(whole) == repr(whole)
    )  # without the password, wherever it is printed


@pytest.mark.parametrize(
    "text",
    [
        "s.duckdb",
        "duckdb:///s.duckdb",
        "duckdb:////tmp/a_b/S-1.duckdb",
        "../x/..y/z",
        "/a//b",
        "duckdb",
    ],
)
def test_a_plain_name_is_the_url_that_sqlalchemy_makes_of_it(text: str) -> None:
    short, whole = (
        parse_url(text),
        sa.make_url(text if "://" in text else f"duckdb:///{text}"),
    )
    assert isinstance(short, PlainUrl) and full_url(short) == whole
    assert (short.database, short.get_backend_name(), dict(short.query)) == (
        whole.database,
        "duckdb",
        {},
    )
    assert (short.host, short.port, short.username, short.password) == (
        whole.host,
        whole.port,
        None,
        None,
    )
    assert (
        str(short) == shown_url(short) == whole.render_as_string() == shown_url(whole)
    )


@pytest.mark.parametrize(
    "text",
    [
        "a b.duckdb",
        "duckdb:///s.duckdb?threads=1",
        "a%20b",
        "é.duckdb",
        "postgresql:///x",
        "postgresql://h/x?sslmode=require",
    ],
)
def test_any_other_url_is_sqlalchemys(text: str) -> None:
    assert isinstance(parse_url(text), sa.URL)


def test_two_connections_of_one_process_read_one_file(url: str) -> None:
    with open_store(url) as one, open_store(url) as other:
        assert one.rows("select id from run") == other.rows("select id from run")
