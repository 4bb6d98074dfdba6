"""A standalone cluster of Spark (two workers of one core) and Sail against DuckDB with two threads, on one lake.

It asks the lake that `growth` leaves (100 M scores), or one that it makes: 100 runs x 1 000 prompts x 20 draws.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from lake import DIFFERENCES, SYNC
from measure import run_process, time_script
from scores import FILL, MEAN

#: One session asks each question again and again: the first time apart, then the median of five.
ASK = """
import statistics, sys, time
from warehouse.store.open import open_store
with open_store(sys.argv[1]) as store:
    store.arrow("select count(*) as n from run")
    for sql in sys.argv[2:]:
        times = []
        for _ in range(6):
            started = time.monotonic()
            rows = store.arrow(sql).num_rows
            times.append(time.monotonic() - started)
        print(rows, "rows: first", round(times[0], 2), "then", round(statistics.median(times[1:]), 3),
              [round(t, 2) for t in times[1:]], flush=True)
"""
QUESTIONS = (MEAN, "select * from score_summary", f"{DIFFERENCES} having b.run_id <= 100", DIFFERENCES)
#: Rows are many: to compile a plan pays, and so does memory.
SETTINGS = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.executor.memory": "1500m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
}


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print what each engine takes for each question."""
    del options
    store, lake = folder / "growth.duckdb", folder / "growth"
    if not store.exists():
        store, lake = folder / "spark.duckdb", folder / "spark"
        time_script(FILL, [f"duckdb:///{store}", "100", "1000", "20"], 1)
    if not lake.exists():
        time_script(SYNC, [f"duckdb:///{store}", str(lake)], 1)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.support.spark_cluster import SparkCluster

    place = folder / "cluster"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    cluster = SparkCluster(place, SETTINGS)
    for name, url in (("DuckDB", f"duckdb:///{store}"), ("Sail", f"sail:?lake={lake}")):
        print(name, "\n", run_process([sys.executable, "-c", ASK, url, *QUESTIONS])[2], flush=True)
    cluster.start()
    try:
        url = f"{cluster.url}?lake={lake}&read=files"
        print("Spark", "\n", run_process([sys.executable, "-c", ASK, url, *QUESTIONS])[2], flush=True)
    finally:
        cluster.stop()
