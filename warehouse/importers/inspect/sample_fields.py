"""Single fields of a sample of Inspect: options, answer, scores, messages, tokens,
seconds, errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warehouse.importers.common.json_fields import (
    as_text,
    compact,
    items_of,
    number_or_none,
    objects_of,
    part_of,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.transcripts import (
    Message,
    bare_message,
    content_of,
    text_of,
    transcript_of,
)
from warehouse.importers.inspect.log import SCORER_SPANS, UNNAMED, Sample, events_of
from warehouse.records import place_of


def letters_of(sample: Sample) -> dict[str, str]:
    """Text of each option by its letter: A to Z, then 1, 2 and so on."""
    options = sample.get("choices")
    if not isinstance(options, list):
        return {}
    return {_letter(index): as_text(option) for index, option in enumerate(options)}


def _letter(index: int) -> str:
    if index < 26:
        return chr(ord("A") + index)
    return str(index - 25)


def target_of(target: Any, letters: Mapping[str, str]) -> str | list[str]:
    """The target with letters of options resolved; several are sorted."""
    if isinstance(target, list):
        texts = [letters.get(as_text(item), as_text(item)) for item in target]
        if len(texts) == 1:
            return texts[0]
        return sorted(texts)
    if target is None:
        text = ""
    else:
        text = as_text(target)
    return letters.get(text, text)


def identity_of(sample: Sample, letters: Mapping[str, str]) -> str:
    """The parts that make a prompt: input, options in sorted order, target."""
    target = target_of(sample.get("target"), letters)
    content = content_of(sample.get("input"))
    return compact(
        {"input": content, "choices": sorted(letters.values()), "target": target}
    )


def answer_of(
    scored: Iterable[Mapping[str, Any]], letters: Mapping[str, str]
) -> str | None:
    """The answer that the first scorer found; letters of options are resolved."""
    answers = (score.get("answer") for score in scored)
    answer = next((text for text in answers if isinstance(text, str)), None)
    if answer is None or not letters:
        return answer
    named = [part.strip() for part in answer.split(",")]
    if not named or any(part not in letters for part in named):
        return answer
    if len(named) == 1:
        return letters[named[0]]
    return compact([letters[part] for part in named])


def explanation_of(scores: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Texts of graders; with their names where there are several."""
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
    if kind:
        return f"{kind}_limit"
    return stop_reason(sample)


def transcript(
    sample: Sample, usage: Mapping[str, Any], eval_id: str | None
) -> dict[str, Any]:
    """The way to the response."""
    place = None
    if eval_id:
        place = place_of(eval_id, sample["id"], sample.get("epoch", 1))
    return transcript_of(
        messages_of(sample),
        says_errors=True,
        uuid=text_or_none(sample.get("uuid")),
        place=place,
        n_events=_n_events(sample),
        limit_hit=text_or_none(part_of(sample, "limit").get("type")),
        cached_tokens=whole_count(usage.get("input_tokens_cache_read")),
        cache_write_tokens=whole_count(usage.get("input_tokens_cache_write")),
        reasoning_tokens=whole_count(usage.get("reasoning_tokens")),
    )


def _n_events(sample: Sample) -> int | None:
    """Events of a sample; one in chunks has them counted in its skeleton, and some logs
    were rid of them."""
    counts = part_of(part_of(sample, "skeleton"), "counts")
    return (
        whole_count(counts.get("events")) or len(items_of(sample.get("events"))) or None
    )


def error_of(sample: Sample) -> str | None:
    """Why there is no response, or why it does not count."""
    if sample.get("invalidation") is not None:
        reason = text_or_none(part_of(sample, "invalidation").get("reason"))
        if reason:
            return f"invalidated: {reason}"
        return "invalidated"
    error = sample.get("error")
    if error is None:
        return text_or_none(part_of(sample, "output").get("error"))
    return (
        text_or_none(part_of(sample, "error").get("message")) or as_text(error)[:2000]
    )


#: What Inspect itself makes of letters and words; N is "no answer".
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

Score = dict[str, Any]


def scores_of(sample: Sample) -> dict[str, Mapping[str, Any]]:
    """The scores of a sample by scorer; what is no score is left out."""
    return {
        name: score
        for name, score in part_of(sample, "scores").items()
        if isinstance(score, dict)
    }


