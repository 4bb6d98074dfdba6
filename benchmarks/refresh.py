"""Refresh of stored figures over 100 runs x 5 000 prompts x 20 draws, against a loop in
pandas."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from measure import COMMAND, Timing, run_process, time_script
from scores import FILL

BASELINE = "org/model-000"
FAMILIES = ["--family", "scores", "--family", "differences"]
#: What one would write without a warehouse: every mean, and every paired test, each
#: time anew.
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
    refresh = [COMMAND, "--db", url, "refresh", "--baseline", BASELINE]
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


def _tell(name: str, words: Sequence[str]) -> None:
    ran = run_process(words)
    last = ran.output.strip().splitlines()[-1:]
    print(
        f"{name}: {Timing([ran.seconds], [ran.processor], ran.peak)}; {' '.join(last)}",
        flush=True,
    )
