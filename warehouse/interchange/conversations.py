"""Stored transcripts as the messages of Every Eval Ever and of Inspect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def stored(way: Row, tools: Iterable[Row]) -> Row:
    """A transcript in the fields that an importer fills, without those of which nothing
    is known."""
    named = [
        {
            "tool": tool["tool"],
            "n_calls": tool["n_calls"],
            "n_errors": tool["n_errors"],
        }
        for tool in tools
    ]
    fields = {
        name: value
        for name, value in way.items()
        if name != "n_tool_calls" and value is not None
    }
    if way["n_tool_calls"] is None:
        return fields
    return {**fields, "tools": named}


def messages_of(text: str) -> list[Row]:
    """The messages of a conversation. The format has texts only: of other parts it
    keeps the kind."""
    return [_message(index, item) for index, item in enumerate(json.loads(text))]


def _message(index: int, item: Row) -> Row:
    said, thought = _texts(item.get("content"))
    if isinstance(item.get("reasoning_content"), str):
        thought += [item["reasoning_content"]]
    error = item.get("error")
    if error:
        said = [
            _text(error.get("message") or error)
            if isinstance(error, dict)
            else _text(error),
            *said,
        ]
    calls, key = item.get("tool_calls"), item.get("tool_call_id")
    tool_calls = None
    if isinstance(calls, list):
        tool_calls = [_call(index, n, call) for n, call in enumerate(calls)]
    message = {
        "content": "\n".join(said) if said else None,
        "reasoning_trace": "\n".join(thought) or None,
        "tool_calls": tool_calls,
        "tool_call_id": [_text(key)] if key else None,
    }
    present = {name: value for name, value in message.items() if value is not None}
    return {"turn_idx": index, "role": _text(item.get("role") or "unknown"), **present}


def _texts(content: Any) -> tuple[list[str], list[str]]:
    """Texts that were said, and texts that were thought."""
    said: list[str] = []
    thought: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, dict) or part is content:
            if part is not None:
                said.append(_text(part))
        elif part.get("type") == "reasoning":
            thought.append(_text(part.get("reasoning") or part.get("text") or ""))
        else:
            said.append(_text(part.get("text") or f"({part.get('type') or 'part'})"))
    return said, thought


def _call(index: int, number: int, call: Any) -> Row:
    if isinstance(call, dict):
        fields = call
    else:
        fields = {"function": "unknown", "arguments": call}
    arguments = fields.get("arguments")
    if isinstance(arguments, dict):
        named = arguments
    elif arguments is not None:
        named = {"arguments": arguments}
    else:
        named = {}
    return {
        "id": _text(fields.get("id") or f"{index}.{number}"),
        "name": _text(fields.get("function") or "unknown"),
        "arguments": {name: _text(value) for name, value in named.items()},
    }


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


#: Roles as Inspect has them; who else speaks is no part of the model.
_ROLES = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
}
_ERRORS = frozenset(
    """
    parsing timeout unicode_decode permission file_not_found is_a_directory limit approval cancelled unknown
    """.split()
)


def chat_messages(text: str) -> list[Row]:
    """The messages of a stored conversation as Inspect writes them."""
    messages = [
        _chat_message(item, index) for index, item in enumerate(json.loads(text))
    ]
    waiting: dict[str, str] = {}
    for message in messages:
        if (
            message["role"] == "tool" and waiting
        ):  # a result that names no call is that of the first unanswered one
            key = message.setdefault("tool_call_id", next(iter(waiting)))
            message.setdefault("function", waiting.pop(key, "unknown"))
        waiting |= {
            call["id"]: call["function"] for call in message.get("tool_calls", ())
        }
    return messages


def _chat_message(item: Row, index: int) -> Row:
    role = _ROLES.get(str(item.get("role")), "user")
    message: Row = {"role": role, "content": _parts(item)}
    if role == "assistant":
        if item.get("source") == "input":
            message["source"] = "input"
        else:
            message["source"] = "generate"
    calls = item.get("tool_calls")
    if role == "assistant" and isinstance(calls, list):
        message["tool_calls"] = [
            _tool_call(call, f"{index}.{number}") for number, call in enumerate(calls)
        ]
    if role != "tool":
        return message
    error = item.get("error")
    if isinstance(error, dict):
        details = error
    else:
        details = {"message": error}
    tool_call_id = None
    if item.get("tool_call_id"):
        tool_call_id = _text(item["tool_call_id"])
    present = {
        "tool_call_id": tool_call_id,
        "function": item.get("function") or item.get("name"),
        "error": {
            "type": details.get("type")
            if details.get("type") in _ERRORS
            else "unknown",
            "message": _text(details.get("message") or details),
        }
        if error
        else None,
    }
    return message | {
        name: value for name, value in present.items() if value is not None
    }


def _parts(item: Row) -> str | list[Row]:
    """A content: a text, or a text with thoughts before it."""
    said, thought = _texts(item.get("content"))
    if isinstance(item.get("reasoning_content"), str):
        thought += [item["reasoning_content"]]
    spoken = "\n".join(said)
    if not thought:
        return spoken
    reasons: list[Row] = [{"type": "reasoning", "reasoning": text} for text in thought]
    return [*reasons, {"type": "text", "text": spoken}]


def _tool_call(value: Any, unnamed: str) -> Row:
    if isinstance(value, dict):
        call = value
    else:
        call = {"arguments": value}
    arguments = call.get("arguments")
    if arguments is None:
        named = {}
    elif isinstance(arguments, dict):
        named = arguments
    else:
        named = {"arguments": arguments}
    return {
        "id": _text(call.get("id") or unnamed),
        "function": _text(call.get("function") or "unknown"),
        "arguments": named,
        "type": "function",
    }
