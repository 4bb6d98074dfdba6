"""A sample in place of a benchmark: goldens, enumeration of all samples, slow
definitions, edge rules."""

from __future__ import annotations

import hashlib
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tests.support.samples import G15_ASKED, G15_STRATA, every_sample, g15, laid_out
from warehouse.errors import StatisticsError
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.intervals.closed_form import interval_wilson
from warehouse.stats.subsets.design import allocate, draw_subset, extend_subset, runs_of
from warehouse.stats.subsets.differences import subset_against_baseline, subset_pair
from warehouse.stats.subsets.estimate import estimate_subset
from warehouse.stats.subsets.expected import predict_scores
from warehouse.stats.subsets.sample import hypergeometric_interval

NAN = float("nan")


def golden(value: float) -> object:
    return pytest.approx(value, abs=1e-10)


def test_g15_strata_and_allocation() -> None:
    design = draw_subset([f"p{i}" for i in range(17)], np.arange(17) / 20, 9)
    assert np.bincount(design.stratum).tolist() == [9, 8]
    assert np.bincount(design.stratum[design.selected]).tolist() == [5, 4]
    assert design.inclusion[[0, 16]].tolist() == [5 / 9, 4 / 8]


def test_g15_estimate_and_intervals() -> None:
    scores, selected = g15()
    found = estimate_subset(scores, G15_STRATA, selected, bounds=(0, 1))
    assert found.estimate == golden(0.564705882353)
    assert found.standard_error is not None and found.standard_error**2 == golden(
        0.0143944636678
    )
    assert (found.degrees_of_freedom, found.effective_n) == (7, golden(11.7322558539))
    wilson = interval_wilson(
        (found.estimate or 0) * (found.effective_n or 0), found.effective_n or 0
    )
    assert (wilson.low, wilson.high) == (golden(0.301990920386), golden(0.795499753211))
    exact = hypergeometric_interval(5, 17, 9)
    assert (found.ci_low, found.ci_high) == (
        min(wilson.low, exact[0]),
        max(wilson.high, exact[1]),
    )
    assert found.flags == ("few_prompts", "few_informative_prompts")


def test_g15_other_estimands() -> None:
    scores, selected = g15()
    sampled = estimate_subset(
        scores, G15_STRATA, selected, bounds=(0, 1), estimand="prompts_sampled"
    )
    assert (sampled.standard_error or 0) ** 2 == golden(0.0344809688581)
    fours = np.ceil(np.arange(1, 18) / 4)
    clustered = estimate_subset(
        scores,
        G15_STRATA,
        selected,
        bounds=(0, 1),
        estimand="prompts_sampled",
        clusters=fours,
    )
    assert (clustered.standard_error or 0) ** 2 == golden(0.0374012486044)
    assert clustered.degrees_of_freedom == 4
    draws = np.array(
        [[int(c) for c in pair] for pair in "00 01 11 00 11 11 10 00 11".split()], float
    )
    means, asked = laid_out(G15_ASKED, draws.mean(axis=1), 17)
    within = laid_out(G15_ASKED, draws.var(axis=1, ddof=1), 17)[0]
    plain = estimate_subset(means, G15_STRATA, asked, bounds=(0, 1))
    assert (plain.standard_error or 0) ** 2 == golden(0.0125720876586)
    both = estimate_subset(
        means,
        G15_STRATA,
        asked,
        bounds=(0, 1),
        estimand="prompts_fixed",
        within=within,
        n_draws=np.full(17, 2),
    )
    assert (both.standard_error or 0) ** 2 == golden(0.0158592848904)
    assert (
        (both.standard_error or 0) ** 2 - (plain.standard_error or 0) ** 2
    ) * 17 == golden(0.0558823529412)
    with pytest.raises(StatisticsError, match="two draws"):
        estimate_subset(
            means,
            G15_STRATA,
            asked,
            bounds=(0, 1),
            estimand="prompts_fixed",
            within=within,
            n_draws=np.ones(17),
        )


