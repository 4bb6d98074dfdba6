"""Job folders of Harbor. The job of ``tests/data/harbor`` was written by the result
models of the real package (``tests/writers/harbor_job.py``)."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.harbor import IMPORTER
from warehouse.store.load.run_keys import condition_key

JOB = Path(__file__).parents[1] / "data" / "harbor" / "demo"


take = partial(lm_eval.take, importer=IMPORTER)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return Path(shutil.copytree(JOB, tmp_path / "demo"))


def test_the_header_says_all_that_the_files_say() -> None:
    (header,) = take(JOB).dump.runs
    assert (header.harness, header.model, header.benchmark) == (
        "harbor",
        "org/tiny",
        "quiz@1.0",
    )
    assert (header.agent, header.agent_version) == ("terminus", "2.1")
    assert header.agent_parameters == {"max_turns": 9}
    assert (
        header.run_id
        == "00000000-0000-0000-0000-000000000063/terminus/2.1/org/tiny/quiz@1.0"
    )
    assert header.started_at is not None
    assert header.started_at.isoformat() == "2026-11-20T11:00:00"
    assert header.cost == 0.25 * 21
    (metric,) = header.metrics
    assert (metric.name, metric.kind, metric.scorer_kind) == (
        "reward",
        "binary",
        "execution",
    )
    assert {item.statistic: item.value for item in header.published} == {
        "mean": pytest.approx(2 / 6),
        "pass@2": pytest.approx(2 / 3),
    }


def test_trials_are_draws_of_their_task_in_the_order_they_began() -> None:
    rows = {(row["prompt_id"], row["draw"]): row for row in take(JOB).rows}
    assert len(rows) == 6
    row = rows["sort", 1]
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (1002, 102, 0.5)
    assert (row["latency"], row["error"]) == (12.0, "AgentTimeoutError: told 2")
    assert json.loads(row["metadata"]) == {
        "task_checksum": "sum of sort",
        "task_id": {"path": "sort"},
    }


def test_no_verdict_and_failures_of_others_are_no_scores() -> None:
    found = {
        (row["prompt_id"], row["draw"]): tuple(
            row["scores"][0][name] for name in ("value", "status", "raw")
        )
        for row in take(JOB).rows
    }
    assert found == {
        ("sort", 0): (1.0, "scored", None),
        ("sort", 1): (
            0.0,
            "scored",
            None,
        ),  # the agent ran out of time: its reward counts
        ("chess", 0): (1.0, "scored", None),
        ("chess", 1): (None, "error", None),
        ("maps", 0): (None, "error", "0"),  # the sandbox failed: no measurement
        ("maps", 1): (None, "limit", None),
    }


def test_steps_several_rewards_and_another_model(job: Path) -> None:
    path = job / "sort__0000001" / "result.json"
    document = json.loads(path.read_text())
    document["agent_info"] = {
        "name": "solo",
        "version": "unknown",
        "model_info": {"name": "big"},
    }
    document["agent_result"] = None
    document["step_results"] = [
        {
            "agent_result": {
                "n_input_tokens": 3,
                "n_output_tokens": 5,
                "cost_usd": 0.125,
            }
        },
        {
            "agent_result": {
                "n_input_tokens": 4,
                "n_output_tokens": 6,
                "cost_usd": 0.25,
            },
            "exception_info": {"exception_type": "AgentSafetyRefusalError"},
        },
    ]
    document["verifier_result"] = {"rewards": {"speed": 2.5, "right": 1}}
    path.write_text(json.dumps(document))
    taken = take(job)
    number, header = next(
        (n, run) for n, run in enumerate(taken.dump.runs) if run.model == "big"
    )
    assert (header.agent, header.agent_version) == ("solo", None)
    assert [(m.name, m.kind, m.is_default) for m in header.metrics] == [
        ("speed", None, True),
        ("right", "binary", False),
    ]
    (row,) = (row for row in taken.rows if row["run"] == number)
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (7, 11, 0.375)
    assert row["error"] == "AgentSafetyRefusalError"
    del document["step_results"][1]["agent_result"]["cost_usd"]  # a part is no sum
    path.write_text(json.dumps(document))
    taken = take(job)
    assert [row["cost"] for row in taken.rows if row["run"] == number] == [None]
    assert [run.cost for run in taken.dump.runs if run.model == "big"] == [None]
    assert [score["value"] for score in row["scores"]] == [2.5, 1.0]


def test_without_the_jobs_own_file_and_without_model(job: Path) -> None:
    (job / "result.json").unlink()
    (header,) = take(job).dump.runs
    assert (
        header.run_id == "demo/terminus/2.1/org/tiny/quiz@1.0" and not header.published
    )
    for path in job.rglob("result.json"):
        document = json.loads(path.read_text())
        document["agent_info"]["model_info"] = None
        path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="names the model"):
        take(job)


def test_in_a_store(store_url: str) -> None:
    with ingested(store_url, JOB) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 1)
        (found,) = select(store, "select estimate from score_summary")
        assert found["estimate"] == 0.75  # sort 1/2, chess 1, maps without verdict


def configured(job: Path, number: int, **changes: object) -> None:
    """Change the configuration of every trial whose place among all is divisible by
    ``number``."""
    for place, path in enumerate(sorted(job.glob("*/result.json"))):
        if place % number:
            continue
        trial = json.loads(path.read_text())
        for name, value in changes.items():
            part = trial["config"]
            *outer, last = name.split("__")
            for key in outer:
                part = part.setdefault(key, {})
            part[last] = value
        path.write_text(json.dumps(trial))


@pytest.mark.parametrize(
    "change",
    [
        {"timeout_multiplier": 2.0},
        {"agent__override_timeout_sec": 3600},
        {"agent__kwargs__reasoning_effort": "high"},
        {"environment__override_memory_mb": 8192},
        {"extra_instructions": ["think"]},
        {"agent__frobnicate": 1},
    ],
)
def test_what_a_job_was_configured_with_is_a_setting(
    job: Path, change: dict[str, object]
) -> None:
    keys = {condition_key(header) for header in take(job).dump.runs}
    configured(job, 1, **change)
    keys |= {condition_key(header) for header in take(job).dump.runs}
    assert len(keys) == 2


def test_one_job_with_two_sets_of_arguments_is_two_runs(job: Path) -> None:
    configured(job, 2, agent__kwargs__reasoning_effort="high")
    found = take(job)
    assert (
        len(found.dump.runs)
        == len({condition_key(header) for header in found.dump.runs})
        == 2
    )
    assert sorted(row["run"] for row in found.rows) == [0, 0, 0, 1, 1, 1]
    assert not any(
        header.published for header in found.dump.runs
    )  # the job's figures are over both


def test_what_changes_nothing_of_what_is_measured_is_no_setting(job: Path) -> None:
    keys = {condition_key(header) for header in take(job).dump.runs}
    configured(
        job,
        2,
        agent__n_concurrent=8,
        environment__delete=False,
        trials_dir="elsewhere",
        timeout_multiplier=1,
    )
    keys |= {condition_key(header) for header in take(job).dump.runs}
    assert len(keys) == 1
