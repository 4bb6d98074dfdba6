"""The table of docs/reference/calibration/subsets.csv: within its own claims, and what
a new
simulation gives."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import calibrate_subsets  # noqa: E402

TABLE = ROOT / "docs" / "reference" / "calibration" / "subsets.csv"
#: Floors: no bias, coverage nearly that of the level, never worse than a simple random
#: sample.
MOST_BIAS, LEAST_COVERAGE, LEAST_GAIN = 3.0, 0.93, 1.0


def published() -> dict[tuple[str, str, int, int], tuple[float, float, float]]:
    """Bias z, coverage and gain of each cell."""
    with TABLE.open(newline="") as table:
        return {
            (row["data"], row["held_out"], int(row["history"]), int(row["m"])): (
                float(row["bias_z"]),
                float(row["coverage"]),
                float(row["gain"]),
            )
            for row in csv.DictReader(table)
        }


def test_published_cells_hold_what_is_promised() -> None:
    cells = published()
    assert len(cells) >= 60
    for z, coverage, gain in cells.values():
        assert abs(z) < MOST_BIAS and coverage >= LEAST_COVERAGE and gain >= LEAST_GAIN


@pytest.mark.slow
def test_a_new_simulation_agrees(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate_subsets, "DATA", data_dir)
    matrices = dict(calibrate_subsets.matrices())
    for (name, held, history, m), (_, coverage, gain) in published().items():
        if history == 20 and m == 100 and name != "MMLU-Pro":
            cell = calibrate_subsets.simulate(
                name, matrices[name], held, history, m, 500, seed=2
            )
            assert abs(cell.bias_z) < 3.5 and abs(cell.coverage - coverage) < 0.04
            assert cell.gain == pytest.approx(gain, rel=0.35)
