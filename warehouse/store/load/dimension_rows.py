"""Rows of dimensions, as sources name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.records import MetricSpec, RunHeader
from warehouse.store.load.run_keys import (
    checkpoint_key,
    checkpoint_position,
    group_key,
    parameters_key,
)


def ancestors(parents: Mapping[int, int | None], start: int) -> set[int]:
    """A benchmark and all suites above it, by the parent of each."""
    seen: set[int] = set()
    current: int | None = start
    while current is not None and current not in seen:
        seen.add(current)
        current = parents.get(current)
    return seen


def benchmark_row(name: str, level: int) -> dict[str, Any]:
    """A benchmark of which only the name is known."""
    return {"name": name, "level": level, "version": None, "dataset_revision": None}


def model_row(header: RunHeader) -> dict[str, Any]:
    developer = header.developer
    owner, slash, _ = header.model.partition("/")
    # not of a path: ../results, /models
    if developer is None and slash and owner.strip("."):
        developer = owner
    return {
        "name": header.model,
        "family": header.family,
        "developer": developer,
        "parameter_count": header.parameter_count,
    }


def seed_row(header: RunHeader, model: int) -> dict[str, Any]:
    label = header.training_seed
    if label is None:
        label = seed_label(header.initialisation_seed, header.data_order_seed)
    return {
        "model_id": model,
        "label": label,
        "recipe": header.recipe or "",
        "initialisation_seed": header.initialisation_seed,
        "data_order_seed": header.data_order_seed,
        "hyperparameters": dict(header.hyperparameters) or None,
    }


def seed_label(initialisation: int | None, data_order: int | None) -> str:
    """The label of a trained replicate that has none of its own."""
    seeds = {"initialisation": initialisation, "data_order": data_order}
    return ",".join(
        f"{name}={seed}" for name, seed in seeds.items() if seed is not None
    )


def checkpoint_row(header: RunHeader, seed: int) -> dict[str, Any]:
    position, unit = checkpoint_position(header)
    return {
        "training_seed_id": seed,
        "key": checkpoint_key(header),
        "position": position,
        "position_unit": unit,
        "tokens": header.tokens,
        "revision": header.revision,
        "base_checkpoint": header.base_checkpoint,
        "is_final": header.is_final,
    }


def agent_row(header: RunHeader) -> dict[str, Any]:
    return {
        "name": header.agent or "",
        "version": header.agent_version or "",
        "parameters_key": parameters_key(header.agent_parameters),
        "parameters": dict(header.agent_parameters) or None,
    }


def group_row(header: RunHeader, invocation: str) -> dict[str, Any]:
    return {
        "key": group_key(header, invocation),
        "harness": header.harness,
        "harness_version": header.harness_version,
        "harness_run_id": header.run_id,
        "started_at": header.started_at,
        "commit_hash": header.harness_commit,
        "hardware": header.hardware,
        "cost": header.cost,
    }


def metric_row(spec: MetricSpec, scorer: int) -> dict[str, Any]:
    return {
        "name": spec.name,
        "filter": spec.filter,
        "scorer_id": scorer,
        "unit": spec.unit,
        "link": spec.link,
    }


def scorer_row(spec: MetricSpec) -> dict[str, Any]:
    return {
        "name": spec.scorer,
        "kind": spec.scorer_kind,
        "judge_model": spec.judge_model,
        "parameters_key": parameters_key(spec.scorer_parameters),
        "parameters": dict(spec.scorer_parameters) or None,
    }
