"""The run header of an evaluation of simple-evals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from warehouse.importers.base import infer_step
from warehouse.importers.common.json_fields import number_or_none, published_figure, whole_count
from warehouse.importers.common.times import local_time
from warehouse.importers.simple_evals.results import Results
from warehouse.records import MetricSpec, PublishedScore, RunHeader

HARNESS, SCORE = "simple-evals", "score"

_ERROR, _COUNT = "bootstrap_std", "n_samples"
_SPREADS = ("std", "min", "max")
_BINARY = ("mmlu", "math", "gpqa", "mgsm", "simpleqa", "browsecomp")
_JUDGED = ("healthbench", "simpleqa", "browsecomp", "math")


def header(results: Results) -> RunHeader:
    """The header of the run."""
    return RunHeader(
        harness=HARNESS,
        model=results.model or "",
        step=infer_step(results.model),
        benchmark=results.evaluation,
        system_prompt_hash=results.system_hash,
        metrics=tuple(_specs(results)),
        run_id=results.stamp or None,
        started_at=local_time(results.stamp, "%Y%m%d_%H%M%S" if len(results.stamp) > 13 else "%Y%m%d_%H%M"),
        n_requested=results.size or None,
        tags=("debug",) if results.is_debug else (),
        published=tuple(_published(results)),
        place=results.files[0].name,
    )


def _specs(results: Results) -> Iterator[MetricSpec]:
    name = results.evaluation
    is_rate = name in _BINARY or name == "humaneval"
    kind: Literal["model", "execution", "match"] = (
        "model" if name.startswith(_JUDGED) else "execution" if name == "humaneval" else "match"
    )
    yield MetricSpec(
        SCORE,
        scorer_kind=kind,
        kind="binary" if name in _BINARY else "bounded" if is_rate else None,
        low=0 if is_rate else None,
        high=1 if is_rate or name.startswith("healthbench") else None,
        higher_is_better=True,
        is_default=True,
    )
    for other in dict.fromkeys(item.metric for item in _published(results)):
        if other != SCORE:
            yield MetricSpec(other, scorer_kind=kind, link="none", is_default=False)


def _published(results: Results) -> Iterator[PublishedScore]:
    """Figures with their bootstrap errors and counts; spreads of the samples are no errors."""
    figures = results.figures
    for key, stated in figures.items():
        name, colon, statistic = key.rpartition(":")
        known = colon and statistic in (_ERROR, _COUNT, *_SPREADS)
        if known and statistic not in _SPREADS:
            continue
        name = name if known else key
        mean = "mean" if name == SCORE else "aggregate"
        yield published_figure(
            name,
            stated,
            statistic=statistic if known else mean,
            standard_error=None if known else number_or_none(figures.get(f"{name}:{_ERROR}")),
            n=whole_count(figures.get(f"{name}:{_COUNT}")),
        )
