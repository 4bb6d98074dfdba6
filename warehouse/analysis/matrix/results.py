"""Results of the matrix analyses: frozen, named fields, made of what JSON can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result, Row, StoredResult
from warehouse.stats.matrix.permutation import PermutedStatistic
from warehouse.tables.words import listed

#: Largest p of what is called shown.
SHOWN = 0.05


@dataclass(frozen=True)
class TestRow(Row, PermutedStatistic):
    """One statistic of one similarity (their table 2)."""


@dataclass(frozen=True)
class HistogramRow(Row):
    """Share of pairs in one bin of similarity."""

    similarity: str  #: which.
    low: float  #: lower edge.
    high: float  #: upper edge; belongs to the next bin, but for the last one.
    observed: float  #: share of pairs in the matrix.
    permuted: float  #: mean share over the permutations.


@dataclass(frozen=True)
class ClusterCountRow(Row):
    """Mean silhouette at one number of clusters."""

    n_clusters: int  #: clusters.
    silhouette: float | None  #: of the matrix, in [−1, 1].
    silhouette_permuted: float | None  #: mean of shuffled matrices.
    silhouette_permuted_high: float | None  #: the largest of theirs.
    chosen: bool  #: whether this number was taken.


@dataclass(frozen=True)
class ClusterRow(Row):
    """One cluster of the chosen clustering."""

    cluster: int  #: its number, from 1.
    n_prompts: int  #: size.
    medoid: str  #: the prompt that stands for it.
    mean_distance: float  #: mean 1 − cosine to the medoid.
    mean_score: float  #: mean score over prompts and models.
    text: str | None  #: of the medoid.


@dataclass(frozen=True)
class WeightRow(Row):
    """One model under one weighting (their figure 1)."""

    scheme: str  #: name of the weighting.
    model: str  #: which.
    score: float  #: weighted mean.
    rank: int  #: 1 = best.
    rank_change: int  #: rank by uniform weights minus this one: above 0 is a rise.
    effective_prompts: float  #: 1/Σw²: prompts of equal weight that say as much.


@dataclass(frozen=True)
class RandomWeightRow(Row):
    """One model over random weightings (their figures 3 and 11)."""

    model: str  #: which.
    uniform: float  #: score with equal weights.
    lowest: float  #: smallest score of any weighting drawn.
    low: float  #: 2.5 % quantile.
    median: float  #: 50 % quantile.
    high: float  #: 97.5 % quantile.
    highest: float  #: largest score.
    standard_deviation: float  #: over weightings, in closed form.
    best: float  #: share of weightings in which the model is best.


@dataclass(frozen=True)
class OutrankRow(Row):
    """How often one model is better than another over random weightings."""

    model: str  #: the row of their figure 3.
    other: str  #: its column.
    outranks: float  #: share of weightings; ties count for neither.


@dataclass(frozen=True)
class GrowthRow(Row):
    """One model's score at one size (their figures 2, 9, 10)."""

    order: str  #: ``informative`` or ``random``.
    size: int  #: prompts.
    model: str  #: which.
    score: float  #: mean over the first so many prompts.
    rank: int  #: 1 = best at this size.


@dataclass(frozen=True)
class GrowthStep(Row):
    """One size, over all models."""

    order: str  #: ``informative`` or ``random``.
    size: int  #: prompts.
    mean: float  #: mean score over models.
    largest_gap: float  #: largest difference of a model's score from that on all prompts.
    kendall_tau: float | None  #: τ-b of the models' scores with those on all prompts; None where undefined.
    last_prompt: str  #: the prompt added last.


@dataclass(frozen=True)
class ExplainRow(Row):
    """One prompt's regression of performance on semantic similarity."""

    prompt: str  #: what it is called.
    coefficient: float | None  #: β; None where not defined.
    t: float | None  #: β over its standard error.
    p_value: float | None  #: two-sided.
    fdr: float | None  #: Benjamini–Hochberg over prompts (descriptive: the tests depend on one another).
    text: str | None  #: of the prompt.


@dataclass(frozen=True)
class MatrixResult(StoredResult):
    """What all of them say of the matrix."""

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric.
    models: tuple[str, ...]  #: name of each column.
    n_prompts: int  #: rows of the matrix: prompts that every model has a score of.
    n_incomplete: int  #: prompts left out because a model lacks a score.
    seed: int  #: of what is random.
    #: sha256 of models, prompts and scores; see :attr:`warehouse.analysis.matrix.read.MatrixData.fingerprint`.
    matrix_fingerprint: str
    computed_at: str  #: when, ISO 8601 in UTC.
    notes: tuple[str, ...]  #: what a reader should know.
    rows: tuple[Any, ...]  #: the answer, one dataclass each.

    @property
    def n_models(self) -> int:
        """Columns of the matrix."""
        return len(self.models)

    @property
    def one_line(self) -> str:
        return f"{self.benchmark} by {self.metric}: {self.n_prompts} prompts × {self.n_models} models"


