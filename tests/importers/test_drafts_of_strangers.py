"""Kinds of files that were once read as something else, or refused without a reading
that holds: what a draft makes of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from tests.support.cli import Caller
from tests.support.drafts import asked, document, readings, table
from tests.support.tabular import read
from warehouse.importers.tabular.drafts.draft import starting_mapping

MODELS = ("gpt-5", "claude-4-sonnet", "llama-9b", "qwen-3-8b")


# --- boards ---------------------------------------------------------------------------


def test_tasks_that_the_first_entries_lack_are_read(tmp_path: Path) -> None:
    """Of one entry with one task, and others with three."""

    def entry(number: int, *tasks: str) -> dict[str, Any]:
        of_each = {task: {"skill_score": 40.5 + number, "n": 9} for task in tasks}
        return {"name": MODELS[number], "scores": of_each}

    tasks = ("reading", "writing", "speaking")
    entries = [entry(0, "reading"), *(entry(i, *tasks) for i in (1, 2, 3))]
    path = document(tmp_path / "board.json", {"models": entries})
    mapping = tomllib.loads(starting_mapping(path))
    assert [name.rpartition(" ")[2] for name in mapping["each"]["benchmark"]] == [
        *tasks
    ]
    runs = read(tmp_path, mapping).runs
    figures = [one.value for run in runs for one in run.published]
    assert len(figures) == 10


def test_elements_of_a_list_of_models_are_no_prompts(tmp_path: Path) -> None:
    tasks = ("reading", "writing", "speaking")
    entries = [
        {
            "id": f"m{number}",
            "name": f"Vendor {'ABCD'[number]}",
            "scores": {t: {"skill_score": 40.5 + number + len(t)} for t in tasks},
        }
        for number in range(4)
    ]
    path = document(tmp_path / "board.json", {"models": entries})
    draft = starting_mapping(path)
    assert tomllib.loads(draft)["run"]["model"] == "^.name"
    assert "benchmarks, of which figures are published" in readings(draft)


def test_conditions_in_a_list_are_no_generations(tmp_path: Path) -> None:
    def curve(low: float) -> list[dict[str, float]]:
        return [{"noise": x, "acc": low + (1 - x) / 9} for x in (0.0, 0.3, 0.9)]

    entries = [
        {
            "label": m.title(),
            "model_id": m,
            "clean_acc": 0.9 + i / 99,
            "curve": curve(i),
        }
        for i, m in enumerate(MODELS)
    ]
    draft = starting_mapping(document(tmp_path / "b.json", {"models": entries}))
    mapping = tomllib.loads(draft)
    assert mapping["rows"] == {"at": "models[]"}
    assert [one["value"] for one in mapping["published"]] == ["clean_acc"]


def test_items_below_each_model_go_before_counts_of_their_kinds(
    tmp_path: Path,
) -> None:
    def of_model(model: str, step: int) -> dict[str, Any]:
        details = [
            {
                "scenario_id": f"kind{i % 3}.case{'abcdefghijkl'[i]}",
                "passed": i % step > 0,
            }
            for i in range(12)
        ]
        kinds = {
            f"kind{k}": {"passed": k + step % 2, "failed": 1, "total": 3}
            for k in range(3)
        }
        return {"model": model, "kinds": kinds, "details": details}

    content = {"models": [of_model(m, i + 2) for i, m in enumerate(MODELS)]}
    mapping = tomllib.loads(starting_mapping(document(tmp_path / "b.json", content)))
    assert mapping["rows"]["at"] == "models[].details[]"
    assert mapping["sample"]["prompt_id"] == "scenario_id"
    assert [one["value"] for one in mapping["scores"]] == ["passed"]


def test_ratings_of_models_are_figures(run: Caller, tmp_path: Path) -> None:
    rows = [{"model": m, "rating": 1100 + 30 * i} for i, m in enumerate(MODELS)]
    path = table(tmp_path / "elo.csv", rows)
    assert not asked(starting_mapping(path))
    run("leaderboard", "--from", str(path)).fails(3, "nothing names the benchmark")


def test_entries_of_which_half_are_models_are_asked_about(tmp_path: Path) -> None:
    names = ("gpt-5", "llama-9b", "Some Web Service")
    rows = [{"participant": n, "mean_loss": 0.5 + i} for i, n in enumerate(names)]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'models, of which "mean_loss" are published figures' in readings(draft)


def test_shares_of_one_object_may_be_benchmarks(tmp_path: Path) -> None:
    content = {"overall": 0.75, "civil law": 0.9, "penal law": 0.6}
    draft = starting_mapping(document(tmp_path / "gpt-5.json", content))
    assert readings(draft).partition(": ")[2].startswith("benchmarks by key")
    assert 'equal_to = ["overall"]' in draft


# --- files side by side ---------------------------------------------------------------


def verdicts(folder: Path, *names: str) -> list[str]:
    """A file for each name, of the same prompts."""
    paths = []
    for number, name in enumerate(names):
        content = {f"Task/{i}": i % (number + 2) > 0 for i in range(24)}
        paths.append(str(document(folder / f"{name}_verdicts.json", content)))
    return paths


def test_one_name_is_not_given_to_several_files(run: Caller, tmp_path: Path) -> None:
    """Names of files that are those of no known models may be those of several."""
    paths = verdicts(tmp_path / "r", "3.6_s42", "3.6_s43", "3.8_s42")
    named = ("--default", "model=m", "--default", "benchmark=b")
    said = run("leaderboard", "--from", str(tmp_path / "r"), *named)
    said.fails(3, "what the files are", "3.6_s42", "models, by the names of files")
    alone = run("leaderboard", "--from", paths[0], *named)
    assert alone.code == 0
    draft = starting_mapping(paths[0])
    assert r"(?P<model>[^/]+)_verdicts\.json" in draft


def test_boards_of_the_same_models_may_be_of_several_benchmarks(
    run: Caller, tmp_path: Path
) -> None:
    for number, name in enumerate(("sums", "maps", "arena")):
        rows = [
            {"Name": model, "Score": 50.5 + number * 500 + place}
            for place, model in enumerate(MODELS)
        ]
        table(tmp_path / "b" / f"board_{name}.csv", rows)
    named = ("--default", "benchmark=b")
    run("leaderboard", "--from", str(tmp_path / "b"), *named).fails(
        3, "which state figures of the same models", "benchmarks, by the names"
    )


# --- rows -----------------------------------------------------------------------------


def test_words_that_differ_between_models_are_offered_as_verdicts(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "model": model,
            "case": f"case {i}",
            "said": f"Something long about case {i}, by {model}",
            "outcome_word": ("steadfast", "swayed")[(i + k) % 3 == 0],
        }
        for k, model in enumerate(MODELS[:2])
        for i in range(12)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert '"outcome_word", verdicts: "steadfast", "swayed"' in readings(draft) or (
        '"outcome_word", verdicts: "swayed", "steadfast"' in readings(draft)
    )
    assert "each ? the number" in draft


def test_votes_without_models_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"pair": f"p{i}", "judge": judge, "order": order, "winner": "AB"[(i + k) % 2]}
        for i in range(8)
        for judge in ("x", "y")
        for k, order in enumerate(("AB", "BA"))
    ]
    (first, *_) = asked(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert 'whose two answers "winner" votes on (A, B)' in first["what"]


def test_a_column_of_models_of_something_is_asked_about(
    run: Caller, tmp_path: Path
) -> None:
    """Nor does the table ask for a name that is to stand for all rows: answers of
    several models, each judged twice."""
    rows = [
        {
            "judge": judge,
            "question_id": f"q{i}",
            "question": f"What do you think of number {i}?",
            "source_model": MODELS[i % 2],
            "model_returned": f"{judge}-2025",
            "score": (i + k) % 5,
        }
        for k, judge in enumerate(("gpt-4o", "claude-3-opus"))
        for i in range(12)
    ]
    path = table(tmp_path / "t.csv", rows)
    (first, *_) = asked(starting_mapping(path))
    assert first["between"][0].startswith('"source_model" (gpt-5')
    run("leaderboard", "--from", str(path)).fails(3, "which column names the models")


def test_a_seed_that_comes_back_is_of_another_condition(tmp_path: Path) -> None:
    rows = [
        {"model": m, "plan": plan, "seed": seed, "M1": (seed + i) % 2, "M2": seed % 3}
        for i, m in enumerate(MODELS)
        for plan in ("short plan", "long plan")
        for seed in (42, 43, 44)
    ]
    (first, *_) = asked(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert first["what"].startswith('what "plan" names')
    assert first["between"][0] == "conditions of one benchmark, a run each"


def test_ids_and_answers_are_no_settings(run: Caller, tmp_path: Path) -> None:
    """Of two ids, the second tells rows of the first apart: it makes no runs."""
    rows = [
        {
            "model": "m",
            "benchmark": "b",
            "question_id": f"q{i % 4}",
            "item_id": f"item {i}",
            "question": f"What is {i % 4}?",
            "score": i % 2,
        }
        for i in range(8)
    ]
    path = table(tmp_path / "t.csv", rows)
    said = run("leaderboard", "--from", str(path))
    assert "item_id=" not in said.out + said.err


def test_numbers_without_a_question_are_no_response(tmp_path: Path) -> None:
    rows = [
        {"Models": MODELS[0], "Output": 900 + i * 7, "Accuracy": 3 + i % 3 / 2}
        for i in range(12)
    ]
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert "response" not in mapping.get("sample", {})


# --- judges, and names that stand as keys ---------------------------------------------


def test_who_judged_is_no_model(run: Caller, tmp_path: Path) -> None:
    """Each judge has all prompts, as models would."""
    rows = [
        {"judge": judge, "item_id": f"q{i}", "correct": (i + k) % 3 > 0}
        for k, judge in enumerate(MODELS[:2])
        for i in range(12)
    ]
    path = table(tmp_path / "t.csv", rows)
    assert "model" not in tomllib.loads(starting_mapping(path)).get("run", {})
    assert run("leaderboard", "--from", str(path)).code == 3


def test_labels_that_are_called_judges_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"group": f"{family} judge", "wins": 40 + i, "win_rate": 0.4 + i / 100}
        for i, family in enumerate(("Gemma", "Llama", "Qwen", "Phi"))
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert "by their names judges" in readings(draft)
    assert "who judged others, whose names stand elsewhere" in readings(draft)


def test_folders_of_models_whose_rows_name_judges_are_asked_about(
    run: Caller, tmp_path: Path
) -> None:
    for step, evaluated in enumerate(MODELS[:3], 2):
        rows = [
            {"model": judge, "task": f"case {i}", "score": 50 + (i * step + k) % 50}
            for k, judge in enumerate(("judge-x", "judge-y"))
            for i in range(12)
        ]
        table(tmp_path / "r" / evaluated / "grading.csv", rows)
    first = tmp_path / "r" / MODELS[0] / "grading.csv"
    assert "the column says who judged" in starting_mapping(first)
    said = run("leaderboard", "--from", str(tmp_path / "r"))
    said.fails(3, MODELS[0])


def test_keys_of_scores_of_judges_are_who_judged(tmp_path: Path) -> None:
    def judged(i: int) -> dict[str, Any]:
        by = {"gpt-4.1": {"score": 1 + i % 5}, "claude-4": {"score": 1 + i % 4}}
        return {"answer": f"A long answer of number {i}", "judge_scores": by}

    content = {"model": "m", "runs": {f"C{i}": [judged(i)] for i in range(9)}}
    draft = starting_mapping(document(tmp_path / "m.json", content))
    (first, *_) = asked(draft)
    assert first["between"][0].startswith("those who judged")
    assert '[scorer] judge_model = "@key", and [sample] prompt_id = "^^@key"' in draft


def test_the_id_of_a_dataset_is_the_benchmark(run: Caller, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with path.open("w") as lines:
        for place, model in enumerate(MODELS):
            for task in ("laws", "courts", "terms"):
                row = {
                    "model": {"id": model, "by": {"id": f"lab {place % 2}"}},
                    "dataset": {"id": task, "domain": "law"},
                    "score": 0.5 + place / 10 + len(task) / 100,
                }
                lines.write(json.dumps(row) + "\n")
    said = run("leaderboard", "--from", str(path))
    assert said.code == 0
    assert all(task in said.out for task in ("laws", "courts", "terms"))


def test_keys_that_are_models_are_no_prompts(tmp_path: Path) -> None:
    content = {
        model: {"rating": 1500.5 + 9 * i, "wins": 9 - i, "played": 30}
        for i, model in enumerate(MODELS)
    }
    draft = starting_mapping(document(tmp_path / "ratings.json", content))
    assert "prompt_id" not in tomllib.loads(draft).get("sample", {})
    assert tomllib.loads(draft)["run"]["model"] == "@key"


# --- what no table, or no column, holds -----------------------------------------------


def test_no_column_may_hold_the_scores(tmp_path: Path) -> None:
    rows = [
        {"model": m, "id": f"q{i}", "gap": i % 4 + k / 3, "span": (i + k) / 7}
        for k, m in enumerate(MODELS[:2])
        for i in range(12)
    ]
    assert "none of them: another column" in readings(
        starting_mapping(table(tmp_path / "t.csv", rows))
    )


def test_words_by_key_may_be_verdicts_of_prompts(run: Caller, tmp_path: Path) -> None:
    """Once written, the reading holds."""
    content = {f"Task/{i}": ("OK", "CUT OFF")[i % 4 == 0] for i in range(12)}
    path = document(tmp_path / "r_status.json", content)
    draft = starting_mapping(path)
    assert "prompts by key, each with a verdict" in readings(draft)
    assert "none of them" in readings(draft)
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        """
        files = ["r_status.json"]
        [rows]
        at = "{}"
        [run]
        model = { const = "m" }
        benchmark = { const = "b" }
        [sample]
        prompt_id = "@key"
        [[scores]]
        metric = "score"
        value = { path = "@", values = { "OK" = 1, "CUT OFF" = 0 } }
        [metrics.score]
        kind = "binary"
        higher_is_better = true
        """
    )
    said = run("leaderboard", "--from", str(path), "--map", str(mapping))
    assert "m has 75 %" in said.out, said.err


def test_texts_are_no_tables(run: Caller, tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text("- model: m\n  score: 0.5\n")
    (tmp_path / "board.md").write_text("| model | score |\n| --- | --- |\n| m | 1 |\n")
    said = run("leaderboard", "--from", str(tmp_path))
    said.fails(3, "not from Markdown and YAML: save as one of them")


# --- which column names the prompts ---------------------------------------------------


def test_what_has_right_answers_is_no_model(tmp_path: Path) -> None:
    """Of ten questions under eleven ways to ask, where ids look like names of models."""
    ways = [f"way_{'abcdefghijk'[i]}" for i in range(11)]
    rows = [
        {
            "id": f"67{i}a11c0d7ec9b3a4c5e0{i}5b",
            "prompt_category": way,
            "gold_answer": f"answer {i}",
            "model_output": f"I say {i * k % 7}, and why",
            "is_correct": int((i + k) % 3 > 0),
        }
        for i in range(10)
        for k, way in enumerate(ways)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert tomllib.loads(draft)["sample"]["prompt_id"] == "id"
    assert tomllib.loads(draft)["sample"]["target"] == "gold_answer"
    (choice,) = asked(draft)
    assert choice["what"].startswith('what "prompt_category" names')


def test_numbers_that_count_in_each_pair_may_be_generations(
    run: Caller, tmp_path: Path
) -> None:
    """Once written, the reading holds."""
    pages = ("shop", "news", "maps", "jobs")
    rows = [
        {
            "provider": provider,
            "target": page,
            "request_number": number,
            "success": (number * (k + 1) + len(page)) % (k + 3) > 0,
        }
        for k, provider in enumerate(("alpha", "beta"))
        for page in pages
        for number in range(1, 13)
    ]
    path = table(tmp_path / "t.csv", rows)
    draft = starting_mapping(path)
    reading = '"provider" models, "target" prompts, "request_number" their generations'
    assert reading in readings(draft)
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        """
        files = ["t.csv"]
        [run]
        model = "provider"
        benchmark = { const = "b" }
        [sample]
        prompt_id = "target"
        draw = { path = "request_number", add = -1 }
        [[scores]]
        metric = "success"
        value = "success"
        """
    )
    said = run("leaderboard", "--from", str(path), "--map", str(mapping))
    assert "4 questions × 12 answers" in said.out, said.err


def test_keys_above_tests_may_be_prompts(tmp_path: Path) -> None:
    content = {
        f"Task/{i}": {
            "success_rate": i % 3 / 2,
            "test_results": [
                {"passed": k <= i % 3, "expected": k} for k in range(2 + i % 4)
            ],
        }
        for i in range(9)
    }
    draft = starting_mapping(document(tmp_path / "r.json", content))
    assert "prompts, whose records are generations or tests" in readings(draft)


def test_texts_that_rows_lack_are_optional(tmp_path: Path) -> None:
    """A baseline that was asked nothing: its rows are read, too."""
    rows = [
        {
            "model": m,
            "question": f"Where is {'ABCD'[i % 4]}, do you think?" if k < 2 else "",
            "expected": f"in room {i % 5}",
            "correct": (i + k) % 3 > 0,
        }
        for k, m in enumerate((*MODELS[:2], "random_baseline"))
        for i in range(12)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    text = tomllib.loads(draft)["sample"]["text"]
    assert text == {"path": "question", "optional": True}


def test_sides_that_change_places_are_those_of_votes(tmp_path: Path) -> None:
    sides = ("baseline", "creative")
    lines = []
    for i in range(12):
        record = {
            "task_id": f"t{i}",
            "hidden_label_a": sides[i % 2],
            "hidden_label_b": sides[1 - i % 2],
            "overall_winner": ("A", "B", "B", "tie")[i % 4],
            "nonsense_a": False,
            "nonsense_b": False,
        }
        lines.append(json.dumps(record))
    path = tmp_path / "v.jsonl"
    path.write_text("\n".join(lines))
    (choice,) = asked(starting_mapping(path))
    first = 'those that "hidden_label_a" and "hidden_label_b" name'
    assert choice["between"][0].startswith(first)


def test_weights_are_no_figures(tmp_path: Path) -> None:
    def of_tool(quality: float) -> dict[str, Any]:
        return {"tool": "t", "scores": {"quality": quality, "composite": quality + 4}}

    weights = {"quality": 0.4, "build_time": 0.25, "setup_time": 0.35}
    content = {"weights": weights, "one": of_tool(80.5), "other": of_tool(93.4)}
    (choice,) = asked(starting_mapping(document(tmp_path / "r.json", content)))
    assert choice["what"].startswith('what "one", "other" are, each of which has')
    assert choice["between"][0] == "models or systems, of which figures are published"


# --- readings that the rows support ---------------------------------------------------


def test_rows_whose_right_answers_differ_are_no_generations(tmp_path: Path) -> None:
    """The same question about other stories: what was right, and what was said, are
    neither conditions nor what makes one prompt of them."""
    rooms = ("kitchen", "garden", "office")
    rows = [
        {
            "model": m,
            "length": 2 + i // 6,
            "character": "ABC"[i % 3],
            "question": f"Where is {'ABC'[i % 3]}?",
            "expected": rooms[(i // 3 + i) % 3],
            "predicted": rooms[(i // 3 + i * k) % 3],
            "correct": (i * k - i) % 3 == 0,
        }
        for k, m in enumerate(MODELS[:2])
        for i in range(24)
    ]
    said = readings(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert said.startswith("what rows of the same text are")
    assert "generations" not in said and '"expected"' not in said


def test_names_that_part_rows_of_one_prompt_are_conditions_first(
    tmp_path: Path,
) -> None:
    """Those who judged would have judged one answer; names number no generations."""
    rows = [
        {
            "model": m,
            "id": f"q{i}",
            "setup": setup,
            "output": f"I say {i * (k + 2)}, by {setup}, as {m}",
            "score": (i + k + len(setup)) % 2,
        }
        for k, m in enumerate(MODELS[:2])
        for setup in ("plain", "careful", "terse")
        for i in range(12)
    ]
    (choice,) = asked(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert choice["between"] == [
        "runs, a figure each",
        "prompts",
        "generations of each prompt",
    ]


def test_what_stands_in_for_a_model_is_the_model(tmp_path: Path) -> None:
    rows = [
        {
            "number": i,
            "model": "mock",
            "question": f"What is {i}, then?",
            "score": i % 2,
        }
        for i in range(12)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert tomllib.loads(draft)["run"]["model"] == "model"
