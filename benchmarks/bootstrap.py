"""Bootstrap intervals against scipy.stats.bootstrap, and against a loop over drawn
clusters."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

PROMPTS, RESAMPLES, CLUSTERS = 10_000, 10_000, 1000

DATA = """
import sys, time
import numpy as np
from scipy import stats
from warehouse.stats import interval_bootstrap
n, resamples, clusters, kind, sort = *map(int, sys.argv[1:4]), *sys.argv[4:6]
rng = np.random.default_rng(7)
scores = {"continuous": rng.gamma(2, size=n), "0/1": (rng.random(n) < 0.7) * 1.0,
          "5 draws": rng.binomial(5, rng.beta(2, 1, n)) / 5}[sort]
labels = rng.integers(0, clusters, n)
"""
OURS = """
interval_bootstrap(scores[:50], kind=kind, n_resamples=200)
started = time.perf_counter()
interval_bootstrap(scores, kind=kind, n_resamples=resamples)
print(time.perf_counter() - started)
"""
# In batches: with all resamples at once it is slower still, and takes 1.6 GB.
SCIPY = """
started = time.perf_counter()
stats.bootstrap((scores,), np.mean, n_resamples=resamples, method=kind, batch=200, rng=rng)
print(time.perf_counter() - started)
"""
OURS_CLUSTERED = """
interval_bootstrap(scores[:50], clusters=labels[:50], kind=kind, n_resamples=200)
started = time.perf_counter()
interval_bootstrap(scores, clusters=labels, kind=kind, n_resamples=resamples)
print(time.perf_counter() - started)
"""
LOOP = """
parts = [scores[labels == label] for label in range(clusters)]
started = time.perf_counter()
means = []
for _ in range(500):
    drawn = rng.integers(0, clusters, clusters)
    means.append(np.concatenate([parts[i] for i in drawn]).mean())
np.quantile(means, [0.025, 0.975])
print((time.perf_counter() - started) * resamples / 500)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of each interval and the ratio to its peer."""
    print(f"{PROMPTS} prompts, {RESAMPLES} resamples")
    for sort in ("continuous", "5 draws", "0/1"):
        for kind in ("percentile", "bca"):
            _compare(f"{sort}, {kind}", OURS, SCIPY, kind, sort, options.runs)
    for kind in ("percentile", "bca"):
        name = f"{CLUSTERS} clusters, {kind}, against a percentile loop"
        _compare(name, OURS_CLUSTERED, LOOP, kind, "continuous", options.runs)


def _compare(name: str, ours: str, peer: str, kind: str, sort: str, runs: int) -> None:
    arguments = [str(PROMPTS), str(RESAMPLES), str(CLUSTERS), kind, sort]
    first = time_script(DATA + ours, arguments, runs)
    second = time_script(DATA + peer, arguments, runs)
    print(f"{name}: {first.median:.4f} s, peak {first.peak:.0f} MiB", flush=True)
    print(f"  peer: {second.median:.2f} s, peak {second.peak:.0f} MiB", flush=True)
    print(f"  {second.median / first.median:.0f} times faster", flush=True)
