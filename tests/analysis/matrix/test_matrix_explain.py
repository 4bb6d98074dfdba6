"""Semantic explanation: equal to one regression per prompt, FDR and Mantel by other
code."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from tests.support.matrices import (
    GOLDEN,
    GOLDEN_VECTORS,
    Matrix,
    binary,
    continuous,
    cosines,
    tied,
    upper,
    with_extremes,
)
from warehouse.errors import StatisticsError
from warehouse.stats.matrix import explain, mantel, prompt_coefficients
from warehouse.stats.matrix.similarity import generator


def vectors(n: int, d: int = 6, seed: int = 9) -> Matrix:
    return np.random.default_rng(seed).normal(0.3, 1, (n, d))


@pytest.mark.parametrize("make", [binary, with_extremes, continuous, tied])
@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_equal_a_regression_for_each_prompt(
    make: Any, intercept: bool
) -> None:
    matrix, texts = make(25, 6), vectors(25)
    found = prompt_coefficients(matrix, texts, intercept=intercept)
    performance, semantic = cosines(matrix), cosines(texts)
    assert found.degrees_of_freedom == (22 if intercept else 23)
    for i in range(25):
        others = np.arange(25) != i
        if not performance[i, others].any():  # the only zero row: like no other prompt
            assert np.isnan(found.coefficients[i])
            continue
        x = semantic[i, others]
        fit = sm.OLS(
            performance[i, others], sm.add_constant(x) if intercept else x
        ).fit()
        assert found.coefficients[i] == pytest.approx(fit.params[-1], abs=1e-9)
        assert found.statistics[i] == pytest.approx(fit.tvalues[-1], abs=1e-8)
        assert found.p_values[i] == pytest.approx(fit.pvalues[-1], abs=1e-9)


def test_golden() -> None:
    plain = prompt_coefficients(GOLDEN, GOLDEN_VECTORS, intercept=False)
    assert plain.coefficients[:2] == pytest.approx([-0.360219079821, 0.48], abs=1e-12)
    assert plain.statistics[:2] == pytest.approx(
        [-0.845713774323, 1.60118650369], abs=1e-11
    )
    assert plain.p_values[0] == pytest.approx(0.459830596505, abs=1e-12)
    found = prompt_coefficients(GOLDEN, GOLDEN_VECTORS)
    assert found.coefficients[:2] == pytest.approx(
        [-0.627664387285, 1.16459627329], abs=1e-11
    )
    assert found.statistics[:2] == pytest.approx([-9.43529345069, 1.32067636], abs=1e-8)
    assert found.p_values[0] == pytest.approx(0.0110470400706, abs=1e-12)


def test_mantel_golden_with_its_exact_p() -> None:
    assert mantel(GOLDEN, GOLDEN_VECTORS, n_permutations=0).r == pytest.approx(
        -0.109197275165, abs=1e-12
    )
    performance, semantic = cosines(GOLDEN), cosines(GOLDEN_VECTORS)
    r = [
        np.corrcoef(upper(semantic[np.ix_(order, order)]), upper(performance))[0, 1]
        for order in map(list, permutations(range(5)))
    ]
    exact = np.mean(np.array(r) >= r[0] - 1e-12)
    assert exact == pytest.approx(0.566666666667, abs=1e-12)
    drawn = mantel(GOLDEN, GOLDEN_VECTORS, n_permutations=3000, seed=1)
    assert drawn.p_value == pytest.approx(
        exact, abs=5 * np.sqrt(exact * (1 - exact) / 3000)
    )


def test_mantel_equals_the_correlation_of_all_pairs() -> None:
    matrix, texts = with_extremes(30, 5), vectors(30)
    performance, semantic = cosines(matrix), cosines(texts)
    found = mantel(matrix, texts, n_permutations=49, seed=3)
    r = np.corrcoef(upper(semantic), upper(performance))[0, 1]
    assert found.r == pytest.approx(r, abs=1e-12)
    orders = [generator(3, 5, place).permutation(30) for place in range(49)]
    permuted = np.array(
        [
            np.corrcoef(upper(semantic), upper(performance[np.ix_(o, o)]))[0, 1]
            for o in orders
        ]
    )
    assert found.p_value == (1 + (permuted >= r - 1e-12).sum()) / 50


def planted(n: int = 60) -> tuple[Matrix, Matrix]:
    """Topics decide both the text and which models succeed."""
    rng = np.random.default_rng(5)
    topics = rng.integers(0, 4, n)
    skill = rng.choice([0.05, 0.95], (4, 10))
    texts = np.eye(4)[topics] + rng.normal(0, 0.2, (n, 4))
    return (rng.random((n, 10)) < skill[topics]).astype(float), texts


def test_what_texts_explain_is_found() -> None:
    told: list[tuple[int, int]] = []
    found = explain(
        *planted(), n_permutations=99, progress=lambda *step: told.append(step)
    )
    assert (
        found.mantel.p_value == 0.01
        and found.mantel.r is not None
        and found.mantel.r > 0.1
    )
    assert found.p_mean_coefficient == found.p_ks_coefficient == 0.01
    # FDRs of one table rise together, so shuffled tables lie far from their mean too:
    # less power
    assert found.p_ks_fdr is not None and 0.01 <= found.p_ks_fdr <= 0.2
    assert (found.fdr < 0.05).mean() > 0.5
    assert found.mean_coefficient == pytest.approx(np.nanmean(found.coefficients))
    assert told[-1] == (198, 198) and len(told) == 198
    assert found.to_dict()["coefficients"] == found.coefficients.tolist()


def rejections(shuffle: Any, *, spread: float, n: int, k: int, seeds: int) -> Matrix:
    """p of what texts in four topics explain of prompts that differ in difficulty
    alone, shape (seeds, 3)."""
    p_values = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        hard = 1 / (1 + np.exp(spread * rng.normal(size=(n, 1))))
        texts = np.eye(4)[rng.integers(0, 4, n)] + rng.normal(0, 0.2, (n, 4))
        found = explain(
            (rng.random((n, k)) < hard).astype(float),
            texts,
            n_permutations=19,
            seed=seed,
            shuffle=shuffle,
        )
        p_values.append(
            [found.p_ks_coefficient, found.p_mean_coefficient, found.mantel.p_value]
        )
    return np.array(p_values, dtype=float)


@pytest.mark.parametrize("spread", [0, 2])
def test_nothing_is_found_where_there_is_nothing(spread: float) -> None:
    """Also where prompts are not equally hard: shuffled model by model they would be."""
    for column in rejections("prompts", spread=spread, n=40, k=12, seeds=60).T:
        assert (column <= 0.05 + 1e-9).sum() <= 10  # P(Binomial(60, .05) > 10) < 1e-4
        assert 12 <= (column <= 0.5).sum() <= 48


@pytest.mark.slow
def test_size_of_both_shuffles() -> None:
    """docs/reference/calibration.md: whole prompts are exact, single columns are not."""
    exact, published = (
        rejections(s, spread=2, n=100, k=10, seeds=1000) <= 0.05 + 1e-9
        for s in ("prompts", "columns")
    )
    assert exact.mean(axis=0) == pytest.approx([0.05] * 3, abs=0.025)
    assert published[:, 0].mean() > 0.2 and published[:, 1].mean() > 0.09


@pytest.mark.parametrize("shuffle", ["prompts", "columns"])
def test_permutations_are_those_of_the_straightforward_code(shuffle: Any) -> None:
    matrix, texts = continuous(15, 4), vectors(15)
    found = explain(matrix, texts, n_permutations=9, seed=2, shuffle=shuffle)
    columns = np.ascontiguousarray(matrix.T)
    shuffled = [
        matrix[generator(2, 4, b).permutation(15)]
        if shuffle == "prompts"
        else generator(2, 4, b).permuted(columns, axis=1).T
        for b in range(1, 10)
    ]
    means = [
        np.nanmean(prompt_coefficients(one, texts).coefficients) for one in shuffled
    ]
    assert found.mean_coefficient_permuted == pytest.approx(np.mean(means), abs=1e-12)
    assert found.p_mean_coefficient is not None and found.mean_coefficient is not None
    assert (
        found.p_mean_coefficient
        == (1 + (np.array(means) >= found.mean_coefficient).sum()) / 10
    )


def test_a_shuffle_that_is_none_is_refused() -> None:
    with pytest.raises(StatisticsError, match="prompts or columns, found 'rows'"):
        explain(*planted(), n_permutations=2, shuffle="rows")  # type: ignore[arg-type]


def test_a_regression_that_is_not_defined_is_left_out() -> None:
    """All texts alike: nothing varies. One prompt exactly explained: no residual."""
    found = explain(continuous(10, 3), np.ones((10, 4)), n_permutations=3)
    assert (found.n_undefined, found.mean_coefficient, found.mantel.r) == (
        10,
        None,
        None,
    )
    assert found.to_dict()["coefficients"] == [None] * 10
    assert "Mantel r none" in str(found)
    same = continuous(10, 3)
    exact = prompt_coefficients(
        same, same, intercept=False
    )  # performance explains itself
    assert np.isnan(exact.coefficients).all()


@pytest.mark.parametrize(
    ("matrix", "texts", "said"),
    [
        (
            binary(10, 3),
            vectors(9),
            r"shape \(9, 6\), expected one vector for each of the 10",
        ),
        (binary(3, 3), vectors(3), "needs 4 prompts, found 3"),
        (binary(10, 3), np.zeros((10, 2)), "10 vector"),
        (binary(10, 3), np.full((10, 2), np.nan), "not finite"),
        (np.ones((10, 3)), vectors(10), "columns are constant"),
    ],
)
def test_what_cannot_be_explained_is_refused(
    matrix: Matrix, texts: Matrix, said: str
) -> None:
    with pytest.raises(StatisticsError, match=said):
        explain(matrix, texts, n_permutations=2)
