"""``mcp``: the store for agents, over the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError

from ..lazy_group import command
from ..state import State
from ..ui.options import limit_options

if TYPE_CHECKING:
    from warehouse.store.engines import Limits


@command("mcp")
@limit_options
def mcp(state: State, limits: Limits) -> None:
    from ..agents.server import serve

    if sys.stdin.isatty():
        state.say(
            "note: this waits for a program that speaks the Model Context Protocol; "
            "Ctrl-C ends"
        )
    try:
        state.open().close()
    except (
        WarehouseError
    ) as error:  # every answer will say so, until the store is there
        state.say(f"note: {error}")
    serve(state, limits)
