"""Stored matrix analyses of one benchmark, made ready for the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.matrix.cached import StoredMatrix
from warehouse.analysis.matrix.results import MatrixClusters, MatrixExplanation, MatrixGrowth, MatrixWeights
from warehouse.report import matrix_tables as tables
from warehouse.report.maps import excerpt as shorten
from warehouse.report.matrix_charts import (
    FDR,
    by_rank,
    coefficient_chart,
    growth_charts,
    outrank_chart,
    silhouette_chart,
    similarity_charts,
)
from warehouse.report.plots import make_axis

#: Prompts that the table of coefficients shows, and clusters.
TOP = 10
#: Rows of the table behind the growth curves, for each order.
_SIZES = 10

#: Last word of a command, and what it answers.
_COMMANDS = {
    "test": "correlation of prompts",
    "cluster": "clusters of prompts",
    "weights": "other weights",
    "grow": "scores against size",
    "explain": "what their text explains",
}


def matrix_part(found: StoredMatrix, distinct: Mapping[tuple[str, str], bool] | None = None) -> dict[str, Any]:
    """Charts and tables of what is stored, by field; what is not there is None.

    Args:
        distinct: whether two models differ by a test, by their labels; unknown pairs count as ties.
    """
    chosen = dict(found.chosen)
    parts: dict[str, Any] = {
        "test": found.test
        and {
            "found": found.test,
            "charts": similarity_charts(found.test),
            "says": tables.test_says(found.test),
            "table": tables.test_table(found.test),
        },
        "clusters": found.clusters and _clusters(found.clusters),
        "weights": found.weights and _weights(found.weights, distinct or {}),
        "growth": found.growth and _growth(found.growth),
        "explanation": found.explanation and _explanation(found.explanation),
    }
    for name, part in parts.items():
        if part is not None:
            part["head"] = _head(part["found"], chosen.get(name, ""))
    absent = {*found.missing, *found.outdated}
    lacking = [(word, what) for word, what in _COMMANDS.items() if word in absent]
    return {**parts, "any": bool(found.found), "lacking": lacking, "outdated": bool(found.outdated)}


def _head(found: Any, chosen: str) -> str:
    left_out = f", {found.n_incomplete} incomplete left out" if found.n_incomplete else ""
    selection = f"; runs: {chosen}" if chosen else ""
    return (
        f"{found.n_prompts} prompts{left_out} × {found.n_models} models, {found.metric}, seed"
        f" {found.seed}; computed {found.computed_at.replace('T', ' ')} UTC{selection}"
    )


def _clusters(found: MatrixClusters) -> dict[str, Any]:
    largest = sorted(found.clusters, key=lambda row: -row.n_prompts)
    more = max(0, len(largest) - TOP)
    texts = [shorten(one) for one in distinctive([row.text for row in largest])[:TOP]]
    return {
        "found": found,
        "chart": silhouette_chart(found),
        "says": tables.clusters_say(found),
        "silhouettes": tables.silhouettes_table(found),
        "table": tables.clusters_table(largest[:TOP], found.benchmark, more, texts),
    }


@dataclass(frozen=True)
class ChangeRow:
    """One model under every weighting: score, rank and its change by scheme."""

    place: int
    model: str
    score: float
    changes: tuple[tuple[float, int, str], ...]


def _weights(found: MatrixWeights, distinct: Mapping[tuple[str, str], bool]) -> dict[str, Any]:
    schemes = list(dict.fromkeys(row.scheme for row in found.rows))
    cells = {(row.model, row.scheme): row for row in found.rows}
    models = sorted(found.models, key=lambda model: cells[model, "uniform"].rank)
    others = [scheme for scheme in schemes if scheme != "uniform"]
    changes = [
        ChangeRow(
            cells[model, "uniform"].rank,
            model,
            cells[model, "uniform"].score,
            tuple(
                (
                    cells[model, one].score,
                    cells[model, one].rank_change,
                    _shade(cells[model, one].rank_change, len(models))
                    if tables.passes(model, one, models, cells, distinct)
                    else "",
                )
                for one in others
            ),
        )
        for model in models
    ]
    ordered = by_rank(found)
    ends = [value for row in found.random for value in (row.lowest, row.highest)]
    axis = make_axis(ends)
    return {
        "found": found,
        "says": tables.weights_say(models, cells, others, distinct),
        "table": tables.weights_table(changes, others, found.benchmark),
        "random_table": tables.random_table(found, ordered, axis),
        "outranks": outrank_chart(found, ordered),
    }


def _shade(change: int, n_models: int) -> str:
    """Class of a cell: the direction of a change of rank, and how large it is of all ranks."""
    if not change:
        return ""
    level = 1 + min(4, int(10 * abs(change) / n_models))
    return f"{'up' if change > 0 else 'down'}{level}"


def _growth(found: MatrixGrowth) -> dict[str, Any]:
    sizes = sorted({step.size for step in found.steps})
    every = max(1, -(-len(sizes) // _SIZES))
    shown = {*sizes[::-1][::every]}
    return {
        "found": found,
        "charts": growth_charts(found),
        "says": tables.growth_says(found),
        "table": tables.growth_table([step for step in found.steps if step.size in shown], found.benchmark),
    }


def _explanation(found: MatrixExplanation) -> dict[str, Any]:
    rows = [row for row in found.rows if row.coefficient is not None]
    positive = [row for row in rows if (row.coefficient or 0) > 0]
    tests = [
        ("mean coefficient", found.mean_coefficient, found.mean_coefficient_permuted, found.p_mean_coefficient, None),
        ("ks of coefficients", found.ks_coefficient, None, found.p_ks_coefficient, found.p_ks_coefficient_textbook),
        ("ks of FDRs", found.ks_fdr, None, found.p_ks_fdr, found.p_ks_fdr_textbook),
        ("Mantel r", found.mantel_r, None, found.mantel_p, None),
    ]
    top = positive[:TOP]
    texts = [shorten(one) for one in distinctive([row.text for row in rows])]
    by_row = dict(zip((row.prompt for row in rows), texts, strict=True))
    return {
        "found": found,
        "chart": coefficient_chart(found),
        "table": tables.explanation_table(tests, found.benchmark),
        "top": bool(top),
        "top_table": tables.explained_table(top, found.benchmark, [by_row[row.prompt] for row in top]) if top else None,
        "n_found": sum((row.fdr or 0) < FDR for row in positive if row.fdr is not None),
        "n_defined": len(rows),
    }
