"""Errors and intervals against statsmodels, scipy, matrix forms and slow definitions."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from warehouse.stats import (
    cluster_robust,
    estimate_mean,
    interval_clopper_pearson,
    interval_jeffreys,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
    paired_difference,
    standard_error_clt,
    standard_error_clustered,
    unpaired_difference,
)
from warehouse.stats.intervals.clopper_pearson import clustered_df

Floats = NDArray[np.float64]


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-10, abs=1e-14)


def lopsided(
    seed: int, n: int = 60, clusters: int = 9
) -> tuple[Floats, NDArray[np.int64]]:
    """Scores whose clusters differ in size and in level, in random order."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate(
        [np.arange(clusters), rng.zipf(1.6, n - clusters) % clusters]
    )
    rng.shuffle(codes)
    return rng.normal(size=clusters)[codes] + rng.normal(size=n), codes


def eq4_by_double_sum(scores: Floats, codes: NDArray[np.int64]) -> float:
    """Miller (2024) eq. 4 as it is printed: every pair of different prompts of one
    cluster."""
    n, d = len(scores), scores - scores.mean()
    cross = sum(
        d[i] * d[j]
        for i in range(n)
        for j in range(n)
        if i != j and codes[i] == codes[j]
    )
    clt = float(d @ d) / (n - 1) / n
    return float(np.sqrt(clt + cross / n**2))


