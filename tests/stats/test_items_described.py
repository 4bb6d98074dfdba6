"""Items described: discrimination, fit, DIF, held-out cells, splits, pruning, adaptive
choice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special
from scipy import stats as scipy_stats

from tests.support.items import families, simulate
from warehouse.errors import StatisticsError
from warehouse.stats.items.adaptive import next_items, replay
from warehouse.stats.items.discrimination import (
    discrimination,
    free_discrimination,
    implied_discrimination,
    smallest_against,
)
from warehouse.stats.items.fit_and_dif import family_dif, held_out_loss, item_fit
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.pruning import (
    difficulty_split,
    pruning_curve,
    random_split,
    split_agreement,
)
from warehouse.stats.items.responses import ability_modes, as_responses

NAN = float("nan")
G12 = np.array([[float(c) for c in row] for row in "1101 0101 1111 0001 1011".split()])
G26 = as_responses(
    [[1, 1, 0], [2, 1, 1], [0, 1, NAN], [2, 2, 1], [1, NAN, 0], [2, 2, 2]],
    np.full((6, 3), 2),
)


def golden(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


# --- discrimination --------------------------------------------------------------------------


def test_g12() -> None:
    found = discrimination(G12)
    assert found.raw[:3] == golden([0.880704845928, 0.480384461415, 0.720576692123])
    assert found.corrected[:3] == golden([0.645497224368, 0, 0.327326835354])
    assert np.isnan(found.raw[3]) and np.isnan(found.corrected[3])
    assert found.is_constant.tolist() == [False, False, False, True]
    assert found.difficulty.tolist() == [0.6, 0.6, 0.4, 1.0]
    assert found.flags == ("noise",)


def test_a_correlation_that_is_rounding_is_0() -> None:
    found = discrimination(
        [[1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 1, 0]]
    )  # the last was -3.6e-17, and its p 1/2
    assert found.corrected[3] == 0 and found.p_negative[3] == 1


def reversed_items(seed: int, models: int, items: int, share: float) -> np.ndarray:
    """Answers of which the first items are turned over."""
    y = simulate(seed, models, items, spread=0.0)[0].successes.astype(
        float
    )  # one draw each
    y[:, : round(share * items)] = 1 - y[:, : round(share * items)]
    return y


def test_negative_items_are_one_sided_correlation_tests_against_oriented_rest_scores() -> (
    None
):
    y = reversed_items(3, 200, 30, 0.1)
    found = discrimination(y)
    signs = np.sign(np.linalg.svd(stats_zscore(y), full_matrices=False)[2][0])
    signs *= np.sign(signs.sum())
    turned = np.where(signs > 0, y, 1 - y)
    for j in range(30):
        rest = turned.sum(axis=1) - turned[:, j]
        assert found.corrected[j] == golden(
            np.corrcoef(y[:, j], y.sum(axis=1) - y[:, j])[0, 1]
        )
        r = scipy_stats.pearsonr(y[:, j], rest, alternative="less")
        p = r.pvalue if found.corrected[j] < 0 else 1.0
        assert (found.oriented[j], found.p_negative[j]) == (
            golden(r.statistic),
            golden(p),
        )
    assert found.q_negative == golden(
        scipy_stats.false_discovery_control(found.p_negative)
    )
    assert found.is_negative.tolist() == [True] * 3 + [False] * 27


def stats_zscore(y: np.ndarray) -> np.ndarray:
    return np.asarray(scipy_stats.zscore(y, axis=0))


def test_orientation_finds_more_and_is_not_that_of_noise() -> None:
    """40 % reversed are found where sums hide them; without a common ability, or with
    two, nothing is turned over."""
    y = reversed_items(5, 140, 100, 0.4)
    rest = y.sum(axis=1, keepdims=True) - y
    plain = [
        scipy_stats.pearsonr(y[:, j], rest[:, j], alternative="less").pvalue
        for j in range(40)
    ]
    found = discrimination(y)
    assert (
        found.is_negative[:40].sum() > sum(p < 0.01 for p in plain)
        and not found.is_negative[40:].any()
    )
    noise = (np.random.default_rng(1).random((60, 200)) < 0.5).astype(float)
    assert (discrimination(noise).oriented == discrimination(noise).corrected).all()
    two = np.hstack([reversed_items(seed, 60, 100, 0.0) for seed in (1, 2)])
    assert (
        discrimination(two).is_negative.sum() <= 2
    )  # oriented alone it would be half of them where both disagree
    gaps = np.where(np.random.default_rng(2).random(y.shape) < 0.2, NAN, y)
    assert (
        discrimination(gaps).is_negative[:40].sum() >= 20
        and not discrimination(gaps).is_negative[40:].any()
    )


def test_missing_cells_are_left_out_of_the_rest() -> None:
    y = np.where(
        np.random.default_rng(1).random((12, 6)) < 0.2,
        NAN,
        simulate(1, 12, 6)[0].successes.astype(float),
    )
    found = discrimination(y)
    j = 2
    rows = [i for i in range(12) if not math.isnan(y[i, j])]
    rest = [np.nanmean(np.delete(y[i], j)) for i in rows]
    assert found.corrected[j] == golden(np.corrcoef(y[rows, j], rest)[0, 1])
    assert found.n_models[j] == len(rows)


def test_implied_discrimination_is_that_of_many_models_like_these() -> None:
    """r_implied is the corrected correlation over endless answers of models at the EAP
    abilities."""
    responses, *_ = simulate(9, 30, 12)
    fit = fit_irt(responses)
    rng = np.random.default_rng(0)
    p = special.expit(np.multiply.outer(fit.theta, fit.a) + fit.d)
    y = (rng.random((4000, *p.shape)) < p).reshape(-1, 12).astype(float)
    assert discrimination(y).corrected == pytest.approx(
        implied_discrimination(fit, responses), abs=0.012
    )


# --- fit and DIF -----------------------------------------------------------------------------


def test_free_discrimination_is_a_penalised_logistic_slope_that_may_be_negative() -> (
    None
):
    responses = simulate(4, 60, 40)[0]
    y = responses.successes.astype(float)  # one draw each
    y[:, 0] = 1 - y[:, 0]
    turned = as_responses(y)
    fit = fit_irt(turned, "2pl")
    found = free_discrimination(fit, turned)
    theta = (fit.theta - fit.theta.mean()) / fit.theta.std()
    for j in (0, 5):

        def loss(x: np.ndarray, j: int = j) -> float:
            eta = x[0] * theta + x[1]
            return float(
                np.logaddexp(0, eta).sum()
                - y[:, j] @ eta
                + x[0] ** 2 / 8
                + x[1] ** 2 / 18
            )

        assert found.slope[j] == pytest.approx(
            optimize.minimize(loss, [0, 0], tol=1e-12).x[0], abs=1e-4
        )
        r = scipy_stats.pearsonr(y[:, j], theta, alternative="less")
        assert found.p_negative[j] == pytest.approx(r.pvalue, abs=1e-9)
    assert found.slope[0] < 0 < fit.a[0] and found.is_negative.tolist() == [
        True,
        *[False] * 39,
    ]
    with pytest.raises(StatisticsError, match="same models and items"):
        free_discrimination(fit, G26)


def test_what_one_item_alone_must_show() -> None:
    r = smallest_against(29, 100)
    assert -1 < r < 0
    t = r * math.sqrt(27 / (1 - r**2))
    assert scipy_stats.t.cdf(t, 27) == pytest.approx(0.05 / 100)
    assert math.isnan(smallest_against(2, 5))


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
                fourth.append(
                    float((scipy_stats.binom.pmf(x, k, p) * (x - k * p) ** 4).sum())
                )
        e2, v, fourth = map(np.array, (e2, v, fourth))
        assert found.infit[j] == golden(e2.sum() / v.sum())
        assert found.outfit[j] == golden((e2 / v).mean())
        q = math.sqrt((fourth - v**2).sum()) / v.sum()
        assert found.z_infit[j] == golden(
            (found.infit[j] ** (1 / 3) - 1) * 3 / q + q / 3
        )
        q = math.sqrt((fourth / v**2 - 1).sum()) / len(v)
        assert found.z_outfit[j] == golden(
            (found.outfit[j] ** (1 / 3) - 1) * 3 / q + q / 3
        )


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
    """z is the efficient score of a group term in a logistic regression with a slope of
    its own."""
    responses, family = families(3, 0.0)
    fit = fit_irt(responses, "1pl")
    found = family_dif(fit, responses, family, alpha=1e-6).families[0]
    theta = ability_modes(responses, fit.a, fit.d)
    x = np.array([f == "even" for f in family], dtype=float)
    p = special.expit(fit.a[5] * theta + fit.d[5])
    w, e = p * (1 - p), responses.successes[:, 5] - p
    root, on = np.sqrt(w), np.column_stack([np.ones_like(theta), theta])
    centred = x - on @ np.linalg.lstsq(root[:, None] * on, root * x)[0]
    assert found.z[5] == golden(float(e @ centred) / math.sqrt(float(w @ centred**2)))
    assert found.effect[5] == golden(float(e @ centred) / float(w @ centred**2))


def test_dif_needs_families() -> None:
    responses, *_ = simulate(1, 20, 8)
    fit = fit_irt(responses)
    with pytest.raises(
        StatisticsError,
        match=r"two families of at least 5 models, found a \(16\), b \(4\)",
    ):
        family_dif(fit, responses, ["a"] * 16 + ["b"] * 4)
    found = family_dif(
        fit, responses, ["a"] * 6 + ["b"] * 5 + ["c"] * 5 + ["d"] * 2 + [None] * 2
    )
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
    hard = difficulty_split(y)
    assert len(hard.test) == 6
    assert y[hard.test].mean(axis=1).min() >= y[hard.train].mean(axis=1).max()
    random = random_split(30, seed=3)
    assert (
        sorted([*random.train, *random.test]) == list(range(30))
        and len(random.test) == 6
    )
    assert (random_split(30, seed=3).test == random.test).all()
    agreement = split_agreement(y, random)
    train, test = (
        discrimination(y[rows]).corrected for rows in (random.train, random.test)
    )
    both = ~np.isnan(train) & ~np.isnan(test)
    assert agreement.n_items == both.sum()
    assert agreement.pearson == golden(
        scipy_stats.pearsonr(train[both], test[both]).statistic
    )
    assert agreement.spearman == golden(
        scipy_stats.spearmanr(train[both], test[both]).statistic
    )
    with pytest.raises(StatisticsError, match="3 models on each side"):
        random_split(5, seed=1)


def test_pruning_by_hand() -> None:
    y = simulate(2, 24, 50)[0].successes.astype(float)
    split = difficulty_split(y)
    run = np.cumsum(np.random.default_rng(1).random((7, 50)), axis=0)
    recipe = y[[1, 5, 9]]
    curve = pruning_curve(
        y, split, seed=1, n_random=20, trajectories=[run, run + 1], seeds=[recipe]
    )
    none, last = curve.steps[0], curve.steps[-1]
    assert (none.mean_change.value, none.se_ratio.value, none.tau.value) == (
        golden(0),
        golden(1),
        golden(1),
    )
    worth = np.nan_to_num(discrimination(y[split.train]).corrected)
    kept = np.sort(np.argsort(worth, kind="stable")[10:])
    before, after = y[split.test], y[split.test][:, kept]
    change = after.mean(axis=1) - before.mean(axis=1)
    assert last.n_dropped == 10 and last.mean_change.value == golden(change.mean())
    interval = scipy_stats.t.interval(
        0.95, len(change) - 1, change.mean(), scipy_stats.sem(change)
    )
    assert (last.mean_change.low, last.mean_change.high) == golden(interval)
    ratio = scipy_stats.sem(after, axis=1) / scipy_stats.sem(before, axis=1)
    assert last.se_ratio.value == golden(ratio[np.isfinite(ratio)].mean())
    tau = scipy_stats.kendalltau(
        before.mean(axis=1), after.mean(axis=1).round(12)
    ).statistic
    assert last.tau.value == golden(tau)
    assert last.monotonicity_change.value == golden(0)
    assert (
        last.mean_change.random_low
        < last.mean_change.random
        < last.mean_change.random_high
    )
    (before, after), spread = (
        (m.mean(axis=1) for m in (recipe, recipe[:, kept])),
        lambda m: m.std(ddof=1),
    )
    assert last.snr_ratio.value == golden(
        after.mean() / spread(after) * spread(before) / before.mean()
    )
    assert none.snr_ratio.value == golden(1) and last.snr_ratio.low is None
    assert curve == pruning_curve(
        y, split, seed=1, n_random=20, trajectories=[run, run + 1], seeds=[recipe]
    )
    with pytest.raises(StatisticsError, match="`seeds` must have the 50 items"):
        pruning_curve(y, split, seed=1, seeds=[recipe[:, 1:]])
    with pytest.raises(StatisticsError, match="shares"):
        pruning_curve(y, split, seed=1, shares=[1.0])


def test_adaptive_choice() -> None:
    responses, theta, *_ = simulate(5, 40, 80)
    fit = fit_irt(responses)
    empty = next_items(fit, np.full(80, NAN), n=80)
    assert empty.ability == 0 and empty.sd == 1
    assert (
        empty.names[0]
        == fit.items[
            int(np.argmax(fit.a**2 * special.expit(fit.d) * special.expit(-fit.d)))
        ]
    )
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
