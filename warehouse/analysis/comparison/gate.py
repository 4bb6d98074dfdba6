"""The release gate: is a candidate no worse than a baseline, by more than a margin?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any, ClassVar

import numpy as np

from warehouse.analysis.comparison.costs import MOST_MISSING, CostSource, PairCosts, cost_source, pair_costs
from warehouse.analysis.comparison.gate_view import gate_view
from warehouse.analysis.comparison.pair_tests import few_differing, planned_pair
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.read import TwoModels
from warehouse.analysis.comparison.words import taken_in_words, tests_in_words
from warehouse.analysis.results import BenchmarkRow, Column, Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.prompts import SharedPrompts, read_shared_prompts, same_contents, shared_in_words
from warehouse.analysis.selection.reference import in_words
from warehouse.analysis.selection.scores import mixed_scales
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.comparison import ReleaseGate
from warehouse.questions.question import answers
from warehouse.stats.core.draws import PROMPTS_SAMPLED
from warehouse.stats.core.inputs import is_constant, rejects
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED, PValues, decide, p_of_constant, prompts_to_decide
from warehouse.stats.paired.margins import NonInferiorityTest, careful_noninferiority, paired_noninferiority
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.view import View

#: Verdicts as a summary shows them.
MARKS = {"pass": "✅ pass", "fail": "❌ fail", "undecided": "❔ undecided"}
#: What is said where Gaffke's test decides.
FEW_DIFFER = "few prompts or clusters differ, or unevenly: Gaffke's test has the larger p"
#: What is said beside a pass of scores without bounds, where losses have the longer tail.
LONG_LOSSES = "losses are skewed: the largest may be missing from these prompts, and a pass is less sure than it says"
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>&~$@:.-])")


def as_markdown(decision: Gate) -> str:
    """A heading, a table, and what to do."""
    return markdown_of(
        decision,
        "benchmark | verdict | candidate | baseline | difference | at least | margin | p | prompts | needed",
        map(_line, decision.rows),
        f"One-sided tests of paired differences on common prompts; p adjusted for"
        f" {tests_in_words(decision.n_tests, len(decision.rows))} (Holm), alpha {decision.alpha:g}."
        " *At least*: lower confidence bound of the difference. *Needed*: prompts with which a"
        " candidate as good as the baseline passes with 80 % power.",
    )


def markdown_of(decision: Any, columns: str, lines: Iterable[Sequence[str]], explained: str) -> str:
    """The verdict of a gate, or of a sequential one, its table and notes; names from dumps stand as text."""
    candidate, baseline = names(decision.candidate, decision.baseline, decision.rows)
    notes = [f"{row.benchmark}: {row.reason}" for row in decision.rows if row.reason]
    notes += [*decision.notes, *(f"left out {reason}" for reason in decision.left_out)]
    head = f"### {MARKS[decision.verdict]}: {as_cell(candidate)} against {as_cell(baseline)}"
    rule = " | ".join(["---"] * len(columns.split("|")))
    table = [f"| {line} |" for line in (columns, rule, *map(" | ".join, lines))]
    listed = [*([""] if notes else []), *(f"- {as_cell(note)}" for note in notes)]
    return "\n".join([head, "", *table, "", explained, *listed, ""])


def _line(row: GateRow) -> list[str]:
    p = row.p_fail if row.verdict == "fail" else row.p_pass
    return [
        as_cell(in_words((row.benchmark, row.split))),
        MARKS[row.verdict],
        f"{row.candidate:.4f}",
        f"{row.baseline:.4f}",
        f"{row.difference:+.4f}",
        "" if row.low is None else f"{row.low:+.4f}",
        f"{row.margin:g}",
        "" if p is None else f"{p:.2g}",
        str(row.n_prompts),
        "" if row.prompts_if_equal is None else str(row.prompts_if_equal),
    ]


def as_cell(text: str) -> str:
    """Text without a meaning in Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


#: Exit codes of the verdicts.
EXIT = {PASS: 0, FAIL: 1, UNDECIDED: 5}


