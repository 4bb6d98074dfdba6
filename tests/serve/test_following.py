"""A store that changes, is replaced or is written to while its pages are open; a server
that is told to end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.cli import in_fork
from tests.support.lakes import needs_lake
from tests.support.two_models import MODELS as TWO
from tests.support.two_models import build_two_models
from warehouse.analysis.compare.answer import compared_pairs
from warehouse.analysis.compare.question import Compare
from warehouse.errors import QueryLimitError, StoreError
from warehouse.serve.answers import Answers
from warehouse.serve.app import create_app
from warehouse.serve.following import FollowedStore
from warehouse.store.connection import Store
from warehouse.store.lake.sync import sync
from warehouse.store.open import open_store

ROWS = build_two_models()
MODELS = "select count(*) as n from model"
#: Seconds within which a server has to be gone.
END = 2.0


@pytest.fixture
def file(original: str, tmp_path: Path) -> Path:
    """The file of a store of this test alone."""
    if not original.startswith("duckdb"):
        pytest.skip("of files")
    return Path(
        shutil.copy(original.removeprefix("duckdb:///"), tmp_path / "own.duckdb")
    )


def until(holds: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def copies(process: int) -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"warehouse-serve-{process}-*"))


def n_models(store: FollowedStore) -> int:
    with store.lend() as lent:
        return int(lent.rows(MODELS)[0]["n"])


def test_a_writer_finds_nobody_in_its_way_and_readers_see_what_it_wrote(
    file: Path,
) -> None:
    store = FollowedStore(str(file), look=0.05)
    try:
        before, version = n_models(store), store.version
        with (
            store.lend() as held,
            open_store(str(file), write=True, wait=0.0) as writing,
        ):
            with writing.begin() as connection:
                connection.exec_driver_sql(
                    "insert into model (id, name) values (99999, 'new/model')"
                )
            time.sleep(0.2)
            assert n_models(store) == before  # as of before, while somebody writes
        until(lambda: store.version != version)
        assert n_models(store) == before + 1 and not store.trouble
        assert held.url.database != str(file)
        until(lambda: len([*copies(os.getpid())[0].glob("*.copy")]) == 1)
    finally:
        store.close()
    assert copies(os.getpid()) == []


def test_a_question_that_takes_more_memory_than_it_may_is_refused_and_the_next_is_answered(
    file: Path,
) -> None:
    store = FollowedStore(str(file))
    try:
        with pytest.raises(QueryLimitError, match="memory"), store.lend() as lent:
            lent.rows("select len(list(i)) as n from range(60000000) a(i)")
        assert n_models(store) > 0
    finally:
        store.close()


def test_what_was_read_for_one_pair_serves_the_next_until_somebody_writes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked, select = (
        FollowedStore(str(file), look=0.05),
        list[str](),
        Store._select,
    )

    def counted(self: Store, sql: str, params: Any, by_id: str = "") -> Any:
        asked.append(sql)
        return select(self, sql, params, by_id)

    def compared(a: str, b: str) -> tuple[list[str], int]:
        asked.clear()
        with store.lend() as lent:
            rows = compared_pairs(lent, Compare(a, b, latest=True)).comparison.rows
        return [row.benchmark for row in rows], len(asked)

    monkeypatch.setattr(Store, "_select", counted)
    try:
        names, first = compared(*TWO)
        assert compared(*TWO[::-1]) == (names, 0) and first > 0
        version = store.version
        with (
            open_store(str(file), write=True) as writing,
            writing.begin() as connection,
        ):
            connection.exec_driver_sql("update benchmark set name = name || ' 2'")
        until(lambda: store.version != version)
        assert compared(*TWO)[0] == [f"{name} 2" for name in names]
    finally:
        store.close()


def test_what_is_said_of_rows_that_stay_is_noticed(own_url: str) -> None:
    store = FollowedStore(own_url, look=0.05)
    try:
        for change in (
            "update model set name = name || '2'",
            "update benchmark_metric set higher_is_better = false",
        ):
            version = store.version
            with (
                open_store(own_url, write=True) as writing,
                writing.begin() as connection,
            ):
                connection.exec_driver_sql(change)
            until(lambda version=version: store.version != version)  # type: ignore[misc]
    finally:
        store.close()


def test_a_slow_answer_holds_up_no_other(file: Path) -> None:
    store = FollowedStore(str(file), look=0.05)
    answers = Answers(store)
    slow = (
        "select count(*) as n from range(100000000) a(i), range(100000) b(i) where "
        "(a.i * b.i) % 7 = {}"
    )
    try:
        for number in range(2):  # two that take minutes
            assert (
                answers.once_soon(
                    f"slow {number}",
                    lambda asked, n=number: asked.rows(slow.format(n)),
                    0,
                )
                is None
            )
        answers.later(
            lambda: store.is_closed or time.sleep(1)
        )  # and what is computed behind the pages
        found = answers.once_soon(
            "quick", lambda asked: asked.rows("select 1 as one"), 20
        )
        assert found == [{"one": 1}]
    finally:
        store.close()


UNENDED = """
import sys, time
from warehouse.serve.answers import Answers
from warehouse.serve.app import create_app
app = create_app(sys.argv[1])
slow = "select count(*) as n from range(100000000) a(i), range(100000) b(i) where (a.i * b.i) % 7 = 3"
for answers in (app._pages.site.answers, app._pages.site.large):
    assert answers.once_soon("slow", lambda store: store.rows(slow), 0.3) is None
