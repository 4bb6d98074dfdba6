"""What models answered on the prompts of several benchmarks and harnesses, missing
cells kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Benchmark
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.prompts import keyed_prompts
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import right_draws
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.entries import (
    LeafEntries,
    describe_sets,
    match_conditions,
    read_leaves,
)
from warehouse.analysis.suites.units import unit_map
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import fingerprint
from warehouse.records.run_fields import ALWAYS_TOLD
from warehouse.stats.items.responses import Responses, as_responses, binarise
from warehouse.store.connection import Store


@dataclass(frozen=True)
class Form:
    """One benchmark as one harness asks it: its prompts are items of their own."""

    label: str  #: the benchmark, with what tells it from other forms.
    benchmark: str  #: its name.
    harness: str  #: which asked.
    metric: str  #: name of the metric, with its filter.
    n_items: int  #: prompts in the pool.
    n_models: int  #: models with an answer to one of them.


@dataclass(frozen=True, eq=False)
class Pool:
    """Answers of models to items."""

    benchmarks: tuple[str, ...]  #: names, sorted.
    forms: tuple[Form, ...]  #: benchmarks by harness.
    responses: Responses  #: successes of draws, models × items.
    #: one condition of each model, for fields of its runs, shape (M,).
    conditions: tuple[Condition, ...]
    #: name of each model without what tells its conditions apart, shape (M,).
    names: tuple[str, ...]
    form: NDArray[np.intp]  #: number of each item's form, shape (J,).
    prompts: NDArray[np.int64]  #: id of each item's prompt, shape (J,).
    keys: tuple[str, ...]  #: what to call each prompt.
    texts: tuple[str | None, ...]  #: theirs, None where there is none.
    natural_keys: tuple[str, ...]
    #: testlet of each item, shape (J,); None: every prompt is by itself.
    clusters: NDArray[np.int64] | None
    notes: tuple[str, ...]  #: what a reader should know.

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of models, prompts, answers, testlets and notes: changes when any of
        them does."""
        responses = self.responses
        return fingerprint(
            "\0".join(responses.models),
            "\0".join(f"{form.label}\0{form.metric}" for form in self.forms),
            "\0".join(self.natural_keys),
            "\0".join(self.notes),
            "\0".join(text or "" for text in self.texts),
            self.form.astype(np.int64).tobytes(),
            responses.successes.tobytes(),
            b"" if responses.trials is None else responses.trials.tobytes(),
            b""
            if self.clusters is None
            else np.unique(self.clusters, return_inverse=True)[1].tobytes(),
        )

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean of each item over its models, shape (J,)."""
        y, k = self.responses.successes, self.responses.trials
        if k is None:
            return np.asarray(y.mean(axis=0, dtype=np.float64))
        shares = np.divide(y, np.maximum(k, 1), dtype=np.float64).sum(axis=0)
        return np.asarray(shares / self.responses.cells(0))

    def benchmark_of(self) -> NDArray[np.str_]:
        """Name of each item's benchmark, shape (J,)."""
        return np.array([form.benchmark for form in self.forms])[self.form]

    def part(self, models: NDArray[np.bool_], items: NDArray[np.bool_]) -> Pool | None:
        """Some models and items; what then has no or a single answer goes too. None
        where too little is left."""
        kept = _answered(self.responses.answered(), models, items)
        if kept is None:
            return None
        rows, columns = (np.flatnonzero(mask) for mask in kept)
        return replace(
            self,
            responses=self.responses.part(rows, columns),
            conditions=tuple(self.conditions[i] for i in rows),
            names=tuple(self.names[i] for i in rows),
            form=self.form[columns],
            prompts=self.prompts[columns],
            keys=tuple(self.keys[j] for j in columns),
            texts=tuple(self.texts[j] for j in columns),
            natural_keys=tuple(self.natural_keys[j] for j in columns),
            clusters=None if self.clusters is None else self.clusters[columns],
        )


