"""Making a plan: how many prompts, which ones, and how precise that will be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.leaderboard.row import usable_bounds
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.prompt_links import indices_among, values_at
from warehouse.analysis.selection.reference import find_conditions, pick_one
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import Selection, selection_of
from warehouse.analysis.subsets.plan import (
    SCHEMA,
    PlanPrompt,
    SubsetPlan,
    SubsetPlans,
    hash_ids,
)
from warehouse.analysis.subsets.question import PlanSubset
from warehouse.analysis.subsets.stored import plan_id, store_plan
from warehouse.analysis.suites.tree import find_suite, is_suite
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.canonical_json import fingerprint
from warehouse.records.clock import utc_now
from warehouse.stats.core.inputs import Bounds, FloatArray
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.subsets.design import LEAST, draw_subset
from warehouse.stats.subsets.estimate import as_range
from warehouse.stats.subsets.expected import (
    ExpectedPrecision,
    LeaveOneOut,
    predict_scores,
)
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class _Leaf:
    """A benchmark with its expected precision by sample size."""

    name: str
    prompts: Population
    expected: LeaveOneOut

    @property
    def n(self) -> int:
        return len(self.prompts.ids)


@answers(PlanSubset)
def plan_subset(opener: StoreOpener, question: PlanSubset) -> SubsetPlans:
    """The plans of the benchmark, or of each of a suite, with what interval they are
    expected to give."""
    level, seed = question.level, question.seed
    with opener.reading() as store:
        leaves, suite = _leaves(store, question)
    sizes, expected_width = _sizes(leaves, question)
    moment = (question.now or utc_now()).isoformat(timespec="seconds")
    plans = [
        _plan(leaf, expected, suite, seed, moment)
        for leaf, expected in zip(leaves, sizes, strict=True)
    ]
    notes: list[str] = []
    if question.store_result:
        stored = [store_plan(opener, plan) for plan in plans]
        plans = [plan for plan, _ in stored]
        notes = list(dict.fromkeys(note for _, note in stored if note))
    else:
        notes = ["not stored (--no-store): runs on it will not be recognised"]
    return SubsetPlans(suite, expected_width, level, tuple(plans), tuple(notes))


def _leaves(store: Store, question: PlanSubset) -> tuple[list[_Leaf], str]:
    name = question.benchmark
    against = question.against
    level = question.level
    suite = is_suite(store, name) or ("," in name or "*" in name)
    names = [name]
    if suite:
        names = [leaf.name for leaf in find_suite(store, name).leaves]
    leaves = []
    for benchmark in names:
        chosen = selection_of(question, benchmark=benchmark)
        scores = select_entries(store, chosen)
        prompts = read_population(store, scores, chosen, against)
        expected = LeaveOneOut(
            prompts.history,
            baseline=prompts.baseline,
            models=prompts.names,
            bounds=prompts.bounds,
            level=level,
        )
        leaves.append(_Leaf(scores.benchmark.name, prompts, expected))
    suite_name = ""
    if suite:
        suite_name = name
    return leaves, suite_name


def _sizes(
    leaves: Sequence[_Leaf], question: PlanSubset
) -> tuple[list[ExpectedPrecision], float | None]:
    """The size of each benchmark's sample, and the expected width of their mean's
    interval."""
    requested = question.n_requested
    width = question.width or 0
    level = question.level
    if len(leaves) == 1:
        leaf = leaves[0]
        if requested is not None:
            precision = leaf.expected.at(requested)
        else:
            precision = leaf.expected.size_for(width)
        return [precision], precision.width
    n = sum(leaf.n for leaf in leaves)
    least = sum(min(LEAST, leaf.n) for leaf in leaves)
    if requested is not None:
        if not least <= requested <= n:
            raise MisuseError(
                f"{len(leaves)} benchmarks of {n} prompts in all take from {least} "
                f"({LEAST} each) to {n} prompts, found {requested}"
            )
        each = _split(leaves, requested)
        return each, _width_of_mean(each, level)
    if _width_of_mean(_split(leaves, n // 2), level) is None:
        raise MisuseError(
            "no stored model has all prompts of each benchmark: nothing tells how wide "
            "an interval will be"
        )
    low, high = least - 1, n
    while high - low > 1:
        middle = (low + high) // 2
        expected_width = _width_of_mean(_split(leaves, middle), level)
        if expected_width is not None and expected_width <= width:
            low, high = (low, middle)
        else:
            low, high = (middle, high)
    each = _split(leaves, high)
    return each, _width_of_mean(each, level)


def _split(leaves: Sequence[_Leaf], total: int) -> list[ExpectedPrecision]:
    """Prompts shared alike among benchmarks, as far as each has so many: best for the
    mean of all."""
    sizes = dict.fromkeys(range(len(leaves)), 0)
    for index, leaf in enumerate(sorted(leaves, key=lambda leaf: leaf.n)):
        left = total - sum(sizes.values())
        share = 0
        if left:
            share = -(-left // (len(leaves) - index))
        sizes[leaves.index(leaf)] = max(1, min(leaf.n, share))
    return [leaf.expected.at(sizes[index]) for index, leaf in enumerate(leaves)]


def _width_of_mean(each: Sequence[ExpectedPrecision], level: float) -> float | None:
    errors = [plan.error for plan in each]
    if any(error is None for error in errors):
        return None
    squares = [error**2 for error in errors if error is not None]
    return 2 * z_quantile(level) * math.sqrt(sum(squares)) / len(each)


def _plan(
    leaf: _Leaf, expected: ExpectedPrecision, suite: str, seed: int, moment: str
) -> SubsetPlan:
    prompts = leaf.prompts
    prediction = predict_scores(prompts.history, prompts.baseline, n=leaf.n)
    design = draw_subset(prompts.ids, prediction, expected.size, seed=seed)
    condition, metric = prompts.entry.condition, prompts.entry.metric
    low, high = as_range(prompts.bounds) or (None, None)
    notes = list(prompts.notes)
    if not len(prompts.history) and prompts.baseline is None:
        notes.append("no history: one stratum, a simple random sample")
    elif np.ptp(design.prediction) < 1e-12:
        notes.append(
            "the history predicts the same for every prompt: one stratum, a simple "
            "random sample"
        )
    return SubsetPlan(
        schema=SCHEMA,
        benchmark=leaf.name,
        **part_fields(
            prompts,
            "task",
            "revision",
            "history_sha256",
            history="models",
            baseline="baseline_model",
        ),
        split=condition.benchmark_split[1],
        task_version=str(condition.setting("task_version") or ""),
        harness=", ".join(prompts.harnesses),
        ids_sha256=hash_ids(prompts.ids),
        n_prompts=leaf.n,
        size=design.size,
        seed=seed,
        metric=metric.label,
        low=low,
        high=high,
        higher_is_better=metric.higher_is_better,
        suite=suite,
        created_at=moment,
        extends="",
        **part_fields(
            expected, "width", "gain", "gain_least", "level", n_left_out="n_models"
        ),
        notes=tuple(notes),
        rows=tuple(
            PlanPrompt(*row)
            for row in zip(
                prompts.ids,
                prompts.tool_ids,
                design.prediction.tolist(),
                design.stratum.tolist(),
                design.selected.tolist(),
                design.inclusion.tolist(),
                strict=True,
            )
        ),
    )


_N_PROMPTS = (
    "select count(*) as n from prompt where split = :split and benchmark_id in "
    "(:benchmark_ids)"
)


@dataclass(frozen=True, eq=False)
class Population:
    """All prompts of a benchmark that can be scored, in the order of their ids."""

    entry: ScoredCondition  #: a condition of the group that counts: metric, split and version are its.
    ids: tuple[str, ...]  #: of the prompts, as a plan has them, ascending, N of them.
    tool_ids: tuple[str, ...]  #: theirs in the dumps.
    task: str  #: name of their benchmark in the dumps.
    harnesses: tuple[str, ...]  #: tools that made the runs, sorted.
    revision: str  #: version of the data; empty if no run says.
    models: tuple[str, ...]  #: who is who, of the history.
    #: of their models alone, without checkpoint, seed and agent.
    names: tuple[str, ...]
    history: FloatArray  #: their scores, NaN where there is none, shape (M, N).
    baseline: FloatArray | None  #: scores of the baseline, shape (N,); None without.
    baseline_model: str  #: who that is; empty without.
    bounds: Bounds | None  #: of the scores.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def history_sha256(self) -> str:
        """sha256 (hex) of models, prompts and scores behind the prediction."""
        if self.baseline is None:
            base = b""
        else:
            base = self.baseline.tobytes()
        return fingerprint(
            "\0".join(self.models), "\0".join(self.ids), self.history.tobytes(), base
        )


def read_population(
    store: Store, scores: BenchmarkScores, selection: Selection, against: str | None
) -> Population:
    """The prompts of a benchmark and the scores of its stored runs.

    Runs count that agree with most others in split, task version, metric and judge, and
    have a score of half of the prompts or more.

    Args:
        scores: of the conditions on the benchmark.
        selection: that found them.
        against: reference of the baseline, None without.

    Raises:
        MisuseError: no run with all prompts, figures that are no mean of prompts, a
            baseline that lacks scores, is unknown or means several conditions.
    """
    name = scores.benchmark.name
    members = max(scores.groups().values(), key=len)
    prompts = _all_prompts(name, members, scores.coverages[members[0].group].size)
    usable = [entry for entry in members if entry.usable is not None]
    if not usable:
        raise MisuseError(
            f"{name} has no prompt scored by {scores.metric.label}; see: warehouse "
            f"leaderboard {name}"
        )
    if any(entry.metric.link != "identity" or _uneven(entry) for entry in usable):
        raise MisuseError(
            f"the figure of {name} is no plain mean of its prompts: a sample of them "
            "cannot give it"
        )
    order, rows = _in_order(store, prompts)
    table = _table(
        [entry.usable for entry in usable if entry.usable is not None], order
    )
    scorable: NDArray[np.bool_] = np.asarray(np.isfinite(table).any(axis=0))
    notes = _notes_on(scores, members, usable, scorable)
    split = str(members[0].condition.setting("split"))
    if (n_stored := _stored_prompts(store, scores.benchmark.ids, split)) > len(prompts):
        notes.append(
            f"{n_stored} prompts of {name} are stored, these runs show {len(prompts)}: "
            "the figure is that of these"
        )
    order, rows, table = (
        order[scorable],
        [row for row, is_scorable in zip(rows, scorable, strict=True) if is_scorable],
        table[:, scorable],
    )
    base, label = _baseline(store, usable, table, selection, against, scores)
    half = np.isfinite(table).mean(axis=1) >= 0.5
    if dropped := int((~half).sum()):
        notes.append(
            f"{dropped} runs with a score of less than half of the prompts are no part "
            "of the history"
        )
    others = [row for row in np.flatnonzero(half).tolist() if row != base]
    others.sort(key=lambda row: (usable[row].condition.who, usable[row].condition.key))
    editions = {
        str(entry.condition.setting("benchmark_version") or "") for entry in usable
    } - {""}
    if len(editions) > 1:
        raise MisuseError(
            f"runs of {name} are of {len(editions)} versions of its data "
            f"({', '.join(sorted(editions))}): choose one with --where "
            "benchmark_version=..."
        )
    return Population(
        entry=usable[0],
        ids=tuple(row["plan_id"] for row in rows),
        tool_ids=tuple(str(row["tool_id"] or row["key"]) for row in rows),
        task=str(usable[0].condition.setting("benchmark_recorded")),
        harnesses=tuple(
            sorted(
                {str(entry.condition.setting("harness") or "") for entry in usable}
                - {""}
            )
        ),
        revision=next(iter(editions), ""),
        models=tuple(usable[row].condition.who for row in others),
        names=tuple(usable[row].condition.model for row in others),
        history=table[others],
        baseline=None if base is None else table[base],
        baseline_model=label,
        bounds=_bounds(usable),
        notes=tuple(notes),
    )


def _all_prompts(
    name: str, members: Sequence[ScoredCondition], size: int
) -> NDArray[np.int64]:
    """Ids of all prompts of the benchmark, ascending (MisuseError: stored runs do not
    show them all)."""
    seen = [entry.scores.seen for entry in members if entry.scores is not None]
    whole = [selected for selected in seen if len(selected) == size]
    if whole:
        most_common, _ = Counter(selected.tobytes() for selected in whole).most_common(
            1
        )[0]
        return np.frombuffer(most_common, np.int64)
    if seen:
        union = np.unique(np.concatenate(seen))
    else:
        union = np.empty(0, np.int64)
    if len(union) == size and size:
        return union
    raise MisuseError(
        f"runs of {name} show {len(union)} of {size or 'its'} prompts; a plan draws "
        "from all of them: ingest a run of the whole benchmark first"
    )


def _stored_prompts(store: Store, benchmark_ids: Sequence[int], split: str) -> int:
    """Prompts of the benchmark that any run has shown."""
    return int(
        store.rows(_N_PROMPTS, {"benchmark_ids": benchmark_ids, "split": split})[0]["n"]
    )


def plan_rows(store: Store, prompts: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Prompts by id, each with ``plan_id``: its key, and ``#N`` where the key stands
    there again."""
    query = query_text("analysis", "matrix_prompts").format(condition="id in (:ids)")
    return [
        row | {"plan_id": plan_id(row)} for row in store.rows(query, {"ids": prompts})
    ]


