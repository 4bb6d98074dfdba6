"""Weights, random weights and growth: closed forms, plain loops, and moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.matrix.test_matrix_clusters import distances
from tests.support.matrices import (
    Matrix,
    binary,
    continuous,
    cosines,
    tied,
    with_extremes,
)
from warehouse.errors import StatisticsError
from warehouse.stats.matrix import grow, medoids, random_weights, weighted_scores
from warehouse.stats.matrix.weights import (
    cluster_weights,
    competition_ranks,
    distance_weights,
    inverse_distance_weights,
    medoid_weights,
)

LABELS = np.array([0] * 8 + [1] * 5 + [2] * 6 + [3])


def by_loop(matrix: Matrix, labels: Matrix, inverse: bool) -> Matrix:
    """statistics.md §7, word by word."""
    n, apart = len(matrix), distances(matrix)
    rows, _ = medoids(matrix, labels)
    weights = np.empty(n)
    for cluster in np.unique(labels):
        members = np.flatnonzero(labels == cluster)
        d = apart[members, rows[cluster]]
        if not d.any():
            weights[members] = 1 / n
            continue
        amounts = 1 / np.where(d == 0, d[d > 0].min(), d) if inverse else d
        weights[members] = amounts / amounts.sum() * len(members) / n
    return weights


@pytest.mark.parametrize("make", [continuous, tied, with_extremes])
def test_distance_weights_equal_their_definition(make: Any) -> None:
    matrix = make(20, 4)
    for inverse, found in (
        (False, distance_weights(matrix, LABELS)),
        (True, inverse_distance_weights(matrix, LABELS)),
    ):
        assert found == pytest.approx(by_loop(matrix, LABELS, inverse), rel=1e-9)
        assert found.sum() == pytest.approx(1)
        assert np.bincount(LABELS, found) == pytest.approx(np.bincount(LABELS) / 20)
    assert distance_weights(matrix, LABELS)[medoids(matrix, LABELS)[0][0]] == 0


def test_medoids_stand_for_their_clusters() -> None:
    matrix = continuous(20, 4)
    rows, _ = medoids(matrix, LABELS)
    shared, plain = (
        medoid_weights(matrix, LABELS),
        medoid_weights(matrix, LABELS, share=False),
    )
    assert shared[rows].tolist() == [0.4, 0.25, 0.3, 0.05]
    assert plain[rows].tolist() == [0.25] * 4
    assert (np.count_nonzero(shared), shared.sum()) == (4, 1.0)
    assert cluster_weights(LABELS, 20)[[0, 8, 19]] == pytest.approx(
        [1 / 32, 1 / 20, 1 / 4]
    )


def test_weighted_scores_and_changes_of_rank() -> None:
    matrix = np.array([[1.0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.5]])
    first, other = weighted_scores(matrix, {"last": [0, 0, 7]})
    assert (first.scheme, first.ranks, first.rank_changes) == (
        "uniform",
        (1, 3, 2),
        (0, 0, 0),
    )
    assert first.scores == pytest.approx([2 / 3, 1 / 3, 0.5])
    assert (first.n_prompts, first.effective_prompts) == (3, pytest.approx(3))
    assert (other.scores, other.ranks, other.rank_changes) == (
        (0, 1, 0.5),
        (3, 1, 2),
        (-2, 2, 0),
    )
    assert (other.n_prompts, other.effective_prompts) == (1, 1)
    lower = weighted_scores(matrix, {}, higher_is_better=False)[0]
    assert lower.ranks == (3, 1, 2)
    assert "largest change of rank 2" in str(other)


def test_equal_scores_share_a_rank() -> None:
    assert competition_ranks([0.3, 0.1 + 0.2, 0.5, 0.1]).tolist() == [2, 2, 1, 4]
    assert competition_ranks(
        [0.3, 0.1 + 0.2, 0.5, 0.1], higher_is_better=False
    ).tolist() == [2, 2, 4, 1]


def test_random_weights_have_the_moments_of_the_flat_dirichlet() -> None:
    matrix = continuous(25, 4)
    found = random_weights(matrix, n_draws=20_000, seed=3)
    exact = np.sqrt(matrix.var(axis=0) / 26)
    assert found.exact_standard_deviation == pytest.approx(exact, rel=1e-12)
    assert found.standard_deviation == pytest.approx(exact, rel=0.03)
    assert found.uniform == pytest.approx(matrix.mean(axis=0))
    room = 10 * exact.max() / np.sqrt(20_000)
    assert np.abs(found.quantiles[2] - found.uniform).max() < room
    assert (found.lowest <= found.quantiles[0]).all() and (
        found.quantiles[-1] <= found.highest
    ).all()


def test_dirichlet_golden() -> None:
    column = np.array([1, 0, 1, 1, 0, 1.0])
    found = random_weights(np.column_stack([column, 1 - column]), n_draws=1000)
    width = (found.highest - found.lowest).max()
    assert (
        str(found) == f"1000 weightings of 2 models, scores move by up to {width:.4g}"
    )
    assert found.exact_standard_deviation == pytest.approx(
        [0.178174161275] * 2, abs=1e-12
    )
    assert found.outranks[0, 1] + found.outranks[1, 0] == pytest.approx(1)


def test_two_prompts_have_a_closed_form() -> None:
    """Weights (u, 1 − u) with u uniform: the score of a 0/1 model is uniform."""
    found = random_weights([[1, 0, 0.3], [0, 1, 0.3]], n_draws=20_000, seed=1)
    assert found.quantiles[:, 0] == pytest.approx(np.array(found.levels), abs=0.02)
    assert found.outranks[0, 1] == pytest.approx(0.5, abs=0.02)
    assert found.outranks[0, 2] == pytest.approx(0.7, abs=0.02)
    assert found.best.tolist() == pytest.approx([0.5, 0.5, 0], abs=0.02)
    assert np.diag(found.outranks).tolist() == [0, 0, 0]


def test_equal_models_share_and_never_outrank() -> None:
    matrix = np.column_stack([binary(30, 1), binary(30, 1), np.zeros(30)])
    found = random_weights(matrix, n_draws=3000)
    assert found.outranks[:2, :2].tolist() == [[0, 0], [0, 0]]
    assert found.best.tolist() == [0.5, 0.5, 0]
    worst = random_weights(matrix, n_draws=3000, higher_is_better=False)
    assert worst.best.tolist() == [0, 0, 1]


def test_draws_do_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = continuous(30, 3)
    told: list[tuple[int, int]] = []
    large = random_weights(
        matrix, n_draws=2500, progress=lambda *step: told.append(step)
    )
    monkeypatch.setattr("warehouse.stats.matrix.weights._BLOCK", 30 * 7)
    small = random_weights(matrix, n_draws=2500)
    assert told == [(1000, 2500), (2000, 2500), (2500, 2500)]
    assert small.quantiles == pytest.approx(large.quantiles, abs=1e-12)
    assert small.outranks.tolist() == large.outranks.tolist()
    assert random_weights(matrix, n_draws=2500, seed=1).quantiles.tolist() != (
        large.quantiles.tolist()
    )
    assert large.to_dict()["best"] == large.best.tolist()
    assert str(large).startswith("2500 weightings of 3 models")


def test_the_distribution_is_that_of_numpys_dirichlet() -> None:
    matrix = tied(12, 3)
    found = random_weights(matrix, n_draws=4000, levels=tuple(np.linspace(0, 1, 4000)))
    weights = np.random.default_rng(8).dirichlet(np.ones(12), 4000)
    for model in range(2):
        assert (
            stats.ks_2samp(found.quantiles[:, model], weights @ matrix[:, model]).pvalue
            > 1e-3
        )


def slow_growth(matrix: Matrix, start: int) -> list[int]:
    """Each time the prompt with the largest mean cosine distance, the first on ties."""
    similar, chosen = cosines(matrix), [start]
    while len(chosen) < len(matrix):
        left = [i for i in range(len(matrix)) if i not in chosen]
        apart = [np.mean([1 - similar[i, j] for j in chosen]) for i in left]
        chosen.append(
            next(i for i, d in zip(left, apart, strict=True) if d >= max(apart) - 1e-12)
        )
    return chosen


@pytest.mark.parametrize("make", [continuous, tied, with_extremes])
def test_growth_adds_the_most_informative(make: Any) -> None:
    matrix = make(40, 4)
    found = grow(matrix, seed=2)
    assert found.prompts.tolist() == slow_growth(matrix, int(found.prompts[0]))
    for size in (1, 7, 40):
        assert found.scores[size - 1] == pytest.approx(
            matrix[found.prompts[:size]].mean(axis=0)
        )


def test_random_growth_and_sizes() -> None:
    matrix = continuous(30, 3)
    found = grow(matrix, "random", seed=5, sizes=[10, 1, 10])
    assert sorted(found.prompts) == list(range(30))
    assert found.sizes.tolist() == [1, 10, 30]
    assert found.scores[-1] == pytest.approx(matrix.mean(axis=0))
    assert grow(matrix, "random", seed=6).prompts.tolist() != found.prompts.tolist()
    assert found.to_dict()["sizes"] == [1, 10, 30]
    assert str(found) == "random: 30 prompts, 3 models"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: weighted_scores(binary(4, 2), {"mine": [1, 2]}),
            "weights mine.*2 entries",
        ),
        (
            lambda: weighted_scores(binary(2, 2), {"mine": [1, -1]}),
            r"at least 0, found -1.0 at",
        ),
        (lambda: weighted_scores(binary(2, 2), {"mine": [0, 0]}), "all 0"),
        (lambda: weighted_scores(binary(2, 2), {"mine": [1, np.nan]}), "not finite"),
        (
            lambda: random_weights(binary(4, 2), n_draws=1),
            "`n_draws` must be at least 2",
        ),
        (lambda: random_weights(binary(4, 1)), "1 model"),
        (lambda: grow(binary(4, 2), "best"), "informative, random"),
        (lambda: grow(binary(4, 2), sizes=[5]), "`sizes` must lie"),
        (lambda: grow(binary(4, 2), sizes=[0]), "`sizes` must lie"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        call()