def metric_name(scorer: str, key: str | None) -> str:
    """A metric as the store calls it: the scorer, or ``scorer.key`` for a value in an
    object."""
    if key is None:
        return scorer
    return f"{scorer}.{key}"


def values_of(
    scores: Mapping[str, Mapping[str, Any]], unnamed: str
) -> Iterator[tuple[str, Any]]:
    """Metric and value of everything that a sample was scored by.

    Args:
        scores: its scores by scorer.
        unnamed: the scorer whose name the oldest logs do not put beside the score.
    """
    for name, score in scores.items():
        scorer = name
        if name == UNNAMED:
            scorer = unnamed
        value = score.get("value")
        if isinstance(value, dict):
            yield from (
                (metric_name(scorer, str(key)), item) for key, item in value.items()
            )
        else:
            yield metric_name(scorer, None), value


def are_answers(values: Iterable[Any]) -> bool:
    """True if a scorer's values are texts, of which a letter is no grade: ``C`` among
    ``A`` to ``E`` is an answer."""
    return any(is_other_letter(value) for value in values)


def is_other_letter(value: Any) -> bool:
    """True if a value is a letter of an option, and none of Inspect's grades."""
    return (
        isinstance(value, str)
        and len(value) == 1
        and value.isupper()
        and value not in _LETTERS
    )


def as_score(
    metric: str,
    value: Any,
    state: str | None = None,
    filter: str = "",
    is_text: bool = False,
) -> Score:
    """One score as a row of the store.

    Args:
        value: as it stands in the log; ``None`` also for NaN: unscored.
        state: what happened to the sample (``error``, ``limit``, ``refused``), if
            anything.
        filter: the reducer, for a value of all epochs together.
        is_text: the values of this metric are texts (`are_answers`): ``C`` is none for
            correct.
    """
    number, status, is_mapped = _number(value)
    if is_text and value in _LETTERS:
        number, status, is_mapped = None, "not_scalar", False
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is None or plain:
        raw = None
    else:
        raw = as_text(value)
    origin = "recorded"
    if is_mapped:
        origin = "mapped"
    return {
        "metric": metric,
        "filter": filter,
        "value": number,
        "raw": raw,
        "status": status if status == "not_scalar" else state or status,
        "origin": origin,
    }


def state_of(sample: Sample) -> str | None:
    """The status of scores of a sample that something kept from its natural end."""
    if sample.get("error") is not None:
        return "error"
    if sample.get("limit") is not None:
        return "limit"
    if stop_reason(sample) == "content_filter":
        return "refused"
    return None


def stop_reason(sample: Sample) -> str | None:
    """Why the model stopped."""
    choices = part_of(sample, "output").get("choices")
    first = None
    if isinstance(choices, list) and choices:
        first = choices[0]
    reason = None
    if isinstance(first, dict):
        reason = first.get("stop_reason")
    if isinstance(reason, str):
        return reason
    return None


def _number(value: Any) -> tuple[float | None, str, bool]:
    """Number and status of a value, and whether the number stands for something
    else."""
    if value is None:
        return None, "error", False
    if isinstance(value, (bool, int, float)):
        is_truth = value is True or value is False
        if math.isfinite(value):
            return float(value), "scored", is_truth
        return None, "error", is_truth
    if not isinstance(value, str):
        return None, "not_scalar", False
    grade = _LETTERS.get(value, _WORDS.get(value.lower()))
    if grade is not None:
        return grade, "no_answer" if value == "N" else "scored", True
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return (number, "scored", True)
    return (None, "not_scalar", False)


def messages_of(sample: Sample) -> list[Message]:
    """The messages of a sample; what is no message is left out."""
    return objects_of(sample.get("messages"))


def prompt_sent(sample: Sample) -> str | None:
    """The prompt that the last response answers: the text of a lone message of the
    user, else the messages before the response as a JSON list."""
    messages = messages_of(sample)
    if messages and messages[-1].get("role") == "assistant":
        messages = messages[:-1]
    if not messages:
        content = sample.get("input")
        if content is None:
            return None
        return as_text(content_of(content))
    alone = {}
    if len(messages) == 1:
        alone = messages[0]
    text = text_of(alone.get("content"))
    if alone.get("role") == "user" and text is not None:
        return text
    return compact([bare_message(item) for item in messages])


