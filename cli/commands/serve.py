"""``serve``: the store in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..lazy_group import command
from ..state import State
from ..ui.options import option
from ..ui.table import echo
from .refresh import alert_rules

#: Where a token is taken from that no file has.
VARIABLE = "WAREHOUSE_TOKEN"


@command("serve")
@option("--host ADDRESS", "Address to listen on.", default="127.0.0.1")
@option("--port N", "0: any that is free.", click.IntRange(0, 65535), 8321)
@option(
    "--token-file FILE",
    f"Whoever asks has to show what stands in it. [default: ${VARIABLE}, if set]",
    click.Path(exists=True, dir_okay=False, path_type=Path),
)
@option(
    "--trust-header NAME",
    "Let in whoever a proxy names in this header.",
    silent_default="",
)
@option("--from ADDRESS", "Address of that proxy.", silent_default="", name="proxy")
@option(
    "--timeout SECONDS",
    "How long the queries of a page may take.",
    click.FloatRange(1, 3600),
    30.0,
)
@option("--open", "Open it in the browser of this machine.", name="opens", is_flag=True)
def serve(
    state: State,
    /,
    host: str,
    port: int,
    token_file: Path | None,
    trust_header: str,
    proxy: str,
    timeout: float,
    opens: bool,
) -> None:
    state.say("reading the store; the address follows")
    from warehouse.serve.app import create_app
    from warehouse.serve.security import Access
    from warehouse.serve.server import listen, serve

    token = (
        token_file.read_text(encoding="latin-1").strip()
        if token_file
        else os.environ.get(VARIABLE, "")
    )
    access = Access(host, token, trust_header, proxy)
    own = listen(host, port)
    config = state.config()
    app = create_app(
        config.url.value,
        access=access,
        seconds=timeout,
        wait=state.wait,
        rules=alert_rules(config),
    )
    shown = f"[{host}]" if ":" in host else host
    address = (
        f"http://{shown}:{own.getsockname()[1]}/{f'?token={token}' if token else ''}"
    )

    def ready() -> None:
        echo(f"{app.store.name} at {address} (Ctrl-C ends it)")
        sys.stdout.flush()
        if opens:
            click.launch(address)

    serve(app, own, ready)
    sys.stdout.flush()
    os._exit(
        0
    )  # what is computed beside the engine cannot be told to end, and would be waited for
