"""``config``: which settings hold, and who said so."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output

if TYPE_CHECKING:
    from warehouse.config import Setting


@command("config")
@output_options
@pass_state
def config(state: State, output: Output) -> None:
    from warehouse.config import KNOWN, Setting

    settings = {setting.name: setting for setting in state.config().settings}
    usual = _defaults()
    rows = []
    for name in (f"{table}.{key}" for table, keys in KNOWN.items() for key in keys):
        setting = settings.get(name) or Setting(name, usual.get(name), "the default")
        rows.append({"setting": name, "value": _shown(setting), "origin": setting.origin})
    output.emit(["setting", "value", "origin"], rows)


def _defaults() -> dict[str, object]:
    """What holds where neither the file nor anything above it says anything."""
    from warehouse.analysis.families import ON_REQUEST, family_names
    from warehouse.analysis.families.family import Settings
    from warehouse.refresh.alerts import Rules

    from .schedule import DEFAULTS

    settings = asdict(Settings())
    refresh = settings | {
        "resamples": settings["n_resamples"],
        "families": [name for name in family_names() if name not in ON_REQUEST],
    }
    tables = {"refresh": refresh, "alerts": asdict(Rules()), "schedule": DEFAULTS}
    return {f"{table}.{key}": value for table, values in tables.items() for key, value in values.items()}


def _shown(setting: Setting) -> str:
    from warehouse.ingest.remote_hosts import is_url, shown_url
    from warehouse.store.engines import shown_reader, shown_text

    if setting.name == "store.url":
        return shown_text(setting.value)
    if setting.name == "store.reader":
        return shown_reader(setting.value)
    if setting.name == "schedule.watch" and setting.value:
        return in_words([shown_url(path) if is_url(path) else path for path in setting.value])
    if setting.name == "alerts.webhook" and setting.value:
        return _host(setting.value)
    return in_words(setting.value)


def in_words(value: object) -> str:
    """A value as the file would have it; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, timedelta):
        return f"{value.total_seconds() / 3600:g}h"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _host(url: str) -> str:
    """A URL without what may be secret in it."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        return "what cannot be read as a URL"
    return f"{parts.scheme}://{parts.hostname}/..."
