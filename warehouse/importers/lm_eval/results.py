"""Run headers out of a results file of lm-evaluation-harness >= 0.4."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.importers.common.fingerprint import fingerprint, fingerprint_of
from warehouse.importers.common.json_fields import (
    items_of,
    mapping_of,
    number_or_none,
    text_of_any,
    text_or_none,
    whole_or_none,
)
from warehouse.importers.common.model_arguments import parse_arguments
from warehouse.importers.common.sampling import other_sampling, sampling_fields
from warehouse.importers.common.times import unix_time
from warehouse.importers.lm_eval.metrics import Seen, metric_specs, published_scores
from warehouse.importers.lm_eval.model import argument_settings, model_fields
from warehouse.records import PublishedScore, RunHeader

HARNESS = "lm_eval"

#: Parts of a task's configuration that make the prompt, and those that make the score.
_PROMPT_PARTS = (
    "doc_to_text",
    "doc_to_choice",
    "description",
    "target_delimiter",
    "fewshot_delimiter",
    "gen_prefix",
    "use_prompt",
)
_SCORING_PARTS = ("filter_list", "process_results", "doc_to_target")

_ENVIRONMENT = (
    "model_source",
    "model_name",
    "transformers_version",
    "upper_git_hash",
    "max_length",
    "chat_template_sha",
    "system_instruction",
    "fewshot_as_multiturn",
    "total_evaluation_time_seconds",
)


@dataclass(frozen=True)
class Results:
    """A results file: its JSON document and its path."""

    document: Mapping[str, Any]
    path: Path
    groups: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        subtasks = mapping_of(self.document, "group_subtasks")
        named = {name for name, children in subtasks.items() if children}
        object.__setattr__(self, "groups", frozenset({*mapping_of(self.document, "groups"), *named}))

    @property
    def tasks(self) -> list[str]:
        """Leaf tasks, in the order of the file."""
        names = [*mapping_of(self.document, "results"), *mapping_of(self.document, "configs")]
        return [name for name in dict.fromkeys(names) if name not in self.groups]

    @property
    def samples(self) -> dict[str, list[Any]]:
        """The samples of each task that the document holds, as what ``simple_evaluate`` returns does."""
        return {task: rows for task, rows in mapping_of(self.document, "samples").items() if isinstance(rows, list)}

    def config(self, task: str) -> dict[str, Any]:
        """The task's configuration; empty where the file has none."""
        return mapping_of(self.document, "configs", task)

    def figures(self, name: str) -> dict[str, Any]:
        """The aggregates of a task or group."""
        return mapping_of(self.document, "results", name) or mapping_of(self.document, "groups", name)

    def header(self, task: str, seen: Seen, place: str) -> RunHeader:
        """The header of one task.

        Args:
            task: name of the leaf task.
            seen: what its samples show; nothing where there are none.
            place: name of the file that the samples come from.
        """
        config = self.config(task)
        better = mapping_of(self.document, "higher_is_better", task)
        counts = mapping_of(self.document, "n-samples", task)
        original = whole_or_none(counts.get("original"))
        effective = whole_or_none(counts.get("effective", self.figures(task).get("sample_len")))
        return RunHeader(
            harness=HARNESS,
            benchmark=task,
            **model_fields(self.document, self.path),
            **self._conditions(task, config),
            **self._circumstances(task, config),
            suite=self._suite(task),
            metrics=metric_specs(config, self.figures(task), better, seen),
            n_benchmark=original,
            n_requested=original if self._stopping(task) else effective,
            published=published_scores(config, self.figures(task), effective, seen),
            place=place,
        )

    def group_scores(self) -> tuple[PublishedScore, ...]:
        """The figures of groups, which belong to no task."""
        return tuple(
            score
            for name in sorted(self.groups)
            for score in published_scores({}, self.figures(name), None, Seen(), benchmark=name)
        )

    def _conditions(self, task: str, config: Mapping[str, Any]) -> dict[str, Any]:
        document = self.document
        settings = mapping_of(document, "config")
        shots = whole_or_none(mapping_of(document, "n-shot").get(task, config.get("num_fewshot")))
        formulation = text_or_none(config.get("output_type"))
        generation = self._generation(config) if formulation in (None, "generate_until") else {}
        return {
            "task_version": text_of_any(mapping_of(document, "versions").get(task)),
            "dataset_revision": text_of_any(mapping_of(config, "dataset_kwargs").get("revision")),
            "split": str(config.get("test_split") or config.get("validation_split") or ""),
            "formulation": formulation,
            "fewshot": shots,
            # without examples nothing is drawn
            "fewshot_seed": whole_or_none(settings.get("fewshot_seed")) if shots else None,
            "template_hash": self._template(config),
            "system_prompt_hash": text_or_none(document.get("system_instruction_sha")),
            **sampling_fields(generation),
            "sampling_seed": self._seed(generation),
            "sampling": self._sampling(config, generation, shots),
        }

    def _circumstances(self, task: str, config: Mapping[str, Any]) -> dict[str, Any]:
        document = self.document
        date = number_or_none(document.get("date"))
        return {
            "run_id": None if date is None else repr(document["date"]),
            "started_at": None if date is None else unix_time(date),
            "harness_version": text_or_none(document.get("lm_eval_version")),
            "harness_commit": text_or_none(document.get("git_hash")),
            "hardware": _hardware(document.get("pretty_env_info")),
            "configuration": {
                "config": mapping_of(document, "config"),
                "task": dict(config),
                "task_hash": mapping_of(document, "task_hashes").get(task),
                **self._stopping(task),
                **{name: document[name] for name in _ENVIRONMENT if name in document},
            },
        }

    def _stopping(self, task: str) -> dict[str, Any]:
        """What `warehouse.integrations.lm_eval` says of a run that it watched: all documents were to be asked."""
        stated = mapping_of(self.document, "early_stopping", task)
        return {"early_stopping": stated} if stated else {}

    def _generation(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Generation settings; the command line's are above the task's."""
        stated = mapping_of(self.document, "config").get("gen_kwargs")
        return {**mapping_of(config, "generation_kwargs"), **parse_arguments(stated)}

    def _template(self, config: Mapping[str, Any]) -> str | None:
        parts = {name: config[name] for name in _PROMPT_PARTS if config.get(name)}
        chat = text_or_none(self.document.get("chat_template_sha"))
        return fingerprint({**parts, "chat_template": chat}) if parts or chat else None

    def _seed(self, generation: Mapping[str, Any]) -> int | None:
        settings = mapping_of(self.document, "config")
        arguments = parse_arguments(settings.get("model_args"))
        stated = generation.get("seed", arguments.get("seed", settings.get("torch_seed")))
        return whole_or_none(stated)

    def _sampling(self, config: Mapping[str, Any], generation: Mapping[str, Any], shots: int | None) -> dict[str, Any]:
        """What else changes what is measured: harness backend, model arguments, scoring code."""
        chat = shots and self.document.get("chat_template_sha")
        parts = {
            **other_sampling(generation),
            "backend": text_or_none(mapping_of(self.document, "config").get("model")),
            "model_args": argument_settings(self.document),
            "fewshot_as_multiturn": self.document.get("fewshot_as_multiturn") if chat else None,
            "scoring": fingerprint_of(**{name: config.get(name) for name in _SCORING_PARTS}),
        }
        return {name: value for name, value in parts.items() if value not in (None, {})}

    def _suite(self, task: str) -> tuple[str, ...]:
        """Groups above a task, outermost first."""
        subtasks = mapping_of(self.document, "group_subtasks")
        parents = {
            child: group
            for group, children in reversed(subtasks.items())
            for child in items_of(children)
            if isinstance(child, str)
        }
        chain: list[str] = []
        while task in parents and parents[task] not in chain:
            task = parents[task]
            chain.insert(0, task)
        return tuple(chain)


def _hardware(environment: Any) -> str | None:
    """The accelerators in the text that the harness's environment report is."""
    if not isinstance(environment, str):
        return None
    names: Sequence[str] = re.findall(r"GPU \d+: (.+)", environment)
    counted = {name.strip(): names.count(name) for name in names}
    return ", ".join(f"{count} x {name}" for name, count in counted.items()) or None
