"""Importer of Every Eval Ever: an evaluation with the rows of its samples, also as
``warehouse store export`` wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of
from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    as_items,
    as_text,
    as_text_or_none,
    compact,
    compact_or_none,
    first_of,
    items_of,
    mapping_of,
    no_objects,
    number_or_none,
    objects_of,
    one_or_json,
    require_model,
    string_or_none,
    text_or_none,
    whole_count,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    BATCH_ROWS,
    read_document,
    require_content,
    unpacked_head,
)
from warehouse.importers.common.transcripts import transcript_of
from warehouse.importers.every_eval_ever.evaluation import Evaluation, Row, read_lines
from warehouse.records import (
    SAMPLE_SCHEMA,
    SCORE_TYPE,
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    Rejection,
    RunHeader,
    SourceFiles,
    parse_json,
)

_ROW = ('"evaluation_id"', '"interaction_type"', '"sample_id"')
_AGGREGATE = ('"schema_version"', '"evaluation_id"')
_PARTS = ('"evaluation_results"', '"source_metadata"', '"model_info"', '"eval_library"')
_REFERENCE = re.compile(r"(?:_samples|_unscored)?\.(?:jsonl|ndjson|json)$")


class EveryEvalEver:
    """An evaluation and its samples; either alone too."""

    name = "every_eval_ever"
    version = "4"  # 3: a sample that counts in no result has no score; 4: all settings; looked at again, no other run
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Evaluations by their keys; samples, which have the same name, by theirs."""
        paths_by_stem: dict[tuple[Path, str], list[Path]] = {}
        for item in candidates:
            if _is_ours(item):
                stem = _REFERENCE.sub("", item.path.name)
                paths_by_stem.setdefault((item.path.parent, stem), []).append(item.path)
        for (folder, _), paths in paths_by_stem.items():
            ordered = tuple(
                sorted(paths, key=lambda path: (path.suffix != ".json", path.name))
            )
            yield SourceFiles(str(ordered[0]), folder, ordered)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open an evaluation (InputError: a file is damaged, or nothing names the
        model)."""
        for path in source.files:
            require_content(path)
        documents = [path for path in source.files if path.suffix == ".json"]
        samples = [path for path in source.files if path not in documents]
        document = {}
        if documents:
            document = read_document(documents[0])
        rejections: list[Rejection] = []
        notes: list[str] = []
        own = own_header(document, source.name)
        if own is not None:
            rows = chain.from_iterable(own_rows(path, rejections) for path in samples)
            return Dump((own,), _batched(rows, source.name), (), rejections, notes)
        notes += no_objects(
            document.get("evaluation_results"), f"{source.name}: evaluation_results"
        )
        evaluation = Evaluation(document, samples, source.name)
        require_model(settings.model or evaluation.model, source.name)
        runs = tuple(evaluation.headers(notes))
        rows = chain.from_iterable(
            foreign_rows(evaluation, path, rejections) for path in samples
        )
        return Dump(runs, _batched(rows, source.name), (), rejections, notes)


def _is_ours(candidate: Candidate) -> bool:
    suffix = candidate.path.suffix
    head = unpacked_head(candidate)
    if not head.startswith("{") or suffix not in (".json", ".jsonl", ".ndjson"):
        return False
    if suffix == ".json":
        start = head[:20_000]
        return all(key in start for key in _AGGREGATE) and any(
            key in start for key in _PARTS
        )
    line = head.partition("\n")[0]
    return all(key in line for key in _ROW)


def _batched(rows: Iterator[dict[str, Any]], path: str) -> Iterator[pa.RecordBatch]:
    """Rows in batches (InputError: a value is of a type that its column cannot
    hold)."""
    while chunk := list(islice(rows, BATCH_ROWS)):
        try:
            yield batch_of(chunk)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"samples hold what their fields cannot: {str(error)[:200]}", path=path
            ) from None


IMPORTER = EveryEvalEver()


def foreign_rows(
    evaluation: Evaluation, path: Path, rejections: list[Rejection]
) -> Iterator[Row]:
    """The samples of a file. What is wrong with one is recorded."""
    for number, line in enumerate(read_lines(path, rejections), 1):
        try:
            yield from _rows(evaluation, line)
        except (TypeError, ValueError) as error:
            where = f"{path.name} sample {number}"
            expected = "input, output or messages, and evaluation"
            rejections.append(Rejection(where, str(error)[:300], expected))


def _rows(evaluation: Evaluation, line: Row) -> list[Row]:
    run, metric, filter_name = evaluation.entry_of(line)
    number = str(line["sample_id"])
    position = evaluation.positions.setdefault((run, number), len(evaluation.positions))
    status = "error"
    if line.get("error") is None:
        status = "not_scalar"
    scores = [
        {"metric": entry.metric, "filter": entry.filter, "status": status}
        for entry in evaluation.unscored(line)
    ] or [{"metric": metric, "filter": filter_name, **_value(line)}]
    prompt = {"run": run, "position": position, "prompt_id": number, **_prompt(line)}
    draws = _draws(line)
    epoch = _epoch(line)
    if len(draws) == 1:
        return [{**prompt, "draw": epoch or 0, **draws[0], "scores": scores}]
    rows = [{**prompt, "draw": draw, **answer} for draw, answer in enumerate(draws)]
    return [*rows, {**prompt, "draw": -1, "scores": scores}]


def _value(line: Row) -> Row:
    evaluation = mapping_of(line, "evaluation")
    if "score" not in evaluation:
        raise ValueError("no evaluation with a score")
    number = number_or_none(evaluation["score"])
    if number is not None:
        return {"value": number}
    raw = as_text_or_none(evaluation["score"])
    status = "not_scalar"
    if raw is None:
        status = "error"
    return {"status": status, "raw": raw}


def _prompt(line: Row) -> Row:
    source = mapping_of(line, "input")
    if not isinstance(source.get("raw"), str):
        raise ValueError("no input with a text")
    references = source.get("reference")
    listed = as_items(references)
    golds = [as_text(item) for item in listed if item is not None]
    choices = [as_text(item) for item in items_of(source.get("choices"))]
    details = mapping_of(line, "metadata")
    return {
        "identity": compact(
            {"input": source["raw"], "choices": sorted(choices), "target": golds}
        ),
        "text": source["raw"],
        "target": one_or_json(golds),
        "choices": compact_or_none(choices),
        "metadata": compact_or_none(details),
    }


def _draws(line: Row) -> list[Row]:
    """Texts of the model, one row for each."""
    common = _circumstances(line)
    output = line.get("output")
    raw = None
    if isinstance(output, dict):
        raw = output.get("raw")
    texts = as_items(raw)
    sent = mapping_of(line, "input").get("formatted")
    if not isinstance(output, dict):
        sent, texts = _conversation(line)
        common["transcript"] = _transcript(line)
    common["prompt_sent"] = string_or_none(sent)
    draws = [{"response": as_text_or_none(text)} for text in texts] or [{}]
    if len(draws) == 1:
        return [{**common, **draws[0]}]
    shared = {"prompt_sent": common["prompt_sent"]}  # counts are of all texts together
    return [{**shared, **item} for item in draws]


def _transcript(line: Row) -> Row | None:
    """The conversation with its counts; the format says of no call that it failed."""
    messages = [_message(item) for item in _spoken(line)]
    counts = mapping_of(line, "evaluation")
    usage = mapping_of(line, "token_usage")
    totals = {
        "n_turns": _bounded(counts.get("num_turns")),
        "cached_tokens": whole_count(usage.get("input_tokens_cache_read")),
        "cache_write_tokens": whole_count(usage.get("input_tokens_cache_write")),
        "reasoning_tokens": whole_count(usage.get("reasoning_tokens")),
    }
    present = without_nulls(totals)
    if not messages:
        return present or None
    found = transcript_of(messages, says_errors=False, **present)
    n_calls = _bounded(counts.get("tool_calls_count"))
    if n_calls and not found["tools"]:
        return {**found, "tools": [{"n_calls": n_calls}]}
    return found


def _bounded(value: Any) -> int | None:
    count = whole_count(value)
    if count is not None and count <= LARGEST_DRAW:
        return count
    return None


def _message(item: Row) -> Row:
    """A message in the form of other formats: the format lists the calls that a message
    answers, which is one."""
    keys = items_of(item.get("tool_call_id"))
    kept = {
        name: value
        for name, value in item.items()
        if name not in ("turn_idx", "reasoning_trace", "tool_call_id")
    }
    if len(keys) == 1:
        tool_call_id = keys[0]
    else:
        tool_call_id = keys or None
    extra = {
        "reasoning_content": item.get("reasoning_trace"),
        "tool_call_id": tool_call_id,
    }
    return {**kept, **without_nulls(extra)}


def _spoken(line: Row) -> list[Row]:
    return objects_of(line.get("messages", line.get("interactions")))


def _conversation(line: Row) -> tuple[str | None, list[Any]]:
    """Messages before the last answer, and that answer."""
    listed = _spoken(line)
    answers = [
        index for index, item in enumerate(listed) if item.get("role") == "assistant"
    ]
    if not answers:
        return compact_or_none(listed), [None]
    last = listed[answers[-1]]
    answer = last.get("content")
    if answer is None and last.get("tool_calls"):
        answer = compact(last["tool_calls"])
    return compact(listed[: answers[-1]]), [answer]


def _circumstances(line: Row) -> Row:
    usage = mapping_of(line, "token_usage")
    performance = mapping_of(line, "performance")
    attributions = objects_of(line.get("answer_attribution"))
    answers = [
        item for item in attributions if item.get("is_terminal") is not False
    ] or attributions
    times = (
        number_or_none(performance.get(key))
        for key in ("latency_ms", "generation_time_ms")
    )
    milliseconds = next((value for value in times if value is not None), None)
    answer = None
    if answers:
        answer = answers[-1].get("extracted_value")
    latency = None
    if milliseconds is not None:
        latency = milliseconds / 1000
    return {
        "extracted_answer": string_or_none(answer),
        "input_tokens": whole_count(usage.get("input_tokens")),
        "output_tokens": whole_count(usage.get("output_tokens")),
        "latency": latency,
        "error": text_or_none(line.get("error")),
    }


def _epoch(line: Mapping[str, Any]) -> int | None:
    """Which repeat it is, where a converter left that among the details; they count
    from 1."""
    epoch = str(mapping_of(line, "metadata").get("epoch", ""))
    if epoch.isdecimal() and 0 < int(epoch[:9]) < 1 << 30:
        return int(epoch) - 1
    return None


#: Where the export puts what the format has no field for: a JSON object, as a text.
DETAILS = "eval_warehouse"

_SCORE_FIELDS = frozenset(item.name for item in SCORE_TYPE)


def own_header(document: Mapping[str, Any], path: str) -> RunHeader | None:
    """The header of an exported run; ``None``: written by something else.

    Raises:
        InputError: what the export left was changed to something that is no header.
    """
    details = mapping_of(document, "eval_library", "additional_details").get(DETAILS)
    if details is None:
        return None
    try:
        parsed = parse_json(details)
        fields = _checked(RunHeader, parsed)
        fields["suite"], fields["tags"] = (
            tuple(parsed.get("suite", ())),
            tuple(parsed.get("tags", ())),
        )
        fields["metrics"] = tuple(
            MetricSpec(**_checked(MetricSpec, item))
            for item in parsed.get("metrics", ())
        )
        fields["published"] = tuple(
            PublishedScore(**_checked(PublishedScore, item))
            for item in parsed.get("published", ())
        )
        if isinstance(parsed.get("started_at"), str):
            fields["started_at"] = datetime.fromisoformat(parsed["started_at"])
        return RunHeader(**fields)
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the details that the export left cannot be read: {error}",
            path=path,
            place=f"eval_library.additional_details.{DETAILS}",
            expected="what warehouse store export writes",
            advice=(
                "export it again, or remove this field to have it read as of another "
                "tool"
            ),
        ) from None


def own_rows(path: Path, rejections: list[Rejection]) -> Iterator[Row]:
    """The sample rows of a file. A line that is not as it was exported is recorded."""
    for number, line in enumerate(read_lines(path, rejections), 1):
        try:
            row = _row(line)
            batch_of([row])  # whether its values are of the types of their columns
        except (
            TypeError,
            ValueError,
            AttributeError,
            InputError,
            pa.ArrowException,
        ) as error:
            expected = f"metadata.{DETAILS} as warehouse store export writes it"
            where = f"{path.name} sample {number}"
            rejections.append(Rejection(where, str(error)[:300], expected))
        else:
            yield row


def _row(line: Row) -> Row:
    details = parse_json(mapping_of(line, "metadata").get(DETAILS, "null"))
    if not isinstance(details, dict) or not isinstance(details.get("row"), dict):
        raise ValueError("no details of the export")
    if not isinstance(details["row"].get("prompt_id"), str):
        raise ValueError("no key of a prompt")
    row = {
        name: value
        for name, value in details["row"].items()
        if name in SAMPLE_SCHEMA.names
    }
    scores = _scores(details.get("score"), mapping_of(line, "evaluation").get("score"))
    if details.get("again"):  # an earlier line has the prompt and the response
        return {"run": 0, **row, "scores": scores}
    source = mapping_of(line, "input")
    output = mapping_of(line, "output")
    texts = output.get("raw") or []
    answers = [
        item for item in line.get("answer_attribution") or [] if isinstance(item, dict)
    ]
    milliseconds = mapping_of(line, "performance").get("latency_ms")
    if row.get("draw") == -1:
        generation = {}
    else:
        generation = {
            "prompt_sent": source.get("formatted"),
            "response": first_of(texts),
            "extracted_answer": answers[0].get("extracted_value") if answers else None,
            "latency": None if milliseconds is None else milliseconds / 1000,
            "error": line.get("error"),
        }
    return {
        "run": 0,
        "text": source.get("raw"),
        "target": next(iter(source.get("reference") or []), None),
        **generation,
        **row,
        "scores": scores,
    }


def _scores(details: Any, value: Any) -> list[Row]:
    """The one score of a line; lines of generations without a score have none."""
    if not isinstance(details, dict):
        return []
    own = {name: item for name, item in details.items() if name in _SCORE_FIELDS}
    return [{**own, "value": number_or_none(value)}]


def _checked(kind: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a record with values of their types (ValueError: one is of another
    type)."""
    hints = get_type_hints(kind)
    values = {}
    for item in fields(kind):
        value = record.get(item.name)
        if (
            value is None
            or "tuple" in str(hints[item.name])
            or item.name == "started_at"
        ):
            continue
        if not _fits(value, str(hints[item.name])):
            raise ValueError(f"'{item.name}' is {str(value)[:60]!r}")
        values[item.name] = value
    return values


def _fits(value: Any, hint: str) -> bool:
    if isinstance(value, bool):
        return "bool" in hint
    if isinstance(value, str):
        return "str" in hint or "Literal" in hint
    if isinstance(value, int):
        return "int" in hint or "float" in hint
    if isinstance(value, float):
        return "float" in hint
    return isinstance(value, dict) and "Mapping" in hint
