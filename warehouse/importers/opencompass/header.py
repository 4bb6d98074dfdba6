"""The run header of one model and data set of OpenCompass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.json_fields import is_local, number_or_none, text_or_none, whole_count
from warehouse.importers.common.sampling import other_sampling, sampling_fields
from warehouse.importers.common.times import local_time
from warehouse.importers.opencompass.files import CORRECT, Row, Work
from warehouse.importers.opencompass.table import prompt_version
from warehouse.records import MetricSpec, PublishedScore, RunHeader

HARNESS = "opencompass"

_STAMP = re.compile(r"\d{8}_\d{6}")
_AVERAGE = re.compile(r" \(\d+ runs average\)$")
_JUDGED = "_judged-by--"


def header(work: Work) -> RunHeader:
    """The header of the run."""
    abbreviation, _, judge = work.model.partition(_JUDGED)
    name = headline(work)
    error = text_or_none(work.results.get("error"))
    version, mode = prompt_version(work.files, work.dataset, work.notes)
    return RunHeader(
        harness=HARNESS,
        **model_fields(abbreviation, work.config),
        benchmark=work.dataset,
        task_version=version,
        formulation=_formulation(work) or mode,
        metrics=tuple(_specs(work, name, judge)),
        **run_fields(work.root),
        n_requested=None
        if work.is_unfinished
        else (len(work.predictions) // work.repeats or len(work.details) or None),
        status="truncated" if work.is_unfinished else "complete",
        note=f"the evaluation failed: {error[:500]}" if error else None,
        published=tuple(_published(work, name)),
        place=work.dataset,
    )


def model_fields(abbreviation: str, config: Row) -> Row:
    """Who was evaluated and how, by the name in the work folder and the settings of that model."""
    path = text_or_none(config.get("path"))
    model = path if path and not is_local(path) and path.count("/") < 2 else abbreviation
    generation = config.get("generation_kwargs")
    stated = generation if isinstance(generation, dict) else {}
    sampling = sampling_fields(stated)
    length = sampling["max_tokens"]
    return {
        "model": model,
        "revision": text_or_none(config.get("revision")),
        "step": infer_step(text_or_none(config.get("revision")), abbreviation, path),
        **sampling,
        "max_tokens": whole_count(config.get("max_out_len")) if length is None else length,
        "sampling": other_sampling(stated) | ({"abbr": abbreviation} if model != abbreviation else {}),
        "configuration": {"model": config} if config else {},
    }


def run_fields(work: Path) -> Row:
    """Id and time of a run: the name of its work folder."""
    stamp = work.name if _STAMP.fullmatch(work.name) else ""
    return {"run_id": stamp or None, "started_at": local_time(stamp, "%Y%m%d_%H%M%S")}


def headline(work: Work) -> str:
    """The figure that is 100 times the mean of what is right: the metric of the rows.

    Empty where there are no verdicts; ``correct`` where no figure is of that kind.
    """
    verdicts = [value for item in work.details for value in map(verdict, item) if value is not None]
    if not verdicts:
        return ""
    mean = 100 * sum(verdicts) / len(verdicts)
    for name, value in work.results.items():
        number = None if isinstance(value, bool) else number_or_none(value)
        if number is not None and abs(number - mean) < 1e-6 and not name.startswith("G-Pass"):
            return _AVERAGE.sub("", name)
    return "correct"


def verdict(detail: dict[str, Any]) -> bool | None:
    """Whether a detail says that the answer is right."""
    verdicts = (detail[key] for key in CORRECT if isinstance(detail.get(key), bool))
    return next(verdicts, None)


def _formulation(work: Work) -> str | None:
    first = next((row for row in work.predictions if row), {})
    if any(str(key).startswith("label: ") for key in first):
        return "ppl"
    if "pred_label" in first:
        return "clp"
    return "gen" if first else None


def _specs(work: Work, name: str, judge: str) -> Iterator[MetricSpec]:
    kind: dict[str, Any] = {"scorer_kind": "model" if judge else "match", "judge_model": judge}
    if name:
        yield MetricSpec(name, kind="binary", low=0.0, high=1.0, higher_is_better=True, is_default=True, **kind)
    for place, (metric, _) in enumerate(_figures(work)):
        if metric != name:
            yield MetricSpec(
                metric, link="none" if work.details else "identity", is_default=not name and place == 0, **kind
            )


def _figures(work: Work) -> Iterator[tuple[str, float | None]]:
    for name, value in work.results.items():
        if name not in ("details", "error", "type") and isinstance(value, (int, float)):
            yield _AVERAGE.sub("", name), number_or_none(value)


def _published(work: Work, name: str) -> Iterator[PublishedScore]:
    """Figures as published; the one of the rows as a share, its percentage kept as the raw text."""
    n = len(work.details) or len(work.predictions) // work.repeats or None
    for metric, value in _figures(work):
        ours = metric == name and value is not None
        yield PublishedScore(
            metric=metric,
            value=value / 100 if ours and value is not None else value,
            n=n,
            statistic="mean" if ours or not work.details else "aggregate",
            raw=f"{value:.15g} percent" if ours else None,
        )
