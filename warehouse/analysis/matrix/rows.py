"""Rows of the matrix analyses."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row


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
