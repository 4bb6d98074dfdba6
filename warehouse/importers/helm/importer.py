"""Importer of run folders of Stanford HELM: instances, completions, likelihoods and
statistics as rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.json_fields import (
    Row,
    as_text,
    compact,
    compact_or_none,
    items_of,
    number_or_none,
    object_of,
    objects_of,
    one_or_json,
    part_of,
    string_or_none,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.jsonl import batches_of
from warehouse.importers.common.model_names import disagreement, same_model
from warehouse.importers.common.transcripts import content_of, question_of
from warehouse.importers.helm.header import headers
from warehouse.importers.helm.run_folder import (
    PROMPT_TOKENS,
    HelmRun,
    Key,
    is_score,
    perturbation_label,
)
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles, parse_json

#: Files of a run folder that are read; the first must be there, and one of those after
#: it.
FILES = (
    "run_spec.json",
    "scenario_state.json",
    "per_instance_stats.json",
    "stats.json",
    "scenario.json",
)
_MODEL_IN_NAME = re.compile(r"[:,-]model=([^,]+)")


class Helm:
    """A folder with ``run_spec.json`` and what belongs to it; one run for each split."""

    name = "helm"
    version = "5"  # 4: weights where statistics count unequally, main metrics; 5: all settings
    folders = 3

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each run folder is a source. Files that only repeat it for display are left
        alone."""
        folders = defaultdict[Path, dict[str, Path]](dict)
        for item in candidates:
            if item.path.name in FILES:
                folders[item.path.parent][item.path.name] = item.path
        for folder, paths in folders.items():
            has_others = any(name in paths for name in FILES[1:4])
            if FILES[0] in paths and has_others:
                files = tuple(paths[name] for name in FILES if name in paths)
                yield SourceFiles(str(folder), folder, files)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one run folder (InputError: a file is damaged, or nothing names the
        model)."""
        run = HelmRun(source.root, source.files)
        if not run.spec.get("adapter_spec"):
            raise InputError(
                "there is no 'adapter_spec'",
                path=str(source.files[0]),
                expected="the specification of a HELM run",
            )
        run.notes += _other_name(run, source.root)
        runs = tuple(headers(run, settings.model, source.name))
        return Dump(runs, batches(run), rejections=run.rejections, notes=run.notes)


def _other_name(run: HelmRun, folder: Path) -> Iterator[str]:
    """A note where the folder, ``SCENARIO:...,model=NAME``, names another model."""
    model = text_or_none(run.adapter.get("model"))
    names = (model, text_or_none(run.adapter.get("model_deployment")))
    named = _MODEL_IN_NAME.search(folder.name)
    if (
        model
        and named
        and not any(same_model(named[1], name) for name in names if name)
    ):
        yield disagreement(model, "the folder", named[1])


IMPORTER = Helm()


def batches(run: HelmRun) -> Iterator[pa.RecordBatch]:
    """All rows of a run. What is wrong with a row is recorded."""
    if run.bookkeeping:
        run.notes.append(
            f"{len(run.bookkeeping)} bookkeeping statistics are no scores: dropped"
        )
    positions: dict[str, int] = {}
    items = (
        (
            f"instance {key[0][:200]}, trial {key[2]}",
            (key, positions.setdefault(key[0], len(positions))),
        )
        for key in dict.fromkeys((*run.requests, *run.statistics))
    )
    errors = (TypeError, ValueError, RecursionError)
    return batches_of(
        items,
        lambda item: _rows(run, *item),
        run.rejections,
        "an instance as HELM writes it",
        errors,
    )


def _rows(run: HelmRun, key: Key, position: int) -> list[Row]:
    number, perturbation, trial = key
    states = run.requests.get(key, [])
    stats = run.statistics.get(key, {})
    trials = whole_count(run.adapter.get("num_train_trials")) or 1
    prompt = {
        "run": run.splits.index(run.split_of(key)),
        "position": position,
        "prompt_id": number,
        "perturbation": perturbation_label(parse_json(perturbation))
        if perturbation
        else "",
        "fewshot_draw": str(trial) if trials > 1 or trial else "",
        **_prompt(run.originals.get(number)),
    }
    options = [state for state in states if state.get("reference_index") is not None]
    if run.is_prose:
        draws = [_prose(states)]
    elif options:
        draws = [_options(options)]
    else:
        draws = _draws(states, stats)
    weights = run.weights.get(key, {})
    scores = [
        _score(name, value) | ({"weight": weights[name]} if name in weights else {})
        for name, value in stats.items()
        if is_score(name)
    ]
    if len(draws) < 2:
        only = {}
        if draws:
            only = draws[0]
        return [{**prompt, "draw": 0, **only, "scores": scores}]
    # several completions or trials: the statistics are of all of them together
    together = [score | {"n_draws": len(draws)} for score in scores]
    rows = [{**prompt, "draw": number, **draw} for number, draw in enumerate(draws)]
    if scores:
        return [*rows, {**prompt, "draw": -1, "scores": together}]
    return rows


def _prompt(instance: Mapping[str, Any] | None) -> Row:
    """The prompt, from the instance before any perturbation."""
    if instance is None:
        return {}
    source = part_of(instance, "input")
    messages = source.get("messages")
    content = content_of(
        messages if isinstance(messages, list) and messages else source.get("text")
    )
    references = _references(instance)
    correct = [text for text, is_correct in references if is_correct]
    others = {
        key: value
        for key, value in instance.items()
        if key in ("sub_split", "extra_data", "contrast_inputs") and value
    }
    is_choice = len(references) > len(correct) > 0
    if len(correct) == 1:
        target = correct[0]
    else:
        target = compact(correct)
    choices = None
    if is_choice:
        choices = compact([text for text, _ in references])
    return {
        "identity": compact({"input": content, "references": references}),
        "text": question_of(content),
        "target": target,
        "choices": choices,
        "metadata": compact_or_none(others),
    }


def _references(instance: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Text of each reference, and whether it is correct."""
    return [
        (
            as_text(part_of(item, "output").get("text")),
            "correct" in (item.get("tags") or ()),
        )
        for item in objects_of(instance.get("references"))
    ]


