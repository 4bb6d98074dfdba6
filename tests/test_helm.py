"""Run folders of HELM. The runs are made from the description of the format (``tests/helm.py``);
real ones are read where they are present, and must give the figures of their README."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.helm import (
    FIXTURES,
    NAME,
    SPACES,
    Document,
    instance,
    spec,
    stat,
    state,
    stats_of,
    take,
    write,
)
from tests.lm_eval import Taken
from tests.stores import select
from tests.test_inspect_mutants import swapped
from warehouse.errors import InputError
from warehouse.importers.helm_header import benchmark_name
from warehouse.importers.helm_run import perturbation_label
from warehouse.ingest import ingest
from warehouse.store.check import check
from warehouse.store.engine import open_store


def plain(folder: Path) -> Path:
    """Two splits; one instance also perturbed; published figures."""
    asked = [instance(1), instance(2), instance(2, perturbation=SPACES), instance(9, "valid")]
    scores = [
        {"exact_match": 1.0, "f1_score": 0.5},
        {"exact_match": 0.0, "f1_score": 0.25},
        {"exact_match": 0.0, "f1_score": 0.125},
        {"exact_match": 1.0, "f1_score": None},
    ]
    worst = {**SPACES, "computed_on": "worst"}
    return write(
        folder,
        run_spec=spec(),
        scenario_state={"adapter_spec": spec()["adapter_spec"], "request_states": [
            state(item, f"say {place}") for place, item in enumerate(asked)
        ]},
        per_instance_stats=[stats_of(*pair) for pair in zip(asked, scores, strict=True)],
        stats=[stat("exact_match", 0.5), stat("f1_score", 0.375), stat("num_instances", 2),
               stat("exact_match", 0.0, perturbation=SPACES),
               stat("num_instances", 1, perturbation=SPACES),
               stat("exact_match", 0.0, perturbation=worst),
               stat("macro_f1", 0.625), stat("exact_match", 1.0, "valid"),
               stat("num_instances", 1, "valid"), stat("inference_runtime", 9.0),
               stat("bits_per_byte", 1.25)],
    )  # fmt: skip


def by_prompt(taken: Taken) -> dict[tuple[Any, ...], Document]:
    return {(row["prompt_id"], row["perturbation"], row["fewshot_draw"], row["draw"]): row
            for row in taken.rows}  # fmt: skip


def values(row: Document) -> dict[str, float | None]:
    return {score["metric"]: score["value"] for score in row["scores"] or ()}


def test_a_run_for_each_split_with_all_that_is_said_of_it(tmp_path: Path) -> None:
    test, valid = take(plain(tmp_path)).dump.runs
    assert (test.split, valid.split) == ("test", "valid")
    assert (test.harness, test.model, test.benchmark) == ("helm", "org/tiny", "quiz:subject=maps")
    assert (test.endpoint, test.formulation, test.fewshot) == ("cloud/tiny", "generation", 5)
    assert (test.temperature, test.top_p, test.max_tokens) == (0.25, 0.75, 31)
    assert test.sampling == {"num_outputs": 1, "stop_sequences": ["\n"], "top_k": 3}
    assert test.suite == ("quiz",)
    assert test.run_id == valid.run_id == f"v1/{NAME}"
    assert (test.n_requested, valid.n_requested) == (2, 1)
    assert test.started_at is not None and test.started_at.isoformat() == "2026-11-20T11:17:33"
    assert [item.name for item in test.metrics[:2]] == ["f1_score", "exact_match"]


def test_rows_carry_the_original_prompt_and_their_own_request(tmp_path: Path) -> None:
    taken = take(plain(tmp_path))
    rows = by_prompt(taken)
    original, spaced = rows["id2", "", "", 0], rows["id2", "extra_space(num_spaces=2)", "", 0]
    assert (original["text"], original["target"]) == ("question 2", "right 2")
    assert json.loads(original["choices"]) == ["right 2", "wrong 2"]
    assert json.loads(original["identity"]) == {
        "input": "question 2", "references": [["right 2", True], ["wrong 2", False]],
    }  # fmt: skip
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
    assert taken.dump.notes == ["2 bookkeeping statistics are no scores: dropped"]


def test_published_figures_by_split_and_perturbation(tmp_path: Path) -> None:
    test, valid = take(plain(tmp_path)).dump.runs
    found = {(row.metric, row.perturbation): row for row in test.published}
    assert found["exact_match", ""].value == 0.5 and found["exact_match", ""].n == 2
    assert found["exact_match", "extra_space(num_spaces=2)"].n == 1
    assert found["exact_match", "extra_space(num_spaces=2), worst"].n is None
    assert found["macro_f1", ""].statistic == "aggregate"
    links = {item.name: item.link for item in test.metrics}
    assert links["macro_f1"] == "none" and links["f1_score"] == "identity"
    assert [(row.metric, row.value) for row in valid.published] == [("exact_match", 1.0)]
    assert {row.metric for row in test.published} == {"exact_match", "f1_score", "macro_f1"}


def test_trials_are_draws_of_few_shot_examples(tmp_path: Path) -> None:
    asked = instance(1)
    run = write(
        tmp_path, run_spec=spec(num_train_trials=2),
        scenario_state={"request_states": [state(asked, "a", 0), state(asked, "b", 1)]},
        per_instance_stats=[stats_of(asked, {"exact_match": 1.0}, 0),
                            stats_of(asked, {"exact_match": 0.0}, 1)],
    )  # fmt: skip
    rows = by_prompt(take(run))
    assert {key[2]: (row["response"], values(row)["exact_match"])
            for key, row in rows.items()} == {"0": ("a", 1.0), "1": ("b", 0.0)}  # fmt: skip


def test_several_completions_are_draws_and_share_their_statistics(tmp_path: Path) -> None:
    asked = instance(1)
    several = [state(asked, "a"), state(asked, "b")]
    several[1]["result"]["completions"] *= 2
    run = write(tmp_path, run_spec=spec(), scenario_state={"request_states": several},
                per_instance_stats=[stats_of(asked, {"exact_match": 0.5})])  # fmt: skip
    rows = by_prompt(take(run))
    assert [rows["id1", "", "", draw]["response"] for draw in (0, 1, 2)] == ["a", "b", "b"]
    (score,) = rows["id1", "", "", -1]["scores"]
    assert (score["value"], score["n_draws"]) == (0.5, 3)


def option(index: int, tokens: list[tuple[str, float]], mode: str = "original") -> Document:
    found = state(instance(1), reference_index=index, request_mode=mode)
    found["result"]["completions"] = [{"text": "", "logprob": -99.0, "tokens": [
        {"text": text, "logprob": value} for text, value in tokens]}]  # fmt: skip
    return found


def test_options_asked_one_by_one_are_choices(tmp_path: Path) -> None:
    states = [
        option(0, [("Q", -7.0), (" right", -1.0), (" 1", -0.5)]),
        option(1, [("Q", -7.0), (" wrong", -3.0), (" 1", -0.25)]),
        option(0, [("A:", -7.0), (" right", -2.0), (" 1", -0.75)], "calibration"),
        option(1, [("A:", -7.0), (" strange", -2.0), (" 1", -0.75)], "calibration"),
    ]
    run = write(tmp_path, run_spec=spec(method="multiple_choice_separate_calibrated"),
                scenario_state={"request_states": states},
                per_instance_stats=[stats_of(instance(1), {"exact_match": 1.0,
                                                           "predicted_index": 0})])  # fmt: skip
    (row,) = take(run).rows
    first, second = row["choice_scores"]
    assert (first["loglikelihood"], first["unconditional_loglikelihood"]) == (-1.5, -2.75)
    assert (first["n_tokens"], first["n_bytes"], first["is_target"]) == (2, 7, True)
    assert (second["loglikelihood"], second["unconditional_loglikelihood"]) == (-3.25, None)
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
        tmp_path, run_spec=spec(), scenario_state={"request_states": [failed]},
        per_instance_stats=[stats_of(asked, {"exact_match": 0.0}), stats_of(asked, {"judge": 4.0})],
    )  # fmt: skip
    (row,) = take(run).rows
    assert (row["text"], row["error"], row["response"]) == ("hello", "no answer", None)
    assert json.loads(row["prompt_sent"]) == [{"role": "user", "content": "hello"}]
    assert values(row) == {"exact_match": 0.0, "judge": 4.0}


def test_a_folder_without_requests_has_scores_by_id(tmp_path: Path) -> None:
    run = plain(tmp_path)
    (run / "scenario_state.json").unlink()
    taken = take(run)
    assert [header.split for header in taken.dump.runs] == ["test", "valid"]
    assert values(by_prompt(taken)["id1", "", "", 0]) == {"exact_match": 1.0, "f1_score": 0.5}


# --- written by the package ---------------------------------------------------------------------


def written(name: str) -> Taken:
    (folder,) = FIXTURES.glob(f"{name}*")
    return take(folder)


def test_a_joint_question_of_the_real_writer() -> None:
    taken = written("quiz-way=multiple_choice_joint")
    (run,) = taken.dump.runs
    assert (run.model, run.benchmark) == ("simple/model1", "quiz:way=multiple_choice_joint")
    assert (run.suite, run.fewshot) == (("quiz",), 1)
    assert run.run_id is not None
    assert run.run_id.startswith("v1/quiz:way=multiple_choice_joint,model=simple_model1")
    rows = by_prompt(taken)
    assert {key[1:3] for key in rows} == {
        (label, trial) for label in ("", "space(max_spaces=3)") for trial in "01"
    }
    # the client says A for 70, which leaves 1 when divided by 3, and B for 38; both are even
    said = rows["id60", "", "1", 0]
    assert (said["text"], said["target"]) == ("Is 70 even or odd?", "Even")
    assert (said["response"], said["extracted_answer"]) == (" A", "Even")
    assert (said["latency"], said["finish_reason"]) == (70.25, "length")
    assert values(said)["exact_match"] == 1.0
    missed = rows["id38", "space(max_spaces=3)", "0", 0]
    assert (missed["extracted_answer"], values(missed)["exact_match"]) == ("Odd", 0.0)
    assert missed["prompt_sent"] != rows["id38", "", "0", 0]["prompt_sent"]


def test_separate_options_of_the_real_writer() -> None:
    """The last token of a prompt of n words has -(number + (n - 1) / 8 + its length / 64)."""
    rows = by_prompt(written("quiz-way=multiple_choice_separate_calibrated"))
    row = rows["id60", "", "", 0]
    even, odd = row["choice_scores"]
    n = len(row["prompt_sent"].split(" "))
    assert even["loglikelihood"] == -(70 + (n - 1) / 8 + len(" Even") / 64)
    assert odd["loglikelihood"] == -(70 + (n - 1) / 8 + len(" Odd") / 64)
    assert even["unconditional_loglikelihood"] == -(1 + 1 / 8 + len(" Even") / 64)
    assert odd["unconditional_loglikelihood"] == -(1 + 1 / 8 + len(" Odd") / 64)
    assert (even["is_target"], odd["is_target"]) == (True, False)
    assert values(row) == {"exact_match": 0.0}


def test_names() -> None:
    assert benchmark_name("boolq") == "boolq"
    assert benchmark_name("commonsense:dataset=hellaswag,method=x,model=y") == (
        "commonsense:dataset=hellaswag"
    )
    assert perturbation_label(None) == ""
    assert perturbation_label({"name": "typos", "fairness": True, "prob": 0.1, "lang": "en"}) == (
        "typos(lang=en,prob=0.1)"
    )


@pytest.mark.parametrize("name", ["run_spec", "scenario_state", "per_instance_stats", "stats"])
def test_a_damaged_file_refuses_the_folder(tmp_path: Path, name: str) -> None:
    run = plain(tmp_path)
    path = run / f"{name}.json"
    path.write_text(path.read_text()[:-30])
    with pytest.raises(InputError, match=rf"{name}\.json"):
        take(run)


def test_a_row_without_id_is_rejected_with_its_place(tmp_path: Path) -> None:
    run = plain(tmp_path)
    document = json.loads((run / "per_instance_stats.json").read_text())
    document[2]["instance_id"] = 7
    (run / "per_instance_stats.json").write_text(json.dumps(document))
    (rejection,) = take(run).dump.rejections
    assert rejection.place == "per_instance_stats.json entry 2"


def test_parts_replaced_at_random_stop_nothing(tmp_path: Path) -> None:
    run = plain(tmp_path)
    rng = random.Random(3)
    texts = {path: path.read_text() for path in run.iterdir()}
    for _ in range(150):
        path = rng.choice(sorted(texts))
        path.write_text(json.dumps(swapped(json.loads(texts[path]), rng)))
        try:
            taken = take(run, model="org/m", benchmark="b")
        except InputError as error:
            assert "quiz" in str(error)
        else:
            assert all(item.place and item.found for item in taken.dump.rejections)
        path.write_text(texts[path])


def test_numbers_next_to_nothing_can_be_calculated_with(tmp_path: Path, store_url: str) -> None:
    """BLEU gives the smallest of all floats for no match; one engine fails to square it."""
    asked = [instance(1), instance(2)]
    tiny = 2.2250738585072014e-308
    run = write(
        tmp_path, run_spec=spec(), stats=[stat("bleu_4", tiny / 2 + 0.25)],
        scenario_state={"request_states": [state(item) for item in asked]},
        per_instance_stats=[stats_of(asked[0], {"bleu_4": tiny}),
                            stats_of(asked[1], {"bleu_4": 0.5})],
    )  # fmt: skip
    with open_store(store_url, create=True, write=True) as store:
        assert ingest(store, [run]).reconciliation[0].verdict == "exact"
        (row,) = select(store, "select estimate, se_clt from score_summary")
        assert row == {"estimate": 0.25, "se_clt": pytest.approx(0.25)}
        raw = select(store, "select value, raw from score order by value")
        assert raw == [{"value": 0.0, "raw": "2.2250738585072014e-308"},
                       {"value": 0.5, "raw": None}]  # fmt: skip


def test_made_and_real_runs_in_a_store(
    tmp_path: Path, request: pytest.FixtureRequest, store_url: str
) -> None:
    with open_store(store_url, create=True, write=True) as store:
        report = ingest(store, [plain(tmp_path), FIXTURES])
        assert (report.total("n_runs"), len(report.refused)) == (5, 0)
        assert check(store).ok
        found = select(
            store,
            "select metric, perturbation, verdict from published_against_recomputed "
            "where statistic = 'mean' and perturbation not like '%, %'",
        )
        assert {row["verdict"] for row in found} == {"exact"}
        data: Path = request.getfixturevalue("data_dir") / "helm_runs"
        if not data.is_dir():
            pytest.skip("no HELM runs among the real dumps")
        report = ingest(store, [data, data.parent / "writers" / "helm_0.5.16"])
        assert [item.error for item in report.refused] == []
        figures = {
            (row["benchmark"], row["split"], row["metric"]): row["estimate"]
            for row in select(store, "select benchmark, split, metric, estimate from score_summary")
        }
        assert figures["commonsense:dataset=hellaswag", "valid", "exact_match"] == 0.3
        f1 = figures["narrative_qa", "test", "f1_score"]
        assert f1 == pytest.approx(0.17424242424242425, rel=1e-12)
        assert figures["narrative_qa", "valid", "f1_score"] == 0.0
        assert figures["narrative_qa", "test", "rouge_l"] == pytest.approx(
            0.05365510777881912, rel=1e-12
        )
        assert figures["narrative_qa", "valid", "rouge_l"] == pytest.approx(
            0.03636363636363636, rel=1e-12
        )
        verdicts = select(
            store,
            "select distinct verdict from published_against_recomputed "
            "where statistic = 'mean' and perturbation not like '%, %'",
        )
        assert verdicts == [{"verdict": "exact"}]
        assert check(store).ok
