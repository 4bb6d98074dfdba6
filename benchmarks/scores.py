"""Views and commands over 10 M scores: 100 runs x 5 000 prompts x 20 draws."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measure import time_command, time_script

FILL = """
import sys, time
import alembic.ddl.impl
from warehouse.records import Dump, MetricSpec, BulkQuery, RunHeader
from warehouse.store.load import source_ledger as ledger
from warehouse.store.open import open_store
from warehouse.store.load.loader import Loader, LoadOptions
url, runs, prompts, draws = sys.argv[1], *map(int, sys.argv[2:5])
open_store(url, create=True).close()
started = time.monotonic()
with open_store(url, write=True) as store:
    loader = Loader(store)
    for run in range(runs):
        header = RunHeader(harness="bench", model=f"org/model-{run:03d}", benchmark="bench",
                           metrics=(MetricSpec("acc"),), run_id=str(run))
        sql = '''
            select 0 as run, i // $draws as position, cast(i // $draws as varchar) as prompt_id,
                cast(i % $draws as integer) as draw, '{"passage": ' || i // $draws // 5 || '}'
                    as metadata,
                [{metric: 'acc', filter: '', weight: null::double, n_draws: null::integer,
                  raw: null::varchar, status: null::varchar, origin: null::varchar,
                  value: cast(hash(i, $run) % 1000 <
                              300 + hash(i // $draws) % 500 + $run % 200 as double)}] as scores
            from range($rows) as rows(i)'''
        reading = BulkQuery(sql, {"rows": prompts * draws, "draws": draws, "run": run}, None)
        claim = ledger.claim(store, path=f"run {run}", size=0, sha256=str(run), importer="bench",
                             version="1", settings={})
        if claim:
            begun = time.monotonic()
            loader.load(Dump((header,), [reading]), claim, LoadOptions())
            print(run, time.monotonic() - begun)
    loader.close()
print(time.monotonic() - started)
"""

QUERY = """
import sys, time
from warehouse.store.open import open_store
with open_store(sys.argv[1]) as store:
    store.arrow("select 1 as one")
    started = time.monotonic()
    store.arrow(sys.argv[2])
    print(time.monotonic() - started)
"""

MEAN = "select run_id, avg(value) as mean from score group by run_id"


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of each question and the ratio to a bare grouped mean."""
    store = folder / "scores.duckdb"
    url = f"duckdb:///{store}"
    if not store.exists():
        print(f"filling 10 M scores: {time_script(FILL, [url, '100', '5000', '20'], 1)}")
    bare = time_script(QUERY, [url, MEAN], 5)
    print(f"bare grouped mean over score: {bare}")
    summary = time_script(QUERY, [url, "select * from score_summary"], 5)
    print(f"score_summary: {summary}; {summary.median / bare.median:.2f} x bare")
    command = str(Path(sys.executable).with_name("warehouse"))
    for words in (
        ["leaderboard", "bench"],
        ["compare", "org/model-007", "org/model-042", "--benchmark", "bench"],
        ["report", "--out", str(folder / "report.html")],
        ["--help"],
    ):
        timing = time_command([command, "--db", url, *words])
        print(f"warehouse {' '.join(words)}, cold: {timing}")
