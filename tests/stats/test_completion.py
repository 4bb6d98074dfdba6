"""Figures that were not run (statistics.md §24): goldens GC1 to GC16, slow definitions,
other programs, refusals."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize
from scipy.special import expit
from scipy.stats import t as student

from tests.stats.test_published_scale import epoch
from warehouse.errors import StatisticsError
from warehouse.stats import PublishedCompletion, published_completion
from warehouse.stats.completion.completed import interval_of
from warehouse.stats.completion.folds import far_masks, random_folds, support
from warehouse.stats.completion.joint_variance import joint_variances
from warehouse.stats.completion.scale import features, log_scale, rank_quantile
from warehouse.stats.completion.start import one_factor
from warehouse.stats.completion.sweeps import Factors, fitted_factors, swept
from warehouse.stats.completion.table import Table, as_table, known_variance
from warehouse.stats.items.published_figures import Figures, as_figures

Floats = NDArray[np.float64]

GOLDEN = (math.sqrt(5) - 1) / 2
_SMALL = (
    ".9 .8 – .55 .62 / .85 .7 .6 – .5 / .8 .62 .5 .3 – / .7 – .42 .2 .3 / "
    ".55 .4 – .12 .2 / – .3 .2 .05 .1 / .4 .25 .15 – .08 / .95 .86 .75 .6 –"
)


def small() -> Table:
    """The table T of the goldens."""
    values, models, benchmarks = [], [], []
    for i, row in enumerate(_SMALL.split(" / ")):
        for j, text in enumerate(row.split()):
            if text != "–":
                values.append(float(text))
                models.append("abcdefgh"[i])
                benchmarks.append("ABCDE"[j])
    return as_table(as_figures(values, models, benchmarks))


def drawn(count: int = 14, width: int = 9, seed: int = 5) -> Figures:
    """Figures of one ability and a misfit, three in ten absent."""
    rng = np.random.default_rng(seed)
    theta, slope = rng.normal(0, 1, count), np.exp(rng.normal(0, 0.3, width))
    means = slope * theta[:, None] + rng.normal(0, 1, width)
    values = expit(means + rng.normal(0, 0.3, means.shape))
    models, benchmarks = np.nonzero(rng.random(means.shape) < 0.7)
    names = [f"m{i:02}" for i in models], [f"b{j}" for j in benchmarks]
    return as_figures(values[models, benchmarks], *names)


# --- goldens of a small table --------------------------------------------------------------------


def test_gc1_known_variances() -> None:
    found = known_variance(np.array([0.5, 0.9, 0.005]), 300.0)
    assert found == pytest.approx([0.0133333333, 0.0370370370, 0.3367003367], abs=1e-10)


def test_gc2_and_gc3_folds() -> None:
    text = "0 6 2 8 4 0 7 3 9 5 1 7 4 0 6 2 8 5 1 7 3 9 5 2 8 4 0 6 3 9 5 1"
    assert random_folds(32).tolist() == [int(fold) for fold in text.split()]
    hidden = []
    for mask in far_masks(small()):
        cells = zip(*np.nonzero(mask), strict=True)
        hidden.append(" ".join(f"{i}{j}" for i, j in cells))
    assert hidden == ["00 01 51 52", "10 12 60 62", "20 21 70 71", "30 34", "40 41"]


def test_gc4_support() -> None:
    table = small()
    assert support(table)[~table.has].tolist() == [18, 18, 18, 21, 18, 21, 18, 18]


def test_gc5_start() -> None:
    start = one_factor(small(), 200)
    found = [
        *start.theta[[0, 5, 7]],
        *np.exp(start.log_a)[[0, 3]],
        *start.d[[0, 3]],
        start.variance,
    ]
    golden = [0.89811524, -1.03669736, 1.17314092, 1.3416519, 1.46610883]
    golden += [1.07725378, -1.20926466, 0.0197154690]
    assert found == pytest.approx(golden, abs=1e-6)


def test_gc6_and_gc7_sweeps() -> None:
    factors = fitted_factors(small())
    means, variances = factors.means, joint_variances(factors)
    cells = [0, 5, 6, 7], [2, 0, 3, 4]
    assert means[cells] == pytest.approx(
        [0.84593107, -0.29355885, -2.88190159, 0.89068198], abs=1e-5
    )
    assert variances[cells] == pytest.approx(
        [0.02092971, 0.02976141, 0.04875441, 0.03874448], abs=1e-5
    )
    assert expit(means[0, 2]) == pytest.approx(0.69971290, abs=1e-5)
    golden = [0.01360554, 0.0125282, 0.01295464, 0.01409736, 0.0133685]
    assert factors.unexplained == pytest.approx(golden, abs=1e-5)
    assert factors.rate == pytest.approx(0.03322261, abs=1e-5)
    assert factors.centre[:2] == pytest.approx([-0.17129194, 1.05821763], abs=1e-5)


def test_gc8_ranks() -> None:
    assert rank_quantile(np.arange(1.0, 41.0), 0.95) == 39
    assert rank_quantile(np.arange(1.0, 19.0), 0.95) is None
    assert rank_quantile(np.arange(1.0, 21.0), 0.9) == 19


def test_gc9_ends() -> None:
    low, high = interval_of(np.array([1, -3.5, 4]), 2.5 * np.array([0.5, 0.6, 0.5]))
    assert low == pytest.approx([0.4378235, 0, 0.93991335], abs=1e-8)
    assert high == pytest.approx([0.90465054, 0.11920292, 1], abs=1e-8)


def of_tangents() -> tuple[Floats, Floats]:
    """Residuals and ξ of golden GC10."""
    k = np.arange(1, 201, dtype=np.float64)
    residuals = 0.6 * np.tan(0.8 * np.pi * (k / 201 - 0.5))
    estimates = 0.02 + 0.96 * (k * GOLDEN % 1)
    variances = 0.01 + 0.2 * (k * math.sqrt(2) % 1)
    squares = variances + 0.05 + 0.1 * (k * math.sqrt(3) % 1)
    return residuals, features(estimates, variances, np.sqrt(squares))


def test_gc10_scale_and_that_of_scipy() -> None:
    residuals, given = of_tangents()
    gamma = log_scale(residuals, given)
    golden = [-0.49738572, -0.02501724, -0.02078266, 0.01023945]
    assert gamma == pytest.approx(golden, abs=1e-5)
    scaled = np.abs(residuals) * np.exp(-given @ gamma)
    assert rank_quantile(scaled, 0.95) == pytest.approx(2.57844097, abs=1e-5)

    def loss(at: Floats) -> float:
        logs = given @ at
        densities = student.logpdf(residuals * np.exp(-logs), 5) - logs
        return float(-densities.sum() + 5 * (at[1:] ** 2).sum())

    found = minimize(loss, np.zeros(4), method="Powell", tol=1e-12)
    assert gamma == pytest.approx(found.x, abs=1e-6)


# --- oracles -------------------------------------------------------------------------------------


def test_the_start_is_that_of_scipy() -> None:
    table = as_table(drawn())
    start = one_factor(table, 200)
    count, width = table.shape
    i, j = np.nonzero(table.has)
    errors = np.sqrt(start.variance + table.known[i, j])

    def residuals(x: Floats) -> Floats:
        theta, log_a, d = np.split(x, [count, count + width])
        left = table.logits[i, j] - d[j] - np.exp(log_a[j]) * theta[i]
        return np.concatenate([left / errors, theta, 2 * log_a, d / 3])

    first = np.zeros(count + 2 * width)
    found = least_squares(residuals, first, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    parameters = np.concatenate([start.theta, start.log_a, start.d])
    assert parameters == pytest.approx(found.x, abs=1e-7)
    left = residuals(found.x)[: len(i)] * errors
    free = max(len(i) - count - 2 * width, len(i) / 4)
    assert start.variance == pytest.approx(left @ left / free, rel=1e-8)


def models_by_loops(
    table: Table, now: Factors, weights: Floats
) -> tuple[Floats, Floats]:
    """Step 1: f and F of each model."""
    count, r = now.f.shape
    t, c = now.t, now.t_cov
    f, f_cov = np.zeros((count, r)), np.zeros((count, r, r))
    for i in range(count):
        information, right = np.eye(r), np.zeros(r)
        for j in np.flatnonzero(table.has[i]):
            loading, left = t[j, 1:], table.logits[i, j] - t[j, 0]
            moment = np.outer(loading, loading) + c[j][1:, 1:]
            information += weights[i, j] * moment
            right += weights[i, j] * (loading * left - c[j][1:, 0])
        f_cov[i] = np.linalg.inv(information)
        f[i] = f_cov[i] @ right
    return f, f_cov


def benchmarks_by_loops(
    table: Table, now: Factors, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Step 3: t and C of each benchmark, and E of each model."""
    width, size = now.t.shape
    squares = np.array([np.outer(row, row) for row in now.x])
    squares[:, 1:, 1:] += now.f_cov
    prior = np.linalg.inv(now.spread)
    t, c = np.zeros((width, size)), np.zeros((width, size, size))
    for j in range(width):
        information, right = prior.copy(), prior @ now.centre
        for i in np.flatnonzero(table.has[:, j]):
            information += weights[i, j] * squares[i]
            right += weights[i, j] * table.logits[i, j] * now.x[i]
        c[j] = np.linalg.inv(information)
        t[j] = c[j] @ right
    return t, c, squares


