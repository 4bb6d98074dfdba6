"""Statements on one connection of the embedded engine, whose client holds one answer at
a time (DuckDB 2 refuses the next while one is unread)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema import new_store

MANY = "select range as n from range(5000)"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "s.duckdb"), create=True) as opened:
        yield opened


def test_rows_that_are_not_read_yet_stay_while_others_are_asked_for(
    store: Store,
) -> None:
    with store.begin() as connection:
        rows = connection.exec_driver_sql(MANY)
        assert rows.fetchone() == (0,)
        assert connection.exec_driver_sql("select 1").scalar() == 1
        assert store.arrow("select 2 as n").to_pylist() == [{"n": 2}]
        assert [n for (n,) in rows] == list(range(1, 5000))


def test_an_answer_that_is_left_unread_is_in_nobodys_way(store: Store) -> None:
    with store.begin() as connection:
        assert connection.exec_driver_sql(MANY).scalar() == 0
        assert store.arrow(MANY).num_rows == 5000
        connection.exec_driver_sql(MANY).fetchone()
        connection.exec_driver_sql("create temp table t as select 1 as a")
        assert connection.exec_driver_sql("insert into t values (2), (3)").rowcount == 2


def test_a_transaction_is_undone_with_an_answer_unread(store: Store) -> None:
    with pytest.raises(KeyError), store.begin() as connection:
        connection.exec_driver_sql("create table mine as select 1 as a")
        connection.exec_driver_sql(MANY).fetchone()
        raise KeyError
    with store.begin() as connection:
        assert not sa.inspect(connection).has_table("mine")
        connection.exec_driver_sql(MANY).fetchone()
    assert store.arrow("select 1 as a").num_rows == 1


def test_ctrl_c_within_a_statement_is_an_interrupt(store: Store) -> None:
    """The client itself makes another error of it."""
    slow = "select sum(a.range * b.range) from range(200000) a, range(200000) b"
    press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), store.begin() as connection:
        press.start()
        connection.exec_driver_sql(slow)
    press.join()
    assert store.arrow("select 1 as n").to_pylist() == [{"n": 1}]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_file_that_was_to_be_a_store_is_not_left_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def stopped(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(new_store, "create", stopped)
    path = tmp_path / "new.duckdb"
    with pytest.raises(error), open_store(str(path), create=True):
        pass
    assert not [*tmp_path.iterdir()]
    monkeypatch.undo()
    with open_store(str(path), create=True) as opened:
        assert opened.rows("select count(*) as n from run") == [{"n": 0}]
