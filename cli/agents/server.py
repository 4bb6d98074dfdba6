"""The server: lists the tools and calls them, one at a time, over standard input and
output."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from warehouse.errors import MisuseError
from warehouse.extras import load
from warehouse.records.canonical_json import json_text
from warehouse.records.credentials import masked
from warehouse.store.engines import Limits

from ..failures import Failure, failure_of
from ..state import State
from .incoming import standard_input
from .tools import TOOLS, Answered, Context, page_of, suggestion

log = logging.getLogger(__name__)
INSTRUCTIONS = """Results of LLM evaluations with their statistics, read only. Begin with describe, then leaderboard.
Every answer is JSON: the verdict in one sentence, rows (figures on the scale of the metric, ci_low and ci_high are the
ends of the interval, flags are explained), and the command that gives the same in a shell. If there is more,
next_offset is the offset of the next page. Models whose group has a letter in common cannot be told apart. Do not call
a difference real that the verdict does not. An error is JSON too: error, kind, advice, exit_code; options
of the command in an advice (--where) are arguments of the tool (where)."""
#: Answers that are kept for their next pages.
KEPT = 2
#: Seconds between two interruptions of a call that nobody waits for any more.
AGAIN = 0.05


class Tools:
    """Calls tools; pages after the first are of the answer that the first was of, if
    that is still kept."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.kept: dict[str, Answered] = {}

    def page(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The page that is asked for, as JSON (WarehouseError: as the command)."""
        if name not in TOOLS:
            raise MisuseError(f"no tool {name!r}; {suggestion(name, TOOLS)}")
        question, paging = TOOLS[name].read(arguments)
        before = None
        if paging.offset:
            before = self.kept.pop(repr(question), None)
        answered = before or TOOLS[name].answer(self.context, question)
        self.kept = dict([*self.kept.items(), (repr(question), answered)][-KEPT:])
        return page_of(answered, paging)

    def page_or_error(
        self, name: str, arguments: Mapping[str, Any]
    ) -> tuple[str, bool]:
        """The page, or an error in its stead as JSON, and whether it is an error."""
        try:
            return self.page(name, arguments), False
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                log.exception("tool %s", name)
                failure = Failure(
                    f"a mistake of this program: {type(error).__name__}: {error}",
                    "internal",
                    1,
                )
            failure = failure._replace(message=masked(failure.message))
            return json_text(failure.to_dict()), True


def serve(state: State, limits: Limits) -> None:
    """Serve over standard input and output until that ends (MisuseError: the package is
    not installed)."""
    lowlevel = load("mcp.server.lowlevel", "mcp", "an MCP server")
    import anyio
    import mcp_types as types
    from mcp.server.stdio import stdio_server

    tools, one_at_a_time = Tools(Context(state, limits)), anyio.CapacityLimiter(1)
    only_reads = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    listed = [
        types.Tool(
            name=name,
            description=tool.description,
            input_schema=tool.input_schema(),
            annotations=only_reads,
        )
        for name, tool in TOOLS.items()
    ]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def interrupt_if_cancelled(ended: anyio.Event) -> None:
        try:
            await anyio.sleep_forever()
        finally:  # statement after statement: the thread itself cannot be ended
            with anyio.CancelScope(shield=True):
                while not ended.is_set():
                    tools.context.interrupt()
                    await anyio.sleep(AGAIN)

    async def call_tool(
        _context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        async with one_at_a_time, anyio.create_task_group() as group:
            ended = anyio.Event()
            group.start_soon(interrupt_if_cancelled, ended)
            try:
                text, failed = await anyio.to_thread.run_sync(
                    tools.page_or_error, params.name, params.arguments or {}
                )
            finally:  # a thread is waited for, also where the call is cancelled
                ended.set()
            group.cancel_scope.cancel()
        return types.CallToolResult(
            content=[types.TextContent(text=text)], is_error=failed
        )

    handlers = {"on_list_tools": list_tools, "on_call_tool": call_tool}
    server = lowlevel.Server(
        "warehouse",
        version=version("eval-warehouse"),
        instructions=INSTRUCTIONS,
        **handlers,
    )

    async def talk() -> None:
        async with stdio_server(stdin=anyio.wrap_file(standard_input())) as (
            read,
            write,
        ):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(talk)
