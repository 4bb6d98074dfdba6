"""The part of a report on one benchmark: each part, or why it is not there."""

from __future__ import annotations

from functools import partial
from itertools import chain

from warehouse.analysis.leaderboard.answer import board_of
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.pairs.answer import pairs_of
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads, or_why
from warehouse.analysis.report_data.section_table import section_kinds


def benchmark_part(reads: BenchmarkReads, report: ReportSetting) -> BenchmarkPart:
    """All sections of a benchmark that was read; a section that cannot be made gives
    its error message instead.

    Args:
        report: that it is a part of.
    """
    options = report.ranks
    level = report.ranks.level
    board, scores = reads.board, reads.scores
    pairs, no_pairs = None, reads.why_no_scores
    if scores:
        pairs, no_pairs = or_why(
            lambda: pairs_of(
                scores,
                level=level,
                n_resamples=options.n_resamples,
                seed=options.seed,
                with_flags=True,
                only_first=True,
            )
        )
    return BenchmarkPart(
        reads.name,
        board,
        reads.why_no_scores,
        pairs,
        no_pairs,
        other_rows=_rows_by_other_metrics(reads, level),
        sections=_sections(reads, report),
    )


def _sections(reads: BenchmarkReads, report: ReportSetting) -> dict[str, Section]:
    """Sections that questions add, by name; a section that what was read does not allow
    is none."""
    found = {
        name: or_why(partial(kind.of, reads, report))[0]
        for name, kind in section_kinds().items()
    }
    return {name: section for name, section in found.items() if section is not None}


def suite_sections(name: str, report: ReportSetting) -> dict[str, Section]:
    """Sections that questions add to the part of a suite, by name."""
    found = {
        kind_name: kind.of_suite(name, report)
        for kind_name, kind in section_kinds().items()
    }
    return {
        kind_name: section
        for kind_name, section in found.items()
        if section is not None
    }


def _rows_by_other_metrics(
    reads: BenchmarkReads, level: float
) -> tuple[LeaderboardRow, ...]:
    """Rows of the conditions that a board lacks, by each other metric that some of them
    have."""
    if reads.board:
        shown = set(chain.from_iterable(row.run_ids for row in reads.board.rows))
    else:
        shown = set()
    boards = [
        board_of(scores, Ranking(level=level, n_resamples=0))
        for scores in reads.by_other_metrics
    ]
    rows = chain.from_iterable(board.rows for board in boards)
    return tuple(row for row in rows if shown.isdisjoint(row.run_ids))
