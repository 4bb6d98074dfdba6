"""Refreshes that the system kills, and two at once: real processes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.conftest import ROOT
from tests.refresh.test_refresh import BASE, WORK, change_run, current
from tests.refresh.test_refresh import build as build
from tests.refresh.test_refresh_stale import from_scratch, shown
from tests.support.cli import COMMAND
from tests.support.stores import select
from warehouse.api import Warehouse
from warehouse.errors import StoreError
from warehouse.refresh.run import refresh
from warehouse.store.engines import parse_url

KEY = "refresh_id, subject_kind, subject, benchmark, metric, statistic"


def start(url: str, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(COMMAND), "--db", url, *options, "refresh", "--baseline", BASE],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


#: A refresh that writes after every question, and says when it is about to begin.
SCRIPT = """
import sys
from tests.refresh.test_refresh import WORK
from warehouse.api import connect
from warehouse.refresh import run as running
running.WRITE_AFTER = -1.0
house = connect(sys.argv[1], wait=60)
print("ready", flush=True)
running.refresh(house._opener, WORK)
"""
#: Times that a refresh is killed.
POINTS = 50


def begin(url: str) -> subprocess.Popen[str]:
    """Such a process, that is about to begin."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, url],
        text=True,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def kill(process: subprocess.Popen[str], seconds: float) -> None:
    """As the system does it: nothing is tidied up."""
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def change_all(house: Warehouse, number: int) -> None:
    """Every figure is out of date, and one of them will be ``number / 64``."""
    change_run(house, 2, number / 64)
    with house._writing() as store, store.begin() as connection:
        told = {"number": str(number)}
        query = "update run set content_digest = id || '-' || :number where id <> 2"
        connection.execute(sa.text(query), told)


def store_file(house: Warehouse) -> Path | None:
    """Of the embedded engine."""
    database = parse_url(str(house.url)).database
    return Path(database) if database and Path(database).is_file() else None


def copy(file: Path | None, *, back: bool = False) -> None:
    """The store's file and its log, to a copy beside them, or from there."""
    for path in (file, file.with_name(file.name + ".wal")) if file else ():
        kept = path.with_name(path.name + ".kept")
        source, target = (kept, path) if back else (path, kept)
        target.unlink(missing_ok=True)
        if source.is_file():
            shutil.copy(source, target)


def finished(house: Warehouse) -> tuple[int, int]:
    """Refreshes that are finished, and that are not."""
    with house._reading() as store:
        (row,) = select(
            store,
            "select count(finished_at) as whole, count(*) as all_of_them from refresh",
        )
    return row["whole"], row["all_of_them"] - row["whole"]


@pytest.mark.slow
def test_killed_at_any_moment_history_has_whole_refreshes_only(
    house: Warehouse, own_url: str
) -> None:
    process, begun = begin(own_url), time.monotonic()
    process.communicate()
    window, dice = time.monotonic() - begun, random.Random(1)
    met = {
        "before it began": 0,
        "in the middle": 0,
        "after its end": 0,
        "in the engine": 0,
    }
    resumed = 0
    for number in range(1, POINTS + 1):
        change_all(house, number)
        before, (whole, rest) = current(house), finished(house)
        for _ in range(dice.choice((1, 1, 2))):  # some are killed again
            copy(store_file(house))
            kill(begin(own_url), dice.uniform(0.0, 1.1) * window)
            try:
                now, unfinished = finished(house)
            except (
                StoreError
            ) as error:  # docs/writers.md: half a block of the engine's own
                assert "the file is damaged" in str(error)
                copy(store_file(house), back=True)
                met["in the engine"] += 1
                continue
            state = "after its end" if now > whole else "in the middle"
            met[state if now > whole or unfinished else "before it began"] += 1
            if now == whole:
                assert current(house) == before
        found = refresh(house._opener, WORK, wait=60)
        resumed += found.total("resumed")
        assert finished(house)[1] == rest == 0
        assert shown(house) == from_scratch(house, WORK)
        (row,) = [
            one for one in current(house, "score", "quiz") if "org/b#" in one["subject"]
        ]
        assert row["estimate"] == number / 64
    print(f"killed {met}; {resumed} answers of killed refreshes were taken up")
    with house._reading() as store:
        assert (
            select(
                store,
                f"select {KEY} from metric_value group by {KEY} having count(*) > 1",
            )
            == []
        )
        sizes = select(
            store, "select count(*) as n from metric_history group by refresh_id"
        )
        assert select(store, "select distinct state from refresh") == [
            {"state": "complete"}
        ]
    assert (
        len({row["n"] for row in sizes}) == 1
    )  # every figure was out of date each time
    assert met["in the middle"] > POINTS // 4 and resumed > 0
    assert met["in the engine"] <= POINTS // 8


@pytest.mark.slow
def test_of_two_at_once_one_works_and_the_other_waits_or_says_who_works(
    house: Warehouse, own_url: str
) -> None:
    both = [start(own_url, "--wait", "60") for _ in range(2)]
    said = sorted(process.communicate()[1] for process in both)
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("27 recomputed" in text for text in said) == 1
    assert sum(": 0 recomputed, 27 fresh" in text for text in said) == 1
