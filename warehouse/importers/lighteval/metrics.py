"""Metrics of lighteval: what they are, and the figures that its results file has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from warehouse.importers.common.json_fields import items_of, number_or_none
from warehouse.importers.lighteval.details import Details
from warehouse.records import Link, MetricKind, MetricSpec, PublishedScore

#: Perplexities: what sum(log-likelihood)/sum(weight) becomes.
_LINKS: Mapping[str, Link] = {
    "word_perplexity": "exp_neg",
    "byte_perplexity": "exp_neg",
    "bits_per_byte": "neg_over_ln2",
    "ppl": "exp_neg",
    "perplexity": "exp_neg",
}
_UNITS = {"word_perplexity": "nats/word", "byte_perplexity": "nats/byte", "bits_per_byte": "nats/byte"}
_RATES = re.compile(
    r"(?:acc|em|exact_match|pem|qem|pqem|extractive_match|loglikelihood_acc|maj@|avg@|g?-?pass@|"
    r"f1|rouge|mrr|recall@|mcq_|prefix_|quasi_|t5_|truthfulqa_mc|faithfulness)",
    re.IGNORECASE,
)
_WORSE = re.compile(r".*perplexity|ppl|bits_per_byte|wer|cer|ter", re.IGNORECASE)
_JUDGE = re.compile(r"(?:judge_score|judgement|user_prompt)_(.+)")
_OVER_DRAWS = re.compile(r"avg@|pass@k[^\d]*k=1(?!\d)|pass@1(?!\d)", re.IGNORECASE)
_STDERR = "_stderr"


def is_text(name: str, kind: pa.DataType) -> bool:
    """Whether a metric is what a judge was told or said, not a score."""
    named = _JUDGE.fullmatch(name)
    return named is not None and not name.startswith("judge_score") and not _is_number(kind)


def is_over_draws(name: str) -> bool:
    """Whether a metric of several draws is their mean."""
    return _OVER_DRAWS.match(name) is not None


def is_pair(kind: pa.DataType) -> bool:
    """Whether values are log-likelihoods with their weights."""
    return pa.types.is_struct(kind) and {"logprobs", "weights"} == {item.name for item in kind}


def metric_specs(
    config: Mapping[str, Any], figures: Mapping[str, Any], details: Details | None
) -> tuple[MetricSpec, ...]:
    """Specifications of a task's metrics; the first of its configuration is the headline."""
    seen = details.metrics if details is not None else {}
    rows = [name for name, kind in seen.items() if not is_text(name, kind)]
    stated = _stated(config)
    published = [name for name in figures if not _is_error(name, figures)]
    names = list(dict.fromkeys((*rows, *published)))
    specs = {name: _spec(name, seen, stated, details is not None) for name in names}
    usable = [name for name in (*stated, *names) if name in specs and specs[name].link != "none"]
    first = usable[0] if usable else None
    return tuple(replace(specs[name], is_default=name == first) for name in names)


def published_scores(
    figures: Mapping[str, Any], n: int | None, details: Details | None, benchmark: str = ""
) -> Iterator[PublishedScore]:
    """The figures of a task or group.

    Args:
        figures: metric -> figure, with ``_stderr`` beside it.
        n: number of documents.
        details: the task's rows, if there are any.
        benchmark: name of the group; empty for a task.
    """
    seen = details.metrics if details is not None else {}
    for name, value in figures.items():
        if _is_error(name, figures):
            continue
        number = number_or_none(value)
        usable = details is None or _link(name, seen, True) != "none"
        yield PublishedScore(
            metric=name,
            value=number,
            benchmark=benchmark,
            statistic="mean" if usable else "aggregate",
            standard_error=number_or_none(figures.get(name + _STDERR)),
            n=n,
            raw=None if number is not None else str(value)[:200],
        )


def _stated(config: Mapping[str, Any]) -> dict[str, bool | None]:
    """Metric -> whether higher is better, in the order of a task's configuration."""
    directions: dict[str, bool | None] = {}
    entries = config.get("metrics", config.get("metric"))
    for entry in items_of(entries):
        if not isinstance(entry, dict):
            continue
        names, better = entry.get("metric_name"), entry.get("higher_is_better")
        for name in names if isinstance(names, list) else [names]:
            if isinstance(name, str):
                own = better.get(name) if isinstance(better, dict) else better
                directions[name] = own if isinstance(own, bool) else None
    return directions


def _spec(name: str, seen: Mapping[str, pa.DataType], stated: Mapping[str, bool | None], rows: bool) -> MetricSpec:
    judge = _JUDGE.fullmatch(name)
    link = _link(name, seen, rows)
    kind, low, high = _bounds(name, link)
    better = stated.get(name)
    return MetricSpec(
        name=name,
        scorer_kind="model" if judge else "match",
        judge_model=judge[1] if judge else "",
        unit=_UNITS.get(name, "nats") if link in ("exp_neg", "neg_over_ln2") else "",
        link=link,
        kind=kind,
        low=low,
        high=high,
        higher_is_better=False if better is None and _WORSE.fullmatch(name) else better,
    )


def _link(name: str, seen: Mapping[str, pa.DataType], rows: bool) -> Link:
    kind = seen.get(name)
    if kind is None:
        return "none" if rows else _LINKS.get(name, "identity")
    if is_pair(kind):
        return _LINKS.get(name, "none")
    return "identity" if _is_number(kind) or pa.types.is_null(kind) else "none"


def _bounds(name: str, link: Link) -> tuple[MetricKind | None, float | None, float | None]:
    if link in ("exp_neg", "neg_over_ln2"):
        return "continuous", None, 0.0
    if link == "none" or not _RATES.match(name):
        return None, None, None
    return "bounded", 0.0, 1.0


def _is_error(name: str, figures: Mapping[str, Any]) -> bool:
    return name.endswith(_STDERR) and name.removesuffix(_STDERR) in figures


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
