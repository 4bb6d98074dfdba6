"""A results file of BIG-bench: what belongs to which run, and its run headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric
from warehouse.importers.common.json_fields import (
    Row,
    compact,
    items_of,
    number_or_none,
    other_sampling,
    part_of,
    published_figure,
    require_model,
    sampling_fields,
    text_or_none,
    whole_count,
)
from warehouse.records import MetricSpec, PublishedScore, Rejection, RunHeader

GENERATED, SCORED = "generate_text", "cond_log_prob"
GRADE, EXACT, LIKELIHOOD = "multiple_choice_grade", "exact_str_match", "log_likelihood"

#: Name of a task or subtask, and the number of examples (none: not stated).
Key = tuple[str, int | None]


@dataclass
class TaskResults:
    """A results file (InputError: its scores are no list)."""

    path: Path
    document: Row
    rejections: list[Rejection]
    notes: list[str]

    @cached_property
    def name(self) -> str:
        """The task; without its name, the folder that is called after it."""
        task_name = text_or_none(part_of(self.document, "task").get("task_name"))
        folder = self.path.parent
        if folder.name == "results":
            folder = folder.parent
        return task_name or folder.name

    @cached_property
    def figures(self) -> dict[Key, Row]:
        """Entries of ``scores``."""
        scores = self.document.get("scores")
        if not isinstance(scores, list):
            raise InputError(
                "'scores' is no list",
                path=str(self.path),
                expected="results of BIG-bench",
            )
        entries_by_key: dict[Key, Row] = {}
        for index, entry in enumerate(scores):
            if not isinstance(entry, dict) or not isinstance(
                entry.get("score_dict"), dict
            ):
                where = f"scores, entry {index}"
                self.rejections.append(
                    Rejection(where, compact(entry)[:200], "a score_dict")
                )
                continue
            key = self._key(
                entry.get("subtask_description"), entry.get("number_of_shots")
            )
            if key in entries_by_key:
                self.notes.append(
                    f"{key[0]}, {key[1]} shots: stated twice, the first one counts"
                )
            entries_by_key.setdefault(key, entry)
        return entries_by_key

    @cached_property
    def queries(self) -> dict[Key, list[Row]]:
        """Queries of each run."""
        queries_by_key: dict[Key, list[Row]] = {}
        for query in self._queries:
            key = self._key(query.get("task"), query.get("shots"))
            if key in self.figures:
                queries_by_key.setdefault(key, []).append(query)
        return queries_by_key

    @cached_property
    def strays(self) -> list[Row]:
        """Queries of programmatic tasks, which do not say what they belong to."""
        strays = [
            query
            for query in self._queries
            if self._key(query.get("task"), query.get("shots")) not in self.figures
        ]
        if strays:
            self.notes.append(
                f"{len(strays)} queries name no subtask: responses without scores"
            )
        return strays

    @cached_property
    def _queries(self) -> list[Row]:
        queries = []
        for index, query in enumerate(items_of(self.document.get("queries"))):
            if isinstance(query, dict) and query.get("function") in (GENERATED, SCORED):
                queries.append(query)
                continue
            expected = f"a query by {GENERATED} or {SCORED}"
            self.rejections.append(
                Rejection(f"queries, entry {index}", compact(query)[:200], expected)
            )
        return queries

    @cached_property
    def keys(self) -> list[Key]:
        """All runs. Stray queries are answers on the whole task."""
        strays = []
        if self.strays:
            strays = [(self.name, None)]
        return list(dict.fromkeys((*self.figures, *strays)))

    @cached_property
    def metric_names_by_run(self) -> dict[Key, set[str]]:
        """Names of the numbers in ``metrics`` of each run's samples."""
        names_by_key: dict[Key, set[str]] = {}
        for key, queries in self.queries.items():
            names = names_by_key.setdefault(key, set())
            for query in queries:
                for _, sample in self.samples(query):
                    metrics = {}
                    if isinstance(sample, dict):
                        metrics = part_of(sample, "metrics")
                    names |= {
                        name
                        for name, value in metrics.items()
                        if number_or_none(value) is not None
                    }
        return names_by_key

    def samples(self, query: Row) -> Iterator[tuple[int, Any]]:
        """Samples of a query with their places."""
        return enumerate(items_of(query.get("samples")))

    def plain(self, key: Key, query: Row) -> list[Any]:
        """Samples of the same query without examples, if there is one of the same
        length."""
        if not key[1]:
            return []
        samples = list(self.samples(query))
        for other in self.queries.get((key[0], 0), ()):
            zero_shot = [sample for _, sample in self.samples(other)]
            same = other.get("function") == query.get("function")
            if (
                same
                and is_choice(other) == is_choice(query)
                and len(zero_shot) == len(samples)
            ):
                return zero_shot
        return []

    def _key(self, name: Any, shots: Any) -> Key:
        return text_or_none(name) or self.name, whole_count(shots)


def is_choice(query: Row) -> bool:
    """True if a query has samples whose options have values."""
    first = next(iter(items_of(query.get("samples"))), None)
    return isinstance(first, dict) and "target_values" in first


HARNESS, SUITE = "bigbench", "BIG-bench"

