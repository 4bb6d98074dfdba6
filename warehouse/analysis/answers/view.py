"""What people are shown of metrics of whole sets: the answer in a sentence, a row a
model, confusions, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from warehouse.analysis.answers.metrics import LOW_IS_GOOD, AskedMetric, asked
from warehouse.analysis.answers.question import CLASSES, CONFIDENCE, NUMBERS
from warehouse.analysis.answers.rows import (
    AnswerDifferenceRow,
    AnsweredModel,
    AnswerMetricRow,
    ConfusionCell,
)
from warehouse.analysis.answers.sentences import (
    REASONS,
    board_sentence,
    count_in_words,
    model_sentence,
    named,
    pair_sentence,
    titled,
    unit_for,
    unit_of_rows,
)
from warehouse.analysis.results import Result
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote, View, legend
from warehouse.tables.words import (
    WrittenNumber,
    excerpt,
    left_out,
    level_column,
    meanings,
    p_value,
    percentage,
    plural,
    some_of,
    span_of,
)

#: Models and classes that are shown unless all are asked for.
MOST = 20
#: Classes up to which all counts stand in a table; beyond, the largest confusions.
MOST_COLUMNS = 5
#: Characters of the name of a class, and of one as a heading.
_LENGTH, _NARROW = 24, 12
#: Heading of the column of prompts without an answer.
_NO_ANSWER = "(no answer)"
#: Confusions that are listed.
_CONFUSIONS = 10
_LEGEND = {
    "macro F1": "mean over classes of F1, each class alike",
    "balanced accuracy": "mean over classes of recall, each class alike",
    "weighted F1": "mean over classes of F1, by how often each is the target",
    "MCC": "Matthews' correlation of answer and target: 0 for answers at random, 1",
    "kappa": "Cohen's: agreement beyond that of answers at random",
    "F1": "of precision and recall the harmonic mean",
    "precision": "share right of the answers that say this class",
    "recall": "share right of the prompts with this class as target",
    "no answer": "share of prompts without an answer that is a class: never right",
    "R2": "1 - squared error / variance of targets; below 0 worse than their mean",
    "AUROC": "chance that a right answer has more confidence than a wrong one",
    "AURC": "mean error rate of the most confident answers; low is good",
    "Brier": "mean squared distance of confidence from right (1) or wrong (0)",
    "ECE": "mean distance of confidence from the share right, in 10 bins",
    "overconfidence": "mean confidence less the share right",
    "Spearman": "correlation of ranks, which far numbers do not rule",
}


@dataclass(frozen=True)
class AnswerReport(Result):
    """Answers held against targets."""

    DRAWN_BY = "warehouse.analysis.answers.charts:answer_charts"

    benchmark: str  #: name of the benchmark.
    #: ``classes`` or ``numbers``, as targets were read; or ``confidence``.
    kind: str
    classes: tuple[str, ...]  #: the classes that targets have; of numbers none.
    asked: tuple[
        str, ...
    ]  #: metrics that the table of models shows, the first orders it.
    of_class: str | None  #: the class that was asked for.
    rows: tuple[AnswerMetricRow, ...]  #: one for each model and metric.
    models: tuple[AnsweredModel, ...]  #: what there is of each model's answers.
    #: of two models: the first less the second, one row a metric.
    differences: tuple[AnswerDifferenceRow, ...]
    confusion: tuple[ConfusionCell, ...]  #: of one model: its counts.
    #: of all models: the best less the next; None where there is no next.
    lead: AnswerDifferenceRow | None
    only_answered: bool  #: whether prompts without an answer were left out.
    notes: tuple[str, ...]  #: what a reader should know.
    left_out: tuple[str, ...]  #: models without a row, with the reason.

    @property
    def ranked(self) -> list[AnswerMetricRow]:
        """Rows of the first metric that was asked for, the best first; those on a part
        of the prompts, and those without a figure, last."""
        metric = asked(self.asked[0])
        own = [row for row in self.rows if row.metric == metric.name]
        if metric.is_of_class and self.of_class is not None:
            own = [row for row in own if row.of_class == self.of_class]
        sign = -1
        if metric.name in LOW_IS_GOOD:
            sign = 1
        return sorted(
            own,
            key=lambda row: (
                row.estimate is None,
                "subset" in row.flags,
                sign * (row.estimate or 0.0),
                row.model,
                row.condition,
            ),
        )

    @property
    def one_line(self) -> str:
        """The answer in a sentence."""
        if self.differences:
            return pair_sentence(self.differences)
        if self.confusion:
            return model_sentence(self.rows, self.confusion)
        return board_sentence(self.ranked, self.lead)

    def view(self, *, verbose: bool = False) -> View:
        """The sentence, then the table that was asked for."""
        most: int | None = MOST
        if verbose:
            most = None
        if self.differences:
            tables = _pair_parts(self)
        elif self.confusion:
            tables = _model_parts(self, most)
        else:
            tables = _board_parts(self, most)
        return View((_heading(self), self.one_line, "", *tables), self.all_notes)

    def confusion_view(self) -> View:
        """The sentence, and the counts alone."""
        parts = (_heading(self), self.one_line, "", *_confusion_parts(self))
        return View(parts, self.all_notes)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What a reader should know, why figures are missing, and who has no row."""
        return (*self.notes, *_why_none(self), *left_out(self.left_out))


