"""Adjusted p-values against statsmodels; multipliers that do not depend on blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.statsmodels import adjusted
from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import WEBB, sign_block, webb_draws
from warehouse.stats.multiple.adjust import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(P_VALUES)
@settings(max_examples=60, deadline=None)
def test_adjustments_are_those_of_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(adjusted(p, "holm"), abs=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(adjusted(p, "fdr_bh"), abs=1e-12)


@given(P_VALUES, st.integers(0, 40))
@settings(max_examples=30, deadline=None)
def test_a_test_that_could_not_be_made_changes_nothing(
    p: list[float], place: int
) -> None:
    for adjust in (holm, benjamini_hochberg):
        found = adjust(np.insert(np.array(p), min(place, len(p)), np.nan))
        assert np.isnan(found).sum() == 1
        assert found[~np.isnan(found)].tolist() == adjust(p).tolist()


def test_no_test_at_all_gives_none() -> None:
    assert np.isnan(holm([np.nan, np.nan])).all()
    assert holm([]).shape == (0,)


@pytest.mark.parametrize("wrong", [[-0.1], [1.1, 0.5], [[0.1, 0.2]]])
def test_what_is_no_p_value_is_refused(wrong: list[float]) -> None:
    with pytest.raises(StatisticsError, match="p_values"):
        holm(wrong)


def test_webb_weights_have_mean_0_variance_1_and_six_values() -> None:
    drawn = np.concatenate([weights for _, weights in webb_draws(1000, 300, 7)])
    assert sorted(set(drawn.ravel())) == sorted(WEBB)
    assert (WEBB.mean(), (WEBB**2).mean()) == pytest.approx((0, 1), abs=1e-15)
    counts = np.unique(drawn, return_counts=True)[1] / drawn.size
    assert counts == pytest.approx(1 / 6, abs=5 * np.sqrt(5 / 36 / drawn.size))
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 5 / np.sqrt(300)


def test_signs_are_as_often_negative_as_positive_and_independent() -> None:
    signs = sign_block(1000, slice(0, 300), 7)
    assert sorted(set(signs.ravel())) == [-1, 1]
    assert abs(signs.mean()) < 5 / np.sqrt(signs.size)
    pairs = np.corrcoef(signs[:, :100], rowvar=False)[np.triu_indices(100, 1)]
    assert np.abs(pairs).max() < 6 / np.sqrt(300)
    assert np.array_equal(sign_block(1000, slice(64, 100), 7), signs[64:100])


@pytest.mark.parametrize("block", [1, 64, 100, 1000])
def test_weights_do_not_depend_on_blocks(block: int) -> None:
    def all_weights(size: int) -> np.ndarray:
        return np.concatenate(
            [weights for _, weights in webb_draws(11, 333, 5, block=size)]
        )

    assert np.array_equal(all_weights(block), all_weights(256))
    more = np.concatenate([weights for _, weights in webb_draws(11, 500, 5)])
    assert np.array_equal(more[:333], all_weights(256))
