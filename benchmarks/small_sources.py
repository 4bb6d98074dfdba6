"""Many small tables: how many sources a second, and that they are loaded together."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from statistics import median

from measure import run_process

ROWS = 100
#: Tables of so many benchmarks for each model.
BENCHMARKS = 5

#: Also what another version has written.
RESET = """
import sys
import psycopg
with psycopg.connect(sys.argv[1].replace("+psycopg", "")) as connection:
    connection.execute("drop schema public cascade")
    connection.execute("create schema public")
"""

INGEST = """
import os, sys, time
import alembic.ddl.impl
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store
url, folder = sys.argv[1:3]
with open_store(url, create=True) as store:
    started, used = time.monotonic(), os.times()
    report = ingest(store, [folder])
    seconds, now = time.monotonic() - started, os.times()
assert report.total("n_runs") == len(report.sources), report.refused
print(now.user - used.user + now.system - used.system, seconds)
"""


def write_tables(folder: Path, count: int) -> None:
    """Tables of one run with 100 prompts each, from a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(1)
    for number in range(count):
        model, benchmark = f"org/model-{number // BENCHMARKS}", f"quiz-{number % BENCHMARKS}"
        lines = ["model,benchmark,prompt_id,score"]
        lines += [f"{model},{benchmark},p{row},{dice.random() < 0.6:d}" for row in range(ROWS)]
        (folder / f"table-{number:05}.csv").write_text("\n".join(lines) + "\n")


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print rate and processor time of 1 000 tables into each engine; ``--peer`` does the same."""
    tables = folder / f"tables-{options.sources}"
    if not tables.exists():
        write_tables(tables, options.sources)
    for name, python in (("this", sys.executable), ("peer", options.peer)):
        if python is None:
            continue
        _measure(name, str(python), folder / f"small-{name}.duckdb", tables, options)


def _measure(name: str, python: str, file: Path, tables: Path, options: argparse.Namespace) -> None:
    for engine, url in (("DuckDB", f"duckdb:///{file}"), ("PostgreSQL", options.server)):
        if url is None:
            continue
        timings = []
        for _ in range(options.runs):
            if url == options.server:
                run_process([sys.executable, "-P", "-c", RESET, url])
            file.unlink(missing_ok=True)
            output = run_process([python, "-P", "-c", INGEST, url, str(tables)])[2]
            timings.append([float(word) for word in output.split()[-2:]])
        used, seconds = (median(values) for values in zip(*timings, strict=True))
        print(
            f"{options.sources} tables into {engine} ({name}): {options.sources / seconds:.0f} a"
            f" second, {seconds:.1f} s, {used:.1f} s of processor time here"
        )