def test_estimate_and_variance_are_unbiased_over_all_samples() -> None:
    y = np.random.default_rng(1).normal(size=11)
    stratum = runs_of(11, 2)
    found = []
    for asked in every_sample(stratum, [3, 2]):
        scores, selected = laid_out(asked, y[asked], 11)
        estimate = estimate_subset(scores, stratum, selected)
        found.append((estimate.estimate, (estimate.standard_error or 0) ** 2))
    values, variances = np.array(found).T
    assert values.mean() == pytest.approx(y.mean(), abs=1e-12)
    assert variances.mean() == pytest.approx(values.var(), abs=1e-12)


def test_hypergeometric_interval_by_its_definition() -> None:
    def chance(k: int, x: int, n: int, m: int) -> float:
        return comb(k, x) * comb(n - k, m - x) / comb(n, m)

    for n, m, x in ((17, 9, 5), (40, 12, 0), (40, 12, 12), (100, 30, 3)):
        kept = [
            k
            for k in range(n + 1)
            if sum(chance(k, one, n, m) for one in range(x, m + 1)) > 0.025
            and sum(chance(k, one, n, m) for one in range(x + 1)) > 0.025
        ]
        assert hypergeometric_interval(x, n, m) == (kept[0] / n, kept[-1] / n)


def test_simple_sample_is_the_textbook_one() -> None:
    rng = np.random.default_rng(4)
    asked, y = rng.permutation(200)[:60], rng.normal(size=60)
    scores, selected = laid_out(asked, y, 200)
    found = estimate_subset(scores, np.zeros(200, int), selected)
    error = y.std(ddof=1) / np.sqrt(60) * np.sqrt(1 - 60 / 200)
    assert (found.standard_error, found.degrees_of_freedom) == (
        pytest.approx(error),
        59,
    )
    assert found.ci_high == pytest.approx(
        scipy_stats.t.interval(0.95, 59, y.mean(), error)[1]
    )
    sampled = estimate_subset(
        scores, np.zeros(200, int), selected, estimand="prompts_sampled"
    )
    assert sampled.standard_error == pytest.approx(
        y.std(ddof=1) / np.sqrt(60) * np.sqrt(200 / 199)
    )


@pytest.mark.parametrize("complete", [True, False])
def test_prediction_is_least_squares(complete: bool) -> None:
    rng = np.random.default_rng(5)
    table = rng.random((6, 9)) + rng.random((6, 1)) + rng.random(9)
    if complete:
        assert predict_scores(table) == pytest.approx(table.mean(axis=0))
        return
    table[rng.random(table.shape) < 0.4] = NAN
    table[:, 3] = NAN
    rows, columns = np.nonzero(np.isfinite(table))
    design = np.zeros((len(rows), 15))
    design[np.arange(len(rows)), rows] = 1
    design[np.arange(len(rows)), 6 + columns] = 1
    effects = np.linalg.lstsq(design, table[rows, columns], rcond=None)[0]
    models, prompts = effects[:6], effects[6:]
    shift = models[rows].mean()
    expected = prompts + shift
    expected[3] = np.nanmean(table)
    assert predict_scores(table) == pytest.approx(expected)


def test_prediction_of_parts_baseline_and_none() -> None:
    apart = np.array(
        [[1, 0, NAN, NAN], [1, 1, NAN, NAN], [NAN, NAN, 0, 0], [NAN, NAN, 0, 1.0]]
    )
    assert predict_scores(apart) == pytest.approx([1, 0.5, 0, 0.5])
    base = np.array([1, 0, 1, 0.0])
    assert predict_scores(apart, base) == pytest.approx([1, 0.25, 0.5, 0.25])
    assert predict_scores(None, base).tolist() == base.tolist()
    assert predict_scores(np.empty((0, 4)), n=4).tolist() == [0, 0, 0, 0]
    with pytest.raises(StatisticsError, match="no finite score of 1 of 4"):
        predict_scores(None, [1, 0, NAN, 1])
    with pytest.raises(StatisticsError, match="infinite"):
        predict_scores([[1, float("inf")]])
    with pytest.raises(StatisticsError, match="has 4 prompts"):
        predict_scores(apart, [1.0, 0])


