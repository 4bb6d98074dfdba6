"""Sampling settings: those with header fields of their own, and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.importers.common.json_fields import number_or_none, text_or_none, whole_or_none

_MAX_TOKENS = ("max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens")
_FIELDS_OF_SAMPLING = frozenset(("temperature", "top_p", "do_sample", "reasoning_effort", "seed", *_MAX_TOKENS))


def sampling_fields(generation: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling settings that have header fields of their own. Greedy is temperature 0."""
    greedy = generation.get("do_sample") is False
    lengths = (whole_or_none(generation.get(name)) for name in _MAX_TOKENS)
    return {
        "temperature": 0.0 if greedy else number_or_none(generation.get("temperature")),
        "top_p": number_or_none(generation.get("top_p")),
        "max_tokens": next((length for length in lengths if length is not None), None),
        "reasoning_effort": text_or_none(generation.get("reasoning_effort")),
    }


def other_sampling(generation: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling settings that have no header field."""
    unknown = {"do_sample"} if generation.get("do_sample") is True else set()
    known = _FIELDS_OF_SAMPLING - (unknown if generation.get("temperature") is None else set())
    return {name: value for name, value in sorted(generation.items()) if name not in known and value is not None}
