"""Refreshes that the system kills, and two at once: real processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

import pytest

from tests.cli import COMMAND
from tests.stores import select
from tests.test_refresh import BASE, build, change_run, current
from warehouse.api import Warehouse, connect
from warehouse.store.engine import open_store

KEY = "refresh_id, subject_kind, subject, benchmark, metric, statistic"


def start(url: str, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(COMMAND), "--db", url, *options, "refresh", "--baseline", BASE], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.fixture
def house(store_url: str) -> Warehouse:
    with open_store(store_url, create=True) as store:
        build().write(store)
    return connect(store_url)


@pytest.mark.slow
def test_killed_at_any_moment_the_next_refresh_is_whole(house: Warehouse, store_url: str) -> None:
    begun = time.monotonic()
    first = start(store_url)
    assert "refresh 1: " in first.communicate()[1]
    whole, dice = time.monotonic() - begun, random.Random(1)
    for number in range(1, 9):
        change_run(house, 2, number / 32)
        before = current(house)
        process = start(store_url)
        time.sleep(dice.uniform(0.3, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with house.reading() as store:
            done = select(store, "select count(*) as n from refresh where finished_at is null")
        if process.returncode == -signal.SIGKILL and done[0]["n"]:
            assert current(house) == before
        house.refresh(baselines=[BASE])
        (row,) = [one for one in current(house, "score", "quiz") if "org/b#" in one["subject"]]
        assert row["estimate"] == number / 32
    with house.reading() as store:
        assert select(store, f"select {KEY} from metric_value group by {KEY}"
                             " having count(*) > 1") == []  # fmt: skip
        assert select(store, "select distinct state from refresh") == [{"state": "complete"}]


@pytest.mark.slow
def test_of_two_at_once_one_works_and_the_other_waits_or_says_who_works(
    house: Warehouse, store_url: str
) -> None:
    both = [start(store_url, "--wait", "60") for _ in range(2)]
    said = sorted(process.communicate()[1] for process in both)
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("27 recomputed" in text for text in said) == 1
    assert sum(": 0 recomputed, 27 fresh" in text for text in said) == 1
