"""What a store has behind the cells of published tables: samples, their number, costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from warehouse.analysis.board.store_names import StoreName
from warehouse.analysis.groups import grouped
from warehouse.stats.board.samples import SampleMean
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Upper bounds of metrics whose scores can be held against figures of a table.
_SCALES = (1.0, 100.0)


@dataclass(frozen=True)
class StoredMean:
    """What the samples of a run, or of the repeats of a condition, have in all."""

    samples: SampleMean  #: of scores in [0, 1].
    run_id: int  #: the run, or the first of the repeats.
    metric_id: int  #: by which it is scored.
    condition: str  #: key of what was measured.
    metric: str  #: its name.
    metric_filter: str  #: filter of the harness; empty if none.
    is_headline: bool  #: whether it is the headline metric of its benchmark.
    is_binary: bool  #: whether scores are 0 or 1.

    def is_of(self, meant: StoreName) -> bool:
        """Whether it is the metric that a column names; of one that names none it is."""
        if meant.metric is None:
            return True
        if meant.metric_filter not in (None, self.metric_filter):
            return False
        return meant.metric == self.metric


@dataclass(frozen=True)
class StoredCost:
    """What a run cost."""

    total: float  #: of all its answers [US dollars].
    n_answers: int  #: how many these are.


def read_means(
    store: Store, models: Iterable[str], benchmarks: Iterable[str]
) -> dict[tuple[str, str], list[StoredMean]]:
    """The means of samples by model and benchmark: of runs that are whole, and of the
    repeats of a condition together."""
    parameters = {"models": sorted(models), "benchmarks": sorted(benchmarks)}
    if not all(parameters.values()):
        return {}
    rows = store.rows(query_text("analysis/board", "store_figures"), parameters)
    whole = [row for row in rows if _is_whole(row) and _top(row) is not None]
    found: dict[tuple[str, str], list[StoredMean]] = {}
    for key, own in grouped(whole, itemgetter("model", "benchmark")).items():
        alike = grouped(own, itemgetter("condition_key", "metric", "metric_filter"))
        means = [_mean([row]) for row in own]
        means += [_mean(repeats) for repeats in alike.values() if len(repeats) > 1]
        found[key] = means
    return found


def _is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a run has all prompts that it says it covers."""
    declared = row["n_requested"] or 0
    return bool(row["status"] == "complete" and row["n_prompts"] >= declared)


def _top(row: Mapping[str, Any]) -> float | None:
    """The upper bound of scores, where they run from 0 to 1 or 100."""
    if row["kind"] == "binary":
        return 1.0
    if row["low"] == 0 and row["high"] in _SCALES:
        return float(row["high"])
    return None


def sample_mean(row: Mapping[str, Any]) -> SampleMean | None:
    """What the samples of a row have in all, as scores in [0, 1]; None where scores have
    other bounds."""
    top = _top(row)
    if top is None:
        return None
    total = float(row["total"] or 0.0) / top
    as_wrong = float(row["as_wrong"] or 0.0) / top
    return SampleMean(total, row["n_scored"], row["n_prompts"], as_wrong)


def _mean(rows: Sequence[Mapping[str, Any]]) -> StoredMean:
    first, top = rows[0], _top(rows[0]) or 1.0
    samples = SampleMean(
        total=sum(float(row["total"] or 0.0) for row in rows) / top,
        n_scored=sum(row["n_scored"] for row in rows),
        n=sum(row["n_prompts"] for row in rows),
        total_as_wrong=sum(float(row["as_wrong"] or 0.0) for row in rows) / top,
    )
    return StoredMean(
        samples=samples,
        run_id=int(first["run_id"]),
        metric_id=int(first["metric_id"]),
        condition=str(first["condition_key"]),
        metric=str(first["metric"]),
        metric_filter=str(first["metric_filter"]),
        is_headline=bool(first["is_default"]),
        is_binary=first["kind"] == "binary",
    )


def read_costs(
    store: Store, models: Iterable[str], benchmarks: Iterable[str]
) -> dict[tuple[str, str], list[StoredCost]]:
    """What runs cost, by model and benchmark."""
    parameters = {"models": sorted(models), "benchmarks": sorted(benchmarks)}
    if not all(parameters.values()):
        return {}
    found: dict[tuple[str, str], list[StoredCost]] = {}
    for row in store.rows(query_text("analysis/board", "store_costs"), parameters):
        cost = StoredCost(float(row["cost"]), int(row["n_generations"]))
        found.setdefault((row["model"], row["benchmark"]), []).append(cost)
    return found
