"""Single fields of a sample: options, target, answer, explanation, tokens, seconds, errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from warehouse.importers.common.chat_messages import content_of
from warehouse.importers.common.json_fields import as_text, compact, number_or_none, part_of, text_or_none, whole_count
from warehouse.importers.inspect.messages import messages_of
from warehouse.importers.inspect.sample import Sample
from warehouse.importers.inspect.scores import stop_reason

_LARGEST = 1 << 63


def letters_of(sample: Sample) -> dict[str, str]:
    """Text of each option by its letter: A to Z, then 1, 2 and so on."""
    options = sample.get("choices")
    if not isinstance(options, list):
        return {}
    return {_letter(place): as_text(option) for place, option in enumerate(options)}


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place - 25)


def target_of(stated: Any, letters: Mapping[str, str]) -> str | list[str]:
    """The target with letters of options resolved; several are sorted."""
    if isinstance(stated, list):
        texts = [letters.get(as_text(item), as_text(item)) for item in stated]
        return texts[0] if len(texts) == 1 else sorted(texts)
    text = "" if stated is None else as_text(stated)
    return letters.get(text, text)


def identity_of(sample: Sample, letters: Mapping[str, str]) -> str:
    """What makes a prompt: input, options in sorted order, target."""
    target = target_of(sample.get("target"), letters)
    content = content_of(sample.get("input"))
    return compact({"input": content, "choices": sorted(letters.values()), "target": target})


def answer_of(scored: Iterable[Mapping[str, Any]], letters: Mapping[str, str]) -> str | None:
    """The answer that the first scorer found; letters of options are resolved."""
    answers = (score.get("answer") for score in scored)
    answer = next((text for text in answers if isinstance(text, str)), None)
    if answer is None or not letters:
        return answer
    named = [part.strip() for part in answer.split(",")]
    if not named or any(part not in letters for part in named):
        return answer
    return letters[named[0]] if len(named) == 1 else compact([letters[part] for part in named])


def explanation_of(scores: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What graders wrote; with their names where several did."""
    texts: dict[str, str] = {}
    for name, score in scores.items():
        text = text_or_none(score.get("explanation"))
        reason = text_or_none(score.get("reason"))
        if text or reason:
            texts[name] = ": ".join(part for part in (reason, text) if part)
    if len(set(texts.values())) < 2:
        return next(iter(texts.values()), None)
    return "\n\n".join(f"{name}: {text}" for name, text in texts.items())


def finish_of(sample: Sample) -> str | None:
    """Why it ended: a limit of the sample, else the model's own reason."""
    kind = text_or_none(part_of(sample, "limit").get("type"))
    return f"{kind}_limit" if kind else stop_reason(sample)


def input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens of the prompt. Where the total says that cached ones are not among the input, they
    are added."""
    plain = whole_count(usage.get("input_tokens"))
    if plain is None:
        return None
    cached = sum(whole_count(usage.get(f"input_tokens_cache_{kind}")) or 0 for kind in ("read", "write"))
    output, total = whole_count(usage.get("output_tokens")), whole_count(usage.get("total_tokens"))
    return plain if total == plain + (output or 0) else min(plain + cached, _LARGEST - 1)


def usage_of(sample: Sample, model: str) -> tuple[Mapping[str, Any], float | None]:
    """Tokens and seconds: of the one request if there was one, else of all of the model's."""
    output = part_of(sample, "output")
    used = part_of(sample, "model_usage")
    own = part_of(output, "usage")
    asked = sum(item.get("role") == "assistant" and item.get("source") != "input" for item in messages_of(sample))
    if asked > 1 or not own:
        own = part_of(used, model) or (part_of(used, next(iter(used))) if len(used) == 1 else own)
    seconds = [output.get("time")] if asked == 1 else []
    seconds += [sample.get("working_time"), sample.get("total_time")]
    times = (number_or_none(value) for value in seconds)
    return own, next((value for value in times if value is not None), None)


def error_of(sample: Sample) -> str | None:
    """Why there is no response, or why it does not count."""
    if sample.get("invalidation") is not None:
        reason = text_or_none(part_of(sample, "invalidation").get("reason"))
        return f"invalidated: {reason}" if reason else "invalidated"
    error = sample.get("error")
    if error is None:
        return text_or_none(part_of(sample, "output").get("error"))
    return text_or_none(part_of(sample, "error").get("message")) or as_text(error)[:2000]
