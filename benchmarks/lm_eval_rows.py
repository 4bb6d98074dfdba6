"""lm-eval sample rows into the full schema, against a bare table of the same columns."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dumps import PROMPTS, write_lm_eval
from measure import time_script

BARE = """
import sys, time, duckdb
from pathlib import Path
store, folder = Path(sys.argv[1]), Path(sys.argv[2])
store.unlink(missing_ok=True)
columns = {"doc_id": "BIGINT", "doc": "JSON", "target": "VARCHAR", "arguments": "JSON",
           "resps": "JSON", "filtered_resps": "JSON", "filter": "VARCHAR", "metrics": "JSON",
           "doc_hash": "VARCHAR", "prompt_hash": "VARCHAR", "target_hash": "VARCHAR",
           "exact_match": "DOUBLE"}
files = sorted(str(path) for path in folder.rglob("samples_*.jsonl"))
connection = duckdb.connect(str(store))
connection.execute("set enable_progress_bar = false")
started = time.monotonic()
connection.execute("create table sample as select * from read_json($files, columns=$columns, "
                   "format='newline_delimited')".replace("$columns", str(columns)),
                   {"files": files})
connection.close()
print(time.monotonic() - started)
"""

#: The start of the process is not counted, and what is imported only when it is needed is part of
#: that: a small dump goes into another store first.
INGEST = """
import sys, time
from pathlib import Path
store, folder, small = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
store.unlink(missing_ok=True)
import warehouse, warehouse.ingest.pipeline
other = store.with_name("warm.duckdb")
other.unlink(missing_ok=True)
warehouse.connect(f"duckdb:///{other}").ingest(small)
started = time.monotonic()
report = warehouse.connect(f"duckdb:///{store}").ingest(folder)
seconds = time.monotonic() - started
assert not report.refused, report.refused[0].error
print(report)
print(seconds)
"""

AGAIN = INGEST.replace("store.unlink(missing_ok=True)\n", "")

PANDAS = """
import sys, time
from pathlib import Path
import pandas as pd, sqlalchemy as sa
store, path = Path(sys.argv[1]), sys.argv[2]
store.unlink(missing_ok=True)
try:
    import alembic.ddl.impl  # which duckdb-sqlalchemy wants to come first
except ModuleNotFoundError:
    pass
engine = sa.create_engine(f"duckdb:///{store}")
started = time.monotonic()
frame = pd.read_json(path, lines=True)
for name in frame.columns:
    if frame[name].map(lambda value: isinstance(value, (dict, list))).any():
        frame[name] = frame[name].astype(str)
frame.to_sql("sample", engine, index=False)
print(time.monotonic() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of each way and the ratios."""
    dumps = folder / f"lm-eval-{options.rows}"
    if not dumps.exists():
        write_lm_eval(dumps, models=10, tasks=max(1, options.rows // (10 * PROMPTS)))
    files = sorted(dumps.rglob("samples_*.jsonl"))
    size = sum(path.stat().st_size for path in files) / 1e6
    rows = len(files) * PROMPTS
    print(f"{rows} rows in {len(files)} files, {size:.0f} MB")
    small = folder / "small"
    if not small.exists():
        write_lm_eval(small, models=1, tasks=1)
    store = folder / "bench.duckdb"
    bare = time_script(BARE, [str(store), str(dumps)], options.runs)
    print(f"bare create table as select from read_json: {bare}")
    ingest = time_script(INGEST, [str(store), str(dumps), str(small)], options.runs)
    print(f"warehouse ingest: {ingest}")
    print(f"speed against bare: {bare.median / ingest.median:.2f}")
    again = time_script(AGAIN, [str(store), str(dumps), str(small)], options.runs)
    print(f"again, unchanged: {again}")
    peers = {"duckdb-sqlalchemy": sys.executable}
    if options.peer:
        peers["duckdb-engine"] = str(options.peer)
    for dialect, python in peers.items():
        frame = time_script(PANDAS, [str(store), str(files[0])], options.runs, python)
        per_row = frame.median / PROMPTS / (ingest.median / rows)
        print(f"pandas.read_json + to_sql by {dialect}, one file of {PROMPTS} rows: {frame}")
        print(f"speed against it, per row: {per_row:.1f}")
    store.unlink()
