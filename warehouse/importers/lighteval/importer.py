"""Importer of lighteval: results files and the details of both generations, as rows."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.importers.common.json_fields import (
    as_items,
    as_text,
    as_text_or_none,
    compact,
    first_of,
    items_of,
    number_or_none,
    one_or_json,
    paired_value,
    require_model,
    response_pair,
    text_of_any,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    ODD_VALUES,
    batches_of,
    read_document,
    require_content,
    unpacked_head,
)
from warehouse.importers.common.model_names import disagreement, same_model
from warehouse.importers.lighteval.details import (
    Details,
    Row,
    is_details,
    is_over_draws,
    is_pair,
    is_text,
    stamp_of,
)
from warehouse.importers.lighteval.header import (
    LightevalResults,
    group_scores,
    header,
    model_of_path,
)
from warehouse.records import Candidate, Dump, ImportSettings, Rejection, SourceFiles


class Lighteval:
    """A results file with the details of the same time stamp; either alone too."""

    name = "lighteval"
    version = "3"  # 2: documents that are asked in several ways; 3: all settings, no hashes of samples
    folders = 8

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Results files by their first keys, details by their names."""
        results = [item.path for item in candidates if _is_results(item)]
        stamped = defaultdict[str, list[Path]](list)
        for path in results:
            stamped[stamp_of(path)].append(path)
        belonging = defaultdict[Path, list[Path]](list)
        for item in candidates:
            if is_details(item):
                owner = _nearest(item.path, stamped.get(stamp_of(item.path), []))
                belonging[owner or item.path.parent].append(item.path)
        for path in (
            *results,
            *(owner for owner in belonging if owner not in set(results)),
        ):
            files = ((path,) if path in set(results) else ()) + tuple(
                sorted(belonging[path])
            )
            root = Path(os.path.commonpath([file.parent for file in files]))
            yield SourceFiles(str(path), root, files)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open a results file and its details (InputError: a file is damaged, or
        nothing names the model)."""
        for path in source.files:
            require_content(path)
        results_files = [path for path in source.files if path.suffix == ".json"]
        document = {}
        if results_files:
            document = read_document(results_files[0])
        if results_files:
            first = results_files[0]
        else:
            first = source.files[0]
        results = LightevalResults(document, first)
        rejections: list[Rejection] = []
        notes = list(other_models(results, source.files))
        notes += results.notes_on_metrics()
        details = [
            Details(path, results.tasks)
            for path in source.files
            if path not in results_files
        ]
        model = results.model or model_of_path(source.files[-1])
        require_model(settings.model or model, source.name)
        by_task = {item.task: item for item in details}
        tasks = dict.fromkeys((*results.tasks, *by_task))
        runs = tuple(
            header(results, task, by_task.get(task), model or "") for task in tasks
        )
        numbers = {task: number for number, task in enumerate(tasks)}

        def rows() -> Iterator[pa.RecordBatch]:
            return chain.from_iterable(
                batches(item, numbers[item.task], rejections, notes) for item in details
            )

        return Dump(runs, rows(), group_scores(results), rejections, notes)


def other_models(results: LightevalResults, paths: Sequence[Path]) -> Iterator[str]:
    """A note for each model that folders name and the results file does not."""
    model = results.model
    named = dict.fromkeys(
        name for path in paths if (name := model_of_path(path.absolute()))
    )
    return (
        disagreement(model, "a folder", name)
        for name in named
        if model and not same_model(name, model)
    )


def _is_results(candidate: Candidate) -> bool:
    """True if a file begins as lighteval's results do."""
    if candidate.path.suffix != ".json":
        return False
    start = unpacked_head(candidate)[:4000]
    return (
        start.startswith("{")
        and '"config_general"' in start
        and ('"lighteval_sha"' in start or '"total_evaluation_time_secondes"' in start)
    )


def _nearest(path: Path, owners: Sequence[Path]) -> Path | None:
    """The results file that shares most folders with a file of details."""
    return max(
        owners, key=lambda owner: len(os.path.commonpath([owner, path])), default=None
    )


IMPORTER = Lighteval()


def batches(
    details: Details, run: int, rejections: list[Rejection], notes: list[str]
) -> Iterator[pa.RecordBatch]:
    """All rows of a file. What is wrong with a row is recorded."""
    cut = 0
    of_row = _flat
    if details.is_nested:
        of_row = _nested

    def rows_of(item: tuple[int, Row]) -> list[Row]:
        nonlocal cut
        number, row = item
        prompt, draws, truncated = of_row(row)
        prompt |= {"run": run, "position": number}
        rows = _with_scores(
            prompt, draws, _scores(details, row), _explanation(details, row)
        )
        cut += truncated
        return rows

    items = (
        (f"{details.path.name} row {number + 1}", (number, row))
        for number, row in details.rows()
    )
    yield from batches_of(
        items, rows_of, rejections, "a row as lighteval writes it", ODD_VALUES
    )
    if cut:
        notes.append(f"{details.path.name}: {cut} prompts were cut to fit the model")


