"""Samples of keys that people judge: what is drawn, and rates and slopes against scipy
and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats

from warehouse.errors import StatisticsError
from warehouse.stats.labels.audit_sample import (
    JudgedPart,
    draw_audit_sample,
    recalibrate,
    weighted_order,
    wrong_rate,
)

IDS = [f"p{i}" for i in range(60)]
SUBJECTS = ["a"] * 30 + ["b"] * 20 + ["c"] * 10


def test_every_key_has_its_chance_and_every_stratum_its_share() -> None:
    draws = [
        draw_audit_sample(IDS, 15, certain=[3, 59], strata=SUBJECTS, seed=seed)
        for seed in range(3000)
    ]
    drawn = np.mean([one.selected for one in draws], axis=0)
    assert drawn[[3, 59]].tolist() == [1, 1] and draws[0].probability[
        :4
    ] == pytest.approx([13 / 58] * 3 + [1])
    assert np.abs(np.delete(drawn, [3, 59]) - 13 / 58).max() < 4 * np.sqrt(
        0.224 * 0.776 / 3000
    )
    shares = {"a": 29 * 13 / 58, "b": 20 * 13 / 58, "c": 9 * 13 / 58}
    for sample in draws[:50]:
        rest = np.flatnonzero(sample.selected & ~sample.certain)
        for name, share in shares.items():
            assert abs(sum(SUBJECTS[item] == name for item in rest) - share) < 1
    again = draw_audit_sample(IDS[::-1], 15, certain=[0, 56], strata=SUBJECTS[::-1])
    assert (again.selected[::-1] == draws[0].selected).all()  # not the order of rows


def test_a_part_at_random_has_the_exact_interval() -> None:
    for n_items, n, x in (
        (2900, 200, 3),
        (100, 30, 0),
        (100, 30, 30),
        (500, 300, 200),
        (50, 49, 20),
    ):
        found = wrong_rate([JudgedPart(n_items, n, x)])
        counts = np.arange(x, n_items - n + x + 1)
        low = counts[stats.hypergeom.sf(x - 1, n_items, counts, n) > 0.025].min()
        high = counts[stats.hypergeom.cdf(x, n_items, counts, n) > 0.025].max()
        assert (found.low, found.high) == (
            pytest.approx(low / n_items),
            pytest.approx(high / n_items),
        ) and found.estimate == x / n
    large = wrong_rate([JudgedPart(10**7, 200, 3)])
    assert (large.low, large.high) == pytest.approx(
        stats.binomtest(3, 200).proportion_ci(), abs=1e-5
    )


def test_what_is_judged_in_full_has_no_error_and_two_open_parts_share_the_tail() -> (
    None
):
    rest = wrong_rate([JudgedPart(2850, 150, 1)])
    both = wrong_rate([JudgedPart(50, 50, 12), JudgedPart(2850, 150, 1)])
    assert rest.low is not None and both.low == pytest.approx(
        (12 + 2850 * rest.low) / 2900
    )
    assert (
        wrong_rate([JudgedPart(50, 50, 12)]).low
        == wrong_rate([JudgedPart(50, 50, 12)]).high
        == 0.24
    )
    ends = [
        wrong_rate([part], level=0.975)
        for part in (JudgedPart(50, 47, 12), JudgedPart(2850, 150, 5))
    ]
    two = wrong_rate([JudgedPart(50, 47, 12), JudgedPart(2850, 150, 5)])
    assert two.low == pytest.approx(
        (50 * (ends[0].low or 0) + 2850 * (ends[1].low or 0)) / 2900
    )
    assert two.high == pytest.approx(
        (50 * (ends[0].high or 0) + 2850 * (ends[1].high or 0)) / 2900
    )
    unknown = wrong_rate([JudgedPart(50, 0, 0), JudgedPart(950, 950, 10)])
    assert (unknown.estimate, unknown.low, unknown.high) == (
        None,
        0.01,
        pytest.approx(0.06),
    )
    assert wrong_rate([JudgedPart(0, 0, 0)]).low is None
    with pytest.raises(StatisticsError, match="must not fall"):
        wrong_rate([JudgedPart(5, 2, 3)])


def test_the_recalibration_is_a_weighted_logistic_regression_with_a_sandwich() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(-3, 2, 900)
    wrong, judged = (
        (rng.random(900) < special.expit(0.7 * x)).astype(float),
        rng.random(900) < 0.7,
    )
    weight = np.where(x > -1, 1.0, 8.0)
    found = recalibrate(
        special.expit(x), np.where(judged, wrong, np.nan), weight, certain=weight == 1
    )
    model = sm.GLM(
        wrong[judged],
        sm.add_constant(x[judged]),
        family=sm.families.Binomial(),
        var_weights=weight[judged],
    )
    fit = model.fit(cov_type="HC0")
    assert found.coefficients == pytest.approx(fit.params, abs=1e-7)
    assert found.errors == pytest.approx(
        fit.bse * np.sqrt(judged.sum() / (judged.sum() - 2)), rel=1e-6
    )
    few = int(wrong[judged & (weight > 1)].sum())
    assert found.t == pytest.approx(stats.t.ppf(0.975, few - 1))
    assert found.posterior == pytest.approx(
        special.expit(fit.params[0] + fit.params[1] * x), abs=1e-7
    )


@pytest.mark.parametrize(
    ("wrong", "weight", "reason"),
    [
        ([1.0] * 9 + [0.0] * 91, 1.0, "10 keys found wrong, found 9"),
        ([1.0] * 95 + [0.0] * 5, 1.0, "10 keys found right, found 5"),
        ([1.0] * 20 + [0.0] * 80, [1.0] * 20 + [5.0] * 80, "found 0 wrong of 80"),
        (
            [1.0] * 20 + [0.0] * 80,
            [1.25] * 20 + [5.0] * 80,
            "found 0 wrong of 80",
        ),  # certain ones without a verdict
        ([1.0] * 50 + [0.0] * 50, 1.0, "apart without an error"),
    ],
)
def test_too_few_verdicts_are_no_recalibration(
    wrong: list[float], weight: object, reason: str
) -> None:
    weights = np.broadcast_to(weight, 100)  # type: ignore[arg-type]
    found = recalibrate(
        np.linspace(0.9, 0.01, 100), wrong, weights, certain=weights < 2
    )
    assert (
        found.coefficients is None
        and found.posterior is None
        and reason in found.reason
    )


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
    expected = {
        name: a / b
        for name, (a, b) in zip(
            ("auc", "auc_within", "auc_between"),
            (total, sums[True], sums[False]),
            strict=True,
        )
    }
    assert found == pytest.approx(expected)
    assert weighted_order(score, np.full(60, np.nan), weight, strata) == {}
