"""Locks that keep writers apart on a server: a session that only reads cannot stop a
writer without being named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from tests.support.cli import Caller
from warehouse.errors import StoreLockedError
from warehouse.store.computed import metric_values
from warehouse.store.curate import upkeep
from warehouse.store.engines import postgresql as locks
from warehouse.store.engines.postgresql_roles import as_role
from warehouse.store.load import source_ledger
from warehouse.store.open import open_store

pytestmark = pytest.mark.engine
DUMP = "model,benchmark,prompt_id,metric,score\n" + "".join(
    f"lab/a,quiz,p{i},acc,{i % 2}\n" for i in range(8)
)
KEY = ("hash", "settings")
_PLACE = locks._number("hash settings") - 2**31
#: Every lock that a writer takes, as one who only reads could take it.
HELD = {
    "all loads": f"pg_advisory_lock({locks.ALL_LOADS})",
    "all loads, in a transaction": f"pg_advisory_xact_lock({locks.ALL_LOADS})",
    "short transactions": f"pg_advisory_lock({locks.SHORT})",
    "short transactions, shared": f"pg_advisory_lock_shared({locks.SHORT})",
    "keys": (
        f"pg_advisory_lock({locks.KEYS}, i) from generate_series(0, "
        f"{locks.PLACES - 1}) as i"
    ),
    "under way": f"pg_advisory_lock({locks.UNDER_WAY})",
}


@pytest.fixture
def server(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a reader; nobody waits long."""
    monkeypatch.setattr(locks, "PATIENCE", 0.3)
    with open_store(postgres_url, create=True) as store:
        upkeep.make_reader(store)
    return postgres_url


@pytest.fixture
def reader(server: str) -> Iterator[psycopg.Connection[Any]]:
    url = as_role(sa.make_url(server), "warehouse_reader").render_as_string(
        hide_password=False
    )
    with psycopg.connect(
        url.replace("+psycopg", ""), application_name="notebook"
    ) as connection:
        yield connection


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_a_reader_that_holds_a_lock_is_named_and_the_writer_goes_on_after_it(
    run: Caller, server: str, reader: psycopg.Connection[Any], tmp_path: Path, held: str
) -> None:
    (tmp_path / "a.csv").write_text(DUMP)
    reader.execute(f"select {held}")
    ingest = ("ingest", str(tmp_path / "a.csv"), "--higher-is-better")
    stopped = run(*ingest, db=server)
    pid = reader.info.backend_pid
    said = stopped.err + stopped.out
    assert stopped.code and f"process {pid} of warehouse_reader (notebook)" in " ".join(
        said.split()
    ), stopped
    assert f"pg_terminate_backend({pid})" in " ".join(said.split())
    reader.close()
    assert run(*ingest, db=server).code == 0
    with open_store(server) as store:
        assert store.rows("select count(*) as n from score") == [{"n": 8}]


def test_the_lock_of_a_source_is_waited_for_no_longer_and_nothing_stays_taken(
    server: str, reader: psycopg.Connection[Any]
) -> None:
    reader.execute(f"select pg_advisory_lock({locks.SOURCES}, {_PLACE})")
    other = ("other", "settings")
    with open_store(server, write=True) as store:
        assert source_ledger.reserve(store, [KEY, other]) == [False, True]
        source_ledger.release(store, [other])
        with pytest.raises(StoreLockedError, match="warehouse_reader"):
            source_ledger.reserve(store, [other, KEY], patient=True)
        with open_store(server, write=True) as second, second.begin() as connection:
            assert second.dialect.no_source_reserved(connection)
        assert source_ledger.reserve(store, []) == []


def test_a_reader_locks_no_table_so_that_a_writer_waits(
    server: str, reader: psycopg.Connection[Any]
) -> None:
    for mode in (
        "row exclusive",
        "share row exclusive",
        "exclusive",
        "access exclusive",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"lock table run in {mode} mode")
        reader.rollback()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.execute("select * from run for update")


def test_a_writer_waits_for_a_writer_as_long_as_it_takes(server: str) -> None:
    with open_store(server, write=True) as one, open_store(server, write=True) as two:
        done = threading.Event()

        def second() -> None:
            with two.begin() as connection:
                two.dialect.lock_shared(connection, ["a"])
                two.dialect.lock_catalogue(connection)
                left = connection.exec_driver_sql(
                    "select current_setting('lock_timeout')"
                ).scalar_one()
                assert left == "0"  # rows are waited for as ever
                done.set()

        waiting = threading.Thread(target=second)
        with one.begin() as connection:
            one.dialect.lock_shared(connection, ["a"])
            waiting.start()
            assert not done.wait(4 * locks.PATIENCE)
        waiting.join(30)
        assert done.is_set()


def test_no_number_is_both_of_loads_and_of_refreshes() -> None:
    assert (
        len(
            {
                locks.ALL_LOADS,
                locks.KEYS,
                locks.SOURCES,
                locks.SHORT,
                locks.UNDER_WAY,
                locks.REFRESH,
            }
        )
        == 6
    )


@pytest.mark.parametrize("number", [locks.REFRESH, locks.FORMER_REFRESH])
def test_one_process_refreshes_while_others_load(
    run: Caller,
    server: str,
    reader: psycopg.Connection[Any],
    tmp_path: Path,
    number: int,
) -> None:
    (tmp_path / "a.csv").write_text(DUMP)

    def opened() -> Any:
        return open_store(server)

    with metric_values.holding(opened, 0):
        with (
            pytest.raises(StoreLockedError, match="refreshed by another process"),
            metric_values.holding(opened, 0),
        ):
            pass
        assert (
            run("ingest", str(tmp_path / "a.csv"), "--higher-is-better", db=server).code
            == 0
        )
    older: Callable[..., Any] = psycopg.connect
    with older(
        server.replace("+psycopg", "")
    ) as writer:  # what a version before this one holds
        writer.execute(f"select pg_advisory_lock({number})")
        with (
            pytest.raises(StoreLockedError, match="refreshed by"),
            metric_values.holding(opened, 0),
        ):
            pass
    reader.execute(f"select pg_advisory_lock({number})")
    with (
        pytest.raises(StoreLockedError, match="of warehouse_reader"),
        metric_values.holding(opened, 0),
    ):
        pass
