"""The performance matrix Q, prompts × models (Siska et al. 2024, statistics.md §7)."""

from __future__ import annotations

from warehouse.stats.matrix.clustering import ClusterSearch as ClusterSearch
from warehouse.stats.matrix.clustering import cluster_search as cluster_search
from warehouse.stats.matrix.explain import Explanation as Explanation
from warehouse.stats.matrix.explain import Mantel as Mantel
from warehouse.stats.matrix.explain import PromptCoefficients as PromptCoefficients
from warehouse.stats.matrix.explain import explain as explain
from warehouse.stats.matrix.explain import mantel as mantel
from warehouse.stats.matrix.explain import prompt_coefficients as prompt_coefficients
from warehouse.stats.matrix.kmeans import Clustering as Clustering
from warehouse.stats.matrix.kmeans import medoids as medoids
from warehouse.stats.matrix.kmeans import silhouette as silhouette
from warehouse.stats.matrix.permutation import PermutationTest as PermutationTest
from warehouse.stats.matrix.permutation import permutation_test as permutation_test
from warehouse.stats.matrix.similarity import SimilaritySummary as SimilaritySummary
from warehouse.stats.matrix.similarity import (
    summarise_similarity as summarise_similarity,
)
from warehouse.stats.matrix.weights import Growth as Growth
from warehouse.stats.matrix.weights import RandomWeights as RandomWeights
from warehouse.stats.matrix.weights import WeightedScores as WeightedScores
from warehouse.stats.matrix.weights import grow as grow
from warehouse.stats.matrix.weights import random_weights as random_weights
from warehouse.stats.matrix.weights import weighted_scores as weighted_scores
