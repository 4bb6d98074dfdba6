"""Prompts and texts that nothing holds any more: removed by ``forget`` and ``db
vacuum``."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.store.conftest import Kit
from tests.support import races
from tests.support.cli import Caller
from warehouse.errors import StoreLockedError
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.curate.upkeep import Removed, vacuum
from warehouse.store.load import source_ledger
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check


def load(kit: Kit, name: str, run: str, prompts: str) -> None:
    rows = [
        kit.row(
            prompt,
            1.0,
            prompt_text=f"what is {prompt}?",
            response=f"{run} says {prompt}",
        )
        for prompt in prompts
    ]
    kit.load(kit.header(run, model=f"org/{run}"), rows, path=name)


@pytest.mark.usefixtures("whole")
def test_what_only_the_forgotten_source_held_goes_with_it(kit: Kit) -> None:
    load(kit, "one.json", "1", "abc")
    load(kit, "two.json", "2", "bcd")
    assert kit.counts("prompt", "content") == (4, 6)
    assert source_ledger.forget(kit.store, "one.json") == (1, 0)
    assert kit.counts("prompt", "content") == (3, 3)
    assert sorted(key for (key,) in kit.all("select key from prompt")) == [
        "b",
        "c",
        "d",
    ]
    load(kit, "again.json", "1", "abc")
    assert kit.counts("prompt", "content") == (4, 6)
    source_ledger.forget(kit.store, "again.json")
    source_ledger.forget(kit.store, "two.json")
    assert kit.counts("prompt", "content", "generation") == (0, 0, 0)


@pytest.mark.usefixtures("whole")
def test_what_another_run_holds_stays(kit: Kit) -> None:
    load(kit, "one.json", "1", "ab")
    rows = [kit.row("a", 0.0, response="1 says a")]
    kit.load(kit.header("9", model="org/9"), rows, path="same.json")
    source_ledger.forget(kit.store, "one.json")
    assert kit.all("select key from prompt") == [("a",)]
    assert kit.all("select text from content") == [("1 says a",)]


@pytest.mark.usefixtures("whole")
def test_places_in_clusters_and_links_go_with_a_prompt(kit: Kit) -> None:
    load(kit, "one.json", "1", "ab")
    load(kit, "two.json", "2", "bc")
    ids = {key: number for number, key in kit.all("select id, key from prompt")}
    benchmark = kit.one("select id from benchmark")
    kit.do(
        "insert into clustering (id, benchmark_id, name, kind) values (1, :b, 'k', "
        "'source')",
        b=benchmark,
    )
    kit.do("insert into cluster (id, clustering_id, label) values (1, 1, 'x')")
    kit.do(
        "insert into id_counter (table_name, next_id) values ('clustering', 2), "
        "('cluster', 2),"
        " ('prompt_link', 3), ('embedder', 2)"
    )
    for prompt in ids.values():
        kit.do(
            "insert into prompt_cluster (clustering_id, cluster_id, prompt_id) values "
            "(1, 1, :p)",
            p=prompt,
        )
    # c is held, and joined to a, which nothing will hold: a goes, as in a store that
    # never had it, and the link with it
    link = (
        "insert into prompt_link (id, prompt_id, canonical_prompt_id) values (:i, :p, "
        ":c)"
    )
    kit.do(link, i=1, p=ids["c"], c=ids["a"])
    assert source_ledger.forget(kit.store, "one.json") == (1, 0)
    assert {key for (key,) in kit.all("select key from prompt")} == {"b", "c"}
    assert vacuum(kit.store) == Removed(0, 0)
    assert kit.counts("prompt", "prompt_cluster", "prompt_link") == (2, 2, 0)


@pytest.mark.usefixtures("whole")
def test_a_vacuum_of_what_is_held_removes_nothing(kit: Kit) -> None:
    load(kit, "one.json", "1", "abc")
    assert vacuum(kit.store) == Removed(0, 0)
    kit.do(
        "insert into content (sha256, text) select sha256, text from content where 1 = "
        "0"
    )
    assert str(vacuum(kit.store)).startswith("0 prompts and 0 texts")


def test_the_command(run: Caller, store_url: str) -> None:
    found = run("store", "vacuum", db=store_url)
    assert found.code == 0 and found.out.endswith(
        "0 prompts and 0 texts that nothing holds removed\n"
    )


def test_a_source_that_another_process_loads_keeps_what_it_may_use(
    postgres_url: str,
) -> None:
    """Between its transactions a load knows prompts and texts that it has no facts
    about yet."""
    url = postgres_url
    source = [("0" * 64, "settings")]
    with open_store(url, write=True) as loading, open_store(url, write=True) as store:
        store_prompt(store)
        assert source_ledger.reserve(loading, source) == [True]
        assert source_ledger.reserve(store, source) == [False]  # and counts for nothing
        with pytest.raises(StoreLockedError, match="other processes load"):
            vacuum(store, wait=0.0)
        assert counted(store, "prompt") == 1
        told: list[str] = []
        freed = threading.Timer(0.5, source_ledger.release, (loading, source))
        freed.start()
        began = time.monotonic()
        assert vacuum(store, wait=30, say=told.append) == Removed(1, 0)
        assert time.monotonic() - began > 0.4
        assert [text[:17] for text in told] == ["waiting for loads"]
        freed.join()
        assert source_ledger.reserve(store, source) == [True]
        source_ledger.release(store, source)


def test_vacuums_and_loads_at_once(postgres_url: str, tmp_path: Path) -> None:
    """Nothing that a load is about to use is removed under its hands."""
    url, ended = postgres_url, threading.Event()
    dumps = races.dumps(tmp_path, 6, 40)
    problems: list[BaseException] = []
    removed: list[Removed] = []

    def sweep() -> None:
        try:
            with open_store(url, write=True) as store:
                while not ended.is_set():
                    removed.append(vacuum(store, wait=60))
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=sweep)
    thread.start()
    try:
        for _ in range(2):
            with open_store(url, write=True) as store:
                assert not ingest(store, dumps).refused
                for dump in dumps[::2]:
                    source_ledger.forget(store, dump.name)
    finally:
        ended.set()
        thread.join()
    assert problems == [] and removed
    with open_store(url) as store:
        assert check(store).ok
        assert counted(store, "run") == 3


def store_prompt(store: Store) -> None:
    with store.begin() as connection:
        connection.exec_driver_sql(
            "insert into benchmark (id, name, level) values (1, 'quiz', 0)"
        )
        connection.exec_driver_sql(
            "insert into prompt (id, benchmark_id, split, key, key_kind, occurrence) "
            "values (1, 1, '', 'a', 'id', 0)"
        )


def counted(store: Store, table: str) -> int:
    return int(store.arrow(f"select count(*) as n from {table}")["n"][0].as_py())
