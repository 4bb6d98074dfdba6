"""Who was evaluated: the model fields of a header out of lm-evaluation-harness's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from warehouse.importers.common.json_fields import endpoint_host, is_local, mapping_of, text_or_none, whole_or_none
from warehouse.importers.common.model_names import (
    _CHECKPOINT_PART,
    _UNSAFE,
    disagreement,
    parse_arguments,
    position_fields,
    same_model,
)

#: The arguments that name the model, in the harness's own order.
NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")

#: Arguments that say where and how fast a model runs, not what it answers.
_INFRASTRUCTURE = frozenset(
    """
    api_key auth_token backend batch_size cache_dir data_parallel_size device device_map
    device_map_option disable_log_stats distributed_executor_backend enforce_eager eos_string
    gpu_memory_utilization header host load_format low_cpu_mem_usage max_batch_size
    max_cpu_memory max_memory_per_gpu max_model_len_warning max_retries num_concurrent
    offload_folder parallelize pipeline_parallel_size port prefix_caching swap_space
    tensor_parallel_size timeout token tokenized_requests tp_plan trust_remote_code
    use_fast_tokenizer verify_certificate workers
    """.split()
)
_IDENTITY = frozenset((*NAMING, "revision", "base_url", "seed"))

_RANDOM_NAME = re.compile(r"[A-Za-z0-9]{8}")


def model_fields(document: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Header fields of the model in a results file.

    The revision is the one asked for. Where that is a branch that moves (``main``) or nothing,
    it is the commit that was found there, if the file says: equal conditions then mean equal
    weights. A last path component such as ``epoch_20`` becomes step or epoch, not name.
    """
    config = mapping_of(document, "config")
    arguments = parse_arguments(config.get("model_args"))
    name, part = _split_checkpoint(_name(document, config, arguments))
    adapter = bool(arguments.get("peft") or arguments.get("delta"))
    revision = _revision(config, arguments, adapter)
    size = whole_or_none(config.get("model_num_parameters"))  # -1: not known
    return {
        "model": name,
        "revision": revision,
        "base_checkpoint": _base(config, arguments) if adapter else None,
        "parameter_count": size if size and size > 0 else None,
        "endpoint": endpoint_host(arguments.get("base_url")),
        **position_fields((revision, part), name, path),
    }


def other_model(document: Mapping[str, Any], path: Path) -> Iterator[str]:
    """A note where the folder of a results file, ``ORGANISATION__NAME`` as the harness makes it
    of the model's name, names another model."""
    model = text_or_none(document.get("model_name"))
    folder = path.absolute().parent.name
    if model and "__" in folder and not same_model(folder, _UNSAFE.sub("__", model)):
        yield disagreement(model, "the folder", folder)


def argument_settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """Model arguments that can change what the model answers: no identity, no places."""
    arguments = parse_arguments(mapping_of(document, "config").get("model_args"))
    return {
        name: value
        for name, value in sorted(arguments.items())
        if name not in _IDENTITY | _INFRASTRUCTURE and value is not None and not is_local(value)
    }


def _name(document: Mapping[str, Any], config: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    named = next((arguments[key] for key in NAMING if arguments.get(key)), None)
    model_name = text_or_none(document.get("model_name"))
    if named is None and (model_name is None or _RANDOM_NAME.fullmatch(model_name)):
        # without arguments the harness makes up eight characters, new ones in every run
        return text_or_none(config.get("model")) or model_name
    return model_name or str(named)


def _split_checkpoint(name: str | None) -> tuple[str | None, str | None]:
    """A path such as ``../runs/tuned/epoch_20`` as name and checkpoint."""
    if name is None or not (is_local(name) or name.count("/") > 1):
        return name, None
    whole = name.rstrip("/")
    parent, _, last = whole.rpartition("/")
    return (parent, last) if parent and _CHECKPOINT_PART.fullmatch(last) else (whole, None)


def _revision(config: Mapping[str, Any], arguments: Mapping[str, Any], adapter: bool) -> str | None:
    if adapter:  # revision and commit are those of the base model
        return text_or_none(config.get("peft_sha")) or text_or_none(config.get("delta_sha"))
    revision = text_or_none(config.get("model_revision")) or arguments.get("revision")
    moving = revision in (None, "", "main", "master")
    commit = text_or_none(config.get("model_sha"))
    return commit if moving else str(revision)


def _base(config: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    base = text_or_none(arguments.get("pretrained"))
    model_revision = text_or_none(config.get("model_revision"))
    commit = text_or_none(config.get("model_sha"))
    revision = commit if model_revision in (None, "main", "master") else model_revision
    return f"{base}@{revision}" if base and revision else base