@dataclass(frozen=True)
class GateRow(BenchmarkRow):
    """One benchmark and split."""

    #: ``pass``: shown to be worse by less than the margin, or better; ``fail``: shown to be worse by more; else
    #: ``undecided``.
    verdict: str
    candidate: float  #: its figure on the common prompts.
    baseline: float  #: its figure there.
    difference: float  #: in favour of the candidate, on the scale of the figure.
    standard_error: float | None  #: of it, CR2 with clusters.
    low: float | None  #: lower confidence bound of it, one-sided at 1 − alpha, not adjusted.
    margin: float  #: loss that is tolerated.
    p_pass: float | None  #: one-sided, of "worse by the margin or more", adjusted (Holm over benchmarks).
    p_fail: float | None  #: of "worse by less than the margin", adjusted likewise.
    n_prompts: int  #: prompts that both have a score of.
    n_clusters: int | None  #: clusters among them; None without.
    #: prompts with which a candidate as good as the baseline passes with 80 % power; None where decided, or where there
    #: is no number.
    prompts_if_equal: int | None
    prompts_as_seen: int | None  #: prompts that decide with 80 % power if the difference is as it was seen.
    missing: int  #: prompts that only the baseline has a score of.
    share_unscored: float  #: samples of the candidate without a score, in [0, 1].
    method: str  #: of the test.
    reason: str  #: why it is undecided where it is not for want of data, and what was done.
    model_candidate: str  #: name of the candidate's model.
    model_baseline: str  #: name of the baseline's.
    runs_candidate: tuple[int, ...]  #: ids of its runs.
    runs_baseline: tuple[int, ...]  #: of the baseline's.
    condition_candidate: str  #: settings that tell its runs from the baseline's, and from what it is the newest of.
    condition_baseline: str  #: the same of the baseline's.
    overall: str  #: the verdict over all benchmarks, the same in each row.
    flags: tuple[str, ...] = ()  #: of the difference, as `compare` gives them.
    costs: PairCosts | None = None  #: that the columns of costs come from.
    cost_metric: ClassVar[Column[str]] = Column("costs.metric", "")  #: cost that was asked for; empty without.
    #: cost of the candidate over that of the baseline, on the prompts of which both are known.
    cost_ratio: ClassVar[Column[float | None]] = Column("costs.ratio.estimate")
    #: lower end of its interval (two-sided at 1 − 2·alpha).
    ratio_low: ClassVar[Column[float | None]] = Column("costs.ratio.low")
    ratio_high: ClassVar[Column[float | None]] = Column("costs.ratio.high")  #: upper end.
    #: of "not so many times cheaper as asked"; ``p_pass`` is the larger of it and that of the scores.
    p_cost: ClassVar[Column[float | None]] = Column("costs.test.p_value")
    #: common prompts of which either cost is not known; None where no cost was asked for.
    n_missing_cost: ClassVar[Column[int | None]] = Column("costs.n_missing")
    #: sha256 of the prices behind it; empty without.
    prices_digest: ClassVar[Column[str]] = Column("costs.prices_digest", "")

    PARTS = ("costs",)


@dataclass(frozen=True)
class Gate(Result):
    """The verdict over all benchmarks."""

    candidate: str  #: as given.
    baseline: str  #: as given.
    verdict: str  #: ``fail`` if one benchmark fails, else ``pass`` if all pass, else ``undecided``.
    alpha: float  #: chance of any false pass, and of any false fail.
    rows: tuple[GateRow, ...]
    left_out: tuple[str, ...]  #: benchmarks that were not compared, with the reason.
    n_tests: int  #: benchmarks, one that has several names (and one margin) once.
    notes: tuple[str, ...] = ()  #: what a reader should know of all rows.

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 5 undecided."""
        return EXIT[self.verdict]

    @property
    def one_line(self) -> str:
        counts = ", ".join(
            f"{number} {verdict}" for verdict in EXIT if (number := sum(row.verdict == verdict for row in self.rows))
        )
        candidate, baseline = names(self.candidate, self.baseline, self.rows)
        return f"{self.verdict}: {candidate} against {baseline} ({counts})"

    def view(self, *, verbose: bool = False) -> View:
        """The verdict, the command's table, what it means, and what was left out."""
        return gate_view(self)

    def to_markdown(self, *, percent: bool = False) -> str:
        """A summary for a pull request."""
        if percent:
            raise MisuseError("the summary of a gate has margins as they were given: no per cent")
        return as_markdown(self)


