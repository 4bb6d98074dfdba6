"""Simulate figures that are built of others (weighted means, all pairs, suites, costs)
and write their page."""

from __future__ import annotations

from functools import partial
from typing import Any

import calibration.script as script
from calibration.composed import cells
from calibration.composed_outcomes import ComposedRow, simulate_composed
from calibration.composed_page import write_page, write_table

Key = tuple[str, str, str]


def main() -> None:
    parser = script.parser_of(
        __doc__,
        "calibration_composed.md",
        {"percent": (100, "of the samples of each cell")},
    )
    parser.add_argument("--rule", help="only the cells of these letters: ab")
    parser.add_argument(
        "--table",
        action="store_true",
        help="write the table of what stands, which a page compares with",
    )
    script.add_cache(
        parser,
        "composed",
        "cells that are done; remove it after a change of the statistics",
    )
    options = parser.parse_args()
    chosen = [
        cell[:3]
        for cell in cells()
        if options.rule is None or cell.rule in options.rule
    ]
    work = partial(_simulate, seed=options.seed, percent=options.percent)
    done = script.each_cell(
        chosen, work, _read, [options.seed, options.percent], options
    )
    rows = [done[cell] for cell in chosen]
    if options.table:
        write_table(options.output, rows)
    else:
        write_page(options.output, rows)
    print(f"wrote {options.output}")


def _simulate(key: Key, seed: int, percent: int) -> ComposedRow:
    (cell,) = [cell for cell in cells() if cell[:3] == key]
    return simulate_composed(cell, seed, percent / 100)


def _read(stored: Any) -> ComposedRow:
    return ComposedRow(*stored)


if __name__ == "__main__":
    main()
