"""A judge's figure, that of people's labels, and the one that both give together, side
by side: of each model on a benchmark, of the difference of two, and as a release gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from warehouse.analysis.gate.answer import margin_for, refuse_other_margins
from warehouse.analysis.gate.view import EXIT
from warehouse.analysis.judge.corrected import (
    CorrectedRow,
    RankedRow,
    corrected_difference,
    ranked_means,
)
from warehouse.analysis.judge.corrected_view import (
    corrected_legend,
    corrected_table,
    reasons_in_words,
)
from warehouse.analysis.judge.question import (
    CorrectedComparison,
    CorrectedGate,
    CorrectedLeaderboard,
)
from warehouse.analysis.judge.units import JudgedUnits, pick_units, read_units
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.scored_conditions import list_differences
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.core.quantiles import t_quantile, t_upper_tail
from warehouse.stats.judges.prediction import FEWEST_LABELS
from warehouse.stats.paired.gate import decide
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import counted, listed


@dataclass(frozen=True)
class CorrectedFigures(Result):
    """Figures side by side."""

    judge: str  #: who judges.
    human: str  #: whose labels.
    rows: tuple[CorrectedRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.
    run_ids: tuple[int, ...]  #: of the answers, and of their labels.
    verdict: str = ""  #: of a gate: ``fail`` if one benchmark fails, else ``pass`` if all pass, else ``undecided``.

    @property
    def exit_code(self) -> int:
        """The exit code of a gate: 0 pass, 1 fail, 5 undecided."""
        return EXIT[self.verdict]

    @property
    def one_line(self) -> str:
        first = self.rows[0]
        if self.verdict:
            return (
                f"{self.verdict}: {first.model_a} against {first.model_b}, by what "
                f"{self.human} would say"
            )
        if first.estimate is None or first.low is None or first.high is None:
            return f"{first.benchmark}: no corrected figure ({first.reason})"
        of = first.model_a
        if first.model_b:
            of = f"{first.model_a} minus {first.model_b}"
        labels = counted(first.n_labels, "label")
        return (
            f"{first.benchmark}, corrected by {labels} of {self.human}: {of} "
            f"{first.estimate:.3f} [{first.low:.3f}, {first.high:.3f}], where "
            f"{self.judge} says {first.judge_estimate:.3f}"
        )

    def view(self, *, verbose: bool = False) -> View:
        """The sentence, the three figures of each row, and what they are."""
        columns = corrected_legend(self.judge, self.human)
        table = corrected_table(self.rows)
        return View(
            (f"{self.one_line}.", table, *columns, *reasons_in_words(self.rows)),
            self.notes,
        )


@dataclass(frozen=True)
class CorrectedBoard(CorrectedFigures):
    """Figures of all models of a benchmark, best first, with their ranks."""

    rows: tuple[RankedRow, ...]


Figures = TypeVar("Figures", bound=CorrectedFigures)


@answers(CorrectedLeaderboard)
def corrected_leaderboard(
    store: Store, question: CorrectedLeaderboard
) -> CorrectedBoard:
    """A row for each condition that the judge scored, best first."""
    units, names = read_units(
        store, selection_of(question), question.judge, question.human
    )
    _require_random(units)
    if not any(judged.labelled.any() for judged in units):
        raise MisuseError(
            f"no answer on {question.benchmark} that {names[0]} has scored has a label "
            f"of {names[1]}"
        )
    notes = []
    if differing := list_differences({one.entry.group for one in units}):
        notes.append(f"rows differ in {listed(differing)}; each group is ranked alone")
    if units[0].entry.metric.higher_is_better is None:
        unknown = direction_unknown(
            units[0].entry.metric.label, units[0].condition.benchmark_split[0]
        )
        notes.append(f"higher is ranked first; {unknown}")
    return _figures(
        CorrectedBoard,
        names,
        ranked_means(units, level=question.level),
        units,
        notes=notes,
    )


@answers(CorrectedComparison)
def corrected_comparison(
    store: Store, question: CorrectedComparison
) -> CorrectedFigures:
    """One row: a minus b."""
    row, pair, names = _compared(
        store, question, question.a, question.b, question.level
    )
    return _figures(CorrectedFigures, names, [row], pair)


def _compared(
    store: Store,
    question: CorrectedComparison | CorrectedGate,
    a: str,
    b: str,
    level: float,
    **selected: Any,
) -> tuple[CorrectedRow, tuple[JudgedUnits, ...], tuple[str, str]]:
    units, names = read_units(
        store, selection_of(question, **selected), question.judge, question.human
    )
    pair = pick_units(store, units, (a, b), question.where, latest=question.latest)
    _require_random(pair)
    row = corrected_difference(*pair, level=level)
    if row is None:
        benchmark = pair[0].condition.benchmark_split[0]
        raise MisuseError(
            f"{names[1]} have labelled no answer of {a} or of {b} on {benchmark} that "
            f"{names[0]} scored"
        )
    return row, pair, names


def _require_random(units: Sequence[JudgedUnits]) -> None:
    for judged in units:
        if judged.not_random:
            raise MisuseError(
                f"{judged.condition.model} has {int(judged.labelled.sum())} labels on "
                f"{judged.condition.benchmark_split[0]}, but {judged.not_random}; "
                "judge and labels by themselves: warehouse leaderboard --metric"
            )


def _figures(
    kind: type[Figures],
    names: tuple[str, str],
    rows: Sequence[Any],
    units: Sequence[JudgedUnits],
    verdict: str = "",
    notes: Sequence[str] = (),
) -> Figures:
    missing = sum(row.n_missing for row in rows)
    some = "1 answer that was drawn has"
    if missing != 1:
        some = f"{missing} answers that were drawn have"
    if missing:
        unlabelled = [f"{some} no label: the others stand for what is missing"]
    else:
        unlabelled = []
    notes = [
        *notes,
        *unlabelled,
    ]
    if any("unscored" in row.flags for row in rows):
        notes.append(
            "the judge has no score of some answers (unscored): all figures are of the "
            "others"
        )
    runs = tuple(chain.from_iterable(judged.run_ids for judged in units))
    return kind(*names, tuple(rows), tuple(notes), runs, verdict)


@answers(CorrectedGate)
def corrected_gate(store: Store, question: CorrectedGate) -> CorrectedFigures:
    """The judge's own difference decides nothing."""
    refuse_other_margins(question.margins, question.benchmarks)
    rows: list[CorrectedRow] = []
    tests = []
    units: list[JudgedUnits] = []
    names = ("", "")
    for benchmark in question.benchmarks:
        margin = margin_for(benchmark, question.margins, question.margin)
        two = (question.candidate, question.baseline)
        row, pair, names = _compared(
            store, question, *two, 1 - 2 * question.alpha, benchmark=benchmark
        )
        units += pair
        why = _why_undecided(row, question.max_unscored)
        rows.append(
            replace(
                row, margin=margin, reason="; ".join(filter(None, (why, row.reason)))
            )
        )
        tests.append((None, None) if why else _p_values(row, margin))
    decided = decide(tests, alpha=question.alpha)
    found = [
        replace(row, verdict=verdict, p_pass=p_pass, p_fail=p_fail)
        for row, verdict, p_pass, p_fail in zip(
            rows, decided.each, decided.p_pass, decided.p_fail, strict=True
        )
    ]
    return _figures(CorrectedFigures, names, found, units, decided.verdict)


