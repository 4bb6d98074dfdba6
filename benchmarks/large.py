"""One store that grows to 100 M scores: 1 000 runs x 5 000 prompts x 20 draws."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path

from lake import SYNC, compare
from measure import Row, command, interleaved, script, time_script
from scores import COMPARE, FILL, MEAN, QUERY

PROMPTS, DRAWS = "5000", "20"
#: Runs at which the store is asked.
STAGES = (100, 1000)
#: Runs over which the time to load one is the median.
WINDOW = 9
REFRESH = (
    "refresh",
    "--family",
    "scores",
    "--family",
    "differences",
    "--baseline",
    "org/model-000",
)


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """What the last runs take to load against the first, and every question at both
    sizes."""
    store = folder / "large.duckdb"
    url = f"duckdb:///{store}"
    loads: dict[int, float] = {}
    for stage in STAGES:
        filled = script(FILL, [url, str(stage), PROMPTS, DRAWS])()
        loads |= {
            int(line.split()[0]): float(line.split()[1])
            for line in filled.output.splitlines()
            if " " in line
        }
        size = store.stat().st_size / 2**20
        print(
            f"{stage} runs are loaded: {filled.seconds:.0f} s more, peak "
            f"{filled.peak:.0f} MiB, file {size:.0f} MiB"
        )
        print(
            "  score_summary: "
            f"{time_script(QUERY, [url, 'select * from score_summary'])}",
            flush=True,
        )
        for words in (COMPARE, REFRESH, REFRESH):
            print(
                f"  {' '.join(words)}, cold: "
                f"{interleaved(1, command('--db', url, *words))[0]}",
                flush=True,
            )
    for number in (
        (100, STAGES[-1]) if len(loads) == STAGES[-1] else ()
    ):  # a folder that is kept has them already
        first, there = _at(loads, 10), _at(loads, number)
        print(f"load of run {number}: {there:.2f} s, {there / first:.2f} x the 10th")
    for words, wanted in (
        (("leaderboard", "bench"), {"seconds": 6}),
        (("pairs", "bench"), {"seconds": 20}),
        (
            ("report", "bench", "--out", str(folder / "large.html")),
            {"seconds": 30, "MiB": 4096},
        ),
    ):
        bare, ours = interleaved(
            options.runs, script(QUERY, [url, MEAN]), command("--db", url, *words)
        )
        work = f"{' '.join(words[:2])} at 100 M scores of 1 000 models"
        yield Row(work, ours, wanted, "bare grouped mean over score", bare)
    if importlib.util.find_spec("pysail"):
        shutil.rmtree(folder / "large", ignore_errors=True)
        print(
            "all of it into a lake: "
            f"{time_script(SYNC, [url, str(folder / 'large')], 1)}",
            flush=True,
        )
        compare(url, folder / "large")


def _at(loads: dict[int, float], number: int) -> float:
    """Seconds of the runs up to a number, the median."""
    return statistics.median(
        loads[run] for run in range(number - WINDOW, number) if run in loads
    )
