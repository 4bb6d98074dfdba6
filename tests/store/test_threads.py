"""How many threads the embedded engine has: as the user says, everywhere; the answers
are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.naturals import differences, picture
from tests.support.same_rows import assert_same_rows
from tests.support.same_stores import store_differences
from tests.support.stores import store_at
from warehouse.errors import StoreError
from warehouse.ingest.pipeline import ingest
from warehouse.store.engines.duckdb import open_scratch
from warehouse.store.open import open_store
from warehouse.store.sql import query_files

DATA = Path(__file__).resolve().parents[1] / "data"
ASKED = "select cast(current_setting('threads') as integer) as n"
FILE = DATA / "human_eval" / "samples.jsonl_results.jsonl"
N_MODELS, N_PROMPTS = (
    13,
    10_000,
)  # in all more rows than one thread takes at a time (122 880)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A table of many rows."""
    path = tmp_path / "large.csv"
    lines = (
        f"m{m},q,p{p},{(p * (m + 3) % 7) / 7}\n"
        for m in range(N_MODELS)
        for p in range(N_PROMPTS)
    )
    path.write_text("model,benchmark,prompt_id,score\n" + "".join(lines))
    return path


def test_every_connection_has_the_threads_that_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = store_at(tmp_path / "s.duckdb")
    for said in ("3", "1"):
        monkeypatch.setenv("WAREHOUSE_THREADS", said)
        with open_store(url, write=True) as store:
            assert store.rows(ASKED) == [{"n": int(said)}]
            ingest(store, [FILE])
            assert store.rows(ASKED) == [{"n": int(said)}]
        for guarded in (False, True):
            with open_store(url, guarded=guarded) as store:
                assert store.rows(ASKED) == [{"n": int(said)}]
        scratch = open_scratch()
        assert scratch.execute(ASKED).fetchall() == [(int(said),)]
        scratch.close()


def test_a_load_leaves_the_threads_of_the_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAREHOUSE_THREADS", raising=False)
    with open_store(
        store_at(tmp_path / "s.duckdb") + "?threads=5", write=True
    ) as store:
        ingest(store, [FILE])
        assert store.rows(ASKED) == [{"n": 5}]


@pytest.mark.parametrize("said", ["0", "-1", "many"])
def test_no_number_of_threads_is_an_error(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = store_at(tmp_path / "s.duckdb")
    monkeypatch.setenv("WAREHOUSE_THREADS", said)
    for write in (False, True):
        with pytest.raises(StoreError, match="cannot open"):
            open_store(url, write=write)


@pytest.mark.parametrize(
    "source", ["lm_eval", pytest.param("inspect", marks=pytest.mark.slow)]
)
@pytest.mark.rare
def test_threads_change_nothing_that_is_stored(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test processes ask with one thread (`tests/conftest.py`), people with one for
    each core."""
    pictures = []
    for threads in ("1", "4"):
        monkeypatch.setenv("WAREHOUSE_THREADS", threads)
        with open_store(store_at(tmp_path / f"{threads}.duckdb"), write=True) as store:
            ingest(store, [DATA / source])
            assert store.rows("select count(*) as n from run")[0]["n"]
            pictures.append(picture(store))
    assert differences(*pictures) == []


@pytest.mark.rare
def test_threads_change_no_answer_of_many_rows(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = {threads: store_at(tmp_path / f"{threads}.duckdb") for threads in ("1", "4")}
    answers = []
    for threads, url in urls.items():
        monkeypatch.setenv("WAREHOUSE_THREADS", threads)
        with open_store(url, write=True) as store:
            assert not ingest(store, [large]).refused
        with open_store(url) as store:
            answers.append(
                [
                    store.arrow(query.text, query.bind({}))
                    for query in query_files.library("duckdb")
                    if not any(parameter.required for parameter in query.parameters)
                ]
            )
    assert store_differences(*urls.values()) == []
    for one, several in zip(*answers, strict=True):
        if len(one) or len(several):
            assert_same_rows(one, several)
