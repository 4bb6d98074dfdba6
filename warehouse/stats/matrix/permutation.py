"""Are prompts correlated beyond chance? Column permutation tests (Siska et al. 2024
§3.2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed, is_zero_one
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.matrix.similarity import (
    SIMILARITIES,
    KolmogorovSmirnov,
    Progress,
    Similarity,
    as_count,
    as_matrix,
    check_similarity,
    distance,
    distribution,
    from_distances,
    upper_p_value,
)
from warehouse.stats.matrix.tables import (
    BinaryTables,
    CosineTables,
    Spread,
    Tables,
    count_elsewhere,
    permuted_rows,
)

#: Bins of the histograms that are reported.
BINS = 20
_MEAN_OF_HAMMING = (
    "does not change when columns are shuffled: it depends on the models' means alone, "
    "so it tests nothing"
)


@dataclass(frozen=True)
class PermutedStatistic:
    """One statistic of the similarities, observed and under shuffled columns."""

    similarity: str  #: ``hamming``, ``cosine`` or ``jaccard``.
    statistic: str  #: ``mean``, ``percentile_75``, ``percentile_95`` or ``ks``.
    observed: float  #: in the matrix as it is.
    permuted_mean: float  #: mean over the permutations.
    permuted_low: float  #: their 2.5 % quantile.
    permuted_high: float  #: their 97.5 % quantile.
    p_value: float  #: (1 + #{permuted ≥ observed})/(1 + N).
    #: only for ``ks``: the two-sample p that takes pairs as independent, as in the
    #: paper; too small.
    p_textbook: float | None
    reason: str  #: what to know about this p.


@dataclass(frozen=True)
class SimilarityHistogram:
    """Shares of pairs by similarity."""

    similarity: str  #: which.
    edges: tuple[float, ...]  #: of the bins, the last one closed, shape (BINS + 1,).
    observed: tuple[float, ...]  #: share of pairs in each bin, shape (BINS,).
    permuted: tuple[float, ...]  #: the same, mean over the permutations.


@dataclass(frozen=True)
class PermutationTest(NamedFigures):
    """The paper's table 2 for one matrix."""

    n_prompts: int  #: rows.
    n_models: int  #: columns.
    n_permutations: int  #: N.
    seed: int  #: of the permutations.
    statistics: tuple[PermutedStatistic, ...]  #: four for each similarity.
    histograms: tuple[SimilarityHistogram, ...]  #: one for each similarity.

    def __str__(self) -> str:
        p_values = ", ".join(
            f"{s.similarity} {s.statistic} p={s.p_value:.3g}" for s in self.statistics
        )
        return (
            f"{self.n_prompts} × {self.n_models}, {self.n_permutations} permutations: "
            f"{p_values}"
        )


def permutation_test(
    matrix: ArrayLike,
    similarities: Sequence[Similarity] | None = None,
    *,
    n_permutations: int = 1000,
    seed: int = 0,
    n_threads: int | None = None,
    spread: Spread | None = None,
    progress: Progress | None = None,
) -> PermutationTest:
    """Shuffle every column by itself and compare the similarities of all pairs of
    prompts.

    For 0/1 scores everything is exact: the three similarities of a pair depend only on
    the rows' numbers of ones and common ones, which are counted for all pairs at once.
    For other scores (cosine only) mean and percentiles are exact; Kolmogorov–Smirnov
    distances are taken at 16 385 evenly spaced cosines, which keeps its p exact.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        similarities: default: all that the scores allow.
        n_permutations: N, at least 1.
        seed: each permutation has a stream of its own, so threads do not change the
            answer.
        n_threads: default: one for each core that this process may use.
        spread: has the shuffled matrices counted elsewhere, in blocks; the answer is
            the same.
        progress: called with (done, 5N): four for counting a permutation, one for
            comparing it.

    Raises:
        StatisticsError: fewer than two prompts or models, missing cells, or scores that
            a similarity is not defined for.
    """
    values = as_matrix(matrix)
    binary = is_zero_one(values)
    chosen = tuple(similarities or ())
    if not chosen:
        chosen = ("cosine",)
        if binary:
            chosen = SIMILARITIES
    for name in chosen:
        check_similarity(name, binary)
    as_seed(seed)
    as_count(n_permutations, "n_permutations")
    if n_threads is not None:
        as_count(n_threads, "n_threads")
    if bool((values == values[0]).all()):
        raise StatisticsError(
            "every model has one score for all prompts (all columns are constant): "
            "shuffling changes nothing"
        )
    tables, columns = _tables_of(values, binary)
    steps = _Steps(n_threads or _cores(), 5 * n_permutations, progress)
    tables.add(0, columns)
    if spread is None:
        _fill(tables, columns, n_permutations, seed, steps)
    else:

        def told(done: int) -> None:
            steps.reached(4 * done)

        count_elsewhere(spread, tables, columns, n_permutations, seed, told)
    tables.finish()
    with one_blas_thread():
        tested = _test(tables, chosen, n_permutations, steps)
    n, k = values.shape
    return PermutationTest(
        n,
        k,
        n_permutations,
        seed,
        tuple(chain.from_iterable(rows for rows, _ in tested)),
        tuple(shape for _, shape in tested),
    )


