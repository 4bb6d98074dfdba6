"""Many small tables: how many sources a second, and that they are loaded together."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Ran, Row, interleaved, postgresql, run_process, script, spaced

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

LOAD = """
import sys
import alembic.ddl.impl
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store
url, folder = sys.argv[1:3]
with open_store(url, create=True) as store:
    started = now()
    report = ingest(store, [folder])
    spent(started)
assert report.total("n_runs") == len(report.sources), report.refused
"""
#: The same rows as one table, bare.
BARE = """
import sys, duckdb
started = now()
duckdb.connect().execute(f"create table sample as select * from read_csv('{sys.argv[1]}/*.csv', filename=true)")
spent(started)
"""
#: Tables a second that are wanted.
WANTED = {"DuckDB": 200, "PostgreSQL": 80}


def write_tables(folder: Path, count: int) -> None:
    """Tables of one run with 100 prompts each, from a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(1)
    for number in range(count):
        model, benchmark = (
            f"org/model-{number // BENCHMARKS}",
            f"quiz-{number % BENCHMARKS}",
        )
        lines = ["model,benchmark,prompt_id,score"]
        lines += [
            f"{model},{benchmark},p{row},{dice.random() < 0.6:d}" for row in range(ROWS)
        ]
        (folder / f"table-{number:05}.csv").write_text("\n".join(lines) + "\n")


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """1 000 tables into each engine."""
    tables = folder / f"tables-{options.sources}"
    if not tables.exists():
        write_tables(tables, options.sources)
    file = folder / "small.duckdb"
    with postgresql(options.server) as server:
        for engine, url in (("DuckDB", f"duckdb:///{file}"), ("PostgreSQL", server)):

            def load(url: str = url) -> Ran:
                file.unlink(missing_ok=True)
                if url == server:
                    run_process([sys.executable, "-P", "-c", RESET, url])
                return script(LOAD, [url, str(tables)])()

            bare, ours = interleaved(options.runs, script(BARE, [str(tables)]), load)
            work = f"{spaced(options.sources)} tables of {ROWS} rows into {engine}"
            yield Row(
                work,
                ours,
                {"a second": WANTED[engine]},
                "bare read_csv of all",
                bare,
                options.sources,
            )
