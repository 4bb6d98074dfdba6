"""All that can be asked of the performance matrix of one benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace as with_changes
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.matrix.analyses import (
    OnExecutors,
    Vectors,
    compare_parts,
    executors_for,
    run_clusters,
    run_explain,
    run_growth,
    run_test,
    run_weights,
    seconds_of_clusters,
    seconds_of_test,
)
from warehouse.analysis.matrix.cluster_view import MatrixClusters
from warehouse.analysis.matrix.correlation_view import MatrixTest
from warehouse.analysis.matrix.explanation_view import ExplainedParts, MatrixExplanation
from warehouse.analysis.matrix.growth_view import MatrixGrowth
from warehouse.analysis.matrix.question import (
    ClusterMatrix,
    CompareParts,
    CorrelationTest,
    ExplainMatrix,
    GrowMatrix,
    PerformanceMatrix,
    WeightMatrix,
)
from warehouse.analysis.matrix.read import MatrixData, read_matrix
from warehouse.analysis.matrix.results import MatrixResult
from warehouse.analysis.matrix.weights_view import MatrixWeights
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.selection import Selection, as_conditions
from warehouse.analysis.text.embed import choose_embedder
from warehouse.analysis.text.parts import embed_command, read_part, texts_of_part
from warehouse.errors import MisuseError
from warehouse.questions.methods import Gives, with_keywords
from warehouse.questions.question import answers, options
from warehouse.records.canonical_json import fingerprint
from warehouse.stats.matrix.similarity import check_similarity
from warehouse.store.computed.prompt_vectors import PROMPT, read_vectors
from warehouse.store.computed.result_cache import StoredQuestion, answer
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import Members, store_clustering
from warehouse.store.open import StoreOpener

#: Raised when what is computed changes, so that stored answers count as absent.
METHOD_VERSION = "3"

Found = TypeVar("Found", bound=MatrixResult)
_SEMANTIC = (
    "select name from clustering where kind = 'semantic' and benchmark_id in (:ids)"
)


class Matrix:
    """The performance matrix of a benchmark: prompts × models, complete rows only.

    Every method answers from the store where it was asked before and nothing has
    changed, and stores what it computes; the store is open only while it is read or
    written.
    """

    def __init__(self, opener: StoreOpener, question: PerformanceMatrix) -> None:
        self.opener = opener
        self.benchmark = question.benchmark
        self.fresh = question.fresh
        self.selection = Selection(
            question.benchmark,
            question.metric,
            as_conditions(question.where),
            latest=question.latest,
        )
        self.store_result = question.store_result
        self.progress = question.progress

    def __repr__(self) -> str:
        return (
            f"Matrix of {self.benchmark}: ask it by test(), cluster(), weights(), "
            "grow() or explain()"
        )

    @cached_property
    def data(self) -> MatrixData:
        """The matrix itself.

        Raises:
            MisuseError: unknown names, or fewer than two models or complete prompts.
        """
        with self.opener.reading() as store:
            return read_matrix(store, self.selection)

    @with_keywords(CorrelationTest, Gives[MatrixTest])
    def test(self, question: CorrelationTest) -> MatrixTest:
        values = self.data.values
        for name in question.similarities:
            check_similarity(name, bool(np.isin(values, (0, 1)).all()))
        chosen = list(dict.fromkeys(question.similarities))
        permutations = question.permutations
        seed = question.seed
        return self._ask(
            "test",
            MatrixTest,
            {"similarities": chosen, "permutations": permutations},
            seed,
            lambda: self._spread(
                seconds_of_test(self.data, permutations),
                lambda spread: run_test(
                    self.data, chosen, permutations, seed, self.progress, spread
                ),
            ),
        )

    @with_keywords(ClusterMatrix, Gives[MatrixClusters])
    def cluster(self, question: ClusterMatrix) -> MatrixClusters:
        name = question.store
        permutations = question.permutations
        seed = question.seed
        if name and not self.store_result:
            raise MisuseError(
                "a trial stores no clustering: give a name, or store no result"
            )
        tried = sorted(set(question.n_clusters))
        clusters = self._ask(
            "cluster",
            MatrixClusters,
            {"n_clusters": tried, "permutations": permutations},
            seed,
            lambda: self._spread(
                seconds_of_clusters(self.data, tried, permutations),
                lambda spread: run_clusters(
                    self.data, tried, permutations, seed, self.progress, spread
                ),
            ),
        )
        if name:
            settings = {
                "metric": clusters.metric,
                "seed": seed,
                "tried": tried,
                "where": sorted(self.selection.where),
                "latest": self.selection.latest,
            }
            made = {
                "models": list(clusters.models),
                "n_clusters": clusters.n_clusters,
                "silhouette": clusters.silhouette,
            }
            agreed = {"default": question.default, "replace": question.replace}
            with self.opener.writing() as writable:
                keep_clustering(
                    writable, self.data, clusters, name, settings, made, **agreed
                )
        return clusters

    @with_keywords(WeightMatrix, Gives[MatrixWeights])
    def weights(self, question: WeightMatrix) -> MatrixWeights:
        data = self.data
        draws = question.draws
        seed = question.seed
        given = question.given
        labels, name = self._labels(question.cluster, seed)
        with self.opener.reading() as store:
            ids = find_benchmark(store, self.benchmark).ids
            semantic = [row["name"] for row in store.rows(_SEMANTIC, {"ids": ids})]
        clusters = {
            label: self._stored_labels(label)
            for label in dict.fromkeys([*question.equal, *semantic])
        }
        own = None
        if given is not None:
            own = _by_prompt(data, given)
        parts = [labels, *clusters.values(), *([] if own is None else [own])]
        settings = {
            "draws": draws,
            "clusters": name,
            "equal": list(clusters),
            "given": False if own is None else fingerprint(own.tobytes()),
        }
        weights = self._ask(
            "weights",
            MatrixWeights,
            settings,
            seed,
            lambda: run_weights(
                data, labels, name, clusters, own, draws, seed, self.progress
            ),
            *(part.tobytes() for part in parts),
        )
        absent = len((given or {}).keys() - set(data.keys))
        if not absent:
            return weights
        note = f"{absent} prompts that the weights name are not in the matrix"
        return with_changes(weights, notes=(*weights.notes, note))

    @with_keywords(GrowMatrix, Gives[MatrixGrowth])
    def grow(self, question: GrowMatrix) -> MatrixGrowth:
        chosen = sorted(set(question.sizes))
        seed = question.seed
        return self._ask(
            "grow",
            MatrixGrowth,
            {"sizes": chosen},
            seed,
            lambda: run_growth(self.data, chosen, seed, self.progress),
        )

    @with_keywords(ExplainMatrix, Gives[MatrixExplanation])
    def explain(self, question: ExplainMatrix) -> MatrixExplanation:
        data, part = self.data, question.part
        intercept = question.intercept
        permutations = question.permutations
        seed = question.seed
        with self.opener.reading() as store:
            vectors = matrix_vectors(store, data, question.embedder, part)
        settings = {
            "embedder": vectors.embedder,
            "intercept": intercept,
            "permutations": permutations,
        }
        if part != PROMPT:
            settings["part"] = part
        return self._ask(
            "explain",
            MatrixExplanation,
            settings,
            seed,
            lambda: run_explain(
                data, vectors, intercept, permutations, seed, self.progress
            ),
            vectors.rows.tobytes(),
            vectors.vectors.tobytes(),
        )

    @with_keywords(CompareParts, Gives[ExplainedParts])
    def explain_parts(self, question: CompareParts) -> ExplainedParts:
        names = [*dict.fromkeys(question.parts)]
        with self.opener.reading() as store:
            labels = dict.fromkeys(
                choose_embedder(store, question.embedder, part).label for part in names
            )
        if len(labels) != 1:
            raise MisuseError(
                f"the parts have vectors of different embedders ({', '.join(labels)}): "
                "embed each by one of them, and name it with --embedder"
                if labels
                else "which parts? prompt, target, choices or metadata.FIELD"
            )
        shared = {
            name: getattr(question, name)
            for name in options(CompareParts)
            if name != "parts"
        }
        return compare_parts([self.explain(**shared, part=part) for part in names])

    def _spread(
        self, seconds: float, compute: Callable[[OnExecutors | None], Found]
    ) -> Found:
        """A result computed with the help of executors, where there are any and it is
        worth it."""
        with executors_for(self.opener, seconds) as spread:
            return compute(spread)

    def _ask(
        self,
        kind: str,
        result: type[Found],
        settings: Mapping[str, Any],
        seed: int,
        compute: Callable[[], Found],
        *inputs: bytes,
    ) -> Found:
        chosen = {
            "metric": self.data.metric,
            "where": sorted(self.selection.where),
            "latest": self.selection.latest,
        }
        question = StoredQuestion(
            f"matrix_{kind}",
            self.data.benchmark,
            METHOD_VERSION,
            fingerprint(self.data.fingerprint, *inputs),
            seed,
            {**chosen, **settings},
        )
        answered = answer(
            self.opener,
            question,
            result,
            lambda now: with_changes(
                compute(), computed_at=now.isoformat(timespec="seconds")
            ),
            fresh=self.fresh,
            store_result=self.store_result,
        )
        if answered.read_back:
            note = (
                f"read back: computed on {answered.computed_on}, and nothing has "
                "changed since"
            )
        else:
            note = ""
            if answered.not_stored:
                note = f"not stored: {answered.not_stored}"
        if note:
            return with_changes(answered.result, notes=(*answered.result.notes, note))
        return answered.result

    def _labels(self, cluster: str | None, seed: int) -> tuple[NDArray[np.int64], str]:
        if cluster is not None:
            return self._stored_labels(cluster), cluster
        clusters = self.cluster(seed=seed, permutations=0)
        return np.array(
            clusters.labels, dtype=np.int64
        ), f"performance, {clusters.n_clusters} clusters"

    def _stored_labels(self, name: str) -> NDArray[np.int64]:
        with self.opener.reading() as store:
            benchmark = find_benchmark(store, self.benchmark)
            clusters = cluster_map(store, benchmark.ids, benchmark.clusterings, name)
            labels = clusters.labels(self.data.prompts)
        if labels is None:
            raise MisuseError(
                f"clustering {name!r} holds none of the prompts of the matrix"
            )
        return labels


@answers(PerformanceMatrix)
def matrix(opener: StoreOpener, question: PerformanceMatrix) -> Matrix:
    """The performance matrix of a benchmark; nothing is read yet."""
    return Matrix(opener, question)


def _by_prompt(data: MatrixData, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Weights by row; prompts that go by one name have one weight."""
    if not weights.keys() & set(data.keys):
        raise MisuseError(
            f"the weights name none of the {len(data.keys)} prompts of the matrix; "
            f"prompts are called such as {data.keys[0]!r}, found {list(weights)[:1]}"
        )
    return np.array([weights.get(key, 0.0) for key in data.keys])


