"""A standalone cluster of Spark (two workers of one core) and Sail against DuckDB with
two threads, on one lake.

It asks the lake that `large` leaves (100 M scores), or one that it makes: 100 runs x 1
000 prompts x 20 draws.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from lake import DIFFERENCES, SYNC
from measure import Row, Timing, run_process, time_script
from scores import FILL, MEAN

#: All engines in one process, one after the other, again and again: what else the
#: machine does meets all of them. The first time stands apart.
ASK = """
import json, statistics, sys, time
from contextlib import ExitStack
from warehouse.store.open import open_store
with ExitStack() as stack:
    stores = [stack.enter_context(open_store(url)) for url in sys.argv[1:4]]
    stores[0].connection.exec_driver_sql("set threads to 2")
    for sql in sys.argv[4:]:
        times = [[] for _ in stores]
        for _ in range(6):
            for store, seconds in zip(stores, times):
                started = time.monotonic()
                rows = store.arrow(sql).num_rows
                seconds.append(time.monotonic() - started)
        usual = [statistics.median(seconds[1:]) for seconds in times]
        print(f"{sql[:60]} ... {rows} rows")
        for name, seconds, middle in zip(("DuckDB", "Sail", "Spark"), times, usual):
            listed = " ".join(f"{one:.2f}" for one in seconds[1:])
            ratio = middle / usual[0]
            print(f"  {name}: first {seconds[0]:.2f} s, then {middle:.3f} s ({listed}), {ratio:.1f} x", flush=True)
print(json.dumps([times[0][1:], times[2][1:]]))
"""
QUESTIONS = (
    MEAN,
    "select * from score_summary",
    f"{DIFFERENCES} having b.run_id <= 100",
    DIFFERENCES,
)
#: Rows are many: to compile a plan pays, and so does memory.
SETTINGS = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.executor.memory": "1500m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
    "spark.driver.memory": "1500m",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
}


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """What each engine takes for each question, and the ratio to DuckDB."""
    del options
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.support.spark_cluster import SparkCluster, SparkMissing

    place = folder / "cluster"
    try:
        cluster = SparkCluster(place, SETTINGS)
    except SparkMissing as missing:
        print(f"skipped: {missing}")
        return
    store, lake = folder / "large.duckdb", folder / "large"
    if not store.exists():
        store, lake = folder / "spark.duckdb", folder / "spark"
        time_script(FILL, [f"duckdb:///{store}", "100", "1000", "20"], 1)
    if not lake.exists():
        time_script(SYNC, [f"duckdb:///{store}", str(lake)], 1)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    cluster.start()
    try:
        urls = [
            f"duckdb:///{store}",
            f"sail:?lake={lake}",
            f"{cluster.url}?lake={lake}&read=files",
        ]
        said, _, last = (
            run_process([sys.executable, "-c", ASK, *urls, *QUESTIONS])
            .output.strip()
            .rpartition("\n")
        )
        print(said, flush=True)
        # By the clock: what the workers use is not ours to see.
        own, theirs = (Timing(seconds, seconds, 0) for seconds in json.loads(last))
        yield Row(
            "99 differences by Spark, two workers of one core",
            theirs,
            {"times its cost": 8},
            "DuckDB",
            own,
        )
    finally:
        cluster.stop()
