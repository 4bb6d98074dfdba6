"""All pairs against scipy, statsmodels and slow definitions; properties; family-wise
errors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import paired_difference
from warehouse.stats.core.draws import draw_blocks, sign_block
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.multiple.adjust import benjamini_hochberg, holm
from warehouse.stats.multiple.all_pairs import AllPairs, all_pairs
from warehouse.stats.multiple.max_t import Draws, max_t_draws
from warehouse.stats.multiple.pair_moments import centre, pair_moments
from warehouse.stats.multiple.ranks import rank_models

Floats = NDArray[np.float64]


def scores_of(
    n: int, m: int, seed: int = 0, gaps: float = 0.0, binary: bool = True
) -> Floats:
    random = np.random.default_rng(seed)
    ease = random.normal(size=(n, 1))
    found = ease + random.normal(size=(n, m)) + np.linspace(0, 0.8, m)
    found = (found > 0.3).astype(float) if binary else found
    found[random.random(found.shape) < gaps] = np.nan
    return found


def labels_of(n: int, g: int) -> NDArray[np.int64]:
    """Clusters of unequal sizes, every one used."""
    random = np.random.default_rng(5)
    return np.concatenate([np.arange(g), (random.random(n - g) ** 2 * g).astype(int)])


def common(scores: Floats, a: int, b: int) -> NDArray[np.bool_]:
    return np.isfinite(scores[:, a]) & np.isfinite(scores[:, b])


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("binary", [True, False])
def test_each_pair_is_the_paired_t_test_of_scipy(gaps: float, binary: bool) -> None:
    scores = scores_of(80, 5, gaps=gaps, binary=binary)
    found = all_pairs(scores, n_resamples=0)
    assert len(found) == 10
    for place, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        rows = common(scores, a, b)
        test = stats.ttest_rel(scores[rows, a], scores[rows, b])
        assert found.statistic[place] == pytest.approx(test.statistic, rel=1e-10)
        assert found.p_value[place] == pytest.approx(test.pvalue, rel=1e-9)
        assert found.degrees_of_freedom[place] == test.df
        correlation = np.corrcoef(scores[rows, a], scores[rows, b])[0, 1]
        assert found.correlation[place] == pytest.approx(correlation, rel=1e-10)
        assert found.n_prompts[place] == rows.sum()
    assert np.array_equal(found.p_holm, holm(found.p_value))
    assert np.array_equal(found.p_bh, benjamini_hochberg(found.p_value))


@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_clustered_errors_are_those_of_statsmodels_and_of_the_matrix_form(
    gaps: float,
) -> None:
    scores, clusters = scores_of(90, 4, gaps=gaps), labels_of(90, 9)
    found = all_pairs(scores, clusters, n_resamples=0)
    assert found.n_clusters is not None
    for place, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        rows = common(scores, a, b)
        d, groups = (scores[:, a] - scores[:, b])[rows], clusters[rows]
        fit = sm.OLS(d, np.ones(len(d))).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
        )
        g = len(set(groups))
        assert found.difference[place] == pytest.approx(fit.params[0], rel=1e-10)
        assert found.error_max_t[place] == pytest.approx(
            fit.bse[0] * np.sqrt(g / (g - 1)), rel=1e-10
        )
        assert found.standard_error[place] == pytest.approx(
            cr2_by_matrices(d, groups), rel=1e-10
        )
        one = paired_difference(scores[rows, a], scores[rows, b], clusters=groups)
        assert found.degrees_of_freedom[place] == pytest.approx(
            one.degrees_of_freedom, rel=1e-10
        )
        assert found.p_value[place] == pytest.approx(one.p_value, rel=1e-9)
        assert found.n_clusters[place] == g


def cr2_by_matrices(d: Floats, groups: NDArray[np.int64]) -> float:
    """Bell and McCaffrey: residuals by (I − H_cc)^(−1/2) in each cluster, H = 11ᵀ/n."""
    n, total = len(d), 0.0
    for group in set(groups.tolist()):
        own = (d - d.mean())[groups == group]
        values, vectors = np.linalg.eigh(
            np.eye(len(own)) - np.ones((len(own),) * 2) / n
        )
        total += float((vectors @ np.diag(values**-0.5) @ vectors.T @ own).sum()) ** 2
    return float(np.sqrt(total)) / n


def slow_t(
    scores: Floats, clusters: NDArray[np.int64] | None, n_draws: int, seed: int
) -> Floats:
    """|T*| of each pair and draw by its definition, shape (2, P, B): the null imposed
    and centred; f_c N for each cluster's part of the sum; infinite where next to
    nothing of the spread is left."""
    units = (
        np.arange(len(scores))
        if clusters is None
        else as_clusters(clusters, len(scores)).codes
    )
    n_units = int(units.max()) + 1
    signs = np.concatenate(
        [sign_block(n_units, rows, seed) for rows in draw_blocks(n_draws, 64)]
    )
    if 2**n_units <= n_draws + 1:
        signs = np.array(list(itertools.product([1.0, -1.0], repeat=n_units)))
    found: list[list[Floats]] = [[], []]
    for a, b in itertools.combinations(range(scores.shape[1]), 2):
        rows = common(scores, a, b)
        d = (scores[:, a] - scores[:, b])[rows]
        own, sizes = np.unique(units[rows], return_counts=True)
        g, f, xi = len(own), sizes / sizes.sum(), signs[:, own]
        imposed = np.array([d[units[rows] == unit].sum() for unit in own])
        for way, sums in enumerate((imposed, imposed - sizes * d.mean())):
            n = xi @ sums
            spread = ((xi * sums - f * n[:, None]) ** 2).sum(axis=1)
            spread[spread <= 1e-9 * (sums**2).sum()] = 0
            with np.errstate(divide="ignore", invalid="ignore"):
                found[way].append(np.abs(n) / np.sqrt(g / (g - 1) * spread))
    return np.array(found)


def slow_step_down(t: Floats, draws: Floats) -> Floats:
    """p of the steps: shares of the draws, shape (P, V), the sample itself among them."""
    p = np.empty(len(t))
    for k in range(len(t)):
        no_larger = draws[t <= t[k]].max(axis=0)
        p[k] = np.mean(no_larger >= t[k] * (1 - 1e-9))
    return np.array([p[t >= own].max() for own in t])


def critical(draws: Floats, place: int) -> float:
    """The larger of the two ways' largest |T*| at a place in their order."""
    return float(np.sort(draws.max(axis=1), axis=1)[:, place].max())


