"""Numbers computed by independent code for the same definitions, to 12 digits."""

from __future__ import annotations

import numpy as np
import pytest

from warehouse.stats import (
    cluster_robust,
    estimate_mean,
    interval_clopper_pearson,
    interval_korn_graubard,
    interval_wilson,
    paired_difference,
    standard_error_bernoulli,
    standard_error_clt,
    standard_error_clustered,
)
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.intervals.clopper_pearson import clustered_df, effective_size, kish

G1_SCORES = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
G1_CLUSTERS = list("aaaabbcccd")


def golden(value: float) -> object:
    """Equal at the digits that the golden has."""
    return pytest.approx(value, rel=1e-11)


def counts(*ratios: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores and clusters from right answers per cluster, such as ``"3/5"``."""
    pairs = [tuple(map(int, ratio.split("/"))) for ratio in ratios]
    scores = np.concatenate([np.repeat([1.0, 0.0], [k, m - k]) for k, m in pairs])
    return scores, np.repeat(np.arange(len(pairs)), [m for _, m in pairs])


def test_g1_every_error_of_a_small_clustered_run() -> None:
    result = estimate_mean(G1_SCORES, clusters=G1_CLUSTERS)
    assert result.estimate == golden(0.6)
    assert result.se_clt == golden(0.163299316186) == standard_error_clt(G1_SCORES)
    assert (
        result.se_bernoulli
        == golden(0.154919333848)
        == standard_error_bernoulli(G1_SCORES)
    )
    eq4 = standard_error_clustered(G1_SCORES, G1_CLUSTERS)
    assert result.se_clustered == golden(0.19663841605) == eq4
    assert result.se_cr0 == golden(0.18973665961)
    assert result.se_cr1 == golden(0.219089023002)
    assert result.se_cr2 == golden(0.220389266008) == result.standard_error
    assert result.se_cr3 == golden(0.223045174034)
    assert result.degrees_of_freedom == golden(2.39240506329)
    assert result.icc == golden(0.593023255814)
    assert result.design_effect == golden((0.220389266008 / 0.163299316186) ** 2)
    assert result.design_effect_miller == golden((0.19663841605 / 0.163299316186) ** 2)


def test_g2_korn_graubard_under_independence() -> None:
    scores, clusters = counts("3/5", "5/6", "1/4", "4/5", "2/4", "5/6")
    robust = cluster_robust(scores, clusters)
    assert robust is not None
    assert robust.se_cr2 == golden(0.0874618353888)
    assert robust.icc == golden(0.021194993944)
    nu = clustered_df(as_clusters(clusters, 30).sizes, 0.0)
    assert nu == golden(4.85005022241) == robust.degrees_of_freedom
    naive = 2 / 9 / robust.se_cr2**2
    assert naive == golden(29.0502793296)
    n = naive * (t_quantile(0.95, 29) / t_quantile(0.95, nu)) ** 2
    assert n == golden(18.0496943859)
    wilson = interval_wilson(n * 2 / 3, n)
    assert (wilson.low, wilson.high) == (golden(0.437793065642), golden(0.837046945687))
    exact = interval_clopper_pearson(n * 2 / 3, n)
    assert (exact.low, exact.high) == (golden(0.410303544435), golden(0.866346452348))


def test_g2_the_form_of_the_r_survey_package() -> None:
    scores, clusters = counts("3/5", "5/6", "1/4", "4/5", "2/4", "5/6")
    found = interval_korn_graubard(scores, clusters, variant="svyciprop")
    assert found is not None
    assert (found.low, found.high) == (golden(0.411890328764), golden(0.865395958701))
    assert found.method == "korn_graubard_svyciprop"


def test_g3_korn_graubard_with_dependence() -> None:
    scores, clusters = counts("5/5", "6/6", "0/4", "4/5", "1/4", "6/6")
    robust, groups = cluster_robust(scores, clusters), as_clusters(clusters, 30)
    assert robust is not None and robust.icc is not None
    assert robust.se_cr2**2 == pytest.approx(0.025452991453, abs=1e-12)
    assert robust.icc == golden(0.71320502009)
    assert clustered_df(groups.sizes, robust.icc) == golden(4.57016107397)
    assert effective_size(scores, groups, robust, 0.95) == golden(4.59360531772)
    assert kish(groups.sizes) == pytest.approx(5.844, abs=5e-4)
    wilson = interval_korn_graubard(scores, clusters)
    assert wilson is not None
    assert (wilson.low, wilson.high) == (golden(0.310287486712), golden(0.943851953893))
    exact = interval_korn_graubard(scores, clusters, variant="clopper_pearson")
    assert exact is not None
    assert (exact.low, exact.high) == (golden(0.214009184387), golden(0.987738550032))


def test_g4_all_right_and_plain_wilson() -> None:
    scores, clusters = counts("4/4", "2/2", "3/3", "1/1")
    found = interval_korn_graubard(scores, clusters)
    assert found is not None and (found.low, found.high) == (golden(0.464589532599), 1)
    effective = kish(as_clusters(clusters, 10).sizes)
    assert effective == golden(3.33333333333)
    wilson = interval_wilson(270, 300)
    assert (wilson.low, wilson.high) == (golden(0.860833537615), golden(0.929052085405))
    assert interval_wilson(0, 20).high == golden(0.161125158053)


def test_g10_paired_t() -> None:
    d = np.array([0.3, -0.1, 0.5, 0.2, 0.4, 0])
    result = paired_difference(d, np.zeros(6))
    assert result.statistic == golden(2.29094897476)
    assert result.degrees_of_freedom == 5


@pytest.mark.parametrize(
    ("draws", "mean", "variance"),
    [
        (
            [[1, 1, 0], [0, 0], [1, 1, 1, 1], [1, 0, 0, 1]],
            0.541666666667,
            0.0434027777778,
        ),
        ([[1, 1, 0, 1], [0, 0, 0, 1], [1] * 4, [0, 0, 1, 1]], 0.625, 0.0260416666667),
    ],
    ids=["G5", "G6"],
)
def test_several_draws_count_as_one_prompt(
    draws: list[list[int]], mean: float, variance: float
) -> None:
    result = estimate_mean([np.mean(d) for d in draws], n_draws=[len(d) for d in draws])
    assert result.estimate == golden(mean)
    assert result.standard_error is not None and result.standard_error**2 == golden(
        variance
    )
    assert result.se_bernoulli is None
