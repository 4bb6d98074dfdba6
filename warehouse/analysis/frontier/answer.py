"""Score against cost: who is beaten in both, who may be on the frontier, who is as good
for less."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.hooks import MOST_MISSING
from warehouse.analysis.frontier.costs import (
    NO_COSTS,
    CostSource,
    PromptCosts,
    cost_source,
    read_costs,
)
from warehouse.analysis.frontier.question import Frontier
from warehouse.analysis.frontier.view import (
    FrontierReport,
    FrontierRow,
    against,
    count_in_words,
)
from warehouse.analysis.leaderboard.row import usable_bounds
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
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.tree import find_suite, is_suite
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    Estimate,
    SeedRow,
    as_good_for_less,
    cost_per_solved,
    cost_ratio,
    dominates,
    estimate_mean,
    frontier_set,
    holm,
    interval_normal,
    mean_cost,
    p_on_frontier,
    paired_difference,
    row_over_seeds,
)
from warehouse.stats.core.inputs import finite_bounds, rejects
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_UNTESTED = (
    "scores are means over training seeds, which no test of the frontier and no "
    "interval of cost per solved knows: points alone; two models: warehouse compare A "
    "B --cost"
)
_TOO_FEW = (
    f"more than {100 * MOST_MISSING:g} % of the costs are missing "
    "(--allow-missing-cost keeps them)"
)


@dataclass(frozen=True)
class _Member:
    """A condition on the prompts of which score and cost are known; without any, a
    published one."""

    entry: ScoredCondition
    row: FrontierRow
    prompts: NDArray[np.int64]
    scores: NDArray[np.float64]
    costs: NDArray[np.float64]

    @property
    def is_tested(self) -> bool:
        """True if it has prompts."""
        return len(self.prompts) > 0

    @property
    def over_seeds(self) -> bool:
        """True if its score is a mean over training seeds."""
        scores = self.entry.usable
        return scores is not None and scores.seeds is not None


@answers(Frontier)
def frontier(store: Store, question: Frontier) -> FrontierReport:
    """Models on a benchmark, or on each benchmark of a suite."""
    source = cost_source(store, question.cost, question.prices)
    names = [question.benchmark]
    if is_suite(store, question.benchmark):
        names = [leaf.name for leaf in find_suite(store, question.benchmark).leaves]
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
                    "scores",
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
    )


def _entry_of_each_run(scores: BenchmarkScores) -> dict[int, int]:
    """The number of the entry that a run belongs to, by id of the run."""
    numbers = {}
    for n, entry in enumerate(scores.entries):
        for run in entry.condition.run_ids:
            numbers[run] = n
    return numbers


def _groups(
    store: Store,
    scores: BenchmarkScores,
    source: CostSource,
    question: Frontier,
    notes: list[str],
    of_suite: str,
) -> Iterator[tuple[str, list[_Member]]]:
    """Members that can be held against each other, with scores and costs, and in what
    it differs from other such rows; says what is left out."""
    usable: set[int] = set()
    for members in scores.groups().values():
        usable.update(id(entry) for entry in comparable(members, scores))
    costs = read_costs(store, _entry_of_each_run(scores), source)
    published_costs = _published_costs(store, scores, source)
    models = Counter(entry.condition.model for entry in scores.entries)
    reasons: dict[str, list[str]] = {}
    groups: dict[tuple[str, ...], list[_Member]] = {}
    for number, entry in enumerate(scores.entries):
        own = costs.get(number, NO_COSTS)
        if id(entry) in usable:
            found: _Member | str = _member(
                entry, own, scores.clusters, source, question
            )
        else:
            found = _published(
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
        if found == _TOO_FEW:
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


def _member(
    entry: ScoredCondition,
    costs: PromptCosts,
    clusters: ClusterMap,
    source: CostSource,
    question: Frontier,
) -> _Member | str:
    """A condition with prompts, or why it is left out."""
    scores = entry.usable
    if (
        scores is None
        or entry.metric.link != "identity"
        or scores.uneven_weights is not None
    ):
        return "their figure is no plain mean of prompts"
    at = costs.at(scores.prompts)
    has_cost = ~np.isnan(at)
    share = costs.share_missing(scores)
    if (at[has_cost] < 0).any():
        return f"a {source.metric} below 0"
    if not has_cost.any():
        hint = ""
        if source.metric == "cost":
            hint = " (--cost tokens, or --prices FILE, may be known)"
        return f"no answer with known {source.metric}{hint}"
    if share > MOST_MISSING and not question.allow_missing_cost:
        return _TOO_FEW
    row = _row(entry, scores, has_cost, at, clusters, source, question)
    return _Member(
        entry, row, scores.prompts[has_cost], scores.values[has_cost], at[has_cost]
    )


def _row(
    entry: ScoredCondition,
    scores: PromptScores,
    has_cost: NDArray[np.bool_],
    at: NDArray[np.float64],
    clusters: ClusterMap,
    source: CostSource,
    question: Frontier,
) -> FrontierRow:
    """The row of a condition, taken alone."""
    y, c, level = scores.values[has_cost], at[has_cost], question.level
    labels = clusters.labels(scores.prompts[has_cost])
    bounds = usable_bounds(scores, entry.metric)[0]
    score: Estimate | SeedRow
    if scores.seeds is None:
        score = estimate_mean(
            y,
            clusters=labels,
            bounds=bounds,
            n_draws=scores.n_draws[has_cost],
            level=level,
        )
    else:
        score = row_over_seeds(
            scores.seeds.at(np.flatnonzero(has_cost)),
            clusters=labels,
            bounds=bounds,
            level=level,
        )
    cost, solved = mean_cost(c, labels, level=level), None
    if entry.metric.higher_is_better and y.min() >= 0 and y.max() <= 1:
        solved = cost_per_solved(
            c,
            y,
            labels,
            level=level,
            method="fieller" if question.fieller else "log_delta",
        )
    of_solved = solved.flags if solved else ()
    missing = () if has_cost.all() else ("missing_cost",)
    flags = (*entry.row_flags, *score.flags, *cost.flags, *of_solved, *missing)
    return replace(
        _bare(entry, source, question, score.estimate, cost.estimate or 0.0),
        **part_fields(score, "standard_error", "ci_low", "ci_high"),
        **part_fields(cost, "n_clusters", cost_low="low", cost_high="high"),
        **part_fields(solved, cost_per_solved="estimate"),
        **part_fields(
            None if scores.seeds else solved, solved_low="low", solved_high="high"
        ),
        n_prompts=len(y),
        n_missing_cost=int((~has_cost).sum()),
        score_missing=None
        if has_cost.all()
        else float(scores.values[~has_cost].mean()),
        flags=tuple(dict.fromkeys(flags)),
        reason="; ".join(
            dict.fromkeys(filter(None, (cost.reason, solved.reason if solved else "")))
        ),
    )


def _bare(
    entry: ScoredCondition,
    source: CostSource,
    question: Frontier,
    estimate: float,
    cost: float,
) -> FrontierRow:
    """A row with points alone."""
    values: dict[str, Any] = dict.fromkeys(FrontierRow.columns())
    benchmark, split = entry.condition.benchmark_split
    values |= {
        "model": entry.condition.model,
        "condition": entry.label,
        "benchmark": benchmark,
        "split": split,
        "metric": entry.metric.label,
        "cost_metric": source.metric,
        "prices_digest": source.digest,
        "estimate": estimate,
        "level": question.level,
        "mean_cost": cost,
        "run_ids": entry.condition.run_ids,
        "group": 0,
        "on_frontier": False,
        "n_prompts": 0,
        "n_missing_cost": 0,
        "flags": (),
    }
    return FrontierRow(
        **values | dict.fromkeys(("dominated_by", "excluded_by", "reason"), "")
    )


def _published_costs(
    store: Store, scores: BenchmarkScores, source: CostSource
) -> dict[int, float]:
    """The cost of a task in published runs, by number of the entry: as published, or a
    run's cost over its tasks."""
    if source.metric != "cost":
        return {}
    numbers = _entry_of_each_run(scores)
    found: dict[int, list[float]] = {}
    said = store.rows(
        query_text("analysis/frontier", "published_costs"),
        {"run_ids": list(numbers)},
        per="run_id",
    )
    for row in said:
        figure = scores.entries[numbers[row["run_id"]]].published
        if row["task_cost"] is not None:
            found.setdefault(numbers[row["run_id"]], []).append(row["task_cost"])
        elif figure is not None and figure.n:
            found.setdefault(numbers[row["run_id"]], []).append(
                row["stated_cost"] / figure.n
            )
    return {number: sum(costs) / len(costs) for number, costs in found.items()}


def _published(
    entry: ScoredCondition, cost: float | None, source: CostSource, question: Frontier
) -> _Member | str:
    """A published figure with its cost, or why it is left out; empty where it is none."""
    figure = entry.published
    if entry.stopped is not None or entry.usable is not None or figure is None:
        return ""
    if cost is None:
        return f"published without {source.metric}"
    if not math.isfinite(figure.value):
        return "an infinite figure"
    ends = interval_normal(figure.value, figure.standard_error, level=question.level)
    row = replace(
        _bare(entry, source, question, figure.value, cost),
        standard_error=figure.standard_error,
        **part_fields(ends, ci_low="low", ci_high="high"),
        n_prompts=figure.n,
        flags=("published",),
        reason=(
            "as its source publishes it: no prompts to test, and no error of the cost"
        ),
    )
    nothing = np.empty(0)
    return _Member(entry, row, np.empty(0, np.int64), nothing, nothing)


def _answered(
    members: Sequence[_Member], clusters: ClusterMap, question: Frontier
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
    members: Sequence[_Member],
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
