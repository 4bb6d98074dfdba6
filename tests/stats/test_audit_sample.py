"""Samples of keys that people judge: what is drawn, and rates and slopes against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats

from warehouse.errors import StatisticsError
from warehouse.stats.labels.audit_sample import JudgedPart, draw_audit_sample, recalibrate, weighted_order, wrong_rate

IDS = [f"p{i}" for i in range(60)]
SUBJECTS = ["a"] * 30 + ["b"] * 20 + ["c"] * 10


def test_every_key_has_its_chance_and_every_stratum_its_share() -> None:
    draws = [draw_audit_sample(IDS, 15, certain=[3, 59], strata=SUBJECTS, seed=seed) for seed in range(3000)]
    drawn = np.mean([one.selected for one in draws], axis=0)
    assert drawn[[3, 59]].tolist() == [1, 1] and draws[0].probability[:4] == pytest.approx([13 / 58] * 3 + [1])
    assert np.abs(np.delete(drawn, [3, 59]) - 13 / 58).max() < 4 * np.sqrt(0.224 * 0.776 / 3000)
    shares = {"a": 29 * 13 / 58, "b": 20 * 13 / 58, "c": 9 * 13 / 58}
    for sample in draws[:50]:
        rest = np.flatnonzero(sample.selected & ~sample.certain)
        for name, share in shares.items():
            assert abs(sum(SUBJECTS[item] == name for item in rest) - share) < 1
    again = draw_audit_sample(IDS[::-1], 15, certain=[0, 56], strata=SUBJECTS[::-1])
    assert (again.selected[::-1] == draws[0].selected).all()  # not the order of rows


def test_a_part_at_random_has_the_exact_interval() -> None:
    for n_items, n, x in ((2900, 200, 3), (100, 30, 0), (100, 30, 30), (500, 300, 200), (50, 49, 20)):
        found = wrong_rate([JudgedPart(n_items, n, x)])
        counts = np.arange(x, n_items - n + x + 1)
        low = counts[stats.hypergeom.sf(x - 1, n_items, counts, n) > 0.025].min()
        high = counts[stats.hypergeom.cdf(x, n_items, counts, n) > 0.025].max()
        assert (found.low, found.high) == (low / n_items, high / n_items) and found.estimate == x / n
    large = wrong_rate([JudgedPart(10**7, 200, 3)])
    assert (large.low, large.high) == pytest.approx(stats.binomtest(3, 200).proportion_ci(), abs=1e-5)


def test_what_is_judged_in_full_has_no_error_and_two_open_parts_are_melded() -> None:
    rest = wrong_rate([JudgedPart(2850, 150, 1)])
    both = wrong_rate([JudgedPart(50, 50, 12), JudgedPart(2850, 150, 1)])
    assert rest.low is not None and both.low == pytest.approx((12 + 2850 * rest.low) / 2900)
    assert wrong_rate([JudgedPart(50, 50, 12)]).low == wrong_rate([JudgedPart(50, 50, 12)]).high == 0.24
    rng = np.random.default_rng(0)  # endless parts: the limits are Beta quantiles
    lows = 1000 * rng.beta(12, 47 - 12 + 1, 10**6) + 9000 * rng.beta(5, 150 - 5 + 1, 10**6)
    highs = 1000 * rng.beta(13, 47 - 12, 10**6) + 9000 * rng.beta(6, 150 - 5, 10**6)
    melded = wrong_rate([JudgedPart(10**6, 47, 12), JudgedPart(9 * 10**6, 150, 5)])
    assert melded.low == pytest.approx(np.quantile(lows, 0.025) / 10**4, rel=0.01)
    assert melded.high == pytest.approx(np.quantile(highs, 0.975) / 10**4, rel=0.01)
    unknown = wrong_rate([JudgedPart(50, 0, 0), JudgedPart(950, 950, 10)])
    assert (unknown.estimate, unknown.low, unknown.high) == (None, 0.01, 0.06)
    with pytest.raises(StatisticsError, match="must not fall"):
        wrong_rate([JudgedPart(5, 2, 3)])


def test_the_recalibration_is_a_weighted_logistic_regression_with_a_sandwich() -> None:
    rng = np.random.default_rng(0)
    x, strata = rng.normal(-3, 2, 900), np.array(list("abc") * 300)
    wrong = (rng.random(900) < special.expit(0.7 * x + (strata == "a"))).astype(float)
    weight, judged = np.where(x > -1, 1.0, 8.0), rng.random(900) < 0.7
    found = recalibrate(special.expit(x), np.where(judged, wrong, np.nan), weight, strata)
    mean = np.array([x[strata == one].mean() for one in strata])
    for columns, figures in (
        ([x], (found.intercept, found.slope)),
        ([x - mean, mean], (None, found.within, found.between)),
    ):
        design = sm.add_constant(np.column_stack(columns))[judged]
        model = sm.GLM(wrong[judged], design, family=sm.families.Binomial(), var_weights=weight[judged])
        fit = model.fit(cov_type="HC0")
        correction = np.sqrt(judged.sum() / (judged.sum() - design.shape[1]))
        for figure, estimate, error in zip(figures, fit.params, fit.bse, strict=True):
            if figure is not None:
                assert figure.estimate == pytest.approx(estimate, abs=1e-7)
                assert figure.standard_error == pytest.approx(error * correction, rel=1e-6)
    assert found.posterior is not None and found.slope is not None and found.intercept is not None
    assert found.posterior == pytest.approx(special.expit(found.intercept.estimate + found.slope.estimate * x))


@pytest.mark.parametrize(
    ("wrong", "weight", "reason"),
    [
        ([1.0] * 9 + [0.0] * 91, 1.0, "10 keys found wrong, found 9"),
        ([1.0] * 95 + [0.0] * 5, 1.0, "10 keys found right, found 5"),
        ([1.0] * 20 + [0.0] * 80, [1.0] * 20 + [5.0] * 80, "found 0 wrong of 80"),
        ([1.0] * 50 + [0.0] * 50, 1.0, "apart without an error"),
    ],
)
def test_too_few_verdicts_are_no_recalibration(wrong: list[float], weight: object, reason: str) -> None:
    found = recalibrate(np.linspace(0.9, 0.01, 100), wrong, np.broadcast_to(weight, 100))  # type: ignore[arg-type]
    assert found.slope is None and found.posterior is None and reason in found.reason


def test_the_order_is_over_weighted_pairs_within_and_between_strata() -> None:
    rng = np.random.default_rng(1)
    score, wrong = rng.integers(0, 5, 60) / 5, (rng.random(60) < 0.3).astype(float)
    weight, strata = rng.integers(1, 4, 60).astype(float), np.array(list("abcde") * 12)
    wrong[:5] = np.nan
    sums: dict[bool, list[float]] = {True: [0, 0], False: [0, 0]}
    for i in np.flatnonzero(wrong == 1):
        for j in np.flatnonzero(wrong == 0):
            won = 1.0 if score[i] > score[j] else 0.5 if score[i] == score[j] else 0.0
            sums[strata[i] == strata[j]][0] += weight[i] * weight[j] * won
            sums[strata[i] == strata[j]][1] += weight[i] * weight[j]
    found = weighted_order(score, wrong, weight, strata)
    total = [sums[True][k] + sums[False][k] for k in (0, 1)]
    expected = [a / b for a, b in (total, sums[True], sums[False])]
    assert [found.overall, found.within, found.between] == pytest.approx(expected)
