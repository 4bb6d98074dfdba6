"""``init``: an empty store."""

from __future__ import annotations

import click

from .frame import command
from .state import State, pass_state


@command("init")
@pass_state
def init(state: State) -> None:
    from warehouse.store import migrate, revision
    from warehouse.store.engine import open_store

    url = state.config().url.value
    with open_store(url, write=True, check=False, on_wait=state.say) as store:
        found = revision.found(store)
        if found is None:
            migrate.upgrade(store)
            click.echo(f"created {store.name}, schema {revision.HEAD}")
        else:
            revision.require(store)
            click.echo(f"{store.name} is there already, schema {found}")