def test_sample_is_that_of_the_slow_definition() -> None:
    ids, f = (
        [f"q{i}" for i in range(50)],
        np.round(np.random.default_rng(6).random(50), 1),
    )

    def digest(purpose: str, one: str) -> str:
        return hashlib.sha256(f"{purpose}|7|{one}".encode()).hexdigest()

    order = sorted(range(50), key=lambda i: (f[i], digest("tie", ids[i])))
    strata = [order[:17], order[17:34], order[34:]]
    drawn = [5, 5, 4]  # 14 · 17/50 = 4.76, twice; 14 · 16/50 = 4.48
    expected = {
        i
        for own, k in zip(strata, drawn, strict=True)
        for i in sorted(own, key=lambda i: digest("draw", ids[i]))[:k]
    }
    design = draw_subset(ids, f, 14, seed=7)
    assert set(np.flatnonzero(design.selected)) == expected


@given(st.integers(1, 60), st.data(), st.integers(0, 5))
def test_sample_does_not_hang_on_the_order_of_rows(
    n: int, data: st.DataObject, seed: int
) -> None:
    size, grown = sorted(data.draw(st.tuples(st.integers(1, n), st.integers(1, n))))
    f = np.random.default_rng(n).integers(0, 4, n) / 7
    ids = [f"p{i}" for i in range(n)]
    design = draw_subset(ids, f, size, seed=seed)
    turned = draw_subset(ids[::-1], f[::-1], size, seed=seed)
    assert (
        design.selected.tolist() == turned.selected[::-1].tolist()
        and design.size == size
    )
    assert design.stratum.tolist() == turned.stratum[::-1].tolist()
    more = extend_subset(design, grown)
    assert more.size == grown and not (design.selected & ~more.selected).any()
    assert more.stratum is design.stratum


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.data())
def test_allocation_is_by_largest_remainder(
    sizes: list[int], data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, sum(sizes)))
    drawn = allocate(np.array(sizes), m)
    exact = m * np.array(sizes) / sum(sizes)
    assert (
        drawn.sum() == m
        and (drawn <= sizes).all()
        and (np.abs(drawn - exact) < 1).all()
    )


def test_strata_without_prediction_are_one() -> None:
    design = draw_subset([f"p{i}" for i in range(40)], np.full(40, 1 / 3), 20)
    assert design.n_strata == 1 and design.size == 20


@pytest.mark.parametrize("size", [0, 41, -1, 2.5, True])
def test_sizes_without_sense(size: object) -> None:
    with pytest.raises(StatisticsError, match="from 1 to all 40"):
        draw_subset([f"p{i}" for i in range(40)], np.zeros(40), size)  # type: ignore[arg-type]


def test_bad_designs() -> None:
    with pytest.raises(StatisticsError, match="another one has"):
        draw_subset(["a", "a"], [0.0, 1], 1)
    with pytest.raises(StatisticsError, match="not finite"):
        draw_subset(["a", "b"], [0.0, float("inf")], 1)
    with pytest.raises(StatisticsError, match="not shrink"):
        extend_subset(draw_subset(list("abcd"), np.zeros(4), 3), 2)


def test_intervals_at_the_edges() -> None:
    n = 40

    def of(y: np.ndarray, bounds: tuple[float, float] | None = (0, 1), size: int = 40):
        scores, selected = laid_out(np.arange(len(y)), y, size)
        return estimate_subset(scores, np.zeros(size, int), selected, bounds=bounds)

    whole = of(np.tile([0.0, 1], 20))
    assert (whole.ci_low, whole.ci_high, whole.method) == (0.5, 0.5, "all_prompts")
    few = of(np.tile([0.0, 1, 1], 2))
    assert few.estimate == 4 / 6 and few.ci_low is None and "fewer than 8" in few.reason
    zeros = of(np.zeros(20))
    n_0 = 20 / (1 - 20 / 40)
    exact = hypergeometric_interval(0, 40, 20)[1]
    assert (zeros.ci_low, zeros.ci_high) == (
        0,
        max(interval_wilson(0, n_0).high, exact),
    )
    same = of(np.full(20, 0.3))
    assert same.ci_low is None and "no variance" in same.reason
    assert of(np.full(20, 7.0), None).ci_low is None
    t = of(np.arange(30.0), None)
    error = np.std(np.arange(30), ddof=1) / np.sqrt(30) * np.sqrt(1 - 30 / n)
    assert t.ci_low == pytest.approx(14.5 - t_quantile(0.95, 29) * error)
    percent = of(100 * np.tile([0.0, 1], 15), (0, 100))
    share = of(np.tile([0.0, 1], 15))
    assert (
        percent.ci_low == pytest.approx(100 * (share.ci_low or 0)) and share.flags == ()
    )
    effective = (
        0.25
        / ((1 - 30 / n) * 0.25 * 30 / 29 / 30)
        * (z_quantile(0.95) / t_quantile(0.95, 29)) ** 2
    )
    assert share.effective_n == pytest.approx(effective)


