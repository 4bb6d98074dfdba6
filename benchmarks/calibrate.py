"""Simulate the default intervals and tests over the whole grid and write docs/calibration.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: processes are the parallelism

from calibration.cells import Cell, grid
from calibration.hard import hard_rows
from calibration.page import write_page
from calibration.simulate import Row, simulate

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "calibration.md")
    parser.add_argument(
        "--cache", type=Path, default=ROOT / "build" / "calibration.jsonl",
        help="cells that are done: a run that was stopped goes on from there",
    )  # fmt: skip
    options = parser.parse_args()
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    rows, others = (_rows(options, seed) for seed in (options.seed, options.seed + 1))
    write_page(options.output, rows, others, list(hard_rows(options.seed)))
    print(f"wrote {options.output}")


def _rows(options: argparse.Namespace, seed: int) -> list[Row]:
    """Every cell of the grid, those that were done before out of the cache."""
    version = _version(seed)
    done = dict(_cached(options.cache, version))
    missing = [cell for cell in grid() if cell not in done]
    with options.cache.open("a") as cache, multiprocessing.Pool(options.jobs) as pool:
        rows = pool.imap_unordered(partial(simulate, seed=seed), missing)
        for number, row in enumerate(rows, 1):
            done[row.cell] = row
            cache.write(json.dumps([version, *row]) + "\n")
            _progress(number, len(missing))
    return [done[cell] for cell in grid()]


def _cached(path: Path, version: str) -> Iterator[tuple[Cell, Row]]:
    """Cells that this code, with this seed, has done."""
    if not path.exists():
        return
    for line in path.read_text().splitlines():
        found, cell, *seen = json.loads(line)
        if found == version:
            yield Cell(*cell), Row(Cell(*cell), *seen)


def _version(seed: int) -> str:
    """A digest of the seed and of everything that decides the figures."""
    here = Path(__file__).parent / "calibration"
    files = [here / name for name in ("cells.py", "simulate.py", "twin.py")]
    names = ("asymmetry.py", "defaults.py", "gaffke.py")
    files += [ROOT / "warehouse" / "stats" / name for name in names]
    text = "".join(file.read_text() for file in files)
    return hashlib.sha256(f"{seed}{text}".encode()).hexdigest()[:16]


def _progress(number: int, total: int) -> None:
    if sys.stderr.isatty() or number % 200 == 0:
        print(f"\r{number} of {total} cells", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
