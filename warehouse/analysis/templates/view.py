"""Conditions over their templates, judges or few-shot draws: a table, its columns, and
who changes places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result
from warehouse.analysis.templates.brief import brief_view
from warehouse.analysis.templates.row import JudgeFlip as JudgeFlip
from warehouse.analysis.templates.row import TemplateRow as TemplateRow
from warehouse.analysis.variance.heading import (
    benchmark_cells,
    heading,
    left_out_notes,
    shared_columns,
)
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import (
    decimals,
    interval,
    level_column,
    number,
    reasons,
    scientific,
)

_HIDE_EMPTY = (
    "condition",
    "benchmark",
    "split",
    "metric",
    "needed",
    "flags",
    "spread",
    "clusters",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    *(
        "split",
        "metric",
        "V both",
        "V templates",
        "V prompts",
        "df",
        "condition",
        "lowest",
        "highest",
        "clusters",
    ),
    "prompts",
)
#: Pairs of models that are named where judges disagree.
_FLIPS_SHOWN = 5
_SAMPLES = {
    "both": "prompts and {factor}s are a sample of what could have been",
    "prompts": "prompts are a sample, these {factor}s are all there are",
    "templates": "{factor}s are a sample, these prompts are all there are",
}


@dataclass(frozen=True)
class TemplatesReport(Result):
    """Conditions over their templates."""

    target: str  #: as given.
    factor: str  #: what varies.
    rows: tuple[TemplateRow, ...]
    #: names of the forms that all conditions have, in the order of their names.
    templates: tuple[str, ...]
    #: of the pairs of conditions and shared templates, the share in which the order of
    #: the two is opposite to that of their means; None with one condition, or unknown
    #: direction.
    flip_share: float | None
    #: conditions that are first by some shared template; None where there is no order.
    n_top: int | None
    left_out: tuple[str, ...]  #: what has no scores, or one template alone.
    #: pairs of conditions that two judges put in different orders.
    flips: tuple[JudgeFlip, ...] = ()
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def one_line(self) -> str:
        return f"{self.target}: {len(self.rows)} conditions by {self.factor}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The first of what was left out."""
        return left_out_notes(self.left_out)

    def view(self, *, verbose: bool = False) -> View:
        """How far the form moves scores, and whether it changes the order of models.

        Args:
            verbose: every column, what it means, and what makes the error.
        """
        if verbose:
            return template_view(self)
        return brief_view(self, _flips(self))


def template_view(report: TemplatesReport) -> View:
    """The rows, what their columns mean, and how far the order of models depends on
    what varies."""
    shared = shared_columns(report.rows)
    n_decimals = decimals(row.standard_error for row in report.rows)
    cells = [_cells(row, n_decimals, shared, report.factor) for row in report.rows]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, counts=("left out",), minor=_MINOR)
    sample = _SAMPLES[report.rows[0].random].format(factor=report.factor)
    notes = [
        *reasons((row, row.reason) for row in report.rows if row.reason),
        *report.notes,
    ]
    sampled = f"se and interval: {sample}"
    columns = legend(_meanings(report.factor))
    order = [*_order(report), *_few(report), *_flips(report)]
    return View(
        (*heading(report.rows, shared), table, "", sampled, *columns, *order),
        tuple(notes),
    )


def _meanings(factor: str) -> dict[str, str]:
    return {
        "highest": (
            f"highest mean of a {factor}, with its name: like the lowest an extreme, "
            "without error"
        ),
        "spread": (
            "standard deviation of a judge's mean about that of all judges, answers "
            "the same"
        ),
        "V prompts": "variance of the figure that the choice of prompts makes",
        "V templates": f"that the choice of {factor}s makes",
        "V both": "that is in each of the two: of both together, and of draws",
        "needed": (
            f"{factor}s that bring the error to the one asked for; none: no number "
            "does, or there are no others"
        ),
        "left out": f"prompts without a score under some {factor}",
    }


def _order(report: TemplatesReport) -> list[str]:
    """How often the order of two conditions is another than that of their means."""
    if report.flip_share is None or report.n_top is None:
        return []
    first = (
        f"{report.n_top} of {len(report.rows)} conditions are first by some "
        f"{report.factor}"
    )
    share = f"{100 * report.flip_share:.0f} %"
    return [
        f"two conditions by one {report.factor}: opposite to their means in {share}; "
        f"{first}"
    ]


def _few(report: TemplatesReport) -> list[str]:
    if not any("few_templates" in row.flags for row in report.rows):
        return []
    return [
        f"few_templates: fewer than 9 {report.factor}s stand for all; where they "
        "differ much the interval is short"
    ]


def _flips(report: TemplatesReport) -> list[str]:
    """Which pairs two judges put in different orders."""
    if report.factor != "judge" or report.flip_share is None:
        return []
    shown = [flip for flip in report.flips if flip.is_shown]
    lines = [
        f"{len(report.flips)} pairs of models change places between two judges, "
        f"{len(shown)} by more than chance (both differences, Holm over pairs of "
        "models, times the pairs of judges)"
    ]
    for flip in shown[:_FLIPS_SHOWN]:
        lines.append(
            f"  {flip.judge_a} has {flip.model_a} above {flip.model_b} by "
            f"{abs(flip.difference_a):.3g}, {flip.judge_b} the other way by "
            f"{abs(flip.difference_b):.3g} (p = {flip.p_holm:.2g})"
        )
    n_more = len(shown) - _FLIPS_SHOWN
    if n_more > 0:
        lines.append(f"  and {n_more} more")
    return lines


def _cells(
    row: TemplateRow, n_decimals: int, shared: Sequence[str], factor: str
) -> dict[str, Any]:
    def named(value: float | None, name: str) -> str:
        if value is None:
            return ""
        return f"{number(value, n_decimals)} {name}"

    spread = row.variance_templates
    return {
        "model": row.model,
        "condition": row.condition,
        **benchmark_cells(row, shared),
        "estimate": number(row.estimate, n_decimals),
        "se": number(row.standard_error, n_decimals),
        level_column(row.level): interval(
            row.ci_low, row.ci_high, n_decimals, at=row.estimate
        ),
        "df": number(row.df, 1),
        "lowest": named(row.worst, row.worst_template),
        "highest": named(row.best, row.best_template),
        "spread": None
        if factor != "judge" or spread is None
        else number(max(0.0, spread) ** 0.5, n_decimals),
        "V prompts": scientific(row.part_prompts),
        "V templates": scientific(row.part_templates),
        "V both": scientific(row.part_residual),
        f"{factor}s": row.n_templates,
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "left out": row.n_left_out,
        "needed": row.templates_needed,
        "flags": row.flags,
    }
