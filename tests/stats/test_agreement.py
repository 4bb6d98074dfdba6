"""How alike pairs are scored, against loops over models, pairs and re-pairings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from warehouse.errors import StatisticsError
from warehouse.stats.similarity.partitions import mean_difference, pair_agreement

SCORES = st.one_of(st.sampled_from([0.0, 1.0, np.nan]), st.floats(0, 1))


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, (3, 5), elements=SCORES),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=7),
)
def test_agreement_is_that_of_loops(
    values: np.ndarray, pairs: list[tuple[int, int]]
) -> None:
    found = pair_agreement(values, [a for a, _ in pairs], [b for _, b in pairs])
    for place, (a, b) in enumerate(pairs):
        alike = [
            1 - abs(row[a] - row[b]) for row in values if np.isfinite(row[a] + row[b])
        ]
        assert found.models_of_pair[place] == len(alike)
        expected = np.mean(alike) if alike else np.nan
        assert found.by_pair[place] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for model, row in enumerate(values):
        held = [(row[a], row[b]) for a, b in pairs if np.isfinite(row[a] + row[b])]
        assert found.pairs_of_model[model] == len(held)
        expected = np.mean([1 - abs(x - y) for x, y in held]) if held else np.nan
        assert found.by_model[model] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        pool = [value for pair in held for value in pair]
        chance = (
            np.mean([[1 - abs(x - y) for x in pool] for y in pool]) if pool else np.nan
        )
        assert found.by_chance[model] == pytest.approx(chance, abs=1e-12, nan_ok=True)


def test_zero_one_scores_agree_by_chance_as_often_as_coins_do() -> None:
    p = 0.3
    values = np.array([[1.0] * 3 + [0.0] * 7])
    assert 1 - mean_difference(values[0]) == pytest.approx(p**2 + (1 - p) ** 2)


def test_copies_that_are_scored_alike_stand_out_and_noise_does_not() -> None:
    dice = np.random.default_rng(2)
    truth = dice.integers(2, size=(1, 400)).astype(float)
    first, second = np.arange(400), np.arange(400, 800)
    copies = pair_agreement(np.hstack([truth, truth]), first, second)
    noise = pair_agreement(dice.integers(2, size=(1, 800)).astype(float), first, second)
    assert copies.by_model[0] == 1 and abs(copies.by_chance[0] - 0.5) < 0.01
    assert abs(noise.by_model[0] - noise.by_chance[0]) < 0.1


@pytest.mark.parametrize("values", [[0.0, 1.0], [[0.0, 1.5]], [[-0.1, 0.0]]])
def test_scores_beyond_their_bounds_are_refused(values: list[float]) -> None:
    with pytest.raises(StatisticsError):
        pair_agreement(values, [0], [1])