def swept_by_loops(table: Table, now: Factors) -> Factors:
    """One sweep, figure by figure, as §24 A has its five steps."""
    (width, size), r, has = now.t.shape, now.f.shape[1], table.has
    tau, u = now.precision, now.tails
    w, weights = np.ones(table.shape), np.zeros(table.shape)
    for i, j in zip(*np.nonzero(has), strict=True):
        w[i, j] = 1 / (1 + tau[j] * table.known[i, j])
        weights[i, j] = u[i, j] * w[i, j] * tau[j]
    f, f_cov = models_by_loops(table, now, weights)
    mean = f.mean(axis=0)
    total = sum(np.outer(row - mean, row - mean) for row in f) / len(f)
    root = np.linalg.cholesky(total + f_cov.mean(axis=0))
    back = np.linalg.inv(root)
    f = np.array([back @ (row - mean) for row in f])
    f_cov = np.array([back @ one @ back.T for one in f_cov])
    turned = np.block([[np.ones((1, 1)), mean[None]], [np.zeros((r, 1)), root.T]])
    centre, spread = turned @ now.centre, turned @ now.spread @ turned.T
    now = replace(now, f=f, f_cov=f_cov, centre=centre, spread=spread)
    t, c, squares = benchmarks_by_loops(table, now, weights)
    centre = t.mean(axis=0)
    scatter = 0.2 * np.eye(size)
    for j in range(width):
        scatter += c[j] + np.outer(t[j] - centre, t[j] - centre)
    tails, sums = u.copy(), np.zeros(width)
    for i, j in zip(*np.nonzero(has), strict=True):
        left = table.logits[i, j] - now.x[i] @ t[j]
        square = left**2 + np.trace(squares[i] @ c[j]) + t[j, 1:] @ f_cov[i] @ t[j, 1:]
        tails[i, j] = 9 / (8 + tau[j] * w[i, j] * square)
        sums[j] += tails[i, j] * w[i, j] ** 2 * square + (1 - w[i, j]) / tau[j]
    after = (2.5 + has.sum(axis=0) / 2) / (now.rate + sums / 2)
    return replace(
        now, t=t, t_cov=c, precision=after, centre=centre, tails=tails,
        spread=scatter / (width + 2), rate=2.5 * width / after.sum(), weights=weights,
    )  # fmt: skip


