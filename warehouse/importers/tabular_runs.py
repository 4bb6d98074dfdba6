"""Which runs the rows of a dump belong to.

Rows with the same header fields are one run. The registry learns headers, metrics and published
figures in a first pass (:func:`survey`), and numbers rows in the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, get_args

import numpy as np

from warehouse.errors import InputError
from warehouse.importers.tabular_columns import Codes, Column, combine, encode
from warehouse.importers.tabular_mapping import PublishedRule, Variant
from warehouse.importers.tabular_sources import Literal, Source
from warehouse.importers.tabular_values import Unfit, integer_of, number_of, score_of, text_of
from warehouse.importers.tabular_views import View
from warehouse.importers.values import EMPTY
from warehouse.records import (
    MetricSpec,
    PublishedScore,
    RunHeader,
    RunStatus,
    canonical_json,
)

DEFAULT_HARNESS = "tabular"
_TYPES = {item.name: str(item.type) for item in fields(RunHeader)}
_REQUIRED = ("model", "benchmark")


class RunRegistry:
    """The runs of a dump, numbered in the order in which they are met.

    Args:
        values: header fields that the user set; they hold for all runs.
        metrics: what the mapping says about metrics, by name.
        defaults: header fields for the runs that lack them.
    """

    def __init__(
        self, values: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]],
        defaults: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.values, self.metrics, self.defaults = values, metrics, defaults
        self.closed = False
        self._numbers: dict[bytes, int] = {}
        self._headers: list[dict[str, Any]] = []
        self._specs: list[dict[tuple[str, str], None]] = []
        self._published: list[dict[tuple[Any, ...], PublishedScore]] = []

    def number(self, header: Mapping[str, Any], place: str) -> int:
        """Number of the run with these header fields.

        Raises:
            InputError: a run that the survey did not meet.
        """
        key = canonical_json({name: _plain(value) for name, value in header.items()})
        found = self._numbers.get(key)
        if found is not None:
            return found
        if self.closed:
            raise InputError("changed while it was being read", path=place, advice="try again")
        self._numbers[key] = len(self._headers)
        self._headers.append({**header, "place": place})
        self._specs.append({})
        self._published.append({})
        return self._numbers[key]

    def add_metric(self, run: int, name: str, pipeline: str) -> None:
        """The run has scores of this metric and filter."""
        self._specs[run][name, pipeline] = None

    def add_published(self, run: int, score: PublishedScore) -> PublishedScore | None:
        """The run has this figure; returns one that contradicts it, if there is one."""
        key = (score.metric, score.filter, score.benchmark, score.statistic,
               score.perturbation, score.split)  # fmt: skip
        held = self._published[run].setdefault(key, score)
        self.add_metric(run, score.metric, score.filter)
        return None if held == score else held

    def headers(self) -> tuple[RunHeader, ...]:
        """All runs."""
        return tuple(
            RunHeader(
                **{"harness": DEFAULT_HARNESS, **header},
                metrics=tuple(
                    MetricSpec(
                        name, filter=pipeline, default_by="mapping", **self.metrics.get(name, {})
                    )
                    for name, pipeline in specs
                ),
                published=tuple(published.values()),
            )
            for header, specs, published in zip(
                self._headers, self._specs, self._published, strict=True
            )
        )


class RunColumns:
    """Numbers the rows of one variant by run."""

    def __init__(self, variant: Variant, registry: RunRegistry, place: str) -> None:
        self.registry, self.variant, self.place = registry, variant, place
        stated = {name: Literal("--set", value) for name, value in registry.values.items()}
        self.sources: dict[str, Source] = {**variant.run, **stated}

    @property
    def per_row(self) -> bool:
        """Whether the rows have to be looked at to know the runs, metrics and figures."""
        return bool(self.variant.published) or any(True for _ in self.paths())

    def runs(self, view: View) -> tuple[Codes, dict[int, Unfit]]:
        """Run of each row (-1 where it has none), and why rows have none."""
        parts = [encode(source.column(view), view.size) for source in self.sources.values()]
        codes, combinations = combine(parts, view.size)
        found = [self._number(combination) for combination in combinations]
        numbers = np.array([-1 if isinstance(run, Unfit) else run for run in found])
        unfit = {code: run for code, run in enumerate(found) if isinstance(run, Unfit)}
        rows = np.flatnonzero(np.isin(codes, list(unfit))).tolist() if unfit else []
        return numbers[codes], {row: unfit[int(codes[row])] for row in rows}

    def paths(self) -> Iterator[str]:
        """Field paths that have to be read for that."""
        metrics = [part for rule in self.variant.scores for part in (rule.metric, rule.filter)]
        figures = [part for rule in self.variant.published for part in rule.sources]
        for source in (*self.sources.values(), *metrics, *figures):
            yield from source.paths()

    def learn(self, view: View, reject: Callable[[int, str, str], None]) -> None:
        """Register runs, metrics and published figures of some rows.

        Rows without a run are rejected here, unless they hold samples: whoever reads those will
        reject them.
        """
        runs, faults = self.runs(view)
        if not (self.variant.has_samples and self.per_row):
            for row, fault in faults.items():
                reject(row, fault.found, fault.expected)
        encoded = (runs + 1, [-1, *range(int(runs.max(initial=-1)) + 1)])
        for rule in self.variant.scores:
            named = [encode(part.column(view), view.size) for part in (rule.metric, rule.filter)]
            for run, metric, pipeline in combine([encoded, *named], view.size)[1]:
                if run >= 0 and metric is not None:
                    self.registry.add_metric(run, str(text_of(metric)), pipeline or "")
        for published in self.variant.published:
            self._learn_published(view, encoded, published, reject)

    def _number(self, combination: Sequence[Any]) -> int | Unfit:
        header: dict[str, Any] = {}
        for (name, source), raw in zip(self.sources.items(), combination, strict=True):
            value = header_value(name, raw)
            if isinstance(value, Unfit):
                return Unfit(value.found, f"{source.where}: {value.expected}")
            if value is not None:
                header[name] = value
        for name, value in self.registry.defaults.items():
            if header.get(name) in EMPTY:
                header[name] = value
        for name in _REQUIRED:
            if name not in header:
                return Unfit(f"no {name}", f"a {name}: map it in [run] or say --default {name}=…")
        return self.registry.number(header, self.place)

    def _learn_published(
        self,
        view: View,
        encoded: tuple[Codes, list[Any]],
        rule: PublishedRule,
        reject: Callable[[int, str, str], None],
    ) -> None:
        names = list(rule.names)
        columns: list[Column] = [rule.names[name].column(view) for name in names]
        columns += [_raw_or_recoded(rule, view)]
        columns += [part.column(view) if part else [None] * view.size
                    for part in (rule.standard_error, rule.n)]  # fmt: skip
        parts = [encode(column, view.size) for column in columns]
        codes, combinations = combine([encoded, *parts], view.size)
        for code, (run, *texts, value, error, n) in enumerate(combinations):
            for key, figure in _figures(rule, value) if run >= 0 else ():
                named = dict(zip(names, texts, strict=True))
                score = _published_score(named, key, figure, error, n)
                if isinstance(score, PublishedScore):
                    held = self.registry.add_published(run, score)
                    score = Unfit(f"{score}", f"{held}, as stated before") if held else None
                if score is not None:
                    row = int(np.flatnonzero(codes == code)[0])
                    reject(row, score.found, f"{rule.value.where}: {score.expected}")


def header_value(name: str, value: Any) -> Any:
    """A value of the type of a header field, or an :class:`Unfit`."""
    if value is None or isinstance(value, Unfit):
        return value
    kind = _TYPES[name]
    if kind.startswith("Mapping"):
        return value if isinstance(value, dict) else Unfit(repr(value)[:60], "an object")
    if kind.startswith("tuple"):
        parts = value if isinstance(value, list | tuple) else [value]
        return tuple(str(text_of(part)) for part in parts)
    if kind.startswith("datetime"):
        return _time_of(value)
    return _scalar(kind.removesuffix(" | None"), value)


def _scalar(kind: str, value: Any) -> Any:
    if kind == "int":
        return integer_of(value)
    if kind == "float":
        number = number_of(value)
        return float(number) if isinstance(number, int) else number
    if kind == "bool":
        number = number_of(value)
        return bool(number) if number in (0, 1) else Unfit(repr(value)[:60], "true or false")
    if kind == "RunStatus" and value not in get_args(RunStatus):
        return Unfit(repr(value)[:60], f"one of {', '.join(get_args(RunStatus))}")
    return text_of(value)


def _time_of(value: Any) -> datetime | Unfit:
    number = number_of(value) if not isinstance(value, datetime) else None
    try:
        if isinstance(number, int | float):
            return datetime.fromtimestamp(number, UTC).replace(tzinfo=None)
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        wanted = "a time in ISO 8601 or Unix seconds (or give its `format`)"
        return Unfit(repr(value)[:60], wanted)


def _raw_or_recoded(rule: PublishedRule, view: View) -> Column:
    return rule.value.raw(view) if rule.each else rule.value.column(view)


def _figures(rule: PublishedRule, value: Any) -> list[tuple[str, Any]]:
    """Key and figure of each figure at a rule's path."""
    if not rule.each:
        return [("", value)]
    if value is not None and not isinstance(value, dict | list | tuple):
        return [("", Unfit(repr(value)[:60], "an object or a list of figures"))]
    pairs = value.items() if isinstance(value, dict) else enumerate(value or ())
    return [(str(key), rule.value.recode.apply(figure)) for key, figure in pairs]


def _published_score(
    names: Mapping[str, Any], key: str, figure: Any, error: Any, n: Any
) -> PublishedScore | Unfit | None:
    """The figure, ``None`` where there is none, or why it cannot be read."""
    if isinstance(figure, Unfit):
        return figure
    number, raw, _ = score_of(figure)
    deviation, count = number_of(error), integer_of(n)
    if isinstance(number, Unfit):
        return number
    if isinstance(deviation, Unfit):
        return deviation
    if isinstance(count, Unfit):
        return count
    if number is None and raw is None:
        return None
    texts = {name: str(text_of(text)).replace("{key}", key) for name, text in names.items()
             if text is not None}  # fmt: skip
    return PublishedScore(
        value=number,
        raw=raw,
        standard_error=deviation,
        n=count,
        **texts,
    )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
