"""``refresh``: stored figures, kept fresh, and alerts on what has changed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from ..lazy_group import command
from ..state import State
from ..ui.options import REFERENCE, lake_option, option, output_options
from ..ui.output import Output
from ..ui.progress import share
from ..ui.table import echo

if TYPE_CHECKING:
    from warehouse.config import Config
    from warehouse.refresh.results import Refreshed
    from warehouse.refresh.run import RefreshRequest


#: Rows of a list that people are shown; programs get all.
SHOWN = 40


def age_callback(
    _ctx: click.Context, param: click.Parameter, value: str | None
) -> timedelta | None:
    """``90d``, ``12h`` or ``4w`` as a length of time."""
    if value is None:
        return None
    from warehouse.config import parse_age

    age = parse_age(value)
    if age is None:
        raise click.BadParameter(
            f"'{value}' is not an age such as 90d, 12h or 4w", param=param
        )
    return age


@command("refresh")
@click.argument("benchmarks", nargs=-1, metavar="[BENCHMARK]...")
@option(
    "--family NAME",
    "Only this metric family. Repeatable; matrix is computed only if named.",
    name="families",
    multiple=True,
)
@option(
    f"--baseline {REFERENCE}",
    "Compare every other model with this one. Repeatable.",
    name="baselines",
    multiple=True,
)
@option("--dry-run", "List what is stale, and why; change nothing.", is_flag=True)
@option(
    "--prune-older-than AGE",
    "Also forget older figures, such as 90d, but for the newest of each.",
    name="prune",
    callback=age_callback,
)
@option(
    "--alerts",
    "Answer with what somebody should look at; exit 1 if there is anything.",
    name="only_alerts",
    is_flag=True,
)
@option(
    "--level P",
    "Confidence level of the intervals. [default: 0.95]",
    click.FloatRange(0, 1, min_open=True, max_open=True),
)
@option(
    "--permutations N",
    "Shuffled matrices of the family matrix. [default: 1000]",
    click.IntRange(1),
)
@option("--seed N", "Of the random draws. [default: 0]", click.IntRange(0))
@lake_option
@output_options
def refresh(
    state: State,
    /,
    dry_run: bool,
    prune: timedelta | None,
    only_alerts: bool,
    lake: str | None,
    output: Output,
    **options: Any,
) -> int:
    from warehouse.refresh.results import COUNTS, RefreshedFamilyRow, StaleRow
    from warehouse.refresh.run import list_stale
    from warehouse.refresh.run import refresh as recompute

    from .store import publish_after

    if dry_run and (prune is not None or only_alerts):
        raise click.UsageError("give one of --dry-run, --prune-older-than and --alerts")
    if dry_run and lake:
        raise click.UsageError("give one of --dry-run and --lake")
    config = state.config()
    work = refresh_request(config, options, only_alerts or "alerts" in config.tables)
    if dry_run:
        listed = list_stale(state.opener(), work)
        shown = output.for_people and len(listed.rows) > SHOWN
        output.emit_records(
            StaleRow,
            listed.rows[:SHOWN] if shown else listed.rows,
            empty="nothing is stale",
        )
        if shown:
            echo(f"... and {len(listed.rows) - SHOWN} more: --json has them all")
        _say(state, listed.one_line, listed.notes)
        return 0
    with share(state.quiet, "refreshing") as bar:
        tell = None if bar is None else lambda done, total: bar(done / total)
        refreshed = recompute(
            state.opener(),
            work,
            wait=state.wait,
            progress=tell,
            say=state.say,
            lake=lake,
        )
    if not only_alerts:
        output.emit_records(RefreshedFamilyRow, refreshed.rows, counts=COUNTS)
    _say(state, refreshed.one_line, refreshed.notes)
    failed = _failures(refreshed)
    if prune is not None:
        _prune(state, prune)
    publish_after(state, "refresh")
    if not work.channels:
        return failed
    return max(
        failed, tell_alerts(state, config, refreshed.refresh_id, output, only_alerts)
    )


def refresh_request(
    config: Config, options: Mapping[str, Any], alerts: bool
) -> RefreshRequest:
    """What to refresh: as the options say, else the file, else the defaults.

    Args:
        alerts: whether they are delivered.

    Raises:
        StatisticsError: a level out of range.
        MisuseError: no such family, or a webhook that is none; of the file's says
            where.
    """
    from warehouse.analysis.families import choose_families
    from warehouse.analysis.families.family import FamilySettings
    from warehouse.errors import MisuseError
    from warehouse.refresh.run import RefreshRequest

    def setting(name: str) -> Any:
        given = options.get(name)
        if given in (None, ()):
            return config.get(f"refresh.{name}")
        return given

    names = {"resamples": "n_resamples"}
    numbers = {
        names.get(name, name): value
        for name in ("level", "permutations", "resamples", "seed")
        if (value := setting(name)) is not None
    }
    lists = [
        tuple(setting(name) or ()) for name in ("families", "benchmarks", "baselines")
    ]
    try:
        choose_families(lists[0])
    except MisuseError as error:
        if options.get("families"):
            raise
        raise MisuseError(
            f"{config.others['refresh.families'].origin}: {error}"
        ) from None
    webhook = webhook_of(config)
    channels = (LOG, *([WEBHOOK] if webhook else [])) if alerts else ()
    return RefreshRequest(
        lists[0], lists[1], FamilySettings(baselines=lists[2], **numbers), channels
    )


def _prune(state: State, age: timedelta) -> None:
    from warehouse.records.clock import utc_now
    from warehouse.store.computed.metric_values import prune

    with state.open(write=True) as store:
        values, refreshes = prune(store, utc_now() - age)
    state.say(f"pruned {values} figures and {refreshes} empty refreshes")


def _failures(refreshed: Refreshed) -> int:
    """The failures, and the exit code."""
    for failure in refreshed.failures[:SHOWN]:
        echo(f"failed: {failure}", err=True)
    more = len(refreshed.failures) - SHOWN
    if more > 0:
        echo(f"failed: and {more} more", err=True)
    if refreshed.failures:
        return 1
    return 0


def _say(state: State, line: str, notes: tuple[str, ...]) -> None:
    state.say(line)
    state.notes(notes)


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
        raise MisuseError(
            f"{config.others['alerts.webhook'].origin}: {error}"
        ) from None
    return url


def alert_rules(config: Config) -> Rules:
    """The rules of the file's table ``[alerts]``."""
    from warehouse.config import KNOWN
    from warehouse.refresh.alerts import Rules

    settings = {
        key: value
        for key in KNOWN["alerts"]
        if key != "webhook" and (value := config.get(f"alerts.{key}")) is not None
    }
    return Rules(**settings)


