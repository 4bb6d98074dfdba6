"""Published figures that came with an ingest: what is said of them there, by the command,
and in the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.boards import names, scores
from tests.support.cli import Caller
from warehouse import connect
from warehouse.ingest.report import IngestReport

MAPPING = """
[matrix]
label = "model"
cells = "average|task A|task B|task C"
[run]
model = "@row"
benchmark = "@column"
[[published]]
metric = "score"
value = "@cell"
[metrics.score]
kind = "bounded"
low = 0
high = 100
higher_is_better = true
"""


def table(folder: Path, *, off: float = 0.0) -> tuple[Path, Path]:
    """A leaderboard with a mean, of which one may be off, and its mapping."""
    columns = scores(20, (500, 400, 300), seed=3)
    average = sum(columns.values()) / 3
    average[4] += off
    with (folder / "board.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["model", "average", *columns])
        for i, name in enumerate(names(20)):
            cells = [f"{values[i]:.2f}" for values in (average, *columns.values())]
            rows.writerow([name, *cells])
    mapping = folder / "board.toml"
    mapping.write_text(MAPPING)
    return folder / "board.csv", mapping


def said(report: IngestReport) -> list[str]:
    """The notes on published figures."""
    return [note for note in report.notes if note.startswith("published figures: ")]


def test_a_mean_that_its_parts_contradict_is_a_note(
    run: Caller, tmp_path: Path
) -> None:
    path, mapping = table(tmp_path, off=5)
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    report = connect(url).ingest(path, mapping=mapping)
    (note,) = said(report)
    assert note.startswith("published figures: fir-a: average ")
    assert "(19 of 20 entries keep this rule)" in note
    assert note.endswith("(all: warehouse board)")
    told = run("--db", url, "board", "--json").rows
    assert [(row["grade"], row["rule"], row["column"]) for row in told] == [
        ("wrong", "B2", "average")
    ]


@pytest.mark.rare  # a report and a command of their own
def test_the_command_and_the_report_say_the_same(run: Caller, tmp_path: Path) -> None:
    path, mapping = table(tmp_path, off=5)
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    by_command = run("--db", url, "ingest", str(path), "--map", str(mapping))
    note = "published figures: fir-a: average "
    assert f"note: {note}" in by_command.err
    page = tmp_path / "report.html"
    run("--db", url, "report", "-o", str(page))
    assert note in page.read_text("utf-8")


def test_right_figures_say_nothing(run: Caller, tmp_path: Path) -> None:
    path, mapping = table(tmp_path)
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    assert said(connect(url).ingest(path, mapping=mapping)) == []
    assert run("--db", url, "board").out.startswith("Nothing found: 80 figures")


def test_a_board_needs_a_file_or_published_figures(
    run: Caller, duckdb_url: str
) -> None:
    run("board").fails(2, "no file: name a published table")
    run("--db", duckdb_url, "board").fails(2, "holds no published figures")


@pytest.mark.parametrize("off", [0.0, 0.1])
def test_figures_beside_samples_of_their_own_source(tmp_path: Path, off: float) -> None:
    rng = np.random.default_rng(0)
    results: dict[str, dict[str, object]] = {}
    for task in ("ash", "elm", "fir"):
        right = (rng.random(40) < 0.6).astype(float)
        mean = float(right.mean()) + (off if task == "elm" else 0.0)
        results[task] = {
            "alias": task,
            "acc,none": mean,
            "acc_stderr,none": float(right.std(ddof=1) / 40**0.5),
        }
        lines = []
        for place, score in enumerate(right):
            lines.append(
                {
                    "doc_id": place,
                    "doc": {"question": f"{task} {place}"},
                    "target": "a",
                    "arguments": [[f"{task} {place}", "a"]],
                    "resps": [["a"]],
                    "filtered_resps": ["a"],
                    "acc": score,
                }
            )
        text = "\n".join(json.dumps(line) for line in lines)
        path = tmp_path / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
        path.write_text(text)
    document = {
        "results": results,
        "versions": {},
        "configs": {task: {"task": task} for task in results},
        "config": {"model": "hf", "model_args": "pretrained=org/holly"},
        "n-samples": {task: {"original": 40, "effective": 40} for task in results},
    }
    path = tmp_path / "results_2026-01-01T00-00-00.000000.json"
    path.write_text(json.dumps(document))
    url = f"duckdb:///{tmp_path / 'store.duckdb'}"
    notes = said(connect(url).ingest(tmp_path))
    assert len(notes) == (off > 0)
    if off:
        assert "elm" in notes[0]
        assert "its 40 samples have mean" in notes[0]
