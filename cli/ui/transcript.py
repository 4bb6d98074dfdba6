"""A stored transcript as people read it: roles, what was said, calls of tools, results folded."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

#: Lines of a message before it is folded.
FOLDED = 12


def transcript_lines(text: str, *, whole: bool) -> Iterator[str]:
    """The lines of a transcript, within the width of the terminal.

    Args:
        text: JSON list of messages, as stored.
        whole: every message to its end; else :data:`FOLDED` lines of each.
    """
    width = max(20, min(shutil.get_terminal_size().columns, 100) - 2)
    for message in json.loads(text):
        yield f"[{_title(message)}]"
        lines = [line for part in _parts(message) for line in _wrapped(part, width)]
        shown = lines if whole or len(lines) <= FOLDED + 1 else lines[:FOLDED]
        yield from (f"  {line}".rstrip() for line in shown)
        if len(shown) < len(lines):
            yield f"  ... {len(lines) - len(shown)} more lines (--full)"


def _title(message: Mapping[str, Any]) -> str:
    """The role, the tool that answers, and that it failed."""
    tool = message.get("function") or message.get("name") or ""
    said = f"{message.get('role')} {tool}".strip()
    return f"{said}: error" if message.get("error") else said


def _parts(message: Mapping[str, Any]) -> Iterator[str]:
    error = message.get("error")
    if error:
        yield str(error.get("message") or error) if isinstance(error, dict) else str(error)
    yield from _texts(message.get("content"))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        yield _call(call)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content.strip("\n").rstrip()
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield part.strip("\n").rstrip()
        elif isinstance(part, dict):
            kind = part.get("type")
            text = part.get("text") or part.get("reasoning")
            yield f"({kind}) {text}" if text and kind == "reasoning" else str(text or f"({kind})")


def _call(call: Any) -> str:
    """A call as code: ``-> tool(name=value)``."""
    if isinstance(call, str):
        try:
            call = json.loads(call)
        except ValueError:
            return f"-> {call}"
    function = call.get("function") if isinstance(call, dict) else None
    named = function if isinstance(function, dict) else call if isinstance(call, dict) else {}
    name = named.get("name") if isinstance(function, dict) else function or named.get("name")
    arguments = named.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return f"-> {name}({arguments})"
    if not isinstance(arguments, dict):
        return f"-> {name}({'' if arguments is None else arguments})"
    return f"-> {name}({', '.join(f'{key}={_value(value)}' for key, value in arguments.items())})"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) or "\n" not in value else f"\n{value}\n"


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.expandtabs(4).splitlines():
        said = line.lstrip()
        indent = line[: min(len(line) - len(said), width // 2)]
        yield from textwrap.wrap(said, width, initial_indent=indent, subsequent_indent=indent) or [""]