def keep_clustering(
    store: Store,
    data: MatrixData,
    clusters: MatrixClusters,
    name: str,
    settings: Mapping[str, Any],
    made: Mapping[str, Any],
    *,
    default: bool,
    replace: bool = False,
) -> None:
    """Store a clustering with medoids and distances, under each benchmark that prompts
    are of.

    Args:
        store: open for writing.
        settings: the settings that chose it.
        made: what the data made of them.
        replace: also in place of one that was made with other settings.

    Raises:
        MisuseError: a clustering of another kind, or made with other settings, has this
            name.
    """
    labels = np.array(clusters.labels)
    distances = np.array(clusters.distances)
    for benchmark in np.unique(data.benchmark_ids).tolist():
        rows = np.flatnonzero(data.benchmark_ids == benchmark)
        _, own = np.unique(labels[rows], return_inverse=True)
        nearest = np.lexsort([distances[rows], own])
        medoids = nearest[np.unique(own[nearest], return_index=True)[1]]
        members = Members(
            data.prompts[rows], own.astype(np.intp), distances[rows], medoids
        )
        must_agree = None
        if not replace:
            must_agree = tuple(settings)
        store_clustering(
            store,
            benchmark,
            name,
            "performance",
            members,
            parameters={**settings, **made},
            default=default,
            must_agree=must_agree,
        )


