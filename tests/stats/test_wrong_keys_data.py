"""Suspected wrong keys against people's audit of MMLU (mmlu_redux), with 3 to 20
models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.mmlu_redux import Audited, read_mmlu_redux
from warehouse.stats.labels.audit import AuditScore, score_audit
from warehouse.stats.labels.votes import votes_for_options
from warehouse.stats.labels.wrong_keys import WrongKeys, wrong_keys

SIZES = [3, 5, 10, 20]


@dataclass(frozen=True)
class Judged:
    """The audited items by the first models, and two simple scores."""

    found: WrongKeys
    share_wrong: NDArray[Any]
    modal_rival: NDArray[Any]


@pytest.fixture(scope="module")
def audited(data_dir: Path) -> Audited:
    if not (data_dir / "mmlu_redux").is_dir():
        pytest.skip(f"no mmlu_redux in {data_dir}")
    return read_mmlu_redux(data_dir / "mmlu_redux")


@pytest.fixture(scope="module", params=SIZES)
def judged(audited: Audited, request: pytest.FixtureRequest) -> Judged:
    """By the first 3, 5, 10, 20 models, in the order of the files."""
    models: int = request.param
    votes = votes_for_options(audited.answers[:, :models], audited.keys, 4)
    found = wrong_keys(votes, audited.subjects, models=range(models))
    counts = np.stack(
        [(audited.answers[:, :models] == o).sum(axis=1) for o in range(4)], axis=1
    )
    counts[np.arange(len(counts)), audited.keys] = -1
    return Judged(
        found,
        1 - found.votes_key / found.n_answered,
        counts.max(axis=1) / found.n_answered,
    )


def test_the_data_are_those_of_the_readme(audited: Audited) -> None:
    assert audited.answers.shape == (2900, 20)
    assert (np.nansum(audited.wrong()), np.nansum(audited.faulty())) == (47, 87)
    new = score_audit(
        1 - (audited.answers[:, :14] == audited.keys[:, None]).mean(axis=1),
        audited.wrong(),
    )
    assert (new.overall.n_items, new.overall.n_wrong, new.n_undecided) == (2893, 47, 7)
    assert new.overall.auc == pytest.approx(0.849778, abs=1e-6)
    assert new.precision_at[100] == pytest.approx(0.202979, abs=1e-6)


@pytest.mark.parametrize("positives", ["wrong", "faulty"])
def test_better_than_simple_scores(
    audited: Audited, judged: Judged, positives: str
) -> None:
    verdicts = getattr(audited, positives)()
    model, *simple = (
        score_audit(score, verdicts, audited.subjects, thresholds=[])
        for score in (judged.found.posterior, judged.share_wrong, judged.modal_rival)
    )
    report(judged, positives, model, *simple)
    for other in simple:
        assert precision(model) > precision(other)
        assert inside(model) > inside(other)


def test_the_first_hundred_are_better_than_simple_scores(
    audited: Audited, judged: Judged
) -> None:
    """Holds for the 87 keys that are not the one right answer. Of the 47 wrong ones so
    few are in the first hundred that with 20 models 1 − p is ahead by chance (0.185
    against 0.170)."""
    model, share_wrong, rival = first_hundred(judged, audited.faulty())
    assert model > max(share_wrong, rival)
    model, share_wrong, rival = first_hundred(judged, audited.wrong())
    assert model > rival and model > share_wrong - 0.02


def first_hundred(judged: Judged, verdicts: NDArray[Any]) -> list[float]:
    """Precision at 100 of the posterior and of the two simple scores."""
    scores = (judged.found.posterior, judged.share_wrong, judged.modal_rival)
    found = [
        score_audit(score, verdicts, thresholds=[]).precision_at[100]
        for score in scores
    ]
    return [precision for precision in found if precision is not None]


def test_the_expected_false_discovery_rate_is_that_of_the_audit(
    audited: Audited, judged: Judged
) -> None:
    """Within 0.05 for wrong keys against sound items: another fault says nothing of the
    key.

    If items with other faults count as right keys, or unanswerable ones as wrong keys,
    the base rate moves from 1.6 to 3.0 %, and the difference to at most 0.08.
    """
    sound_or_wrong = np.isin(audited.verdicts, ["ok", "wrong_groundtruth"])
    assert abs(excess(judged, np.where(sound_or_wrong, audited.wrong(), np.nan))) < 0.05
    assert abs(excess(judged, audited.wrong())) < 0.08
    assert abs(excess(judged, audited.faulty())) < 0.08


def excess(judged: Judged, verdicts: NDArray[Any]) -> float:
    """Expected minus observed false discovery rate of the list at 0.1."""
    row = score_audit(judged.found.posterior, verdicts, thresholds=[0.1]).calibration[0]
    print(f"{len(judged.found.models)} models: {row}")
    assert row.expected_fdr is not None and row.observed_fdr is not None
    return row.expected_fdr - row.observed_fdr


def precision(scored: AuditScore) -> float:
    assert scored.overall.average_precision is not None
    return scored.overall.average_precision


def inside(scored: AuditScore) -> float:
    assert scored.within is not None and scored.within.average_precision is not None
    return scored.within.average_precision


def report(judged: Judged, positives: str, *scored: AuditScore) -> None:
    """Shown by ``pytest -s``: the posterior, the share of wrong votes, the modal rival."""
    for name, score in zip(("posterior", "1 - p", "modal rival"), scored, strict=True):
        within = score.within
        assert within is not None and within.without_largest is not None
        print(
            f"{len(judged.found.models)} models, {positives}, {name}: {score}, P@100 "
            f"{score.precision_at[100]:.3f}; within subjects AUC {within.auc:.3f}, AP "
            f"{within.average_precision:.3f} (random {within.random_precision:.3f}); "
            f"without {within.largest} AP "
            f"{within.without_largest.average_precision:.3f}"
        )
