"""Kinds of files that strangers publish, of which rows say more than names: what a draft
makes of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tests.support.drafts import asked, document, readings, table
from warehouse.importers.tabular.drafts.draft import starting_mapping

MODELS = ("gpt-5", "claude-4-sonnet", "llama-9b", "qwen-3-8b")


# --- verdicts -------------------------------------------------------------------------


def test_two_words_are_a_verdict_where_one_says_that_columns_are_equal(
    tmp_path: Path,
) -> None:
    rows = [
        {"nr": i, "dit": "ABCD"[i % 4], "clef": "ABCD"[i % 3], "avis": "?"}
        for i in range(12)
    ]
    for row in rows:
        row["avis"] = "b" if row["dit"] == row["clef"] else "m"
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert [one["value"] for one in mapping["scores"]] == [
        {"path": "avis", "values": {"b": 1, "m": 0}}
    ]


def test_marks_are_verdicts_and_columns_of_them_may_be_systems(tmp_path: Path) -> None:
    rows = [
        {
            "qid": f"q{i}",
            "question": f"Which of the {i} is it?",
            "plain": "○" if i % 3 else "× other rows",
            "guided": "○" if i % 5 else "× no answer",
        }
        for i in range(12)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert "mean 0.6667" in readings(draft)
    assert "each is of a model or condition of its own" in readings(draft)


def test_verdicts_of_contests_are_numbers(tmp_path: Path) -> None:
    rows = [
        {"model": m, "task_id": f"t{i}", "verdict": ("AC", "WA", "TLE")[(i + k) % 3]}
        for k, m in enumerate(MODELS)
        for i in range(12)
    ]
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert mapping["scores"][0]["value"]["values"] == {"AC": 1, "WA": 0, "TLE": 0}


# --- what is no target, no response and what names prompts ----------------------------


def test_names_of_runs_are_no_responses_and_labels_of_models_no_targets(
    tmp_path: Path,
) -> None:
    def results(number: int) -> dict[str, Any]:
        return {
            f"task_{k}": {
                "run_id": f"2026_{number}{k}_gpt_task_{k}",
                "correct": (k + number) % 3 > 0,
            }
            for k in range(9)
        }

    content = [
        {"label": f"shell/{m}", "model": m, "results": results(i)}
        for i, m in enumerate(MODELS)
    ]
    path = document(tmp_path / "b.json", {"models": content})
    mapping = tomllib.loads(starting_mapping(path))
    assert mapping["sample"] == {"prompt_id": "@key"}


def test_numbers_of_issues_name_prompts_however_they_are_called(tmp_path: Path) -> None:
    numbers = [40743, 40853, 40651, 40971, 40070, 41100, 41193, 41327, 41412, 41320]
    rows = [
        {"model": m, "pr": number, "resolved": (number + i) % 3 % 2}
        for i, m in enumerate(MODELS)
        for number in numbers
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert tomllib.loads(draft)["sample"] == {"prompt_id": "pr"}


def test_numbered_runs_of_each_text_are_draws_of_it(tmp_path: Path) -> None:
    rows = [
        {
            "model": "gpt-5",
            "doi": f"10.1/a{d}",
            "run_idx": r,
            "fit_score": d / 9 + r / 50,
        }
        for d in range(4)
        for r in range(3)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert tomllib.loads(draft)["sample"] == {"prompt_id": "doi", "draw": "run_idx"}
    assert not asked(draft)


# --- boards ---------------------------------------------------------------------------


def test_means_of_the_columns_of_a_name_are_no_benchmarks(tmp_path: Path) -> None:
    """However the columns are ordered, and whatever else is averaged beside."""
    parts = [f"{task}_{tongue}" for task in ("arc", "copa") for tongue in ("de", "fr")]
    rows = []
    for i, model in enumerate(MODELS):
        row = {part: 40.25 + 7 * i + 3 * k * (i + 1) for k, part in enumerate(parts)}
        means: dict[str, Any] = {"": model}
        for name in ("arc", "de", "copa", "fr", "overall"):
            group = [v for k, v in row.items() if name in k or name == "overall"]
            means[f"{name}_aggregate"] = sum(group) / len(group)
        rows.append(means | row)
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert f'cells = "{"|".join(parts)}"' in draft