def taken(rows: Sequence[Any]) -> list[str]:
    """Which conditions were taken, where `names` cannot say it."""
    return taken_in_words(
        (row.benchmark, (row.model_candidate, row.condition_candidate), (row.model_baseline, row.condition_baseline))
        for row in rows
    )


def names(candidate: str, baseline: str, rows: Sequence[Any]) -> tuple[str, str]:
    """Both references so that a reader knows what they mean: ``run:7`` with its model, and either with the settings
    that tell it from the other and from what it is the newest of; of the rows of a gate, or of a sequential one."""
    return (
        _name(candidate, {row.model_candidate for row in rows}, {row.condition_candidate for row in rows}),
        _name(baseline, {row.model_baseline for row in rows}, {row.condition_baseline for row in rows}),
    )


def _name(reference: str, models: set[str], conditions: set[str]) -> str:
    details = list(models) if reference.startswith("run:") and len(models) == 1 else []
    details += list(conditions - {""}) if len(conditions) == 1 else []
    return f"{reference} ({', '.join(details)})" if details else reference


@dataclass(frozen=True)
class _Tested:
    """A pair with its test, both p that count, and why there is doubt about it."""

    pair: Pair
    margin: float
    test: NonInferiorityTest
    p_values: PValues
    method: str
    why: str
    share_unscored: float
    means: tuple[float, float] | None = None
    note: str = ""
    costs: PairCosts | None = None
    reach: float = 0.0  #: the most that a unit's differences may add up to, where few differ; 0: t alone counts.
    flags: tuple[str, ...] = ()  #: of the difference.


@answers(ReleaseGate)
def gate(store: Store, question: ReleaseGate) -> Gate:
    """Benchmark by benchmark, and the verdict over all."""
    models = TwoModels(
        SharedReads(store),
        question.candidate,
        question.baseline,
        selection_of(question),
        question.force,
        pair_seeds=question.pair_seeds,
    )
    both = models.on_each(models.pair, question.benchmarks)
    tested, refused = both.compute(partial(_tested, question=question), all_needed=bool(question.benchmarks))
    refuse_other_margins(question.margins, [item.pair.a.benchmark_split[0] for item in tested])
    left_out = tuple(dict.fromkeys((*both.missing, *refused)))
    if not tested:
        raise MisuseError("; ".join(left_out))
    if question.cheaper is not None:
        source = cost_source(store, question.cost, question.prices)
        tested = [_with_costs(store, item, source, question.cheaper, question.alpha) for item in tested]
    prompts = [item.pair.prompts for item in tested]
    shared = read_shared_prompts(store, prompts) if len(tested) > 1 else None
    return _gate(tested, shared, left_out, question)


def refuse_other_margins(margins: Mapping[str, float] | None, benchmarks: Iterable[str]) -> None:
    """Refuse a margin for a benchmark that is not among those compared."""
    if unknown := sorted(set(margins or {}) - set(benchmarks)):
        raise MisuseError(f"a margin is given for {', '.join(unknown)}, which is not compared")


def margin_for(benchmark: str, margins: Mapping[str, float] | None, margin: float | None) -> float:
    """The margin of a benchmark: its own, else that of all (MisuseError: neither is given)."""
    own = (margins or {}).get(benchmark, margin)
    if own is None:
        raise MisuseError(f"no margin for {benchmark}; give one for all")
    return own


