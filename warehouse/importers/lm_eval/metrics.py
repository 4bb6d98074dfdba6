"""Metrics of one task: what they are, how they add up, and the figures the harness
published."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.importers.common.json_fields import (
    first_of,
    items_of,
    mapping_of,
    number_or_none,
)
from warehouse.records import Link, MetricKind, MetricSpec, PublishedScore

#: Aggregations that are a function of a weighted mean of per-sample log-likelihoods.
_LINKS: Mapping[str, Link] = {
    "perplexity": "exp_neg",
    "weighted_perplexity": "exp_neg",
    "bits_per_byte": "neg_over_ln2",
    "mean": "identity",
    "nanmean": "identity",
}
_UNITS = {
    "word_perplexity": "nats/word",
    "byte_perplexity": "nats/byte",
    "bits_per_byte": "nats/byte",
    "perplexity": "nats",
    "ppl": "nats",
}

#: How the harness aggregates metrics whose configuration does not say.
_DEFAULT_AGGREGATION = {
    "perplexity": "perplexity",
    "ppl": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
    "f1": "f1",
    "mcc": "matthews_corrcoef",
    "bleu": "bleu",
    "chrf": "chrf",
    "chrf++": "chrf++",
    "ter": "ter",
    "brier_score": "brier_score",
    "likelihood": "likelihood",
}

#: Aggregations whose rows are pairs (log-likelihood, number of words or bytes).
PAIRED = ("weighted_perplexity", "bits_per_byte")

#: Whether higher is better, where a file does not say (0.3, samples without results).
_BETTER = {
    **dict.fromkeys(
        """acc acc_norm acc_bytes acc_mutual_info em exact exact_match f1 mcc mc1 mc2
        bleu chrf chrf++ rouge1 rouge2 rougeL likelihood""".split(),
        True,
    ),
    **dict.fromkeys(
        """ppl perplexity word_perplexity byte_perplexity bits_per_byte brier_score ter
        likelihood_difference pct_stereotype""".split(),
        False,
    ),
}

#: A metric that measures nothing: ``--predict_only``.
BYPASS = "bypass"

_BINARY = frozenset(
    ("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "em")
)
_RATE = re.compile(r"pass(@|_at_)\d+", re.IGNORECASE)
_NO_FIGURES = frozenset(("alias", "name", "sample_len", "sample_count", "samples", " "))


@dataclass(frozen=True)
class Seen:
    """Metrics of a task, as its samples show them: (metric, filter) in order of
    appearance, and for each metric the first value that is not null."""

    pairs: tuple[tuple[str, str], ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def metric_specs(
    config: Mapping[str, Any],
    figures: Mapping[str, Any],
    better: Mapping[str, Any],
    seen: Seen,
) -> tuple[MetricSpec, ...]:
    """Specifications of a task's metrics.

    Args:
        config: the task's configuration (empty: unknown).
        figures: the task's entry in ``results``.
        better: metric -> whether higher is better.
        seen: what the samples show.
    """
    published = [(metric, name) for metric, name, _ in figures_of(figures)]
    pairs = list(dict.fromkeys((*published, *seen.pairs)))
    specs = [_spec(pair, config, better, seen) for pair in pairs if pair[0] != BYPASS]
    return tuple(_with_default(specs, config))


def published_scores(
    config: Mapping[str, Any],
    figures: Mapping[str, Any],
    n: int | None,
    seen: Seen,
    benchmark: str = "",
) -> tuple[PublishedScore, ...]:
    """The figures of one task or group, ``N/A`` as null with its text."""
    counts = mapping_of(figures, "sample_count")
    return tuple(
        PublishedScore(
            metric=metric,
            value=number_or_none(value),
            filter=filter_label(name),
            benchmark=benchmark,
            statistic=_statistic(metric, config, seen),
            standard_error=number_or_none(figures.get(_key(f"{metric}_stderr", name))),
            n=counts.get(_key(metric, name), n),
            raw=None if number_or_none(value) is not None else str(value),
        )
        for metric, name, value in figures_of(figures)
        if metric != BYPASS
    )


def figures_of(figures: Mapping[str, Any]) -> Iterable[tuple[str, str, Any]]:
    """Metric, filter and value of each figure in an entry of ``results``."""
    for key, value in figures.items():
        metric, _, name = (key, "", "")
        if "," in key:
            metric, _, name = key.rpartition(",")
        if key in _NO_FIGURES or isinstance(value, (dict, list)):
            continue
        stem, is_error, _ = metric.partition("_stderr")
        if is_error and _key(stem, name) in figures:
            continue
        yield metric, name, value


def filter_label(name: str) -> str:
    """A filter as the store calls it: the pass-through pipeline ``none`` is the empty
    one."""
    if name == "none":
        return ""
    return name


def aggregation_of(metric: str, config: Mapping[str, Any]) -> str:
    """How a metric is aggregated: a name, or ``custom`` for code of the task's own."""
    aggregation = _entry(metric, config).get("aggregation")
    if not isinstance(aggregation, str):
        return _DEFAULT_AGGREGATION.get(metric, "mean")
    if aggregation.replace("_", "").replace("+", "").isalnum():
        return aggregation
    return "custom"


