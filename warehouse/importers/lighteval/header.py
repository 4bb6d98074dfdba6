"""Run headers of lighteval: one for each task of a results file, or of a file of
details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from warehouse.importers.common.header_values import fingerprint_of, moment
from warehouse.importers.common.json_fields import (
    endpoint_host,
    items_of,
    mapping_of,
    no_objects,
    objects_of,
    other_sampling,
    sampling_fields,
    text_or_none,
    texts_of,
    without_empty,
)
from warehouse.importers.common.model_names import position_fields
from warehouse.importers.lighteval.details import (
    Details,
    metric_specs,
    published_scores,
    stamp_of,
)
from warehouse.records import PublishedScore, RunHeader
from warehouse.records.canonical_json import sha256_of

HARNESS = "lighteval"

#: Model settings that can change the answers; the others say where and how fast it
#: runs.
_SETTINGS = (
    *(
        "dtype",
        "quantization",
        "quantization_config",
        "use_chat_template",
        "override_chat_template",
    ),
    *(
        "add_special_tokens",
        "max_length",
        "max_model_length",
        "max_context_length",
        "tokenizer",
    ),
    *(
        "multichoice_continuations_start_space",
        "pairwise_tokenization",
        "provider",
        "subfolder",
        "delta_weights",
    ),
    "adapter_weights",
)
_TEMPLATE = (
    *(
        "prompt_function",
        "few_shots_split",
        "few_shots_select",
        "hf_filter",
        "filter",
        "generation_grammar",
    ),
    "stop_sequence",
)
#: What stands in ``model_config`` since 0.11.
_MOVED = frozenset(
    ("model_config", "generation_parameters", "model_dtype", "model_name")
)
#: Settings of generation that have a field of their own.
_OF_FIELDS = frozenset(
    ("temperature", "top_p", "max_new_tokens", "max_tokens", "seed", "reasoning_effort")
)
_MOVING = (None, "main", "master")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class LightevalTask:
    """A task's name in its parts: ``suite|task:subset|fewshot``, the suite up to 0.12.0
    only.

    ``benchmark`` is the name without the number of examples, ``group`` the name without
    subset.
    """

    benchmark: str
    fewshot: int | None
    group: str


def task_of(name: str) -> LightevalTask:
    """Parts of a task's name.

    >>> task_of("leaderboard|mmlu:anatomy|5")
    LightevalTask(benchmark='leaderboard|mmlu:anatomy', fewshot=5, group='leaderboard|mmlu')
    """
    parts = name.split("|")
    numbers = [part for part in parts[1:] if _NUMBER.fullmatch(part)]
    benchmark = "|".join(parts[: len(parts) - len(numbers)])
    suite, bar, rest = benchmark.rpartition("|")
    group = suite + bar + rest.partition(":")[0]
    fewshot = None
    if numbers and len(numbers[0]) < 9:
        fewshot = int(numbers[0])
    return LightevalTask(benchmark, fewshot, group)


@dataclass(frozen=True)
class LightevalResults:
    """A results file; an empty document where there are details only."""

    document: Mapping[str, Any]
    path: Path

    @property
    def general(self) -> dict[str, Any]:
        """How it was run."""
        return mapping_of(self.document, "config_general")

    @property
    def model_config(self) -> dict[str, Any]:
        """The model's settings (since 0.11; before, some of them stand in
        ``general``)."""
        return mapping_of(self.general, "model_config") or {
            "generation_parameters": self.general.get("generation_parameters"),
            "dtype": self.general.get("model_dtype"),
        }

    @property
    def model(self) -> str | None:
        """Name of the model."""
        config = self.model_config
        name = self.general.get("model_name") or config.get("model_name")
        return text_or_none(name or config.get("pretrained"))

    @property
    def tasks(self) -> list[str]:
        """Tasks; not the averages over them."""
        names = mapping_of(self.document, "results")
        return [name for name in names if name != "all" and ":_average|" not in name]

    def of_task(self, key: str, task: str) -> Any:
        """A part of the file on a task, whose name may stand there without
        examples."""
        part = mapping_of(self.document, key)
        return part.get(task, part.get(task_of(task).benchmark))

    def config(self, task: str) -> dict[str, Any]:
        """A task's configuration."""
        config = self.of_task("config_tasks", task)
        if isinstance(config, dict):
            return config
        return {}

    def notes_on_metrics(self) -> Iterator[str]:
        """Entries of the metrics of a task that say nothing."""
        for task in self.tasks:
            config = self.config(task)
            name = "metric"
            if "metrics" in config:
                name = "metrics"
            where = f"{self.path.name}: config_tasks.{task}.{name}"
            yield from no_objects(config.get(name), where, or_names=True)