def test_scores_that_are_missing() -> None:
    rng = np.random.default_rng(8)
    n, stratum = 400, runs_of(400, 10)
    asked = np.concatenate([np.arange(h * 40, h * 40 + 4) for h in range(10)])
    y = (rng.random(40) < 0.6).astype(float)
    scores, selected = laid_out(asked, y, n)
    scores[asked[:2]] = NAN  # 2 of 40 = 5 %: half of the first stratum
    found = estimate_subset(scores, stratum, selected, bounds=(0, 1))
    assert (found.n_scored, found.n_strata, found.degrees_of_freedom) == (38, 10, 28)
    assert "missing_in_sample" in found.flags
    filled = [np.where(selected & np.isnan(scores), end, scores) for end in (0.0, 1.0)]
    low, high = (
        estimate_subset(one, stratum, selected, bounds=(0, 1)) for one in filled
    )
    assert (found.bound_low, found.bound_high) == (low.estimate, high.estimate)
    assert found.bound_ci_low == min(low.ci_low or 0, found.ci_low or 0)
    assert found.bound_ci_high == max(high.ci_high or 0, found.ci_high or 0)
    scores[asked[:2]], scores[asked[8:10]], scores[asked[10]] = y[:2], NAN, NAN
    many = estimate_subset(scores, stratum, selected, bounds=(0, 1))
    assert many.estimate is None and many.ci_low is None and many.bound_low is not None
    assert "3 of 40 prompts have no score" in many.reason


def test_strata_join_from_above() -> None:
    stratum = runs_of(40, 4)
    asked = np.array([0, 10, 11, 20, 30, 31, 32, 33, 34, 35])  # 1, 2, 1, 6
    y = np.arange(10.0)
    scores, selected = laid_out(asked, y, 40)
    found = estimate_subset(scores, stratum, selected)
    assert (found.n_strata, found.degrees_of_freedom) == (
        2,
        8,
    )  # 3 joins 2, then 1 joins 2: 4 of 30, 6 of 10
    assert found.estimate == pytest.approx(0.75 * y[:4].mean() + 0.25 * y[4:].mean())
    assert "joined_strata" in found.flags


def test_against_a_baseline() -> None:
    rng = np.random.default_rng(9)
    n, base = 300, (rng.random(300) < 0.6).astype(float)
    design = draw_subset([f"p{i}" for i in range(n)], base, 60)
    y = np.where(rng.random(n) < 0.2, 1 - base, base)
    scores = np.where(design.selected, y, NAN)
    alone = estimate_subset(scores, design.stratum, design.selected, bounds=(0, 1))
    found = subset_against_baseline(
        scores, base, design.stratum, design.selected, bounds=(0, 1)
    )
    assert found.difference == pytest.approx((alone.estimate or 0) - base.mean())
    assert found.ci_low == pytest.approx((alone.ci_low or 0) - base.mean())
    at_p = estimate_subset(
        scores,
        design.stratum,
        design.selected,
        bounds=(0, 1),
        level=1 - (found.p_value or 0),
    )
    assert base.mean() == pytest.approx(
        min((at_p.ci_low, at_p.ci_high), key=lambda end: abs((end or 0) - base.mean()))
    )
    sampled = subset_against_baseline(
        scores,
        base,
        design.stratum,
        design.selected,
        bounds=(0, 1),
        estimand="prompts_sampled",
    )
    psi = np.zeros(n)
    means = np.array(
        [
            y[(design.stratum == h) & design.selected].mean()
            for h in range(design.n_strata)
        ]
    )
    for i in range(n):
        h = design.stratum[i]
        n_h, big = (
            int((design.selected & (design.stratum == h)).sum()),
            int((design.stratum == h).sum()),
        )
        psi[i] = (means[h] - (alone.estimate or 0)) / n - (base[i] - base.mean()) / n
        if design.selected[i]:
            psi[i] += (y[i] - means[h]) * big / n_h / n * np.sqrt(n_h / (n_h - 1))
    error = np.sqrt(n / (n - 1) * (psi**2).sum())
    assert sampled.standard_error == pytest.approx(error)
    t = t_quantile(0.95, sampled.degrees_of_freedom or 0)
    assert sampled.ci_high == pytest.approx((found.difference or 0) + t * error)
    with pytest.raises(StatisticsError, match="no finite score of 1 prompts"):
        subset_against_baseline(
            scores, np.r_[NAN, base[1:]], design.stratum, design.selected
        )


