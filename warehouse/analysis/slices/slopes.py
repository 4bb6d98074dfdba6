"""How the difference of two models goes up with a number of the prompts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.brief import Names
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.results import PairedRow, Result
from warehouse.analysis.selection.policies import policy_notes, policy_words
from warehouse.analysis.slices.answer import labels_of_pair
from warehouse.analysis.slices.declared import EXPLORATORY, FieldLabel, in_words
from warehouse.analysis.slices.question import CompareSlope
from warehouse.analysis.slices.read import read_pair
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import slope_of
from warehouse.store.connection import Store
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import (
    WrittenNumber,
    level_column,
    p_value,
    small,
    visible,
)


@dataclass(frozen=True)
class SlopeRow(PairedRow):
    """By how much the difference changes for one more of a number."""

    field: str  #: the number.
    per: str  #: ``unit`` or ``doubling`` of it.
    slope: float | None  #: least squares; None where the number does not vary.
    standard_error: float | None  #: HC2, or the jackknife's over clusters.
    ci_low: float | None  #: lower end of its interval.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage.
    p_value: float | None  #: two-sided.
    degrees_of_freedom: float | None  #: Bell and McCaffrey's, or clusters less one.
    n_prompts: int  #: common prompts with the number.
    n_clusters: int | None  #: their clusters; None without.
    n_without: int  #: common prompts without it.
    lowest: float  #: smallest number.
    highest: float  #: largest number.
    reason: str  #: why there is no interval.
    #: ``declared``: the field was named before the scores were stored; else
    #: ``exploratory``.
    label: str = EXPLORATORY
    declared_at: str | None = None  #: when it was named, UTC; None: never.


@dataclass(frozen=True)
class SlopeComparison(Result):
    """The slope of a paired difference."""

    a: str  #: the first reference, as given.
    b: str  #: the second reference, as given.
    rows: tuple[SlopeRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.
    labels: tuple[FieldLabel, ...] = ()  #: what the field counts as.

    @property
    def one_line(self) -> str:
        return f"{self.rows[0].benchmark}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """Whether the difference goes up or down with the number."""
        row = self.rows[0]
        names = Names.of(row)
        what = f"The difference ({names.a} - {names.b})"
        if row.slope is None or row.p_value is None:
            return f"No slope along {row.field}: {row.reason}"
        if row.p_value > 1 - row.level:
            return f"{what} is not shown to change with {row.field}"
        way = "falls"
        if row.slope > 0:
            way = "rises"
        return f"{what} {way} with {row.field}"

    def view(self, *, verbose: bool = False) -> View:
        """The sentence and the slope."""
        row = self.rows[0]
        times = 100.0 if self.is_share else 1.0
        ends = (row.ci_low, row.ci_high)
        low, high = [_signed(end, times) for end in ends]
        interval = f"{low} .. {high}" if row.ci_low is not None else None
        cells = {
            "along": row.field,
            "from": small(row.lowest),
            "to": small(row.highest),
            f"per {row.per}": _signed(row.slope, times),
            level_column(row.level): interval,
            "p": p_value(row.p_value),
            "questions": row.n_prompts,
            "clusters": row.n_clusters,
        }
        table = Table.of([cells], hide_empty=("clusters",), minor=("clusters",))
        lines = in_words(self.labels)
        if self.is_share:
            lines.insert(0, "in points of per cent")
        if row.n_without:
            lines.append(f"{row.n_without} questions without {row.field} are left out")
        head = f"{row.model_a} against {row.model_b} · {row.benchmark} · {row.metric}"
        head += policy_words(self.policy)
        parts = (visible(head), visible(f"{self.sentence}."), "", table)
        return View((*parts, *map(TableNote, lines)), self.notes)


def _signed(value: float | None, times: float) -> WrittenNumber | None:
    if value is None:
        return None
    return WrittenNumber(f"{times * value:+.3g}")


@answers(CompareSlope)
def compare_slope(store: Store, question: CompareSlope) -> SlopeComparison:
    """Least squares of the differences on the number, prompts without it left out."""
    pair, fields = read_pair(store, question, question.a, question.b)
    if pair.over_seeds or pair.is_ratio:
        raise MisuseError(
            "a slope is of plain means of single runs: one seed alone, --where "
            "training_seed=NAME; a weighted figure has none"
        )
    numbers = fields.numbers(question.slope, pair.prompts)
    field = fields.find(question.slope)
    labels = labels_of_pair(store, pair, [field], question)
    row = replace(_row(pair, field, numbers, question), **labels[0].columns)
    is_share = pair.metric.bounds == (0.0, 1.0)
    notes = (*filter(None, [pair.note]), *policy_notes(pair.policy, pair.filled))
    return SlopeComparison(
        question.a, question.b, (row,), notes, is_share, pair.policy.text, labels
    )


def _row(
    pair: Pair, field: str, numbers: NDArray[np.float64], question: CompareSlope
) -> SlopeRow:
    """The slope along a number, NaN for prompts without (MisuseError: per doubling of
    what is not above 0)."""
    there = ~np.isnan(numbers)
    x = numbers[there]
    per = "unit"
    if question.per_doubling:
        per, x = "doubling", _doublings(x, field)
    clusters = None if pair.clusters is None else pair.clusters[there]
    found = slope_of(pair.differences[there], x, clusters, level=question.level)
    return SlopeRow(
        benchmark=pair.benchmark,
        split=pair.split,
        metric=pair.metric.label,
        model_a=pair.a.model,
        condition_a=pair.labels[0],
        model_b=pair.b.model,
        condition_b=pair.labels[1],
        field=field,
        per=per,
        slope=found.slope,
        standard_error=found.standard_error,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        level=question.level,
        p_value=found.p_value,
        degrees_of_freedom=found.degrees_of_freedom,
        n_prompts=found.n_prompts,
        n_clusters=found.n_clusters,
        n_without=int(np.count_nonzero(~there)),
        lowest=float(np.nanmin(numbers)),
        highest=float(np.nanmax(numbers)),
        reason=found.reason,
    )


def _doublings(x: NDArray[np.float64], field: str) -> NDArray[np.float64]:
    """log2 of a number."""
    if x.min() <= 0:
        raise MisuseError(
            f"per doubling: {field} goes down to {x.min():g}, and numbers above 0 "
            "alone can double"
        )
    logarithms: NDArray[np.float64] = np.log2(x)
    return logarithms
