"""Pure numerics: arrays in, frozen dataclass out. No frame, no connection, no printing.

Definitions and sources are in the docstrings (Miller 2024 for most of them); anything that
cannot be computed is None with a reason, and missing or infinite scores are refused.

A module is imported when one of its names is first asked for: no program needs them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse.stats.core.draws import PromptDraws as PromptDraws
    from warehouse.stats.core.draws import prompt_draws as prompt_draws
    from warehouse.stats.core.draws import single_draw_scores as single_draw_scores
    from warehouse.stats.core.draws import summarise_draws as summarise_draws
    from warehouse.stats.core.moments import standard_error_bernoulli as standard_error_bernoulli
    from warehouse.stats.core.moments import standard_error_clt as standard_error_clt
    from warehouse.stats.core.results import Estimate as Estimate
    from warehouse.stats.core.results import Interval as Interval
    from warehouse.stats.core.results import PairedDifference as PairedDifference
    from warehouse.stats.core.results import UnpairedDifference as UnpairedDifference
    from warehouse.stats.intervals.betting import interval_betting as interval_betting
    from warehouse.stats.intervals.bootstrap import interval_bootstrap as interval_bootstrap
    from warehouse.stats.intervals.closed_form import interval_clopper_pearson as interval_clopper_pearson
    from warehouse.stats.intervals.closed_form import interval_jeffreys as interval_jeffreys
    from warehouse.stats.intervals.closed_form import interval_normal as interval_normal
    from warehouse.stats.intervals.closed_form import interval_t as interval_t
    from warehouse.stats.intervals.closed_form import interval_wilson as interval_wilson
    from warehouse.stats.intervals.closed_form import interval_wilson_bounded as interval_wilson_bounded
    from warehouse.stats.intervals.cluster_robust import ClusterRobust as ClusterRobust
    from warehouse.stats.intervals.cluster_robust import cluster_robust as cluster_robust
    from warehouse.stats.intervals.cluster_robust import standard_error_clustered as standard_error_clustered
    from warehouse.stats.intervals.defaults import IntervalChoice as IntervalChoice
    from warehouse.stats.intervals.defaults import choose_interval as choose_interval
    from warehouse.stats.intervals.effective_clopper_pearson import (
        interval_clopper_pearson_effective as interval_clopper_pearson_effective,
    )
    from warehouse.stats.intervals.estimate_mean import estimate_mean as estimate_mean
    from warehouse.stats.intervals.gaffke import interval_gaffke as interval_gaffke
    from warehouse.stats.intervals.korn_graubard import interval_korn_graubard as interval_korn_graubard
    from warehouse.stats.intervals.missing_bounds import MissingBounds as MissingBounds
    from warehouse.stats.intervals.missing_bounds import missing_bounds as missing_bounds
    from warehouse.stats.intervals.prompts_fixed import FixedPromptsEstimate as FixedPromptsEstimate
    from warehouse.stats.intervals.prompts_fixed import estimate_mean_prompts_fixed as estimate_mean_prompts_fixed
    from warehouse.stats.intervals.wild_cluster_bootstrap import WildBootstrapTest as WildBootstrapTest
    from warehouse.stats.intervals.wild_cluster_bootstrap import interval_wild_bootstrap as interval_wild_bootstrap
    from warehouse.stats.intervals.wild_cluster_bootstrap import wild_bootstrap_test as wild_bootstrap_test
    from warehouse.stats.multiple.adjust import benjamini_hochberg as benjamini_hochberg
    from warehouse.stats.multiple.adjust import holm as holm
    from warehouse.stats.multiple.all_pairs import AllPairs as AllPairs
    from warehouse.stats.multiple.all_pairs import all_pairs as all_pairs
    from warehouse.stats.multiple.ranks import Ranks as Ranks
    from warehouse.stats.multiple.ranks import rank_models as rank_models
    from warehouse.stats.paired.margins import EquivalenceTest as EquivalenceTest
    from warehouse.stats.paired.margins import NonInferiorityTest as NonInferiorityTest
    from warehouse.stats.paired.margins import equivalence_test as equivalence_test
    from warehouse.stats.paired.margins import noninferiority_test as noninferiority_test
    from warehouse.stats.paired.mcnemar_wilcoxon import McNemarTest as McNemarTest
    from warehouse.stats.paired.mcnemar_wilcoxon import WilcoxonTest as WilcoxonTest
    from warehouse.stats.paired.mcnemar_wilcoxon import mcnemar_test as mcnemar_test
    from warehouse.stats.paired.mcnemar_wilcoxon import wilcoxon_test as wilcoxon_test
    from warehouse.stats.paired.paired import paired_difference as paired_difference
    from warehouse.stats.paired.paired import paired_flags as paired_flags
    from warehouse.stats.paired.prompts_fixed import paired_difference_prompts_fixed as paired_difference_prompts_fixed
    from warehouse.stats.paired.sign_flip import SignFlipTest as SignFlipTest
    from warehouse.stats.paired.sign_flip import sign_flip_test as sign_flip_test
    from warehouse.stats.paired.sign_flip import too_few_units as too_few_units
    from warehouse.stats.paired.unpaired import unpaired_difference as unpaired_difference
    from warehouse.stats.power.designs import BestDesign as BestDesign
    from warehouse.stats.power.designs import Cost as Cost
    from warehouse.stats.power.designs import best_for_budget as best_for_budget
    from warehouse.stats.power.designs import cheapest_design as cheapest_design
    from warehouse.stats.power.designs import plan_table as plan_table
    from warehouse.stats.power.pilot import Pilot as Pilot
    from warehouse.stats.power.pilot import plan_from_one as plan_from_one
    from warehouse.stats.power.pilot import plan_from_pilot as plan_from_pilot
    from warehouse.stats.power.power import Plan as Plan
    from warehouse.stats.power.power import Power as Power
    from warehouse.stats.power.power import VarianceParts as VarianceParts
    from warehouse.stats.power.power import minimum_detectable_effect as minimum_detectable_effect
    from warehouse.stats.power.power import power_of as power_of
    from warehouse.stats.power.power import sample_size as sample_size
    from warehouse.stats.similarity.medoids import Medoids as Medoids
    from warehouse.stats.similarity.medoids import find_medoids as find_medoids
    from warehouse.stats.similarity.neighbours import NearPairs as NearPairs
    from warehouse.stats.similarity.neighbours import Neighbours as Neighbours
    from warehouse.stats.similarity.neighbours import near_pairs as near_pairs
    from warehouse.stats.similarity.neighbours import nearest as nearest
    from warehouse.stats.suites.cells import Cell as Cell
    from warehouse.stats.suites.cells import leaf_cell as leaf_cell
    from warehouse.stats.suites.cells import published_cell as published_cell
    from warehouse.stats.suites.pairs import SuitePairs as SuitePairs
    from warehouse.stats.suites.pairs import compare_suites as compare_suites
    from warehouse.stats.suites.weighted_mean import SuiteEstimate as SuiteEstimate
    from warehouse.stats.suites.weighted_mean import combine_leaves as combine_leaves
    from warehouse.stats.variance.components import VarianceComponents as VarianceComponents
    from warehouse.stats.variance.components import variance_components as variance_components
    from warehouse.stats.variance.consistency import Consistency as Consistency
    from warehouse.stats.variance.consistency import proportion_intervals as proportion_intervals
    from warehouse.stats.variance.consistency import semantic_consistency as semantic_consistency
    from warehouse.stats.variance.crossed import CrossedVariance as CrossedVariance
    from warehouse.stats.variance.crossed import crossed_variance as crossed_variance
    from warehouse.stats.variance.pass_at_k import PassRate as PassRate
    from warehouse.stats.variance.pass_at_k import pass_at_k as pass_at_k
    from warehouse.stats.variance.pass_at_k import pass_at_k_by_prompt as pass_at_k_by_prompt
    from warehouse.stats.variance.pass_at_k import pass_hat_k as pass_hat_k
    from warehouse.stats.variance.pass_at_k import pass_hat_k_by_prompt as pass_hat_k_by_prompt
    from warehouse.stats.variance.single_draws import SingleDrawRange as SingleDrawRange
    from warehouse.stats.variance.single_draws import delta_k1 as delta_k1
    from warehouse.stats.variance.single_draws import expected_range as expected_range
    from warehouse.stats.variance.single_draws import single_draw_range as single_draw_range

#: Module -> the names that it adds; the same as the imports above, which type checkers read.
_NAMES = {
    "multiple.adjust": "benjamini_hochberg holm",
    "intervals.betting": "interval_betting",
    "intervals.bootstrap": "interval_bootstrap",
    "intervals.cluster_robust": "ClusterRobust cluster_robust standard_error_clustered",
    "variance.components": "VarianceComponents variance_components",
    "variance.consistency": "Consistency proportion_intervals semantic_consistency",
    "variance.crossed": "CrossedVariance crossed_variance",
    "intervals.defaults": "IntervalChoice choose_interval",
    "power.designs": "BestDesign Cost best_for_budget cheapest_design plan_table",
    "core.draws": "PromptDraws prompt_draws single_draw_scores summarise_draws",
    "intervals.effective_clopper_pearson": "interval_clopper_pearson_effective",
    "intervals.gaffke": "interval_gaffke",
    "intervals.closed_form": "interval_clopper_pearson interval_jeffreys interval_normal interval_t"
    " interval_wilson interval_wilson_bounded",
    "intervals.korn_graubard": "interval_korn_graubard",
    "paired.margins": "EquivalenceTest NonInferiorityTest equivalence_test noninferiority_test",
    "intervals.estimate_mean": "estimate_mean",
    "similarity.medoids": "Medoids find_medoids",
    "intervals.missing_bounds": "MissingBounds missing_bounds",
    "core.moments": "standard_error_bernoulli standard_error_clt",
    "similarity.neighbours": "NearPairs Neighbours near_pairs nearest",
    "paired.paired": "paired_difference paired_flags",
    "paired.prompts_fixed": "paired_difference_prompts_fixed",
    "paired.mcnemar_wilcoxon": "McNemarTest WilcoxonTest mcnemar_test wilcoxon_test",
    "multiple.all_pairs": "AllPairs all_pairs",
    "variance.pass_at_k": "PassRate pass_at_k pass_at_k_by_prompt pass_hat_k pass_hat_k_by_prompt",
    "power.pilot": "Pilot plan_from_one plan_from_pilot",
    "power.power": "Plan Power VarianceParts minimum_detectable_effect power_of sample_size",
    "intervals.prompts_fixed": "FixedPromptsEstimate estimate_mean_prompts_fixed",
    "multiple.ranks": "Ranks rank_models",
    "core.results": "Estimate Interval PairedDifference UnpairedDifference",
    "paired.sign_flip": "SignFlipTest sign_flip_test too_few_units",
    "variance.single_draws": "SingleDrawRange delta_k1 expected_range single_draw_range",
    "suites.cells": "Cell leaf_cell published_cell",
    "suites.pairs": "SuitePairs compare_suites",
    "suites.weighted_mean": "SuiteEstimate combine_leaves",
    "paired.unpaired": "unpaired_difference",
    "intervals.wild_cluster_bootstrap": "WildBootstrapTest interval_wild_bootstrap wild_bootstrap_test",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """The name, from its module; kept, so that this happens once."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
