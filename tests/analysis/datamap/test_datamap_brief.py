"""What is read first of a data map: how often models are right, and whose targets may
be wrong."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

import warehouse
from warehouse.analysis.datamap.view import DataMap
from warehouse.tables.text import in_text


def build() -> list[dict[str, object]]:
    """Five answers to each of four prompts: one always wrong and alike."""
    said = {"p0": "xxxxx", "p1": "aaaaa", "p2": "aaxya", "p3": "axyzb"}
    rows: list[dict[str, object]] = []
    for model in ("org/a", "org/b"):
        for prompt, answers in said.items():
            for draw, answer in enumerate(answers):
                rows.append(
                    {"model": model, "benchmark": "quiz", "prompt_id": prompt}
                    | {"draw": draw, "score": int(answer == "a")}
                    | {"extracted_answer": answer, "target": "a"}
                )
    return rows


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> DataMap:
    folder = tmp_path_factory.mktemp("datamap")
    rows = build()
    with (folder / "quiz.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    store = warehouse.connect(f"duckdb:///{folder}/quiz.duckdb")
    store.ingest(folder / "quiz.csv")
    found: DataMap = store.datamap("org/a", benchmark="quiz")
    return found


def told(mapped: DataMap, **changes: object) -> list[str]:
    return in_text(replace(mapped, **changes).view(), width=2000).splitlines()


def test_one_model_and_a_suspect(mapped: DataMap) -> None:
    first, second, *_ = told(mapped)
    assert first == (
        "org/a is right in 45 % of its answers to a prompt of quiz: always on 25 % of 4 "
        "prompts, never on 25 %."
    )
    assert second.startswith("The target of 1 prompt may be wrong, prompt:")
    assert "(org/a says 'x', the target is 'a'): look at it." in second


def test_why_nothing_is_suspect(mapped: DataMap) -> None:
    unproven = tuple(replace(row, suspected=False) for row in mapped.rows)
    assert told(mapped, rows=unproven)[1] == (
        "No target is suspect: 1 prompt is answered alike and wrongly, but by too few "
        "answers, or by such as say nothing."
    )
    right = tuple(replace(row, p_correct=1.0) for row in unproven)
    assert told(mapped, rows=right)[1] == (
        "No target is suspect: no prompt is answered alike and wrongly."
    )
    silent = tuple(replace(row, consistency=None) for row in unproven)
    assert told(mapped, rows=silent)[1].startswith("Which targets may be wrong is not")


def test_of_several_models_the_best_and_the_worst_are_named(mapped: DataMap) -> None:
    (own,) = mapped.distribution
    both = (own, replace(own, model="org/b", mean=0.9))
    alike = (own, replace(own, model="org/b"))
    assert told(mapped, distribution=alike)[0] == (
        "Each of 2 rows is right on quiz in 45 % of its answers to a prompt."
    )
    assert told(mapped, distribution=both)[0] == (
        "org/b is right most often on quiz, in 90 % of its answers to a prompt; org/a "
        "least often, in 45 %."
    )
