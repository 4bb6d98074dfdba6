"""Coverage of a row over training seeds, where its conditions are worst:
docs/reference/calibration_rows.md.

    .venv/bin/python benchmarks/calibration/seed_rows.py >
    docs/reference/calibration_rows.md

Scores are 0 and 1. The chance of an answer is logistic in the skill of the seed less
the difficulty of the prompt; with clusters half of the variance of the difficulty is
that of the cluster. The target is the mean over other prompts and other seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warehouse.stats import row_over_seeds

#: Simulated data sets of each cell.
N_SAMPLES = 1_000
#: Standard deviation of difficulties, in logits.
_SPREAD = 1.5


@dataclass(frozen=True)
class Cell:
    """A case that is simulated."""

    rate: float  #: chance of an answer of a middling seed on a middling prompt.
    n: int  #: prompts.
    clusters: int  #: of them; 0 for none.
    seeds: int
    ratio: float  #: variance of seed means over that of the prompts' part.


def cells() -> Iterator[Cell]:
    """Few prompts, few seeds, few clusters, rates near 1, seeds that differ by nothing
    or much."""
    for rate in (0.7, 0.95):
        for n, clusters in ((30, 0), (60, 0), (60, 10), (300, 20)):
            for seeds in (2, 3, 5):
                for ratio in (0.0, 1.0, 10.0):
                    yield Cell(rate, n, clusters, seeds, ratio)
    for seeds in (
        3,
        10,
    ):  # nearly all right, in clusters: where pooled draws fall short by themselves
        for ratio in (0.0, 1.0, 10.0):
            yield Cell(0.98, 60, 20, seeds, ratio)


def _chance(logit: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1 / (1 + np.exp(-logit))
    return found


def _skill_spread(cell: Cell, centre: float) -> float:
    """Standard deviation of skills that gives the ratio: by the slope of the mean in
    the skill."""
    rng = np.random.default_rng(1)
    chances = _chance(centre + rng.normal(0, _SPREAD, 200_000))
    n_effective = (
        cell.n if not cell.clusters else 1 / (0.5 / cell.n + 0.5 / cell.clusters)
    )
    of_prompts = chances.var() / n_effective
    slope = float((chances * (1 - chances)).mean())
    return math.sqrt(cell.ratio * of_prompts) / slope


def coverage(cell: Cell) -> tuple[float, float, float]:
    """Share of intervals that hold the target, that of pooled draws, and the median
    width over that of these."""
    centre = math.log(cell.rate / (1 - cell.rate))
    spread = _skill_spread(cell, centre)
    rng = np.random.default_rng(7)
    target = float(
        _chance(centre + rng.normal(0, math.hypot(_SPREAD, spread), 2_000_000)).mean()
    )
    labels = None if not cell.clusters else np.arange(cell.n) % cell.clusters
    held = held_pooled = 0
    widths: list[float] = []
    for _ in range(N_SAMPLES):
        own = rng.normal(0, _SPREAD, cell.n)
        if labels is not None:
            own = (own + rng.normal(0, _SPREAD, cell.clusters)[labels]) / math.sqrt(2)
        skill = rng.normal(0, spread, (cell.seeds, 1))
        scores = (
            rng.random((cell.seeds, cell.n)) < _chance(centre + skill - own)
        ).astype(float)
        row = row_over_seeds(scores, clusters=labels, bounds=(0, 1))
        if (
            row.ci_low is None
            or row.ci_high is None
            or row.pooled_low is None
            or row.pooled_high is None
        ):
            continue
        held += row.ci_low <= target <= row.ci_high
        held_pooled += row.pooled_low <= target <= row.pooled_high
        widths.append((row.ci_high - row.ci_low) / (row.pooled_high - row.pooled_low))
    return held / N_SAMPLES, held_pooled / N_SAMPLES, float(np.median(widths))


HEAD = """# Calibration: rows over seeds

Coverage of the 95 % interval of [a row over training seeds](../leaderboard.md#what-one-row-is) where its conditions are
worst: few prompts, few seeds, few clusters, answers nearly all right. Scores are 0 and 1; the target is the mean over
other prompts and other seeds; `seeds/prompts` is the variance of the seeds' means over that of the prompts' part.
Beside it the interval that takes the seeds for draws of the same prompts, and how many times as wide the row's is.
{samples} data sets a cell (`benchmarks/calibration/seed_rows.py`; Monte Carlo error .007 at .95).
"""


def main() -> None:
    """Write the page."""
    print(HEAD.format(samples=f"{N_SAMPLES:,}"))
    print(
        "| rate | prompts | clusters | seeds | seeds/prompts | row | pooled draws | "
        "width |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    short: list[str] = []
    for cell in cells():
        held, pooled, width = coverage(cell)
        told = f"**{held:.3f}**" if held < 0.935 else f"{held:.3f}"
        clusters = str(cell.clusters or "")
        print(
            f"| {cell.rate:g} | {cell.n} | {clusters} | {cell.seeds} | {cell.ratio:g} "
            f"| {told} | {pooled:.3f} | {width:.2f} |"
        )
        if held < 0.935:
            short.append(f"{held:.3f}")
    print()
    if short:
        print(f"Bold: below .935 ({len(short)} cells, the lowest {min(short)}).")
    else:
        print("No cell is below .935.")


if __name__ == "__main__":
    main()
