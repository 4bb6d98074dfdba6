"""Two names of one metric, where a person says so: what goes by the one counts as the
other; nothing is rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.errors import MisuseError, did_you_mean
from warehouse.records.clock import utc_now
from warehouse.records.metric_form import MetricForm
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import find_shown
from warehouse.store.curate.declarations import (
    METRIC_ALIAS,
    Declaration,
    declarations,
    declare,
    names_beside,
    take_back,
)
from warehouse.store.sql.query_files import query_text

#: Runs that a refusal names.
_MOST_NAMED = 3


@dataclass(frozen=True)
class MetricAlias:
    """A metric that counts as another one."""

    name: str  #: as NAME or NAME,FILTER.
    counts_as: str  #: the other one.
    benchmark: str  #: where; empty: on every benchmark.

    def __str__(self) -> str:
        where = "every benchmark"
        if self.benchmark:
            where = self.benchmark
        return f"{self.name} counts as {self.counts_as} on {where}"


def alias_metric(
    store: Store,
    name: str,
    counts_as: str,
    *,
    benchmark: str = "",
    at: datetime | None = None,
) -> MetricAlias:
    """Say that two names are of one metric: figures by the one count as by the other
    from now on.

    Args:
        store: a store open for writing.
        name: as NAME or NAME,FILTER.
        counts_as: the other one, under which both are shown.
        benchmark: where, by any of its names; empty: on every benchmark.
        at: when it is said, UTC; None: now.

    Raises:
        MisuseError: no such benchmark or metric; the two differ in direction, bounds,
            scale or judge; a run has both with different scores; one of them is said to
            be another one already.
    """
    with store.changing_catalogue() as connection:
        if benchmark:
            benchmark = str(find_shown(connection, "benchmark", benchmark).name)
        name = _label(store, name, benchmark)
        counts_as = _label(store, counts_as, benchmark, elsewhere=True)
        if name == counts_as:
            raise MisuseError(f"'{name}' is that metric itself")
        _refuse_chains(store, name, counts_as, benchmark)
        _refuse_unlike(store, name, counts_as, benchmark)
        declare(
            connection,
            METRIC_ALIAS,
            benchmark,
            name,
            at=at or utc_now(),
            values={"said": counts_as},
        )
    return MetricAlias(name, counts_as, benchmark)


def unalias_metric(store: Store, name: str, *, benchmark: str = "") -> MetricAlias:
    """Take back that a metric counts as another one.

    Args:
        store: a store open for writing.
        name: the metric, as NAME or NAME,FILTER.
        benchmark: where it was said, by any of its names; empty: of every benchmark.

    Returns:
        what was said.

    Raises:
        MisuseError: no such benchmark, or nobody had said it there.
    """
    with store.changing_catalogue() as connection:
        names = [""]
        if benchmark:
            find_shown(connection, "benchmark", benchmark)
            names = names_beside(store, benchmark)
        said = [
            one
            for one in _aliases(store)
            if one.benchmark in names and name in (one.subject, _plain(one.subject))
        ]
        if not said:
            where = "every benchmark"
            if benchmark:
                where = benchmark
            raise MisuseError(
                f"nobody said of {where} that {name} is another metric's name; see: "
                "warehouse list declared"
            )
        for one in said:
            take_back(connection, METRIC_ALIAS, names, one.subject)
    return MetricAlias(said[0].subject, str(said[0].said), said[0].benchmark)


def _aliases(store: Store) -> list[Declaration]:
    return [one for one in declarations(store) if one.about == METRIC_ALIAS]


def _plain(label: str) -> str:
    return label.partition(",")[0]


def _label(store: Store, name: str, benchmark: str, *, elsewhere: bool = False) -> str:
    """The label of a metric by its name (MisuseError: there is none, or several).

    Args:
        benchmark: whose metric is meant; empty: that of any.
        elsewhere: one that only others have will do.
    """
    rows = store.rows(query_text("store", "metric_labels"))
    every = [str(row["label"]) for row in rows]
    own = every
    if benchmark:
        own = [str(row["label"]) for row in rows if row["benchmark"] == benchmark]
    for labels in (own, every if elsewhere else []):
        fitting = sorted({label for label in labels if label == name})
        fitting = fitting or sorted({one for one in labels if _plain(one) == name})
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise MisuseError(
                f"there are several metrics {name!r}, name one: {', '.join(fitting)}"
            )
    of = ""
    if benchmark:
        of = f" of {benchmark}"
    known = sorted({*own})
    see = f"there are: {', '.join(known)}" if known else "it has none"
    raise MisuseError(f"no metric '{name}'{of}; {did_you_mean(name, known, see)}")


def _refuse_chains(store: Store, name: str, counts_as: str, benchmark: str) -> None:
    """Refuse a name that stands for another already, or that another stands for."""
    for one in _aliases(store):
        meets = not benchmark or one.benchmark in ("", *names_beside(store, benchmark))
        if not meets:
            continue
        said = MetricAlias(one.subject, str(one.said), one.benchmark)
        undo = f"take it back: warehouse fix alias {one.subject} --metric --undo"
        if one.benchmark:
            undo += f" --on {one.benchmark}"
        if one.subject == name and (one.said, one.benchmark) == (counts_as, benchmark):
            raise MisuseError(f"{said} already")
        if one.subject in (name, counts_as) or one.said == name:
            raise MisuseError(f"{said}, and an alias has no alias; {undo}")


def _refuse_unlike(store: Store, name: str, counts_as: str, benchmark: str) -> None:
    """Refuse two metrics that cannot be one, and runs that show it."""
    query = query_text("store", "named_metrics")
    rows = store.rows(query, {"labels": [name, counts_as]})
    names = sorted({row["benchmark"] for row in rows})
    if benchmark:
        names = [benchmark]
    for of_benchmark in names:
        own = [row for row in rows if row["benchmark"] == of_benchmark]
        first = [row for row in own if row["label"] == name]
        second = [row for row in own if row["label"] == counts_as]
        for one in first:
            for other in second:
                _refuse_forms(one, other, of_benchmark)
        if first and second:
            _refuse_scores(store, first, second)


def _refuse_forms(one: Any, other: Any, benchmark: str) -> None:
    differ = _form(one).differences(_form(other))
    if differ:
        raise MisuseError(
            f"{one['label']} and {other['label']} are not one metric on {benchmark}: "
            f"they differ in {', '.join(differ)}; what a dump says wrongly: warehouse "
            f"fix metric {benchmark}; of other benchmarks alone: --on BENCHMARK"
        )


def _form(row: Any) -> MetricForm:
    return MetricForm(
        row["unit"],
        row["link"],
        row["kind"],
        row["low"],
        row["high"],
        row["higher_is_better"],
        row["scorer_kind"],
        row["judge_model"] or row["scorer"],
    )


def _refuse_scores(store: Store, first: Sequence[Any], second: Sequence[Any]) -> None:
    """Refuse two metrics by which one run has different scores of an answer."""
    found = store.rows(
        query_text("store", "scored_otherwise"),
        {
            "first_ids": sorted({row["id"] for row in first}),
            "second_ids": sorted({row["id"] for row in second}),
            "benchmark_ids": sorted({row["benchmark_id"] for row in (*first, *second)}),
        },
    )
    if found:
        named = [
            f"run:{row['run_id']} ({row['model']} on {row['benchmark']}) on {row['n']} "
            f"of {row['n_both']} answers"
            for row in found[:_MOST_NAMED]
        ]
        if len(found) > len(named):
            named.append(f"{len(found) - len(named)} more runs")
        raise MisuseError(
            f"{first[0]['label']} and {second[0]['label']} are not one metric: one run "
            f"has both, with different scores: {', '.join(named)}"
        )
