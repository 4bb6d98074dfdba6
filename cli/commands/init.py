"""``init``: an empty store."""

from __future__ import annotations

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.table import echo


@command("init")
@pass_state
def init(state: State) -> None:
    from warehouse.store.schema import revision

    with state.open_or_create(beside_others=True) as store:
        echo(f"{store.name} is ready, schema {revision.HEAD}")
