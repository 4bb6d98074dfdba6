"""Sources that need more memory than a load may use at first."""

from __future__ import annotations

import json
import random
from pathlib import Path

import duckdb as engine
import pytest

from tests.support.stores import store_at
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.engines import duckdb
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import CheckReport, check

ROWS = 20_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Long questions, and a key for each."""
    path, rng = tmp_path_factory.mktemp("large") / "large.jsonl", random.Random(1)
    with path.open("w") as out:
        for number in range(ROWS):
            row = {
                "model": "m",
                "benchmark": "b",
                "prompt_id": str(number),
                "metric": "acc",
                "score": number % 2,
                "text": f"{rng.getrandbits(4000):x}",
            }
            out.write(json.dumps(row) + "\n")
    return path


def limit(store: Store) -> str:
    return str(store.arrow("select current_setting('memory_limit') as held")["held"][0])


@pytest.mark.rare
def test_a_source_gets_the_memory_that_it_must_have(
    tmp_path: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "MEMORY_LIMIT", "20MB")
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        before = limit(store)
        report = ingest(store, [large])
        assert not report.refused, report.refused[0].error
        assert report.total("n_scores") == ROWS
        assert before == "19.0 MiB" and limit(store) != before
        assert check(store) == CheckReport((), (), ())


def test_what_the_user_allows_is_not_exceeded(
    tmp_path: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_MEMORY_LIMIT", "20MB")
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        (refused,) = ingest(store, [large]).refused
        assert (
            "large.jsonl" in refused.error and "WAREHOUSE_MEMORY_LIMIT" in refused.error
        )
        assert limit(store) == "19.0 MiB"
        assert store.arrow("select count(*) as n from run")["n"][0].as_py() == 0


def test_a_large_source_is_spilled_earlier_than_many_small_ones(
    tmp_path: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "LARGE_SOURCE", large.stat().st_size)
    small = tmp_path / "small.csv"
    small.write_text("model,benchmark,prompt_id,score\nm,other,p,1\n")
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        limits = [
            (ingest(store, [source]).total("n_scores"), limit(store))
            for source in (small, large, small)
        ]
    assert [held for _, held in limits] == [
        "381.4 MiB",
        "190.7 MiB",
        "190.7 MiB",
    ]  # the last was there already


@pytest.mark.parametrize(
    "why",
    [
        "failed to pin block of size 256.0 KiB (238.3 MiB/238.4 MiB used)",
        "Conflict on update",
    ],
)
def test_commit_that_lacks_memory_is_told_from_others(why: str) -> None:
    """The engine says so as of a transaction: such a load is tried with more memory."""
    error = engine.TransactionException(
        f"TransactionContext Error: Failed to commit: {why}"
    )
    assert duckdb.out_of_memory(error) == ("pin block" in why)


def test_keys_of_prompts_take_no_memory_that_cannot_be_spilled(
    tmp_path: Path, large: Path
) -> None:
    """An index of their natural key would: 137 MB for a million of them, twice that
    while they are committed."""
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        assert ingest(store, [large]).total("n_scores") == ROWS
        held = store.arrow(
            "select memory_usage_bytes as held from duckdb_memory() where tag = "
            "'ART_INDEX'"
        )
        assert held["held"][0].as_py() < 40 * ROWS
