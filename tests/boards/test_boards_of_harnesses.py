"""Tables of harnesses, long tables, and two tables of one board."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.support.boards import names, scores
from warehouse import board
from warehouse.boards.reading import read_boards
from warehouse.errors import InputError
from warehouse.stats.board.table import Board

N = 12


def figures() -> dict[str, list[str]]:
    """Per cent of models on three tasks, and their mean, of which one is off."""
    columns = scores(N, (500, 400, 300), seed=3)
    mean = sum(columns.values()) / 3
    mean[4] += 5
    found = {"Mean": [f"{value:.2f}" for value in mean]}
    for name, values in columns.items():
        found[name] = [f"{value:.2f}" for value in values]
    return found


def only(path: Path) -> Board:
    """The only board of a path."""
    (named,) = read_boards([path]).boards
    return named.board


def helm_cell(text: str) -> dict[str, object]:
    return {"value": float(text), "description": "", "style": {}, "markdown": False}


def test_helm_groups_are_boards(tmp_path: Path) -> None:
    columns = figures()
    header = [
        {"value": name, "markdown": False} for name in ("Model/adapter", *columns)
    ]
    rows = []
    for place, name in enumerate(names(N)):
        cells = [helm_cell(texts[place]) for texts in columns.values()]
        rows.append([{"value": name, "href": "?"}, *cells])
    table = {"title": "Accuracy", "header": header, "rows": rows, "links": []}
    path = tmp_path / "core_scenarios.json"
    path.write_text(json.dumps([table]))
    assert only(path).entries == tuple(names(N))
    (row,) = (row for row in board(path).rows if row.grade == "wrong")
    assert (row.board, row.column) == ("core_scenarios.json: Accuracy", "Mean")
    rows[3][2] = {"description": "No matching runs"}
    path.write_text(json.dumps([table]))
    assert only(path).cells[1][3] == ""


def test_helm_lists_of_scenarios_are_no_boards(data_dir: Path) -> None:
    path = data_dir / "writers" / "helm_0.5.16" / "runs" / "v1" / "groups.json"
    with pytest.raises(InputError, match="no table"):
        board(path)


def report(model: str, dataset: str, score: str, num: int) -> dict[str, object]:
    """A report as EvalScope writes it."""
    half = [{"name": name, "score": float(score), "num": num} for name in ("a", "b")]
    categories = [{"name": ["default"], "num": num, "score": 0.5, "subsets": half}]
    metric = {
        "name": "acc",
        "num": num,
        "score": float(score),
        "categories": categories,
    }
    return {
        "name": f"{model}@{dataset}",
        "dataset_name": dataset,
        "model_name": model,
        "score": float(score),
        "metrics": [metric],
    }


def test_reports_of_evalscope_are_one_table(tmp_path: Path) -> None:
    for place, name in enumerate(names(6)):
        folder = tmp_path / name / "reports" / name
        folder.mkdir(parents=True)
        for dataset, num in (("arc", 40), ("gsm8k", 50)):
            score = f"{(10 + place) / num:.4f}"
            if (place, dataset) == (2, "gsm8k"):
                score = "0.2377"
            path = folder / f"{dataset}.json"
            path.write_text(json.dumps(report(name, dataset, score, num)))
    found = only(tmp_path)
    assert set(found.entries) == set(names(6))
    assert found.columns[:3] == ("arc acc", "arc acc a", "arc acc b")
    assert found.sizes["gsm8k acc"] == 50
    wrong = [row for row in board(tmp_path).rows if row.grade == "wrong"]
    assert {row.entries for row in wrong} == {(names(6)[2],)}


def test_reports_of_one_model_are_no_table(data_dir: Path) -> None:
    with pytest.raises(InputError):
        board(data_dir / "evalscope" / "qwen-plus" / "reports")


def long_table(path: Path, *more: tuple[str, ...]) -> Path:
    rows = [("Model", "Dataset", "Metric", "Num", "Score")]
    for task, texts in figures().items():
        for name, text in zip(names(N), texts, strict=True):
            rows.append((name, task, "acc", "500", text))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([*rows, *more])
    return path


def test_a_long_table_has_a_column_for_each_task(tmp_path: Path) -> None:
    path = long_table(tmp_path / "long.csv")
    assert set(only(path).columns) == set(figures())
    (row,) = (row for row in board(path).rows if row.grade == "wrong")
    assert (row.entries, row.column) == ((names(N)[4],), "Mean")
    lines = path.read_text().splitlines()
    marks = ["|" + line.replace(",", "|") + "|" for line in lines]
    page = tmp_path / "README.md"
    page.write_text("\n".join([marks[0], "|---" * 5 + "|", *marks[1:]]))
    assert [row.column for row in board(page).rows if row.grade == "wrong"] == ["Mean"]


def test_a_long_table_that_is_not_clear_is_asked_about(tmp_path: Path) -> None:
    path = long_table(tmp_path / "long.csv", (names(N)[0], "Mean", "acc", "500", "1.5"))
    with pytest.raises(InputError, match="has 'Mean' twice") as raised:
        board(path)
    assert "metric, subset" in str(raised.value)


def test_two_tables_of_one_board_are_compared(tmp_path: Path) -> None:
    columns = scores(N, (500, 400), seed=5)
    lines = ["model,task A,task B"]
    for place, name in enumerate(names(N)):
        lines.append(
            f"{name},{columns['task A'][place]:.1f},{columns['task B'][place]:.1f}"
        )
    (tmp_path / "one.csv").write_text("\n".join(lines))
    cells = lines[3].split(",")
    lines[3] = f"{cells[0]} (new),{float(cells[1]) + 3:.1f},{cells[2]}"
    (tmp_path / "two.csv").write_text("\n".join(lines))
    (row,) = (row for row in board(tmp_path).rows if "in one.csv" in row.found)
    assert (row.grade, row.rule, row.column) == ("check", "B6", "task A")
    assert row.found == f"task A {float(cells[1]) + 3:.1f}, but {cells[1]} in one.csv"


def test_tables_of_other_settings_are_not_compared(tmp_path: Path) -> None:
    for seed in (5, 6):
        columns = scores(N, (500, 400), seed=seed)
        lines = ["model,task A,task B"]
        for place, name in enumerate(names(N)):
            a, b = columns["task A"][place], columns["task B"][place]
            lines.append(f"{name},{a:.1f},{b:.1f}")
        (tmp_path / f"{seed}.csv").write_text("\n".join(lines))
    assert not [row for row in board(tmp_path).rows if " in 5.csv" in row.found]
