"""Item response models: the fit against dense quadrature, links between models,
abilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special
from scipy import stats as scipy_stats
from scipy.sparse import csgraph

from tests.support.items import simulate, two_blocks
from warehouse.errors import StatisticsError
from warehouse.stats.items import posterior
from warehouse.stats.items.abilities import abilities, ability_contrast
from warehouse.stats.items.discrimination import implied_discrimination
from warehouse.stats.items.fit_and_dif import item_fit
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.links import blocks_by_items, links
from warehouse.stats.items.posterior import model_groups
from warehouse.stats.items.responses import (
    Responses,
    ability_modes,
    as_responses,
    binarise,
)

NAN = float("nan")
repeatable = settings(deadline=None, derandomize=True, max_examples=40)
G26 = as_responses(
    [[1, 1, 0], [2, 1, 1], [0, 1, NAN], [2, 2, 1], [1, NAN, 0], [2, 2, 2]],
    np.full((6, 3), 2),
)


# --- the fit against dense quadrature --------------------------------------------------------

GRID = np.linspace(-9, 9, 2401)


def dense(responses: Responses, log_a, d, mean=0.0, sd=1.0):
    """Log marginal of each model and the posterior weights on a dense grid: the
    definition."""
    y = responses.successes.astype(float)
    k = np.ones(y.shape) if responses.trials is None else responses.trials.astype(float)
    eta = np.exp(log_a)[:, None] * GRID + d[:, None]
    log_joint = y @ eta - k @ np.logaddexp(0, eta)
    log_joint = log_joint + scipy_stats.norm.logpdf(
        GRID, np.broadcast_to(mean, len(y))[:, None], sd
    )
    total = special.logsumexp(log_joint, axis=1, keepdims=True)
    return (
        total[:, 0] + math.log(GRID[1] - GRID[0]),
        np.exp(log_joint - total),
        eta,
        y,
        k,
    )


def dense_maximum(responses: Responses, *, common_a: bool):
    """(a, d) by BFGS on the dense objective with its exact gradient."""
    n = responses.n_items

    def objective(x):
        log_a, d = np.broadcast_to(x[:-n], (n,)), x[-n:]
        marginal, weight, eta, y, k = dense(responses, log_a, d)
        p = special.expit(eta)
        g_d = y.sum(axis=0) - ((k.T @ weight) * p).sum(axis=1) - d / 9
        g_a = np.exp(log_a) * ((y.T @ weight - (k.T @ weight) * p) * GRID).sum(axis=1)
        value = marginal.sum() - (d @ d) / 18
        if not common_a:
            value, g_a = value - 2 * (log_a @ log_a), g_a - 4 * log_a
        return -value, -np.concatenate([[g_a.sum()] if common_a else g_a, g_d])

    start = np.zeros((1 if common_a else n) + n)
    found = optimize.minimize(
        objective,
        start,
        jac=True,
        method="BFGS",
        options={"gtol": 1e-7, "maxiter": 2000},
    )
    return np.broadcast_to(np.exp(found.x[:-n]), (n,)), found.x[-n:]


def test_g26() -> None:
    fit = fit_irt(G26, "2pl")
    assert fit.a == pytest.approx([1.157514, 0.941018, 1.135170], abs=1e-6)
    assert fit.d == pytest.approx([0.849127, 0.845333, -0.715806], abs=1e-6)
    assert fit.log_likelihood == pytest.approx(-18.839037, abs=1e-6)
    assert (fit.theta[0], fit.theta_sd[0]) == pytest.approx(
        (-0.643215, 0.646820), abs=1e-6
    )
    assert implied_discrimination(fit, G26) == pytest.approx(
        [0.185498, 0.167142, 0.190968], abs=1e-6
    )
    assert fit.converged and fit.n_cells == 16


@pytest.mark.parametrize("name", ["1pl", "2pl"])
@pytest.mark.parametrize(
    ("models", "items", "missing", "draws"),
    [(25, 8, 0.0, 1), (40, 12, 0.3, 1), (12, 6, 0.3, 4)],
)
def test_the_fit_is_the_maximum_of_the_dense_objective(
    name, models, items, missing, draws
) -> None:
    responses, *_ = simulate(models, models, items, missing=missing, draws=draws)
    fit = fit_irt(responses, name)
    a, d = dense_maximum(responses, common_a=name == "1pl")
    assert fit.a == pytest.approx(a, abs=1e-5)
    assert fit.d == pytest.approx(d, abs=1e-5)
    marginal, weight, *_ = dense(responses, np.log(fit.a), fit.d)
    assert fit.log_likelihood == pytest.approx(marginal.sum(), abs=1e-6)
    assert fit.theta == pytest.approx(weight @ GRID, abs=1e-5)


def test_moderate_and_many_cells_agree_with_dense_quadrature() -> None:
    """11 nodes from 200 cells on, 9 from 2 000 on: posteriors too narrow for a coarse
    fixed grid."""
    for items in (250, 2100):
        responses, *_ = simulate(items, 8, items)
        fit = fit_irt(responses, "2pl")
        grid = fit.theta[:, None] + np.linspace(-8, 8, 161) * fit.theta_sd[:, None]
        eta = grid[:, :, None] * fit.a + fit.d  # models x nodes x items
        y = responses.successes.astype(float)[:, None, :]
        log_joint = (y * eta - np.logaddexp(0, eta)).sum(axis=2) - grid**2 / 2
        weight = special.softmax(log_joint, axis=1)
        mean = (weight * grid).sum(axis=1)
        assert fit.theta == pytest.approx(mean, abs=1e-5)
        sd = np.sqrt((weight * (grid - mean[:, None]) ** 2).sum(axis=1))
        assert fit.theta_sd == pytest.approx(sd, rel=1e-4)


def test_every_model_is_in_one_group_of_nodes() -> None:
    """At both limits of the numbers of cells: twice in the sums is twice the weight."""
    cells = [199, 200, 1999, 2000, 2001]
    y = np.where(np.arange(2001) < np.array(cells)[:, None], np.arange(2001) % 2, NAN)
    rows = [group.rows.tolist() for group in model_groups(as_responses(y))]
    assert rows == [[0], [1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("models", "items", "missing", "draws"),
    [(25, 8, 0.0, 1), (40, 12, 0.3, 1), (12, 6, 0.3, 4)],
)
def test_the_error_of_a_common_discrimination_is_the_curvature_of_the_dense_objective(
    models, items, missing, draws
) -> None:
    responses, *_ = simulate(models, models, items, missing=missing, draws=draws)
    fit = fit_irt(responses, "1pl")

    def gradient(x):
        _, weight, eta, y, k = dense(responses, np.full(items, math.log(x[0])), x[1:])
        residual = y.T @ weight - (k.T @ weight) * special.expit(eta)
        return np.append((residual * GRID).sum(), residual.sum(axis=1) - x[1:] / 9)

    at, steps = np.append(fit.a[0], fit.d), 1e-4 * np.eye(items + 1)
    curvature = (
        np.array([gradient(at - step) - gradient(at + step) for step in steps]) / 2e-4
    )
    assert fit.se_a_pool == pytest.approx(
        math.sqrt(np.linalg.inv(curvature)[0, 0]), rel=5e-3
    )


def test_blocks_reach_the_maximum_with_a_mean_for_each() -> None:
    """Two sets of items with three links: no move of any parameter raises the dense
    objective."""
    responses, block, _ = two_blocks(3, models=12, items=9, linking=3)
    fit = fit_irt(responses, "1pl", blocks=block)
    n = responses.n_items

    def objective(x):
        gap = np.array([-x[n + 1] / 2, x[n + 1] / 2])[fit.block]
        marginal, *_ = dense(
            responses,
            np.full(n, x[0]),
            x[1 : n + 1],
            gap,
            math.sqrt(1 - x[n + 1] ** 2 / 4),
        )
        return -marginal.sum() + x[1 : n + 1] @ x[1 : n + 1] / 18

    start = np.concatenate(
        [np.log(fit.a[:1]), fit.d, [fit.block_means[1] - fit.block_means[0]]]
    )
    best = optimize.minimize(
        objective, start + 0.05, method="BFGS", options={"gtol": 1e-6}
    )
    assert start == pytest.approx(best.x, abs=5e-5)
    assert fit.block_means @ np.bincount(fit.block) == pytest.approx(0, abs=1e-9)
    assert fit.prior_sd**2 + float((fit.prior_mean**2).mean()) == pytest.approx(1)


def test_without_penalty_likelihood_alone_is_maximised() -> None:
    responses, *_ = simulate(5, 300, 6, spread=0.2)
    fit = fit_irt(responses, "2pl", penalised=False)
    marginal, weight, eta, y, k = dense(responses, np.log(fit.a), fit.d)
    residual = y.T @ weight - (k.T @ weight) * special.expit(eta)
    assert np.abs(residual.sum(axis=1)).max() < 1e-3
    assert np.abs((residual * GRID).sum(axis=1)).max() < 1e-3
    assert fit.penalty == 0 and not fit.is_penalised
    with pytest.raises(StatisticsError, match="8 of its rarer answer"):
        fit_irt(as_responses(np.eye(4)), penalised=False)


# --- properties ------------------------------------------------------------------------------


@repeatable
@given(st.integers(0, 10_000))
def test_order_of_models_and_items_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    responses, *_ = simulate(seed, 8, 6, missing=0.1)
    rows, columns = rng.permutation(8), rng.permutation(6)
    if not links(responses).is_connected:
        return
    fit, other = (
        fit_irt(responses, "2pl"),
        fit_irt(responses.part(rows, columns), "2pl"),
    )
    assert other.a == pytest.approx(fit.a[columns], abs=2e-5)
    assert other.d == pytest.approx(fit.d[columns], abs=2e-5)
    assert other.theta == pytest.approx(fit.theta[rows], abs=2e-5)


def test_draws_of_a_cell_are_as_good_as_items_that_are_alike() -> None:
    """A binomial count has the likelihood of its single draws."""
    responses, *_ = simulate(1, 15, 5, draws=3)
    a, d = np.full(5, 1.1), np.linspace(-1, 1, 5)
    y = responses.successes.astype(int)
    single = np.concatenate([(y > i).astype(float) for i in range(3)], axis=1)
    modes = ability_modes(responses, a, d)
    assert modes == pytest.approx(
        ability_modes(as_responses(single), np.tile(a, 3), np.tile(d, 3)), abs=1e-9
    )


def test_all_right_all_wrong_and_constant_items_stay_finite() -> None:
    y = np.array([[1, 1, 1, 1], [0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]], dtype=float)
    fit = fit_irt(as_responses(y), "2pl")
    assert (
        np.isfinite(fit.theta).all()
        and np.isfinite(fit.se_d).all()
        and np.isfinite(fit.se_a).all()
    )
    assert fit.a[1] == pytest.approx(1, abs=0.1)
    assert fit.theta[0] > fit.theta[2] > fit.theta[1]
    assert fit.flags == ("few_models",)


def test_items_against_ability_and_many_draws_converge() -> None:
    """Steps that took expected curvature for an item with a below 0 went to and fro
    without end."""
    rng = np.random.default_rng(20)
    for _ in range(5):
        k = rng.choice([1, 3, 200], size=(10, 8))
        y = rng.binomial(k, rng.random(k.shape)).astype(float)
        for name in ("1pl", "2pl"):
            fit = fit_irt(as_responses(y, k), name)
            assert fit.converged and fit.rounds < 300
            marginal, *_ = dense(as_responses(y, k), np.log(fit.a), fit.d)
            if name == "2pl":
                for j in range(8):  # no step along one item is uphill
                    for move in (-1e-3, 1e-3):
                        log_a = np.log(fit.a)
                        log_a[j] += move
                        other = (
                            dense(as_responses(y, k), log_a, fit.d)[0].sum()
                            - 2 * log_a @ log_a
                        )
                        assert (
                            other
                            < marginal.sum() - 2 * np.log(fit.a) @ np.log(fit.a) + 1e-6
                        )


def test_threads_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    responses, *_ = simulate(8, 60, 3000)
    monkeypatch.setattr(posterior, "_MANY", 1)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(posterior.os, "cpu_count", lambda cores=cores: cores)
        found.append(fit_irt(responses))
    assert (found[0].a == found[1].a).all() and (found[0].theta == found[1].theta).all()
    monkeypatch.setattr(posterior, "_MANY", 1 << 60)
    assert fit_irt(responses).d == pytest.approx(found[0].d, abs=1e-6)


def test_default_model_and_refusals() -> None:
    responses, *_ = simulate(2, 19, 5)
    assert fit_irt(responses).model == "1pl"
    assert fit_irt(simulate(2, 20, 5)[0]).model == "2pl"
    for name in ("3pl", "4PL"):
        with pytest.raises(StatisticsError, match="guessing"):
            fit_irt(responses, name)
    with pytest.raises(StatisticsError, match="several dimensions"):
        fit_irt(responses, "m2pl")
    with pytest.raises(StatisticsError, match="'1pl' or '2pl'"):
        fit_irt(responses, "rasch")
    with pytest.raises(StatisticsError, match="tolerance"):
        fit_irt(responses, tolerance=0)


def test_what_may_enter() -> None:
    with pytest.raises(
        StatisticsError,
        match=r"no count of successes \(first: 0.5 of 1 draws, model 0, item 1",
    ):
        as_responses([[1, 0.5], [0, 1]])
    with pytest.raises(StatisticsError, match="no count"):
        as_responses([[3, 0], [0, 1]], [[2, 2], [2, 2]])
    with pytest.raises(StatisticsError, match="no count"):
        as_responses([[math.inf, 0], [0, 1]])
    with pytest.raises(StatisticsError, match="item b has no answer"):
        as_responses([[1, NAN], [0, NAN]], items=["a", "b"])
    with pytest.raises(StatisticsError, match="model x has no answer"):
        as_responses([[1, 0], [NAN, NAN]], models=["y", "x"])
    with pytest.raises(StatisticsError, match="'x' stands there 2 times"):
        as_responses([[1, 0], [1, 1]], models=["x", "x"])
    with pytest.raises(StatisticsError, match="at least 2 x 2"):
        as_responses([[1, 0]])
    with pytest.raises(StatisticsError, match="whole numbers"):
        as_responses([[1, 0], [1, 1]], [[1, 1.5], [1, 1]])
    with pytest.raises(StatisticsError, match="shape"):
        as_responses([[1, 0], [1, 1]], [1, 1])
    assert as_responses([[1, 0], [1, 1]], [[1, 1], [1, 1]]).trials is None


def test_binarise_keeps_the_means_best() -> None:
    scores = np.round(np.random.default_rng(0).random((6, 40)), 2)
    table, threshold = binarise(scores)
    gaps = {
        c: np.abs((scores > c).mean(axis=1) - scores.mean(axis=1)).mean()
        for c in np.unique(scores)
    }
    assert gaps[threshold] == pytest.approx(min(gaps.values()))
    assert (table == (scores > threshold)).all()
    with pytest.raises(StatisticsError, match=r"\[0, 1\]"):
        binarise([[0, 2.0], [1, 1]])


# --- links -----------------------------------------------------------------------------------


def test_models_without_a_common_scale_are_refused_by_name() -> None:
    y = [[1, 0, NAN, NAN], [0, 1, NAN, NAN], [NAN, NAN, 1, 0], [NAN, NAN, 1, 1]]
    with pytest.raises(StatisticsError, match=r"2 components: a, b; c, d"):
        fit_irt(as_responses(y, models=list("abcd")))


def test_a_bridge_is_flagged() -> None:
    y = [
        [1, 0, 1, NAN, NAN],
        [0, 1, 0, NAN, NAN],
        [NAN, NAN, 1, 0, 1],
        [NAN, NAN, 0, 1, 1],
    ]
    fit = fit_irt(as_responses(y))
    assert (fit.bridge_items, fit.bridge_models) == (("item 2",), ())
    assert "bridges" in fit.flags


def pieces(answered: np.ndarray) -> int:
    m, n = answered.shape
    graph = np.zeros((m + n, m + n))
    graph[:m, m:] = answered
    return len(np.unique(csgraph.connected_components(graph, directed=False)[1][:m]))


@repeatable
@given(st.integers(0, 10_000))
def test_links_are_those_of_leaving_each_node_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, 8, 2)
    answered = rng.random((m, n)) < rng.uniform(0.15, 0.6)
    answered[np.arange(m), rng.integers(0, n, m)] = True
    answered[rng.integers(0, m, n), np.arange(n)] = True
    found = links(as_responses(np.where(answered, 1.0, NAN)))
    whole = pieces(answered)
    assert len(found.components) == whole
    assert found.bridge_items == tuple(
        f"item {j}" for j in range(n) if pieces(np.delete(answered, j, axis=1)) > whole
    )
    shared = answered & (answered.sum(axis=0) > 1)
    parted = [
        pieces(np.delete(answered, i, axis=0)) > whole - (not shared[i].any())
        for i in range(m)
    ]
    assert found.bridge_models == tuple(f"model {i}" for i in range(m) if parted[i])


def test_links_of_many_items_need_no_whole_graph() -> None:
    rng = np.random.default_rng(0)
    answered = rng.random((30, 900)) < 0.6
    answered[:, 0] |= ~answered.any(axis=1)
    found = links(as_responses(np.where(answered, 1.0, NAN)))
    assert found.is_connected and not found.bridge_items and not found.bridge_models
    answered[:15, 450:], answered[15:, :450] = False, False
    answered[:, 449] = True
    split = links(as_responses(np.where(answered, 1.0, NAN)))
    assert (
        split.is_connected
        and split.bridge_items == ("item 449",)
        and not split.bridge_models
    )


def test_blocks() -> None:
    responses, block, _ = two_blocks(1, models=6, items=10, linking=3)
    found = blocks_by_items(responses)
    assert (found == block).all() or (found == 1 - block).all()
    assert not blocks_by_items(simulate(0, 6, 5)[0]).any()
    with pytest.raises(StatisticsError, match="needs 100 items that link"):
        fit_irt(responses, "2pl", blocks=block)
    with pytest.raises(StatisticsError, match="one label per model"):
        fit_irt(responses, "1pl", blocks=[0, 1])
    assert "different_item_sets" in fit_irt(responses, "1pl").flags
    assert fit_irt(responses, "1pl", blocks=found).flags == ()


# --- abilities -------------------------------------------------------------------------------


def test_abilities_against_the_whole_information_matrix() -> None:
    """V* from the full inverse of the joint information, items not profiled out."""
    for name in ("1pl", "2pl"):
        responses, *_ = simulate(4, 9, 7, missing=0.2, draws=2)
        fit = fit_irt(responses, name)
        found = abilities(fit, responses)
        assert (found.ability.mean(), found.ability.std()) == pytest.approx((0, 1))
        a, d = fit.a * found.scale, fit.d + fit.a * found.shift
        k = responses.trials.astype(float)
        p = special.expit(np.multiply.outer(found.ability, a) + d)
        m, n = p.shape
        n_a = 1 if name == "1pl" else n
        jacobian = np.zeros((m * n, m + n_a + n))
        for i in range(m):
            for j in range(n):
                row = jacobian[i * n + j]
                row[i], row[m + (j if n_a > 1 else 0)], row[m + n_a + j] = (
                    a[j],
                    a[j] * found.ability[i],
                    1,
                )
        prior = np.concatenate(
            [np.ones(m), np.full(n_a, 0 if n_a == 1 else 4), np.full(n, 1 / 9)]
        )
        full = jacobian.T @ ((k * p * (1 - p)).ravel()[:, None] * jacobian) + np.diag(
            prior
        )
        v = np.linalg.inv(full)[:m, :m]
        c = np.stack([np.ones(m), found.ability], axis=1)
        v = v - v @ c @ np.linalg.inv(c.T @ v @ c) @ c.T @ v
        mean = (k > 0).sum(axis=0).mean()
        expected = v * mean / (mean - (1 if name == "1pl" else 2))
        assert found.covariance == pytest.approx(expected, abs=1e-9)


def test_clusters_of_items() -> None:
    responses, *_ = simulate(6, 30, 60)
    fit = fit_irt(responses)
    plain, single = abilities(fit, responses), abilities(fit, responses, np.arange(60))
    assert single.n_clusters == 60 and single.df == 59
    assert single.se.mean() == pytest.approx(plain.se.mean(), rel=0.2)
    # every item thrice, as one testlet: no more is known, though without clusters it
    # would seem so
    thrice = as_responses(np.repeat(responses.successes, 3, axis=1))
    fit3 = fit_irt(thrice)
    naive, clustered = (
        abilities(fit3, thrice),
        abilities(fit3, thrice, np.repeat(np.arange(60), 3)),
    )
    assert clustered.se.mean() > 1.3 * naive.se.mean()
    with pytest.raises(StatisticsError, match="at least 2"):
        abilities(fit, responses, np.zeros(60, dtype=int))


def test_contrasts() -> None:
    responses, *_ = simulate(7, 24, 40)
    found = abilities(fit_irt(responses), responses)
    forth, back = (
        ability_contrast(found, *pair)
        for pair in (("model 1", "model 2"), ("model 2", "model 1"))
    )
    assert (
        forth.difference == -back.difference
        and forth.se == back.se
        and forth.low == -back.high
    )
    assert forth.se**2 == pytest.approx(
        np.array([1, -1]) @ found.covariance[1:3, 1:3] @ [1, -1]
    )
    same = ability_contrast(found, "model 1", "model 1")
    assert same.se is None
    with pytest.raises(StatisticsError, match="no model of this pool"):
        ability_contrast(found, "model 1", "nobody")
    assert "covariance" not in found.to_dict()


def test_too_few_models_have_no_errors() -> None:
    y = np.array([[1, 1, 0, 1], [0, 1, 0, 0]], dtype=float)
    fit = fit_irt(as_responses(y), "2pl")
    found = abilities(fit, as_responses(y))
    assert np.isnan(found.se).all() and "too few" in found.reason
    assert ability_contrast(found, "model 0", "model 1").se is None
    same = as_responses([[1, 0], [1, 0]])
    assert "same ability" in abilities(fit_irt(same), same).reason


def test_answers_of_another_fit_are_refused() -> None:
    responses, *_ = simulate(7, 20, 6)
    fit = fit_irt(responses)
    other = responses.part(slice(None), slice(0, 5))
    for call in (abilities, item_fit, implied_discrimination):
        with pytest.raises(StatisticsError, match="same models and items"):
            call(fit, other)
