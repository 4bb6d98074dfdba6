"""Chat messages as texts that are stored once: without the ids that differ in every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.importers.common.json_fields import as_text

#: Parts of a message that say where it came from, not what it says.
_CIRCUMSTANCES = frozenset(("id", "source", "model", "metadata", "internal"))

Message = dict[str, Any]


def content_of(value: Any) -> Any:
    """An input as what it says: a text, or messages with role and content."""
    if not isinstance(value, list):
        return value
    return [bare_message(item) if isinstance(item, dict) else {"content": item} for item in value]


def text_of(content: Any) -> str | None:
    """The text of a message's content; ``None`` where parts of it are no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [item for item in content if not (isinstance(item, dict) and item.get("type") == "reasoning")]
    texts = [item.get("text") if isinstance(item, dict) else item for item in parts]
    spoken = [text for text in texts if isinstance(text, str)]
    return "\n".join(spoken) if len(spoken) == len(texts) else None


def bare_message(message: Mapping[str, Any]) -> Message:
    """A message without circumstances, and a content of one text as that text."""
    kept = {key: item for key, item in message.items() if key not in _CIRCUMSTANCES and item is not None}
    content = kept.get("content")
    if isinstance(content, list) and len(content) == 1:
        (part,) = content
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            kept["content"] = part["text"]
    return kept


def question_of(content: Any) -> str:
    """The question as text: a lone message without its role."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return as_text(content)
    spoken = [(str(item.get("role")), as_text(item.get("content", ""))) for item in content]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken)
