"""The sequential test of 10 000 scores, and one update, against the definition in plain
numpy."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

DATA = """
import sys, time
import numpy as np
n = 10_000
rng = np.random.default_rng(0)
f = (rng.random(2 * n) < 0.6).astype(float)
y = np.where(rng.random(2 * n) < 0.75, f, rng.random(2 * n) < 0.6).astype(float)[:n]
"""
OURS = """
from warehouse.stats import SequentialMonitor, design_against_baseline, sequential_test
design = design_against_baseline(f, 0.03, n_max=n)
sequential_test(y[:100], design)
if sys.argv[1] == "interval":
    started = time.perf_counter()
    test = sequential_test(y, design)
    seconds = time.perf_counter() - started
    print(test.low + design.origin, test.high + design.origin)
else:
    monitor = SequentialMonitor(design)
    started = time.perf_counter()
    for score in y:
        monitor.update(score)
    seconds = (time.perf_counter() - started) / n
print(seconds)
"""
NUMPY = """
def path(theta, sign, y):
    t, n, N = np.arange(1, len(y) + 1), 10_000, len(f)
    z = y - f[: len(y)]
    m = (N * theta - (np.cumsum(y) - y)) / (N - t + 1) - (np.cumsum(f[::-1])[::-1][: len(y)] / (N - t + 1))
    mean = np.cumsum(z) / (t + 1)
    variance = np.concatenate([[0.25], ((0.25 + np.cumsum((z - mean) ** 2)) / (t + 1))[:-1]])
    room = m + 1 if sign > 0 else 1 - m
    with np.errstate(all="ignore"):
        logs = [np.cumsum(np.log1p(sign * np.minimum(np.sqrt(2 * np.log(40) / (variance * h)),
                np.where(room > 1e-12, 0.5 / room, np.inf)) * (z - m))) for h in (n / 2, n / 8)]
    return np.where(np.logical_or.accumulate(room < -1e-12), np.inf, np.logaddexp(*logs) - np.log(2))
def end(sign):
    ends = [y.sum() / len(f), (y.sum() + len(f) - len(y)) / len(f)][::sign]
    for _ in range(60):
        middle = sum(ends) / 2
        ends[int(path(middle, sign, y).max() < np.log(40))] = middle
    return ends[0]
started = time.perf_counter()
if sys.argv[1] == "interval":
    print(end(1), end(-1))
    seconds = time.perf_counter() - started
else:
    for t in range(1000, 1020):
        path(f.mean() - 0.03, 1, y[:t]), path(f.mean() - 0.03, -1, y[:t])
    seconds = (time.perf_counter() - started) / 20
print(seconds)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of both for the interval and for one update, and the ratio."""
    del folder
    for what in ("interval", "update"):
        ours = time_script(DATA + OURS, [what], options.runs)
        theirs = time_script(DATA + NUMPY, [what], options.runs)
        ratio = theirs.median / ours.median
        print(
            f"{what}: ours {1000 * ours.median:.3f} ms, numpy "
            f"{1000 * theirs.median:.3f} ms; {ratio:.1f} x"
        )
