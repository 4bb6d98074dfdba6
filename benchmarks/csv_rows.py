"""A CSV file with texts and without a mapping into the full schema, against a bare
table of the same columns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import INGEST, Row, interleaved, run_process, script, spaced

MAKE = """
import sys, duckdb
duckdb.execute(f'''copy (
    select 'org/model-' || m as model, 'quiz' as benchmark, 'p' || i as prompt_id,
        'What is ' || i || ' and ' || hash(i) || ' together, and what is ' || hash(i, 1) || ' without it?' as prompt,
        'It is ' || hash(i, m) || ', since ' || hash(i, m, 1) || ' is larger.' as response,
        'it is ' || i as target, (hash(i, m) % 1000 < 400 + 20 * m)::integer as score
    from range(10) as a(m), range({int(sys.argv[2])}) as b(i) order by m, i) to '{sys.argv[1]}' (header)''')
"""
BARE = """
import sys, duckdb
from pathlib import Path
store, file = Path(sys.argv[1]), sys.argv[2]
store.unlink(missing_ok=True)
started = now()
with duckdb.connect(str(store)) as connection:
    connection.execute("create table sample as select * from read_csv($file)", {"file": file})
spent(started)
"""


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """2 M rows where lm-eval has 1 M."""
    rows, dump, small = 2 * options.rows, folder / "quiz.csv", folder / "small.csv"
    for file, prompts in ((dump, rows // 10), (small, 2)):
        run_process([sys.executable, "-c", MAKE, str(file), str(prompts)])
    arguments = [str(folder / "csv.duckdb"), str(dump), str(small)]
    bare, ours = interleaved(
        options.runs, script(BARE, arguments), script(INGEST, arguments)
    )
    work = f"CSV of {spaced(rows)} rows with texts, no mapping"
    yield Row(
        work,
        ours,
        {"times as fast": 0.35, "MiB": 600},
        "bare read_csv into a table",
        bare,
    )
