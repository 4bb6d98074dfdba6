"""Simulate unequal clusters (intervals, tests, ranks) and write
docs/reference/calibration_unequal.md."""

from __future__ import annotations

from functools import partial
from typing import Any

import calibration.script as script
from calibration.unequal import UnequalCell, UnequalRow, cells, simulate_unequal
from calibration.unequal_page import write_page


def main() -> None:
    parser = script.parser_of(
        __doc__, "calibration_unequal.md", {"simulations": (1500, "of a cell")}
    )
    parser.add_argument(
        "--question", help="only these cells: interval, paired, equal_models, ..."
    )
    script.add_cache(
        parser,
        "unequal",
        "cells that are done; remove it after a change of the statistics",
    )
    options = parser.parse_args()
    chosen = [cell for cell in cells() if options.question in (None, cell.question)]
    work = partial(_simulate, seed=options.seed, simulations=options.simulations)
    done = script.each_cell(
        chosen, work, _read, [options.seed, options.simulations], options
    )
    write_page(options.output, [row for cell in chosen for row in done[cell]])
    print(f"wrote {options.output}")


def _simulate(cell: UnequalCell, seed: int, simulations: int) -> list[UnequalRow]:
    """Fewer samples of MMLU's 14 042 prompts."""
    return simulate_unequal(
        cell, seed, simulations // (3 if cell.sizes == "mmlu" else 1)
    )


def _read(stored: Any) -> list[UnequalRow]:
    return [UnequalRow(UnequalCell(*cell), *figures) for cell, *figures in stored]


if __name__ == "__main__":
    main()
