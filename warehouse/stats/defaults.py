"""The table of default intervals (statistics.md §1), as one function.

Where the numbers come from: coverage simulated over mean, intra-cluster correlation, cluster
sizes and numbers; the flags mark the cells in which the default is known to cover too little.
"""

from __future__ import annotations

from typing import NamedTuple

FEW_PROMPTS_BINARY = 30
FEW_PROMPTS = 50
MANY_PROMPTS = 200
FEW_CLUSTERS = 20
FEW_INFORMATIVE = 10
UNEQUAL_SIZES = 0.5
SKEWED = 1.0


class IntervalChoice(NamedTuple):
    """A method of `estimate_mean`, why it is the default for these data, and warnings."""

    method: str
    reason: str
    flags: tuple[str, ...]


def choose_interval(
    *,
    n_prompts: int,
    n_clusters: int | None = None,
    binary: bool = False,
    bounded: bool = False,
    k_min: int = 0,
    size_cv: float = 0.0,
    skewness: float = 0.0,
) -> IntervalChoice:
    """The default interval for data of a kind.

    Args:
        n_prompts: n.
        n_clusters: G, None without clusters.
        binary: every score is 0 or 1 and each prompt has one draw.
        bounded: scores have a finite smallest and largest value.
        k_min: the smaller of the numbers of clusters with a 1 and with a 0 (binary, clusters).
        size_cv: coefficient of variation of the cluster sizes (binary, clusters).
        skewness: of the scores (unbounded, no clusters).

    Examples:
        >>> choose_interval(n_prompts=500, binary=True).method
        'wilson'
        >>> choose_interval(n_prompts=500, n_clusters=12).flags
        ('few_clusters',)
    """
    if n_clusters is None:
        return _independent(n_prompts, binary, bounded, skewness)
    if binary:
        return _clustered_binary(n_clusters, k_min, size_cv)
    flags = ("few_clusters",) if n_clusters < FEW_CLUSTERS else ()
    if bounded:
        return IntervalChoice("wilson_bounded", "bounded scores in clusters: CR2 error", flags)
    return IntervalChoice("cr2_t", "unbounded scores in clusters: CR2, Satterthwaite t", flags)


def _independent(n: int, binary: bool, bounded: bool, skewness: float) -> IntervalChoice:
    if binary:
        flags = ("few_prompts",) if n < FEW_PROMPTS_BINARY else ()
        return IntervalChoice("wilson", "0/1 scores, one draw each, no clusters", flags)
    if bounded:
        flags = ("few_prompts",) if n < FEW_PROMPTS else ()
        if n < MANY_PROMPTS:
            return IntervalChoice("wilson_bounded", f"bounded scores, n < {MANY_PROMPTS}", flags)
        return IntervalChoice("t", f"bounded scores, n >= {MANY_PROMPTS}", flags)
    skewed = n < FEW_PROMPTS and abs(skewness) > SKEWED
    return IntervalChoice(
        "t", "unbounded scores, no clusters", ("few_skewed_prompts",) if skewed else ()
    )


def _clustered_binary(n_clusters: int, k_min: int, size_cv: float) -> IntervalChoice:
    few = n_clusters < FEW_CLUSTERS or k_min < FEW_INFORMATIVE
    flags = ("few_informative_clusters",) if few else ()
    if k_min < FEW_INFORMATIVE:
        reason = f"0/1 scores in clusters, k_min = {k_min} < {FEW_INFORMATIVE}"
        return IntervalChoice("korn_graubard_clopper_pearson", reason, flags)
    if size_cv > UNEQUAL_SIZES:
        reason = f"0/1 scores in clusters of unequal size (CV {size_cv:.2f} > {UNEQUAL_SIZES})"
        return IntervalChoice("korn_graubard_clopper_pearson", reason, flags)
    return IntervalChoice("korn_graubard_wilson", "0/1 scores in clusters", flags)
