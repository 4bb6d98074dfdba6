"""What a refresh found that somebody should look at: rules of the file, lines, webhook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..state import State
from ..ui.output import Output
from ..ui.table import echo

if TYPE_CHECKING:
    from warehouse.config import Config
    from warehouse.refresh.alerts import Alerts, Rules
    from warehouse.refresh.deliver_alerts import Channel, Delivery

    Emit = Callable[[int, Sequence[Alerts]], None]

#: Names of the channels in the store.
LOG, WEBHOOK = "log", "webhook"


def webhook_of(config: Config) -> str:
    """The URL that alerts are posted to; empty without one.

    Raises:
        MisuseError: it is no such URL; says where it was given.
    """
    url: str = config.get("alerts.webhook", "")
    if not url:
        return ""
    from warehouse.errors import MisuseError
    from warehouse.refresh.webhook import require_url

    try:
        require_url(url)
    except MisuseError as error:
        raise MisuseError(f"{config.others['alerts.webhook'].origin}: {error}") from None
    return url


def alert_rules(config: Config) -> Rules:
    """The rules of the file's table ``[alerts]``."""
    from warehouse.config import KNOWN
    from warehouse.refresh.alerts import Rules

    settings = {
        key: value for key in KNOWN["alerts"] if key != "webhook" and (value := config.get(f"alerts.{key}")) is not None
    }
    return Rules(**settings)


def tell_alerts(state: State, config: Config, refresh_id: int, output: Output, only: bool) -> int:
    """Check the rules of the file, and tell what there is to tell.

    Args:
        only: alerts are the answer of the command; else they are lines on standard error.

    Returns:
        the exit code: 1 if there is an alert that was not delivered before.

    Raises:
        WarehouseError: the webhook did not take a message.
    """
    from warehouse.records.clock import utc_now
    from warehouse.refresh.deliver_alerts import deliver_alerts

    emit = partial(_rows, output) if only else _lines
    channels: dict[str, Channel] = {LOG: partial(_emitted, emit, refresh_id)}
    if webhook := webhook_of(config):
        channels[WEBHOOK] = partial(_posted, webhook)
    delivery = deliver_alerts(state.opener(), alert_rules(config), refresh_id, utc_now(), channels)
    if only and not delivery.taken[LOG]:
        _rows(output, refresh_id, ())
    _summary(state, delivery)
    if delivery.problem is not None:
        raise delivery.problem
    return int(bool(delivery.taken[LOG]))


def _emitted(emit: Emit, refresh_id: int, alerts: Sequence[Alerts]) -> Iterator[int]:
    if alerts:
        emit(refresh_id, alerts)
    yield from (one.refresh_id for one in alerts)


def _posted(url: str, alerts: Sequence[Alerts]) -> Iterator[int]:
    if not alerts:
        return iter(())
    from warehouse.refresh.webhook import post_all

    return post_all(url, alerts)


def _lines(refresh_id: int, alerts: Sequence[Alerts]) -> None:
    for batch in alerts:
        of = "" if batch.refresh_id == refresh_id else f" (found by refresh {batch.refresh_id})"
        for row in batch.rows:
            where = f"{row.benchmark}, " if row.benchmark else ""
            line = f"alert: {row.rule}: {where}{row.subject}: {row.message}{of}"
            echo(line, err=True)


def _rows(output: Output, _refresh_id: int, alerts: Sequence[Alerts]) -> None:
    from warehouse.refresh.alerts import NEEDLESS, Alert

    rows = [row for batch in alerts for row in batch.rows]
    output.emit_records(Alert, rows, needless=NEEDLESS, empty="no alerts")
    sys.stdout.flush()  # delivered is what has left this process


def _summary(state: State, delivery: Delivery) -> None:
    state.say(str(delivery.present))
    earlier = {
        one.refresh_id
        for delivered in delivery.taken.values()
        for one in delivered
        if one.refresh_id != delivery.present.refresh_id
    }
    if earlier:
        several = "refresh" if len(earlier) == 1 else "refreshes"
        names = ", ".join(map(str, sorted(earlier)))
        state.say(f"note: alerts of {several} {names} had not been told everywhere, and are now")
    for note in (*delivery.present.notes, *delivery.notes):
        state.say(f"note: {note}")