"""


def test_a_process_may_end_while_answers_are_computed(file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNENDED, str(file)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_store_that_is_replaced_by_another_is_followed(
    file: Path, tmp_path: Path
) -> None:
    published = tmp_path / "published.db"
    for _ in range(2):
        assert (
            in_fork(
                "-q",
                "--db",
                str(file),
                "store",
                "publish",
                str(published),
                folder=tmp_path,
            ).returncode
            == 0
        )
        if _ == 0:
            store = FollowedStore(str(published), look=0.05)
            version = store.version
    try:
        until(lambda: store.version != version)
        published.unlink()
        published.write_bytes(b"no store" * 1000)
        until(lambda: store.trouble)
        assert n_models(store) > 0  # what was seen last
    finally:
        store.close()
    with pytest.raises(StoreError, match="ends"), store.lend():
        pass


SLOW = """
import warehouse.serve.overview as overview, warehouse.serve.app as app
def slow(site, asked):
    with site.store.lend() as store:
        store.rows("select count(*) as n from range(100000000) a(i), range(100000) b(i) where (a.i * b.i) % 7 = 3")
app.VIEWS["/slow"] = slow
from warehouse.cli.main import main
import sys
sys.exit(main(sys.argv[1:]))
"""


def asked(address: str) -> None:
    with suppress(OSError):  # it ends without an answer
        urllib.request.urlopen(address, timeout=20).read()


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.rare)]
)
def test_it_ends_at_once_also_in_the_middle_of_a_query(file: Path, number: int) -> None:
    command = [sys.executable, "-c", SLOW, "--db", str(file), "serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            found = re.search(r"http://\S+/", process.stdout.readline())
            assert found
            asks = Thread(target=asked, args=(f"{found[0]}slow",), daemon=True)
            asks.start()
            time.sleep(0.7)
            assert asks.is_alive() and copies(process.pid)
            began = time.monotonic()
            process.send_signal(number)
            assert process.wait(10) == 0
            assert time.monotonic() - began < END
            assert "Traceback" not in process.stderr.read()
            assert copies(process.pid) == []
        finally:
            process.kill()


@pytest.mark.parametrize("seconds", [0.002, 0.01])
def test_who_asks_while_it_ends_leaves_no_connection(
    own_url: str, seconds: float
) -> None:
    def asks() -> None:  # until the end
        with suppress(StoreError):
            while True:
                n_models(store)

    for _ in range(5):
        store = FollowedStore(own_url, look=0.001)
        readers = [Thread(target=asks) for _ in range(4)]
        for reader in readers:
            reader.start()
        time.sleep(seconds)
        store.close()
        for reader in readers:
            reader.join(10)
            assert not reader.is_alive()


def test_what_takes_too_long_is_ended_with_a_sentence(file: Path) -> None:
    store = FollowedStore(str(file), seconds=1.0)
    try:
        with (
            pytest.raises(StoreError, match="longer than 1 seconds"),
            store.lend() as lent,
        ):
            lent.rows(
                "select count(*) as n from range(10000000) a(i), range(100000) b(i) "
                "where (a.i * b.i) % 7 = 3"
            )
        assert n_models(store) > 0
    finally:
        store.close()


@pytest.mark.lake
@needs_lake
def test_a_lake_is_served_but_for_its_texts(file: Path, tmp_path: Path) -> None:
    with open_store(str(file)) as store:
        sync(store, str(tmp_path / "lake"))
    with TestClient(
        create_app(f"sail:?lake={tmp_path / 'lake'}", seconds=60),
        base_url="http://127.0.0.1:8321",
    ) as asks:
        table = asks.get("/?format=json").json()["benchmarks"]
        a, b = sorted(
            {model["model"] for benchmark in table for model in benchmark["models"]}
        )[:2]
        compared = asks.get(
            "/compare", params={"a": a, "b": b, "force": "1", "format": "json"}
        )
        assert compared.json()["rows"] and not compared.json()["flips"]
        assert asks.get("/health").status_code == 503