def _spec(
    pair: tuple[str, str],
    config: Mapping[str, Any],
    better: Mapping[str, Any],
    seen: Seen,
) -> MetricSpec:
    metric, name = pair
    link = _link(metric, config, seen)
    kind, low, high = _bounds(metric, link, seen.values.get(metric))
    direction = _entry(metric, config).get("higher_is_better", _BETTER.get(metric))
    higher = better.get(metric, direction)
    unit = ""
    if link in ("exp_neg", "neg_over_ln2"):
        unit = _UNITS.get(metric, "")
    higher_is_better = None
    if isinstance(higher, bool):
        higher_is_better = higher
    return MetricSpec(
        name=metric,
        filter=filter_label(name),
        scorer_kind="execution" if config.get("unsafe_code") else "match",
        unit=unit,
        link=link,
        kind=kind,
        low=low,
        high=high,
        higher_is_better=higher_is_better,
    )


def _link(metric: str, config: Mapping[str, Any], seen: Seen) -> Link:
    aggregation = aggregation_of(metric, config)
    value = seen.values.get(metric)
    if aggregation in PAIRED:
        if value is None or isinstance(value, list):
            return _LINKS[aggregation]
        return "identity"
    if value is not None and number_or_none(value) is None:
        return "none"
    if aggregation == "custom":
        return "identity"
    return _LINKS.get(aggregation, "none")


def _bounds(
    metric: str, link: Link, value: Any
) -> tuple[MetricKind | None, float | None, float | None]:
    if link in ("exp_neg", "neg_over_ln2"):
        return "continuous", None, 0.0  # the log-likelihood of a text
    if link == "none":
        return None, None, None
    whole = value is None or value in (0, 1)
    inside = whole or 0 <= (number_or_none(value) or 0) <= 1
    if metric in _BINARY and inside:
        if whole:
            return "binary", 0.0, 1.0
        return "bounded", 0.0, 1.0
    if _RATE.fullmatch(metric) and inside:
        return "bounded", 0.0, 1.0
    return None, None, None


def _statistic(metric: str, config: Mapping[str, Any], seen: Seen) -> str:
    """``mean`` where the samples give the figure, else the name of what the harness
    computed."""
    if _link(metric, config, seen) != "none":
        return "mean"
    aggregation = aggregation_of(metric, config)
    if aggregation in ("mean", "custom"):
        return "aggregate"
    return aggregation


def _with_default(
    specs: Sequence[MetricSpec], config: Mapping[str, Any]
) -> list[MetricSpec]:
    """Mark the headline: the first metric of the configuration that has a figure, in
    the first filter."""
    order = [entry.get("metric") for entry in _entries(config)]
    scalar = [spec for spec in specs if spec.link != "none"]
    ranked = sorted(
        scalar,
        key=lambda spec: order.index(spec.name) if spec.name in order else len(order),
    )
    first = first_of(ranked)
    return [replace(spec, is_default=spec is first) for spec in specs]


def _entries(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = items_of(config.get("metric_list"))
    return [entry for entry in listed if isinstance(entry, Mapping)]


def _entry(metric: str, config: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(
        (entry for entry in _entries(config) if entry.get("metric") == metric), {}
    )


def _key(metric: str, name: str) -> str:
    if name:
        return f"{metric},{name}"
    return metric
