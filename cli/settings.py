"""``config``: which settings hold, and who said so."""

from __future__ import annotations

from .frame import command
from .options import output_options
from .output import Output
from .state import State, pass_state


@command("config")
@output_options
@pass_state
def config(state: State, output: Output) -> None:
    from warehouse.store.dialects import parse_url

    rows = []
    for setting in state.config().settings:
        shown = setting.value
        if setting.name == "store.url":
            shown = parse_url(shown).render_as_string(hide_password=True)
        elif setting.name == "alerts.webhook":
            shown = _host(shown)
        rows.append({"setting": setting.name, "value": in_words(shown), "origin": setting.origin})
    output.emit(["setting", "value", "origin"], rows)


def in_words(value: object) -> str:
    """A value as the file would have it."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _host(url: str) -> str:
    """A URL without what may be secret in it."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}/..."
