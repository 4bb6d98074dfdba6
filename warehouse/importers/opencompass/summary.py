"""Figures of OpenCompass' summaries, and fields that all of its runs have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import local_time
from warehouse.importers.common.json_fields import (
    is_local,
    number_or_none,
    other_sampling,
    part_of,
    sampling_fields,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.model_names import local_model_name, says_nothing
from warehouse.importers.opencompass.files import (
    OpenCompassLine,
    OpenCompassTable,
    Row,
)
from warehouse.records import (
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

STAMP = re.compile(r"\d{8}_\d{6}")
HARNESS = "opencompass"


def model_fields(abbreviation: str, models: Sequence[Row], dataset: str) -> Row:
    """Who was evaluated, on what and how, by the name in the work folder and the
    settings of that model and data set.

    Args:
        abbreviation: of the model.
        models: what the configuration says of whatever has an abbreviation: models and
            data sets.
        dataset: abbreviation of the data set.
    """
    config = _settings(abbreviation, models)
    about = _settings(dataset, models)
    path = text_or_none(config.get("path"))
    model = abbreviation
    if path and not is_local(path) and path.count("/") < 2:
        model = path
    if path and model != path and says_nothing(abbreviation):
        model = local_model_name(path)
    settings = part_of(config, "generation_kwargs")
    sampling = sampling_fields(settings)
    length = sampling["max_tokens"]
    max_tokens = length
    if length is None:
        max_tokens = whole_count(config.get("max_out_len"))
    if model != abbreviation:
        named = {"abbr": abbreviation}
    else:
        named = {}
    return {
        "model": model,
        "revision": text_or_none(config.get("revision")),
        "step": infer_step(text_or_none(config.get("revision")), abbreviation, path),
        **sampling,
        "max_tokens": max_tokens,
        "sampling": other_sampling(settings) | named,
        "configuration": {
            name: item
            for name, item in (("models", config), ("datasets", about))
            if item
        },
    }


def _settings(abbreviation: str, models: Sequence[Row]) -> Row:
    return next((item for item in models if item["abbr"] == abbreviation), {})


def run_fields(work: Path, abbreviation: str, models: Sequence[Row]) -> Row:
    """Id and time of a run: the name of its work folder. Where a model was asked there
    in several ways, which all have its path, their names tell them apart."""
    stamp = ""
    if STAMP.fullmatch(work.name):
        stamp = work.name
    path = _settings(abbreviation, models).get("path")
    ways = {item["abbr"] for item in models if path and item["path"] == path}
    run_id = stamp
    if len(ways) > 1:
        run_id = f"{stamp}/{abbreviation}"
    told_run = None
    if stamp:
        told_run = run_id
    return {
        "run_id": told_run,
        "started_at": local_time(stamp, "%Y%m%d_%H%M%S"),
    }


#: Figures of groups that are no mean.
_NO_MEAN = ("standard_deviation", "sum")


def headers(
    source: SourceFiles, table: OpenCompassTable, name: str, models: list[Row]
) -> Iterator[RunHeader]:
    lines = [line for line in table.lines if line.dataset == name]
    first = lines[0]
    for column, model in enumerate(table.models):
        published = tuple(_summary_figures(lines, column))
        if not published:
            continue
        task_version = None
        if not first.is_group:
            task_version = first.version
        yield RunHeader(
            harness=HARNESS,
            **model_fields(model, models, name),
            **run_fields(source.root, model, models),
            benchmark=name,
            task_version=task_version,
            formulation=first.formulation,
            metrics=tuple(
                MetricSpec(item.metric, is_default=number == 0)
                for number, item in enumerate(published)
            ),
            published=published,
            place=f"{name} of {model}",
        )


def _summary_figures(
    lines: list[OpenCompassLine], column: int
) -> Iterator[PublishedScore]:
    """Figures of a model, with two decimals, on the scale of the data set (often
    percent)."""
    for metric, text in {line.metric: line.figures[column] for line in lines}.items():
        try:
            value = number_or_none(float(text))
        except ValueError:
            continue  # "-": the model has no result
        statistic = "mean"
        if metric in _NO_MEAN:
            statistic = "aggregate"
        raw = None
        if value is None:
            raw = text[:200]
        yield PublishedScore(
            metric,
            value,
            statistic=statistic,
            raw=raw,
        )
