"""Published tables that a schedule watches: an alert for what is newly wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.boards import names, scores
from tests.support.cli import Caller


def table(path: Path, *off: int) -> None:
    """A leaderboard with a mean, and rows of which that is wrong."""
    columns = scores(30, (500, 400, 300), seed=3)
    average = sum(columns.values()) / 3
    for row in off:
        average[row] += 5
    rows = ["model,average," + ",".join(columns)]
    for i, name in enumerate(names(30)):
        cells = [f"{values[i]:.2f}" for values in (average, *columns.values())]
        rows.append(",".join([name, *cells]))
    path.write_text("\n".join(rows))


def fields(err: str, event: str) -> list[dict[str, Any]]:
    """Fields of the events of a name."""
    events = [json.loads(line) for line in err.splitlines()]
    return [one["fields"] for one in events if one["event"] == event]


def test_a_figure_that_is_newly_wrong_is_an_alert_once(
    capsys: pytest.CaptureFixture[str],
    duckdb_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    call = Caller(capsys)
    path = tmp_path / "board.csv"
    words = ("schedule", "--once", "--log-format", "json", "--board", "board.csv")
    table(path)
    first = call(*words, db=duckdb_url)
    assert (first.code, fields(first.err, "alert")) == (0, [])
    table(path, 4)
    second = call(*words, db=duckdb_url)
    (alert,) = fields(second.err, "alert")
    assert (second.code, alert["rule"], alert["subject"]) == (1, "board", "fir-a")
    assert alert["message"].startswith("board.csv: fir-a: average ")
    steps = [step["step"] for step in fields(second.err, "step_finished")]
    assert "board" in steps
    again = call(*words, db=duckdb_url)
    assert (again.code, fields(again.err, "alert")) == (0, [])
    table(path, 4, 9)
    (tmp_path / "warehouse.toml").write_text('[schedule]\nboard = ["board.csv"]\n')
    later = call("schedule", "--once", "--log-format", "json", db=duckdb_url)
    (alert,) = fields(later.err, "alert")
    assert alert["subject"] == names(30)[9]


def test_a_table_that_is_not_there_fails_its_step_alone(
    capsys: pytest.CaptureFixture[str],
    duckdb_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("schedule", "--once", "--log-format", "json", "--board", "absent.csv")
    told = Caller(capsys)(*words, db=duckdb_url)
    (failed,) = fields(told.err, "step_failed")
    assert (failed["step"], "no file or folder" in failed["error"]) == ("board", True)
    assert told.code == 2
    assert fields(told.err, "job_finished")
