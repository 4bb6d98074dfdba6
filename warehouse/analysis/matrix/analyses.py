"""The analyses of a performance matrix, here or on executors: tests, clusters,
explanations, weights, growth."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, permutations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.matrix.cluster_view import (
    ClusterCountRow,
    ClusterRow,
    MatrixClusters,
)
from warehouse.analysis.matrix.correlation_view import HistogramRow, MatrixTest, TestRow
from warehouse.analysis.matrix.explanation_view import (
    ExplainedParts,
    ExplainRow,
    MatrixExplanation,
    PartRow,
)
from warehouse.analysis.matrix.growth_view import GrowthRow, GrowthStep, MatrixGrowth
from warehouse.analysis.matrix.read import MatrixData
from warehouse.analysis.matrix.weights_view import (
    MatrixWeights,
    OutrankRow,
    RandomWeightRow,
    WeightRow,
)
from warehouse.analysis.results import shared_fields
from warehouse.errors import MisuseError, StoreError, first_line
from warehouse.stats.matrix import (
    ClusterSearch,
    Explanation,
    Growth,
    PermutationTest,
    RandomWeights,
    cluster_search,
    explain,
    grow,
    permutation_test,
    random_weights,
    weighted_scores,
)
from warehouse.stats.matrix.clustering import MOST_CLUSTERS
from warehouse.stats.matrix.similarity import Progress, Similarity
from warehouse.stats.matrix.weights import (
    Order,
    cluster_weights,
    competition_ranks,
    distance_weights,
    inverse_distance_weights,
    medoid_weights,
)
from warehouse.stats.multiple.adjust import holm
from warehouse.store.computed.prompt_vectors import PROMPT
from warehouse.store.engines import Executors
from warehouse.store.open import StoreOpener

#: An FDR below this counts as significant.
FDR = 0.05


@dataclass(frozen=True)
class Vectors:
    """Vectors of some prompts of a matrix."""

    embedder: str  #: its name.
    rows: NDArray[np.intp]  #: which prompts, shape (m,).
    vectors: NDArray[np.float64]  #: theirs, shape (m, d).
    texts: Sequence[str | None]  #: what was embedded of each, shape (m,).
    part: str  #: of what of the prompts they are.


def common(data: MatrixData, seed: int, *notes: str) -> dict[str, Any]:
    """The fields that all results share."""
    return {
        "benchmark": data.benchmark,
        "metric": data.metric,
        "models": data.models,
        "n_prompts": len(data.prompts),
        "n_incomplete": data.n_incomplete,
        "seed": seed,
        "matrix_fingerprint": data.fingerprint,
        "computed_at": "",
        "notes": (*data.notes, *notes),
    }


def run_test(
    data: MatrixData,
    similarities: Sequence[str],
    n_permutations: int,
    seed: int,
    progress: Progress | None,
    spread: OnExecutors | None = None,
) -> MatrixTest:
    """Permutation tests of the similarities between prompts."""
    test = permutation_test(
        data.values,
        cast("Sequence[Similarity]", similarities) or None,
        n_permutations=n_permutations,
        seed=seed,
        spread=spread,
        progress=progress,
    )
    rows = tuple(TestRow(**vars(statistic)) for statistic in test.statistics)
    binary = bool(np.isin(data.values, (0, 1)).all())
    notes = (
        ()
        if binary or similarities
        else (
            "scores are not all 0 or 1: cosine only (Hamming and Jaccard count ones)",
        )
    )
    of_spread = () if spread is None else spread.notes
    return MatrixTest(
        **common(data, seed, *notes, *of_spread),
        rows=rows,
        n_permutations=n_permutations,
        histogram=_histogram(test),
    )


def _histogram(test: PermutationTest) -> tuple[HistogramRow, ...]:
    rows: list[HistogramRow] = []
    for shape in test.histograms:
        low = shape.edges[:-1]
        high = shape.edges[1:]
        bins = zip(low, high, shape.observed, shape.permuted, strict=True)
        rows.extend(HistogramRow(shape.similarity, *bin) for bin in bins)
    return tuple(rows)


def run_clusters(
    data: MatrixData,
    n_clusters: Sequence[int],
    n_permutations: int,
    seed: int,
    progress: Progress | None,
    spread: OnExecutors | None = None,
) -> MatrixClusters:
    """The clustering with the best silhouette, against shuffled matrices."""
    search = cluster_search(
        data.values,
        n_clusters or None,
        n_permutations=n_permutations,
        seed=seed,
        spread=spread,
        progress=progress,
    )
    chosen = search.chosen
    rows = tuple(
        ClusterCountRow(
            count.n_clusters,
            count.observed,
            count.permuted,
            count.permuted_high,
            count.n_clusters == chosen.n_clusters,
        )
        for count in search.counts
    )
    of_spread = () if spread is None else spread.notes
    return MatrixClusters(
        **common(data, seed, *of_spread),
        rows=rows,
        n_clusters=chosen.n_clusters,
        silhouette=chosen.silhouette,
        silhouette_permuted=search.silhouette_permuted,
        p_value=search.p_value,
        n_permutations=n_permutations,
        clusters=_clusters(data, search),
        labels=tuple(chosen.labels.tolist()),
        distances=tuple(chosen.distances.tolist()),
        medoids=tuple(chosen.medoids.tolist()),
        prompts=data.keys,
    )


def _clusters(data: MatrixData, search: ClusterSearch) -> tuple[ClusterRow, ...]:
    chosen, rows = search.chosen, []
    for cluster, medoid in enumerate(chosen.medoids.tolist()):
        members = chosen.labels == cluster
        rows.append(
            ClusterRow(
                cluster + 1,
                int(members.sum()),
                data.keys[medoid],
                float(chosen.distances[members].mean()),
                float(data.values[members].mean()),
                data.texts[medoid],
            )
        )
    return tuple(rows)


def run_explain(
    data: MatrixData,
    vectors: Vectors,
    intercept: bool,
    n_permutations: int,
    seed: int,
    progress: Progress | None,
) -> MatrixExplanation:
    """Regressions of performance on semantic similarity, largest coefficient first."""
    explanation = explain(
        data.values[vectors.rows],
        vectors.vectors,
        intercept=intercept,
        n_permutations=n_permutations,
        seed=seed,
        progress=progress,
    )
    missing = len(data.prompts) - len(vectors.rows)
    what = "text" if vectors.part == PROMPT else vectors.part
    notes = []
    if missing:
        notes = [f"{missing} prompts left out: no vector of their {what}"]
    if explanation.n_undefined:
        notes.append(
            f"{explanation.n_undefined} prompts have no coefficient: nothing varies, "
            "or nothing is left"
        )
    head = common(data, seed, *notes) | {"n_prompts": explanation.n_prompts}
    own = {
        "rows": _explained(data, vectors, explanation),
        "embedder": vectors.embedder,
        "n_without_vector": missing,
        "share_fdr": _share(explanation),
        "mantel_r": explanation.mantel.r,
        "mantel_p": explanation.mantel.p_value,
        "part": vectors.part,
    }
    return MatrixExplanation(
        **shared_fields(explanation, MatrixExplanation, **head, **own)
    )


def compare_parts(found: Sequence[MatrixExplanation]) -> ExplainedParts:
    """Explanations by several parts of the prompts, one row each."""
    p_values = [
        math.nan if test.p_mean_coefficient is None else test.p_mean_coefficient
        for test in found
    ]
    adjusted = [None if math.isnan(p) else float(p) for p in holm(p_values)]
    rows = tuple(
        PartRow(
            **shared_fields(
                test, PartRow, p_value=test.p_mean_coefficient, p_holm=p_holm
            )
        )
        for test, p_holm in zip(found, adjusted, strict=True)
    )
    first = found[0]
    notes = dict.fromkeys(chain.from_iterable(test.notes for test in found))
    if len({test.n_prompts for test in found}) > 1:
        notes["parts are compared on different prompts: not all have each"] = None
    return ExplainedParts(
        first.benchmark,
        first.metric,
        first.n_models,
        first.embedder,
        first.n_permutations,
        rows,
        tuple(notes),
    )


def _share(explanation: Explanation) -> float | None:
    defined = ~np.isnan(explanation.coefficients)
    if not defined.any():
        return None
    significant = explanation.fdr[defined] < FDR
    return float((significant & (explanation.coefficients[defined] > 0)).mean())


def _explained(
    data: MatrixData, vectors: Vectors, explanation: Explanation
) -> tuple[ExplainRow, ...]:
    figures = np.column_stack(
        [
            explanation.coefficients,
            explanation.statistics,
            explanation.p_values,
            explanation.fdr,
        ]
    )
    undefined = np.isnan(explanation.coefficients)
    order = np.lexsort([-np.where(undefined, 0, explanation.coefficients), undefined])
    return tuple(
        _row(data.keys[vectors.rows[index]], figures[index], vectors.texts[index])
        for index in order.tolist()
    )


def _row(key: str, figures: NDArray[np.float64], text: str | None) -> ExplainRow:
    defined = [None if np.isnan(figure) else float(figure) for figure in figures]
    return ExplainRow(key, defined[0], defined[1], defined[2], defined[3], text)


_log = logging.getLogger(__name__)

#: Work below so many processor seconds is done here: executors take some seconds to
#: begin.
WORTH_SECONDS = 30.0
#: Measured on one core (docs/reference/methods_scale.md): pairs of prompts per second,
#: for each 64 models
#: where all scores are 0 or 1; pairs per second where they are not; seconds per score
#: and number of clusters.
_BINARY_PAIRS, _PAIRS, _CLUSTERED = 2e9, 1.5e7, 1e-5


def seconds_of_test(data: MatrixData, n_permutations: int) -> float:
    """Processor seconds that the shuffled matrices of a permutation test take, about."""
    n, k = data.values.shape
    pairs: float = n * (n - 1) / 2 * n_permutations
    binary = bool(np.isin(data.values, (0, 1)).all())
    return pairs * -(-k // 64) / _BINARY_PAIRS if binary else pairs / _PAIRS


def seconds_of_clusters(
    data: MatrixData, tried: Sequence[int], n_permutations: int
) -> float:
    """Processor seconds that the shuffled matrices of a search of clusters take, about."""
    return (
        _CLUSTERED
        * float(data.values.size)
        * (len(tried) or MOST_CLUSTERS - 1)
        * n_permutations
    )


class OnExecutors:
    """Executors, as a :class:`warehouse.stats.matrix.tables.Spread`; what they cannot
    do is done here.

    Attributes:
        notes: why something was done here, if anything was.
    """

    def __init__(self, executors: Executors) -> None:
        self._executors = executors
        self.notes: list[str] = []

    def __call__(
        self, function: Callable[[bytes], bytes], tasks: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes]]:
        """Run a function on each of some tasks, in blocks on executors."""
        left = dict(enumerate(tasks))
        if not self.notes:
            _log.debug(
                "%d tasks go to the executors of %s", len(tasks), self._executors
            )
            try:
                self._executors.open()
                for number, data in self._executors.map(function, tasks):
                    if left.pop(number, None) is not None:
                        yield number, data
            except (StoreError, MisuseError) as error:
                self.notes.append(
                    "computed by this process, since executors could not: "
                    f"{first_line(error)}"
                )
        if left:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                yield from zip(left, pool.map(function, left.values()), strict=True)


@contextmanager
def executors_for(opener: StoreOpener, seconds: float) -> Iterator[OnExecutors | None]:
    """Who else can do some work; ``None`` where it is not worth the way, or there is
    nobody.

    Args:
        opener: of the store whose server is asked.
        seconds: what the work would take here, in processor seconds.
    """
    if seconds < WORTH_SECONDS:
        yield None
        return
    with opener.reading() as store:
        executors = store.dialect.executors(store.url)
    if executors is None:
        yield None
        return
    try:
        yield OnExecutors(executors)
    finally:
        executors.close()


#: Sizes that are reported while a benchmark grows, evenly on a logarithmic scale.
SIZES = 40


def run_weights(
    data: MatrixData,
    labels: NDArray[np.int64],
    clustering: str,
    equal_clusters: Mapping[str, NDArray[np.int64]],
    own_weights: NDArray[np.float64] | None,
    n_draws: int,
    seed: int,
    progress: Progress | None,
) -> MatrixWeights:
    """Scores and ranks under all weightings.

    Args:
        labels: clusters behind medoid and distance weights, shape (n,).
        clustering: what those clusters are called.
        equal_clusters: name of a clustering to its labels: each cluster gets equal
            weight.
        own_weights: the user's weights, shape (n,).
        n_draws: random weightings.
    """
    schemes = {
        "medoid": medoid_weights(data.values, labels),
        "medoid_equal": medoid_weights(data.values, labels, share=False),
        "distance": distance_weights(data.values, labels),
        "inverse_distance": inverse_distance_weights(data.values, labels),
        **{
            f"clusters:{name}": cluster_weights(own, len(data.prompts))
            for name, own in equal_clusters.items()
        },
        **({} if own_weights is None else {"given": own_weights}),
    }
    higher = data.higher_is_better is not False
    weighted = weighted_scores(data.values, schemes, higher_is_better=higher)
    rows = tuple(
        WeightRow(item.scheme, model, score, rank, change, item.effective_prompts)
        for item in weighted
        for model, score, rank, change in zip(
            data.models, item.scores, item.ranks, item.rank_changes, strict=True
        )
    )
    drawn = random_weights(
        data.values,
        n_draws=n_draws,
        seed=seed,
        higher_is_better=higher,
        levels=(0.025, 0.5, 0.975),
        progress=progress,
    )
    notes = (
        ()
        if data.higher_is_better is not None
        else ("it is not known whether higher is better; higher ranks first",)
    )
    return MatrixWeights(
        **common(data, seed, *notes),
        rows=rows,
        n_draws=n_draws,
        random=_random(data, drawn),
        outranks=_outranks(data.models, drawn),
        clustering=clustering,
    )


def _random(data: MatrixData, drawn: RandomWeights) -> tuple[RandomWeightRow, ...]:
    figures = np.column_stack(
        [
            drawn.uniform,
            drawn.lowest,
            *drawn.quantiles,
            drawn.highest,
            drawn.exact_standard_deviation,
            drawn.best,
        ]
    )
    return tuple(
        RandomWeightRow(model, *row)
        for model, row in zip(data.models, figures.tolist(), strict=True)
    )


def _outranks(models: Sequence[str], drawn: RandomWeights) -> tuple[OutrankRow, ...]:
    rows = []
    for (row, first), (column, second) in permutations(enumerate(models), 2):
        rows.append(OutrankRow(first, second, float(drawn.outranks[row, column])))
    return tuple(rows)


def run_growth(
    data: MatrixData, sizes: Sequence[int], seed: int, progress: Progress | None
) -> MatrixGrowth:
    """Scores of all models against size, most informative prompts first and in random
    order."""
    n = len(data.prompts)
    if sizes:
        chosen = np.asarray(sizes)
    else:
        chosen = np.unique(np.geomspace(1, n, SIZES).round().astype(int))
    orders: tuple[Order, ...] = ("informative", "random")
    rows: list[GrowthRow] = []
    steps: list[GrowthStep] = []
    for done, order in enumerate(orders, start=1):
        growth = grow(data.values, order, seed=seed, sizes=chosen)
        rows += _growth_rows(data, growth)
        steps += _growth_steps(data, growth)
        if progress:
            progress(done, len(orders))
    return MatrixGrowth(**common(data, seed), rows=tuple(rows), steps=tuple(steps))


def _growth_rows(data: MatrixData, growth: Growth) -> list[GrowthRow]:
    higher = data.higher_is_better is not False
    rows = []
    for size, scores in zip(growth.sizes, growth.scores, strict=True):
        for model, score, rank in zip(
            data.models,
            scores,
            competition_ranks(scores, higher_is_better=higher),
            strict=True,
        ):
            rows.append(
                GrowthRow(growth.order, int(size), model, float(score), int(rank))
            )
    return rows


def _growth_steps(data: MatrixData, growth: Growth) -> list[GrowthStep]:
    from scipy import stats  # takes longer to load than most answers

    whole = growth.scores[-1]
    steps = []
    for size, scores in zip(growth.sizes, growth.scores, strict=True):
        tau = stats.kendalltau(scores, whole).statistic
        finite_tau = None
        if not np.isnan(tau):
            finite_tau = float(tau)
        steps.append(
            GrowthStep(
                growth.order,
                int(size),
                float(scores.mean()),
                float(np.abs(scores - whole).max()),
                finite_tau,
                data.keys[growth.prompts[size - 1]],
            )
        )
    return steps
