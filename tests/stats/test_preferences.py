"""Strengths by votes: evalica, statsmodels and the sandwich written out, on real votes
and on small ones."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components

from warehouse.errors import StatisticsError
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.preferences.ballots import (
    BOTH_BAD,
    FIRST,
    SECOND,
    TIE,
    Ballots,
    ballots,
    design_of,
)
from warehouse.stats.preferences.contrasts import (
    LOOSE,
    NO_SPREAD,
    contrasts,
    position_bias,
    simultaneous,
    two_judges,
)
from warehouse.stats.preferences.errors import Errors, preference_errors
from warehouse.stats.preferences.fit import (
    Fit,
    NotConnectedError,
    SeparableError,
    connected,
    fit_preferences,
    separating,
)

CODES = {"left": FIRST, "right": SECOND, "tie": TIE}


class Llmfao:
    """The votes of people and of GPT-4 on the same pairs, as they are in the files."""

    def __init__(self, folder: Path) -> None:
        self.people, self.judge, golden = (
            list(
                csv.DictReader(
                    (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
                )
            )
            for name in ("crowd-comparisons", "gpt4-crowd-comparisons", "llmfao-golden")
        )
        self.models = sorted(
            {row[side] for row in self.people for side in ("left", "right")}
        )
        self.golden = {
            row["item"]: float(row["score"])
            for row in golden
            if row["algorithm"] == "bradley_terry"
        }

    def votes(self, rows: list[dict[str, Any]]) -> Ballots:
        sides = (
            [self.models.index(row[side]) for row in rows] for side in ("left", "right")
        )
        return ballots(
            *sides,
            [CODES[row["winner"]] for row in rows],
            n_models=len(self.models),
            voters=[int(row.get("worker", -1)) for row in rows],
            prompts=[int(row["prompt"]) for row in rows],
        )

    def contrast(self, a: str, b: str, d: int = 59) -> NDArray[np.float64]:
        weights = np.zeros((1, d))
        weights[0, self.models.index(a)], weights[0, self.models.index(b)] = 1, -1
        return weights


@pytest.fixture(scope="module")
def llmfao(data_dir: Path) -> Llmfao:
    return Llmfao(data_dir / "llmfao")


@pytest.fixture(scope="module")
def crowd(llmfao: Llmfao) -> Fit:
    return fit_preferences(llmfao.votes(llmfao.people))


def of_parts(errors: Errors, weights: NDArray[np.float64]) -> dict[str, float]:
    return {
        name: float(np.sqrt(weights[0] @ v @ weights[0]))
        for name, v in errors.parts.items()
    }


def test_the_59_strengths_are_evalicas(llmfao: Llmfao, crowd: Fit) -> None:
    shares = np.exp(crowd.strengths) / np.exp(crowd.strengths).sum()
    assert len(llmfao.golden) == 59
    for name, share in zip(llmfao.models, shares, strict=True):
        assert share == pytest.approx(llmfao.golden[name], abs=1e-9)
    found = dict(zip(llmfao.models, crowd.strengths, strict=True))
    assert found["GPT 4"] == pytest.approx(0.990875, abs=1e-6)
    assert found["Platypus-2 Instruct (70B)"] == pytest.approx(0.647307, abs=1e-6)
    assert found["command"] == pytest.approx(0.634184, abs=1e-6)
    assert found["Dolly v2 (3B)"] == pytest.approx(-0.888459, abs=1e-6)
    assert crowd.win_probability(0.343568) == pytest.approx(0.585057, abs=1e-6)


def test_errors_by_worker_and_prompt(llmfao: Llmfao, crowd: Fit) -> None:
    errors, cr1 = preference_errors(crowd), preference_errors(crowd, method="cr1")
    platypus, dolly = (
        llmfao.contrast("GPT 4", name)
        for name in ("Platypus-2 Instruct (70B)", "Dolly v2 (3B)")
    )
    assert np.sqrt(platypus[0] @ crowd.inverse @ platypus[0]) == pytest.approx(
        0.263346, abs=1e-6
    )
    assert of_parts(cr1, platypus) == pytest.approx(
        {"sum": 0.206868, "voters": 0.177819, "prompts": 0.238342}, abs=1e-6
    )
    assert np.linalg.eigvalsh(cr1.sum)[0] == pytest.approx(-0.021220, abs=1e-6)
    assert of_parts(errors, platypus)["voters"] == pytest.approx(0.182448, abs=1e-6)
    one, other = contrasts(crowd.theta, errors, np.concatenate([platypus, dolly]))
    assert (one.estimate, one.standard_error, one.largest) == (
        pytest.approx(0.343568, abs=1e-6), pytest.approx(0.236643, abs=1e-6), "prompts")  # fmt: skip
    assert errors.degrees_of_freedom == pytest.approx(11.979172, abs=1e-6)
    assert errors.effective == (
        pytest.approx(39.598037, abs=1e-6),
        pytest.approx(12.979172, abs=1e-6),
    )
    assert ((one.high or 0) - one.estimate) / (
        one.standard_error or 1
    ) == pytest.approx(2.179233, abs=1e-6)
    assert (other.estimate, other.standard_error) == (
        pytest.approx(1.879333, abs=1e-6), pytest.approx(0.257826, abs=1e-6))  # fmt: skip
    assert of_parts(errors, dolly) == pytest.approx(
        {"sum": 0.257826, "voters": 0.241869, "prompts": 0.209375}, abs=1e-6
    )


def test_little_is_decided(crowd: Fit) -> None:
    band = simultaneous(crowd.strengths, preference_errors(crowd))
    assert band.apart.sum() // 2 == pytest.approx(54, abs=8)
    spans = band.rank_high - band.rank_low
    assert 55 <= spans.mean() <= 57.5 and (band.rank_low <= band.rank_high).all()


def test_shown_first(llmfao: Llmfao, crowd: Fit) -> None:
    found = position_bias(crowd.votes)
    assert found.gamma is not None
    assert found.gamma.estimate == pytest.approx(0.090880, abs=1e-6)
    assert found.gamma.standard_error == pytest.approx(0.056200, abs=1e-6)
    assert found.gamma.p_value == pytest.approx(0.131873, abs=1e-6)
    with_position = fit_preferences(crowd.votes.with_position())
    at = np.eye(60)[59:]
    assert of_parts(
        preference_errors(with_position, method="cr1"), at
    ) == pytest.approx(
        {"sum": 0.051642, "voters": 0.035668, "prompts": 0.046886}, abs=1e-6
    )


def test_a_judge_against_people(llmfao: Llmfao) -> None:
    both = llmfao.votes(llmfao.people + llmfao.judge)
    two = two_judges(both, np.arange(both.n) >= len(llmfao.people))
    at = llmfao.models.index("GPT 4")
    assert (two.tau, two.spearman) == (
        pytest.approx(0.537113, abs=1e-6),
        pytest.approx(0.730918, abs=1e-6),
    )
    assert two.contrasts[at].estimate == pytest.approx(0.990875 - 1.995803, abs=1e-5)


def test_no_worker_known_leaves_the_prompts(llmfao: Llmfao) -> None:
    errors = preference_errors(fit_preferences(llmfao.votes(llmfao.judge)))
    assert errors.n_voters == 2139 and errors.degrees_of_freedom == pytest.approx(
        11.98, abs=0.01
    )
    only = preference_errors(
        fit_preferences(llmfao.votes(llmfao.judge)), method="voters"
    )
    assert only.reason == "no vote names its voter"


def drawn(
    seed: int, n: int = 400, m: int = 5, voters: int = 12, prompts: int = 9, **more: Any
) -> Ballots:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    beta = np.linspace(-1, 1, m)
    u, p = rng.random(n), 1 / (1 + np.exp(beta[b] - beta[a]))
    outcome = np.where(u < 0.75 * p, FIRST, np.where(u < 0.75, SECOND, TIE))
    settings = {
        "voters": rng.integers(0, voters, n),
        "prompts": rng.integers(0, prompts, n),
    } | more
    return ballots(a, b, outcome, n_models=m, **settings)


def with_x(seed: int, **more: Any) -> Ballots:
    x = np.random.default_rng(seed + 99).normal(size=(400, 2))
    return drawn(seed, covariates=x, names=("length", "lists"), **more)


def test_a_glm_with_covariates_and_position_and_its_clusters() -> None:
    """statsmodels, by one of the two kinds of cluster."""
    sm = pytest.importorskip("statsmodels.api")
    votes = with_x(
        3, weights=np.random.default_rng(1).uniform(0.5, 2, 400)
    ).with_position()
    fit, n, m = fit_preferences(votes), votes.n, votes.n_models
    z = np.zeros((n, m))
    z[np.arange(n), votes.first], z[np.arange(n), votes.second] = 1, -1
    z = np.hstack([z[:, 1:], votes.covariates])
    y = (votes.signs + 1) / 2
    glm = sm.GLM(y, z, family=sm.families.Binomial(), freq_weights=votes.weights).fit(
        tol=1e-14, maxiter=200
    )
    assert fit.strengths[1:] - fit.strengths[0] == pytest.approx(
        glm.params[: m - 1], abs=1e-9
    )
    assert fit.theta[m:] == pytest.approx(glm.params[m - 1 :], abs=1e-9)
    score = z * (votes.weights * (y - glm.predict(z)))[:, None]
    bread = np.linalg.inv(
        (z * (votes.weights * glm.predict(z) * (1 - glm.predict(z)))[:, None]).T @ z
    )
    for codes, name in ((votes.voters, "voters"), (votes.prompts, "prompts")):
        sums = np.array([score[codes == one].sum(axis=0) for one in np.unique(codes)])
        v = bread @ sums.T @ sums @ bread * len(sums) / (len(sums) - 1)
        ours = preference_errors(fit, method="cr1").parts[name]
        assert ours[m:, m:] == pytest.approx(v[m - 1 :, m - 1 :], rel=1e-8)


def slow_jackknife(
    votes: Ballots, fit: Fit, codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """One Newton step without each cluster, by pseudo-inverses of whole matrices."""
    m, n = votes.n_models, votes.n
    z = np.zeros((n, len(fit.theta)))
    z[np.arange(n), votes.first], z[np.arange(n), votes.second] = 1, -1
    z[:, m:] = votes.covariates
    p = 1 / (1 + np.exp(-z @ fit.theta))
    residual, weight = (
        votes.weights * ((votes.signs + 1) / 2 - p),
        votes.weights * p * (1 - p),
    )
    changes = []
    for one in np.unique(codes):
        own = codes == one
        rest = (z[~own] * weight[~own, None]).T @ z[~own]
        changes.append(
            np.linalg.pinv(rest, rcond=1e-10, hermitian=True) @ z[own].T @ residual[own]
        )
    g = len(changes)
    return np.asarray((g - 1) / g * np.array(changes).T @ np.array(changes))


@pytest.mark.parametrize(("voters", "prompts"), [(12, 9), (300, 2), (3, 390)])
def test_the_jackknife_is_that_of_whole_matrices(voters: int, prompts: int) -> None:
    """Clusters of one vote, of a few, and of more than there are coefficients."""
    for votes in (
        drawn(5, voters=voters, prompts=prompts),
        with_x(5, voters=voters, prompts=prompts),
    ):
        fit = fit_preferences(votes)
        errors = preference_errors(fit)
        assert errors.voters == pytest.approx(
            slow_jackknife(votes, fit, votes.voters), abs=1e-10
        )
        assert errors.prompts == pytest.approx(
            slow_jackknife(votes, fit, votes.prompts), abs=1e-10
        )


def test_large_clusters_leave_by_another_way() -> None:
    votes = drawn(2, n=6000, m=40, voters=5, prompts=60)
    fit = fit_preferences(votes)
    errors = preference_errors(fit)
    assert errors.voters == pytest.approx(
        slow_jackknife(votes, fit, votes.voters), abs=1e-10
    )
    assert errors.prompts == pytest.approx(
        slow_jackknife(votes, fit, votes.prompts), abs=1e-10
    )


def davidson_loss(theta: NDArray[np.float64], votes: Ballots) -> float:
    m = votes.n_models
    eta = theta[votes.first] - theta[votes.second] + votes.covariates @ theta[m:-1]
    logs = np.stack([eta / 2, np.full_like(eta, theta[-1]), -eta / 2])
    own = logs[1 - votes.signs.astype(int), np.arange(votes.n)]
    return float((votes.weights * (np.log(np.exp(logs).sum(axis=0)) - own)).sum())


def test_davidson_is_the_maximum_by_another_optimiser() -> None:
    for votes in (drawn(7), with_x(7)):
        fit = fit_preferences(votes, ties="davidson")
        found = minimize(
            davidson_loss,
            np.zeros(len(fit.theta)),
            (votes,),
            method="BFGS",
            options={"gtol": 1e-7},
        )
        best = found.x.copy()
        best[:5] -= best[:5].mean()
        assert fit.theta == pytest.approx(best, abs=2e-4)
        assert davidson_loss(fit.theta, votes) <= found.fun + 1e-9
        total = sum(np.exp(k) for k in (0.3, fit.theta[-1], -0.3))
        assert fit.win_probability(0.6) == pytest.approx(
            (np.exp(0.3) + np.exp(fit.theta[-1]) / 2) / total
        )
        step = 1e-4  # the information is the second derivative of the loss
        for at in (0, len(fit.theta) - 1):
            ends = [
                davidson_loss(
                    fit.theta + step * side * np.eye(len(fit.theta))[at], votes
                )
                for side in (-1, 0, 1)
            ]
            known = fit.rows(
                np.arange(len(fit.design.a)),
                votes.totals(fit.design.kind, len(fit.design.a)),
            ).information()[at, at]
            assert (ends[0] - 2 * ends[1] + ends[2]) / step**2 == pytest.approx(
                known, rel=1e-4
            )


def test_davidson_without_ties_and_with_nothing_else() -> None:
    votes = drawn(1)
    with pytest.raises(StatisticsError, match="no vote is a tie"):
        fit_preferences(votes.subset(votes.signs != 0), ties="davidson")
    with pytest.raises(StatisticsError, match="all votes are ties"):
        fit_preferences(votes.subset(votes.signs == 0), ties="davidson")


@given(st.integers(0, 10**6))
def test_swapping_relabelling_and_weights(seed: int) -> None:
    votes = drawn(seed)
    if len(connected(votes)) > 1:
        return
    fit, rng = fit_preferences(votes), np.random.default_rng(seed)
    errors, band = (
        preference_errors(fit),
        simultaneous(fit.strengths, preference_errors(fit), n_draws=99),
    )
    turned = replace(
        votes,
        first=votes.second,
        second=votes.first,
        outcome=np.where(votes.outcome < 2, 1 - votes.outcome, votes.outcome),
    )
    assert fit_preferences(turned).strengths == pytest.approx(fit.strengths, abs=1e-9)
    mirror = replace(votes, outcome=turned.outcome)
    assert fit_preferences(mirror).strengths == pytest.approx(-fit.strengths, abs=1e-9)
    new = rng.permutation(5)
    named = fit_preferences(
        replace(votes, first=new[votes.first], second=new[votes.second])
    )
    assert named.strengths[new] == pytest.approx(fit.strengths, abs=1e-9)
    assert preference_errors(named).of_pairs(5)[np.ix_(new, new)] == pytest.approx(
        errors.of_pairs(5), abs=1e-9
    )
    shuffled = votes.subset(rng.permutation(votes.n))
    assert preference_errors(fit_preferences(shuffled)).of_pairs(5) == pytest.approx(
        errors.of_pairs(5), abs=1e-9
    )
    assert (band.critical_value or 0) >= t_quantile(
        0.95, errors.degrees_of_freedom or 0
    )
    assert (errors.of_pairs(5) >= 0).all() and (band.rank_low <= band.rank_high).all()
    scaled = ballots(
        votes.first,
        votes.second,
        votes.outcome,
        n_models=5,
        weights=np.full(votes.n, 7.0),
    )
    assert fit_preferences(scaled).strengths == pytest.approx(fit.strengths, abs=1e-9)


def test_groups_are_those_of_scipy_and_islands_are_refused() -> None:
    for seed in range(30):
        votes = drawn(seed, n=12, m=8)
        wins = np.zeros((8, 8))
        for a, b, sign in zip(votes.first, votes.second, votes.signs, strict=True):
            wins[a, b] += sign >= 0
            wins[b, a] += sign <= 0
        n, labels = connected_components(wins, connection="strong")
        groups = connected(votes)
        assert len(groups) == n and all(
            len(set(labels[group])) == 1 for group in groups
        )
        assert [len(group) for group in groups] == sorted(
            (len(group) for group in groups), reverse=True
        )
    votes = drawn(1)
    island = [np.append(values, more) for values, more in zip(
        (votes.first, votes.second, votes.outcome), ([5, 5], [6, 6], [FIRST, SECOND]), strict=True)]  # fmt: skip
    with pytest.raises(NotConnectedError) as error:
        fit_preferences(ballots(*island, n_models=7))
    assert error.value.groups == [[0, 1, 2, 3, 4], [5, 6]]
    penalised = fit_preferences(ballots(*island, n_models=7), ridge=0.5)
    assert np.isfinite(penalised.strengths).all() and preference_errors(
        penalised
    ).reason.startswith("penalised")


def test_a_converged_fit_is_one_that_the_programme_finds_no_direction_in() -> None:
    """Few votes with covariates: a fit or a refusal, as the linear program has it."""
    refused = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        a = rng.integers(0, 3, 9)
        votes = ballots(
            a, (a + rng.integers(1, 3, 9)) % 3, rng.integers(0, 3, 9) % 3, n_models=3,
            covariates=rng.normal(size=(9, 2)), names=("x", "y"),
        )  # fmt: skip
        if len(connected(votes)) > 1:
            continue
        design = design_of(votes)
        direction = separating(design, votes.totals(design.kind, len(design.a)))
        if direction is None:
            assert np.isfinite(fit_preferences(votes).theta).all()
            continue
        refused += 1
        along = (
            direction[votes.first]
            - direction[votes.second]
            + votes.covariates @ direction[3:]
        )
        assert (along * votes.signs > -1e-7).all() and (
            along[votes.signs == 0] < 1e-7
        ).all()
        with pytest.raises(SeparableError) as error:
            fit_preferences(votes)
        assert {"x", "y"} & error.value.direction.keys()
    assert refused > 3


def test_covariates_that_say_nothing_are_named() -> None:
    x = np.random.default_rng(0).normal(size=400)
    for names in (("a", "b"), ("b", "a")):
        for scale in (
            2,
            3,
            1 / 3,
            -0.1,
        ):  # rounding, which differs with each, must not choose
            with pytest.raises(
                StatisticsError, match=f"covariate {names[1]} says nothing"
            ):
                fit_preferences(
                    drawn(1, covariates=np.column_stack([x, scale * x]), names=names)
                )
    with pytest.raises(StatisticsError, match="covariate a is the same in all votes"):
        drawn(1, covariates=np.ones(400), names=("a",))
    missing = drawn(1, covariates=np.where(np.arange(400) < 7, np.nan, x), names=("a",))
    assert missing.left_out == {"a covariate that is missing": 7} and missing.n == 393


def test_what_is_left_out_is_counted() -> None:
    votes = ballots(
        [0, 1, 0, 1, 0],
        [1, 1, 1, 0, 1],
        [FIRST, FIRST, 9, FIRST, BOTH_BAD],
        n_models=2,
        drop_both_bad=True,
    )
    assert votes.n == 2
    assert votes.left_out == {
        "a model against itself": 1,
        "an unknown outcome": 1,
        "both bad": 1,
    }
    with pytest.raises(
        StatisticsError, match="no vote that counts; 1 left out: a model against itself"
    ):
        ballots([1], [1], [FIRST], n_models=2)
    assert ballots([0], [1], [BOTH_BAD], n_models=2).signs.tolist() == [0]


def test_one_voter_one_prompt_and_all_ties() -> None:
    one = fit_preferences(drawn(1, voters=1))
    assert (
        preference_errors(one).reason
        == "all votes are of one voter: nothing says how others would differ"
    )
    assert preference_errors(one, method="prompts").degrees_of_freedom is not None
    assert (
        "one prompt" in preference_errors(fit_preferences(drawn(1, prompts=1))).reason
    )
    votes = drawn(1)
    tied = fit_preferences(replace(votes, outcome=np.full(votes.n, TIE)))
    found = contrasts(
        tied.theta, preference_errors(tied), np.array([[1.0, -1, 0, 0, 0]])
    )[0]
    assert (found.estimate, found.standard_error, found.reason) == (0, None, NO_SPREAD)
    assert simultaneous(tied.strengths, preference_errors(tied)).critical_value is None


def test_a_model_that_one_voter_alone_has_met_has_no_interval() -> None:
    votes = drawn(4)
    own = (votes.first == 0) | (votes.second == 0)
    fit = fit_preferences(replace(votes, voters=np.where(own, 3, votes.voters)))
    errors = preference_errors(fit)
    assert errors.flags == ("jackknife_singular",) or "few_clusters" in errors.flags
    weights = np.array(
        [
            [1, -1, 0, 0, 0],
            [0, 1, -1, 0, 0],
            [0.8, -0.2, -0.2, -0.2, -0.2],
            [-0.2, 0.8, -0.2, -0.2, -0.2],
        ]
    )
    assert [one.reason for one in contrasts(fit.theta, errors, weights)] == [
        LOOSE,
        "",
        LOOSE,
        "",
    ]
    assert not simultaneous(fit.strengths, errors).apart[0].any()


def test_verdicts_in_both_orders() -> None:
    """Two prompts asked both ways by the same judge, one of them twice; another judge's
    vote is no part of it."""
    a, b = [0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 1]
    outcome = [FIRST, FIRST, SECOND, FIRST, TIE, SECOND, FIRST]
    votes = ballots(
        a,
        b,
        outcome,
        n_models=2,
        voters=[0, 0, 0, 0, 0, 0, 1],
        prompts=[0, 0, 1, 1, 1, 1, 2],
    )
    found = position_bias(votes)
    assert (found.n_twice, found.n_changed, found.n_first, found.n_second) == (
        3,
        2,
        1,
        0,
    )
    unknown = ballots(a, b, outcome, n_models=2, prompts=[0, 0, 1, 1, 1, 1, 2])
    assert (
        position_bias(unknown).n_twice == 0
        and position_bias(unknown, one_judge=True).n_twice == 3
    )
    hidden = ballots(a, b, outcome, n_models=2, order_known=np.zeros(7, dtype=bool))
    assert (
        position_bias(hidden).reason == "no vote says who was shown first"
        and position_bias(hidden).gamma is None
    )


def test_orders_that_follow_the_pair_are_seen() -> None:
    votes = drawn(3, n=600, prompts=20)
    low = np.minimum(votes.first, votes.second)
    mixed, sorted_ = (
        position_bias(votes),
        position_bias(
            replace(votes, first=low, second=np.maximum(votes.first, votes.second))
        ),
    )
    assert (mixed.order_p or 0) > 0.01 and (sorted_.order_p or 1) < 1e-9
    assert sorted_.order_df == 10


def test_pairs_alike_whatever_their_votes() -> None:
    votes = drawn(1, uniform_pairs=True)
    sums = np.bincount(votes.pairs, votes.weights)
    assert sums[sums > 0] == pytest.approx(
        np.full(10, 40.0)
    ) and votes.weights.sum() == pytest.approx(votes.n)
