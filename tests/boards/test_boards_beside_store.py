"""Published tables beside a store: names, items, samples and costs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import Caller
from tests.support.ingested import ingested
from warehouse import connect
from warehouse.analysis.board.view import BoardReport
from warehouse.stats.board.alike import alike_pairs
from warehouse.store.curate.aliases import alias

MODELS = (
    "org/ash-7B",
    "org/ash-32B",
    "birch-8B",
    "birch-70B",
    "cedar-mini",
    "elm",
    "fir",
)


def written(path: Path, *rows: tuple[object, ...]) -> Path:
    """A table of comma-separated values."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def answers() -> dict[tuple[str, str], np.ndarray]:
    """Scores of all models on two benchmarks; two of them answer alike."""
    rng = np.random.default_rng(3)
    found = {}
    for benchmark, n in (("quiz", 130), ("org/maths", 80)):
        for place, model in enumerate(MODELS):
            found[model, benchmark] = (rng.random(n) < 0.25 + 0.08 * place).astype(int)
    found["fir", "quiz"] = found["elm", "quiz"].copy()
    found["fir", "quiz"][:2] = 1 - found["fir", "quiz"][:2]
    return found


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: list[tuple[object, ...]] = [
        ("model", "benchmark", "prompt_id", "score", "cost")
    ]
    for (model, benchmark), scores in answers().items():
        for place, score in enumerate(scores):
            rows.append((model, benchmark, f"q{place}", score, 0.01))
    return written(tmp_path_factory.mktemp("dump") / "rows.csv", *rows)


@pytest.fixture(scope="module")
def store(dump: Path) -> str:
    url = f"duckdb:///{dump.parent / 'store.duckdb'}"
    with ingested(url, dump):
        pass
    return url


def published(folder: Path, *, quiz: str = "Quiz", **changed: str) -> Path:
    """The figures of the samples in per cent, as others would call them."""
    rows: list[tuple[object, ...]] = [("model", quiz, "maths", "total_cost")]
    for model in MODELS:
        cells = []
        for benchmark in ("quiz", "org/maths"):
            cells.append(f"{100 * answers()[model, benchmark].mean():.2f}")
        name = model.rpartition("/")[2].upper()
        rows.append((name, changed.get(name, cells[0]), cells[1], "1.30"))
    return written(folder / "board.csv", *rows)


