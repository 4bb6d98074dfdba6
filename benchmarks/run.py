"""Measure speed and memory; see README.md in this folder."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import bootstrap
import duplicates
import executors
import growth
import helm_run
import inspect_log
import items
import lake
import lm_eval_rows
import matrix
import pairs
import permutation
import preferences
import refresh
import reliability
import report
import report_large
import report_many
import scores
import sequential
import serve
import server
import small_sources
import spark
import subsets
import writers

BENCHMARKS = {
    "duplicates": duplicates.run,
    "executors": executors.run,
    "growth": growth.run,
    "helm": helm_run.run,
    "bootstrap": bootstrap.run,
    "inspect": inspect_log.run,
    "items": items.run,
    "lake": lake.run,
    "lm-eval": lm_eval_rows.run,
    "matrix": matrix.run,
    "pairs": pairs.run,
    "permutation": permutation.run,
    "preferences": preferences.run,
    "refresh": refresh.run,
    "reliability": reliability.run,
    "report": report.run,
    "report-large": report_large.run,
    "report-many": report_many.run,
    "scores": scores.run,
    "sequential": sequential.run,
    "serve": serve.run,
    "server": server.run,
    "small-sources": small_sources.run,
    "spark": spark.run,
    "subsets": subsets.run,
    "writers": writers.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", choices=sorted(BENCHMARKS), help="default: all")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of lm-eval")
    parser.add_argument("--prompts", type=int, default=100_000, help="of duplicates")
    parser.add_argument("--sources", type=int, default=1000, help="tables of small-sources")
    parser.add_argument("--benchmarks", type=int, default=910, help="of report-many")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where dumps are made, and kept")
    parser.add_argument("--server", help="URL of a PostgreSQL database to use and empty")
    parser.add_argument(
        "--peer",
        type=Path,
        help="Python that has inspect-ai (inspect), evalstats (pairs), duckdb-engine (lm-eval) or"
        " another version of this project (small-sources, report-many)",
    )
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="warehouse-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name in [options.name] if options.name else BENCHMARKS:
            print(f"== {name}", flush=True)
            BENCHMARKS[name](folder, options)
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
