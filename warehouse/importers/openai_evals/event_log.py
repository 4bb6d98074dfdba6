"""A log of OpenAI evals, its events sorted by sample."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    Row,
    as_items,
    compact,
    first_of,
    is_local,
    number_or_none,
    part_of,
    published_figure,
    require_model,
    sampling_fields,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.model_names import parse_arguments
from warehouse.records import MetricKind, MetricSpec, PublishedScore, RunHeader

ACCURACY, MATCH = "accuracy", "match"

#: Kinds of event that are read; others are only counted.
_READ = frozenset(
    ("sampling", MATCH, "metrics", "cond_logp", "pick_option", "raw_sample", "error")
)
_NUMBER = re.compile(r"(?:.*\.)?(\d{1,15})", re.DOTALL)
_MANY_MODELS = "from_models"


@dataclass
class EventLogSample:
    """Events of one sample, each its number in the log, kind and content."""

    name: str
    line: str
    events: list[tuple[int, str, Row]] = field(default_factory=list)

    def of(self, kind: str) -> list[Row]:
        """Contents of the events of one kind, in the order in which they happened."""
        return [
            data
            for _, event_kind, data in sorted(self.events, key=itemgetter(0))
            if event_kind == kind
        ]

    @property
    def number(self) -> int | None:
        """Place of the sample in its data set, which the end of its name is."""
        match = _NUMBER.fullmatch(self.name)
        if match:
            return int(match[1])
        return None


@dataclass
class EventLog:
    """All that a log says. Lines come in any order: events of samples that ran at the
    same time are mixed, and the report of a short run stands before its events."""

    spec: Row = field(default_factory=dict)
    report: Row | None = None
    samples: dict[str, EventLogSample] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, location: str, line: Any) -> None:
        """Take one line (ValueError: it is neither the specification, nor the report,
        nor an event of a sample)."""
        if not isinstance(line, dict):
            raise ValueError(f"no object: {compact(line)[:60]}")
        if isinstance(line.get("spec"), dict):
            self.spec = self.spec or line["spec"]
        elif "final_report" in line:
            self.report = part_of(line, "final_report")
        else:
            self._event(location, line)

    def _event(self, location: str, line: Row) -> None:
        kind = line.get("type")
        name = line.get("sample_id")
        data = line.get("data")
        if not isinstance(kind, str) or not text_or_none(name):
            raise ValueError(f"no type or no sample_id: {compact(line)[:200]}")
        if kind not in _READ:
            self.left_out[kind] += 1
        elif not isinstance(data, dict):
            if kind != "raw_sample":
                raise ValueError(
                    f"data of a {kind} are {compact(data)[:60]}, no object"
                )
        elif kind == MATCH and not isinstance(data.get("correct"), bool):
            correct = compact(data.get("correct"))[:60]
            raise ValueError(f"correct is {correct}, neither true nor false")
        else:
            sample = self.samples.setdefault(
                str(name), EventLogSample(str(name), location)
            )
            number = whole_count(line.get("event_id"))
            sample.events.append(
                (len(sample.events) if number is None else number, kind, data)
            )

    def notes(self) -> list[str]:
        """Notes on what was not read."""
        kinds = ", ".join(
            f"{count} {kind[:40]}" for kind, count in self.left_out.most_common(8)
        )
        if kinds:
            return [f"events that are no part of a result: {kinds}"]
        return []

    def ordered(self) -> Iterator[tuple[str, EventLogSample]]:
        """Samples with the line that each begins on, in the order of their data set."""
        for sample in sorted(
            self.samples.values(),
            key=lambda sample: (sample.number is None, sample.number or 0),
        ):
            yield sample.line, sample

    @cached_property
    def arguments(self) -> Row:
        """Arguments of the eval."""
        return part_of(part_of(part_of(self.spec, "run_config"), "eval_spec"), "args")

    @cached_property
    def task_class(self) -> str:
        """The eval's class: ``evals.elsuite.basic.match:Match``."""
        class_name = part_of(part_of(self.spec, "run_config"), "eval_spec").get("cls")
        return text_or_none(class_name) or ""

    @cached_property
    def version(self) -> str | None:
        """The part of the eval's name behind base and split: ``v1``."""
        parts = (text_or_none(self.spec.get("eval_name")) or "").split(".", 2)
        if len(parts) > 2:
            return parts[2]
        return None

    @cached_property
    def functions(self) -> list[str]:
        """Completion functions; of an eval that a model grades, the last is the
        grader's."""
        functions = self.spec.get("completion_fns", self.spec.get("model_name"))
        listed = as_items(functions)
        return [name for item in listed if (name := text_or_none(item))]

    @property
    def is_judged(self) -> bool:
        """True if a model grades the answers."""
        return "modelgraded" in self.task_class

    @property
    def own_count(self) -> int:
        """The number of answers among the samplings of a sample that a model grades."""
        count = self.arguments.get("multicomp_n", 1)
        if count == _MANY_MODELS:
            return max(len(self.functions) - 1, 1)
        return max(whole_count(count) or 1, 1)

    @cached_property
    def match_metric(self) -> str:
        """Name of the share of matches: as in the report, unless samples state another
        accuracy."""
        samples = self.samples.values()
        stated = chain.from_iterable(sample.of("metrics") for sample in samples)
        if any(ACCURACY in data for data in stated):
            return MATCH
        return ACCURACY

    @cached_property
    def metrics(self) -> dict[str, int]:
        """Names of the scores of samples, with the largest number of values that a
        sample has. What is a text in some samples and null in others is no score."""
        counts: dict[str, int] = {}
        scored: set[str] = set()
        aggregated: set[str] = set()
        for sample in self.samples.values():
            numbers, other = self.values_of(sample)
            aggregated.update(other)
            for name, values in numbers.items():
                counts[name] = max(counts.get(name, 0), len(values))
                if any(value is not None for value in values):
                    scored.add(name)
        return {
            name: count
            for name, count in counts.items()
            if name in scored or name not in aggregated
        }

    def values_of(
        self, sample: EventLogSample
    ) -> tuple[dict[str, list[float | None]], Row]:
        """Numbers that a sample was given, by metric, and what it was given besides."""
        numbers: dict[str, list[float | None]] = {}
        other: Row = {}
        for data in sample.of(MATCH):
            numbers.setdefault(self.match_metric, []).append(float(data["correct"]))
        for data in sample.of("metrics"):
            for name, value in data.items():
                if value is None or number_or_none(value) is not None:
                    numbers.setdefault(name, []).append(number_or_none(value))
                else:
                    other[name] = value
        return numbers, other


