"""What a load leaves behind when it fails, dies, or meets another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.support import forked
from warehouse.errors import InputError, StoreError, StoreLockedError
from warehouse.importers.base import batch_of
from warehouse.records import Dump, RunHeader
from warehouse.store.engines import parse_url
from warehouse.store.load import source_ledger
from warehouse.store.load.loader import Loader
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

FACTS = (
    "run",
    "score",
    "generation",
    "choice",
    "prompt_score",
    "content",
    "published_score",
    "run_source",
)


class Broken(Exception):
    """What an importer may raise in the middle of a file."""


def test_a_failing_load_leaves_no_facts(kit: Any) -> None:
    def batches() -> Iterator[Any]:
        yield batch_of(kit.rows({"a": 1.0}, response="x"))
        raise Broken

    with pytest.raises(Broken):
        kit.loader.load(Dump((kit.header(),), batches()), kit.claim(), LoadOptions())
    assert kit.counts(*FACTS) == (0,) * len(FACTS)
    report = check(kit.store)
    assert report.ok and [item.check for item in report.integrity] == [
        "note_unfinished_sources"
    ]
    assert kit.load(kit.header(), kit.rows({"a": 1.0})).n_runs == 1


def test_a_load_that_fails_in_the_last_step_leaves_no_facts(kit: Any) -> None:
    def fail(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "update source set state" in " ".join(statement.lower().split()):
            raise Broken

    rows = kit.rows({"a": 1.0}, response="x")
    sa.event.listen(kit.store.engine, "before_cursor_execute", fail)
    with pytest.raises(Broken):
        kit.load(kit.header(), rows)
    sa.event.remove(kit.store.engine, "before_cursor_execute", fail)
    assert kit.counts(*FACTS) == (0,) * len(FACTS)
    kit.load(kit.header(), rows)
    assert kit.counts("run", "score", "content", "metric") == (1, 1, 1, 1)
    assert check(kit.store).ok


def test_a_refused_source_is_in_the_ledger_with_its_reason(kit: Any) -> None:
    claim = kit.claim("bad.json")
    source_ledger.refuse(kit.store, claim, "line 4712: not JSON", [])
    assert kit.one("select path, state from source") == ("bad.json", "refused")
    assert "4712" in str(kit.one("select notes from source"))
    assert source_ledger.loaded(kit.store) == {}
    assert check(kit.store).integrity == ()
    again = source_ledger.claim(
        kit.store,
        path="bad.json",
        size=1,
        sha256=claim.sha256,
        importer="tool",
        version="1",
        settings={},
    )
    assert again is not None and again.id == claim.id
    with pytest.raises(InputError):
        kit.loader.load(
            Dump((kit.header(),), [batch_of([kit.row("a", 1.0, identity="{")])]),
            again,
            LoadOptions(),
        )


# --- a process that dies ---------------------------------------------------------------------

DYING = """
import os, signal, sys
import sqlalchemy as sa
from warehouse.importers.base import batch_of
from warehouse.records import Dump, RunHeader
from warehouse.store.load import source_ledger as ledger
from warehouse.store.open import open_store
from warehouse.store.load.loader import Loader, LoadOptions

url, fatal = sys.argv[1:]
store = open_store(url, write=True)
loader = Loader(store)

def load(number):
    claim = ledger.claim(store, path=str(number), size=1, sha256=str(number), importer="tool",
                         version="1", settings={})
    rows = [{"run": 0, "prompt_id": str(n), "response": f"{number} {n}",
             "scores": [{"metric": "acc", "value": n % 2}]} for n in range(50)]
    header = RunHeader(harness="tool", model=f"org/{number}", benchmark="quiz", run_id="1")
    loader.load(Dump((header,), [batch_of(rows)]), claim, LoadOptions())

load(1)

@sa.event.listens_for(store.engine, "before_cursor_execute")
def die(_connection, _cursor, statement, *_rest):
    if fatal in " ".join(statement.lower().split()):
        os.kill(os.getpid(), signal.SIGKILL)

