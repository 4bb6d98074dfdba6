"""Run headers of lm-evaluation-harness >= 0.4: out of a results file, or of samples
without one."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.importers.common.header_values import (
    fingerprint,
    fingerprint_of,
    groups_above,
    unix_time,
)
from warehouse.importers.common.json_fields import (
    mapping_of,
    no_objects,
    number_or_none,
    object_of,
    other_sampling,
    sampling_fields,
    text_of_any,
    text_or_none,
    whole_or_none,
)
from warehouse.importers.common.jsonl import RowSource
from warehouse.importers.common.model_names import parse_arguments, position_fields
from warehouse.importers.lm_eval.layout import (
    argument_settings,
    find_layout,
    metrics_of,
    model_fields,
    requests_of,
)
from warehouse.importers.lm_eval.metrics import Seen, metric_specs, published_scores
from warehouse.importers.lm_eval.settings import (
    backend_of,
    configuration_of,
    examples_are_turns,
)
from warehouse.records import PublishedScore, RunHeader, parse_json

HARNESS = "lm_eval"
#: Seed of the choice of examples, of versions that do not write it too.
FEWSHOT_SEED = 1234

#: Parts of a task's configuration that make the prompt, and those that make the score.
_PROMPT_PARTS = (
    *(
        "doc_to_text",
        "doc_to_choice",
        "description",
        "target_delimiter",
        "fewshot_delimiter",
        "gen_prefix",
    ),
    "use_prompt",
)
#: Parts of a results file with an object for each task.
_SECTIONS = ("results", "groups", "configs", "n-samples")
_SCORING_PARTS = ("filter_list", "process_results", "doc_to_target")


@dataclass(frozen=True)
class LmEvalResults:
    """A results file: its JSON document and its path."""

    document: Mapping[str, Any]
    path: Path

    @cached_property
    def groups(self) -> frozenset[str]:
        """Names that stand for several tasks."""
        subtasks = mapping_of(self.document, "group_subtasks")
        named = {name for name, children in subtasks.items() if children}
        return frozenset({*mapping_of(self.document, "groups"), *named})

    @property
    def tasks(self) -> list[str]:
        """Leaf tasks, in the order of the file."""
        names = [
            *mapping_of(self.document, "results"),
            *mapping_of(self.document, "configs"),
        ]
        return [name for name in dict.fromkeys(names) if name not in self.groups]

    @property
    def samples(self) -> dict[str, list[Any]]:
        """The samples of each task that the document holds, as what ``simple_evaluate``
        returns does."""
        return {
            task: rows
            for task, rows in mapping_of(self.document, "samples").items()
            if isinstance(rows, list)
        }

    def strange_parts(self) -> Iterator[str]:
        """A note on each part that is no object: what it says of a task is not read."""
        for section in _SECTIONS:
            parts = self.document.get(section)
            named: Iterable[tuple[str, Any]] = []
            if isinstance(parts, Mapping):
                named = parts.items()
            elif parts is not None:
                named = [("", parts)]
            for name, part in named:
                if part is not None and not isinstance(part, Mapping):
                    where = section
                    if name:
                        where = f"{section}.{name}"
                    yield (
                        f"{self.path.name}: {where} is {part!r:.80}, no object: "
                        "nothing is read there"
                    )
        for task in self.tasks:
            listed = self.config(task).get("metric_list")
            yield from no_objects(
                listed, f"{self.path.name}: configs.{task}.metric_list"
            )

    def config(self, task: str) -> dict[str, Any]:
        """The task's configuration; empty where the file has none."""
        return mapping_of(self.document, "configs", task)

    def figures(self, name: str) -> dict[str, Any]:
        """The aggregates of a task or group."""
        return mapping_of(self.document, "results", name) or mapping_of(
            self.document, "groups", name
        )

    def header(self, task: str, seen: Seen, file: str) -> RunHeader:
        """The header of one task.

        Args:
            task: name of the leaf task.
            seen: what its samples show; nothing where there are none.
            file: name of the file that the samples come from.
        """
        config = self.config(task)
        better = mapping_of(self.document, "higher_is_better", task)
        counts = mapping_of(self.document, "n-samples", task)
        original = whole_or_none(counts.get("original"))
        # of options that are only to be predicted 0.4.13 counts none
        effective = whole_or_none(
            counts.get("effective", self.figures(task).get("sample_len"))
        )
        is_unasked = effective == 0 and not seen.pairs
        effective = effective or None
        n_requested = effective
        if self._stopping(task):
            n_requested = original
        return RunHeader(
            harness=HARNESS,
            benchmark=task,
            **model_fields(self.document, self.path),
            **self._conditions(task, config),
            **self._circumstances(task, config),
            suite=self._suite(task),
            metrics=metric_specs(config, self.figures(task), better, seen),
            n_benchmark=original,
            n_requested=n_requested,
            published=published_scores(
                config, self.figures(task), 0 if is_unasked else effective, seen
            ),
            place=file,
        )

    def group_scores(self) -> tuple[PublishedScore, ...]:
        """The figures of groups, which belong to no task."""
        return tuple(
            chain.from_iterable(
                published_scores({}, self.figures(name), None, Seen(), benchmark=name)
                for name in sorted(self.groups)
            )
        )

    def _conditions(self, task: str, config: Mapping[str, Any]) -> dict[str, Any]:
        document = self.document
        settings = mapping_of(document, "config")
        shots = self._shots(task, config)
        formulation = text_or_none(config.get("output_type"))
        generation = {}
        if _generates(config):
            generation = self._generation(config)
        fewshot_seed = None
        if shots and settings:
            fewshot_seed = whole_or_none(settings.get("fewshot_seed", FEWSHOT_SEED))
        return {
            "task_version": text_of_any(mapping_of(document, "versions").get(task)),
            "dataset_revision": text_of_any(
                mapping_of(config, "dataset_kwargs").get("revision")
            ),
            "split": str(
                config.get("test_split") or config.get("validation_split") or ""
            ),
            "formulation": formulation,
            "fewshot": shots,
            # without examples nothing is drawn
            "fewshot_seed": fewshot_seed,
            "template_hash": self._template(config),
            "system_prompt_hash": text_or_none(document.get("system_instruction_sha")),
            **sampling_fields(generation),
            "sampling_seed": self._seed(generation),
            "sampling": self._sampling(config, generation, shots),
        }

    def _circumstances(self, task: str, config: Mapping[str, Any]) -> dict[str, Any]:
        document = self.document
        date = number_or_none(document.get("date"))
        generation = None
        if _generates(config):
            generation = self._generation(config)
        if date is None:
            run_id = None
            started_at = None
        else:
            run_id = repr(document["date"])
            started_at = unix_time(date)
        return {
            "run_id": run_id,
            "started_at": started_at,
            "harness_version": text_or_none(document.get("lm_eval_version")),
            "harness_commit": text_or_none(document.get("git_hash")),
            "hardware": _hardware(document.get("pretty_env_info")),
            "configuration": {
                **configuration_of(
                    document, config, generation, self._shots(task, config)
                ),
                "task_hash": mapping_of(document, "task_hashes").get(task),
                **self._stopping(task),
            },
        }

    def _stopping(self, task: str) -> dict[str, Any]:
        """The words of `warehouse.integrations.lm_eval` of a run that it watched: all
        documents were to be asked."""
        stopping = mapping_of(self.document, "early_stopping", task)
        if stopping:
            return {"early_stopping": stopping}
        return {}

    def _shots(self, task: str, config: Mapping[str, Any]) -> int | None:
        return whole_or_none(
            mapping_of(self.document, "n-shot").get(task, config.get("num_fewshot"))
        )

    def _generation(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Generation settings; the command line's are above the task's."""
        gen_kwargs = mapping_of(self.document, "config").get("gen_kwargs")
        return {
            **mapping_of(config, "generation_kwargs"),
            **parse_arguments(gen_kwargs),
        }

    def _template(self, config: Mapping[str, Any]) -> str | None:
        parts = {name: config[name] for name in _PROMPT_PARTS if config.get(name)}
        chat = text_or_none(self.document.get("chat_template_sha"))
        if parts or chat:
            return fingerprint({**parts, "chat_template": chat})
        return None

    def _seed(self, generation: Mapping[str, Any]) -> int | None:
        settings = mapping_of(self.document, "config")
        arguments = parse_arguments(settings.get("model_args"))
        seed = generation.get("seed", arguments.get("seed", settings.get("torch_seed")))
        return whole_or_none(seed)

    def _sampling(
        self,
        config: Mapping[str, Any],
        generation: Mapping[str, Any],
        shots: int | None,
    ) -> dict[str, Any]:
        """Settings that change what is measured: harness backend, model arguments,
        scoring code."""
        chat = shots and self.document.get("chat_template_sha")
        sampling = None
        if _generates(config):
            sampling = generation
        fewshot_as_multiturn = None
        if chat:
            fewshot_as_multiturn = examples_are_turns(self.document)
        fewshot_config = None
        if shots:
            fewshot_config = _examples(config)
        parts = {
            **other_sampling(generation),
            "backend": backend_of(self.document),
            "model_args": argument_settings(self.document, sampling),
            "fewshot_as_multiturn": fewshot_as_multiturn,
            "fewshot_config": fewshot_config,
            "scoring": fingerprint_of(
                **{name: config.get(name) for name in _SCORING_PARTS}
            ),
        }
        return {name: value for name, value in parts.items() if value not in (None, {})}

    def _suite(self, task: str) -> tuple[str, ...]:
        """Groups above a task, outermost first."""
        return groups_above(task, mapping_of(self.document, "group_subtasks"))


def _generates(config: Mapping[str, Any]) -> bool:
    """True if the model writes its answers; settings of generation mean nothing where
    options are compared."""
    return text_or_none(config.get("output_type")) in (None, "generate_until")


def _examples(config: Mapping[str, Any]) -> str | None:
    """Which examples are shown and how they are written, where that is the task's own
    way.

    Versions up to 0.4.9 list only what the task sets, later ones also what is usual:
    what the task says elsewhere and functions, which are written out in one place and
    named in the other, tell no two runs apart.
    """
    own = mapping_of(config, "fewshot_config")
    chosen = {name: own.get(name) for name in ("samples", "fewshot_indices")}
    sampler = own.get("sampler")
    words = {
        name: own.get(name)
        for name in _PROMPT_PARTS
        if own.get(name) != config.get(name)
    }
    words = {
        name: part
        for name, part in words.items()
        if not str(part).startswith("<function ")
    }
    named_sampler = sampler
    if sampler == "default":
        named_sampler = None
    return fingerprint_of(**chosen, **words, sampler=named_sampler)


def _hardware(environment: Any) -> str | None:
    """The accelerators in the text that the harness's environment report is."""
    if not isinstance(environment, str):
        return None
    names: Sequence[str] = re.findall(r"GPU \d+: (.+)", environment)
    counted = {name.strip(): names.count(name) for name in names}
    listed = [f"{count} x {name}" for name, count in counted.items()]
    return ", ".join(listed) or None


_LABELS = re.compile(rb'"filter": ?("(?:[^"\\]|\\.)*"), ?"metrics": ?(\[[^\]]*\])')
_FORMULATIONS = {"rolling": "loglikelihood_rolling", "text": "generate_until"}


def first_seen(rows: Sequence[Mapping[str, Any]]) -> Seen:
    """Metrics with their filters and first values."""
    pairs: dict[tuple[str, str], None] = {}
    for row in rows:
        label = row.get("filter")
        if isinstance(label, str):  # anything else counts as no label
            pairs |= dict.fromkeys((metric, label) for metric in metrics_of(row))
    values: dict[str, Any] = {}
    for row in rows:
        for metric in metrics_of(row):
            if row.get(metric) is not None:
                values.setdefault(metric, row[metric])
    return Seen(tuple(pairs), values)


def scan(source: RowSource) -> tuple[Seen, tuple[str, ...]]:
    """Metrics and filters of a whole file, for when no results file lists them.

    Rows before 0.4.7 do not name their filter: the second row of a document is then
    that of a second, nameless filter.
    """
    first = source.first()
    seen = first_seen(first)
    probe = RowSource(source.path, source.name, source.keys)
    if first and "filter" in first[0] and not source.is_array():
        labels = set(probe.findall(_LABELS))
        pairs = list(dict.fromkeys((*seen.pairs, *_labelled(labels))))
        return Seen(tuple(pairs), seen.values), tuple(
            dict.fromkeys(name for _, name in pairs)
        )
    rows = Counter[str]()
    metrics: dict[str, None] = {}
    for row, _ in probe.rows():
        rows[str(row["doc_id"])] += 1
        metrics.update(dict.fromkeys(metrics_of(row)))
    filters = (
        "none",
        *(f"unnamed {n}" for n in range(2, max(rows.values(), default=1) + 1)),
    )
    if len(filters) > 1:
        source.notes.append(
            f"{source.name}: {len(filters)} filters whose names are not known"
        )
    combined: list[tuple[str, str]] = []
    for name in filters:
        combined += [(metric, name) for metric in metrics]
    return Seen(tuple(combined), seen.values), filters


def _labelled(labels: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[str, str]]:
    """Metric and filter of what the pattern found; rows that cannot be read are
    rejected later."""
    for label, listed in sorted(labels):
        with contextlib.suppress(ValueError):
            name = parse_json(label)
            metrics = parse_json(listed)
            yield from ((metric, name) for metric in metrics if isinstance(metric, str))


def header_without_results(
    task: str, model: str, source: RowSource, seen: Seen, stamp: str
) -> RunHeader:
    """The header of samples whose results file is missing."""
    rows = source.first() or [{}]
    requests = requests_of(rows[0])
    layout = find_layout(rows, {}, ())
    generation = {}
    if layout.kind == "text" and len(requests[0]) > 1:
        generation = requests[0][1]
    settings = object_of(generation)
    source.notes.append(
        f"{source.name}: no results file, so no settings, versions or figures"
    )
    return RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=task,
        **position_fields((), model, source.path),
        formulation=_FORMULATIONS.get(layout.kind)
        or ("multiple_choice" if len(requests) > 1 else "loglikelihood"),
        **sampling_fields(settings),
        sampling=other_sampling(settings),
        metrics=metric_specs({}, {}, {}, seen),
        run_id=stamp or None,
        place=source.name,
    )