CASES = [
    (60, 0, 0.0),
    (60, 0, 0.2),
    (60, 8, 0.0),
    (60, 8, 0.2),
    (60, 5, 0.0),
    (60, 6, 0.2),
    (6, 0, 0.1),
    (230, 0, 0.0),
    (300, 0, 0.1),
    (300, 0, 0.01),
    (251, 0, 0.1),
    (400, 250, 0.0),
    (400, 250, 0.01),
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("n", "g", "gaps"), CASES)
def test_max_t_is_its_definition(
    n: int, g: int, gaps: float, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "warehouse.stats.multiple.max_t.MANY", 0 if compiled else math.inf
    )
    scores, clusters = (
        scores_of(n, 4, gaps=gaps, binary=n > 6),
        labels_of(n, g) if g else None,
    )
    found = all_pairs(scores, clusters, n_resamples=99, seed=3)
    draws = slow_t(scores, clusters, 99, 3)
    assert (found.n_resamples, found.exact) == (
        (2 ** (g or n), True) if (g or n) <= 6 else (99, False)
    )
    c = critical(draws, math.ceil(0.95 * (draws.shape[2] + (not found.exact))) - 1)
    assert found.critical_value == pytest.approx(c, rel=1e-9)
    own = stats.t.ppf(0.975, found.degrees_of_freedom) * found.standard_error
    width = found.simultaneous_high - found.difference
    if math.isfinite(c):
        assert width == pytest.approx(np.maximum(c * found.error_max_t, own), rel=1e-9)
    t = np.abs(found.difference) / found.error_max_t
    drawn = draws[0] if found.exact else np.column_stack([draws[0], t])
    steps = np.maximum(slow_step_down(t, drawn), found.p_value)
    assert found.p_step_down == pytest.approx(
        found.p_holm if found.places_by_holm else steps
    )
    assert found.places_by_holm == (0 < g <= 5)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("steps", [1, 20, None])
