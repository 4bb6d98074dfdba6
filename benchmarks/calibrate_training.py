"""Simulate what `decide` and `recipes` say and write the tables of
docs/reference/methods_training.md.

Three parts: how often the interval from spreads on other benchmarks holds the truth (on
average, and for the noisiest tenth); how often the order is right where `decide` says
decides or leans, for true gaps of several sizes; how often `recipes` says each of its
words for each true accuracy.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

from warehouse.stats.training.noise_floor import seed_pool, weigh_difference
from warehouse.stats.training.seed_planning import decision_accuracy

POPULATIONS = ("inverse gamma, d0 = 4", "log-normal, sd .5", "log-normal, sd 1")
SIZES, SEEDS_LESS_ONE = (3, 5, 8, 12, 30), 4
#: True gaps, as multiples of what seeds make of the difference of two runs (standard
#: deviations of normal draws).
GAPS = (0.0, 0.5, 1.0, 2.0, 4.0)
RECIPES, ACCURACIES = (6, 9, 15, 25, 50), (0.5, 0.6, 0.7, 0.8, 0.9)


class Row(NamedTuple):
    """One figure: what was simulated, in which setting, and what came out."""

    part: str
    setting: str
    size: float
    figure: str
    value: float


def spreads(rng: np.random.Generator, population: str, n: int) -> NDArray[np.float64]:
    """True standard deviations over seeds of n benchmarks."""
    if population.startswith("inverse"):
        return np.asarray(1 / np.sqrt(rng.chisquare(4, n) / 4))
    return np.asarray(
        np.exp(rng.normal(0, 1.0 if population.endswith("1") else 0.5, n))
    )


def coverage(rng: np.random.Generator, draws: int) -> Iterator[Row]:
    """Of intervals of a gap that is 0, without and with the benchmark's own spread in
    the pool."""
    nu = float(SEEDS_LESS_ONE)
    for population in POPULATIONS:
        for size in SIZES:
            covered, true = np.empty((draws, 2)), np.empty(draws)
            for draw in range(draws):
                sigma = spreads(rng, population, size + 1)
                seen = sigma * np.sqrt(rng.chisquare(nu, size + 1) / nu)
                gap, true[draw] = rng.normal(0, math.sqrt(2) * sigma[-1]), sigma[-1]
                others, own = (
                    seed_pool(part, np.full(size, nu))
                    for part in (seen[:size], seen[1:])
                )
                assert others.standard_deviation and others.degrees_of_freedom
                measures = (
                    (others.standard_deviation, others.degrees_of_freedom),
                    own.with_own(seen[-1], nu),
                )
                for place, measure in enumerate(measures):
                    assert measure is not None
                    covered[draw, place] = (
                        abs(gap) <= weigh_difference(gap, *measure).floor
                    )
            noisiest = true >= np.quantile(true, 0.9)
            for place, name in enumerate(("other benchmarks", "with its own")):
                yield Row(
                    "coverage",
                    population,
                    size,
                    f"{name}, all",
                    covered[:, place].mean(),
                )
                yield Row(
                    "coverage",
                    population,
                    size,
                    f"{name}, noisiest tenth",
                    covered[noisiest, place].mean(),
                )


def orders(rng: np.random.Generator, draws: int) -> Iterator[Row]:
    """How often each word of `decide` is said, and how often the order is right then."""
    for setting in ("4 seeds of each", "one seed, 14 other benchmarks"):
        for gap in GAPS:
            said, right = Counter[str](), Counter[str]()
            for _ in range(draws):
                truth = (
                    rng.normal(0, gap * math.sqrt(2))
                    if gap
                    else rng.choice((-1e-12, 1e-12))
                )
                if setting.startswith("4"):
                    found = truth + rng.normal(0, math.sqrt(2 / 4))
                    word = weigh_difference(
                        found, math.sqrt(rng.chisquare(6) / 6), 6, 4, 4
                    ).word
                else:
                    sigma = spreads(rng, POPULATIONS[0], 15)
                    truth *= sigma[-1]
                    found = truth + rng.normal(0, math.sqrt(2) * sigma[-1])
                    pool = seed_pool(
                        sigma[:14] * np.sqrt(rng.chisquare(9, 14) / 9), np.full(14, 9.0)
                    )
                    assert pool.standard_deviation and pool.degrees_of_freedom
                    word = weigh_difference(
                        found, pool.standard_deviation, pool.degrees_of_freedom
                    ).word
                said[word] += 1
                right[word] += found * truth > 0
            for word in ("decides", "leans"):
                yield Row("order", setting, gap, f"says {word}", said[word] / draws)
                yield Row(
                    "order",
                    setting,
                    gap,
                    f"right where it {word}",
                    right[word] / max(1, said[word]),
                )


def words(rng: np.random.Generator, draws: int) -> Iterator[Row]:
    """How often each word of `recipes` is said; qualities are normal, without ties."""
    for n in RECIPES:
        for accuracy in ACCURACIES:
            rho = math.sin(math.pi * (accuracy - 0.5))
            said = Counter[str]()
            for _ in range(draws):
                large = rng.normal(size=n)
                said[
                    decision_accuracy(
                        rho * large + math.sqrt(1 - rho**2) * rng.normal(size=n), large
                    ).word
                ] += 1
            for word in (
                "decides",
                "better than chance",
                "cannot decide",
                "cannot tell",
            ):
                yield Row(
                    "accuracy", f"true accuracy {accuracy}", n, word, said[word] / draws
                )


def table(
    rows: list[Row], settings: list[str], sizes: list[float], size: str
) -> list[str]:
    """One line for each setting and size."""
    value = {row[1:4]: row.value for row in rows}
    figures = list(dict.fromkeys(row.figure for row in rows))
    lines = [
        f"| | {size} | {' | '.join(figures)} |",
        f"| --- | ---: |{' ---: |' * len(figures)}",
    ]
    for setting in settings:
        for n in sizes:
            lines.append(
                script.row(
                    [setting, f"{n:g}"], [value[setting, n, one] for one in figures]
                )
            )
    return lines


def in_words(rows: list[Row]) -> list[str]:
    """What the page shows of them."""
    parts = {
        part: [row for row in rows if row.part == part]
        for part in ("coverage", "order", "accuracy")
    }
    spans = []
    for name in dict.fromkeys(row.figure for row in parts["coverage"]):
        own = [row.value for row in parts["coverage"] if row.figure == name]
        spans.append(f"| {name} | {min(own):.3f} | {max(own):.3f} |")
    settings = list(dict.fromkeys(row.setting for row in parts["order"]))
    accuracies = [f"true accuracy {one}" for one in (0.5, 0.6, 0.8, 0.9)]
    return [
        f"| coverage of the 95 % interval | of {len(POPULATIONS) * len(SIZES)} cells: "
        "least | most |",
        "| --- | ---: | ---: |",
        *spans,
        "",
        "The cells: pools of 3 to 30 benchmarks with 5 seeds each, whose spreads are "
        "inverse gamma or log-normal.",
        "",
        "What `decide` says, and how often the order is right then:",
        "",
        *table(parts["order"], settings, list(GAPS), "true gap / noise"),
        "",
        "How often `recipes` says what (six recipes hardly ever suffice):",
        "",
        *table(parts["accuracy"], accuracies, [6, 9, 15, 25], "recipes"),
    ]


def main() -> None:
    options = script.parser_of(
        __doc__, "methods_training.md", {"draws": (3000, "of each cell")}
    ).parse_args()
    rng = np.random.default_rng(options.seed)
    rows = [
        row for part in (coverage, orders, words) for row in part(rng, options.draws)
    ]
    whole = options.output.parent / "calibration" / "training.csv"
    whole.parent.mkdir(exist_ok=True)
    with whole.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows((*row[:-1], f"{row.value:.4f}") for row in rows)
    script.write_between(options.output, script.MARKS, in_words(rows))


if __name__ == "__main__":
    main()
