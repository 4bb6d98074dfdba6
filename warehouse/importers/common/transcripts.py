"""The way to a response: turns, calls of tools and their errors, from
a list of messages.

them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    Row,
    as_text,
    compact,
    items_of,
    objects_of,
    part_of,
    text_or_none,
    whole_count,
    without_empty,
    without_nulls,
)

#: Parts of a message that say where it came from, not what it says.
_CIRCUMSTANCES = frozenset(("id", "source", "model", "metadata", "internal"))

Message = dict[str, Any]


def content_of(value: Any) -> Any:
    """An input as what it says: a text, or messages with role and content."""
    if not isinstance(value, list):
        return value
    return [
        bare_message(item) if isinstance(item, dict) else {"content": item}
        for item in value
    ]


def text_of(content: Any) -> str | None:
    """The text of a message's content; ``None`` where parts of it are no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [
        item
        for item in content
        if not (isinstance(item, dict) and item.get("type") == "reasoning")
    ]
    texts = [item.get("text") if isinstance(item, dict) else item for item in parts]
    spoken = [text for text in texts if isinstance(text, str)]
    if len(spoken) == len(texts):
        return "\n".join(spoken)
    return None


def bare_message(message: Mapping[str, Any]) -> Message:
    """A message without circumstances, and a content of one text as that text."""
    kept = {
        key: item
        for key, item in message.items()
        if key not in _CIRCUMSTANCES and item is not None
    }
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


