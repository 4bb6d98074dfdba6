"""Noise floors that a refresh keeps, and alerts that are held against them."""

from __future__ import annotations

import random
from datetime import datetime

import numpy as np
import pytest
from scipy import stats

from tests.refresh.test_refresh import change_run, current
from tests.support.builders import StoreRows
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.refresh.alerts import Rules, check
from warehouse.refresh.run import RefreshRequest, refresh


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    rows, dice = StoreRows(), random.Random(2)
    for name, seeds in (("quiz", ("1", "2", "3")), ("plain", ("",))):
        rows.describe(name, rows.metric())
        for seed in seeds:
            for step in (100.0, 200.0) if seed else (None,):
                scores = {f"{name}{i}": float(dice.random() < 0.6) for i in range(50)}
                rows.scores(
                    rows.run(
                        "org/m",
                        name,
                        seed=seed,
                        recipe="mix" if seed else "",
                        step=step,
                    ),
                    scores,
                )
    return rows


def test_the_family_keeps_the_figures_of_seeds(house: Warehouse) -> None:
    found = refresh(house._opener, RefreshRequest(families=("training",)))
    assert found.failures == ()
    rows = {
        row["statistic"]: row
        for row in current(house, "noise_floor") + current(house, "seed_sd")
    }
    (row,) = house.seeds(["quiz"]).rows
    assert rows["noise_floor"]["estimate"] == pytest.approx(row.noise_floor)
    assert (rows["seed_sd"]["low"], rows["seed_sd"]["high"]) == pytest.approx(
        (row.seed_sd_low, row.seed_sd_high)
    )
    (jitter,) = current(house, "jitter")
    assert (
        jitter["estimate"] is None and jitter["benchmark"] == "quiz"
    )  # two checkpoints are too few
    (tau,) = current(house, "monotonicity")
    assert tau["estimate"] == pytest.approx(row.tau)
    kept = house.history("m", "quiz", statistic="noise_floor").rows
    assert [one.estimate for one in kept] == [pytest.approx(row.noise_floor)]
    assert (
        refresh(house._opener, RefreshRequest(families=("training",))).total(
            "recomputed"
        )
        == 0
    )
    change_run(house, 1, 0.0)
    assert (
        refresh(house._opener, RefreshRequest(families=("training",))).total(
            "recomputed"
        )
        == 1
    )
    with pytest.raises(MisuseError, match="no refresh has computed"):
        house.history("m", "plain")


def test_it_is_not_computed_unasked(house: Warehouse) -> None:
    refresh(house._opener, RefreshRequest())
    assert current(house, "noise_floor") == []


def test_an_alert_says_whether_seeds_would_do_as_much(house: Warehouse) -> None:
    refresh(house._opener, RefreshRequest())
    change_run(
        house, 6, 0.0
    )  # the last seed's last checkpoint collapses, and the seeds differ by that
    change_run(house, 7, 0.0)  # so does the model without seeds
    found = refresh(house._opener, RefreshRequest())
    with house._reading() as store:
        rows = {
            row.benchmark: row
            for row in check(
                store, Rules(worse=False), found.refresh_id, datetime(2026, 6, 1)
            ).rows
        }
        finals = store.arrow(
            "select estimate from run_score s join run_current r on r.run_id = s.run_id"
            " where r.benchmark = 'quiz' and r.position = 200"
        )
    spread = np.std(finals.column("estimate").to_pylist(), ddof=1)
    quiz, plain = rows["quiz"], rows["plain"]
    assert quiz.noise_floor == pytest.approx(
        stats.t.ppf(0.975, 2) * np.sqrt(2) * spread
    )
    assert (
        quiz.change is not None
        and quiz.change < -0.3
        and "within the noise floor of training seeds" in quiz.message
    )
    assert (
        plain.noise_floor is None
        and "noise floor" not in plain.message
        and plain.change is not None
    )
