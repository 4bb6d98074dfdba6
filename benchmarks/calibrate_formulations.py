"""Simulate the intervals of `warehouse formulations` and write docs/calibration_formulations.md."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: processes are the parallelism

from calibration.formulations import FormulationCell, FormulationRow, cells, simulate_formulations, write_page

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=160, help="of a cell (160); a fourth with 30 models or more")
    parser.add_argument("--models", type=int, help="only cells of so many models")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "calibration_formulations.md")
    parser.add_argument(
        "--cache",
        type=Path,
        default=ROOT / "build" / "calibration_formulations.jsonl",
        help="cells that are done; remove it after a change of the statistics",
    )
    options = parser.parse_args()
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    key = [options.seed, options.simulations]
    done = _cached(options.cache, key)
    wanted = [cell for cell in cells() if options.models in (None, cell.models)]
    missing = [cell for cell in wanted if cell not in done]
    with options.cache.open("a") as cache, multiprocessing.Pool(options.jobs) as pool:
        work = partial(_simulate, seed=options.seed, simulations=options.simulations)
        for number, row in enumerate(pool.imap_unordered(work, missing), 1):
            done[row.cell] = row
            cache.write(json.dumps([key, row]) + "\n")
            cache.flush()
            print(f"\r{number} of {len(missing)} cells", end="", file=sys.stderr, flush=True)
    write_page(options.output, [done[cell] for cell in wanted], options.simulations)
    print(f"wrote {options.output}")


def _simulate(cell: FormulationCell, seed: int, simulations: int) -> FormulationRow:
    return simulate_formulations(cell, seed, simulations // (4 if cell.models >= 30 else 1))


def _cached(path: Path, key: list[int]) -> dict[FormulationCell, FormulationRow]:
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        own, (cell, *figures) = json.loads(line)
        if own == key:
            rows[FormulationCell(*cell)] = FormulationRow(FormulationCell(*cell), *figures)
    return rows


if __name__ == "__main__":
    main()
