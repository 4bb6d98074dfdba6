"""Refresh of stored figures over 100 runs x 5 000 prompts x 20 draws, against a loop in pandas."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from measure import time_script
from scores import FILL

BASELINE = "org/model-000"
FAMILIES = ["--family", "scores", "--family", "differences"]
#: What one would write without a warehouse: every mean, and every paired test, each time anew.
PANDAS = """
import sys, time
import duckdb, pandas
from scipy import stats
started = time.perf_counter()
with duckdb.connect(sys.argv[1], read_only=True) as store:
    rows = store.execute(f"select run_id, prompt_id, value from {sys.argv[2]}").df()
if sys.argv[2] == "score":
    rows = rows.groupby(["run_id", "prompt_id"], as_index=False)["value"].mean()
figures = rows.groupby("run_id")["value"].agg(["mean", "sem"])
own = {run: part.set_index("prompt_id")["value"] for run, part in rows.groupby("run_id")}
first = own.pop(min(own))
for run, values in own.items():
    both = pandas.concat([values, first], axis=1, join="inner")
    stats.ttest_rel(both.iloc[:, 0], both.iloc[:, 1]).confidence_interval()
print(time.perf_counter() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print wall and processor seconds of each step, from cold processes."""
    filled, store = folder / "scores.duckdb", folder / "refresh.duckdb"
    url = f"duckdb:///{store}"
    if not filled.exists():
        seconds = time_script(FILL, [f"duckdb:///{filled}", "100", "5000", "20"], 1)
        print(f"filling 10 M scores: {seconds}")
    shutil.copy(filled, store)
    refresh = [str(Path(sys.executable).with_name("warehouse")), "--db", url, "refresh", "--baseline", BASELINE]
    _tell("summaries and differences, first time", [*refresh, *FAMILIES])
    _tell("ranks and variance besides, first time", refresh)
    for _ in range(options.runs):
        _tell("nothing changed", refresh)
    time_script(FILL, [url, "101", "5000", "20"], 1)
    _tell("one new run: summaries and differences", [*refresh, *FAMILIES])
    _tell("one new run: ranks and variance besides", refresh)
    _tell("all of it again (another level)", [*refresh, "--level", "0.9"])
    for table in ("score", "prompt_score"):
        script = [sys.executable, "-c", PANDAS, str(store), table]
        _tell(f"pandas and scipy on {table}: means and differences, every time", script)


def _tell(name: str, command: Sequence[str]) -> None:
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{errors}")
    processor, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    print(
        f"{name}: {wall:.2f} s, processor {processor:.2f} s, peak {peak:.0f} MiB;"
        f" {errors.strip().splitlines()[-1] if errors.strip() else ''}",
        flush=True,
    )
