"""A p of just 1 - level rejects, wherever one is judged."""

from types import SimpleNamespace

import numpy as np
import pytest

from warehouse.analysis.comparison.row import is_equivalent, which_better
from warehouse.analysis.comparison.words import NOT_KNOWN, better_in_words
from warehouse.stats.core.inputs import rejects
from warehouse.stats.paired.gate import decide
from warehouse.stats.paired.margins import noninferiority_of


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_p_of_just_one_minus_level_rejects(level):
    p = round(1 - level, 9)
    assert rejects(p, 1 - level) and not rejects(p + 1e-9, 1 - level)
    assert which_better(p, 0.1, True, level) == "a"
    assert is_equivalent(p, level)
    row = SimpleNamespace(better="", level=level, n_prompts=9, p_value=p, p_holm=None)
    assert better_in_words(row) == NOT_KNOWN


@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_a_gate_passes_and_fails_at_just_alpha(alpha):
    assert decide([(alpha, 1 - alpha)], alpha=alpha).verdict == "pass"
    assert decide([(1 - alpha, alpha)], alpha=alpha).verdict == "fail"
    figures = {
        "difference": 0.0,
        "standard_error": 1.0,
        "degrees_of_freedom": 9,
        "n_prompts": 10,
        "n_clusters": None,
    }
    test = noninferiority_of(0.0, **figures, reason="", alpha=0.5)
    assert test.p_value == 0.5 and test.noninferior


def test_what_was_not_tested_never_rejects():
    assert not rejects(None, 0.05) and not rejects(float("nan"), 0.05)
    assert rejects(np.array([[0.05, np.nan], [0.2, 0.0]]), 0.05).tolist() == [
        [True, False],
        [False, True],
    ]
