"""Reliability of a ranking in a report, as the newest refresh has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Self

from markupsafe import Markup

from warehouse.analysis.groups import grouped
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.charts.page_parts import heading, opened
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.page import name, number, table, text

#: Statistics of a refresh as the page calls them.
_WORDS = {
    "dior_ranking": "Ranking: Kendall's τ",
    "dior_quality": "Quality: 1 − change of win rates",
    "dior_best": "Best: 1 − how often the second beats the first",
    "same_order": "Same order of all models, share of resamples",
    "rank_resolution": "Places that 95 % of ranks stay within",
}


@dataclass(frozen=True)
class StoredReliability:
    """The reliability of a benchmark's or suite's verdicts, by the newest refresh."""

    #: estimate, lower and upper end by statistic.
    figures: Mapping[str, tuple[float | None, float | None, float | None]]
    n_prompts: int | None  #: of it.
    refreshed_at: datetime  #: when, UTC.
    reason: str  #: why there are no figures.

    def estimate(self, statistic: str) -> float | None:
        """A figure, None where there is none."""
        return self.figures.get(statistic, (None, None, None))[0]

    @property
    def sentence(self) -> str:
        """The reliability in a sentence."""
        tau, same, wide = (
            self.estimate(name)
            for name in ("dior_ranking", "same_order", "rank_resolution")
        )
        if tau is None or same is None:
            if self.reason:
                return f"No figure: {self.reason}"
            return "No figure."
        ranks = ""
        if wide is not None:
            ranks = f"; 95 % of ranks stay within {wide:g} of their place"
        return (
            "A resample of the prompts gives the same order of all models in "
            f"{100 * same:.0f} % of cases, and a ranking with τ of at least {tau:.2f} "
            f"in 97.5 %{ranks}."
        )


def stored_reliability(store: Store) -> dict[str, StoredReliability]:
    """By name of benchmark or suite; those that a refresh of the family ``reliability``
    has figures of."""
    by_benchmark = grouped(
        store.rows(query_text("analysis/reliability", "report_reliability")),
        itemgetter("benchmark"),
    )
    stored = {}
    for benchmark, rows in by_benchmark.items():
        stored[benchmark] = StoredReliability(
            {
                row["statistic"]: (row["estimate"], row["low"], row["high"])
                for row in rows
            },
            rows[0]["n"],
            max(row["refreshed_at"] for row in rows),
            next((row["reason"] for row in rows if row["reason"]), ""),
        )
    return stored


def _stored(report: ReportSetting) -> dict[str, StoredReliability]:
    return stored_reliability(report.store)


@dataclass(frozen=True)
class ReliabilitySection(Section):
    """Reliability of the ranking of a benchmark or suite."""

    WORDS = "Reliability"

    stored: StoredReliability  #: of the newest refresh.

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The part that the newest refresh has; None where no refresh has figures of
        it."""
        return cls.of_suite(reads.name, report)

    @classmethod
    def of_suite(cls, name: str, report: ReportSetting) -> Self | None:
        """The same of a suite."""
        stored = report.once(_stored).get(name)
        if stored is None:
            return None
        return cls(stored)

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """The sentence, and the figures behind it."""
        return Markup("{}\n{}").format(
            heading(name, part.name, "Reliability"), self.suite_html(part.name)
        )

    def suite_html(self, name: str) -> Markup:
        """The same without a heading."""
        figures = reliability_table(self.stored, name)
        day = self.stored.refreshed_at.strftime("%Y-%m-%d")
        said = Markup("<p>{} Of the refresh of {}.</p>\n").format(
            self.stored.sentence, day
        )
        if figures is None:
            return said
        return said + opened("Figures of reliability", figures)


def reliability_table(reliability: StoredReliability, name_of: str) -> Markup | None:
    """The figures of a refresh; None where there are none."""
    rows = [
        (words, resampled, figure)
        for resampled, prefix in (("prompts", ""), ("scenarios", "scenarios_"))
        for key, words in _WORDS.items()
        if (figure := reliability.figures.get(f"{prefix}{key}"))
        and figure[0] is not None
    ]
    if not rows:
        return None
    return table(
        f"Reliability of {name_of}",
        "Resamples held against the whole (DIoR, Perlitz et al. 2024): at least so "
        "much in 97.5 % of 1 000; low and high are Monte Carlo error. As many fresh "
        "prompts agree less than resamples.",
        [
            name("Decision", [row[0] for row in rows], wrap=True),
            text("Resampled", [row[1] for row in rows], keep=True),
            number("At least", [row[2][0] for row in rows], 3),
            number("Low", [row[2][1] for row in rows], 3, minor=True),
            number("High", [row[2][2] for row in rows], 3, minor=True),
        ],
    )
