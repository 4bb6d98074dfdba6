"""What a draft takes no column for, and no other column explains, is asked: tables that
would be read as something else without a word."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.drafts import asked, document, readings, table
from tests.support.tabular import read
from warehouse.importers.tabular.drafts.draft import starting_mapping

MODELS = ("gpt-5", "claude-4-sonnet", "llama-9b", "qwen-3-8b")


def draft_of(path: Path, rows: list[dict[str, Any]]) -> str:
    return starting_mapping(table(path, rows))


# --- scores of prompts ----------------------------------------------------------------


def answers(column: str, names: tuple[str, ...], each: int = 8) -> list[dict[str, Any]]:
    """Answers of one model to prompts of which each stands under one name."""
    return [
        {
            column: name,
            "frage": f"What is thing {number} of {name}, in words?",
            "antwort": f"It is {number * 7 % 9}, says {name}",
            "is_right": int((number + place) % 3 > 0),
        }
        for place, name in enumerate(names)
        for number in range(each)
    ]


@pytest.mark.parametrize("column", ["scaffold", "treatment", "bedingung", "prompting"])
def test_conditions_with_prompts_of_their_own_are_not_pooled(
    tmp_path: Path, column: str
) -> None:
    rows = answers(column, ("plain", "checked", "guided"))
    (choice,) = asked(draft_of(tmp_path / "t.csv", rows))
    assert choice["what"].startswith(f'what "{column}" names (plain, checked, guided)')
    assert "conditions or settings, a run each" in choice["between"]
    mapping = tomllib.loads(draft_of(tmp_path / "t.csv", rows))
    del mapping["choose"]
    mapping["run"] |= {"configuration": {column: column}}
    mapping["run"] |= {name: {"const": name} for name in ("model", "benchmark")}
    assert len(read(tmp_path, mapping).runs) == 3


def test_names_that_nobody_knows_are_asked_about_where_rows_stand_in_even_blocks(
    tmp_path: Path,
) -> None:
    rows = answers("zustand", ("hell", "dunkel"))
    assert 'what "zustand" names' in readings(draft_of(tmp_path / "t.csv", rows))
    mixed = sorted(rows, key=lambda row: str(row["antwort"]))
    assert not readings(draft_of(tmp_path / "m.csv", mixed))


@pytest.mark.parametrize("column", ["category", "difficulty", "thema", "source"])
def test_kinds_of_prompts_are_no_conditions(tmp_path: Path, column: str) -> None:
    rows = answers(column, ("history", "law", "physics"))
    assert not readings(draft_of(tmp_path / "t.csv", rows))


def test_what_the_score_decides_is_no_condition(tmp_path: Path) -> None:
    rows = answers("category", ("history", "law"))
    for row in rows:
        row["mode_of_failure"] = "none" if row["is_right"] else "wrong"
    assert not readings(draft_of(tmp_path / "t.csv", rows))


def test_a_condition_that_each_model_has_for_itself_is_none(tmp_path: Path) -> None:
    rows = [
        {"model": model, "task_id": f"t{number}", "mode": mode, "is_right": number % 2}
        for model, mode in zip(MODELS, ("fast", "slow", "fast", "slow"), strict=True)
        for number in range(12)
    ]
    assert not readings(draft_of(tmp_path / "t.csv", rows))


def test_those_who_judge_may_be_those_who_are_evaluated(tmp_path: Path) -> None:
    """Cases with a known verdict, and how often each judge finds it."""
    rows = [
        {
            "case_id": f"case {number}",
            "judge": judge,
            "verdict": ("fail", "pass")[(number + place) % 2],
            "correct": (number * 3 + place) % 4 > 0,
        }
        for number in range(12)
        for place, judge in enumerate(MODELS)
    ]
    (choice,) = asked(draft_of(tmp_path / "t.csv", rows))
    assert choice["what"].startswith('whom "judge" names (gpt-5, claude-4-sonnet')
    assert "models that are evaluated" in choice["between"]
    named = [row | {"model": "m"} for row in rows]
    assert "whom" not in readings(draft_of(tmp_path / "n.csv", named))


def test_rows_that_sum_up_others_are_no_prompts(tmp_path: Path) -> None:
    rows = [
        {"modell": model, "aufgabe_id": name, "punkte": value}
        for place, model in enumerate(MODELS)
        for name, value in (
            *((f"a{n}", int((n + place) % 3 > 0)) for n in range(12)),
            ("Average", 0.75),
        )
    ]
    draft = draft_of(tmp_path / "t.csv", rows)
    assert 'what the rows are that "aufgabe_id" calls "Average"' in readings(draft)
    assert '[[rows.skip]] path = "aufgabe_id", equal_to = ["Average"]' in draft


def test_a_family_of_questions_is_none_of_models(tmp_path: Path) -> None:
    rows = [
        {"model": m, "family": f"f{n % 3}", "item_id": f"i{n}", "is_right": n % 2}
        for m in MODELS
        for n in range(12)
    ]
    assert "family" not in tomllib.loads(draft_of(tmp_path / "t.csv", rows))["run"]


def test_prompts_may_be_told_by_two_columns(tmp_path: Path) -> None:
    rows = [
        {"firm": f"F{number}", "field": field, "is_right": (number + place) % 3 > 0}
        for number in range(12)
        for place, field in enumerate(("revenue", "debt", "cash"))
    ]
    draft = draft_of(tmp_path / "t.csv", rows)
    assert 'prompts, each told by "firm" and "field" together' in readings(draft)
    assert '[sample] prompt_id = { template = "{firm} {field}" }' in draft


def test_samples_of_a_few_problems_are_generations(tmp_path: Path) -> None:
    rows = [
        {"problem": f"p{number}_abs", "sample": draw, "model": "org/m", "verified": ok}
        for number in range(6)
        for draw, ok in enumerate((1, 1, 0, number % 2, 1))
    ]
    draft = draft_of(tmp_path / "t.csv", rows)
    mapping = tomllib.loads(draft)
    assert not readings(draft)
    assert mapping["sample"] == {"prompt_id": "problem", "draw": "sample"}


def test_a_score_that_is_empty_in_all_rows_is_said_first(tmp_path: Path) -> None:
    rows = [row | {"human_score": None} for row in answers("topic", ("a", "b"))]
    for row in rows:
        del row["is_right"]
    first = asked(draft_of(tmp_path / "t.csv", rows))[0]
    assert first["what"] == 'where the scores are: "human_score" is empty in all rows'


def test_a_table_of_usual_names_says_which_conditions_it_takes_together(
    tmp_path: Path, run: Caller
) -> None:
    rows = [
        {
            "model": "m",
            "benchmark": "b",
            "question_id": f"{arm}{number}",
            "arm": arm,
            "correct": number % 2,
        }
        for arm in ("x", "y")
        for number in range(6)
    ]
    path = table(tmp_path / "t.csv", rows)
    said = run("ingest", str(path), db=f"duckdb:///{tmp_path / 's.db'}")
    assert "arm (x, y) may name conditions, whose rows are taken together" in said.err


# --- figures --------------------------------------------------------------------------


def board(**columns: list[Any]) -> list[dict[str, Any]]:
    """A row of a board for each of four models."""
    return [
        {"model": model} | {name: values[at] for name, values in columns.items()}
        for at, model in enumerate(MODELS)
    ]


def test_ranks_by_a_figure_that_is_not_taken_are_asked_about(tmp_path: Path) -> None:
    rows = board(
        rank=[1, 2, 3, 4],
        bits_per_second=[13.2, 6.5, 2.9, 0.3],
        output_accuracy=["72.5%", "86.3%", "60.0%", "93.1%"],
    )
    (choice,) = asked(draft_of(tmp_path / "b.csv", rows))
    assert '"rank" orders the rows by "bits_per_second"' in choice["what"]
    by_accuracy = board(
        rank=[1, 2, 3, 4],
        cost=[4.0, 3.0, 2.0, 1.0],
        accuracy=[0.9, 0.8, 0.7, 0.65],
    )
    assert not readings(draft_of(tmp_path / "a.csv", by_accuracy))


@pytest.mark.parametrize(
    "columns",
    [
        {
            "N": [817, 817, 817, 817],
            "Correctness_All": [0.44, 0.46, 0.59, 0.52],
            "CI_Lower": [0.41, 0.43, 0.56, 0.48],
            "CI_Upper": [0.47, 0.49, 0.63, 0.55],
            "Mean_Cosine": [0.49, 0.69, 0.58, 0.41],
        },
        {"latest_score": [71.5, 60.25, 55, 41], "avg_score": [70.5, 61.5, 50, 40.25]},
    ],
)
def test_figures_of_one_set_of_prompts_are_no_benchmarks(
    tmp_path: Path, columns: dict[str, list[Any]]
) -> None:
    said = readings(draft_of(tmp_path / "b.csv", board(**columns)))
    assert "metrics of one benchmark; benchmarks, of which each has a figure" in said


def test_figures_beyond_rates_that_are_equal_in_all_rows_are_asked_about(
    tmp_path: Path,
) -> None:
    rows = board(elo=[25000] * 4, elo_of_games=[25000] * 4)
    assert "which is 25000 in all rows" in readings(draft_of(tmp_path / "b.csv", rows))


def test_versions_of_a_benchmark_are_not_ranked_together(tmp_path: Path) -> None:
    rows = board(benchmark_version=["1.0", "1.0", "2.0", "1.0"], accuracy=[0.5, 0.25, 0.8, 0.75])  # fmt: skip
    said = readings(draft_of(tmp_path / "b.csv", rows))
    assert 'what "benchmark_version" says (1.0, 2.0), which differs' in said


def test_figures_of_the_same_models_elsewhere_in_a_document_are_named(
    tmp_path: Path,
) -> None:
    def of_models(step: float) -> dict[str, Any]:
        return {m: {"score": step + n / 16, "n": 508} for n, m in enumerate(MODELS)}

    means = {m: {"mean": 0.25 + n / 8, "low": 0.125} for n, m in enumerate(MODELS)}
    content = {
        "metadata": {"benchmark_name": "office"},
        "questions": {"main": means},
        "fidelity": {"sheets": {"main": of_models(0.5)}},
    }
    path = document(tmp_path / "b.json", content)
    said = readings(starting_mapping(path))
    assert "which figures of the same keys are meant" in said
    assert "questions.main" in said and "fidelity.sheets.main" in said


def test_percentages_of_counts_are_figures_of_conditions(tmp_path: Path) -> None:
    rows = [
        {
            "model": model,
            "chunk": chunk,
            "occurrences": 20,
            "detected": found,
            "recall_pct": found * 5.0,
            "precision_pct": 47.5 + found,
        }
        for model in MODELS[:3]
        for chunk, found in (("-", 18), ("1.0", 17), ("4.0", 19))
    ]
    said = readings(draft_of(tmp_path / "b.csv", rows))
    assert said.startswith('what "chunk" names (-, 1.0, 4.0), of which each model has')
    assert "points of which each prompt gives" not in said


def test_one_of_several_ratings_is_not_taken_because_it_is_called_accuracy(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "question_id": f"q{number}",
            "model": model,
            "accuracy": (number + place) % 5 + 1,
            "clarity": (number * place) % 4 + 2,
            "safety": (2 * number + place) % 5 + 1,
            "weighted": round(1 + (3 * number + 7 * place) % 40 / 10, 2),
        }
        for number in range(12)
        for place, model in enumerate(MODELS[:3])
    ]
    (choice,) = asked(draft_of(tmp_path / "t.csv", rows))
    assert choice["what"] == "which columns are the scores of the prompts"
    named = [reading.split(" (")[0] for reading in choice["between"][:-1]]
    assert named == ["accuracy", "clarity", "safety", "weighted"]


def test_figures_that_codes_of_conditions_tell_apart_are_runs(tmp_path: Path) -> None:
    rows = [
        {
            "arm": f"A{number}",
            "task": "nca",
            "model": "claude-sonnet-4-6",
            "accuracy_overall": f"{90 + number}.25 ± 0.5",
            "tool_calls": f"{number + 8}.5 ± 1.5",
            "tokens": f'{{"in": {number}}}',
        }
        for number in range(5)
    ]
    text = draft_of(tmp_path / "b.csv", rows)
    assert "figures of whole benchmarks or runs" in readings(text)
    assert '2. [run.configuration] arm = "arm"' in text


def test_means_of_ratings_beside_rates_of_wins_may_be_metrics(tmp_path: Path) -> None:
    rows = board(
        clarity_mean=[4.8, 4.9, 4.7, 4.5], clarity_n=[120, 120, 119, 120],
        depth_mean=[4.2, 4.3, 4.1, 4.4], depth_n=[71, 64, 63, 70],
        arena_clarity_winrate=[0.6, 0.7, 0.2, 0.3], arena_clarity_ties=[1, 0, 2, 3],
        arena_depth_winrate=[0.5, 0.8, 0.1, 0.4], arena_depth_ties=[0, 0, 0, 1],
    )  # fmt: skip
    assert "metrics of one benchmark" in readings(draft_of(tmp_path / "b.csv", rows))


def test_columns_of_names_that_nobody_knows_are_metrics_or_benchmarks(
    tmp_path: Path,
) -> None:
    rows = board(hp_known=[0.5, 0.25, 0.125, 0.75], norm_hp=[0.875, 0.75, 0.5, 0.25])
    text = draft_of(tmp_path / "b.csv", rows)
    assert readings(text).startswith('what the columns "hp_known", "norm_hp" are')
    mapping = tomllib.loads(text)
    del mapping["choose"]
    assert len(read(tmp_path, mapping).runs) == 8
    assert '1. [run] model = "model", and [[published]] metric = "hp_known"' in text
    del mapping["matrix"]
    mapping["run"] = {"model": "model", "benchmark": {"const": "b"}}
    names = ("hp_known", "norm_hp")
    mapping["published"] = [{"metric": name, "value": name} for name in names]
    taken = read(tmp_path, mapping)
    assert [len(run.published) for run in taken.runs] == [2, 2, 2, 2]


@pytest.mark.parametrize(
    "columns",
    [
        {"hp_qa": [50.5, 25, 12.5, 75], "tofu": [87.5, 75, 50, 25]},  # per cent
        {"hp": [0.5, 0.25, 0.5, 0.75], "tofu": [0.25, 0.75, 0.5, 0.25]}
        | {"ship": [0.75, 0.5, 0.125, 0.5], "overall": [0.5, 0.5, 0.375, 0.5]},
        {"BabyAI accuracy": [0.5, 0.25, 0.5, 0.75], "NetHack accuracy": [0.25, 0.5, 0.5, 0.125]},
    ],
)  # fmt: skip
def test_percentages_and_columns_with_their_mean_are_benchmarks(
    tmp_path: Path, columns: dict[str, list[Any]]
) -> None:
    assert not readings(draft_of(tmp_path / "b.csv", board(**columns)))


def test_figures_of_which_each_is_of_a_file_are_told_apart_by_it(
    tmp_path: Path,
) -> None:
    names = ("code", "maths", "text", "law")
    rows = [
        {"File": f"{name}.json", "Model": "gpt-4o-mini", "Accuracy": 0.5 + n / 8}
        for n, name in enumerate(names)
    ]
    text = draft_of(tmp_path / "b.csv", rows)
    assert '2. [run.configuration] File = "File" (or [run] benchmark = "File")' in text


def test_figures_that_most_runs_lack_may_be_figures_of_runs(tmp_path: Path) -> None:
    rows = [
        {
            "run_id": f"q3_{number}_0707",
            "model": "org/q-8b",
            "method": "base" if number % 3 else "tuned",
            "aime_pass@1": "" if number % 2 else number / 32,
        }
        for number in range(11)
    ]
    rows[2]["aime_pass@1"] = ""
    text = draft_of(tmp_path / "b.csv", rows)
    assert "published figures of systems: [run] run_id" in readings(text)


def test_labels_of_rows_of_figures_may_be_systems(tmp_path: Path) -> None:
    rows = [
        {"label": f"exp1-{mode}", "n": 76, "mode": mode, "mrr": 0.8 + n / 32, "hit@1": 0.7 + n / 64}
        for n, mode in enumerate(("sparse", "dense", "hybrid"))
    ]  # fmt: skip
    said = readings(draft_of(tmp_path / "b.csv", rows))
    assert 'each row a model or system, named by "label"' in said


def similarities(names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Answers of one model whose scores are another number in each row."""
    return [
        {
            "condition": name,
            "text": f"What is thing {number} of {name}, in words that are its own?",
            "output": f"It is {number * 7 % 9}, says {name}",
            "similarity_score": round(0.1 + number / 97 + place / 3, 4),
        }
        for place, name in enumerate(names)
        for number in range(12)
    ]


def test_scores_that_differ_in_each_row_explain_no_condition(tmp_path: Path) -> None:
    rows = similarities(("plain", "translated"))
    (choice,) = asked(draft_of(tmp_path / "t.csv", rows))
    assert choice["what"].startswith('what "condition" names (plain, translated)')


def test_conditions_are_asked_about_beside_the_question_of_scores(
    tmp_path: Path,
) -> None:
    rows = similarities(("plain", "translated"))
    for number, row in enumerate(rows):
        row["bias_score"] = round(number % 7 / 6 - 0.5, 3)
    scores, condition = asked(draft_of(tmp_path / "t.csv", rows))
    assert scores["what"] == "which columns are the scores of the prompts"
    assert condition["what"].startswith('what "condition" names')
