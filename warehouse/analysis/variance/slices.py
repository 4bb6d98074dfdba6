"""Conditions by the slices of a field of their prompts, for the split of their
variance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from warehouse.analysis.selection.only_prompts import scores_of
from warehouse.analysis.selection.targets import Target, Targets
from warehouse.analysis.slices.declared import FieldLabel, in_words, labels_of
from warehouse.analysis.slices.fields import Slicing, read_fields
from warehouse.analysis.slices.view import NONE
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.tables.words import some_of


@dataclass(frozen=True)
class SlicedTarget:
    """A condition on one slice."""

    slice: str  #: value of the field; ``(none)``: prompts without it.
    target: Target  #: with its scores there.


@dataclass(frozen=True)
class SlicedTargets:
    """Conditions slice by slice."""

    field: str
    parts: tuple[SlicedTarget, ...]
    label: FieldLabel  #: what the field counts as.
    lines: tuple[str, ...]  #: what is to be said of it.


def sliced_targets(store: Store, targets: Targets, field: str) -> SlicedTargets:
    """The conditions of one benchmark by a field of its prompts.

    Args:
        targets: the conditions, with their scores.
        field: as ``--by`` has it.

    Raises:
        MisuseError: they are on several benchmarks; an unknown field, or one that names
            prompts.
    """
    scored = targets.scored
    names = sorted({item.condition.benchmark_split[0] for item in scored})
    if len(names) > 1:
        raise MisuseError(
            f"slices are of one benchmark, and there are {len(names)} "
            f"({some_of(names)}): name one (--benchmark)"
        )
    prompts = np.unique(np.concatenate([item.scores.prompts for item in scored]))
    ids = sorted({item.condition.setting("benchmark_id") for item in scored})
    slicing = read_fields(store, ids, names[0], prompts).slicing(field, prompts)
    runs = [run for item in scored for run in item.condition.run_ids]
    labels = labels_of(store, names[0], [slicing.name], runs)
    parts = [part for item in scored for part in _parts(item, slicing)]
    lines = [
        *in_words(labels),
        "a split of few prompts is a noisy one: slices are not held against each other",
    ]
    return SlicedTargets(slicing.name, tuple(parts), labels[0], tuple(lines))


def _parts(target: Target, slicing: Slicing) -> Iterator[SlicedTarget]:
    slices = {
        value: slicing.prompts_in(number) for number, value in enumerate(slicing.values)
    }
    slices[NONE] = slicing.prompts_without
    for value, prompts in slices.items():
        scores = scores_of(target.scores, np.sort(prompts))
        if scores.n:
            yield SlicedTarget(value, replace(target, scores=scores))