def _with_scores(
    prompt: Row, draws: Sequence[Row], scores: list[Row], explanation: str | None
) -> list[Row]:
    """Draws; scores of several draws are of all of them together."""
    if len(draws) < 2:
        only = {}
        if draws:
            only = draws[0]
        return [
            {**prompt, "draw": 0, **only, "scores": scores, "explanation": explanation}
        ]
    for score in scores:
        if is_over_draws(score["metric"]):
            score["n_draws"] = len(draws)
    rows = [{**prompt, "draw": number, **draw} for number, draw in enumerate(draws)]
    return [*rows, {**prompt, "draw": -1, "scores": scores, "explanation": explanation}]


# --- 0.11 and later --------------------------------------------------------------------------


def _nested(row: Row) -> tuple[Row, list[Row], bool]:
    doc = _object(row, "doc")
    answer = _object(row, "model_response")
    methods = doc.get("sampling_methods") or []
    options = [as_text(item) for item in _list(doc, "choices")]
    gold = _indices(doc.get("gold_index"), len(options))
    is_choice = "LOGPROBS" in methods and len(options) > 0
    # asked in several ways, a document has a row for each, of which the one with texts
    # is the generation
    several = len(methods) > 1
    is_ranked = is_choice and not (several and _list(answer, "text"))
    number = doc.get("id")
    prompt = {
        "prompt_id": number if isinstance(number, str) and number else None,
        "metadata": _metadata(doc.get("specific"), doc.get("original_query")),
        **_prompt(
            doc.get("query"),
            options if is_choice else None,
            [options[index] for index in gold],
            doc.get("images"),
        ),
    }
    sent = answer.get("input")
    common: Row = {}
    if not several or _list(answer, "text"):
        if sent is None:
            common["prompt_sent"] = None
        else:
            common["prompt_sent"] = as_text(sent)
        common["input_tokens"] = len(_list(answer, "input_tokens")) or None
    truncated = bool(answer.get("truncated_tokens_count"))
    if is_ranked:
        common["choice_scores"] = _options(
            options,
            gold,
            _list(answer, "logprobs"),
            _list(answer, "unconditioned_logprobs"),
            _list(answer, "argmax_logits_eq_gold"),
            _lengths(_list(answer, "output_tokens")),
        )
    return prompt, _texts(answer, common, is_ranked), truncated


def _texts(answer: Row, common: Row, is_choice: bool) -> list[Row]:
    """One row for each text."""
    texts = _list(answer, "text")
    if not texts:
        return [common]
    cleaned = _list(answer, "text_post_processed")
    if is_choice:
        lengths = []
    else:
        lengths = _lengths(_list(answer, "output_tokens"))
    rows = []
    for number, text in enumerate(texts):
        shown = None
        if number < len(cleaned):
            shown = cleaned[number]
        extracted = None
        if shown is not None and shown != text:
            extracted = as_text(shown)
        output_tokens = None
        if number < len(lengths):
            output_tokens = lengths[number]
        rows.append(
            {
                **common,
                "response": as_text_or_none(text),
                "extracted_answer": extracted,
                "output_tokens": output_tokens,
            }
        )
    return rows


# --- up to 0.10 ------------------------------------------------------------------------------


def _flat(row: Row) -> tuple[Row, list[Row], bool]:
    options = [as_text(item) for item in _list(row, "choices")]
    predictions = _list(row, "predictions")
    numbers = [_likelihood(item) for item in predictions]
    all_likely = all(pair[0] is not None for pair in numbers)
    is_choice = len(options) > 0 and all_likely
    gold = _indices(row.get("gold_index"), len(options))
    golds = [as_text(item) for item in _list(row, "gold")] or [
        options[index] for index in gold
    ]
    prompt = {
        "metadata": _metadata(row.get("specifics"), None),
        **_prompt(row.get("example"), options if is_choice else None, golds, None),
    }
    inputs = _lengths(_list(row, "input_tokens"))
    common: Row = {
        "prompt_sent": None
        if row.get("full_prompt") is None
        else as_text(row["full_prompt"]),
        "input_tokens": first_of(inputs),
    }
    truncated = any(item for item in _list(row, "truncated"))
    tokens = _list(row, "cont_tokens")
    if is_choice:
        half = len(options)
        alone = [pair[0] for pair in numbers[half:]]
        lengths = _lengths([item[0] if _is_nested(item) else item for item in tokens])
        common["choice_scores"] = _options(
            options,
            gold,
            [pair[0] for pair in numbers[:half]],
            alone,
            [pair[1] for pair in numbers[:half]],
            lengths,
        )
        return prompt, [common], truncated
    lengths = _lengths(
        tokens[0] if len(tokens) == 1 and _is_nested(tokens[0]) else tokens
    )
    draws = [
        {
            **common,
            "response": as_text(text),
            "output_tokens": lengths[number]
            if len(lengths) == len(predictions)
            else None,
        }
        for number, text in enumerate(predictions)
        if text is not None
    ]
    return prompt, draws or [common], truncated