def cr2_by_matrices(scores: Floats, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Bell and McCaffrey's CR2 and Satterthwaite ν for OLS on a constant, from n × n
    matrices."""
    n = len(scores)
    residual_maker = np.eye(n) - np.ones((n, n)) / n
    residuals, variance, vectors = residual_maker @ scores, 0.0, []
    for code in np.unique(codes):
        own = codes == code
        values, basis = np.linalg.eigh(residual_maker[np.ix_(own, own)])
        adjust = basis @ np.diag(values**-0.5) @ basis.T
        variance += float(np.ones(own.sum()) @ adjust @ residuals[own]) ** 2 / n**2
        vectors.append(residual_maker[:, own] @ adjust @ np.ones(own.sum()) / n)
    gram = np.stack(vectors) @ np.stack(vectors).T
    return variance**0.5, float(np.trace(gram) ** 2 / (gram**2).sum())


@pytest.mark.parametrize("seed", range(5))
def test_eq4_is_the_printed_double_sum(seed: int) -> None:
    scores, codes = lopsided(seed)
    assert standard_error_clustered(scores, codes) == close(
        eq4_by_double_sum(scores, codes)
    )


@pytest.mark.parametrize("seed", range(5))
def test_cr2_is_the_matrix_form(seed: int) -> None:
    scores, codes = lopsided(seed)
    robust, (se, nu) = cluster_robust(scores, codes), cr2_by_matrices(scores, codes)
    assert robust is not None
    assert (robust.se_cr2, robust.degrees_of_freedom) == (close(se), close(nu))


@pytest.mark.parametrize("seed", range(5))
def test_cr0_cr1_cr3_are_those_of_statsmodels(seed: int) -> None:
    scores, codes = lopsided(seed)
    model, robust = sm.OLS(scores, np.ones(len(scores))), cluster_robust(scores, codes)
    assert robust is not None

    def se(kind: str, correction: bool) -> float:
        options = {"groups": codes, "use_correction": correction}
        return float(model.fit(cov_type=kind, cov_kwds=options).bse[0])

    n, g = robust.n_prompts, robust.n_clusters
    assert robust.se_cr0 == close(se("cluster", False))
    # statsmodels' correction also carries (n-1)/(n-k), which is 1 for a constant alone
    assert robust.se_cr1 == close(se("cluster", True))
    assert robust.se_cr3 == close(se("cluster-crv3", True))
    assert (n, g) == (60, 9)


@pytest.mark.parametrize("seed", range(5))
def test_icc_is_the_analysis_of_variance(seed: int) -> None:
    scores, codes = lopsided(seed)
    robust = cluster_robust(scores, codes)
    groups = [scores[codes == code] for code in np.unique(codes)]
    sizes = np.array([len(group) for group in groups])
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (60 - 9)
    between = stats.f_oneway(*groups).statistic * within
    n0 = (60 - (sizes**2).sum() / 60) / 8
    assert robust is not None
    assert robust.icc == close((between - within) / (between + (n0 - 1) * within))


@pytest.mark.parametrize("icc", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("sizes", [[4, 2, 3, 1], [5] * 6, [1, 1, 50], [7, 90]])
def test_degrees_of_freedom_are_those_of_the_full_matrix(
    sizes: list[int], icc: float
) -> None:
    n = np.array(sizes, dtype=float)
    f, v = n / n.sum(), n * (1 + (n - 1) * icc)
    a = np.eye(len(n)) - np.outer(f, np.ones(len(n)))
    p = a @ np.diag(v) @ a.T / np.sqrt(np.outer(1 - f, 1 - f))
    assert clustered_df(n, icc) == close(np.trace(p) ** 2 / np.trace(p @ p))


def test_clt_is_scipys_standard_error_of_the_mean() -> None:
    scores, _ = lopsided(7)
    assert standard_error_clt(scores) == close(float(stats.sem(scores)))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(
    ("successes", "n"), [(0, 20), (20, 20), (1, 7), (270, 300), (4, 9)]
)
def test_binomial_intervals_are_those_of_statsmodels(
    successes: int, n: int, level: float
) -> None:
    wilson = interval_wilson(successes, n, level=level)
    exact = interval_clopper_pearson(successes, n, level=level)
    expected = proportion_confint(successes, n, 1 - level, "wilson")
    assert (wilson.low, wilson.high) == (close(expected[0]), close(expected[1]))
    expected = proportion_confint(successes, n, 1 - level, "beta")
    assert (exact.low, exact.high) == (close(expected[0]), close(expected[1]))


@pytest.mark.parametrize(("successes", "n"), [(0, 20), (20, 20), (1, 7), (270, 300)])
def test_jeffreys_is_that_of_statsmodels_but_closed_at_the_edge(
    successes: int, n: int
) -> None:
    found = interval_jeffreys(successes, n)
    low, high = proportion_confint(successes, n, 0.05, "jeffreys")
    assert found.low == (0.0 if successes == 0 else close(low))
    assert found.high == (1.0 if successes == n else close(high))


@pytest.mark.parametrize("df", [1.0, 2.39, 30.0, 1e5])
def test_t_interval_is_scipys(df: float) -> None:
    found = interval_t(3.0, 0.2, df, level=0.9)
    low, high = stats.t.interval(0.9, df, loc=3.0, scale=0.2)
    assert found is not None and (found.low, found.high) == (close(low), close(high))


def test_bounded_wilson_meets_wilson_where_the_scores_are_binomial() -> None:
    """With V = p(1-p)/n and many degrees of freedom n_e is n itself."""
    plain = interval_wilson(30, 100)
    bounded = interval_wilson_bounded(
        30.0, 100 * (0.3 * 0.7 / 100) ** 0.5, 1e9, bounds=(0, 100)
    )
    assert bounded is not None
    assert bounded.low == pytest.approx(100 * plain.low, rel=1e-8)
    assert bounded.high == pytest.approx(100 * plain.high, rel=1e-8)


def test_bounded_wilson_solves_its_own_equation() -> None:
    """At each end |m − p| = z·sqrt(p(1−p)/n_e), n_e = m(1−m)/V·(z/t)²: the score
    equation."""
    m, se, df = 0.4, 0.05, 12.0
    found = interval_wilson_bounded(m, se, df)
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, df)
    n = m * (1 - m) / se**2 * (z / t) ** 2
    assert found is not None
    for end in (found.low, found.high):
        assert abs(m - end) == close(z * np.sqrt(end * (1 - end) / n))


def test_paired_t_is_scipys() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 40))
    result, expected = (
        paired_difference(a, b, level=0.9, bounds=(-9, 9)),
        stats.ttest_rel(a, b),
    )
    interval = expected.confidence_interval(0.9)
    assert result.statistic == close(expected.statistic)
    assert result.p_value == close(expected.pvalue)
    assert (result.ci_low, result.ci_high) == (
        close(interval.low),
        close(interval.high),
    )
    assert result.correlation == close(stats.pearsonr(a, b).statistic)


def test_small_p_values_keep_their_digits() -> None:
    d = np.random.default_rng(2).normal(1.0, 0.1, 50)
    result = paired_difference(d, np.zeros(50))
    expected = stats.ttest_1samp(d, 0.0).pvalue
    assert 0 < expected < 1e-40
    assert result.p_value == pytest.approx(expected, rel=1e-8)


def test_welch_t_is_scipys() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=30), rng.normal(0.4, 3.0, size=12)
    result, expected = unpaired_difference(a, b), stats.ttest_ind(a, b, equal_var=False)
    assert result.statistic == close(expected.statistic)
    assert result.p_value == close(expected.pvalue)
    assert result.degrees_of_freedom == close(expected.df)
    z = (a.mean() - b.mean()) / np.hypot(stats.sem(a), stats.sem(b))
    assert result.z_p_value == close(2 * stats.norm.sf(abs(z)))


def test_unpaired_clustered_runs_enter_with_cr2() -> None:
    (a, codes_a), (b, codes_b) = lopsided(11), lopsided(12)
    result = unpaired_difference(
        estimate_mean(a, clusters=codes_a), estimate_mean(b, clusters=codes_b)
    )
    (se_a, nu_a), (se_b, nu_b) = (
        cr2_by_matrices(a, codes_a),
        cr2_by_matrices(b, codes_b),
    )
    variance = se_a**2 + se_b**2
    assert result.standard_error == close(variance**0.5)
    assert result.degrees_of_freedom == close(
        variance**2 / (se_a**4 / nu_a + se_b**4 / nu_b)
    )


@pytest.mark.parametrize("seed", range(3))
def test_paired_clustered_errors_are_those_of_the_differences(seed: int) -> None:
    (a, codes), (b, _) = lopsided(seed), lopsided(seed + 100)
    result, (se, nu) = (
        paired_difference(a, b, clusters=codes, bounds=(-99, 99)),
        cr2_by_matrices(a - b, codes),
    )
    assert (result.standard_error, result.degrees_of_freedom) == (close(se), close(nu))
    assert result.se_cr2 == close(se)
    assert result.se_eq8 == close(eq4_by_double_sum(a - b, codes))
    assert result.p_value == close(2 * stats.t.sf(abs((a - b).mean() / se), nu))
    low, high = stats.t.interval(0.95, nu, loc=(a - b).mean(), scale=se)
    assert (result.ci_low, result.ci_high) == (close(low), close(high))
    unpaired = cr2_by_matrices(a, codes)[0] ** 2 + cr2_by_matrices(b, codes)[0] ** 2
    assert result.variance_saved == close(1 - se**2 / unpaired)


def test_eq7_in_its_two_forms() -> None:
    """sqrt(Var(d)/n) = sqrt(se_a² + se_b² − 2 se_a se_b ρ)."""
    a, b = np.random.default_rng(5).normal(size=(2, 25))
    b = b + a
    result = paired_difference(a, b)
    se_a, se_b = stats.sem(a), stats.sem(b)
    assert result.correlation is not None and result.correlation > 0.5
    other = se_a**2 + se_b**2 - 2 * se_a * se_b * result.correlation
    assert result.se_eq7 == close(other**0.5) == result.standard_error
    assert result.variance_saved == close(
        2 * se_a * se_b * result.correlation / (se_a**2 + se_b**2)
    )