def test_sweeps_are_those_of_loops() -> None:
    table = as_table(drawn())
    one = two = fitted_factors(table, 1)
    for _ in range(3):
        one, two = swept(table, one), swept_by_loops(table, two)
    for name in ("f", "f_cov", "t", "t_cov", "precision", "centre", "spread", "rate"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-11), name
    assert one.tails[table.has] == pytest.approx(two.tails[table.has], abs=1e-11)
    assert one.weights == pytest.approx(two.weights, abs=1e-10)


def test_the_variance_is_that_of_a_dense_inverse() -> None:
    factors = fitted_factors(as_table(drawn()))
    (count, r), (width, size) = factors.f.shape, factors.t.shape
    whole = np.eye(count * r + width * size)
    for j in range(width):
        at = count * r + j * size
        whole[at : at + size, at : at + size] = np.linalg.inv(factors.spread)

    def gradient(i: int, j: int) -> Floats:
        along = np.zeros(len(whole))
        along[i * r : i * r + r] = factors.loadings[j]
        along[count * r + j * size : count * r + (j + 1) * size] = factors.x[i]
        return along

    for i, j in np.ndindex(count, width):
        along = gradient(i, j)
        whole += factors.weights[i, j] * np.outer(along, along)
    inverse, expected = np.linalg.inv(whole), np.zeros((count, width))
    for i, j in np.ndindex(count, width):
        expected[i, j] = gradient(i, j) @ inverse @ gradient(i, j)
    assert joint_variances(factors) == pytest.approx(expected, rel=1e-10)


