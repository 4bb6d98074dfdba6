"""Anchors: goldens, k-means against scikit-learn's inertia where it is there, errors on
models left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from tests.support.items import simulate
from warehouse.errors import StatisticsError
from warehouse.stats.items.anchor_errors import (
    METHODS,
    RecipeCheckpoints,
    anchor_errors,
    irt_anchors,
    shares_of,
)
from warehouse.stats.items.anchors import (
    anchor_score,
    choose_anchors,
    gp_irt_weight,
    p_irt,
    predict_rest,
)
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.responses import Responses, as_responses


def test_g13_gp_irt() -> None:
    weight = gp_irt_weight(0.02, 0.24, 100)
    assert weight == pytest.approx(0.4, rel=1e-12)
    assert gp_irt_weight(0.02, 0.24, 100, anchors=False) == pytest.approx(
        0.142857142857, rel=1e-11
    )
    assert weight * 0.70 + (1 - weight) * 0.66 == pytest.approx(0.676, rel=1e-12)
    assert gp_irt_weight(0.0, 0.0, 10) == 0.0 and gp_irt_weight(0.1, 0.0, 10) == 1.0


def test_anchors_are_the_items_nearest_their_centroids() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0], [10, 0], [0, 10]])
    x = np.concatenate(
        [
            centre + rng.normal(0, 0.5, (n, 2))
            for centre, n in zip(centres, (5, 10, 25), strict=True)
        ]
    )
    found = choose_anchors(x, 3)
    assert (
        found.weights.tolist() == pytest.approx([0.125, 0.25, 0.625])
        and (np.diff(found.items) > 0).all()
    )
    for place, item in enumerate(found.items):
        own = np.flatnonzero(found.clusters == place)
        assert item == own[np.argmin(((x[own] - x[own].mean(axis=0)) ** 2).sum(axis=1))]
    apart = sum(
        ((x[found.clusters == c] - x[found.clusters == c].mean(axis=0)) ** 2).sum()
        for c in range(3)
    )
    assert found.inertia == pytest.approx(apart / 40)
    heavy = np.where(np.arange(40) < 5, 4.0, 1.0)
    assert choose_anchors(x, 3, weights=heavy).weights.tolist() == pytest.approx(
        [20 / 55, 10 / 55, 25 / 55]
    )
    again = choose_anchors(
        np.repeat(x, 2, axis=0), 3
    )  # doubled items are one point of double weight
    assert again.weights.tolist() == pytest.approx(
        [0.125, 0.25, 0.625]
    ) and again.inertia == pytest.approx(found.inertia)


def test_anchors_of_every_item_give_the_score_itself() -> None:
    y = (np.random.default_rng(1).random((6, 9)) < np.linspace(0.2, 0.9, 9)).astype(
        float
    )
    x = np.arange(9.0)[:, None]
    omega = np.linspace(1, 2, 9)
    found = choose_anchors(x, 9, weights=omega)
    assert found.items.tolist() == list(range(9))
    assert anchor_score(y[:, found.items], found.weights) == pytest.approx(
        y @ omega / omega.sum()
    )
    everything = p_irt(y, np.zeros((6, 9)), np.arange(9), omega)
    assert everything == pytest.approx(y @ omega / omega.sum())


def test_p_irt_is_the_sum_of_seen_and_predicted() -> None:
    p, y, omega = (
        np.array([[0.2, 0.4, 0.6, 0.8]]),
        np.array([[1.0, 0.0]]),
        np.array([1.0, 2, 3, 4]),
    )
    b = 4 * omega / omega.sum()
    expected = 2 / 4 * np.mean([1 * b[1], 0 * b[3]]) + (1 - 2 / 4) * np.mean(
        [0.2 * b[0], 0.6 * b[2]]
    )
    assert p_irt(y, p, np.array([1, 3]), omega)[0] == pytest.approx(expected)


def test_predictions_come_from_the_map_ability() -> None:
    responses, *_ = simulate(3, 30, 20)
    fit = fit_irt(responses, "2pl")
    items = np.array([0, 4, 9, 13])
    found = predict_rest(fit, responses.part(slice(None), items), items)
    grid = np.linspace(-6, 6, 24001)
    chance = special.expit(np.multiply.outer(grid, fit.a[items]) + fit.d[items])
    for m in (0, 7):
        y = responses.successes[m, items]
        log = (y * np.log(chance) + (1 - y) * np.log1p(-chance)).sum(
            axis=1
        ) + stats.norm.logpdf(grid, 0, fit.prior_sd)
        assert found[m] == pytest.approx(
            special.expit(grid[log.argmax()] * fit.a + fit.d), abs=1e-3
        )


def test_errors_are_of_models_left_out() -> None:
    responses, *_ = simulate(5, 30, 60)
    rows = anchor_errors(responses, [10, 30], seed=1)
    assert [(row.n_items, row.method) for row in rows] == [
        (m, name) for m in (10, 30) for name in METHODS
    ]
    by = {(row.n_items, row.method): row for row in rows}
    for method in METHODS:
        assert by[30, method].error < by[10, method].error < 0.25
        assert (by[30, method].tau or 0) > (by[10, method].tau or 0) and abs(
            by[30, method].bias
        ) < 0.05
    assert by[10, "random"].error == pytest.approx(
        np.sqrt(2 / np.pi * 0.2 / 10 * 50 / 59), rel=0.2
    )
    assert rows == anchor_errors(responses, [10, 30], seed=1)
    assert (
        rows[0].seed_sd is None
        and rows[0].monotonicity is None
        and "error" in str(rows[0])
    )


def test_few_models_have_anchors_by_score_columns() -> None:
    responses, *_ = simulate(5, 10, 60)
    fit = fit_irt(responses, "1pl")
    assert (
        len(irt_anchors(fit, responses, 30).items) == 30
    )  # 1PL alone has 11 different prompts
    assert all(np.isfinite(row.error) for row in anchor_errors(responses, [20]))


def test_seeds_and_curves() -> None:
    rng = np.random.default_rng(2)
    recipe, seed, step = (x.ravel() for x in np.indices((3, 3, 4)))
    skill = 0.3 * recipe + 0.5 * step + rng.normal(0, 0.15, 36)
    y = (
        rng.random((36, 80)) < special.expit(skill[:, None] - rng.normal(0.5, 1, 80))
    ).astype(float)
    curves = RecipeCheckpoints(recipe, seed, step.astype(float))
    rows = anchor_errors(as_responses(y), [20], groups=recipe, curves=curves)
    truth = y.mean(axis=1).reshape(3, 3, 4)
    assert rows[0].seed_sd_full == pytest.approx(truth.std(axis=1, ddof=1).mean())
    taus = [
        stats.kendalltau(range(4), curve).statistic for curve in truth.reshape(9, 4)
    ]
    assert rows[0].monotonicity_full == pytest.approx(np.mean(taus))
    assert all(
        (row.seed_sd or 0) > (row.seed_sd_full or 0)
        for row in rows
        if row.method == "random"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: choose_anchors(np.zeros((5, 2)), 2),
            "number of distinct items here .1.",
        ),
        (lambda: choose_anchors([[1.0, np.nan]], 1), "must be finite"),
        (lambda: gp_irt_weight(-1, 0.2, 10), "at least 0"),
        (lambda: anchor_errors(simulate(1, 7, 20)[0], [5]), "need 8 models, found 7"),
        (lambda: anchor_errors(simulate(1, 9, 20)[0], [20]), "between 1 and 19"),
        (
            lambda: anchor_errors(simulate(1, 9, 20, missing=0.2)[0], [5]),
            "all models to all prompts",
        ),
        (
            lambda: anchor_errors(simulate(1, 9, 20)[0], [5], groups=np.zeros(9)),
            "of one family",
        ),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]


def test_a_cell_without_draws_has_no_share() -> None:
    trials = np.array([[2, 0]], np.float32)
    assert np.array_equal(
        shares_of(Responses(trials / 2, trials, ("a",), ("x", "y"))),
        [[0.5, np.nan]],
        equal_nan=True,
    )