def _with_costs(store: Store, item: _Tested, source: CostSource, times: float, alpha: float) -> _Tested:
    """A test that passes only where the candidate is shown to be cheaper too: the larger p counts.

    It fails by its scores alone: a candidate that is not cheaper has not been shown to be worse.
    """
    costs = pair_costs(store, item.pair, source, level=1 - 2 * alpha, times=times)
    p_cost = None if costs.test is None else costs.test.p_value
    p_pass, p_fail = item.p_values
    p, why = None if p_pass is None or p_cost is None else max(p_pass, p_cost), ""
    if costs.share_missing > MOST_MISSING:
        p, why = None, f"{costs.share_missing:.1%} of a model's answers have no {source.metric}"
    elif costs.test is None or not rejects(p_cost, alpha):
        is_skewed = costs.test is not None and costs.test.flags
        not_shown = f"not shown to be {times:g} times cheaper" if times > 1 else "not shown to be cheaper"
        why = "costs are too skewed to tell" if is_skewed else not_shown
    note = "; ".join(filter(None, (item.note, why)))
    return replace(item, p_values=(p, p_fail), note=note, costs=costs)


def _gate(
    tested: Sequence[_Tested], shared: SharedPrompts | None, left_out: tuple[str, ...], question: ReleaseGate
) -> Gate:
    alpha, copies, notes = question.alpha, [*range(len(tested))], []
    if shared is not None:
        parts = {in_words(item.pair.a.benchmark_split): item.pair.prompts for item in tested}
        contents = [shared.content(item.pair.prompts, item.pair.values) + repr(item.margin).encode() for item in tested]
        copies, notes = same_contents(contents), shared_in_words(shared, parts)
    verdicts = decide([item.p_values for item in tested], alpha=alpha, copies=copies)
    n_tests = len(set(copies))
    adjusted = zip(verdicts.p_pass, verdicts.p_fail, strict=True)
    rows = tuple(
        _row(item, verdict, p_values, n_tests, alpha, verdicts.verdict)
        for item, verdict, p_values in zip(tested, verdicts.each, adjusted, strict=True)
    )
    candidate, baseline = question.candidate, question.baseline
    scored = [side for item in tested for side in item.pair.scored]
    scales = mixed_scales((name, metric, scores.spans) for name, metric, scores in scored)
    notes += [f"{item.pair.benchmark}: {item.pair.note}" for item in tested if item.pair.note]
    return Gate(candidate, baseline, verdicts.verdict, alpha, rows, left_out, n_tests, (*taken(rows), *scales, *notes))


def _tested(pair: Pair, question: ReleaseGate) -> _Tested:
    """The test of a pair: on the whole benchmark where one of the two was asked a planned subset only."""
    name, alpha = pair.a.benchmark_split[0], question.alpha
    margin = margin_for(name, question.margins, question.margin)
    values = np.concatenate([pair.scores_a.values, pair.scores_b.values])
    low, high = pair.metric.bounds_of(values.min(initial=inf), values.max(initial=-inf)) or (None, None)
    if low is not None and high is not None and isfinite(margin) and margin >= high - low:
        raise MisuseError(
            f"a margin of {margin:g} on {name} could not fail: {pair.metric.name} goes from {low:g} to {high:g}; "
            f"margins are in its unit, as {(high - low) * 0.02:g} for 2 per cent of that"
        )
    planned = planned_pair(pair, level=1 - 2 * alpha, estimand=PROMPTS_SAMPLED)
    if planned.estimate is None:
        return _tested_on_common(pair, margin, question)
    unscored, why = _why_undecided(pair, question.max_unscored)
    test = planned.noninferiority(margin, alpha, higher_is_better=pair.metric.higher_is_better is not False)
    if test.ci_low is not None and pair.figure_range is not None:
        test = replace(test, ci_low=max(-pair.figure_range, test.ci_low))
    both: PValues = (None, None) if why else (test.p_value, test.p_inferior)
    means = (planned.estimate.mean_a or 0.0, planned.estimate.mean_b or 0.0)
    method = "t of a planned subset" if planned.few is None else "t of a planned subset and Gaffke's"
    return _Tested(
        pair, margin, test, both, method, why, unscored, means, planned.basis, flags=planned.as_paired().flags
    )


