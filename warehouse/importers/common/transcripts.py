"""What happened on the way to a response: turns, calls of tools and their errors, from a list of messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from warehouse.importers.common.chat_messages import Message, bare_message
from warehouse.importers.common.json_fields import compact, items_of, objects_of, part_of, text_or_none, without_empty

#: The ``source`` of messages that were there before the model wrote anything, as Inspect calls it.
GIVEN = "input"


def transcript_of(messages: Sequence[Message], *, says_errors: bool, keep: bool = False, **more: Any) -> dict[str, Any]:
    """The ``transcript`` of a sample (``TRANSCRIPT_TYPE``) from its messages, the model's last one included.

    The messages themselves are kept where they say more than a prompt and a response: where the model
    wrote several, or called a tool.

    Args:
        messages: with ``role`` and ``content``; ``tool_calls`` as Inspect or the chat API of OpenAI writes
            them, or as JSON texts; results of tools have the role ``tool``, and ``error`` where they failed.
            What was given to the model beforehand, examples say, has the source :data:`GIVEN`.
        says_errors: the format marks results of tools that are errors; else their number is unknown.
        keep: the messages stand nowhere else, not even a prompt and a response.
        more: other fields of the transcript.
    """
    own = [item for item in messages if item.get("source") != GIVEN]
    n_turns = sum(item.get("role") == "assistant" for item in own)
    tools = tools_of(own, says_errors)
    said = compact([_kept(item) for item in messages]) if keep or n_turns > 1 or tools else None
    return {"n_messages": len(messages), "n_turns": n_turns, "tools": tools, "messages": said, **more}


def given(messages: Sequence[Message]) -> list[Message]:
    """Messages as what was given to the model beforehand: what it says there is no turn of its own."""
    return [{**item, "source": GIVEN} for item in messages]


def tools_of(messages: Sequence[Message], says_errors: bool) -> list[dict[str, Any]]:
    """Calls and errors of each tool, in the order of their first call."""
    calls: Counter[str | None] = Counter()
    errors: Counter[str | None] = Counter()
    by_id: dict[str, str | None] = {}
    for message in messages:
        for call in calls_of(message):
            name = tool_name(call)
            calls[name] += 1
            if isinstance(call.get("id"), str):
                by_id[call["id"]] = name
        if message.get("role") == "tool" and message.get("error"):
            errors[text_or_none(message.get("function")) or by_id.get(str(message.get("tool_call_id")))] += 1
    return [
        {"tool": tool, "n_calls": calls[tool], "n_errors": errors[tool] if says_errors else None}
        for tool in (*calls, *(tool for tool in errors if tool not in calls))
    ]


def calls_of(message: Mapping[str, Any]) -> list[Message]:
    """The calls of tools that a message makes; those that stand as JSON text are read."""
    calls = message.get("tool_calls")
    return objects_of([_parsed(item) for item in items_of(calls)]) if calls else []


def tool_name(call: Mapping[str, Any]) -> str | None:
    """The name of the tool that a call asks for."""
    function = call.get("function")
    named = function.get("name") if isinstance(function, dict) else function or call.get("name")
    return text_or_none(named)


def _kept(message: Message) -> Message:
    """A message as it is stored: calls of tools stand as Inspect writes them, whoever wrote the dump, and what the
    model did not write itself is told."""
    kept = bare_message(message)
    if message.get("role") == "assistant" and message.get("source") == GIVEN:
        kept["source"] = GIVEN
    if "tool_calls" in kept:
        kept["tool_calls"] = [_call(_parsed(call)) for call in items_of(kept["tool_calls"])]
    return kept if kept.get("tool_calls", True) else without_empty(kept)


def _call(call: Any) -> Any:
    if not isinstance(call, dict) or (
        isinstance(call.get("function"), str) and not isinstance(call.get("arguments"), str)
    ):
        return call
    function = part_of(call, "function") or call
    return {"id": call.get("id"), "function": tool_name(call), "arguments": _parsed(function.get("arguments"))}


def _parsed(text: Any) -> Any:
    """What a text says as JSON; the text where it is none."""
    try:
        return orjson.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text
