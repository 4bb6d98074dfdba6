"""The prompts of a benchmark, and what stored models scored on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.leaderboard.row import usable_bounds
from warehouse.analysis.selection.arrow import one_of
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.reference import find_conditions, parse_where, pick_one
from warehouse.analysis.selection.scored_conditions import BenchmarkScores, ScoredCondition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.records.hashing import fingerprint
from warehouse.stats.core.inputs import Bounds, FloatArray
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True, eq=False)
class Population:
    """All prompts of a benchmark that can be scored, in the order of their ids.

    Attributes:
        entry: a condition of the group that counts: metric, split and version are its.
        ids: of the prompts, as a plan has them, ascending, N of them.
        tool_ids: theirs in the dumps.
        task: name of their benchmark in the dumps.
        harnesses: tools that made the runs, sorted.
        revision: version of the data; empty if no run says.
        models: who is who, of the history.
        names: of their models alone, without checkpoint, seed and agent.
        history: their scores, NaN where there is none, shape (M, N).
        baseline: scores of the baseline, shape (N,); None without.
        baseline_model: who that is; empty without.
        bounds: of the scores.
        notes: what a reader should know.
    """

    entry: ScoredCondition
    ids: tuple[str, ...]
    tool_ids: tuple[str, ...]
    task: str
    harnesses: tuple[str, ...]
    revision: str
    models: tuple[str, ...]
    names: tuple[str, ...]
    history: FloatArray
    baseline: FloatArray | None
    baseline_model: str
    bounds: Bounds | None
    notes: tuple[str, ...]

    @property
    def history_sha256(self) -> str:
        """sha256 (hex) of models, prompts and scores behind the prediction."""
        base = b"" if self.baseline is None else self.baseline.tobytes()
        return fingerprint("\0".join(self.models), "\0".join(self.ids), self.history.tobytes(), base)


def who(condition: Condition) -> str:
    """What was asked: ``MODEL[@CHECKPOINT][#SEED][+AGENT]``."""
    signs = (("@", "checkpoint"), ("#", "training_seed"), ("+", "agent"))
    return condition.model + "".join(
        f"{sign}{condition.setting(name)}" for sign, name in signs if condition.setting(name)
    )


def read_population(store: Store, found: BenchmarkScores, selection: Selection, against: str | None) -> Population:
    """The prompts of a benchmark and the scores of its stored runs.

    Runs count that agree with most others in split, task version, metric and judge, and have a score of half
    of the prompts or more.

    Args:
        found: the conditions on the benchmark.
        selection: that found them.
        against: reference of the baseline, None without.

    Raises:
        MisuseError: no run with all prompts, figures that are no mean of prompts, a baseline that lacks
            scores, is unknown or means several conditions.
    """
    name = found.benchmark.name
    members = max(found.groups().values(), key=len)
    prompts = _all_prompts(name, members, found.coverages[members[0].group].size)
    usable = [entry for entry in members if entry.usable is not None]
    if not usable:
        raise MisuseError(f"{name} has no prompt scored by {found.metric.label}; see: warehouse leaderboard {name}")
    if any(entry.metric.link != "identity" or _uneven(entry) for entry in usable):
        raise MisuseError(f"the figure of {name} is no plain mean of its prompts: a sample of them cannot give it")
    order, rows = _in_order(store, prompts)
    table = _table([entry.usable for entry in usable if entry.usable is not None], order)
    scorable: NDArray[np.bool_] = np.asarray(np.isfinite(table).any(axis=0))
    notes = _notes_on(found, members, usable, scorable)
    split = str(members[0].condition.setting("split"))
    if (known := _stored_prompts(store, found.benchmark.ids, split)) > len(prompts):
        notes.append(
            f"{known} prompts of {name} are stored, these runs show {len(prompts)}: the figure is that of these"
        )
    order, rows, table = (
        order[scorable],
        [row for row, kept in zip(rows, scorable, strict=True) if kept],
        table[:, scorable],
    )
    base, label = _baseline(store, usable, table, selection, against, found)
    half = np.isfinite(table).mean(axis=1) >= 0.5
    if dropped := int((~half).sum()):
        notes.append(f"{dropped} runs with a score of less than half of the prompts are no part of the history")
    kept = [row for row in np.flatnonzero(half).tolist() if row != base]
    kept.sort(key=lambda row: (who(usable[row].condition), usable[row].condition.key))
    editions = {str(entry.condition.setting("benchmark_version") or "") for entry in usable} - {""}
    if len(editions) > 1:
        raise MisuseError(
            f"runs of {name} are of {len(editions)} versions of its data ({', '.join(sorted(editions))}):"
            " choose one with --where benchmark_version=..."
        )
    return Population(
        entry=usable[0],
        ids=tuple(row["plan_id"] for row in rows),
        tool_ids=tuple(str(row["tool_id"] or row["key"]) for row in rows),
        task=str(usable[0].condition.setting("benchmark_recorded")),
        harnesses=tuple(sorted({str(entry.condition.setting("harness") or "") for entry in usable} - {""})),
        revision=next(iter(editions), ""),
        models=tuple(who(usable[row].condition) for row in kept),
        names=tuple(usable[row].condition.model for row in kept),
        history=table[kept],
        baseline=None if base is None else table[base],
        baseline_model=label,
        bounds=_bounds(usable),
        notes=tuple(notes),
    )


def _all_prompts(name: str, members: Sequence[ScoredCondition], size: int) -> NDArray[np.int64]:
    """Ids of all prompts of the benchmark, ascending.

    Raises:
        MisuseError: stored runs do not show them all.
    """
    seen = [entry.scores.seen for entry in members if entry.scores is not None]
    whole = [one for one in seen if len(one) == size]
    if whole:
        most_common, _ = Counter(one.tobytes() for one in whole).most_common(1)[0]
        return np.frombuffer(most_common, np.int64)
    union = np.unique(np.concatenate(seen)) if seen else np.empty(0, np.int64)
    if len(union) == size and size:
        return union
    raise MisuseError(
        f"runs of {name} show {len(union)} of {size or 'its'} prompts; a plan draws from all of them:"
        " ingest a run of the whole benchmark first"
    )


def _stored_prompts(store: Store, benchmark_ids: Sequence[int], split: str) -> int:
    """Prompts of the benchmark that any run has shown."""
    condition, parameters = one_of("benchmark_id", list(benchmark_ids), "b")
    query = f"select count(*) as n from prompt where split = :split and {condition}"
    return int(store.arrow(query, parameters | {"split": split}).column("n").to_pylist()[0])


def plan_rows(store: Store, prompts: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Prompts by id, each with ``plan_id``: its key, and ``#N`` where the key stands there again."""
    condition, parameters = one_of("id", prompts.tolist(), "p")
    query = query_text("analysis", "matrix_prompts").format(condition=condition)
    return [row | {"plan_id": plan_id(row)} for row in store.arrow(query, parameters).to_pylist()]


def prompts_by_key(store: Store, benchmark_ids: Sequence[int]) -> dict[tuple[str, str], int]:
    """Ids in the store by split and by what a plan calls a prompt."""
    return store.once(f"prompts of {sorted(benchmark_ids)} by key", lambda: _by_key(store, benchmark_ids))


def _by_key(store: Store, benchmark_ids: Sequence[int]) -> dict[tuple[str, str], int]:
    condition, parameters = one_of("benchmark_id", list(benchmark_ids), "b")
    query = query_text("analysis", "matrix_prompts").format(condition=condition)
    rows = store.arrow(query, parameters).to_pylist()
    return {(str(row["split"]), plan_id(row)): int(row["id"]) for row in rows}


def plan_id(row: dict[str, Any]) -> str:
    """What a plan calls a prompt."""
    return f"{row['key']}#{row['occurrence']}" if row["occurrence"] else str(row["key"])


def _in_order(store: Store, prompts: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
    """Ids in the order of the plan's ids, and their rows.

    Raises:
        MisuseError: two prompts of one id, as where benchmarks of two harnesses share a name.
    """
    rows = sorted(plan_rows(store, prompts), key=lambda row: str(row["plan_id"]))
    if len({row["plan_id"] for row in rows}) < len(rows):
        raise MisuseError("two prompts of the benchmark have one key: choose one harness with --where harness=...")
    return np.array([row["id"] for row in rows], np.int64), rows


def _table(scores: Sequence[PromptScores], prompts: NDArray[np.int64]) -> FloatArray:
    """Values of each in one order of prompts, NaN where there is none; those of equal prompts are looked up once."""
    table = np.empty((len(scores), len(prompts)))
    own = places = np.empty(0, np.int64)
    for row, one in enumerate(scores):
        if not len(places) or not np.array_equal(own, one.prompts):
            own, places = one.prompts, _places(one.prompts, prompts)
        table[row] = _at(one.values, places)
    return table


def aligned(own: NDArray[np.int64], values: FloatArray, prompts: NDArray[np.int64]) -> FloatArray:
    """Values of some prompts, ascending, in the order of others; NaN where there is none."""
    return _at(values, _places(own, prompts))


def _places(own: NDArray[np.int64], prompts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where in ``own``, ascending, each prompt stands; its length for none."""
    places = np.searchsorted(own, prompts)
    found = np.zeros(len(prompts), bool)
    inside = places < len(own)
    found[inside] = own[places[inside]] == prompts[inside]
    return np.where(found, places, len(own))


def _at(values: FloatArray, places: NDArray[np.int64]) -> FloatArray:
    return np.append(values, np.nan)[places]


def _uneven(entry: ScoredCondition) -> bool:
    return entry.usable is not None and entry.usable.uneven_weights is not None


def _bounds(entries: Sequence[ScoredCondition]) -> Bounds | None:
    """Of the metric, unless a score breaks them."""
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
    found: BenchmarkScores,
) -> tuple[int | None, str]:
    """Row of the baseline among the entries, and who it is."""
    if against is None:
        return None, ""
    ids, name = found.benchmark.ids, found.benchmark.name
    conditions = find_conditions(store, against, benchmark_ids=ids, where=parse_where(selection.where))
    chosen = pick_one(store, conditions, against, latest=selection.latest)
    place = {entry.condition.key: row for row, entry in enumerate(usable)}
    if chosen.key not in place:
        raise MisuseError(f"the baseline {against} has no scores of prompts of {name} that others can be held against")
    row = place[chosen.key]
    lacking = int((~np.isfinite(table[row])).sum())
    if lacking:
        raise MisuseError(
            f"the baseline {against} has no score of {lacking} of {table.shape[1]} prompts of {name}:"
            " it has to be scored on all"
        )
    return row, who(chosen)


def _notes_on(
    found: BenchmarkScores,
    members: Sequence[ScoredCondition],
    usable: Sequence[ScoredCondition],
    scorable: NDArray[np.bool_],
) -> list[str]:
    notes = []
    if others := len(found.entries) - len(members):
        notes.append(f"{others} runs of another split, version, metric or judge are no part of the history")
    if left := int((~scorable).sum()):
        notes.append(f"{left} prompts that no stored run has a score of are left out: the figure is that of the rest")
    if len(usable) < len(members):
        notes.append(f"{len(members) - len(usable)} runs without scores of prompts are no part of the history")
    return notes
