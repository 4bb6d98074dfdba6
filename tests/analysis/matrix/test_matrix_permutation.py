"""Permutation tests: equal to the straightforward code, honest under the null, able to
find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.matrix.test_matrix_similarity import slow
from tests.support.matrices import (
    Matrix,
    binary,
    continuous,
    cosines,
    independent,
    tied,
    upper,
    with_extremes,
)
from warehouse.errors import StatisticsError
from warehouse.stats.matrix import PermutationTest, permutation_test
from warehouse.stats.matrix.permutation import PermutedStatistic
from warehouse.stats.matrix.similarity import (
    generator,
    kolmogorov_smirnov,
    upper_p_value,
)
from warehouse.stats.matrix.tables import GRID, BinaryTables


def pick(found: PermutationTest, similarity: str, statistic: str) -> PermutedStatistic:
    (row,) = [
        r
        for r in found.statistics
        if (r.similarity, r.statistic) == (similarity, statistic)
    ]
    return row


def shuffled(matrix: Matrix, n: int, seed: int) -> list[Matrix]:
    """The observed matrix and the same permutations that the test draws."""
    kind = np.uint8 if set(np.unique(matrix)) <= {0.0, 1.0} else np.float64
    columns = np.ascontiguousarray(matrix.T, dtype=kind)
    drawn = [
        generator(seed, b).permuted(columns, axis=1).T.astype(float)
        for b in range(1, n + 1)
    ]
    return [matrix, *drawn]


def share_at_least(observed: float, permuted: Matrix) -> float:
    return (1 + int((permuted >= observed - 1e-12).sum())) / (1 + len(permuted))


@pytest.mark.parametrize("similarity", ["cosine", "jaccard", "hamming"])
def test_binary_equals_the_straightforward_code(similarity: str) -> None:
    matrix, n = with_extremes(40, 9), 39
    found = permutation_test(matrix, n_permutations=n, seed=5)
    tables = [slow(similarity, one) for one in shuffled(matrix, n, 5)]
    for name, figure in (
        ("mean", np.mean),
        ("percentile_75", lambda pairs: np.percentile(pairs, 75)),
        ("percentile_95", lambda pairs: np.percentile(pairs, 95)),
    ):
        row, figures = (
            pick(found, similarity, name),
            np.array([figure(t) for t in tables]),
        )
        assert row.observed == pytest.approx(figures[0], abs=1e-12)
        assert row.permuted_mean == pytest.approx(figures[1:].mean(), abs=1e-12)
        assert row.permuted_low == pytest.approx(
            np.quantile(figures[1:], 0.025), abs=1e-12
        )
        assert row.p_value == share_at_least(figures[0], figures[1:])
    check_ks(pick(found, similarity, "ks"), tables)


def check_ks(row: PermutedStatistic, tables: list[Matrix]) -> None:
    """Distances from the mean empirical distribution, at every value there is."""
    tables = [np.round(table, 12) for table in tables]  # n × n code rounds ties apart
    values = np.unique(np.concatenate(tables))
    curves = np.array(
        [np.searchsorted(np.sort(t), values, side="right") / len(t) for t in tables]
    )
    distances = np.abs(curves - curves.mean(axis=0)).max(axis=1)
    assert row.observed == pytest.approx(distances[0], abs=1e-12)
    assert row.permuted_mean == pytest.approx(distances[1:].mean(), abs=1e-12)
    assert row.p_value == share_at_least(distances[0], distances[1:])


def test_the_textbook_p_is_the_two_sample_test_of_pairs() -> None:
    matrix, n = binary(25, 5, seed=3), 19
    row = pick(
        permutation_test(matrix, ["cosine"], n_permutations=n, seed=1), "cosine", "ks"
    )
    tables = [np.round(slow("cosine", one), 12) for one in shuffled(matrix, n, 1)]
    expected = stats.ks_2samp(tables[0], np.concatenate(tables[1:]), method="asymp")
    size = len(tables[0]) * n / (n + 1)
    assert row.p_textbook == pytest.approx(
        stats.kstwobign.sf(np.sqrt(size) * expected.statistic)
    )


@pytest.mark.parametrize("make", [continuous, tied])
@pytest.mark.parametrize("small", [True, False])
def test_other_scores_equal_the_straightforward_code(
    make: Any, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:  # pairs do not fit: percentiles from a second look
        monkeypatch.setattr("warehouse.stats.matrix.tables.BLOCK_PAIRS", 50)
        monkeypatch.setattr("warehouse.stats.matrix.similarity.BLOCK_PAIRS", 50)
    matrix, n = make(40, 5), 19
    found = permutation_test(matrix, n_permutations=n, seed=2)
    assert {row.similarity for row in found.statistics} == {"cosine"}
    tables = [upper(cosines(one)) for one in shuffled(matrix, n, 2)]
    for name, figure in (
        ("mean", np.mean),
        ("percentile_75", lambda pairs: np.percentile(pairs, 75)),
        ("percentile_95", lambda pairs: np.percentile(pairs, 95)),
    ):
        row, figures = (
            pick(found, "cosine", name),
            np.array([figure(t) for t in tables]),
        )
        assert row.observed == pytest.approx(figures[0], abs=1e-12)
        assert row.p_value == share_at_least(figures[0], figures[1:])
    # the distance at every value: the grid can only miss what lies within one of its
    # steps
    curves = [np.sort(table) for table in tables]
    grid = np.linspace(-1, 1, GRID + 1)[1:] - 1e-9
    steps = np.array([np.searchsorted(c, grid, side="right") / len(c) for c in curves])
    distances = np.abs(steps - steps.mean(axis=0)).max(axis=1)
    assert pick(found, "cosine", "ks").observed == pytest.approx(distances[0], abs=2e-3)


def test_ks_of_two_tables_by_hand() -> None:
    tables = [np.array([2, 0, 2]), np.array([0, 4, 0])]
    found = kolmogorov_smirnov(lambda place: tables[place], 2)
    assert (found.statistic, found.permuted.tolist(), found.p_value) == (
        0.25,
        [0.25],
        1.0,
    )


def test_the_mean_of_hamming_tests_nothing_and_says_so() -> None:
    row = pick(permutation_test(binary(30, 6), n_permutations=19), "hamming", "mean")
    assert (row.p_value, row.permuted_low) == (
        1.0,
        pytest.approx(row.permuted_high, abs=1e-12),
    )
    assert "tests nothing" in row.reason


@pytest.mark.parametrize("make", [binary, continuous])
def test_threads_do_not_change_the_answer(make: Any) -> None:
    matrix = make(30, 6)
    runs = [
        permutation_test(matrix, n_permutations=25, seed=4, n_threads=t) for t in (1, 3)
    ]
    assert runs[0].histograms == runs[1].histograms
    assert [row.p_value for row in runs[0].statistics] == [
        r.p_value for r in runs[1].statistics
    ]
    assert runs[0] == permutation_test(matrix, n_permutations=25, seed=4, n_threads=1)
    assert runs[0] != permutation_test(matrix, n_permutations=25, seed=5, n_threads=1)


def test_codes_of_many_models_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    there = permutation_test(with_extremes(30, 6), n_permutations=9)
    monkeypatch.setattr("warehouse.stats.matrix.tables._CELLS", 0)
    assert permutation_test(with_extremes(30, 6), n_permutations=9) == there


def test_an_interruption_does_not_wait_for_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed: list[int] = []
    add = BinaryTables.add

    def counted(self: BinaryTables, place: int, columns: Any) -> None:
        computed.append(place)
        add(self, place, columns)

    def interrupt(_done: int, _all: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BinaryTables, "add", counted)
    with pytest.raises(KeyboardInterrupt):
        permutation_test(
            binary(200, 40), n_permutations=3000, n_threads=1, progress=interrupt
        )
    assert len(computed) < 3001


def test_progress_is_told_and_histograms_hold_all_pairs() -> None:
    told: list[tuple[int, int]] = []
    found = permutation_test(
        binary(20, 4), n_permutations=7, progress=lambda *step: told.append(step)
    )
    done, total = zip(*told, strict=True)
    assert set(total) == {35} and list(done) == sorted(done)
    assert done[:7] == tuple(range(4, 29, 4)) and done[-1] == 35
    for shape in found.histograms:
        assert sum(shape.observed) == pytest.approx(1)
        assert sum(shape.permuted) == pytest.approx(1)
    pairs = slow("jaccard", binary(20, 4))
    (jaccard,) = [h for h in found.histograms if h.similarity == "jaccard"]
    expected = np.histogram(pairs, bins=20, range=(0, 1))[0] / len(pairs)
    assert jaccard.observed == pytest.approx(expected, abs=0.02)  # edges round


def test_p_values_are_uniform_under_the_null() -> None:
    """Exact: P(p ≤ j/20) ≤ j/20. Cosine mean and KS; the textbook p is far too small."""
    honest, textbook = [], []
    for seed in range(200):
        found = permutation_test(
            independent(30, 6, seed),
            ["cosine"],
            n_permutations=19,
            seed=seed,
            n_threads=1,
        )
        honest.append([pick(found, "cosine", name).p_value for name in ("mean", "ks")])
        textbook.append(pick(found, "cosine", "ks").p_textbook)
    for p_values in np.array(honest).T:
        for level in (0.05, 0.1, 0.25, 0.5):
            bound = stats.binom.ppf(1 - 1e-4, 200, level)
            assert (p_values <= level + 1e-9).sum() <= bound
        assert stats.binomtest(int((p_values <= 0.5).sum()), 200, 0.5).pvalue > 1e-4
    assert (
        np.array(textbook) <= 0.05
    ).mean() > 0.1  # the figure at fault, shown beside


def test_planted_structure_is_found() -> None:
    rng = np.random.default_rng(0)
    skill = np.repeat(
        [[0.9, 0.1], [0.1, 0.9]], 30, axis=0
    )  # two kinds of prompts, two of models
    matrix = (rng.random((60, 8)) < np.repeat(skill, 4, axis=1)).astype(float)
    found = permutation_test(matrix, n_permutations=99)
    assert pick(found, "cosine", "ks").p_value == 0.01
    assert pick(found, "cosine", "percentile_95").p_value == 0.01
    assert pick(found, "jaccard", "mean").p_value == 0.01


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n_permutations": 0}, "`n_permutations` must be at least 1"),
        ({"seed": -1}, "`seed`"),
        ({"n_threads": 0}, "`n_threads`"),
        ({"similarities": ["manhattan"]}, "no similarity 'manhattan'"),
    ],
)
def test_arguments_out_of_range_are_refused(
    arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(StatisticsError, match=said):
        permutation_test(binary(10, 3), **arguments)


def test_constant_columns_and_continuous_scores_are_refused() -> None:
    with pytest.raises(StatisticsError, match="all columns are constant"):
        permutation_test(np.tile([1.0, 0.0, 1.0], (5, 1)))
    with pytest.raises(StatisticsError, match=r"jaccard.*use cosine"):
        permutation_test(continuous(10, 3), ["jaccard"])


def test_results_have_a_line_and_a_dictionary() -> None:
    found = permutation_test(binary(10, 3), ["cosine"], n_permutations=3)
    assert str(found).startswith("10 × 3, 3 permutations: cosine mean p=")
    assert found.to_dict()["statistics"][0]["similarity"] == "cosine"


def test_figures_that_differ_by_the_rounding_of_ten_digits_are_ties() -> None:
    permuted = np.array([0.3, 1 / 3, round(1 / 3, 10), 0.2])
    assert (
        upper_p_value(1 / 3, permuted)
        == upper_p_value(round(1 / 3, 10), permuted)
        == 3 / 5
    )