def _why_undecided(row: CorrectedRow, most_missing: float) -> str:
    drawn = row.n_missing / 2 + row.n_labels
    if row.higher_is_better is None:
        return (
            "it is not known whether a higher figure is better (warehouse fix metric)"
        )
    if row.n_labels < FEWEST_LABELS or "few_differing" in row.flags:
        return (
            f"{row.n_labels} labels, on too few of which the two differ: warehouse "
            "judge next draws more"
        )
    if row.n_missing / 2 > most_missing * drawn:
        return f"{row.n_missing} of the answers that were drawn have no label"
    if row.standard_error:
        return ""
    return "no error can be given"


def _p_values(row: CorrectedRow, margin: float) -> tuple[float, float]:
    """By Student's t of the corrected difference; of a hull no smaller than its end
    that faces the margin says."""
    estimate = row.estimate or 0.0
    df = row.degrees_of_freedom or 1.0
    is_turned = row.higher_is_better is False
    gain = estimate
    if is_turned:
        gain = -estimate
    p = t_upper_tail((gain + margin) / (row.standard_error or 1.0), df)
    if not row.method.endswith("hull") or row.low is None or row.high is None:
        return p, 1 - p
    below = estimate - row.low
    above = row.high - estimate
    if is_turned:
        below, above = above, below
    t = t_quantile(row.level, df)
    p_pass = t_upper_tail(t * (gain + margin) / below, df)
    p_fail = t_upper_tail(-t * (gain + margin) / above, df)
    return max(p, p_pass), max(1 - p, p_fail)