HARNESS = "openai-evals"

#: Standard errors of the accuracy; the first is how the package spells it.
_ERRORS = ("boostrap_std", "bootstrap_std")
_USAGE = "usage_"
_DATA = ("samples_jsonl", "few_shot_jsonl", "dataset")
_BETTER = (ACCURACY, MATCH, "f1_score", "metascore")
_GRADING = (
    "modelgraded_spec",
    "modelgraded_spec_args",
    "eval_type",
    "eval_kwargs",
    "match_fn",
)
#: Arguments that are settings of the model's generation.
_GENERATION = ("temperature", "top_p", "max_tokens", "reasoning_effort")


def header(log: EventLog, model_setting: str | None, file: str) -> RunHeader:
    """The header of the run (InputError: nothing names the model)."""
    spec = log.spec
    model = first_of(log.functions)
    require_model(model_setting or model, file)
    config = part_of(spec, "run_config")
    served = _served(log)
    own = {key: log.arguments[key] for key in _GENERATION if key in log.arguments}
    revision = None
    if served != model:
        revision = served
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        revision=revision,
        step=infer_step(model),
        benchmark=text_or_none(spec.get("base_eval"))
        or str(spec.get("eval_name") or "eval"),
        split=text_or_none(spec.get("split")) or "",
        task_version=log.version,
        formulation=log.task_class.rpartition(":")[2] or None,
        fewshot=whole_count(log.arguments.get("num_few_shot")),
        **sampling_fields(part_of(log.arguments, "sample_kwargs") | own),
        sampling_seed=whole_count(config.get("seed")),
        sampling=_sampling(log),
        metrics=tuple(_specs(log)),
        run_id=text_or_none(spec.get("run_id")),
        started_at=moment(spec.get("created_at")),
        configuration=_configuration(log),
        status="truncated" if log.report is None else "complete",
        published=tuple(_published(log)),
        place=file,
    )


def _served(log: EventLog) -> str | None:
    """The model that answered, where the answers name one and the same."""
    names = set()
    for sample in log.samples.values():
        samplings = sample.of("sampling")
        if not log.is_judged or len(samplings) > log.own_count:
            names |= {text_or_none(data.get("model")) for data in samplings[:1]}
    if len(names) == 1:
        return names.pop()
    return None


