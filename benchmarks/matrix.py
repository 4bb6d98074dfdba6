"""The performance matrix against straightforward code: scikit-learn, numpy,
statsmodels.

Straightforward code is measured at a size it can stand, and scaled by the number of
pairs, prompts and permutations; the lines say so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from measure import Row, Timing, interleaved, script, time_script

HEAD = """
import sys
import numpy as np
def made(n, k, seed=0):
    rng = np.random.default_rng(seed)
    chance = np.clip(rng.random((n, 1)) + rng.normal(0, 0.3, (1, k)), 0.02, 0.98)
    return (rng.random((n, k)) < chance).astype(float)
numbers = [int(text) for text in sys.argv[1:]]
started = now()
"""
TAIL = "\nspent(started)\n"

OURS = {
    "test": """
n, k, N = numbers
from warehouse.stats.matrix import permutation_test
permutation_test(made(n, k), n_permutations=N)
""",
    "silhouettes": """
n, k, most = numbers
from warehouse.stats.matrix import silhouette
matrix, rng = made(n, k), np.random.default_rng(1)
for clusters in range(2, most + 1):
    silhouette(matrix, rng.integers(0, clusters, n))
""",
    "weights": """
n, k, draws = numbers
from warehouse.stats.matrix import random_weights
random_weights(made(n, k), n_draws=draws)
""",
    "grow": """
n, k = numbers
from warehouse.stats.matrix import grow
grow(made(n, k))
""",
    "explain": """
n, k, d, N = numbers
from warehouse.stats.matrix import explain
explain(made(n, k), np.random.default_rng(1).normal(size=(n, d)), n_permutations=N)
""",
}
PLAIN = {
    # one table: three n × n matrices, mean and percentiles, and the sorted pairs that
    # KS needs
    "test": """
n, k = numbers
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_similarity
from scipy.stats import ks_2samp
matrix = np.random.default_rng(2).permuted(made(n, k), axis=0)
upper = np.triu_indices(n, 1)
started = now()
for table in (cosine_similarity(matrix), 1 - pairwise_distances(matrix != 0, metric="jaccard"),
              1 - pairwise_distances(matrix, metric="hamming")):
    pairs = table[upper]
    pairs.mean(), np.percentile(pairs, [75, 95]), np.sort(pairs)
""",
    "silhouettes": """
n, k, clusters = numbers
from sklearn.metrics import silhouette_samples
matrix, labels = made(n, k), np.random.default_rng(1).integers(0, clusters, n)
matrix[:, 0] = 1  # scikit-learn has no direction for a zero row
started = now()
silhouette_samples(matrix, labels, metric="cosine")
""",
    "weights": """
n, k, draws = numbers
matrix, rng = made(n, k), np.random.default_rng(1)
for start in range(0, draws, 1000):
    rng.dirichlet(np.ones(n), 1000) @ matrix
""",
    "grow": """
n, k = numbers
from sklearn.metrics.pairwise import cosine_distances
apart, chosen, left = cosine_distances(made(n, k)), [0], list(range(1, n))
while left:
    best = left[int(np.argmax(apart[np.ix_(left, chosen)].mean(axis=1)))]
    chosen.append(best)
    left.remove(best)
""",
    # some of the prompts of one table
    "explain": """
n, k, d, some = numbers
import statsmodels.api as sm
from sklearn.metrics.pairwise import cosine_similarity
matrix = made(n, k)
matrix[:, 0] = 1
x, y = cosine_similarity(np.random.default_rng(1).normal(size=(n, d))), cosine_similarity(matrix)
started = now()
for i in range(some):
    others = np.arange(n) != i
    fit = sm.OLS(y[i, others], sm.add_constant(x[i, others])).fit()
    fit.params, fit.pvalues
