"""Simulate active sampling against planned subsets on real matrices, and write the
table of docs/reference/methods_subsets.md.

As in "factorized active querying": a Rasch-like model of the prompts, fitted on the
history, follows a new model's ability answer by answer; the next prompt is drawn with a
probability that goes with the standard deviation of its answer, and the estimate is an
AIPW martingale without replacement, each step weighted by its predicted precision. Two
new models are asked the same prompts, drawn by the deviation of their difference. It is
not adopted: it gains less than 1.3 times over today's design.
"""

from __future__ import annotations

import calibration.script as script
import numpy as np
from calibrate_subsets import matrices, names_of
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit

from warehouse.stats.subsets.design import draw_subset
from warehouse.stats.subsets.expected import predict_scores

Array = NDArray[np.float64]
HISTORIES = (5, 10, 20, 40, 1000)
MARKS = ("<!-- active: begin -->", "<!-- active: end -->")
#: Share of the draws that is uniform, the grid of abilities in standard deviations, and
#: its prior's.
FLOOR, GRID, PRIOR = 0.3, np.linspace(-3.5, 3.5, 29), 1.2


def chances(history: Array) -> Array:
    """P(right) of each prompt at each ability of the grid: ridge logistic fits on the
    models' logits of accuracy."""
    m, n = history.shape
    z = logit((history.sum(axis=1) + 0.5) / (n + 1))
    centre, spread = z.mean(), max(z.std(ddof=1), 0.3)
    x = np.column_stack([np.ones(m), (z - centre) / spread])
    prior, precision = np.array([centre, spread]), np.array([0.25, 1.0])
    b = np.tile(prior, (n, 1))
    for _ in range(25):
        p = expit(b @ x.T)
        slope = (history.T - p) @ x - precision * (b - prior)
        curve = np.einsum("nm,mi,mj->nij", p * (1 - p), x, x) + np.diag(precision)
        b += np.clip(np.linalg.solve(curve, slope[..., None])[..., 0], -1, 1)
    return np.clip(
        expit(np.column_stack([np.ones(len(GRID)), GRID]) @ b.T), 0.005, 0.995
    )


def active(
    table: Array, y: Array, size: int, times: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Estimates and their variances of one model's mean, or of the difference of two;
    y: models x prompts, 0/1."""
    n, rows = y.shape[1], np.arange(times)
    d = y[0] - y[1] if len(y) == 2 else y[0]
    posterior = np.tile(-0.5 * (GRID / PRIOR) ** 2, (len(y), times, 1))
    left, known = np.ones((times, n)), np.zeros(times)
    terms, weights = np.empty((size, times)), np.empty((size, times))
    for step in range(size):
        w = np.exp(posterior - posterior.max(axis=-1, keepdims=True))
        p = (w / w.sum(axis=-1, keepdims=True)) @ table
        f = p[0] - p[1] if len(y) == 2 else p[0]
        sd = np.sqrt((p * (1 - p)).sum(axis=0)) * left
        q = (1 - FLOOR) * sd / sd.sum(axis=1, keepdims=True) + FLOOR * left / left.sum(
            axis=1, keepdims=True
        )
        ends = q.cumsum(axis=1)
        i = np.minimum(
            (ends < rng.random((times, 1)) * ends[:, -1:]).sum(axis=1), n - 1
        )
        terms[step] = (
            known + (f * left).sum(axis=1) + (d[i] - f[rows, i]) / q[rows, i]
        ) / n
        weights[step] = 1 / (sd**2 / np.where(left > 0, q, 1)).sum(axis=1)
        left[rows, i], known = 0, known + d[i]
        for k, answers in enumerate(y):
            at = table[:, i].T
            posterior[k] += np.log(np.where(answers[i][:, None] > 0.5, at, 1 - at))
    weights /= weights.sum(axis=0)
    estimate = (weights * terms).sum(axis=0)
    return estimate, (weights**2 * (terms - estimate) ** 2).sum(axis=0) * size / (
        size - 1
    )


def planned(history: Array, d: Array, size: int) -> float:
    """The variance of today's design, which is known: simple samples of its strata."""
    ids = [f"p{i}" for i in range(len(d))]
    design = draw_subset(ids, predict_scores(history), size)
    parts = [
        (d[design.stratum == h], int(design.selected[design.stratum == h].sum()))
        for h in range(design.n_strata)
    ]
    return sum(
        (len(y) / len(d)) ** 2 * (1 - k / len(y)) * y.var(ddof=1) / k
        for y, k in parts
        if len(y) > 1
    )


def cell(
    name: str, y: Array, history: int, size: int, models: int, held_out: int, times: int
) -> str:
    """A line of the table: variances over today's, and coverage."""
    rng = np.random.default_rng([history, size, models])
    known, sums, covered = np.array(names_of(name, len(y))), np.zeros(3), []
    for _ in range(held_out):
        new = rng.choice(len(y), models, replace=False)
        others = rng.permutation(np.flatnonzero(~np.isin(known, known[new])))[:history]
        d = y[new[0]] - y[new[1]] if models == 2 else y[new[0]]
        estimates, variances = active(chances(y[others]), y[new], size, times, rng)
        simple = d.var(ddof=1) * (1 / size - 1 / len(d))
        sums += (
            simple,
            planned(y[others], d, size),
            float(np.mean((estimates - d.mean()) ** 2)),
        )
        half = stats.t.ppf(0.975, size - 1) * np.sqrt(variances)
        covered.append(np.mean(np.abs(estimates - d.mean()) <= half))
    figures = (
        sums[0] / sums[1],
        sums[0] / sums[2],
        sums[1] / sums[2],
        np.mean(covered),
    )
    words = " | ".join(f"{figure:.2f}" for figure in figures[:3])
    return f"| {name} | {models} | {len(others)} | {words} | {figures[3]:.3f} |"


def main() -> None:
    counts = {
        "held_out": (50, "models or pairs, each of them new"),
        "times": (100, "samples of each"),
    }
    options = script.parser_of(
        __doc__, "methods_subsets.md", counts, seed=False
    ).parse_args()
    lines = [
        "| data | new | history | gain of today's | of active | active / today | "
        "coverage |"
    ]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, y in matrices():
        times = options.times if y.shape[1] < 2000 else max(2, options.times // 4)
        for models in (1, 2) if name in ("MATH-500", "MMLU-Pro") else ():
            for history in HISTORIES:
                if history < len(y) or history == HISTORIES[-1]:
                    lines.append(
                        script.told(
                            cell(name, y, history, 100, models, options.held_out, times)
                        )
                    )
    script.write_between(options.output, MARKS, lines)


if __name__ == "__main__":
    main()
