"""Scores of an Inspect log: metrics, and the figures that the log states of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from warehouse.importers.common.json_fields import (
    as_items,
    items_of,
    mapping_of,
    number_or_none,
    objects_of,
    text_or_none,
)
from warehouse.importers.inspect.log import Sample
from warehouse.importers.inspect.sample_fields import (
    are_answers,
    metric_name,
    scores_of,
    values_of,
)
from warehouse.records import MetricSpec, PublishedScore

#: Metrics of Inspect that are the mean of the samples' scores.
_MEANS = ("accuracy", "mean")
#: The standard error by its names; the last one is that of logs before 0.3.59.
_ERRORS = ("stderr", "bootstrap_stderr", "bootstrap_std")
#: Reducers that leave a single score as it is.
_IDLE = frozenset(("median", "mode", "majority", "max"))
#: Scorers of Inspect's own that never ask a model.
_PLAIN = frozenset(
    "match includes pattern answer exact f1 choice math perplexity".split()
)
#: Parameters of a scorer that say which model judges; they go to the judge's own field.
_JUDGE = ("model", "model_role")


@dataclass(frozen=True)
class Scoring:
    """Scores of a log, as its header and first samples tell them."""

    header: Mapping[str, Any]
    first: Sequence[Sample]

    @cached_property
    def unnamed(self) -> str:
        """The scorer whose name the oldest logs do not put beside the score."""
        return text_or_none(next(iter(self._entries), {}).get("name")) or "score"

    @property
    def metrics(self) -> list[str]:
        """Every metric of the samples, the headline first; none if nothing was
        scored."""
        published = [name for name, _, _ in self._figures() if not self._objects(name)]
        values = list(
            chain.from_iterable(
                values_of(scores_of(sample), self.unnamed) for sample in self.first
            )
        )
        seen = [name for name, _ in values]
        valued = {*published, *(name for name, value in values if value is not None)}
        # an object that is unscored as a whole is known by its keys
        names = [
            name
            for name in dict.fromkeys((*published, *seen))
            if name in valued or not _has_keys(name, valued)
        ]
        headline = mapping_of(self.header, "results", "headline")
        first = self._metric(headline.get("scorer"), headline.get("score"))
        return sorted(names, key=lambda name: name != first)

    @cached_property
    def answers(self) -> frozenset[str]:
        """The metrics whose values are answers, by the first samples: letters are no
        grades there."""
        values: dict[str, list[Any]] = {}
        for sample in self.first:
            for name, value in values_of(scores_of(sample), self.unnamed):
                values.setdefault(name, []).append(value)
        return frozenset(name for name, given in values.items() if are_answers(given))

    @property
    def reducers(self) -> list[str]:
        """Reducers of epochs to one score, apart from the mean, which the store
        computes."""
        listed = mapping_of(self.header, "eval", "config").get("epochs_reducer")
        named = []
        if self._n_epochs > 1:
            named = items_of(listed)
        reducers = [
            *map(self.reducer, named),
            *(reducer for _, reducer, _ in self._figures()),
        ]
        return [name for name in dict.fromkeys(reducers) if name]

    def reducer(self, name: Any) -> str:
        """The filter that a reducer's values stand under: "" for the mean, and for
        every other that gives back the value of a single epoch."""
        if not isinstance(name, str) or name == "mean":
            return ""
        if self._n_epochs == 1 and name in _IDLE:
            return ""
        return name

    @property
    def _n_epochs(self) -> int:
        epochs = mapping_of(self.header, "eval", "config").get("epochs")
        if isinstance(epochs, int) and epochs > 0:
            return epochs
        return 1

    def specs(self) -> tuple[MetricSpec, ...]:
        """Specifications of all metrics, then of those that are reduced over epochs."""
        # figures of objects as wholes have no scores
        names = dict.fromkeys(
            (*self.metrics, *(name for name, _, _ in self._figures()))
        )
        plain = [self._spec(name, "", index == 0) for index, name in enumerate(names)]
        reduced: list[MetricSpec] = []
        for reducer in self.reducers:
            reduced += [self._spec(name, reducer, False) for name in names]
        return (*plain, *reduced)

    def published(self) -> tuple[PublishedScore, ...]:
        """Every figure of the results."""
        return tuple(
            chain.from_iterable(
                _rows(name, reducer, entry) for name, reducer, entry in self._figures()
            )
        )

    @property
    def _entries(self) -> list[dict[str, Any]]:
        """The entries of the results; the oldest have one scorer with its metrics
        beside it."""
        results = mapping_of(self.header, "results")
        scorer = results.get("scorer")
        if isinstance(scorer, dict):
            return [
                {**scorer, "metrics": results.get("metrics") or scorer.get("metrics")}
            ]
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
        if not isinstance(scorer, str):
            return name
        is_whole = scorer == name and not any(
            name in value for value in self._objects(scorer)
        )
        if is_whole:
            return name
        return metric_name(scorer, name)

    def _objects(self, scorer: str) -> list[dict[str, Any]]:
        """The objects among what a scorer gave the first samples."""
        values = (
            scores_of(sample).get(scorer, {}).get("value") for sample in self.first
        )
        return [value for value in values if isinstance(value, dict)]

    def _spec(self, name: str, reducer: str, is_default: bool) -> MetricSpec:
        scorer = self._scorer_of(name)
        parameters = self._parameters(scorer)
        judge = self._judge(scorer, parameters)
        better = any(
            metric == name and "accuracy" in mapping_of(entry, "metrics")
            for metric, _, entry in self._figures()
        )
        higher_is_better = None
        if better:
            higher_is_better = True
        return MetricSpec(
            name=name,
            filter=reducer,
            scorer=scorer,
            scorer_kind="match" if judge is None else "model",
            judge_model=judge or "",
            scorer_parameters={
                key: value for key, value in parameters.items() if key not in _JUDGE
            },
            higher_is_better=higher_is_better,
            is_default=is_default,
        )

    def _scorer_of(self, metric: str) -> str:
        """The scorer that gives a metric; scorer names may hold dots."""
        names = set(chain.from_iterable(scores_of(sample) for sample in self.first))
        names |= {
            str(entry.get("scorer") or entry.get("name")) for entry in self._entries
        }
        matching = [
            name for name in names if metric == name or metric.startswith(f"{name}.")
        ]
        return max(matching, key=len, default=metric)

    def _parameters(self, scorer: str) -> dict[str, Any]:
        """Parameters of a scorer: from the results, else from the evaluation's list of
        scorers."""
        for entry in self._entries:
            if scorer in (entry.get("scorer"), entry.get("name")):
                return mapping_of(entry, "params") or mapping_of(entry, "options")
        for item in objects_of(mapping_of(self.header, "eval").get("scorers")):
            if item.get("name") == scorer:
                return mapping_of(item, "options")
        return {}

    def _judge(self, scorer: str, parameters: Mapping[str, Any]) -> str | None:
        """The model that judges: stated, by role, or the evaluated one; ``None``: no
        model does."""
        model = parameters.get("model")
        if isinstance(model, list):
            return ", ".join(map(str, model))
        if model:
            return str(mapping_of(parameters, "model").get("model") or model)
        role = text_or_none(parameters.get("model_role")) or "grader"
        judge = role_models(self.header).get(role)
        if "model_graded" in scorer:
            return judge or text_or_none(mapping_of(self.header, "eval").get("model"))
        if scorer.rpartition("/")[2] not in _PLAIN:
            return judge
        return None


def _has_keys(name: str, metrics: Iterable[str]) -> bool:
    return any(metric.startswith(f"{name}.") for metric in metrics)


def role_models(header: Mapping[str, Any]) -> dict[str, str]:
    """Model of each role; several of one role are joined."""
    models: dict[str, str] = {}
    for role, role_model in mapping_of(header, "eval", "model_roles").items():
        several = objects_of(as_items(role_model))
        names = [str(item.get("model")) for item in several]
        if names:
            models[role] = ", ".join(names)
    return models


def _rows(
    metric: str, reducer: str, entry: Mapping[str, Any]
) -> Iterator[PublishedScore]:
    """The figures of one entry; the standard error stands with the mean."""
    figures = {
        name: item
        for name, item in mapping_of(entry, "metrics").items()
        if isinstance(item, dict)
    }
    mean = next(
        (name for name in _MEANS if name in figures and not figures[name].get("group")),
        None,
    )
    error = None
    if mean:
        error = next((name for name in _ERRORS if name in figures), None)
    count = entry.get("scored_samples")
    for name, item in figures.items():
        if name == error:
            continue
        value = number_or_none(item.get("value"))
        standard_error = None
        if error and name == mean:
            standard_error = number_or_none(figures[error].get("value"))
        statistic = name
        if name == mean:
            statistic = "mean"
        n = None
        if isinstance(count, int) and not isinstance(count, bool):
            n = count
        yield PublishedScore(
            metric=metric,
            filter=reducer,
            value=value,
            statistic=statistic,
            standard_error=standard_error,
            n=n,
            raw=None if value is not None else str(item.get("value")),
        )
