"""A lake of 100 runs x 1 000 prompts x 20 draws: syncs in proportion to what is new;
Sail against DuckDB."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from measure import time_script
from scores import FILL, MEAN, QUERY

PROMPTS, DRAWS = 1000, 20
SYNC = """
import sys, time
from warehouse.store.lake.sync import sync
from warehouse.store.open import open_store
with open_store(sys.argv[1]) as store:
    started = time.monotonic()
    report = sync(store, sys.argv[2])
    print(report, {table.table: table.change for table in report.tables if table.change})
    print(time.monotonic() - started)
"""
BARE = """
import sys, time
from deltalake import write_deltalake
from warehouse.store.open import open_store
with open_store(sys.argv[1]) as store:
    started = time.monotonic()
    for name in ("score", "prompt_score"):
        rows = store.arrow(f"select * from {name} where run_id = (select max(id) from run)")
        write_deltalake(f"{sys.argv[2]}/{name}", rows, mode="append")
    print(time.monotonic() - started)
"""
#: The one run comes second: Spark, which takes both sides for equally large, sends that
#: side to all executors.
DIFFERENCES = (
    "select b.run_id, avg(a.value - b.value) as d, stddev_samp(a.value - b.value) as s "
    "from prompt_score b"
    " join prompt_score a on a.prompt_id = b.prompt_id and a.metric_id = b.metric_id"
    " where a.run_id = (select min(id) from run) and b.run_id <> a.run_id group by "
    "b.run_id"
)
#: Bytes that leave the engine for a leaderboard: prompt scores of all runs, and never a
#: draw.
LEAVES = """
import sys, time
from warehouse.store.open import open_store
from warehouse.store.connection import Store
from warehouse.analysis.leaderboard.answer import leaderboard
total, whole = 0, Store.arrow
def counted(self, sql, params=None, **how):
    global total
    table = whole(self, sql, params, **how)
    total += table.nbytes
    return table
Store.arrow = counted
with open_store(sys.argv[1]) as store:
    started = time.monotonic()
    leaderboard(store, "bench")
    print("bytes", total)
    print(time.monotonic() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of syncs after 10 and after 100 runs, and of questions on both
    engines."""
    url, lake = f"duckdb:///{folder / 'lake.duckdb'}", folder / "lake"
    shutil.rmtree(lake, ignore_errors=True)
    (folder / "lake.duckdb").unlink(missing_ok=True)
    for runs in (10, 100):
        time_script(FILL, [url, str(runs), str(PROMPTS), str(DRAWS)], 1)
        print(f"sync up to {runs} runs: {time_script(SYNC, [url, str(lake)], 1)}")
        news = []
        for more in range(1, options.runs + 1):
            time_script(FILL, [url, str(runs + more), str(PROMPTS), str(DRAWS)], 1)
            news.append(time_script(SYNC, [url, str(lake)], 1).seconds[0])
        print(
            f"sync of one new run of {PROMPTS * DRAWS} scores after {runs}: "
            f"{sorted(news)}"
        )
    bare = time_script(BARE, [url, str(folder / "bare")], options.runs)
    print(f"bare append of its scores and prompt scores: {bare}")
    compare(url, lake)


def compare(url: str, lake: Path) -> None:
    """Print the time of questions to a store and to its lake by Sail, and what leaves
    the engine."""
    questions = (
        ("grouped mean", MEAN),
        ("score_summary", "select * from score_summary"),
        ("pairs", DIFFERENCES),
    )
    for name, sql in questions:
        own, other = (
            time_script(QUERY, [one, sql], 5) for one in (url, f"sail:?lake={lake}")
        )
        print(
            f"{name}: store {own}; lake {other}; {other.median / own.median:.2f} x",
            flush=True,
        )
    for one in (url, f"sail:?lake={lake}"):
        timing = time_script(LEAVES, [one], 3)
        print(f"leaderboard of {one.partition(':')[0]}: {timing}", flush=True)
