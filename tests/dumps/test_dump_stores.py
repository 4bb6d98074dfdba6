"""Stores of dumps in the user's cache: when one is found again, and when it goes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import warehouse
from tests.support.cli import in_fork
from warehouse.dumps.reading import DumpReading
from warehouse.dumps.shelf import Shelf
from warehouse.dumps.stores import DumpStore, store_of_dumps
from warehouse.errors import InputError, MisuseError
from warehouse.ingest.progress import Silent
from warehouse.store.open import open_store

HEADER = "model,benchmark,prompt_id,score\n"
JOINED = """files = ["a.jsonl"]
[run]
model = { const = "m" }
benchmark = { const = "b" }
[sample]
prompt_id = "id"
text = "&labels.subject"
[[scores]]
metric = "acc"
value = "score"
[join.labels]
file = "../labels.csv"
key = "id"
on = "id"
"""


def scores(path: Path, *models: str) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    rows = [
        f"{model},quiz,{number},{number % 3 // 2}\n"
        for model in models
        for number in range(9)
    ]
    path.write_text(HEADER + "".join(rows))
    os.utime(path, (1, 1))
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "warehouse" / "dumps"


def models_in(store: DumpStore) -> list[str]:
    with open_store(store.url) as opened:
        rows = opened.rows("select name from model order by name")
    return [row["name"] for row in rows]


def asked(*paths: Path, **more: Any) -> DumpStore:
    return store_of_dumps(paths, DumpReading(), **more)


def test_a_store_that_is_asked_stays_whatever_else_is_read(
    cache: Path, tmp_path: Path
) -> None:
    path = scores(tmp_path / "a.csv", "ada")
    held = asked(path)
    scores(path, "ada", "bob")
    newer = asked(path)
    assert models_in(held) == ["ada"] and models_in(newer) == ["ada", "bob"]
    held.close()
    scores(path, "cy")
    asked(path).close()
    assert not Path(held.url).exists() and Path(newer.url).exists()
    newer.close()


def test_files_that_change_while_they_are_read_are_not_kept(
    cache: Path, tmp_path: Path
) -> None:
    path = scores(tmp_path / "new" / "a.csv", "ada")

    @contextmanager
    def another_comes() -> Iterator[Silent]:
        yield Silent(lambda: scores(tmp_path / "new" / "b.csv", "bob"))

    first = asked(tmp_path / "new", shown=another_comes)
    assert models_in(first) == ["ada"] and not first.is_kept
    first.close()
    second = asked(tmp_path / "new")
    assert second.is_new and models_in(second) == ["ada", "bob"]
    second.close()
    assert not Path(first.url).exists()
    assert path.exists()


def test_what_is_noted_in_the_cache_is_not_trusted(cache: Path, tmp_path: Path) -> None:
    path = scores(tmp_path / "a.csv", "ada")
    asked(path).close()
    (noted,) = cache.glob("*.json")
    for text in ("", "[1]", '{"files": {"zz": [1]}}', '{"files": 7, "others": 3}'):
        noted.write_text(text)
        again = asked(path)
        assert not again.is_new and models_in(again) == ["ada"], text
        again.close()
    (said,) = cache.glob("*/said.json")
    said.write_text("{}")
    again = asked(path)
    assert again.is_new and models_in(again) == ["ada"]
    again.close()


@pytest.mark.rare
def test_many_at_once_ask_the_same_files(cache: Path, tmp_path: Path) -> None:
    scores(tmp_path / "work" / "a.csv", "ada", "bob")
    with ThreadPoolExecutor(3) as pool:
        runs = [
            pool.submit(in_fork, "a.csv", folder=tmp_path / "work") for _ in range(3)
        ]
        done = [run.result() for run in runs]
    assert {one.returncode for one in done} == {0}, [one.stderr for one in done]
    assert len({one.stdout for one in done}) == 1
    assert len([*cache.glob("*/dumps.db")]) == 1


def test_a_table_beside_that_is_read_with_the_files_counts(
    cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"id": 1, "score": 1}\n')
    labels, mapping = tmp_path / "labels.csv", tmp_path / "map.toml"
    mapping.write_text(JOINED)
    reading = DumpReading(mapping=str(mapping), higher_is_better=True)
    found = []
    for subject in ("maths", "maths", "chemistry"):
        labels.write_text(f"id,subject\n1,{subject}\n")
        store = store_of_dumps([tmp_path / "in"], reading)
        with open_store(store.url) as opened:
            (row,) = opened.rows("select text from prompt")
        found.append((store.is_new, row["text"]))
        store.close()
    assert found == [(True, "maths"), (False, "maths"), (True, "chemistry")]


def test_a_shelf_without_room_keeps_nothing(cache: Path, tmp_path: Path) -> None:
    shelf = Shelf({**os.environ, "WAREHOUSE_CACHE_SIZE": "1kB"})
    store = asked(scores(tmp_path / "a.csv", "ada"), shelf=shelf)
    assert models_in(store) == ["ada"] and not store.is_kept
    store.close()
    assert not [*cache.glob("*/*")]


def test_read_answers_in_python(cache: Path, tmp_path: Path) -> None:
    path = scores(tmp_path / "results" / "a.csv", "ada", "bob")
    (tmp_path / "results" / "costs.json").write_text("{}")
    with pytest.warns(UserWarning, match=r"not read: .*costs\.json"):
        results = warehouse.read(path.parent)
    assert any("only 0 and 1 in score" in note for note in results.notes)
    assert [row.model for row in results.leaderboard("quiz").rows] == ["ada", "bob"]
    assert len(results.compare("ada", "bob").rows) == 1
    assert len(results.models().rows) == 2
    assert results.arrow("select count(*) as n from score")["n"][0].as_py() == 18
    assert "read(" in repr(results) and not hasattr(results, "ingest")
    with pytest.raises(MisuseError, match=r"warehouse.connect\(FILE\).ingest"):
        results.subset_plan("quiz", size=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = warehouse.read(path, values={"temperature": 0.5}, higher_is_better=True)
    assert again.runs(where="temperature=0.5").rows
    assert sorted(os.listdir(tmp_path / "results")) == ["a.csv", "costs.json"]


def test_read_takes_frames_too(cache: Path, tmp_path: Path) -> None:
    table = csv.read_csv(scores(tmp_path / "a.csv", "ada", "bob"))
    results = warehouse.read(table, scores(tmp_path / "b.csv", "cy"))
    assert len(results.leaderboard("quiz").rows) == 3
    assert "frame.parquet" in repr(results) and not [*cache.glob("*")]
    with pytest.raises(InputError, match="the frame"):
        warehouse.read(table.select(["model"]))


def test_a_frame_is_read_as_its_rows_say(cache: Path) -> None:
    """As the file would be that it is; notes name no place that has passed."""
    frame = pa.table(
        {
            "who": ["gpt-5"] * 24 + ["llama-9b"] * 24,
            "q": [f"What is {n}+1?" for n in [*range(24)] * 2],
            "ok": [n % 2 == 0 for n in range(24)] + [n % 3 == 0 for n in range(24)],
        }
    )
    with pytest.raises(InputError, match='with defaults={"benchmark": NAME} it is'):
        warehouse.read(frame)
    results = warehouse.read(frame, defaults={"benchmark": "quiz"})
    rows = results.leaderboard("quiz").rows
    means = {row.model: row.estimate for row in rows}
    assert means == {"gpt-5": 0.5, "llama-9b": pytest.approx(1 / 3)}
    (note,) = results.notes
    assert note.startswith("nobody knows frame.parquet: read as its rows say")


def test_read_refuses_what_lacks_a_file_unless_that_is_wanted(
    cache: Path, tmp_path: Path
) -> None:
    scores(tmp_path / "results" / "a.csv", "ada")
    bad = scores(tmp_path / "results" / "b.csv", "bob")
    bad.write_text(bad.read_text() + "bob,quiz,9,1,7,8\n")
    with pytest.raises(InputError, match=r"(?s)b\.csv.*partial=True"):
        warehouse.read(tmp_path / "results", higher_is_better=True)
    part = warehouse.read(tmp_path / "results", higher_is_better=True, partial=True)
    assert len(part.models().rows) == 1 and "b.csv" in part.refused[0]
    with pytest.raises(MisuseError, match="name a file or folder"):
        warehouse.read()
    with pytest.raises(MisuseError, match="no file or folder"):
        warehouse.read(tmp_path / "gone")
