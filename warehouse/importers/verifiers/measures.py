"""What both kinds of files say of metrics and messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warehouse.importers.common.chat_messages import text_of
from warehouse.importers.common.json_fields import Row, as_text, compact, is_local, number_or_none
from warehouse.records import MetricSpec

HARNESS = "verifiers"
REWARD = "reward"

# num_turns, total_tool_calls, search_pages_calls   counters that rubrics record beside their scores
_COUNTER = re.compile(r"(?:num|n|total)_\w+|\w+_(?:calls|turns|steps|tokens|errors)")
_ADDRESS = re.compile(r"\w+://")


def specs(names: Iterable[str], weights: Mapping[str, float] | None = None) -> Iterator[MetricSpec]:
    """The reward, and what it is made of. A counter measures nothing: which way it points, nobody knows."""
    yield MetricSpec(REWARD, scorer_kind="execution", higher_is_better=True, is_default=True)
    for name in names:
        counts = _COUNTER.fullmatch(name) is not None
        weight = (weights or {}).get(name)
        yield MetricSpec(
            name,
            scorer_kind="execution",
            scorer_parameters={} if weight is None else {"weight": weight},
            unit="count" if counts else "",
            kind="continuous" if counts else None,
            low=0 if counts else None,
            higher_is_better=True if _is_reward(name, weight) and not counts else None,
            is_default=False,
        )


def _is_reward(name: str, weight: float | None) -> bool:
    """Whether more of it is better: its weight says so, else its name."""
    return weight > 0 if weight else "reward" in name


def score(metric: str, content: Any, lacking: str | None = None) -> Row:
    """One score; where nothing was measured (``lacking`` says why) the number is kept as text only."""
    value = None if lacking else number_or_none(content)
    if value is not None:
        return {"metric": metric, "value": value}
    raw = None if content is None else as_text(content)
    return {"metric": metric, "value": None, "raw": raw, "status": lacking or ("not_scalar" if raw else "error")}


def reply_of(message: Mapping[str, Any] | None) -> str | None:
    """What a message of the model says; its calls of tools where it says nothing."""
    if message is None:
        return None
    said, calls = text_of(message.get("content")), message.get("tool_calls")
    return compact(calls) if calls and not (said and said.strip()) else said


def public(arguments: Mapping[str, Any]) -> Row:
    """Arguments without those that are places on a machine or in a network."""
    return {name: value for name, value in arguments.items() if not _is_address(value) and value is not None}


def _is_address(value: Any) -> bool:
    return is_local(value) or (isinstance(value, str) and _ADDRESS.match(value) is not None)
