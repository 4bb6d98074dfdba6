"""A verdict in words, with a row for each benchmark and what its columns mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.tables.view import Table, View
from warehouse.tables.words import meanings, number, p_value, small

if TYPE_CHECKING:
    from warehouse.analysis.comparison.gate import Gate, GateRow

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("split", "metric", "clusters", "flags", "p fail", "prompts", "baseline", "candidate", "as seen", "if equal")
_HIDE_EMPTY = ("split", "clusters", "reason", "cost", "p cost", "flags")
_COSTS = "cost: of the candidate for each of the baseline's; it passes by p pass, the larger of both p"
_PROMPTS = (
    "if equal: prompts with which a candidate as good as the baseline passes with power 0.8",
    "as seen: prompts that decide if the true difference is the one that was seen",
)


def gate_view(decision: Gate) -> View:
    """The verdict, the rows, what flags and columns mean, and what was left out."""
    rows = decision.rows
    table = Table.of(map(_cells, rows), hide_empty=_HIDE_EMPTY, counts=("if equal", "as seen"), minor=_MINOR)
    below = [*meanings(flag for row in rows for flag in row.flags)]
    if any(row.costs for row in rows):
        below.append(_COSTS)
    if any(row.prompts_if_equal or row.prompts_as_seen for row in rows):
        below += _PROMPTS
    return View((decision.one_line, "", table, *below), report_notes(decision))


def report_notes(decision: Gate) -> tuple[str, ...]:
    """What a reader should know of all rows, and what was left out."""
    return (*decision.notes, *(f"left out {reason}" for reason in decision.left_out))


def _cells(row: GateRow) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "verdict": row.verdict,
        "candidate": number(row.candidate, 4),
        "baseline": number(row.baseline, 4),
        "difference": number(row.difference, 4),
        "at least": number(row.low, 4),
        "margin": number(row.margin, 4),
        "p pass": p_value(row.p_pass),
        "p fail": p_value(row.p_fail),
        "cost": small(row.cost_ratio),
        "p cost": p_value(row.p_cost),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "if equal": row.prompts_if_equal,
        "as seen": row.prompts_as_seen,
        "flags": row.flags,
        "reason": row.reason,
    }
