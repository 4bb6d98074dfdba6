"""Tokens and seconds of the evaluated model in a sample of Inspect; what it used as a judge is taken off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.importers.common.json_fields import number_or_none, part_of, text_or_none, whole_count
from warehouse.importers.inspect.log import SCORER_SPANS, Sample, events_of
from warehouse.importers.inspect.sample_fields import messages_of

_LARGEST = 1 << 63


def input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens of the prompt. Where the total says that cached ones are not among the input, they
    are added."""
    plain = whole_count(usage.get("input_tokens"))
    if plain is None:
        return None
    cached = sum(whole_count(usage.get(f"input_tokens_cache_{kind}")) or 0 for kind in ("read", "write"))
    kinds = ("output", "reasoning", "total")
    output, thought, total = (whole_count(usage.get(f"{kind}_tokens")) or 0 for kind in kinds)
    return plain if total - plain in (output, output + thought) else min(plain + cached, _LARGEST - 1)


def output_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens that the model wrote. Where the total says that those of its reasoning are not among the output
    (Google), they are added."""
    plain, thought = (whole_count(usage.get(f"{kind}_tokens")) for kind in ("output", "reasoning"))
    if plain is None or not thought:
        return plain
    return plain + thought * (whole_count(usage.get("total_tokens")) == (input_tokens(usage) or 0) + plain + thought)


def usage_of(sample: Sample, model: str, *, judges: bool) -> tuple[Mapping[str, Any], float | None]:
    """Tokens and seconds: of the one request if there was one, else of all by which the model answered.

    Args:
        sample: the sample.
        model: the evaluated model.
        judges: that model is the grader too.
    """
    output = part_of(sample, "output")
    own: Mapping[str, Any] = part_of(output, "usage")
    n_turns = sum(item.get("role") == "assistant" and item.get("source") != "input" for item in messages_of(sample))
    if n_turns > 1 or not own:
        own = _as_answerer(sample, model, judges) or own
    seconds = [output.get("time")] if n_turns == 1 else []
    seconds += [sample.get("working_time"), sample.get("total_time")]
    times = (number_or_none(value) for value in seconds)
    return own, next((value for value in times if value is not None), None)


def _as_answerer(sample: Sample, model: str, judges: bool) -> Mapping[str, Any]:
    """What stands under the model's name, without what scorers asked it for."""
    used = part_of(sample, "model_usage")
    if model not in used and len(used) == 1:
        model = next(iter(used))
    total = part_of(used, model)
    events = events_of(sample)
    judged = list(_judged(events, model)) if events else [part_of(part_of(sample, "role_usage"), "grader")] * judges
    if not any(judged):
        return total
    rest = {key: _less(value, [item.get(key) for item in judged]) for key, value in total.items()}
    if any(value is None for value in rest.values()):
        return total  # judges that used more than there is are none of its parts
    return rest if any(rest.values()) else {}


def _less(value: Any, parts: list[Any]) -> Any:
    """A count or an amount without parts of it; ``None`` where they are more than the whole."""
    if whole_count(value) is not None:
        return whole_count(value - sum(whole_count(part) or 0 for part in parts))
    if number_or_none(value) is None:
        return 0
    return max(0.0, value - sum(number_or_none(part) or 0.0 for part in parts))


def _judged(events: list[dict[str, Any]], model: str) -> Iterator[Mapping[str, Any]]:
    """What each request to a model used for a scorer; one answered from the cache used nothing.

    Events of scorers stand in spans, in old logs in steps.
    """
    spans, n_steps = set[str | None](), 0
    for event in events:
        kind, is_scorer = event.get("event"), event.get("type") in SCORER_SPANS
        if kind == "span_begin" and (is_scorer or text_or_none(event.get("parent_id")) in spans):
            spans.add(text_or_none(event.get("id")) or "")
        elif kind == "step" and is_scorer:
            n_steps += 1 if event.get("action") == "begin" else -1
        elif kind == "model" and event.get("model") == model and event.get("cache") != "read":
            is_judging = n_steps > 0 or text_or_none(event.get("span_id")) in spans
            yield part_of(part_of(event, "output"), "usage") if is_judging else {}
