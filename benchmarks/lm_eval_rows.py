"""lm-eval sample rows into the full schema, against a bare table of the same columns:
many files, and one large one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from dumps import PROMPTS, write_lm_eval
from measure import INGEST, Row, interleaved, script, spaced, time_script

BARE = """
import sys, duckdb
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
started = now()
connection.execute("create table sample as select * from read_json($files, columns=$columns, "
                   "format='newline_delimited')".replace("$columns", str(columns)),
                   {"files": files})
connection.close()
spent(started)
"""


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """So many rows in files of 10 000, and a tenth of them."""
    small = folder / "small"
    write_lm_eval(small, models=1, tasks=1, prompts=20)
    store = str(folder / "bench.duckdb")
    for tasks in dict.fromkeys(
        max(1, options.rows // (n * 10 * PROMPTS)) for n in (1, 10)
    ):
        rows, dumps = tasks * 10 * PROMPTS, folder / f"lm-eval-{tasks}"
        if not dumps.exists():
            write_lm_eval(dumps, models=10, tasks=tasks)
        arguments = [store, str(dumps), str(small)]
        bare, ours = interleaved(
            options.runs, script(BARE, arguments), script(INGEST, arguments)
        )
        wanted = {"times as fast": 0.6 if tasks >= 10 else 0.45}
        work, against = (
            f"lm-eval, {spaced(rows)} rows in files of {spaced(PROMPTS)}",
            "bare read_json into a table",
        )
        yield Row(work, ours, wanted, against, bare)
        print(
            "again, unchanged: "
            f"{time_script(INGEST, [*arguments, '--again'], options.runs)}"
        )


def one_file(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """The same rows in one file, against a tenth of them in one file: memory stays."""
    small = folder / "small"
    write_lm_eval(small, models=1, tasks=1, prompts=20)
    sizes, ways = (options.rows // 10, options.rows), []
    for rows in sizes:
        if not (dumps := folder / f"lm-eval-one-{rows}").exists():
            write_lm_eval(dumps, models=1, tasks=1, prompts=rows)
        ways.append(
            script(INGEST, [str(folder / "one.duckdb"), str(dumps), str(small)])
        )
    less, ours = interleaved(options.runs, *ways)
    against, work = (f"{spaced(rows)} rows in one file" for rows in sizes)
    yield Row(f"lm-eval, {work}", ours, {"times its memory": 1.1}, against, less)
