"""The report of 50 models on 10 benchmarks with every section: its size and its time."""

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
url, benchmarks, models, prompts, draws = sys.argv[1], *map(int, sys.argv[2:6])
open_store(url, create=True).close()
started = time.monotonic()
SQL = '''
    select m as run, i // $draws as position, cast(i // $draws as varchar) as prompt_id,
        cast(i % $draws as integer) as draw, 'What is ' || i // $draws || '?' as text,
        'one' as target,
        case when right_or_not then 'one' else 'two' || hash(i, m, $seed, 1) % 3 end
            as extracted_answer,
        [{metric: 'acc', filter: '', weight: null::double, n_draws: null::integer,
          raw: null::varchar, status: null::varchar, origin: null::varchar,
          value: cast(right_or_not as double)}] as scores
    from (
        select m, i, hash(i, m, $seed) % 1000 < 200 + hash(i // $draws, $seed) % 500 + 6 * m
            as right_or_not
        from range($models) as a(m), range($rows) as b(i)
    )
    order by m, i'''
with open_store(url, write=True) as store:
    loader = Loader(store)
    for b in range(benchmarks):
        headers = tuple(
            RunHeader(harness="bench", model=f"organisation/model-{m:03d}-instruct",
                      benchmark=f"benchmark-{b}", metrics=(MetricSpec("acc"),), run_id=f"{b}-{m}")
            for m in range(models)
        )
        parameters = {"rows": prompts * draws, "draws": draws, "models": models, "seed": b}
        claim = ledger.claim(store, path=f"dump {b}", size=0, sha256=str(b), importer="bench",
                             version="1", settings={})
        loader.load(Dump(headers, [BulkQuery(SQL, parameters, None)]), claim, LoadOptions())
    loader.close()
print(time.monotonic() - started)
"""

ANALYSES = """
import sys, time, zlib
import numpy as np
import warehouse
url, benchmarks = sys.argv[1], int(sys.argv[2])
started = time.monotonic()
class Embedder:
    name, revision, dimension, max_length = "bench", "1", 32, None
    def encode(self, texts):
        dice = (np.random.default_rng(zlib.crc32(text.encode())) for text in texts)
        return np.stack([one.standard_normal(32) for one in dice]).astype(np.float32)
    def too_long(self, texts):
        return np.zeros(len(texts), np.bool_)
home = warehouse.connect(url)
for b in range(benchmarks):
    matrix = home.matrix(f"benchmark-{b}")
    matrix.test(permutations=50)
    matrix.cluster(n_clusters=range(2, 11))
    matrix.weights(draws=2000)
    matrix.grow()
    home.embed(f"benchmark-{b}", embedder=Embedder())
    matrix.explain(permutations=50)
print(time.monotonic() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the size of the page, and the time of the command."""
    store, page = folder / "report.duckdb", folder / "report.html"
    url = f"duckdb:///{store}"
    if not store.exists():
        sizes = ['10', '50', '300', '4']  # fmt: skip
        print(f"filling: {time_script(FILL, [url, *sizes], 1)}")
        print(f"analyses: {time_script(ANALYSES, [url, sizes[0]], 1)}")
    command = str(Path(sys.executable).with_name("warehouse"))
    timing = time_command([command, "--db", url, "report", "--out", str(page)], options.runs)
    print(f"warehouse report, 50 models on 10 benchmarks: {timing}; {page.stat().st_size} bytes")
