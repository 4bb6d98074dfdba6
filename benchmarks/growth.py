"""One store that grows to 100 M scores: 1 000 runs x 5 000 prompts x 20 draws."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import statistics
import sys
from pathlib import Path

from lake import SYNC, compare
from measure import Timing, run_process, time_command, time_script
from scores import FILL, MEAN, QUERY

PROMPTS, DRAWS = "5000", "20"
#: Runs at which the store is asked.
STAGES = (100, 1000)
#: Runs over which the time to load one is the median.
WINDOW = 9


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print what the last runs take to load against the first, and every question at both sizes."""
    store = folder / "growth.duckdb"
    url = f"duckdb:///{store}"
    loads: dict[int, float] = {}
    for stage in STAGES:
        seconds, peak, output = run_process([sys.executable, "-c", FILL, url, str(stage), PROMPTS, DRAWS])
        loads |= {int(line.split()[0]): float(line.split()[1]) for line in output.splitlines() if " " in line}
        size = store.stat().st_size / 2**20
        print(f"{stage} runs are loaded: {seconds:.0f} s more, peak {peak:.0f} MiB, file {size:.0f} MiB", flush=True)
        _ask(url)
        _refresh(url)
    first = _at(loads, 10)
    for number in (100, STAGES[-1]):
        print(f"load of run {number}: {_at(loads, number):.2f} s, {_at(loads, number) / first:.2f} x the 10th")
    seconds, _, _ = run_process([sys.executable, "-c", FILL, url, str(STAGES[-1] + 1), PROMPTS, DRAWS])
    print(f"one run more, with its process: {seconds:.2f} s")
    _refresh(url)
    if importlib.util.find_spec("pysail"):
        shutil.rmtree(folder / "growth", ignore_errors=True)
        print(f"all of it into a lake: {time_script(SYNC, [url, str(folder / 'growth')], 1)}", flush=True)
        compare(url, folder / "growth")


def _at(loads: dict[int, float], number: int) -> float:
    """Seconds of the runs up to a number, the median."""
    return statistics.median(loads[run] for run in range(number - WINDOW, number) if run in loads)


def _ask(url: str) -> None:
    bare = time_script(QUERY, [url, MEAN], 3)
    print(f"  bare grouped mean over score: {bare}")
    summary = time_script(QUERY, [url, "select * from score_summary"], 3)
    print(f"  score_summary: {summary}; {summary.median / bare.median:.2f} x bare", flush=True)
    for words in (["leaderboard", "bench"], ["compare", "org/model-007", "org/model-042", "--benchmark", "bench"]):
        print(f"  {' '.join(words)}, cold: {_command(url, words)}", flush=True)


def _refresh(url: str) -> None:
    words = ["refresh", "--family", "scores", "--family", "differences", "--baseline", "org/model-000"]
    for what in ("what is new", "nothing new"):
        print(f"  refresh of {what}: {_command(url, words, runs=1)}", flush=True)


def _command(url: str, words: list[str], runs: int = 3) -> Timing:
    return time_command([str(Path(sys.executable).with_name("warehouse")), "--db", url, *words], runs)
