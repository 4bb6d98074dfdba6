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
from calibration.page import reached, read_again, read_rows, write_page
from calibration.simulate import Row, simulate
from calibration.weighted import weighted_rows

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "calibration.md")
    parser.add_argument(
        "--cache",
        type=Path,
        default=ROOT / "build" / "calibration.jsonl",
        help="cells that are done: a run that was stopped goes on from there",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="KIND[:G]",
        help="simulate only these kinds of scores (with at least G clusters), the hard cases and weighted"
        " means, and keep what else the page shows, the second seed's figure too: after a change that leaves"
        " the other kinds as they are",
    )
    options = parser.parse_args()
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    if options.only:
        _renew(options)
    else:
        rows, others = (_rows(options, seed, {}) for seed in (options.seed, options.seed + 1))
        _write(options, rows, reached(others))
    print(f"wrote {options.output}")


def _renew(options: argparse.Namespace) -> None:
    """The page with some of its rows simulated again."""
    page = options.output.read_text(encoding="utf-8")
    named = [_named(text) for text in options.only]
    kept = {row.cell: row for row in read_rows(options.output) if not any(_is(row.cell, *name) for name in named)}
    _write(options, _rows(options, options.seed, kept), read_again(page))


def _write(options: argparse.Namespace, rows: list[Row], again: tuple[int, int]) -> None:
    hard, weighted = list(hard_rows(options.seed)), list(weighted_rows(options.seed))
    write_page(options.output, rows, again, hard, weighted)


def _named(text: str) -> tuple[str, int]:
    kind, _, fewest = text.partition(":")
    return kind, int(fewest or 0)


def _is(cell: Cell, kind: str, fewest: int) -> bool:
    return cell.kind == kind and (cell.clusters or 0) >= fewest


def _rows(options: argparse.Namespace, seed: int, kept: dict[Cell, Row]) -> list[Row]:
    """Every cell of the grid, those that are kept or were done before out of the cache."""
    version = _version(seed)
    done = dict(_cached(options.cache, version)) | kept
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
        cached_version, cell, *seen = json.loads(line)
        if cached_version == version:
            yield Cell(*cell), Row(Cell(*cell), *seen)


def _version(seed: int) -> str:
    """A digest of the seed and of everything that decides the figures."""
    here = Path(__file__).parent / "calibration"
    files = [here / name for name in ("cells.py", "simulate.py", "vectorised_defaults.py")]
    names = ("asymmetry.py", "bootstrap_t.py", "defaults.py", "gaffke.py")
    files += [ROOT / "warehouse" / "stats" / "intervals" / name for name in names]
    text = "".join(file.read_text() for file in files)
    return hashlib.sha256(f"{seed}{text}".encode()).hexdigest()[:16]


def _progress(number: int, total: int) -> None:
    if sys.stderr.isatty() or number % 200 == 0:
        print(f"\r{number} of {total} cells", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