def test_known_errors_count() -> None:
    names = ["a", "b", "c"], ["x", "x", "y"]
    table = as_table(as_figures([0.5, 0.8, 0.4], *names, [0.05, 0.0, 0.0]))
    expected = [[0.04, 0], [1 / 48, 0], [0, 1 / 72]]
    assert table.known == pytest.approx(np.array(expected))
    assert table.questions == pytest.approx([100, 300])


# --- the answer ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> PublishedCompletion:
    return published_completion(drawn())


def test_a_cell_says_what_would_be_expected(found: PublishedCompletion) -> None:
    i, j = np.argwhere(found.shown)[0]
    said = found.predicted(found.models[i], found.benchmarks[j])
    assert said.reason is None and said.published is None
    assert said.estimate is not None and said.ci_low is not None
    assert said.ci_high is not None
    assert 0 <= said.ci_low < said.estimate < said.ci_high <= 1
    wider = found.at(0.97).predicted(said.model, said.benchmark)
    assert wider.ci_low is not None and wider.ci_low < said.ci_low
    assert wider.estimate == said.estimate and wider.level == 0.97


def test_a_published_figure_is_not_replaced(found: PublishedCompletion) -> None:
    figures = drawn()
    names = figures.models[figures.model[0]], figures.benchmarks[figures.benchmark[0]]
    said = found.predicted(*names)
    assert (said.estimate, said.ci_low, said.reason) == (None, None, "published")
    assert said.published == figures.values[0]


def test_order_of_figures_and_names_change_nothing(found: PublishedCompletion) -> None:
    figures = drawn()
    order = np.random.default_rng(0).permutation(len(figures.values))
    models = [f"x{figures.models[m]}" for m in figures.model[order]]
    benchmarks = [figures.benchmarks[j] for j in figures.benchmark[order]]
    other = published_completion(as_figures(figures.values[order], models, benchmarks))
    assert other.quantiles == pytest.approx(found.quantiles, abs=1e-9)
    for i, j in np.argwhere(found.shown):
        one = found.predicted(found.models[i], found.benchmarks[j])
        two = other.predicted(other.models[i], other.benchmarks[j])
        assert (two.estimate, two.ci_low, two.ci_high) == pytest.approx(
            (one.estimate, one.ci_low, one.ci_high), abs=1e-9
        )


def test_pairs_are_stated_outside_of_intervals_only(
    found: PublishedCompletion,
) -> None:
    stated = 0
    for j, i in np.argwhere(found.shown.T):
        benchmark, model = found.benchmarks[j], found.models[i]
        said = found.predicted(model, benchmark)
        for other in found.models:
            if other == model:
                continue
            pair = found.pair(model, other, benchmark)
            against = found.predicted(other, benchmark)
            mirrored = found.pair(other, model, benchmark)
            assert mirrored.above == pair.above
            if against.reason == "published":
                assert pair.n_predicted == 1 and said.ci_low is not None
                assert against.published is not None and said.ci_high is not None
                expected = None
                if against.published > said.ci_high:
                    expected = other
                elif against.published < said.ci_low:
                    expected = model
                assert pair.above == expected
                stated += expected is not None
            elif against.reason is None:
                assert pair.difference is not None and pair.needed is not None
                is_stated = abs(pair.difference) > pair.needed
                assert (pair.above is not None) == is_stated
    assert stated > 5


def test_two_published_figures_are_no_pair_to_expect(
    found: PublishedCompletion,
) -> None:
    ran = []
    for model in found.models:
        if found.predicted(model, "b0").reason == "published":
            ran.append(model)
    assert found.pair(ran[0], ran[1], "b0").reason == "published"


def test_next_benchmarks_narrow_the_others(found: PublishedCompletion) -> None:
    model = found.models[int(found.shown.sum(axis=1).argmax())]
    said = found.next_benchmarks(model, 2)
    falls = [one.narrows_by for one in said.benchmarks]
    assert len(falls) == 2 and falls[0] >= falls[1] > 0
    assert said.mean_width is not None and 0 < said.mean_width < 1


# --- refusals and flags --------------------------------------------------------------------------


def test_too_few_figures_are_refused() -> None:
    with pytest.raises(StatisticsError, match=r"too few figures \(32\): a benchmark's"):
        values = [0.5 + 0.01 * k for k in range(32)]
        models = [f"m{k // 4}" for k in range(32)]
        published_completion(
            as_figures(values, models, [f"b{k % 4}" for k in range(32)])
        )


