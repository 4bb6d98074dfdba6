"""Trajectories of agents in ATIF (Agent Trajectory Interchange Format, 1.0 to 1.7): Harbor and NeMo Evaluator write
them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.importers.common.chat_messages import Message
from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    Row,
    objects_of,
    part_of,
    text_or_none,
    whole_count,
    without_nulls,
)
from warehouse.importers.common.transcripts import GIVEN, transcript_of

_ROLES = {"agent": "assistant"}


def trajectory_transcript(documents: Sequence[Mapping[str, Any]], *, keep: bool = False, **more: Any) -> Row | None:
    """The transcript of one generation; ``None`` where nothing is known of it. The format marks no result of a tool
    as an error.

    Args:
        documents: in their order; one that goes on begins with steps that are copied from the one before.
        keep: the messages stand nowhere else.
        more: fields of the transcript that are known from elsewhere.
    """
    all_steps = [step for document in documents for step in objects_of(document.get("steps"))]
    steps = [step for step in all_steps if step.get("is_copied_context") is not True]
    messages = [message for step in steps for message in _messages(step)]
    found = {"cached_tokens": _cached(documents, steps), "reasoning_tokens": _total(steps, "reasoning_tokens")}
    extra = {**found, **without_nulls(more)}
    if not messages:
        return without_nulls(extra) or None
    turns = sum(_requests(step) for step in steps if step.get("source") == "agent")
    return transcript_of(messages, says_errors=False, keep=keep, **{"n_turns": turns, **extra})


def _requests(step: Row) -> int:
    """Messages of the model that a step stands for: none where the agent acted by a fixed rule."""
    count = whole_count(step.get("llm_call_count"))
    return count if count is not None and count <= LARGEST_DRAW else 1


def _messages(step: Row) -> Iterator[Message]:
    """What was said in a step, and what its tools gave back."""
    source, calls = text_or_none(step.get("source")), objects_of(step.get("tool_calls"))
    said = {
        "role": _ROLES.get(source or "", source),
        "content": step.get("message"),
        "reasoning_content": text_or_none(step.get("reasoning_content")),
        "tool_calls": [_call(call) for call in calls] or None,
    }
    yield said if source == "agent" else {**said, "source": GIVEN}
    names = {str(call.get("tool_call_id")): call.get("function_name") for call in calls}
    for result in objects_of(part_of(step, "observation").get("results")):
        key = text_or_none(result.get("source_call_id"))
        made = {"tool_call_id": key, "function": names.get(key or "")}
        yield {"role": "tool", **without_nulls(made), "content": result.get("content")}


def _call(call: Row) -> Message:
    return {"id": call.get("tool_call_id"), "function": call.get("function_name"), "arguments": call.get("arguments")}


def _cached(documents: Sequence[Mapping[str, Any]], steps: Sequence[Row]) -> int | None:
    """Tokens that were read from a cache: by the totals, else by the steps."""
    totals = [whole_count(part_of(document, "final_metrics").get("total_cached_tokens")) for document in documents]
    present = [total for total in totals if total is not None]
    return whole_count(sum(present)) if len(present) == len(totals) and present else _total(steps, "cached_tokens")


def _total(steps: Sequence[Row], key: str) -> int | None:
    own = [part_of(step, "metrics") for step in steps]
    counts = [whole_count(metrics.get(key, part_of(metrics, "extra").get(key))) for metrics in own]
    present = [count for count in counts if count is not None]
    return whole_count(sum(present)) if present else None
