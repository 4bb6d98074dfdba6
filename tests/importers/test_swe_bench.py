"""SWE-bench. The run of ``tests/data/swe_bench`` was written by the real package's
reporting code (``tests/writers/swe_bench_run.py``); submissions are built from
descriptions of the leaderboard's repository."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.swe_bench.importer import IMPORTER
from warehouse.records import ImportSettings, RunHeader
from warehouse.records.settings import settings_of

RUN = Path(__file__).parents[1] / "data" / "swe_bench"
REPORT = "org__tiny-1.5.trial.json"
NAMES = [f"org__repo-{number}" for number in range(1, 8)]


take = partial(lm_eval.take, importer=IMPORTER)


def scores(taken: Taken) -> dict[str, tuple[Any, ...]]:
    """Value, status and origin by number of the instance."""
    return {
        row["prompt_id"][-1]: tuple(
            row["scores"][0][key] for key in ("value", "status", "origin")
        )
        for row in taken.rows
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUN, tmp_path / "run"))


def submission(
    folder: Path, results: dict[str, Any], system: str = "20250928_agent9"
) -> Path:
    root = folder / "evaluation" / "verified" / system
    (root / "results").mkdir(parents=True)
    (root / "results" / "results.json").write_text(json.dumps(results))
    (root / "metadata.yaml").write_text(
        "info:\n"
        "  name: Agent Nine\n"
        "  site: https://example.org/x: y\n"
        "tags:\n"
        "  checked: true\n"
        "  model:\n"
        "  - org/big\n"
        "  org:\n"
        "  - org\n"
    )
    return root


RESULTS = {
    "no_generation": [NAMES[3]],
    "no_logs": [NAMES[4]],
    "resolved": [NAMES[0], NAMES[6]],
}


def test_a_run_report_with_predictions_and_logs(run: Path) -> None:
    taken = take(run)
    (header,) = taken.dump.runs
    assert (header.harness, header.model) == ("swe_bench", "org/tiny-1.5")
    assert (header.benchmark, header.split) == ("swe_bench_verified", "test")
    assert header.run_id == "trial/org__tiny-1.5"
    about = json.loads(
        (run / "logs" / "run_evaluation" / "trial" / "run.json").read_text()
    )
    assert header.configuration == {"run_name": "trial", "run": about}
    assert header.started_at is not None
    assert about["created_at"].startswith(header.started_at.isoformat())
    assert (header.n_benchmark, header.n_requested) == (7, 7)
    (published,) = header.published
    assert (published.value, published.n, published.raw) == (2 / 7, 7, "2 of 7")
    assert scores(taken) == {
        "1": (1.0, None, None),
        "2": (0.0, None, None),
        "3": (None, "error", None),  # the machine had no memory: no verdict
        "4": (0.0, "no_answer", None),  # an empty patch
        "5": (None, "error", None),  # submitted, and no log of it
        "6": (0.0, "no_answer", "implied"),  # not submitted; the report names it
        "7": (1.0, None, None),
    }
    rows = {row["prompt_id"][-1]: row for row in taken.rows}
    assert rows["2"]["response"] == "diff of org__repo-2"
    assert json.loads(rows["2"]["explanation"])["tests_status"]["FAIL_TO_PASS"] == {
        "success": [],
        "failure": ["test_new"],
    }
    assert json.loads(rows["2"]["metadata"]) == {"repo": "org/repo"}


def test_a_run_report_alone_and_infrastructure_failures(run: Path) -> None:
    shutil.rmtree(run / "logs")
    (run / "predictions.jsonl").unlink()
    document = json.loads((run / REPORT).read_text())
    document["infra_failure_ids"] = [NAMES[2]]
    document["failure_reasons"] = {NAMES[2]: "no space", NAMES[1]: "none of ours"}
    document["total_instances"] = 300
    (run / REPORT).write_text(json.dumps(document))
    taken = take(run)
    (header,) = taken.dump.runs
    assert (header.model, header.run_id) == ("org/tiny-1.5", "trial/org__tiny-1.5")
    assert header.benchmark == "swe_bench_lite"
    assert scores(taken)["3"] == (None, "error", None)
    row = next(row for row in taken.rows if row["prompt_id"] == NAMES[2])
    assert (row["explanation"], row["scores"][0]["raw"]) == ("no space", "unresolved")


def test_logs_alone(run: Path) -> None:
    (run / REPORT).unlink()
    (run / "predictions.jsonl").unlink()
    path = (
        run
        / "logs"
        / "run_evaluation"
        / "trial"
        / "org__tiny-1.5"
        / NAMES[2]
        / "report.json"
    )
    document = json.loads(path.read_text())
    document[NAMES[2]] |= {"infra_failure": True, "infra_failure_reason": "disk"}
    path.write_text(json.dumps(document))
    nothing = {"patch_is_None": True, "patch_exists": False, "resolved": False}
    other = path.parent.with_name(NAMES[3]) / "report.json"
    other.parent.mkdir()
    other.write_text(json.dumps({NAMES[3]: nothing}))
    taken = take(run)
    assert taken.dump.runs[0].model == "org/tiny-1.5"
    assert scores(taken) == {
        "1": (1.0, None, None),
        "2": (0.0, None, None),
        "3": (None, "error", None),
        "4": (0.0, "no_answer", None),
        "7": (1.0, None, None),
    }
    assert next(row["response"] for row in taken.rows) == "patch of org__repo-1\n"


@pytest.mark.parametrize("kind", ["txt", "json", "jsonl", "objects"])
def test_a_submission_is_completed_by_a_declared_list(
    tmp_path: Path, kind: str
) -> None:
    root = submission(tmp_path, RESULTS)
    objects = [{"instance_id": name, "repo": "org/repo"} for name in NAMES]
    text = {
        "txt": "\n".join(NAMES),
        "json": json.dumps(NAMES),
        "objects": json.dumps(objects),
        "jsonl": "".join(json.dumps(item) + "\n" for item in objects),
    }[kind]
    suffix = "json" if kind == "objects" else kind
    (root.parent / f"instances.{suffix}").write_text(text)
    taken = take(tmp_path)
    (header,) = taken.dump.runs
    assert (header.model, header.agent, header.run_id) == (
        "org/big",
        "agent9",
        "20250928_agent9",
    )
    assert (header.benchmark, header.split, header.n_benchmark) == (
        "swe_bench_verified",
        "test",
        7,
    )
    assert header.configuration["submission_name"] == "Agent Nine"
    assert set(settings_of(header).settings) == {
        "harness",
        "model",
        "benchmark",
        "split",
        "agent",
    }
    assert (
        header.started_at is not None
        and header.started_at.isoformat() == "2025-09-28T00:00:00"
    )
    implied = (0.0, None, "implied")
    assert scores(taken) == {
        "1": (1.0, None, None),
        "2": implied,
        "3": implied,
        "4": (0.0, "no_answer", None),
        "5": (None, "error", None),
        "6": implied,
        "7": (1.0, None, None),
    }


def test_a_submission_without_list_is_refused(tmp_path: Path) -> None:
    root = submission(tmp_path, RESULTS)
    with pytest.raises(InputError, match=r"2 resolved instances.*instances\.txt"):
        take(tmp_path)
    (root.parent / "instances.txt").write_text("another__one-1\n")
    with pytest.raises(
        InputError, match="not in the declared list, such as org__repo-1"
    ):
        take(tmp_path)
    (root.parent / "instances.txt").write_text("")
    with pytest.raises(InputError, match=r"instances\.txt"):
        take(tmp_path)


def test_a_submission_that_names_what_it_tried(tmp_path: Path) -> None:
    submission(
        tmp_path,
        RESULTS
        | {
            "generated": [*NAMES[:3], NAMES[6]],
            "applied": NAMES[:2],
            "install_fail": [NAMES[2]],
        },
    )
    found = scores(take(tmp_path))
    assert found.keys() == set("123457")
    assert (found["2"], found["3"]) == ((0.0, None, "implied"), (None, "error", None))


def test_predictions_declare_what_was_submitted(tmp_path: Path) -> None:
    root = submission(tmp_path, RESULTS)
    (root / "metadata.yaml").unlink()
    shutil.copy(RUN / "predictions.jsonl", root / "all_preds.jsonl")
    taken = take(tmp_path)
    assert taken.dump.runs[0].model == "org/tiny-1.5"
    assert scores(taken)["2"] == (0.0, None, "implied")
    assert {row["prompt_id"]: row["response"] for row in taken.rows}[NAMES[1]] == (
        "diff of org__repo-2"
    )


def test_details_of_instances_with_cost_and_calls(tmp_path: Path) -> None:
    root = tmp_path / "evaluation" / "test" / "20250101_mini"
    root.mkdir(parents=True)
    stated = {
        NAMES[0]: {"resolved": True, "cost": 0.125, "api_calls": 17},
        NAMES[1]: {"resolved": False, "cost": 0.5, "api_calls": 41},
        NAMES[2]: {"resolved": "maybe", "cost": 1, "api_calls": 1},
        NAMES[3]: {
            "resolved": False,
            "cost": 0.0,
            "api_calls": 3,
        },  # of a model whose price is not known
        NAMES[4]: {"resolved": False, "cost": 0.0, "api_calls": 0},
    }
    (root / "per_instance_details.json").write_text(json.dumps(stated))
    taken = take(tmp_path)
    (header,) = taken.dump.runs
    assert (header.model, header.agent, header.benchmark) == ("mini", None, "swe_bench")
    assert [
        (row["cost"], *(score["value"] for score in row["scores"]))
        for row in taken.rows
    ] == [
        (0.125, 1.0, 17.0),
        (0.5, 0.0, 41.0),
        (None, 0.0, 3.0),
        (0.0, 0.0, 0.0),
    ]
    assert [(m.name, m.higher_is_better) for m in header.metrics] == [
        ("resolved", True),
        ("api_calls", False),
    ]
    (rejection,) = taken.dump.rejections
    assert rejection.place == f"per_instance_details.json, {NAMES[2]}"


@pytest.mark.parametrize(
    ("name", "value"),
    [("resolved_ids", "x"), ("submitted_ids", {}), ("unresolved_ids", ["a", ""])],
)
def test_lists_of_a_report_that_are_none_are_refused(
    run: Path, name: str, value: Any
) -> None:
    """What was no id was left out, and with it the instance, or a whole list of them."""
    path = run / REPORT
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(InputError, match=name) as caught:
        take(path)
    assert caught.value.expected == "a list of ids of instances"


def test_resolved_instances_of_a_submission_that_are_no_list_are_refused(
    tmp_path: Path,
) -> None:
    folder = submission(
        tmp_path, {"resolved": "all", "generated": NAMES, "no_generation": []}
    )
    with pytest.raises(InputError, match="resolved is"):
        take(*folder.rglob("*.json"))


def test_in_a_store(tmp_path: Path, store_url: str) -> None:
    root = submission(tmp_path, RESULTS)
    (root.parent / "instances.txt").write_text("\n".join(NAMES))
    with ingested(store_url, RUN, tmp_path / "evaluation") as (store, report):
        assert report.total("n_runs") == 2
        assert report.unclaimed == ()
        (verdict,) = report.reconciliation
        assert (verdict.published, verdict.verdict) == (2 / 7, "null_as_worst")
        origins = select(
            store, "select origin, count(*) as n from score group by origin"
        )
        assert {row["origin"]: row["n"] for row in origins} == {
            "recorded": 10,
            "implied": 4,
        }
        prompts = select(store, "select count(*) as n from prompt")
        assert prompts == [{"n": 7}]  # both runs are on the same instances


def report_of(path: Path, resolved: int = 2, **more: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "total_instances": 4,
        "submitted_instances": 4,
        "resolved_instances": resolved,
        "completed_ids": NAMES[:4],
        "submitted_ids": NAMES[:4],
        "resolved_ids": NAMES[:resolved],
        "unresolved_ids": NAMES[resolved:4],
        **more,
    }
    path.write_text(json.dumps(report))


def headers(folder: Path) -> list[RunHeader]:
    """The runs of every source in a folder."""
    dumps = [
        IMPORTER.read(source, ImportSettings())
        for source in lm_eval.claimed(folder, importer=IMPORTER)
    ]
    return [run for dump in dumps for run in dump.runs]


def test_run_ids_are_what_a_person_named_the_experiment(tmp_path: Path) -> None:
    report_of(
        tmp_path / "org__tiny-1.5.baseline.json", model_name_or_path="org/tiny-1.5"
    )
    report_of(
        tmp_path / "org__tiny-1.5.tools.v0.2.json", model_name_or_path="org/tiny-1.5"
    )
    runs = headers(tmp_path)
    assert {run.run_id for run in runs} == {
        "baseline/org__tiny-1.5",
        "tools.v0.2/org__tiny-1.5",
    }
    assert len({settings_of(run).condition_key for run in runs}) == 2


def test_times_that_a_tool_writes_behind_a_run_id_are_no_setting(
    tmp_path: Path,
) -> None:
    for day in ("2026-11-01", "2026-11-02"):
        report_of(
            tmp_path / f"org__tiny.nightly-{day}.json", model_name_or_path="org/tiny"
        )
    runs = headers(tmp_path)
    assert len({run.run_id for run in runs}) == 2
    assert len({settings_of(run).condition_key for run in runs}) == 1


@pytest.mark.parametrize(
    ("first", "second", "n_conditions"),
    [
        ({"max_iterations": 30}, {"max_iterations": 100}, 2),
        (
            {"llm": {"model": "org/m", "temperature": 0.0}},
            {"llm": {"model": "org/m", "temperature": 1.0}},
            2,
        ),
        ({"eval_note": "v1"}, {"eval_note": "v1-no-hint"}, 2),
        ({"eval_note": "v1-run_1"}, {"eval_note": "v1-run_2"}, 1),
        ({"eval_output_dir": "out/1"}, {"eval_output_dir": "out/2"}, 1),
        ({"max_iterations": 30}, {"max_iterations": "30"}, 1),
    ],
)
def test_what_openhands_was_configured_with(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], n_conditions: int
) -> None:
    for name, changed in (("one", first), ("two", second)):
        report_of(tmp_path / name / "output.report.json")
        (tmp_path / name / "metadata.json").write_text(
            json.dumps({"llm": {"model": "org/m"}, **changed})
        )
    runs = headers(tmp_path)
    assert [run.model for run in runs] == ["org/m", "org/m"]
    assert len({settings_of(run).condition_key for run in runs}) == n_conditions


def test_folders_of_openhands_name_their_runs(tmp_path: Path) -> None:
    for name in (
        "m_maxiter_100_N_v0.59-run_1",
        "m_maxiter_100_N_v0.59-run_2",
        "m_maxiter_30_N_v0.59",
    ):
        report_of(tmp_path / name / "output.report.json")
    runs = headers(tmp_path)
    assert {run.model for run in runs} == {"m"}
    assert len({settings_of(run).condition_key for run in runs}) == 2
