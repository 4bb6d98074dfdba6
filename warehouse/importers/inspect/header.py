"""The run header out of an Inspect log's header, its metrics, and the figures that it
publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import fingerprint_of, moment
from warehouse.importers.common.json_fields import (
    endpoint_host,
    first_text,
    is_local,
    items_of,
    mapping_of,
    number_or_none,
    objects_of,
    require_model,
    text_of_any,
    text_or_none,
    texts_of,
    whole_or_none,
    whole_sum,
    without_empty,
)
from warehouse.importers.common.model_names import local_model_name
from warehouse.importers.common.run_settings import fingerprint_of_settings
from warehouse.importers.inspect.scoring import Scoring, role_models
from warehouse.records import RunHeader, RunStatus
from warehouse.records.setting_values import says_nothing

HARNESS = "inspect"

#: Settings of generation that say how requests are made, not what is answered.
_INFRASTRUCTURE = frozenset(
    """
    adaptive_connections attempt_timeout batch cache cache_prompt max_connections max_retries
    timeout
    """.split()
)
_FIELDS = frozenset(
    "temperature top_p max_tokens reasoning_effort seed system_message".split()
)
#: Limits of a sample; they bear on what an agent can do.
_LIMITS = tuple(
    "message_limit token_limit token_limit_type turn_limit time_limit working_limit cost_limit".split()
)
#: Who may step in between an agent and its tools.
_POLICIES = ("approval", "review", "sentinel")
#: Arguments that say where and how fast a model runs.
_PLACES = frozenset(
    "api_key base_url batch_size cache_dir device device_map max_connections port revision".split()
)
_SHOTS = ("fewshot", "num_fewshot", "n_fewshot", "n_shot", "num_shots", "shots")
_AGENT = re.compile(r"(?:.*/)?(react|\w*agent\w*)")
_LONGEST_VALUE = 1000
#: Parts of a log that are outcomes or samples.
_NOT_SETTINGS = frozenset(
    """
    version status error invalidated eval plan results stats samples reductions log_updates config_updates etag location
    """.split()
)
#: Parts of ``eval`` that are read into fields of the header, or into the generation of
#: the plan.
_READ_ELSEWHERE = frozenset(("model_generate_config", "model", "task"))


def run_header(
    header: Mapping[str, Any],
    scoring: Scoring,
    n_samples: int,
    file: str,
    model_setting: str | None,
) -> RunHeader:
    """The header of the one run that a log is.

    Args:
        header: the log without its samples.
        scoring: its metrics and figures.
        n_samples: samples that the log holds.
        file: name of the file.
        model_setting: the model that the user names, if any.

    Raises:
        InputError: nothing names the model or the task.
    """
    spec = mapping_of(header, "eval")
    arguments = mapping_of(spec, "model_args")
    model = _model(text_or_none(spec.get("model")), arguments)
    require_model(model_setting or model, file)
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
        place=file,
    )


def _model(name: str | None, arguments: Mapping[str, Any]) -> str | None:
    """The model by its name; one that is called ``PROVIDER/local`` by its folder."""
    provider, slash, rest = (name or "").rpartition("/")
    path = text_or_none(arguments.get("model_path"))
    if slash and rest == "local" and path:
        return f"{provider}/{local_model_name(path)}"
    return name


def n_requested(spec: Mapping[str, Any]) -> int | None:
    """Prompts that the run covers: those listed, else the data set under ``limit``."""
    data = mapping_of(spec, "dataset")
    config = mapping_of(spec, "config")
    listed = data.get("sample_ids")
    chosen = config.get("sample_id")
    limit = config.get("limit")
    if isinstance(listed, list) and listed:
        return len(listed)
    if isinstance(chosen, (str, int)):
        return 1
    if isinstance(chosen, list) and not any("*" in str(item) for item in chosen):
        return len(chosen)
    total = whole_or_none(data.get("samples"))
    if (
        isinstance(limit, list)
        and len(limit) == 2
        and all(type(n) is int for n in limit)
    ):
        limit = max(0, limit[1] - limit[0])
    counts = [count for count in (total, whole_or_none(limit)) if count is not None]
    return min(counts, default=None)


def epochs_of(header: Mapping[str, Any]) -> int:
    """How often each prompt is asked; logs that do not say ask once."""
    return whole_or_none(mapping_of(header, "eval", "config").get("epochs")) or 1


def _n_benchmark(spec: Mapping[str, Any]) -> int | None:
    """Prompts of the data set; under a limit the number may be that of the limit."""
    config = mapping_of(spec, "config")
    total = whole_or_none(mapping_of(spec, "dataset").get("samples"))
    limited = config.get("limit") is not None or config.get("sample_id") is not None
    if limited and total is not None and total <= (n_requested(spec) or 0):
        return None
    return total


def _status(
    header: Mapping[str, Any], requested: int | None, n_samples: int
) -> RunStatus:
    """The status of the run: whether it is whole. A cancelled one may be, where all its
    samples were done."""
    if header.get("status") == "error":
        return "failed"
    results = mapping_of(header, "results")
    total = whole_or_none(results.get("total_samples"))
    if total is not None:
        expected = total
    else:
        expected = (requested or 0) * epochs_of(header)
    n_held = n_samples or whole_or_none(results.get("completed_samples")) or 0
    stopped = header.get("status") != "success" and not results
    if n_held < expected or (stopped and n_held == 0):
        return "truncated"
    return "complete"


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
        "template_hash": fingerprint_of_settings(HARNESS, {"plan": {"steps": steps}}),
        "system_prompt_hash": fingerprint_of(
            system=text_or_none(generation.get("system_message"))
        ),
        "temperature": number_or_none(generation.get("temperature")),
        "top_p": number_or_none(generation.get("top_p")),
        "max_tokens": whole_or_none(generation.get("max_tokens")),
        "reasoning_effort": text_or_none(generation.get("reasoning_effort")),
        "sampling_seed": whole_or_none(generation.get("seed")),
        "sampling": _sampling(header, generation),
    }


def _circumstances(header: Mapping[str, Any]) -> dict[str, Any]:
    spec = mapping_of(header, "eval")
    stats = mapping_of(header, "stats")
    return {
        # a retry keeps the id of the task, and has an ``eval_id`` of its own
        "run_id": first_text(spec, "task_id", "eval_id", "run_id"),
        "harness_version": text_or_none(mapping_of(spec, "packages").get("inspect_ai")),
        "cost": _cost(stats),
        "started_at": moment(stats.get("started_at")) or moment(spec.get("created")),
        "tags": tuple(texts_of(header.get("tags") or spec.get("tags"))),
        "configuration": {
            **{key: item for key, item in header.items() if key not in _NOT_SETTINGS},
            "eval": _spec(spec),
            "plan": {
                **mapping_of(header, "plan"),
                "steps": without_instances(
                    items_of(mapping_of(header, "plan").get("steps"))
                ),
                "config": _generation(header),
            },
            "stats": stats,
            **_early_stopping(header),
            **without_empty({"settings_changed": settings_changed(header)}),
        },
    }


def _spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The task that was evaluated, and how.

    Logs since 0.3.110 list every argument with its default and say which were passed,
    those before what was passed alone: a default of false is as good as none. What was
    passed counts, even where it equals nothing.
    """
    data = {
        key: item
        for key, item in mapping_of(spec, "dataset").items()
        if key != "sample_ids"
    }
    location = text_or_none(data.get("location"))
    if location and is_local(location):
        data["location"] = location.rpartition("/")[2]
    kept = {key: item for key, item in spec.items() if key not in _READ_ELSEWHERE}
    kept |= {"dataset": data}
    for name in ("task_args", "solver_args", "model_args"):
        if isinstance(spec.get(name), dict):
            kept[name] = _passed(mapping_of(spec, name), spec.get(f"{name}_passed"))
    return {key: without_instances(item) for key, item in kept.items()}


