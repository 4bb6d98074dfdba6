"""Several dimensions: the objective against scipy on its own, known chances, rotations,
published figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, special

from warehouse.errors import StatisticsError
from warehouse.stats.items.anchor_errors import anchor_errors, irt_anchors
from warehouse.stats.items.anchors import predict_rest
from warehouse.stats.items.dimension_choice import dimension_errors
from warehouse.stats.items.dimensions import DimensionsFit, fit_dimensions, place_models
from warehouse.stats.items.responses import Responses, as_responses


def simulated(
    seed: int, models: int, items: int, dimensions: int
) -> tuple[Responses, np.ndarray]:
    """Answers, and their chances."""
    rng = np.random.default_rng(seed)
    alpha = rng.normal(0, 1, (items, dimensions))
    alpha[:, 0] = np.exp(rng.normal(0, 0.4, items))
    chances = special.expit(
        rng.normal(size=(models, dimensions)) @ alpha.T + rng.normal(0, 1.2, items)
    )
    return as_responses((rng.random(chances.shape) < chances).astype(float)), chances


def minus_log_posterior(
    x: np.ndarray, y: np.ndarray, k: np.ndarray, size: int
) -> float:
    """The objective by its definition, without a gradient: binomial counts, normal
    priors."""
    m, j = y.shape
    theta, alpha, d = np.split(x, [m * size, (m + j) * size])
    p = special.expit(theta.reshape(m, size) @ alpha.reshape(j, size).T + d)
    likelihood = (special.xlogy(y, p) + special.xlogy(k - y, 1 - p)).sum()
    return float(-likelihood + (theta @ theta + alpha @ alpha + d @ d / 9) / 2)


def test_the_fit_is_the_maximum_that_scipy_finds_from_anywhere() -> None:
    rng = np.random.default_rng(4)
    k = rng.integers(0, 4, (9, 7)).astype(float)
    k[:, 0] = k[0] = 2
    y = rng.binomial(k.astype(int), 0.6).astype(float)
    fit = fit_dimensions(as_responses(np.where(k > 0, y, np.nan), k), 2)
    x = np.concatenate([fit.theta.ravel(), fit.alpha.ravel(), fit.d])
    assert fit.converged and fit.objective == pytest.approx(
        minus_log_posterior(x, y, k, 2), abs=1e-6
    )
    least = min(
        optimize.minimize(
            minus_log_posterior, rng.normal(size=len(x)), args=(y, k, 2), method="BFGS"
        ).fun
        for _ in range(5)
    )
    assert fit.objective == pytest.approx(least, abs=1e-3)


def test_true_chances_come_out_nearer_with_the_true_number() -> None:
    responses, chances = simulated(1, 120, 150, 2)
    off = {
        n: np.abs(
            (fit := fit_dimensions(responses, n)).chances(fit.theta) - chances
        ).mean()
        for n in (1, 2)
    }
    assert off[2] < 0.07 < 0.1 < off[1]


def test_the_axes_are_those_of_the_slopes() -> None:
    fit = fit_dimensions(simulated(2, 40, 60, 3)[0], 3)
    products = fit.alpha.T @ fit.alpha
    assert (
        products == pytest.approx(np.diag(np.diag(products)), abs=1e-9)
        and (np.diff(np.diag(products)) < 0).all()
    )
    assert (fit.alpha.sum(axis=0) > 0).all()


def test_a_rotation_changes_no_prediction_and_no_anchor_but_by_its_starts() -> None:
    responses, _ = simulated(3, 40, 60, 2)
    fit = fit_dimensions(responses, 2)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = DimensionsFit(
        fit.alpha @ turn, fit.d, fit.theta @ turn, fit.objective, True
    )
    items = np.arange(0, 60, 3)
    some = responses.part(slice(None), items)
    assert predict_rest(turned, some, items) == pytest.approx(
        predict_rest(fit, some, items), abs=1e-7
    )
    chosen = [irt_anchors(one, responses, 10) for one in (fit, turned)]
    assert chosen[0].inertia == pytest.approx(chosen[1].inertia, rel=0.15)


def test_a_new_model_is_placed_at_its_mode() -> None:
    responses, _ = simulated(5, 30, 40, 2)
    fit = fit_dimensions(responses, 2)
    y = np.stack([responses.successes[0], np.ones(40), np.zeros(40)]).astype(float)
    placed = place_models(fit, as_responses(y))
    for row, found in zip(y, placed, strict=True):

        def minus(theta: np.ndarray, row: np.ndarray = row) -> float:
            p = special.expit(fit.alpha @ theta + fit.d)
            return float(theta @ theta / 2 - np.log(np.where(row == 1, p, 1 - p)).sum())

        assert found == pytest.approx(
            optimize.minimize(minus, np.zeros(2), tol=1e-10).x, abs=1e-4
        )


@pytest.mark.parametrize(("true", "tries"), [(1, (1, 2, 3)), (2, (1, 2, 3))])
def test_the_true_number_is_found(true: int, tries: tuple[int, ...]) -> None:
    found = dimension_errors(simulated(6, 60, 150, true)[0], tries, (20,))
    assert [one.n_dimensions for one in found if one.chosen] == [
        true
    ] and "dimensions: log loss" in str(found[0])
    least = min(found, key=lambda one: one.log_loss)
    for one in found:
        assert (
            one.behind == pytest.approx(one.log_loss - least.log_loss)
            and one.standard_error > 0
        )
        assert one.p_irt_gain == pytest.approx(one.mean_error - one.p_irt_error)
        assert one.gp_irt_gain == pytest.approx(one.mean_error - one.gp_irt_error)
    assert (
        least.behind_standard_error == 0 and len({one.mean_error for one in found}) == 1
    )


def test_equal_losses_take_the_fewest() -> None:
    assert [
        one.chosen
        for one in dimension_errors(as_responses(np.ones((12, 30))), (1, 2, 3))
    ] == [True, False, False]


def test_settings_of_one_model_are_left_out_together_and_count_once() -> None:
    responses, _ = simulated(7, 30, 80, 1)
    twice = as_responses(np.repeat(responses.successes, 2, axis=0))
    alone, grouped = (
        dimension_errors(twice, (1,), (20,), groups=of)
        for of in (None, np.repeat(np.arange(30), 2))
    )
    assert grouped[0].standard_error > 1.3 * alone[0].standard_error


def test_anchors_by_several_dimensions() -> None:
    responses, _ = simulated(8, 60, 100, 2)
    error = {
        n: {row.method: row.error for row in anchor_errors(responses, [30], model=n)}
        for n in (1, 2)
    }
    assert (
        error[1]["random"] == error[2]["random"]
        and error[1]["p_irt"] != error[2]["p_irt"]
    )
    assert all(
        values[method] < 0.08
        for values in error.values()
        for method in ("irt", "p_irt", "gp_irt")
    )


@pytest.mark.rare
def test_published_figures_of_math_500(data_dir: Path) -> None:
    """statistics.md §5b. Its folds are blocks of two rows in the order of the file. The
    loss of D = 10, .0085 more than published, is left out: there one tenth of the
    answers was hidden, here each in turn."""
    path = data_dir / "math500_matrix" / "Y_MATH-500.csv"
    if not path.exists():
        pytest.skip(f"no {path}")
    y = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, 501)) > 0
    pairs = np.arange(140) // 2
    found = dimension_errors(
        as_responses(y.astype(float)), (1, 2, 3, 5, 10), groups=pairs, folds=pairs // 14
    )
    table = [
        [row.p_irt_error for row in found if row.n_dimensions == n]
        for n in (1, 2, 3, 5, 10)
    ]
    assert np.array(table) == pytest.approx(
        np.array(
            [
                [696, 478, 284],
                [688, 455, 262],
                [692, 453, 261],
                [690, 451, 263],
                [710, 464, 272],
            ]
        )
        / 1e4,
        abs=0.003,
    )
    assert [row.mean_error for row in found[:3]] == pytest.approx(
        [0.0612, 0.0436, 0.0267], abs=0.003
    )
    assert [row.log_loss for row in found[:12:3]] == pytest.approx(
        [0.3742, 0.3603, 0.3603, 0.3610], abs=0.003
    )
    assert {row.n_dimensions for row in found if row.chosen} == {2}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fit_dimensions(simulated(1, 9, 20, 1)[0], 9),
            "9 dimensions of 9 models x 20 items, expected 1 to 8",
        ),
        (lambda: dimension_errors(simulated(1, 7, 20, 1)[0]), "need 8 models, found 7"),
        (
            lambda: dimension_errors(simulated(1, 10, 20, 1)[0], (8,)),
            "between 1 and 7 here, found .8.",
        ),
        (
            lambda: dimension_errors(simulated(1, 10, 20, 1)[0], (1,), (20,)),
            "between 1 and 19 here, found .20.",
        ),
        (
            lambda: dimension_errors(
                simulated(1, 10, 20, 1)[0], (1,), groups=np.zeros(10)
            ),
            "of one family",
        ),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]
