"""The paired permutation test: 10 000 prompts, 9 999 flips, against scipy's."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

DATA = """
import sys, time
import numpy as np
kind, n = sys.argv[1], 10_000
rng = np.random.default_rng(0)
if kind == "continuous":
    a, b = rng.normal(0.01, 1, n), rng.normal(0, 1, n)
elif kind == "five draws":
    a, b = rng.binomial(5, 0.62, n) / 5, rng.binomial(5, 0.61, n) / 5
else:
    a, b = rng.integers(0, 2, n) * 1.0, rng.integers(0, 2, n) * 1.0
"""
OURS = """
from warehouse.stats import sign_flip_test
sign_flip_test((a - b)[:20])
started = time.perf_counter()
p = sign_flip_test(a - b, n_resamples=9999).p_value
seconds = time.perf_counter() - started
"""
SCIPY = """
from scipy.stats import permutation_test
started = time.perf_counter()
p = permutation_test((a, b), lambda x, y, axis: np.sum(x - y, axis=axis), vectorized=True,
                     permutation_type="samples", n_resamples=9999, batch=100, rng=0).pvalue
seconds = time.perf_counter() - started
"""
PRINT = "print('p', p)\nprint(seconds)\n"


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of both on three kinds of scores, and the ratio."""
    del folder
    theirs = time_script(DATA + SCIPY + PRINT, ["continuous"], options.runs)
    print(f"scipy.stats.permutation_test, continuous: {theirs}")
    for kind in ("continuous", "five draws", "one draw"):
        ours = time_script(DATA + OURS + PRINT, [kind], options.runs)
        ratio = theirs.median / ours.median
        milliseconds = " ".join(f"{1000 * seconds:.1f}" for seconds in ours.seconds)
        print(
            f"sign_flip_test, {kind}: {milliseconds} ms, peak {ours.peak:.0f} MiB; "
            f"{ratio:.0f} x"
        )
