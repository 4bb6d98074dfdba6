"""One row of a variance report: a condition with its split and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import ConditionRow, part_fields
from warehouse.analysis.selection.targets import Target
from warehouse.analysis.variance.heading import benchmark_cells, heading, shared_columns
from warehouse.stats import SingleDrawRange, VarianceComponents
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import (
    WrittenNumber,
    count_range,
    decimals,
    number,
    percentage,
    reasons,
    some_of,
)

#: Up to this chance the draws are flagged as unlike each other.
UNLIKELY = 0.001
#: Flag of draws of one run that stand in an order.
DRAWS_IN_ORDER = "draws_in_order"
IN_ORDER = "the draws of a prompt stand in an order: the k-th is no run"
_ROUNDING = 1e-12
NO_MEAN = "a ratio or linked metric is no plain mean of its prompts"


@dataclass(frozen=True)
class VarianceRow(ConditionRow):
    """The variance of one condition's mean, in squared units of its scores; errors in
    their unit."""

    #: mean over prompts of the mean over draws; None if the figure is no plain mean.
    estimate: float | None
    #: now, prompts sampled (CLT, or CR2 with clusters); None where it is 0 or not
    #: defined, like the next.
    standard_error: float | None
    se_double_draws: float | None  #: expected with twice as many draws of each prompt.
    #: expected with draws without end; None if prompts differ no more than draws do.
    se_unlimited_draws: float | None
    #: if these prompts are all there are: only the draws are random.
    se_prompts_fixed: float | None
    #: share of the variance that the choice of prompts makes; below 0 if clipped.
    share_between: float | None
    #: share that the draws make: the most that more draws can save.
    share_within: float | None
    advice: str  #: what would make the error smaller, in words.
    n_prompts: int  #: prompts with a score.
    n_clusters: int | None  #: clusters among them; None without clusters.
    n_draws: int  #: generations behind the scores, over all repeats.
    n_multi_draw: int  #: prompts with two or more draws.
    fewest_draws: int  #: smallest number of draws of a prompt.
    most_draws: int  #: largest number of draws of a prompt.
    mean_draws: float  #: mean number of draws of a prompt.
    #: draws per prompt beyond which under 10 % of the variance between prompts is left
    #: to gain; None with a ``reason``.
    suggested_draws: int | None
    variance: float | None  #: squared ``standard_error``.
    prompt_variance: float | None  #: sample variance of the prompt means.
    between_raw: float | None  #: variance between prompts; unbiased, may be below 0.
    between: float | None  #: the same, at least 0.
    mean_within: float | None  #: mean variance between the draws of a prompt.
    #: mean over prompts of that variance over the number of draws.
    within: float | None
    #: Zhang et al. (2025) eq. 2; only for 0/1 draws, equally many.
    variance_zhang_plugin: float | None
    #: best minus worst score over runs of one draw per prompt (Zhang et al. 2025); None
    #: too with ``draws_in_order``.
    delta_k1: float | None
    delta_k1_expected: float | None  #: what draws alone lead one to expect of it.
    #: chance of scores so far apart if all draws are alike; a small one says that they
    #: are not (stored best first, say).
    delta_k1_p_value: float | None
    delta_k1_runs: int | None  #: such runs.
    delta_k1_reason: str  #: why there is none.
    #: ``within_imputed``, ``between_clipped``, ``unscored``; where ``delta_k1_p_value``
    #: is at most 0.001 ``draws_in_order`` (of one run: the k-th draw is no run) or
    #: ``draws_differ`` (of several runs).
    flags: tuple[str, ...]
    reason: str  #: why something is None.
    runs: int  #: repeats that were pooled.
    run_ids: tuple[int, ...]  #: their ids.
    field: str = ""  #: by which prompts are sliced; empty: the row is of all.
    slice: str = ""  #: value of the field; ``(none)``: prompts without it.
    #: ``declared``: the field was named before the scores were stored, or
    #: ``exploratory``; empty where there is none.
    label: str = ""
    declared_at: str | None = None  #: when it was named, UTC; None: never.


_SINGLE = (
    "one draw per prompt: what draws add is not known; draw prompts again to see it"
)
_CLIPPED = (
    "prompts differ no more than the draws of one prompt do: more draws help as much "
    "as more prompts"
)


def make_row(
    target: Target,
    parts: VarianceComponents | None,
    single: SingleDrawRange | str | None,
) -> VarianceRow:
    """The row of a condition.

    Args:
        parts: the split; None where the figure is no plain mean.
        single: range of the single-draw runs, or why there is none.
    """
    counts = target.scores.n_draws
    return VarianceRow(
        **target.head,
        n_prompts=target.scores.n,
        n_draws=int(counts.sum()),
        n_multi_draw=int((counts > 1).sum()),
        fewest_draws=int(counts.min()),
        most_draws=int(counts.max()),
        mean_draws=float(counts.mean()),
        advice="" if parts is None else advice(parts),
        flags=_flags(target, parts, single),
        reason=_reason(parts),
        runs=len(target.condition.runs),
        run_ids=target.condition.run_ids,
        **_figures(parts),
        **_single(target, single),
    )


def advice(parts: VarianceComponents) -> str:
    """Advice that would make the error smaller, in one sentence; empty where nothing
    can be said."""
    if parts.share_within is None:
        single = parts.n_prompts > 1 and not parts.n_multi_draw
        if single:
            return _SINGLE
        return ""
    if parts.suggested_draws is None:
        return _CLIPPED
    most = percent(parts.share_within)
    enough = _draws(parts.suggested_draws)
    units = "clusters"
    if parts.n_clusters is None:
        units = "prompts"
    if parts.fewest_draws >= parts.suggested_draws:
        return (
            f"more draws would save at most {most} of the variance, more {units} help "
            f"more ({enough} per prompt would do)"
        )
    return (
        f"twice the draws would save {percent(parts.share_within / 2)} of the "
        f"variance, draws without end {most}, twice the {units} 50 %; beyond {enough} "
        "per prompt little is left to gain"
    )


def percent(share: float) -> str:
    """A share in [0, 1] in words, such as ``"2.2 %"`` or ``"31 %"``."""
    number = 100 * min(max(share, 0.0), 1.0)
    if number >= 10:
        return f"{number:.0f} %"
    return f"{number:.2g} %"


def _draws(count: int) -> str:
    if count == 1:
        return "1 draw"
    return f"{count} draws"


def _figures(parts: VarianceComponents | None) -> dict[str, Any]:
    same = (
        *(
            "n_clusters",
            "share_between",
            "share_within",
            "suggested_draws",
            "variance",
            "prompt_variance",
        ),
        *("between_raw", "between", "mean_within", "within", "variance_zhang_plugin"),
    )
    errors = {
        "standard_error": "variance",
        "se_double_draws": "variance_double_draws",
        "se_unlimited_draws": "variance_unlimited_draws",
        "se_prompts_fixed": "variance_prompts_fixed",
    }
    figures = part_fields(parts, *same, estimate="mean")
    least = _ROUNDING * (getattr(parts, "variance", None) or 0.0)
    return figures | {
        name: _root(value, least)
        for name, value in part_fields(parts, **errors).items()
    }


def _root(variance: float | None, least: float) -> float | None:
    """Square root; None for what is unknown, 0 (at most ``least``) or estimated below
    0."""
    if variance is None or variance <= least:
        return None
    return math.sqrt(variance)


def _single(target: Target, single: SingleDrawRange | str | None) -> dict[str, Any]:
    """The range over single-draw runs; none where the draws of a run stand in an order,
    so that the k-th is no run."""
    found = None
    if isinstance(single, SingleDrawRange):
        found = single
    if found is not None and DRAWS_IN_ORDER in _flags(target, None, found):
        blank = dict.fromkeys(("delta_k1", "delta_k1_expected", "delta_k1_runs"))
        return {**blank, "delta_k1_p_value": found.p_value, "delta_k1_reason": IN_ORDER}
    figures = part_fields(
        found, delta_k1="delta", delta_k1_expected="expected", delta_k1_runs="n_runs"
    )
    figures |= part_fields(found, delta_k1_p_value="p_value")
    if found is None:
        delta_k1_reason = single or NO_MEAN
    else:
        delta_k1_reason = found.reason
    return figures | {"delta_k1_reason": delta_k1_reason}


def _reason(parts: VarianceComponents | None) -> str:
    if parts is None:
        return NO_MEAN
    if parts.variance == 0 == parts.within:
        return "all scores are equal"
    return parts.reason


def _flags(
    target: Target,
    parts: VarianceComponents | None,
    single: SingleDrawRange | str | None,
) -> tuple[str, ...]:
    chance = None
    if isinstance(single, SingleDrawRange):
        chance = single.p_value
    is_unlikely = chance is not None and chance <= UNLIKELY
    is_one_run = len(target.condition.runs) == 1
    flags = {
        "within_imputed": parts is not None and parts.within_imputed,
        "between_clipped": parts is not None and parts.is_clipped,
        DRAWS_IN_ORDER: is_unlikely and is_one_run,
        "draws_differ": is_unlikely and not is_one_run,
        "unscored": target.scores.n_unscored > 0,
    }
    return tuple(flag for flag, holds in flags.items() if holds)


#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    *(
        "range k=1",
        "expected",
        "se prompts fixed",
        "between",
        "split",
        "clusters",
        "K",
        "prompts",
        "se at 2K",
    ),
    *("metric", "se"),
)


#: Columns that say nothing of runs of one draw per prompt.
_UNKNOWN = (
    "se at 2K",
    "se at K=inf",
    "se prompts fixed",
    "between",
    "within",
    "suggested K",
    "range k=1",
    "expected",
)
#: Columns of the split, in words.
LEGEND = {
    "K": "draws of each prompt",
    "se": "error as it is: prompts are a sample, and so are draws",
    "se at 2K": "error to expect with twice as many draws of each prompt",
    "se at K=inf": (
        "error that is left however many draws there are: that of the prompts alone"
    ),
    "se prompts fixed": (
        "error if these prompts are all there are: that of the draws alone"
    ),
    "between": (
        "share of the variance that the choice of prompts makes; more prompts lower it"
    ),
    "within": "share that the draws of a prompt make; more draws lower it",
    "suggested K": (
        "draws beyond which they add less than a tenth of the variance between prompts"
    ),
    "range k=1": "best less worst figure over runs of one draw per prompt",
    "expected": "that range, if chance alone makes it",
}


def split_view(
    rows: Sequence[VarianceRow], notes_on_all: Sequence[str], *, verbose: bool
) -> View:
    """The rows, what their columns mean, and what to do; notes on rows, then on all."""
    shared = shared_columns(rows)
    digits = decimals(row.se_prompts_fixed or row.standard_error for row in rows)
    hide_empty = (
        *_UNKNOWN,
        "slice",
        "condition",
        "benchmark",
        "split",
        "metric",
        "clusters",
        "flags",
    )
    table = Table.of(
        [_split_cells(row, digits, shared) for row in rows],
        hide_empty=hide_empty,
        minor=MINOR,
    )
    notes = (*explain_rows(rows, verbose=verbose), *notes_on_all)
    return View(
        (*heading(rows, shared), table, "", *legend(LEGEND), *_advice(rows)), notes
    )


def _split_cells(
    row: VarianceRow, digits: int, shared: Sequence[str]
) -> dict[str, Any]:
    return {
        "model": row.model,
        "condition": row.condition,
        **benchmark_cells(row, shared),
        "slice": row.slice,
        "estimate": number(row.estimate, digits),
        "se": number(row.standard_error, digits),
        "se at 2K": number(row.se_double_draws, digits),
        "se at K=inf": number(row.se_unlimited_draws, digits),
        "se prompts fixed": number(row.se_prompts_fixed, digits),
        "between": percentage(row.share_between),
        "within": percentage(row.share_within),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "K": WrittenNumber(count_range(row.fewest_draws, row.most_draws)),
        "suggested K": row.suggested_draws,
        "range k=1": number(row.delta_k1, digits),
        "expected": number(row.delta_k1_expected, digits),
        "flags": row.flags,
    }


def _advice(rows: Sequence[VarianceRow]) -> list[str]:
    """Advice for one row in full, for many as a range."""
    if len(rows) == 1:
        return [rows[0].advice or rows[0].reason]
    shares = [row.share_within for row in rows if row.share_within is not None]
    if not shares:
        return sorted({row.advice or row.reason for row in rows})
    units = "prompts"
    if any(row.n_clusters is not None for row in rows):
        units = "clusters"
    return [
        f"more draws would save at most {percent(min(shares))} (of one) to "
        f"{percent(max(shares))} (of another) of the variance, twice the {units} 50 %"
    ]


def explain_rows(rows: Sequence[VarianceRow], *, verbose: bool) -> list[str]:
    """Remarks on single rows."""
    ordered = [
        f"{row.model} {row.condition}".strip()
        for row in rows
        if DRAWS_IN_ORDER in row.flags
    ]
    unlike = [
        f"{row.model} {row.condition}".strip()
        for row in rows
        if "draws_differ" in row.flags
    ]
    sentences = []
    if ordered:
        sentences.append(
            f"first draws are not like later ones in {some_of(ordered)} (are they "
            "stored best first?): the k-th draw is no run there, and has no figure; "
            "that over all draws stands"
        )
    if unlike:
        sentences.append(
            f"runs are not alike in {some_of(unlike)}: the range over single draws is "
            "no measure of chance there"
        )
    unknown = [row for row in rows if row.share_within is None or verbose]
    sentences += reasons([(row, row.reason) for row in unknown if len(rows) > 1])
    if verbose:
        missing = [row for row in rows if row.delta_k1 is None]
        sentences += reasons(
            [(row, f"no range k=1: {row.delta_k1_reason}") for row in missing]
        )
    return sentences
