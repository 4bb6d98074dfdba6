"""One scale by published figures: least squares of scipy, errors by other ways,
refusals, goldens of real data."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, least_squares
from scipy.special import expit
from scipy.stats import t as student

from warehouse.errors import StatisticsError
from warehouse.stats.items.published_figures import (
    Figures,
    as_figures,
    where,
    with_enough,
)
from warehouse.stats.items.published_scale import (
    ScaleFit,
    held_out,
    published_scale,
    scale_trend,
)

Floats = NDArray[np.float64]


def drawn(
    count: int = 24, width: int = 9, seed: int = 3, share: float = 0.6
) -> Figures:
    rng = np.random.default_rng(seed)
    theta, a, d = (
        rng.normal(0, 0.8, count),
        np.exp(rng.normal(0.2, 0.4, width)),
        rng.normal(0, 1, width),
    )
    m, j = np.nonzero(rng.random((count, width)) < share)
    values = np.clip(expit(a[j] * theta[m] + d[j]) + rng.normal(0, 0.07, len(m)), 0, 1)
    return as_figures(values, [f"m{i:02}" for i in m], [f"b{i}" for i in j])


def residuals_of(figures: Figures, variance: float) -> Callable[[Floats], Floats]:
    """Residuals and priors of statistics.md §13b as one vector."""
    count, width = len(figures.models), len(figures.benchmarks)

    def residuals(x: Floats) -> Floats:
        theta, log_a, d = np.split(x, [count, count + width])
        p = expit(
            np.exp(log_a[figures.benchmark]) * theta[figures.model]
            + d[figures.benchmark]
        )
        weighted = (figures.values - p) / np.sqrt(variance + figures.variance)
        return np.concatenate([weighted, theta, log_a / 0.5, d / 3])

    return residuals


def by_scipy(figures: Figures, variance: float) -> tuple[Floats, Floats]:
    """The parameters and their covariance, by another program."""
    start = np.zeros(len(figures.models) + 2 * len(figures.benchmarks))
    found = least_squares(
        residuals_of(figures, variance), start, xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    return found.x, np.linalg.inv(found.jac.T @ found.jac)


@pytest.mark.parametrize("errors", [False, True])
def test_the_fit_and_its_errors_are_those_of_scipy(errors: bool) -> None:
    figures = drawn(16, 6, share=0.8)
    if errors:
        known = np.random.default_rng(1).choice([0.0, 0.02, 0.15], len(figures.values))
        names = (
            [figures.models[m] for m in figures.model],
            [figures.benchmarks[j] for j in figures.benchmark],
        )
        figures = as_figures(figures.values, *names, known)
    scale = published_scale(figures)
    count, width = len(figures.models), len(figures.benchmarks)
    x, covariance = by_scipy(figures, scale.misfit**2)
    theta, log_a, d = np.split(x, [count, count + width])
    assert scale.ability == pytest.approx(
        (theta - theta.mean()) / theta.std(), abs=1e-4
    )
    assert scale.pool_sd == pytest.approx(theta.std(), abs=1e-4)
    assert scale.slope == pytest.approx(np.exp(log_a) * theta.std(), rel=1e-3)
    assert scale.difficulty == pytest.approx(
        (-d / np.exp(log_a) - theta.mean()) / theta.std(), abs=1e-3
    )
    assert scale.se_info == pytest.approx(
        np.sqrt(np.diag(covariance)[:count]) / theta.std(), rel=1e-3
    )
    left = residuals_of(figures, scale.misfit**2)(x)[: len(figures.values)]
    assert left @ left == pytest.approx(len(left) - count - 2 * width, rel=1e-3)
    # a difference with the third model, and the figure of a cell, by the whole
    # covariance
    apart = np.eye(count) - np.eye(count)[2]
    info = (
        np.sqrt(np.einsum("ij,jk,ik->i", apart, covariance[:count, :count], apart))
        / theta.std()
    )
    jackknife = by_leaving_out(figures, scale)
    difference, error = scale.differences(2)
    both = np.sqrt(
        (width - 1)
        / width
        * (((apart @ jackknife.T).T - apart @ jackknife.mean(axis=0)) ** 2).sum(axis=0)
    )
    assert difference == pytest.approx(scale.ability - scale.ability[2])
    assert error == pytest.approx(np.maximum(info, both), rel=0.01, abs=1e-4)

    def figure(parameters: Floats) -> float:
        theta, log_a, d = np.split(parameters, [count, count + width])
        return float(expit(np.exp(log_a[1]) * theta[5] + d[1]))

    gradient = approx_fprime(x, figure, 1e-7)
    n = int((figures.benchmark == 1).sum())
    own = (10 * scale.misfit**2 + n * scale.residual[1] ** 2) / (10 + n)
    of_each = expit(
        np.exp(log_a)[figures.benchmark] * theta[figures.model] + d[figures.benchmark]
    )
    squares = (figures.values - of_each) ** 2
    nearest = np.argsort(np.abs(of_each - figure(x)))[: max(20, len(squares) // 4)]
    own *= max(1.0, squares[nearest].mean() / squares.mean())
    half = student.ppf(0.95, 8 + n) * np.sqrt(own + gradient @ covariance @ gradient)
    expected = figure(x)
    assert scale.predicted(5, 1, 0.9) == pytest.approx(
        (expected, max(expected - half, 0), min(expected + half, 1)), abs=1e-3
    )


def by_leaving_out(figures: Figures, scale: ScaleFit) -> Floats:
    """Abilities without each benchmark, all fitted from the beginning; models and
    priors stay."""
    rows = []
    for j in range(len(figures.benchmarks)):
        part, variance = where(figures, figures.benchmark != j), scale.misfit**2
        free = (
            len(part.values) - len(figures.models) - 2 * (len(figures.benchmarks) - 1)
        )
        for _ in range(7):
            x, _ = by_scipy(
                part, variance
            )  # the benchmark that is left out stays where its prior is
            left = residuals_of(part, variance)(x)[: len(part.values)]
            variance *= float(left @ left) / free
        theta = x[: len(figures.models)]
        rows.append((theta - theta.mean()) / theta.std())
    return np.array(rows)


def test_order_of_figures_and_names_change_nothing() -> None:
    figures = drawn()
    order = np.random.default_rng(0).permutation(len(figures.values))
    names = (
        [figures.models[m] for m in figures.model],
        [figures.benchmarks[j] for j in figures.benchmark],
    )
    other = as_figures(
        figures.values[order],
        [names[0][i] for i in order],
        [names[1][i] for i in order],
    )
    one, two = published_scale(figures), published_scale(other)
    assert one.models == two.models and one.ability == pytest.approx(
        two.ability, abs=1e-9
    )
    assert one.standard_error == pytest.approx(two.standard_error, abs=1e-6)
    assert one.ability.mean() == pytest.approx(
        0, abs=1e-12
    ) and one.ability.std() == pytest.approx(1)


def test_a_trend_is_the_slope_over_days() -> None:
    scale = published_scale(drawn())
    years = np.repeat(2020 + np.arange(12) / 4, 2)
    years[3] = np.nan
    known = np.isfinite(years)
    found = scale_trend(scale, years)
    assert found.estimate == pytest.approx(
        np.polyfit(years[known], scale.ability[known], 1)[0]
    )
    assert (found.n_models, found.n_days) == (23, 12)
    assert found.r_squared == pytest.approx(
        np.corrcoef(years[known], scale.ability[known])[0, 1] ** 2
    )
    slopes = [
        np.polyfit(years[known], ability[known], 1)[0] for ability in scale.left_out
    ]
    assert found.standard_error > np.sqrt(
        8 / 9 * ((np.array(slopes) - np.mean(slopes)) ** 2).sum()
    )
    with pytest.raises(StatisticsError, match="3 different days"):
        scale_trend(scale, np.full(24, 2020.0))


def test_what_is_no_scale_is_refused() -> None:
    with pytest.raises(
        StatisticsError,
        match="9 figures are too few for 3 models and 3 benchmarks: more than 9",
    ):
        published_scale(
            as_figures(np.linspace(0.1, 0.9, 9), [*"aaabbbccc"], [*"xyz" * 3])
        )
    names = (
        [f"m{m}" for m in range(12) for _ in range(8)],
        [f"b{j + 8 * (m % 2)}" for m in range(12) for j in range(8)],
    )
    apart = as_figures(np.linspace(0.1, 0.9, 96), *names)
    with pytest.raises(
        StatisticsError, match="2 components .6 models on b0, b1, .*; 6 models on b10"
    ):
        published_scale(apart)


@pytest.mark.parametrize(
    ("values", "models", "words"),
    [([0.2, 1.2], "ab", r"in \[0, 1\]"), ([0.2, 0.3], "aa", "several figures on x"), ([0.2], "ab", "one value"),
     ([0.1, float("nan")], "ab", r"in \[0, 1\]")],
)  # fmt: skip
def test_strange_figures_are_refused(
    values: list[float], models: str, words: str
) -> None:
    with pytest.raises(StatisticsError, match=words):
        as_figures(values, list(models), ["x"] * len(models))
    with pytest.raises(StatisticsError, match="standard errors"):
        as_figures([0.1], ["a"], ["x"], [-1.0])


def test_models_and_benchmarks_of_few_figures_go_until_none_is_left() -> None:
    models = [*"aaaabbbbccccdddd", "e", "a", "e"]
    benchmarks = [*"wxyz" * 4, "w", "rare", "rare"]
    left = with_enough(as_figures([0.5] * 19, models, benchmarks))
    assert left.models == tuple("abcd") and left.benchmarks == tuple("wxyz")
    assert not len(with_enough(as_figures([0.5], ["a"], ["x"])).values)


def test_all_alike_and_at_the_ends() -> None:
    names = (
        [f"m{m}" for m in range(12) for _ in range(8)],
        [f"b{j}" for _ in range(12) for j in range(8)],
    )
    with pytest.raises(StatisticsError, match="tell no two apart"):
        published_scale(as_figures([0.5] * 96, *names))
    only = published_scale(
        as_figures([0.5 if i % 8 else (i // 8) / 12 for i in range(96)], *names)
    )
    assert (
        np.isfinite(only.se_jackknife).all() and only.se_jackknife.max() > 1
    )  # one benchmark says it all
    ends = published_scale(
        as_figures([float(i % 8 < i // 8) for i in range(96)], *names)
    )
    assert np.isfinite(
        ends.standard_error
    ).all() and ends.ability.argmin() == ends.models.index("m0")


# --- real figures --------------------------------------------------------------------------------

_COLUMNS = (
    ("Mean score", 0.1), *((name, 0.01) for name in (
        "Percent correct", "Challenge score", "Average progress", "Average", "Overall pass (%)", "Unguided % Solved",
        "Average score", "Lab Success %", "16k token score", "ACW Country %", "EM", "Score OPT@1", "Overall accuracy",
        "Global average", "Weighted Score", "Score (AVG@5)", "Accuracy mean", "% Resolved", "Overall (no subtitles)",
        "Correct", "Accuracy", "Score",
    )),
)  # fmt: skip


def epoch(folder: Path) -> Figures:
    """The figures that its loader keeps: models of four benchmarks, released since
    November 2022."""
    best: dict[tuple[str, str], float] = {}

    def put(model: str, benchmark: str, value: float) -> None:
        best[model, benchmark] = max(best.get((model, benchmark), 0), min(value, 1))

    for row in _rows(folder / "benchmarks_runs.csv"):
        if not row["task"].endswith("-Public"):
            put(row["model"], row["task"], float(row["Best score (across scorers)"]))
    for file in sorted(folder.glob("external_benchmark_*.csv")):
        if file.stem.endswith(("boolq", "mcbench")):
            continue
        for row in _rows(file):
            column, factor = next(
                (name, factor) for name, factor in _COLUMNS if name in row
            )
            text = row[column].strip().rstrip("%")
            if row["Model version"] and text:
                put(row["Model version"], file.stem, float(text) * factor)
    days = {
        row["id"]: row["Version release date"]
        for row in _rows(folder / "model_versions.csv")
    }
    kept = [key for key in best if days.get(key[0], "") >= "2022-11-01"]
    return with_enough(
        as_figures([best[key] for key in kept], *zip(*kept, strict=True))
    )


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8-sig") as lines:
        return list(csv.DictReader(lines))


def test_goldens_of_benchmark_stitching(data_dir: Path) -> None:
    """statistics.md §13b: another program's fit of the same definitions."""
    figures = epoch(data_dir / "benchmark_stitching" / "data")
    assert (len(figures.values), len(figures.models), len(figures.benchmarks)) == (
        1324,
        179,
        38,
    )
    scale = published_scale(figures)
    assert scale.misfit == pytest.approx(
        0.0802, abs=1e-4
    ) and scale.pool_sd == pytest.approx(0.599, abs=2e-3)
    spread = np.sort(scale.residual)
    assert (spread[0], np.median(spread), spread[-1]) == pytest.approx(
        (0.024, 0.064, 0.159), abs=1e-3
    )
    slopes = scale.slope / scale.pool_sd
    assert (slopes.min(), slopes.max()) == pytest.approx((0.69, 5.30), abs=0.02)
    top = [scale.models[m] for m in np.argsort(-scale.ability)[:10]]
    assert top == [
        "gpt-5-pro-2025-10-06_high", "gpt-5.1_high", "gpt-5-2025-08-07_high", "gpt-5-2025-08-07_medium",
        "gpt-5.1_medium", "gemini-2.5-pro-preview-06-05", "o3-2025-04-16_high", "grok-4-0709",
        "o3-2025-04-16_medium", "gpt-5-mini-2025-08-07_high",
    ]  # fmt: skip
    best = np.argsort(-scale.ability)[:10]
    assert scale.ability[best] == pytest.approx(
        [1.854, 1.848, 1.840, 1.770, 1.660, 1.578, 1.563, 1.544, 1.540, 1.507], abs=1e-3
    )
    assert scale.n_benchmarks[best].tolist() == [4, 6, 12, 14, 4, 8, 11, 13, 11, 8]
    assert scale.se_info[best[:4]] == pytest.approx(
        [0.245, 0.234, 0.220, 0.214], abs=1e-3
    )
    assert scale.se_jackknife[best[:4]] == pytest.approx(
        [0.143, 0.181, 0.137, 0.215], abs=0.011
    )
    assert (np.median(scale.se_jackknife), np.median(scale.se_info)) == pytest.approx(
        (0.140, 0.177), abs=2e-3
    )
    check = held_out(figures)
    assert check.scale**2 == pytest.approx(0.0095, abs=4e-4)
    assert check.additive**2 == pytest.approx(0.0136, abs=4e-4)
    assert check.means**2 == pytest.approx(0.0340, abs=4e-4)
