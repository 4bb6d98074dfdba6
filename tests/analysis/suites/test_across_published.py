"""What is said of differences between published figures: which are tested, and how."""

from __future__ import annotations

import re

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse import Warehouse, connect
from warehouse.tables.text import in_text

#: Models with a figure on each benchmark, the first two close to one another.
FIGURES = {"org/high": 0.61, "org/close": 0.60, "org/low": 0.30}


def build_rows() -> StoreRows:
    rows = StoreRows()
    for name in ("one", "two", "three"):
        rows.benchmark(name)
        rows.describe(name, rows.metric())
        for model, value in FIGURES.items():
            run = rows.run(model, name)
            rows.published(run, value, benchmark=name, standard_error=0.01)
    rows.benchmark("level")
    rows.describe("level", rows.metric())
    for model, value in (("org/high", 0.9), ("org/close", 0.9), ("org/low", 0.8)):
        run = rows.run(model, "level")
        rows.published(run, value, benchmark="level", standard_error=0.01)
    for name in ("cut", "cut-too"):
        rows.benchmark(name)
        rows.describe(name, rows.metric())
        for model, n in (("org/whole", 2305), ("org/part", 512)):
            run = rows.run(model, name, n_benchmark=2305)
            rows.published(run, 0.9, benchmark=name, standard_error=0.01, n=n)
    return rows


ROWS = build_rows()


@pytest.fixture
def store(url: str) -> Warehouse:
    return connect(url, create=False)


def test_means_of_published_figures_are_tested_and_it_is_said_how(
    store: Warehouse,
) -> None:
    said = " ".join(str(store.leaderboard()).split())
    assert "cannot be told apart; tested by published errors, unpaired." in said
    assert "mean: tested by published errors, unpaired" in said
    assert "each benchmark: no test of differences, as its figures" in said
    assert "no test of differences: the figures" not in said
    assert "*: best of its column, or not distinguishable from it" in said


def test_the_board_of_a_group_says_the_same(url: str, run: Caller) -> None:
    found = run("leaderboard", "--group", "one,two,three", "--db", url)
    assert "tested by published errors, unpaired" in " ".join(found.out.split())


def test_equal_figures_without_a_test_are_no_tie(store: Warehouse) -> None:
    said = " ".join(str(store.leaderboard("level")).split())
    assert "org/close and org/high have the highest figure" in said
    assert "tied" not in said
    assert "no test of differences" in said
    assert "tied" not in store.leaderboard("level").one_line


def test_a_published_figure_of_a_part_is_flagged(store: Warehouse) -> None:
    board = store.leaderboard("cut")
    (part,) = [row for row in board.rows if row.model == "org/part"]
    assert "subset" in part.flags and part.rank is None
    assert [row.model for row in board.rows if row.rank] == ["org/whole"]
    suite = store.leaderboard(group="cut,cut-too").rows
    assert [(row.model, row.rank) for row in suite] == [
        ("org/whole", 1),
        ("org/part", None),
    ]
    assert suite[1].flags == ("subset", "published")


def test_what_changes_how_figures_are_read_stays_on_a_narrow_page(
    store: Warehouse,
) -> None:
    board = store.leaderboard("cut", subset_ok=True)
    narrow = in_text(board.view(), width=62)
    assert "flags: " in narrow and "(left out: flags" in narrow
    assert "published (all)" in narrow and "subset (org/part)" in narrow
    assert "flags: " not in in_text(board.view(), width=120)


def test_one_line_of_several_benchmarks_has_an_answer(store: Warehouse) -> None:
    said = store.leaderboard().one_line
    assert re.search(r"^\d benchmarks, \d+ rows; by the mean of \d benchmarks, ", said)
    assert "org/high" in said


def test_a_switch_of_the_command_is_a_method_of_its_own(store: Warehouse) -> None:
    with pytest.raises(TypeError, match=r"ask compare_unpaired\(\)"):
        store.compare("org/high", "org/low", unpaired=True)  # type: ignore[call-arg]


def test_latex_of_a_group_is_the_table_that_papers_print(url: str, run: Caller) -> None:
    asked = ("leaderboard", "--group", "one,two,three")
    latex = run(*asked, "--latex", db=url).out
    assert r"model & one & three & two & mean & flags \\" in latex
    assert r"org/high & \textbf{61.0 \% (1.0)} &" in latex
    assert r"\textbf{60.0 \% (0.6)} & published" in latex  # of the mean a tie
    assert "bold: the best figure of a benchmark, untested" in latex
    explained = run(*asked, "--explain", db=url).out
    assert re.search(r" 0\.610+ \(0\.010+\) ", explained)
    assert "draws" not in explained and "prompts" not in explained.splitlines()[2]


def test_names_with_commas_are_a_group(url: str, run: Caller) -> None:
    refused = run("leaderboard", "one,two", db=url)
    assert refused.code == 2
    assert "warehouse leaderboard --group one,two" in " ".join(refused.err.split())
    mixed = run("leaderboard", "--group", "one,missing", db=url)
    assert mixed.code == 2 and "through" not in mixed.err
