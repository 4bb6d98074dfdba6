"""Items: the item response fit against dense quadrature, errors, links, discrimination, fit, pruning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special
from scipy import stats as scipy_stats
from scipy.sparse import csgraph

from warehouse.errors import StatisticsError
from warehouse.stats.items.abilities import abilities, ability_contrast
from warehouse.stats.items.ability_modes import ability_modes
from warehouse.stats.items.adaptive import next_items, replay
from warehouse.stats.items.discrimination import discrimination, implied_discrimination
from warehouse.stats.items.fit_and_dif import family_dif, item_fit
from warehouse.stats.items.held_out import held_out_loss
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.links import blocks_by_items, links
from warehouse.stats.items.pruning import pruning_curve
from warehouse.stats.items.responses import Responses, as_responses, binarise
from warehouse.stats.items.splits import difficulty_split, random_split, split_agreement

NAN = float("nan")
repeatable = settings(deadline=None, derandomize=True, max_examples=40)
G12 = np.array([[float(c) for c in row] for row in "1101 0101 1111 0001 1011".split()])
G26 = as_responses([[1, 1, 0], [2, 1, 1], [0, 1, NAN], [2, 2, 1], [1, NAN, 0], [2, 2, 2]], np.full((6, 3), 2))


def golden(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


def simulate(seed: int, models: int, items: int, *, missing: float = 0.0, draws: int = 1, spread: float = 0.4):
    """Responses of a 2PL with their true abilities, a and d."""
    rng = np.random.default_rng(seed)
    theta, a = rng.normal(size=models), np.exp(rng.normal(0, spread, items))
    d = rng.normal(0, 1.2, items)
    y = rng.binomial(draws, special.expit(np.multiply.outer(theta, a) + d)).astype(float)
    y[rng.random(y.shape) < missing] = NAN
    return as_responses(y, np.full(y.shape, draws)), theta, a, d


# --- the fit against dense quadrature --------------------------------------------------------

GRID = np.linspace(-9, 9, 2401)


def dense(responses: Responses, log_a, d, mean=0.0, sd=1.0):
    """Log marginal of each model and the posterior weights on a dense grid: the definition."""
    y = responses.successes.astype(float)
    k = np.ones(y.shape) if responses.trials is None else responses.trials.astype(float)
    eta = np.exp(log_a)[:, None] * GRID + d[:, None]
    log_joint = y @ eta - k @ np.logaddexp(0, eta)
    log_joint = log_joint + scipy_stats.norm.logpdf(GRID, np.broadcast_to(mean, len(y))[:, None], sd)
    total = special.logsumexp(log_joint, axis=1, keepdims=True)
    return total[:, 0] + math.log(GRID[1] - GRID[0]), np.exp(log_joint - total), eta, y, k


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
    found = optimize.minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    return np.broadcast_to(np.exp(found.x[:-n]), (n,)), found.x[-n:]


def test_g26() -> None:
    fit = fit_irt(G26, "2pl")
    assert fit.a == pytest.approx([1.157514, 0.941018, 1.135170], abs=1e-6)
    assert fit.d == pytest.approx([0.849127, 0.845333, -0.715806], abs=1e-6)
    assert fit.log_likelihood == pytest.approx(-18.839037, abs=1e-6)
    assert (fit.theta[0], fit.theta_sd[0]) == pytest.approx((-0.643215, 0.646820), abs=1e-6)
    assert implied_discrimination(fit, G26) == pytest.approx([0.185498, 0.167142, 0.190968], abs=1e-6)
    assert fit.converged and fit.n_cells == 16


@pytest.mark.parametrize("name", ["1pl", "2pl"])
@pytest.mark.parametrize(("models", "items", "missing", "draws"), [(25, 8, 0.0, 1), (40, 12, 0.3, 1), (12, 6, 0.3, 4)])
def test_the_fit_is_the_maximum_of_the_dense_objective(name, models, items, missing, draws) -> None:
    responses, *_ = simulate(models, models, items, missing=missing, draws=draws)
    fit = fit_irt(responses, name)
    a, d = dense_maximum(responses, common_a=name == "1pl")
    assert fit.a == pytest.approx(a, abs=1e-5)
    assert fit.d == pytest.approx(d, abs=1e-5)
    marginal, weight, *_ = dense(responses, np.log(fit.a), fit.d)
    assert fit.log_likelihood == pytest.approx(marginal.sum(), abs=1e-6)
    assert fit.theta == pytest.approx(weight @ GRID, abs=1e-5)


def test_moderate_and_many_cells_agree_with_dense_quadrature() -> None:
    """11 nodes from 200 cells on, 9 from 2 000 on: posteriors too narrow for a coarse fixed grid."""
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


def test_blocks_reach_the_maximum_with_a_mean_for_each() -> None:
    """Two sets of items with three links: no move of any parameter raises the dense objective."""
    responses, block, _ = two_blocks(3, models=12, items=9, linking=3)
    fit = fit_irt(responses, "1pl", blocks=block)
    n = responses.n_items

    def objective(x):
        gap = np.array([-x[n + 1] / 2, x[n + 1] / 2])[fit.block]
        marginal, *_ = dense(responses, np.full(n, x[0]), x[1 : n + 1], gap, math.sqrt(1 - x[n + 1] ** 2 / 4))
        return -marginal.sum() + x[1 : n + 1] @ x[1 : n + 1] / 18

    start = np.concatenate([np.log(fit.a[:1]), fit.d, [fit.block_means[1] - fit.block_means[0]]])
    best = optimize.minimize(objective, start + 0.05, method="BFGS", options={"gtol": 1e-6})
    assert start == pytest.approx(best.x, abs=5e-5)
    assert fit.block_means @ np.bincount(fit.block) == pytest.approx(0, abs=1e-9)
    assert fit.prior_sd**2 + float((fit.prior_mean**2).mean()) == pytest.approx(1)


def two_blocks(seed: int, *, models: int, items: int, linking: int, gap: float = 1.5):
    """Two blocks of models that answered ``items`` each, ``linking`` of them in common."""
    rng = np.random.default_rng(seed)
    block = np.repeat([0, 1], models)
    theta = rng.normal(size=2 * models) * 0.7 + gap * (block - 0.5)
    total = 2 * items - linking
    d = rng.normal(0, 1, total)
    y = (rng.random((2 * models, total)) < special.expit(np.multiply.outer(theta, np.ones(total)) + d)).astype(float)
    y[:models, items:] = NAN
    y[models:, : items - linking] = NAN
    return as_responses(y), block, theta


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
    fit, other = fit_irt(responses, "2pl"), fit_irt(responses.part(rows, columns), "2pl")
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
    assert modes == pytest.approx(ability_modes(as_responses(single), np.tile(a, 3), np.tile(d, 3)), abs=1e-9)


def test_all_right_all_wrong_and_constant_items_stay_finite() -> None:
    y = np.array([[1, 1, 1, 1], [0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]], dtype=float)
    fit = fit_irt(as_responses(y), "2pl")
    assert np.isfinite(fit.theta).all() and np.isfinite(fit.se_d).all() and np.isfinite(fit.se_a).all()
    assert fit.a[1] == pytest.approx(1, abs=0.1)
    assert fit.theta[0] > fit.theta[2] > fit.theta[1]
    assert fit.flags == ("few_models",)


def test_items_against_ability_and_many_draws_converge() -> None:
    """Steps that took expected curvature for an item with a below 0 went to and fro without end."""
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
                        other = dense(as_responses(y, k), log_a, fit.d)[0].sum() - 2 * log_a @ log_a
                        assert other < marginal.sum() - 2 * np.log(fit.a) @ np.log(fit.a) + 1e-6


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
    with pytest.raises(StatisticsError, match=r"no count of successes \(first: 0.5 of 1 draws, model 0, item 1"):
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
    gaps = {c: np.abs((scores > c).mean(axis=1) - scores.mean(axis=1)).mean() for c in np.unique(scores)}
    assert gaps[threshold] == pytest.approx(min(gaps.values()))
    assert (table == (scores > threshold)).all()
    with pytest.raises(StatisticsError, match=r"\[0, 1\]"):
        binarise([[0, 2.0], [1, 1]])


# --- links -----------------------------------------------------------------------------------


def test_models_without_a_common_scale_are_refused_by_name() -> None:
    y = [[1, 0, NAN, NAN], [0, 1, NAN, NAN], [NAN, NAN, 1, 0], [NAN, NAN, 1, 1]]
    with pytest.raises(StatisticsError, match=r"2 component\(s\): a, b; c, d"):
        fit_irt(as_responses(y, models=list("abcd")))


def test_a_bridge_is_flagged() -> None:
    y = [[1, 0, 1, NAN, NAN], [0, 1, 0, NAN, NAN], [NAN, NAN, 1, 0, 1], [NAN, NAN, 0, 1, 1]]
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
    assert found.bridge_items == tuple(f"item {j}" for j in range(n) if pieces(np.delete(answered, j, axis=1)) > whole)
    shared = answered & (answered.sum(axis=0) > 1)
    parted = [pieces(np.delete(answered, i, axis=0)) > whole - (not shared[i].any()) for i in range(m)]
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
    assert split.is_connected and split.bridge_items == ("item 449",) and not split.bridge_models


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
                row[i], row[m + (j if n_a > 1 else 0)], row[m + n_a + j] = a[j], a[j] * found.ability[i], 1
        prior = np.concatenate([np.ones(m), np.full(n_a, 0 if n_a == 1 else 4), np.full(n, 1 / 9)])
        full = jacobian.T @ ((k * p * (1 - p)).ravel()[:, None] * jacobian) + np.diag(prior)
        v = np.linalg.inv(full)[:m, :m]
        c = np.stack([np.ones(m), found.ability], axis=1)
        v = v - v @ c @ np.linalg.inv(c.T @ v @ c) @ c.T @ v
        mean = (k > 0).sum(axis=0).mean()
        expected = v * mean / (mean - (1 if name == "1pl" else 2))
        assert found.covariance == pytest.approx(expected, abs=1e-9)
        assert found.mean_models == pytest.approx(mean)


def test_clusters_of_items() -> None:
    responses, *_ = simulate(6, 30, 60)
    fit = fit_irt(responses)
    plain, single = abilities(fit, responses), abilities(fit, responses, np.arange(60))
    assert single.n_clusters == 60 and single.df == 59
    assert single.se.mean() == pytest.approx(plain.se.mean(), rel=0.2)
    # every item thrice, as one testlet: no more is known, though without clusters it would seem so
    thrice = as_responses(np.repeat(responses.successes, 3, axis=1))
    fit3 = fit_irt(thrice)
    naive, clustered = abilities(fit3, thrice), abilities(fit3, thrice, np.repeat(np.arange(60), 3))
    assert clustered.se.mean() > 1.3 * naive.se.mean()
    with pytest.raises(StatisticsError, match="at least 2"):
        abilities(fit, responses, np.zeros(60, dtype=int))


def test_contrasts() -> None:
    responses, *_ = simulate(7, 24, 40)
    found = abilities(fit_irt(responses), responses)
    forth, back = (ability_contrast(found, *pair) for pair in (("model 1", "model 2"), ("model 2", "model 1")))
    assert forth.difference == -back.difference and forth.se == back.se and forth.low == -back.high
    assert forth.se**2 == pytest.approx(np.array([1, -1]) @ found.covariance[1:3, 1:3] @ [1, -1])
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


# --- discrimination --------------------------------------------------------------------------


def test_g12() -> None:
    found = discrimination(G12)
    assert found.raw[:3] == golden([0.880704845928, 0.480384461415, 0.720576692123])
    assert found.corrected[:3] == golden([0.645497224368, 0, 0.327326835354])
    assert np.isnan(found.raw[3]) and np.isnan(found.corrected[3])
    assert found.is_constant.tolist() == [False, False, False, True]
    assert found.difficulty.tolist() == [0.6, 0.6, 0.4, 1.0]
    assert discrimination(G12, zero_if_constant=True).corrected[3] == 0
    assert found.flags == ("noise",)


def test_negative_items_are_one_sided_correlation_tests() -> None:
    responses, *_ = simulate(3, 200, 30, spread=0.0)
    y = responses.successes.astype(float)
    y[:, 0] = 1 - y[:, 0]
    found = discrimination(y)
    rest = y.sum(axis=1, keepdims=True) - y
    for j in range(30):
        r = scipy_stats.pearsonr(y[:, j], rest[:, j], alternative="less")
        assert (found.corrected[j], found.p_negative[j]) == (golden(r.statistic), golden(r.pvalue))
    assert found.q_negative == golden(scipy_stats.false_discovery_control(found.p_negative))
    assert found.is_negative.tolist() == [True] + [False] * 29


def test_missing_cells_are_left_out_of_the_rest() -> None:
    y = np.where(np.random.default_rng(1).random((12, 6)) < 0.2, NAN, simulate(1, 12, 6)[0].successes.astype(float))
    found = discrimination(y)
    j = 2
    rows = [i for i in range(12) if not math.isnan(y[i, j])]
    rest = [np.nanmean(np.delete(y[i], j)) for i in rows]
    assert found.corrected[j] == golden(np.corrcoef(y[rows, j], rest)[0, 1])
    assert found.n_models[j] == len(rows)


def test_implied_discrimination_is_that_of_many_models_like_these() -> None:
    """r_implied is the corrected correlation over endless answers of models at the EAP abilities."""
    responses, *_ = simulate(9, 30, 12)
    fit = fit_irt(responses)
    rng = np.random.default_rng(0)
    p = special.expit(np.multiply.outer(fit.theta, fit.a) + fit.d)
    y = (rng.random((4000, *p.shape)) < p).reshape(-1, 12).astype(float)
    assert discrimination(y).corrected == pytest.approx(implied_discrimination(fit, responses), abs=0.012)


# --- fit and DIF -----------------------------------------------------------------------------


def test_infit_and_outfit_by_hand() -> None:
    fit = fit_irt(G26, "2pl")
    found = item_fit(fit, G26)
    theta = ability_modes(G26, fit.a, fit.d)
    for j in range(3):
        e2, v, fourth = [], [], []
        for i in range(6):
            if k := int(G26.trials[i, j]):
                p = special.expit(fit.a[j] * theta[i] + fit.d[j])
                e2.append((G26.successes[i, j] - k * p) ** 2)
                v.append(scipy_stats.binom(k, p).var())
                x = np.arange(k + 1)
                fourth.append(float((scipy_stats.binom.pmf(x, k, p) * (x - k * p) ** 4).sum()))
        e2, v, fourth = map(np.array, (e2, v, fourth))
        assert found.infit[j] == golden(e2.sum() / v.sum())
        assert found.outfit[j] == golden((e2 / v).mean())
        q = math.sqrt((fourth - v**2).sum()) / v.sum()
        assert found.z_infit[j] == golden((found.infit[j] ** (1 / 3) - 1) * 3 / q + q / 3)
        q = math.sqrt((fourth / v**2 - 1).sum()) / len(v)
        assert found.z_outfit[j] == golden((found.outfit[j] ** (1 / 3) - 1) * 3 / q + q / 3)


def families(seed: int, shift: float, models: int = 80, items: int = 40):
    responses, theta, a, d = simulate(seed, models, items)
    family = np.arange(models) % 2
    rng = np.random.default_rng(seed + 1)
    chance = special.expit(np.multiply.outer(theta + family, a) + d + shift * np.outer(family, np.arange(items) < 3))
    return as_responses((rng.random(chance.shape) < chance).astype(float)), [("even", "odd")[f] for f in family]


def test_dif_finds_shifted_items_and_says_by_how_much() -> None:
    effects, false = [], 0
    for seed in range(6):
        responses, family = families(seed, 3.0)
        found = family_dif(fit_irt(responses), responses, family)
        assert [f.family for f in found.families] == ["even"]
        effects.append(found.families[0].effect[:3])
        false += int(found.families[0].is_flagged[3:].sum())
    assert np.nanmean(effects) == pytest.approx(-3, abs=0.8)
    assert false <= 6


def test_dif_against_one_model_with_a_group_term() -> None:
    """z is the efficient score of a group term in a logistic regression with known offset."""
    responses, family = families(3, 0.0)
    fit = fit_irt(responses, "1pl")
    found = family_dif(fit, responses, family, alpha=1e-6).families[0]
    theta = ability_modes(responses, fit.a, fit.d)
    x = np.array([f == "even" for f in family], dtype=float)
    p = special.expit(fit.a[5] * theta + fit.d[5])
    w, e = p * (1 - p), responses.successes[:, 5] - p
    centred = x - (w @ x) / w.sum()
    assert found.z[5] == golden(float(e @ centred) / math.sqrt(float(w @ centred**2)))
    assert found.effect[5] == golden(float(e @ centred) / float(w @ centred**2))


def test_dif_needs_families() -> None:
    responses, *_ = simulate(1, 20, 8)
    fit = fit_irt(responses)
    with pytest.raises(StatisticsError, match=r"two families of at least 5 models, found a \(16\), b \(4\)"):
        family_dif(fit, responses, ["a"] * 16 + ["b"] * 4)
    found = family_dif(fit, responses, ["a"] * 6 + ["b"] * 5 + ["c"] * 5 + ["d"] * 2 + [None] * 2)
    assert [f.family for f in found.families] == ["a", "b", "c"]
    assert found.left_out == ("d",)
    assert found.families[0].n_others == 10
    with pytest.raises(StatisticsError, match="expected 20"):
        family_dif(fit, responses, ["a"])


# --- held-out cells, splits, pruning, adaptive ------------------------------------------------


def test_held_out_cells_prefer_the_model_that_is_true() -> None:
    strong = held_out_loss(simulate(1, 100, 60, spread=0.8)[0], seed=1)
    assert strong.better == "2pl" and strong.difference < -2 * strong.se
    assert strong.loss_2pl < strong.loss_items
    alike = held_out_loss(simulate(2, 30, 40, spread=0.0)[0], seed=1)
    assert abs(alike.difference) < 0.01
    assert alike == held_out_loss(simulate(2, 30, 40, spread=0.0)[0], seed=1)
    counts = held_out_loss(simulate(3, 25, 20, draws=4, missing=0.1)[0], seed=2)
    assert counts.n_draws == 4 * counts.n_cells
    with pytest.raises(StatisticsError, match="share"):
        held_out_loss(simulate(2, 30, 10)[0], seed=1, share=0.9)


def test_splits() -> None:
    y = simulate(1, 30, 200)[0].successes.astype(float)
    hard = difficulty_split(y, 6)
    assert y[hard.test].mean(axis=1).min() >= y[hard.train].mean(axis=1).max()
    random = random_split(30, seed=3)
    assert sorted([*random.train, *random.test]) == list(range(30)) and len(random.test) == 6
    assert (random_split(30, seed=3).test == random.test).all()
    agreement = split_agreement(y, random)
    train, test = (discrimination(y[rows]).corrected for rows in (random.train, random.test))
    both = ~np.isnan(train) & ~np.isnan(test)
    assert agreement.n_items == both.sum()
    assert agreement.pearson == golden(scipy_stats.pearsonr(train[both], test[both]).statistic)
    assert agreement.spearman == golden(scipy_stats.spearmanr(train[both], test[both]).statistic)
    with pytest.raises(StatisticsError, match="3 models on each side"):
        random_split(5, seed=1)


def test_pruning_by_hand() -> None:
    y = simulate(2, 24, 50)[0].successes.astype(float)
    split = difficulty_split(y)
    run = np.cumsum(np.random.default_rng(1).random((7, 50)), axis=0)
    curve = pruning_curve(y, split, seed=1, n_random=20, trajectories=[run, run + 1])
    none, last = curve.steps[0], curve.steps[-1]
    assert (none.mean_change.value, none.se_ratio.value, none.tau.value) == (golden(0), golden(1), golden(1))
    worth = np.nan_to_num(discrimination(y[split.train]).corrected)
    kept = np.sort(np.argsort(worth, kind="stable")[10:])
    before, after = y[split.test], y[split.test][:, kept]
    change = after.mean(axis=1) - before.mean(axis=1)
    assert last.n_dropped == 10 and last.mean_change.value == golden(change.mean())
    interval = scipy_stats.t.interval(0.95, len(change) - 1, change.mean(), scipy_stats.sem(change))
    assert (last.mean_change.low, last.mean_change.high) == golden(interval)
    ratio = scipy_stats.sem(after, axis=1) / scipy_stats.sem(before, axis=1)
    assert last.se_ratio.value == golden(ratio[np.isfinite(ratio)].mean())
    tau = scipy_stats.kendalltau(before.mean(axis=1), after.mean(axis=1).round(12)).statistic
    assert last.tau.value == golden(tau)
    assert last.monotonicity_change.value == golden(0)
    assert last.mean_change.random_low < last.mean_change.random < last.mean_change.random_high
    assert curve == pruning_curve(y, split, seed=1, n_random=20, trajectories=[run, run + 1])
    with pytest.raises(StatisticsError, match="shares"):
        pruning_curve(y, split, seed=1, shares=[1.0])


def test_adaptive_choice() -> None:
    responses, theta, *_ = simulate(5, 40, 80)
    fit = fit_irt(responses)
    empty = next_items(fit, np.full(80, NAN), n=80)
    assert empty.ability == 0 and empty.sd == 1
    assert empty.names[0] == fit.items[int(np.argmax(fit.a**2 * special.expit(fit.d) * special.expit(-fit.d)))]
    all_but_one = responses.successes[3].astype(float)
    all_but_one[7] = NAN
    assert next_items(fit, all_but_one, n=5).names == ("item 7",)
    with pytest.raises(StatisticsError, match="nothing to choose"):
        next_items(fit, responses.successes[3])
    found = replay(responses, 20, seed=1)
    assert found.mean_error < found.mean_error_random
    assert found.factor == np.sort(found.scores)[math.ceil(0.95 * 41) - 1]
    whole = replay(responses, 80, seed=1)
    assert whole.scores == pytest.approx(0, abs=1e-6)
    few = replay(simulate(5, 12, 30)[0], 10, seed=1)
    assert few.factor is None and "too few" in few.reason
    with pytest.raises(StatisticsError, match="n_items"):
        replay(responses, 81, seed=1)


# --- calibration -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "items", "missing", "name"),
    [(28, 100, 0.0, "2pl"), (40, 80, 0.3, "2pl"), (100, 40, 0.0, "2pl"), (28, 100, 0.0, "1pl")],
)
def test_item_and_ability_errors_cover(models: int, items: int, missing: float, name: str) -> None:
    covered, contrasts = [], []
    for seed in range(80):
        responses, theta, a, d = simulate(seed, models, items, missing=missing, spread=0 if name == "1pl" else 0.4)
        fit = fit_irt(responses, name)
        covered.append([(np.abs(fit.a - a) < 1.96 * fit.se_a).mean(), (np.abs(fit.d - d) < 1.96 * fit.se_d).mean()])
        assert np.corrcoef(fit.theta, theta)[0, 1] > 0.8  # the axis never turns round
        found = abilities(fit, responses)
        truth = (theta - theta.mean()) / theta.std()
        i, j = np.triu_indices(models, 1)
        v = found.covariance
        se = np.sqrt(v[i, i] + v[j, j] - 2 * v[i, j])
        contrasts.append((np.abs(found.ability[i] - found.ability[j] - truth[i] + truth[j]) < 1.96 * se).mean())
    of_a, of_d = np.mean(covered, axis=0)
    assert 0.93 <= of_d <= 0.975
    # one a for all is as uncertain as the standard deviation of 28 abilities, and as skewed
    assert (0.85 if name == "1pl" else 0.93) <= of_a <= 0.975
    assert 0.935 <= np.mean(contrasts) <= 0.97


@pytest.mark.slow
def test_few_links_do_not_bias_the_gap_of_blocks() -> None:
    """One N(0, 1) for both would pull two blocks together that three items link."""
    together, apart, truth = [], [], []
    for seed in range(40):
        responses, block, theta = two_blocks(seed, models=40, items=40, linking=3)
        truth.append((theta[block == 1].mean() - theta[block == 0].mean()) / theta.std())
        for blocks, into in ((None, together), (block, apart)):
            fit = fit_irt(responses, "1pl", blocks=blocks)
            spread = math.sqrt(fit.theta.var() + float((fit.theta_sd**2).mean()))
            into.append((fit.theta[block == 1].mean() - fit.theta[block == 0].mean()) / spread)
    error = np.array(apart) - truth
    assert abs(error.mean()) < 2.5 * error.std() / math.sqrt(len(error)) + 0.03
    assert (np.array(together) - truth).mean() < -0.15


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1pl", "2pl"])
def test_dif_keeps_its_size(name: str) -> None:
    p_values = []
    for seed in range(40):
        responses, family = families(100 + seed, 0.0, models=40)
        p_values.append(family_dif(fit_irt(responses, name), responses, family, alpha=1e-9).families[0].p_value)
    p = np.concatenate(p_values)
    assert 0.03 <= np.nanmean(p < 0.05) <= 0.065


@pytest.mark.slow
def test_clusters_cover_testlets() -> None:
    covered, naive = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        models, items, size = 40, 160, 8
        theta, a, d = rng.normal(size=models), np.exp(rng.normal(0, 0.4, items)), rng.normal(0, 1.2, items)
        testlet = np.arange(items) // size
        eta = a * (theta[:, None] + rng.normal(0, 0.8, (models, items // size))[:, testlet]) + d
        responses = as_responses((rng.random(eta.shape) < special.expit(eta)).astype(float))
        fit = fit_irt(responses, "2pl")
        truth = (theta - theta.mean()) / theta.std()
        i, j = np.triu_indices(models, 1)
        for clusters, into in ((testlet, covered), (None, naive)):
            found = abilities(fit, responses, clusters)
            v = found.covariance
            half = special.stdtrit(found.df, 0.975) * np.sqrt(v[i, i] + v[j, j] - 2 * v[i, j])
            into.append((np.abs(found.ability[i] - found.ability[j] - truth[i] + truth[j]) < half).mean())
    assert 0.92 <= np.mean(covered) <= 0.97
    assert np.mean(naive) < 0.9
