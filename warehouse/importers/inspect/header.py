"""The run header out of an Inspect log's header, its metrics, and the figures that it
publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import fingerprint_of, moment
from warehouse.importers.common.json_fields import (
    as_items,
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
from warehouse.importers.inspect.log import Sample
from warehouse.importers.inspect.sample_fields import (
    are_answers,
    metric_name,
    scores_of,
    values_of,
)
from warehouse.records import MetricSpec, PublishedScore, RunHeader, RunStatus
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
    data, config = mapping_of(spec, "dataset"), mapping_of(spec, "config")
    listed, chosen, limit = (
        data.get("sample_ids"),
        config.get("sample_id"),
        config.get("limit"),
    )
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
    spec, stats = mapping_of(header, "eval"), mapping_of(header, "stats")
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
    return {
        name: "as before" if change.get("cleared") else change.get("value")
        for change in changes
        if (name := text_or_none(change.get("name")))
        and (
            name in _LIMITS
            or (change.get("config") == "generate" and name not in _INFRASTRUCTURE)
        )
    }


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
    return {
        key: item
        for key, item in sorted(arguments.items())
        if key not in _PLACES
        and item is not None
        and not is_local(item)
        and _is_setting(item)
    }


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


#: Metrics of Inspect that are the mean of the samples' scores.
_MEANS = ("accuracy", "mean")
#: The standard error by its names; the last one is that of logs before 0.3.59.
_ERRORS = ("stderr", "bootstrap_stderr", "bootstrap_std")
#: Reducers that leave a single score as it is.
_IDLE = frozenset(("median", "mode", "majority", "max"))
#: Scorers of Inspect's own that never ask a model.
_PLAIN = frozenset(
    "match includes pattern answer exact f1 choice math perplexity".split()
)
#: Parameters of a scorer that say which model judges; they go to the judge's own field.
_JUDGE = ("model", "model_role")


@dataclass(frozen=True)
class Scoring:
    """Scores of a log, as its header and first samples tell them."""

    header: Mapping[str, Any]
    first: Sequence[Sample]

    @cached_property
    def unnamed(self) -> str:
        """The scorer whose name the oldest logs do not put beside the score."""
        return text_or_none(next(iter(self._entries), {}).get("name")) or "score"

    @property
    def metrics(self) -> list[str]:
        """Every metric of the samples, the headline first; none if nothing was
        scored."""
        published = [name for name, _, _ in self._figures() if not self._objects(name)]
        values = list(
            chain.from_iterable(
                values_of(scores_of(sample), self.unnamed) for sample in self.first
            )
        )
        seen = [name for name, _ in values]
        valued = {*published, *(name for name, value in values if value is not None)}
        # an object that is unscored as a whole is known by its keys
        names = [
            name
            for name in dict.fromkeys((*published, *seen))
            if name in valued or not _has_keys(name, valued)
        ]
        headline = mapping_of(self.header, "results", "headline")
        first = self._metric(headline.get("scorer"), headline.get("score"))
        return sorted(names, key=lambda name: name != first)

    @cached_property
    def answers(self) -> frozenset[str]:
        """The metrics whose values are answers, by the first samples: letters are no
        grades there."""
        values: dict[str, list[Any]] = {}
        for sample in self.first:
            for name, value in values_of(scores_of(sample), self.unnamed):
                values.setdefault(name, []).append(value)
        return frozenset(name for name, given in values.items() if are_answers(given))

    @property
    def reducers(self) -> list[str]:
        """Reducers of epochs to one score, apart from the mean, which the store
        computes."""
        listed = mapping_of(self.header, "eval", "config").get("epochs_reducer")
        named = []
        if self._n_epochs > 1:
            named = items_of(listed)
        reducers = [
            *map(self.reducer, named),
            *(reducer for _, reducer, _ in self._figures()),
        ]
        return [name for name in dict.fromkeys(reducers) if name]

    def reducer(self, name: Any) -> str:
        """The filter that a reducer's values stand under: "" for the mean, and for
        every other that gives back the value of a single epoch."""
        if not isinstance(name, str) or name == "mean":
            return ""
        if self._n_epochs == 1 and name in _IDLE:
            return ""
        return name

    @property
    def _n_epochs(self) -> int:
        epochs = mapping_of(self.header, "eval", "config").get("epochs")
        if isinstance(epochs, int) and epochs > 0:
            return epochs
        return 1

    def specs(self) -> tuple[MetricSpec, ...]:
        """Specifications of all metrics, then of those that are reduced over epochs."""
        # figures of objects as wholes have no scores
        names = dict.fromkeys(
            (*self.metrics, *(name for name, _, _ in self._figures()))
        )
        plain = [self._spec(name, "", index == 0) for index, name in enumerate(names)]
        reduced: list[MetricSpec] = []
        for reducer in self.reducers:
            reduced += [self._spec(name, reducer, False) for name in names]
        return (*plain, *reduced)

    def published(self) -> tuple[PublishedScore, ...]:
        """Every figure of the results."""
        return tuple(
            chain.from_iterable(
                _rows(name, reducer, entry) for name, reducer, entry in self._figures()
            )
        )

    @property
    def _entries(self) -> list[dict[str, Any]]:
        """The entries of the results; the oldest have one scorer with its metrics
        beside it."""
        results = mapping_of(self.header, "results")
        scorer = results.get("scorer")
        if isinstance(scorer, dict):
            return [
                {**scorer, "metrics": results.get("metrics") or scorer.get("metrics")}
            ]
        return objects_of(results.get("scores"))

    def _figures(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Metric, reducer ("" for the mean) and entry of each of the results."""
        for entry in self._entries:
            name = self._metric(entry.get("scorer"), entry.get("name"))
            if name:
                yield name, self.reducer(entry.get("reducer")), entry

    def _metric(self, scorer: Any, name: Any) -> str | None:
        """The metric that Inspect calls by scorer and name."""
        if not isinstance(name, str):
            return None
        if not isinstance(scorer, str):
            return name
        is_whole = scorer == name and not any(
            name in value for value in self._objects(scorer)
        )
        if is_whole:
            return name
        return metric_name(scorer, name)

    def _objects(self, scorer: str) -> list[dict[str, Any]]:
        """The objects among what a scorer gave the first samples."""
        values = (
            scores_of(sample).get(scorer, {}).get("value") for sample in self.first
        )
        return [value for value in values if isinstance(value, dict)]

    def _spec(self, name: str, reducer: str, is_default: bool) -> MetricSpec:
        scorer = self._scorer_of(name)
        parameters = self._parameters(scorer)
        judge = self._judge(scorer, parameters)
        better = any(
            metric == name and "accuracy" in mapping_of(entry, "metrics")
            for metric, _, entry in self._figures()
        )
        higher_is_better = None
        if better:
            higher_is_better = True
        return MetricSpec(
            name=name,
            filter=reducer,
            scorer=scorer,
            scorer_kind="match" if judge is None else "model",
            judge_model=judge or "",
            scorer_parameters={
                key: value for key, value in parameters.items() if key not in _JUDGE
            },
            higher_is_better=higher_is_better,
            is_default=is_default,
        )

    def _scorer_of(self, metric: str) -> str:
        """The scorer that gives a metric; scorer names may hold dots."""
        names = set(chain.from_iterable(scores_of(sample) for sample in self.first))
        names |= {
            str(entry.get("scorer") or entry.get("name")) for entry in self._entries
        }
        matching = [
            name for name in names if metric == name or metric.startswith(f"{name}.")
        ]
        return max(matching, key=len, default=metric)

    def _parameters(self, scorer: str) -> dict[str, Any]:
        """Parameters of a scorer: from the results, else from the evaluation's list of
        scorers."""
        for entry in self._entries:
            if scorer in (entry.get("scorer"), entry.get("name")):
                return mapping_of(entry, "params") or mapping_of(entry, "options")
        for item in objects_of(mapping_of(self.header, "eval").get("scorers")):
            if item.get("name") == scorer:
                return mapping_of(item, "options")
        return {}

    def _judge(self, scorer: str, parameters: Mapping[str, Any]) -> str | None:
        """The model that judges: stated, by role, or the evaluated one; ``None``: no
        model does."""
        model = parameters.get("model")
        if isinstance(model, list):
            return ", ".join(map(str, model))
        if model:
            return str(mapping_of(parameters, "model").get("model") or model)
        role = text_or_none(parameters.get("model_role")) or "grader"
        judge = role_models(self.header).get(role)
        if "model_graded" in scorer:
            return judge or text_or_none(mapping_of(self.header, "eval").get("model"))
        if scorer.rpartition("/")[2] not in _PLAIN:
            return judge
        return None