def question_of(content: Any) -> str:
    """The question as text: a lone message without its role."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return as_text(content)
    spoken = [
        (str(item.get("role")), as_text(item.get("content", ""))) for item in content
    ]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken)


#: The ``source`` of messages that were there before the model wrote anything, as
#: Inspect calls it.
GIVEN = "input"


def transcript_of(
    messages: Sequence[Message], *, says_errors: bool, keep: bool = False, **more: Any
) -> dict[str, Any]:
    """The ``transcript`` of a sample (``TRANSCRIPT_TYPE``) from its messages, the
    model's last one included.

    The messages themselves are kept where they say more than a prompt and a response:
    where the model wrote several, or called a tool.

    Args:
        messages: with ``role`` and ``content``; ``tool_calls`` as Inspect or the chat
            API of OpenAI writes them, or as JSON texts; results of tools have the role
            ``tool``, and ``error`` where they failed. What was given to the model
            beforehand, examples say, has the source :data:`GIVEN`.
        says_errors: the format marks results of tools that are errors; else their
            number is unknown.
        keep: the messages stand nowhere else, not even a prompt and a response.
        more: other fields of the transcript.
    """
    own = [item for item in messages if item.get("source") != GIVEN]
    n_turns = sum(item.get("role") == "assistant" for item in own)
    tools = tools_of(own, says_errors)
    said = None
    if keep or n_turns > 1 or tools:
        said = compact([_kept(item) for item in messages])
    return {
        "n_messages": len(messages),
        "n_turns": n_turns,
        "tools": tools,
        "messages": said,
        **more,
    }


def given(messages: Sequence[Message]) -> list[Message]:
    """Messages as what was given to the model beforehand: what it says there is no turn
    of its own."""
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
            errors[
                text_or_none(message.get("function"))
                or by_id.get(str(message.get("tool_call_id")))
            ] += 1
    return [
        {
            "tool": tool,
            "n_calls": calls[tool],
            "n_errors": errors[tool] if says_errors else None,
        }
        for tool in dict.fromkeys((*calls, *errors))
    ]


def calls_of(message: Mapping[str, Any]) -> list[Message]:
    """The calls of tools that a message makes; those that stand as JSON text are
    read."""
    calls = message.get("tool_calls")
    if calls:
        return objects_of([_parsed(item) for item in items_of(calls)])
    return []


def tool_name(call: Mapping[str, Any]) -> str | None:
    """The name of the tool that a call asks for."""
    function = call.get("function")
    if isinstance(function, dict):
        named = function.get("name")
    else:
        named = function or call.get("name")
    return text_or_none(named)


def _kept(message: Message) -> Message:
    """A message as it is stored: calls of tools stand as Inspect writes them, whoever
    wrote the dump, and what the model did not write itself is told."""
    kept = bare_message(message)
    if message.get("role") == "assistant" and message.get("source") == GIVEN:
        kept["source"] = GIVEN
    if "tool_calls" in kept:
        kept["tool_calls"] = [
            _call(_parsed(call)) for call in items_of(kept["tool_calls"])
        ]
    if kept.get("tool_calls", True):
        return kept
    return without_empty(kept)


def _call(call: Any) -> Any:
    if not isinstance(call, dict) or (
        isinstance(call.get("function"), str)
        and not isinstance(call.get("arguments"), str)
    ):
        return call
    function = part_of(call, "function") or call
    return {
        "id": call.get("id"),
        "function": tool_name(call),
        "arguments": _parsed(function.get("arguments")),
    }


def _parsed(text: Any) -> Any:
    """A text parsed as JSON; the text where it is none."""
    try:
        if isinstance(text, str):
            return orjson.loads(text)
        return text
    except ValueError:
        return text


_ROLES = {"agent": "assistant"}


def trajectory_transcript(
    documents: Sequence[Mapping[str, Any]], *, keep: bool = False, **more: Any
) -> Row | None:
    """The transcript of one generation; ``None`` where nothing is known of it. The
    format marks no result of a tool as an error.

    Args:
        documents: in their order; one that goes on begins with steps that are copied
            from the one before.
        keep: the messages stand nowhere else.
        more: fields of the transcript that are known from elsewhere.
    """
    all_steps = list(
        chain.from_iterable(objects_of(document.get("steps")) for document in documents)
    )
    steps = [step for step in all_steps if step.get("is_copied_context") is not True]
    messages = list(chain.from_iterable(_messages(step) for step in steps))
    found = {
        "cached_tokens": _cached(documents, steps),
        "reasoning_tokens": _total(steps, "reasoning_tokens"),
    }
    extra = {**found, **without_nulls(more)}
    if not messages:
        return without_nulls(extra) or None
    turns = sum(_requests(step) for step in steps if step.get("source") == "agent")
    return transcript_of(
        messages, says_errors=False, keep=keep, **{"n_turns": turns, **extra}
    )


def _requests(step: Row) -> int:
    """Messages of the model that a step stands for: none where the agent acted by a
    fixed rule."""
    count = whole_count(step.get("llm_call_count"))
    if count is not None and count <= LARGEST_DRAW:
        return count
    return 1


def _messages(step: Row) -> Iterator[Message]:
    """Messages of a step: what was said in it, and what its tools gave back."""
    source = text_or_none(step.get("source"))
    calls = objects_of(step.get("tool_calls"))
    said = {
        "role": _ROLES.get(source or "", source),
        "content": step.get("message"),
        "reasoning_content": text_or_none(step.get("reasoning_content")),
        "tool_calls": [_tool_call(call) for call in calls] or None,
    }
    if source == "agent":
        yield said
    else:
        yield {**said, "source": GIVEN}
    names = {str(call.get("tool_call_id")): call.get("function_name") for call in calls}
    for result in objects_of(part_of(step, "observation").get("results")):
        key = text_or_none(result.get("source_call_id"))
        made = {"tool_call_id": key, "function": names.get(key or "")}
        yield {"role": "tool", **without_nulls(made), "content": result.get("content")}


def _tool_call(call: Row) -> Message:
    return {
        "id": call.get("tool_call_id"),
        "function": call.get("function_name"),
        "arguments": call.get("arguments"),
    }


def _cached(documents: Sequence[Mapping[str, Any]], steps: Sequence[Row]) -> int | None:
    """Tokens that were read from a cache: by the totals, else by the steps."""
    totals = [
        whole_count(part_of(document, "final_metrics").get("total_cached_tokens"))
        for document in documents
    ]
    present = [total for total in totals if total is not None]
    if len(present) == len(totals) and present:
        return whole_count(sum(present))
    return _total(steps, "cached_tokens")


def _total(steps: Sequence[Row], key: str) -> int | None:
    own = [part_of(step, "metrics") for step in steps]
    counts = [
        whole_count(metrics.get(key, part_of(metrics, "extra").get(key)))
        for metrics in own
    ]
    present = [count for count in counts if count is not None]
    if present:
        return whole_count(sum(present))
    return None
