"""Votes on a benchmark in a report: strengths by each who judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from markupsafe import Markup

from warehouse.analysis.prefer.answer import prefer
from warehouse.analysis.prefer.charts import strength_pictures
from warehouse.analysis.prefer.view import PreferenceReport
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads, benchmarks_with_votes
from warehouse.charts.page_parts import figures, heading, opened_late
from warehouse.tables.page import count, name, number, table, text
from warehouse.tables.words import decimals


def _voted(report: ReportSetting) -> list[str]:
    return benchmarks_with_votes(report.store, report.names)


@dataclass(frozen=True)
class VotesSection(Section):
    """Strengths of models by votes between two of them."""

    WORDS = "Votes"

    report: PreferenceReport  #: by each who judged.

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The strengths; None without votes."""
        if reads.name not in report.once(_voted):
            return None
        return cls(
            prefer(report.store, reads.name, by="scorer", level=report.ranks.level)
        )

    @property
    def answer(self) -> str:
        """Who is the strongest, of a benchmark that nobody has scores of."""
        return self.report.one_line

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """The strengths as pictures, with the table behind them."""
        said = Markup("{}\n<p>{}</p>\n{}").format(
            heading(name, part.name, "Votes"),
            self.report.one_line,
            figures(strength_pictures(self.report)),
        )
        if not self.report.rows:
            return said
        return (
            said
            + "\n"
            + opened_late("Figures of the strengths", preferences_table(self.report))
        )


def preferences_table(report: PreferenceReport) -> Markup:
    """Strengths by votes."""
    rows = report.rows
    n_decimals = decimals(row.standard_error for row in rows)
    ranks = [
        "" if row.rank_low is None else f"{row.rank_low}-{row.rank_high}"
        for row in rows
    ]
    return table(
        f"Strengths on {report.benchmark} by votes",
        "Log-odds of winning (Bradley and Terry) less the mean of all models, a tie as "
        "half a win; errors by voters and prompts. Ranks: places that a model may "
        "have, by intervals that hold for all pairs together.",
        [
            name("Model", [row.model for row in rows]),
            text(
                "Scorer",
                [row.scorer for row in rows]
                if len(report.judges) > 1
                else [""] * len(rows),
            ),
            text("Ranks", ranks, keep=True),
            number("Strength", [row.estimate for row in rows], n_decimals),
            number("Low", [row.low for row in rows], n_decimals),
            number("High", [row.high for row in rows], n_decimals),
            number("Wins of mean", [row.win_probability for row in rows], 2),
            count("Votes", [row.n_votes for row in rows], minor=False),
            text("Why no error", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )
