"""Reliability of benchmarks that a refresh keeps, where it is asked for by name."""

from __future__ import annotations

import random

import pytest

from tests.refresh.test_refresh import change_run, current
from tests.support.builders import StoreRows
from warehouse.api import connect
from warehouse.refresh.run import RefreshRequest, refresh
from warehouse.store.open import open_store


def test_the_family_keeps_the_reliability_of_benchmarks(store_url: str) -> None:
    rows, dice = StoreRows(), random.Random(2)
    for name, models in (("quiz", 4), ("solo", 1), ("even", 2)):
        rows.describe(name, rows.metric())
        for m in range(models):
            scores = {
                f"{name}{i}": 1.0
                if name == "even"
                else float(dice.random() < 0.3 + 0.15 * m)
                for i in range(60)
            }
            rows.scores(rows.run(f"org/m{m}", name), scores)
    with open_store(store_url, create=True) as store:
        rows.write(store)
    house = connect(store_url)
    refresh(house._opener, RefreshRequest())
    assert current(house, "dior_ranking") == []  # not unasked
    work = RefreshRequest(families=("reliability",))
    assert refresh(house._opener, work).failures == ()
    found = {row["benchmark"]: row for row in current(house, "dior_ranking")}
    assert set(found) == {"quiz", "even"}
    (whole,) = [
        row for row in house.reliability("quiz").prompt_rows if row.size is None
    ]
    assert found["quiz"]["estimate"] == pytest.approx(whole.ranking)
    assert (found["quiz"]["low"], found["quiz"]["high"]) == pytest.approx(
        (whole.ranking_low, whole.ranking_high)
    )
    assert found["even"]["estimate"] is None and "no ranking" in found["even"]["reason"]
    assert {row["benchmark"] for row in current(house, "rank_resolution")} == {
        "quiz",
        "even",
    }
    assert refresh(house._opener, work).total("recomputed") == 0
    change_run(house, 1, 0.0)
    assert refresh(house._opener, work).total("recomputed") == 1