def model_of_path(path: Path) -> str | None:
    """The model that the folders of a file name: ``details/ORG/MODEL/STAMP/`` and
    ``results/ORG/MODEL/`` as written, ``details_ORG__MODEL/STAMP/`` as published."""
    folders = list(path.parts[:-1])
    if folders and folders[-1] == stamp_of(path):
        folders.pop()
    for kind in ("details", "results"):
        if kind in folders:
            index = len(folders) - 1 - folders[::-1].index(kind)
            return "/".join(folders[index + 1 :]) or None
    named = ""
    if folders:
        named = folders[-1]
    if not named.startswith("details_"):
        return None
    return named.removeprefix("details_").removesuffix("_private").replace("__", "/", 1)


def header(
    results: LightevalResults, task: str, details: Details | None, model: str
) -> RunHeader:
    """The header of one task.

    Args:
        results: the results file.
        task: the task's full name.
        details: its rows, where there are any.
        model: name of the model.
    """
    parts, config = task_of(task), results.config(task)
    shots = parts.fewshot
    if parts.fewshot is None:
        shots = _count(config.get("num_fewshots"))
    counts = [
        _count(config.get(name)) for name in ("original_num_docs", "effective_num_docs")
    ]
    general = results.general
    commit = text_or_none(general.get("lighteval_sha"))
    stamp = stamp_of(results.path)
    harness_commit = None
    if commit != "?":
        harness_commit = commit
    if details:
        place = details.path.name
    else:
        place = results.path.name
    return RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=parts.benchmark,
        **_model_fields(results, model),
        suite=(parts.group,) if parts.group != parts.benchmark else (),
        dataset_revision=text_or_none(config.get("hf_revision")),
        split="+".join(str(item) for item in items_of(config.get("evaluation_splits"))),
        task_version=_text(results.of_task("versions", task), config.get("version")),
        fewshot=shots,
        **_conditions(results, config, details, shots),
        metrics=metric_specs(config, _figures(results, task), details),
        run_id=stamp or None,
        started_at=_moment(stamp),
        harness_commit=harness_commit,
        n_benchmark=counts[0],
        n_requested=counts[1],
        published=tuple(published_scores(_figures(results, task), counts[1], details)),
        place=place,
    )


def group_scores(results: LightevalResults) -> tuple[PublishedScore, ...]:
    """Averages over the subsets of a task. Their standard errors are averages of those
    of the subsets, which are none of the average: left out. So is ``all``, which is
    over whatever ran."""
    scores: list[PublishedScore] = []
    for name, figures in mapping_of(results.document, "results").items():
        if ":_average|" in name and isinstance(figures, dict):
            group = task_of(name.replace(":_average|", "|")).benchmark
            plain = {
                key: value
                for key, value in figures.items()
                if not key.endswith("_stderr")
            }
            scores += published_scores(plain, None, None, group)
    return tuple(scores)


def _figures(results: LightevalResults, task: str) -> dict[str, Any]:
    return mapping_of(results.document, "results", task)


def _model_fields(results: LightevalResults, model: str) -> dict[str, Any]:
    config = results.model_config
    requested_revision = text_or_none(config.get("revision"))
    commit = text_or_none(results.general.get("model_sha"))
    revision = requested_revision
    if requested_revision in _MOVING and commit:
        revision = commit
    size = results.general.get("model_size")
    named = (revision, text_or_none(config.get("subfolder")))
    parameter_count = None
    if isinstance(size, str) and size.isdecimal():
        parameter_count = int(size)
    # folders above the model's own say which run it was, not which checkpoint
    return {
        "revision": revision,
        "parameter_count": parameter_count,
        "base_checkpoint": text_or_none(config.get("base_model")),
        "endpoint": endpoint_host(config.get("base_url")),
        **position_fields(named, model, Path(model)),
    }


