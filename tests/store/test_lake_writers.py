"""Syncs that die, and several at once: readers see whole versions, and one writer is
first."""

from __future__ import annotations

import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.forked import COMMAND, Popen, run
from tests.support.lakes import MARKS, bring_up, held_against, rows_of, written
from tests.support.races import dumps
from warehouse.api import connect
from warehouse.store.lake import contents, versions
from warehouse.store.lake.contents import TABLES
from warehouse.store.lake.sync import TableWriter
from warehouse.store.lake.versions import LakeLocation, Overtaken
from warehouse.store.open import open_store

pytestmark = MARKS


def test_what_a_killed_sync_has_left_is_not_seen_and_taken_back(
    duckdb_url: str, tmp_path: Path
) -> None:
    """It may stop after any of its commits but the last."""
    files, place = dumps(tmp_path / "dumps", 2), tmp_path / "lake"
    connect(duckdb_url).ingest(files[0])
    bring_up(duckdb_url, place)
    lake = LakeLocation(str(place))
    base = versions.find(lake)
    scores = next(table for table in TABLES if table.name == "score")
    connect(duckdb_url).ingest(files[1])
    with open_store(duckdb_url) as store, contents.one_state(store):
        marks, sizes = contents.marks(store, "run_marks")
        writer = TableWriter(lake, "score", base.tables["score"])
        writer.delete("run_id", [1])
        writer.append(contents.rows_of(store, scores, list(marks), sizes))
        TableWriter(lake, "model", base.tables["model"]).overwrite(
            contents.whole(store, "model").slice(0, 0)
        )
    assert writer.version().n_rows == 80 and len(rows_of(place, "score")) == 40
    assert versions.find(lake) == base
    report = bring_up(duckdb_url, place)
    assert (
        report.version == 1
        and {"score"} < written(report)
        and "model" not in written(report)
    )
    assert len(rows_of(place, "score")) == 80
    assert held_against(duckdb_url, place).verdict == "same"


@pytest.mark.slow
def test_a_sync_that_is_killed_at_any_time_leaves_a_whole_version(
    duckdb_url: str, tmp_path: Path
) -> None:
    """Twenty points of the command; by default `tests/campaign/test_kills.py` kills the
    work three times, while others read the lake."""
    points = 20
    files, lake = dumps(tmp_path / "dumps", points + 1), tmp_path / "lake"
    connect(duckdb_url).ingest(files[0])
    started = time.monotonic()
    call = [str(COMMAND), "--db", duckdb_url, "lake", "sync", str(lake)]
    assert run(call).returncode == 0
    whole = time.monotonic() - started
    for point, file in enumerate(files[1:], start=1):
        connect(duckdb_url).ingest(file)
        process = Popen(call, stdout=subprocess.DEVNULL)
        time.sleep(whole * (0.3 + 0.7 * point / points))
        process.kill()
        process.wait()
        runs = {row["id"] for row in rows_of(lake, "run")}
        assert {row["run_id"] for row in rows_of(lake, "score")} == runs
        assert len(rows_of(lake, "prompt_score")) == 40 * len(runs)
        if point % 4 == 0:
            bring_up(duckdb_url, lake)
            assert held_against(duckdb_url, lake).verdict == "same"


def test_of_several_writers_one_is_first_and_the_others_begin_again(
    duckdb_url: str, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    for round_, file in enumerate(dumps(tmp_path / "dumps", 2)):
        connect(duckdb_url).ingest(file)
        call = [str(COMMAND), "--db", duckdb_url, "lake", "sync", str(lake)]
        started = [
            Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        said = [process.communicate() for process in started]
        assert [process.returncode for process in started] == [0, 0, 0], said
        assert versions.find(LakeLocation(str(lake))).number == round_
    assert held_against(duckdb_url, lake).verdict == "same"


def test_a_version_is_made_from_the_newest_one_or_not_at_all(
    duckdb_url: str, tmp_path: Path
) -> None:
    connect(duckdb_url).ingest(dumps(tmp_path / "dumps", 1)[0])
    bring_up(duckdb_url, tmp_path / "lake")
    lake = LakeLocation(str(tmp_path / "lake"))
    base = versions.find(lake)
    early = base.synced_at - timedelta(days=3)
    made = versions.commit(lake, base, base.tables, schema=base.schema, now=early)
    assert (
        made.number == 1 and made.synced_at == base.synced_at
    )  # a clock that was put back
    for stale in (base, None):
        with pytest.raises(Overtaken):
            versions.commit(lake, stale, base.tables, schema=base.schema, now=early)
    writer, other = (TableWriter(lake, "model", base.tables["model"]) for _ in range(2))
    with open_store(duckdb_url) as store:
        rows = contents.whole(store, "model")
    writer.overwrite(rows)
    with pytest.raises(Overtaken, match="another process has written to"):
        other.overwrite(rows)
