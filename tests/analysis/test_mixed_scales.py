"""Shares of one file beside per cent of another, in one metric of one benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.stores import filled_once, store_at
from warehouse import connect
from warehouse.api import Warehouse


def table(path: Path, model: str, scores: list[float]) -> Path:
    lines = [f"{model},mix,q{i},{score}" for i, score in enumerate(scores)]
    path.write_text("\n".join(["model,benchmark,prompt_id,score", *lines]))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Warehouse:
    url, first = store_at(tmp_path / "mix.duckdb"), table(tmp_path / "a.csv", "a", [i % 3 > 0 for i in range(60)])
    return connect(filled_once(url, __file__, lambda: connect(url).ingest(first)))


def notes(store: Warehouse) -> list[str]:
    answers = (
        store.leaderboard("mix"),
        store.pairs("mix"),
        store.compare("a", "b", benchmark="mix"),
        store.gate("b", "a", 0.05),
    )
    return [note for answer in answers for note in answer.notes if "per cent" in note]


def test_every_comparison_says_so_until_the_advice_is_taken(store: Warehouse, tmp_path: Path, run: Caller) -> None:
    percent = table(tmp_path / "b.csv", "b", [100 * (i % 4 > 0) for i in range(60)])
    store.ingest(percent)
    found = notes(store)
    assert len(found) == 4 and "1 of 2 conditions have scores from 0 to 1, 1 from 0 to 100" in found[0]
    assert run("forget", "2", db=f"duckdb:///{tmp_path / 'mix.duckdb'}").code == 0
    mapping = (
        '[run]\nmodel = "model"\nbenchmark = "benchmark"\n[sample]\nprompt_id = "prompt_id"\n'
        '[[scores]]\nmetric = "score"\nvalue = { path = "score", scale = 0.01 }\n'
    )
    (tmp_path / "share.toml").write_text(mapping)
    store.ingest(percent, mapping=tmp_path / "share.toml")
    assert notes(store) == [] and store.compare("a", "b").rows[0].mean_b == pytest.approx(0.75)


@pytest.mark.parametrize("scores", [[0.0] * 60, [i % 3 - 1 for i in range(60)], [i % 7 for i in range(60)]])
def test_other_ranges_are_left_alone(store: Warehouse, tmp_path: Path, scores: list[float]) -> None:
    store.ingest(table(tmp_path / "b.csv", "b", scores), higher_is_better=True)
    assert notes(store) == []
