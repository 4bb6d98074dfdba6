"""The policy of a benchmark: what its unscored samples count as, where a person says
so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.records.policy import Policy
from warehouse.store.connection import Store
from warehouse.store.curate import headline_metric
from warehouse.store.curate.aliases import find_shown
from warehouse.store.curate.declarations import (
    METRIC_ALIAS,
    POLICY,
    declarations,
    declare,
    names_beside,
    take_back,
)
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class SaidPolicy:
    """What the unscored samples of a benchmark count as."""

    benchmark: str
    metric: str  #: as NAME or NAME,FILTER; empty: every metric.
    policy: Policy

    def __str__(self) -> str:
        by = f" by {self.metric}" if self.metric else ""
        value = ""
        if self.policy.wrong_value is not None:
            value = f", wrong samples score {self.policy.wrong_value:g}"
        return (
            f"{self.benchmark}{by} is under policy {self.policy.name}: "
            f"{self.policy}{value}"
        )


def set_policy(
    store: Store,
    benchmark: str,
    policy: str,
    *,
    metric: str = "",
    wrong_value: float | None = None,
    at: datetime | None = None,
) -> SaidPolicy:
    """Say what samples without a score count as, for every question from now on.

    Args:
        store: a store open for writing.
        benchmark: its name, or one that is an alias.
        policy: its name, or ``STATUS=wrong,...``.
        metric: of this metric alone, as NAME or NAME,FILTER; empty: of every one.
        wrong_value: score of wrong samples, where the metric has no worst score.
        at: when it is said, UTC; None: now.

    Raises:
        MisuseError: no such benchmark, metric or policy; samples are wrong by a metric
            that has no worst score, and no value is given; or one that has, and one is.
    """
    if wrong_value is not None and not math.isfinite(wrong_value):
        raise MisuseError(f"wrong samples score a finite number, found {wrong_value}")
    made = replace(Policy.of(policy), wrong_value=wrong_value)
    if wrong_value is not None and not made.wrong:
        raise MisuseError(f"nothing is wrong under `{policy}`: leave --wrong-value out")
    entries = headline_metric.metrics(store, benchmark)
    with store.changing_catalogue() as connection:
        name = str(find_shown(connection, "benchmark", benchmark).name)
        label = _label(store, name, metric, entries)
        if made.wrong:
            _require_worst(store, name, label, entries, made)
        take_back(connection, POLICY, names_beside(store, name), label)
        declare(
            connection,
            POLICY,
            name,
            label,
            at=at or utc_now(),
            values={
                "said": made.name,
                "wrong_value": wrong_value,
                "digest": made.digest,
            },
        )
    return SaidPolicy(name, label, made)


def unset_policy(store: Store, benchmark: str, *, metric: str = "") -> str:
    """Take the policy of a benchmark, or of one of its metrics, back.

    Args:
        store: a store open for writing.
        benchmark: its name, or one that is an alias.
        metric: the metric that it was said of; empty: of every one.

    Returns:
        the name of the benchmark.

    Raises:
        MisuseError: no such benchmark, or it has none.
    """
    with store.changing_catalogue() as connection:
        name = str(find_shown(connection, "benchmark", benchmark).name)
        names = names_beside(store, name)
        said = [
            one.subject
            for one in declarations(store)
            if one.about == POLICY
            and one.benchmark in names
            and metric in (one.subject, one.subject.partition(",")[0])
        ]
        if not said:
            by = f" by {metric}" if metric else ""
            raise MisuseError(
                f"{name}{by} has no policy of its own; see: warehouse list declared "
                f"{name}"
            )
        for subject in said:
            take_back(connection, POLICY, names, subject)
    return name


def _label(
    store: Store,
    benchmark: str,
    metric: str,
    entries: Sequence[headline_metric.MetricEntry],
) -> str:
    """The label of a metric of a benchmark; empty where none is named.

    Raises:
        MisuseError: it has no such metric, several, or one that counts as another.
    """
    if not metric:
        return ""
    label = headline_metric.label_of(
        metric, [entry.metric for entry in entries], benchmark
    )
    for one in declarations(store, benchmark):
        if one.about == METRIC_ALIAS and one.subject == label:
            raise MisuseError(f"{label} counts as {one.said} there: name that")
    return label


def _require_worst(
    store: Store,
    benchmark: str,
    label: str,
    entries: Sequence[headline_metric.MetricEntry],
    policy: Policy,
) -> None:
    """Refuse a policy that counts samples as wrong by a metric without a worst score,
    and a value of one that has one."""
    headline = next((entry.metric for entry in entries if entry.is_headline), "")
    of_metric = label or headline
    rows = store.rows(query_text("store", "named_metrics"), {"labels": [of_metric]})
    own = [row for row in rows if row["benchmark"] == benchmark]
    worst = {_worst(row) for row in own}
    if None in worst and policy.wrong_value is None:
        raise MisuseError(
            f"{of_metric} of {benchmark} has no known worst score, so nothing can "
            f"count as it: warehouse fix policy {benchmark} {policy.name} "
            "--wrong-value X, or say its bounds and which way it points: warehouse fix "
            f"metric {benchmark}"
        )
    if own and None not in worst and policy.wrong_value is not None:
        raise MisuseError(
            f"{of_metric} of {benchmark} has a worst score, which wrong samples have: "
            "leave --wrong-value out"
        )


def _worst(row: Any) -> float | None:
    """The worst score of a metric; None where it is not known."""
    low, high = row["low"], row["high"]
    if row["kind"] == "binary":
        low = 0.0 if low is None else low
        high = 1.0 if high is None else high
    if row["higher_is_better"] is None:
        return None
    worst: float | None = low if row["higher_is_better"] else high
    return worst
