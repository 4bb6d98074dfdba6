"""Figures that are built of others keep ends and flags of their parts: slow
definitions, other libraries, bounds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from warehouse.errors import StatisticsError
from warehouse.stats import (
    combine_leaves,
    estimate_mean,
    estimate_subset,
    horizon_trend,
    leaf_cell,
    paired_difference,
    plan_from_one,
    plan_from_pilot,
    prediction_powered_difference,
    prediction_powered_mean,
    template_figures,
    time_horizons,
    unpaired_difference,
)
from warehouse.stats.core.draws import summarise_draws
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.intervals.bootstrap_t import (
    N_RESAMPLES,
    resample_counts,
    studentised_draws,
)
from warehouse.stats.intervals.estimate_mean import flags_of_mean
from warehouse.stats.intervals.stratified_bootstrap_t import (
    stratified_draws,
    stratified_skewness,
)
from warehouse.stats.paired.prompts_fixed import paired_difference_prompts_fixed
from warehouse.stats.preferences.contrasts import _drawn, _root
from warehouse.stats.subsets.differences import subset_against_baseline, subset_pair
from warehouse.stats.subsets.regression import combine_subsets
from warehouse.stats.suites.combined_differences import (
    BenchmarkDifference,
    combine_differences,
)
from warehouse.stats.suites.parts import flags_that_count

NAN = float("nan")


def skewed(n: int, seed: int, sigma: float = 1.0) -> np.ndarray:
    return np.exp(sigma * np.random.default_rng(seed).standard_normal(n))


# --- flags of parts ------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_flags_pass_on_from_a_quarter_of_the_variance(
    variances: list[float], data: st.DataObject
) -> None:
    chosen = [
        data.draw(
            st.sampled_from([(), ("few_clusters",), ("subset",), ("subset", "skewed")])
        )
        for _ in variances
    ]
    flagged = {"few_clusters", "skewed"}
    held = sum(
        v for own, v in zip(chosen, variances, strict=True) if flagged & set(own)
    )
    found = set(flags_that_count(chosen, np.array(variances)))
    expected = (
        {flag for own in chosen for flag in own} & flagged
        if held > 0.25 * sum(variances) > 0
        else set()
    )
    if abs(held - 0.25 * sum(variances)) > 1e-9:
        assert found == expected


def few_beside_many(
    clusters: int, weights: list[float] | None = None
) -> tuple[str, ...]:
    rng = np.random.default_rng(3)
    of = np.repeat(np.arange(clusters), 20)
    few = (rng.random(len(of)) < rng.beta(3.4, 0.6, clusters)[of]).astype(float)
    many = (rng.random(1000) < 0.9).astype(float)
    cells = [
        leaf_cell(few, of, flags=flags_of_mean(few, clusters=of, bounds=(0, 1))),
        leaf_cell(
            many, 10_000 + np.arange(1000), flags=flags_of_mean(many, bounds=(0, 1))
        ),
    ]
    return combine_leaves(cells, weights, bounds=(0, 1)).flags


def test_a_suite_with_few_clusters_says_so_unless_they_hardly_count() -> None:
    assert few_beside_many(6) == ("few_informative_clusters",)
    assert few_beside_many(6, [0.02, 0.98]) == ()
    assert few_beside_many(200) == ()


@pytest.mark.parametrize(
    ("clusters", "wrong", "is_flagged"),
    [(100, 9, False), (100, 7, True), (18, 9, True)],
)
def test_few_clusters_with_the_rarer_answer_count_less_beside_others(
    clusters: int, wrong: int, is_flagged: bool
) -> None:
    """Of 100 clusters that cover .946 beside 1 000 prompts, 27 % of samples were
    flagged."""
    of = np.repeat(np.arange(clusters), 5)
    few = np.ones(len(of))
    few[: 5 * wrong : 5] = 0  # one in each of so many
    flags = flags_of_mean(few, clusters=of, bounds=(0, 1))
    assert flags == ("few_informative_clusters",)
    cell = leaf_cell(few, of, flags=flags)
    assert cell.informative == pytest.approx(wrong)
    many = np.arange(1000) % 10 != 0
    cells = [cell, leaf_cell(many.astype(float), 10_000 + np.arange(1000))]
    assert combine_leaves(cells, [0.8, 0.2], bounds=(0, 1)).flags == (
        flags if is_flagged else ()
    )


def test_a_corrected_mean_is_skewed_where_its_labels_are() -> None:
    """What the judge leaves of large labels is small where none was drawn, and the
    interval too short."""
    n_flagged = {True: 0, False: 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for is_skewed in (True, False):
            people = (
                rng.lognormal(-0.5, 1.0, 400)
                if is_skewed
                else 1 + rng.standard_normal(400)
            )
            judge = (
                people * rng.lognormal(0, 0.3, 400)
                if is_skewed
                else people + 0.5 * rng.standard_normal(400)
            )
            figure = prediction_powered_mean(
                np.where(np.arange(400) < 50, people, np.nan), judge
            )
            n_flagged[is_skewed] += "skewed" in figure.flags
    assert n_flagged[True] >= 32 and n_flagged[False] == 0


def test_flags_without_the_interval_are_those_of_the_estimate() -> None:
    rng = np.random.default_rng(1)
    for scores, keys in (
        (rng.integers(0, 2, 40).astype(float), {"bounds": (0, 1)}),
        (rng.random(20), {"bounds": (0, 1)}),
        (skewed(60, 1), {}),
        (rng.random(40), {"clusters": np.arange(40) // 4, "bounds": (0, 1)}),
        (rng.random(40), {"weights": skewed(40, 2, 2.0)}),
    ):
        assert flags_of_mean(scores, **keys) == estimate_mean(scores, **keys).flags  # type: ignore[arg-type]


def test_many_small_benchmarks_of_right_and_wrong_answers_are_not_few_prompts() -> None:
    rng = np.random.default_rng(2)
    scores = [(rng.random(60) < 0.7).astype(float) for _ in range(4)]
    cells = [
        leaf_cell(own, 100 * k + np.arange(60), flags=flags_of_mean(own, bounds=(0, 1)))
        for k, own in enumerate(scores)
    ]
    assert all(cell.flags == ("few_prompts",) for cell in cells)
    assert combine_leaves(cells, bounds=(0, 1)).flags == ()


def test_a_mean_difference_carries_the_flags_of_what_it_rests_on() -> None:
    rng = np.random.default_rng(4)
    wide = BenchmarkDifference(
        rng.normal(0, 5, 50), np.arange(50), 0.7, 49, flags=("few_clusters", "subset")
    )
    narrow = BenchmarkDifference(
        rng.normal(0, 1, 50), 100 + np.arange(50), 0.14, 49, flags=("skewed",)
    )
    assert combine_differences([wide, narrow]).flags == ("few_clusters", "skewed")
    assert combine_differences([wide, narrow], weights=[0.05, 1]).flags == (
        "few_clusters",
        "skewed",
    )
    calm = BenchmarkDifference(rng.normal(0, 5, 50), 100 + np.arange(50), 0.7, 49)
    assert combine_differences([narrow, calm]).flags == ()


# --- stratified samples --------------------------------------------------------------------------


def test_one_stratum_is_the_plain_bootstrap_t() -> None:
    values = np.sort(skewed(40, 5))
    found = stratified_draws(values, np.zeros(40, np.intp), np.ones(1), 39)
    plain = studentised_draws(values - values.mean(), None, 39, 0)
    assert found is not None and plain is not None
    assert found.values == pytest.approx(plain.values, rel=1e-9)


def test_strata_are_resampled_each_by_itself() -> None:
    values, stratum, shares = (
        skewed(21, 6),
        np.array([0] * 8 + [1] * 6 + [2] * 7),
        np.array([0.5, 0.2, 0.3]),
    )
    expected = []
    for resample in range(N_RESAMPLES):
        moved = variance = 0.0
        for number, share in enumerate(shares):
            own = values[stratum == number]
            drawn = np.repeat(
                own, resample_counts(len(own), number)[resample].astype(int)
            )
            moved += share * (drawn.mean() - own.mean())
            variance += share**2 * drawn.var(ddof=1) / len(own)
        expected.append(moved / math.sqrt(variance) if variance > 1e-20 else 0.0)
    found = stratified_draws(values, stratum, shares, 18)
    assert found is not None and found.values == pytest.approx(
        np.sort(expected), rel=1e-7, abs=1e-9
    )


@given(st.floats(-5, 5), st.floats(0.1, 50))
def test_draws_do_not_depend_on_the_unit_and_turn_with_the_sign(
    shift: float, scale: float
) -> None:
    values, stratum, shares = skewed(24, 7), np.arange(24) % 3, np.full(3, 1 / 3)
    plain = stratified_draws(values, stratum, shares, 21)
    moved = stratified_draws(shift + scale * values, stratum, shares, 21)
    turned = stratified_draws(-values, stratum, shares, 21)
    assert plain is not None and moved is not None and turned is not None
    assert moved.values == pytest.approx(plain.values, rel=1e-5, abs=1e-6)
    assert turned.values == pytest.approx(plain.turned.values, rel=1e-9, abs=1e-12)


def test_skewness_of_a_stratified_mean_is_that_of_its_parts() -> None:
    values = skewed(30, 18)
    one = stratified_skewness(values, np.zeros(30, np.intp), np.ones(1))
    third, variance = (
        ((values - values.mean()) ** 3).mean() / 30**2,
        values.var(ddof=1) / 30,
    )
    assert one == pytest.approx(third / variance**1.5)
    assert one == pytest.approx(scipy_stats.skew(values) / 30**0.5, rel=0.1)
    halves = stratified_skewness(
        np.tile(values, 2), np.repeat([0, 1], 30), np.full(2, 0.5)
    )
    assert halves == pytest.approx(one / 2**0.5)  # independent parts alike
    assert stratified_skewness(np.ones(8), np.zeros(8, np.intp), np.ones(1)) == 0


def laid_out(scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    stratum = np.arange(n) % 5
    selected = np.arange(n) < len(scores)
    return np.where(selected, np.resize(scores, n), NAN), stratum, selected


def test_a_subset_without_bounds_is_no_nearer_than_t_and_its_p_agrees_with_it() -> None:
    scores, stratum, selected = laid_out(skewed(50, 8), 400)
    found = estimate_subset(scores, stratum, selected)
    assert (
        found.method == "hull_subset"
        and found.standard_error is not None
        and "draws" not in found.to_dict()
    )
    scores[0] += 20
    assert estimate_subset(scores, stratum, selected).flags == ("skewed",)
    scores[0] -= 20
    half = t_quantile(0.95, 45) * found.standard_error
    assert (
        found.ci_low <= found.estimate - half + 1e-12
        and found.ci_high > found.estimate + half
    )  # type: ignore[operator]
    for off in np.linspace(-1, 1, 9):
        base = np.full(400, (found.estimate or 0) + off * half)
        difference = subset_against_baseline(scores, base, stratum, selected)
        assert (
            difference.p_value is not None
            and difference.ci_low is not None
            and difference.ci_high is not None
        )
        assert (difference.p_value > 0.05) == (
            difference.ci_low < 0 < difference.ci_high
        )


def test_differences_on_a_subset_stay_within_the_range_of_scores_with_bounds() -> None:
    a, stratum, selected = laid_out(np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 0.0]), 40)
    b = np.where(selected, 1 - np.nan_to_num(a), NAN)
    bounded, free = (
        subset_pair(a, b, stratum, selected, bounds=bounds) for bounds in ((0, 1), None)
    )
    assert bounded.ci_high == 1 < (free.ci_high or 0)
    assert bounded.method == "t_subset"


def test_several_subsets_reach_as_far_as_their_own_ends_and_carry_their_flags() -> None:
    few = estimate_subset(*laid_out(skewed(20, 9, 1.5), 200))
    many = estimate_subset(*laid_out(np.random.default_rng(1).normal(1, 0.1, 60), 200))
    both = combine_subsets([few, many])
    assert (
        few.flags == ("few_prompts", "skewed") == both.flags
        and both.ci_high is not None
    )
    above = (
        math.hypot(
            *((part.ci_high or 0) - (part.estimate or 0) for part in (few, many))
        )
        / 2
    )
    assert both.ci_high >= both.estimate + above - 1e-12
    assert combine_subsets([few, many], [1e-6, 1]).flags == ()


# --- corrected means -----------------------------------------------------------------------------


def test_a_corrected_mean_without_bounds_is_no_nearer_than_t() -> None:
    people = skewed(600, 10)
    people[:3] = 30
    judge = people * skewed(600, 11, 0.3)
    labels = np.where(np.arange(600) < 60, people, NAN)
    found = prediction_powered_mean(labels, judge)
    assert found.method == "prediction_powered_hull"
    assert found.standard_error is not None and found.degrees_of_freedom is not None
    half = t_quantile(0.95, found.degrees_of_freedom) * found.standard_error
    assert found.low is not None and found.high is not None
    assert (
        found.low <= found.estimate - half + 1e-12
        and found.high > found.estimate + half
    )
    assert "skewed" in found.flags
    even = 1 + np.random.default_rng(1).normal(0, 1, 600)
    assert (
        prediction_powered_mean(
            np.where(np.arange(600) < 60, even, NAN), even + 0.1
        ).flags
        == ()
    )


@pytest.mark.parametrize("design", ["plain", "clusters", "strata", "probabilities"])
def test_p_of_a_corrected_difference_agrees_with_its_interval(design: str) -> None:
    rng = np.random.default_rng(12)
    people = [skewed(400, 13), skewed(400, 14)]
    judges = [own * skewed(400, 15 + k, 0.3) for k, own in enumerate(people)]
    labelled = np.arange(400) % 4 == 0
    more = {
        "plain": {},
        "clusters": {"clusters": np.arange(400) // 8},
        "strata": {"strata": np.arange(400) % 3},
        "probabilities": {
            "probabilities": np.where(labelled, rng.uniform(0.2, 0.4, 400), 0.25)
        },
    }[design]
    for shift in (0.0, 0.2, 0.4, 0.8):
        labels = [
            np.where(labelled, own, NAN) for own in (people[0] + shift, people[1])
        ]
        found = prediction_powered_difference(
            *labels, judges[0] + shift, judges[1], **more
        )  # type: ignore[arg-type]
        assert (
            found.p_value is not None
            and found.low is not None
            and found.high is not None
        )
        assert (found.p_value > 0.05) == (found.low < 0 < found.high)


# --- votes, horizons, plans ----------------------------------------------------------------------


def test_errors_of_pairs_are_drawn_as_scipy_s_wishart_has_them() -> None:
    rng = np.random.default_rng(0)
    sides = rng.standard_normal((5, 5))
    sigma = sides @ sides.T
    variances = np.diag(sigma)[:, None] + np.diag(sigma) - 2 * sigma
    inverse = np.where(variances > 0, 1 / np.sqrt(np.maximum(variances, 1e-9)), 0)
    found = _drawn(_root(sigma), inverse, 9.0, 20_000, np.random.default_rng(1))
    moved = rng.multivariate_normal(np.zeros(5), sigma, 20_000)
    spread = scipy_stats.wishart(9, sigma / 9).rvs(20_000, random_state=2)
    first, second = np.triu_indices(5, 1)
    own = (
        spread[:, first, first]
        + spread[:, second, second]
        - 2 * spread[:, first, second]
    )
    expected = (np.abs(moved[:, first] - moved[:, second]) / np.sqrt(own)).max(axis=1)
    for share in (0.5, 0.9, 0.95):
        assert np.quantile(found, share) == pytest.approx(
            np.quantile(expected, share), rel=0.03
        )


def test_with_many_degrees_the_largest_difference_is_tukey_s() -> None:
    inverse = np.where(np.eye(6) > 0, 0, 1 / math.sqrt(2))
    found = _drawn(np.eye(6), inverse, 80.0, 40_000, np.random.default_rng(3))
    assert np.quantile(found, 0.95) == pytest.approx(
        scipy_stats.studentized_range.ppf(0.95, 6, 80) / 2**0.5, rel=0.01
    )


def tasks(
    runs: int, agents: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    minutes = 2 ** rng.uniform(0, 10, 40)
    chance = 1 / (1 + np.exp(0.6 * (np.log2(minutes) - 5)))
    return (
        minutes,
        np.arange(40),
        rng.binomial(runs, chance, (agents, 40)),
        np.full((agents, 40), runs),
    )


def test_one_run_of_each_task_has_fieller_s_interval() -> None:
    (auto,), (fieller,), (drawn,) = (
        time_horizons(*tasks(1), interval=name, n_resamples=100)
        for name in ("auto", "fieller", "ftr")
    )
    assert (auto.interval, drawn.interval) == ("fieller", "ftr")
    assert [(h.low, h.high) for h in auto.horizons] == [
        (h.low, h.high) for h in fieller.horizons
    ]
    assert not len(auto.horizons[0].samples) and len(drawn.horizons[0].samples) == 100
    (several,), (asked,) = (
        time_horizons(*tasks(5), interval=name, n_resamples=100)
        for name in ("auto", "ftr")
    )
    assert several.interval == "ftr" and [
        (h.low, h.high) for h in several.horizons
    ] == [(h.low, h.high) for h in asked.horizons]


def test_a_trend_has_its_samples_whatever_the_intervals_are_by() -> None:
    minutes, families, solved, runs = tasks(1, 3)
    fits = time_horizons(
        minutes, families, solved, runs, resample=True, n_resamples=100
    )
    assert {fit.interval for fit in fits} == {"fieller"}
    assert all(len(fit.horizons[0].samples) == 100 for fit in fits)
    assert horizon_trend([1, 2, 3], [fit.horizons[0] for fit in fits]).n_models == 3


def test_a_pilot_of_skewed_scores_without_bounds_says_so() -> None:
    values = skewed(50, 16, 1.5)
    assert "skewed_pilot" in plan_from_pilot(values, np.zeros(50)).flags
    assert "skewed_pilot" in plan_from_one(values).flags
    assert (
        "skewed_pilot"
        not in plan_from_pilot(values / values.max(), np.zeros(50), bounds=(0, 1)).flags
    )
    assert (
        "skewed_pilot"
        not in plan_from_pilot(
            np.random.default_rng(1).normal(0, 1, 50), np.zeros(50)
        ).flags
    )
    clusters = np.repeat(np.arange(8), 10)
    by_cluster = np.repeat(skewed(8, 17, 2.0), 10)
    assert (
        "skewed_pilot"
        in plan_from_pilot(by_cluster, np.zeros(80), clusters=clusters).flags
    )


# --- templates without answers -------------------------------------------------------------------

TABLE = np.array(
    [[0.61, 0.55, 0.70], [0.51, 0.42, 0.66], [0.71, 0.69, 0.77], [0.3, 0.35, 0.41]]
)


def test_parts_of_published_figures_are_those_of_statsmodels() -> None:
    frame = pd.DataFrame(
        [
            {"model": f"m{m}", "template": f"t{t}", "y": value}
            for m, row in enumerate(TABLE)
            for t, value in enumerate(row)
        ]
    )
    squares = anova_lm(ols("y ~ C(model) + C(template)", frame).fit())["mean_sq"]
    found = template_figures(TABLE, bounds=(0, 1))
    assert found.variance_residual == pytest.approx(squares["Residual"])
    assert found.variance_templates == pytest.approx(
        (squares["C(template)"] - squares["Residual"]) / 4
    )
    assert found.variance_models == pytest.approx(
        (squares["C(model)"] - squares["Residual"]) / 3
    )
    variance = (squares["C(template)"] + 3 * squares["Residual"]) / 12
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    per_template = found.variance_templates + found.variance_residual
    assert found.templates_needed(0.02) == math.ceil(per_template / 0.02**2)


@given(
    st.integers(2, 6),
    st.integers(2, 9),
    st.integers(0, 10_000),
    st.sampled_from([0.01, 0.3, 3.0]),
)
def test_intervals_of_published_figures_stay_within_the_bounds(
    models: int, count: int, seed: int, spread: float
) -> None:
    table = np.clip(
        np.random.default_rng(seed).normal(0.8, spread, (models, count)), 0, 1
    )
    found = template_figures(table, bounds=(0, 1))
    if found.standard_error is None:
        assert np.isnan(found.ci_low).all()
        return
    assert (
        (found.ci_low >= 0).all()
        and (found.ci_high <= 1).all()
        and found.standard_error > 0
    )
    assert (found.ci_low <= found.estimates).all() and (
        found.estimates <= found.ci_high
    ).all()


@pytest.mark.parametrize(
    "table",
    [[[0.5, 0.6]], [[0.5], [0.6]], [[0.5, NAN], [0.1, 0.2]], [[1.5, 0.2], [0.1, 0.2]]],
)
def test_what_is_no_table_of_figures_is_refused(table: list[list[float]]) -> None:
    with pytest.raises(StatisticsError, match="figures"):
        template_figures(table, bounds=(0, 1))


# --- what a difference can be ---------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=6),
    st.lists(st.integers(0, 1), min_size=2, max_size=6),
)
def test_differences_of_right_and_wrong_answers_lie_between_minus_1_and_1(
    a: list[int], b: list[int]
) -> None:
    ends = []
    unpaired = unpaired_difference(a, b)
    ends += [unpaired.ci_low, unpaired.ci_high, unpaired.z_ci_low, unpaired.z_ci_high]
    n = min(len(a), len(b))
    paired = paired_difference(a[:n], b[:n], bounds=(0, 1))
    ends += [paired.ci_low, paired.ci_high]
    prompts = np.repeat(np.arange(n), 2)
    sides = [
        summarise_draws(np.ravel([own[:n], own[::-1][:n]], order="F"), prompts)
        for own in (a, b)
    ]
    fixed = paired_difference_prompts_fixed(*sides, bounds=(0, 1))
    ends += [fixed.ci_low, fixed.ci_high]
    assert all(end is None or -1 <= end <= 1 for end in ends)
