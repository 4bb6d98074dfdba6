"""Reports of EvalScope: figures by benchmark, subset and metric."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from warehouse.importers.common.json_fields import (
    Row,
    number_or_none,
    object_of,
    objects_of,
    part_of,
    text_or_none,
    whole_count,
)
from warehouse.records import (
    MetricKind,
)

_OF_OVERLAP = ("recall", "precision", "f1")
#: Reports of version 2 write these names of rows out.
_SPELT_OUT = {
    **{
        "acc": "accuracy",
        "f1_score": "f1",
        "em": "exact_match",
        "bertscore": "bert_score",
    },
    **{f"bleu-{n}": f"bleu[ngram={n}]" for n in range(1, 5)},
    **{
        f"rouge-{n}-{of[0]}": f"rouge[ngram={n},statistic={of}]"
        for n in (1, 2)
        for of in _OF_OVERLAP
    },
    **{f"rouge-l-{of[0]}": f"rouge[statistic={of},variant=l]" for of in _OF_OVERLAP},
}
# "mean_acc", "mean_acc_pass@2"   the mean, or another figure, of the metric of the rows
_NAMED = re.compile(
    r"(?:mean_)?(?P<name>.+?)(?:_(?P<figure>(?:pass|vote)@\d+|pass\^\d+))?"
)
_K_OF = {"pass_at_k": "pass@{}", "pass_hat_k": "pass^{}", "vote_at_k": "vote@{}"}
_HIGHER = re.compile(
    r"acc|exact|^em$|pass|f1|level_(?:strict|loose)|rouge|bleu|win_rate", re.IGNORECASE
)


@dataclass(frozen=True)
class Figure:
    """One figure: of a subset, or of all of them (``subset`` is ``None``)."""

    metric: str
    statistic: str
    subset: str | None
    value: Any
    n: int | None
    is_derived: bool = False  # from other subsets: it has no samples of its own


@dataclass(frozen=True)
class Report:
    """A report as it was parsed; empty where there is none."""

    document: Row

    @property
    def dataset(self) -> str:
        return text_or_none(self.document.get("dataset_name")) or ""

    @property
    def model(self) -> str | None:
        return text_or_none(self.document.get("model_name"))

    @property
    def is_new(self) -> bool:
        """True if it is of 1.x: 0.x calls it ``<model>_<dataset>``."""
        return self.document.get("schema_version") == 2 or "@" in str(
            self.document.get("name")
        )

    @cached_property
    def names(self) -> dict[str, Row]:
        """The metrics by name, the headline first, each as the report states it."""
        metrics = objects_of(self.document.get("metrics"))
        primary = self.document.get("primary_metric_identity")
        metrics.sort(key=lambda item: item.get("identity") != primary if primary else 0)
        named: dict[str, Row] = {}
        for item in metrics:
            named.setdefault(_name(item)[0], item)
        return named

    def requested(self, subset: str | None) -> int | None:
        """Samples that a subset, or the benchmark, was to have."""
        summary = part_of(self.document, "execution_summary")
        if subset is None:
            part = summary
        else:
            part = part_of(part_of(summary, "subsets"), subset)
        return whole_count(part.get("requested"))

    def failures(self) -> Iterator[str]:
        """Notes on samples that failed: current writers keep no row of them."""
        for name, part in part_of(
            part_of(self.document, "execution_summary"), "subsets"
        ).items():
            counts = object_of(part)
            failed = whole_count(counts.get("errored"))
            requested = whole_count(counts.get("requested"))
            if failed:
                yield (
                    f"{self.dataset}, {name}: {failed} of {requested} samples failed, "
                    "which are no wrong answers"
                )

    def statistic_of(self, figure: Figure, repeats: int) -> str:
        """The statistic of a figure. Means are over samples: where a question lacks
        some of its repeats, which then are in no file, they are not those of the
        questions."""
        n = figure.n or 0
        requested = self.requested(figure.subset)
        if requested is None:
            lacks = n % repeats
        else:
            lacks = n < requested
        if repeats > 1 and lacks and figure.statistic == "mean":
            return "mean of samples"
        return figure.statistic

    def figures(self) -> Iterator[Figure]:
        """All figures of subsets, and those of the benchmark as a whole."""
        for item in objects_of(self.document.get("metrics")):
            metric, statistic = _name(item)
            for category in objects_of(item.get("categories")):
                for subset in objects_of(category.get("subsets")):
                    name = text_or_none(subset.get("name")) or "default"
                    derived = subset.get("is_aggregate") is True
                    yield Figure(
                        metric,
                        statistic,
                        name,
                        subset.get("score"),
                        whole_count(subset.get("num")),
                        derived,
                    )
            n = whole_count(item.get("num"))
            yield Figure(metric, statistic, None, item.get("score"), n)
            if item.get("macro_score") not in (None, item.get("score")):
                yield Figure(
                    metric, f"{statistic} over subsets", None, item["macro_score"], n
                )


def range_of(metric: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Direction and bounds of a metric, as a report of version 2 declares them; else by
    its name."""
    semantics = part_of(metric, "semantics")
    bounds = part_of(semantics, "value_range")
    low = number_or_none(bounds.get("min"))
    high = number_or_none(bounds.get("max"))
    direction = semantics.get("direction")
    kind: MetricKind | None = None
    if semantics.get("kind") == "diagnostic":
        kind = "continuous"
    higher = {"higher_is_better": True, "lower_is_better": False}.get(str(direction))
    if not semantics and _HIGHER.search(name):
        higher = True
    bounded = low is not None and high is not None
    lowest = None
    highest = None
    if bounded:
        lowest = low
        highest = high
    return {
        "kind": kind,
        "low": lowest,
        "high": highest,
        "higher_is_better": higher,
        "unit": text_or_none(semantics.get("raw_unit")) or "",
    }


def row_name(published: str, names: Mapping[str, Any]) -> str:
    """The name that rows have for a metric of the report."""
    if published in names:
        return published
    spelt = {_SPELT_OUT.get(name.lower(), name.lower()): name for name in names}
    return spelt.get(published, published)


def _name(item: Row) -> tuple[str, str]:
    """Metric and statistic that a report means."""
    identity = part_of(item, "identity")
    if not identity:
        full_name = text_or_none(item.get("name")) or "score"
        parts = _NAMED.fullmatch(full_name)
        if parts:
            return (parts["name"], parts["figure"] or "mean")
        return (full_name, "mean")
    dimensions = dict(part_of(identity, "dimensions"))
    aggregation = text_or_none(identity.get("aggregation")) or "identity"
    statistic = aggregation
    if aggregation in ("mean", "micro_mean", "identity"):
        statistic = "mean"
    if aggregation in _K_OF and "k" in dimensions:
        statistic = _K_OF[aggregation].format(dimensions.pop("k"))
    name = text_or_none(identity.get("name")) or "score"
    pairs = sorted(dimensions.items())
    axes = ",".join(f"{key}={value}" for key, value in pairs)
    if axes:
        name = f"{name}[{axes}]"
    return name, statistic
