"""Simulate the scale of published figures and write its table in
docs/reference/methods_items.md.

Abilities rise with the day of release, and models of one developer (one in six of the
days) have an effect in common. Figures scatter by themselves (*independent*), or half
as much around a second ability that benchmarks measure more or less.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

from warehouse.stats.items.published_figures import (
    Figures,
    as_figures,
    where,
    with_enough,
)
from warehouse.stats.items.published_scale import ScaleFit, published_scale, scale_trend

MARKS = ("<!-- simulated: scale -->", "<!-- end: scale -->")
Z, PAIRS, REFERENCES = 1.959964, 400, 20
MASKS = ("leaderboards 180 × 38", "sparse 60 × 12", "two eras 80 × 15")
#: How strong the loadings of a second ability are, in logits, and what is left of the
#: scatter of figures.
MISFITS = {
    "independent": (0.0, 1.0),
    "second ability": (0.4, 0.6),
    "second as strong": (0.8, 0.6),
}
Floats = NDArray[np.float64]


class World(NamedTuple):
    """Models, benchmarks and which of their figures there are."""

    years: Floats
    theta: Floats
    a: Floats
    d: Floats
    model: NDArray[np.intp]
    benchmark: NDArray[np.intp]
    slope: float

    def logits(self) -> Floats:
        return self.a[self.benchmark] * self.theta[self.model] + self.d[self.benchmark]


def world(mask: str, rng: np.random.Generator) -> World:
    """Models by day of release; in leaderboards a benchmark has models of some years,
    in eras three have both."""
    count, width = (int(part) for part in mask.rsplit(" ", 3)[1::2])
    days = np.sort(rng.uniform(0, 3, count // 2))
    day = np.sort(rng.integers(0, len(days), count))
    noise = rng.normal(0, 0.25, 7)[rng.integers(0, 7, len(days))][day] + rng.normal(
        0, 0.2, count
    )
    years, rate = days[day], 0.5
    theta = rate * (years - 1.5) + noise
    a, b = np.exp(rng.normal(0.2, 0.5, width)), np.sort(rng.uniform(-1.5, 2, width))
    place = np.arange(count)[:, None] / count
    if mask.startswith("leaderboards"):
        start, length = rng.uniform(-0.3, 0.7, width), rng.uniform(0.4, 0.9, width)
        seen = (
            (place > start)
            & (place < start + length)
            & (rng.random((count, width)) < rng.uniform(0.2, 0.6, width))
        )
    elif mask.startswith("sparse"):
        seen = rng.random((count, width)) < 0.5
    else:
        old, new = np.arange(width) < 9, np.arange(width) >= 6
        seen = np.where(place < 0.5, old, new) & (rng.random((count, width)) < 0.7)
    model, benchmark = np.nonzero(seen)
    spread = float(np.sqrt(rate**2 * 9 / 12 + 0.25**2 + 0.2**2))
    return World(years, theta, a, -a * b, model, benchmark, rate / spread)


def chances(
    one: World, misfit: str, rng: np.random.Generator, sd: float = 0.08
) -> Floats:
    """Figures before they are cut to [0, 1]."""
    loading, left = MISFITS[misfit]
    loadings, second = (
        rng.normal(0, loading, len(one.a)),
        rng.normal(0, 1, len(one.theta)),
    )
    logits = one.logits() + loadings[one.benchmark] * second[one.model]
    figures: Floats = 1 / (1 + np.exp(-logits)) + rng.normal(0, left * sd, len(logits))
    return figures


def figures_of(one: World, values: Floats, errors: Floats | None = None) -> Figures:
    names = [f"m{m:04}" for m in one.model], [f"b{j:03}" for j in one.benchmark]
    return with_enough(as_figures(np.clip(values, 0, 1), *names, errors))


def off(
    scale: ScaleFit, one: World, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Errors of differences of pairs, and the three standard errors of each."""
    kept = np.array([int(name[1:]) for name in scale.models])
    truth = (one.theta[kept] - one.theta[kept].mean()) / one.theta[kept].std()
    i = np.repeat(rng.permutation(len(kept))[:REFERENCES], PAIRS // REFERENCES)
    j = rng.integers(0, len(kept), len(i))
    i, j = i[i != j], j[i != j]
    width = len(scale.left_out)
    apart = scale.left_out[:, i] - scale.left_out[:, j]
    jackknife = np.sqrt(
        (width - 1) / width * ((apart - apart.mean(axis=0)) ** 2).sum(axis=0)
    )
    of = {int(first): scale.differences(int(first))[1] for first in np.unique(i)}
    larger = np.array(
        [of[int(first)][second] for first, second in zip(i, j, strict=True)]
    )
    return (
        scale.ability[i] - scale.ability[j] - truth[i] + truth[j],
        jackknife,
        larger,
        np.hypot(scale.se_info[i], scale.se_info[j]),
    )


def coverage(mask: str, misfit: str, runs: int, seed: int) -> list[float]:
    """Of differences (three errors), of figures left out, of the trend; and the error
    of an ability's difference."""
    seen: list[list[float]] = []
    for run in range(runs):
        rng = np.random.default_rng(
            [seed, MASKS.index(mask), [*MISFITS].index(misfit), run]
        )
        one = world(mask, rng)
        whole = figures_of(one, chances(one, misfit, rng))
        test = rng.random(len(whole.values)) < 0.1
        for side in (whole.model, whole.benchmark):
            test[np.unique(side, return_index=True)[1]] = (
                False  # nobody loses all figures
            )
        fitted = published_scale(where(whole, ~test))
        cells = zip(
            whole.values[test], whole.model[test], whole.benchmark[test], strict=True
        )
        ends = [(value, *fitted.predicted(int(m), int(j))[1:]) for value, m, j in cells]
        scale = published_scale(whole)
        error, jackknife, larger, curvature = off(scale, one, rng)
        kept = [int(name[1:]) for name in scale.models]
        trend = scale_trend(scale, one.years[kept])
        seen.append(
            [
                float((np.abs(error) < Z * curvature).mean()),
                float((np.abs(error) < Z * jackknife).mean()),
                float((np.abs(error) < Z * larger).mean()),
                float(np.mean([low <= value <= high for value, low, high in ends])),
                float(trend.ci_low <= one.slope <= trend.ci_high),
            ]
        )
    return [float(value) for value in np.mean(seen, axis=0)]


def uses(mask: str, runs: int, seed: int) -> Iterator[tuple[str, str, list[float]]]:
    """Root mean square errors of differences and coverage, without and with what is
    known of figures."""
    kinds = ("a quarter with errors of .12, others .02", "chance 0, .25 or .5")
    seen: dict[str, list[list[float]]] = {kind: [] for kind in kinds}
    for run in range(runs):
        rng = np.random.default_rng([seed, 9, MASKS.index(mask), run])
        one = world(mask, rng)
        plain = chances(one, "independent", rng, sd=0.06)
        errors = np.where(rng.random(len(plain)) < 0.25, 0.12, 0.02)
        noisy = plain + errors * rng.normal(size=len(plain))
        chance = rng.choice([0, 0.25, 0.5], len(one.a))[one.benchmark]
        guessed = (
            chance
            + (1 - chance) * (plain - (scatter := rng.normal(0, 0.06, len(plain))))
            + scatter
        )
        pairs = (
            (figures_of(one, noisy), figures_of(one, noisy, errors)),
            (
                figures_of(one, guessed),
                figures_of(one, (guessed - chance) / (1 - chance)),
            ),
        )
        for kind, both in zip(kinds, pairs, strict=True):
            row: list[float] = []
            for figures in both:
                error, _, larger, _ = off(
                    published_scale(figures), one, np.random.default_rng(run)
                )
                row += [
                    float(np.mean(error**2)),
                    float((np.abs(error) < Z * larger).mean()),
                ]
            seen[kind].append(row)
    for kind, rows in seen.items():
        without, covered, known, covered_known = np.mean(rows, axis=0)
        yield (
            mask,
            kind,
            [
                float(np.sqrt(without)),
                float(covered),
                float(np.sqrt(known)),
                float(covered_known),
            ],
        )


def main() -> None:
    options = script.parser_of(
        __doc__, "methods_items.md", {"runs": (12, "of each cell")}
    ).parse_args()
    lines = [
        f"{options.runs} pools of each kind (`python benchmarks/calibrate_scale.py`), "
        "coverage of 95 %:",
        "",
        "| models × benchmarks | misfit | difference: curvature, as if independent | "
        "jackknife | larger | new figure | trend |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for mask in MASKS:
        for misfit in MISFITS:
            shares = coverage(mask, misfit, options.runs, options.seed)
            lines.append(script.told(script.row([mask, misfit], shares)))
    lines += [
        "",
        "Root mean square error of a difference, and coverage, where it is left out "
        "and where it is used:",
        "",
        "| models × benchmarks | known of the figures | error without | coverage | "
        "error with | coverage |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for mask in MASKS:
        for name, kind, values in uses(mask, options.runs, options.seed):
            lines.append(script.told(script.row([name, kind], values)))
    script.write_between(options.output, MARKS, lines)


if __name__ == "__main__":
    main()
