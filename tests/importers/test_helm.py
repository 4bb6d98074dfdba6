"""Run folders of HELM, made from the description of the format
(``tests/support/helm.py``)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.helm import (
    NAME,
    Document,
    by_prompt,
    instance,
    plain,
    spec,
    state,
    stats_of,
    take,
    values,
    write,
)
from warehouse.importers.helm.header import benchmark_name
from warehouse.importers.helm.run_folder import perturbation_label


def test_a_run_for_each_split_with_all_that_is_said_of_it(tmp_path: Path) -> None:
    test, valid = take(plain(tmp_path)).dump.runs
    assert (test.split, valid.split) == ("test", "valid")
    assert (test.harness, test.model, test.benchmark) == (
        "helm",
        "org/tiny",
        "quiz:subject=maps",
    )
    assert (test.endpoint, test.formulation, test.fewshot) == (
        "cloud/tiny",
        "generation",
        5,
    )
    assert (test.temperature, test.top_p, test.max_tokens) == (0.25, 0.75, 31)
    assert test.sampling == {"num_outputs": 1, "stop_sequences": ["\n"], "top_k": 3}
    assert test.suite == ("quiz",)
    assert test.run_id == valid.run_id == f"v1/{NAME}"
    assert (test.n_requested, valid.n_requested) == (2, 1)
    assert (
        test.started_at is not None
        and test.started_at.isoformat() == "2026-11-20T11:17:33"
    )
    assert [item.name for item in test.metrics[:2]] == ["f1_score", "exact_match"]


def test_rows_carry_the_original_prompt_and_their_own_request(tmp_path: Path) -> None:
    taken = take(plain(tmp_path))
    rows = by_prompt(taken)
    original, spaced = (
        rows["id2", "", "", 0],
        rows["id2", "extra_space(num_spaces=2)", "", 0],
    )
    assert (original["text"], original["target"]) == ("question 2", "right 2")
    assert json.loads(original["choices"]) == ["right 2", "wrong 2"]
    assert json.loads(original["identity"]) == {
        "input": "question 2",
        "references": [["right 2", True], ["wrong 2", False]],
    }
    for name in ("text", "target", "identity", "position"):
        assert spaced[name] == original[name]
    assert spaced["prompt_sent"] == "Q: question 2  !\nA:"
    assert (original["response"], spaced["response"]) == ("say 1", "say 2")
    assert (original["finish_reason"], original["latency"]) == ("stop", 1.5)
    assert (original["input_tokens"], original["output_tokens"]) == (41, 1)
    assert values(original) == {"exact_match": 0.0, "f1_score": 0.25}
    assert values(spaced) == {"exact_match": 0.0, "f1_score": 0.125}
    assert rows["id9", "", "", 0]["run"] == 1
    assert values(rows["id9", "", "", 0])["f1_score"] is None
    assert taken.dump.notes == ["1 bookkeeping statistics are no scores: dropped"]


def test_how_an_output_is_mapped_is_a_condition(tmp_path: Path) -> None:
    folder = plain(tmp_path)
    assert "output_mapping_pattern" not in take(folder).dump.runs[0].sampling
    write(tmp_path, run_spec=spec(output_mapping_pattern="answer is ([A-D])"))
    assert (
        take(folder).dump.runs[0].sampling["output_mapping_pattern"]
        == "answer is ([A-D])"
    )


def test_published_figures_by_split_and_perturbation(tmp_path: Path) -> None:
    test, valid = take(plain(tmp_path)).dump.runs
    found = {(row.metric, row.perturbation): row for row in test.published}
    assert found["exact_match", ""].value == 0.5 and found["exact_match", ""].n == 2
    assert found["exact_match", "extra_space(num_spaces=2)"].n == 1
    assert found["exact_match", "extra_space(num_spaces=2), worst"].n is None
    assert found["macro_f1", ""].statistic == "aggregate"
    links = {item.name: item.link for item in test.metrics}
    assert links["macro_f1"] == "none" and links["f1_score"] == "identity"
    assert [(row.metric, row.value) for row in valid.published] == [
        ("exact_match", 1.0)
    ]
    assert {row.metric for row in test.published} == {
        "exact_match",
        "f1_score",
        "macro_f1",
    }


def test_a_score_of_some_instances_and_one_of_several_judges(tmp_path: Path) -> None:
    """HELM averages over all that was counted, and names no main metric in the run's
    folder."""
    asked = [instance(number) for number in (1, 2)]
    stats = [
        stats_of(item, {"a_category_score": 1.0} if item is asked[0] else {})
        for item in asked
    ]
    for entry, values_, count in zip(stats, (1.0, 0.0), (2, 1), strict=True):
        entry["stats"].append(
            {
                "name": {"name": "safety_score", "split": "test"},
                "count": count,
                "mean": values_,
            }
        )
    figures = (
        ("safety_score", 2 / 3),
        ("a_category_score", 1.0),
        ("num_instances", 2.0),
    )
    published = [
        {"name": {"name": name, "split": "test"}, "count": 1, "mean": mean}
        for name, mean in figures
    ]
    part = {
        "name": "safety_score",
        "split": "test",
        "sub_split": "mild",
    }  # HarmBench has such figures alone
    published.append({"name": part, "count": 1, "mean": 1.0})
    states = {"request_states": [state(item) for item in asked]}
    taken = take(
        write(
            tmp_path,
            run_spec=spec(),
            scenario_state=states,
            per_instance_stats=stats,
            stats=published,
        )
    )
    (run,) = taken.dump.runs
    assert [(row.metric, row.n, row.perturbation) for row in run.published] == [
        ("safety_score", 2, ""),
        ("a_category_score", 1, ""),
        ("safety_score", None, "sub_split=mild"),
    ]
    assert [item.name for item in run.metrics if item.is_default] == ["safety_score"]
    scores = [
        score
        for row in taken.rows
        for score in row["scores"]
        if score["metric"] == "safety_score"
    ]
    assert [(score["value"], score["weight"]) for score in scores] == [
        (1.0, 2.0),
        (0.0, 1.0),
    ]


def test_trials_are_draws_of_few_shot_examples(tmp_path: Path) -> None:
    asked = instance(1)
    run = write(
        tmp_path,
        run_spec=spec(num_train_trials=2),
        scenario_state={"request_states": [state(asked, "a", 0), state(asked, "b", 1)]},
        per_instance_stats=[
            stats_of(asked, {"exact_match": 1.0}, 0),
            stats_of(asked, {"exact_match": 0.0}, 1),
        ],
    )
    rows = by_prompt(take(run))
    assert {
        key[2]: (row["response"], values(row)["exact_match"])
        for key, row in rows.items()
    } == {
        "0": ("a", 1.0),
        "1": ("b", 0.0),
    }


def test_several_completions_are_draws_and_share_their_statistics(
    tmp_path: Path,
) -> None:
    asked = instance(1)
    several = [state(asked, "a"), state(asked, "b")]
    several[1]["result"]["completions"] *= 2
    run = write(
        tmp_path,
        run_spec=spec(),
        scenario_state={"request_states": several},
        per_instance_stats=[stats_of(asked, {"exact_match": 0.5})],
    )
    rows = by_prompt(take(run))
    assert [rows["id1", "", "", draw]["response"] for draw in (0, 1, 2)] == [
        "a",
        "b",
        "b",
    ]
    (score,) = rows["id1", "", "", -1]["scores"]
    assert (score["value"], score["n_draws"]) == (0.5, 3)


def option(
    index: int, tokens: list[tuple[str, float]], mode: str = "original"
) -> Document:
    found = state(instance(1), reference_index=index, request_mode=mode)
    found["result"]["completions"] = [
        {
            "text": "",
            "logprob": -99.0,
            "tokens": [{"text": text, "logprob": value} for text, value in tokens],
        }
    ]
    return found


def test_options_asked_one_by_one_are_choices(tmp_path: Path) -> None:
    states = [
        option(0, [("Q", -7.0), (" right", -1.0), (" 1", -0.5)]),
        option(1, [("Q", -7.0), (" wrong", -3.0), (" 1", -0.25)]),
        option(0, [("A:", -7.0), (" right", -2.0), (" 1", -0.75)], "calibration"),
        option(1, [("A:", -7.0), (" strange", -2.0), (" 1", -0.75)], "calibration"),
    ]
    run = write(
        tmp_path,
        run_spec=spec(method="multiple_choice_separate_calibrated"),
        scenario_state={"request_states": states},
        per_instance_stats=[
            stats_of(instance(1), {"exact_match": 1.0, "predicted_index": 0})
        ],
    )
    (row,) = take(run).rows
    first, second = row["choice_scores"]
    assert (first["loglikelihood"], first["unconditional_loglikelihood"]) == (
        -1.5,
        -2.75,
    )
    assert (first["n_tokens"], first["n_bytes"], first["is_target"]) == (2, 7, True)
    assert (second["loglikelihood"], second["unconditional_loglikelihood"]) == (
        -3.25,
        None,
    )
    assert second["is_target"] is False
    assert row["response"] is None and values(row) == {"exact_match": 1.0}


def test_letters_of_a_joint_question_are_mapped(tmp_path: Path) -> None:
    asked = state(instance(1), " B", output_mapping={"A": "right 1", "B": "wrong 1"})
    run = write(tmp_path, run_spec=spec(), scenario_state={"request_states": [asked]})
    (row,) = take(run).rows
    assert (row["response"], row["extracted_answer"]) == (" B", "wrong 1")


def test_messages_failures_and_merged_entries(tmp_path: Path) -> None:
    asked = instance(1)
    asked["input"] = {"text": "", "messages": [{"role": "user", "content": "hello"}]}
    failed = state(asked)
    failed["request"] |= {"prompt": "", "messages": asked["input"]["messages"]}
    failed["result"] = {"success": False, "completions": [], "error": "no answer"}
    run = write(
        tmp_path,
        run_spec=spec(),
        scenario_state={"request_states": [failed]},
        per_instance_stats=[
            stats_of(asked, {"exact_match": 0.0}),
            stats_of(asked, {"judge": 4.0}),
        ],
    )
    (row,) = take(run).rows
    assert (row["text"], row["error"], row["response"]) == ("hello", "no answer", None)
    assert json.loads(row["prompt_sent"]) == [{"role": "user", "content": "hello"}]
    assert values(row) == {"exact_match": 0.0, "judge": 4.0}


def test_a_folder_without_requests_has_scores_by_id(tmp_path: Path) -> None:
    run = plain(tmp_path)
    (run / "scenario_state.json").unlink()
    taken = take(run)
    assert [header.split for header in taken.dump.runs] == ["test", "valid"]
    assert values(by_prompt(taken)["id1", "", "", 0]) == {
        "exact_match": 1.0,
        "f1_score": 0.5,
    }


def test_names() -> None:
    assert benchmark_name("boolq") == "boolq"
    assert benchmark_name("commonsense:dataset=hellaswag,method=x,model=y") == (
        "commonsense:dataset=hellaswag"
    )
    assert perturbation_label(None) == ""
    assert perturbation_label(
        {"name": "typos", "fairness": True, "prob": 0.1, "lang": "en"}
    ) == ("typos(lang=en,prob=0.1)")
