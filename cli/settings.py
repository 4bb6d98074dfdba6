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
        rows.append({"setting": setting.name, "value": shown, "origin": setting.origin})
    output.emit(["setting", "value", "origin"], rows)
