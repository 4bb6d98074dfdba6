"""Statements that people type run in a process of their own, whose limits the system
holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse.api import connect
from warehouse.errors import MisuseError, QueryLimitError, StoreError
from warehouse.store.engines import Limits
from warehouse.store.sql.apart import SLACK, TypedQuery, query_apart

CSV = "model,benchmark,prompt_id,score\nada,quiz,q1,1\nada,quiz,q2,0\nbob,quiz,q1,1\nbob,quiz,q2,1\n"
#: Single expressions, in which an engine looks neither at its clock nor at what it may
#: have.
GREEDY = [
    "select len(range(1000000000)) as n",
    "select length(repeat('abcdefghij', 400000000)) as n",
    "select list_sort(range(300000000)) as n",
    "select list_aggregate(range(900000000), 'sum') as n",
    "select sum(a.i * b.i) as n from range(10000000) a(i), range(10000000) b(i)",
    "with recursive t(i) as (select 1 union all select i + 1 from t) select max(i) as "
    "n from t",
    "select string_agg(i::varchar, ',') as n from range(200000000) t(i)",
]


@pytest.fixture
def store(tmp_path: Path, run: Caller) -> str:
    """A store of a few scores."""
    (tmp_path / "a.csv").write_text(CSV)
    path = str(tmp_path / "s.duckdb")
    assert run("ingest", str(tmp_path / "a.csv"), db=path).code == 0
    return path


@pytest.mark.parametrize("sql", GREEDY)
def test_what_is_greedy_ends_within_its_limits(store: str, sql: str) -> None:
    limits = Limits(seconds=2, memory=200_000_000)
    peak = [0]

    def watch(pid: int) -> None:
        threading.Thread(target=_watch, args=(pid, peak)).start()

    began = time.monotonic()
    with pytest.raises(QueryLimitError, match="^the query "):
        query_apart(TypedQuery(store, sql, {}, limits), started=watch)
    assert (
        time.monotonic() - began < 30
    )  # of a machine that does other things too; the query had two
    assert (
        10_000_000 < peak[0] < limits.bytes + limits.answer + SLACK + 200_000_000
    )  # of the program and its packages


def _watch(pid: int, peak: list[int]) -> None:
    """The most memory that a process had, in bytes, as long as it is there."""
    while True:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            return
        sizes = [
            1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")
        ]
        if not sizes:
            return
        peak[0] = max(peak[0], *sizes)
        time.sleep(0.002)


def test_threads_ask_at_once(store: str) -> None:
    house = connect(store)
    with ThreadPoolExecutor(8) as threads:
        found = list(
            threads.map(
                lambda number: [
                    row["n"] for row in house.query(f"select {number} as n")
                ],
                range(15),
            )
        )
    assert found == [[number] for number in range(15)]


def test_errors_come_back_as_they_are(store: str, tmp_path: Path) -> None:
    house = connect(store)
    with pytest.raises(
        MisuseError, match="the query cannot be run: .*nothing_like_this"
    ):
        house.query("select * from nothing_like_this")
    with pytest.raises(MisuseError, match="no value for the parameter limit"):
        house.query("select :limit as n")
    with pytest.raises(StoreError, match="no store at"):
        query_apart(TypedQuery(str(tmp_path / "none.duckdb"), "select 1", {}, Limits()))
    assert house.query("select :n as n, :text as text", n=2, text="é\n").records() == [
        {"n": 2, "text": "é\n"}
    ]


def test_a_child_that_is_killed_is_told(store: str) -> None:
    pids: list[int] = []

    def kill() -> None:
        while not pids:
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)

    threading.Thread(target=kill).start()
    endless = (
        "select count(*) as n from range(10000000) a(i), range(10000000) b(j) where (i "
        "+ j) % 7 = 8"
    )
    with pytest.raises(QueryLimitError, match="was stopped"):
        query_apart(
            TypedQuery(store, endless, {}, Limits(seconds=60)), started=pids.append
        )
    assert connect(store).query("select 1 as one").records() == [
        {"one": 1}
    ]  # the next has a child of its own


def test_paths_are_those_of_who_asks(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(store).query(
        "select 1 as one"
    )  # what runs queries is started in another folder
    monkeypatch.chdir(Path(store).parent)
    assert connect("s.duckdb").query("select count(*) as n from score").records() == [
        {"n": 4}
    ]


def test_nothing_is_left_of_a_program_that_ends(store: str) -> None:
    code = (
        "import os, sys, warehouse\n"
        "warehouse.connect(sys.argv[1]).query('select 1 as one')\n"
        "from warehouse.store.sql import apart\n"
        "print(apart._Launcher._mine._process.pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, store],
        capture_output=True,
        text=True,
        check=True,
    )
    pid = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the process that forks for queries is still there")
