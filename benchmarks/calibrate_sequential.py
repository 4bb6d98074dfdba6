"""Simulate the sequential test and write docs/reference/calibration_sequential.md.

Every run is looked at after each prompt. The test is written out here once more in
plain numpy, for many runs at a time, so that the page also checks the library's own.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

DATA = script.DATA
Floats = NDArray[np.float64]
BLOCK = 250


class Outcome(NamedTuple):
    """Prompts after which runs passed or failed, one beyond n_max where they did not."""

    passed: NDArray[np.int64]
    failed: NDArray[np.int64]
    n_max: int

    @property
    def first(self) -> NDArray[np.int64]:
        return np.minimum(self.passed, self.failed)

    @property
    def passes(self) -> float:
        return float((self.passed < self.failed).mean())

    @property
    def fails(self) -> float:
        return float((self.failed < self.passed).mean())

    @property
    def mean_n(self) -> float:
        return float(np.minimum(self.first, self.n_max).mean())


class Game(NamedTuple):
    """What is fixed beforehand: θ_0, bounds of y, R, N (0: prompts sampled), n_max."""

    reference: float
    low: float
    high: float
    width: float
    population: int
    n_max: int


def play(y: Floats, f: Floats, game: Game, alpha: float = 0.05) -> Outcome:
    """The test along each row of y, NaN where unscorable; f of the whole benchmark in
    order, or (1, 1)."""
    times = [np.concatenate([_side(sign, y[i : i + BLOCK], f[i : i + BLOCK] if len(f) > 1 else f, game, alpha)
                             for i in range(0, len(y), BLOCK)]) for sign in (1, -1)]  # fmt: skip
    return Outcome(times[0], times[1], game.n_max)


def _side(
    sign: int, y: Floats, f: Floats, game: Game, alpha: float
) -> NDArray[np.int64]:
    n, N = game.n_max, game.population
    y = np.where(np.isnan(y[:, :n]), game.low if sign > 0 else game.high, y[:, :n])
    t = np.arange(1, n + 1)
    z = y - (f[:, :n] if f.shape[1] > 1 else f)
    low, high = (
        game.low - f.max(axis=1, keepdims=True),
        game.high - f.min(axis=1, keepdims=True),
    )
    if N:
        before = np.cumsum(y, axis=1) - y
        rest = (
            np.cumsum(f[:, ::-1], axis=1)[:, ::-1][:, :n] / (N - t + 1)
            if f.shape[1] > 1
            else f
        )
        m = (N * game.reference - before) / (N - t + 1) - rest
    else:
        m = np.broadcast_to(game.reference - f, z.shape)
    mean = np.cumsum(z, axis=1) / (t + 1)
    after = (game.width**2 / 4 + np.cumsum((z - mean) ** 2, axis=1)) / (t + 1)
    variance = np.concatenate(
        [np.full((len(z), 1), game.width**2 / 4), after[:, :-1]], axis=1
    )
    room = m - low if sign > 0 else high - m
    with np.errstate(divide="ignore", invalid="ignore"):
        cap = np.where(room > 1e-12, 0.5 / room, np.inf)
        logs = [
            np.cumsum(
                np.log1p(
                    sign
                    * np.minimum(np.sqrt(2 * np.log(2 / alpha) / (variance * h)), cap)
                    * (z - m)
                ),
                axis=1,
            )
            for h in (n / 2, n / 8)
        ]
    wins = (
        np.logaddexp(*logs) - np.log(2) >= np.log(2 / alpha)
    ) | np.logical_or.accumulate(room < -1e-12, axis=1)
    return np.where(wins.any(axis=1), wins.argmax(axis=1) + 1, n + 1)


def pairs(
    rng: np.random.Generator, runs: int, n: int, delta: float, differ: float
) -> Floats:
    """Differences of two models that disagree on a share of prompts."""
    u = rng.random((runs, n))
    up, down = (differ + delta) / 2, (differ - delta) / 2
    return np.where(u < up, 1.0, np.where(u < up + down, -1.0, 0.0))


CONSTANT = np.zeros((1, 1))


def power_rows(runs: int) -> Iterator[list[str]]:
    """iid pairs, disagreement .25, n_max 2 000: rejection and mean n by difference."""
    for delta in (0.0, 0.02, 0.05, 0.1):
        rng = np.random.default_rng([1, int(1000 * delta)])
        outcome = play(
            pairs(rng, runs, 2000, delta, 0.25), CONSTANT, Game(0.0, -1, 1, 1, 0, 2000)
        )
        yield [
            f"{delta:g}",
            f"{outcome.passes:.4f}",
            f"{outcome.fails:.4f}",
            f"{outcome.mean_n:.0f}",
        ]


def null_rows(runs: int) -> Iterator[list[str]]:
    """Cells in which θ is θ_0, so that every verdict is wrong."""
    for n in (200, 1000, 2000):
        for differ in (0.02, 0.1, 0.25, 0.5):
            for margin in (0.0, 0.01):
                rng = np.random.default_rng(
                    [2, n, int(100 * differ), int(100 * margin)]
                )
                outcome = play(
                    pairs(rng, runs, n, -margin, differ),
                    CONSTANT,
                    Game(-margin, -1, 1, 1, 0, n),
                )
                yield _null(
                    "two models, sampled",
                    f"n_max {n}, differ {differ:g}, M {margin:g}",
                    outcome,
                )
    for n in (200, 2000):
        for p in (0.02, 0.1, 0.5, 0.9, 0.98):
            rng = np.random.default_rng([3, n, int(100 * p)])
            y = (rng.random((runs, n)) < p).astype(float)
            yield _null(
                "one model, sampled",
                f"n_max {n}, θ {p:g}",
                play(y, np.full((1, 1), 0.5), Game(p, 0, 1, 1, 0, n)),
            )
        rng = np.random.default_rng([4, n])
        y = rng.beta(0.3, 0.6, (runs, n))
        yield _null(
            "one model, sampled",
            f"n_max {n}, β(.3, .6)",
            play(y, np.full((1, 1), 0.5), Game(1 / 3, 0, 1, 1, 0, n)),
        )
    for size, most in ((400, 400), (1000, 500), (2000, 2000)):
        for agree in (0.5, 0.9):
            for draws in (1, 4):
                rng = np.random.default_rng([5, size, most, int(10 * agree), draws])
                chance = rng.beta(0.8, 0.5, size)
                base = rng.binomial(draws, chance) / draws
                own = np.where(
                    rng.random(size) < agree, base, rng.binomial(draws, chance) / draws
                )
                what = f"N {size}, n_max {most}, agree {agree:g}, K {draws}"
                yield _null(
                    "stored baseline", what, permuted(rng, own, base, runs, most)
                )
                yield _null(
                    "stored baseline, f halved",
                    what,
                    permuted(rng, own, (base + chance) / 2, runs, most),
                )
                yield _null(
                    "two models, full",
                    what,
                    permuted_pairs(rng, own - base, runs, most),
                )
                if size == 1000:
                    yield _null(
                        "stored baseline, 5 % unscorable",
                        what,
                        permuted(rng, own, base, runs, most, missing=0.05),
                    )


def permuted(
    rng: np.random.Generator,
    y: Floats,
    f: Floats,
    runs: int,
    n_max: int,
    *,
    shift: float = 0.0,
    missing: float = 0.0,
) -> Outcome:
    """Random orders of one benchmark; θ_0 is the true mean plus a shift."""
    orders = np.array([rng.permutation(len(y)) for _ in range(runs)])
    shown = np.where(rng.random(orders.shape) < missing, np.nan, y[orders])
    return play(shown, f[orders], Game(float(y.mean()) + shift, 0, 1, 1, len(y), n_max))


def permuted_pairs(
    rng: np.random.Generator, d: Floats, runs: int, n_max: int
) -> Outcome:
    """The same of differences, with the width of the metric 1."""
    orders = np.array([rng.permutation(len(d)) for _ in range(runs)])
    return play(d[orders], CONSTANT, Game(float(d.mean()), -1, 1, 1, len(d), n_max))


def worst(rows: list[list[str]]) -> Iterator[list[str]]:
    """Of each design the number of cells, and the one with the most wrong verdicts."""
    for design in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == design]
        yield [design, str(len(own)), *max(own, key=lambda row: float(row[-1]))[1:]]


def _null(design: str, what: str, outcome: Outcome) -> list[str]:
    return [
        design,
        what,
        f"{outcome.passes:.4f}",
        f"{outcome.fails:.4f}",
        f"{outcome.passes + outcome.fails:.4f}",
    ]


def matrices() -> Iterator[tuple[str, Floats]]:
    """Real benchmarks, models × prompts."""
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "mmlu_pro_matrix" / "correct.parquet").to_pandas()
    yield (
        "MMLU-Pro",
        table.drop(columns=["question_id", "category", "src", "n_options"])
        .to_numpy(float)
        .T,
    )
    with (DATA / "math500_matrix" / "Y_MATH-500.csv").open() as handle:
        rows = list(csv.reader(handle))[1:]
    yield "MATH-500", (np.array([row[1:] for row in rows], dtype=float) + 1) / 2
    yield (
        "CRUXEval",
        np.array(
            [
                cruxeval(path)
                for path in sorted(
                    (DATA / "cruxeval_generations").glob("*_temp0.8_*.json")
                )
            ]
        ),
    )


def cruxeval(path: Path) -> Floats:
    """Share of right generations of each problem, by id."""
    generations = json.loads(path.read_text(encoding="utf-8"))["raw_scored_generations"]
    return np.array([np.mean(generations[key]) for key in sorted(generations)])


def real_rows(runs: int) -> Iterator[list[str]]:
    """Permuted real pairs: wrong verdicts at the truth, and mean n against the baseline
    by f."""
    for name, table in matrices():
        rng = np.random.default_rng([6, len(table)])
        wrong: list[Outcome] = []
        plain, default = [], []
        means, n = table.mean(axis=1), min(2000, table.shape[1])
        couples = [
            (a, b)
            for a in range(len(table))
            for b in range(len(table))
            if 0.03 <= abs(means[a] - means[b]) <= 0.07
        ]
        for a, b in [couples[place] for place in rng.permutation(len(couples))[:10]]:
            others = np.delete(table, [a, b], axis=0).mean(axis=0)
            best = (others + table[b]) / 2
            wrong.append(permuted(rng, table[a], best, runs // 4, n))
            shift = float(means[b] - means[a])
            plain.append(
                permuted(rng, table[a], table[b], runs // 20, n, shift=shift).mean_n
            )
            default.append(
                permuted(rng, table[a], best, runs // 20, n, shift=shift).mean_n
            )
        shares = [
            float(np.mean([getattr(one, side) for one in wrong]))
            for side in ("passes", "fails")
        ]
        largest = max(one.passes + one.fails for one in wrong)
        figures = [f"{value:.4f}" for value in (*shares, largest)]
        yield [
            name,
            *figures,
            *(f"{np.mean(counts):.0f}" for counts in (plain, default)),
        ]


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(map(script.row, lines))


def main() -> None:
    runs = (3000, "runs of a cell")
    options = script.parser_of(
        __doc__, "calibration_sequential.md", {"runs": runs}, seed=False
    ).parse_args()
    power, null = list(power_rows(options.runs)), list(null_rows(options.runs))
    real = list(real_rows(options.runs)) if DATA.is_dir() else []
    largest = max(float(row[-1]) for row in null)
    error = (0.05 * 0.95 / options.runs) ** 0.5
    text = f"""# How often the sequential test is wrong

Made by `python benchmarks/calibrate_sequential.py`: {options.runs} runs a cell, alpha 0.05, a look after
every prompt. Simulation error of a share of .05: {error:.4f}. What the columns mean: [stopping](../stopping.md).

## A difference, two models

Prompts sampled, the models disagree on a quarter of them, `n_max` 2 000, margin 0.

{table(["true difference", "pass", "fail", "mean prompts"], power)}

## Every verdict wrong

θ is the reference, so that no verdict is right; pass and fail may have .025 each. Largest of {len(null)}
cells: {largest:.4f}.

{table(["design", "cells", "worst cell", "pass", "fail", "both"], list(worst(null)))}

## Real pairs, in random orders

Ten pairs of models a benchmark whose scores differ by .03 to .07, full benchmark without replacement, `n_max`
2 000 or all prompts. Wrong verdicts with the reference at the truth ({options.runs // 4} orders a pair), and mean
prompts until the verdict against the stored baseline, margin 0, by the prediction f: the baseline's scores
alone, or their mean with the mean of all other models.

{table(["benchmark", "pass", "fail", "both, worst pair", "prompts, baseline alone", "prompts, with history"], real)}
"""
    options.output.write_text(text, encoding="utf-8")
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