def test_two_worlds_are_refused() -> None:
    models = [f"m{m}" for m in range(20) for _ in range(6)]
    benchmarks = [f"b{j + 6 * (m % 2)}" for m in range(20) for j in range(6)]
    with pytest.raises(StatisticsError, match="2 components"):
        published_completion(as_figures([0.5] * 120, models, benchmarks))


def with_more(rows: list[tuple[str, str, float]]) -> Figures:
    """The drawn figures and some more."""
    figures = drawn()
    models = [figures.models[m] for m in figures.model]
    benchmarks = [figures.benchmarks[j] for j in figures.benchmark]
    values = figures.values.tolist()
    for model, benchmark, value in rows:
        models.append(model)
        benchmarks.append(benchmark)
        values.append(value)
    return as_figures(values, models, benchmarks)


def test_models_and_benchmarks_of_few_figures_say_so() -> None:
    few = [("few", f"b{j}", 0.5) for j in range(3)]
    rare = [(f"m{i:02}", "rare", 0.4) for i in range(2)]
    found = published_completion(with_more([*few, *rare]))
    assert found.left_out_models == (("few", 3),)
    assert found.left_out_benchmarks == (("rare", 2),)
    with pytest.raises(StatisticsError, match="few has 3 figures: four are needed"):
        found.predicted("few", "b5")
    with pytest.raises(StatisticsError, match="rare has 2 figures: four are needed"):
        found.predicted("m05", "rare")
    with pytest.raises(StatisticsError, match="no figure is of the model 'none'"):
        found.next_benchmarks("none")


def test_what_strong_models_ran_says_so() -> None:
    """Benchmarks run by the best, or by the worst, half of twenty models."""
    values, models, benchmarks = [], [], []
    rng = np.random.default_rng(2)
    for i in range(20):
        for j, name in enumerate(["all", "also", "third", "fourth", "top", "low"]):
            if (name == "top" and i < 10) or (name == "low" and i >= 10):
                continue
            values.append(float(expit(0.2 * i - 2 + 0.1 * j + rng.normal(0, 0.1))))
            models.append(f"m{i:02}")
            benchmarks.append(name)
    found = published_completion(as_figures(values, models, benchmarks))
    flags = dict(zip(found.benchmarks, found.run_by, strict=True))
    assert (flags["top"], flags["low"], flags["all"]) == (
        "strong_only", "weak_only", None,
    )  # fmt: skip
    said = found.predicted("m00", "top")
    assert said.flags == ("extrapolated", "strong_only")


def test_all_alike_stays_finite() -> None:
    figures = drawn()
    names = (
        [figures.models[m] for m in figures.model],
        [figures.benchmarks[j] for j in figures.benchmark],
    )
    for value in (0.0, 0.5, 1.0):
        alike = published_completion(as_figures([value] * len(names[0]), *names))
        i, j = np.argwhere(alike.shown)[0]
        said = alike.predicted(alike.models[i], alike.benchmarks[j])
        assert said.estimate == pytest.approx(value, abs=0.05)


# --- real figures --------------------------------------------------------------------------------


