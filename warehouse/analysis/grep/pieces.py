"""The texts of a sample one by one: who said each, where it stands, which tool it is
of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import orjson

from warehouse.analysis.grep.question import (
    ASSISTANT,
    ERROR,
    MESSAGE,
    PROMPT,
    RESPONSE,
    TOOL,
    TOOL_CALL,
    TOOL_RESULT,
    Grep,
)
from warehouse.tables.transcript import (
    answering_tool,
    called_by,
    listed_parts,
    name_of_tool,
    parsed_call,
)

#: Of whom a prompt is that was stored as one text.
_USER = "user"
#: How a list of messages begins, where a prompt was sent as such.
_MESSAGES = ('[{"', "[ {", "[\n")


@dataclass(frozen=True)
class Piece:
    """One text of a sample."""

    place: str  #: one of ``question.PLACES``.
    role: str  #: whose it is; empty for an error of the harness.
    tool: str  #: that was called, or answers; empty where no tool was.
    text: str  #: as it was said.


@dataclass(frozen=True)
class Wanted:
    """Which texts are looked at."""

    places: frozenset[str]  #: of them.
    role: str | None  #: only of this role; None: of all.
    tool: str | None  #: only of tools that this glob fits; None: all.

    def holds(self, piece: Piece) -> bool:
        """Whether a text is looked at."""
        if piece.place not in self.places:
            return False
        if self.role is not None and piece.role != self.role:
            return False
        return self.tool is None or fnmatchcase(piece.tool, self.tool)

    def has(self, *places: str) -> bool:
        """Whether some text of these places may be looked at."""
        return not self.places.isdisjoint(places)


def wanted_by(question: Grep) -> Wanted:
    """The texts that a question is about."""
    places, role = frozenset(question.places), question.role
    if places:
        return Wanted(places, role, question.tool)
    if question.tool is not None:
        return Wanted(frozenset((TOOL_CALL, TOOL_RESULT)), role, question.tool)
    if role is not None:
        said = (PROMPT, RESPONSE, MESSAGE, TOOL_RESULT)
        return Wanted(frozenset(said), role, None)
    return Wanted(frozenset((RESPONSE, MESSAGE)), ASSISTANT, None)


def question_piece(text: str) -> Piece:
    """What a prompt asks, as the benchmark has it."""
    return Piece(PROMPT, _USER, "", text)


def response_piece(text: str) -> Piece:
    """The response."""
    return Piece(RESPONSE, ASSISTANT, "", text)


def error_piece(text: str) -> Piece:
    """Why there is no response, in words of the harness."""
    return Piece(ERROR, "", "", text)


def sent_pieces(text: str) -> list[Piece]:
    """A prompt as it was sent: its messages, else the whole text."""
    messages: list[dict[str, Any]] = []
    if text.startswith(_MESSAGES):
        messages = _parsed(text)
    if not messages or not all("content" in message for message in messages):
        return [question_piece(text)]
    pieces: list[Piece] = []
    for message in messages:
        said = _texts(message.get("content"))
        pieces += [Piece(PROMPT, _role(message), "", one) for one in said]
    return pieces


def transcript_pieces(text: str) -> Iterator[Piece]:
    """What was said and done on the way, message by message.

    Args:
        text: JSON list of messages, as stored.
    """
    waiting: dict[str, str] = {}
    for message in _parsed(text):
        yield from _message_pieces(message, answering_tool(message, waiting))
        waiting |= called_by(message)


def _message_pieces(message: Mapping[str, Any], tool: str) -> Iterator[Piece]:
    role = _role(message)
    place = TOOL_RESULT
    if role != TOOL:
        place, tool = MESSAGE, ""
    error = _error(message.get("error"))
    if error:
        yield Piece(ERROR, role, tool, error)
    for said in _texts(message.get("content")):
        yield Piece(place, role, tool, said)
        if error:
            yield Piece(ERROR, role, tool, said)
    thought = message.get("reasoning_content")
    if isinstance(thought, str):
        yield Piece(place, role, tool, thought)
    for call in listed_parts(message.get("tool_calls")):
        yield _call_piece(parsed_call(call), role)


def _call_piece(call: Any, role: str) -> Piece:
    """A call: the tool, and below it a line ``name=value`` for each argument."""
    if not isinstance(call, dict):
        return Piece(TOOL_CALL, role, "", _written(call))
    function = call.get("function")
    given = call
    if isinstance(function, dict):
        given = function
    arguments = parsed_call(given.get("arguments"))
    name = name_of_tool(call)
    lines = [name]
    if isinstance(arguments, dict):
        lines += [f"{key}={_written(value)}" for key, value in arguments.items()]
    elif arguments is not None:
        lines.append(_written(arguments))
    return Piece(TOOL_CALL, role, name, "\n".join(lines))


def _error(error: Any) -> str:
    """What a result of a tool says of its failure; empty where it did not fail."""
    if isinstance(error, dict):
        error = error.get("message") or error
    if error:
        return _written(error)
    return ""


def _texts(content: Any) -> Iterator[str]:
    """Texts of a message's content, thoughts among them; what is no text has none."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield _written(content)
    for part in listed_parts(content):
        if isinstance(part, dict):
            part = part.get("text") or part.get("reasoning")
        if part is not None:
            yield _written(part)


def _role(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or "")


def _written(value: Any) -> str:
    """A text as it is, anything else as JSON; nothing of what is nested too deeply."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def _parsed(text: str) -> list[dict[str, Any]]:
    """The messages of a JSON text; none where it is no list of them."""
    try:
        messages = orjson.loads(text)
    except ValueError:
        return []
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, dict)]


def texts_of(pieces: Iterable[Piece], wanted: Wanted) -> list[str]:
    """The texts among pieces that are looked at."""
    return [piece.text for piece in pieces if wanted.holds(piece)]
