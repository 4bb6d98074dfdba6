"""What the flags of figures mean, in words."""

from __future__ import annotations

from collections.abc import Iterable

MEANINGS = {
    "few_prompts": "too few prompts for the interval to be relied on",
    "few_skewed_prompts": "few prompts with skewed values: the t interval may cover too little",
    "few_informative_prompts": "too few prompts (10, by weight) have the higher or lower scores",
    "heavy_tailed_prompts": "few prompts, by weight, make up most of the error",
    "far_bound": "a few prompts at a far bound, missed by chance, would move the mean out",
    "few_differing_prompts": "the runs differ on fewer than 10 prompts, by weight",
    "few_clusters": "fewer than 20 clusters, by size (or weight): may cover too little",
    "skewed": "the mean is skewed: t and bootstrap-t differ, and the interval is wide enough for both",
    "weights_concentrated": "few prompts, by weight, make up the figure: the tail of the weights is hardly sampled",
    "weights_dominated": "one prompt (or cluster) holds a tenth of the weight or more: the figure is mostly its score",
    "prompts_without_weight": "prompts of weight 0 are left out",
    "unbounded_interval": "too few prompts (or clusters) vary for an interval",
    "few_skewed_clusters": "few clusters with skewed totals: the interval may cover too little",
    "few_informative_clusters": "too few clusters (11, by weight) have right and wrong answers",
    "heavy_tailed_clusters": "few clusters, by weight, make up most of the error",
    "few_differing_clusters": "the runs differ on fewer than 10 clusters, by weight",
    "prompts_outside_clusters": "prompts in no cluster count as clusters of one",
    "too_few_units": (
        "fewer than 6 prompts (or clusters) differ: p flip cannot go below 0.05, and p and the"
        " interval rest on these few"
    ),
    "single_prompt": "one prompt has no standard error",
    "single_cluster": "one cluster has no standard error",
    "all_scores_equal": "all scores are the same number",
    "leaves_without_spread": "a benchmark without any spread adds no error: the interval may be much too narrow",
    "all_differences_equal": "the difference is the same on every prompt: no error, no p",
    "zero_standard_error": "the error comes out as 0: no interval, no p",
    "no_repeated_draws_a": "a has one draw per prompt: how much its draws vary is unknown",
    "no_repeated_draws_b": "b has one draw per prompt: how much its draws vary is unknown",
    "within_imputed_a": "prompts of a with one draw take the mean variance of the others",
    "within_imputed_b": "prompts of b with one draw take the mean variance of the others",
}


def meanings(flags: Iterable[str]) -> list[str]:
    """``flag: meaning`` of each that is known, once, in the order of first mention."""
    return [f"{flag}: {MEANINGS[flag]}" for flag in dict.fromkeys(flags) if flag in MEANINGS]