load(2)
"""


@pytest.mark.parametrize(
    "fatal",
    [
        pytest.param("select id from source where id in", marks=pytest.mark.rare),
        "select benchmark_metric",
        pytest.param("update source set state", marks=pytest.mark.rare),
    ],
)
def test_a_killed_process_leaves_whole_sources(store_url: str, fatal: str) -> None:
    """Killed at the first statement of the transaction that holds the facts, behind the
    runs and their facts, and at the last."""
    ended = forked.run([sys.executable, "-c", DYING, store_url, fatal])
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with open_store(store_url, write=True) as store:
        report = check(store)
        assert report.ok and [item.n for item in report.integrity] == [1]
        counted = "select count(*) from score union all select count(*) from content"
        assert store.arrow(counted).column(0).to_pylist() == [50, 50]
        assert store.arrow("select state from source order by id").column(
            0
        ).to_pylist() == ["loaded", "loading"]
        claim = source_ledger.claim(
            store,
            path="2",
            size=1,
            sha256="2",
            importer="tool",
            version="1",
            settings={},
        )
        assert claim is not None and claim.id == 2


# --- two processes ---------------------------------------------------------------------------

HOLDING = """
import sys
from warehouse.store.open import open_store
with open_store(sys.argv[1], write=sys.argv[2] == "write"):
    print("open", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(duckdb_url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has a store of the embedded engine open for writing."""
    command = [sys.executable, "-c", HOLDING, duckdb_url, "write"]
    with forked.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "open\n"
        yield process


@pytest.mark.engine
def test_a_held_store_is_waited_for(duckdb_url: str, holder: Any) -> None:
    told: list[str] = []
    for write in (True, False):
        with pytest.raises(
            StoreLockedError, match=rf"process {holder.pid}\b.*waited 0.3 s"
        ):
            open_store(duckdb_url, write=write, wait=0.3, say=told.append)
    assert len(told) == 2 and f"process {holder.pid}" in told[0]
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        opening = pool.submit(open_store, duckdb_url, write=True, say=told.append)
        time.sleep(0.3)
        assert not opening.done()
        holder.stdin.close()
        opening.result(timeout=10).close()
    assert time.monotonic() - began < 10 and len(told) == 3


@pytest.mark.engine
@pytest.mark.parametrize("size", [0, 4096])
def test_a_file_that_another_process_is_making_is_waited_for(
    duckdb_url: str, tmp_path: Path, size: int
) -> None:
    made = tmp_path / "made.duckdb"
    open_store(str(made), create=True).close()
    path = Path(parse_url(duckdb_url).database or "")
    path.write_bytes(bytes(size))
    told: list[str] = []

    def say(line: str) -> None:
        told.append(line)
        made.rename(path)

    open_store(duckdb_url, write=True, say=say).close()
    assert told == [f"waiting for {duckdb_url}, held by the process that makes it"]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("content", "age"),
    [
        (b"", 60),
        (bytes(4096), 60),
        (b"a text, and no store", 0),
        (b"SQLite format 3\0" + bytes(4080), 0),
    ],
)
def test_a_file_that_nobody_is_making_is_refused_at_once(
    duckdb_url: str, content: bytes, age: float
) -> None:
    path = Path(parse_url(duckdb_url).database or "")
    path.write_bytes(content)
    os.utime(path, (time.time() - age,) * 2)
    with pytest.raises(StoreError, match="not a valid DuckDB database file") as refused:
        open_store(duckdb_url, write=True, say=pytest.fail)
    assert "name a store with --db" in str(refused.value)


@pytest.mark.engine
def test_readers_share_a_store(duckdb_url: str) -> None:
    with open_store(duckdb_url) as one:
        command = [sys.executable, "-c", HOLDING, duckdb_url, "read"]
        ended = forked.run(command, "\n")
        assert (ended.stdout, one.name) == ("open\n", duckdb_url)


def _load_one(url: str, sha256: str) -> Any:
    with open_store(url, write=True) as store:
        loader = Loader(store)
        claim = source_ledger.claim(
            store,
            path=sha256,
            size=1,
            sha256=sha256,
            importer="tool",
            version="1",
            settings={},
        )
        assert claim is not None
        header = RunHeader(harness="tool", model="org/a", benchmark="quiz", run_id="1")
        row = {"run": 0, "prompt_id": "a", "scores": [{"metric": "acc", "value": 1.0}]}
        try:
            return loader.load(Dump((header,), [batch_of([row])]), claim, LoadOptions())
        finally:
            loader.close()


@pytest.mark.engine
@pytest.mark.parametrize(
    ("sources", "table"),
    [
        pytest.param(("x", "y"), "source", id="two files, source"),
        pytest.param(("x", "x"), "run", id="one file, run"),
        pytest.param(("x", "y"), "run", id="two files, run", marks=pytest.mark.rare),
        pytest.param(
            ("x", "x"), "source", id="one file, source", marks=pytest.mark.rare
        ),
    ],
)
def test_writers_of_a_server_that_meet(
    postgres_url: str, sources: Any, table: str
) -> None:
    """Both enter their file in the ledger, or have staged the same run, when the first
    commits."""
    waiting = sa.text("select count(*) from pg_locks where not granted")
    with open_store(postgres_url) as gate, ThreadPoolExecutor(2) as pool:
        with gate.begin() as connection:
            connection.execute(sa.text(f"lock table {table} in exclusive mode"))
            loads = [pool.submit(_load_one, postgres_url, name) for name in sources]
            deadline = time.monotonic() + 20
            while connection.execute(waiting).scalar_one() < 2:
                assert time.monotonic() < deadline
                assert [load.exception() for load in loads if load.done()] == []
                time.sleep(0.02)
        reports = [load.result(timeout=20) for load in loads]
        assert sorted(report.n_runs for report in reports) == [0, 1]
        assert sorted(report.state for report in reports) == (
            ["loaded", "loaded"] if len(set(sources)) == 2 else ["loaded", "unchanged"]
        )
        assert check(gate).ok


def test_a_load_that_another_writer_got_in_the_way_of_is_tried_again(kit: Any) -> None:
    """A deadlock is raised by the server itself, once, from a trigger on the run table."""
    if kit.store.dialect.embedded:
        pytest.skip("one writer at a time: there is nobody to get in the way")
    with kit.store.begin() as connection:
        connection.exec_driver_sql("create sequence tried")
        connection.exec_driver_sql(
            "create function fail_once() returns trigger language plpgsql as $$ begin "
            "if nextval('tried') = 1 then raise exception 'deadlock' using errcode = "
            "'40P01'; "
            "end if; return new; end $$"
        )
        connection.exec_driver_sql(
            "create trigger fail_once before insert on run for each row execute "
            "function fail_once()"
        )
    report = kit.load(kit.header(), kit.rows({"q": 1.0}))
    assert (report.state, report.n_runs) == ("loaded", 1)
