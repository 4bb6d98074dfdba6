"""Near-duplicates among 100 000 prompts, against scikit-learn's similarities in blocks."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measure import COMMAND, run_process, time_command, time_script

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
pairs = near_pairs(vectors, threshold)
print(pairs.n_pairs)
print(time.monotonic() - started)
"""
)
#: The straightforward code compares so many times fewer prompts; its time is scaled by
#: the square.
REDUCED = 5
#: The whole matrix of so many prompts would take 40 GB; rows of it come one block at a
#: time.
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

FILL = (
    VECTORS
    + """
from collections import Counter
import hashlib
import alembic.ddl.impl
import pyarrow as pa
from warehouse.store.computed import prompt_vectors as stored
from warehouse.store.open import open_store
with open_store(sys.argv[3], create=True) as store:
    with store.begin() as connection:
        connection.exec_driver_sql("insert into benchmark (id, name, level) values (1, 'big', 0)")
        texts = [f"question {i}" for i in range(n)]
        prompts = pa.table({
            "id": np.arange(1, n + 1), "benchmark_id": np.ones(n, np.int64), "split": [""] * n,
            "key": list(map(str, range(n))), "key_kind": ["id"] * n, "text": texts,
            "occurrence": np.zeros(n, np.int32),
            "text_hash": [hashlib.sha256(text.encode()).digest() for text in texts],
        })
        store.dialect.append(connection, "prompt", prompts.to_reader(), Counter())
    embedder = stored.declare_embedder(store, "bench", "", 384)
    for start in range(0, n, 5000):
        ids = np.arange(start + 1, min(start + 5000, n) + 1).tolist()
        stored.write_vectors(store, embedder, ids, vectors[start:start + 5000])
print(0)
"""
)


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time and the peak memory of both, and their ratio."""
    arguments = (str(options.prompts), "0.95")
    ours = time_script(OURS, arguments, options.runs)
    fewer = max(options.prompts // REDUCED, 1000)
    theirs = time_script(THEIRS, (str(fewer), "0.95"), options.runs)
    scaled = theirs.median * (options.prompts / fewer) ** 2
    print(f"{options.prompts} prompts x 384 numbers, cosine >= 0.95")
    print(f"warehouse.stats.near_pairs          {ours}")
    print(f"scikit-learn, {fewer} prompts          {theirs}, scaled {scaled:.0f} s")
    print(f"ratio                               {scaled / ours.median:.1f}")
    url = f"duckdb:///{folder / 'duplicates.duckdb'}"
    run_process([sys.executable, "-c", FILL, *arguments, url])
    for what in ("compared", "read back"):
        print(
            f"warehouse text duplicates, {what}: "
            f"{time_command([COMMAND, '--db', url, 'duplicates', '--json'], 1)}"
        )