def response_of(sample: Sample) -> str | None:
    """The last text of the model, without its reasoning; ``None`` where it wrote
    nothing."""
    output = part_of(sample, "output")
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    completion = output.get("completion")
    if isinstance(completion, str) and completion:
        return completion
    message = {}
    if isinstance(choices[0], dict):
        message = part_of(choices[0], "message")
    text = text_of(message.get("content"))
    if not text and message.get("tool_calls"):
        return compact(bare_message(message))
    return text


_LARGEST = 1 << 63


def input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens of the prompt. Where the total says that cached ones are not among the
    input, they are added."""
    plain = whole_count(usage.get("input_tokens"))
    if plain is None:
        return None
    cached = sum(
        whole_count(usage.get(f"input_tokens_cache_{kind}")) or 0
        for kind in ("read", "write")
    )
    kinds = ("output", "reasoning", "total")
    output, thought, total = (
        whole_count(usage.get(f"{kind}_tokens")) or 0 for kind in kinds
    )
    if total - plain in (output, output + thought):
        return plain
    return min(plain + cached, _LARGEST - 1)


def output_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens that the model wrote. Where the total says that those of its reasoning
    are not among the output (Google), they are added."""
    plain, thought = (
        whole_count(usage.get(f"{kind}_tokens")) for kind in ("output", "reasoning")
    )
    if plain is None or not thought:
        return plain
    return plain + thought * (
        whole_count(usage.get("total_tokens"))
        == (input_tokens(usage) or 0) + plain + thought
    )


def usage_of(
    sample: Sample, model: str, *, judges: bool
) -> tuple[Mapping[str, Any], float | None]:
    """Tokens and seconds: of the one request if there was one, else of all by which the
    model answered.

    Args:
        model: the evaluated model.
        judges: that model is the grader too.
    """
    output = part_of(sample, "output")
    own: Mapping[str, Any] = part_of(output, "usage")
    n_turns = sum(
        item.get("role") == "assistant" and item.get("source") != "input"
        for item in messages_of(sample)
    )
    if n_turns > 1 or not own:
        own = _as_answerer(sample, model, judges) or own
    seconds = []
    if n_turns == 1:
        seconds = [output.get("time")]
    seconds += [sample.get("working_time"), sample.get("total_time")]
    times = (number_or_none(value) for value in seconds)
    return own, next((value for value in times if value is not None), None)


def _as_answerer(sample: Sample, model: str, judges: bool) -> Mapping[str, Any]:
    """Usage under the model's name, without what scorers asked it for."""
    used = part_of(sample, "model_usage")
    if model not in used and len(used) == 1:
        model = next(iter(used))
    total = part_of(used, model)
    events = events_of(sample)
    if events:
        judged = list(_judged(events, model))
    else:
        judged = [part_of(part_of(sample, "role_usage"), "grader")] * judges
    if not any(judged):
        return total
    rest = {}
    for key, value in total.items():
        rest[key] = _less(value, [item.get(key) for item in judged])
    if any(value is None for value in rest.values()):
        return total  # judges that used more than there is are none of its parts
    if any(rest.values()):
        return rest
    return {}


def _less(value: Any, parts: list[Any]) -> Any:
    """A count or an amount without parts of it; ``None`` where they are more than the
    whole."""
    if whole_count(value) is not None:
        return whole_count(value - sum(whole_count(part) or 0 for part in parts))
    if number_or_none(value) is None:
        return 0
    return max(0.0, value - sum(number_or_none(part) or 0.0 for part in parts))


def _judged(events: list[dict[str, Any]], model: str) -> Iterator[Mapping[str, Any]]:
    """Usage of each request to a model for a scorer; one answered from the cache used
    nothing.

    Events of scorers stand in spans, in old logs in steps.
    """
    spans = set[str | None]()
    n_steps = 0
    for event in events:
        kind = event.get("event")
        is_scorer = event.get("type") in SCORER_SPANS
        if kind == "span_begin" and (
            is_scorer or text_or_none(event.get("parent_id")) in spans
        ):
            spans.add(text_or_none(event.get("id")) or "")
        elif kind == "step" and is_scorer:
            if event.get("action") == "begin":
                n_steps += 1
            else:
                n_steps -= 1
        elif (
            kind == "model"
            and event.get("model") == model
            and event.get("cache") != "read"
        ):
            is_judging = n_steps > 0 or text_or_none(event.get("span_id")) in spans
            if is_judging:
                yield part_of(part_of(event, "output"), "usage")
            else:
                yield {}
