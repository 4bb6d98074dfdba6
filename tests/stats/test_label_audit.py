"""The score of a list of suspects against an audit, held against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from warehouse.errors import StatisticsError
from warehouse.stats.intervals.closed_form import interval_clopper_pearson
from warehouse.stats.labels.audit import score_audit


def example(seed: int, ties: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Scores that say something of the verdicts, with or without ties, in four strata."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(400) < 0.1
    scores = np.clip(rng.beta(1, 8, 400) + 0.2 * wrong, 0, 1)
    return np.round(scores, 1 if ties else 12), wrong, rng.integers(0, 4, 400)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_ranking_is_that_of_scikit_learn(seed: int, ties: bool) -> None:
    scores, wrong, strata = example(seed, ties)
    found = score_audit(scores, wrong, strata)
    assert found.overall.auc == pytest.approx(roc_auc_score(wrong, scores), abs=1e-12)
    assert found.overall.average_precision == pytest.approx(
        average_precision_score(wrong, scores), abs=1e-12
    )
    assert found.within is not None
    for of in found.within.strata:
        inside = strata == of.stratum
        assert of.auc == pytest.approx(
            roc_auc_score(wrong[inside], scores[inside]), abs=1e-12
        )
        assert of.average_precision == pytest.approx(
            average_precision_score(wrong[inside], scores[inside]), abs=1e-12
        )
        assert (of.n_items, of.n_wrong) == (inside.sum(), wrong[inside].sum())


def test_within_strata_only_pairs_of_one_stratum_count() -> None:
    scores, wrong, strata = example(5, True)
    within = score_audit(scores, wrong, strata).within
    assert within is not None
    won = total = 0.0
    for i in np.flatnonzero(wrong):
        for j in np.flatnonzero(~wrong & (strata == strata[i])):
            won += (scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j])
            total += 1
    assert within.auc == pytest.approx(won / total, abs=1e-12)
    hits = np.bincount(strata, weights=wrong)
    precisions = [
        average_precision_score(wrong[strata == g], scores[strata == g])
        for g in range(4)
    ]
    assert within.average_precision == pytest.approx(
        np.average(precisions, weights=hits), abs=1e-12
    )
    rest = strata != np.argmax(hits)
    assert within.largest == np.argmax(hits)
    assert within.without_largest is not None
    assert within.without_largest.auc == pytest.approx(
        roc_auc_score(wrong[rest], scores[rest]), abs=1e-12
    )


def test_rates_of_strata_alone_say_nothing_within_them() -> None:
    """A score that only knows the stratum ranks well over all and not at all inside."""
    strata = np.repeat(["hard", "easy"], 100)
    wrong = np.arange(200) % 100 < np.where(strata == "hard", 40, 2)
    found = score_audit(np.where(strata == "hard", 0.4, 0.02), wrong, strata)
    assert found.overall.auc is not None and found.overall.auc > 0.75
    assert found.within is not None and found.within.auc == 0.5
    assert found.within.average_precision == pytest.approx(
        found.within.random_precision
    )


def test_precision_of_tied_items_is_that_of_a_random_order() -> None:
    scores, wrong, _strata = example(1, True)
    found = score_audit(scores, wrong, precision_at=[7, 30, 400, 401])
    rng = np.random.default_rng(0)
    for k in (7, 30):
        orders = [np.lexsort((rng.random(400), -scores))[:k] for _ in range(4000)]
        assert found.precision_at[k] == pytest.approx(
            np.mean([wrong[o].mean() for o in orders]), abs=0.01
        )
    assert found.precision_at[400] == pytest.approx(wrong.mean())
    assert found.precision_at[401] is None


def test_calibration_of_the_expected_false_discovery_rate() -> None:
    scores, wrong, _strata = example(2, False)
    found = score_audit(scores, wrong, thresholds=[0.1, 0.2, 1.0]).calibration
    for row in found[:2]:
        listed = scores >= row.threshold
        assert (row.n_listed, row.n_wrong) == (listed.sum(), wrong[listed].sum())
        assert row.expected_fdr == pytest.approx((1 - scores[listed]).mean())
        assert row.observed_fdr == pytest.approx(1 - wrong[listed].mean())
        ends = interval_clopper_pearson(int((~wrong[listed]).sum()), int(listed.sum()))
        assert (row.observed_low, row.observed_high) == (ends.low, ends.high)
    assert found[2].n_listed == 0 and found[2].expected_fdr is None


def test_items_without_verdict_or_score_are_left_out_and_counted() -> None:
    scores, wrong, strata = example(3, True)
    alone = score_audit(scores, wrong, strata)
    more = score_audit(
        [*scores, 0.9, np.nan, np.nan],
        [*wrong.astype(float), np.nan, 1, np.nan],
        np.append(strata, [9, 9, 9]),
    )
    assert (
        more.overall == alone.overall
        and more.calibration == alone.calibration
        and more.within == alone.within
    )
    assert (more.n_undecided, more.n_unscored) == (2, 1)


def test_audits_with_verdicts_of_one_kind_have_no_ranking() -> None:
    none = score_audit([0.1, 0.2], [0, 0], ["a", "a"])
    assert none.overall.auc is None and none.overall.average_precision is None
    assert (
        none.within is not None
        and none.within.largest is None
        and none.within.auc is None
    )
    every = score_audit([0.1, 0.2], [1, 1])
    assert every.overall.auc is None and every.overall.average_precision == 1
    assert "no ranking" in str(none)


@pytest.mark.parametrize(
    ("scores", "wrong", "settings"),
    [
        ([0.1, 0.2], [0, 2], {}),
        ([0.1, 0.2], [0], {}),
        ([0.1, np.inf], [0, 1], {}),
        ([0.1, 1.2], [0, 1], {}),
        ([np.nan], [1], {}),
        ([0.1], [1], {"precision_at": [0]}),
        ([0.1], [1], {"thresholds": [0]}),
        ([0.1], [1], {"strata": [1, 2]}),
    ],
)
def test_bad_arguments_are_refused(
    scores: list[float], wrong: list[float], settings: dict[str, Any]
) -> None:
    with pytest.raises(StatisticsError):
        score_audit(scores, wrong, **settings)


def test_a_score_that_is_no_probability_has_no_thresholds() -> None:
    found = score_audit([3.0, 1.0, 2.0], [1, 0, 0], thresholds=[])
    assert found.overall.auc == 1 and found.calibration == ()
