"""Score against cost: who is beaten in both, who may be on the frontier, who is as good
for less."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.frontier.costs import (
    NO_COSTS,
    CostSource,
    cost_source,
    read_costs,
)
from warehouse.analysis.frontier.question import Frontier
from warehouse.analysis.frontier.row import (
    TOO_FEW,
    Member,
    costs_of_published,
    entry_of_each_run,
    member_of,
    published_figures,
)
from warehouse.analysis.frontier.view import (
    FrontierReport,
    FrontierRow,
    against,
    count_in_words,
)
from warehouse.analysis.pairs.answer import comparable, why_not
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_flags,
    group_differences,
    notes_of_row,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.tree import find_suite, is_suite
from warehouse.errors import MisuseError
from warehouse.questions.options import COSTS
from warehouse.questions.question import answers
from warehouse.stats import (
    as_good_for_less,
    cost_ratio,
    dominates,
    frontier_set,
    holm,
    p_on_frontier,
    paired_difference,
)
from warehouse.stats.core.inputs import finite_bounds, rejects
from warehouse.store.connection import Store

_UNTESTED = (
    "scores are means over training seeds, which no test of the frontier and no "
    "interval of cost per solved knows: points alone; two models: warehouse compare A "
    "B --cost"
)


@answers(Frontier)
def frontier(store: Store, question: Frontier) -> FrontierReport:
    """Models on a benchmark, or on each benchmark of a suite."""
    source = cost_source(store, question.cost, question.prices)
    names = [question.benchmark]
    if is_suite(store, question.benchmark):
        names = [leaf.name for leaf in find_suite(store, question.benchmark).leaves]
    shares: list[str] = []
    rows, sentences, notes, rising = (
        list[FrontierRow](),
        list[str](),
        list[str](),
        set[bool](),
    )
    for name in names:
        scores = select_entries(store, selection_of(question, benchmark=name))
        metric = scores.metric
        if metric.higher_is_better is None:
            raise MisuseError(direction_unknown(metric.label, name))
        rising.add(metric.higher_is_better)
        if metric.bounds == (0.0, 1.0):
            shares.append(name)
        of_suite = f" of {name}" if len(names) > 1 else ""
        for differs, members in _groups(
            store, scores, source, question, notes, of_suite
        ):
            if any(member.over_seeds for member in members) and _UNTESTED not in notes:
                notes.append(_UNTESTED)
            found = [
                replace(row, group=len(sentences))
                for row in _answered(members, scores.clusters, question)
            ]
            rows += found
            sentences.append(
                _sentence(found, f"{name} ({differs})" if differs else name, question)
            )
    if not rows:
        raise MisuseError(
            "; ".join(
                [
                    f"{question.benchmark} has no {source.metric} to hold against "
                    f"scores{_instead(store, names, question)}",
                    *notes,
                ]
            )
        )
    if len(rising) > 1:
        raise MisuseError(
            f"{question.benchmark} has metrics of both directions: name one benchmark, "
            "or a --metric"
        )
    if len(names) > 1:
        notes.append(
            "each benchmark is answered alone: costs of different tasks are not "
            "averaged"
        )
    words = (
        f"prices: {question.prices}, sha256 {source.digest}" if source.digest else ""
    )
    return FrontierReport(
        question.benchmark,
        source.unit,
        rising.pop(),
        tuple(rows),
        tuple(sentences),
        words,
        tuple(notes),
        tuple(shares),
    )


def _groups(
    store: Store,
    scores: BenchmarkScores,
    source: CostSource,
    question: Frontier,
    notes: list[str],
    of_suite: str,
) -> Iterator[tuple[str, list[Member]]]:
    """Members that can be held against each other, with scores and costs, and in what
    it differs from other such rows; says what is left out."""
    usable: set[int] = set()
    for members in scores.groups().values():
        usable.update(id(entry) for entry in comparable(members, scores))
    costs = read_costs(store, entry_of_each_run(scores), source)
    published_costs = costs_of_published(store, scores, source)
    models = Counter(entry.condition.model for entry in scores.entries)
    reasons: dict[str, list[str]] = {}
    groups: dict[tuple[str, ...], list[Member]] = {}
    for number, entry in enumerate(scores.entries):
        own = costs.get(number, NO_COSTS)
        if id(entry) in usable:
            found: Member | str = member_of(
                entry, own, scores.clusters, source, question
            )
        else:
            found = published_figures(
                entry, published_costs.get(number), source, question
            ) or why_not(entry, scores)
        if not isinstance(found, str):
            covers = coverage_flags(entry, scores.coverages[entry.group])
            row = replace(
                found.row,
                flags=(
                    *found.row.flags,
                    *(flag for flag in covers if flag not in found.row.flags),
                ),
            )
            groups.setdefault(entry.group, []).append(replace(found, row=row))
            notes += [note for note in notes_of_row(entry) if note not in notes]
            continue
        named = entry.condition.model + (
            f" ({entry.label})" if models[entry.condition.model] > 1 else ""
        )
        if found == TOO_FEW:
            named += (
                f", {100 * own.share_missing(entry.usable):.3g} %"
                if entry.usable
                else ""
            )
        reasons.setdefault(found, []).append(named)
    for why, left in reasons.items():
        more = ""
        if len(left) > 3:
            more = f" and {len(left) - 3} more"
        named = "; ".join(left[:3])
        notes.append(f"left out{of_suite}, {why}: {named}{more}")
    if scores.clusters.note and groups and scores.clusters.note not in notes:
        notes.append(scores.clusters.note)
    differences = group_differences(groups)
    yield from ((differences[group], members) for group, members in groups.items())


def _instead(store: Store, names: Sequence[str], question: Frontier) -> str:
    """Which other costs the answers have, in words; empty where there is none."""
    known = []
    for kind in COSTS:
        if kind != question.cost and _are_known(store, names, question, kind):
            known.append(f"--cost {kind}")
    if not known:
        return ", nor any other cost"
    priced = question.prices is not None or question.cost != COSTS[0]
    if "--cost tokens" in known and not priced:
        known.append("--prices FILE")
    return f"; these answers have other costs: {' or '.join(known)}"


def _are_known(
    store: Store, names: Sequence[str], question: Frontier, kind: str
) -> bool:
    """True where answers on a benchmark have a kind of cost."""
    for name in names:
        scores = select_entries(store, selection_of(question, benchmark=name))
        if any(_groups(store, scores, CostSource(kind), question, [], "")):
            return True
    return False


def _answered(
    members: Sequence[Member], clusters: ClusterMap, question: Frontier
) -> list[FrontierRow]:
    """The rows of one group, the best first."""
    sign = -1.0 if members[0].entry.metric.higher_is_better is False else 1.0
    order = sorted(
        members,
        key=lambda member: (
            -sign * member.row.estimate,
            member.row.mean_cost,
            member.row.label,
        ),
    )
    beats = dominates(
        [sign * member.row.estimate for member in order],
        [member.row.mean_cost for member in order],
    )
    models = Counter(member.row.model for member in order)
    names = [
        member.row.label if models[member.row.model] > 1 else member.row.model
        for member in order
    ]
    rows = [
        replace(
            member.row,
            on_frontier=not beats[:, index].any(),
            dominated_by=names[int(beats[:, index].argmax())]
            if beats[:, index].any()
            else "",
        )
        for index, member in enumerate(order)
    ]
    tested = [index for index, member in enumerate(order) if member.is_tested]
    # resampled prompts know nothing of training seeds
    if any(member.over_seeds for member in order):
        return rows
    if len(tested) > 1:
        found = _tested(
            [order[index] for index in tested],
            [rows[index] for index in tested],
            clusters,
            question,
            sign,
        )
        for index, (row, by) in zip(tested, found, strict=True):
            rows[index] = replace(row, excluded_by="" if by < 0 else names[tested[by]])
    return rows


def _tested(
    members: Sequence[Member],
    rows: Sequence[FrontierRow],
    clusters: ClusterMap,
    question: Frontier,
    sign: float,
) -> list[tuple[FrontierRow, int]]:
    """Rows with prompts, with what tests say of them, and the place of the one that
    shows it off the frontier."""
    prompts = np.unique(np.concatenate([member.prompts for member in members]))
    shape = (len(prompts), len(members))
    y = np.full(shape, np.nan)
    c = np.full(shape, np.nan)
    for column, member in enumerate(members):
        rows_of = np.searchsorted(prompts, member.prompts)
        y[rows_of, column] = sign * member.scores
        c[rows_of, column] = member.costs
    labels = clusters.labels(prompts)
    shares = p_on_frontier(
        y, c, labels, n_resamples=question.n_resamples, seed=question.seed
    )
    chosen = frontier_set(y, c, labels, level=question.level)
    found = []
    for index, row in enumerate(rows):
        against_best: dict[str, Any] = {}
        if index:
            both = [index, 0]
            against_best = _against_best(
                y[:, both], c[:, both], labels, members[0].entry, question
            )
        gated = ("skew_gate",) if chosen.gated[index] else ()
        found.append(
            replace(
                row,
                p_on_frontier=float(shares[index]),
                in_frontier_set=bool(chosen.in_set[index]),
                p=float(chosen.p_value[index]),
                flags=(*row.flags, *gated),
                **against_best,
            )
        )
    p = holm([math.nan if row.p_as_good is None else row.p_as_good for row in found])
    adjusted = [
        replace(row, p_as_good=None if row.p_as_good is None else float(value))
        for row, value in zip(found, p, strict=True)
    ]
    return list(zip(adjusted, chosen.excluded_by.tolist(), strict=True))


def _against_best(
    y: NDArray[np.float64],
    c: NDArray[np.float64],
    labels: NDArray[np.int64] | None,
    entry: ScoredCondition,
    question: Frontier,
) -> dict[str, Any]:
    """Difference, ratio and test of a model (first column, signed scores) and the best
    one."""
    both = ~np.isnan(y).any(axis=1)
    if not both.any():
        return {}
    (a, b), (cost_a, cost_b), own = (
        y[both].T,
        c[both].T,
        None if labels is None else labels[both],
    )
    rising = entry.metric.higher_is_better is not False
    sign = 1 if rising else -1
    bounds = entry.metric.bounds_of(
        float((sign * y[both]).min()), float((sign * y[both]).max())
    )
    pair = paired_difference(
        sign * a, sign * b, clusters=own, level=question.level, bounds=bounds
    )
    ratio = cost_ratio(cost_a, cost_b, own, level=question.level)
    p = None
    if question.margin is not None:
        low, high = finite_bounds(bounds) or (0.0, math.inf)
        width = high - low if math.isfinite(high) else None
        p = as_good_for_less(
            a,
            cost_a,
            b,
            cost_b,
            own,
            margin=question.margin,
            times=question.cheaper,
            width=width,
        ).p_value
    return {
        **part_fields(
            pair, "difference", difference_low="ci_low", difference_high="ci_high"
        ),
        **part_fields(ratio, cost_ratio="estimate", ratio_low="low", ratio_high="high"),
        "p_as_good": p,
    }


def _sentence(rows: Sequence[FrontierRow], name: str, question: Frontier) -> str:
    """A sentence on one group."""
    if len(rows) == 1:
        return (
            f"{name}: {rows[0].model} alone has score and cost; there is nothing to "
            "hold it against."
        )
    words = f"{name}: {count_in_words(rows)}."
    tested = [row for row in rows if row.in_frontier_set is not None]
    if not tested:
        are_published = all("published" in row.flags for row in rows)
        if are_published:
            return f"{words} They are published figures: without prompts nothing is tested."
        return words
    best = tested[0]
    cheaper = [
        row for row in tested[1:] if row.ratio_high is not None and row.ratio_high < 1
    ]
    if question.margin is not None:
        times = " and cheaper"
        if question.cheaper > 1:
            times = f" and {question.cheaper:g} times cheaper"
        good = [row for row in cheaper if rejects(row.p_as_good, 1 - question.level)]
        if not good:
            return (
                f"{words} None is shown to be as good as {best.label} within "
                f"{question.margin:g}{times}."
            )
        return (
            f"{words} "
            f"{against(min(good, key=lambda row: row.mean_cost), best, 'is as good as')}."
        )
    nearest = next((row for row in cheaper if row.on_frontier), None)
    if nearest is None:
        return words
    return f"{words} {against(nearest, best, 'against')}."
