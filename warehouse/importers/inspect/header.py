"""The run header out of an Inspect log's header."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.fingerprint import fingerprint_of
from warehouse.importers.common.json_fields import (
    endpoint_host,
    first_text,
    is_local,
    mapping_of,
    number_or_none,
    objects_of,
    require_model,
    text_of_any,
    text_or_none,
    texts_of,
    whole_or_none,
    without_empty,
)
from warehouse.importers.common.times import moment
from warehouse.importers.inspect.metrics import Scoring, role_models
from warehouse.records import RunHeader, RunStatus

HARNESS = "inspect"

#: Settings of generation that say how requests are made, not what is answered.
_INFRASTRUCTURE = frozenset(
    """
    adaptive_connections attempt_timeout batch cache cache_prompt max_connections max_retries
    timeout
    """.split()
)
_FIELDS = frozenset("temperature top_p max_tokens reasoning_effort seed system_message".split())
#: Limits of a sample; they bear on what an agent can do.
_LIMITS = ("message_limit", "token_limit", "turn_limit", "time_limit", "working_limit", "cost_limit")
#: Arguments that say where and how fast a model runs.
_PLACES = frozenset("api_key base_url batch_size cache_dir device device_map max_connections port revision".split())
_SHOTS = ("fewshot", "num_fewshot", "n_fewshot", "n_shot", "num_shots", "shots")
_AGENT = re.compile(r"(?:.*/)?(react|\w*agent\w*)")
_LONGEST_VALUE = 1000


def run_header(
    header: Mapping[str, Any], scoring: Scoring, n_samples: int, place: str, stated_model: str | None
) -> RunHeader:
    """The header of the one run that a log is.

    Args:
        header: the log without its samples.
        scoring: its metrics and figures.
        n_samples: samples that the log holds.
        place: name of the file.
        stated_model: the model that the user names, if any.

    Raises:
        InputError: nothing names the model or the task.
    """
    spec = mapping_of(header, "eval")
    model = text_or_none(spec.get("model"))
    require_model(stated_model or model, place)
    arguments = mapping_of(spec, "model_args")
    revision = text_or_none(arguments.get("revision"))
    requested = n_requested(spec)
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        benchmark=text_or_none(spec.get("task")) or "",
        revision=revision,
        step=infer_step(revision, model),
        endpoint=endpoint_host(spec.get("model_base_url")),
        **_agent(header),
        **_conditions(header),
        **_circumstances(header),
        metrics=scoring.specs(),
        n_benchmark=_n_benchmark(spec),
        n_requested=requested,
        status=_status(header, requested, n_samples),
        published=scoring.published(),
        place=place,
    )


def n_requested(spec: Mapping[str, Any]) -> int | None:
    """Prompts that the run covers: those listed, else the data set under ``limit``."""
    data, config = mapping_of(spec, "dataset"), mapping_of(spec, "config")
    listed, chosen, limit = data.get("sample_ids"), config.get("sample_id"), config.get("limit")
    if isinstance(listed, list) and listed:
        return len(listed)
    if isinstance(chosen, (str, int)):
        return 1
    if isinstance(chosen, list) and not any("*" in str(item) for item in chosen):
        return len(chosen)
    total = whole_or_none(data.get("samples"))
    if isinstance(limit, list) and len(limit) == 2 and all(type(n) is int for n in limit):
        limit = max(0, limit[1] - limit[0])
    counts = [count for count in (total, whole_or_none(limit)) if count is not None]
    return min(counts, default=None)


def epochs_of(header: Mapping[str, Any]) -> int:
    """How often each prompt is asked; logs that do not say ask once."""
    return whole_or_none(mapping_of(header, "eval", "config").get("epochs")) or 1


def _n_benchmark(spec: Mapping[str, Any]) -> int | None:
    """Prompts of the data set; under a limit the stated number may be that of the limit."""
    config = mapping_of(spec, "config")
    total = whole_or_none(mapping_of(spec, "dataset").get("samples"))
    limited = config.get("limit") is not None or config.get("sample_id") is not None
    if limited and total is not None and total <= (n_requested(spec) or 0):
        return None
    return total


def _status(header: Mapping[str, Any], requested: int | None, n_samples: int) -> RunStatus:
    """Whether the run is whole. A cancelled one may be, where all its samples were done."""
    if header.get("status") == "error":
        return "failed"
    results = mapping_of(header, "results")
    total = whole_or_none(results.get("total_samples"))
    expected = total if total is not None else (requested or 0) * epochs_of(header)
    n_held = n_samples or whole_or_none(results.get("completed_samples")) or 0
    stopped = header.get("status") != "success" and not results
    return "truncated" if n_held < expected or (stopped and n_held == 0) else "complete"


def _conditions(header: Mapping[str, Any]) -> dict[str, Any]:
    spec = mapping_of(header, "eval")
    generation = _generation(header)
    steps = _steps(header)
    arguments = mapping_of(spec, "task_args")
    return {
        "task_version": text_of_any(spec.get("task_version")),
        "dataset_revision": text_or_none(mapping_of(spec, "dataset").get("revision")),
        "formulation": _formulation(steps),
        "fewshot": _shots(arguments),
        "fewshot_seed": whole_or_none(arguments.get("fewshot_seed")),
        "template_hash": fingerprint_of(steps=steps),
        "system_prompt_hash": fingerprint_of(system=text_or_none(generation.get("system_message"))),
        "temperature": number_or_none(generation.get("temperature")),
        "top_p": number_or_none(generation.get("top_p")),
        "max_tokens": whole_or_none(generation.get("max_tokens")),
        "reasoning_effort": text_or_none(generation.get("reasoning_effort")),
        "sampling_seed": whole_or_none(generation.get("seed")),
        "sampling": _sampling(header, generation),
    }


def _circumstances(header: Mapping[str, Any]) -> dict[str, Any]:
    spec, stats = mapping_of(header, "eval"), mapping_of(header, "stats")
    data = {key: item for key, item in mapping_of(spec, "dataset").items() if key != "sample_ids"}
    tags = header.get("tags") or spec.get("tags")
    return {
        # a retry keeps the id of the task, and has an ``eval_id`` of its own
        "run_id": first_text(spec, "task_id", "eval_id", "run_id"),
        "harness_version": text_or_none(mapping_of(spec, "packages").get("inspect_ai")),
        "cost": _cost(stats),
        "started_at": moment(stats.get("started_at")) or moment(spec.get("created")),
        "tags": tuple(texts_of(tags)),
        "configuration": {
            "eval": {**spec, "dataset": data},
            "plan": mapping_of(header, "plan"),
            "stats": stats,
            **_early_stopping(header),
            **{key: header[key] for key in ("status", "metadata", "error") if header.get(key)},
        },
    }


def _early_stopping(header: Mapping[str, Any]) -> dict[str, Any]:
    """Why the run was ended before all samples were asked, where the log says so."""
    summary = mapping_of(header, "results", "early_stopping")
    stops = summary.get("early_stops")
    if not isinstance(stops, list) or not stops:
        return {}
    manager = text_or_none(summary.get("manager")) or ""
    metadata = mapping_of(summary, "metadata")
    return {"early_stopping": {"rule": "", "manager": manager, **metadata, "n_left_out": len(stops)}}


def _generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of generation: the model's, under those of the task."""
    stated = (mapping_of(header, "eval", "model_generate_config"), mapping_of(header, "plan", "config"))
    return {key: item for part in stated for key, item in part.items() if item is not None}


