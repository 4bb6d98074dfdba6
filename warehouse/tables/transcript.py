"""A stored transcript as people read it: who speaks, what was said, calls of tools as
code."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Lines of a message before it is folded.
FOLDED = 12


@dataclass(frozen=True)
class Message:
    """One message of a transcript."""

    title: str  #: who speaks, and of a tool that it failed.
    role: str  #: as it stands.
    #: what was said, each a text of one or several lines; calls of tools as code.
    parts: tuple[str, ...]


def messages_of(text: str, width: int) -> Iterator[Message]:
    """The messages of a transcript.

    Args:
        text: JSON list of messages, as stored.
        width: characters of a line, beyond which JSON stands in several.
    """
    waiting: dict[str, str] = {}
    for message in json.loads(text):
        title = _title(message, answering_tool(message, waiting))
        yield Message(
            title, str(message.get("role") or ""), tuple(_parts(message, width))
        )
        waiting |= called_by(message)


def transcript_lines(text: str, *, whole: bool, width: int) -> Iterator[str]:
    """The lines of a transcript, within the width of a page.

    Args:
        text: JSON list of messages, as stored.
        whole: every message to its end; else :data:`FOLDED` lines of each.
        width: characters of a line of the page.
    """
    room = max(20, min(width, 100) - 2)
    for message in messages_of(text, width):
        yield f"[{message.title}]"
        lines: list[str] = []
        for part in message.parts:
            lines += _wrapped(part, room)
        if not lines:
            lines = ["(nothing)"]
        if whole or len(lines) <= FOLDED + 1:
            shown = lines
        else:
            shown = lines[:FOLDED]
        yield from (f"  {line}".rstrip() for line in shown)
        if len(shown) < len(lines):
            yield f"  ... {len(lines) - len(shown)} more lines (--full)"


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.expandtabs(4).splitlines():
        said = line.lstrip()
        indent = line[: min(len(line) - len(said), width // 2)]
        yield from textwrap.wrap(
            said, width, initial_indent=indent, subsequent_indent=indent
        ) or [""]


def ends_with(text: str, response: str) -> bool:
    """True where the last message of a transcript says the response and nothing else."""
    last = (json.loads(text) or [{}])[-1]
    said = list(_texts(last.get("content")))
    return bool(last.get("role") == "assistant" and said[-1:] == [_trimmed(response)])


def called_by(message: Mapping[str, Any]) -> dict[str, str]:
    """Names of the tools that a message calls, by the ids of the calls."""
    calls = [parsed_call(call) for call in listed_parts(message.get("tool_calls"))]
    return {
        str(call.get("id", index)): name_of_tool(call)
        for index, call in enumerate(calls)
        if isinstance(call, dict)
    }


def answering_tool(message: Mapping[str, Any], waiting: dict[str, str]) -> str:
    """The tool that a message is from: as it says, by the id of the call, else that of
    the first call unanswered."""
    if message.get("role") != "tool":
        return str(message.get("name") or "")
    key = str(message.get("tool_call_id") or next(iter(waiting), ""))
    called = waiting.pop(key, "")
    return str(message.get("function") or message.get("name") or called)


def _title(message: Mapping[str, Any], tool: str) -> str:
    """The role, the tool that answers, that it failed, and that the model did not write
    it."""
    said = f"{message.get('role') or 'no role'} {tool}".strip()
    if message.get("source") == "input":
        said += " (given)"
    if message.get("error"):
        said += ": error"
    return said


def _parts(message: Mapping[str, Any], width: int) -> Iterator[str]:
    error = message.get("error")
    if error:
        if isinstance(error, dict):
            error = error.get("message") or error
        yield str(error)
    thought = message.get("reasoning_content")
    if isinstance(thought, str) and thought.strip():
        yield f"(reasoning) {_trimmed(thought)}"
    yield from _texts(message.get("content"), width)
    yield from (_call(call) for call in listed_parts(message.get("tool_calls")))


def _texts(content: Any, width: int = 0) -> Iterator[str]:
    """Texts as they are, JSON by its parts, and what is no text by its kind."""
    if isinstance(content, str):
        yield _by_parts(_trimmed(content), width)
    elif isinstance(content, dict):
        yield _by_parts(json.dumps(content, ensure_ascii=False), width)
    for part in listed_parts(content):
        if not isinstance(part, dict):
            yield _trimmed(str(part))
            continue
        kind = str(part.get("type") or "part").removesuffix("_url")
        text = part.get("text") or part.get("reasoning") or ""
        if text and kind == "reasoning":
            yield f"(reasoning) {text}"
        else:
            yield str(text) or f"({kind})"


def _trimmed(text: str) -> str:
    return text.strip("\n").rstrip()


def _by_parts(text: str, width: int) -> str:
    """A JSON text that is wider than a line in several: one for each item or field of
    it."""
    if not width or len(text) <= width or text[:1] not in ("{", "["):
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(document, list):
        lines = [_value(item) for item in document]
    else:
        lines = [
            f"{json.dumps(key, ensure_ascii=False)}: {_value(item)}"
            for key, item in document.items()
        ]
    return "\n".join(
        (
            text[0],
            *(f"  {line}," for line in lines[:-1]),
            *(f"  {line}" for line in lines[-1:]),
            text[-1],
        )
    )


def listed_parts(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return []


def parsed_call(call: Any) -> Any:
    """A call, parsed where it is given as JSON text."""
    try:
        if isinstance(call, str):
            return json.loads(call)
        return call
    except ValueError:
        return call


def name_of_tool(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    if isinstance(function, dict):
        function = function.get("name")
    return str(function or call.get("name"))


def _call(raw: Any) -> str:
    """A call as code: ``-> tool(name=value)``."""
    call = parsed_call(raw)
    if not isinstance(call, dict):
        return f"-> {call}"
    function = call.get("function")
    given = call
    if isinstance(function, dict):
        given = function
    arguments = parsed_call(given.get("arguments"))
    if arguments is None:
        return f"-> {name_of_tool(call)}()"
    if not isinstance(arguments, dict):
        return f"-> {name_of_tool(call)}({arguments})"
    named = [f"{key}={_argument(value)}" for key, value in arguments.items()]
    return f"-> {name_of_tool(call)}({', '.join(named)})"


def _argument(value: Any) -> str:
    """A value within a call; a text of several lines stands below the call."""
    if not isinstance(value, str) or "\n" not in value:
        return _value(value)
    return "\n" + textwrap.indent(_trimmed(value), "     ") + "\n   "


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