def test_gc11_to_gc14_benchmark_stitching(data_dir: Path) -> None:
    found = published_completion(epoch(data_dir / "benchmark_stitching" / "data"))
    lower = found.at(0.9)
    # GC11
    assert found.quantiles == pytest.approx([2.5842947] * 38, abs=1e-4)
    assert lower.quantiles == pytest.approx([2.0564556] * 38, abs=1e-4)
    golden = [-0.1452830, 0.0890250, 0.0903803, -0.0415041]
    assert found.scale == pytest.approx(golden, abs=1e-4)
    assert (found.n_held_out, found.n_far) == (2020, 696)
    assert found.median_error == pytest.approx(0.0396605, abs=1e-4)
    absent = np.prod(found.shown.shape) - found.n_figures
    assert (found.support_needed, int(absent)) == (20, 5478)
    assert found.shown.sum() == 3162
    assert (found.shown & found.extrapolated).sum() == 1119
    assert (found.support[~found._table.has] == 19).sum() == 80
    # GC12
    model, other = "gpt-5-pro-2025-10-06_high", "OTIS Mock AIME 2024-2025"
    for benchmark, golden, c in (
        ("GPQA diamond", [0.8717999, 0.7804178, 0.9286300, 0.8022843, 0.9193317], 124),
        (other, [0.9306431, 0.7564154, 0.9830450, 0.8072192, 0.9772723], 117),
    ):
        wide, narrow = (one.predicted(model, benchmark) for one in (found, lower))
        figures = [wide.estimate, wide.ci_low, wide.ci_high]
        figures += [narrow.ci_low, narrow.ci_high]
        assert figures == pytest.approx(golden, abs=1e-4)
        assert (wide.support, wide.n_of_model) == (c, 4)
        assert "extrapolated" in wide.flags
    # GC13
    said = found.next_benchmarks(model, 4)
    assert [one.benchmark.removeprefix("external_benchmark_") for one in said.benchmarks] == [
        other, "gso_bench", "terminal_bench", "SWE-Bench verified",
    ]  # fmt: skip
    falls = [one.narrows_by for one in said.benchmarks]
    golden = [0.0161908, 0.0128017, 0.0105954, 0.0105909]
    assert falls == pytest.approx(golden, abs=1e-4)
    assert said.mean_width == pytest.approx(0.2818902, abs=1e-4)
    # GC14
    far = found.predicted("Baichuan-2-13B-Base", "FrontierMath-2025-02-28-Private")
    assert (far.estimate, far.reason, far.support) == (None, "too_far", 11)
    two = "gpt-5-2025-08-07_high", "o3-2025-04-16_medium"
    pair = found.pair(*two, "external_benchmark_balrog")
    assert (pair.above, pair.n_predicted) == (None, 2)
    assert pair.difference == pytest.approx(0.1335253, abs=1e-4)
    assert pair.needed == pytest.approx(1.0629997, abs=1e-4)


def dclm(data_dir: Path) -> tuple[Floats, list[str]]:
    """Accuracies of models (rows of the file) on benchmarks, and these by name."""
    file = data_dir / "dclm_database" / "DCLM_model_database_half.csv"
    with file.open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines))
    header = list(rows[0])
    first, last = header.index("mmlu_zeroshot"), header.index("svamp")
    names = []
    for name in sorted(header[first : last + 1]):
        numbers = np.array([float(row[name] or "nan") for row in rows])
        there = numbers[~np.isnan(numbers)]
        is_share = ((there >= 0) & (there <= 1)).all()
        if not name.startswith("aggregated") and is_share:
            names.append(name)
    table = [[float(row[name] or "nan") for name in names] for row in rows]
    return np.array(table), names


@pytest.mark.rare
def test_gc15_and_gc16_hidden_figures_of_dclm_are_covered(data_dir: Path) -> None:
    values, names = dclm(data_dir)
    assert values.shape == (175, 57)
    numbers = np.arange(1, values.size + 1).reshape(values.shape)
    there = ~np.isnan(values)
    kept = there & (numbers * math.sqrt(3) % 1 >= 0.7)
    i, j = np.nonzero(kept)
    figures = as_figures(values[kept], [f"{k:03}" for k in i], [names[k] for k in j])
    found = published_completion(figures)
    lower = found.at(0.9)
    assert found.n_figures == 2755
    assert found.quantiles[0] == pytest.approx(2.7339045, abs=1e-4)
    assert lower.quantiles[0] == pytest.approx(2.1368671, abs=1e-4)
    golden = [-0.3029343, 0.9259443, 0.0193193, -0.1904519]
    assert found.scale == pytest.approx(golden, abs=1e-4)
    assert (found.n_held_out, found.n_far) == (4186, 1431)
    assert found.median_error == pytest.approx(0.0138904, abs=1e-4)
    assert found.shown.sum() == pytest.approx(4802, abs=2)
    covered, errors = [], []
    for i, j in np.argwhere(found.shown):
        truth = values[int(found.models[i]), names.index(found.benchmarks[j])]
        if math.isnan(truth):
            continue
        wide, narrow = (
            one.predicted(found.models[i], found.benchmarks[j])
            for one in (found, lower)
        )
        covered.append([one.ci_low <= truth <= one.ci_high for one in (wide, narrow)])
        errors.append(abs(wide.estimate - truth))
    assert len(errors) == pytest.approx(4267, abs=2)
    assert np.mean(covered, axis=0) == pytest.approx([0.943754, 0.896414], abs=1e-4)
    assert np.median(errors) == pytest.approx(0.0129406, abs=1e-4)
    assert np.mean(errors) == pytest.approx(0.0237040, abs=1e-4)