def _passed(arguments: Mapping[str, Any], passed: Any) -> dict[str, Any]:
    """Arguments with a value for those that were passed as null or empty, and without
    defaults of false.

    Args:
        arguments: of a task, solver or model.
        passed: those that were passed, where the log tells them from defaults; else all
            were.
    """
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        is_passed = True
        if isinstance(passed, dict):
            is_passed = name in passed
        if is_passed and says_nothing(value):
            kept[name] = f"passed as {json.dumps(value)}"
        elif is_passed or value is not False:
            kept[name] = value
    return kept


def without_instances(value: Any) -> Any:
    """Settings without the ids of sandboxes and browsers of one run (``instance`` among
    the parameters of a tool)."""
    if isinstance(value, dict):
        return {
            key: without_instances(item)
            for key, item in value.items()
            if key != "instance"
        }
    if isinstance(value, list):
        return [without_instances(item) for item in value]
    return value


def _early_stopping(header: Mapping[str, Any]) -> dict[str, Any]:
    """Why the run was ended before all samples were asked, where the log says so."""
    summary = mapping_of(header, "results", "early_stopping")
    stops = summary.get("early_stops")
    if not isinstance(stops, list) or not stops:
        return {}
    manager = text_or_none(summary.get("manager")) or ""
    metadata = mapping_of(summary, "metadata")
    return {
        "early_stopping": {
            "rule": "",
            "manager": manager,
            **metadata,
            "n_left_out": len(stops),
        }
    }


