"""What is read first of horizons: true also where nothing is solved, or by one model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import warehouse
from tests.support.full_store import METR
from warehouse.analysis.horizon.view import HorizonReport
from warehouse.tables.text import in_text


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> HorizonReport:
    folder = tmp_path_factory.mktemp("horizon")
    store = warehouse.connect(f"duckdb:///{folder}/metr.duckdb")
    store.ingest(METR)
    found: HorizonReport = store.horizon("metr_horizon")
    return found


def told(report: HorizonReport, **changes: Any) -> list[str]:
    return in_text(replace(report, **changes).view(), width=2000).splitlines()


def test_one_model_alone(report: HorizonReport) -> None:
    rows = tuple(row for row in report.rows if row.model == "Tiny 3")
    first = told(report, rows=rows)[0]
    assert first.startswith("Tiny 3 does the longest tasks: of 1.4 h [14 min, open]")
    assert "interval" not in first


def test_nobody_has_a_horizon(report: HorizonReport) -> None:
    rows = tuple(row for row in report.rows if row.model == "Tiny 0")
    assert told(report, rows=rows)[0] == "No model has a horizon: see the notes."


def test_intervals_that_lie_apart_are_said_to(report: HorizonReport) -> None:
    rows = tuple(
        replace(row, low=row.estimate * 0.9, high=row.estimate * 1.1)
        for row in report.rows
        if row.estimate is not None
    )
    assert told(report, rows=rows)[0].endswith(
        "the intervals of all others lie below its own."
    )


def test_each_model_has_one_line_with_all_its_horizons(report: HorizonReport) -> None:
    lines = told(report)
    (line,) = [line for line in lines if line.startswith("Tiny 3  ")]
    assert "1.4 h" in line and "35 min" in line
    heads = next(line for line in lines if line.startswith("model"))
    assert len(heads.split("  ")) >= 5 and "slope" not in heads


def test_a_flag_of_a_further_horizon_says_of_which(report: HorizonReport) -> None:
    rows = tuple(
        replace(row, flags=("extrapolated",))
        if row.q == 0.8
        else replace(row, flags=())
        for row in report.rows
    )
    assert any("extrapolated (80%)" in line for line in told(report, rows=rows))
