"""`warehouse matrix`: tables for people, rows for programs, clear words for mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analysis.matrix.test_matrix import SCORES
from tests.analysis.matrix.test_matrix import build as build
from tests.support.cli import Caller
from warehouse.api import Warehouse
from warehouse.stats.matrix import permutation_test


def test_test(run: Caller, url: str) -> None:
    options = ["matrix", "test", "exam", "--permutations", "20", "--seed", "1"]
    rows = run(*options, "--json", db=url).rows
    expected = permutation_test(SCORES, n_permutations=20, seed=1)
    assert [row["p_value"] for row in rows] == [
        row.p_value for row in expected.statistics
    ]
    told = run(*options, db=url)
    assert "exam by acc: 40 prompts × 6 models, 20 permutations, seed 1" in told.out
    assert "tests nothing" in told.out and "too small" in told.out
    assert "note: read back: computed on" in told.err
    assert "read back" not in run(*options, "--fresh", db=url).err
    bins = run(*options, "--histogram", "--json", db=url).rows
    assert len(bins) == 60 and set(bins[0]) >= {
        "similarity",
        "low",
        "observed",
        "permuted",
    }
    assert "0.95 to 1.00" in run(*options, "--histogram", db=url).out


def test_cluster(run: Caller, url: str) -> None:
    told = run(
        "matrix", "cluster", "exam", "--clusters", "2-4", "--store", "alike", db=url
    )
    assert told.code == 0 and "medoid" in told.out
    assert "clusters of prompts that models find alike" in told.out.splitlines()[0]
    assert "stored as alike: --cluster alike uses it" in told.err
    members = run(
        "matrix", "cluster", "exam", "--clusters", "2-4", "--members", "--json", db=url
    )
    assert len(members.rows) == 40
    chosen = max(row["cluster"] for row in members.rows)
    assert sum(row["is_medoid"] for row in members.rows) == chosen
    board = run("leaderboard", "exam", "--cluster", "alike", "--json", db=url).rows
    assert {row["n_clusters"] for row in board} == {chosen}
    rows = run("matrix", "cluster", "exam", "--clusters", "2,4", "--csv", db=url).out
    assert [line.split(",")[0] for line in rows.splitlines()] == [
        "n_clusters",
        "2",
        "4",
    ]


def test_weights(run: Caller, url: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.csv"
    file.write_text("prompt,weight\nq00,2\nq01,1\n")
    options = ["matrix", "weights", "exam", "--draws", "100", "--weights", str(file)]
    rows = run(*options, "--json", db=url).rows
    given = [row["score"] for row in rows if row["scheme"] == "given"]
    assert given == pytest.approx(((2 * SCORES[0] + SCORES[1]) / 3).tolist())
    assert run(*options, db=url).out.startswith("org/m1 is best in ")
    told = run(*options, "--explain", db=url).out
    assert "medoid ±rank" in told and "over 100 random weightings" in told
    assert len(run(*options, "--part", "pairs", "--json", db=url).rows) == 30
    assert len(run(*options, "--part", "random", "--json", db=url).rows) == 6
    brief = run(*options, "--part", "pairs", db=url).out
    assert "row outranks column" in brief and "the first 5 of 6 models" in brief
    wide = run(*options, "--part", "pairs", "--wide", db=url).out

    def columns(shown: str) -> list[str]:
        return next(line for line in shown.splitlines() if " model " in line).split()

    assert columns(brief) == ["model", *"12345"]
    assert columns(wide) == ["model", *"123456"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b\n1,2\n", ("line 2", "columns a, b", "the columns prompt and weight")),
        ("prompt,weight\nq00,x\n", ("line 2", "weight 'x'", "a number")),
        ("prompt,weight\nq00,1\nq00,2\n", ("line 3", "'q00' a second time")),
        ("prompt,weight\n", ("no rows",)),
        (None, ("weights.csv", "No such file")),
    ],
)
def test_weights_that_cannot_be_read(
    run: Caller, url: str, tmp_path: Path, text: str | None, parts: tuple[str, ...]
) -> None:
    file = tmp_path / "weights.csv"
    if text is not None:
        file.write_text(text)
    run("matrix", "weights", "exam", "--weights", str(file), db=url).fails(3, *parts)


def test_grow(run: Caller, url: str) -> None:
    rows = run("matrix", "grow", "exam", "--sizes", "5,10", "--json", db=url).rows
    assert len(rows) == 2 * 3 * 6
    steps = run(
        "matrix", "grow", "exam", "--sizes", "5,10", "--steps", "--json", db=url
    ).rows
    assert [row["size"] for row in steps] == [5, 10, 40] * 2
    assert "largest gap to all" in run("matrix", "grow", "exam", db=url).out


def test_explain(run: Caller, url: str) -> None:
    options = ["matrix", "explain", "exam", "--embedder", "mini", "--permutations", "5"]
    assert len(run(*options, "--json", db=url).rows) == 39
    brief = run(*options, "--top", "3", db=url).out
    assert brief.startswith("Prompts that ask alike ") and "Mantel" not in brief
    told = run(*options, "--top", "3", "--explain", db=url)
    assert "Mantel r" in told.out and told.out.count("question q") == 3
    assert "1 prompts left out" in told.err
    origin = run(*options, "--no-intercept", db=url)
    assert "through the origin" in origin.out and "read back" not in origin.err


def test_the_same_from_python(run: Caller, url: str) -> None:
    rows = run("matrix", "grow", "exam", "--seed", "3", "--json", db=url).rows
    found = Warehouse(url).matrix("exam").grow(seed=3)
    assert json.loads(json.dumps([row.to_dict() for row in found.rows])) == rows


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (("test", "nowhere"), 2, ("no benchmark is called 'nowhere'",)),
        (("test", "lone"), 2, ("needs at least 2",)),
        (("test", "essay", "--similarity", "jaccard"), 2, ("use cosine",)),
        (("test", "exam", "--similarity", "euclid"), 2, ("euclid",)),
        (("test", "exam", "--permutations", "0"), 2, ("--permutations",)),
        (("test", "flat"), 2, ("columns are constant",)),
        (("cluster", "flat"), 2, ("1 distinct performance vector",)),
        (("cluster", "exam", "--clusters", "a-b"), 2, ("numbers such as 2,5,10-12",)),
        (("cluster", "exam", "--clusters", "5-2"), 2, ("names no number",)),
        (("cluster", "exam", "--clusters", "1"), 2, ("between 2 and",)),
        (("cluster", "exam", "--default"), 2, ("--default needs --store",)),
        (("explain", "mute"), 2, ("have no text",)),
        (
            ("explain", "essay", "--embedder", "mini"),
            2,
            ("warehouse text embed essay",),
        ),
        (("explain", "exam"), 2, ("--embedder: mini@1 ",)),
    ],
)
def test_mistakes(
    run: Caller, url: str, arguments: tuple[str, ...], code: int, parts: tuple[str, ...]
) -> None:
    run("matrix", *arguments, db=url).fails(code, *parts)
