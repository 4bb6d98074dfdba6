"""Values outside the range that their source declares: taken as they stand, and
told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.records import RunHeader
from warehouse.records.dump import Batch

#: Metric and filter.
_Name = tuple[str, str]


@dataclass(frozen=True)
class _Declared:
    low: float | None
    high: float | None
    is_binary: bool  #: nothing between the two; the rate of several generations may be

    @property
    def words(self) -> str:
        low, high = (
            (0.0, 1.0)
            if self.low is None and self.high is None
            else (self.low, self.high)
        )
        if self.is_binary:
            return f"{low:g} or {high:g}"
        if low is None:
            return f"at most {high:g}"
        if high is None:
            return f"at least {low:g}"
        return f"{low:g} to {high:g}"


@dataclass
class _Seen:
    outside: int = 0
    among: int = 0
    example: float | None = None


def told_outside(
    batches: Iterable[Batch], runs: Sequence[RunHeader], notes: list[str]
) -> Iterator[Batch]:
    """The batches as they are; after the last a note on each metric with values outside
    its declared kind and bounds.

    Args:
        batches: of a dump; what the engine reads by itself is not looked at.
        runs: its headers, which declare the metrics.
        notes: grows.
    """
    declared = _declared(runs)
    if not declared:
        yield from batches
        return
    seen: dict[_Name, _Seen] = {}
    for batch in batches:
        if isinstance(batch, pa.RecordBatch) and "scores" in batch.schema.names:
            _look(batch.column("scores").flatten(), declared, seen)
        yield batch
    for name, found in seen.items():
        if found.outside:
            label = ",".join(filter(None, name))
            notes.append(
                f"{label}: {found.outside} of {found.among} values are not "
                f"{declared[name].words}, as declared, such as {found.example:g}; they "
                "count as they stand"
            )


def _declared(runs: Sequence[RunHeader]) -> dict[_Name, _Declared]:
    """Metrics that all runs declare alike."""
    by_name: dict[_Name, set[_Declared]] = {}
    for run in runs:
        for metric in run.metrics:
            by_name.setdefault((metric.name, metric.filter), set()).add(
                _Declared(metric.low, metric.high, metric.kind == "binary")
            )
    known = {
        name: next(iter(items)) for name, items in by_name.items() if len(items) == 1
    }
    return {
        name: item
        for name, item in known.items()
        if item.is_binary or (item.low, item.high) != (None, None)
    }


def _look(
    scores: pa.StructArray,
    declared: Mapping[_Name, _Declared],
    seen: dict[_Name, _Seen],
) -> None:
    values = scores.field("value")
    metrics = scores.field("metric")
    filters = pc.fill_null(scores.field("filter"), "")
    for name, item in declared.items():
        metric, filter_name = name
        is_metric = pc.equal(metrics, metric)
        is_named = pc.and_(is_metric, pc.equal(filters, filter_name))
        is_valued = pc.and_(is_named, pc.is_valid(values))
        found = seen.setdefault(name, _Seen())
        chosen = scores.filter(is_valued)
        found.among += len(chosen)
        wrong = chosen.filter(_is_outside(chosen, item))
        found.outside += len(wrong)
        if len(wrong) and found.example is None:
            found.example = wrong.field("value")[0].as_py()


def _is_outside(scores: pa.StructArray, declared: _Declared) -> pa.Array:
    """Marks of scores whose value is none that may be."""
    values = scores.field("value")
    low, high = declared.low, declared.high
    if declared.is_binary and low is None and high is None:
        low, high = 0.0, 1.0
    outside = pa.array([False] * len(values), pa.bool_())
    if low is not None:
        outside = pc.or_(outside, pc.less(values, low))
    if high is not None:
        outside = pc.or_(outside, pc.greater(values, high))
    if declared.is_binary:
        is_single = pc.less_equal(pc.fill_null(scores.field("n_draws"), 1), 1)
        ends = pa.array([low, high], pa.float64())
        is_between = pc.invert(pc.is_in(values, ends))
        outside = pc.or_(outside, pc.and_(is_single, is_between))
    return outside