def _tables_of(values: FloatArray, binary: bool) -> tuple[Tables, NDArray[Any]]:
    """Empty tables for a matrix, and its columns as they are shuffled."""
    if binary:
        return BinaryTables(values), np.ascontiguousarray(values.T, dtype=np.uint8)
    return CosineTables(values), np.ascontiguousarray(values.T)


class _Steps:
    """Runs a task for many places by several threads, and tells how far all of it is."""

    def __init__(self, n_threads: int, total: int, progress: Progress | None) -> None:
        self._n_threads, self._total, self._progress = n_threads, total, progress
        self._done = 0.0

    def run(self, task: Callable[[int], None], indices: range, worth: float) -> None:
        """Each index counts for ``worth / len(indices)`` of the total."""
        begun = self._done
        with ThreadPoolExecutor(self._n_threads) as pool:
            try:
                for done, _ in enumerate(pool.map(task, indices), start=1):
                    self.reached(begun + worth * done / len(indices))
            except (
                BaseException
            ):  # also when a person interrupts: the rest is not computed first
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def reached(self, done: float) -> None:
        """So much of the total is done."""
        self._done = done
        if self._progress:
            self._progress(round(done), self._total)


def _fill(
    tables: Tables, columns: NDArray[Any], n_permutations: int, seed: int, steps: _Steps
) -> None:
    """Every permuted table."""

    def permute(index: int) -> None:
        tables.add(index, permuted_rows(columns, seed, index))

    steps.run(permute, range(1, n_permutations + 1), 4 * n_permutations)


def _cores() -> int:
    """Cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    if allowed:
        return len(allowed(0))
    return os.cpu_count() or 1


def _test(
    tables: Tables, chosen: Sequence[Similarity], n_permutations: int, steps: _Steps
) -> list[tuple[list[PermutedStatistic], SimilarityHistogram]]:
    """Every table is unpacked twice: for its figures and the sum of all, and for its
    distance."""
    indices = range(n_permutations + 1)
    totals = [np.zeros(len(tables.values(name)), np.int64) for name in chosen]
    figures = np.empty((len(chosen), len(indices), 3))
    adding = Lock()

    def look(index: int) -> None:
        for at, counts in enumerate(tables.counts(chosen, index)):
            figures[at, index] = tables.figures(chosen[at], index, counts)
            with adding:
                totals[at] += counts

    steps.run(look, indices, n_permutations / 2)
    means = [distribution(total) for total in totals]
    distances = np.empty((len(chosen), len(indices)))

    def measure(index: int) -> None:
        for at, counts in enumerate(tables.counts(chosen, index)):
            distances[at, index] = distance(counts, means[at])

    steps.run(measure, indices, n_permutations / 2)
    observed = tables.counts(chosen, 0)
    return [
        _rows(
            tables,
            name,
            figures[at],
            from_distances(observed[at], totals[at], distances[at]),
            observed[at],
            totals[at],
        )
        for at, name in enumerate(chosen)
    ]


def _rows(
    tables: Tables,
    similarity: str,
    figures: FloatArray,
    distances: KolmogorovSmirnov,
    observed: NDArray[np.int64],
    total: NDArray[np.int64],
) -> tuple[list[PermutedStatistic], SimilarityHistogram]:
    rows = []
    for at, name in enumerate(("mean", "percentile_75", "percentile_95")):
        seen, permuted = float(figures[0, at]), figures[1:, at]
        reason = _MEAN_OF_HAMMING if (similarity, name) == ("hamming", "mean") else ""
        rows.append(
            _statistic(
                similarity,
                name,
                seen,
                permuted,
                upper_p_value(seen, permuted),
                None,
                reason,
            )
        )
    ks = (
        distances.statistic,
        distances.permuted,
        distances.p_value,
        distances.textbook_p_value,
    )
    rows.append(
        _statistic(
            similarity,
            "ks",
            *ks,
            "the textbook p takes pairs as independent and is too small",
        )
    )
    return rows, _histogram(
        similarity, tables.values(similarity), observed, total - observed
    )


def _statistic(
    similarity: str,
    name: str,
    observed: float,
    permuted: FloatArray,
    p_value: float,
    p_textbook: float | None,
    reason: str,
) -> PermutedStatistic:
    low, high = np.quantile(permuted, [0.025, 0.975])
    spread = float(permuted.mean()), float(low), float(high)
    return PermutedStatistic(
        similarity, name, observed, *spread, p_value, p_textbook, reason
    )


def _histogram(
    similarity: str,
    values: FloatArray,
    observed: NDArray[np.int64],
    permuted: NDArray[np.int64],
) -> SimilarityHistogram:
    edges = np.linspace(-1.0 if values[0] < 0 else 0.0, 1.0, BINS + 1)
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)

    def shares(counts: NDArray[np.int64]) -> tuple[float, ...]:
        binned = np.bincount(bins, weights=counts, minlength=BINS)
        return tuple(map(float, binned / counts.sum()))

    return SimilarityHistogram(
        similarity, tuple(map(float, edges)), shares(observed), shares(permuted)
    )
