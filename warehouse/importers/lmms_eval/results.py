"""Run headers of lmms-eval: out of a results file, or of samples without one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from warehouse.importers.common.header_values import (
    fingerprint_of,
    groups_above,
    local_time,
)
from warehouse.importers.common.json_fields import (
    as_text,
    endpoint_host,
    is_local,
    mapping_of,
    number_or_none,
    other_sampling,
    published_figure,
    sampling_fields,
    text_of_any,
    text_or_none,
    whole_count,
    whole_or_none,
    without_empty,
)
from warehouse.importers.common.model_names import (
    local_model_name,
    parse_arguments,
    position_fields,
    says_nothing,
)
from warehouse.records import MetricSpec, PublishedScore, RunHeader

HARNESS = "lmms_eval"
#: Names of files begin with a time, in Singapore wherever the run was made.
_AHEAD_OF_UTC = timedelta(hours=8)

#: Keys of a sample that are no metrics.
ROW_KEYS = frozenset(
    "doc_id doc target arguments resps filtered_resps token_counts doc_hash input input_media".split()
)
_NAMING = frozenset(
    "peft delta pretrained model model_version model_name model_id path engine".split()
)
_INFRASTRUCTURE = frozenset(
    """
    api_key azure_openai batch_size base_url cache_dir device device_map max_retries num_concurrent timeout token
    trust_remote_code tensor_parallel_size data_parallel_size gpu_memory_utilization continual_mode
    response_persistent_folder
    """.split()
)
#: Parts of a results file that are outcomes, of all tasks together, or read into fields
#: of their own.
_NOT_SETTINGS = frozenset(
    """
    results groups samples configs config versions n-shot n-samples higher_is_better group_subtasks task_hashes
    pretty_env_info model_name model_name_sanitized
    """.split()
)
#: Of ``config``: the arguments, the generation of the tasks, and a copy of the command
#: line.
_READ_ELSEWHERE = frozenset(("model_args", "gen_kwargs", "resolved_cli_args"))
_PROMPT_PARTS = (
    "doc_to_text",
    "doc_to_visual",
    "doc_to_messages",
    "description",
    "lmms_eval_specific_kwargs",
)
_SCORING_PARTS = ("filter_list", "process_results", "doc_to_target")
#: Figures of how alike repeated answers are: of a metric, beside its mean.
_STABILITY = (
    "expected_accuracy",
    "consensus_accuracy",
    "internal_variance",
    "consistency_rate",
)
_NO_FIGURES = frozenset(("alias", "samples", "name", " "))
_ORGANISATION = re.compile(r"(?<=\w)__(?=\w)")


@dataclass(frozen=True)
class Results:
    """A results file: its JSON document (empty: there is none), its folder and the time
    in its name."""

    document: Mapping[str, Any]
    folder: Path
    stamp: str = ""

    @property
    def tasks(self) -> list[str]:
        """Tasks that have a configuration, in the order of the file."""
        return list(mapping_of(self.document, "configs"))

    def config(self, task: str) -> dict[str, Any]:
        """The task's configuration; empty where the file has none."""
        return mapping_of(self.document, "configs", task)

    def figures(self, name: str) -> Iterator[tuple[str, str, Any]]:
        """Metric, filter and value of each figure of a task or group; errors are not
        among them."""
        for key, value in mapping_of(self.document, "results", name).items():
            metric, _, label = (key, "", "")
            if "," in key:
                metric, _, label = key.rpartition(",")
            if (
                key not in _NO_FIGURES
                and "_stderr" not in metric
                and not isinstance(value, dict | list)
            ):
                yield metric, label, value

    def filters(self, task: str) -> list[str]:
        """Filters of a task, in the order of the file, which is that of their rows."""
        return list(dict.fromkeys(label for _, label, _ in self.figures(task)))

    def repeats(self, task: str) -> int:
        """How often each document was asked."""
        return whole_count(self.config(task).get("repeats")) or 1

    @property
    def model(self) -> str | None:
        """The model of the run: of the arguments, else of the folder, which is called
        by its last two parts."""
        settings = mapping_of(self.document, "config")
        folder = None
        if self.stamp:
            folder = _ORGANISATION.sub("/", self.folder.name)
        named = text_or_none(self.document.get("model_name"))
        if (
            named
            and is_local(named)
            and says_nothing(named.rstrip("/").rpartition("/")[2])
        ):
            return local_model_name(named)
        return (
            (named if not is_local(named) else folder)
            or folder
            or text_or_none(settings.get("model"))
        )

    def header(self, task: str, seen: Seen, file: str) -> RunHeader:
        """The header of one task."""
        document = self.document
        config = self.config(task)
        settings = mapping_of(document, "config")
        arguments = parse_arguments(settings.get("model_args"))
        counts = mapping_of(document, "n-samples", task)
        model = self.model or ""
        return RunHeader(
            harness=HARNESS,
            model=model,
            benchmark=task,
            revision=text_of_any(arguments.get("revision")),
            **position_fields((text_of_any(arguments.get("revision")),), model, Path()),
            endpoint=endpoint_host(arguments.get("base_url")),
            suite=self._suite(task),
            **self._conditions(task, config, arguments),
            metrics=tuple(self._metrics(task, seen)),
            run_id=self.stamp or None,
            started_at=self._begun(),
            harness_version=text_or_none(document.get("lmms_eval_version")),
            harness_commit=text_or_none(document.get("git_hash")),
            configuration=without_empty(self._configuration(task, config, arguments)),
            n_benchmark=whole_or_none(counts.get("original")),
            n_requested=whole_or_none(counts.get("effective")),
            published=tuple(
                self.published(task, whole_or_none(counts.get("effective")))
            ),
            place=file,
        )

    def _configuration(
        self, task: str, config: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """All that the file says of how a task was run; settings of generation as they
        took effect."""
        document = self.document
        settings = mapping_of(document, "config")
        stated = {
            name: item for name, item in document.items() if name not in _NOT_SETTINGS
        }
        if not (
            document.get("chat_template") or document.get("chat_template_sha")
        ) or not self._shots(task):
            stated.pop("fewshot_as_multiturn", None)
        if stated.get("chat_template_sha"):
            stated.pop("chat_template", None)
        metadata = mapping_of(config, "metadata")
        return {
            **stated,
            "task_hash": mapping_of(document, "task_hashes").get(task),
            "config": {
                **{
                    name: item
                    for name, item in settings.items()
                    if name not in _READ_ELSEWHERE
                },
                "model_args": {
                    name: item for name, item in arguments.items() if name != "revision"
                },
            },
            "task": {
                **config,
                "generation_kwargs": self._generation(config)
                if _generates(config)
                else {},
                "metadata": {
                    name: item
                    for name, item in metadata.items()
                    if name not in arguments
                },
            },
        }

    def _shots(self, task: str) -> int | None:
        return whole_or_none(mapping_of(self.document, "n-shot").get(task))

    def _generation(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of generation; the command line's are above the task's."""
        written = mapping_of(self.document, "config").get("gen_kwargs")
        return {**mapping_of(config, "generation_kwargs"), **parse_arguments(written)}

    def published(
        self, name: str, n: int | None, benchmark: str = ""
    ) -> Iterator[PublishedScore]:
        """Figures of a task or group; those that samples cannot give are called by what
        they are."""
        entry = mapping_of(self.document, "results", name)
        metrics = {metric for metric, _, _ in self.figures(name)}
        for metric, label, value in self.figures(name):
            stem, statistic = _stability(metric, metrics)
            yield published_figure(
                stem,
                value,
                filter=label_of(label),
                benchmark=benchmark,
                statistic=statistic,
                standard_error=_error(entry, metric, label),
                n=n,
            )

    def groups(self) -> Iterator[PublishedScore]:
        """Figures of groups, which belong to no task."""
        for name in mapping_of(self.document, "results"):
            if name not in self.tasks:
                yield from self.published(name, None, name)

    def _conditions(
        self, task: str, config: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        document = self.document
        generation = self._generation(config)
        others = {
            **other_sampling(generation),
            "backend": text_or_none(mapping_of(document, "config").get("model")),
            "model_args": {
                name: value
                for name, value in sorted(arguments.items())
                if name not in _NAMING | _INFRASTRUCTURE | {"revision"}
                and not is_local(value)
            },
            "scoring": fingerprint_of(
                **{name: config.get(name) for name in _SCORING_PARTS}
            ),
        }
        return {
            "task_version": text_of_any(mapping_of(document, "versions").get(task)),
            "split": str(
                config.get("test_split") or config.get("validation_split") or ""
            ),
            "formulation": text_or_none(config.get("output_type")),
            "fewshot": self._shots(task),
            "template_hash": fingerprint_of(
                **{name: config.get(name) for name in _PROMPT_PARTS},
                chat=document.get("chat_template_sha"),
            ),
            "system_prompt_hash": text_or_none(document.get("system_instruction_sha")),
            **sampling_fields(generation),
            "sampling": without_empty(others),
        }

    def _metrics(self, task: str, seen: Seen) -> Iterator[MetricSpec]:
        """Metrics with figures or values. One of objects without a score has no value
        per sample."""
        better = mapping_of(self.document, "higher_is_better", task)
        figures = list(self.figures(task))
        names = {metric for metric, _, _ in figures}
        pairs = [(_stability(metric, names)[0], label) for metric, label, _ in figures]
        labels = list(dict.fromkeys(label for _, label in pairs)) or [""]
        for metric in seen.metrics:
            pairs += [(metric, label) for label in (*labels, *seen.unnamed)]
        chosen = dict.fromkeys((metric, label_of(label)) for metric, label in pairs)
        default = next((pair for pair in chosen if pair[0] not in seen.opaque), None)
        for metric, label in chosen:
            direction = better.get(metric)
            higher_is_better = None
            if isinstance(direction, bool):
                higher_is_better = direction
            yield MetricSpec(
                metric,
                filter=label,
                link="none" if metric in seen.opaque else "identity",
                higher_is_better=higher_is_better,
                is_default=(metric, label) == default,
            )

    def _suite(self, task: str) -> tuple[str, ...]:
        """Groups above a task, outermost first."""
        return groups_above(task, mapping_of(self.document, "group_subtasks"))

    def _begun(self) -> datetime | None:
        time = local_time(self.stamp, "%Y%m%d_%H%M%S")
        if time:
            return time - _AHEAD_OF_UTC
        return None


@dataclass
class Seen:
    """Metrics of a task as its samples show them."""

    metrics: dict[str, None] = field(default_factory=dict)
    #: metrics whose values are objects without a score.
    opaque: set[str] = field(default_factory=set)
    #: filters that only the repeated rows of a document tell.
    unnamed: list[str] = field(default_factory=list)

    def add(self, row: Mapping[str, Any], key: str) -> None:
        """Look at one row."""
        for name in measured(row):
            is_new = name not in self.metrics
            self.metrics[name] = None
            value = scalar_of(row[name], key)
            if value is not None:
                self.opaque.discard(name)
            elif is_new and row[name] is not None:
                self.opaque.add(name)


def measured(row: Mapping[str, Any]) -> Iterator[str]:
    """Names of a row's metrics: whatever is nothing else."""
    return (name for name in row if name not in ROW_KEYS)


def scalar_of(value: Any, key: str) -> float | None:
    """A metric's value as a number: its own, or the one that its object states under
    ``key``."""
    return number_or_none(value.get(key) if isinstance(value, dict) else value)


def label_of(name: str) -> str:
    """A filter as the store calls it: the pass-through one is the empty one."""
    if name == "none":
        return ""
    return name


def _stability(metric: str, metrics: Iterable[str]) -> tuple[str, str]:
    """The metric that a figure is of, and what it is of it."""
    for name in _STABILITY:
        stem = metric.removesuffix(f"_{name}")
        if stem != metric and stem in metrics:
            return stem, name
    return metric, "mean"


def _generates(config: Mapping[str, Any]) -> bool:
    """True if the model writes its answers; settings of generation mean nothing where
    options are compared."""
    return config.get("output_type") not in ("loglikelihood", "multiple_choice")


def _error(entry: Mapping[str, Any], metric: str, label: str) -> float | None:
    """The published error: the metric's own, else the one by the central limit
    theorem."""
    names = (f"{metric}_stderr", f"{metric}_stderr_clt")
    values = (
        number_or_none(entry.get(f"{name},{label}" if label else name))
        for name in names
    )
    return next((value for value in values if value is not None), None)


def input_text(value: Any) -> str | None:
    """The prompt of a row: its first argument, without images and template."""
    if value in (None, ""):
        return None
    return as_text(value)
