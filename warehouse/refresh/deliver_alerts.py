"""Delivery of alerts: at least once on each channel, by the refresh that found them or
by a later one.

What a channel has told is marked in the store. What is not marked, since the process
was killed or a service did not answer, the next refresh tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from warehouse.errors import WarehouseError
from warehouse.refresh.alerts import Alerts, Rules, check
from warehouse.store.computed.metric_values import (
    DUE,
    GIVEN_UP,
    TOLD,
    Untold,
    mark,
    untold,
)
from warehouse.store.open import StoreOpener

#: Alerts that a channel has not taken for so long are given up.
MAX_AGE = timedelta(days=7)
#: Earlier refreshes whose alerts are told at a time; those of the others wait.
AT_ONCE = 20

#: Tells alerts, refresh by refresh, and yields the id of each refresh that it has told;
#: raises `WarehouseError` where nobody takes them.
Channel = Callable[[Sequence[Alerts]], Iterable[int]]


@dataclass
class Delivery:
    """What channels took."""

    present: Alerts  #: the alerts of this refresh.
    #: channel -> alerts that it took, by refresh, this one first; only refreshes with
    #: alerts.
    taken: dict[str, list[Alerts]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  #: what waits, or was given up.
    #: why a channel did not take them; None if all did.
    problem: WarehouseError | None = None


def deliver_alerts(
    opener: StoreOpener,
    rules: Rules,
    refresh: int,
    now: datetime,
    channels: Mapping[str, Channel],
) -> Delivery:
    """Deliver the alerts of a refresh, and the undelivered ones of earlier refreshes.

    Args:
        opener: how to open the store.
        refresh: id of the refresh, which has ended.
        now: naive UTC.
        channels: by name, in the order in which they are used.

    Raises:
        StoreError: what was told cannot be marked; the next refresh tells it again.
    """
    with opener.reading() as store:
        undelivered = untold(store, refresh)
        chosen = _chosen(undelivered, refresh, now, channels)
        alerts = {
            record.id: _of_earlier(check(store, rules, record.id, now), refresh)
            for record in chosen
        }
    delivery, marks = (
        Delivery(alerts[refresh]),
        {record.id: dict(record.marks) for record in undelivered},
    )
    for name, channel in channels.items():
        waiting = [
            record.id
            for record in chosen
            if record.id == refresh or record.awaits(name)
        ]
        taken = _through(
            channel, [alerts[refresh_id] for refresh_id in waiting], delivery
        )
        delivery.taken[name] = [
            alerts[refresh_id]
            for refresh_id in waiting
            if refresh_id in taken and alerts[refresh_id].rows
        ]
        news = {
            record.id: _mark(record, name, record.id in taken, now)
            for record in undelivered
        }
        for refresh_id, kind in news.items():
            if kind:
                marks[refresh_id][name] = kind
        delivery.notes += _notes(name, Counter(news.values()))
    changed = [
        (record.id, marks[record.id])
        for record in undelivered
        if marks[record.id] != record.marks
    ]
    if changed:
        with opener.writing() as store:
            mark(store, changed)
    return delivery


def _chosen(
    undelivered: Sequence[Untold], refresh: int, now: datetime, channels: Iterable[str]
) -> list[Untold]:
    """This refresh, then the oldest of those before it that are not too old."""
    present = [record for record in undelivered if record.id == refresh]
    earlier = [
        record
        for record in undelivered
        if record.id != refresh
        and now - record.ended <= MAX_AGE
        and any(map(record.awaits, channels))
    ]
    return present + earlier[:AT_ONCE]


def _of_earlier(alerts: Alerts, refresh: int) -> Alerts:
    """The alerts of an earlier refresh, without those on missing runs, which only hold
    now."""
    if alerts.refresh_id == refresh:
        return alerts
    return Alerts(
        tuple(row for row in alerts.rows if row.rule != "silence"),
        alerts.refresh_id,
        alerts.tests,
    )


def _through(
    channel: Channel, waiting: Sequence[Alerts], delivery: Delivery
) -> set[int]:
    """Ids of the refreshes that a channel has delivered; those without alerts need no
    delivery."""
    taken = {batch.refresh_id for batch in waiting if not batch.rows}
    try:
        for refresh_id in channel([batch for batch in waiting if batch.rows]):
            taken.add(refresh_id)
    except WarehouseError as error:
        delivery.problem = delivery.problem or error
    return taken


def _mark(alert: Untold, channel: str, taken: bool, now: datetime) -> str:
    """The mark that a refresh gets for a channel; empty if it keeps what it has, or has
    none."""
    if taken:
        return TOLD
    if now - alert.ended > MAX_AGE:
        if alert.marks.get(channel) == DUE:
            return GIVEN_UP
        return ""
    if alert.awaits(channel):
        return DUE
    return ""


def _notes(name: str, counts: Mapping[str, int]) -> list[str]:
    """Notes on alerts that are still to be delivered, and on those given up."""
    words = {
        DUE: "wait for the next refresh",
        GIVEN_UP: f"were not taken for {MAX_AGE.days} days and are given up",
    }
    return [
        f"alerts of {count} refresh{'' if count == 1 else 'es'} {words[kind]} ({name})"
        for kind in words
        if (count := counts.get(kind))
    ]
