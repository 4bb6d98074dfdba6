"""Prompt scores of repeats: means, draws and the variance between draws, against the
draws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.builders import Draw, Rate, StoreRows
from tests.support.stores import ENGINES, filled_store
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.store.connection import Store

#: Draws of each prompt in three repeats of one condition; a rate stands for so many
#: draws.
REPEATS: list[dict[str, list[Draw | Rate]]] = [
    {
        "a": [1, 0, 1],
        "b": [1],
        "c": [Rate(0.3, 10)],
        "d": [0.25, 0.5],
        "e": [1],
        "f": [None],
    },
    {"a": [0, 0], "b": [0], "c": [Rate(0.9, 10)], "d": [1.0], "f": [None]},
    {"a": [1], "b": [1], "c": [Rate(0.5, 4)], "f": [0.5]},
]


@pytest.fixture(scope="module", params=ENGINES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for number, repeat in enumerate(REPEATS):
        rows.scores(rows.run("org/a", "quiz", repeat=number), repeat)  # type: ignore[arg-type]
    scaled = rows.run(
        "org/b", "quiz"
    )  # a mean of ten on another scale: its variance is unknown
    rows.scores(scaled, {"a": [Rate(30.0, 10)], "b": [1, 0]})  # type: ignore[list-item]
    rows.rows["prompt_score"][-2]["within_variance"] = None
    with filled_store(request, request.param, rows) as filled:
        yield filled


def pooled(store: Store, *runs: int) -> PromptScores:
    return read_scores(store, dict.fromkeys(runs, 0), [1])[0]


def draws_of(key: str, repeats: list[dict[str, list[Draw | Rate]]]) -> list[float]:
    """Every draw of a prompt; a rate becomes its zeros and ones."""
    found: list[float] = []
    for repeat in repeats:
        for draw in repeat.get(key, []):
            if isinstance(draw, Rate):
                right = round(draw.value * draw.draws)
                found += [1.0] * right + [0.0] * (draw.draws - right)
            elif draw is not None:
                found.append(float(draw))
    return found


@pytest.mark.parametrize("runs", [(1,), (1, 2), (1, 2, 3)], ids=["one", "two", "three"])
def test_means_and_variances_are_those_of_all_draws(
    store: Store, runs: tuple[int, ...]
) -> None:
    found = pooled(store, *runs)
    draws = [draws_of(key, REPEATS[: len(runs)]) for key in "abcdef"]
    draws = [values for values in draws if values]
    assert found.n_draws.tolist() == [len(values) for values in draws]
    np.testing.assert_allclose(
        found.values, [np.mean(values) for values in draws], rtol=1e-12
    )
    expected = [
        np.var(values, ddof=1) if len(values) > 1 else np.nan for values in draws
    ]
    np.testing.assert_allclose(found.within, expected, rtol=1e-12)


def test_a_prompt_is_zero_one_only_if_every_score_is(store: Store) -> None:
    assert pooled(store, 1, 2, 3).zero_one.tolist() == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_an_unknown_variance_stays_unknown(store: Store) -> None:
    found = pooled(store, 4)
    assert np.isnan(found.within[0]) and found.within[1] == 0.5
    again = pooled(store, 3, 4)
    assert np.isnan(again.within[0]) and again.n_draws[0] == 11


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_in_which_rows_lie_changes_no_last_digit(
    request: pytest.FixtureRequest, engine: str
) -> None:
    """.1 + .2 + .3 is not .3 + .2 + .1."""
    found = []
    for turned in (False, True):
        rows = StoreRows()
        rows.describe("quiz", rows.metric())
        runs = [rows.run("org/a", "quiz", repeat=number) for number in range(3)]
        for run, value in zip(runs, (0.1, 0.2, 0.3), strict=True):
            rows.scores(run, {"a": [value], "b": [1 - value]})
        if turned:
            rows.rows["prompt_score"].reverse()
        with filled_store(request, engine, rows) as filled:
            found.append(pooled(filled, *runs).values.tolist())
    assert found[0] == found[1] == pytest.approx([0.2, 0.8])
