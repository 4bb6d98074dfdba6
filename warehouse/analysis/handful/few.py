"""Whether a verdict of a comparison rests on a few units of a field that its error does
not know: a topic, a task, a source (statistics.md §26.5).

Looked at are the fields by which somebody clustered the prompts, and those that were
declared as slices; never clusters that were made of scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from warehouse.analysis.comparison.hooks import RESTS_ON_FEW, FewUnits
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.slices.fields import read_fields
from warehouse.analysis.slices.source_labels import Labels, source_labels
from warehouse.errors import MisuseError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.leaving_out.few import FEWEST_UNITS, RestsOnFew, rests_on_few
from warehouse.store.connection import Store
from warehouse.store.curate.declarations import SLICES, declarations, names_beside


@one_blas_thread()
def few_units(store: Store, pairs: Sequence[Pair]) -> list[FewUnits | None]:
    """What is found of each pair; None where there is no field to look at.

    Args:
        store: where fields are read.
        pairs: in which one is better, by a plain mean of the questions.
    """
    ids: set[int] = set()
    for pair in pairs:
        ids.update(_benchmarks_of(pair))
    clustered = source_labels(store, sorted(ids), FEWEST_UNITS)
    declared = _declared(store)
    found = []
    for pair in pairs:
        fields: Labels = {}
        for benchmark in _benchmarks_of(pair):
            fields |= clustered.get(benchmark, {})
        fields |= _of_slices(store, pair, declared)
        found.append(_of_pair(pair, fields))
    return found


def _benchmarks_of(pair: Pair) -> list[int]:
    return sorted({side.setting("benchmark_id") for side in (pair.a, pair.b)})


def _declared(store: Store) -> dict[str, list[str]]:
    """The fields that were declared as slices, by name of the benchmark."""
    found: dict[str, list[str]] = {}
    for one in declarations(store):
        if one.about == SLICES:
            found.setdefault(one.benchmark, []).append(one.subject)
    return found


def _of_slices(
    store: Store, pair: Pair, declared: Mapping[str, Sequence[str]]
) -> Labels:
    """The declared slices of a pair of which each prompt is in one."""
    if not declared:
        return {}
    names: list[str] = []
    for benchmark in names_beside(store, pair.a.benchmark_split[0]):
        names += declared.get(benchmark, ())
    if not names:
        return {}
    fields = read_fields(store, _benchmarks_of(pair), pair.benchmark, pair.prompts)
    found: Labels = {}
    for name in names:
        try:
            slicing = fields.slicing(name, pair.prompts)
        except MisuseError:  # these prompts lack it, or have one value
            continue
        if slicing.overlaps:
            continue
        places, numbers = slicing.entries
        prompts = pair.prompts[places].tolist()
        values = [slicing.values[number] for number in numbers.tolist()]
        found[slicing.name] = dict(zip(prompts, values, strict=True))
    return found


def _of_pair(pair: Pair, fields: Mapping[str, Mapping[int, str]]) -> FewUnits | None:
    """The field that carries the lead most clearly, or that was looked at first."""
    prompts: list[int] = pair.prompts.tolist()
    names: list[str] = []
    values: list[list[str]] = []
    for name, labels in fields.items():
        own = [labels.get(prompt, f"prompt {prompt}") for prompt in prompts]
        is_there = not labels.keys().isdisjoint(prompts)
        if is_there and not _is_of_the_error(pair, own):
            names.append(name)
            values.append(own)
    if not names:
        return None
    found = rests_on_few(pair.differences, values, pair.clusters)
    number = min(range(len(names)), key=lambda at: _sureness(found[at]))
    return _named(names[number], values[number], found[number], pair.differences)


def _is_of_the_error(pair: Pair, values: Sequence[str]) -> bool:
    """Whether the error is by these units already."""
    if pair.clusters is None:
        return False
    own = np.unique(np.array(values), return_inverse=True)[1]
    both = np.unique(np.column_stack([own, pair.clusters]), axis=0)
    n = len(both)
    return n == len(np.unique(own)) == len(np.unique(pair.clusters))


def _sureness(found: RestsOnFew) -> tuple[bool, float]:
    p = found.p_varies
    return not found.fires, 1.0 if p is None else p


def _named(
    field: str, values: Sequence[str], found: RestsOnFew, differences: FloatArray
) -> FewUnits:
    """What is found, with the names of the units that are left out."""
    left_out: tuple[str, ...] = ()
    if found.fires:
        names, codes = np.unique(np.array(values), return_inverse=True)
        totals = np.bincount(codes, differences) * np.sign(differences.sum())
        order = np.argsort(-totals, kind="stable")
        left_out = tuple(names[order[: found.count]].tolist())
    return FewUnits(
        fires=found.fires,
        field=field,
        n_units=found.n_units,
        count=found.count,
        left_out=left_out,
        p_varies=found.p_varies,
        p_by_units=found.p_by_units,
    )


RESTS_ON_FEW.fill(few_units)
