"""Models by slices in a report: of the fields by which somebody clustered the prompts,
where they have few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from markupsafe import Markup

from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.slices.board import all_prompts, board_by
from warehouse.analysis.slices.board_view import SliceBoard, SliceScore
from warehouse.analysis.slices.declared import FieldLabel, in_words, labels_of
from warehouse.analysis.slices.fields import Slicing
from warehouse.analysis.slices.question import LeaderboardBy
from warehouse.analysis.slices.source_labels import Labels, source_labels
from warehouse.charts.page_parts import heading, notes
from warehouse.tables.page import count, name, number, table
from warehouse.tables.words import decimals

#: Models that are a column, the best first.
MOST_MODELS = 6
#: Values of a field that is shown.
FEWEST_VALUES, MOST_VALUES = 2, 20
#: By id of the benchmark its fields.
_Labels = dict[int, Labels]


@dataclass(frozen=True)
class SliceSection(Section):
    """Every model slice by slice."""

    WORDS = "By field"

    boards: tuple[SliceBoard, ...]  #: one for each field.
    labels: tuple[FieldLabel, ...] = ()  #: what each field counts as.

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The slices; None where nobody named a field of few values."""
        if reads.scores is None:
            return None
        labels = report.once(_read_labels)
        fields = _fields_of(labels, reads.benchmark.ids)
        if not fields:
            return None
        prompts = all_prompts(reads.scores)
        boards = []
        for field, of in fields.items():
            slicing = _sliced(field, of, prompts.tolist())
            if len(slicing.values) > 1:
                boards.append(_board(reads.scores, slicing, report.ranks))
        if not boards:
            return None
        counted_as = labels_of(
            report.store,
            reads.scores.benchmark.name,
            [board.field for board in boards],
            [run["run_id"] for run in reads.scores.runs],
        )
        return cls(tuple(boards), counted_as)

    def html(self, part: BenchmarkPart, anchor: str) -> Markup:
        """A table for each field, with what is to be said of the lowest of several."""
        words = [heading(anchor, part.name, "By field")]
        words += [_table(board, part.name) for board in self.boards]
        remarks = [
            "the lowest of several slices is the lowest of noisy figures: it will look "
            "better next time",
            "verdicts that allow for reading all slices: warehouse compare A B --by "
            "FIELD",
        ]
        remarks += in_words(self.labels)
        return Markup("\n").join([*words, notes(remarks)])


def _board(scores: BenchmarkScores, slicing: Slicing, ranks: Ranking) -> SliceBoard:
    """The leaderboard of a field, by the tests of the report's own leaderboard."""
    asked = LeaderboardBy(
        scores.benchmark.name, (slicing.name,), level=ranks.level, seed=ranks.seed
    )
    return board_by(scores, slicing, asked, n_resamples=ranks.n_resamples)


def _read_labels(report: ReportSetting) -> _Labels:
    """The fields of few values of all benchmarks."""
    ids = [row["id"] for row in report.store.rows("select id from benchmark")]
    if not ids:
        return {}
    return source_labels(report.store, ids, FEWEST_VALUES, MOST_VALUES)


def _fields_of(labels: _Labels, ids: Sequence[int]) -> dict[str, dict[int, str]]:
    """The value of each prompt of a benchmark, by the name of the field."""
    found: dict[str, dict[int, str]] = {}
    for benchmark in ids:
        for field, own in labels.get(benchmark, {}).items():
            found.setdefault(field, {}).update(own)
    return found


def _sliced(field: str, of: dict[int, str], prompts: list[int]) -> Slicing:
    values = tuple(sorted({of[prompt] for prompt in prompts if prompt in of}))
    numbers = {value: number for number, value in enumerate(values)}
    own = []
    for prompt in prompts:
        own.append((numbers[of[prompt]],) if prompt in of else ())
    return Slicing(field, values, tuple(own), np.array(prompts, np.int64))


def _table(board: SliceBoard, benchmark: str) -> Markup:
    """A row for each slice, a column for each of the first models."""
    shown = board.by_row()[:MOST_MODELS]
    n_slices = len(board.slices) + 1
    errors = [one.standard_error for scores in shown for one in scores[:n_slices]]
    digits = decimals(errors)
    first = shown[0][:n_slices]
    columns: list[Any] = [
        name(board.field, [one.slice or "overall" for one in first]),
        count("Prompts", [one.n_prompts for one in first], keep=True),
    ]
    for scores in shown:
        own: list[SliceScore] = scores[:n_slices]
        columns.append(number(_head(own[0]), [one.estimate for one in own], digits))
    caption = "Mean score on each slice, the best models overall first."
    return table(f"{benchmark} by {board.field}", caption, columns)


def _head(one: SliceScore) -> str:
    if one.condition:
        return f"{one.model} ({one.condition})"
    return one.model
