"""Planned and stopped runs, and stored reliability, on the page."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.stores import store_at
from tests.support.subsets import answers, asked_in, load, rows_of, whole
from warehouse import connect
from warehouse.analysis.reliability.section import ReliabilitySection
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.report import read_report
from warehouse.analysis.subsets.section import PartialRun, PartialSection
from warehouse.records.clock import utc_now
from warehouse.refresh.run import RefreshRequest, refresh
from warehouse.report.page import render
from warehouse.store.open import open_store

RECORD = {
    "rule": "betting",
    "manager": "eval-warehouse",
    "verdict": "pass",
    "decided_at": 31,
    "n_prompts": 40,
}
RECORD |= {
    "seed": 0,
    "n_max": 120,
    "alpha": 0.05,
    "margin": 0.02,
    "population": 120,
    "baseline": "lab/m00",
}


def partial_of(part: BenchmarkPart) -> tuple[PartialRun, ...]:
    """The rows of a part of a report that were asked a part of the benchmark."""
    section = part.sections["partial"]
    assert isinstance(section, PartialSection)
    return section.runs


def test_planned_runs_are_on_the_page(tmp_path: Path) -> None:
    url = load(tmp_path, whole())
    house = connect(url)
    plan = house.subset_plan(
        "quiz", size=40, now=utc_now() + timedelta(seconds=1)
    ).rows[0]
    later = (utc_now() + timedelta(hours=1)).isoformat()
    load(
        tmp_path,
        rows_of("new/one", answers(2)[8], only=asked_in(plan), started_at=later),
        url,
    )
    with open_store(url) as store:
        data = read_report(store, n_resamples=0)
        (one,) = partial_of(data.benchmarks[0])
        page = render(data)
    assert (one.row.model, one.kind, one.n_all) == ("new/one", "planned subset", 120)
    assert one.says == f"plan {plan.key} from 12 models"
    assert "Planned and stopped runs of quiz" in page and one.says in page
    assert "Reliability of quiz" not in page


def test_stopped_runs_and_reliability_are_on_the_page(tmp_path: Path) -> None:
    rows, dice = StoreRows(), random.Random(2)
    for name in ("suite/one", "suite/two"):
        rows.benchmark(name, parent="suite")
        rows.describe(name, rows.metric())
        for m in range(4):
            scores = {
                f"{name}{i}": float(dice.random() < 0.3 + 0.15 * m) for i in range(60)
            }
            rows.scores(rows.run(f"org/m{m}", name), scores)
    stopped = rows.run("new/one", "suite/one", status="truncated", n_benchmark=120)
    for row in rows.rows["run"]:
        row["configuration"] = (
            {"early_stopping": RECORD} if row["id"] == stopped else {}
        )
    rows.scores(
        stopped, {f"suite/one{i}": float(dice.random() < 0.5) for i in range(40)}
    )
    url = store_at(tmp_path / "s.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    house = connect(url)
    work = RefreshRequest(families=("reliability",))
    assert refresh(house._opener, work).failures == ()
    with open_store(url) as store:
        data = read_report(store, n_resamples=0)
        page = render(data)
        stored = store.arrow(
            "select benchmark, statistic, estimate from metric_current"
        ).to_pylist()
    (one,) = partial_of(data.benchmarks[0])
    assert (one.kind, one.row.n_prompts, one.n_all) == ("stopped early", 40, 120)
    assert (
        one.says
        == "pass after 31 prompts against lab/m00, margin 0.02, alpha 0.05, at most 120"
    )
    assert (
        one.says in page
        and "Reliability of suite/one" in page
        and "Reliability of suite" in page
    )
    of_suite = {
        row["statistic"]: row["estimate"]
        for row in stored
        if row["benchmark"] == "suite"
    }
    report = house.reliability("suite")
    (by_prompts,) = [row for row in report.prompt_rows if row.size is None]
    assert of_suite["dior_ranking"] == pytest.approx(by_prompts.ranking)
    assert of_suite["same_order"] == pytest.approx(by_prompts.same_order)
    assert of_suite["scenarios_dior_ranking"] is None  # two scenarios are no sample
    of_suite_shown = data.suites[0].sections["reliability"]
    assert (
        isinstance(of_suite_shown, ReliabilitySection)
        and "same order of all models" in of_suite_shown.stored.sentence
    )
    assert refresh(house._opener, work).total("recomputed") == 0
