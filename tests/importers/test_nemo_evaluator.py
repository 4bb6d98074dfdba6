"""NeMo Evaluator. The run of ``tests/data/nemo_evaluator`` stands for what 0.3.0 writes
(``tests/writers/nemo_evaluator_run.py``)."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.dumps import rewritten
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from warehouse.errors import InputError
from warehouse.importers.nemo_evaluator import IMPORTER

MADE = Path(__file__).parents[1] / "data" / "nemo_evaluator" / "adder"
BUNDLE = "eval-20261122T020937Z-adder.json"

Row = dict[str, Any]


take = partial(lm_eval.take, importer=IMPORTER)


def rewards(taken: Taken) -> dict[tuple[str, int], tuple[Any, ...]]:
    return {
        (row["prompt_id"], row["draw"]): tuple(
            row["scores"][0][name] for name in ("value", "status", "raw")
        )
        for row in taken.rows
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MADE, tmp_path / "adder"))


def test_rows_alone_are_told_by_their_keys_whatever_their_trajectories_hold(
    run: Path,
) -> None:
    (run / BUNDLE).unlink()
    rewritten(
        run / "results.jsonl",
        lambda row: row.update(trajectory=[{"steps": [{"step_id": 1}]}]),
    )
    header = take(run).run("adder")
    assert (header.model, header.published) == ("org/tiny", ())


def test_the_header_says_what_the_bundle_says() -> None:
    (header,) = take(MADE).dump.runs
    assert (header.harness, header.model, header.benchmark) == (
        "nemo_evaluator",
        "org/tiny",
        "adder",
    )
    assert (header.run_id, header.harness_version) == (
        "eval-20261122T020937Z-adder",
        "0.3.0",
    )
    assert str(header.started_at) == "2026-11-22 02:09:37.566405"
    assert (header.temperature, header.endpoint) == (
        None,
        None,
    )  # not stored; a proxy of the machine itself
    assert (header.n_requested, header.n_benchmark) == (4, 6)
    assert {
        (item.metric, item.statistic, item.value, item.n) for item in header.published
    } == {
        ("reward", "pass@1", 0.5, 4),  # problems, not rows
        ("reward", "pass@2", 0.75, 4),
        ("reward", "mean", 0.5, 4),
        ("scorer:short", "mean", 0.25, 4),
    }


def test_failures_of_the_system_are_no_wrong_answers() -> None:
    assert rewards(take(MADE)) == {
        ("0", 0): (1.0, None, None),
        ("0", 1): (1.0, None, None),
        ("1", 0): (None, "error", "0.0"),
        ("1", 1): (1.0, None, None),
        ("2", 0): (1.0, None, None),
        ("2", 1): (0.0, None, None),
        ("3", 0): (0.0, "no_answer", None),  # the agent's own failure counts
        ("3", 1): (None, "limit", "0.0"),
    }
    errors = {row["error"] for row in take(MADE).rows}
    assert errors == {
        None,
        "system: sandbox lost",
        "graceful: turn budget exhausted",
        "solve_timeout: after 600 s",
    }


def test_rows_come_in_the_order_in_which_they_ended() -> None:
    first = take(MADE).rows[0]
    assert (first["position"], first["draw"], first["target"]) == (2, 0, "3")
    assert (first["text"], first["response"], first["extracted_answer"]) == (
        "What is 2 + 1?",
        "It is 3",
        "3",
    )
    assert (first["input_tokens"], first["output_tokens"], first["latency"]) == (
        5,
        4,
        0.252,
    )
    assert json.loads(first["metadata"]) == {"question": "2 + 1", "category": "even"}


def test_a_category_is_held_against_its_rows(run: Path) -> None:
    assert take(run).dump.notes == []
    text = (run / BUNDLE).read_text()
    (run / BUNDLE).write_text(
        text.replace('"mean_reward": 0.25,', '"mean_reward": 0.3,')
    )
    (note,) = take(run).dump.notes
    assert (
        note == "category odd: published are 0.3 of 4 rows, the rows give 0.2500 of 4"
    )


def test_a_judge_that_failed_and_errors_of_the_model(run: Path) -> None:
    def change(row: Row) -> None:
        if row["problem_idx"] == 2:
            row["scoring_details"] = {
                "judge": {"error": "TimeoutError: slow", "total": None}
            }

    rewritten(run / "results.jsonl", change)
    rewritten(
        run / "inference_log.jsonl",
        lambda row: (
            row.get("problem_idx") == 0 and row.update(error="503", error_kind="infra")
        ),
    )
    taken = take(run)
    found = rewards(taken)
    assert found["2", 0] == (None, "error", "1.0") and found["0", 1] == (
        None,
        "error",
        "1.0",
    )
    assert {"TimeoutError: slow", "infra: 503"} <= {row["error"] for row in taken.rows}


def test_only_problem_and_reward_are_promised(run: Path) -> None:
    (run / BUNDLE).unlink()
    (run / "inference_log.jsonl").unlink()
    with pytest.raises(InputError, match="names the model"):
        take(run)
    kept = ("problem_idx", "reward")
    rewritten(
        run / "results.jsonl",
        lambda row: [row.pop(name) for name in list(row) if name not in kept],
    )
    taken = take(run, model="org/m")
    assert [(row["prompt_id"], row["draw"]) for row in taken.rows][:3] == [
        ("2", 0),
        ("0", 0),
        ("0", 1),
    ]
    assert {row["scores"][0]["status"] for row in taken.rows} == {None}
    rewritten(run / "results.jsonl", lambda row: row.update(reward=None))
    assert set(rewards(take(run, model="org/m")).values()) == {(None, "error", None)}


def test_rows_of_a_folder_are_those_of_its_last_bundle(run: Path) -> None:
    older = run / "eval-20261121T020937Z-adder.json"
    shutil.copy(run / BUNDLE, older)
    first, second = lm_eval.claimed(run, importer=IMPORTER)
    assert [path.name for path in first.files] == [older.name]
    assert [path.name for path in second.files] == [
        BUNDLE,
        "results.jsonl",
        "inference_log.jsonl",
    ]


def test_what_earlier_versions_wrap_is_pointed_to(tmp_path: Path) -> None:
    path = tmp_path / "results.yml"
    path.write_text("results:\n  tasks: {}\n")
    with pytest.raises(InputError, match=r"up to 0\.2.*ingest what the harness itself"):
        take(path)


def test_a_row_without_problem_is_named(run: Path) -> None:
    with (run / "results.jsonl").open("a") as out:
        out.write('{"problem_idx": "x", "reward": 1.0}\n')
    (rejection,) = take(run).dump.rejections
    assert rejection.place == "results.jsonl line 9"


def test_in_a_store(store_url: str) -> None:
    with ingested(store_url, MADE) as (_, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 1)
        assert {item.metric: item.verdict for item in report.reconciliation} == {
            "reward": "null_as_worst",
            "reward pass@1": "null_as_worst",
            "reward pass@2": "null_as_worst",
            "scorer:short": "exact",
        }
