"""What a sample was sent and what came back, as texts that are stored once."""

from __future__ import annotations

from warehouse.importers.common.chat_messages import Message, bare_message, content_of, text_of
from warehouse.importers.common.json_fields import as_text, compact, objects_of, part_of
from warehouse.importers.inspect.sample import Sample


def messages_of(sample: Sample) -> list[Message]:
    """The messages of a sample; what is no message is left out."""
    return objects_of(sample.get("messages"))


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
    return compact([bare_message(item) for item in messages])


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
        return compact(bare_message(message))
    return text
