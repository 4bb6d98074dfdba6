"""Settings of a task in a results file of lm-evaluation-harness, each setting
once and as it took effect.

The files of one version repeat themselves (``metadata`` of a task has the model
arguments again, the command line's ``gen_kwargs`` stand above the task's), and versions
differ in what an argument means that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.importers.common.json_fields import mapping_of, text_or_none
from warehouse.importers.common.model_names import parse_arguments

#: Parts of a results file that are outcomes, of all tasks together, or read into fields
#: of their own.
_NOT_SETTINGS = frozenset(
    """
    results groups samples configs config versions n-shot n-samples higher_is_better group_subtasks task_hashes
    early_stopping pretty_env_info model_name model_name_sanitized fewshot_as_multiturn
    """.split()
)
#: Of ``config``: what is read as the revision, and as the generation of the task.
_READ_ELSEWHERE = frozenset(
    ("model_args", "model_revision", "gen_kwargs", "model_dtype", "description_dict")
)
#: Arguments of one meaning with the length that a file states beside them as it took
#: effect.
_LENGTHS = ("max_length", "max_model_len", "context_length")
_GENERATED_LENGTHS = frozenset(
    ("max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens")
)
#: Parts of ``fewshot_config`` that the fingerprint of the examples is made of.
_READ_OF_EXAMPLES = frozenset(
    """
    num_fewshot sampler samples fewshot_indices doc_to_text doc_to_choice description target_delimiter
    fewshot_delimiter gen_prefix use_prompt
    """.split()
)
#: Names of one backend.
_BACKENDS = {
    "huggingface": "hf",
    "hf-auto": "hf",
    "hf-causal": "hf",
    "hf-causal-experimental": "hf",
}
_VERSION = re.compile(r"\d+(?:\.\d+)*")


def backend_of(document: Mapping[str, Any]) -> str | None:
    """The class that ran the model, by one of its names."""
    name = text_or_none(mapping_of(document, "config").get("model"))
    if name is None:
        return None
    return _BACKENDS.get(name, name)


def effective_arguments(
    document: Mapping[str, Any], generation: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The model arguments as they took effect: without those that the file states
    better elsewhere, and with what the version of the harness took where there are
    none.

    Args:
        document: the file.
        generation: settings of generation of the task; ``None`` where nothing is
            generated.
    """
    arguments = parse_arguments(mapping_of(document, "config").get("model_args"))
    arguments.pop("revision", None)
    arguments.pop("dtype", None)
    if document.get("max_length") is not None:
        for name in _LENGTHS:
            arguments.pop(name, None)
    if generation is None or not _GENERATED_LENGTHS.isdisjoint(generation):
        arguments.pop("max_gen_toks", None)  # of the backend, where the task says none
    return {**_defaults_that_moved(document), **arguments}


def _defaults_that_moved(document: Mapping[str, Any]) -> dict[str, Any]:
    """Meanings, in this version, of arguments that are not there, where other versions
    take it otherwise.

    Source: ``lm_eval/models/huggingface.py`` and ``vllm_causallms.py`` of 0.4.2 to
    0.4.13.
    """
    version = _version(document)
    backend = backend_of(document) or ""
    defaults: dict[str, Any] = {}
    if version is None:
        return defaults
    if backend.startswith(("hf", "vllm")) and version < (0, 4, 9, 2):
        defaults["add_bos_token"] = False
    has_template = document.get("chat_template_sha") or document.get("chat_template")
    if (
        has_template
        and backend.startswith("vllm")
        and (0, 4, 9) <= version < (0, 4, 12)
    ):
        defaults["enable_thinking"] = version >= (0, 4, 9, 1)
    return defaults


def examples_are_turns(document: Mapping[str, Any]) -> bool:
    """True if examples before a question are turns of a chat; where the file says
    nothing, what its version did: they are since 0.4.10. Of a run with a chat template
    and examples; else it means nothing.
    """
    said = document.get("fewshot_as_multiturn")
    if said is not None:
        return str(said).lower() == "true"
    return (_version(document) or ()) >= (0, 4, 10)


def _version(document: Mapping[str, Any]) -> tuple[int, ...] | None:
    found = _VERSION.match(text_or_none(document.get("lm_eval_version")) or "")
    if found:
        return tuple(int(part) for part in found[0].split("."))
    return None


def dtype_of(document: Mapping[str, Any]) -> str | None:
    """The type of the weights: the one found, else the one asked for."""
    settings = mapping_of(document, "config")
    asked = parse_arguments(settings.get("model_args")).get("dtype")
    if asked == "auto":
        asked = None
    else:
        asked = text_or_none(asked)
    return text_or_none(settings.get("model_dtype")) or asked


def configuration_of(
    document: Mapping[str, Any],
    task: Mapping[str, Any],
    generation: Mapping[str, Any] | None,
    shots: int | None,
) -> dict[str, Any]:
    """All that a results file says of how one task was run.

    Args:
        document: the file.
        task: the task's configuration.
        generation: its settings of generation as they took effect; ``None`` where
            nothing is generated.
        shots: number of examples.
    """
    settings = mapping_of(document, "config")
    given = parse_arguments(settings.get("model_args"))
    stated = {
        name: value for name, value in document.items() if name not in _NOT_SETTINGS
    }
    if stated.get("chat_template_sha"):
        stated.pop("chat_template", None)
    if shots:
        fewshot_config = dict(_of_examples(task))
    else:
        fewshot_config = {}
    return {
        **stated,
        "config": {
            **{
                name: value
                for name, value in settings.items()
                if name not in _READ_ELSEWHERE
            },
            "model": backend_of(document),
            "model_args": effective_arguments(document, generation),
            "model_dtype": dtype_of(document),
        },
        "task": {
            **task,
            "generation_kwargs": dict(generation or {}),
            "fewshot_config": fewshot_config,
            "metadata": _other_parts(
                mapping_of(task, "metadata"), frozenset(given) | {"dtype", "revision"}
            ),
        },
    }


def _of_examples(task: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Entries of ``fewshot_config`` that neither the task says nor the fingerprint of
    the examples holds.

    Later versions list what is usual too; a function is written out in one place and
    named in the other.
    """
    for name, value in mapping_of(task, "fewshot_config").items():
        field = name
        if name == "split":
            field = "fewshot_split"
        usual = task.get(field)
        is_function = isinstance(value, str) and value.startswith("<function ")
        if name not in _READ_OF_EXAMPLES and value != usual and not is_function:
            yield name, value


def _other_parts(values: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in known}
