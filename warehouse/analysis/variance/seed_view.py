"""Seeds crossed with prompts, as a table with the meaning of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warehouse.analysis.variance.heading import heading, shared_columns
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import decimals, number, scientific

if TYPE_CHECKING:
    from warehouse.analysis.variance.variance import SeedReport, SeedRow

_HIDE_EMPTY = ("recipe", "position", "benchmark", "split", "metric", "clusters")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    *("split", "metric", "recipe", "V both", "V seeds", "V prompts", "clusters", "prompts", "seed sd"),
    "se prompts fixed",
)
#: Columns of the seeds, in words.
_LEGEND = {
    "se seeds fixed": "error if these seeds are all there are, and prompts a sample",
    "se prompts fixed": "error if these prompts are all there are, and seeds a sample",
    "se both sampled": "error if both are samples; squared: V prompts + V seeds - V both, at least either",
    "seed sd": "standard deviation of the seeds' figures",
    "V prompts": "variance of the figure that the choice of prompts makes",
    "V seeds": "variance that the choice of seeds makes",
    "V both": "variance that is in each of the two: of both together, and of draws",
    "left out": "prompts that some seed has no score of",
}


def seed_view(report: SeedReport) -> View:
    """The rows, what their columns mean, and why some are missing."""
    shared = shared_columns(report.rows)
    n_decimals = decimals(row.se_both_sampled for row in report.rows)
    cells = [_cells(row, n_decimals, shared) for row in report.rows]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, counts=("left out",), minor=_MINOR)
    notes = [f"{row.model} {row.position}".rstrip() + f": {row.reason}" for row in report.rows if row.reason]
    notes += report.notes
    return View((*heading(report.rows, shared), table, "", *legend(_LEGEND)), tuple(notes))


def _cells(row: SeedRow, n_decimals: int, shared: Sequence[str]) -> dict[str, Any]:
    return {
        "model": row.model,
        "recipe": row.recipe,
        "position": row.position,
        "benchmark": "" if "benchmark" in shared else row.benchmark,
        "split": row.split,
        "metric": "" if "metric" in shared else row.metric,
        "estimate": number(row.estimate, n_decimals),
        "se seeds fixed": number(row.se_seeds_fixed, n_decimals),
        "se prompts fixed": number(row.se_prompts_fixed, n_decimals),
        "se both sampled": number(row.se_both_sampled, n_decimals),
        "seed sd": number(row.seed_sd, n_decimals),
        "V prompts": scientific(row.part_prompts),
        "V seeds": scientific(row.part_seeds),
        "V both": scientific(row.part_interaction),
        "seeds": row.n_seeds,
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "left out": row.n_left_out,
    }