def _sampling(header: Mapping[str, Any], generation: Mapping[str, Any]) -> dict[str, Any]:
    """What else changes what is measured."""
    spec = mapping_of(header, "eval")
    config = mapping_of(spec, "config")
    roles = role_models(header)
    parts = {
        **{key: item for key, item in generation.items() if key not in _FIELDS | _INFRASTRUCTURE and _is_setting(item)},
        **{key: config.get(key) for key in _LIMITS},
        "model_args": _arguments(mapping_of(spec, "model_args")),
        "task_args": _arguments(mapping_of(spec, "task_args")),
        "model_roles": {role: name for role, name in roles.items() if role != "grader"},
    }
    return without_empty(dict(sorted(parts.items())))


def _arguments(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that can change an answer: no places, and nothing that holds whole objects."""
    return {
        key: item
        for key, item in sorted(stated.items())
        if key not in _PLACES and item is not None and not is_local(item) and _is_setting(item)
    }


def _is_setting(value: Any) -> bool:
    """A scalar, or a short list or object of scalars; no representation of an object in memory."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_VALUE and " at 0x" not in value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return len(value) <= _LONGEST_VALUE and not any(
            isinstance(item, (dict, list)) or not _is_setting(item) for item in value
        )
    return True


def _steps(header: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Solvers of the plan with their parameters."""
    steps = mapping_of(header, "plan").get("steps")
    return [{"solver": step.get("solver"), "params": step.get("params")} for step in objects_of(steps)]


def _formulation(steps: list[dict[str, Any]]) -> str | None:
    names = [str(step["solver"]).rpartition("/")[2] for step in steps]
    if "multiple_choice" in names:
        return "multiple_choice"
    return "generate_until" if names else None


def _agent(header: Mapping[str, Any]) -> dict[str, Any]:
    """The scaffold, where a step of the plan is one by its name."""
    for step in _steps(header):
        match = _AGENT.fullmatch(str(step["solver"]))
        if match:
            return {"agent": match[1], "agent_parameters": _arguments(mapping_of(step, "params"))}
    return {}


def _shots(arguments: Mapping[str, Any]) -> int | None:
    counts = (whole_or_none(arguments.get(name)) for name in _SHOTS)
    return next((count for count in counts if count is not None), None)


def _cost(stats: Mapping[str, Any]) -> float | None:
    """US dollars of all models of the run, where the log says them."""
    used = mapping_of(stats, "model_usage").values()
    costs = [number_or_none(item.get("total_cost")) for item in used if isinstance(item, dict)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None
