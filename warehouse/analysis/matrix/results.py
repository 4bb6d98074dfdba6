"""Results of the matrix analyses: frozen, named fields, made of what JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.matrix.rows import (
    ClusterCountRow,
    ClusterRow,
    ExplainRow,
    GrowthRow,
    GrowthStep,
    HistogramRow,
    OutrankRow,
    RandomWeightRow,
    TestRow,
    WeightRow,
)
from warehouse.analysis.results import Row, StoredResult


@dataclass(frozen=True)
class MatrixResult(StoredResult):
    """What all of them say of the matrix.

    Attributes:
        benchmark: name of the benchmark.
        metric: name of the metric.
        models: name of each column.
        n_prompts: rows of the matrix: prompts that every model has a score of.
        n_incomplete: prompts left out because a model lacks a score.
        seed: of what is random.
        matrix_fingerprint: sha256 of models, prompts and scores; see
            :attr:`warehouse.analysis.matrix.read.MatrixData.fingerprint`.
        computed_at: when, ISO 8601 in UTC.
        notes: what a reader should know.
        rows: the answer, one dataclass each.
    """

    benchmark: str
    metric: str
    models: tuple[str, ...]
    n_prompts: int
    n_incomplete: int
    seed: int
    matrix_fingerprint: str
    computed_at: str
    notes: tuple[str, ...]
    rows: tuple[Any, ...]

    @property
    def n_models(self) -> int:
        """Columns of the matrix."""
        return len(self.models)

    @property
    def one_line(self) -> str:
        """The result in one line."""
        return f"{self.benchmark} by {self.metric}: {self.n_prompts} prompts × {self.n_models} models"


@dataclass(frozen=True)
class MatrixTest(MatrixResult):
    """Are prompts correlated beyond chance? ``histogram`` has the similarities behind it."""

    n_permutations: int
    histogram: tuple[HistogramRow, ...]

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": TestRow, "histogram": HistogramRow}


@dataclass(frozen=True)
class MatrixClusters(MatrixResult):
    """Clusters of prompts on which models succeed and fail alike (their table 3).

    Attributes:
        n_clusters: of the chosen clustering.
        silhouette: its mean silhouette.
        silhouette_permuted: mean of the best silhouettes of shuffled matrices.
        p_value: (1 + #{shuffled ≥ observed})/(1 + N).
        n_permutations: shuffled matrices N.
        clusters: the chosen ones.
        labels: cluster of each prompt from 0, by natural key of the prompts.
        distances: 1 − cosine of each prompt with its medoid.
        medoids: row of each cluster's medoid.
        prompts: what each prompt is called.
    """

    n_clusters: int
    silhouette: float | None
    silhouette_permuted: float | None
    p_value: float | None
    n_permutations: int
    clusters: tuple[ClusterRow, ...]
    labels: tuple[int, ...]
    distances: tuple[float, ...]
    medoids: tuple[int, ...]
    prompts: tuple[str, ...]

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": ClusterCountRow, "clusters": ClusterRow}


@dataclass(frozen=True)
class MatrixWeights(MatrixResult):
    """Scores and ranks when prompts do not weigh the same.

    Attributes:
        n_draws: random weightings.
        random: a row for each model.
        outranks: a row for each ordered pair of models.
        clustering: clusters behind the medoid and distance weights.
    """

    n_draws: int
    random: tuple[RandomWeightRow, ...]
    outranks: tuple[OutrankRow, ...]
    clustering: str

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": WeightRow, "random": RandomWeightRow, "outranks": OutrankRow}


@dataclass(frozen=True)
class MatrixGrowth(MatrixResult):
    """Scores while the benchmark grows; ``steps`` sums each size up."""

    steps: tuple[GrowthStep, ...]

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": GrowthRow, "steps": GrowthStep}


@dataclass(frozen=True)
class MatrixExplanation(MatrixResult):
    """Does what prompts ask explain on which of them models succeed? Largest β first.

    Attributes:
        embedder: whose vectors.
        intercept: whether regressions have one.
        n_permutations: N.
        n_without_vector: prompts of the matrix left out for want of a vector.
        n_undefined: prompts whose regression is not defined.
        share_fdr: share of the defined prompts with FDR below 0.05 and β above 0.
        mean_coefficient: mean β, ``_permuted`` over the permutations, and its one-sided p.
        ks_coefficient: distance of the β from all tables, its exact p, and the textbook's.
        ks_fdr: the same of the FDRs.
        mantel_r: correlation of the two similarities over pairs; one-sided p beside it.
    """

    embedder: str
    intercept: bool
    n_permutations: int
    n_without_vector: int
    n_undefined: int
    share_fdr: float | None
    mean_coefficient: float | None
    mean_coefficient_permuted: float | None
    p_mean_coefficient: float | None
    ks_coefficient: float | None
    p_ks_coefficient: float | None
    p_ks_coefficient_textbook: float | None
    ks_fdr: float | None
    p_ks_fdr: float | None
    p_ks_fdr_textbook: float | None
    mantel_r: float | None
    mantel_p: float | None

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": ExplainRow}
