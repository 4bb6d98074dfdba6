"""C, P, I and N are grades where all values are; one ``C`` among A to E is an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import inspect_logs
from tests.support.cli import Caller
from tests.support.lm_eval import Taken


def log_of(folder: Path, values: list[object]) -> Taken:
    """An Inspect log whose only scorer gave these values."""
    log = json.loads((inspect_logs.FIXTURES / "grid.json").read_text())
    samples = [
        dict(log["samples"][0], id=number, epoch=1, uuid=f"u{number}")
        for number in range(len(values))
    ]
    for sample, value in zip(samples, values, strict=True):
        sample["scores"] = {"choice": {"value": value, "answer": value}}
    log["samples"] = samples
    log["eval"]["config"]["epochs"] = 1
    log["results"]["scores"] = []
    log.pop("reductions", None)
    path = folder / "2026-01-02T03-04-05_quiz_abc.json"
    path.write_text(json.dumps(log))
    return inspect_logs.take(path)


def found(taken: Taken) -> list[tuple[float | None, str]]:
    return [
        (score["value"], score["status"])
        for row in taken.rows
        for score in row["scores"]
    ]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["C", "I", "C", "I"], [1, 0, 1, 0]),
        (["C", "P", "N"], [1, 0.5, 0]),
        (["C", 1.0, 0.0, "I"], [1, 1, 0, 0]),
    ],
)
def test_letters_are_grades_where_all_values_are(
    tmp_path: Path, values: list[object], numbers: list[float]
) -> None:
    taken = log_of(tmp_path, values)
    assert [value for value, _ in found(taken)] == numbers
    assert not [note for note in taken.dump.notes if "letters" in note]


def test_a_letter_among_answers_is_no_grade(tmp_path: Path) -> None:
    taken = log_of(tmp_path, ["A", "C", "E", "B", "D"])
    assert found(taken) == [(None, "not_scalar")] * 5
    assert any(
        note.startswith("choice: the values are texts") for note in taken.dump.notes
    )


def test_an_answer_that_comes_late_is_told(tmp_path: Path) -> None:
    taken = log_of(tmp_path, ["C"] * 9 + ["B"])
    assert found(taken)[-1] == (None, "not_scalar")
    assert any(
        note.startswith("choice: B beside Inspect's grades")
        for note in taken.dump.notes
    )


def test_a_draft_reads_letters_beside_numbers_as_grades(
    run: Caller, tmp_path: Path
) -> None:
    rows = [
        {"model": model, "id": number, "scores": {"includes": {"value": value}}}
        for model, values in (("ada", [1.0, 0.0, 1.0]), ("bob", ["C", "I", "I"]))
        for number, value in enumerate(values)
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    draft = run("mapping", str(path)).out
    assert "values = { C = 1, P = 0.5, I = 0, N = 0" in draft
    (tmp_path / "m.toml").write_text(draft)
    db = f"duckdb:///{tmp_path}/s.duckdb"
    ingested = run(
        "ingest",
        str(path),
        "--map",
        str(tmp_path / "m.toml"),
        "--set",
        "benchmark=quiz",
        db=db,
    )
    assert ingested.code == 0, ingested.err
    rows = run(
        "query",
        "--sql",
        "select model, estimate from score_summary order by model",
        "--json",
        db=db,
    ).rows
    assert [(row["model"], round(row["estimate"], 3)) for row in rows] == [
        ("ada", 0.667),
        ("bob", 0.333),
    ]