def test_two_fresh_models() -> None:
    scores, selected = g15()
    other = np.where(selected, 0.0, NAN)
    other[G15_ASKED[:3]] = 1
    found = subset_pair(scores, other, G15_STRATA, selected)
    one = estimate_subset(scores - other, G15_STRATA, selected)
    assert (found.difference, found.standard_error) == (
        pytest.approx(one.estimate),
        one.standard_error,
    )
    assert (found.ci_low, found.ci_high) == (
        pytest.approx(one.ci_low),
        pytest.approx(one.ci_high),
    )
    turned = subset_pair(other, scores, G15_STRATA, selected)
    assert (
        turned.difference == pytest.approx(-(found.difference or 0))
        and turned.p_value == found.p_value
    )
    assert {"few_prompts", "few_differing_prompts"} <= set(found.flags)
    same = subset_pair(scores, scores, G15_STRATA, selected)
    assert (
        same.difference == 0
        and same.ci_low is None
        and "same on every prompt" in same.reason
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [float("inf")] + [NAN] * 16}, "infinite"),
        ({"scores": [NAN] * 17}, "no prompt of the sample"),
        ({"scores": [1.0] * 17}, "outside the sample"),
        ({"bounds": (0, 0.5)}, "outside the bounds"),
        ({"stratum": np.full(17, 1)}, "without gaps"),
        ({"selected": np.zeros(17)}, "true or false"),
        ({"estimand": "what"}, "unknown estimand"),
        ({"level": 1.0}, "between 0 and 1"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    scores, selected = g15()
    given: dict[str, object] = {
        "scores": scores,
        "stratum": G15_STRATA,
        "selected": selected,
        "bounds": (0, 1),
    }
    with pytest.raises(StatisticsError, match=message):
        estimate_subset(**(given | change))  # type: ignore[arg-type]


def test_bounds_below_0_hold_scores_at_both_ends() -> None:
    """Scores of 0 and 1 less 1, and off by rounding: the same interval, less 1."""
    scores, selected = g15()
    unit = estimate_subset(scores, G15_STRATA, selected, bounds=(0, 1))
    for rounded in (0.0, 1e-12):
        found = estimate_subset(
            scores - 1 - rounded, G15_STRATA, selected, bounds=(-1, 0)
        )
        assert found.ci_low == pytest.approx(
            (unit.ci_low or 0) - 1
        ) and found.ci_high == pytest.approx((unit.ci_high or 0) - 1)


def test_covers_the_figure_of_the_benchmark() -> None:
    rng = np.random.default_rng(11)
    n, m, held, times = 400, 40, [], 600
    difficulty = rng.random(n)
    y = (rng.random(n) < difficulty).astype(float)
    f = np.clip(difficulty + rng.normal(0, 0.2, n), 0, 1)
    ids = [f"p{i}" for i in range(n)]
    errors = []
    for seed in range(times):
        design = draw_subset(ids, f, m, seed=seed)
        found = estimate_subset(
            np.where(design.selected, y, NAN),
            design.stratum,
            design.selected,
            bounds=(0, 1),
        )
        held.append((found.ci_low or 0) <= y.mean() <= (found.ci_high or 0))
        errors.append((found.estimate or 0) - y.mean())
    assert np.mean(held) > 0.93
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(times)
    simple = (1 - m / n) * y.var(ddof=1) / m
    assert np.var(errors) < simple
