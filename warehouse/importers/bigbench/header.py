"""Run headers of a results file of BIG-bench."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from warehouse.importers.base import binary_metric
from warehouse.importers.bigbench.task import EXACT, GRADE, LIKELIHOOD, Key, TaskResults
from warehouse.importers.common.json_fields import (
    Row,
    number_or_none,
    part_of,
    published_figure,
    require_model,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.sampling import other_sampling, sampling_fields
from warehouse.records import MetricSpec, PublishedScore, RunHeader

HARNESS, SUITE = "bigbench", "BIG-bench"

#: Metrics that are means over samples: those that logs have, or that follow from them.
KNOWN = {
    GRADE: MetricSpec(GRADE, kind="bounded", low=0, high=1, higher_is_better=True),
    EXACT: binary_metric(EXACT),
    LIKELIHOOD: MetricSpec(LIKELIHOOD, unit="nats", kind="continuous", high=0, higher_is_better=True),
    f"{LIKELIHOOD}_per_word": MetricSpec(
        f"{LIKELIHOOD}_per_word", unit="nats/word", kind="continuous", high=0, higher_is_better=True
    ),
    f"{LIKELIHOOD}_per_char": MetricSpec(
        f"{LIKELIHOOD}_per_char", unit="nats/character", kind="continuous", high=0, higher_is_better=True
    ),
}
_LOWER = ("calibration_multiple_choice_brier_score", "expected_calibration_error")
_QUERY = ("function", "absolute_normalization", "max_length", "stop_string", "output_regex")


def headers(task: TaskResults, stated: str | None, place: str) -> tuple[RunHeader, ...]:
    """A header for each task or subtask and number of examples.

    Raises:
        InputError: nothing names the model.
    """
    model = _model(task)
    require_model(stated or model["model"], place)
    return tuple(_header(task, key, model) for key in task.keys)


def _header(task: TaskResults, key: Key, model: Row) -> RunHeader:
    name, shots = key
    entry = task.figures.get(key, {})
    counts = [sum(1 for _ in task.samples(query)) for query in task.queries.get(key, ())]
    size = max(counts, default=None)
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
    stated = part_of(task.document, "model")
    family, name = text_or_none(stated.get("model_family")), text_or_none(stated.get("model_name"))
    whole = name if not family or (name and name.startswith(family)) else f"{family} {name or ''}"
    decoding = part_of(stated, "decoding_params")
    batch = whole_count(stated.get("training_batch_size"))
    return {
        "model": (whole or "").strip(),
        "family": family,
        "parameter_count": whole_count(stated.get("total_params")) or None,
        "step": whole_count(stated.get("training_steps")) or None,
        "hyperparameters": {"training_batch_size": batch} if batch else {},
        **sampling_fields(decoding),
        "sampling": other_sampling(decoding),
    }


def _configuration(task: TaskResults, key: Key, entry: Row) -> Row:
    queries = [
        {name: query.get(name) for name in _QUERY if query.get(name) is not None}
        for query in task.queries.get(key, [])[:20]
    ]
    ranges: Row = {name: entry[name] for name in ("preferred_score", "low_score", "high_score") if name in entry}
    return {"model": part_of(task.document, "model"), "queries": queries, **ranges}


def _specs(task: TaskResults, key: Key, entry: Row) -> Iterator[MetricSpec]:
    preferred = text_or_none(entry.get("preferred_score"))
    seen = task.stated_metrics.get(key, set())
    for name in dict.fromkeys((*part_of(entry, "score_dict"), *sorted(seen))):
        is_mean = name in KNOWN or name in seen
        higher = False if name in _LOWER else _rising(entry) if name == preferred else None
        spec = KNOWN.get(name) or MetricSpec(name, link="identity" if is_mean else "none", higher_is_better=higher)
        low = number_or_none(entry.get("low_score"))
        chance = low if name == preferred == GRADE else None
        yield replace(spec, is_default=name == preferred, chance_level=chance)


def _rising(entry: Row) -> bool | None:
    """Whether more is better, by what the task calls poor and good."""
    low, high = (number_or_none(entry.get(name)) for name in ("low_score", "high_score"))
    return None if low is None or high is None or low == high else high > low


def _published(task: TaskResults, key: Key, entry: Row, size: int | None) -> Iterator[PublishedScore]:
    seen = task.stated_metrics.get(key, set())
    for name, stated in part_of(entry, "score_dict").items():
        statistic = "mean" if name in KNOWN or name in seen else "aggregate"
        yield published_figure(name, stated, statistic=statistic, n=size)
