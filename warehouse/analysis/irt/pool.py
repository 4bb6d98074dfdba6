"""Answers of models on the prompts of several benchmarks and harnesses, missing cells
kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.irt.cells import Cells, cells_of
from warehouse.analysis.irt.forms import by_form, notes_on_mixed
from warehouse.analysis.selection.benchmarks import Benchmark
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.prompts import keyed_prompts
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.entries import (
    ConditionSet,
    LeafEntries,
    describe_sets,
    match_conditions,
    read_leaves,
)
from warehouse.analysis.suites.units import unit_map
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import fingerprint
from warehouse.stats.items.responses import Responses, as_responses
from warehouse.store.connection import Store

Mask = NDArray[np.bool_]
Figures = NDArray[np.float64]
Numbers = NDArray[np.intp]
Ids = NDArray[np.int64]


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
    form: Numbers  #: number of each item's form, shape (J,).
    prompts: Ids  #: id of each item's prompt, shape (J,).
    keys: tuple[str, ...]  #: what to call each prompt.
    texts: tuple[str | None, ...]  #: theirs, None where there is none.
    natural_keys: tuple[str, ...]
    #: testlet of each item, shape (J,); None: every prompt is by itself.
    clusters: Ids | None
    notes: tuple[str, ...]  #: what a reader should know.

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of models, prompts, answers, testlets and notes: changes when any of
        them does."""
        responses = self.responses
        forms = [f"{form.label}\0{form.metric}" for form in self.forms]
        texts = [text or "" for text in self.texts]
        trials = b""
        if responses.trials is not None:
            trials = responses.trials.tobytes()
        testlets = b""
        if self.clusters is not None:
            _, numbers = np.unique(self.clusters, return_inverse=True)
            testlets = numbers.tobytes()
        return fingerprint(
            "\0".join(responses.models),
            "\0".join(forms),
            "\0".join(self.natural_keys),
            "\0".join(self.notes),
            "\0".join(texts),
            self.form.astype(np.int64).tobytes(),
            responses.successes.tobytes(),
            trials,
            testlets,
        )

    @property
    def means(self) -> Figures:
        """Mean of each item over its models, shape (J,)."""
        successes = self.responses.successes
        trials = self.responses.trials
        if trials is None:
            return np.asarray(successes.mean(axis=0, dtype=np.float64))
        draws = np.maximum(trials, 1)
        shares = np.divide(successes, draws, dtype=np.float64)
        n_models = self.responses.cells(0)
        return np.asarray(shares.sum(axis=0) / n_models)

    def benchmark_of(self) -> NDArray[np.str_]:
        """Name of each item's benchmark, shape (J,)."""
        names = np.array([form.benchmark for form in self.forms])
        return names[self.form]

    def part(self, models: Mask, items: Mask) -> Pool | None:
        """Some models and items; what then has no or a single answer goes too. None
        where too little is left."""
        kept = _answered(self.responses.answered(), models, items)
        if kept is None:
            return None
        rows = np.flatnonzero(kept[0])
        columns = np.flatnonzero(kept[1])
        clusters = self.clusters
        if clusters is not None:
            clusters = clusters[columns]
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
            clusters=clusters,
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
        raise MisuseError("name a benchmark or suite; see: warehouse list benchmarks")
    read, refused = read_leaves(store, leaves, selection)
    if not read:
        raise MisuseError("; ".join(refused))
    forms = by_form(read)
    sets = match_conditions(forms, latest=selection.latest)
    if len(sets) < 2:
        raise _too_few(leaves, read, refused, len(sets))
    models = _sorted_models(sets)
    parts, notes = _parts_of(forms, models)
    notes = [*refused, *notes]
    if not parts:
        raise MisuseError(
            "no benchmark with scores that an item response model takes: "
            + "; ".join(notes)
        )
    return _assemble(store, leaves, parts, models, selection.cluster, notes)


def _too_few(
    leaves: Sequence[Benchmark],
    read: Sequence[LeafEntries],
    refused: Sequence[str],
    n_models: int,
) -> MisuseError:
    """The refusal of a pool without two models to compare."""
    names = ", ".join(leaf.name for leaf in leaves[:5])
    message = (
        f"{n_models} model(s) with scores of prompts on {names}; "
        "a common scale needs at least 2"
    )
    entries = chain.from_iterable(leaf.entries for leaf in read)
    if any(entry.published is not None for entry in entries):
        message += (
            "; figures of whole benchmarks have one of their own: warehouse irt scale"
        )
    for reason in refused[:2]:
        message += f"; {reason}"
    return MisuseError(message)