#: Metrics that are means over samples: those that logs have, or that follow from them.
KNOWN = {
    GRADE: MetricSpec(GRADE, kind="bounded", low=0, high=1, higher_is_better=True),
    EXACT: binary_metric(EXACT),
    LIKELIHOOD: MetricSpec(
        LIKELIHOOD, unit="nats", kind="continuous", high=0, higher_is_better=True
    ),
    f"{LIKELIHOOD}_per_word": MetricSpec(
        f"{LIKELIHOOD}_per_word",
        unit="nats/word",
        kind="continuous",
        high=0,
        higher_is_better=True,
    ),
    f"{LIKELIHOOD}_per_char": MetricSpec(
        f"{LIKELIHOOD}_per_char",
        unit="nats/character",
        kind="continuous",
        high=0,
        higher_is_better=True,
    ),
}
_LOWER = ("calibration_multiple_choice_brier_score", "expected_calibration_error")
#: Of a query: what it was asked about and what came out; the others are how it was
#: asked.
_NOT_OF_QUERY = frozenset(("samples", "shots", "task", "metrics"))
#: Of a file: figures, and what is read into other places.
_NOT_OF_FILE = frozenset(("scores", "task", "model", "queries"))


def headers(
    task: TaskResults, model_setting: str | None, file: str
) -> tuple[RunHeader, ...]:
    """A header for each task or subtask and number of examples (InputError: nothing
    names the model)."""
    model = _model(task)
    require_model(model_setting or model["model"], file)
    return tuple(_header(task, key, model) for key in task.keys)


def _header(task: TaskResults, key: Key, model: Row) -> RunHeader:
    name, shots = key
    entry = task.figures.get(key, {})
    samples = map(task.samples, task.queries.get(key, ()))
    size = max(map(_number_of, samples), default=None)
    return RunHeader(
        harness=HARNESS,
        **model,
        benchmark=name,
        suite=(SUITE,) if name == task.name else (SUITE, task.name),
        fewshot=shots,
        metrics=tuple(_specs(task, key, entry)),
        configuration=_configuration(task, key, entry),
        n_requested=size,
        published=tuple(_published(task, key, entry, size)),
        place=f"{name}, {shots} shots",
    )


def _model(task: TaskResults) -> Row:
    """Who was evaluated. Names such as ``128b`` mean nothing without their family."""
    model = part_of(task.document, "model")
    family = text_or_none(model.get("model_family"))
    name = text_or_none(model.get("model_name"))
    if not family or (name and name.startswith(family)):
        whole = name
    else:
        whole = f"{family} {name or ''}"
    decoding = part_of(model, "decoding_params")
    batch = whole_count(model.get("training_batch_size"))
    if batch:
        hyperparameters = {"training_batch_size": batch}
    else:
        hyperparameters = {}
    return {
        "model": (whole or "").strip(),
        "family": family,
        "parameter_count": whole_count(model.get("total_params")) or None,
        "step": whole_count(model.get("training_steps")) or None,
        "hyperparameters": hyperparameters,
        **sampling_fields(decoding),
        "sampling": other_sampling(decoding),
    }


def _number_of(items: Iterable[Any]) -> int:
    return sum(1 for _ in items)


def _settings_of(query: Row) -> Row:
    return {
        name: value
        for name, value in query.items()
        if name not in _NOT_OF_QUERY and value is not None
    }


def _configuration(task: TaskResults, key: Key, entry: Row) -> Row:
    queries = [_settings_of(query) for query in task.queries.get(key, [])[:20]]
    ranges: Row = {
        name: entry[name]
        for name in ("preferred_score", "low_score", "high_score")
        if name in entry
    }
    stated = {
        name: value for name, value in task.document.items() if name not in _NOT_OF_FILE
    }
    of_task = {
        name: value
        for name, value in part_of(task.document, "task").items()
        if name != "task_name"
    }
    return {
        **stated,
        "task": of_task,
        "model": part_of(task.document, "model"),
        "queries": queries,
        **ranges,
    }


def _specs(task: TaskResults, key: Key, entry: Row) -> Iterator[MetricSpec]:
    preferred = text_or_none(entry.get("preferred_score"))
    seen = task.metric_names_by_run.get(key, set())
    for name in dict.fromkeys((*part_of(entry, "score_dict"), *sorted(seen))):
        is_mean = name in KNOWN or name in seen
        higher: bool | None = None
        if name in _LOWER:
            higher = False
        elif name == preferred:
            higher = _rising(entry)
        spec = KNOWN.get(name) or MetricSpec(
            name, link="identity" if is_mean else "none", higher_is_better=higher
        )
        low = number_or_none(entry.get("low_score"))
        chance = None
        if name == preferred == GRADE:
            chance = low
        yield replace(spec, is_default=name == preferred, chance_level=chance)


def _rising(entry: Row) -> bool | None:
    """True if more is better, by what the task calls poor and good."""
    low, high = (
        number_or_none(entry.get(name)) for name in ("low_score", "high_score")
    )
    if low is None or high is None or low == high:
        return None
    return high > low


def _published(
    task: TaskResults, key: Key, entry: Row, size: int | None
) -> Iterator[PublishedScore]:
    seen = task.metric_names_by_run.get(key, set())
    for name, figure in part_of(entry, "score_dict").items():
        statistic = "aggregate"
        if name in KNOWN or name in seen:
            statistic = "mean"
        yield published_figure(name, figure, statistic=statistic, n=size)
