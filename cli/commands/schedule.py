"""``schedule`` and ``config``: jobs at the times of a cron expression, and which
settings hold."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import MisuseError

from ..lazy_group import command
from ..state import State
from ..ui.options import lake_option, option, output_options, refuse_typed
from ..ui.output import Output
from ..ui.output_files import OutputFile
from .refresh import age_callback, alert_rules, refresh_request, webhook_of

if TYPE_CHECKING:
    from warehouse.config import Config, Setting
    from warehouse.schedule.job import Job
    from warehouse.schedule.log import JobLog
    from warehouse.schedule.loop import Times


#: What holds where neither the flag nor ``[schedule]`` says anything.
DEFAULTS: dict[str, Any] = {
    "watch": (),
    "board": (),
    "settle": 2.0,
    "log_format": "text",
    "grace": 60.0,
}


@command("schedule")
@option(
    "--cron EXPRESSION",
    "When: minute hour day-of-month month day-of-week; six fields begin with seconds.",
)
@option("--timezone NAME", "Of the expression. [default: this machine's]")
@option(
    "--watch DIR",
    "Ingest what is new in this folder first. Repeatable.",
    click.Path(),
    multiple=True,
)
@option(
    "--board FILE",
    "Look at this published table; an alert if a figure newly cannot be right. "
    "Repeatable.",
    click.Path(),
    multiple=True,
)
@option(
    "--settle SECONDS",
    "A file is left for the next run until it has not changed for so long. [default: "
    "2]",
    click.FloatRange(min=0),
)
@option("--report FILE", "Write the page there at the end.", OutputFile(None))
@option(
    "--publish PATH",
    "Publish a read-only copy there after the refresh.",
    OutputFile(None),
)
@lake_option
@option(
    "--prune-older-than AGE",
    "Forget older figures, such as 90d, but for the newest of each.",
    callback=age_callback,
)
@option(
    "--health FILE",
    "Keep a JSON file that says how it stands; it is renewed every 15 seconds.",
    OutputFile(None),
)
@option(
    "--log-format",
    "Of the events on standard error. [default: text]",
    click.Choice(["text", "json"]),
)
@option(
    "--grace SECONDS",
    "How long a running job may take to end after SIGTERM or Ctrl-C. [default: 60]",
    click.FloatRange(min=0),
)
@option("--once", "Do the job now, once; for cron, systemd and the like.", is_flag=True)
@option("--show-next N", "Only list the next N times.", click.IntRange(1, 1000))
@output_options
def schedule(
    state: State, /, once: bool, show_next: int | None, output: Output, **flags: Any
) -> int | None:
    if not output.for_people and show_next is None:
        raise click.UsageError("--json, --csv and --parquet go with --show-next")
    if once and (show_next is not None or flags["health"]):
        raise click.UsageError("--once goes with neither --show-next nor --health")
    if once:
        refuse_typed(
            "is for a process that stays, and --once does the job now",
            "cron",
            "timezone",
            "grace",
        )
    if show_next is not None:
        refuse_typed(
            "is for the job, and --show-next does none",
            *(flags.keys() - {"cron", "timezone"}),
        )
    given = {name: flag for name, flag in flags.items() if flag not in (None, ())}
    settings = _Settings(state.config(), given)
    if show_next is not None:
        _show_next(_times(settings), show_next, output)
        return 0
    if once:
        return _once(state, settings)
    _stay(state, settings)
    return 0


class _Settings:
    """Flags, else ``[schedule]``, else the defaults; ``given`` are the flags alone."""

    def __init__(self, config: Config, given: dict[str, Any]) -> None:
        self.config, self.given = config, given

    def __getitem__(self, name: str) -> Any:
        usual = self.config.get(f"schedule.{name}", DEFAULTS.get(name))
        return self.given.get(name, usual)

    def origin(self, name: str) -> str:
        """Who said it, for a message."""
        if name in self.given:
            return f"--{name}"
        setting = self.config.others.get(f"schedule.{name}")
        if setting:
            return f"schedule.{name} ({setting.origin})"
        return f"--{name}"


def _times(settings: _Settings) -> Times:
    from warehouse.schedule.loop import EXPECTED, Times, zone_named

    if settings["cron"] is None:
        raise click.UsageError(
            f"give --cron, or schedule.cron in warehouse.toml: {EXPECTED}; or --once"
        )
    name = "timezone"
    try:
        zone = zone_named(settings[name])
        name = "cron"
        return Times(settings[name], zone)
    except MisuseError as error:
        raise MisuseError(f"{settings.origin(name)}: {error}") from None


def _show_next(times: Times, count: int, output: Output) -> None:
    from warehouse.records.clock import aware_now

    rows = [
        {"time": moment.astimezone(times.zone).isoformat(), "utc": moment.isoformat()}
        for moment in times.upcoming(aware_now(), count)
    ]
    output.emit(["time", "utc"], rows)


# --- the process that stays ------------------------------------------------------------------


def _stay(state: State, settings: _Settings) -> None:
    import time

    from warehouse.records.clock import aware_now
    from warehouse.schedule.log import Health
    from warehouse.schedule.loop import Scheduler, Timetable
    from warehouse.schedule.worker import Stop

    times = _times(settings)
    _require_outputs(_job(settings))  # a mistake in it ends us now, not every run
    log = _log(state, settings)
    path = None
    if settings["health"]:
        path = Path(settings["health"])
    health = Health(
        path, log, aware_now, cron=times.expression, timezone=str(times.zone)
    )
    scheduler = Scheduler(
        Timetable(times, aware_now, time.monotonic),
        _command(state, settings.given),
        _environment(state),
        log,
        health,
        settings["grace"],
        aware_now,
    )
    with Stop() as stop:
        scheduler.run(stop)


def _require_outputs(job: Job) -> None:
    from warehouse.files import REPORT, UNATTENDED, require_output
    from warehouse.report.writing import check_folder
    from warehouse.store.snapshot import require_target

    if job.report:
        if Path(job.report).is_dir():
            check_folder(job.report)
        else:
            require_output(job.report, REPORT, advice=UNATTENDED)
    if job.publish:
        require_target(Path(job.publish), advice=UNATTENDED)


def _command(state: State, given: dict[str, Any]) -> list[str]:
    """The call that does the job once. It reads ``warehouse.toml`` itself, as it is
    then."""
    words = [sys.executable, "-P", "-m", "warehouse", "--wait", str(state.wait)]
    words += ["schedule", "--once", "--log-format", "json"]
    for folder in given.get("watch", ()):
        words += ["--watch", folder]
    for path in given.get("board", ()):
        words += ["--board", path]
    for name in ("settle", "report", "publish", "lake"):
        if name in given:
            words += [f"--{name}", str(given[name])]
    if "prune_older_than" in given:
        hours = given["prune_older_than"] / timedelta(hours=1)
        words += ["--prune-older-than", f"{hours:.6f}h"]
    return words


def _environment(state: State) -> dict[str, str]:
    """With the store that ``--db`` names: not among the words, where others would see
    it."""
    from warehouse.config import CONFIG_VARIABLE, URL_VARIABLE

    environment = dict(os.environ)
    if state.db:
        environment[URL_VARIABLE] = state.db
    if state.config_file:
        environment[CONFIG_VARIABLE] = state.config_file
    return environment


def _log(state: State, settings: _Settings) -> JobLog:
    from warehouse.schedule.log import JobLog

    return JobLog(settings["log_format"], sys.stderr, quiet=state.quiet)


# --- the job ---------------------------------------------------------------------------------


def _once(state: State, settings: _Settings) -> int:
    from warehouse.files import UNATTENDED
    from warehouse.schedule.job import run_job
    from warehouse.schedule.worker import Stop
    from warehouse.store.snapshot import publish

    job = replace(_job(settings), rules_on_files=state.file_rules())
    url = state.config().url.value
    quiet = State(
        state.db, quiet=True, wait=state.wait, config_file=state.config_file
    )  # what it says would be no event
    with Stop(patient=False) as stop:
        outcome = run_job(
            job,
            quiet.opener(),
            _log(state, settings),
            lambda: stop.count > 0,
            create=quiet.open_or_create,
            publish=lambda path: publish(url, path, wait=state.wait, advice=UNATTENDED),
            wait=state.wait,
        )
    return outcome.exit_code


def _job(settings: _Settings) -> Job:
    from warehouse.schedule.job import Job

    config = settings.config
    work = refresh_request(config, {}, alerts=True)
    hooked = ""
    if config.publish_after.value:
        hooked = config.publish_path.value
    return Job(
        watch=tuple(settings["watch"]),
        board=tuple(settings["board"]),
        settle=settings["settle"],
        work=work,
        rules=alert_rules(config),
        webhook=webhook_of(config),
        prune=settings["prune_older_than"],
        publish=str(settings["publish"] or hooked),
        lake=settings["lake"] or "",
        report=str(settings["report"] or ""),
    )


@command("config")
@output_options
def config(state: State, output: Output) -> None:
    from warehouse.config import KNOWN, Setting

    found = state.settings()
    settings = {setting.name: setting for setting in found.settings}
    usual = _defaults()
    rows = []
    names = []
    for table, keys in KNOWN.items():
        names += [f"{table}.{key}" for key in keys]
    for name in names:
        setting = settings.get(name) or Setting(name, usual.get(name), "the default")
        rows.append(
            {"setting": name, "value": _shown(setting), "origin": setting.origin}
        )
    output.emit(["setting", "value", "origin"], rows)
    state.notes(f"refused: {text}" for text in found.refused)


def _defaults() -> dict[str, object]:
    """The values where neither the file nor anything above it says anything."""
    from warehouse.analysis.families import ON_REQUEST, family_names
    from warehouse.analysis.families.family import FamilySettings
    from warehouse.refresh.alerts import Rules

    settings = asdict(FamilySettings())
    refresh = settings | {
        "resamples": settings["n_resamples"],
        "families": [name for name in family_names() if name not in ON_REQUEST],
    }
    tables = {"refresh": refresh, "alerts": asdict(Rules()), "schedule": DEFAULTS}
    known = {}
    for table, values in tables.items():
        for key, value in values.items():
            known[f"{table}.{key}"] = value
    return known


def _shown(setting: Setting) -> str:
    from warehouse.ingest.remote_hosts import is_url, shown_url
    from warehouse.store.engines import shown_reader, shown_text

    if setting.name == "store.url":
        return shown_text(setting.value)
    if setting.name == "store.reader":
        return shown_reader(setting.value)
    if setting.name == "schedule.watch" and setting.value:
        return in_words(
            [shown_url(path) if is_url(path) else path for path in setting.value]
        )
    if setting.name == "alerts.webhook" and setting.value:
        return _host(setting.value)
    return in_words(setting.value)


def in_words(value: object) -> str:
    """A value as the file would have it; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} = {part}" for key, part in value.items())
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, timedelta):
        return f"{value.total_seconds() / 3600:g}h"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _host(url: str) -> str:
    """A URL without what may be secret in it."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        return "what cannot be read as a URL"
    return f"{parts.scheme}://{parts.hostname}/..."