def _likelihood(value: Any) -> tuple[float | None, bool | None]:
    number = number_or_none(value)
    if number is not None:
        return (number, None)
    return response_pair(value)


# --- both ------------------------------------------------------------------------------------


def _prompt(
    query: Any, options: list[str] | None, golds: list[str], images: Any
) -> Row:
    text = as_text_or_none(query)
    identity = {"query": text, "choices": options, "gold": golds}
    if images:
        identity["images"] = images
    choices = None
    if options is not None:
        choices = compact(options)
    return {
        "identity": compact(identity),
        "text": text,
        "target": one_or_json(golds),
        "choices": choices,
    }


def _options(
    options: Sequence[str],
    gold: Sequence[int],
    likelihoods: Sequence[Any],
    alone: Sequence[Any],
    greedy: Sequence[Any],
    lengths: Sequence[int | None],
) -> list[Row]:
    """Likelihoods of the options; empty where a list does not have one value per
    option."""

    def at(values: Sequence[Any], index: int) -> Any:
        if len(values) == len(options):
            return values[index]
        return None

    return [
        {
            "choice_index": index,
            "loglikelihood": number_or_none(at(likelihoods, index)),
            "unconditional_loglikelihood": number_or_none(at(alone, index)),
            "is_greedy": at(greedy, index)
            if isinstance(at(greedy, index), bool)
            else None,
            "n_tokens": at(lengths, index),
            "n_bytes": len(option.encode("utf-8")),
            "is_target": index in gold if gold else None,
        }
        for index, option in enumerate(options)
    ]


def _scores(details: Details, row: Row) -> list[Row]:
    column = "metrics"
    if details.is_nested:
        column = "metric"
    values = _object(row, column)
    several = (
        details.is_nested
        and len(items_of(_object(row, "doc").get("sampling_methods"))) > 1
    )
    scores = []
    for name, value in values.items():
        kind = details.metrics.get(name)
        if kind is None or is_text(name, kind):
            continue
        if several and value is None:  # a metric of the other way
            continue
        scores.append({"metric": name, **_value(value, is_pair(kind))})
    return scores


def _value(value: Any, paired: bool) -> Row:
    if paired and isinstance(value, dict):
        return paired_value(
            [_single(value.get("logprobs")), _single(value.get("weights"))]
        )
    number = number_or_none(value)
    if number is not None:
        return {"value": number}
    if value is None or isinstance(value, float):  # a float that is no finite number
        return {"status": "error", "raw": text_of_any(value)}
    return {"status": "not_scalar", "raw": compact(value)}


def _single(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return value


def _explanation(details: Details, row: Row) -> str | None:
    """Texts of judges."""
    column = "metrics"
    if details.is_nested:
        column = "metric"
    values = _object(row, column)
    parts = []
    for name, value in values.items():
        if value is None or not name.startswith("judgement_"):
            continue
        if is_text(name, details.metrics.get(name, pa.null())):
            parts.append(as_text(value))
    return "\n\n".join(parts) or None


def _metadata(specific: Any, original: Any) -> str | None:
    metadata = {}
    if isinstance(specific, dict):
        metadata = dict(specific)
    if original is not None:
        metadata["original_query"] = original
    metadata = without_nulls(metadata)
    if metadata:
        return compact(metadata)
    return None


def _object(row: Row, name: str) -> Row:
    structure = row.get(name)
    if not isinstance(structure, dict):
        raise ValueError(f"'{name}' is {type(structure).__name__}, no structure")
    return structure


def _list(row: Row, name: str) -> list[Any]:
    return items_of(row.get(name))


def _indices(value: Any, count: int) -> list[int]:
    """Indices of the right options; none where one points to no option."""
    listed = as_items(value)
    usable = all(type(item) is int and 0 <= item < count for item in listed)
    if usable:
        return list(listed)
    return []


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _lengths(values: Any) -> list[int | None]:
    return [len(item) if isinstance(item, list) else None for item in values]