def test_many_models_without_gaps_are_as_by_definition(
    steps: int | None, clustered: bool, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole numbers of steps and others, prompts and clusters of one size; two models
    are alike, and some far apart."""
    monkeypatch.setattr(
        "warehouse.stats.multiple.max_t.MANY", 0 if compiled else math.inf
    )
    scores = scores_of(60, 18, binary=steps == 1)
    if steps == 20:
        scores = np.rint(scores * 20) / 20
    scores[:, 4] = scores[:, 3]
    scores[:, 17] += 5 * np.arange(60) / 60 if steps is None else 1 - scores[:, 17]
    clusters = np.repeat(np.arange(20), 3) if clustered else None
    found = all_pairs(scores, clusters, n_resamples=199, seed=3)
    pairs = np.flatnonzero(found.error_max_t > 0)
    assert len(pairs) == len(found) - 1
    draws = slow_t(scores, clusters, 199, 3)[:, pairs]
    assert found.critical_value == pytest.approx(critical(draws, 189), rel=1e-9)
    for model in (0, 4, 17):
        own = draws[:, (found.first[pairs] == model) | (found.second[pairs] == model)]
        assert found.critical_values[model] == pytest.approx(
            critical(own, 189), rel=1e-9
        )
    t = np.abs(found.difference / found.error_max_t)[pairs]
    expected = np.maximum(
        slow_step_down(t, np.column_stack([draws[0], t])), found.p_value[pairs]
    )
    assert found.p_step_down[pairs] == pytest.approx(expected)


def test_step_down_and_intervals_of_a_small_table() -> None:
    """All 256 vectors of signs of eight prompts, counted apart."""
    table = [
        [1, 3, 2],
        [2, 2, 4],
        [0, 3, 3],
        [1, 4, 5],
        [3, 3, 4],
        [2, 5, 6],
        [1, 1, 3],
        [0, 4, 2],
    ]
    found = all_pairs(np.array(table, dtype=float))
    assert (found.n_resamples, found.exact) == (256, True)
    assert np.abs(found.statistic) == pytest.approx(
        [3.229622823, 5.655735299, 1], rel=1e-9
    )
    assert found.p_value == pytest.approx(
        [0.014459299, 0.000769876, 0.350616663], rel=1e-6
    )
    assert found.p_step_down.tolist() == [20 / 256, 2 / 256, 120 / 256]
    assert found.critical_value == pytest.approx(3.229622823, rel=1e-9)
    assert found.simultaneous_low == pytest.approx(
        [-3.75, -3.731208132, -2.114811411], rel=1e-9
    )
    assert found.simultaneous_high == pytest.approx(
        [0, -1.018791868, 1.114811411], rel=1e-9, abs=1e-9
    )


def test_a_step_is_held_against_smaller_differences_only() -> None:
    """Two models that differ from the rest by far leave the test of the rest as sharp
    as alone."""
    random = np.random.default_rng(1)
    scores = random.normal(size=(40, 4)) + [0, 0.5, 30, 60]
    found = all_pairs(scores, n_resamples=999)
    alone = all_pairs(scores[:, :2], n_resamples=999)
    assert found.p_step_down[0] == pytest.approx(alone.p_step_down[0])


def test_models_that_share_their_gaps_are_as_by_definition() -> None:
    scores = scores_of(500, 5)
    scores[:260, :3], scores[7, 3], scores[260:, 4] = np.nan, np.nan, np.nan
    scores[260:480, 4] = scores_of(220, 1)[
        :, 0
    ]  # 220 prompts in common with the first three
    found = all_pairs(scores, n_resamples=40, seed=1, level=0.9)
    draws = slow_t(scores, None, 40, 1)
    assert found.critical_value == pytest.approx(critical(draws, 36), rel=1e-10)
    t = np.abs(found.difference) / found.error_max_t
    expected = np.maximum(
        slow_step_down(t, np.column_stack([draws[0], t])), found.p_value
    )
    assert found.p_step_down == pytest.approx(expected)


def test_one_cluster_of_many_prompts_is_no_reason_to_separate() -> None:
    """A cluster with 30 % of the prompts drives every difference: a draw that is not
    studentised by its own shares takes such noise for a finding."""
    random = np.random.default_rng(2)
    sizes = np.array([90] + [14] * 15)
    clusters = np.repeat(np.arange(16), sizes)
    shared = random.normal(size=(16, 6))
    scores = shared[clusters] + 0.1 * random.normal(size=(300, 6))
    found = all_pairs(scores, clusters, n_resamples=999, seed=1)
    assert found.critical_value == pytest.approx(
        critical(slow_t(scores, clusters, 999, 1), 949), rel=1e-10
    )
    assert found.critical_value > 4
    assert np.nanmin(found.p_step_down) > 0.05


def test_many_pairs_are_worked_on_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for gaps, g in ((0.0, 9), (0.1, 9), (0.1, 0)):
        scores, clusters = scores_of(60, 7, gaps=gaps), labels_of(60, g) if g else None
        whole = all_pairs(scores, clusters, n_resamples=99)
        monkeypatch.setattr("warehouse.stats.multiple.sign_sums.MOST_SUMS", 100)
        monkeypatch.setattr("warehouse.stats.multiple.max_t.MOST_CELLS", 100)
        parts = all_pairs(scores, clusters, n_resamples=99)
        assert parts.critical_values == pytest.approx(whole.critical_values, rel=1e-12)
        assert np.array_equal(parts.p_step_down, whole.p_step_down, equal_nan=True)
        monkeypatch.undo()


def test_each_models_own_critical_value_is_of_its_own_pairs() -> None:
    scores = scores_of(50, 4)
    found = all_pairs(scores, n_resamples=199, seed=2)
    draws = slow_t(scores, None, 199, 2)
    for model in range(4):
        others = draws[:, (found.first == model) | (found.second == model)]
        assert found.critical_values[model] == pytest.approx(
            critical(others, 189), rel=1e-10
        )
    assert found.critical_values.max() <= found.critical_value


@pytest.mark.parametrize("case", ["few", "many", "clusters", "gaps"])
def test_blocks_do_not_change_the_draws(case: str) -> None:
    n = 60 if case == "few" else 260
    scores = scores_of(n, 5, gaps=0.1 if case == "gaps" else 0)
    matrix = centre(
        scores, as_clusters(labels_of(n, 12), n) if case == "clusters" else None
    )
    moments = pair_moments(matrix)
    blocks = [
        max_t_draws(matrix, moments, Draws(300, 4, block)).largest
        for block in (1, 64, 1000)
    ]
    assert blocks[1] == pytest.approx(blocks[0], rel=1e-12)
    assert blocks[2] == pytest.approx(blocks[0], rel=1e-12)


@given(
    st.integers(0, 10_000),
    st.integers(2, 5),
    st.integers(3, 30),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_order_shift_and_scale(
    seed: int, m: int, n: int, gaps: bool, grouped: bool
) -> None:
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n, m))
    scores[random.random((n, m)) < (0.15 if gaps else 0)] = np.nan
    clusters = random.integers(0, 5, n) if grouped else None
    base = all_pairs(scores, clusters, n_resamples=0)
    rows, columns = random.permutation(n), random.permutation(m)
    shuffled = all_pairs(
        scores[np.ix_(rows, columns)],
        None if clusters is None else clusters[rows],
        n_resamples=0,
    )
    moved = all_pairs(3 + 2 * scores, clusters, n_resamples=0)
    for name in (
        "difference",
        "standard_error",
        "p_value",
        "p_holm",
        "correlation",
        "p_bh",
    ):
        expected = base.square(name)
        same = shuffled.square(name)
        assert same == pytest.approx(
            expected[np.ix_(columns, columns)], rel=1e-7, abs=1e-9, nan_ok=True
        ), name
        factor = 2 if name in ("difference", "standard_error") else 1
        assert moved.square(name) == pytest.approx(
            factor * expected, rel=1e-7, abs=1e-9, nan_ok=True
        ), name
    turned = base.square("difference")
    assert np.nan_to_num(turned) == pytest.approx(-np.nan_to_num(turned.T))


def test_singleton_clusters_are_no_clusters() -> None:
    scores = scores_of(50, 4)
    plain, single = (
        all_pairs(scores, n_resamples=199),
        all_pairs(scores, np.arange(50), n_resamples=199),
    )
    for name in (
        "standard_error",
        "p_value",
        "p_step_down",
        "simultaneous_low",
        "error_max_t",
    ):
        assert getattr(single, name) == pytest.approx(getattr(plain, name), rel=1e-9)


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    scores = scores_of(60, 4)
    one, same, other = (all_pairs(scores, n_resamples=99, seed=s) for s in (1, 1, 2))
    assert one.critical_value == same.critical_value != other.critical_value


def test_pairs_without_an_error_are_left_out_with_a_reason() -> None:
    scores = scores_of(40, 6, binary=False)
    scores[:, 1] = scores[:, 0] + 0.1  # a constant difference, up to rounding
    scores[:, 3] = np.nan
    scores[:20, 4], scores[20:, 5] = np.nan, np.nan
    scores[20, 5] = 0.3
    scores[20:, 4] = np.linspace(0, 1, 20)
    found = all_pairs(scores, n_resamples=99)
    reasons = {
        (int(a), int(b)): r
        for a, b, r in zip(found.first, found.second, found.reasons, strict=True)
    }
    assert reasons[0, 1] == "all differences are equal"
    assert reasons[0, 3] == reasons[3, 5] == "no common prompt"
    assert reasons[4, 5] == "a single common prompt"
    assert reasons[0, 2] == ""
    bad = np.array([r != "" for r in found.reasons])
    for name in (
        *(
            "standard_error",
            "statistic",
            "p_value",
            "p_holm",
            "p_bh",
            "p_step_down",
            "simultaneous_low",
        ),
        "error_max_t",
    ):
        assert np.array_equal(np.isnan(getattr(found, name)), bad), name
    assert found.difference[0] == pytest.approx(-0.1)
    assert np.isnan(found.critical_values[3])
    assert found.to_dict()["p_value"][0] is None


@pytest.mark.parametrize("gaps", [False, True])
def test_models_that_differ_within_clusters_only_have_no_error(gaps: bool) -> None:
    """The totals of every cluster agree up to rounding."""
    scores, clusters = (
        np.random.default_rng(2).random((30, 3)),
        np.repeat(np.arange(10), 3),
    )
    scores[:, 1] = scores[:, 0].reshape(10, 3)[:, ::-1].ravel()
    scores[:3] = np.nan if gaps else scores[:3]
    scores[3:6, 2] = np.nan if gaps else scores[3:6, 2]
    found = all_pairs(scores, clusters, n_resamples=99)
    assert found.difference[0] == pytest.approx(0) and np.isnan(
        found.standard_error
    ).tolist() == [True, False, False]
    assert found.reasons == ("the standard error is 0", "", "")
    shifted = all_pairs(
        np.column_stack([scores[:, 0], scores[:, 0] + 0.1]), clusters, n_resamples=0
    )
    assert shifted.reasons == ("all differences are equal",)


def test_no_correlation_is_above_1() -> None:
    for seed in range(40):
        x = np.random.default_rng(seed).random(5 + seed)
        correlation = pair_moments(
            centre(np.column_stack([x, 0.1 + x / 3, x * 7, -x]), None)
        ).correlation
        assert (np.abs(correlation) <= 1).all() and np.abs(
            correlation
        ) == pytest.approx(1)


def test_one_cluster_has_no_error_and_two_give_very_wide_intervals() -> None:
    scores = scores_of(30, 3)
    one = all_pairs(scores, np.zeros(30, dtype=int), n_resamples=99)
    assert set(one.reasons) == {"a single cluster"}
    assert np.isnan(one.p_value).all() and np.isnan(one.critical_value)
    two = all_pairs(scores, np.arange(30) % 2, n_resamples=99)
    assert np.isfinite(two.p_value).any()
    assert two.critical_value > 12.7  # t with one degree of freedom
    assert np.nanmin(two.p_step_down) > 0.05


def test_nearly_equal_models_lose_no_digits() -> None:
    random = np.random.default_rng(0)
    base = 1e3 + random.normal(size=500)
    scores = np.stack([base, base + 1e-5 * random.normal(size=500)], axis=1)
    found = all_pairs(scores, n_resamples=0)
    d = scores[:, 0] - scores[:, 1]
    assert found.standard_error[0] == pytest.approx(stats.sem(d), rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "keywords", "message"),
    [
        (np.zeros((5, 1)), {}, "2 models"),
        (np.zeros(5), {}, "2 models"),
        (np.full((5, 2), np.inf), {}, "infinite"),
        ([["a", "b"]], {}, "must hold numbers"),
        (np.zeros((5, 2)), {"clusters": [1, 2]}, "clusters"),
        (np.zeros((5, 2)), {"level": 1.0}, "level"),
        (np.zeros((5, 2)), {"n_resamples": 10}, "at least 19"),
        (np.zeros((5, 2)), {"n_resamples": -1}, "n_resamples"),
        (np.zeros((5, 2)), {"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_meant_is_said(
    scores: Floats, keywords: dict, message: str
) -> None:  # type: ignore[type-arg]
    with pytest.raises(StatisticsError, match=message):
        all_pairs(scores, **keywords)


def family_wise(
    simulate, n_simulations: int, **keywords: object
) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Shares of simulations under the null in which any pair is separated: max-|T| and
    Holm."""
    wrong = np.zeros(2)
    for seed in range(n_simulations):
        scores, clusters = simulate(np.random.default_rng(seed))
        found: AllPairs = all_pairs(
            scores, clusters, n_resamples=299, seed=seed, **keywords
        )
        wrong += [np.nanmin(found.p_step_down) <= 0.05, np.nanmin(found.p_holm) <= 0.05]
    return tuple(wrong / n_simulations)  # type: ignore[return-value]


def test_family_wise_error_without_clusters() -> None:
    def simulate(random: np.random.Generator) -> tuple[Floats, None]:
        ease = random.normal(size=(250, 1))
        return ((ease + random.normal(size=(250, 6))) > 0).astype(float), None

    max_t, by_holm = family_wise(simulate, 200)
    error = 3 * np.sqrt(0.05 * 0.95 / 200)
    assert max_t == pytest.approx(0.05, abs=error)
    assert by_holm <= 0.05 + error


@pytest.mark.parametrize(
    ("n", "m", "share"), [(8, 6, 0.5), (10, 4, 0.5), (50, 3, 0.95)]
)
def test_family_wise_error_where_few_prompts_differ(
    n: int, m: int, share: float
) -> None:
    """Where only a handful of answers differ, chance has few ways, and the test says
    so."""

    def simulate(random: np.random.Generator) -> tuple[Floats, None]:
        ease = random.normal(size=(n, 1))
        return (
            ease + random.normal(size=(n, m)) < np.sqrt(2) * stats.norm.ppf(share)
        ).astype(float), None

    max_t, _ = family_wise(simulate, 200)
    assert max_t <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize("g", [0, 9])
def test_intervals_hold_together_where_all_models_differ(g: int) -> None:
    """Large differences make all pairs swing alike if the null is imposed: the
    intervals must still allow for their number."""
    truth, outside = 2.0 * np.arange(6), 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(g), 4) if g else None
        shared = random.normal(size=(g, 6))[clusters] if g else 0.0
        scores = truth + shared + random.normal(size=(4 * g or 30, 6))
        found = all_pairs(scores, clusters, n_resamples=299, seed=seed)
        differences = truth[found.first] - truth[found.second]
        outside += bool(
            np.any(
                (differences < found.simultaneous_low)
                | (differences > found.simultaneous_high)
            )
        )
    assert outside / 150 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize("n", [4, 5, 6, 20])