def _conditions(
    results: LightevalResults,
    config: Mapping[str, Any],
    details: Details | None,
    shots: int | None,
) -> dict[str, Any]:
    """Settings that change what is measured, besides the fields of the header."""
    model = results.model_config
    methods = _methods(config, details)
    generates = not methods or "GENERATIVE" in methods
    generation = {}
    if generates:
        generation = mapping_of(model, "generation_parameters")
    sampling = sampling_fields(generation)
    size = None
    if generates:
        size = _count(config.get("generation_size"))
    system = text_or_none(model.get("system_prompt"))
    settings = {name: model.get(name) for name in _SETTINGS}
    settings |= {"num_samples": config.get("num_samples"), **other_sampling(generation)}
    seed = generation.get("seed")
    max_tokens = size
    if sampling["max_tokens"] is not None:
        max_tokens = sampling["max_tokens"]
    system_prompt_hash = None
    if system:
        system_prompt_hash = sha256_of(system)
    sampling_seed = None
    if type(seed) is int and abs(seed) < 1 << 63:
        sampling_seed = seed
    return {
        "formulation": "+".join(methods).lower() or None,
        "template_hash": _template(config, shots),
        "system_prompt_hash": system_prompt_hash,
        **sampling,
        "max_tokens": max_tokens,
        "sampling_seed": sampling_seed,
        "sampling": without_empty(settings),
        "configuration": _configuration(results, config, generates),
    }


def _methods(config: Mapping[str, Any], details: Details | None) -> list[str]:
    """How the model was asked: GENERATIVE, LOGPROBS, PERPLEXITY."""
    if details is not None and details.is_nested:
        methods = (details.first.get("doc") or {}).get("sampling_methods")
        # a set in the tool: each run has its own order
        return sorted(texts_of(methods))
    if details is not None and details.first:
        predictions = items_of(details.first.get("predictions"))
        method = "LOGPROBS"
        if any(isinstance(item, str) for item in predictions):
            method = "GENERATIVE"
        return [method]
    entries = objects_of(config.get("metrics"))
    named = (item.get("category") for item in entries)
    return sorted({item for item in named if isinstance(item, str) and item.isalpha()})


def _configuration(
    results: LightevalResults, config: Mapping[str, Any], generates: bool
) -> dict[str, Any]:
    """All that a results file says of how a task was run, under the names since 0.11.

    What a field of the header says is left out: versions and options say it in several
    places.
    """
    general = {
        name: item for name, item in results.general.items() if name not in _MOVED
    }
    model = {
        name: item
        for name, item in results.model_config.items()
        if name not in ("model_name", "revision")
    }
    generation = {}
    if generates:
        generation = mapping_of(model, "generation_parameters")
    model["generation_parameters"] = {
        name: item for name, item in generation.items() if name not in _OF_FIELDS
    }
    task = {
        name: item
        for name, item in config.items()
        if name not in ("metric", "generation_size")
    }
    task["metrics"] = config.get("metrics") or config.get("metric")
    parts = {"config_general": general | {"model_config": model}, "task": task}
    return {name: value for name, value in parts.items() if results.document}


def _template(config: Mapping[str, Any], shots: int | None) -> str | None:
    """A hash of what makes the prompt: without examples, nothing of how they are
    chosen."""
    parts = {
        name: config.get(name)
        for name in _TEMPLATE
        if shots != 0 or not name.startswith("few_shots")
    }
    stops = parts.get("stop_sequence")
    if isinstance(stops, list):
        parts["stop_sequence"] = sorted({str(stop) for stop in stops})
    else:
        parts["stop_sequence"] = stops
    if isinstance(stops, str):
        parts["stop_sequence"] = [stops]
    return fingerprint_of(**parts)


def _moment(stamp: str) -> datetime | None:
    """The time in a file's name: local time of an unknown zone."""
    date, _, clock = stamp.partition("T")
    return moment(f"{date}T{clock.replace('-', ':')}")


def _count(value: Any) -> int | None:
    if type(value) is int and 0 <= value < 1 << 62:
        return value
    return None


def _text(*values: Any) -> str | None:
    scalars = (value for value in values if isinstance(value, (str, int, float)))
    return next((str(value) for value in scalars), None)