def _tested_on_common(pair: Pair, margin: float, question: ReleaseGate) -> _Tested:
    paired = pair.difference(1 - 2 * question.alpha, turned=pair.metric.higher_is_better is False)
    test = paired_noninferiority(paired, margin, alpha=question.alpha, width=pair.figure_range)
    missing = (pair.scores_b.n - pair.n) / pair.scores_b.n
    unscored, why = _why_undecided(pair, question.max_unscored)
    if not why and missing > question.max_unscored:
        why = f"the candidate has no score of {missing:.1%} of the baseline's prompts"
    method = "paired t" if pair.clusters is None else "paired CR2 t"
    if pair.over_seeds:
        method = "over seeds"
    elif paired.draws is not None:
        method += " and bootstrap-t"
    both: PValues = (test.p_value, test.p_inferior)
    if test.p_value is None and is_constant(pair.differences) and not pair.over_seeds:
        both, method = _exact(pair, paired.difference, margin), "exact binomial"
    few = few_differing(pair, paired)
    note = ""
    if few is not None:
        test, method = careful_noninferiority(test, few), f"{method} and Gaffke's"
        note = "" if both == (test.p_value, test.p_inferior) else FEW_DIFFER
        both = (test.p_value, test.p_inferior)
    elif "skewed" in paired.flags and rejects(test.p_value, question.alpha):
        losses = pair.differences * (1 if pair.metric.higher_is_better is False else -1)
        note = LONG_LOSSES if ((losses - losses.mean()) ** 3).sum() > 0 else ""
    reach = 0.0 if few is None else few.reach
    p_values = (None, None) if why else both
    flags = (*paired.flags, *pair.row_flags)
    return _Tested(pair, margin, test, p_values, method, why, unscored, note=note, reach=reach, flags=flags)


def _why_undecided(pair: Pair, max_unscored: float) -> tuple[float, str]:
    """The candidate's share of samples without a score, and why nothing can be said; empty where it can."""
    unscored = pair.scores_a.n_unscored / pair.scores_a.n_samples
    if pair.metric.higher_is_better is None:
        return unscored, direction_unknown(pair.metric.label, pair.a.benchmark_split[0])
    if pair.scale_flags:
        return unscored, "scores of the two look to be on two scales"
    return unscored, f"{unscored:.1%} of the candidate's samples have no score" if unscored > max_unscored else ""


def _exact(pair: Pair, difference: float, margin: float) -> PValues:
    """Both p where all prompts differ by the same amount and scores have bounds."""
    width = pair.score_range
    if width is None or not abs(difference) <= width:
        return None, None
    return p_of_constant(difference, len(set(pair.units.tolist())), margin, width)


def _row(item: _Tested, verdict: str, p_values: PValues, n_tests: int, alpha: float, overall: str) -> GateRow:
    """What is decided needs no more prompts."""
    pair, test = item.pair, item.test
    equal = seen = None
    # more prompts do not narrow what another draw of seeds would change
    plain = not item.why and item.means is None and item.costs is None and not pair.over_seeds
    if test.standard_error is not None and plain and verdict == UNDECIDED:
        equal, seen = (
            prompts_to_decide(distance, test.standard_error, pair.n, n_tests, alpha=alpha, reach=item.reach)
            for distance in (item.margin, test.difference + item.margin)
        )
    candidate, baseline = item.means or (float(values.mean()) for values in pair.values)
    return GateRow(
        benchmark=pair.a.benchmark_split[0],
        split=pair.a.benchmark_split[1],
        metric=pair.metric.label,
        verdict=verdict,
        candidate=candidate,
        baseline=baseline,
        difference=test.difference,
        standard_error=test.standard_error,
        low=test.ci_low,
        margin=item.margin,
        p_pass=p_values[0],
        p_fail=p_values[1],
        n_prompts=test.n_prompts,
        n_clusters=test.n_clusters,
        prompts_if_equal=equal,
        prompts_as_seen=seen,
        missing=pair.scores_b.n - pair.n if item.means is None else 0,
        share_unscored=item.share_unscored,
        method=item.method,
        reason=item.why or item.note or (test.reason if item.p_values[0] is None else ""),
        flags=item.flags,
        costs=item.costs,
        model_candidate=pair.a.model,
        model_baseline=pair.b.model,
        runs_candidate=pair.a.run_ids,
        runs_baseline=pair.b.run_ids,
        condition_candidate=pair.labels[0],
        condition_baseline=pair.labels[1],
        overall=overall,
    )
