"""``embed``, ``similar``, ``duplicates`` and ``cluster``: what people and programs see."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import warehouse
from tests.analysis.text.test_text import build
from tests.support.cli import Caller, filled_url
from tests.support.embedders import TinyEmbedder
from tests.support.stores import ENGINES
from warehouse.analysis.text.clusters_view import GrowthRow
from warehouse.analysis.text.duplicates_view import DuplicateRow
from warehouse.analysis.text.embed_view import EmbedRow
from warehouse.analysis.text.similar_view import SimilarRow

TINY = "tests.support.embedders:tiny"


@pytest.fixture(scope="module", params=ENGINES)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, request.param, build()) as filled:
        warehouse.connect(filled).embed(embedder=TinyEmbedder())
        yield filled


def test_embedding_says_what_is_new_and_what_was_cut(
    run: Caller, store_url: str
) -> None:
    from warehouse.store.open import open_store

    with open_store(store_url, create=True) as store:
        build().write(store)
    first = run("text", "embed", "--embedder", TINY, db=store_url)
    assert first.code == 0 and "8 prompts embedded, 0 unchanged" in first.out
    assert "beginning only" in first.err and "no word that the model knows" in first.err
    again = run(
        "text", "embed", "quiz", "--embedder", TINY, "--json", db=store_url
    ).rows
    assert list(again[0]) == list(EmbedRow.columns())
    assert (again[0]["benchmark"], again[0]["n_new"], again[0]["n_unchanged"]) == (
        "quiz",
        0,
        6,
    )


def test_embedding_fails_in_one_line(
    run: Caller, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("text", "embed", db=url).fails(2, "--embedder")
    run("text", "embed", "nowhere", "--embedder", TINY, db=url).fails(
        2, "no benchmark is called"
    )
    run("text", "embed", "--embedder", "/no/such/folder", db=url).fails(
        3, "no such folder"
    )
    run("text", "embed", "--embedder", str(tmp_path), db=url).fails(3, "holds no model")
    run("text", "embed", "--embedder", "tests.support.embedders:wider", db=url).fails(
        4, "--embedder NAME=MODEL"
    )
    run("text", "embed", "--embedder", TINY, "--batch-size", "2", db=url).fails(
        2, "--batch-size is for models that are loaded"
    )
    run("text", "similar", "a1", "--device", "cpu", db=url).fails(
        2, "--device is for the model of a text"
    )
    run("text", "embed", "bare", "--embedder", TINY, db=url).fails(
        2, "no prompt has text"
    )
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    run("text", "embed", "--embedder", str(tmp_path), db=url).fails(
        2, "-m pip install 'sentence-transformers"
    )


def test_similar_prompts_are_listed(run: Caller, url: str) -> None:
    found = run("text", "similar", "a1", "--top", "2", db=url)
    assert found.out.startswith(
        "Of 7 prompts prompt:1 (quiz) is the nearest to prompt:2: 0.86 alike (1: the "
        "same).\nnearest to prompt:2: how many red apples are here\n"
    )
    explained = run("text", "similar", "a1", "--top", "2", "--explain", db=url)
    assert "by tiny@1, of 7 prompts" in explained.out
    assert "prompt:1" in found.out and "there" in found.out
    rows = run("text", "similar", "a1", "--top", "2", "--json", db=url).rows
    assert list(rows[0]) == list(SimilarRow.columns()) and len(rows) == 2
    assert rows == [
        row.to_dict() for row in warehouse.connect(url).similar(2, top=2).rows
    ]
    text = run("text", "similar", "who wrote the play", "--embedder", TINY, db=url)
    assert "is the nearest to the text: " in text.out
    assert "nearest to the text: who wrote the play" in text.out
    run("text", "similar", "who wrote the play", db=url).fails(
        2, "--embedder tiny=FOLDER"
    )
    run("text", "similar", "a1", "--top", "0", db=url).fails(2, "--top")


def test_duplicates_are_listed_and_counted(run: Caller, url: str) -> None:
    found = run("text", "duplicates", "--threshold", "0.7", "--keep", "3", db=url)
    assert found.code == 0 and found.out.startswith(
        "6 of 8 prompts are near-duplicates (0.7 or more alike), in 7 pairs; without"
    )
    explained = run(
        *("text", "duplicates", "--threshold", "0.7", "--keep", "3", "--explain"),
        db=url,
    ).out
    assert "of 8 prompts are at least 0.7 alike" in explained
    assert "scored alike" in explained and "itself" in explained
    assert "2 prompts have no vector" in found.err and "--keep N for more" in found.err
    rows = run(
        "text", "duplicates", "quiz", "--threshold", "0.7", "--json", db=url
    ).rows
    assert list(rows[0]) == list(DuplicateRow.columns())
    library = warehouse.connect(url).duplicates("quiz", threshold=0.7)
    assert rows == [row.to_dict() for row in library.rows]
    header = run("text", "duplicates", "quiz", "--csv", db=url).out.splitlines()[0]
    assert header.split(",") == list(rows[0])
    run("text", "duplicates", "--threshold", "2", db=url).fails(2, "--threshold")
    run("text", "duplicates", "bare", db=url).fails(2, "run: warehouse text embed bare")


def test_semantic_clusters_say_what_they_do_to_errors(run: Caller, url: str) -> None:
    found = run("text", "cluster", "quiz", "--threshold", "0.7", db=url)
    assert found.out.startswith("5 of 6 prompts of quiz ask like another, in 2 groups")
    assert "; errors that allow for it are " in found.out
    assert "use it with --cluster semantic" in found.out and "growth" in found.out
    assert "2 prompts have no vector" in found.err
    rows = run(
        "text", "cluster", "quiz", "--threshold", "0.7", "--default", "--json", db=url
    ).rows
    assert list(rows[0]) == list(GrowthRow.columns())
    board = run("leaderboard", "quiz", "--json", db=url).rows
    assert {row["n_clusters"] for row in board} == {5}
    library = warehouse.connect(url).cluster_semantic(
        "quiz", threshold=0.7, name="other"
    )
    assert [row.to_dict() for row in library.rows] == rows
    run("text", "cluster", "nowhere", db=url).fails(2, "no benchmark is called")


def test_clusterings_are_shown(run: Caller, url: str) -> None:
    run("text", "cluster", "quiz", "--threshold", "0.7", "--default", db=url)
    (row,) = [
        row
        for row in run("list", "clusters", "quiz", "--json", db=url).rows
        if row["name"] == "semantic"
    ]
    assert (
        row["benchmark"],
        row["is_default"],
        row["n_prompts"],
        row["n_clusters"],
    ) == ("quiz", True, 6, 3)
    assert (row["largest"], row["share_largest"]) == (3, 0.5)
    assert row in run("list", "clusters", "--json", db=url).rows
    found = run("list", "clusters", "quiz", db=url)
    assert "semantic" in found.out and "50.0%" in found.out
    assert "no clusterings" in run("list", "clusters", "bare", db=url).out
    run("list", "clusters", "nowhere", db=url).fails(2, "no benchmark is called")
