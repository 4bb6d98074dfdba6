"""Simulate the default intervals and tests over the whole grid and write
docs/reference/calibration.md."""

from __future__ import annotations

import argparse
import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import calibration.script as script
from calibration.cells import Cell, grid
from calibration.hard import hard_rows
from calibration.page import reached, read_again, read_rows, write_page
from calibration.simulate import Row, simulate
from calibration.weighted import weighted_rows


def main() -> None:
    parser = script.parser_of(__doc__, "calibration.md", {})
    script.add_cache(
        parser,
        "calibration",
        "cells that are done: a run that was stopped goes on from there",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="KIND[:G]",
        help="simulate only these kinds of scores (with at least G clusters), the hard cases and weighted"
        " means, and keep what else the page shows, the second seed's figure too: "
        "after a change that leaves the other kinds as they are",
    )
    options = parser.parse_args()
    if options.only:
        _renew(options)
    else:
        rows, others = (
            _rows(options, seed, {}) for seed in (options.seed, options.seed + 1)
        )
        _write(options, rows, reached(others))
    print(f"wrote {options.output}")


def _renew(options: argparse.Namespace) -> None:
    """The page with some of its rows simulated again."""
    page = options.output.read_text(encoding="utf-8")
    named = [_named(text) for text in options.only]
    kept = {
        row.cell: row
        for row in read_rows(options.output)
        if not any(_is(row.cell, *name) for name in named)
    }
    _write(options, _rows(options, options.seed, kept), read_again(page))


def _write(
    options: argparse.Namespace, rows: list[Row], again: tuple[int, int]
) -> None:
    hard, weighted = list(hard_rows(options.seed)), list(weighted_rows(options.seed))
    write_page(options.output, rows, again, hard, weighted)


def _named(text: str) -> tuple[str, int]:
    kind, _, fewest = text.partition(":")
    return kind, int(fewest or 0)


def _is(cell: Cell, kind: str, fewest: int) -> bool:
    return cell.kind == kind and (cell.clusters or 0) >= fewest


def _rows(options: argparse.Namespace, seed: int, kept: dict[Cell, Row]) -> list[Row]:
    """Every cell of the grid but those that are kept, those that were done before out
    of the cache."""
    missing = [cell for cell in grid() if cell not in kept]
    done = kept | script.each_cell(
        missing, partial(simulate, seed=seed), _read, _version(seed), options
    )
    return [done[cell] for cell in grid()]


def _read(stored: Any) -> Row:
    return Row(Cell(*stored[0]), *stored[1:])


def _version(seed: int) -> str:
    """A digest of the seed and of everything that decides the figures."""
    here = Path(__file__).parent / "calibration"
    files = [
        here / name for name in ("cells.py", "simulate.py", "vectorised_defaults.py")
    ]
    names = ("asymmetry.py", "bootstrap_t.py", "defaults.py", "gaffke.py")
    files += [
        script.ROOT / "warehouse" / "stats" / "intervals" / name for name in names
    ]
    text = "".join(file.read_text() for file in files)
    return hashlib.sha256(f"{seed}{text}".encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