""",
}
SAME = """
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.metrics import silhouette_samples, pairwise_distances
from warehouse.stats.matrix import silhouette, summarise_similarity
matrix = made(2000, 70)
matrix[:, 0] = 1
upper, labels = np.triu_indices(2000, 1), np.random.default_rng(1).integers(0, 9, 2000)
worst = 0.0
for name, table in (("cosine", cosine_similarity(matrix)),
                    ("jaccard", 1 - pairwise_distances(matrix != 0, metric="jaccard")),
                    ("hamming", 1 - pairwise_distances(matrix, metric="hamming"))):
    pairs, summary = table[upper], summarise_similarity(matrix, name)
    figures = [summary.mean, summary.percentile_75, summary.percentile_95]
    expected = [pairs.mean(), *np.percentile(pairs, [75, 95])]
    worst = max(worst, np.abs(np.array(figures) - expected).max())
apart = silhouette(matrix, labels) - silhouette_samples(matrix, labels, metric="cosine")
print(max(worst, np.abs(apart).max()))
"""


def run(_folder: Path, _options: argparse.Namespace) -> None:
    """All of it, one measurement each: some ten minutes on two cores."""
    print(
        f"largest difference of figures at 2 000 × 70: {_ask(HEAD + SAME).median:.1e}"
    )
    pairs = (10_042 * 10_041) / (2000 * 1999)
    plain = _plain("test", 2000, 70).median * pairs * 1001
    _show(
        "test, 10 042 × 70, N = 1000",
        _ours("test", 10_042, 70, 1000),
        plain,
        "one table at 2 000 × 70, scaled by pairs and tables",
    )
    _show("test, 14 042 × 280, N = 20", _ours("test", 14_042, 280, 20))
    plain = _plain("silhouettes", 10_000, 70, 10).median * 49
    _show(
        "silhouettes of 2 … 50 clusters, 10 000 × 70",
        _ours("silhouettes", 10_000, 70, 50),
        plain,
        "one number of clusters, times 49",
    )
    _show(
        "100 000 weightings, 1 200 × 14",
        _ours("weights", 1200, 14, 100_000),
        _plain("weights", 1200, 14, 100_000).median,
        "numpy's Dirichlet and product",
    )
    _show("100 000 weightings, 10 000 × 70", _ours("weights", 10_000, 70, 100_000))
    plain = _plain("grow", 1000, 70).median * 1000
    _show(
        "grow, 10 000 × 70",
        _ours("grow", 10_000, 70),
        plain,
        "1 000 × 70, scaled by the cube",
    )
    plain = _plain("explain", 5000, 70, 384, 100).median * 2 * 100 * 1001
    _show(
        "explain, 10 000 × 70, 384 dimensions, N = 1000",
        _ours("explain", 10_000, 70, 384, 1000),
        plain,
        "100 prompts of 5 000, scaled by pairs and tables",
    )


def shuffles(_folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """The permutation test, by shuffle."""
    n = 100
    ours, plain = interleaved(
        options.runs,
        script(HEAD + OURS["test"] + TAIL, ["10_042", "70", str(n)]),
        script(HEAD + PLAIN["test"] + TAIL, ["2000", "70"]),
    )
    work, against = (
        f"permutation test, 10 042 x 70, {n} shuffles",
        "scikit-learn, scipy: one table of 2 000 x 70",
    )
    yield Row(work, ours, {"seconds each": 0.03}, against, plain, n)


def _ask(text: str, *arguments: int) -> Timing:
    return time_script(text, [str(argument) for argument in arguments], runs=1)


def _ours(name: str, *arguments: int) -> Timing:
    return _ask(HEAD + OURS[name] + TAIL, *arguments)


def _plain(name: str, *arguments: int) -> Timing:
    return _ask(HEAD + PLAIN[name] + TAIL, *arguments)


def _show(what: str, ours: Timing, plain: float | None = None, how: str = "") -> None:
    compared = (
        ""
        if plain is None
        else (
            f"; straightforward {plain:,.1f} s ({how}): {plain / ours.median:,.1f} "
            "times"
        )
    )
    print(
        f"{what}: {ours.median:.1f} s, peak {ours.peak:.0f} MiB{compared}", flush=True
    )