def tell_alerts(
    state: State, config: Config, refresh_id: int, output: Output, only: bool
) -> int:
    """Check the rules of the file, and deliver the alerts that are due.

    Args:
        only: alerts are the answer of the command; else they are lines on standard
            error.

    Returns:
        the exit code: 1 if there is an alert that was not delivered before.

    Raises:
        WarehouseError: the webhook did not take a message.
    """
    from warehouse.records.clock import utc_now
    from warehouse.refresh.deliver_alerts import deliver_alerts

    emit = _lines
    if only:
        emit = partial(_rows, output)
    channels: dict[str, Channel] = {LOG: partial(_emitted, emit, refresh_id)}
    if webhook := webhook_of(config):
        channels[WEBHOOK] = partial(_posted, webhook)
    delivery = deliver_alerts(
        state.opener(), alert_rules(config), refresh_id, utc_now(), channels
    )
    if only and not delivery.taken[LOG]:
        _rows(output, refresh_id, ())
    _summary(state, delivery)
    if delivery.problem is not None:
        raise delivery.problem
    return int(bool(delivery.taken[LOG]))


def _emitted(emit: Emit, refresh_id: int, alerts: Sequence[Alerts]) -> Iterator[int]:
    if alerts:
        emit(refresh_id, alerts)
    yield from (batch.refresh_id for batch in alerts)


def _posted(url: str, alerts: Sequence[Alerts]) -> Iterator[int]:
    if not alerts:
        return iter(())
    from warehouse.refresh.webhook import post_all

    return post_all(url, alerts)


def _lines(refresh_id: int, alerts: Sequence[Alerts]) -> None:
    for batch in alerts:
        of = ""
        if batch.refresh_id != refresh_id:
            of = f" (found by refresh {batch.refresh_id})"
        for row in batch.rows:
            where = ""
            if row.benchmark:
                where = f"{row.benchmark}, "
            line = f"alert: {row.rule}: {where}{row.subject}: {row.message}{of}"
            echo(line, err=True)


def _rows(output: Output, _refresh_id: int, alerts: Sequence[Alerts]) -> None:
    from warehouse.refresh.alerts import HIDE_EMPTY, Alert

    rows = list(chain.from_iterable(batch.rows for batch in alerts))
    output.emit_records(Alert, rows, hide_empty=HIDE_EMPTY, empty="no alerts")
    sys.stdout.flush()  # delivered is what has left this process


def _summary(state: State, delivery: Delivery) -> None:
    state.say(delivery.present.one_line)
    earlier = set()
    for delivered in delivery.taken.values():
        for batch in delivered:
            if batch.refresh_id != delivery.present.refresh_id:
                earlier.add(batch.refresh_id)
    if earlier:
        several = "refreshes"
        if len(earlier) == 1:
            several = "refresh"
        names = ", ".join(map(str, sorted(earlier)))
        state.say(
            f"note: alerts of {several} {names} had not been told everywhere, and are "
            "now"
        )
    state.notes((*delivery.present.notes, *delivery.notes))
