"""Published copies: whole, read-only, swapped in atomically; readers never meet a
writer."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.errors import MisuseError, StoreError, StoreLockedError
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check
from warehouse.store.snapshot import publish

CSV = (
    "model,benchmark,prompt_id,metric,score\norg/b,quiz,p1,acc,1\norg/b,quiz,p2,acc,0\n"
)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Caller:
    return Caller(capsys)


@pytest.fixture
def filled(duckdb_url: str) -> str:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    rows.scores(rows.run("org/a", "quiz"), {"p1": 1.0, "p2": 0.0})
    with open_store(duckdb_url, create=True) as store:
        rows.write(store)
    return duckdb_url


def scores(store: Store) -> list[float]:
    return list(
        store.arrow("select value from score order by value")["value"].to_pylist()
    )


def add_run(url: str) -> None:
    with open_store(url, write=True) as store, store.begin() as connection:
        connection.execute(
            sa.text("insert into score select * replace (0.5 as value) from score")
        )


def test_a_copy_is_the_same_store_and_cannot_be_written(
    filled: str, tmp_path: Path
) -> None:
    done = publish(filled, tmp_path / "copy.duckdb")
    with open_store(filled) as one, open_store(done.path) as other:
        assert check(other) == check(one) and scores(other) == scores(one) == [0.0, 1.0]
        for table in ("run", "prompt", "benchmark_metric", "score_summary"):
            query = f"select * from {table} order by 1, 2"
            assert other.arrow(query) == one.arrow(query)
    assert stat.S_IMODE(Path(done.path).stat().st_mode) == 0o444
    assert done.bytes == Path(done.path).stat().st_size


def test_a_copy_is_refused_by_its_mark_to_who_may_do_everything(
    filled: str, tmp_path: Path
) -> None:
    """Whether the system lets this user write into a file of mode 0444 or not."""
    done = publish(filled, tmp_path / "copy.duckdb")
    before = Path(done.path).read_bytes()
    with pytest.raises(StoreError, match=r"copy\.duckdb"):
        add_run(done.path)
    assert (
        Path(done.path).read_bytes() == before and not Path(f"{done.path}.wal").exists()
    )
    shutil.copy(done.path, tmp_path / "own.duckdb")
    (tmp_path / "own.duckdb").chmod(0o644)
    add_run(str(tmp_path / "own.duckdb"))
    with open_store(str(tmp_path / "own.duckdb")) as store:
        assert scores(store) == [0.0, 0.5, 0.5, 1.0]


def test_a_reader_keeps_its_copy_until_it_opens_again(
    filled: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "copy.duckdb")
    publish(filled, path)
    with open_store(path) as reader:
        add_run(filled)  # a reader of the copy keeps no writer out
        publish(filled, path)
        assert scores(reader) == [0.0, 1.0]
    # this process may still have the replaced file open under its path; another has not
    code = (
        f"import warehouse; print(warehouse.connect({path!r}, create=False)"
        ".arrow('select count(*) as n from score')['n'][0])"
    )
    seen = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True
    )
    assert seen.stdout.strip() == "4", seen.stderr
    assert {item.name for item in tmp_path.iterdir()} == {"copy.duckdb", "store.duckdb"}


def test_what_a_killed_writer_had_committed_is_in_the_copy(
    filled: str, tmp_path: Path
) -> None:
    file = filled.removeprefix("duckdb:///")
    code = (
        f"import duckdb, os; c = duckdb.connect({file!r}); "
        "c.execute('insert into score select * from score'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert Path(file + ".wal").exists()
    with open_store(publish(filled, tmp_path / "copy.duckdb").path) as copy:
        assert len(scores(copy)) == 4


def test_drafts_of_killed_publishers_are_removed(filled: str, tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    ours, theirs = (
        tmp_path / f".copy.duckdb.{pid}-1.part" for pid in (dead.pid, os.getppid())
    )
    for draft in (ours, theirs):
        draft.write_bytes(b"half")
    publish(filled, tmp_path / "copy.duckdb")
    assert not ours.exists() and theirs.exists()


def test_half_a_copy_of_a_killed_process_that_had_our_number_is_not_in_the_way(
    filled: str, tmp_path: Path
) -> None:
    """It is a database, into which nothing can be copied."""
    draft = tmp_path / f".copy.duckdb.{os.getpid()}-{threading.get_native_id()}.part"
    shutil.copy(publish(filled, tmp_path / "copy.duckdb").path, draft)
    draft.chmod(0o644)
    publish(filled, tmp_path / "copy.duckdb")
    assert not draft.exists()


def test_nothing_else_is_replaced(filled: str, tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.duckdb"
    text.write_text("mine")
    text.chmod(0o444)
    open_store(str(other), create=True).close()
    shut = shutil.copy(other, tmp_path / "shut.duckdb")
    shut.chmod(0o444)
    for path, part in (
        (text, "no published copy"),
        (other, "is a database, which would be lost"),
        (shut, "is a database, which would be lost"),
        (tmp_path, "is a folder"),
        (Path(filled.removeprefix("duckdb:///")), "the store itself"),
        (tmp_path / "none" / "copy", "does not exist"),
    ):
        with pytest.raises(MisuseError, match=part):
            publish(filled, path)
    assert text.read_text() == "mine"
    with pytest.raises(StoreError, match="no store at"):
        publish(str(tmp_path / "missing.duckdb"), tmp_path / "copy")


def test_it_waits_for_a_writer_and_names_it(filled: str, tmp_path: Path) -> None:
    code = (
        "import sys; from warehouse.store.open import open_store; s = "
        f"open_store({filled!r}, write=True); print('open', flush=True); "
        "sys.stdin.read(1); s.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as writer:
        assert writer.stdout is not None and writer.stdin is not None
        writer.stdout.readline()
        with pytest.raises(StoreLockedError, match=f"process {writer.pid} "):
            publish(filled, tmp_path / "copy", wait=0)
        assert not (tmp_path / "copy").exists()
        said: list[str] = []

        def let_go(text: str) -> None:
            said.append(text)
            writer.communicate(b"x")

        publish(filled, tmp_path / "copy", wait=60, say=let_go)
    assert f"process {writer.pid} " in said[0] and (tmp_path / "copy").exists()


def test_a_server_needs_none(call: Caller, postgres_url: str, tmp_path: Path) -> None:
    call("store", "init", db=postgres_url)
    call("store", "publish", str(tmp_path / "copy"), db=postgres_url).fails(
        2, "readers do not wait"
    )


def test_ingest_publishes_what_it_stored(
    call: Caller, duckdb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dump, copy = tmp_path / "dump.csv", tmp_path / "copy.duckdb"
    dump.write_text(CSV)
    call("ingest", str(dump), "--dry-run", "--publish", str(copy), db=duckdb_url).fails(
        2, "neither --publish nor"
    )
    assert not copy.exists()
    first = call("ingest", str(dump), "--publish", str(copy), db=duckdb_url)
    assert first.code == 0 and "published" in first.err, first.err
    again = call("ingest", str(dump), "--publish", str(copy), db=duckdb_url)
    assert again.code == 0 and "published" not in again.err
    assert warehouse.connect(str(copy), create=False).arrow("run_current").num_rows == 1


def test_after_writes_the_hook_that_ingest_follows(
    call: Caller, duckdb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump.csv").write_text(CSV)
    (tmp_path / "warehouse.toml").write_text(f'[store]\nurl = "{duckdb_url}"')
    monkeypatch.setenv("WAREHOUSE_CONFIG", "warehouse.toml")  # the store lies elsewhere
    call("store", "init")
    call("store", "publish").fails(2, "publish.path")
    call("store", "publish", "copy.duckdb", "--after", "lunch").fails(
        2, "'lunch' is not one of ingest"
    )
    (row,) = call("store", "publish", "copy.duckdb", "--after", "ingest", "--json").rows
    assert row["path"] == "copy.duckdb"
    settings = {row["setting"]: row["value"] for row in call("config", "--json").rows}
    assert (settings["publish.path"], settings["publish.after"]) == (
        "copy.duckdb",
        "ingest",
    )
    assert (
        call("store", "publish", "copy.duckdb", "--after", "ingest").code == 0
    )  # says the same again
    call("store", "publish", "copy.duckdb", "--after", "refresh").fails(
        2, "line 6", "change it there"
    )
    assert call("ingest", "dump.csv").code == 0
    assert (
        warehouse.connect("copy.duckdb", create=False).arrow("run_current").num_rows
        == 1
    )
