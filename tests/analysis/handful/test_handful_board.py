"""How few questions carry the places of a leaderboard: of a store, by the command and
the method."""

from __future__ import annotations

from pathlib import Path

import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.handful.board import leaderboard_handful
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

#: Right answers of each model, of 40 questions.
RIGHT = {"lab/a": 30, "lab/b": 24, "lab/c": 24, "lab/d": 8}


def build() -> StoreRows:
    """Four models of which two are tied, losses, and figures without questions."""
    rows = StoreRows()
    metric = rows.metric()
    rows.describe("quiz", metric)
    keys = [f"q{place:02}" for place in range(40)]
    for number, (model, n) in enumerate(RIGHT.items()):
        # each begins elsewhere, so that everybody has something alone
        right = {(place + 10 * number) % 40 for place in range(n)}
        scores = {key: float(place in right) for place, key in enumerate(keys)}
        rows.scores(rows.run(model, "quiz"), scores)
    loss = rows.metric("loss")
    rows.describe("loss", loss, kind="continuous", high=None, higher=False)
    for model, values in (("lab/a", (1.0, 1.0, 4.0)), ("lab/b", (2.0, 2.0, 3.0))):
        named = {f"l{place}": value for place, value in enumerate(values)}
        rows.scores(rows.run(model, "loss"), named, loss)
    rows.describe("alone", metric)
    rows.scores(rows.run("lab/a", "alone"), {"x": 1.0, "y": 0.0})
    return rows


ROWS = build()


def test_each_place_and_the_first_ones(world: Store) -> None:
    found = leaderboard_handful(world, benchmark="quiz")
    assert [row.model for row in found.rows] == [*RIGHT]
    assert [row.handful for row in found.rows] == [7, 0, None, None]
    first = found.rows[0]
    assert (first.handful_first, first.outside, first.n_common) == (7, "lab/b", 40)
    assert [row.handful_first for row in found.rows[1:]] == [0, 17, None]
    assert (found.rows[2].inside, found.rows[2].outside) == ("lab/b", "lab/d")
    assert (found.rows[3].next_model, found.rows[3].n_common) == ("", None)


def test_lower_is_better(world: Store) -> None:
    first = leaderboard_handful(world, benchmark="loss").rows[0]
    assert (first.model, first.handful) == ("lab/a", 2)


def test_a_leaderboard_has_it_as_a_column(run: Caller, world: Store, url: str) -> None:
    rows = leaderboard(world, benchmark="quiz").rows
    assert [row.handful for row in rows] == [7, 0, None, None]
    told = run("leaderboard", "quiz", "--columns", "model,handful", db=url).out
    assert "lab/a        7" in told
    found = run("leaderboard", "quiz", "--json", db=url).rows
    assert [row["handful"] for row in found] == [7, 0, None, None]


def test_the_command_says_what_puts_another_first(run: Caller, url: str) -> None:
    said = run("leaderboard", "quiz", "--handful", db=url).out
    assert max(map(len, said.splitlines())) <= 80
    assert (
        "lab/a is first by 15.0 points: without 7 of 40 questions lab/b leads."
        in " ".join(said.split())
    )
    assert "tied" in said and "no test" in said
    top = run("leaderboard", "quiz", "--handful", "--top", "1", "-v", db=url).out
    assert "… 3 more (--all)" in top and "all pairs are tried" in top
    rows = run("leaderboard", "quiz", "--handful", "--json", db=url).rows
    assert [row["handful"] for row in rows] == [7, 0, None, None]


def test_what_it_cannot_say_is_refused(run: Caller, url: str) -> None:
    board = ("leaderboard", "quiz", "--handful")
    run(*board, "--method", "t", db=url).fails(2, "--method changes nothing")
    run(*board, "--corrected", db=url).fails(2, "--corrected changes nothing")
    run("leaderboard", "--handful", db=url).fails(2, "--handful is of one benchmark")
    run("leaderboard", "alone", "--handful", db=url).fails(2, "two are needed")


def test_the_method_says_the_same(url: str) -> None:
    store = warehouse.connect(url)
    found = store.leaderboard_handful("quiz")
    assert found.rows[0].handful_first == 7 and "lab/a is first" in str(found)
    with pytest.raises(MisuseError, match="no benchmark"):
        store.leaderboard_handful("quizz")


@pytest.mark.rare
def test_g26_4_of_a_store(data_dir: Path, tmp_path: Path) -> None:
    mapping = Path(__file__).parents[3] / "docs" / "mappings" / "mmlu_pro_matrix.toml"
    store = warehouse.connect(tmp_path / "store.duckdb")
    store.ingest(data_dir / "mmlu_pro_matrix", mapping=mapping)
    rows = store.leaderboard_handful("mmlu_pro_7").rows
    counts = [row.handful_first for row in rows]
    assert [counts[k - 1] for k in (1, 2, 3, 5)] == [608, 46, 10, 242]
    shown = store.leaderboard("mmlu_pro_7").rows
    assert [row.handful for row in shown] == [row.handful for row in rows]
