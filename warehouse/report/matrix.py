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


def matrix_part(stored: StoredMatrix, distinct: Mapping[tuple[str, str], bool] | None = None) -> dict[str, Any]:
    """Charts and tables of what is stored, by field; what is not there is None.

    Args:
        distinct: whether two models differ by a test, by their labels; unknown pairs count as ties.
    """
    chosen = dict(stored.chosen)
    parts: dict[str, Any] = {
        "test": stored.test
        and {
            "result": stored.test,
            "charts": similarity_charts(stored.test),
            "says": tables.test_says(stored.test),
            "table": tables.test_table(stored.test),
        },
        "clusters": stored.clusters and _clusters(stored.clusters),
        "weights": stored.weights and _weights(stored.weights, distinct or {}),
        "growth": stored.growth and _growth(stored.growth),
        "explanation": stored.explanation and _explanation(stored.explanation),
    }
    for name, part in parts.items():
        if part is not None:
            part["head"] = _head(part["result"], chosen.get(name, ""))
    absent = {*stored.missing, *stored.outdated}
    lacking = [(word, what) for word, what in _COMMANDS.items() if word in absent]
    return {**parts, "any": bool(stored.found), "lacking": lacking, "outdated": bool(stored.outdated)}


def _head(result: Any, chosen: str) -> str:
    left_out = f", {result.n_incomplete} incomplete left out" if result.n_incomplete else ""
    selection = f"; runs: {chosen}" if chosen else ""
    return (
        f"{result.n_prompts} prompts{left_out} × {result.n_models} models, {result.metric}, seed"
        f" {result.seed}; computed {result.computed_at.replace('T', ' ')} UTC{selection}"
    )


def _clusters(clustering: MatrixClusters) -> dict[str, Any]:
    largest = sorted(clustering.clusters, key=lambda row: -row.n_prompts)
    more = max(0, len(largest) - TOP)
    texts = [shorten(one) for one in distinctive([row.text for row in largest])[:TOP]]
    return {
        "result": clustering,
        "chart": silhouette_chart(clustering),
        "says": tables.clusters_say(clustering),
        "silhouettes": tables.silhouettes_table(clustering),
        "table": tables.clusters_table(largest[:TOP], clustering.benchmark, more, texts),
    }


@dataclass(frozen=True)
class ChangeRow:
    """One model under every weighting: score, rank and its change by scheme."""

    place: int
    model: str
    score: float
    changes: tuple[tuple[float, int, str], ...]


def _weights(weights: MatrixWeights, distinct: Mapping[tuple[str, str], bool]) -> dict[str, Any]:
    schemes = list(dict.fromkeys(row.scheme for row in weights.rows))
    cells = {(row.model, row.scheme): row for row in weights.rows}
    models = sorted(weights.models, key=lambda model: cells[model, "uniform"].rank)
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
    ordered = by_rank(weights)
    ends = [value for row in weights.random for value in (row.lowest, row.highest)]
    axis = make_axis(ends)
    return {
        "result": weights,
        "says": tables.weights_say(models, cells, others, distinct),
        "table": tables.weights_table(changes, others, weights.benchmark),
        "random_table": tables.random_table(weights, ordered, axis),
        "outranks": outrank_chart(weights, ordered),
    }


def _shade(change: int, n_models: int) -> str:
    """Class of a cell: the direction of a change of rank, and how large it is of all ranks."""
    if not change:
        return ""
    level = 1 + min(4, int(10 * abs(change) / n_models))
    return f"{'up' if change > 0 else 'down'}{level}"


def _growth(growth: MatrixGrowth) -> dict[str, Any]:
    sizes = sorted({step.size for step in growth.steps})
    every = max(1, -(-len(sizes) // _SIZES))
    shown = {*sizes[::-1][::every]}
    return {
        "result": growth,
        "charts": growth_charts(growth),
        "says": tables.growth_says(growth),
        "table": tables.growth_table([step for step in growth.steps if step.size in shown], growth.benchmark),
    }


def _explanation(explanation: MatrixExplanation) -> dict[str, Any]:
    rows = [row for row in explanation.rows if row.coefficient is not None]
    positive = [row for row in rows if (row.coefficient or 0) > 0]
    tests = [
        (
            "mean coefficient",
            explanation.mean_coefficient,
            explanation.mean_coefficient_permuted,
            explanation.p_mean_coefficient,
            None,
        ),
        (
            "ks of coefficients",
            explanation.ks_coefficient,
            None,
            explanation.p_ks_coefficient,
            explanation.p_ks_coefficient_textbook,
        ),
        ("ks of FDRs", explanation.ks_fdr, None, explanation.p_ks_fdr, explanation.p_ks_fdr_textbook),
        ("Mantel r", explanation.mantel_r, None, explanation.mantel_p, None),
    ]
    top = positive[:TOP]
    texts = [shorten(one) for one in distinctive([row.text for row in rows])]
    by_row = dict(zip((row.prompt for row in rows), texts, strict=True))
    return {
        "result": explanation,
        "chart": coefficient_chart(explanation),
        "table": tables.explanation_table(tests, explanation.benchmark),
        "top": bool(top),
        "top_table": tables.explained_table(top, explanation.benchmark, [by_row[row.prompt] for row in top])
        if top
        else None,
        "n_found": sum((row.fdr or 0) < FDR for row in positive if row.fdr is not None),
        "n_defined": len(rows),
    }