def of_rule(report: BoardReport, rule: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Grade, entries and column of what a rule found."""
    found = [row for row in report.rows if row.rule == rule]
    return [(row.grade, row.entries, row.column) for row in found]


def test_a_figure_that_is_not_the_mean_of_its_samples(
    store: str, tmp_path: Path
) -> None:
    report = connect(store).board(published(tmp_path, ELM="71.54"))
    (row,) = (row for row in report.rows if row.grade == "wrong")
    assert (row.rule, row.entries, row.column) == ("B9", ("ELM",), "Quiz")
    mean = 100 * answers()["elm", "quiz"].mean()
    assert row.expected == pytest.approx(mean)
    assert row.found.startswith("Quiz 71.54, but its 130 samples have mean ")
    assert report.in_store == (
        "store: 7 of 7 entries and 2 of 2 columns are there; 14 figures held against "
        "samples."
    )
    assert report.not_in_store == ""


def test_figures_of_the_samples_are_right(store: str, tmp_path: Path) -> None:
    path = published(tmp_path)
    assert connect(store).board(path).n_wrong == 0
    metric = published(tmp_path, quiz="quiz_score")
    report = connect(store).board(metric)
    assert (report.n_wrong, "2 of 2 columns" in report.in_store) == (0, True)


def test_items_come_from_the_store(store: str, tmp_path: Path) -> None:
    path = published(tmp_path)
    path.write_text(path.read_text() + "holly,44.11,50.00,1.2\n")
    report = connect(store).board(path)
    assert of_rule(report, "B1") == [("wrong", ("holly",), "Quiz")]
    assert report.not_in_store == "1 entry not there: holly"
    stated = connect(store).board(path, items={"Quiz": 97})
    assert "cannot be a share of 97" in stated.rows[0].found


def test_what_may_mean_several_is_left_alone(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [("model", "benchmark", "prompt_id", "score")]
    for model in ("a/ash", "b/ash", "elm", "fir"):
        rows += [(model, "quiz", f"q{place}", place % 2) for place in range(20)]
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    with ingested(url, written(tmp_path / "rows.csv", *rows)):
        pass
    table = written(
        tmp_path / "board.csv",
        ("model", "quiz"),
        *(("ash", "0.90"), ("elm", "0.50"), ("fir", "0.90"), ("oak", "0.75")),
    )
    report = connect(url).board(table)
    assert of_rule(report, "B9") == [("wrong", ("fir",), "quiz")]
    assert report.not_in_store == (
        "1 entry not there: oak; not clear, and left alone: ash"
    )


def test_several_conditions_are_only_asked_about(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [
        ("model", "benchmark", "prompt_id", "score", "temperature")
    ]
    for model in ("ash", "elm", "fir"):
        for temperature, n_right in ((0, 10), (1, 15)):
            rows += [
                (model, "quiz", f"q{place}", int(place < n_right), temperature)
                for place in range(20)
            ]
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    with ingested(url, written(tmp_path / "rows.csv", *rows)):
        pass
    table = written(
        tmp_path / "board.csv",
        ("model", "quiz"),
        *(("ash", "0.50"), ("elm", "0.75"), ("fir", "0.90")),
    )
    report = connect(url).board(table)
    assert of_rule(report, "B9") == [("check", ("fir",), "quiz")]
    assert "none of its 2 conditions and metrics in the store" in report.rows[0].found


def test_costs_of_the_store(store: str, tmp_path: Path) -> None:
    path = published(tmp_path)
    lines = [line.split(",") for line in path.read_text().splitlines()]
    only_quiz = [[cells[0], cells[1], cells[3]] for cells in lines]
    only_quiz[3][2] = "0.13"
    report = connect(store).board(written(path, *map(tuple, only_quiz)))
    (row,) = (row for row in report.rows if row.rule == "B13")
    assert (row.grade, row.entries) == ("check", ("BIRCH-8B",))
    assert "its 130 answers in the store cost 1.3" in row.found


def test_models_that_are_right_on_the_same_prompts(store: str, tmp_path: Path) -> None:
    report = connect(store).board(published(tmp_path))
    (row,) = (row for row in report.rows if row.rule == "B9")
    assert (row.grade, row.entries) == ("check", ("ELM", "FIR"))
    assert "as FIR: 2 of 130 differ" in row.found
    assert row.who == "ELM"


def test_pairs_of_independent_answers_are_not_alike() -> None:
    rng = np.random.default_rng(0)
    for n, spread in ((60, 0.0), (200, 1.0), (1_000, 2.5)):
        skills, levels = rng.normal(size=(12, 1)), rng.normal(0, spread, n)
        right = rng.random((12, n)) < 1 / (1 + np.exp(levels - skills))
        assert alike_pairs(right.astype(float)) == []
        copied = np.concatenate([right, right[:1]]).astype(float)
        (pair, *_) = alike_pairs(copied)
        assert (pair.first, pair.second, pair.n_differing) == (0, 12, 0)


def test_the_command_takes_the_store_of_the_call(
    run: Caller, store: str, dump: Path, tmp_path: Path
) -> None:
    path = published(tmp_path, ELM="71.54")
    told = run("--db", store, "board", str(path), "--fail")
    assert told.code == 3
    assert "store: 7 of 7 entries and 2 of 2 columns are there; 14 figures" in told.out
    assert "B9" in run("--db", store, "board", str(path), "--explain").out
    assert "130 samples have mean" in run("--from", str(dump), "board", str(path)).out
    assert "store:" not in run("board", str(path)).out
    run("--db", str(tmp_path / "absent.db"), "board", str(path)).fails(4, "no store")


@pytest.mark.rare
def test_samples_of_reasoning_gym_agree_in_a_store(
    data_dir: Path, tmp_path: Path
) -> None:
    folder = data_dir / "reasoning_gym" / "zero-shot" / "easy"
    cells: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("*/*/*.json")):
        document = json.loads(path.read_text("utf-8"), parse_float=str, parse_int=str)
        own = cells.setdefault(path.parts[-3].rsplit("_", 2)[0], {})
        own[path.stem] = document["average_mean_score"]
    tasks = sorted(next(iter(cells.values())))
    rows = [(model, *(own[task] for task in tasks)) for model, own in cells.items()]
    table = written(tmp_path / "board.csv", ("model", *tasks), *rows)
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    with ingested(url, folder):
        pass
    report = connect(url).board(table)
    assert report.in_store.endswith("80 figures held against samples.")
    assert of_rule(report, "B9") == []
    changed = str(float(rows[0][1]) + 0.1)
    written(table, ("model", *tasks), (rows[0][0], changed, *rows[0][2:]), *rows[1:])
    assert [grade for grade, *_ in of_rule(connect(url).board(table), "B9")] == [
        "wrong"
    ]


def test_a_server_says_the_same(dump: Path, postgres_url: str, tmp_path: Path) -> None:
    with ingested(postgres_url, dump):
        pass
    report = connect(postgres_url).board(published(tmp_path, ELM="71.54"))
    assert of_rule(report, "B9") == [
        ("wrong", ("ELM",), "Quiz"),
        ("check", ("ELM", "FIR"), "Quiz"),
    ]
    assert "7 of 7 entries and 2 of 2 columns" in report.in_store


def test_an_alias_is_a_name_of_its_model(dump: Path, tmp_path: Path) -> None:
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    with ingested(url, dump) as (filled, _):
        alias(filled, "model", "cedar-mini", "elm")
    path = published(tmp_path)
    lines = path.read_text().splitlines()
    lines[5:7] = ["cedar mini,12.31,12.5,1.3"]
    path.write_text("\n".join(lines))
    report = connect(url).board(path)
    assert report.not_in_store == ""
    (row,) = (row for row in report.rows if row.entries == ("cedar mini",))
    assert (row.rule, row.column) == ("B9", "Quiz")
    assert "none of its" in row.found or "samples have mean" in row.found
