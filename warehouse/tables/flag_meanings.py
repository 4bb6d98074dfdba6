"""Flags of figures, each with its meaning in words."""

from __future__ import annotations

from collections.abc import Iterable

#: Where scores of some look like shares of 1, those of others like per cent.
MIXED_SCALES = "mixed_scales"
UNEQUAL_PROMPTS = "unequal_prompts"
IF_LIKE_PROMPTS = ", if the prompts that some lack are as hard as the others"
IF_ONE_SCALE = ", if all scores are on one scale"

MEANINGS = {
    "few_disagreements": (
        "judge and people disagree on so few units that little is known of how often "
        "they do"
    ),
    "overlapping": "a prompt may be in several of these slices",
    "few_prompts": "too few prompts for the interval to be relied on",
    "few_skewed_prompts": (
        "few prompts with skewed values: the t interval may cover too little"
    ),
    "few_informative_prompts": (
        "too few prompts (10, by weight) have the higher or lower scores"
    ),
    "heavy_tailed_prompts": "few prompts, by weight, make up most of the error",
    "few_seeds": (
        "fewer than 29 seeds may lack one in ten that fails: intervals and noise floor "
        "suppose that none does"
    ),
    "one_seed": "one training seed: how far another would land is not known",
    "two_seeds": "two seeds: their spread rests on a single difference",
    "seeds_dominate": (
        "most of this interval comes from having few seeds: more seeds narrow it, more "
        "questions do not"
    ),
    "seeds_too_few": "too few seeds for an interval, and for a place",
    "repeats_differ": (
        "runs claim the same settings, but differ by more than chance: something else "
        "changed"
    ),
    "repeats_doubtful": (
        "runs of the same settings may differ by more than chance: they count like "
        "seeds"
    ),
    "scored_differently": (
        "runs score equal responses differently: two scorers, no draws of one another"
    ),
    "draws_in_order": (
        "the draws of a prompt stand in an order: the k-th draw is no run"
    ),
    "greedy_differs": "temperature 0, yet runs scored otherwise",
    "last_partial": (
        "a later checkpoint was scored in part only: the row is the last whole one"
    ),
    "mixed_lengths": (
        "some seeds go on further: the row is the last checkpoint that all have"
    ),
    "infinite": "some scores are infinite, and so is their mean",
    "far_bound": (
        "a few prompts at a far bound, missed by chance, would move the mean out"
    ),
    "few_differing_prompts": "the runs differ on fewer than 10 prompts, by weight",
    "few_positives": "fewer than 10 prompts (of precision: answers) of the class",
    "rare_class": "a class has fewer than 5 prompts, and counts as much as any other",
    "few_differing": (
        "the answers differ on fewer than 10 prompts: too few for a verdict"
    ),
    "heavy_tails": "a few numbers lie far out: only the correlation of ranks holds",
    "few_clusters": "fewer than 20 clusters, by size (or weight): may cover too little",
    UNEQUAL_PROMPTS: "figures rest on fewer or other prompts than others: they also differ by how hard those are",
    MIXED_SCALES: "scores of 0 to 1 beside others of up to 100: per cent?",
    "skewed": (
        "the mean is skewed: t and bootstrap-t differ, and the interval is wide enough "
        "for both"
    ),
    "weights_concentrated": (
        "few prompts, by weight, make up the figure: the tail of the weights is hardly "
        "sampled"
    ),
    "weights_dominated": (
        "one prompt (or cluster) holds a tenth of the weight or more: the figure is "
        "mostly its score"
    ),
    "prompts_without_weight": "prompts of weight 0 are left out",
    "heavy_tail": (
        "costs are so skewed for so few prompts (or clusters) that their interval is "
        "too short"
    ),
    "skew_gate": (
        "costs are too skewed for a verdict on who is cheaper, in some of its pairs"
    ),
    "missing_cost": "prompts of which no cost is known are left out",
    "unbounded": "so little is solved that cost per solved has no upper end",
    "whole_line": "so little is solved that any cost per solved is possible",
    "unbounded_interval": "too few prompts (or clusters) vary for an interval",
    "few_skewed_clusters": (
        "few clusters with skewed totals: the interval may cover too little"
    ),
    "few_informative_clusters": (
        "too few clusters (11, by weight) have right and wrong answers"
    ),
    "heavy_tailed_clusters": "few clusters, by weight, make up most of the error",
    "few_differing_clusters": "the runs differ on fewer than 10 clusters, by weight",
    "prompts_outside_clusters": "prompts in no cluster count as clusters of one",
    "too_few_units": (
        "fewer than 6 prompts (or clusters) differ: p flip cannot go below 0.05, and p "
        "and the interval rest on these few"
    ),
    "rests_on_few": "a few of the groups by a field of the prompts carry the lead",
    "single_prompt": "one prompt has no standard error",
    "single_cluster": "one cluster has no standard error",
    "all_scores_equal": "all scores are the same number",
    "leaves_without_spread": "a benchmark without any spread is not certain: without bounds of the scores it adds no"
    " error, and the interval may be much too narrow",
    "all_differences_equal": (
        "the difference is the same on every prompt: no error, no p"
    ),
    "zero_standard_error": "the error comes out as 0: no interval, no p",
    "no_repeated_draws_a": (
        "a has one draw per prompt: how much its draws vary is unknown"
    ),
    "no_repeated_draws_b": (
        "b has one draw per prompt: how much its draws vary is unknown"
    ),
    "few_varying_prompts": (
        "the draws of fewer than 10 prompts vary: p, interval and equality rest on "
        "these few"
    ),
    "within_imputed_a": (
        "prompts of a with one draw take the mean variance of the others"
    ),
    "within_imputed_b": (
        "prompts of b with one draw take the mean variance of the others"
    ),
}


def meanings(flags: Iterable[str]) -> list[str]:
    """``flag: meaning`` of each that is known, once, in the order of first mention."""
    return [
        f"{flag}: {MEANINGS[flag]}" for flag in dict.fromkeys(flags) if flag in MEANINGS
    ]
