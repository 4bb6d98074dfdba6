"""The split of a variance as people are shown it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.variance.row import VarianceRow, percent
from warehouse.tables.reasons import SHOWN, reasons, some_of
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import Figure, count_range, decimals, number, percentage

#: Columns that a narrow terminal does without, the first of them first.
SPARE = (
    "range k=1",
    "expected",
    "se prompts fixed",
    "between",
    "split",
    "clusters",
    "K",
    "prompts",
    "se at 2K",
    "metric",
    "se",
)


#: Columns that say nothing of runs of one draw per prompt.
_UNKNOWN = ("se at 2K", "se at K=inf", "se prompts fixed", "between", "within", "suggested K", "range k=1", "expected")
#: Columns of the split, in words.
LEGEND = {
    "K": "draws of each prompt",
    "se": "error as it is: prompts are a sample, and so are draws",
    "se at 2K": "error to expect with twice as many draws of each prompt",
    "se at K=inf": "error that is left however many draws there are: that of the prompts alone",
    "se prompts fixed": "error if these prompts are all there are: that of the draws alone",
    "between": "share of the variance that the choice of prompts makes; more prompts lower it",
    "within": "share that the draws of a prompt make; more draws lower it",
    "suggested K": "draws beyond which they add less than a tenth of the variance between prompts",
    "range k=1": "best less worst figure over runs of one draw per prompt",
    "expected": "that range, if chance alone makes it",
}


def split_view(rows: Sequence[VarianceRow], left_out: Sequence[str], *, verbose: bool) -> View:
    """The rows, what their columns mean, and what to do; notes on rows, then what was left out."""
    shared = [name for name in ("benchmark", "metric") if len({getattr(row, name) for row in rows}) == 1]
    head = [" by ".join(getattr(rows[0], name) for name in shared)] if shared else []
    places = decimals(row.se_prompts_fixed or row.standard_error for row in rows)
    needless = (*_UNKNOWN, "condition", "benchmark", "split", "metric", "clusters", "flags")
    table = Table.of([_split_cells(row, places, shared) for row in rows], needless=needless, spare=SPARE)
    more = [f"and {len(left_out) - SHOWN} more left out"] if len(left_out) > SHOWN else []
    notes = (*_explain(rows, verbose), *(f"left out {reason}" for reason in left_out[:SHOWN]), *more)
    return View((*head, table, "", *legend(LEGEND), *_advice(rows)), notes)


def _split_cells(row: VarianceRow, places: int, shared: Sequence[str]) -> dict[str, Any]:
    return {
        "model": row.model,
        "condition": row.condition,
        "benchmark": "" if "benchmark" in shared else row.benchmark,
        "split": row.split,
        "metric": "" if "metric" in shared else row.metric,
        "figure": number(row.estimate, places),
        "se": number(row.standard_error, places),
        "se at 2K": number(row.se_double_draws, places),
        "se at K=inf": number(row.se_unlimited_draws, places),
        "se prompts fixed": number(row.se_prompts_fixed, places),
        "between": percentage(row.share_between),
        "within": percentage(row.share_within),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "K": Figure(count_range(row.fewest_draws, row.most_draws)),
        "suggested K": row.suggested_draws,
        "range k=1": number(row.delta_k1, places),
        "expected": number(row.delta_k1_expected, places),
        "flags": row.flags,
    }


def _advice(rows: Sequence[VarianceRow]) -> list[str]:
    """What to do, for one row in full, for many as a range."""
    if len(rows) == 1:
        return [rows[0].advice or rows[0].reason]
    shares = [row.share_within for row in rows if row.share_within is not None]
    if not shares:
        return sorted({row.advice or row.reason for row in rows})
    units = "clusters" if any(row.n_clusters is not None for row in rows) else "prompts"
    return [
        f"more draws would save at most {percent(min(shares))} (of one) to {percent(max(shares))}"
        f" (of another) of the variance, twice the {units} 50 %"
    ]


def _explain(rows: Sequence[VarianceRow], verbose: bool) -> list[str]:
    """What a reader should know of single rows."""
    ordered = [f"{row.model} {row.condition}".strip() for row in rows if "draws_differ" in row.flags]
    sentences = []
    if ordered:
        sentences.append(
            f"first draws are not like later ones in {some_of(ordered)} (are they stored best"
            " first?): the range over single draws is no measure of chance there"
        )
    unknown = [row for row in rows if row.share_within is None or verbose]
    sentences += reasons([(row, row.reason) for row in unknown if len(rows) > 1])
    if verbose:
        missing = [row for row in rows if row.delta_k1 is None]
        sentences += reasons([(row, f"no range k=1: {row.delta_k1_reason}") for row in missing])
    return sentences
