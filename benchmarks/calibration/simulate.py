"""One cell: samples from its population, the default interval of each, and how often it
holds."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from calibration.cells import Array, Cell, population
from calibration.vectorised_defaults import intervals

NOMINAL = 0.95
REACHED = 0.94  # what a default interval has to cover
LEVELS = (0.04, 0.06)  # what a default test may reject under the null
_CHUNK, _FEWEST, _MOST = 2000, 2, 10
_ENTRIES = 4_000_000  # of a table of samples x units


class Row(NamedTuple):
    """What was seen in a cell.

    Attributes:
        cell: which.
        simulations: samples drawn.
        coverage: share of samples whose interval holds the true mean; one without an
            interval does not. A test rejects in the rest of the samples.
        mc_error: its Monte Carlo standard error.
        flagged: share of samples with a flag.
        missed: share of samples without a flag whose interval does not hold the true
            mean.
        method: the most frequent method.
        width: mean width of the intervals.
    """

    cell: Cell
    simulations: int
    coverage: float
    mc_error: float
    flagged: float
    missed: float
    method: str
    width: float

    @property
    def unflagged_coverage(self) -> float:
        """Share of the samples without a flag whose interval holds the true mean; NaN
        for none."""
        plain = 1 - self.flagged
        return (
            1 - self.missed / plain if plain * self.simulations > 0.5 else float("nan")
        )


def simulate(cell: Cell, seed: int, chunks: int = _MOST, chunk: int = _CHUNK) -> Row:
    """Samples of a cell in chunks: more of them where the coverage is near what is
    asked for.

    The result depends on the cell and the seed only.
    """
    words = [seed, *(int(1000 * value) for value in cell[1:] if value is not None)]
    root = np.random.SeedSequence([*words, *map(ord, cell.kind), cell.clusters or 0])
    streams = [np.random.default_rng(child) for child in root.spawn(chunks + 1)]
    totals, truth = population(cell, streams[0])
    covered = flagged = missed = done = 0
    width = 0.0
    methods: Counter[str] = Counter()
    for number, rng in enumerate(streams[1:], 1):
        counts = _chunk(cell, totals, truth, rng, chunk)
        done += chunk
        covered, flagged = covered + counts[0], flagged + counts[1]
        missed += counts[2]
        width += counts[3]
        methods += counts[4]
        if number >= min(_FEWEST, chunks) and not _near(cell, covered / done, done):
            break
    coverage = covered / done
    return Row(
        cell,
        done,
        coverage,
        (coverage * (1 - coverage) / done) ** 0.5,
        flagged / done,
        missed / done,
        methods.most_common(1)[0][0],
        width / done,
    )


def _chunk(
    cell: Cell, totals: Array, truth: float, rng: np.random.Generator, samples: int
) -> tuple[int, int, int, float, Counter[str]]:
    bounded = cell.kind in ("rate", "beta")
    covered = flagged = missed = 0
    width, methods = 0.0, Counter[str]()
    step = max(1, _ENTRIES // cell.units)
    for start in range(0, samples, step):
        rows = min(step, samples - start)
        drawn = totals[rng.integers(0, len(totals), (rows, cell.units))]
        sample_intervals = intervals(
            drawn,
            cell.size,
            clustered=cell.clusters is not None,
            binary=cell.kind == "rate" and cell.draws == 1,
            bounded=bounded,
            paired=cell.kind == "paired",
        )
        holds = (sample_intervals.low <= truth) & (truth <= sample_intervals.high)
        if cell.kind == "paired":  # no error, no p: nothing is rejected
            holds |= np.isnan(sample_intervals.low)
        covered += int(holds.sum())
        missed += int((~holds & ~sample_intervals.flagged).sum())
        flagged += int(sample_intervals.flagged.sum())
        width += float(np.nansum(sample_intervals.high - sample_intervals.low))
        methods.update(sample_intervals.method.tolist())
    return covered, flagged, missed, width, methods


def _near(cell: Cell, coverage: float, done: int) -> bool:
    """Whether the coverage is within three Monte Carlo errors of a border."""
    borders = (1 - LEVELS[0], 1 - LEVELS[1]) if cell.kind == "paired" else (REACHED,)
    room = 3 * (NOMINAL * (1 - NOMINAL) / done) ** 0.5
    return any(abs(coverage - border) < room for border in borders)