def matrix_vectors(
    store: Store, data: MatrixData, embedder: str | None, part: str = PROMPT
) -> Vectors:
    """Up-to-date vectors of a part of the prompts of a matrix.

    Args:
        embedder: whose; None for the only one there is.

    Raises:
        MisuseError: prompts without text or vectors; no or several embedders that fit.
    """
    if part == PROMPT and not any(data.texts):
        raise MisuseError(
            f"the prompts of {data.benchmark} have no text in the store: there is "
            "nothing to compare their performance with"
        )
    chosen = choose_embedder(store, embedder, part)
    benchmarks = np.unique(data.benchmark_ids).tolist()
    texts = read_part(store, part, benchmarks)
    vectors = read_vectors(store, chosen, benchmarks, texts)
    found_at = np.searchsorted(vectors.prompts, data.prompts)
    found_at[found_at == len(vectors.prompts)] = 0
    rows = np.empty(0, np.intp)
    if len(vectors.prompts):
        rows = np.flatnonzero(vectors.prompts[found_at] == data.prompts)
    if not len(rows):
        raise MisuseError(
            f"no prompt of {data.benchmark} has a vector by {chosen.label}; run: "
            f"{embed_command(part, data.benchmark)}"
        )
    prompts = data.prompts[rows].tolist()
    shown = texts_of_part(store, part, prompts)
    found = vectors.vectors[found_at[rows]].astype(np.float64)
    return Vectors(
        chosen.label, rows, found, [shown.get(prompt) for prompt in prompts], part
    )
