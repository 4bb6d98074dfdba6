"""Several processes that write to one store at once."""

from __future__ import annotations

import fcntl
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

import warehouse
from tests.support import races
from tests.support.forked import COMMAND, Popen
from warehouse.errors import StoreLockedError
from warehouse.store.load import source_ledger
from warehouse.store.open import open_store
from warehouse.store.schema import migrate
from warehouse.store.schema.migrate import check


def race(
    url: str, folder: Path, writers: int, files: int, prompts: int, wait: float
) -> None:
    """All writers end well, and every dump is one run."""
    made = races.dumps(folder / "all", files, prompts)
    open_store(url, create=True).close()
    ended = races.ingest_at_once(url, races.overlapping(folder, made, writers), wait)
    assert [(code, said) for code, said in ended if code or "Error" in said] == []
    with open_store(url) as store:
        counted = store.arrow(
            "select count(*) as n, count(distinct content_digest || condition_key) as "
            "different from run"
        ).to_pylist()
        assert counted == [{"n": files, "different": files}]
        assert store.arrow("select count(*) as n from score")["n"].to_pylist() == [
            files * prompts
        ]
        states = store.arrow(
            "select state, count(*) as n from source group by state"
        ).to_pylist()
        assert states == [{"state": "loaded", "n": files}]
        report = check(store)
        assert report.ok and report.integrity == (), str(report)


def at_once(url: str, *words: str) -> list[str]:
    """What three equal commands say that begin together, and end well."""
    call = [str(COMMAND), "--db", url, "--wait", "60", *words]
    started = [
        Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(3)
    ]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    return said


def test_of_several_that_make_a_store_one_does_and_all_have_it(bare_url: str) -> None:
    said = at_once(bare_url, "store", "init")
    assert sum("created" in text for text in said) == 1, said
    with open_store(bare_url) as store:
        assert check(store).ok


def test_a_store_is_not_made_while_another_process_may_make_it(tmp_path: Path) -> None:
    """The engine writes a new file over one that came after it had looked: what had been
    loaded into that was lost. The lock is what keeps processes apart in between."""
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with pytest.raises(StoreLockedError, match="makes a store in this folder"):
            open_store(url, create=True, wait=0)
        assert [*tmp_path.iterdir()] == []
    finally:
        os.close(folder)
    open_store(url, create=True, wait=0).close()
    reader = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(reader, fcntl.LOCK_EX)
        open_store(url, write=True, wait=0).close()  # what is there is not made
    finally:
        os.close(reader)


@pytest.mark.rare
def test_threads_of_a_process_load_one_after_the_other(
    bare_url: str, tmp_path: Path
) -> None:
    """Into a file two of them shared a scratch space: scores of one model were stored
    as those of another. On a server one ended as a deadlock of what brings statistics
    up to date."""
    open_store(bare_url, create=True).close()
    n_threads, n_files, n_prompts = 3, 3, 60
    for thread in range(n_threads):
        for number in range(n_files):
            n_right = 10 * thread + number + 1
            rows = [
                f"m{thread}-{number},quiz,q{prompt},{int(prompt < n_right)}\n"
                for prompt in range(n_prompts)
            ]
            file = tmp_path / f"{thread}_{number}.csv"
            file.write_text("model,benchmark,prompt_id,score\n" + "".join(rows))

    def load(thread: int) -> None:
        store = warehouse.connect(bare_url, wait=60)
        for number in range(n_files):
            store.ingest(tmp_path / f"{thread}_{number}.csv")

    with ThreadPoolExecutor(n_threads) as pool:
        for ended in [pool.submit(load, thread) for thread in range(n_threads)]:
            ended.result()
    with open_store(bare_url) as store:
        found = store.rows("select model, estimate from score_summary order by model")
        assert check(store).ok
    right = {
        f"m{t}-{n}": (10 * t + n + 1) / n_prompts
        for t in range(n_threads)
        for n in range(n_files)
    }
    assert {row["model"]: row["estimate"] for row in found} == pytest.approx(right)


def test_a_reader_waits_for_a_writer_of_its_process(bare_duckdb_url: str) -> None:
    with open_store(bare_duckdb_url, create=True):
        with pytest.raises(
            StoreLockedError, match="held by another connection of this process"
        ):
            open_store(bare_duckdb_url, wait=0)
        with pytest.raises(
            StoreLockedError, match="held by another connection of this process"
        ):
            open_store(bare_duckdb_url, write=True, wait=0)
    open_store(bare_duckdb_url).close()
    open_store(bare_duckdb_url, write=True).close()


@pytest.mark.rare
def test_upgrades_at_once(store_url: str) -> None:
    with open_store(store_url, write=True) as store:
        migrate.downgrade(store, "0001")
    at_once(store_url, "store", "upgrade")
    with open_store(store_url) as store:
        assert check(store).ok


@pytest.mark.rare
def test_writers_of_overlapping_folders(bare_url: str, tmp_path: Path) -> None:
    race(bare_url, tmp_path, writers=3, files=6, prompts=20, wait=60)


@pytest.mark.slow
def test_eight_writers_of_two_hundred_files(
    bare_postgres_url: str, tmp_path: Path
) -> None:
    race(bare_postgres_url, tmp_path, writers=8, files=200, prompts=200, wait=60)


KEY, OTHER = ("hash", "settings"), ("hash", "other settings")


def test_a_source_is_with_one_process_at_a_time(postgres_url: str) -> None:
    open_store(postgres_url, create=True).close()
    with (
        open_store(postgres_url, write=True) as one,
        open_store(postgres_url, write=True) as two,
    ):
        assert source_ledger.reserve(one, [KEY]) == [True]
        assert source_ledger.reserve(two, [KEY]) == [False]
        assert source_ledger.reserve(two, [OTHER]) == [True]
        waiting = threading.Thread(
            target=source_ledger.reserve, args=(two, [KEY]), kwargs={"patient": True}
        )
        waiting.start()
        source_ledger.release(one, [KEY])
        waiting.join(30)
        assert not waiting.is_alive() and source_ledger.reserve(one, [KEY]) == [False]
    with open_store(
        postgres_url, write=True
    ) as three:  # what a process held ends with it
        assert source_ledger.reserve(three, [KEY]) == [True]


def test_loads_without_a_key_in_common_run_beside_each_other(postgres_url: str) -> None:
    open_store(postgres_url, create=True).close()
    with (
        open_store(postgres_url, write=True) as one,
        open_store(postgres_url, write=True) as two,
    ):
        dialect = one.dialect
        with one.begin() as mine, two.begin() as theirs:
            theirs.exec_driver_sql("set local lock_timeout = '5s'")
            dialect.lock_shared(mine, ["a", "b"])
            dialect.lock_shared(theirs, ["c"])  # would fail after 5 s
            dialect.lock_catalogue(theirs)
        with one.begin() as mine:
            dialect.lock_shared(mine, ["a", "b"])
            with (
                pytest.raises(sa.exc.OperationalError, match="lock timeout"),
                two.begin() as theirs,
            ):
                theirs.exec_driver_sql("set local lock_timeout = '100ms'")
                dialect.lock_shared(theirs, ["b"])
