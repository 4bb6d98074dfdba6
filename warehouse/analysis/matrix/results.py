"""Results of the matrix analyses: frozen, named fields, made of what JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.results import Result, Row, StoredResult
from warehouse.tables.words import listed

#: Largest p of what is called shown.
SHOWN = 0.05


@dataclass(frozen=True)
class TestRow(Row):
    """One statistic of one similarity (their table 2).

    Attributes:
        similarity: ``hamming``, ``cosine`` or ``jaccard``.
        statistic: ``mean``, ``percentile_75``, ``percentile_95`` or ``ks``.
        observed: in the matrix.
        permuted_mean: mean over the permutations.
        permuted_low: their 2.5 % quantile.
        permuted_high: their 97.5 % quantile.
        p_value: (1 + #{permuted ≥ observed})/(1 + N).
        p_textbook: of ``ks``: with pairs taken as independent, as in the paper; too small.
        reason: what to know about it.
    """

    similarity: str
    statistic: str
    observed: float
    permuted_mean: float
    permuted_low: float
    permuted_high: float
    p_value: float
    p_textbook: float | None
    reason: str


@dataclass(frozen=True)
class HistogramRow(Row):
    """Share of pairs in one bin of similarity.

    Attributes:
        similarity: which.
        low: lower edge.
        high: upper edge; belongs to the next bin, but for the last one.
        observed: share of pairs in the matrix.
        permuted: mean share over the permutations.
    """

    similarity: str
    low: float
    high: float
    observed: float
    permuted: float


@dataclass(frozen=True)
class ClusterCountRow(Row):
    """Mean silhouette at one number of clusters.

    Attributes:
        n_clusters: clusters.
        silhouette: of the matrix, in [−1, 1].
        silhouette_permuted: mean of shuffled matrices.
        silhouette_permuted_high: the largest of theirs.
        chosen: whether this number was taken.
    """

    n_clusters: int
    silhouette: float | None
    silhouette_permuted: float | None
    silhouette_permuted_high: float | None
    chosen: bool


@dataclass(frozen=True)
class ClusterRow(Row):
    """One cluster of the chosen clustering.

    Attributes:
        cluster: its number, from 1.
        n_prompts: size.
        medoid: the prompt that stands for it.
        mean_distance: mean 1 − cosine to the medoid.
        mean_score: mean score over prompts and models.
        text: of the medoid.
    """

    cluster: int
    n_prompts: int
    medoid: str
    mean_distance: float
    mean_score: float
    text: str | None


@dataclass(frozen=True)
class WeightRow(Row):
    """One model under one weighting (their figure 1).

    Attributes:
        scheme: name of the weighting.
        model: which.
        score: weighted mean.
        rank: 1 = best.
        rank_change: rank by uniform weights minus this one: above 0 is a rise.
        effective_prompts: 1/Σw²: prompts of equal weight that say as much.
    """

    scheme: str
    model: str
    score: float
    rank: int
    rank_change: int
    effective_prompts: float


@dataclass(frozen=True)
class RandomWeightRow(Row):
    """One model over random weightings (their figures 3 and 11).

    Attributes:
        model: which.
        uniform: score with equal weights.
        lowest: smallest score of any weighting drawn.
        low: 2.5 % quantile.
        median: 50 % quantile.
        high: 97.5 % quantile.
        highest: largest score.
        standard_deviation: over weightings, in closed form.
        best: share of weightings in which the model is best.
    """

    model: str
    uniform: float
    lowest: float
    low: float
    median: float
    high: float
    highest: float
    standard_deviation: float
    best: float


@dataclass(frozen=True)
class OutrankRow(Row):
    """How often one model is better than another over random weightings.

    Attributes:
        model: the row of their figure 3.
        other: its column.
        outranks: share of weightings; ties count for neither.
    """

    model: str
    other: str
    outranks: float


@dataclass(frozen=True)
class GrowthRow(Row):
    """One model's score at one size (their figures 2, 9, 10).

    Attributes:
        order: ``informative`` or ``random``.
        size: prompts.
        model: which.
        score: mean over the first so many prompts.
        rank: 1 = best at this size.
    """

    order: str
    size: int
    model: str
    score: float
    rank: int


@dataclass(frozen=True)
class GrowthStep(Row):
    """One size, over all models.

    Attributes:
        order: ``informative`` or ``random``.
        size: prompts.
        mean: mean score over models.
        largest_gap: largest difference of a model's score from that on all prompts.
        kendall_tau: τ-b of the models' scores with those on all prompts; None where undefined.
        last_prompt: the prompt added last.
    """

    order: str
    size: int
    mean: float
    largest_gap: float
    kendall_tau: float | None
    last_prompt: str


@dataclass(frozen=True)
class ExplainRow(Row):
    """One prompt's regression of performance on semantic similarity.

    Attributes:
        prompt: what it is called.
        coefficient: β; None where not defined.
        t: β over its standard error.
        p_value: two-sided.
        fdr: Benjamini–Hochberg over prompts (descriptive: the tests depend on one another).
        text: of the prompt.
    """

    prompt: str
    coefficient: float | None
    t: float | None
    p_value: float | None
    fdr: float | None
    text: str | None


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
        part: what of the prompts was embedded.
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
    part: str = "prompt"

    ROWS: ClassVar[Mapping[str, type[Row]]] = {"rows": ExplainRow}


@dataclass(frozen=True)
class PartRow(Row):
    """What one part of the prompts explains.

    Attributes:
        part: ``prompt``, ``target``, ``choices`` or ``metadata.FIELD``.
        n_prompts: prompts with a vector of it: figures are over these.
        n_without_vector: prompts of the matrix without.
        mean_coefficient: mean β.
        mean_coefficient_permuted: the same over the permutations.
        p_value: one-sided, of the mean β.
        p_holm: the same after Holm, over the parts.
        share_fdr: share of prompts with FDR below 0.05 and β above 0.
        p_ks_coefficient: of the distribution of β.
        p_ks_fdr: of that of the FDRs.
        mantel_r: correlation of the two similarities over pairs.
        mantel_p: one-sided.
    """

    part: str
    n_prompts: int
    n_without_vector: int
    mean_coefficient: float | None
    mean_coefficient_permuted: float | None
    p_value: float | None
    p_holm: float | None
    share_fdr: float | None
    p_ks_coefficient: float | None
    p_ks_fdr: float | None
    mantel_r: float | None
    mantel_p: float | None


@dataclass(frozen=True)
class ExplainedParts(Result):
    """Explanations of one matrix by several parts of its prompts.

    Attributes:
        benchmark: name of the benchmark.
        metric: name of the metric.
        n_models: models.
        embedder: whose vectors.
        n_permutations: N.
        notes: what a reader should know.
    """

    ROW = PartRow

    benchmark: str
    metric: str
    n_models: int
    embedder: str
    n_permutations: int
    rows: tuple[PartRow, ...]
    notes: tuple[str, ...]

    @property
    def one_line(self) -> str:
        """Which parts explain performance, in a sentence."""
        found = [row for row in self.rows if row.p_holm is not None and row.p_holm <= SHOWN]
        both = [row.part for row in found if row.mantel_p is not None and row.mantel_p <= SHOWN]
        only = [row.part for row in found if row.part not in both]
        said = [f"prompts alike in {listed(both)} have scores alike"] if both else []
        said += (
            [f"prompts alike in {listed(only)} have scores alike one by one, not over all pairs (Mantel)"]
            if only
            else []
        )
        what = "; ".join(said) or "no part is shown to go with scores"
        return (
            f"{self.benchmark} by {self.metric}, {self.n_models} models: {what}"
            f" (p after Holm over {len(self.rows)} parts at most {SHOWN:g})"
        )
