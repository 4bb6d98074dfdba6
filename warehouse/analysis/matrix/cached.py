"""Matrix analyses that the store holds of a benchmark, for those who only read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from warehouse.analysis.matrix.answer import METHOD_VERSION
from warehouse.analysis.matrix.cluster_view import MatrixClusters
from warehouse.analysis.matrix.correlation_view import MatrixTest
from warehouse.analysis.matrix.explanation_view import MatrixExplanation
from warehouse.analysis.matrix.growth_view import MatrixGrowth
from warehouse.analysis.matrix.read import MatrixData, matrix_of
from warehouse.analysis.matrix.results import MatrixResult
from warehouse.analysis.matrix.weights_view import MatrixWeights
from warehouse.analysis.selection.benchmarks import KnownBenchmark
from warehouse.analysis.selection.clusterings import NO_CLUSTERS
from warehouse.analysis.selection.select import select_among
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import Kept
from warehouse.store.connection import Store

#: Field of `StoredMatrix` -> kind of analysis, which is also the command's last word.
_KINDS: Mapping[str, tuple[str, type[MatrixResult]]] = {
    "test": ("test", MatrixTest),
    "clusters": ("cluster", MatrixClusters),
    "weights": ("weights", MatrixWeights),
    "growth": ("grow", MatrixGrowth),
    "explanation": ("explain", MatrixExplanation),
}


@dataclass(frozen=True)
class StoredMatrix:
    """One analysis of each kind that fits the scores as they are now; None for none.

    Of several the one of all runs by the headline metric comes first, then that with
    the most permutations or draws, then the newest: a trial does not take the place of
    the evidence.
    """

    test: MatrixTest | None = None  #: are prompts correlated beyond chance?
    clusters: MatrixClusters | None = None  #: which prompts do models find alike?
    #: scores and ranks when prompts do not weigh the same.
    weights: MatrixWeights | None = None
    growth: MatrixGrowth | None = None  #: scores while the benchmark grows.
    #: does what prompts ask explain which models succeed?
    explanation: MatrixExplanation | None = None
    #: the runs of each analysis that was not made of all, in words, by field.
    chosen: tuple[tuple[str, str], ...] = ()
    #: last word of the command of each kind that is not there.
    missing: tuple[str, ...] = ()
    #: of each kind that is only there for scores that have changed since.
    outdated: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[MatrixResult, ...]:
        """The analyses that are there."""
        values = (getattr(self, item.name) for item in fields(self))
        return tuple(value for value in values if isinstance(value, MatrixResult))


def stored_matrix(store: Store, found: KnownBenchmark) -> StoredMatrix:
    """The stored analyses of a benchmark's performance matrix; nothing is computed.

    Args:
        found: the benchmark, with its runs and metrics.
    """
    entries = result_cache.kept(store, found[0].name, METHOD_VERSION)
    current = _Current(store, found)
    results: dict[str, Any] = {}
    chosen: list[tuple[str, str]] = []
    missing: list[str] = []
    outdated: list[str] = []
    for name, (word, result) in _KINDS.items():
        # of explanations those by the question: other parts stand beside one another in
        # an answer of their own
        own = [
            entry
            for entry in entries
            if entry.kind == f"matrix_{word}" and "part" not in entry.parameters
        ]
        # of equal ones the newest stays first
        own.sort(key=current.evidence, reverse=True)
        fitting = current.first(own, result)
        if fitting is None:
            (outdated if own else missing).append(word)
            continue
        results[name] = fitting[1]
        latest = []
        if fitting[0].parameters["latest"]:
            latest = ["the newest condition of each model"]
        selection = ", ".join([*fitting[0].parameters["where"], *latest])
        if selection:
            chosen += [(name, selection)]
    return StoredMatrix(
        **results,
        chosen=tuple(chosen),
        missing=tuple(missing),
        outdated=tuple(outdated),
    )


class _Current:
    """The matrix as it is now, by selection; each is read once."""

    def __init__(self, store: Store, found: KnownBenchmark) -> None:
        self.store = store
        self.found = found
        self.benchmark = found[0].name
        self.fingerprints: dict[Selection, str] = {}

    @cached_property
    def headline(self) -> Selection | None:
        """All runs by the headline metric; None where they make no matrix."""
        matrix = self._read(Selection(self.benchmark))
        if matrix is None:
            return None
        return Selection(self.benchmark, matrix.metric)

    def evidence(self, entry: Kept) -> tuple[bool, int]:
        """A key that orders analyses of one kind: whether of all runs, then
        permutations or draws."""
        size = entry.parameters.get("permutations", entry.parameters.get("draws")) or 0
        return self.selection(entry) == self.headline, int(size)

    def first(
        self, entries: list[Kept], kind: type[MatrixResult]
    ) -> tuple[Kept, MatrixResult] | None:
        """The first of some analyses whose matrix is still the same."""
        for entry in entries:
            result = kind.from_dict(result_cache.result_of(self.store, entry))
            if result.matrix_fingerprint == self._of(self.selection(entry)):
                return entry, result
        return None

    def selection(self, kept: Kept) -> Selection:
        """The runs that an analysis was made of."""
        where = tuple(kept.parameters["where"])
        return Selection(
            self.benchmark,
            str(kept.parameters["metric"]),
            where,
            latest=bool(kept.parameters["latest"]),
        )

    def _of(self, selection: Selection) -> str:
        if selection not in self.fingerprints:
            matrix = self._read(selection)
            if matrix is None:
                self.fingerprints[selection] = ""
            else:
                self.fingerprints[selection] = matrix.fingerprint
        return self.fingerprints[selection]

    def _read(self, selection: Selection) -> MatrixData | None:
        try:
            scores = select_among(
                self.store, self.found, replace(selection, cluster=NO_CLUSTERS)
            )
            matrix = matrix_of(self.store, scores)
        except MisuseError:  # such runs are there no more
            return None
        self.fingerprints[replace(selection, metric=matrix.metric)] = matrix.fingerprint
        return matrix
