"""Metrics of an Inspect log, and the figures that it publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.importers.common.json_fields import items_of, mapping_of, number_or_none, objects_of, text_or_none
from warehouse.importers.inspect.sample import Sample
from warehouse.importers.inspect.scores import metric_name, scores_of, values_of
from warehouse.records import MetricSpec, PublishedScore

#: Metrics of Inspect that are the mean of the samples' scores.
_MEANS = ("accuracy", "mean")
#: The standard error by its names; the last one is that of logs before 0.3.59.
_ERRORS = ("stderr", "bootstrap_stderr", "bootstrap_std")
#: Reducers that leave a single score as it is.
_IDLE = frozenset(("median", "mode", "majority", "max"))
#: Scorers of Inspect's own that never ask a model.
_PLAIN = frozenset("match includes pattern answer exact f1 choice math perplexity".split())
#: Parameters of a scorer that say which model judges; they go to the judge's own field.
_JUDGE = ("model", "model_role")


@dataclass(frozen=True)
class Scoring:
    """What the header and the first samples say of the scores of a log."""

    header: Mapping[str, Any]
    first: Sequence[Sample]
    unnamed: str = field(init=False)

    def __post_init__(self) -> None:
        entries = self._entries
        named = text_or_none(entries[0].get("name")) if entries else None
        object.__setattr__(self, "unnamed", named or "score")

    @property
    def metrics(self) -> list[str]:
        """Every metric of the samples, the headline first; none if nothing was scored."""
        published = [name for name, _, _ in self._figures()]
        values = [pair for sample in self.first for pair in values_of(scores_of(sample), self.unnamed)]
        seen = [name for name, _ in values]
        valued = {*published, *(name for name, value in values if value is not None)}
        # an object that is unscored as a whole is known by its keys
        known = [
            name
            for name in dict.fromkeys((*published, *seen))
            if name in valued or not any(key.startswith(f"{name}.") for key in valued)
        ]
        headline = mapping_of(self.header, "results", "headline")
        first = self._metric(headline.get("scorer"), headline.get("score"))
        return sorted(known, key=lambda name: name != first)

    @property
    def reducers(self) -> list[str]:
        """What reduces epochs to one score, apart from the mean, which the store computes."""
        stated = mapping_of(self.header, "eval", "config").get("epochs_reducer")
        named = stated if isinstance(stated, list) and self._n_epochs > 1 else []
        reducers = [*map(self.reducer, named), *(reducer for _, reducer, _ in self._figures())]
        return [name for name in dict.fromkeys(reducers) if name]

    def reducer(self, stated: Any) -> str:
        """The filter that a reducer's values stand under: "" for the mean, and for every other
        that gives back the value of a single epoch."""
        if not isinstance(stated, str) or stated == "mean":
            return ""
        return "" if self._n_epochs == 1 and stated in _IDLE else stated

    @property
    def _n_epochs(self) -> int:
        stated = mapping_of(self.header, "eval", "config").get("epochs")
        return stated if isinstance(stated, int) and stated > 0 else 1

    def specs(self) -> tuple[MetricSpec, ...]:
        """Specifications of all metrics, then of those that are reduced over epochs."""
        names = self.metrics
        plain = [self._spec(name, "", name == names[0]) for name in names]
        reduced = [self._spec(name, reducer, False) for reducer in self.reducers for name in names]
        return (*plain, *reduced)

    def published(self) -> tuple[PublishedScore, ...]:
        """Every figure of the results."""
        return tuple(row for name, reducer, entry in self._figures() for row in _rows(name, reducer, entry))

    @property
    def _entries(self) -> list[dict[str, Any]]:
        """The entries of the results; the oldest have one scorer with its metrics beside it."""
        results = mapping_of(self.header, "results")
        scorer = results.get("scorer")
        if isinstance(scorer, dict):
            return [{**scorer, "metrics": results.get("metrics") or scorer.get("metrics")}]
        return objects_of(results.get("scores"))

    def _figures(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Metric, reducer ("" for the mean) and entry of each of the results."""
        for entry in self._entries:
            name = self._metric(entry.get("scorer"), entry.get("name"))
            if name:
                yield name, self.reducer(entry.get("reducer")), entry

    def _metric(self, scorer: Any, name: Any) -> str | None:
        """The metric that Inspect calls by scorer and name."""
        if not isinstance(name, str):
            return None
        if not isinstance(scorer, str) or (scorer == name and not self._is_object(scorer)):
            return name
        return metric_name(scorer, name)

    def _is_object(self, scorer: str) -> bool:
        values = (scores_of(sample).get(scorer, {}).get("value") for sample in self.first)
        return any(isinstance(value, dict) for value in values)

    def _spec(self, name: str, reducer: str, is_default: bool) -> MetricSpec:
        scorer = self._scorer_of(name)
        parameters = self._parameters(scorer)
        judge = self._judge(scorer, parameters)
        better = any(
            metric == name and "accuracy" in mapping_of(entry, "metrics") for metric, _, entry in self._figures()
        )
        return MetricSpec(
            name=name,
            filter=reducer,
            scorer=scorer,
            scorer_kind="match" if judge is None else "model",
            judge_model=judge or "",
            scorer_parameters={key: value for key, value in parameters.items() if key not in _JUDGE},
            higher_is_better=True if better else None,
            is_default=is_default,
        )

    def _scorer_of(self, metric: str) -> str:
        """The scorer that gives a metric; scorer names may hold dots."""
        names = {name for sample in self.first for name in scores_of(sample)}
        names |= {str(entry.get("scorer") or entry.get("name")) for entry in self._entries}
        matching = [name for name in names if metric == name or metric.startswith(f"{name}.")]
        return max(matching, key=len, default=metric)

    def _parameters(self, scorer: str) -> dict[str, Any]:
        """Parameters of a scorer: from the results, else from the evaluation's list of scorers."""
        for entry in self._entries:
            if scorer in (entry.get("scorer"), entry.get("name")):
                return mapping_of(entry, "params") or mapping_of(entry, "options")
        listed = mapping_of(self.header, "eval").get("scorers")
        for item in items_of(listed):
            if isinstance(item, dict) and item.get("name") == scorer:
                return mapping_of(item, "options")
        return {}

    def _judge(self, scorer: str, parameters: Mapping[str, Any]) -> str | None:
        """The model that judges: stated, by role, or the evaluated one; ``None``: no model does."""
        stated = parameters.get("model")
        if isinstance(stated, list):
            return ", ".join(map(str, stated))
        if stated:
            return str(mapping_of(parameters, "model").get("model") or stated)
        role = text_or_none(parameters.get("model_role")) or "grader"
        judge = role_models(self.header).get(role)
        if "model_graded" in scorer:
            return judge or text_or_none(mapping_of(self.header, "eval").get("model"))
        return judge if scorer.rpartition("/")[2] not in _PLAIN else None


