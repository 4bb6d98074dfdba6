"""Runs of METR: agents, tasks, several runs, days of release, damaged lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import warehouse
from tests.support import lm_eval
from warehouse.errors import InputError
from warehouse.importers.metr import IMPORTER

FOLDER = Path(__file__).parents[1] / "data" / "metr"


def test_a_run_for_each_agent_with_its_day() -> None:
    taken = lm_eval.take(FOLDER, importer=IMPORTER)
    one = taken.dump.runs
    assert [run.model for run in one] == ["Tiny 1", "Tiny 2", "Tiny 3", "Tiny 0"]
    assert [run.configuration.get("release_date") for run in one] == [
        "2024-01-01",
        "2024-07-01",
        "2025-01-01",
        None,
    ]
    first = taken.rows[0]
    assert (first["prompt_id"], first["draw"], first["latency"], first["cost"]) == (
        "add/one",
        0,
        61.5,
        None,
    )
    assert json.loads(first["metadata"]) == {
        "task_family": "add",
        "human_minutes": 1.0,
        "human_score": 1.0,
        "human_source": "baseline",
    }
    assert [score["metric"] for score in first["scores"]] == [
        "score_binarized",
        "score",
    ]
    assert (
        sorted({row["draw"] for row in taken.rows}) == [0, 1, 2]
        and taken.dump.rejections == []
    )
    assert {row["cost"] for row in taken.rows if row["run"] == 2} == {0.25}


def test_damaged_lines_and_days(tmp_path: Path) -> None:
    path = Path(shutil.copy(FOLDER / "all_runs.jsonl", tmp_path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0].pop("alias")
    lines[1]["score_binarized"] = 0.5
    lines[2] |= {"score_binarized": None, "human_minutes": None}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    taken = lm_eval.take(path, importer=IMPORTER)
    assert [item.place for item in taken.dump.rejections] == [
        "all_runs.jsonl line 1",
        "all_runs.jsonl line 2",
    ]
    assert (
        taken.rows[0]["scores"][0]["value"] is None
        and "human_minutes" not in taken.rows[0]["metadata"]
    )
    (tmp_path / "release_dates.yaml").write_text("date: [1]\n")
    with pytest.raises(InputError, match="no days of release"):
        lm_eval.take(tmp_path, importer=IMPORTER)


def test_the_real_runs(data_dir: Path, tmp_path: Path) -> None:
    store = warehouse.connect(f"duckdb:///{tmp_path}/metr.duckdb")
    report = store.ingest(data_dir / "metr_horizon")
    assert report.refused == () and report.total("n_runs") == 6
    found = {
        row.model: row
        for row in store.horizon("metr_horizon", interval="fieller", q=[0.5]).rows
    }
    opus = found["Claude 3 Opus"]
    assert (opus.n_runs, opus.n_tasks, opus.n_families, opus.n_solved) == (
        866,
        83,
        36,
        184,
    )
    assert opus.estimate == pytest.approx(
        4.0471, abs=5e-5
    ) and opus.p80 == pytest.approx(0.2450, abs=5e-5)
    assert opus.release_date == "2024-03-04"
    davinci = found["davinci-002"]
    assert (davinci.estimate, davinci.metr, davinci.reason) == (
        None,
        0.0,
        "nothing solved",
    )
    assert davinci.flags == ("few_families", "subset") and davinci.n_tasks == 16
    assert (found["human"].n_runs, found["human"].n_solved) == (211, 152)
