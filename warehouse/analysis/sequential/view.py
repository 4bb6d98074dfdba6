"""A verdict so far in words, with a row for each benchmark and what its columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warehouse.analysis.comparison.gate import names
from warehouse.tables.view import Table, View
from warehouse.tables.words import interval, number, percentage

if TYPE_CHECKING:
    from warehouse.analysis.sequential.row import SequentialGate, SequentialRow

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("method", "metric", "unscored", "fail", "pass", "margin", "benchmark")
_HIDE_EMPTY = ("split", "reason", "pass", "fail", "expected more", "decided at")


def sequential_view(decision: SequentialGate, valid: str) -> View:
    """The answer, the rows, what holds of them, and what was left out.

    Args:
        valid: how the verdicts hold, in a sentence.
    """
    rows = decision.rows
    table = Table.of(map(_cells, rows), hide_empty=_HIDE_EMPTY, counts=("unscored", "beyond"), minor=_MINOR)
    return View((sentence(decision), "", table, "", valid, *_meanings(rows)), report_notes(decision))


def report_notes(decision: SequentialGate) -> tuple[str, ...]:
    """What a reader should know of all rows, and what was left out."""
    return (*decision.notes, *(f"left out {reason}" for reason in decision.left_out))


def sentence(decision: SequentialGate) -> str:
    """The answer in words."""
    candidate, baseline = names(decision.candidate, decision.baseline, decision.rows)
    count = f" on {len(decision.rows)} benchmarks" if len(decision.rows) > 1 else f" on {decision.rows[0].benchmark}"
    says = {
        "pass": f"{candidate} may take the place of {baseline}{count}: it is worse by less than the margin, or better.",
        "fail": f"{candidate} may not take the place of {baseline}{count}: it is worse by more than the margin.",
        "undecided": f"It is not settled yet whether {candidate} may take the place of {baseline}{count}.",
    }
    if decision.verdict == "undecided" and all(row.n_prompts >= row.n_max for row in decision.rows):
        return f"The prompts do not settle whether {candidate} may take the place of {baseline}{count}."
    return says[decision.verdict]


def _cells(row: SequentialRow) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "verdict": row.verdict,
        "difference": number(row.difference, 4, sign=True),
        f"{100 * row.level:.4g}% interval": interval(row.ci_low, row.ci_high, 4),
        "margin": number(row.margin, 4),
        "prompts": f"{row.n_prompts} of {row.n_max}",
        "decided at": row.decided_at,
        "expected more": round(row.expected_remaining) if row.is_open and row.expected_remaining is not None else None,
        "pass": percentage(row.chance_pass) if row.is_open else None,
        "fail": percentage(row.chance_fail) if row.is_open else None,
        "unscored": row.n_unscored,
        "beyond": row.n_beyond,
        "method": row.method,
        "reason": row.reason,
    }


def _meanings(rows: Sequence[SequentialRow]) -> list[str]:
    """What columns mean, and what predicts the candidate's scores."""
    lines: list[str] = []
    if any(row.is_open and row.expected_remaining is not None for row in rows):
        lines.append(
            "expected more: mean prompts until a verdict or the most, over 200 continuations that draw what was seen"
            " again; pass, fail: the share of them that end so."
        )
    if any(row.n_beyond for row in rows):
        lines.append("beyond: prompts with results that do not count yet, as earlier ones of the order have none.")
    used = {(row.predicted_by, row.n_history) for row in rows if row.predicted_by}
    for by, n in sorted(used):
        others = f" and {n} other models" if by != "baseline" else ""
        lines.append(f"The candidate's scores are predicted by the baseline's{others}.")
    return lines