def settings_changed(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the condition that were changed while the run was on, with their last
    values.

    The condition stays what the run was begun with: which samples ran before the change
    stands nowhere.
    """
    changes = list(
        chain.from_iterable(
            objects_of(update.get("changes"))
            for update in objects_of(header.get("config_updates"))
        )
    )
    changed: dict[str, Any] = {}
    for change in changes:
        name = text_or_none(change.get("name"))
        is_of_generation = change.get("config") == "generate"
        is_setting = name in _LIMITS or is_of_generation and name not in _INFRASTRUCTURE
        if not name or not is_setting:
            continue
        if change.get("cleared"):
            changed[name] = "as before"
        else:
            changed[name] = change.get("value")
    return changed


def _generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of generation: the model's, under those of the task."""
    configs = (
        mapping_of(header, "eval", "model_generate_config"),
        mapping_of(header, "plan", "config"),
    )
    generation: dict[str, Any] = {}
    for part in configs:
        generation |= {key: item for key, item in part.items() if item is not None}
    return generation


def _sampling(
    header: Mapping[str, Any], generation: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings that change what is measured, besides the fields of the header."""
    spec = mapping_of(header, "eval")
    config = mapping_of(spec, "config")
    roles = role_models(header)
    parts = {
        **{
            key: item
            for key, item in generation.items()
            if key not in _FIELDS | _INFRASTRUCTURE and _is_setting(item)
        },
        **{key: config.get(key) for key in _LIMITS},
        "model_args": _arguments(mapping_of(spec, "model_args")),
        "task_args": _arguments(mapping_of(_spec(spec), "task_args")),
        "model_roles": {role: name for role, name in roles.items() if role != "grader"},
        "policies": fingerprint_of(**{name: config.get(name) for name in _POLICIES}),
    }
    return without_empty(dict(sorted(parts.items())))


def _arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that can change an answer: no places, and nothing that holds whole
    objects."""
    settings = {}
    for key, item in sorted(arguments.items()):
        if key in _PLACES or item is None or is_local(item):
            continue
        if _is_setting(item):
            settings[key] = item
    return settings


def _is_setting(value: Any) -> bool:
    """A scalar, or a short list or object of scalars; no representation of an object in
    memory."""
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
    steps = objects_of(mapping_of(header, "plan").get("steps"))
    return [
        {"solver": step.get("solver"), "params": without_instances(step.get("params"))}
        for step in steps
    ]


def _formulation(steps: list[dict[str, Any]]) -> str | None:
    names = [str(step["solver"]).rpartition("/")[2] for step in steps]
    if "multiple_choice" in names:
        return "multiple_choice"
    if names:
        return "generate_until"
    return None


def _agent(header: Mapping[str, Any]) -> dict[str, Any]:
    """The scaffold, where a step of the plan is one by its name."""
    for step in _steps(header):
        match = _AGENT.fullmatch(str(step["solver"]))
        if match:
            return {
                "agent": match[1],
                "agent_parameters": _arguments(mapping_of(step, "params")),
            }
    return {}


def _shots(arguments: Mapping[str, Any]) -> int | None:
    counts = (whole_or_none(arguments.get(name)) for name in _SHOTS)
    return next((count for count in counts if count is not None), None)


def _cost(stats: Mapping[str, Any]) -> float | None:
    """US dollars of all models of the run, where the log says them."""
    used = mapping_of(stats, "model_usage").values()
    return whole_sum(
        number_or_none(item.get("total_cost"))
        for item in used
        if isinstance(item, dict)
    )
