"""Seeds crossed with prompts, as a table with the meaning of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result, Row
from warehouse.analysis.variance.heading import (
    benchmark_cells,
    heading,
    left_out_notes,
    shared_columns,
)
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import decimals, number, scientific

_HIDE_EMPTY = ("recipe", "position", "benchmark", "split", "metric", "clusters")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    *(
        "split",
        "metric",
        "recipe",
        "V both",
        "V seeds",
        "V prompts",
        "clusters",
        "prompts",
        "seed sd",
    ),
    "se prompts fixed",
)
#: Columns of the seeds, in words.
_LEGEND = {
    "se seeds fixed": "error if these seeds are all there are, and prompts a sample",
    "se prompts fixed": "error if these prompts are all there are, and seeds a sample",
    "se both sampled": (
        "error if both are samples; squared: V prompts + V seeds - V both, at least "
        "either"
    ),
    "seed sd": "standard deviation of the seeds' figures",
    "V prompts": "variance of the figure that the choice of prompts makes",
    "V seeds": "variance that the choice of seeds makes",
    "V both": "variance that is in each of the two: of both together, and of draws",
    "left out": "prompts that some seed has no score of",
}


@dataclass(frozen=True)
class SeedRow(Row):
    """Seeds of one model at one position, on the prompts that all of them have a score
    of."""

    model: str  #: name of the model.
    recipe: str  #: data mix or hyperparameters of the replicates.
    position: str  #: of the checkpoints, such as ``"step=1000"``; empty if unknown.
    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    metric: str  #: name of the metric, with its filter.
    estimate: float | None  #: mean over seeds and prompts.
    #: the prompts are a sample, these seeds are all there are.
    se_seeds_fixed: float | None
    #: the seeds are a sample, these prompts are all there are.
    se_prompts_fixed: float | None
    se_both_sampled: float | None  #: both are samples.
    #: only the draws are random; None if a prompt has one draw.
    se_both_fixed: float | None
    seed_sd: float | None  #: sample standard deviation of the seeds' figures.
    n_seeds: int  #: seeds S.
    n_prompts: int  #: prompts n that all seeds have a score of.
    n_clusters: int | None  #: clusters among them, where the errors allow for them.
    n_left_out: int  #: prompts that some seed has no score of.
    part_prompts: float | None  #: V_p, variance of the mean due to the prompts.
    part_seeds: float | None  #: V_s, due to the seeds.
    part_interaction: float | None  #: V_i, due to both together, and to draws.
    seeds: tuple[str, ...]  #: their labels.
    reason: str  #: why the figures are None.
    run_ids: tuple[int, ...]  #: ids of the runs.


@dataclass(frozen=True)
class SeedReport(Result):
    """Seeds crossed with prompts, one row per model, position and benchmark."""

    target: str  #: as given.
    rows: tuple[SeedRow, ...]
    left_out: tuple[str, ...]  #: what has no scores, with the reason.

    @property
    def one_line(self) -> str:
        return f"{self.target}: {len(self.rows)} sets of training seeds"

    @property
    def notes(self) -> tuple[str, ...]:
        """The first of what was left out."""
        return left_out_notes(self.left_out)

    def view(self, *, verbose: bool = False) -> View:
        """The command's table and what its columns mean."""
        return seed_view(self)


def seed_view(report: SeedReport) -> View:
    """The rows, what their columns mean, and why some are missing."""
    shared = shared_columns(report.rows)
    n_decimals = decimals(row.se_both_sampled for row in report.rows)
    cells = [_cells(row, n_decimals, shared) for row in report.rows]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, counts=("left out",), minor=_MINOR)
    notes = [
        f"{row.model} {row.position}".rstrip() + f": {row.reason}"
        for row in report.rows
        if row.reason
    ]
    notes += report.notes
    return View(
        (*heading(report.rows, shared), table, "", *legend(_LEGEND)), tuple(notes)
    )


def _cells(row: SeedRow, n_decimals: int, shared: Sequence[str]) -> dict[str, Any]:
    return {
        "model": row.model,
        "recipe": row.recipe,
        "position": row.position,
        **benchmark_cells(row, shared),
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
