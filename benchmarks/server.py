"""1 M scores into PostgreSQL, against a bare binary COPY of the same rows."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

MAKE = """
import sys, duckdb
from pathlib import Path
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
rows = (
    "select 'org/model-' || {run} as model, 'bench' as benchmark, 'acc' as metric, "
    "cast(i // 20 as varchar) as prompt_id, cast(i % 20 as integer) as draw, "
    "cast(hash(i, {run}) % 1000 < 300 + hash(i // 20) % 500 + {run} as double) as score "
    "from range(100000) as rows(i)"
)
for run in range(10):
    path = folder / f"run-{run}.parquet"
    duckdb.execute(f"copy ({rows.format(run=run)}) to '{path}'")
print(0)
"""

INGEST = """
import sys, time
import warehouse.ingest.pipeline
from warehouse.store.open import open_store
open_store(sys.argv[1]).close()
started = time.monotonic()
with open_store(sys.argv[1], write=True) as store:
    report = warehouse.ingest.pipeline.ingest(store, [sys.argv[2]])
    assert report.total("n_scores") == 1_000_000, report
print(time.monotonic() - started)
"""

COPY = """
import sys, time
import psycopg
with psycopg.connect(sys.argv[1].replace("+psycopg", ""), autocommit=True) as connection:
    names = [row[0] for row in connection.execute(
        "select column_name from information_schema.columns where table_name = 'score' "
        "order by ordinal_position")]
    rows = connection.execute("select * from score").fetchall()
    types = [connection.execute(
        "select data_type from information_schema.columns where table_name = 'score' and "
        "column_name = %s", [name]).fetchone()[0] for name in names]
    connection.execute("drop table if exists bare_score")
    connection.execute("create table bare_score as select * from score limit 0")
    short = {"bigint": "int8", "integer": "int4", "double precision": "float8",
             "character varying": "varchar"}
    started = time.monotonic()
    with connection.cursor() as cursor:
        with cursor.copy("copy bare_score from stdin (format binary)") as copy:
            copy.set_types([short[name] for name in types])
            for row in rows:
                copy.write_row(row)
    print(time.monotonic() - started)
    connection.execute("drop table bare_score")
"""

RESET = """
import sys
from warehouse.store.schema import migrate
from warehouse.store.open import open_store
with open_store(sys.argv[1], write=True, check=False) as store:
    migrate.downgrade(store, "base")
    migrate.upgrade(store)
print(0)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print both times and their ratio."""
    if not options.server:
        print("skipped: give --server postgresql://… (its database is emptied)")
        return
    dumps = folder / "server"
    time_script(MAKE, [str(dumps)], 1)
    loads = []
    for _ in range(options.runs):
        time_script(RESET, [options.server], 1)
        loads.append(time_script(INGEST, [options.server, str(dumps)], 1))
    ours = sorted(item.median for item in loads)[len(loads) // 2]
    print(
        f"warehouse ingest of 10 Parquet files, 1 M scores: median {ours:.2f} s "
        f"({' '.join(f'{item.median:.2f}' for item in loads)})"
    )
    bare = time_script(COPY, [options.server], options.runs)
    print(f"bare binary COPY of the same rows: {bare}")
    print(f"ratio: {ours / bare.median:.2f}")