def _sampling(log: EventLog) -> Row:
    """Arguments that change what is asked or answered: no data sets, no places."""
    left_out = (*_DATA, *_GRADING, *_GENERATION, "num_few_shot")
    arguments: Row = {}
    for key, value in sorted(log.arguments.items()):
        if key not in left_out and value is not None and not is_local(value):
            arguments[key] = value
    given = _completion_arguments(part_of(log.spec, "run_config").get("command"))
    if given:
        arguments["completion_args"] = given
    others = log.functions[1 : len(log.functions) - log.is_judged]
    if others:
        arguments["completion_fns"] = log.functions
    return arguments


def _completion_arguments(command: Any) -> Row:
    """``--completion_args`` of the command: nothing else in the log has them."""
    try:
        words = []
        if isinstance(command, str):
            words = shlex.split(command)
    except ValueError:
        return {}
    for word, after in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name == "--completion_args":
            said = after
            if equals:
                said = value
            return dict(sorted(parse_arguments(said).items()))
    return {}


#: Of the specification: what is read into fields of the header.
_NAMED = frozenset(
    "eval_name base_eval split run_config completion_fns model_name run_id created_at created_by".split()
)


def _configuration(log: EventLog) -> Row:
    """All that the specification says, without command and place, which hold paths; of
    files of data their names."""
    config = part_of(log.spec, "run_config")
    eval_spec = {
        key: value
        for key, value in part_of(config, "eval_spec").items()
        if key != "registry_path"
    }
    eval_spec["args"] = {
        key: _without_folder(key, value) for key, value in log.arguments.items()
    }
    other = {key: value for key, value in log.spec.items() if key not in _NAMED}
    stated = {
        key: value
        for key, value in config.items()
        if key not in ("command", "eval_spec")
    }
    return {**other, **stated, "eval_spec": eval_spec}


def _without_folder(key: str, value: Any) -> Any:
    """The name alone of a file of data, whose folder is another on each machine."""
    if key in _DATA and is_local(value):
        return value.rpartition("/")[2]
    return value


def _specs(log: EventLog) -> Iterator[MetricSpec]:
    names = [*log.metrics, *(item.metric for item in _published(log))]
    order = [*_BETTER[:2], "score", *names]
    first = min(log.metrics, key=order.index, default=None)
    for name in dict.fromkeys(names):
        largest = log.metrics.get(name)
        is_match = name == log.match_metric and largest is not None
        is_rate = is_match or name in (ACCURACY, "f1_score")
        higher_is_better = None
        if name in _BETTER:
            higher_is_better = True
        spec = MetricSpec(
            name,
            link="none" if largest is None else "identity",
            higher_is_better=higher_is_better,
            is_default=name == first,
        )
        if is_rate:
            is_binary = is_match and largest == 1
            if is_binary:
                kind: MetricKind = "binary"
            else:
                kind = "bounded"
            spec = replace(spec, kind=kind, low=0, high=1)
        if log.is_judged:
            yield _judged(spec, log)
        else:
            yield spec


def _judged(spec: MetricSpec, log: EventLog) -> MetricSpec:
    """The metric with the model that grades."""
    graded = {
        key: log.arguments[key]
        for key in _GRADING
        if log.arguments.get(key) is not None
    }
    judge_model = ""
    if log.functions:
        judge_model = log.functions[-1]
    return replace(
        spec,
        scorer=text_or_none(log.arguments.get("modelgraded_spec")) or "",
        scorer_kind="model",
        scorer_parameters=graded,
        judge_model=judge_model,
    )


def _published(log: EventLog) -> Iterator[PublishedScore]:
    """Numbers of the final report; tokens are no figures."""
    report = log.report or {}
    error = next(
        (number_or_none(report.get(name)) for name in _ERRORS if name in report), None
    )
    for name, value in report.items():
        if (
            name in _ERRORS
            or name.startswith(_USAGE)
            or isinstance(value, (dict, list))
        ):
            continue
        statistic = "aggregate"
        if name in log.metrics:
            statistic = "mean"
        standard_error = None
        if name == ACCURACY:
            standard_error = error
        yield published_figure(
            name,
            value,
            statistic=statistic,
            standard_error=standard_error,
        )
