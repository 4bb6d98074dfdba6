"""Anchors as people are shown them: their errors, scores of models by them, and the
anchors themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.reliability.results import (
    AnchorErrorRow,
    AnchorModelRow,
    AnchorRow,
)
from warehouse.tables.view import Part, Table
from warehouse.tables.words import excerpt, number, percentage

#: Characters of a model's name, of a prompt's id, and of a benchmark's name.
_NAME, _ID, _BENCHMARK = 30, 24, 20


def errors_parts(rows: Sequence[AnchorErrorRow]) -> list[Part]:
    """How far each estimate is off on models left out, by the number of anchors."""
    table = Table.of(
        map(_error_cells, rows),
        hide_empty=("seed sd", "monotonicity", "se", "tau", "reversed", "among top 10"),
        minor=("se", "largest", "bias"),
    )
    if any(row.seed_sd is not None or row.monotonicity is not None for row in rows):
        return [table, "seed sd and monotonicity: by the estimate, and on all prompts."]
    return [table]


def brief_errors(rows: Sequence[AnchorErrorRow]) -> Table:
    """How far each estimate is off, with its standard error, and how many pairs of
    models it puts in the wrong order."""
    cells = []
    for row in rows:
        own = _error_cells(row)
        error = f"{own['error']}"
        if own["se"] is not None:
            error += f" ({own['se']})"
        cells.append(
            {
                "prompts": own["prompts"],
                "estimate": own["estimate"],
                "off by": error,
                "largest": own["largest"],
                "reversed": own["reversed"],
            }
        )
    return Table.of(cells, hide_empty=("reversed",), minor=("largest",))


def _error_cells(row: AnchorErrorRow) -> dict[str, Any]:
    return {
        "prompts": row.n_items,
        "estimate": row.method.replace("_", "-"),
        "error": number(100 * row.error, 2),
        "se": number(None if row.se_error is None else 100 * row.se_error, 2),
        "bias": number(100 * row.bias, 2, sign=True),
        "largest": number(100 * row.largest, 1),
        "tau": number(row.tau, 3),
        "reversed": percentage(row.reversals),
        "among top 10": percentage(row.top_reversals),
        "seed sd": _pair(row.seed_sd, row.seed_sd_full, 100),
        "monotonicity": _pair(row.monotonicity, row.monotonicity_full, 1),
    }


def _pair(value: float | None, full: float | None, scale: float) -> str | None:
    if value is None or full is None:
        return None
    return f"{scale * value:.2f} ({scale * full:.2f})"


def models_table(rows: Sequence[AnchorModelRow]) -> Table:
    """Each model by all prompts and by each estimate, best first."""
    cells: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row.method != "all"):
        error = ""
        if row.standard_error is not None:
            error = f" ({100 * row.standard_error:.2f})"
        own = cells.setdefault(row.model, {"model": excerpt(row.model, _NAME)})
        own[row.method.replace("_", "-")] = f"{100 * row.estimate:.2f}{error}"
    order = {row.model: -row.estimate for row in rows if row.method == "all"}
    return Table.of(
        [cells[model] for model in sorted(cells, key=order.__getitem__)],
        minor=("p-irt",),
    )


def anchors_table(rows: Sequence[AnchorRow]) -> Table:
    """The anchors with their weights; their benchmark where there are several."""
    several = len({row.benchmark for row in rows}) > 1
    return Table.of(
        [_anchor_cells(row, several) for row in rows],
        hide_empty=("text",),
        minor=("text",),
    )


def _anchor_cells(row: AnchorRow, several: bool) -> dict[str, Any]:
    cells: dict[str, Any] = {"prompt": row.prompt, "id": excerpt(row.key, _ID)}
    if several:
        cells["benchmark"] = excerpt(row.benchmark, _BENCHMARK)
    return cells | {
        "weight": number(row.weight, 4),
        "stands for": row.n_items,
        "mean": number(row.mean_score, 2),
        "text": row.text,
    }