@dataclass(frozen=True)
class _Model:
    """A model of the pool."""

    name: str  #: with what tells its conditions apart.
    bare: str  #: without.
    group: ConditionSet  #: its condition on each form.

    @property
    def condition(self) -> Condition:
        """One of its conditions."""
        return self.group.conditions[0]


def _sorted_models(sets: Sequence[ConditionSet]) -> list[_Model]:
    """The models by name; several conditions of one are told apart."""
    counts = Counter(group.model for group in sets)
    models: list[_Model] = []
    for group, label in zip(sets, describe_sets(sets), strict=True):
        bare = group.model
        name = bare
        if label and counts[bare] > 1:
            name = f"{bare} ({label})"
        models.append(_Model(name, bare, group))
    return sorted(models, key=lambda model: model.name)


@dataclass(frozen=True, eq=False)
class _Part:
    """Answers of the models on one form."""

    label: str  #: of the form.
    entry: ScoredCondition  #: one of those that were scored on it.
    cells: Cells


def _parts_of(
    forms: Mapping[str, Sequence[ScoredCondition]], models: Sequence[_Model]
) -> tuple[list[_Part], list[str]]:
    """The forms with scores that can be taken, and what a reader should know."""
    row_of: dict[int, int] = {}
    for row, model in enumerate(models):
        for entry in model.group.entries.values():
            row_of[id(entry)] = row
    parts: list[_Part] = []
    notes: list[str] = []
    for label, entries in forms.items():
        rows: dict[int, ScoredCondition] = {}
        for entry in entries:
            if id(entry) in row_of:
                rows[row_of[id(entry)]] = entry
        cells, reason = cells_of(rows)
        if reason:
            notes.append(f"{label}: {reason}")
        if cells is not None:
            parts.append(_Part(label, entries[0], cells))
            notes += notes_on_mixed(label, list(rows.values()))
    return parts, notes


def _answered(answered: Mask, models: Mask, items: Mask) -> tuple[Mask, Mask] | None:
    """Models with an answer, and items with those of two of them, among those chosen."""
    while True:
        shown = answered & models[:, None] & items
        with_two = shown.sum(axis=0) >= 2
        with_any = shown.any(axis=1)
        is_same_items = np.array_equal(with_two, items)
        if is_same_items and np.array_equal(with_any, models):
            break
        models = models & with_any
        items = items & with_two
    if models.sum() >= 2 and items.sum() >= 2:
        return (models, items)
    return None


def _assemble(
    store: Store,
    leaves: Sequence[Benchmark],
    parts: Sequence[_Part],
    models: Sequence[_Model],
    cluster: str | None,
    notes: Sequence[str],
) -> Pool:
    """The pool of those models and prompts that are compared."""
    all_prompts = np.concatenate([part.cells.prompts for part in parts])
    rows = keyed_prompts(store, np.unique(all_prompts))
    table = _table_of(parts, len(models), rows)
    table, models, left_out = _compared(table, models)
    forms: list[Form] = []
    for index, part in enumerate(parts):
        is_its = table.form == index
        forms.append(_form(part, table.trials[:, is_its]))
    shown = [rows[prompt] for prompt in table.prompts.tolist()]
    used = [form.benchmark for form in forms if form.n_items]
    return Pool(
        benchmarks=tuple(dict.fromkeys(used)),
        forms=tuple(forms),
        responses=as_responses(
            table.successes,
            table.trials,
            models=[model.name for model in models],
            items=_item_names(table.prompts, forms, table.form),
        ),
        conditions=tuple(model.condition for model in models),
        names=tuple(model.bare for model in models),
        form=table.form,
        prompts=table.prompts,
        keys=tuple(str(row["tool_id"] or row["key"]) for row in shown),
        texts=tuple(row["text"] for row in shown),
        natural_keys=tuple(map(_natural_key, shown)),
        clusters=_testlets(store, leaves, table.prompts, cluster),
        notes=(*notes, *left_out),
    )


def _natural_key(row: Mapping[str, Any]) -> str:
    """The name of a prompt in every store."""
    split, key, occurrence, _ = row["order"]
    return f"{split}/{key}/{occurrence}"


