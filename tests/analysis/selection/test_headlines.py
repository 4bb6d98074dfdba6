"""Who a headline calls first, of whom, and whom it leaves out."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.leaderboard.answer import Leaderboard, leaderboard
from warehouse.analysis.leaderboard.words import alike_in_words, rows_in_words
from warehouse.analysis.pairs.answer import pairs
from warehouse.analysis.report_data.answer import answer
from warehouse.analysis.selection import score_matrix
from warehouse.analysis.suites.answer import suite_leaderboard
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.open import open_store

SIZE = 60


def build() -> StoreRows:
    rows = StoreRows()
    whole = {"best": 0.9, "good": 0.5, "weak": 0.2}
    parts = {"part/high": 1.0, "part/higher": 1.0, "part/low": 0.1}
    for name in ("cut", "cut-too", "cut-lower"):
        rows.describe(name, rows.metric(), higher=name != "cut-lower")
        for model, skill in whole.items():
            _answer(rows, name, model, skill, SIZE)
        for model, skill in parts.items():
            _answer(rows, name, model, skill, 10)
        rows.scores(
            rows.run("unscored", name, n_benchmark=SIZE),
            {f"q{n}": None for n in range(SIZE)},
        )
    rows.describe("tied", rows.metric())
    rows.describe("unknown", rows.metric(), higher=None)
    for model in ("a", "b", "c"):
        _answer(rows, "tied", model, 0.2 if model == "c" else 0.8, SIZE)
        _answer(rows, "unknown", model, {"a": 0.9, "b": 0.5, "c": 0.1}[model], SIZE)
    for name in ("close", "close-lower"):
        rows.describe(name, rows.metric(), higher=name == "close")
        for model, skill in (("a", 0.55), ("b", 0.5)):
            _answer(rows, name, model, skill, SIZE)
    rows.describe("alone", rows.metric())
    _answer(rows, "alone", "only", 0.5, SIZE)
    _answer(rows, "alone", "part/high", 1.0, 10)
    rows.describe("easy-part", rows.metric())
    for model, wrong, n in (
        ("on/part", range(10), 30),
        ("on/all", range(30, SIZE), SIZE),
    ):
        rows.scores(
            rows.run(model, "easy-part", n_benchmark=SIZE),
            {f"q{i}": float(i not in wrong) for i in range(n)},
        )
    rows.describe("apart", rows.metric())
    for model, first in (("left", 0), ("right", 100)):
        scores = {f"q{n + first}": float(n % 3 > 0) for n in range(SIZE)}
        rows.scores(rows.run(model, "apart", n_benchmark=SIZE), scores)
    return rows


def _answer(rows: StoreRows, benchmark: str, model: str, skill: float, n: int) -> None:
    """The first of the prompts, of which a share is right; every prompt's place is its
    luck."""
    lucky = random.Random("luck").sample(range(n), n)
    scores: Mapping[str, float] = {
        f"q{place}": float(luck < skill * n) for place, luck in enumerate(lucky)
    }
    rows.scores(rows.run(model, benchmark, n_benchmark=SIZE), scores)


def said(board: Leaderboard) -> str:
    return str(rows_in_words(board.rows, board.higher_is_better))


def test_the_first_is_first_of_those_that_answered_all(world: Store) -> None:
    board = leaderboard(world, "cut")
    assert (board.n_left_out, board.left_out_higher) == (4, 2)
    assert [row.left_out_higher for row in board.rows[:3]] == [2, 2, 2]
    assert {row.n_left_out for row in board.rows} == {4}
    ends = (
        "first of the 3 models that answered all 60; 2 others have higher scores on a "
        "part; 60 questions."
    )
    assert said(board).startswith("best leads with 0.90") and said(board).endswith(ends)
    assert (
        ", first best at 0.9 of the 3 models that answered all 60; 2 others have higher"
        in board.one_line
    )
    on_page = str(answer(board, pairs(world, "cut")))
    assert on_page.startswith(
        "best leads with 90.0 % [79.9, 95.3], +40.0 points over good"
    )
    assert "first of the 3 models that answered all 60" in on_page
    assert "; 2 others have higher scores on a part" in on_page
    kept = board.to_dict()
    assert (kept["n_left_out"], kept["left_out_higher"]) == (4, 2)


def test_where_lower_is_better_the_lower_ones_are_counted(world: Store) -> None:
    board = leaderboard(world, "cut-lower")
    assert board.rows[0].model == "weak" and (
        board.n_left_out,
        board.left_out_higher,
    ) == (4, 1)
    assert "1 other has a lower score on a part" in said(board)


def test_parts_that_are_ranked_are_told(world: Store) -> None:
    board = leaderboard(world, "cut", subset_ok=True)
    assert (board.n_left_out, board.left_out_higher) == (1, 0)
    assert said(board).startswith("part/high and part/higher are tied with 1.00")
    assert "3 of 6 answered a part" in said(board) and "is first" not in said(board)


def test_models_with_one_figure_are_tied(world: Store) -> None:
    board = leaderboard(world, "tied")
    assert said(board).startswith(
        "a and b are tied with 0.80"
    ) and "is first" not in said(board)
    assert ", a and b tied at 0.8" in board.one_line
    on_page = str(answer(board, pairs(world, "tied")))
    assert on_page.startswith("a and b are tied with 80.0 % [68.2, 88.2]; 60")
    assert "leads" not in on_page and "is first" not in on_page


def test_who_cannot_be_told_from_others_is_not_called_first(world: Store) -> None:
    board, page = leaderboard(world, "close"), pairs(world, "close")
    of_page = str(answer(board, page))
    assert said(board).startswith("a has the highest figure 0.55")
    assert of_page.startswith("a has the highest figure 55.0 % [")
    for words in (said(board), of_page):
        assert "first" not in words
        assert "cannot be told apart" in words
    lower = leaderboard(world, "close-lower")
    assert said(lower).startswith("b has the lowest figure 0.50")
    assert board.one_line.endswith(", highest a at 0.55") and lower.one_line.endswith(
        ", lowest b at 0.5"
    )


def test_who_is_worse_on_common_prompts_does_not_lead_by_the_others(
    world: Store,
) -> None:
    board = leaderboard(world, "easy-part", subset_ok=True)
    assert [row.statistical_rank for row in board.rows] == [2, 1]
    assert (
        said(board).startswith("on/part has the highest figure 0.667")
        and "highest on/part" in board.one_line
    )
    on_page = str(answer(board, pairs(world, "easy-part", subset_ok=True)))
    for words in (said(board), on_page):
        assert (
            "leads" not in words
            and "; 1 other is better on the prompts that both answered; 1 of 2" in words
        )


def test_nobody_leads_by_an_unknown_direction(world: Store) -> None:
    board = leaderboard(world, "unknown")
    for words in (said(board), str(answer(board, pairs(world, "unknown")))):
        assert (
            words.startswith("a has the highest figure") and "; nobody leads" in words
        )
        assert "is first" not in words
    assert "nobody leads" in board.one_line
    (note,) = [one for one in board.notes if "--higher-is-better" in one]
    assert (
        "--lower-is-better" in note and "warehouse fix metric unknown --metric" in note
    )
    (remark,) = [
        one for one in pairs(world, "unknown").notes if "--higher-is-better" in one
    ]
    assert "warehouse fix metric unknown --metric" in remark


def test_a_run_whose_weights_are_all_0_says_so(run: Caller, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "model,id,score,weight\n"
        + "".join(f"m{w},q{n},{n % 2},{w}\n" for w in (0, 1) for n in range(9))
        + "m2,q1,,1\n"
    )
    (tmp_path / "m.toml").write_text(
        'files = ["t.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'benchmark = { const = "b" }\n'
        "[sample]\n"
        'prompt_id = "id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "score"\n'
        'weight = "weight"\n'
    )
    url = str(tmp_path / "s.duckdb")
    assert (
        run(
            "ingest", str(tmp_path / "t.csv"), "--map", str(tmp_path / "m.toml"), db=url
        ).code
        == 0
    )
    with open_store(url) as store:
        reasons = {
            row.model: row.reason
            for row in leaderboard(store, "b").rows
            if row.estimate is None
        }
    assert reasons == {"m0": "all weights are 0", "m2": "no prompt was scored"}


def test_a_single_model_is_not_first(world: Store) -> None:
    board = leaderboard(world, "alone")
    assert said(board).startswith("only has 0.50") and "first" not in said(board)
    assert (
        "the only one that answered all 60; 1 other has a higher score on a part"
        in said(board)
    )


def test_nothing_in_common_is_not_compared(world: Store) -> None:
    board = leaderboard(world, "apart")
    assert {row.n_not_compared for row in board.rows} == {1}
    assert not set(board.rows[0].group) & set(board.rows[1].group)
    assert "cannot be told apart" not in said(board) and "leads" not in said(board)
    assert said(board).startswith(
        "left and right have the highest figure"
    ) and "first" not in said(board)
    assert "not compared with 1 other, which has no prompt in common with it" in said(
        board
    )
    found = pairs(world, "apart")
    assert "not compared" in str(found.view()) and "neither" not in str(found.view())
    assert "cannot be told apart" not in str(answer(board, found))
    note = (
        "no prompt in common, so not compared: left with 1 other and right with 1 "
        "other; that these share no letter"
    )
    for result in (board, found):
        assert any(one.startswith(note) for one in result.notes)
    assert not any(
        "no prompt in common" in one for one in leaderboard(world, "tied").notes
    )


def test_a_matrix_has_the_letters_of_the_leaderboard(run: Caller, url: str) -> None:
    said = run("pairs", "apart", "--matrix", db=url).out
    assert re.findall(r"(?:left|right) +(\w+)", said) == ["a", "b"], said


def test_a_suite_says_who_lacks_a_part_of_it(world: Store) -> None:
    board = suite_leaderboard(world, "cut,tied")  # no model has both
    assert board.n_left_out == len(board.rows) == 9 and "none is ranked" in str(
        board.sentence
    )
    part = suite_leaderboard(world, "cut,cut-too")
    assert (part.n_left_out, part.left_out_higher) == (3, 2)
    assert (
        "first of the 3 models with all 2 benchmarks; 2 others have higher scores on a "
        "part" in str(part.sentence)
    )


def test_more_conditions_than_can_be_tested_are_ranked_without_a_test(
    world: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_matrix, "MOST_CONDITIONS", 2)
    board = leaderboard(world, "cut")
    assert [row.rank for row in board.rows[:3]] == [1, 2, 3] and not any(
        row.group for row in board.rows
    )
    assert board.rows[0].rank_reason.startswith(
        "3 conditions; pairs are tested of 2 at most"
    )
    assert "; no test of differences" in said(board)
    with pytest.raises(MisuseError, match=r"3 conditions; .* \(--where takes some\)"):
        pairs(world, "cut")


def test_those_who_differ_from_one_another_are_not_said_to_be_alike() -> None:
    assert (
        str(alike_in_words([("a", "ab"), ("b", "a")])) == "a and b cannot be told apart"
    )
    assert (
        str(alike_in_words([("a", "ab"), ("b", "a"), ("c", "b")]))
        == "b and c cannot be told from a"
    )
