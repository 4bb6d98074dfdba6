"""Settings of the runs that make one row: those that they share, and those in which
they differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from warehouse.analysis.selection.conditions import (
    Condition,
    Settings,
    Told,
    parsed_settings,
    settings_of_conditions,
)
from warehouse.records.setting_labels import differing_paths
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: What names a checkpoint or a replicate of a training: rows go over these.
_OF_TRAINING = frozenset(
    """
    training_seed initialisation_seed data_order_seed step epoch tokens revision base_checkpoint model model_name
    model_id model_name_or_path pretrained engine deployment_name path model_path local_model_path checkpoint
    checkpoint_path ckpt weights model_revision model_sha model_hash subfolder code_revision tokenizer_revision
    """.split()
)


def settings_of_rows(
    store: Store, conditions: Sequence[Condition]
) -> dict[str, frozenset[Told]]:
    """By key of each condition, the settings that seeds and checkpoints of one row
    share: all but what names them."""
    settings = settings_of_conditions(store, conditions)
    others: dict[str, frozenset[Told]] = {}
    for key, own in settings.items():
        shared: set[Told] = set()
        for path, form in own.items():
            _, _, name = path.rpartition(".")
            if name not in _OF_TRAINING:
                shared.add((path, form))
        others[key] = frozenset(shared)
    return others


def names_that_differ(store: Store, run_ids: Sequence[int]) -> list[str]:
    """Names of the settings, marks and versions in which some runs differ."""
    query = query_text("analysis", "settings_of_runs")
    told: list[Settings] = []
    for row in store.rows(query, {"run_ids": sorted(run_ids)}):
        own: Settings = {}
        for column in ("settings", "versions", "marks"):
            own |= parsed_settings(row[column])
        told.append(own)
    return differing_paths(told)


def differing_settings(
    store: Store, conditions: Sequence[Condition], alike: Sequence[Sequence[Condition]]
) -> dict[str, tuple[Told, ...]]:
    """By key of each condition, the settings in which conditions that are alike
    differ.

    Args:
        conditions: all that are to be told apart.
        alike: groups of them that should be one but for such settings.
    """
    settings = settings_of_conditions(store, conditions)
    paths: set[str] = set()
    for group in alike:
        own = [settings[condition.key] for condition in group]
        for path in set(chain.from_iterable(own)):
            values = {other.get(path) for other in own}
            if len(values) > 1:
                paths.add(path)
    named = sorted(paths)
    told: dict[str, tuple[Told, ...]] = {}
    for key, settings_of_one in settings.items():
        pairs = [(path, settings_of_one.get(path, "")) for path in named]
        told[key] = tuple(pairs)
    return told
