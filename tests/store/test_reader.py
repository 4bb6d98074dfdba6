"""The role that typed queries run as on a server: made, found, refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlalchemy as sa

from tests.support.cli import Caller
from warehouse.errors import MisuseError, StoreError
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store
from warehouse.store.schema import migrate

if TYPE_CHECKING:
    from tests.conftest import PostgresCluster

pytestmark = pytest.mark.engine


@pytest.fixture
def server(cluster_of_its_own: PostgresCluster) -> Iterator[str]:
    """A store on a server where nobody has made a reader yet."""
    name = cluster_of_its_own.create()
    url = cluster_of_its_own.url(name)
    open_store(url, create=True).close()
    yield url
    _drop(url)
    cluster_of_its_own.drop(name)


def statement(url: str, *texts: str) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        for text in texts:
            connection.execute(text)


def _drop(url: str) -> None:
    """The roles, which are the server's, and their rights in this database."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        wanted = (
            "select rolname from pg_roles where rolname in ('warehouse_reader', "
            "'a%b\"c', 'strong')"
        )
        found = [row[0] for row in connection.execute(wanted).fetchall()]
    for role in found:
        quoted = '"' + role.replace('"', '""') + '"'
        statement(url, f"drop owned by {quoted}", f"drop role {quoted}")


def test_a_superuser_needs_a_reader_for_typed_queries_alone(
    run: Caller, server: str
) -> None:
    refused = run("query", "--sql", "select 1 as one", db=server)
    refused.fails(2, "do not run as postgres", "superuser", "warehouse store reader")
    assert run("query", "score_summary", "--json", db=server).rows == []
    made = run("store", "reader", db=server)
    assert made.code == 0 and "made warehouse_reader" in made.out
    found = run("query", "--sql", "select session_user as who", "--json", db=server)
    assert found.rows == [{"who": "warehouse_reader"}]
    assert "let in warehouse_reader" in run("store", "reader", db=server).out


def test_the_reader_reads_the_store_and_nothing_else(run: Caller, server: str) -> None:
    statement(server, "create table other (a integer)")
    with open_store(server, write=True) as store:
        upkeep.make_reader(store)
        migrate.upgrade(store)  # which makes the views anew
    for name in ("run", "score_summary", "alembic_version", "metric_current"):
        assert (
            run("query", "--sql", f"select count(*) as n from {name}", db=server).code
            == 0
        )
    for name in ("other", "pg_authid", "pg_largeobject", "pg_statistic"):
        run("query", "--sql", f"select * from {name}", db=server).fails(
            2, "permission denied"
        )


def test_a_named_reader_is_taken_and_one_with_power_is_not(
    run: Caller, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("store", "reader", 'a%b"c', db=server).code == 0
    run("query", "--sql", "select 1", db=server).fails(2, "warehouse store reader")
    monkeypatch.setenv("WAREHOUSE_READER", 'a%b"c')
    found = run("query", "--sql", "select session_user as who", "--json", db=server)
    assert found.rows == [{"who": 'a%b"c'}]
    statement(
        server, "create role strong login", "grant pg_read_server_files to strong"
    )
    monkeypatch.setenv("WAREHOUSE_READER", "strong")
    run("query", "--sql", "select 1", db=server).fails(
        2, "strong", "pg_read_server_files"
    )
    run("store", "reader", "strong", db=server).fails(
        2, "pg_read_server_files", "another name"
    )
    monkeypatch.setenv("WAREHOUSE_READER", server)
    run("query", "--sql", "select 1", db=server).fails(2, "postgres", "superuser")
    monkeypatch.setenv("WAREHOUSE_READER", "nobody")
    run("query", "--sql", "select 1", db=server).fails(4, "nobody")


def test_powers_of_groups_count(run: Caller, server: str) -> None:
    statement(
        server,
        "create role strong login in role pg_signal_backend",
        "grant select on run to strong",
    )
    url = (
        sa.make_url(server).set(username="strong").render_as_string(hide_password=False)
    )
    with pytest.raises(MisuseError, match="pg_signal_backend"):
        open_store(url, guarded=True, check=False)
    statement(
        server, "alter role strong replication", "revoke pg_signal_backend from strong"
    )
    with pytest.raises(MisuseError, match="replication"):
        open_store(url, guarded=True, check=False)


def test_a_reader_of_another_database_is_told_so(run: Caller, server: str) -> None:
    statement(server, "create role warehouse_reader login")
    run("query", "--sql", "select 1", db=server).fails(4, "warehouse store reader")


def test_functions_that_lend_power_are_named(run: Caller, server: str) -> None:
    statement(
        server,
        "create function lend() returns text language sql security definer return 'x'",
    )
    made = run("store", "reader", db=server)
    assert "lend()" in made.err and "powers of postgres" in made.err


def test_a_password_is_made_where_one_is_needed(
    run: Caller, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of the tests trusts everybody: the password is asked for, and
    compared."""
    file = tmp_path / "passwords"
    file.write_text("# mine\nother:5432:x:y:z\n")
    monkeypatch.setenv("PGPASSFILE", str(file))
    monkeypatch.setenv("PGPASSWORD", "the superuser's")
    made = run("store", "reader", "--new-password", db=server)
    lines = file.read_text().splitlines()
    password = lines[0].rpartition(":")[2]
    assert len(password) >= 32 and password not in made.out + made.err
    assert lines[0].split(":")[3] == "warehouse_reader" and lines[1:] == [
        "# mine",
        "other:5432:x:y:z",
    ]
    assert file.stat().st_mode & 0o077 == 0
    with psycopg.connect(server.replace("+psycopg", "")) as connection:
        kept = "select rolpassword from pg_authid where rolname = 'warehouse_reader'"
        assert connection.execute(kept).fetchall()[0][0].startswith("SCRAM-SHA-256$")
    run("store", "reader", "--new-password", db=server)
    assert len(file.read_text().splitlines()) == 3


def test_a_file_needs_no_reader(run: Caller, duckdb_url: str) -> None:
    open_store(duckdb_url, create=True).close()
    run("store", "reader", db=duckdb_url).fails(2, "is a file")
    with open_store(duckdb_url, guarded=True, reader="somebody") as store:
        assert store.arrow("select 1 as a").num_rows == 1


def test_who_may_make_no_roles_is_told(server: str) -> None:
    statement(
        server,
        "create role strong login",
        "grant select on all tables in schema public to strong",
    )
    url = (
        sa.make_url(server).set(username="strong").render_as_string(hide_password=False)
    )
    with (
        open_store(url, write=True) as store,
        pytest.raises(StoreError, match="permission denied"),
    ):
        upkeep.make_reader(store)


def test_a_role_without_rights_and_a_statement_cut_off_are_no_damage_of_the_store(
    run: Caller, server: str
) -> None:
    statement(server, "create role strong login")
    refused = run("list", "benchmarks", db=server.replace("postgres@", "strong@"))
    refused.fails(4, "permission denied", "as the owner", "warehouse store reader ROLE")
    assert "store upgrade" not in refused.err and "store check" not in refused.err
    statement(
        server,
        "alter role strong superuser",
        "alter role strong set statement_timeout = '1ms'",
    )
    ended = run("store", "check", db=server.replace("postgres@", "strong@"))
    ended.fails(4, "statement timeout", "statement_timeout be raised")
