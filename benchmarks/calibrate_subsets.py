"""Simulate planned subsets on real matrices and write the tables of
docs/reference/methods_subsets.md.

Every estimate is made as a user would get it: history without the model, strata along
its prediction, the prompts of the smallest hashes, the interval of the whole benchmark.
The truth is the model's mean over all prompts, which the matrix has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray

from warehouse.stats.subsets.design import draw_subset, extend_subset
from warehouse.stats.subsets.differences import subset_against_baseline, subset_pair
from warehouse.stats.subsets.estimate import estimate_subset
from warehouse.stats.subsets.expected import predict_scores
from warehouse.stats.subsets.regression import estimate_subset_regression

DATA = script.DATA
SIZES, HISTORIES = (25, 100, 400, 1000), (5, 20, 100)
Matrix = NDArray[np.float64]


class Cell(NamedTuple):
    """One row of the table; ``coverage`` is over figures in .02 to .98."""

    data: str
    held_out: str
    history: int
    size: int
    estimates: int
    bias_z: float
    coverage: float
    gain: float
    width: float


def matrices() -> Iterator[tuple[str, Matrix]]:
    """Models x prompts, complete, in [0, 1]."""
    import pandas as pd

    table = pd.read_csv(DATA / "math500_matrix" / "Y_MATH-500.csv", index_col=0)
    yield "MATH-500", (table.to_numpy(float) > 0).astype(float)
    frame = pd.read_parquet(DATA / "mmlu_pro_matrix" / "correct.parquet")
    models = frame.drop(columns=["question_id", "category", "src", "n_options"])
    yield "MMLU-Pro", models.to_numpy(float).T
    for name, label in (
        ("lcb_codegen", "LCB"),
        ("mbpp+", "MBPP+"),
        ("humaneval+", "HumanEval+"),
    ):
        lines = pd.read_json(DATA / "eval_arena" / f"{name}.jsonl", lines=True)
        yield (
            label,
            lines.pivot(index="model", columns="example_id", values="pass1").to_numpy(
                float
            ),
        )
    for task in ("input", "output"):
        rows = [
            _cruxeval(path)
            for path in sorted((DATA / "cruxeval_generations").glob(f"*_{task}.json"))
        ]
        yield f"CRUXEval {task}", np.vstack(rows)


def _cruxeval(path: Path) -> Matrix:
    scored = json.loads(path.read_text())["raw_scored_generations"]
    return np.array([np.mean(scored[name]) for name in sorted(scored)])


def names_of(name: str, n: int) -> list[str]:
    """The model of each row: rows of one model, with other examples or temperatures,
    are no history of each other."""
    if name == "MATH-500":
        import pandas as pd

        table = pd.read_csv(DATA / "math500_matrix" / "Y_MATH-500.csv", usecols=[0])
        return [
            str(one).lower().removesuffix("_one_shot").removesuffix("_zero_shot")
            for one in table.iloc[:, 0]
        ]
    if name.startswith("CRUXEval"):
        task = name.split()[-1]
        paths = sorted((DATA / "cruxeval_generations").glob(f"*_{task}.json"))
        return [path.name.partition("_temp")[0] for path in paths]
    return [str(row) for row in range(n)]


def simulate(
    name: str,
    y: Matrix,
    held_out: str,
    history: int,
    size: int,
    estimates: int,
    seed: int,
) -> Cell:
    """One cell: a model is held out, others make its history, and so on ``estimates``
    times."""
    rng = np.random.default_rng([seed, history, size, held_out == "best"])
    models, n = y.shape
    ids = [f"p{i}" for i in range(n)]
    best = np.argsort(-y.mean(axis=1))[: max(1, models // 10)]
    known = np.array(names_of(name, models))
    errors, simple, covered, widths = [], [], [], []
    for number in range(estimates):
        model = (
            int(rng.choice(best)) if held_out == "best" else int(rng.integers(models))
        )
        others = rng.permutation(np.flatnonzero(known != known[model]))[:history]
        design = draw_subset(ids, predict_scores(y[others]), size, seed=number)
        scores = np.where(design.selected, y[model], np.nan)
        estimate = estimate_subset(
            scores, design.stratum, design.selected, bounds=(0, 1)
        )
        truth = float(y[model].mean())
        errors.append((estimate.estimate or 0.0) - truth)
        simple.append(simple_variance(y[model], size))
        if (
            estimate.ci_low is not None
            and estimate.ci_high is not None
            and 0.02 <= truth <= 0.98
        ):
            covered.append(estimate.ci_low <= truth <= estimate.ci_high)
            widths.append(estimate.ci_high - estimate.ci_low)
    e = np.array(errors)
    z = float(e.mean() / (e.std(ddof=1) / np.sqrt(len(e))))
    gain = float(np.mean(simple) / np.mean(e**2))
    return Cell(
        name,
        held_out,
        history,
        size,
        estimates,
        z,
        float(np.mean(covered)),
        gain,
        float(np.median(widths)),
    )


def cells(estimates: int, seed: int) -> Iterator[Cell]:
    for name, y in matrices():
        models, n = y.shape
        times = estimates if n < 2000 else max(1, estimates // 4)
        for held_out in ("random", "best"):
            for history in HISTORIES:
                for size in SIZES:
                    if history < models and size < n:
                        cell = simulate(name, y, held_out, history, size, times, seed)
                        print(*cell, flush=True)
                        yield cell


class Tried(NamedTuple):
    """Gains over the plain way of one method."""

    method: str
    least: float
    median: float
    most: float
    coverage: float


def other_methods(estimates: int, seed: int) -> Iterator[Tried]:
    """Against a baseline, two fresh models, and the regression on a simple sample; m =
    100.

    What a simple sample costs is its variance, which is known; that of strata too,
    where there are two fresh models: simulated errors of a few hundred samples would
    blur a gain near 1.
    """
    gains: dict[str, list[float]] = {}
    covers: dict[str, list[float]] = {}
    for matrix, y in matrices():
        rng = np.random.default_rng(seed)
        models, n = y.shape
        who = np.array(names_of(matrix, models))
        if n > 2000:
            continue
        ids = [f"p{i}" for i in range(n)]
        squares: dict[str, list[tuple[float, float]]] = {}
        covered: dict[str, list[bool]] = {}
        for number in range(estimates):
            a = int(rng.integers(models))
            b = int(rng.choice(np.flatnonzero(who != who[a])))
            others = rng.permutation(np.flatnonzero((who != who[a]) & (who != who[b])))[
                :20
            ].tolist()
            truth, known = y[a].mean() - y[b].mean(), y[b]
            f = predict_scores(y[others], known)
            design = draw_subset(ids, f, 100, seed=number)
            one = np.where(design.selected, y[a], np.nan)
            of = design.stratum, design.selected
            against = subset_against_baseline(one, known, *of, bounds=(0, 1))
            without = draw_subset(ids, predict_scores(y[others]), 100, seed=number)
            first, second = (np.where(without.selected, y[m], np.nan) for m in (a, b))
            fresh = subset_pair(first, second, without.stratum, without.selected)
            chosen = np.zeros(n, bool)
            chosen[rng.permutation(n)[:100]] = True
            alone = np.where(chosen, y[a], np.nan)
            zero = np.zeros(n, int)
            regression = estimate_subset_regression(
                alone, f, zero, chosen, bounds=(0, 1)
            )
            plain, paired = (
                simple_variance(y[a], 100),
                simple_variance(y[a] - y[b], 100),
            )
            by_method = _uncertain(rng, y, a, others, ids, number, plain) | {
                "against a stored baseline": (
                    against.difference,
                    against.ci_low,
                    against.ci_high,
                    truth,
                    paired,
                ),
                "two fresh models": (
                    fresh.difference,
                    fresh.ci_low,
                    fresh.ci_high,
                    truth,
                    paired,
                ),
                "regression (Mickey)": (
                    regression.estimate,
                    regression.ci_low,
                    regression.ci_high,
                    y[a].mean(),
                    plain,
                ),
            }
            for name, (value, low, high, true, usual) in by_method.items():
                own = (value - true) ** 2
                if name == "two fresh models":
                    own = strata_variance(
                        y[a] - y[b], without.stratum, without.selected
                    )
                squares.setdefault(name, []).append((own, usual))
                if low is not None and high is not None:
                    covered.setdefault(name, []).append(low <= true <= high)
        for name, both in squares.items():
            own, usual = np.array(both).mean(axis=0)
            gains.setdefault(name, []).append(float(usual / own))
            covers.setdefault(name, []).append(float(np.mean(covered[name])))
    for name, of_method in gains.items():
        yield Tried(
            name,
            min(of_method),
            float(np.median(of_method)),
            max(of_method),
            min(covers[name]),
        )


def simple_variance(y: NDArray[np.float64], size: int) -> float:
    """Of the mean of a simple random sample."""
    return float((1 - size / len(y)) * y.var(ddof=1) / size)


def strata_variance(
    y: NDArray[np.float64], stratum: NDArray[np.intp], selected: NDArray[np.bool_]
) -> float:
    """Of the estimate from a stratified sample of these sizes, from all scores."""
    total = 0.0
    for h in range(int(stratum.max()) + 1):
        own, n = y[stratum == h], int(selected[stratum == h].sum())
        total += (len(own) / len(y)) ** 2 * (1 - n / len(own)) * own.var(ddof=1) / n
    return float(total)


def _uncertain(
    rng: np.random.Generator,
    y: Matrix,
    model: int,
    others: list[int],
    ids: list[str],
    seed: int,
    plain: float,
) -> dict[str, tuple[float | None, float | None, float | None, float, float]]:
    """The plan with history that has gaps, with scores missing at random, and grown
    from half its size."""
    truth = float(y[model].mean())
    gaps = np.where(rng.random(y[others].shape) < 0.5, y[others], np.nan)
    whole = predict_scores(y[others])
    half = draw_subset(ids, predict_scores(gaps), 100, seed=seed)
    full = draw_subset(ids, whole, 100, seed=seed)
    grown = extend_subset(draw_subset(ids, whole, 50, seed=seed), 100)
    lost = np.where(full.selected, y[model], np.nan)
    lost[rng.permutation(np.flatnonzero(full.selected))[:4]] = np.nan
    by_method = {}
    for name, design, scores in (
        (
            "half of the history's cells missing",
            half,
            np.where(half.selected, y[model], np.nan),
        ),
        ("4 of 100 scores missing at random", full, lost),
        ("extended from 50 prompts", grown, np.where(grown.selected, y[model], np.nan)),
    ):
        one = estimate_subset(scores, design.stratum, design.selected, bounds=(0, 1))
        by_method[name] = (one.estimate, one.ci_low, one.ci_high, truth, plain)
    return by_method


def write(path: Path, measured: list[Cell], tried: list[Tried]) -> None:
    """Put the tables between the marks of the page."""
    z, cover, gain = (
        np.array([getattr(cell, name) for cell in measured])
        for name in ("bias_z", "coverage", "gain")
    )
    total = sum(cell.estimates for cell in measured)
    lines = [
        f"{len(measured)} cells, {total:,} estimates: \\|bias z\\| at most "
        f"{np.abs(z).max():.2f}; coverage {cover.min():.3f} to {cover.max():.3f}, mean "
        f"{cover.mean():.3f}; gain {gain.min():.2f} to {gain.max():.2f}, median "
        f"{np.median(gain):.2f}.",
        "",
        "Every cell: [calibration/subsets.csv](calibration/subsets.csv).",
        "",
        "| at m = 100 | gain: least | median | most | lowest coverage |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {t.method} | {t.least:.2f} | {t.median:.2f} | {t.most:.2f} | "
            f"{t.coverage:.3f} |"
            for t in tried
        ),
    ]
    table = [
        f"{c.data},{c.held_out},{c.history},{c.size},{c.bias_z:+.2f},{c.coverage:.3f},{c.gain:.2f},{c.width:.3f}\n"
        for c in measured
    ]
    whole = path.parent / "calibration" / "subsets.csv"
    whole.parent.mkdir(exist_ok=True)
    whole.write_text(
        "data,held_out,history,m,bias_z,coverage,gain,width\n" + "".join(table),
        encoding="utf-8",
    )
    script.write_between(path, script.MARKS, lines)


def main() -> None:
    estimates = (4000, "of each cell; a quarter where N > 2000")
    options = script.parser_of(
        __doc__, "methods_subsets.md", {"estimates": estimates}
    ).parse_args()
    if not DATA.exists():
        return print(
            f"no real matrices in {DATA}: docs/reference/methods_subsets.md stays as "
            "it is"
        )
    measured = list(cells(options.estimates, options.seed))
    tried = list(other_methods(max(1, options.estimates // 2), options.seed))
    for one in tried:
        print(*one)
    write(options.output, measured, tried)


if __name__ == "__main__":
    main()
