"""Importer of event logs of OpenAI evals (``oaieval``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common import bounds
from warehouse.importers.common.json_fields import (
    Row,
    as_text,
    compact,
    compact_or_none,
    first_of,
    number_or_none,
    part_of,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.jsonl import RowSource, batches_of, has_keys, head_of
from warehouse.importers.common.transcripts import content_of
from warehouse.importers.openai_evals.event_log import (
    MATCH,
    EventLog,
    EventLogSample,
    header,
)
from warehouse.records import (
    CUT_SHORT,
    Candidate,
    Dump,
    ImportSettings,
    Rejection,
    SourceFiles,
    is_cut,
    parse_json,
)


class OpenaiEvals:
    """One log of events is one run."""

    name = "openai_evals"
    version = "2"  # 2: all of the specification is a setting
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file is a source."""
        for item in candidates:
            head = head_of(item)
            first = head.partition("\n")[0]
            if (
                first.startswith("{")
                and has_keys(first[:200], "spec")
                and has_keys(first, "eval_name", "run_id")
            ):
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one log (InputError: the file is damaged or too large, or nothing names
        the model)."""
        path = source.files[0]
        bounds.refuse_large(path)
        log = EventLog()
        dump = Dump((), ())
        lines = RowSource(path, path.name, (), notes=dump.notes)
        for number, text in lines.texts():
            location = f"{path.name} line {number}"
            try:
                log.add(location, parse_json(text))
            except (ValueError, RecursionError) as error:
                cut = ""
                if is_cut(text):
                    cut = CUT_SHORT
                reason = cut + str(error)[:300]
                dump.rejections.append(Rejection(location, reason, "an event of evals"))
        if not log.spec:
            raise InputError(
                "no line has the 'spec' of a run",
                path=str(path),
                expected="a log as evals writes it",
            )
        dump.notes += log.notes()
        dump.runs = (header(log, settings.model, source.name),)
        dump.batches = batches_of(
            log.ordered(),
            lambda sample: [row_of(log, sample)],
            dump.rejections,
            "events as evals writes them",
        )
        return dump


IMPORTER = OpenaiEvals()


def row_of(log: EventLog, sample: EventLogSample) -> Row:
    """The row of one sample (ValueError: an event is not as evals writes it)."""
    own, judged = _samplings(log, sample)
    matches = sample.of(MATCH)
    first = None
    if own:
        first = own[0].get("prompt")
    raw = next(iter(sample.of("raw_sample")), None)
    options, likelihoods = _options(sample)
    numbers, other = log.values_of(sample)
    target = None
    if matches:
        target = _text(matches[0].get("expected"))
    prompt_sent = None
    if first is not None:
        prompt_sent = _sent(first)
    return {
        "run": 0,
        "position": sample.number,
        "prompt_id": sample.name,
        # the same place may hold another question in another version of the eval
        "identity": compact({"sample": sample.name, "version": log.version}),
        "text": _question(first),
        "target": target,
        "choices": compact_or_none(options),
        "metadata": compact_or_none(raw),
        "prompt_sent": prompt_sent,
        "response": _answers(own),
        "extracted_answer": _picked(sample),
        "input_tokens": _tokens(own, "prompt_tokens"),
        "output_tokens": _tokens(own, "completion_tokens"),
        "error": _error(sample),
        "explanation": _explanation(judged, other),
        "scores": _scores(log, sample, numbers),
        "choice_scores": likelihoods,
    }


def _samplings(log: EventLog, sample: EventLogSample) -> tuple[list[Row], list[Row]]:
    """Samplings of the model, and those of its judge, which come last."""
    samplings = sample.of("sampling")
    if not log.is_judged:
        return samplings, []
    count = log.own_count
    was_judged = len(samplings) > count or bool(sample.of("metrics"))
    # the answer may be in the data
    own = count if len(samplings) > count or not was_judged else 0
    return samplings[:own], samplings[own:]


def _question(prompt: Any) -> str | None:
    """The last question: of messages, the last one of the user."""
    if not isinstance(prompt, list):
        if prompt is None:
            return None
        return as_text(prompt)
    messages = [item for item in prompt if isinstance(item, dict)]
    user_messages = [
        item for item in messages if item.get("role") == "user"
    ] or messages
    if user_messages:
        return as_text(user_messages[-1].get("content", ""))
    return as_text(prompt)


def _sent(prompt: Any) -> str:
    if isinstance(prompt, list) and all(isinstance(item, dict) for item in prompt):
        return compact(content_of(prompt))
    return as_text(prompt)


def _answers(own: Sequence[Row]) -> str | None:
    """Texts of the model: one, or a list where there are several."""
    answers: list[Any] = []
    for data in own:
        sampled = data.get("sampled")
        if isinstance(sampled, list):
            answers += sampled
        else:
            answers += [sampled]
    if not answers or answers == [None]:
        return None
    if len(answers) == 1:
        return as_text(answers[0])
    return compact(answers)


def _picked(sample: EventLogSample) -> str | None:
    """Choices that were taken from the answers."""
    picked = [
        data.get("picked") for data in (*sample.of(MATCH), *sample.of("pick_option"))
    ]
    choices = [item for item in picked if item not in (None, [], "")]
    if not choices:
        return None
    if len(choices) == 1:
        return _text(choices[0])
    return compact(choices)


def _options(sample: EventLogSample) -> tuple[list[str], list[Row] | None]:
    """Options that there were to choose from, with their likelihoods where these were
    asked for."""
    expected = [data.get("expected") for data in sample.of(MATCH)]
    likelihoods = sample.of("cond_logp")
    if likelihoods:
        texts = [as_text(data.get("completion")) for data in likelihoods]
        target = first_of(expected)
        return texts, [
            {
                "choice_index": index,
                "loglikelihood": number_or_none(data.get("logp")),
                "is_target": None if target is None else text in _listed(target),
            }
            for index, (text, data) in enumerate(zip(texts, likelihoods, strict=True))
        ]
    for data in (*sample.of("pick_option"), *sample.of(MATCH)):
        options = _listed(data.get("options"))
        if options and not set(options) <= set(_listed(data.get("expected"))):
            return options, None
    return [], None


def _listed(value: Any) -> list[str]:
    """One or several texts as a list."""
    if isinstance(value, list):
        items = value
    elif value is None:
        items = []
    else:
        items = [value]
    return [as_text(item) for item in items]


def _text(value: Any) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None:
        return None
    return as_text(value)


def _tokens(own: Sequence[Row], key: str) -> int | None:
    token_counts = [whole_count(part_of(data, "usage").get(key)) for data in own]
    counts = [count for count in token_counts if count is not None]
    if counts:
        return min(sum(counts), (1 << 63) - 1)
    return None


def _error(sample: EventLogSample) -> str | None:
    parts = []
    for data in sample.of("error"):
        said = (text_or_none(data.get("type")), text_or_none(data.get("message")))
        parts.append(": ".join(filter(None, said)))
    if parts:
        return "\n".join(parts)
    return None


def _explanation(judged: Sequence[Row], other: Row) -> str | None:
    """Texts of the judge, and metrics that are no numbers."""
    parts = [text for text in [_answers(judged)] if text]
    if other:
        others = [compact(other)]
    else:
        others = []
    return "\n\n".join([*parts, *others]) or None


def _scores(
    log: EventLog, sample: EventLogSample, numbers: dict[str, list[float | None]]
) -> list[Row]:
    """Scores of a sample. Of several values the mean counts, by their number. A sample
    that failed is unscored."""
    failed = bool(sample.of("error")) and not numbers
    if failed:
        values_by_metric: dict[str, list[float | None]] = dict.fromkeys(log.metrics, [])
    else:
        values_by_metric = {
            name: values for name, values in numbers.items() if name in log.metrics
        }
    return [
        _score(sample, name, values, name == log.match_metric)
        for name, values in values_by_metric.items()
    ]


def _score(
    sample: EventLogSample, name: str, values: list[float | None], is_match: bool
) -> Row:
    present = [value for value in values if value is not None]
    several = len(values) > 1
    unread = (
        is_match
        and bool(present)
        and not any(present)
        and all(map(_unread, sample.of(MATCH)))
    )
    status = None
    if not present:
        status = "error"
    elif unread:
        status = "no_answer"
    mean = None
    if present:
        mean = sum(present) / len(present)
    weight = None
    if several and present:
        weight = float(len(present))
    raw = None
    if several:
        raw = compact(values)
    return {
        "metric": name,
        "value": mean,
        "weight": weight,
        "raw": raw,
        "status": status,
    }


def _unread(data: Row) -> bool:
    """True if none of several options was recognised in an answer."""
    options = set(_listed(data.get("options")))
    return data.get("picked") in (None, []) and not options <= set(
        _listed(data.get("expected"))
    )
