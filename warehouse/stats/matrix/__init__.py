"""The performance matrix Q, prompts × models (Siska et al. 2024, statistics.md §7)."""

from __future__ import annotations

from warehouse.stats.matrix.clustering import ClusterSearch, cluster_search
from warehouse.stats.matrix.explain import Explanation, Mantel, PromptCoefficients, explain, mantel, prompt_coefficients
from warehouse.stats.matrix.kmeans import Clustering, medoids, silhouette, spherical_kmeans
from warehouse.stats.matrix.permutation import PermutationTest, permutation_test
from warehouse.stats.matrix.similarity import SimilaritySummary, mean_cosine, summarise_similarity
from warehouse.stats.matrix.weights import Growth, RandomWeights, WeightedScores, grow, random_weights, weighted_scores

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
