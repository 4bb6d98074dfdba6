"""Simulate what `matrix test` and `matrix explain` find where there is nothing, and how
wide planned subsets come out.

Writes the tables between the marks of docs/reference/methods_matrix.md and
docs/reference/methods_subsets.md. Plans go
through a store, as a user's do.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

import warehouse
from warehouse.stats.matrix import explain, permutation_test

TESTS = ("<!-- errors: begin -->", "<!-- errors: end -->")
PLANS = ("<!-- widths: begin -->", "<!-- widths: end -->")
#: Prompts of a planned benchmark; new models on each plan.
N, NEW = 400, 50


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-x)))


def explained(
    n: int, k: int, spread: float, shuffle: Literal["prompts", "columns"], times: int
) -> list[float]:
    """Share of p ≤ .05 (mean coefficient, KS of coefficients, Mantel): texts in four
    topics that say nothing."""
    found = []
    for seed in range(times):
        rng = np.random.default_rng(seed)
        right = rng.random((n, k)) < sigmoid(
            rng.normal(0, 0.7, k) + spread * rng.normal(size=(n, 1))
        )
        texts = rng.normal(size=(4, 8))[rng.integers(0, 4, n)] + 0.5 * rng.normal(
            size=(n, 8)
        )
        test = explain(
            right.astype(float), texts, n_permutations=99, seed=seed, shuffle=shuffle
        )
        found.append(
            [test.p_mean_coefficient, test.p_ks_coefficient, test.mantel.p_value]
        )
    return [float(share) for share in (np.array(found, float) <= 0.05).mean(axis=0)]


def tested(n: int, k: int, times: int) -> tuple[float, float, float]:
    """Share of p ≤ .05 of Hamming's KS, of the smallest of all tests, and of that times
    their number."""
    found = []
    for seed in range(times):
        rng = np.random.default_rng(seed)
        right = (rng.random((n, k)) < rng.uniform(0.3, 0.9, k)).astype(float)
        test = permutation_test(right, n_permutations=239, seed=seed, n_threads=1)
        p = [row.p_value for row in test.statistics]
        ks = next(row.p_value for row in test.statistics if row.statistic == "ks")
        found.append([ks <= 0.05, min(p) <= 0.05, min(p) * len(p) <= 0.05])
    one, any_of, together = np.mean(found, axis=0)
    return float(one), float(any_of), float(together)


def planned(
    history: int, level: float, width: float, plans: int, folder: Path
) -> tuple[int, float, float, float, int]:
    """Mean m, promised width, median width, coverage, and estimates: new models like
    those of the history."""
    asked, promised, covered, widths = [], [], [], []
    for seed in range(plans):
        rng = np.random.default_rng([seed, history])
        hard = rng.normal(size=N)

        def draw(
            many: int, rng: np.random.Generator = rng, hard: NDArray[np.float64] = hard
        ) -> NDArray[np.bool_]:
            return np.asarray(
                rng.random((many, N))
                < sigmoid(level + 0.5 * rng.normal(size=(many, 1)) + hard)
            )

        store = warehouse.connect(str(folder / f"{history}_{level}_{seed}.duckdb"))
        store.ingest(written(folder / "old.csv", "old", draw(history), range(N)))
        plan = store.subset_plan("quiz", width=width, seed=seed).rows[0]
        chosen = [int(row.tool_id[1:]) for row in plan.rows if row.selected]
        asked.append(len(chosen))
        promised.append(plan.width)
        fresh = draw(NEW)
        store.ingest(written(folder / "new.csv", "new", fresh, chosen))
        for row in store.leaderboard("quiz").rows:
            if row.model.startswith("new"):
                truth = fresh[int(row.model[3:])].mean()
                covered.append(row.ci_low - 1e-9 <= truth <= row.ci_high + 1e-9)
                widths.append(row.ci_high - row.ci_low)
    m, promise = round(float(np.mean(asked))), float(np.mean(promised))
    return m, promise, float(np.median(widths)), float(np.mean(covered)), len(widths)


def written(
    path: Path, name: str, right: NDArray[np.bool_], prompts: Iterable[int]
) -> Path:
    chosen = list(prompts)
    rows = [
        f"{name}{m},quiz,p{i},{int(right[m, i])}\n"
        for m in range(len(right))
        for i in chosen
    ]
    path.write_text(
        "model,benchmark,prompt_id,score\n" + "".join(rows), encoding="utf-8"
    )
    return path


def main() -> None:
    counts = {
        "times": (1000, "matrices of a cell"),
        "plans": (12, f"plans of a cell, with {NEW} new models each"),
    }
    parser = script.parser_of(__doc__, "", counts, seed=False)
    # given: a page of their own, in place of the two of docs/reference
    parser.set_defaults(output=None)
    options = parser.parse_args()
    lines = [
        f"Share of p ≤ .05 in {options.times} matrices a row (Monte Carlo error .007 "
        "at .05 of 1 000).",
        "",
    ]
    lines += [
        "| `matrix explain` | prompts × models | mean coefficient | KS of coefficients "
        "| Mantel |"
    ]
    lines += ["| --- | ---: | ---: | ---: | ---: |"]
    for k, spread in ((10, 0.0), (10, 1.0), (10, 2.0), (30, 1.0)):
        for shuffle in ("prompts", "columns"):
            shares = explained(100, k, spread, shuffle, options.times)
            words = f"difficulty {spread:g}, {shuffle} shuffled"
            lines.append(script.told(script.row([words, f"100 × {k}"], shares)))
    lines += [
        "",
        "| `matrix test` | KS of Hamming alone | any of 12 | the report's sentence |",
    ]
    lines += ["| --- | ---: | ---: | ---: |"]
    for n, k in ((30, 3), (60, 10), (100, 30)):
        lines.append(
            script.told(script.row([f"{n} × {k}"], tested(n, k, options.times)))
        )
    plans = [
        "| stored models | mean score | asked of 400 | promised | median width | "
        "coverage | estimates |"
    ]
    plans += ["| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    cells = (
        (1, 0.0, 0.15),
        (3, 0.0, 0.15),
        (30, 0.0, 0.15),
        (3, 4.0, 0.05),
        (30, 4.0, 0.05),
        (3, 5.5, 0.04),
    )
    with TemporaryDirectory() as folder:
        for history, level, width in cells:
            m, promised, median, coverage, number = planned(
                history, level, width, options.plans, Path(folder)
            )
            mean = sigmoid(
                level + np.sqrt(1.25) * np.random.default_rng(0).normal(size=100_000)
            ).mean()
            figures = f"{m} | {promised:.3f} | {median:.3f} | {coverage:.3f} | {number}"
            plans.append(script.told(f"| {history} | {mean:.2f} | {figures} |"))
    if options.output:
        options.output.write_text(
            "\n".join([*lines, "", *plans]) + "\n", encoding="utf-8"
        )
        return
    script.write_between(script.REFERENCE / "methods_matrix.md", TESTS, lines)
    script.write_between(script.REFERENCE / "methods_subsets.md", PLANS, plans)


if __name__ == "__main__":
    main()
