"""Simulate the intervals of `warehouse noise formulations` and write
docs/reference/calibration_formulations.md."""

from __future__ import annotations

from functools import partial
from typing import Any

import calibration.script as script
from calibration.formulations import (
    FormulationCell,
    FormulationRow,
    cells,
    simulate_formulations,
    write_page,
)


def main() -> None:
    simulations = (160, "of a cell; a fourth with 30 models or more")
    parser = script.parser_of(
        __doc__, "calibration_formulations.md", {"simulations": simulations}
    )
    parser.add_argument("--models", type=int, help="only cells of so many models")
    script.add_cache(
        parser,
        "formulations",
        "cells that are done; remove it after a change of the statistics",
    )
    options = parser.parse_args()
    chosen = [cell for cell in cells() if options.models in (None, cell.models)]
    work = partial(_simulate, seed=options.seed, simulations=options.simulations)
    done = script.each_cell(
        chosen, work, _read, [options.seed, options.simulations], options
    )
    write_page(options.output, [done[cell] for cell in chosen], options.simulations)
    print(f"wrote {options.output}")


def _simulate(cell: FormulationCell, seed: int, simulations: int) -> FormulationRow:
    return simulate_formulations(
        cell, seed, simulations // (4 if cell.models >= 30 else 1)
    )


def _read(stored: Any) -> FormulationRow:
    return FormulationRow(FormulationCell(*stored[0]), *stored[1:])


if __name__ == "__main__":
    main()
