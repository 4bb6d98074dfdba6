"""Near-duplicates among 100 000 prompts, against scikit-learn's similarities in blocks."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

VECTORS = """
import sys, time
import numpy as np
n, threshold = int(sys.argv[1]), float(sys.argv[2])
dice = np.random.default_rng(0)
vectors = dice.standard_normal((n, 384), dtype=np.float32)
copied = dice.integers(n, size=(n // 100, 2))  # one in a hundred is nearly another
vectors[copied[:, 0]] = vectors[copied[:, 1]]
vectors[copied[:, 0]] += 0.1 * dice.standard_normal((len(copied), 384), dtype=np.float32)
"""
OURS = (
    VECTORS
    + """
from warehouse.stats import near_pairs
started = time.monotonic()
found = near_pairs(vectors, threshold)
print(found.n_pairs)
print(time.monotonic() - started)
"""
)
#: The whole matrix of so many prompts would take 40 GB; rows of it come one block at a time.
THEIRS = (
    VECTORS
    + """
from sklearn.metrics.pairwise import cosine_similarity
started = time.monotonic()
n_pairs = 0
for start in range(0, n, 1000):
    similar = cosine_similarity(vectors[start:start + 1000], vectors) >= threshold
    rows, columns = np.nonzero(similar)
    n_pairs += int(np.count_nonzero(columns > rows + start))
print(n_pairs)
print(time.monotonic() - started)
"""
)


def run(_folder: Path, options: argparse.Namespace) -> None:
    """Print the time and the peak memory of both, and their ratio."""
    arguments = (str(options.prompts), "0.95")
    ours = time_script(OURS, arguments, options.runs)
    theirs = time_script(THEIRS, arguments, options.runs)
    print(f"{options.prompts} prompts x 384 numbers, cosine >= 0.95")
    print(f"warehouse.stats.near_pairs          {ours}")
    print(f"scikit-learn, 1000 rows at a time   {theirs}")
    print(f"ratio                               {theirs.median / ours.median:.1f}")
