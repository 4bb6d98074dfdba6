"""A release gate that looks at every slice: no slice may be worse by more than a loss.

A slice passes where the lower end of its interval, one-sided at alpha, is above the
loss. All have to pass, so that nothing is adjusted; a slice that is too small for it
makes the gate undecided, by its name, and never passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.gate.answer import gate
from warehouse.analysis.gate.question import ReleaseGate
from warehouse.analysis.gate.view import EXIT, Gate
from warehouse.analysis.results import BenchmarkRow, Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.slices.answer import SlicedPair, labels_of_pair
from warehouse.analysis.slices.declared import EXPLORATORY, FieldLabel, in_words
from warehouse.analysis.slices.question import CompareBy, GateBy
from warehouse.analysis.slices.read import read_pair
from warehouse.analysis.slices.view import NONE, SliceRow
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED
from warehouse.store.connection import Store
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote, View
from warehouse.tables.words import counted, meanings, plural, some_of, visible

_MINOR = ("clusters", "flags", "questions")
#: Signs that no test of a gate draws.
_NO_DRAWS = 1


@dataclass(frozen=True)
class SliceGateRow(BenchmarkRow):
    """One slice."""

    field: str  #: by which the prompts are sliced.
    slice: str  #: value of the field.
    #: ``pass``: shown to be worse by less than the loss, or better; ``fail``: shown to
    #: be worse by more; else ``undecided``.
    verdict: str
    candidate: float | None  #: its figure on the slice.
    baseline: float | None  #: the baseline's.
    difference: float | None  #: in favour of the candidate.
    #: lower confidence bound of it, one-sided at 1 − alpha.
    low: float | None
    high: float | None  #: upper bound, one-sided.
    margin: float  #: loss that is tolerated on each slice.
    n_prompts: int  #: prompts that both have a score of.
    n_clusters: int | None  #: clusters among them; None without.
    flags: tuple[str, ...]  #: as of ``compare --by``.
    reason: str  #: why there is no bound.
    overall: str  #: the verdict over all prompts and slices, the same in each row.
    #: ``declared``: the field was named before the scores were stored; else
    #: ``exploratory``.
    label: str = EXPLORATORY
    declared_at: str | None = None  #: when it was named, UTC; None: never.


@dataclass(frozen=True)
class SliceGate(Result):
    """The verdict over a benchmark and its slices."""

    candidate: str  #: as given.
    baseline: str  #: as given.
    verdict: str  #: ``fail`` if the benchmark or a slice fails, ``pass`` if all pass, else ``undecided``.
    whole: Gate  #: the gate of all prompts.
    alpha: float  #: of each slice.
    rows: tuple[SliceGateRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    labels: tuple[FieldLabel, ...] = ()  #: what each field counts as.

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 5 undecided."""
        return EXIT[self.verdict]

    @property
    def one_line(self) -> str:
        parts = [f"all prompts {self.whole.verdict}"]
        for verdict in EXIT:
            named = [row.slice for row in self.rows if row.verdict == verdict]
            if named:
                n = counted(len(named), "slice")
                words = f"{n} {verdict}"
                if verdict != PASS:
                    words += f" ({some_of(named)})"
                parts.append(words)
        head = f"{self.verdict}: {self.candidate} against {self.baseline}"
        return f"{head}: {', '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return super().to_dict() | {"whole": self.whole.to_dict()}

    def view(self, *, verbose: bool = False) -> View:
        """The verdict, the gate of all prompts, and the slices, those that do not pass
        first."""
        whole = self.whole.view(verbose=verbose)
        head = visible(f"{self.one_line}.") + policy_words(self.whole.policy)
        parts: list[Part] = [head]
        parts += whole.parts[1:]
        parts += ["", _table(self.rows, is_share=self.is_share)]
        loss = _loss_in_words(self.rows[0].margin, is_share=self.is_share)
        parts.append(
            TableNote(
                f"a slice passes where it is shown to be worse by less than {loss} "
                f"(alpha {self.alpha:g}, each alone: all have to pass)"
            )
        )
        parts += [TableNote(line) for line in in_words(self.labels)]
        flags = [flag for row in self.rows for flag in row.flags]
        parts += [TableNote(line, "flags") for line in meanings(flags)]
        return View(tuple(parts), (*whole.notes, *self.notes))


def _loss_in_words(loss: float, *, is_share: bool) -> str:
    """A tolerated loss in the unit of the table."""
    if is_share:
        return f"{100 * loss:g} points"
    return f"{loss:g}"