@dataclass(frozen=True)
class MatrixTest(MatrixResult):
    """Are prompts correlated beyond chance? ``histogram`` has the similarities behind it."""

    rows: tuple[TestRow, ...]
    n_permutations: int
    histogram: tuple[HistogramRow, ...]


@dataclass(frozen=True)
class MatrixClusters(MatrixResult):
    """Clusters of prompts on which models succeed and fail alike (their table 3)."""

    rows: tuple[ClusterCountRow, ...]
    n_clusters: int  #: of the chosen clustering.
    silhouette: float | None  #: its mean silhouette.
    silhouette_permuted: float | None  #: mean of the best silhouettes of shuffled matrices.
    p_value: float | None  #: (1 + #{shuffled ≥ observed})/(1 + N).
    n_permutations: int  #: shuffled matrices N.
    clusters: tuple[ClusterRow, ...]  #: the chosen ones.
    labels: tuple[int, ...]  #: cluster of each prompt from 0, by natural key of the prompts.
    distances: tuple[float, ...]  #: 1 − cosine of each prompt with its medoid.
    medoids: tuple[int, ...]  #: row of each cluster's medoid.
    prompts: tuple[str, ...]  #: what each prompt is called.


@dataclass(frozen=True)
class MatrixWeights(MatrixResult):
    """Scores and ranks when prompts do not weigh the same."""

    rows: tuple[WeightRow, ...]
    n_draws: int  #: random weightings.
    random: tuple[RandomWeightRow, ...]  #: a row for each model.
    outranks: tuple[OutrankRow, ...]  #: a row for each ordered pair of models.
    clustering: str  #: clusters behind the medoid and distance weights.


@dataclass(frozen=True)
class MatrixGrowth(MatrixResult):
    """Scores while the benchmark grows; ``steps`` sums each size up."""

    rows: tuple[GrowthRow, ...]
    steps: tuple[GrowthStep, ...]


@dataclass(frozen=True)
class MatrixExplanation(MatrixResult):
    """Does what prompts ask explain on which of them models succeed? Largest β first."""

    rows: tuple[ExplainRow, ...]
    embedder: str  #: whose vectors.
    intercept: bool  #: whether regressions have one.
    n_permutations: int  #: N.
    n_without_vector: int  #: prompts of the matrix left out for want of a vector.
    n_undefined: int  #: prompts whose regression is not defined.
    share_fdr: float | None  #: share of the defined prompts with FDR below 0.05 and β above 0.
    mean_coefficient: float | None  #: mean β, ``_permuted`` over the permutations, and its one-sided p.
    mean_coefficient_permuted: float | None
    p_mean_coefficient: float | None
    ks_coefficient: float | None  #: distance of the β from all tables, its exact p, and the textbook's.
    p_ks_coefficient: float | None
    p_ks_coefficient_textbook: float | None
    ks_fdr: float | None  #: the same of the FDRs.
    p_ks_fdr: float | None
    p_ks_fdr_textbook: float | None
    mantel_r: float | None  #: correlation of the two similarities over pairs; one-sided p beside it.
    mantel_p: float | None
    part: str = "prompt"  #: what of the prompts was embedded.


@dataclass(frozen=True)
class PartRow(Row):
    """What one part of the prompts explains."""

    part: str  #: ``prompt``, ``target``, ``choices`` or ``metadata.FIELD``.
    n_prompts: int  #: prompts with a vector of it: figures are over these.
    n_without_vector: int  #: prompts of the matrix without.
    mean_coefficient: float | None  #: mean β.
    mean_coefficient_permuted: float | None  #: the same over the permutations.
    p_value: float | None  #: one-sided, of the mean β.
    p_holm: float | None  #: the same after Holm, over the parts.
    share_fdr: float | None  #: share of prompts with FDR below 0.05 and β above 0.
    p_ks_coefficient: float | None  #: of the distribution of β.
    p_ks_fdr: float | None  #: of that of the FDRs.
    mantel_r: float | None  #: correlation of the two similarities over pairs.
    mantel_p: float | None  #: one-sided.


@dataclass(frozen=True)
class ExplainedParts(Result):
    """Explanations of one matrix by several parts of its prompts."""

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric.
    n_models: int  #: models.
    embedder: str  #: whose vectors.
    n_permutations: int  #: N.
    rows: tuple[PartRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.

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