def role_models(header: Mapping[str, Any]) -> dict[str, str]:
    """Model of each role; several of one role are joined."""
    models: dict[str, str] = {}
    for role, stated in mapping_of(header, "eval", "model_roles").items():
        several = stated if isinstance(stated, list) else [stated]
        names = [str(item.get("model")) for item in several if isinstance(item, dict)]
        if names:
            models[role] = ", ".join(names)
    return models


def _rows(metric: str, reducer: str, entry: Mapping[str, Any]) -> Iterator[PublishedScore]:
    """The figures of one entry; the standard error stands with the mean."""
    figures = {name: item for name, item in mapping_of(entry, "metrics").items() if isinstance(item, dict)}
    mean = next((name for name in _MEANS if name in figures and not figures[name].get("group")), None)
    error = next((name for name in _ERRORS if name in figures), None) if mean else None
    count = entry.get("scored_samples")
    for name, item in figures.items():
        if name == error:
            continue
        value = number_or_none(item.get("value"))
        yield PublishedScore(
            metric=metric,
            filter=reducer,
            value=value,
            statistic="mean" if name == mean else name,
            standard_error=number_or_none(figures[error].get("value")) if error and name == mean else None,
            n=count if isinstance(count, int) and not isinstance(count, bool) else None,
            raw=None if value is not None else str(item.get("value")),
        )
