"""Suspected wrong keys: what must not matter, what is reported, and what is refused."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.simulated_votes import simulate
from warehouse.errors import StatisticsError
from warehouse.stats.labels.votes import (
    NOT_ASKED,
    UNPARSED,
    free_form_options,
    votes_for_options,
    votes_of_models,
)
from warehouse.stats.labels.wrong_keys import WrongKeys, select_models, wrong_keys


@pytest.fixture(scope="module")
def example() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], WrongKeys]:
    answers, keys, _wrong = simulate(300, 6, 5, rate=0.05, seed=11)
    answers[3, 1] = UNPARSED
    strata = np.array(["x", "y", "z"])[np.arange(300) % 3]
    return (
        answers,
        keys,
        strata,
        wrong_keys(votes_for_options(answers, keys, 5), strata),
    )


def test_the_order_of_items_changes_nothing_else(example: Any) -> None:
    answers, keys, strata, found = example
    order = np.random.default_rng(1).permutation(300)
    other = wrong_keys(votes_for_options(answers[order], keys[order], 5), strata[order])
    assert other.posterior == pytest.approx(found.posterior[order], abs=1e-9)
    assert (other.rival == found.rival[order]).all()
    assert other.stratum_rate == pytest.approx(found.stratum_rate[order], abs=1e-9)


def test_the_order_of_models_changes_nothing_else(example: Any) -> None:
    answers, keys, strata, found = example
    order = np.array([3, 1, 5, 0, 2, 4])
    other = wrong_keys(votes_for_options(answers[:, order], keys, 5), strata)
    assert other.posterior == pytest.approx(found.posterior, abs=1e-9)
    assert other.ability == pytest.approx(found.ability[order], abs=1e-9)


def test_the_names_of_options_change_nothing_else(example: Any) -> None:
    answers, keys, strata, found = example
    rng = np.random.default_rng(2)
    names = np.stack(
        [np.append(rng.permutation(5), UNPARSED) for _item in range(300)]
    )  # −1 stays −1
    renamed = np.take_along_axis(names, answers, axis=1)
    other = wrong_keys(
        votes_for_options(renamed, names[np.arange(300), keys], 5), strata
    )
    assert other.posterior == pytest.approx(found.posterior, abs=1e-9)
    # Of tied rivals the first is named, so the rival's probability is held, not its
    # name.
    assert other.rival_posterior == pytest.approx(found.rival_posterior, abs=1e-9)


def test_repeated_draws_are_no_further_votes(example: Any) -> None:
    answers, keys, strata, found = example
    repeated = np.repeat(answers[:, :, None], 4, axis=2)
    repeated[:50, :, 3] = NOT_ASKED
    other = wrong_keys(votes_for_options(repeated, keys, 5), strata)
    assert other.posterior == pytest.approx(found.posterior, abs=1e-12)
    assert other.votes_rival == pytest.approx(found.votes_rival)


def test_draws_split_a_vote() -> None:
    votes = votes_for_options([[[0, 0, 1, 1], [2, UNPARSED, 2, NOT_ASKED]]], [0], 4)
    assert votes.option.tolist() == [0, 1, 2, -1]
    assert votes.counts == pytest.approx([0.5, 0.5, 2 / 3, 0])
    assert votes.shares[2] == pytest.approx([0, 2 / 3])


def test_what_is_reported_of_an_item(example: Any) -> None:
    answers, keys, _strata, found = example
    counts = np.stack([(answers == o).sum(axis=1) for o in range(5)], axis=1)
    every = np.arange(300)
    assert (found.votes_key == counts[every, keys]).all()
    voted = found.rival >= 0
    assert (found.votes_rival[voted] == counts[every, found.rival][voted]).all()
    assert (found.rival != keys).all()
    assert found.votes_unparsed.sum() == 1 and found.votes_unparsed[3] == 1
    assert (found.n_answered == 6).all()
    assert (found.rival_posterior <= found.posterior + 1e-12).all()
    unanimous = (counts[every, keys] == 6).nonzero()[0]
    assert (found.rival[unanimous] == -1).all()
    # Four other options without votes are equally probable.
    assert 4 * found.rival_posterior[unanimous] == pytest.approx(
        found.posterior[unanimous], abs=1e-12
    )
    assert sum(s.expected_wrong for s in found.strata) == pytest.approx(
        found.posterior.sum()
    )
    assert all(s.rate >= 0.02 for s in found.strata)
    assert found.to_dict()["posterior"][0] == found.posterior[0]


def test_refused_items_have_a_reason_and_change_nothing(example: Any) -> None:
    answers, keys, strata, found = example
    more = np.vstack([answers, answers[:3], np.full((1, 6), NOT_ASKED)])
    codes = np.concatenate([keys, [0, np.nan, 7, 0]])
    options = np.concatenate([np.full(300, 5.0), [np.nan, 5, 5, 5]])
    other = wrong_keys(
        votes_for_options(more, codes, options), np.append(strata, ["x"] * 4)
    )
    assert other.posterior[:300] == pytest.approx(found.posterior, abs=1e-12)
    assert np.isnan(other.posterior[300:]).all() and (other.rival[300:] == -1).all()
    expected = [
        "no option count",
        "the key is no option",
        "the key is no option",
        "no model answered",
    ]
    assert other.reasons[300:].tolist() == expected and other.n_refused == 4


def test_models_are_selected() -> None:
    rng = np.random.default_rng(0)
    rates = np.array([0.9, 0.2, 0.56, 0.5, 0.85] + [0.7] * 22)
    answers = np.where(rng.random((4000, 27)) < rates, 0, 1)
    votes = votes_for_options(answers, np.zeros(4000), 3)
    chosen = select_models(votes)
    assert len(chosen) == 20 and {0, 4} <= set(chosen) and not {1, 2, 3} & set(chosen)
    few = votes_of_models(votes, [0, 1, 3])
    assert select_models(few).tolist() == [
        0,
        1,
        2,
    ]  # the three best, though two are far behind
    assert select_models(votes_of_models(votes, [0, 1, 2, 3, 4])).tolist() == [0, 2, 4]
    with pytest.raises(StatisticsError, match="3 models, found 2"):
        select_models(votes_of_models(votes, [0, 1]))


def test_free_form_answers_are_options_by_votes() -> None:
    answers = [
        [["5", "6"], ["6", "7"], ["7", None], []],
        [["a"], ["b"], ["c"], ["key"]],
        [["x"], ["x"], ["y"], ["z"]],
    ]
    found = free_form_options(answers, ["4", "key", None], n_options=3)
    assert found.texts == (("4", "6", "7"), ("key", "a", "b"), ("x", "y"))
    assert found.answers[0, :, 0].tolist() == [UNPARSED, 1, 2, NOT_ASKED]
    assert found.n_dropped == 3 and found.answers[1, :, 0].tolist() == [
        1,
        2,
        UNPARSED,
        0,
    ]
    votes = votes_for_options(found.answers, found.keys, found.n_options)
    assert votes.reasons.tolist() == ["", "", "the key is no option"]


def test_bad_arguments_are_refused() -> None:
    answers, keys, _wrong = simulate(50, 4, 4)
    votes = votes_for_options(answers, keys, 4)
    for wrong in (
        [[0.5, 1, 1]],
        [[np.nan, 1, 1]],
        [[np.inf, 1, 1]],
        [[-3, 1, 1]],
        [0, 1],
        [[["a"]]],
    ):
        with pytest.raises(StatisticsError, match="`answers`"):
            votes_for_options(wrong, [0], 4)
    with pytest.raises(StatisticsError, match="item 0, model 1: 4 of 4"):
        votes_for_options([[0, 4, 1]], [0], 4)
    with pytest.raises(StatisticsError, match="no option count"):
        votes_for_options(answers, keys, np.nan)
    with pytest.raises(StatisticsError, match="no option count"):
        votes_for_options(answers, keys, np.inf)
    for settings in (
        {"base_rate": 0},
        {"temperature": 0},
        {"tolerance": 0},
        {"max_rounds": 0},
    ):
        with pytest.raises(StatisticsError):
            wrong_keys(votes, **settings)  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="`strata` has 3"):
        wrong_keys(votes, [1, 2, 3])
    with pytest.raises(StatisticsError, match="`clusters`"):
        wrong_keys(votes, ["a", float("nan")] * 25)
    silent = np.column_stack([answers, np.full(50, NOT_ASKED)])
    assert 4 not in wrong_keys(votes_for_options(silent, keys, 4)).models
    with pytest.raises(StatisticsError, match="model 4 answered no item"):
        wrong_keys(votes_for_options(silent, keys, 4), models=[0, 1, 4])
    with pytest.raises(StatisticsError, match="`models`"):
        wrong_keys(votes, models=[0, 1, 1])


def test_a_model_that_is_there_twice_is_refused() -> None:
    answers, keys, _wrong = simulate(200, 4, 4)
    twice = np.column_stack([answers, answers[:, 1]])
    with pytest.raises(StatisticsError, match="models 1 and 4 gave the same answers"):
        wrong_keys(votes_for_options(twice, keys, 4))
    perfect = np.zeros((200, 2), dtype=int)  # right throughout: no sign of a copy
    assert np.isfinite(
        wrong_keys(
            votes_for_options(np.column_stack([answers, perfect]), keys, 4)
        ).posterior
    ).all()


def test_degenerate_votes_give_figures() -> None:
    all_right = wrong_keys(votes_for_options(np.zeros((5, 3)), np.zeros(5), 4))
    assert (all_right.posterior < 0.02).all() and (all_right.rival == -1).all()
    one_item = wrong_keys(votes_for_options([[1, 1, 1]], [0], 2))
    assert one_item.rival.tolist() == [1] and 0 < one_item.posterior[0] < 1
    unparsed = wrong_keys(votes_for_options(np.full((4, 3), UNPARSED), np.zeros(4), 4))
    assert np.isfinite(unparsed.posterior).all()
    assert {f.name for f in fields(WrongKeys)} == set(one_item.to_dict())
