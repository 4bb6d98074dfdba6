"""OpenAI evals: logs that the real package wrote
(``tests/writers/openai_evals_logs.py``)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.openai_evals.importer import IMPORTER
from warehouse.ingest.pipeline import ingest

LOGS = Path(__file__).parents[1] / "data" / "openai_evals"
CAPITALS, LINES = LOGS / "tiny_capitals.jsonl", LOGS / "tiny,judge_lines.jsonl"
FUZZY, MIXED = LOGS / "tiny_fuzzy.jsonl", LOGS / "tiny_mixed.jsonl"


def take(path: Path, **values: Any) -> Taken:
    return lm_eval.take(path, importer=IMPORTER, **values)


def stated(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(folder: Path, lines: list[Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def event(number: int, sample: str, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "run_id": "r",
        "event_id": number,
        "sample_id": sample,
        "type": kind,
        "data": data,
    }


def values(taken: Taken) -> dict[tuple[str, str], Any]:
    return {
        (row["prompt_id"], score["metric"]): score["value"]
        for row in taken.rows
        for score in row["scores"]
    }


def test_header() -> None:
    spec, report = (line for line in stated(CAPITALS) if "type" not in line)
    (header,) = take(CAPITALS).dump.runs
    assert (header.harness, header.model, header.revision) == (
        "openai-evals",
        "tiny",
        "tiny-0613",
    )
    assert (header.benchmark, header.split, header.task_version) == (
        "capitals",
        "test",
        "v1",
    )
    assert (header.formulation, header.fewshot, header.max_tokens) == ("Match", 1, 78)
    assert (header.sampling_seed, header.run_id) == (31, spec["spec"]["run_id"])
    assert header.started_at is not None
    assert str(header.started_at) == spec["spec"]["created_at"]
    assert header.status == "complete"
    (metric,) = header.metrics
    assert (metric.name, metric.kind, metric.low, metric.high) == (
        "accuracy",
        "binary",
        0,
        1,
    )
    assert (metric.higher_is_better, metric.scorer_kind) == (True, "match")
    (figure,) = header.published
    assert (figure.metric, figure.value) == ("accuracy", 0.5)
    assert figure.standard_error == report["final_report"]["boostrap_std"]
    assert (
        header.configuration["eval_spec"]["args"]["few_shot_jsonl"]
        == "quiz/shots.jsonl"
    )
    kept = json.dumps([header.configuration, dict(header.sampling)])
    assert (
        "registry_path" not in kept and "writer" not in kept
    )  # no places, no names of people


def test_rows_of_matches() -> None:
    taken = take(CAPITALS)
    assert values(taken) == {
        ("capitals.test.0", "accuracy"): 1.0,
        ("capitals.test.1", "accuracy"): 0.0,
        ("capitals.test.2", "accuracy"): 1.0,
        ("capitals.test.3", "accuracy"): 0.0,
    }
    first = taken.rows[0]
    assert [row["position"] for row in taken.rows] == [
        0,
        1,
        2,
        3,
    ]  # not in the order of the file
    assert (first["text"], first["target"]) == ("Capital of France?", "Paris")
    assert (first["response"], first["extracted_answer"]) == (
        "Paris, of course",
        "Paris",
    )
    assert (first["input_tokens"], first["output_tokens"]) == (18, 16)
    sent = json.loads(first["prompt_sent"])
    assert [part["content"] for part in sent] == [
        "Be short.",
        "Italy?",
        "Rome",
        "Capital of France?",
    ]
    assert json.loads(first["identity"]) == {
        "sample": "capitals.test.0",
        "version": "v1",
    }


def test_a_judge_is_the_last_function_and_grades() -> None:
    taken = take(LINES)
    (header,) = taken.dump.runs
    assert (header.model, header.revision) == ("tiny", "tiny-0613")
    score = header.metrics[0]
    assert (score.name, score.scorer_kind, score.judge_model) == (
        "score",
        "model",
        "judge",
    )
    assert (score.scorer, score.is_default) == ("liked", True)
    assert score.scorer_parameters == {
        "modelgraded_spec": "liked",
        "eval_type": "classify",
    }
    assert {metric.name for metric in header.metrics if metric.link == "none"} == {
        "counts/Yes",
        "counts/No",
        "counts/__invalid__",
    }
    assert {(item.metric, item.value, item.statistic) for item in header.published} == {
        ("score", 0.5, "mean"),
        ("counts/Yes", 1.0, "aggregate"),
        ("counts/No", 1.0, "aggregate"),
        ("counts/__invalid__", 1.0, "aggregate"),
    }
    assert [(row["response"], row["scores"][0]["value"]) for row in taken.rows] == [
        ("a line on sun", 1.0),
        ("a line on rain", 0.25),
        ("a line on snow", 0.25),
    ]
    assert [row["explanation"] for row in taken.rows] == [
        'Yes\n\n{"choice":"Yes"}',
        'Well\n\n{"choice":"__invalid__"}',
        'No\n\n{"choice":"No"}',
    ]
    assert taken.rows[0]["output_tokens"] == 13  # not the judge's 2000


def test_metrics_of_samples_and_an_accuracy_of_their_own() -> None:
    taken = take(FUZZY)
    (header,) = taken.dump.runs
    assert [metric.name for metric in header.metrics] == [
        "match",
        "accuracy",
        "f1_score",
    ]
    assert [metric.is_default for metric in header.metrics] == [False, True, False]
    assert values(taken)["fuzzy.val.2", "f1_score"] == 1.0
    assert {row["position"] for row in taken.rows} == {
        1,
        2,
        3,
    }  # max_samples picks at random


def test_every_kind_of_event() -> None:
    taken = take(MIXED)
    several, one, failed = taken.rows
    scores = {score["metric"]: score for score in several["scores"]}
    assert (scores["accuracy"]["value"], scores["accuracy"]["weight"]) == (1 / 3, 3.0)
    assert scores["accuracy"]["raw"] == "[1.0,0.0,0.0]"
    assert (scores["taste"]["value"], scores["fresh"]["value"]) == (0.75, 1.0)
    assert (scores["depth"]["value"], scores["depth"]["status"]) == (
        None,
        "error",
    )  # NaN
    assert json.loads(several["response"]) == [
        "a line on sea",
        "a line on lake",
        "a line on river",
    ]
    assert json.loads(several["extracted_answer"]) == [
        "(the sea)",
        "(a lake)",
        "(a river)",
        "sweet",
    ]
    assert (several["text"], several["target"]) == ("the sea", "salt")
    assert several["input_tokens"] == 7 + 6 + 7
    assert json.loads(several["choices"]) == ["salt", "sweet"]
    assert json.loads(several["metadata"])["turns"] == ["the sea", "a lake", "a river"]
    assert several["explanation"] == '{"colour":"blue"}'
    assert [
        (item["choice_index"], item["loglikelihood"], item["is_target"])
        for item in one["choice_scores"]
    ] == [
        (0, -0.25, True),
        (1, -1.25, False),
    ]
    assert failed["error"] == "ValueError: no route"
    assert {score["status"] for score in failed["scores"]} == {"error"}
    assert taken.dump.notes == [
        "events that are no part of a result: 2 embedding, 2 function_call, 2 extra"
    ]
    accuracy = taken.dump.runs[0].metrics[0]
    assert (accuracy.name, accuracy.kind) == (
        "accuracy",
        "bounded",
    )  # several in one sample


def test_options_that_no_answer_names(tmp_path: Path) -> None:
    lines: list[Any] = [
        {
            "spec": {
                "eval_name": "letters.test",
                "base_eval": "letters",
                "split": "test",
                "run_id": "r",
                "completion_fns": ["a/b-step-200", "c"],
                "run_config": {
                    "command": (
                        "oaieval a/b,c letters --completion_args "
                        "temperature=0.5,top_k=9"
                    )
                },
            }
        },
        event(
            2,
            "letters.test.x",
            "match",
            correct=False,
            expected="A",
            picked=None,
            options=["A", "B"],
        ),
        event(0, "letters.test.x", "sampling", prompt="which", sampled="who knows"),
    ]
    taken = take(written(tmp_path, lines))
    (header,) = taken.dump.runs
    assert (header.model, header.step, header.status) == (
        "a/b-step-200",
        200,
        "truncated",
    )
    assert header.sampling == {
        "completion_args": {"temperature": 0.5, "top_k": 9},
        "completion_fns": ["a/b-step-200", "c"],
    }
    (row,) = taken.rows
    assert (row["position"], row["response"], row["choices"]) == (
        None,
        "who knows",
        '["A","B"]',
    )
    assert (row["scores"][0]["value"], row["scores"][0]["status"]) == (0.0, "no_answer")


def test_lines_that_are_no_events(tmp_path: Path) -> None:
    good = stated(CAPITALS)
    bad: list[Any] = [
        7,
        {"run_id": "r"},
        event(3, "a.b.0", "match", correct="yes"),
        {**event(4, "a.b.0", "sampling"), "data": "text"},
    ]
    path = written(tmp_path, good + bad)
    path.write_text(path.read_text() + '{"run_id": "r", "event')
    taken = take(path)
    assert len(taken.rows) == 4
    assert [item.place for item in taken.dump.rejections] == [
        f"log.jsonl line {len(good) + number}" for number in range(1, 6)
    ]
    assert [item.found.partition(":")[0] for item in taken.dump.rejections[:4]] == [
        "no object",
        "no type or no sample_id",
        'correct is "yes", neither true nor false',
        'data of a sampling are "text", no object',
    ]
    unnamed = [{"spec": {**good[0]["spec"], "completion_fns": []}}, *good[1:]]
    with pytest.raises(InputError, match="names the model"):
        take(written(tmp_path, unnamed))
    assert take(written(tmp_path, unnamed), model="org/m").rows


def test_in_a_store(tmp_path: Path, store_url: str) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(LOGS, folder)
    kept = [
        line for line in stated(CAPITALS) if line.get("sample_id") != "capitals.test.3"
    ]
    (folder / CAPITALS.name).write_text(
        "".join(json.dumps(line) + "\n" for line in kept if "final_report" not in line)
    )
    with ingested(store_url, folder) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 4)
        verdicts = {row.metric: row.verdict for row in report.reconciliation}
        assert {
            verdicts[name] for name in ("accuracy", "score", "f1_score", "taste")
        } == {"exact"}
        again = ingest(store, [CAPITALS])  # the log of the interrupted run, whole
        assert again.total("n_superseded") == 1
        found = select(
            store,
            "select status, n_found from run where superseded_by is null order by "
            "n_found, status",
        )
        assert [row["n_found"] for row in found] == [3, 3, 3, 4]
        figures = select(
            store,
            "select estimate from score_summary where benchmark = 'mixed' and metric = "
            "'accuracy'",
        )
        assert figures == [{"estimate": 0.5}]  # over matches, not over samples