def _heading(report: AnswerReport) -> str:
    """``syllogism · 2 classes · 50 prompts · only prompts with an answer``."""
    what = f"{len(report.classes)} classes"
    if report.kind == NUMBERS:
        what = "numbers"
    elif report.kind == CONFIDENCE:
        what = "confidence against right and wrong"
    sizes = [row.n_prompts for row in report.rows]
    if report.differences:
        sizes = [row.n_prompts for row in report.differences]
    prompts = span_of(sizes)
    parts = [report.benchmark, what, f"{prompts} {plural('prompt', max(sizes))}"]
    clusters = {row.n_clusters for row in report.rows if row.n_clusters is not None}
    if clusters:
        parts[-1] += f" in {span_of(clusters)} clusters"
    if report.only_answered and report.kind == CLASSES:
        parts.append("only prompts with an answer")
    return " · ".join(parts)


def _board_parts(
    report: AnswerReport, most: int | None
) -> list[str | Table | TableNote]:
    ranked = report.ranked
    shown = [asked(name) for name in report.asked]
    units: dict[str, Unit] = {}
    for metric in shown:
        own = [row for row in report.rows if row.metric == metric.name]
        units[metric.name] = unit_of_rows(metric, own)
    cells = [_board_cells(report, row, shown, units) for row in ranked[:most]]
    if len({row.n_prompts for row in ranked}) == 1:
        for row in cells:
            del row["prompts"]
    minor = ("settings", "flags", *(metric.heading for metric in shown[:0:-1]))
    table = Table.of(cells, hide_empty=("settings", "no answer", "flags"), minor=minor)
    parts: list[str | Table | TableNote] = [table]
    if most is not None and len(ranked) > most:
        parts.append(f"... and {len(ranked) - most} more; --explain shows all")
    flags = set(chain.from_iterable(row.flags for row in ranked[:most]))
    if "subset" in flags:
        parts.append("subset: fewer prompts than others answered: stands last")
    return [*parts, *legend(_LEGEND), *meanings(sorted(flags))]


def _board_cells(
    report: AnswerReport,
    row: AnswerMetricRow,
    shown: Sequence[AskedMetric],
    units: Mapping[str, Unit],
) -> dict[str, Any]:
    """The cells of a model."""
    own = {
        (other.metric, other.of_class): other
        for other in report.rows
        if (other.model, other.condition) == (row.model, row.condition)
    }
    cells: dict[str, Any] = {"model": row.model, "settings": row.condition}
    for metric in shown:
        of_class = None
        if metric.is_of_class:
            of_class = report.of_class
        found = own[metric.name, of_class]
        is_first = metric is shown[0]
        cells |= _figure_cells(found, metric, units[metric.name], is_first=is_first)
    for facts in report.models:
        if (facts.model, facts.condition) == (row.model, row.condition):
            cells["no answer"] = _share_missing(facts)
    cells["prompts"] = row.n_prompts
    cells["flags"] = row.flags
    return cells


def _why_none(report: AnswerReport) -> list[str]:
    """Why figures that the table of models lacks are not there."""
    if report.differences or report.confusion:
        return []
    shown = [row for row in report.rows if row.metric in report.asked and row.reason]
    lines: dict[tuple[str, str], list[str]] = {}
    for row in shown:
        if row.of_class in (None, report.of_class) and row.estimate is None:
            metric = titled(asked(row.metric), row.of_class)
            lines.setdefault((metric, row.reason), []).append(named(row))
    return [
        f"no {metric} of {some_of(models)}: {REASONS.get(reason, reason)}"
        for (metric, reason), models in lines.items()
    ]


def _figure_cells(
    row: AnswerMetricRow, metric: AskedMetric, unit: Unit, *, is_first: bool
) -> dict[str, Any]:
    """A figure; of the first metric with its interval, of others with their error."""
    if row.estimate is None:
        written: Any = WrittenNumber("-")
    elif is_first:
        written = unit.figure(row.estimate)
    else:
        written = unit.with_error(row.estimate, row.standard_error)
    cells = {metric.heading: written}
    if is_first:
        ends = unit.ends(row.ci_low, row.ci_high, at=row.estimate)
        cells[level_column(row.level)] = ends
    return cells


def _share_missing(facts: AnsweredModel) -> WrittenNumber | None:
    missing = 1 - facts.share_answered
    if missing < 1e-9:
        return None
    return percentage(missing)


