"""Rows of two models by slices, and what people are shown of them: where one is better,
whether the difference varies, the slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.comparison.brief import Names
from warehouse.analysis.comparison.words import models_of
from warehouse.analysis.results import PairedRow, Result, Row
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.slices.declared import EXPLORATORY, FieldLabel, in_words
from warehouse.stats.core.inputs import rejects
from warehouse.stats.slices.family import MIN_P, STEP_DOWN
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote, View
from warehouse.tables.words import (
    counted,
    fixed,
    level_column,
    listed,
    meanings,
    p_value,
    some_of,
    visible,
)

#: The slice of prompts without the field.
NONE = "(none)"
#: Slices up to which all are shown; of more, how many of those without a verdict at
#: either end.
MOST, ENDS = 20, 3
#: What the tests of a family rest on.
HOW = {STEP_DOWN: "exact tests", MIN_P: "signs of whole units"}
OPEN, NOT_TESTED = "open", "not tested"
_HIDE_EMPTY = ("clusters", "flags")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("clusters", "flags", "questions")


@dataclass(frozen=True)
class SliceRow(PairedRow):
    """The difference of two models on one slice, first minus second."""

    field: str  #: by which the prompts are sliced.
    slice: str  #: value of the field; ``(none)``: prompts without it.
    n_prompts: int  #: common prompts in the slice.
    n_clusters: int | None  #: their clusters; None without.
    mean_a: float | None  #: figure of the first on the slice.
    mean_b: float | None  #: figure of the second.
    difference: float | None  #: ``mean_a - mean_b``.
    standard_error: float | None  #: of it; None where not defined or 0.
    ci_low: float | None  #: lower end of the interval of this slice read alone.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage of the intervals.
    method: str  #: of the interval.
    #: lower end of the interval that holds together with those of the other slices;
    #: None without bounds.
    simultaneous_low: float | None
    simultaneous_high: float | None  #: upper end of it.
    p_value: float | None  #: two-sided, of this slice alone.
    p_adjusted: float | None  #: for reading all slices of the field.
    #: of the test whether the difference varies over the slices of the field at all,
    #: adjusted for the number of fields; the same in every row of a field.
    p_varies: float | None
    #: ``"a"`` or ``"b"`` where ``p_adjusted`` is at most 1 - level, by the metric's
    #: direction; else empty.
    better: str
    #: ``few_prompts`` (below 30), ``few_clusters`` (below 20), ``overlapping``.
    flags: tuple[str, ...]
    reason: str  #: why there is no interval or no verdict.
    #: ``declared``: the field was named before the scores were stored; else
    #: ``exploratory``.
    label: str = EXPLORATORY
    declared_at: str | None = None  #: when it was named, UTC; None: never.


@dataclass(frozen=True)
class FieldTest(Row):
    """Whether the difference varies over the slices of a field at all."""

    field: str  #: by which the prompts are sliced.
    n_slices: int  #: values that it has.
    n_prompts: int  #: common prompts with the field.
    n_clusters: int | None  #: clusters in the test; None without.
    n_without: int  #: common prompts without the field.
    #: Brown and Forsythe's, by clusters where there are any.
    statistic: float | None
    p_value: float | None  #: by signs of the clusters; None without a test.
    p_holm: float | None  #: adjusted for the number of fields; None with one.
    left_out: tuple[str, ...]  #: slices of one prompt, or one cluster.
    n_resamples: int  #: random signs; 0 where all were gone through.
    family: str  #: tests of the slices: ``discrete_step_down``, ``min_p``, or none.
    flags: tuple[str, ...]  #: ``few_clusters``, ``overlapping``.
    reason: str  #: why there is no test.

    @property
    def p(self) -> float | None:
        """The p that counts."""
        if self.p_holm is not None:
            return self.p_holm
        return self.p_value


@dataclass(frozen=True)
class SliceComparison(Result):
    """Two models by the slices of one field, or of each of several."""

    a: str  #: the first reference, as given.
    b: str  #: the second reference, as given.
    rows: tuple[SliceRow, ...]
    fields: tuple[FieldTest, ...]  #: one for each field.
    notes: tuple[str, ...]  #: what a reader should know.
    higher_is_better: bool | None  #: direction of the metric.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.
    labels: tuple[FieldLabel, ...] = ()  #: what each field counts as.

    @property
    def one_line(self) -> str:
        names = Names.of(self.rows[0])
        return f"{self.rows[0].benchmark}: {self._said(self.fields[0], names)}"

    def rows_of(self, field: str) -> list[SliceRow]:
        """The slices of a field, without the prompts that have none."""
        rows = [row for row in self.rows if row.field == field]
        return [row for row in rows if row.difference is not None]

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """The sentences and the slices of each field.

        Args:
            verbose: also the p-values.
            top: None: of many slices those with a verdict and the extremes; 0: all.
        """
        first = self.rows[0]
        names = Names.of(first)
        head = _heading(first, names, self.fields) + policy_words(self.policy)
        parts: list[Part] = [head]
        for test in self.fields:
            parts += self._of_field(test, names, verbose=verbose, top=top)
        parts += [TableNote(line) for line in self._lines(names)]
        flags = [flag for row in self.rows for flag in row.flags]
        parts += [TableNote(line, "flags") for line in meanings(flags)]
        notes = list(self.notes)
        if self.higher_is_better is None:
            notes.append(direction_unknown(first.metric, first.benchmark))
        return View(tuple(parts), tuple(notes))

    def _of_field(
        self, test: FieldTest, names: Names, *, verbose: bool, top: int | None
    ) -> list[Part]:
        rows = ordered(self.rows_of(test.field))
        unit = Unit.of((row.standard_error for row in rows), in_percent=self.is_share)
        without = [
            row
            for row in self.rows
            if row.field == test.field and row.difference is None
        ]
        shown = rows
        if top is None and len(rows) > MOST:
            shown = extremes(rows)
        cells = list(_cells(shown, names, unit, verbose=verbose))
        if len(shown) < len(rows):
            line = f"... {len(rows) - len(shown)} more (--all)"
            cells.append(dict.fromkeys(cells[0], "") | {test.field: line})
        for row in without:
            cells += _without(row, cells[0])
        varies = varies_in_words(test, "The difference", self.rows[0].level)
        said = self._said(test, names)
        if test.reason and said.endswith(test.reason):
            varies = ""  # for the same reason
        sentences = [f"{said}.", varies]
        table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
        return [*map(visible, filter(None, sentences)), "", table]

    def _said(self, test: FieldTest, names: Names) -> str:
        """On how many slices each is better, and on how many nobody is."""
        rows = self.rows_of(test.field)
        of = f"of {counted(len(rows), 'slice')} by {test.field}"
        tested = [row for row in rows if row.p_adjusted is not None]
        if not tested:
            return f"No verdict {of.replace('of ', 'on ', 1)}: {_why(rows)}"
        wins = {
            name: sum(row.better == letter for row in rows)
            for letter, name in (("a", names.a), ("b", names.b))
        }
        n_open = sum(not row.better for row in tested)
        n_untested = len(rows) - len(tested)
        rest = []
        if n_open:
            verb = "cannot be told apart"
            if self.higher_is_better is None:
                verb = "have no verdict, as which is better is not known"
            rest.append(f"{n_open} {verb}")
        if n_untested:
            rest.append(f"{n_untested} not tested")
        if not any(wins.values()):
            return f"{names.a} and {names.b}, {of}: {listed(rest)}"
        leader, loser = sorted(wins, key=lambda name: -wins[name])
        worse = f"worse on {wins[loser] or 'none'}"
        return "; ".join([f"{leader} is better on {wins[leader]} {of}, {worse}", *rest])

    def _lines(self, names: Names) -> Iterator[str]:
        """What verdicts and intervals hold for."""
        alpha = f"{100 * (1 - self.rows[0].level):.2g} %"
        column = level_column(self.rows[0].level)
        yield f"{names.a} - {names.b}; {column}: of one slice, read alone"
        families = [test for test in self.fields if test.family]
        if families:
            how = listed([*dict.fromkeys(HOW[test.family] for test in families)])
            sizes = listed([f"{test.n_slices}" for test in families])
            if len(families) > 1:
                sizes += " slices, each field for itself"
            else:
                sizes += " slices"
            yield f"verdicts allow for reading {sizes} ({how}, step-down, {alpha})"
        yield from in_words(self.labels)


def _heading(row: SliceRow, names: Names, tests: Sequence[FieldTest]) -> str:
    """Who is compared, on what."""
    if names.are_letters:
        who = ", ".join(models_of(row))
    else:
        labels = (row.condition_a, row.condition_b)
        both = []
        for model, label in zip((row.model_a, row.model_b), labels, strict=True):
            both.append(f"{model} ({label})" if label else model)
        who = " against ".join(both)
    size = tests[0].n_prompts + tests[0].n_without
    parts = (who, row.benchmark, row.metric, counted(size, "common question"))
    return " · ".join(parts)


def varies_in_words(test: FieldTest, what: str, level: float) -> str:
    """Whether a figure varies over slices, as a sentence; empty where it cannot be
    asked.

    Args:
        test: of the field.
        what: varies.
        level: of the answer; p up to 1 - level says that it does.
    """
    if test.p_value is None:
        if not test.reason:
            return ""
        return f"Whether it varies over {test.field} is not tested: {test.reason}."
    verdict = "is not shown to vary"
    if rejects(test.p, 1 - level):
        verdict = "varies"
    how = f"p {p_value(test.p)}"
    if test.p_holm is not None:
        how += ", Holm over the fields"
    if test.n_clusters is not None:
        how += f", {test.n_clusters} clusters"
    if "few_clusters" in test.flags:
        how += ", few of which make it a little liberal"
    left = ""
    if test.left_out:
        left = f"; left out, as they have one unit: {some_of(test.left_out)}"
    return f"{what} {verdict} over {test.field} ({how}){left}."


def _why(rows: Sequence[SliceRow]) -> str:
    return next((row.reason for row in rows if row.reason), "no test")


def ordered(rows: Sequence[SliceRow]) -> list[SliceRow]:
    """Those with a verdict first, the largest difference first; then the others, from
    the highest to the lowest."""
    decided = [row for row in rows if row.better]
    others = [row for row in rows if not row.better]
    decided.sort(key=lambda row: -abs(row.difference or 0.0))
    others.sort(key=lambda row: -(row.difference or 0.0))
    return [*decided, *others]


def extremes(rows: Sequence[SliceRow]) -> list[SliceRow]:
    """Those with a verdict, and of the others the highest and lowest few."""
    n_decided = sum(bool(row.better) for row in rows)
    others = rows[n_decided:]
    if len(others) <= 2 * ENDS:
        return list(rows)
    return [*rows[:n_decided], *others[:ENDS], *others[-ENDS:]]


def _cells(
    rows: Sequence[SliceRow], names: Names, unit: Unit, *, verbose: bool
) -> Iterator[dict[str, Any]]:
    for row in rows:
        cells: dict[str, Any] = {
            row.field: row.slice,
            "questions": row.n_prompts,
            names.a: unit.figure(row.mean_a),
            names.b: unit.figure(row.mean_b),
            "difference": unit.difference(row.difference),
            level_column(row.level): unit.ends(row.ci_low, row.ci_high, row.difference),
            "verdict": _verdict(row, names),
        }
        if verbose:
            cells |= {"p": p_value(row.p_value), "adjusted": p_value(row.p_adjusted)}
        yield cells | {"clusters": row.n_clusters, "flags": row.flags}


def _verdict(row: SliceRow, names: Names) -> str:
    if row.p_adjusted is None:
        return NOT_TESTED
    return {"a": names.a, "b": names.b}.get(row.better, OPEN)


def _without(row: SliceRow, like: dict[str, Any]) -> list[dict[str, Any]]:
    """The line of the prompts without the field."""
    cells: dict[str, Any] = dict.fromkeys(like)
    cells |= {row.field: row.slice, "questions": row.n_prompts, "verdict": NOT_TESTED}
    return [cells]


def points(value: float | None, unit: Unit) -> str:
    """A figure in the unit of a table, as a word of a sentence."""
    if value is None:
        return "-"
    times = 100 if unit.in_percent else 1
    return fixed(times * value, unit.digits)