def _table(rows: Sequence[SliceGateRow], *, is_share: bool) -> Table:
    order = [FAIL, UNDECIDED, PASS]
    widths = []
    for row in rows:
        if row.low is not None and row.high is not None:
            widths.append((row.high - row.low) / 4)
    unit = Unit.of(widths, in_percent=is_share)
    fields = {row.field for row in rows}
    head = "slice"
    if len(fields) == 1:
        head = fields.pop()
    cells = []
    for row in sorted(rows, key=lambda row: order.index(row.verdict)):
        cells.append(
            {
                head: row.slice if head == row.field else f"{row.field} {row.slice}",
                "verdict": row.verdict,
                "difference": unit.difference(row.difference),
                "at worst": unit.difference(row.low),
                "candidate": unit.figure(row.candidate),
                "baseline": unit.figure(row.baseline),
                "reason": row.reason,
                "questions": row.n_prompts,
                "clusters": row.n_clusters,
                "flags": row.flags,
            }
        )
    return Table.of(cells, hide_empty=("reason", "clusters", "flags"), minor=_MINOR)


@answers(GateBy)
def gate_by(store: Store, question: GateBy) -> SliceGate:
    """The gate of all prompts, and a verdict on each slice."""
    if len(question.benchmarks) > 1:
        raise MisuseError("slices are of one benchmark: name only one (--benchmark)")
    benchmark = next(iter(question.benchmarks), None)
    two = (question.candidate, question.baseline)
    pair, fields = read_pair(store, question, *two, benchmark=benchmark)
    of_one = question.shared_with(ReleaseGate, benchmarks=(pair.benchmark,))
    whole = gate.to(store, of_one)
    compared = CompareBy(
        *two,
        by=question.by,
        level=1 - 2 * question.alpha,
        n_resamples=_NO_DRAWS,
    )
    sign = -1.0 if pair.metric.higher_is_better is False else 1.0
    why = ""
    if pair.metric.higher_is_better is None:
        why = direction_unknown(pair.metric.label, pair.benchmark)
    rows: list[SliceGateRow] = []
    notes = []
    slicings = fields.slicings(question.by, pair.prompts, question.bins)
    labels = labels_of_pair(store, pair, [one.name for one in slicings], question)
    for slicing, label in zip(slicings, labels, strict=True):
        sliced = SlicedPair.of(pair, slicing, compared)
        own = [row for row in sliced.rows(compared) if row.slice != NONE]
        judged = [_judged(row, question.no_slice_worse_than, sign, why) for row in own]
        rows += [replace(row, **label.columns) for row in judged]
        if slicing.n_without:
            verb = plural("question", slicing.n_without)
            notes.append(
                f"{slicing.n_without} {verb} without {slicing.name} are in no slice"
            )
    verdict = _over_all([whole.verdict, *(row.verdict for row in rows)])
    return SliceGate(
        *two,
        verdict=verdict,
        whole=whole,
        alpha=question.alpha,
        rows=tuple(_with_overall(row, verdict) for row in rows),
        notes=tuple(notes),
        is_share=pair.metric.bounds == (0.0, 1.0),
        labels=labels,
    )


def _over_all(verdicts: Sequence[str]) -> str:
    if FAIL in verdicts:
        return FAIL
    if UNDECIDED in verdicts:
        return UNDECIDED
    return PASS


def _with_overall(row: SliceGateRow, verdict: str) -> SliceGateRow:
    return replace(row, overall=verdict)


def _judged(row: SliceRow, margin: float, sign: float, why: str) -> SliceGateRow:
    """The verdict on a slice.

    Args:
        row: candidate minus baseline, its interval at 1 − 2·alpha.
        margin: loss that is tolerated.
        sign: −1 where lower scores are better.
        why: why nothing can be said.
    """
    low, high = row.ci_low, row.ci_high
    if low is not None and high is not None and sign < 0:
        low, high = -high, -low
    verdict = UNDECIDED
    if not why and low is not None and low > -margin:
        verdict = PASS
    elif not why and high is not None and high < -margin:
        verdict = FAIL
    difference = None
    if row.difference is not None:
        difference = sign * row.difference
    reason = why
    if low is None:
        reason = reason or row.reason
    return SliceGateRow(
        benchmark=row.benchmark,
        split=row.split,
        metric=row.metric,
        field=row.field,
        slice=row.slice,
        verdict=verdict,
        candidate=row.mean_a,
        baseline=row.mean_b,
        difference=difference,
        low=low,
        high=high,
        margin=margin,
        n_prompts=row.n_prompts,
        n_clusters=row.n_clusters,
        flags=row.flags,
        reason=reason,
        overall="",
    )