def read_pool(store: Store, leaves: Sequence[Benchmark], selection: Selection) -> Pool:
    """The answers of all models to the prompts of some benchmarks.

    Args:
        leaves: with prompts of their own.
        selection: of metric, runs and clustering; its benchmark does not count.

    Raises:
        MisuseError: no benchmark; a model that has several conditions on one; fewer
            than two models, or than two prompts that two models answered.
    """
    if not leaves:
        raise MisuseError("name a benchmark or suite; see: warehouse benchmarks")
    read, refused = read_leaves(store, leaves, selection)
    if not read:
        raise MisuseError("; ".join(refused))
    notes = list(refused)
    by_form = _by_form(read)
    sets = match_conditions(by_form, latest=selection.latest)
    if len(sets) < 2:
        listed = ", ".join(leaf.name for leaf in leaves[:5])
        all_entries = chain.from_iterable(leaf.entries for leaf in read)
        whole = any(entry.published is not None for entry in all_entries)
        raise MisuseError(
            f"{len(sets)} model(s) with scores of prompts on {listed}; a common scale "
            "needs at least 2"
            + "; figures of whole benchmarks have one of their own: warehouse irt scale"
            * whole
            + "".join(f"; {reason}" for reason in refused[:2])
        )
    labels = describe_sets(sets)
    models = [group.model for group in sets]
    names = [
        f"{m} ({label})" if models.count(m) > 1 and label else m
        for m, label in zip(models, labels, strict=True)
    ]
    order = sorted(range(len(sets)), key=lambda i: names[i])
    row_of = {}
    for row, i in enumerate(order):
        for entry in sets[i].entries.values():
            row_of[id(entry)] = row
    parts: list[tuple[str, ScoredCondition, Cells]] = []
    for label, entries in by_form.items():
        rows = {row_of[id(entry)]: entry for entry in entries if id(entry) in row_of}
        cells, reason = cells_of(rows)
        notes += [f"{label}: {reason}"] if reason else []
        if cells is not None:
            parts.append((label, entries[0], cells))
            notes += _mixed(label, list(rows.values()))
    if not parts:
        raise MisuseError(
            "no benchmark with scores that an item response model takes: "
            + "; ".join(notes)
        )
    conditions = tuple(sets[i].conditions[0] for i in order)
    bare = tuple(models[i] for i in order)
    return _assemble(
        store,
        leaves,
        parts,
        [names[i] for i in order],
        conditions,
        bare,
        selection.cluster,
        notes,
    )


def _by_form(read: Sequence[LeafEntries]) -> dict[str, list[ScoredCondition]]:
    """Entries with prompt scores by what makes items the same: benchmark, split,
    version, metric, harness."""
    groups: dict[tuple[str, ...], list[ScoredCondition]] = {}
    for leaf in read:
        for entry in leaf.entries:
            if entry.usable is not None:
                harness = str(entry.condition.setting("harness") or "")
                groups.setdefault(
                    (leaf.benchmark.name, harness, *entry.group), []
                ).append(entry)
    ordered = sorted(groups)
    return {_label(key, ordered): groups[key] for key in ordered}


def _label(key: tuple[str, ...], keys: Sequence[tuple[str, ...]]) -> str:
    """The benchmark, and of the rest what differs among its forms."""
    own = [other for other in keys if other[0] == key[0]]
    differs = []
    for index, part in enumerate(key):
        if index and len({other[index] for other in own}) > 1:
            differs.append(part)
    settings = ", ".join(part or "none" for part in differs)
    if settings:
        return f"{key[0]} ({settings})"
    return key[0]


def _mixed(label: str, entries: Sequence[ScoredCondition]) -> list[str]:
    """A note on settings that make the same prompt another question for some models."""
    notes = []
    for name in ALWAYS_TOLD:
        values = {entry.condition.setting(name) for entry in entries}
        if name not in ("split", "agent") and len(values) > 1:
            settings = ", ".join(
                sorted(
                    "none" if value in (None, "") else str(value) for value in values
                )[:4]
            )
            notes.append(
                f"{label}: models were asked with different {name} ({settings}); "
                f"--where {name}=... chooses"
            )
    return notes