def test_no_more_is_told_of_all_pairs_than_of_one_alone(n: int) -> None:
    for seed in range(40):
        scores = (np.random.default_rng(seed).random((n, 2)) < [0.9, 0.2]).astype(float)
        found = all_pairs(scores, n_resamples=199, seed=seed)
        own = stats.t.ppf(0.975, n - 1) * found.standard_error
        assert not (found.p_step_down < found.p_value).any()
        assert not (found.simultaneous_high - found.difference < own * (1 - 1e-9)).any()
        ranks = rank_models(found)
        if not found.p_value[0] <= 0.05 or n <= 5:  # two in 32 ways at best
            assert ranks.rank_high in ((2, 2), (None, None))


def test_four_prompts_tell_no_rank() -> None:
    """Whatever the answers: the set says that any rank can be, not that there is none."""
    scores = np.array([[1, 0, 0], [1, 0, 1], [1, 0, 0], [1, 1, 0]], dtype=float)
    found = all_pairs(scores, n_resamples=199)
    ranks = rank_models(found)
    assert (ranks.rank_low, ranks.rank_high) == ((1, 1, 1), (3, 3, 3))
    assert (ranks.rank_low_joint, ranks.rank_high_joint) == ((1, 1, 1), (3, 3, 3))


@pytest.mark.slow
@pytest.mark.parametrize("g", [10, 40, 250])
def test_family_wise_error_with_clusters(g: int) -> None:
    def simulate(random: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
        clusters = np.arange(4 * g) % g
        shared = random.normal(size=(g, 6))[clusters]
        return shared + random.normal(size=(4 * g, 6)), clusters

    max_t, by_holm = family_wise(simulate, 600)
    error = 3 * np.sqrt(0.05 * 0.95 / 600)
    assert max_t <= 0.05 + error
    assert max_t >= 0.02
    assert by_holm <= 0.05 + error


@pytest.mark.parametrize("gaps", [0.0, 0.05])
def test_threads_do_not_change_a_bit(
    gaps: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = scores_of(260, 5, gaps=gaps)
    many = all_pairs(scores, n_resamples=999, seed=1)
    monkeypatch.setattr("warehouse.stats.multiple.max_t.THREADS", 1)
    one = all_pairs(scores, n_resamples=999, seed=1)
    assert np.array_equal(many.critical_values, one.critical_values)
    assert np.array_equal(many.p_step_down, one.p_step_down)