def _draws(
    states: Sequence[Mapping[str, Any]], stats: Mapping[str, float | None]
) -> list[Row]:
    """One row for each completion of each request."""
    draws = []
    for state in states:
        result = part_of(state, "result")
        shared = {
            "prompt_sent": _sent(part_of(state, "request")),
            "latency": number_or_none(result.get("request_time")),
            "input_tokens": _counted(stats.get(PROMPT_TOKENS)),
            "error": _error(result),
        }
        for completion in items_of(result.get("completions")) or [{}]:
            own = object_of(completion)
            draws.append({**shared, **_completion(own, state)})
    return draws


def _prose(states: Sequence[Mapping[str, Any]]) -> Row:
    """The requests about one text together. What came back is the text again."""
    sent = [text for state in states if (text := _sent(part_of(state, "request")))]
    results = [part_of(state, "result") for state in states]
    seconds = [number_or_none(result.get("request_time")) for result in results]
    present = [value for value in seconds if value is not None]
    latency = None
    if present:
        latency = sum(present)
    return {
        "prompt_sent": one_or_json(sent),
        "latency": latency,
        "error": next((error for result in results if (error := _error(result))), None),
    }


def _completion(completion: Mapping[str, Any], state: Mapping[str, Any]) -> Row:
    text = completion.get("text")
    response = string_or_none(text)
    mapping = part_of(state, "output_mapping")
    answer = None
    if response is not None:
        answer = mapping.get(response.strip())
    return {
        "response": response,
        "extracted_answer": string_or_none(answer),
        "finish_reason": text_or_none(
            part_of(completion, "finish_reason").get("reason")
        ),
        "output_tokens": whole_count(completion.get("tokens")),
    }


def _options(states: Sequence[Mapping[str, Any]]) -> Row:
    """Options that were asked one by one: their likelihoods, also under the calibration
    prompt."""
    options: dict[int, Row] = {}
    sent = None
    for state in states:
        index = state["reference_index"]
        references = _references(part_of(state, "instance"))
        if type(index) is not int or not 0 <= index < len(references):
            raise ValueError(
                f"reference_index {str(index)[:60]} of {len(references)} references"
            )
        text, is_correct = references[index]
        value, count = _likelihood(state, text)
        option = options.setdefault(
            index,
            {
                "choice_index": index,
                "is_target": is_correct,
                "n_bytes": len(text.encode("utf-8")),
            },
        )
        if state.get("request_mode") == "calibration":
            option["unconditional_loglikelihood"] = value
        else:
            option |= {"loglikelihood": value, "n_tokens": count}
            sent = sent or _sent(part_of(state, "request"))
    return {
        "prompt_sent": sent,
        "choice_scores": [options[index] for index in sorted(options)],
    }


def _likelihood(state: Mapping[str, Any], text: str) -> tuple[float | None, int | None]:
    """Log-likelihood and number of the tokens that an option ends the echoed prompt
    with; none where the tokens do not end with its text."""
    first = next(iter(items_of(part_of(state, "result").get("completions"))), None)
    tokens = None
    if isinstance(first, dict):
        tokens = first.get("tokens")
    suffix = ""
    total = 0.0
    option_text = text.strip()
    for count, token in enumerate(reversed(items_of(tokens)), 1):
        if not isinstance(token, dict) or number_or_none(token.get("logprob")) is None:
            return None, None
        suffix = as_text(token.get("text")) + suffix
        total += float(token["logprob"])
        if suffix.strip() == option_text:
            return total, count
        if len(suffix) > len(option_text) + 8:
            return None, None
    return None, None


def _score(name: str, value: float | None) -> Row:
    status = "error"
    if value is not None:
        status = "scored"
    return {
        "metric": name,
        "value": value,
        "status": status,
    }


def _sent(request: Mapping[str, Any]) -> str | None:
    messages = request.get("messages")
    if isinstance(messages, list) and messages:
        return compact(content_of(messages))
    prompt = request.get("prompt")
    if isinstance(prompt, str):
        return prompt
    return None


def _error(result: Mapping[str, Any]) -> str | None:
    if result.get("success") is not False:
        return None
    return text_or_none(result.get("error")) or "the request failed"


def _counted(value: float | None) -> int | None:
    if value is not None and 0 <= value < 1 << 62:
        return int(value)
    return None