def _answered(
    answered: NDArray[np.bool_], models: NDArray[np.bool_], items: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Models with an answer, and items with those of two of them, among those chosen."""
    models, items = models.copy(), items.copy()
    while True:
        shown = answered & models[:, None] & items
        more_items, more_models = shown.sum(axis=0) >= 2, shown.any(axis=1)
        if (more_items == items).all() and (more_models == models).all():
            break
        models, items = models & more_models, items & more_items
    if models.sum() >= 2 and items.sum() >= 2:
        return (models, items)
    return None


def _assemble(
    store: Store,
    leaves: Sequence[Benchmark],
    parts: Sequence[tuple[str, ScoredCondition, Cells]],
    names: Sequence[str],
    conditions: tuple[Condition, ...],
    bare: tuple[str, ...],
    cluster: str | None,
    notes: list[str],
) -> Pool:
    rows = keyed_prompts(
        store, np.unique(np.concatenate([cells.prompts for _, _, cells in parts]))
    )
    sizes = [len(cells.prompts) for _, _, cells in parts]
    y, k = (np.zeros((len(names), sum(sizes))) for _ in range(2))
    form = np.repeat(np.arange(len(parts)), sizes)
    prompts: list[int] = []
    for (_, _, cells), start in zip(parts, np.cumsum([0, *sizes[:-1]]), strict=True):
        keys = [rows[prompt]["order"] for prompt in cells.prompts.tolist()]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        columns = slice(start, start + len(order))
        y[cells.rows, columns], k[cells.rows, columns] = (
            cells.successes[:, order],
            cells.trials[:, order],
        )
        prompts += cells.prompts[order].tolist()
    kept = _answered(k > 0, np.ones(len(y), bool), np.ones(y.shape[1], bool))
    if kept is None:
        raise MisuseError(
            f"no two models answered the same two prompts ({len(y)} models, "
            f"{y.shape[1]} prompts): nothing compares them"
        )
    models, items = kept
    if not items.all():
        notes.append(
            f"{int((~items).sum())} prompts that a single model answered compare "
            "nobody, and are left out"
        )
    if not models.all():
        alone = [name for name, there in zip(names, models, strict=True) if not there]
        notes.append(
            f"left out, no prompt shared with another model: {', '.join(alone[:5])}"
        )
    ids, form = np.array(prompts, dtype=np.int64)[items], form[items]
    forms = tuple(
        _form(label, entry, k[models][:, items][:, form == index])
        for index, (label, entry, _) in enumerate(parts)
    )
    responses = as_responses(
        y[models][:, items],
        k[models][:, items],
        models=[name for name, there in zip(names, models, strict=True) if there],
        items=_item_names(ids, forms, form),
    )
    keep = np.flatnonzero(models)
    return Pool(
        benchmarks=tuple(
            dict.fromkeys(part.benchmark for part in forms if part.n_items)
        ),
        forms=forms,
        responses=responses,
        conditions=tuple(conditions[i] for i in keep),
        names=tuple(bare[i] for i in keep),
        form=form,
        prompts=ids,
        keys=tuple(str(rows[i]["tool_id"] or rows[i]["key"]) for i in ids.tolist()),
        texts=tuple(rows[i]["text"] for i in ids.tolist()),
        natural_keys=tuple(
            "/".join(map(str, rows[i]["order"][:3])) for i in ids.tolist()
        ),
        clusters=_testlets(store, leaves, ids, cluster),
        notes=tuple(notes),
    )


def _form(label: str, entry: ScoredCondition, trials: NDArray[np.float64]) -> Form:
    harness = str(entry.condition.setting("harness") or "")
    benchmark = entry.condition.benchmark_split[0]
    return Form(
        label,
        benchmark,
        harness,
        entry.metric.label,
        trials.shape[1],
        int((trials > 0).any(axis=1).sum()),
    )


def _item_names(
    prompts: NDArray[np.int64], forms: Sequence[Form], form: NDArray[np.intp]
) -> list[str]:
    """``prompt:ID``, with the form where a prompt is several items."""
    twice = len(np.unique(prompts)) < len(prompts)
    return [
        f"prompt:{prompt} of {forms[index].label}" if twice else f"prompt:{prompt}"
        for prompt, index in zip(prompts.tolist(), form.tolist(), strict=True)
    ]


def _testlets(
    store: Store,
    leaves: Sequence[Benchmark],
    prompts: NDArray[np.int64],
    cluster: str | None,
) -> NDArray[np.int64] | None:
    """Cluster of each item; None where each is by itself."""
    ids = list(chain.from_iterable(leaf.ids for leaf in leaves))
    defaults = list(chain.from_iterable(leaf.clusterings for leaf in leaves))
    units = unit_map(store, ids, defaults, cluster, [prompts]).units(prompts)
    if len(np.unique(units)) < len(units):
        return units
    return None


@dataclass(frozen=True, eq=False)
class Cells:
    """Successes and draws of some models on some prompts."""

    rows: list[int]  #: number of each model in the pool, shape (m,).
    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    successes: NDArray[np.float64]  #: of draws, 0 where missing, shape (m, n).
    trials: NDArray[np.float64]  #: draws, 0 where missing, shape (m, n).


def cells_of(entries: Mapping[int, ScoredCondition]) -> tuple[Cells | None, str]:
    """The cells of models (by number), and what a reader should know of them.

    Scores that are right draws of so many stay counts. Others are cut to right and
    wrong: from between the metric's bounds, else from between 0 and 1. None where they
    lie elsewhere.
    """
    rows = sorted(entries)
    if not rows:
        return None, "left out: no model of the pool has scores on it"
    scores = [entries[row].usable for row in rows]
    present = [run for run in scores if run is not None]
    metric = entries[rows[0]].metric
    prompts = np.unique(np.concatenate([run.prompts for run in present]))
    shape = (len(rows), len(prompts))
    y, k = np.full(shape, np.nan), np.zeros(shape)
    counted = [right_draws(run, metric) for run in present]
    reason = next((why for _, why in counted if why), "")
    for number, (run, (right, _)) in enumerate(zip(present, counted, strict=True)):
        columns = np.searchsorted(prompts, run.prompts)
        y[number, columns] = run.values if reason else right
        k[number, columns] = 1.0 if reason else run.n_draws
    note = ""
    if reason:
        low, high = metric.bounds or (None, None)
        if low is not None and high is not None and high > low:
            y = (y - low) / (high - low)
        if not ((np.nan_to_num(y) >= 0) & (np.nan_to_num(y) <= 1)).all():
            return (
                None,
                "left out: scores are neither right draws nor between bounds that the "
                "metric states",
            )
        y, threshold = binarise(1 - y if metric.higher_is_better is False else y)
        note = (
            f"scores above {threshold:g} (of 0 to 1) count as right, others as wrong: "
            f"{reason}"
        )
    elif metric.higher_is_better is False:
        y = k - y
    return Cells(rows, prompts, np.nan_to_num(y), k), note
