"""Thousands of models with published figures alone: a suite's leaderboard, a report,
and pages beside a slow one."""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import COMMAND, Ran, Row, Way, command, interleaved, run_process
from serve import ask, peak, percentile

MAP = """
files = ["figures.csv"]
[run]
model = "model"
benchmark = "benchmark"
suite = ["board"]
[[published]]
metric = "score"
value = "score"
[metrics.score]
kind = "bounded"
low = 0
high = 1
higher_is_better = true
is_default = true
"""
#: Benchmarks that every model has a figure on, and models of which each other benchmark
#: has some.
BOARD, OTHERS, OF_EACH = 6, 400, 48


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """A suite of six benchmarks; what it takes with fewer models is printed."""
    ways = [_leaderboard(folder, n) for n in (750, 1500, 3000, 7000)]
    timings = interleaved(options.runs, *ways)
    for n, timing in zip((750, 1500, 3000, 7000), timings, strict=True):
        print(f"leaderboard --group, {n} models: {timing}", flush=True)
    work = "leaderboard of a suite, 7 000 models x 6 published figures"
    yield Row(
        work,
        timings[-1],
        {"seconds": 2, "MiB": 400},
        "the same with 750 models",
        timings[0],
    )


def report(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """1 139 benchmarks with 96 000 runs: six of 7 000 models, the others of 48."""
    fewer, ours = interleaved(1, _report(folder, 700, 113), _report(folder, 7000, 1133))
    wanted = {"seconds": 120, "MiB": 1500}
    yield Row(
        "report, 1 139 benchmarks, 96 000 runs", ours, wanted, "a tenth of both", fewer
    )


def pages(folder: Path, options: argparse.Namespace) -> None:
    """How long a small page takes while the leaderboard of the large suite is computed."""
    store = _filled(folder, 7000, 113)
    with subprocess.Popen(
        [COMMAND, "--db", str(store), "serve", "--port", "0", "--timeout", "120"],
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        found = re.search(rb"http://\S+", server.stdout.readline())
        assert found is not None
        address = found[0].decode().rstrip("/.")
        ask(f"{address}/")
        try:
            with ThreadPoolExecutor(1) as pool:
                slow = pool.submit(ask, f"{address}/benchmark/board?format=json")
                seconds, number = [], 0
                while not slow.done():
                    seconds.append(ask(f"{address}/benchmark/bench-{number:04d}")[0])
                    number = (number + 1) % 113
                    time.sleep(0.05)
                print(f"suite of 7 000 models as JSON: {slow.result()[0]:.2f} s")
            print(
                f"{len(seconds)} small pages meanwhile: p50 "
                f"{percentile(seconds, 0.5)}, p95 {percentile(seconds, 0.95)}"
            )
            print(f"peak {peak(server.pid)}")
        finally:
            server.terminate()


def _leaderboard(folder: Path, models: int) -> Way:
    return lambda: command(
        "--db", str(_filled(folder, models, 0)), "leaderboard", "--group", "board"
    )()


def _report(folder: Path, models: int, others: int) -> Way:
    def way() -> Ran:
        store = _filled(folder, models, others)
        return command(
            "--db",
            str(store),
            "report",
            "--split",
            "--out",
            str(folder / f"report-{models}"),
        )()

    return way


def _filled(folder: Path, models: int, others: int) -> Path:
    """A store with figures on `BOARD` benchmarks of so many models, and on so many
    other benchmarks of some of them."""
    place = folder / f"figures-{models}-{others}"
    store = place / "store.duckdb"
    if store.exists():
        return store
    place.mkdir(parents=True, exist_ok=True)
    dice = random.Random(1)
    lines = ["model,benchmark,score"]
    for model in range(models):
        lines += [
            f"org/model-{model},board-{number},{dice.random():.4f}"
            for number in range(BOARD)
        ]
    for other in range(others):
        chosen = dice.sample(range(OTHERS), OF_EACH)
        lines += [
            f"org/model-{model},bench-{other:04d},{dice.random():.4f}"
            for model in chosen
        ]
    (place / "figures.csv").write_text("\n".join(lines) + "\n")
    (place / "map.toml").write_text(MAP)
    words = [
        "-q",
        "--db",
        str(store),
        "ingest",
        str(place / "figures.csv"),
        "--map",
        str(place / "map.toml"),
    ]
    ran = run_process([COMMAND, *words])
    print(
        f"{len(lines) - 1} figures loaded in {ran.seconds:.0f} s, peak {ran.peak:.0f} "
        "MiB",
        flush=True,
    )
    return store