def _model_parts(
    report: AnswerReport, most: int | None
) -> list[str | Table | TableNote]:
    whole = [row for row in report.rows if row.of_class is None]
    by_class = [row for row in report.rows if row.of_class is not None]
    parts: list[str | Table | TableNote] = []
    if whole:
        parts += [Table.of(map(_whole_cells, whole), hide_empty=("flags", "why not"))]
    if by_class:
        classes = dict.fromkeys(row.of_class for row in by_class)
        cells = [_class_cells(by_class, name) for name in [*classes][:most]]
        parts += ["", Table.of(cells, hide_empty=("flags",), minor=("flags",))]
    flags = set(chain.from_iterable(row.flags for row in report.rows))
    parts += [*legend(_LEGEND), *meanings(sorted(flags))]
    return [*parts, "", *_confusion_parts(report)]


def _whole_cells(row: AnswerMetricRow) -> dict[str, Any]:
    metric = asked(row.metric)
    unit = unit_of_rows(metric, [row])
    return {
        "of all classes": metric.heading,
        "figure": unit.with_error(row.estimate, row.standard_error),
        level_column(row.level): unit.ends(row.ci_low, row.ci_high, at=row.estimate),
        "flags": row.flags,
        "why not": REASONS.get(row.reason, row.reason),
    }


def _class_cells(
    rows: Sequence[AnswerMetricRow], of_class: str | None
) -> dict[str, Any]:
    """The metrics of a class, F with its interval."""
    own = {row.metric: row for row in rows if row.of_class == of_class}
    cells: dict[str, Any] = {"class": excerpt(of_class, _LENGTH)}
    if "recall" in own:
        cells["targets"] = round(own["recall"].n_positive or 0)
    flags: list[str] = []
    for name, row in own.items():
        metric = asked(name)
        unit = unit_of_rows(metric, [one for one in rows if one.metric == name])
        cells[metric.heading] = unit.figure(row.estimate)
        if row.estimate is None:
            cells[metric.heading] = WrittenNumber("-")
        if metric.form == "f" or len(own) == 1:
            ends = unit.ends(row.ci_low, row.ci_high, at=row.estimate)
            cells[level_column(row.level)] = ends
        flags += row.flags
    cells["flags"] = tuple(dict.fromkeys(flags))
    return cells


def _confusion_parts(report: AnswerReport) -> list[str | Table | TableNote]:
    """Counts of all cells, or of many classes the largest confusions."""
    if len(report.classes) > MOST_COLUMNS:
        return ["Most frequent confusions:", _largest_confusions(report)]
    answers: list[str | None] = [*report.classes]
    if any(cell.n for cell in report.confusion if cell.answer is None):
        answers.append(None)
    by_cell = {(cell.target, cell.answer): cell.n for cell in report.confusion}
    rows: list[tuple[Any, ...]] = []
    for target in report.classes:
        counts = [by_cell.get((target, answer), 0.0) for answer in answers]
        written = [WrittenNumber(count_in_words(n)) for n in counts]
        rows.append((excerpt(target, _LENGTH), *written))
    # a class may be called like a heading: they are no keys here
    headings = [excerpt(answer or _NO_ANSWER, _NARROW) for answer in answers]
    return [Table(("target \\ answer", *headings), tuple(rows))]


def _largest_confusions(report: AnswerReport) -> Table:
    wrong = [cell for cell in report.confusion if cell.answer != cell.target and cell.n]
    wrong.sort(key=lambda cell: -cell.n)
    cells = [
        {
            "target": excerpt(cell.target, _LENGTH),
            "answer": excerpt(cell.answer or _NO_ANSWER, _LENGTH),
            "prompts": WrittenNumber(count_in_words(cell.n)),
            "of the target's": percentage(cell.share),
        }
        for cell in wrong[:_CONFUSIONS]
    ]
    return Table.of(cells, empty="none: every answer is right")


def _pair_parts(report: AnswerReport) -> list[str | Table | TableNote]:
    first = report.differences[0]
    cells = [_pair_cells(row) for row in report.differences]
    flags = set(chain.from_iterable(row.flags for row in report.differences))
    differing = (
        f"first: {first.model_a}, second: {first.model_b}; their answers differ on "
        f"{first.n_differing} of {first.n_prompts} prompts"
    )
    explained = {
        "p": "the larger of Student's t on what each prompt adds, and of the share of "
        "exchanges of both models' answers that give as large a difference",
    }
    hide_empty = ("class", "verdict")
    table = Table.of(cells, hide_empty=hide_empty, minor=("p",))
    return [differing, "", table, *legend(explained), *meanings(sorted(flags))]


def _pair_cells(row: AnswerDifferenceRow) -> dict[str, Any]:
    metric = asked(row.metric)
    unit = unit_for(metric, [row.standard_error])
    return {
        "metric": metric.heading,
        "class": row.of_class or "",
        "first": unit.figure(row.estimate_a),
        "second": unit.figure(row.estimate_b),
        "difference": unit.difference(row.difference),
        level_column(row.level): unit.ends(row.ci_low, row.ci_high, at=row.difference),
        "p": p_value(row.p_value),
        "verdict": row.verdict,
    }
