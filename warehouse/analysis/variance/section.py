"""Variance of a benchmark in a report: what makes the error of each condition."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Self

from markupsafe import Markup

from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.analysis.selection.targets import Targets
from warehouse.analysis.variance.answer import VarianceReport, variance_of
from warehouse.charts.page_parts import heading, notes
from warehouse.tables.page import model_and_condition, number, table
from warehouse.tables.words import decimals

#: Sentences below a table of variances.
MOST_ADVICE = 6


@dataclass(frozen=True)
class VarianceSection(Section):
    """Variance of the conditions of a benchmark, split between prompts and draws."""

    WORDS = "Variance"

    report: VarianceReport  #: with at least one condition whose error can be split.

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The split; None where no prompt has two draws, or none can be split."""
        targets, _ = reads.targets
        if targets is None or not _has_draws(targets):
            return None
        found = variance_of(targets, "*", {})
        if any(row.share_between is not None for row in found.rows):
            return cls(found)
        return None

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """The table with what more draws and more prompts would save."""
        below = notes(_advice(self.report)) + notes(self.report.left_out)
        return Markup("{}\n{}{}").format(
            heading(name, part.name, "Variance"),
            variance_table(self.report, part.name),
            below,
        )

    def claims(self, part: BenchmarkPart) -> tuple[str, ...]:
        """The question that has its figures."""
        return (f"noise variance * -b {shlex.quote(part.name)}",)


def _has_draws(targets: Targets) -> bool:
    """True if a variance can be split at all."""
    return any(
        int(target.scores.n_draws.max(initial=1)) > 1 for target in targets.scored
    )


def _advice(variance: VarianceReport) -> list[str]:
    """Advice on what more draws and more prompts would save, each sentence with those
    that it holds of."""
    of: dict[str, list[str]] = {}
    for row in variance.rows:
        if row.share_between is not None and row.advice:
            if row.condition:
                label = f"{row.model} ({row.condition})"
            else:
                label = row.model
            of.setdefault(row.advice, []).append(label)
    return [
        f"{', '.join(names)}: {words}"
        for words, names in list(of.items())[:MOST_ADVICE]
    ]


def variance_table(variance: VarianceReport, benchmark: str) -> Markup:
    """A table of what makes the error of each condition."""
    rows = [row for row in variance.rows if row.share_between is not None]
    n_decimals = decimals(row.standard_error for row in rows)
    return table(
        f"Variance of {benchmark}",
        "What makes the error: the choice of prompts, and the draws (the most that "
        "more draws can save).",
        [
            *model_and_condition(
                "Model tested",
                [row.model for row in rows],
                [row.condition for row in rows],
            ),
            number("SE", [row.standard_error for row in rows], n_decimals),
            number("Share of prompts", [row.share_between for row in rows], 2),
            number("Share of draws", [row.share_within for row in rows], 2),
            number(
                "SE, draws doubled",
                [row.se_double_draws for row in rows],
                n_decimals,
                minor=True,
            ),
            number(
                "SE, prompts fixed",
                [row.se_prompts_fixed for row in rows],
                n_decimals,
                minor=True,
            ),
            number(
                "Draws a prompt", [row.mean_draws for row in rows], "%.3g", minor=True
            ),
        ],
    )
