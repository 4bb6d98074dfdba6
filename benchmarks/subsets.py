"""`subset plan` on 1 000 models x 12 000 prompts, against the same in plain pandas and
numpy."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import COMMAND, time_command, time_script
from scores import FILL

MODELS, PROMPTS, SIZE = 1000, 12_000, 400
#: Means of prompts, strata and hashes, and of 100 models, each left out, the variance
#: in the strata of the others.
PLAIN = """
import hashlib, sys, time
import duckdb, numpy as np
started = time.perf_counter()
with duckdb.connect(sys.argv[1], read_only=True) as store:
    rows = store.execute("select run_id, prompt_id, value from prompt_score").df()
table = rows.pivot(index="run_id", columns="prompt_id", values="value")
y, m = table.to_numpy(), int(sys.argv[2])
n = y.shape[1]
def strata(f):
    ties = [hashlib.sha256(f"tie|0|{i}".encode()).hexdigest() for i in table.columns]
    order = sorted(range(n), key=lambda i: (round(f[i], 12), ties[i]))
    return [np.array(part) for part in np.array_split(order, m // 4)]
draws = [hashlib.sha256(f"draw|0|{i}".encode()).hexdigest() for i in table.columns]
for part in strata(y.mean(axis=0)):
    sorted(part, key=lambda i: draws[i])[:4]
for k in np.linspace(0, len(y) - 1, 100).astype(int):
    parts = strata(np.delete(y, k, axis=0).mean(axis=0))
    sum((len(p) / n) ** 2 * (1 - 4 / len(p)) * y[k, p].var(ddof=1) / 4 for p in parts)
print(time.perf_counter() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the times of the command and of the plain code."""
    store = folder / "subsets.duckdb"
    if not store.exists():
        print(
            "filling 12 M scores: "
            f"{time_script(FILL, [f'duckdb:///{store}', str(MODELS), str(PROMPTS), '1'], 1)}"
        )
    command = [COMMAND, "--db", f"duckdb:///{store}"]
    ours = time_command(
        [*command, "subset", "plan", "bench", "--size", str(SIZE), "--no-store"],
        options.runs,
    )
    print(f"subset plan, {MODELS} models x {PROMPTS} prompts, cold: {ours}")
    plain = time_script(PLAIN, [str(store), str(SIZE)], 1)
    print(f"pandas and numpy: {plain}; {plain.median / ours.median:.1f} x")