def _in_order(
    store: Store, prompts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
    """Ids in the order of the plan's ids, and their rows.

    Raises:
        MisuseError: two prompts of one id, as where benchmarks of two harnesses share a
            name.
    """
    rows = sorted(plan_rows(store, prompts), key=lambda row: str(row["plan_id"]))
    if len({row["plan_id"] for row in rows}) < len(rows):
        raise MisuseError(
            "two prompts of the benchmark have one key: choose one harness with "
            "--where harness=..."
        )
    return np.array([row["id"] for row in rows], np.int64), rows


def _table(scores: Sequence[PromptScores], prompts: NDArray[np.int64]) -> FloatArray:
    """Values of each in one order of prompts, NaN where there is none; those of equal
    prompts are looked up once."""
    table = np.empty((len(scores), len(prompts)))
    own = columns = np.empty(0, np.int64)
    for row, run in enumerate(scores):
        if not len(columns) or not np.array_equal(own, run.prompts):
            own = run.prompts
            columns = indices_among(run.prompts, prompts)
        table[row] = values_at(run.values, columns)
    return table


def _uneven(entry: ScoredCondition) -> bool:
    return entry.usable is not None and entry.usable.uneven_weights is not None


def _bounds(entries: Sequence[ScoredCondition]) -> Bounds | None:
    """The bounds of the metric, unless a score breaks them."""
    for entry in entries:
        if entry.usable is not None and usable_bounds(entry.usable, entry.metric)[1]:
            return None
    return entries[0].metric.bounds


def _baseline(
    store: Store,
    usable: Sequence[ScoredCondition],
    table: FloatArray,
    selection: Selection,
    against: str | None,
    scores: BenchmarkScores,
) -> tuple[int | None, str]:
    """Row of the baseline among the entries, and who it is."""
    if against is None:
        return None, ""
    ids = scores.benchmark.ids
    name = scores.benchmark.name
    conditions = find_conditions(
        store, against, benchmark_ids=ids, where=parse_where(selection.where)
    )
    chosen = pick_one(store, conditions, against, latest=selection.latest)
    row_of = {entry.condition.key: row for row, entry in enumerate(usable)}
    if chosen.key not in row_of:
        raise MisuseError(
            f"the baseline {against} has no scores of prompts of {name} that others "
            "can be held against"
        )
    row = row_of[chosen.key]
    lacking = int((~np.isfinite(table[row])).sum())
    if lacking:
        raise MisuseError(
            f"the baseline {against} has no score of {lacking} of {table.shape[1]} "
            f"prompts of {name}: it has to be scored on all"
        )
    return row, chosen.who


def _notes_on(
    scores: BenchmarkScores,
    members: Sequence[ScoredCondition],
    usable: Sequence[ScoredCondition],
    scorable: NDArray[np.bool_],
) -> list[str]:
    notes = []
    if others := len(scores.entries) - len(members):
        notes.append(
            f"{others} runs of another split, version, metric or judge are no part of "
            "the history"
        )
    if left := int((~scorable).sum()):
        notes.append(
            f"{left} prompts that no stored run has a score of are left out: the "
            "figure is that of the rest"
        )
    if len(usable) < len(members):
        notes.append(
            f"{len(members) - len(usable)} runs without scores of prompts are no part "
            "of the history"
        )
    return notes
