"""The release gate: is a candidate no worse than a baseline, by more than a margin?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import inf, isfinite
from typing import Any

import numpy as np

from warehouse.analysis.comparison.hooks import (
    COSTS_OF_PAIRS,
    MOST_MISSING,
    DifferenceOnWhole,
    PairCosting,
    PairCosts,
    on_plans,
)
from warehouse.analysis.comparison.pair_tests import few_differing
from warehouse.analysis.comparison.pairing import Pair, filled_over, policy_over
from warehouse.analysis.comparison.read import TwoModels
from warehouse.analysis.comparison.words import taken_in_words
from warehouse.analysis.gate.question import ReleaseGate
from warehouse.analysis.gate.row import FEW_DIFFER, GateRow
from warehouse.analysis.gate.view import Gate
from warehouse.analysis.selection.benchmarks import Metric, direction_unknown
from warehouse.analysis.selection.policies import policy_notes
from warehouse.analysis.selection.prompts import (
    SharedPrompts,
    read_shared_prompts,
    same_contents,
    shared_in_words,
)
from warehouse.analysis.selection.reference import in_words
from warehouse.analysis.selection.score_ranges import mixed_scales
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.core.draws import PROMPTS_SAMPLED
from warehouse.stats.core.inputs import is_constant, rejects
from warehouse.stats.paired.gate import (
    UNDECIDED,
    PValues,
    decide,
    p_of_constant,
    prompts_to_decide,
)
from warehouse.stats.paired.margins import (
    NonInferiorityTest,
    careful_noninferiority,
    paired_noninferiority,
)
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads

#: What is said beside a pass of scores without bounds, where losses have the longer
#: tail.
LONG_LOSSES = (
    "losses are skewed: the largest may be missing from these prompts, and a pass is "
    "less sure than it says"
)


def taken(rows: Sequence[Any]) -> list[str]:
    """Which conditions were taken, where `names` cannot say it."""
    return taken_in_words(
        (
            row.benchmark,
            (row.model_candidate, row.condition_candidate),
            (row.model_baseline, row.condition_baseline),
        )
        for row in rows
    )


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
    tested, refused = both.compute(
        partial(_tested, question=question), all_needed=bool(question.benchmarks)
    )
    refuse_other_margins(
        question.margins, [item.pair.a.benchmark_split[0] for item in tested]
    )
    left_out = tuple(dict.fromkeys((*both.missing, *refused)))
    if not tested:
        raise MisuseError("; ".join(left_out))
    if question.cheaper is not None:
        costing = COSTS_OF_PAIRS.load()(store, question.cost, question.prices)
        tested = [
            _with_costs(store, item, costing, question.cheaper, question.alpha)
            for item in tested
        ]
    prompts = [item.pair.prompts for item in tested]
    shared = None
    if len(tested) > 1:
        shared = read_shared_prompts(store, prompts)
    return _gate(tested, shared, left_out, question)


def refuse_other_margins(
    margins: Mapping[str, float] | None, benchmarks: Iterable[str]
) -> None:
    """Refuse a margin for a benchmark that is not among those compared."""
    if unknown := sorted(set(margins or {}) - set(benchmarks)):
        raise MisuseError(
            f"a margin is given for {', '.join(unknown)}, which is not compared"
        )


def margin_for(
    benchmark: str, margins: Mapping[str, float] | None, margin: float | None
) -> float:
    """The margin of a benchmark: its own, else that of all (MisuseError: neither is
    given)."""
    own = (margins or {}).get(benchmark, margin)
    if own is None:
        raise MisuseError(f"no margin for {benchmark}; give one for all")
    return own


def _with_costs(
    store: Store, item: _Tested, costing: PairCosting, times: float, alpha: float
) -> _Tested:
    """A test that passes only where the candidate is shown to be cheaper too: the
    larger p counts.

    It fails by its scores alone: a candidate that is not cheaper has not been shown to
    be worse.
    """
    costs = costing.of_pair(store, item.pair, level=1 - 2 * alpha, times=times)
    if costs.test is None:
        p_cost = None
    else:
        p_cost = costs.test.p_value
    p_pass, p_fail = item.p_values
    why = ""
    if p_pass is None or p_cost is None:
        p = None
    else:
        p = max(p_pass, p_cost)
    if costs.share_missing > MOST_MISSING:
        p = None
        why = _without_costs(costs.share_missing, costs.metric, p_pass, alpha)
    elif costs.test is None or not rejects(p_cost, alpha):
        is_skewed = costs.test is not None and costs.test.flags
        not_shown = "not shown to be cheaper"
        if times > 1:
            not_shown = f"not shown to be {times:g} times cheaper"
        why = not_shown
        if is_skewed:
            why = "costs are too skewed to tell"
    note = "; ".join(filter(None, (item.note, why)))
    return replace(item, p_values=(p, p_fail), note=note, costs=costs)


def _without_costs(
    share: float, metric: str, p_pass: float | None, alpha: float
) -> str:
    """Why nobody can say whether it is cheaper, and what would say it."""
    scores = ""
    if rejects(p_pass, alpha):
        scores = "its scores would pass; "
    other = "tokens"
    if metric == "tokens":
        other = "dollars"
    return (
        f"{scores}{100 * share:.3g} % of a model's answers have no {metric}, so that "
        "nothing says whether it is cheaper: --prices FILE makes dollars of tokens, "
        f"--cost {other} may be known"
    )


def _gate(
    tested: Sequence[_Tested],
    shared: SharedPrompts | None,
    left_out: tuple[str, ...],
    question: ReleaseGate,
) -> Gate:
    alpha = question.alpha
    copies = [*range(len(tested))]
    notes = []
    if shared is not None:
        parts = {
            in_words(item.pair.a.benchmark_split): item.pair.prompts for item in tested
        }
        contents = [
            shared.content(item.pair.prompts, item.pair.values)
            + repr(item.margin).encode()
            for item in tested
        ]
        copies = same_contents(contents)
        notes = shared_in_words(shared, parts)
    verdicts = decide([item.p_values for item in tested], alpha=alpha, copies=copies)
    n_tests = len(set(copies))
    adjusted = zip(verdicts.p_pass, verdicts.p_fail, strict=True)
    rows = tuple(
        _row(item, verdict, p_values, n_tests, alpha, verdicts.verdict)
        for item, verdict, p_values in zip(tested, verdicts.each, adjusted, strict=True)
    )
    candidate, baseline = question.candidate, question.baseline
    in_force = policy_over(item.pair for item in tested)
    scored = list(chain.from_iterable(item.pair.scored for item in tested))
    scales = mixed_scales(
        (name, metric, scores.spans) for name, metric, scores in scored
    )
    notes += [
        f"{item.pair.benchmark}: {item.pair.note}" for item in tested if item.pair.note
    ]
    return Gate(
        candidate,
        baseline,
        verdicts.verdict,
        alpha,
        rows,
        left_out,
        n_tests,
        (
            *policy_notes(in_force, filled_over(item.pair for item in tested)),
            *(*taken(rows), *scales, *notes),
        ),
        policy=in_force.text,
        is_share=all(_is_share(item.pair.metric) for item in tested),
    )


def _is_share(metric: Metric) -> bool:
    """True if figures are means of scores between 0 and 1."""
    return metric.bounds == (0.0, 1.0) and metric.link == "identity"


def _tested(pair: Pair, question: ReleaseGate) -> _Tested:
    """The test of a pair: on the whole benchmark where one of the two was asked a
    planned subset only."""
    name = pair.a.benchmark_split[0]
    alpha = question.alpha
    margin = margin_for(name, question.margins, question.margin)
    values = np.concatenate([pair.scores_a.values, pair.scores_b.values])
    low, high = pair.metric.bounds_of(
        values.min(initial=inf), values.max(initial=-inf)
    ) or (None, None)
    if (
        low is not None
        and high is not None
        and isfinite(margin)
        and margin >= high - low
    ):
        raise MisuseError(
            f"a margin of {margin:g} on {name} could not fail: {pair.metric.name} goes "
            f"from {low:g} to {high:g}; margins are in its unit, as "
            f"{(high - low) * 0.02:g} for 2 per cent of that"
        )
    planned = on_plans(pair, level=1 - 2 * alpha, estimand=PROMPTS_SAMPLED)
    if planned is None or planned.whole is None:
        return _tested_on_common(pair, margin, question)
    return _tested_on_whole(pair, margin, question, planned.whole)


def _tested_on_whole(
    pair: Pair, margin: float, question: ReleaseGate, whole: DifferenceOnWhole
) -> _Tested:
    unscored, why = _why_undecided(pair, question.max_unscored)
    test = whole.noninferiority(
        margin,
        question.alpha,
        higher_is_better=pair.metric.higher_is_better is not False,
    )
    if test.ci_low is not None and pair.figure_range is not None:
        test = replace(test, ci_low=max(-pair.figure_range, test.ci_low))
    return _Tested(
        pair,
        margin,
        test,
        (None, None) if why else (test.p_value, test.p_inferior),
        whole.method,
        why,
        unscored,
        whole.means,
        whole.basis,
        flags=whole.as_paired().flags,
    )


def _tested_on_common(pair: Pair, margin: float, question: ReleaseGate) -> _Tested:
    paired = pair.difference(
        1 - 2 * question.alpha, turned=pair.metric.higher_is_better is False
    )
    test = paired_noninferiority(
        paired, margin, alpha=question.alpha, width=pair.figure_range
    )
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
        both = _exact(pair, paired.difference, margin)
        method = "exact binomial"
    few = few_differing(pair, paired)
    note = ""
    if few is not None:
        test = careful_noninferiority(test, few)
        method = f"{method} and Gaffke's"
        note = "" if both == (test.p_value, test.p_inferior) else FEW_DIFFER
        both = (test.p_value, test.p_inferior)
    elif "skewed" in paired.flags and rejects(test.p_value, question.alpha):
        losses = pair.differences * (1 if pair.metric.higher_is_better is False else -1)
        note = LONG_LOSSES if ((losses - losses.mean()) ** 3).sum() > 0 else ""
    reach = 0.0 if few is None else few.reach
    p_values = (None, None) if why else both
    flags = (*paired.flags, *pair.row_flags)
    return _Tested(
        pair,
        margin,
        test,
        p_values,
        method,
        why,
        unscored,
        note=note,
        reach=reach,
        flags=flags,
    )


def _why_undecided(pair: Pair, max_unscored: float) -> tuple[float, str]:
    """The candidate's share of samples without a score, and why nothing can be said;
    empty where it can."""
    unscored = pair.scores_a.n_unscored / pair.scores_a.n_samples
    if pair.metric.higher_is_better is None:
        return unscored, direction_unknown(pair.metric.label, pair.a.benchmark_split[0])
    if pair.scale_flags:
        return unscored, "scores of the two look to be on two scales"
    warning = ""
    if unscored > max_unscored:
        warning = f"{unscored:.1%} of the candidate's samples have no score"
    return (
        unscored,
        warning,
    )


def _exact(pair: Pair, difference: float, margin: float) -> PValues:
    """Both p where all prompts differ by the same amount and scores have bounds."""
    width = pair.score_range
    if width is None or not abs(difference) <= width:
        return None, None
    return p_of_constant(difference, len(set(pair.units.tolist())), margin, width)


def _row(
    item: _Tested,
    verdict: str,
    p_values: PValues,
    n_tests: int,
    alpha: float,
    overall: str,
) -> GateRow:
    """The row of a decision; one that is made needs no more prompts."""
    pair, test = item.pair, item.test
    equal = seen = None
    # more prompts do not narrow what another draw of seeds would change
    plain = (
        not item.why
        and item.means is None
        and item.costs is None
        and not pair.over_seeds
    )
    if test.standard_error is not None and plain and verdict == UNDECIDED:
        equal, seen = (
            prompts_to_decide(
                distance,
                test.standard_error,
                pair.n,
                n_tests,
                alpha=alpha,
                reach=item.reach,
            )
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
        reason=item.why
        or item.note
        or (test.reason if item.p_values[0] is None else ""),
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
