"""Tables of figures, and of verdicts, whose columns nobody has named: what a draft makes
of them, and what it asks."""

from __future__ import annotations

import csv
import sqlite3
import tomllib
from pathlib import Path

import openpyxl
import pytest

from tests.support.cli import Caller
from tests.support.drafts import asked, document, readings, table
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.ingest.drafted import drafted

MODELS = ("gpt-5", "claude-4-sonnet", "llama-9b", "qwen-3-8b")


# --- what is no figure ----------------------------------------------------------------


def test_words_of_truth_beside_ratings_are_no_crash(tmp_path: Path) -> None:
    rows = [
        {
            "task_id": f"maze{task}",
            "model": model,
            "success": "False",
            "progress_score": 0.1 * task + 0.07 * n,
            "steps": 3 + task + n,
            "n_keys": task % 3,
        }
        for task in range(6)
        for n, model in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "runs.csv", rows))
    assert "progress_score" in readings(draft)


def test_another_way_to_count_is_no_standard_error(tmp_path: Path) -> None:
    """``wer_sem`` (of meanings) is as large as ``wer_raw``; that of a real error is
    small."""

    def rows(part: float) -> list[dict[str, object]]:
        return [
            {
                "model": m,
                "wer_raw": 9.1 + 4 * n,
                "wer_sem": round((9.1 + 4 * n) * part, 2),
            }
            for n, m in enumerate(MODELS)
        ]

    large = tomllib.loads(starting_mapping(table(tmp_path / "a.csv", rows(0.9))))
    small = tomllib.loads(starting_mapping(table(tmp_path / "b.csv", rows(0.05))))
    assert all("standard_error" not in one for one in large["published"])
    assert small["published"][0]["standard_error"] == "wer_sem"


@pytest.mark.parametrize("name", ["modelo", "model"])
def test_counts_beside_means_are_asked_about(tmp_path: Path, name: str) -> None:
    """Whatever the column of models is called."""
    rows = [
        {
            name: m,
            "tasks": 30,
            "builds_ok": 23 - n,
            "mean_A": 76.6 - n * 3.1,
            "mean_B": 75.2 - n * 4.3,
        }
        for n, m in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "summary.csv", rows))
    assert '"mean_A", "mean_B" are: metrics of one benchmark' in readings(draft)


def test_verdicts_of_one_task_are_no_board(tmp_path: Path) -> None:
    rows = [
        {"task": "T07", "modelo": m, "compiled": 1, "passed_ok": n % 2, "cases": 4}
        for n, m in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "T07.csv", rows))
    assert asked(draft)


# --- figures of systems and of parts --------------------------------------------------


def test_rows_of_systems_or_parts_are_offered_as_figures(tmp_path: Path) -> None:
    rows = [
        {
            "experiment": f"chunks-{n}00",
            "recall": 0.81 + n / 99,
            "precision": 0.7 - n / 99,
        }
        for n in (3, 6, 9)
    ]
    first, second, *_ = asked(starting_mapping(table(tmp_path / "r.csv", rows)))[0][
        "between"
    ]
    assert "each row a model or system, named by" in first
    assert "parts of a benchmark" in second


def test_questions_are_not_offered_as_systems(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"How many legs has animal {n} in the long story of the zoo?",
            "response": f"It has {n} legs, as was said in the second chapter",
            "recall": 0.81 - n / 99,
            "precision": 0.7 - n / 99,
        }
        for n in range(9)
    ]
    draft = starting_mapping(table(tmp_path / "r.csv", rows))
    assert "model or system" not in readings(draft)


def test_percentages_of_models_in_a_list_are_figures(tmp_path: Path) -> None:
    entries = [
        {
            "id": m,
            "label": m.title(),
            "syntax_pass": 90 - n,
            "syntax_pct": 80 - 3 * n,
            "meaning_pass": 60 - n,
            "meaning_pct": 50 - 4 * n,
            "n": 120,
        }
        for n, m in enumerate(MODELS)
    ]
    path = document(tmp_path / "latest.json", {"suite": "x", "models": entries})
    draft = starting_mapping(path)
    mapping = tomllib.loads(draft)
    assert [one["value"] for one in mapping["published"]] == [
        "syntax_pct",
        "meaning_pct",
    ]
    assert mapping["published"][0]["n"] == "n"
    assert "metrics of one benchmark; benchmarks" in readings(draft)