def _has_keys(name: str, metrics: Iterable[str]) -> bool:
    return any(metric.startswith(f"{name}.") for metric in metrics)


def role_models(header: Mapping[str, Any]) -> dict[str, str]:
    """Model of each role; several of one role are joined."""
    models: dict[str, str] = {}
    for role, role_model in mapping_of(header, "eval", "model_roles").items():
        several = objects_of(as_items(role_model))
        names = [str(item.get("model")) for item in several]
        if names:
            models[role] = ", ".join(names)
    return models


def _rows(
    metric: str, reducer: str, entry: Mapping[str, Any]
) -> Iterator[PublishedScore]:
    """The figures of one entry; the standard error stands with the mean."""
    figures = {
        name: item
        for name, item in mapping_of(entry, "metrics").items()
        if isinstance(item, dict)
    }
    mean = next(
        (name for name in _MEANS if name in figures and not figures[name].get("group")),
        None,
    )
    error = None
    if mean:
        error = next((name for name in _ERRORS if name in figures), None)
    count = entry.get("scored_samples")
    for name, item in figures.items():
        if name == error:
            continue
        value = number_or_none(item.get("value"))
        standard_error = None
        if error and name == mean:
            standard_error = number_or_none(figures[error].get("value"))
        statistic = name
        if name == mean:
            statistic = "mean"
        n = None
        if isinstance(count, int) and not isinstance(count, bool):
            n = count
        yield PublishedScore(
            metric=metric,
            filter=reducer,
            value=value,
            statistic=statistic,
            standard_error=standard_error,
            n=n,
            raw=None if value is not None else str(item.get("value")),
        )
