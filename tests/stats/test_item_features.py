"""Slopes on features of prompts: the estimators by their matrices, other packages, and
closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import linalg, stats

from warehouse.errors import StatisticsError
from warehouse.stats.items.discrimination import mean_correlations
from warehouse.stats.items.features import (
    CONSTANT,
    NO_VARIATION,
    ONE_CLUSTER,
    joint_test,
    slope,
)

N = 60
DICE = np.random.default_rng(0)
CODES, X = DICE.integers(0, 9, N), DICE.lognormal(size=N)
Y, GROUPS = DICE.random(N) + 0.1 * X, DICE.integers(0, 4, N)
DUMMIES = (GROUPS[:, None] == np.arange(1, 4)).astype(float)


def dense(
    columns: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """β, CR2 and η by the whole matrices of Bell and McCaffrey, and of Pustejovsky and
    Tipton."""
    x = np.column_stack([np.ones(N), columns])
    bread = np.linalg.inv(x.T @ x)
    hat, beta = x @ bread @ x.T, bread @ x.T @ Y
    pick = np.eye(x.shape[1])[1:]
    root = np.linalg.inv(linalg.sqrtm(pick @ bread @ pick.T).real)
    v, parts = np.zeros((len(pick), len(pick))), []
    for code in np.unique(codes):
        rows = codes == code
        rest = np.eye(N) - hat
        adjusted = np.linalg.inv(linalg.sqrtm(rest[np.ix_(rows, rows)]).real)
        score = pick @ bread @ x[rows].T @ adjusted
        v += np.outer(score @ (Y - x @ beta)[rows], score @ (Y - x @ beta)[rows])
        parts.append(root @ score @ rest[rows])
    q, total = len(pick), 0.0
    for s in range(q):
        for t in range(q):
            a, b = (
                np.array([part[s] for part in parts]),
                np.array([part[t] for part in parts]),
            )
            total += float(((a @ a.T) * (b @ b.T) + (a @ b.T) * (a @ b.T).T).sum())
    return beta[1:], v, q * (q + 1) / total


@pytest.mark.parametrize("codes", [CODES, None], ids=["clusters", "none"])
def test_slopes_and_joint_tests_are_those_of_the_matrices(
    codes: np.ndarray | None,
) -> None:
    own = np.arange(N) if codes is None else codes
    beta, v, eta = dense(X[:, None], own)
    found = slope(Y, X, codes)
    assert (found.estimate, found.standard_error, found.df) == pytest.approx(
        (beta[0], v[0, 0] ** 0.5, eta), rel=1e-10
    )
    assert found.p_value == pytest.approx(
        2 * stats.t.sf(abs(beta[0]) / v[0, 0] ** 0.5, eta), rel=1e-9
    )
    assert found.ci_high == pytest.approx(
        beta[0] + stats.t.ppf(0.975, eta) * v[0, 0] ** 0.5, rel=1e-9
    )
    beta, v, eta = dense(DUMMIES, own)
    f = (eta - 2) / (eta * 3) * float(beta @ np.linalg.solve(v, beta))
    together = joint_test(Y, DUMMIES, codes)
    assert (together.statistic, together.df_error) == pytest.approx(
        (f, eta - 2), rel=1e-9
    )
    assert together.p_value == pytest.approx(stats.f.sf(f, 3, eta - 2), rel=1e-8)


def test_without_clusters_errors_are_hc2_and_those_of_welch_for_two_groups() -> None:
    hc2 = sm.OLS(Y, sm.add_constant(X)).fit(cov_type="HC2")
    assert slope(Y, X).standard_error == pytest.approx(hc2.bse[1], rel=1e-10)
    one, other = Y[GROUPS == 0], Y[GROUPS != 0]
    found = slope(Y, GROUPS == 0)
    assert found.estimate == pytest.approx(one.mean() - other.mean())
    welch = stats.ttest_ind(one, other, equal_var=False)
    assert found.estimate is not None and found.standard_error is not None
    assert found.estimate / found.standard_error == pytest.approx(
        welch.statistic, rel=1e-10
    )


def test_order_and_singleton_clusters_and_units_change_nothing() -> None:
    order = DICE.permutation(N)
    plain = slope(Y, X, CODES)
    again = slope(Y[order], 1000 * X[order] + 7, CODES[order])
    assert again.p_value == pytest.approx(plain.p_value, rel=1e-9)
    assert again.estimate == pytest.approx((plain.estimate or 0) / 1000, rel=1e-9)
    assert slope(Y, X, np.arange(N)).standard_error == pytest.approx(
        slope(Y, X).standard_error, rel=1e-10
    )
    assert joint_test(Y, X[:, None], CODES).p_value == pytest.approx(
        plain.p_value, rel=1e-9
    )


def test_what_cannot_be_told_has_a_reason() -> None:
    assert slope(Y, np.full(N, 3.1)).reason == CONSTANT
    assert slope(np.full(N, 0.1), X).reason == NO_VARIATION
    alone = slope(Y, CODES == 3, CODES)
    assert (alone.estimate, alone.reason) == (None, ONE_CLUSTER)
    assert slope(Y[:2], X[:2]).reason and slope(Y, X, np.zeros(N)).reason
    assert joint_test(Y, np.column_stack([X, 2 * X])).p_value is None
    few = joint_test(Y, DUMMIES, CODES % 3)
    assert few.p_value is None and few.reason
    with pytest.raises(StatisticsError, match="finite"):
        slope(Y, np.where(X > 1, np.nan, X))


def test_small_groups_of_a_skewed_figure_are_flagged() -> None:
    skewed = (DICE.random(200) > 0.05).astype(float)
    small, half = np.arange(200) < 20, np.arange(200) < 100
    assert (
        "skewed" in slope(skewed, small).flags
        and "skewed" not in slope(DICE.random(200), small).flags
    )
    assert (
        "skewed" in joint_test(skewed, half[:, None]).flags
        and not slope(skewed, DICE.random(200)).flags
    )


def test_mean_correlations_are_means_of_pearsons() -> None:
    scores = (DICE.random((8, 12)) > 0.4).astype(float)
    scores[3] = 1.0
    scores[5, 2] = np.nan
    used = [0, 1, 2, 4, 6, 7]
    r = np.corrcoef(scores[used])
    expected = (r.sum(axis=1) - 1) / (len(used) - 1)
    found = mean_correlations(scores)
    assert found[used] == pytest.approx(expected, rel=1e-10)
    assert np.isnan(found[[3, 5]]).all()
