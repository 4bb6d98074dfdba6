"""Corrected figures as people are shown them: a judge's, those of labels, and what both
give together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.judge.corrected import CorrectedRow
from warehouse.tables.view import Table, TableNote, legend
from warehouse.tables.words import (
    count_range,
    decimals,
    interval,
    level_column,
    number,
    p_value,
)

#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("split", "benchmark", "lambda", "rho", "flags", "judged")


def corrected_table(rows: Sequence[CorrectedRow]) -> Table:
    """The three figures of each row; its benchmark where there are several."""
    n_decimals = decimals(row.standard_error for row in rows)
    cells = [_cells(row, level_column(rows[0].level), n_decimals) for row in rows]
    if len({(row.benchmark, row.split) for row in rows}) == 1:
        for row in cells:
            del row["benchmark"], row["split"]
    return Table.of(cells, hide_empty=("ranks", "split", "flags"), minor=MINOR)


def _cells(row: CorrectedRow, level: str, n_decimals: int) -> dict[str, Any]:
    return {
        "ranks": _ranks(row),
        "model": _name(row),
        "benchmark": row.benchmark,
        "split": row.split,
        "judge": number(row.judge_estimate, n_decimals),
        "labels": number(row.label_estimate, n_decimals),
        f"{level} ": interval(row.label_low, row.label_high, n_decimals),
        "corrected": number(row.estimate, n_decimals),
        level: interval(row.low, row.high, n_decimals),
        **_decided(row),
        "labelled": row.n_labels,
        "judged": row.n_units,
        "lambda": number(row.weight, 2),
        "rho": number(row.correlation, 2),
        "flags": row.flags,
    }


def _decided(row: CorrectedRow) -> dict[str, Any]:
    """The verdict of a gate on a row, the p of a difference, nothing of a mean."""
    if row.verdict:
        return {
            "verdict": row.verdict,
            "margin": number(row.margin, 4),
            "p pass": p_value(row.p_pass),
            "p fail": p_value(row.p_fail),
        }
    if row.model_b:
        return {"p": p_value(row.p_value)}
    return {}


def _ranks(row: CorrectedRow) -> str | None:
    low = getattr(row, "rank_low", None)
    high = getattr(row, "rank_high", None)
    if low is None or high is None:
        return None
    return count_range(low, high)


def _name(row: CorrectedRow) -> str:
    if row.model_b:
        return f"{row.model_a} - {row.model_b}"
    return row.model_a


def corrected_legend(judge: str, human: str) -> list[TableNote]:
    """The meaning of the columns, with the names of judge and people."""
    words = {
        "ranks": "those that the intervals of all differences leave a model, together",
        "judge": (
            f"what {judge} says of all answers; it may be biased, and decides nothing"
        ),
        "labels": f"what {human} say of those that were drawn",
        "corrected": (
            "what they would say of all, the judge helping as far as it agrees"
        ),
        "lambda": (
            "how far the judge is believed, 0 to 1; rho: its correlation with the "
            "labels"
        ),
    }
    return legend(words, are_terms=False)


def reasons_in_words(rows: Sequence[CorrectedRow]) -> list[str]:
    """Why the labels of a row stand alone, or why it has no figure."""
    return [f"{_name(row)}: {row.reason}" for row in rows if row.reason]
