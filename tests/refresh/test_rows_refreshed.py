"""What a refresh stores is what a leaderboard and a comparison show: one row a model,
over its seeds."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np
import pytest

from tests.refresh.test_refresh import change_run, current
from tests.refresh.test_refresh_stale import run_sql
from tests.support.builders import StoreRows
from warehouse.api import Warehouse
from warehouse.refresh.alerts import Rules, check
from warehouse.refresh.run import RefreshRequest, refresh


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    rows, dice = StoreRows(), np.random.default_rng(4)
    rows.describe("quiz", rows.metric())
    for model, shift in (("org/ours", 0.15), ("org/base", 0.0)):
        for seed in ("1", "2", "3"):
            for step in (100.0, 200.0):
                right = 0.5 + shift + dice.normal(0, 0.05)
                scores = {f"q{i}": float(dice.random() < right) for i in range(60)}
                rows.scores(
                    rows.run(model, "quiz", seed=seed, recipe="mix", step=step), scores
                )
    rows.scores(
        rows.run("org/plain", "quiz"), {f"q{i}": float(i % 2) for i in range(60)}
    )
    return rows


def test_stored_figures_are_those_of_leaderboard_and_comparison(
    house: Warehouse,
) -> None:
    house.refresh(baselines=["base"])
    board = {row.model: row for row in house.leaderboard("quiz").rows}
    stored = {
        row["subject"].partition("#")[0]: row
        for row in current(house, "score")
        if row["subject_kind"] == "row"
    }
    assert set(stored) == {"org/ours", "org/base"}
    for model, value in stored.items():
        row = board[model]
        shown = (row.estimate, row.standard_error, row.ci_low, row.ci_high)
        assert tuple(
            value[name] for name in ("estimate", "standard_error", "low", "high")
        ) == pytest.approx(shown)
        assert (value["method"], value["n"]) == (row.method, row.n_prompts)
    pair = house.compare("ours", "base").rows[0]
    (difference,) = (
        row
        for row in current(house, "difference")
        if row["subject_kind"] == "pair" and "ours" in row["subject"]
    )
    assert (difference["estimate"], difference["low"]) == pytest.approx(
        (pair.difference, pair.ci_low)
    )
    assert difference["method"] == "independent_seeds"
    ranks = {row["subject"]: row["estimate"] for row in current(house, "rank")}
    assert ranks[stored["org/ours"]["subject"]] == board["org/ours"].rank
    assert len(ranks) == 3


def test_flags_and_seeds_are_kept(house: Warehouse) -> None:
    house.refresh()
    board = {row.model: row for row in house.leaderboard("quiz").rows}
    with house._reading() as store:
        found = store.rows(
            "select subject, cast(parameters as varchar) as parameters from "
            "metric_value"
            " where statistic = 'score' and subject_kind = 'row'"
        )
    assert len(found) == 2
    for value in found:
        row = board[value["subject"].partition("#")[0]]
        details = json.loads(value["parameters"])
        assert details["flags"] == list(row.flags)
        assert (details["n_seeds"], details["n_checkpoints"], details["runs"]) == (
            3,
            2,
            3,
        )


def test_history_shows_the_row_and_its_seeds(house: Warehouse) -> None:
    house.refresh(baselines=["base"])
    shown = house.history("ours", "quiz", statistic="score")
    kinds = sorted(row.subject_kind for row in shown.rows)
    assert kinds == ["part"] * 6 + ["row"]
    row = next(row for row in shown.rows if row.subject_kind == "row")
    assert shown.settings[row.subject] == "the row over its seeds"
    differences = house.history("ours", "quiz", statistic="difference").rows
    assert any(one.subject.startswith(row.subject) for one in differences)


def test_a_row_keeps_its_subject_whatever_seeds_there_are(house: Warehouse) -> None:
    house.refresh()
    before = {
        row["subject"]
        for row in current(house, "score")
        if row["subject_kind"] == "row"
    }
    with house._writing() as store:
        run_sql("update run set status = 'invalidated' where id in (5, 6)")(store)
    house.refresh()
    after = {
        row["subject"]
        for row in current(house, "score")
        if row["subject_kind"] == "row"
    }
    assert after == before


def test_alerts_are_about_rows_and_told_once(house: Warehouse) -> None:
    refresh(house._opener, RefreshRequest())
    for run in (2, 4, 6):  # the last checkpoint of each seed of the first model
        change_run(house, run, 0.0)
    found = refresh(house._opener, RefreshRequest())
    with house._reading() as store:
        alerts = check(
            store, Rules(worse=False), found.refresh_id, datetime(2026, 6, 1)
        ).rows
    rows = {
        row["subject"]
        for row in current(house, "score")
        if row["subject_kind"] == "row"
    }
    assert [alert.rule for alert in alerts] == ["moved"]
    assert alerts[0].subject in rows
