"""Kinds of files that strangers publish, of which rows say more than names: what a draft
makes of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tests.support.cli import Caller
from tests.support.drafts import asked, document, readings, table
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.ingest.drafted import drafted

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


def test_figures_of_several_objects_keep_their_names_and_their_numbers_of_prompts(
    tmp_path: Path,
) -> None:
    def part(n: int, k: int, positive: int, hits: int) -> dict[str, Any]:
        return {
            "acc": round((n - 10 - k) / n, 3),
            "recall": round(hits / positive, 3),
            "n_pos": positive,
        }

    content = {
        m: {
            "n": 200 - i,
            "strict": part(200 - i, 3 * i, 60 - i, 41 + i),
            "loose": part(200 - i, i, 36 - i, 21 + 2 * i),
            "sure": {"share": 0.25 + i / 9},
        }
        for i, m in enumerate(MODELS)
    }
    path = document(tmp_path / "s.json", {"models": content})
    figures = tomllib.loads(starting_mapping(path))["published"]
    assert [(one["metric"], one.get("n")) for one in figures] == [
        ("strict.acc", "n"),
        ("strict.recall", "strict.n_pos"),
        ("loose.acc", "n"),
        ("loose.recall", "loose.n_pos"),
    ]


def test_a_number_behind_the_name_of_a_metric_makes_no_other_of_it(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "model": m,
            "lang": lang,
            "n": 200,
            "chrf2": 74.5 + i + len(lang),
            "comet": 92.07 - i,
            "comet_n": 200 - k,
        }
        for i, m in enumerate(MODELS)
        for k, lang in enumerate(("afr", "deu", "spa"))
    ]
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert [(one["value"], one["n"]) for one in mapping["published"]] == [
        ("chrf2", "n"),
        ("comet", "comet_n"),
    ]


def test_a_percentage_of_systems_that_two_columns_name_may_be_a_figure(
    tmp_path: Path,
) -> None:
    rows = [
        {"adapter": a, "options": o, "KER": f"{k + 1}.{i}5%" if k else "—"}
        for i, a in enumerate(("kana", "yomi"))
        for k, o in enumerate(("-", "long=True, yotsu=False", "long=False"))
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'published figures of systems: [run] model = "adapter"' in readings(draft)


def test_entries_name_their_model_in_the_letters_of_programs(tmp_path: Path) -> None:
    entries = [
        {
            "label": f"Claude Sonnet {i}",
            "modelId": f"claude-sonnet-{i}",
            "rungs": {
                rung: {"score": 0.25 + i / 9, "items": 118, "coverage": 1}
                for rung in ("identify", "signs")
            },
            "refusals": i,
        }
        for i in range(4)
    ]
    path = document(tmp_path / "board.json", {"entries": entries})
    mapping = tomllib.loads(starting_mapping(path))
    assert mapping["run"]["model"] == "modelId"
    assert mapping["each"]["place"] == ["rungs.identify", "rungs.signs"]


# --- several rows of one prompt -------------------------------------------------------


def test_shares_of_counts_below_keys_may_be_figures(tmp_path: Path) -> None:
    def tracks(right: int) -> dict[str, Any]:
        return {
            name: {
                "score": k / n,
                "right": k,
                "total": n,
                "said": f"{k} of all {n} are right",
            }
            for name, k, n in (("research", right, 10), ("moves", right + 1, 8))
        }

    content: list[dict[str, Any]] = [
        {"model": m, "tracks": tracks(i + 2)} for i, m in enumerate(MODELS)
    ]
    for entry in content:
        entry["tracks"]["league"] = {"score": None, "said": "it has not been run"}
    path = document(tmp_path / "b.json", {"models": content, "labels": {"a": "A"}})
    draft = starting_mapping(path)
    assert "benchmarks, of which figures are published" in readings(draft)


def test_a_name_that_is_a_part_of_each_id_is_asked_about(tmp_path: Path) -> None:
    rows = [
        {"id": f"{p}_seed{s}", "provider": p, "seed": s, "success": (s + k) % 2}
        for k, p in enumerate(("rules", "jev", "deep"))
        for s in range(4)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'what "provider" names (rules, jev, deep), a part of each "id"' in (
        readings(draft)
    )


def test_parts_of_ids_of_other_texts_are_no_models(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{s}_{i}",
            "field": s,
            "question": f"What of {s} is number {i} here?",
            "correct": i % 2,
        }
        for s in ("law", "art")
        for i in range(6)
    ]
    assert not asked(starting_mapping(table(tmp_path / "t.csv", rows)))


def test_conditions_with_unnumbered_generations_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"condition": c, "task_id": f"t{(i * 7 + k) % 3}", "correct": (i + k) % 2}
        for k, c in enumerate(("control", "credits"))
        for i in range(11)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'what "condition" names (control, credits)' in readings(draft)
    assert "--on-duplicate draws" in draft


def test_answers_that_name_a_model_name_none(tmp_path: Path) -> None:
    rows = [
        {"reply": f"It is {i}, says gpt-5 now of {i}", "is_ok": 0.86 - i / 99, "nr": i}
        for i in range(30)
    ]
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "gpt-5.csv", rows)))
    assert "model" not in mapping["run"]


# --- what tells figures apart ---------------------------------------------------------


def test_rows_of_figures_are_told_apart_by_what_was_evaluated(tmp_path: Path) -> None:
    rows = [
        {"provider": p, "country": c, "kind": c[-1], "agreement": 0.41 + i / 30 + k / 9}
        for k, p in enumerate(("acme", "bolt", "cern"))
        for i, c in enumerate(("de x", "fr y", "it x", "es y"))
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert '[run] model = "provider", [run.configuration] country = "country"' in draft


def test_keys_below_prompts_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {
            "sample_id": i,
            "scores": {
                system: {"f1_avg": (i * 3 + k) % 7 / 7, "latency": 0.5 + k + i / 10}
                for k, system in enumerate(("ash", "oak", "elm"))
            },
        }
        for i in range(6)
    ]
    path = document(tmp_path / "t.json", {"samples": rows})
    draft = starting_mapping(path)
    assert 'what "@key" tells apart' in readings(draft)


# --- what columns of boards are -------------------------------------------------------


def test_columns_of_which_others_are_differences_may_be_conditions(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "model": m,
            "bare": 71.25 + k,
            "aided": 75.4 + 2 * k,
            "aided_less_bare": 4.15 + k,
        }
        for k, m in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'what the columns "bare", "aided" are' in readings(draft)
    assert "conditions of one benchmark, a run each" in readings(draft)


def test_a_figure_that_all_models_have_is_asked_about(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"model": m, "rivers": 61.5 + k, "stones": 80.0, "clouds": 90.25 - k}
        for k, m in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'what the columns "stones" beside benchmarks are' in readings(draft)
    for row in rows:
        figures = (row["rivers"], row["stones"], row["clouds"])
        row["mean"] = round(sum(figures) / 3, 4)
    rows[0]["clouds"], rows[0]["mean"] = 70.25, round((61.5 + 80 + 70.25) / 3, 4)
    draft = starting_mapping(table(tmp_path / "u.csv", rows))
    assert tomllib.loads(draft)["matrix"]["cells"] == "rivers|stones|clouds"


def test_means_of_cells_are_left_out(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"codec": c, "hi": 0.11 + k / 7, "ta": 0.3 - k / 20, "MEAN": 0.0}
        for k, c in enumerate(("dac", "enc", "sna", "tok"))
    ]
    for row in rows:
        row["MEAN"] = round((row["hi"] + row["ta"]) / 2, 6)
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert tomllib.loads(draft)["matrix"]["cells"] == "hi|ta"


def test_a_message_says_which_shares_are_not_taken(tmp_path: Path) -> None:
    figures = {
        m: {
            "read_accuracy": 0.5 + k / 9,
            "write_f1": 0.4 + k / 8,
            "kept_long": 0.3 + k / 7,
        }
        for k, m in enumerate(MODELS)
    }
    found = drafted(document(tmp_path / "t.json", figures), {})
    assert "not taken: kept_long; nothing names the benchmark" in found.why_not


# --- heads and signs ------------------------------------------------------------------


def test_numbers_between_signs_of_latex_are_figures(tmp_path: Path) -> None:
    rows = [
        {"Method": m, "AP": rf"${40.5 + k}\pm0.{k}$", "P@50": f"${46 + k}.5$"}
        for k, m in enumerate(("dm_mean", "random", "knn", "gpt-5"))
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'each row a model or system, named by "Method"' in readings(draft)
    assert "AP (text, 40.5 to 43.5)" in readings(draft)


def test_a_file_without_a_row_of_names_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = [f"phi,Write {i} lines,0.{i}7,{i}.25" for i in range(1, 6)]
    path.write_text("\n".join(lines) + "\n")
    draft = starting_mapping(path)
    assert 'what the first row of the file is, which holds "phi", "0.17"' in (
        readings(draft)
    )


def test_percentages_of_several_kinds_are_of_conditions_each(tmp_path: Path) -> None:
    figures = {"melody": 61.25, "rhythm": 55.4, "timbre": 70.8}
    rows = [
        {"model": m, "params_b": 7, "method": w}
        | {name: value + 3 * k for name, value in figures.items()}
        for k, (m, w) in enumerate(
            [
                ("gpt-5", "plain"),
                ("gpt-5", "GRPO"),
                ("gpt-5", "SFT"),
                ("qwen-3-8b", "few"),
            ]
        )
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'what "method" names (plain, GRPO, SFT, few)' in readings(draft)


def test_keys_of_figures_may_be_systems(tmp_path: Path) -> None:
    figures = {
        s: {"n": 50, "accuracy": 0.56 + k / 50}
        for k, s in enumerate(("a1", "b2", "c3"))
    }
    draft = starting_mapping(document(tmp_path / "t.json", {"results": figures}))
    assert "models or systems, of which figures are published" in readings(draft)


# --- columns that compare two others --------------------------------------------------


def test_a_change_in_percent_of_one_column_is_no_figure(tmp_path: Path) -> None:
    figures = ((0.7518, 0.624), (0.8655, 0.6532), (0.7074, 0.6783), (1.3398, 0.8518))
    rows = [
        {
            "model": m,
            "zero_shot_bpb": before,
            "tuned_bpb": after,
            "reduction_pct": round(100 * (before - after) / before, 3),
        }
        for m, (before, after) in zip(MODELS, figures, strict=True)
    ]
    path = document(tmp_path / "t.json", {"benchmark": "news", "entries": rows})
    assert "reduction_pct" not in readings(starting_mapping(path))
    assert 'what the columns "zero_shot_bpb", "tuned_bpb" are' in (
        readings(starting_mapping(path))
    )


def test_a_share_of_two_counts_is_a_figure(tmp_path: Path) -> None:
    rows = [
        {"model": m, "n": n, "accuracy": (n - k) / n, "incorrect_count": k}
        for m, n, k in zip(MODELS, (40, 50, 60, 80), (3, 7, 13, 9), strict=True)
    ]
    mapping = tomllib.loads(starting_mapping(table(tmp_path / "t.csv", rows)))
    assert [one["value"] for one in mapping["published"]] == ["accuracy"]


def test_throughput_is_no_figure(tmp_path: Path) -> None:
    rows = [
        {"Model": m, "Latency (s)": 1.97 + k, "TPM": 11.65 - k, "Status": "Success"}
        for k, m in enumerate(MODELS)
    ]
    assert "TPM" not in drafted(table(tmp_path / "t.csv", rows), {}).roles
    assert "published" not in tomllib.loads(
        starting_mapping(table(tmp_path / "t.csv", rows))
    )


# --- models, judges and criteria ------------------------------------------------------


def test_names_of_models_where_others_are_empty_are_those_of_rows(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "Provider": f"System {m}",
            "Tables": 70.25 + k,
            "Charts": 30.5 - k,
            "Hub_Model_ID": f"org/{m}" if k > 1 else "",
        }
        for k, m in enumerate(MODELS)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert "which column names the models" not in readings(draft)


def test_the_model_asked_for_and_the_one_that_answered_are_one(tmp_path: Path) -> None:
    rows = [
        {"model_requested": m, "model_returned": m, "task_id": f"t{i}", "score": i % 2}
        for m in MODELS
        for i in range(6)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert "model_returned" not in readings(draft)


def test_keys_of_criteria_of_a_judge_are_metrics(tmp_path: Path) -> None:
    rows = [
        {
            "run_id": f"text_{arm}",
            "judge_model": "claude-4-sonnet",
            "scores": {
                name: {"score": 2 + (i + k) % 4, "evidence": f"The diff {i} of {name}."}
                for k, name in enumerate(("solid", "restraint", "contract"))
            },
        }
        for i, arm in enumerate(("plain", "guided", "long", "short"))
    ]
    draft = starting_mapping(document(tmp_path / "t.json", rows))
    assert "metrics, each a score of what the record above names" in readings(draft)
    assert '[sample] prompt_id = "^.run_id"' in draft


def test_figures_beside_the_first_are_named(tmp_path: Path) -> None:
    figures = {
        s: {"scores": {"quality": 7 + k, "ease": 9 - k, "depth_kept": 3 + k}}
        for k, s in enumerate(("fetch tool", "browser", "light one"))
    }
    draft = starting_mapping(document(tmp_path / "t.json", figures))
    assert 'one more for each of "scores.ease"' in draft


def test_columns_of_a_list_of_models_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"rank": k + 1, "model": m, "caste": 3.83 - k / 7, "harm": 3.71 - k / 9}
        for k, m in enumerate(MODELS)
    ]
    path = document(tmp_path / "t.json", {"leaderboard": rows})
    assert 'what the columns "caste", "harm" are' in readings(starting_mapping(path))


def test_a_matrix_reads_fields_of_the_document_above(
    run: Caller, tmp_path: Path
) -> None:
    rows = [{"name": m, "bare": 0.7 + k / 9} for k, m in enumerate(MODELS[:2])]
    path = document(tmp_path / "t.json", {"about": {"id": "news"}, "rows": rows})
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        'files = ["t.json"]\n[rows]\nat = "rows[]"\n[matrix]\nlabel = "name"\n'
        'cells = "bare"\n[run]\nmodel = "@row"\nbenchmark = "$.about.id"\n'
        '[[published]]\nmetric = "score"\nvalue = "@cell"\n'
    )
    db = str(tmp_path / "s.duckdb")
    assert run("ingest", str(path), "--map", str(mapping), db=db).code == 0
    assert "news" in run("leaderboard", db=db).out


def test_names_over_several_rows_are_joined_cells(tmp_path: Path) -> None:
    rows = [
        {"Model": m if not k else "", "Task": t, "Accuracy": 0.5 + i / 20 + k / 50}
        for i, m in enumerate(MODELS)
        for k, t in enumerate(("law", "med", "code"))
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert 'what the empty cells of "Model" below each name are' in readings(draft)
