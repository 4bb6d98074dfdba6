"""Measure speed and memory; see README.md in this folder."""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import runpy
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bootstrap
import csv_rows
import demo
import duplicates
import executors
import growth
import helm_run
import inspect_log
import items
import lake
import large
import lm_eval_rows
import many_models
import matrix
import pairs
import permutation
import preferences
import refresh
import reliability
import report
import scores
import sequential
import serve
import server
import small_sources
import spark
import subsets
import writers

ROOT = Path(__file__).resolve().parents[1]
#: Those that give rows of docs/reference/performance.md, within 50 minutes on two
#: cores.
ROWS = {
    "lm-eval": lm_eval_rows.run,
    "csv": csv_rows.run,
    "inspect": inspect_log.run,
    "small-sources": small_sources.run,
    "one-file": lm_eval_rows.one_file,
    "demo": demo.run,
    "scores": scores.run,
    "report-large": report.large,
    "report-wide": report.wide,
    "models": scores.models,
    "many-models": many_models.run,
    "report-figures": many_models.report,
    "pairs": pairs.run,
    "shuffles": matrix.shuffles,
    "postgresql": scores.server,
    "growth": growth.run,
}
#: Rows that take hours, and 25 GB of disk.
LARGE = {"large": large.run, "spark": spark.run}
OTHERS = {
    "bootstrap": bootstrap.run,
    "duplicates": duplicates.run,
    "executors": executors.run,
    "helm": helm_run.run,
    "items": items.run,
    "lake": lake.run,
    "many-pages": many_models.pages,
    "matrix": matrix.run,
    "permutation": permutation.run,
    "preferences": preferences.run,
    "refresh": refresh.run,
    "reliability": reliability.run,
    "report": report.run,
    "report-many": report.many,
    "sequential": sequential.run,
    "serve": serve.run,
    "server": server.run,
    "subsets": subsets.run,
    "writers": writers.run,
}
BENCHMARKS = ROWS | LARGE | OTHERS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(BENCHMARKS)}; default: all",
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="and keep the rows; default: of 50 minutes",
    )
    parser.add_argument(
        "--large",
        action="store_true",
        help="with --write: 100 M scores and Spark as well",
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of lm-eval")
    parser.add_argument("--prompts", type=int, default=100_000, help="of duplicates")
    parser.add_argument(
        "--sources", type=int, default=1000, help="tables of small-sources"
    )
    parser.add_argument("--benchmarks", type=int, default=910, help="of report-many")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where dumps are made, and kept")
    parser.add_argument(
        "--server",
        help="URL of a PostgreSQL database to use and empty; default: one of its own",
    )
    parser.add_argument(
        "--peer",
        type=Path,
        help="Python that has inspect-ai (inspect) and evalstats (pairs)",
    )
    options = parser.parse_args()
    usual = (ROWS | LARGE if options.large else ROWS) if options.write else BENCHMARKS
    if unknown := set(options.names) - BENCHMARKS.keys():
        parser.error(
            f"there is no {', '.join(sorted(unknown))}; there are "
            f"{', '.join(BENCHMARKS)}"
        )
    for package in (
        "warehouse",
        "cli",
    ):  # as an installed one is: else each command may compile its modules again
        compileall.compile_dir(ROOT / package, quiet=1)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="warehouse-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name in options.names or usual:
            print(f"== {name}", flush=True)
            for row in BENCHMARKS[name](folder, options) or ():
                print(row, flush=True)
                if options.write:
                    _keep(options.write.with_suffix(".json"), name, row.to_dict())
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)
    if options.write:
        page = runpy.run_path(str(ROOT / "docs" / "generate.py"))["performance_page"]
        options.write.write_text(
            page(options.write.with_suffix(".json")), encoding="utf-8"
        )


def _keep(file: Path, name: str, row: dict[str, Any]) -> None:
    """In the place of the row of this work, with the machine and its load."""
    rows = (
        [json.loads(line) for line in file.read_text().strip(" []\n").split(",\n")]
        if file.exists()
        else []
    )
    rows = [other for other in rows if other["work"] != row["work"]]
    rows.append(
        row
        | {
            "run": name,
            "when": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
            "load": round(os.getloadavg()[1], 1),
        }
        | _here()
    )
    rows.sort(key=lambda one: list(BENCHMARKS).index(one["run"]))
    file.write_text("[\n" + ",\n".join(json.dumps(one) for one in rows) + "\n]\n")


def _here() -> dict[str, str]:
    """What it was measured on and of."""
    cpu = next(
        (
            line
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "",
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    names = ("duckdb", "numpy", "scipy")
    versions = [
        f"Python {platform.python_version()}",
        *(f"{name} {version(name)}" for name in names),
    ]
    return {
        "machine": (
            f"{os.cpu_count()} cores of "
            f"{cpu.partition(': ')[2] or platform.machine()}, {memory:.0f} GB"
        ),
        "versions": (
            f"{version('eval-warehouse')} at {commit.stdout.strip() or 'no commit'}, "
            f"{', '.join(versions)}"
        ),
    }


if __name__ == "__main__":
    sys.exit(main())
