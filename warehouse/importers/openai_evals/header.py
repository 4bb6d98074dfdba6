"""The run header of a log of OpenAI evals."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.json_fields import (
    Row,
    is_local,
    number_or_none,
    part_of,
    published_figure,
    require_model,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.model_arguments import parse_arguments
from warehouse.importers.common.sampling import sampling_fields
from warehouse.importers.common.times import moment
from warehouse.importers.openai_evals.event_log import ACCURACY, MATCH, EventLog
from warehouse.records import MetricSpec, PublishedScore, RunHeader

HARNESS = "openai-evals"

#: Standard errors of the accuracy; the first is how the package spells it.
_ERRORS = ("boostrap_std", "bootstrap_std")
_USAGE = "usage_"
_DATA = ("samples_jsonl", "few_shot_jsonl", "dataset")
_BETTER = (ACCURACY, MATCH, "f1_score", "metascore")
_GRADING = ("modelgraded_spec", "modelgraded_spec_args", "eval_type", "eval_kwargs", "match_fn")
#: Arguments that are settings of the model's generation.
_GENERATION = ("temperature", "top_p", "max_tokens", "reasoning_effort")


def header(log: EventLog, stated: str | None, place: str) -> RunHeader:
    """The header of the run.

    Raises:
        InputError: nothing names the model.
    """
    spec = log.spec
    model = log.functions[0] if log.functions else None
    require_model(stated or model, place)
    config = part_of(spec, "run_config")
    served = _served(log)
    own = {key: log.arguments[key] for key in _GENERATION if key in log.arguments}
    generation = part_of(log.arguments, "sample_kwargs") | own
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        revision=served if served != model else None,
        step=infer_step(model),
        benchmark=text_or_none(spec.get("base_eval")) or str(spec.get("eval_name") or "eval"),
        split=text_or_none(spec.get("split")) or "",
        task_version=log.version,
        formulation=log.task_class.rpartition(":")[2] or None,
        fewshot=whole_count(log.arguments.get("num_few_shot")),
        **sampling_fields(generation),
        sampling_seed=whole_count(config.get("seed")),
        sampling=_sampling(log),
        metrics=tuple(_specs(log)),
        run_id=text_or_none(spec.get("run_id")),
        started_at=moment(spec.get("created_at")),
        configuration=_configuration(log),
        status="truncated" if log.report is None else "complete",
        published=tuple(_published(log)),
        place=place,
    )


def _served(log: EventLog) -> str | None:
    """The model that answered, where the answers name one and the same."""
    names = set()
    for sample in log.samples.values():
        samplings = sample.of("sampling")
        if not log.is_judged or len(samplings) > log.own_count:
            names |= {text_or_none(data.get("model")) for data in samplings[:1]}
    return names.pop() if len(names) == 1 else None


def _sampling(log: EventLog) -> Row:
    """Arguments that change what is asked or answered: no data sets, no places."""
    arguments: Row = {
        key: value
        for key, value in sorted(log.arguments.items())
        if key not in (*_DATA, *_GRADING, *_GENERATION, "num_few_shot") and value is not None and not is_local(value)
    }
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
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return {}
    for word, after in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name == "--completion_args":
            return dict(sorted(parse_arguments(value if equals else after).items()))
    return {}


def _configuration(log: EventLog) -> Row:
    """The run's configuration without command and place, which hold paths."""
    config = {
        key: value for key, value in part_of(log.spec, "run_config").items() if key not in ("command", "eval_spec")
    }
    eval_spec = {
        key: value
        for key, value in part_of(part_of(log.spec, "run_config"), "eval_spec").items()
        if key != "registry_path"
    }
    return {**config, "eval_spec": eval_spec}


def _specs(log: EventLog) -> Iterator[MetricSpec]:
    names = [*log.metrics, *(item.metric for item in _published(log))]
    order = [*_BETTER[:2], "score", *names]
    first = min(log.metrics, key=order.index, default=None)
    for name in dict.fromkeys(names):
        largest = log.metrics.get(name)
        is_match = name == log.match_metric and largest is not None
        is_rate = is_match or name in (ACCURACY, "f1_score")
        spec = MetricSpec(
            name,
            link="none" if largest is None else "identity",
            kind=("binary" if is_match and largest == 1 else "bounded") if is_rate else None,
            low=0 if is_rate else None,
            high=1 if is_rate else None,
            higher_is_better=True if name in _BETTER else None,
            is_default=name == first,
        )
        yield _judged(spec, log) if log.is_judged else spec


def _judged(spec: MetricSpec, log: EventLog) -> MetricSpec:
    """The metric with the model that grades."""
    graded = {key: log.arguments[key] for key in _GRADING if log.arguments.get(key) is not None}
    return replace(
        spec,
        scorer=text_or_none(log.arguments.get("modelgraded_spec")) or "",
        scorer_kind="model",
        scorer_parameters=graded,
        judge_model=log.functions[-1] if log.functions else "",
    )


def _published(log: EventLog) -> Iterator[PublishedScore]:
    """Numbers of the final report; tokens are no figures."""
    report = log.report or {}
    error = next((number_or_none(report.get(name)) for name in _ERRORS if name in report), None)
    for name, stated in report.items():
        if name in _ERRORS or name.startswith(_USAGE) or isinstance(stated, (dict, list)):
            continue
        statistic = "mean" if name in log.metrics else "aggregate"
        yield published_figure(name, stated, statistic=statistic, standard_error=error if name == ACCURACY else None)