@dataclass(frozen=True, eq=False)
class _Table:
    """The cells of all forms beside each other."""

    successes: Figures  #: shape (models, items).
    trials: Figures  #: shape (models, items).
    form: Numbers  #: number of each item's form, shape (items,).
    prompts: Ids  #: id of each item's prompt, shape (items,).

    def part(self, models: Mask, items: Mask) -> _Table:
        """Some models and items."""
        return _Table(
            self.successes[models][:, items],
            self.trials[models][:, items],
            self.form[items],
            self.prompts[items],
        )


def _table_of(
    parts: Sequence[_Part], n_models: int, rows: Mapping[int, Mapping[str, Any]]
) -> _Table:
    """The cells of all forms beside each other, the items of each by natural key."""
    sizes = [len(part.cells.prompts) for part in parts]
    n_items = sum(sizes)
    successes = np.zeros((n_models, n_items))
    trials = np.zeros_like(successes)
    prompts: list[int] = []
    for part in parts:
        cells = part.cells
        keys = [rows[prompt]["order"] for prompt in cells.prompts.tolist()]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        start = len(prompts)
        end = start + len(order)
        successes[cells.rows, start:end] = cells.successes[:, order]
        trials[cells.rows, start:end] = cells.trials[:, order]
        prompts += cells.prompts[order].tolist()
    numbers = np.arange(len(parts))
    return _Table(
        successes=successes,
        trials=trials,
        form=np.repeat(numbers, sizes),
        prompts=np.array(prompts, dtype=np.int64),
    )


def _compared(
    table: _Table, models: Sequence[_Model]
) -> tuple[_Table, list[_Model], list[str]]:
    """Models and items that others compare, and notes on those that are left out
    (MisuseError: nothing is compared)."""
    is_answered = table.trials > 0
    n_models, n_items = is_answered.shape
    all_models = np.ones(n_models, bool)
    all_items = np.ones(n_items, bool)
    kept = _answered(is_answered, all_models, all_items)
    if kept is None:
        raise MisuseError(
            f"no two models answered the same two prompts ({n_models} models, "
            f"{n_items} prompts): nothing compares them"
        )
    are_kept = np.flatnonzero(kept[0]).tolist()
    shown = [models[index] for index in are_kept]
    return table.part(*kept), shown, _notes_on_left_out(models, *kept)


def _notes_on_left_out(
    models: Sequence[_Model], is_kept: Mask, items: Mask
) -> list[str]:
    """Notes on the prompts and models that are compared with nothing."""
    notes: list[str] = []
    n_items = int((~items).sum())
    if n_items:
        notes.append(
            f"{n_items} prompts that a single model answered compare "
            "nobody, and are left out"
        )
    alone: list[str] = []
    for model, is_there in zip(models, is_kept, strict=True):
        if not is_there:
            alone.append(model.name)
    if alone:
        first = ", ".join(alone[:5])
        notes.append(f"left out, no prompt shared with another model: {first}")
    return notes


def _form(part: _Part, trials: Figures) -> Form:
    condition = part.entry.condition
    benchmark, _ = condition.benchmark_split
    has_any = (trials > 0).any(axis=1)
    return Form(
        label=part.label,
        benchmark=benchmark,
        harness=str(condition.setting("harness") or ""),
        metric=part.entry.metric.label,
        n_items=trials.shape[1],
        n_models=int(has_any.sum()),
    )


def _item_names(prompts: Ids, forms: Sequence[Form], form: Numbers) -> list[str]:
    """``prompt:ID``, with the form where a prompt is several items."""
    names = [f"prompt:{prompt}" for prompt in prompts.tolist()]
    if len(np.unique(prompts)) == len(prompts):
        return names
    labels = [forms[index].label for index in form.tolist()]
    return [f"{name} of {label}" for name, label in zip(names, labels, strict=True)]


def _testlets(
    store: Store,
    leaves: Sequence[Benchmark],
    prompts: Ids,
    cluster: str | None,
) -> Ids | None:
    """Cluster of each item; None where each is by itself."""
    ids = list(chain.from_iterable(leaf.ids for leaf in leaves))
    defaults = list(chain.from_iterable(leaf.clusterings for leaf in leaves))
    clusters = unit_map(store, ids, defaults, cluster, [prompts])
    units = clusters.units(prompts)
    if len(np.unique(units)) < len(units):
        return units
    return None
