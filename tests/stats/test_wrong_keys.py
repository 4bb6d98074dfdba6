"""Suspected wrong keys: goldens, slow definitions, calibration by simulation, speed."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import expit, gammaln
from threadpoolctl import threadpool_limits

from tests.support.simulated_votes import simulate
from warehouse.stats.labels.audit import score_audit
from warehouse.stats.labels.vote_model import (
    SPREADS,
    Nodes,
    VoteModel,
    WrongVotes,
    default_nodes,
    dense_nodes,
    log_prior_of_keys,
    posterior_of_keys,
)
from warehouse.stats.labels.votes import NOT_ASKED, UNPARSED, Votes, votes_for_options
from warehouse.stats.labels.wrong_keys import wrong_keys

MODEL = VoteModel(np.array([2.0, 1.5, 1.0, 0.5]), 2.0, 0.25)
# statistics.md, golden G27: answers, with the integral exact, with 21 Gauss-Hermite
# nodes.
GOLDEN = [
    ((1, 1, 1, 1), 0.060195402, 0.06019590392),
    ((1, 1, 1, 0), 0.03775771754, 0.03775543724),
    ((1, 1, 2, 0), 0.03651679751, 0.03651579342),
    ((0, 1, 1, 1), 0.01048037359, 0.01047974548),
    ((1, 2, 3, UNPARSED), 0.05153459476, 0.05153704335),
]


def hermite_nodes(n: int) -> Nodes:
    """Gauss-Hermite nodes for the standard normal distribution."""
    b, weights = scipy.special.roots_hermitenorm(n)
    return Nodes(b, np.log(weights / weights.sum()))


def probabilities(
    votes: Votes, model: VoteModel, rate: float, nodes: Any = None
) -> NDArray[Any]:
    """P(wrong key) at fixed parameters."""
    prior = log_prior_of_keys(votes, np.full(len(votes.items), rate))
    wrong = WrongVotes(votes).log_likelihood(model.concentration)
    return (
        1
        - posterior_of_keys(
            votes, model, prior, wrong, nodes or default_nodes(), 0.5
        ).rows[votes.start]
    )


def slow_joint(
    shares: NDArray[Any], asked: NDArray[Any], h: int, model: VoteModel
) -> float:
    """∫ L_h(b)^T φ(b) db of one item by adaptive quadrature; ``shares`` is options ×
    models."""
    a, others = model.concentration, len(shares) - 1
    n = shares.sum(axis=1)
    n_wrong = n.sum() - n[h]
    drawn = gammaln(others * a) - gammaln(others * a + n_wrong)
    drawn += sum(gammaln(a + n[o]) - gammaln(a) for o in range(len(shares)) if o != h)

    def integrand(b: float) -> float:
        p = expit(model.ability + model.spread * b)
        picks = (shares[h] * np.log(p) + (1 - shares[h]) * np.log1p(-p))[asked].sum()
        return math.exp(0.5 * (picks + drawn) - b * b / 2) / math.sqrt(2 * math.pi)

    return float(
        quad(integrand, -9, 9, epsabs=0, epsrel=1e-10, limit=500, points=[-2, 0, 2])[0]
    )


def slow_posterior(
    shares: NDArray[Any], asked: NDArray[Any], key: int, rate: float, model: VoteModel
) -> NDArray[Any]:
    """P(h | votes) of one item for each option."""
    prior = np.full(len(shares), rate / (len(shares) - 1))
    prior[key] = 1 - rate
    joint = prior * [slow_joint(shares, asked, h, model) for h in range(len(shares))]
    return np.asarray(joint / joint.sum())


def test_golden() -> None:
    answers = [list(answers) for answers, _exact, _nodes in GOLDEN]
    votes = votes_for_options(answers, [0] * 5, 4)
    exact = probabilities(votes, MODEL, 0.02, dense_nodes(0.1, 8))
    assert exact == pytest.approx([row[1] for row in GOLDEN], abs=1e-11)
    assert probabilities(votes, MODEL, 0.02) == pytest.approx(exact, abs=1e-7)
    nodes = probabilities(votes, MODEL, 0.02, hermite_nodes(21))
    assert nodes == pytest.approx([row[2] for row in GOLDEN], abs=1e-12 + 5e-12)


def mixed_items() -> tuple[NDArray[Any], list[int], list[int], list[NDArray[Any]]]:
    """Items of 2 to 5 options, 3 draws of 4 models, some not parsed and some not asked;
    dense shares."""
    rng = np.random.default_rng(7)
    options = [2, 3, 4, 5, 5, 3]
    codes = np.stack([rng.integers(-2, c, (4, 3)) for c in options])
    codes[0, 0] = NOT_ASKED  # one model that was not asked at all
    keys = [int(rng.integers(c)) for c in options]
    shares = []
    for item, c in zip(codes, options, strict=True):
        drawn = np.maximum((item != NOT_ASKED).sum(axis=1), 1)
        shares.append(np.stack([(item == o).sum(axis=1) / drawn for o in range(c)]))
    return codes, keys, options, shares


def test_the_posterior_is_that_of_dense_integration() -> None:
    codes, keys, options, shares = mixed_items()
    votes = votes_for_options(codes, keys, options)
    found = probabilities(votes, MODEL, 0.04)
    for item, key in enumerate(keys):
        asked = (codes[item] != NOT_ASKED).any(axis=1)
        slow = slow_posterior(shares[item], asked, key, 0.04, MODEL)
        assert found[item] == pytest.approx(1 - slow[key], abs=1e-7)


def slow_round(
    answers: NDArray[Any],
    keys: NDArray[Any],
    strata: NDArray[Any],
    model: VoteModel,
    rates: NDArray[Any],
) -> tuple[VoteModel, NDArray[Any], NDArray[Any]]:
    """One round of the EM algorithm as it is written down, item by item, on a grid of
    b."""
    grid = np.linspace(-9, 9, 721)
    density = np.exp(-(grid**2) / 2)
    p = expit(model.ability[:, None] + model.spread * grid)
    n_options, gradient, curvature, slope, bend = (
        4,
        np.zeros(len(p)),
        np.zeros(len(p)),
        0.0,
        0.0,
    )
    posteriors = []
    for item, key in zip(answers, keys, strict=True):
        joint = np.empty((n_options, len(grid)))
        for h in range(n_options):
            n = np.array([(item == o).sum() for o in range(n_options) if o != h])
            a = model.concentration
            drawn = (
                gammaln(3 * a)
                - gammaln(3 * a + n.sum())
                + (gammaln(a + n) - gammaln(a)).sum()
            )
            picks = np.where((item == h)[:, None], np.log(p), np.log1p(-p)).sum(axis=0)
            rate = rates[strata[len(posteriors)]]
            prior = 1 - rate if h == key else rate / 3
            joint[h] = prior * np.exp(0.5 * (picks + drawn)) * density
        joint /= joint.sum()
        posteriors.append(joint.sum(axis=1))
        for h in range(n_options):
            left = ((item == h)[:, None] - p) * joint[h]
            weight = p * (1 - p) * joint[h]
            gradient, curvature = (
                gradient + left.sum(axis=1),
                curvature + weight.sum(axis=1),
            )
            slope, bend = slope + (left * grid).sum(), bend + (weight * grid**2).sum()
    found = np.array(posteriors)

    def gain(a: float) -> float:
        total = 0.0
        for item, posterior in zip(answers, found, strict=True):
            for h in range(n_options):
                n = np.array([(item == o).sum() for o in range(n_options) if o != h])
                drawn = (
                    gammaln(3 * a)
                    - gammaln(3 * a + n.sum())
                    + (gammaln(a + n) - gammaln(a)).sum()
                )
                total += posterior[h] * drawn
        return total

    candidates = [
        float(np.clip(model.concentration * math.exp(e), 0.05, 20))
        for e in (0, 0.1, -0.1, 0.3, -0.3)
    ]
    stepped = VoteModel(
        model.ability + np.clip(gradient / (curvature + 0.01), -0.5, 0.5),
        float(
            np.clip(model.spread + np.clip(slope / (bend + 0.01), -0.3, 0.3), *SPREADS)
        ),
        max(candidates, key=gain),
    )
    wrong = 1 - found[np.arange(len(keys)), keys]
    sizes, sums = np.bincount(strata), np.bincount(strata, weights=wrong)
    kappa = np.maximum(30, sizes)
    return stepped, np.maximum(0.02, (sums + kappa * 0.02) / (sizes + kappa)), wrong


def test_the_fit_takes_the_rounds_that_are_written_down() -> None:
    answers, keys, _wrong = simulate(60, 4, 4, rate=0.15, seed=3)
    answers[5, 2], answers[9, 0] = UNPARSED, UNPARSED
    strata = np.arange(60) % 2
    accuracy = (answers == keys[:, None]).mean(axis=0).clip(0.02, 0.98)
    model, rates = VoteModel(scipy.special.logit(accuracy), 2.0, 0.5), np.full(2, 0.02)
    for _round in range(4):
        model, rates, _posterior = slow_round(answers, keys, strata, model, rates)
    _model, _rates, posterior = slow_round(answers, keys, strata, model, rates)
    votes = votes_for_options(answers, keys, 4)
    found = wrong_keys(votes, strata, models=range(4), tolerance=1e-12, max_rounds=4)
    assert found.posterior == pytest.approx(posterior, abs=1e-8)
    assert found.ability == pytest.approx(model.ability, abs=1e-8)
    assert (found.spread, found.concentration) == pytest.approx(
        (model.spread, model.concentration), abs=1e-8
    )
    assert [stratum.rate for stratum in found.strata] == pytest.approx(rates, abs=1e-8)
    assert found.flags == ("few_models", "not_converged", "spread_at_bound")


def test_many_nodes_are_needed_where_many_models_answer() -> None:
    """21 Gauss-Hermite nodes lie too far apart for 20 models; the dense rule does not."""
    answers, keys, _wrong = simulate(400, 20, 4, seed=5)
    votes = votes_for_options(answers, keys, 4)
    model = VoteModel(np.full(20, 3.0), 3.3, 0.25)
    exact = probabilities(votes, model, 0.02, dense_nodes(0.02, 10))
    assert np.abs(probabilities(votes, model, 0.02) - exact).max() < 1e-5
    assert (
        np.abs(probabilities(votes, model, 0.02, hermite_nodes(21)) - exact).max()
        > 1e-3
    )


def list_at(models: int, spread: float, rate: float) -> tuple[float, float]:
    """Expected and observed false discovery rate of lists at 0.1 of six simulated
    benchmarks."""
    listed = right = promised = 0.0
    for seed in range(6):
        answers, keys, wrong = simulate(
            3000, models, 4, spread=spread, rate=rate, seed=seed
        )
        found = wrong_keys(
            votes_for_options(answers, keys, 4), temperature=1.0, tolerance=1e-3
        )
        row = score_audit(found.posterior, wrong, thresholds=[0.1]).calibration[0]
        listed += row.n_listed
        right += row.n_listed - row.n_wrong
        promised += (row.expected_fdr or 0.0) * row.n_listed
    print(
        f"{models} models, s {spread}, rate {rate}: {listed / 6:.0f} listed, "
        f"{promised / listed:.3f} expected, {right / listed:.3f} observed"
    )
    return promised / listed, right / listed


@pytest.mark.slow
@pytest.mark.parametrize("models", [3, 5, 10])
@pytest.mark.parametrize("spread", [2.5, 4.0])
def test_the_expected_false_discovery_rate_is_calibrated_at_the_base_rate(
    models: int, spread: float
) -> None:
    """Models that err independently given the item (T = 1), 2 % wrong keys: what the
    model assumes."""
    expected, observed = list_at(models, spread, 0.02)
    assert abs(expected - observed) < 0.04


@pytest.mark.slow
@pytest.mark.parametrize("models", [5, 10])
def test_above_the_base_rate_the_list_is_better_than_it_says_and_below_worse(
    models: int,
) -> None:
    """The rate of a stratum is shrunk to 2 % and not below: a known limit, held here to
    its size."""
    expected, observed = list_at(models, 2.5, 0.1)
    assert expected > observed + 0.1
    expected, observed = list_at(models, 2.5, 0.01)
    assert -0.2 < expected - observed < 0


@pytest.mark.slow
@pytest.mark.parametrize("options", [4, 10])
def test_12_000_items_and_20_models_take_less_than_10_seconds_of_one_core(
    options: int,
) -> None:
    answers, keys, _wrong = simulate(12_000, 20, options, spread=3.3)
    strata = np.arange(12_000) % 57
    with threadpool_limits(1):
        start = time.process_time()
        found = wrong_keys(votes_for_options(answers, keys, options), strata)
        seconds = time.process_time() - start
    print(f"{options} options: {seconds:.2f} s, {found.n_rounds} rounds")
    assert seconds < 10 and "not_converged" not in found.flags
