"""Simulate unequal clusters (intervals, tests, ranks) and write docs/calibration_unequal.md."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: processes are the parallelism

from calibration.unequal import UnequalCell, UnequalRow, cells, simulate_unequal
from calibration.unequal_page import write_page

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=1500, help="of a cell (1500)")
    parser.add_argument("--question", help="only these cells: interval, paired, equal_models, ...")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "calibration_unequal.md")
    parser.add_argument(
        "--cache",
        type=Path,
        default=ROOT / "build" / "calibration_unequal.jsonl",
        help="cells that are done; remove it after a change of the statistics",
    )
    options = parser.parse_args()
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    wanted = [cell for cell in cells() if options.question in (None, cell.question)]
    done = _cached(options.cache, options.seed)
    missing = [cell for cell in wanted if cell not in done]
    with options.cache.open("a") as cache, multiprocessing.Pool(options.jobs) as pool:
        work = partial(_simulate, seed=options.seed, simulations=options.simulations)
        for number, rows in enumerate(pool.imap_unordered(work, missing), 1):
            done[rows[0].cell] = rows
            cache.write(json.dumps([options.seed, rows]) + "\n")
            cache.flush()
            print(f"\r{number} of {len(missing)} cells", end="", file=sys.stderr, flush=True)
    write_page(options.output, [row for cell in wanted for row in done[cell]])
    print(f"wrote {options.output}")


def _simulate(cell: UnequalCell, seed: int, simulations: int) -> list[UnequalRow]:
    """Fewer samples of MMLU's 14 042 prompts."""
    return simulate_unequal(cell, seed, simulations // (3 if cell.sizes == "mmlu" else 1))


def _cached(path: Path, seed: int) -> dict[UnequalCell, list[UnequalRow]]:
    rows_by_cell: dict[UnequalCell, list[UnequalRow]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        own, rows = json.loads(line)
        if own == seed:
            read = [UnequalRow(UnequalCell(*cell), *figures) for cell, *figures in rows]
            rows_by_cell[read[0].cell] = read
    return rows_by_cell


if __name__ == "__main__":
    main()
