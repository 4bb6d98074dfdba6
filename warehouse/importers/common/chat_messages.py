"""Messages of Inspect as texts that are stored once: without the ids that differ in every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.importers.common.json_fields import as_text, compact, part_of
from warehouse.importers.inspect.sample import Sample

#: Parts of a message that say where it came from, not what it says.
_CIRCUMSTANCES = frozenset(("id", "source", "model", "metadata", "internal"))

Message = dict[str, Any]


def content_of(value: Any) -> Any:
    """An input as what it says: a text, or messages with role and content."""
    if not isinstance(value, list):
        return value
    return [_bare(item) if isinstance(item, dict) else {"content": item} for item in value]


def messages_of(sample: Sample) -> list[Message]:
    """The messages of a sample; what is no message is left out."""
    found = sample.get("messages")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def prompt_sent(sample: Sample) -> str | None:
    """What the last response answers: the text of a lone message of the user, else the messages
    before the response as a JSON list."""
    messages = messages_of(sample)
    if messages and messages[-1].get("role") == "assistant":
        messages = messages[:-1]
    if not messages:
        given = sample.get("input")
        return None if given is None else as_text(content_of(given))
    alone = messages[0] if len(messages) == 1 else {}
    text = text_of(alone.get("content"))
    if alone.get("role") == "user" and text is not None:
        return text
    return compact([_bare(item) for item in messages])


def response_of(sample: Sample) -> str | None:
    """What the model wrote last, without its reasoning; ``None`` where it wrote nothing."""
    output = part_of(sample, "output")
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    stated = output.get("completion")
    if isinstance(stated, str) and stated:
        return stated
    message = part_of(choices[0], "message") if isinstance(choices[0], dict) else {}
    text = text_of(message.get("content"))
    if not text and message.get("tool_calls"):
        return compact(_bare(message))
    return text


def text_of(content: Any) -> str | None:
    """The text of a message's content; ``None`` where parts of it are no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [
        item for item in content if not (isinstance(item, dict) and item.get("type") == "reasoning")
    ]
    texts = [item.get("text") if isinstance(item, dict) else item for item in parts]
    said = [text for text in texts if isinstance(text, str)]
    return "\n".join(said) if len(said) == len(texts) else None


def _bare(message: Mapping[str, Any]) -> Message:
    """A message without circumstances, and a content of one text as that text."""
    kept = {key: item for key, item in message.items()
            if key not in _CIRCUMSTANCES and item is not None}  # fmt: skip
    content = kept.get("content")
    if isinstance(content, list) and len(content) == 1:
        (part,) = content
        if (
            isinstance(part, dict)
            and part.get("type") == "text"
            and isinstance(part.get("text"), str)
        ):
            kept["content"] = part["text"]
    return kept