def test_figures_that_metric_and_language_tell_apart(tmp_path: Path) -> None:
    rows = [
        {
            "task": "topic",
            "model": m,
            "language": language,
            "metric": metric,
            "value": 0.5 + n / 9 + at / 70,
        }
        for n, m in enumerate(MODELS)
        for at, language in enumerate(("en", "sl", "hr"))
        for metric in ("macro_f1", "micro_f1")
    ]
    draft = starting_mapping(table(tmp_path / "long.csv", rows))
    assert 'what "language" names' in readings(draft)


def test_all_parts_together_are_no_part(tmp_path: Path) -> None:
    rows = [
        {"model": m, "language": part, "n": 20, "median_wer": 9.4 + n + at / 7}
        for n, m in enumerate(MODELS)
        for at, part in enumerate(("all", "en", "ru"))
    ]
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "s.csv", rows)))
    assert mapping["rows"]["skip"] == [{"path": "language", "equal_to": ["all"]}]


def test_data_sets_of_which_each_model_has_another_are_asked(tmp_path: Path) -> None:
    rows = [
        {"Model": m, "Dataset": f"ROADS{'ABCD'[n]}", "MAE": 3.5 + n, "RMSE": 9.1 + n}
        for n, m in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "b.csv", rows))
    assert 'what "Dataset" names' in readings(draft)


def test_whole_percentages_of_levels_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {
            "model": m,
            "level": level,
            "R_0_100": 98.5 - 9 * n - at,
            "C_0_100": 90 - 20 * at,
        }
        for n, m in enumerate(MODELS)
        for at, level in enumerate(("easy", "medium", "hard"))
    ]
    draft = starting_mapping(table(tmp_path / "levels.csv", rows))
    assert 'what "level" names (easy, medium, hard)' in readings(draft)


def test_metrics_and_benchmarks_of_rows_are_two_readings(tmp_path: Path) -> None:
    """The mean of rates of attacks and of right answers would be a figure of nobody."""
    entries = [
        {"label": f"+D{n} guard", "asr": 0.25 - n / 50, "exactitude": 0.8 + n / 70}
        for n in range(5)
    ]
    draft = readings(starting_mapping(document(tmp_path / "bench.json", entries)))
    assert "benchmarks of which figures are published" in draft
    assert "metrics of which figures are published" in draft


def test_rates_of_a_report_are_named_with_its_score(tmp_path: Path) -> None:
    report = {"missing": 0, "false_refusal_rate": 0.66, "helpfulness": 0.33}
    draft = starting_mapping(document(tmp_path / "report.json", report))
    assert asked(draft)[0]["between"][0].startswith("none: they are published figures")
    assert 'and of "false_refusal_rate"' in draft


# --- verdicts -------------------------------------------------------------------------


def test_what_says_where_two_columns_are_equal_is_the_score(tmp_path: Path) -> None:
    rows = [
        {
            "questao": f"enem-{n:02}",
            "modelo": MODELS[0],
            "com_imagem": n % 3 // 2,
            "alternativa": "ABCDE"[n % 5],
            "gabarito": "ABCDE"[n * n % 5],
            "acertou": int(n % 5 == n * n % 5),
        }
        for n in range(20)
    ]
    path = table(tmp_path / "enem.csv", rows)
    draft = drafted(path, {"benchmark": "enem"})
    assert draft.mapping["scores"][0]["value"] == "acertou"
    assert draft.mapping["sample"]["prompt_id"] == "questao"


# --- where tables lie -----------------------------------------------------------------


def test_two_rows_of_headers_are_said(tmp_path: Path) -> None:
    head = ["", "", *(cell for m in MODELS for cell in (m, ""))]
    second = ["Question", "Level", *["Response", "Steps"] * 4]
    body = [
        [f"s{n}", "easy", *(["pass", n % 3] if n % 2 else ["fail", n % 4]) * 4]
        for n in range(6)
    ]
    path = tmp_path / "two.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, second, *body])
    book = openpyxl.Workbook()
    for row in (head, second, *body):
        book.active.append([cell if cell != "" else None for cell in row])
    book.save(tmp_path / "two.xlsx")
    for file_path in (path, tmp_path / "two.xlsx"):
        draft = starting_mapping(file_path)
        assert "a second row of headers; data" in readings(draft)
        assert '"gpt-5 Response"' in draft


def test_a_database_called_db_is_asked_about(run: Caller, tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    database = sqlite3.connect(path)
    database.execute("create table results (model text, part text, median_wer real)")
    database.executemany(
        "insert into results values (?, ?, ?)",
        [
            (m, part, 9.4 + n + at / 7)
            for n, m in enumerate(MODELS)
            for at, part in enumerate(("en", "ru"))
        ],
    )
    database.commit()
    database.close()
    said = run("leaderboard", "--from", str(path))
    said.fails(3, 'what "part" names')
