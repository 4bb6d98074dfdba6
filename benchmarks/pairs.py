"""All pairs of models, adjusted, with max-|T|: against evalstats' comparison of the
same matrix."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from measure import Row, interleaved, script, time_script

DATA = """
import sys, warnings
import numpy as np
warnings.filterwarnings("ignore")
n, m, clusters, gaps = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
rng = np.random.default_rng(0)
scores = ((rng.normal(size=(n, 1)) + rng.normal(size=(n, m)) + np.linspace(-.4, .4, m)) > 0) * 1.0
scores[rng.random((n, m)) < gaps] = np.nan
"""
OURS = """
from warehouse.stats import all_pairs
labels = np.arange(n) % clusters if clusters else None
all_pairs(scores[:50], None if labels is None else labels[:50], n_resamples=99)
time.sleep(0.1)  # till threads of BLAS sleep that scipy has just started: they spin first
started = now()
all_pairs(scores, labels, n_resamples=9999)
spent(started)
"""
EVALSTATS = """
import evalstats, pandas
data = evalstats.load_from(pandas.DataFrame({
    "item": np.tile(np.arange(n), m), "model": np.repeat([f"m{i:02d}" for i in range(m)], n),
    "score": scores.T.ravel(),
}))
started = now()
evalstats.compare_models(data)
spent(started)
"""


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Both on 20 models x 1 000 prompts, and ours on larger matrices."""
    del folder
    small = ["1000", "20", "0", "0"]
    if options.peer:
        theirs, ours = interleaved(
            options.runs,
            script(DATA + EVALSTATS, small, str(options.peer)),
            script(DATA + OURS, small),
        )
        yield Row(
            "all pairs, 20 models x 1 000 prompts",
            ours,
            {"times as fast": 400},
            "evalstats",
            theirs,
        )
    else:
        print("evalstats: not measured (--peer PYTHON names one that has it)")
    for clusters, gaps in ((0, 0.0), (0, 0.01), (500, 0.0), (2000, 0.0)):
        large = time_script(
            DATA + OURS, ["10000", "100", str(clusters), str(gaps)], options.runs
        )
        kind = f"{clusters} clusters" if clusters else "no clusters"
        missing = f", {100 * gaps:.0f} % unscored" if gaps else ""
        print(f"all_pairs, 100 models x 10 000 prompts, {kind}{missing}: {large}")
