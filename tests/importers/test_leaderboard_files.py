"""Leaderboards as files: aider's tables, submissions to tau2-bench,
``leaderboards.json`` of SWE-bench.

Those of ``tests/data`` were made by hand after the published ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.cli import Caller
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import InputError
from warehouse.importers.aider import IMPORTER as AIDER
from warehouse.importers.swe_bench import IMPORTER as SWE_BENCH
from warehouse.importers.tau2_bench import IMPORTER as TAU2
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

DATA = Path(__file__).parents[1] / "data"
TABLE = DATA / "aider" / "polyglot_leaderboard.yml"
SUBMISSION = DATA / "tau2_bench" / "tiny_org_2026-02-24"
BOARD = DATA / "swe_bench_site" / "leaderboards.json"


def take(path: Path, importer: Any) -> Taken:
    return lm_eval.take(path, importer=importer)


# --- aider ---------------------------------------------------------------------------------------


def test_an_entry_of_aider_is_a_run_with_its_shares() -> None:
    tiny, cut = take(TABLE, AIDER).dump.runs
    assert (tiny.model, tiny.benchmark, tiny.run_id) == (
        "tiny (high)",
        "aider_polyglot",
        "2026-01-02-03-04-05--tiny",
    )
    assert [(item.metric, item.value, item.n, item.raw) for item in tiny.published] == [
        ("pass_rate_2", 0.356, 225, "35.6 percent"),
        ("pass_rate_1", 0.204, 225, "20.4 percent"),
        ("percent_cases_well_formed", pytest.approx(0.996), 225, "99.6 percent"),
    ]
    assert (tiny.cost, tiny.reasoning_effort, tiny.agent, tiny.agent_version) == (
        18.25,
        "high",
        "aider",
        "0.75.2.dev",
    )
    assert tiny.agent_parameters == {
        "edit_format": "architect",
        "editor_model": "small",
        "editor_edit_format": "editor-diff",
    }
    assert str(tiny.started_at) == "2026-01-02 00:00:00"
    assert cut.cost is None  # 0: nobody knows


def test_shares_of_other_numbers_than_were_run_are_told() -> None:
    notes = take(TABLE, AIDER).dump.notes
    assert (
        "cut: pass_rate_2 is 60.4, and 136 of 224 were right; it is the share of all "
        "225" in notes
    )


def test_damaged_tables_of_aider(tmp_path: Path) -> None:
    path = Path(shutil.copy(TABLE, tmp_path))
    text = path.read_text()
    for changed, message in (
        (text.replace("  model: cut\n", "  model: cut\n  model: again\n"), "line"),
        (text.replace("  model: cut\n", ""), "entry 2"),
        (text.replace("  date: 2026", "  date: ]2026"), "line|YAML"),
    ):
        path.write_text(changed)
        with pytest.raises(InputError, match=message):
            take(path, AIDER)


def test_other_yaml_is_not_aiders(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("- model: x\n  test_cases: 3\n")
    assert lm_eval.claimed(tmp_path, importer=AIDER) == []


# --- tau2-bench ----------------------------------------------------------------------------------


def test_a_domain_is_a_run_with_its_pass_hat_k() -> None:
    retail, banking = take(
        SUBMISSION, TAU2
    ).dump.runs  # airline and telecom were not run
    assert [(item.metric, item.statistic, item.value) for item in retail.published] == [
        ("success", "mean", pytest.approx(0.721)),
        ("success", "pass^2", pytest.approx(0.668)),
        ("success", "pass^4", pytest.approx(0.597)),
        ("cost", "mean", 0.25),
    ]
    assert (banking.benchmark, banking.suite, banking.task_version) == (
        "tau2_bench_banking_knowledge",
        ("tau2_bench",),
        "1.0.1",
    )
    assert banking.agent_parameters == {
        "user_simulator": "gpt-5.2",
        "retrieval_config": "terminal",
    }
    assert [metric.name for metric in banking.metrics] == ["success"]
    assert (retail.run_id, retail.reasoning_effort) == ("tiny_org_2026-02-24", "high")
    assert "somebody" not in str(retail) + str(banking)


def test_a_submission_that_cost_nothing_does_not_tell_its_cost(tmp_path: Path) -> None:
    document = json.loads((SUBMISSION / "submission.json").read_text())
    document["results"] = {
        name: item and {**item, "cost": 0.0}
        for name, item in document["results"].items()
    }
    path = tmp_path / "submission.json"
    path.write_text(json.dumps(document))
    assert {
        item.metric for run in take(path, TAU2).dump.runs for item in run.published
    } == {"success"}


def test_a_version_is_the_same_with_and_without_its_letter(tmp_path: Path) -> None:
    document = json.loads((SUBMISSION / "submission.json").read_text())
    path = tmp_path / "submission.json"
    versions = set()
    for stated in ("v0.1.3", "0.1.3"):
        document["methodology"] |= {"tau2_bench_version": stated}
        path.write_text(json.dumps(document))
        versions |= {run.task_version for run in take(path, TAU2).dump.runs}
    assert versions == {"0.1.3"}


def test_many_submissions_are_lines(tmp_path: Path) -> None:
    document = json.loads((SUBMISSION / "submission.json").read_text())
    path = tmp_path / "all.jsonl"
    lines = [json.dumps({"submission": name, **document}) for name in ("one", "two")]
    path.write_text("\n".join([*lines, lines[0][:-50]]))
    taken = take(path, TAU2)
    assert [run.run_id for run in taken.dump.runs] == ["one", "one", "two", "two"]
    (rejection,) = taken.dump.rejections
    assert rejection.place == "all.jsonl line 3" and rejection.is_cut


# --- SWE-bench -----------------------------------------------------------------------------------


def test_every_submission_is_a_run_and_details_are_its_samples() -> None:
    taken = take(BOARD, SWE_BENCH)
    one, two, mini = taken.dump.runs
    assert (one.model, one.agent, one.benchmark, one.split) == (
        "tiny-1",
        "one",
        "swe_bench_verified",
        "test",
    )
    assert (one.run_id, one.agent_parameters) == ("20260102_one", {"attempts": "2+"})
    assert (two.model, two.published[0].value, two.published[0].raw) == (
        "System two",
        0.4198,
        "41.98 percent",
    )
    assert (mini.model, mini.agent_version, mini.cost) == ("tiny-2", "2.0.0", 0.75)
    assert mini.benchmark == "swe_bench_bash-only"
    assert [
        (row["run"], row["cost"], *(score["value"] for score in row["scores"]))
        for row in taken.rows
    ] == [
        (2, 0.25, 1.0, 10.0),
        (2, 0.125, 1.0, 20.0),
        (2, 0.375, 0.0, 30.0),
    ]


def test_a_board_of_a_merge_that_was_not_resolved_names_the_line(
    tmp_path: Path,
) -> None:
    path = Path(shutil.copy(BOARD, tmp_path))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(
        "".join(
            [
                *lines[:20],
                "<<<<<<< HEAD\n",
                lines[20],
                "=======\n",
                lines[20],
                ">>>>>>> b\n",
                *lines[21:],
            ]
        )
    )
    with pytest.raises(
        InputError, match=r"line 21.*marks of a merge|marks of a merge.*line 21"
    ):
        take(path, SWE_BENCH)


def test_a_cost_of_nothing_is_one_that_nobody_knows(tmp_path: Path) -> None:
    document = json.loads(BOARD.read_text())
    mini = document["leaderboards"][1]["results"][0]
    mini |= {
        "cost": 0.0,
        "instance_cost": 0.0,
        "instance_calls": 0.0,
        "per_instance_details": None,
    }
    path = tmp_path / "leaderboards.json"
    path.write_text(json.dumps(document))
    *_, header = take(path, SWE_BENCH).dump.runs
    assert (header.cost, [metric.name for metric in header.metrics]) == (
        None,
        ["resolved"],
    )


def test_a_result_without_figure_is_told(tmp_path: Path) -> None:
    document = json.loads(BOARD.read_text())
    document["leaderboards"][0]["results"][1]["resolved"] = None
    path = tmp_path / "leaderboards.json"
    path.write_text(json.dumps(document))
    taken = take(path, SWE_BENCH)
    assert len(taken.dump.runs) == 2
    assert [item.place for item in taken.dump.rejections] == [
        "leaderboards.json, verified 2"
    ]


# --- all -----------------------------------------------------------------------------------------


def test_in_a_store(store_url: str) -> None:
    with ingested(store_url, TABLE, SUBMISSION, BOARD) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 7)
        board = leaderboard(store, benchmark="aider_polyglot")
        assert [(row.model, row.estimate, row.flags) for row in board.rows] == [
            ("cut", 0.604, ("published",)),
            ("tiny (high)", 0.356, ("published",)),
        ]
        assert {item.verdict for item in report.reconciliation} == {
            "exact",
            "rounded",
            "not_recomputable",
        }


def test_the_figures_of_real_leaderboards(data_dir: Path, tmp_path: Path) -> None:
    folders = [data_dir / "aider", data_dir / "tau2_bench"]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("no real leaderboards of aider and tau2-bench")
    with open_store(
        f"duckdb:///{tmp_path / 'real.duckdb'}", create=True, write=True
    ) as store:
        report = ingest(store, folders)
        assert report.refused == ()
        costs = select(
            store,
            "select distinct g.id, g.cost from run_group g where g.cost is not null",
        )
        rows = select(
            store,
            "select r.model, r.benchmark, p.statistic, p.value from published_score p "
            "join run_current r on r.run_id = p.run_id join metric m on m.id = "
            "p.metric_id "
            "where m.name in ('success', 'pass_rate_2')",
        )
    assert len([row for row in rows if row["benchmark"] == "aider_polyglot"]) == 69
    assert len(costs) == 68 - 17
    assert sum(row["cost"] for row in costs) == pytest.approx(1252.1517)
    assert max(row["cost"] for row in costs) == 186.4958
    taken = take(data_dir / "aider", AIDER)
    assert (
        len(
            {
                note.partition(":")[0]
                for note in taken.dump.notes
                if "pass_rate_2" in note
            }
        )
        == 5
    )
    found = {
        (
            row["model"],
            row["benchmark"].removeprefix("tau2_bench_"),
            row["statistic"],
        ): row["value"]
        for row in rows
    }
    for domain, first, fourth in (
        ("retail", 0.721, 0.597),
        ("airline", 0.642, 0.521),
        ("telecom", 0.49, 0.372),
    ):
        assert found["Claude-3.7-Sonnet", domain, "mean"] == pytest.approx(first)
        assert found["Claude-3.7-Sonnet", domain, "pass^4"] == pytest.approx(fourth)
    assert found["Claude Opus 4.6", "banking_knowledge", "mean"] == pytest.approx(
        0.2732
    )
    assert found["Claude Opus 4.6", "banking_knowledge", "pass^4"] == pytest.approx(
        0.1134
    )


def test_simulations_of_tau2_by_the_shipped_mapping(
    tmp_path: Path, run: Caller
) -> None:
    db = f"duckdb:///{tmp_path / 's.db'}"
    sides = {
        "agent_info": {"implementation": "llm_agent", "llm": "org/a"},
        "user_info": {"llm": "org/u"},
    }
    simulations = [
        {
            "task_id": task,
            "trial": trial,
            "duration": 1.5,
            "seed": trial + 300,
            "agent_cost": 0.5,
        }
        | {"reward_info": reward and {"reward": reward - 1}, "termination_reason": why}
        for task, trial, reward, why in [
            ("0", 0, 2.0, "user_stop"),
            ("1", 0, 1.0, "too_many_errors"),
            ("0", 1, 1.0, "user_stop"),
            ("1", 1, None, "infrastructure_error"),
        ]
    ]
    info = {"git_commit": "c", "environment_info": {"domain_name": "retail"}} | sides
    document = {
        "timestamp": "2025-07-01T09:00:00",
        "info": info,
        "tasks": [],
        "simulations": simulations,
    }
    (tmp_path / "a.json").write_text(json.dumps(document))
    assert (
        "the shipped mapping tau2_simulations"
        in run("ingest", str(tmp_path / "a.json"), db=db).err
    )
    assert (
        run("ingest", str(tmp_path / "a.json"), "--map", "tau2_simulations", db=db).code
        == 0
    )
    with open_store(db) as store:
        what = "model, benchmark, metric, estimate, n_prompts, n_draws, n_unscored"
        (row,) = select(store, f"select {what} from score_summary")
        assert tuple(row.values()) == (
            "org/a",
            "tau2_bench_retail",
            "success",
            0.25,
            2,
            3,
            1,
        )
