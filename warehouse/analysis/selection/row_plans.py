"""Plans of rows: which runs are one row, and which are seeds behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.row_repeats import (
    NAMED,
)
from warehouse.analysis.selection.row_settings import (
    differing_settings,
    settings_of_rows,
)
from warehouse.analysis.selection.selection import RowRules
from warehouse.questions.options import (
    EACH_CHECKPOINT,
    EACH_SEED,
    SEEDS_SAMPLING,
)
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.stats.rows.checkpoints import row_checkpoint
from warehouse.store.connection import Store
from warehouse.tables.words import some_of

#: Settings that the conditions of one row share: all but the training seed and what
#: names a checkpoint.
_SHARED = itemgetter(
    *(
        name
        for name in ("model", *LABEL_FIELDS)
        if name not in ("training_seed", *CHECKPOINT_FIELDS)
    )
)


@dataclass(frozen=True)
class RowPlan:
    """The conditions that make one row."""

    conditions: tuple[Condition, ...]  #: of each seed at the row's checkpoint, by seed.
    n_checkpoints: int = 1  #: places in training that the model has.
    flags: tuple[str, ...] = ()  #: ``last_partial``, ``mixed_lengths``.
    notes: tuple[str, ...] = ()  #: what was left out.
    #: the seeds are of sampling: runs of all conditions are repeats of one.
    are_draws: bool = False
    #: of all conditions behind the row, also those of other checkpoints.
    keys: frozenset[str] = frozenset()
    #: what its conditions share, whichever seeds and checkpoints there are.
    settings: tuple[Any, ...] = ()

    @property
    def seeds(self) -> tuple[str, ...]:
        """Label of the seed of each condition; empty where it has none."""
        return tuple(
            str(condition.setting("training_seed") or "")
            for condition in self.conditions
        )

    @property
    def is_plain(self) -> bool:
        """True if it is a single run."""
        return len(self.conditions) == 1 and len(self.conditions[0].runs) == 1

    @property
    def pooled(self) -> Condition:
        """All runs of the row as one condition."""
        if len(self.conditions) == 1:
            whole = self.conditions[0]
        else:
            runs = sorted(
                chain.from_iterable(own.runs for own in self.conditions),
                key=lambda run: int(run["run_id"]),
            )
            whole = Condition(
                self.conditions[0].key, tuple(runs), members=self.conditions
            )
        return replace(
            whole,
            row_notes=self.notes,
            row_flags=self.flags,
            n_checkpoints=self.n_checkpoints,
        )

    @classmethod
    def of(cls, condition: Condition, rules: RowRules) -> RowPlan:
        """The plan of a condition that was chosen, or of the seeds behind it."""
        return cls(
            condition.members or (condition,),
            condition.n_checkpoints,
            condition.row_flags,
            condition.row_notes,
            rules.seeds_are == SEEDS_SAMPLING,
        )


#: Gives the prompts with a score of each condition, by key.
CountPrompts = Callable[[], Mapping[str, int]]


def plan_rows(
    store: Store, conditions: Sequence[Condition], count: CountPrompts, rules: RowRules
) -> list[RowPlan]:
    """Which conditions make a row, in the order of the first of each.

    Args:
        conditions: on one benchmark.
        count: asked once where some row has several conditions; a condition without an
            entry has no figure.
    """
    if rules.each == EACH_CHECKPOINT:
        return [
            RowPlan((condition,), keys=frozenset({condition.key}))
            for condition in conditions
        ]
    groups = grouped(conditions, lambda condition: _shared_settings(condition, rules))
    several = list(
        chain.from_iterable(members for members in groups.values() if len(members) > 1)
    )
    told = {}
    if several:
        told = settings_of_rows(store, several)
    if several:
        counts = count()
    else:
        counts = {}
    are_draws = rules.seeds_are == SEEDS_SAMPLING
    plans: list[RowPlan] = []
    for shared, members in groups.items():
        if len(members) == 1:  # as nearly all are where models are many
            (only,) = members
            keys = frozenset((only.key,))
            plans.append(
                RowPlan((only,), are_draws=are_draws, keys=keys, settings=(*shared, []))
            )
            continue
        for others, alike in grouped(
            members, lambda condition: told.get(condition.key)
        ).items():
            settings = (*shared, sorted(map(list, others or ())))
            for own in _without_clashes(store, alike):
                plans.append(replace(_plan(own, counts, rules), settings=settings))
    return plans


def _shared_settings(condition: Condition, rules: RowRules) -> tuple[Any, ...]:
    """Settings that the conditions of one row agree in; a revision without a place in
    training is a setting."""
    own = _SHARED(condition.runs[0])
    has_place = condition.setting("position") is not None
    if has_place:
        place = ("", condition.setting("position_unit"))
    else:
        place = (condition.setting("checkpoint") or "", "")
    seed = None
    if rules.each == EACH_SEED:
        seed = condition.setting("training_seed")
    return (*own, *place, seed)


def _without_clashes(
    store: Store, members: Sequence[Condition]
) -> list[list[Condition]]:
    """Conditions in groups of which each has one condition a seed and checkpoint.

    Where two of one seed and checkpoint differ, they do so in a setting that has no
    column: it tells the rows apart.
    """
    places = grouped(members, _place)
    clashing = [own for own in places.values() if len(own) > 1]
    if not clashing:
        return [[*members]]
    told = differing_settings(store, members, clashing)
    groups = list(grouped(members, lambda condition: told[condition.key]).values())
    whole: list[list[Condition]] = []
    for own in groups:
        if len({_place(condition) for condition in own}) == len(own):
            whole.append(own)
        else:  # nothing tells which of them belong together
            whole += [[condition] for condition in own]
    return whole


def _place(condition: Condition) -> tuple[str, float | None]:
    position = condition.setting("position")
    place = None
    if position is not None:
        place = float(position)
    return str(condition.setting("training_seed") or ""), place


def _plan(
    members: Sequence[Condition], counts: Mapping[str, int], rules: RowRules
) -> RowPlan:
    keys = frozenset(condition.key for condition in members)
    counted = [condition for condition in members if condition.key in counts] or [
        *members
    ]
    are_draws = rules.seeds_are == SEEDS_SAMPLING
    at: dict[str, dict[float, Condition]] = {}
    sizes: dict[str, dict[float, int]] = {}
    for condition in counted:
        seed, position = _place(condition)
        at.setdefault(seed, {})[position or 0.0] = condition
        sizes.setdefault(seed, {})[position or 0.0] = counts.get(condition.key, 1)
    notes: list[str] = []
    if len(at) > 1 and "" in at and not are_draws:  # which may be any of the others
        del at[""], sizes[""]
        notes.append(
            "the runs without a seed left out: they may be of any of the seeds that "
            "are named"
        )
        counted = [condition for condition in counted if _place(condition)[0]]
    if len(counted) == 1:
        return RowPlan(
            (counted[0],), notes=tuple(notes), are_draws=are_draws, keys=keys
        )
    # a part of a seed is left out later, by its prompts
    if counted[0].setting("position") is None:
        chosen = tuple(at[seed][0.0] for seed in sorted(at, key=_seed_order))
        return RowPlan(chosen, notes=tuple(notes), are_draws=are_draws, keys=keys)
    found = row_checkpoint(sizes)
    unit = counted[0].setting("position_unit") or "position"
    if found.left_out:
        names = some_of(
            [*map(seed_name, sorted(found.left_out, key=_seed_order))], NAMED
        )
        notes.append(
            f"{names} left out: no whole checkpoint at {unit} {found.position:g}"
        )
    if found.last_partial is not None:
        notes.append(f"a later checkpoint is partial: {unit} {found.last_partial:g}")
    chosen = tuple(
        at[seed][found.position] for seed in sorted(found.seeds, key=_seed_order)
    )
    return RowPlan(
        chosen, found.n_checkpoints, found.flags, tuple(notes), are_draws, keys
    )


def _seed_order(label: str) -> tuple[int, float, str]:
    """Numbers as numbers, then other labels."""
    if label.isdecimal():
        return (0, float(label), label)
    return (1, 0.0, label)


def seed_name(label: str) -> str:
    if label:
        return f"seed {label}"
    return "the runs without a seed"


def without_place(condition: Condition, *, keep_seed: bool) -> Condition:
    """A condition as labels of rows see it: without its place in training and its seed,
    which the row has dealt with.

    Args:
        keep_seed: each seed is a row.
    """
    blank: dict[str, Any]
    if keep_seed:
        blank = {}
    else:
        blank = {"training_seed": ""}
    if condition.setting("position") is not None:
        blank |= {"position": None, "checkpoint": "", "revision": None}
    return Condition(
        condition.key, tuple({**run, **blank} for run in condition.runs[:1])
    )


def newest_rows(rows: Iterable[RowPlan]) -> list[RowPlan]:
    """The row of each model and split that ran last, its seeds with it."""
    groups = grouped(
        rows, lambda row: (row.conditions[0].model, row.conditions[0].setting("split"))
    )
    return [max(own, key=lambda row: row.pooled.newest) for own in groups.values()]
