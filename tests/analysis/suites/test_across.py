"""Models × benchmarks: what ``leaderboard`` shows where nothing is named."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse import Warehouse, connect
from warehouse.analysis.suites.across import AcrossBenchmarks, with_first_case
from warehouse.tables.text import in_text

SKILL = {"org/best": 0.9, "org/alike": 0.88, "org/weak": 0.4}
SIZES = {"codex": 120, "maths": 80, "exam/reading": 60, "exam/writing": 60}


def build_rows() -> StoreRows:
    """Three models on two benchmarks and a suite of two, one more on a part of these;
    and a benchmark on another scale."""
    rows = StoreRows()
    dice = random.Random(7)
    rows.benchmark("exam")
    for name, size in SIZES.items():
        rows.benchmark(name, "exam" if "/" in name else None)
        rows.describe(name, rows.metric())
        keys = [f"{name}{place}" for place in range(size)]
        for model, skill in SKILL.items():
            scores = {key: float(dice.random() < skill) for key in keys}
            rows.scores(rows.run(model, name, n_benchmark=size), scores)
    keys = [f"codex{place}" for place in range(SIZES["codex"])]
    run = rows.run("org/lacks", "codex", n_benchmark=len(keys))
    rows.scores(run, {key: float(dice.random() < 0.5) for key in keys})
    elo = rows.metric("elo")
    rows.benchmark("arena")
    rows.describe("arena", elo, kind="continuous", low=None, high=None, higher=True)
    for model in ("org/best", "org/weak"):
        points = {f"arena{place}": 1000 + 9 * dice.random() for place in range(30)}
        rows.scores(rows.run(model, "arena"), points, elo)
    rows.benchmark("lonely")
    rows.describe("lonely", rows.metric())
    alone = {f"lonely{place}": 1.0 for place in range(30)}
    rows.scores(rows.run("org/best", "lonely"), alone)
    return rows


ROWS = build_rows()


@pytest.fixture
def store(url: str) -> Warehouse:
    return connect(url, create=False)


def test_figures_are_those_of_each_leaderboard_and_of_the_suite(
    store: Warehouse,
) -> None:
    found = store.leaderboard()
    assert isinstance(found, AcrossBenchmarks)
    across = found.across
    assert [column.name for column in across.columns] == [
        *("arena", "codex", "exam", "maths")
    ]
    alone = {row.model: row for row in store.leaderboard("codex").rows}
    suite = {row.model: row for row in store.leaderboard(group="exam").rows}
    for model in across.models:
        row = model.figures["codex"].row
        assert row.estimate == alone[model.model].estimate
        assert row.standard_error == alone[model.model].standard_error
        if "exam" in model.figures:
            assert model.figures["exam"].row.estimate == pytest.approx(
                suite[model.model].estimate
            )
    weights = {"codex": 1, "maths": 1, "exam/reading": 0.5, "exam/writing": 0.5}
    whole = store.leaderboard([*weights], weights=weights)
    assert across.mean is not None
    for row, other in zip(across.mean.rows, whole.rows, strict=True):
        assert (row.model, row.group) == (other.model, other.group)
        assert row.estimate == pytest.approx(other.estimate)
        assert row.standard_error == pytest.approx(other.standard_error)


def test_what_is_missing_stays_visible_and_is_in_no_mean(store: Warehouse) -> None:
    found = store.leaderboard()
    lacking = next(row for row in found.across.models if row.model == "org/lacks")
    assert [*lacking.figures] == ["codex"] and lacking.mean is None
    shown = in_text(found.view(), width=100)
    (line,) = [line for line in shown.split("\n") if "org/lacks" in line]
    assert line.split()[:3] == ["-", "org/lacks", "–"] and line.endswith("–")
    assert "codex %" in shown and "arena %" not in shown
    assert "mean without arena: of another scale" in shown
    assert "1 other benchmark without two models to rank: lonely" in shown
    assert "exam: mean of its 2 benchmarks" in shown


def test_what_no_test_tells_from_the_best_is_marked(store: Warehouse) -> None:
    found = store.leaderboard()
    for column in found.across.columns:
        first = column.figures[0]
        for figure in column.figures:
            alike = set(figure.row.group) & set(first.row.group)
            assert (figure.verdict in ("best", "tie")) == bool(alike), column.name
    shown = in_text(found.view(), width=100)
    (weak,) = [line for line in shown.split("\n") if "org/weak" in line]
    assert "*" not in weak.replace("*1", "")  # of arena, where both are alike
    assert "*: best of its column" in shown


def test_a_narrow_page_has_a_row_for_each_benchmark(store: Warehouse) -> None:
    view = store.leaderboard().view()
    narrow = in_text(view, width=62)
    assert "*: best" not in narrow  # no cell has a star
    assert "distinguishable" in narrow and "nobody" in narrow  # from the best of each
    assert "*: best" in in_text(view, width=200)
    for name in ("mean", "arena", "codex", "exam", "maths"):
        assert any(line.startswith(name) for line in narrow.split("\n")), name
    assert max(map(len, narrow.split("\n"))) <= 62


def test_a_paper_has_the_marked_in_bold(run: Caller, url: str) -> None:
    latex = run("leaderboard", "--latex", db=url).out
    assert r"\toprule" in latex and r"\label{tab:4-models-4-columns" in latex
    assert r"\textbf{" in latex and "Bold: best of its column" in latex
    assert "*" not in latex
    caption = next(line for line in latex.split("\n") if r"\caption" in line)
    assert "standard errors in brackets" in caption and "By the mean" not in caption
    assert "**" in run("leaderboard", "--markdown", db=url).out
    assert "<strong>" in run("leaderboard", "--html", db=url).out


def test_programs_get_the_rows_of_all_benchmarks(run: Caller, url: str) -> None:
    rows = json.loads(run("leaderboard", "--json", db=url).out)
    assert {row["benchmark"] for row in rows} == {*SIZES, "arena", "lonely"}


def test_every_leaderboard_is_explained_below(run: Caller, url: str) -> None:
    found = run("--explain", "leaderboard", db=url).out
    assert found.index("By the mean of 3") < found.index("maths by acc")


def test_a_method_of_intervals_leaves_no_mean(store: Warehouse) -> None:
    found = store.leaderboard(method="t")
    assert isinstance(found, AcrossBenchmarks) and found.across.mean is None
    assert "No mean over the benchmarks: with a method of its own" in str(found)


def test_two_benchmarks_stand_one_below_the_other(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("two") / "two.csv"
    lines = ["model,benchmark,prompt_id,score"]
    dice = random.Random(1)
    for name in ("one", "two"):
        for model in ("a", "b"):
            lines += [f"{model},{name},{n},{dice.randrange(2)}" for n in range(20)]
    path.write_text("\n".join(lines))
    store = connect(f"duckdb:///{path.parent / 'two.duckdb'}")
    store.ingest(path)
    found = store.leaderboard()
    assert not isinstance(found, AcrossBenchmarks)
    assert str(found).count("place") == 2


@pytest.fixture
def store_of_fractions(tmp_path: Path) -> Warehouse:
    """Four benchmarks, of which two models have one; nobody has said what is better."""
    lines = ["model,benchmark,prompt_id,score"]
    dice = random.Random(2)
    for name in ("one", "two", "three", "four"):
        models = ["a", "b", "c", "d"]
        if name == "four":
            models = ["a", "b"]
        for model in models:
            lines += [f"{model},{name},{n},{dice.random():.2f}" for n in range(20)]
    path = tmp_path / "four.csv"
    path.write_text("\n".join(lines))
    store = connect(f"duckdb:///{tmp_path / 'four.duckdb'}")
    store.ingest(path)
    return store


def test_a_mean_says_of_each_benchmark_that_is_not_in_it_why(
    store_of_fractions: Warehouse,
) -> None:
    found = store_of_fractions.leaderboard()
    assert "mean without four: not run by all models of the mean" in str(found)
    assert "another scale" not in str(found)


def test_a_note_on_each_benchmark_is_said_once(store_of_fractions: Warehouse) -> None:
    notes = store_of_fractions.leaderboard().view().notes
    unknown = [note for note in notes if "fix_metric" in note or "fix metric" in note]
    assert len(unknown) == 1
    assert unknown[0].startswith("4 benchmarks, the first four: ")


def test_a_suite_is_listed_with_its_benchmarks_and_no_counts_of_its_own(
    run: Caller, url: str
) -> None:
    said = run("list", "benchmarks", db=url).out.splitlines()
    (suite,) = [line.split() for line in said if line.startswith("exam ")]
    assert suite == ["exam", "-", "-", "-", "-", "2"]
    (leaf,) = [line.split() for line in said if line.startswith("exam/reading")]
    assert leaf[-4:] == ["60", "3", "3", "-"]
    by_name = {
        row["benchmark"]: row
        for row in run("list", "benchmarks", "--json", db=url).rows
    }
    assert by_name["exam"]["n_prompts"] == 0 and by_name["exam"]["n_benchmarks"] == 2


def test_why_there_is_no_mean_names_a_case() -> None:
    message = "several conditions of one model:\n  m on a: run:1\n  m on b: run:2"
    assert with_first_case(message) == (
        "several conditions of one model: m on a: run:1, and 1 more"
    )
    assert with_first_case(f"{message}\n  ... and 7 more").endswith("1 more at least")
    assert with_first_case("prompts are fixed") == "prompts are fixed"


def test_programs_get_the_mean_beside_each_benchmark(
    run: Caller, url: str, store: Warehouse
) -> None:
    rows = json.loads(run("leaderboard", "--json", db=url).out)
    across = store.leaderboard().across
    means = {row.model: row for row in across.mean.rows}
    assert {row["model"] for row in rows if row["mean_estimate"]} == {
        row.model for row in across.models if row.mean is not None
    }
    for row in rows:
        if row["mean_estimate"] is None:
            assert row["mean_of"] == [] and row["mean_rank"] is None
            continue
        mean = means[row["model"]]
        assert row["mean_estimate"] == pytest.approx(mean.estimate)
        assert row["mean_standard_error"] == pytest.approx(mean.standard_error)
        assert row["mean_rank"] == mean.rank and row["mean_of"] == [*across.in_mean]
    alone = json.loads(run("leaderboard", "codex", "--json", db=url).out)
    assert "mean_estimate" not in alone[0]
    assert set(alone[0]) < set(rows[0])
