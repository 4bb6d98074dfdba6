"""The performance matrix Q, prompts × models (Siska et al. 2024, statistics.md §7)."""

from __future__ import annotations

from warehouse.stats.matrix.clustering import ClusterSearch, cluster_search
from warehouse.stats.matrix.explain import Explanation, Mantel, explain, mantel
from warehouse.stats.matrix.grow import Growth, grow
from warehouse.stats.matrix.kmeans import Clustering, spherical_kmeans
from warehouse.stats.matrix.permutation import PermutationTest, permutation_test
from warehouse.stats.matrix.regression import PromptCoefficients, prompt_coefficients
from warehouse.stats.matrix.silhouettes import medoids, silhouette
from warehouse.stats.matrix.similarity import SimilaritySummary, mean_cosine, summarise_similarity
from warehouse.stats.matrix.weights import RandomWeights, WeightedScores, random_weights, weighted_scores

__all__ = [
    "ClusterSearch",
    "Clustering",
    "Explanation",
    "Growth",
    "Mantel",
    "PermutationTest",
    "PromptCoefficients",
    "RandomWeights",
    "SimilaritySummary",
    "WeightedScores",
    "cluster_search",
    "explain",
    "grow",
    "mantel",
    "mean_cosine",
    "medoids",
    "permutation_test",
    "prompt_coefficients",
    "random_weights",
    "silhouette",
    "spherical_kmeans",
    "summarise_similarity",
    "weighted_scores",
]
