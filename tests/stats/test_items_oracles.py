"""Item response models against another program, and rank sets by ability against their
definition."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tests.support.items import simulate
from warehouse.errors import StatisticsError
from warehouse.stats.items.abilities import (
    MOST_DRAWN,
    Abilities,
    abilities,
    ability_ranks,
)
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.responses import as_responses


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_unpenalised_2pl_is_that_of_mirt(missing: float) -> None:
    """1,000 models x 30 items: every parameter within 1e-5."""
    mirt = pytest.importorskip("mirt")
    dice = np.random.default_rng(3)
    theta, a, d = (
        dice.normal(size=1000),
        np.exp(dice.normal(0, 0.3, 30)),
        dice.normal(size=30),
    )
    y = (dice.random((1000, 30)) < 1 / (1 + np.exp(-(theta[:, None] * a + d)))).astype(
        float
    )
    y[dice.random(y.shape) < missing] = np.nan
    theirs = mirt.fit_mirt(
        np.where(np.isnan(y), -1, y).astype(int),
        model="2PL",
        n_quadpts=121,
        max_iter=5000,
        tol=1e-9,
        compute_standard_errors=False,
    )
    found = fit_irt(as_responses(y), "2pl", penalised=False, tolerance=1e-9)
    slopes = np.asarray(theirs.model.parameters["discrimination"]).ravel()
    assert found.a == pytest.approx(slopes, abs=1e-5)
    assert found.d == pytest.approx(
        -slopes * np.asarray(theirs.model.parameters["difficulty"]).ravel(), abs=1e-5
    )
    assert found.log_likelihood == pytest.approx(theirs.log_likelihood, abs=1e-3)


def pool(ability: list[float], variance: float, df: float = math.inf) -> Abilities:
    """Abilities with independent errors."""
    m = len(ability)
    se = np.full(m, math.sqrt(variance))
    names = tuple(f"m{i}" for i in range(m))
    return Abilities(names, np.array(ability), se, variance * np.eye(m), df=df)


def test_two_models_are_a_single_test() -> None:
    """A difference just inside and just outside its interval."""
    for df in (math.inf, 6.0):
        far = float(scipy_stats.t.ppf(0.975, df)) * math.sqrt(2 * 0.01)
        near, wide = (
            ability_ranks(pool([0.0, factor * far], 0.01, df), n_draws=19999, seed=1)
            for factor in (0.95, 1.05)
        )
        assert (near.low.tolist(), near.high.tolist()) == ([1, 1], [2, 2])
        assert (wide.low.tolist(), wide.high.tolist(), wide.rank.tolist()) == (
            [2, 1],
            [2, 1],
            [2, 1],
        )


def test_as_few_draws_as_the_level_allows() -> None:
    """19 at .95: the critical value is the largest of all."""
    ranks = ability_ranks(pool([0.0, 0.01, 10.0], 0.01), n_draws=19)
    assert ranks.low is not None and ranks.high is not None
    assert (ranks.low.tolist(), ranks.high.tolist()) == ([2, 2, 1], [3, 3, 1])


def test_many_models_take_bonferroni_which_is_the_wider() -> None:
    ability = np.linspace(-2, 2, MOST_DRAWN).tolist()
    drawn, more = (
        ability_ranks(pool(ability, 0.02)),
        ability_ranks(pool([*ability, 2.1], 0.02)),
    )
    assert (drawn.method, more.method) == ("max_t", "bonferroni")
    assert (more.high - more.low)[:-1].sum() > (drawn.high - drawn.low).sum()
    assert ((drawn.low <= drawn.rank) & (drawn.rank <= drawn.high)).all()


def test_rank_sets_hold_the_ranks_that_are_true() -> None:
    truth, held = np.array([-1.5, -0.5, -0.3, 0.0, 0.1, 0.9, 1.3]), 0
    rank = scipy_stats.rankdata(-truth)
    dice = np.random.default_rng(4)
    for seed in range(200):
        ranks = ability_ranks(
            pool((truth + dice.normal(0, 0.3, 7)).tolist(), 0.09),
            seed=seed,
            n_draws=399,
        )
        held += int(((ranks.low <= rank) & (rank <= ranks.high)).sum())
    assert held / (200 * 7) > 0.95


def test_without_errors_there_are_no_rank_sets() -> None:
    responses = simulate(1, 8, 20)[0]
    found = abilities(fit_irt(responses), responses)
    none = ability_ranks(replace(found, reason="too few models"))
    assert (
        none.low is None
        and none.high is None
        and sorted(none.rank) == list(range(1, 9))
    )
    with pytest.raises(StatisticsError, match="at least 19"):
        ability_ranks(found, n_draws=10)
    with pytest.raises(StatisticsError, match="level"):
        ability_ranks(found, level=1.0)
