"""The figures of the family ``differences``; apart from its questions, which need none of this."""

from __future__ import annotations

from warehouse.metrics.entries import Entry
from warehouse.metrics.families.base import Settings, Unit, Value, pair_of
from warehouse.metrics.families.data import BenchmarkData
from warehouse.metrics.pairing import Pair, Unlike, pair_up
from warehouse.stats import PairedDifference, paired_difference
from warehouse.stats.gate import p_of_constant
from warehouse.stats.inputs import is_constant


def difference_of(data: BenchmarkData, unit: Unit, settings: Settings) -> Value:
    """The difference by the first metric that both are judged by.

    Raises:
        Unlike: nothing in common.
    """
    pair = _pair(data, *unit.conditions)
    found = paired_difference(*pair.values, clusters=pair.clusters, level=settings.level)
    return _value(unit, pair, found, data.metric_name(pair.metric))


def _value(unit: Unit, pair: Pair, found: PairedDifference, metric: str) -> Value:
    return Value(
        unit.settings["kind"], pair_of(pair.a, pair.b), metric, "difference", found.method,
        estimate=found.difference, standard_error=found.standard_error, low=found.ci_low,
        high=found.ci_high, n=pair.n, n_clusters=found.n_clusters, reason=found.reason,
        details={
            "level": found.level, "p_value": found.p_value, "mean_a": found.mean_a,
            "mean_b": found.mean_b, "degrees_of_freedom": found.degrees_of_freedom,
            "higher_is_better": pair.metric.higher_is_better, "p_worse": _p_worse(pair, found),
            "flags": list(found.flags),
        },
    )  # fmt: skip


def _p_worse(pair: Pair, found: PairedDifference) -> float | None:
    """One-sided p of "not worse than the other"; exact where all prompts differ alike."""
    if pair.metric.higher_is_better is None:
        return None
    loss = found.difference if pair.metric.higher_is_better is False else -found.difference
    if found.p_value is not None:
        return found.p_value / 2 if loss > 0 else 1 - found.p_value / 2
    width = pair.score_range
    if width is None or not is_constant(pair.differences) or abs(loss) > width:
        return None
    return p_of_constant(-loss, len(set(pair.units.tolist())), 0.0, width)[1]


def _pair(data: BenchmarkData, first: str, second: str) -> Pair:
    """Both on the first metric of one judge that both have scores by."""
    a, b = (_usable(data, key) for key in (first, second))
    for one in a:
        for other in b:
            if one.metric.label == other.metric.label and one.metric.scale == other.metric.scale:
                return pair_up(
                    one.condition, other.condition, one.metric, data.linked(one),
                    data.linked(other), data.linked_clusters,
                )  # fmt: skip
    raise Unlike("no metric of one scale and judge that both have scored prompts by")


def _usable(data: BenchmarkData, key: str) -> list[Entry]:
    return [entry for entry in data.entries((key,)) if entry.usable is not None]
