"""Pure numerics: arrays in, frozen dataclass out. No frame, no connection, no printing.

Definitions and sources are in the docstrings (Miller 2024 for most of them); anything that
cannot be computed is None with a reason, and missing or infinite scores are refused.

A module is imported when one of its names is first asked for: no program needs them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse.stats.adjust import benjamini_hochberg as benjamini_hochberg
    from warehouse.stats.adjust import holm as holm
    from warehouse.stats.betting import interval_betting as interval_betting
    from warehouse.stats.bootstrap import interval_bootstrap as interval_bootstrap
    from warehouse.stats.clustered import ClusterRobust as ClusterRobust
    from warehouse.stats.clustered import cluster_robust as cluster_robust
    from warehouse.stats.clustered import standard_error_clustered as standard_error_clustered
    from warehouse.stats.components import VarianceComponents as VarianceComponents
    from warehouse.stats.components import variance_components as variance_components
    from warehouse.stats.consistency import Consistency as Consistency
    from warehouse.stats.consistency import proportion_intervals as proportion_intervals
    from warehouse.stats.consistency import semantic_consistency as semantic_consistency
    from warehouse.stats.crossed import CrossedVariance as CrossedVariance
    from warehouse.stats.crossed import crossed_variance as crossed_variance
    from warehouse.stats.defaults import IntervalChoice as IntervalChoice
    from warehouse.stats.defaults import choose_interval as choose_interval
    from warehouse.stats.designs import BestDesign as BestDesign
    from warehouse.stats.designs import Cost as Cost
    from warehouse.stats.designs import best_for_budget as best_for_budget
    from warehouse.stats.designs import cheapest_design as cheapest_design
    from warehouse.stats.designs import plan_table as plan_table
    from warehouse.stats.draws import PromptDraws as PromptDraws
    from warehouse.stats.draws import prompt_draws as prompt_draws
    from warehouse.stats.draws import single_draw_scores as single_draw_scores
    from warehouse.stats.draws import summarise_draws as summarise_draws
    from warehouse.stats.effective import (
        interval_clopper_pearson_effective as interval_clopper_pearson_effective,
    )
    from warehouse.stats.gaffke import interval_gaffke as interval_gaffke
    from warehouse.stats.intervals import interval_clopper_pearson as interval_clopper_pearson
    from warehouse.stats.intervals import interval_jeffreys as interval_jeffreys
    from warehouse.stats.intervals import interval_normal as interval_normal
    from warehouse.stats.intervals import interval_t as interval_t
    from warehouse.stats.intervals import interval_wilson as interval_wilson
    from warehouse.stats.intervals import interval_wilson_bounded as interval_wilson_bounded
    from warehouse.stats.korn_graubard import interval_korn_graubard as interval_korn_graubard
    from warehouse.stats.margins import EquivalenceTest as EquivalenceTest
    from warehouse.stats.margins import NonInferiorityTest as NonInferiorityTest
    from warehouse.stats.margins import equivalence_test as equivalence_test
    from warehouse.stats.margins import noninferiority_test as noninferiority_test
    from warehouse.stats.mean import estimate_mean as estimate_mean
    from warehouse.stats.medoids import Medoids as Medoids
    from warehouse.stats.medoids import find_medoids as find_medoids
    from warehouse.stats.missing import MissingBounds as MissingBounds
    from warehouse.stats.missing import missing_bounds as missing_bounds
    from warehouse.stats.moments import standard_error_bernoulli as standard_error_bernoulli
    from warehouse.stats.moments import standard_error_clt as standard_error_clt
    from warehouse.stats.neighbours import NearPairs as NearPairs
    from warehouse.stats.neighbours import Neighbours as Neighbours
    from warehouse.stats.neighbours import near_pairs as near_pairs
    from warehouse.stats.neighbours import nearest as nearest
    from warehouse.stats.paired import paired_difference as paired_difference
    from warehouse.stats.paired import paired_flags as paired_flags
    from warehouse.stats.paired_fixed import (
        paired_difference_prompts_fixed as paired_difference_prompts_fixed,
    )
    from warehouse.stats.paired_tests import McNemarTest as McNemarTest
    from warehouse.stats.paired_tests import WilcoxonTest as WilcoxonTest
    from warehouse.stats.paired_tests import mcnemar_test as mcnemar_test
    from warehouse.stats.paired_tests import wilcoxon_test as wilcoxon_test
    from warehouse.stats.pairs import AllPairs as AllPairs
    from warehouse.stats.pairs import all_pairs as all_pairs
    from warehouse.stats.pass_rates import PassRate as PassRate
    from warehouse.stats.pass_rates import pass_at_k as pass_at_k
    from warehouse.stats.pass_rates import pass_at_k_by_prompt as pass_at_k_by_prompt
    from warehouse.stats.pass_rates import pass_hat_k as pass_hat_k
    from warehouse.stats.pass_rates import pass_hat_k_by_prompt as pass_hat_k_by_prompt
    from warehouse.stats.pilot import Pilot as Pilot
    from warehouse.stats.pilot import plan_from_one as plan_from_one
    from warehouse.stats.pilot import plan_from_pilot as plan_from_pilot
    from warehouse.stats.planning import Plan as Plan
    from warehouse.stats.planning import Power as Power
    from warehouse.stats.planning import VarianceParts as VarianceParts
    from warehouse.stats.planning import minimum_detectable_effect as minimum_detectable_effect
    from warehouse.stats.planning import power_of as power_of
    from warehouse.stats.planning import sample_size as sample_size
    from warehouse.stats.prompts_fixed import FixedPromptsEstimate as FixedPromptsEstimate
    from warehouse.stats.prompts_fixed import (
        estimate_mean_prompts_fixed as estimate_mean_prompts_fixed,
    )
    from warehouse.stats.ranks import Ranks as Ranks
    from warehouse.stats.ranks import rank_models as rank_models
    from warehouse.stats.results import Estimate as Estimate
    from warehouse.stats.results import Interval as Interval
    from warehouse.stats.results import PairedDifference as PairedDifference
    from warehouse.stats.results import UnpairedDifference as UnpairedDifference
    from warehouse.stats.sign_flip import SignFlipTest as SignFlipTest
    from warehouse.stats.sign_flip import sign_flip_test as sign_flip_test
    from warehouse.stats.sign_flip import too_few_units as too_few_units
    from warehouse.stats.single_draws import SingleDrawRange as SingleDrawRange
    from warehouse.stats.single_draws import delta_k1 as delta_k1
    from warehouse.stats.single_draws import expected_range as expected_range
    from warehouse.stats.single_draws import single_draw_range as single_draw_range
    from warehouse.stats.suite_cells import Cell as Cell
    from warehouse.stats.suite_cells import leaf_cell as leaf_cell
    from warehouse.stats.suite_cells import published_cell as published_cell
    from warehouse.stats.suite_pairs import SuitePairs as SuitePairs
    from warehouse.stats.suite_pairs import compare_suites as compare_suites
    from warehouse.stats.suites import SuiteEstimate as SuiteEstimate
    from warehouse.stats.suites import combine_leaves as combine_leaves
    from warehouse.stats.unpaired import unpaired_difference as unpaired_difference
    from warehouse.stats.wild import WildBootstrapTest as WildBootstrapTest
    from warehouse.stats.wild import interval_wild_bootstrap as interval_wild_bootstrap
    from warehouse.stats.wild import wild_bootstrap_test as wild_bootstrap_test

#: Module -> the names that it adds; the same as the imports above, which type checkers read.
_NAMES = {
    "adjust": "benjamini_hochberg holm",
    "betting": "interval_betting",
    "bootstrap": "interval_bootstrap",
    "clustered": "ClusterRobust cluster_robust standard_error_clustered",
    "components": "VarianceComponents variance_components",
    "consistency": "Consistency proportion_intervals semantic_consistency",
    "crossed": "CrossedVariance crossed_variance",
    "defaults": "IntervalChoice choose_interval",
    "designs": "BestDesign Cost best_for_budget cheapest_design plan_table",
    "draws": "PromptDraws prompt_draws single_draw_scores summarise_draws",
    "effective": "interval_clopper_pearson_effective",
    "gaffke": "interval_gaffke",
    "intervals": "interval_clopper_pearson interval_jeffreys interval_normal interval_t"
    " interval_wilson interval_wilson_bounded",
    "korn_graubard": "interval_korn_graubard",
    "margins": "EquivalenceTest NonInferiorityTest equivalence_test noninferiority_test",
    "mean": "estimate_mean",
    "medoids": "Medoids find_medoids",
    "missing": "MissingBounds missing_bounds",
    "moments": "standard_error_bernoulli standard_error_clt",
    "neighbours": "NearPairs Neighbours near_pairs nearest",
    "paired": "paired_difference paired_flags",
    "paired_fixed": "paired_difference_prompts_fixed",
    "paired_tests": "McNemarTest WilcoxonTest mcnemar_test wilcoxon_test",
    "pairs": "AllPairs all_pairs",
    "pass_rates": "PassRate pass_at_k pass_at_k_by_prompt pass_hat_k pass_hat_k_by_prompt",
    "pilot": "Pilot plan_from_one plan_from_pilot",
    "planning": "Plan Power VarianceParts minimum_detectable_effect power_of sample_size",
    "prompts_fixed": "FixedPromptsEstimate estimate_mean_prompts_fixed",
    "ranks": "Ranks rank_models",
    "results": "Estimate Interval PairedDifference UnpairedDifference",
    "sign_flip": "SignFlipTest sign_flip_test too_few_units",
    "single_draws": "SingleDrawRange delta_k1 expected_range single_draw_range",
    "suite_cells": "Cell leaf_cell published_cell",
    "suite_pairs": "SuitePairs compare_suites",
    "suites": "SuiteEstimate combine_leaves",
    "unpaired": "unpaired_difference",
    "wild": "WildBootstrapTest interval_wild_bootstrap wild_bootstrap_test",
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
