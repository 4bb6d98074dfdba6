"""The current runs as logs of Inspect: one ``.eval`` for each run, one sample for each
prompt and draw.

What a log has no field for stands in its metadata under ``eval_warehouse``; values of
all draws of a prompt together and log-likelihoods are left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from warehouse.errors import MisuseError
from warehouse.export import require_free
from warehouse.files import draft_beside, in_place_of, replace_file
from warehouse.interchange.conversations import chat_messages
from warehouse.interchange.every_eval_ever import (
    AnswerKey,
    FactBlock,
    blocks_of,
    golds_of,
)
from warehouse.interchange.every_eval_ever_results import (
    DETAILS,
    Run,
    figures_of,
    parsed,
    result_id,
    runs_of,
)
from warehouse.store.connection import Store

#: Says what the folder is; hidden, since it is no log.
MANIFEST = ".inspect-logs.json"
#: Reasons to stop as Inspect names them; others are unknown to it.
_STOPS = frozenset(
    ("stop", "max_tokens", "model_length", "tool_calls", "content_filter")
)
_ALIASES = {"length": "max_tokens"}
_UNSAFE_ID = re.compile(r"[/\\\x00-\x1f]")  # in the name of an entry
_UNSAFE = re.compile(r"[^A-Za-z0-9.+-]+")

Row = dict[str, Any]


@dataclass(frozen=True)
class InspectReport:
    """What was written: logs, samples in them, and runs of which there are no
    samples."""

    folder: Path
    n_runs: int
    n_samples: int
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.n_runs} logs, {self.n_samples} samples in {self.folder}"


def export(
    store: Store,
    folder: Path,
    *,
    now: float,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _name: None,
) -> InspectReport:
    """Write a log for each current run that has samples. The folder is complete or not
    there at all.

    Arguments and errors are those of `Warehouse.export_inspect`; ``progress`` is told
    each file's name before it is written.
    """
    folder = require_free(folder, overwrite, MANIFEST)
    partial = draft_beside(folder)
    counts: dict[str, int] = {}
    left_out: list[str] = []
    with in_place_of(folder, partial):
        partial.mkdir(parents=True)
        for run in runs_of(store):
            name = _file_name(run, now)
            progress(name)
            n_samples = _write(store, run, now, partial / name)
            if n_samples:
                counts[name] = n_samples
            else:
                (partial / name).unlink()
                left_out.append(
                    f"{run.header['model']} on {run.header['benchmark']}: no samples"
                )
        if not counts:
            raise MisuseError(
                "the store has no run with samples: there is nothing to export"
            )
        manifest = {"format": "inspect", "runs": len(counts), "rows": sorted(counts)}
        replace_file(
            partial / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode()
        )
    return InspectReport(folder, len(counts), sum(counts.values()), tuple(left_out))


def _file_name(run: Run, now: float) -> str:
    task = _UNSAFE.sub("-", str(run.header["benchmark"])).strip("-")[:80] or "task"
    return f"{_created(run, now).replace(':', '-')}_{task}_{_key(run)}.eval"


def _key(run: Run) -> str:
    """A key that is the same for the same measurement."""
    return f"{run.content_digest[:12]}{run.condition_key[:10]}"


def _model(run: Run) -> str:
    return str(run.header["model"])


def _created(run: Run, now: float) -> str:
    """When the run began, else when it is written."""
    begun = run.header.get("started_at")
    if begun:
        when = datetime.fromisoformat(begun)
    else:
        when = datetime.fromtimestamp(now, UTC)
    return when.replace(tzinfo=UTC, microsecond=0).isoformat()


def _write(store: Store, run: Run, now: float, path: Path) -> int:
    """Write a log; how many samples it has."""
    summaries: list[Row] = []
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for sample in samples_of(store, run, _created(run, now)):
            archive.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _json(sample)
            )
            shown = {name: sample[name] for name in _SUMMARY if name in sample}
            summaries.append({**shown, "input": shown["input"][:_SHOWN]})
        archive.writestr("header.json", _json(_header(store, run, now, summaries)))
        archive.writestr("summaries.json", _json(summaries))
    return len(summaries)


#: What a list of samples shows of each, and so many characters of the question.
_SHOWN = 500
_SUMMARY = (
    "id",
    "epoch",
    "input",
    "target",
    "scores",
    "model_usage",
    "total_time",
    "uuid",
)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- the log -------------------------------------------------------------------------------------


def _header(store: Store, run: Run, now: float, samples: list[Row]) -> Row:
    header, created, figures = run.header, _created(run, now), figures_of(store, run)
    names = list(dict.fromkeys(sample["id"] for sample in samples))
    settings: Row = {
        **{
            name: header[name]
            for name in ("temperature", "top_p", "max_tokens", "reasoning_effort")
            if name in header
        },
        **({"seed": header["sampling_seed"]} if "sampling_seed" in header else {}),
    }
    dataset = {
        "name": str(header["benchmark"]),
        "samples": len(names),
        "sample_ids": names,
        "shuffled": False,
    }
    return {
        "version": 2,
        "status": "error" if header.get("status") == "failed" else "success",
        "eval": {
            "eval_id": _key(run),
            "run_id": str(header.get("run_id") or _key(run)),
            "created": created,
            "task": str(header["benchmark"]),
            "task_id": _key(run),
            "task_version": header.get("task_version") or 0,
            "task_args": {},
            "tags": header.get("tags") or None,
            "dataset": dataset,
            "model": _model(run),
            "model_args": {"revision": header["revision"]}
            if "revision" in header
            else {},
            "model_generate_config": settings,
            "config": {
                "epochs": max((sample["epoch"] for sample in samples), default=1)
            },
            "packages": {},
            # what was measured how, as the store knows it
            "metadata": {DETAILS: json.dumps(header, sort_keys=True, allow_nan=False)},
        },
        "plan": {"name": "plan", "steps": [], "config": settings},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": [
                _figure(metric, figures[metric["id"]])
                for metric in run.metrics
                if metric["id"] in figures
            ],
        },
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
    }


def _figure(metric: Row, figure: Row) -> Row:
    name = result_id(metric["name"], metric["filter"])
    values = {"mean": figure["estimate"], "stderr": figure["standard_error"]}
    metrics = {
        key: {"name": key, "value": value}
        for key, value in values.items()
        if value is not None
    }
    return {
        "name": name,
        "scorer": name,
        "scored_samples": figure["n_prompts"],
        "metrics": metrics,
    }


# --- samples -------------------------------------------------------------------------------------


def samples_of(store: Store, run: Run, when: str) -> Iterator[Row]:
    """The samples of a run that began at a moment, in the order of its prompts."""
    named: Counter[str] = Counter()
    names: dict[AnswerKey, str] = {}
    for block in blocks_of(store, run):
        for key in block.answer_keys:
            if key[-1] < 0:  # of all draws together
                continue
            item = key[:-1]
            if item not in names:
                prompt = block.prompts[key[0]]
                name = _UNSAFE_ID.sub(
                    "_",
                    " ".join(
                        filter(
                            None, (prompt["tool_id"] or prompt["key"][:12], *key[1:-1])
                        )
                    ),
                )
                named[name] += 1
                if named[name] == 1:
                    names[item] = name
                else:
                    names[item] = f"{name} ({named[name]})"
            yield _sample(run, block, key, names[item], when)


def _sample(run: Run, block: FactBlock, key: AnswerKey, name: str, when: str) -> Row:
    prompt, generation, way = (
        block.prompts[key[0]],
        block.generations.get(key, {}),
        block.ways.get(key, {}),
    )
    messages = (
        chat_messages(way["messages"])
        if "messages" in way
        else _spoken(prompt, generation)
    )
    question_text = prompt["text"] or next(
        (item["content"] for item in messages if item["role"] == "user"), ""
    )
    choices, about = parsed(prompt["choices"]), parsed(prompt["metadata"])
    golds = golds_of(prompt["target"])
    own = f"{_key(run)} {name} {key[-1] + 1}"  # Inspect's tables of samples and messages go by ids
    for index, message in enumerate(messages):
        message["id"] = f"{own} {index}"
    usage = _usage(generation, way)
    details = {
        "prompt": prompt["key"],
        "limit_hit": way.get("limit_hit"),
        "scores": [_score_details(score) for score in block.scores.get(key, [])],
    }
    output = _output(run, generation, messages, usage)
    present = {
        "choices": [item if isinstance(item, str) else _json(item) for item in choices]
        if choices
        else None,
        "uuid": way.get("uuid") or own,
        "total_time": generation.get("latency"),
        "error": _error(generation.get("error")),
    }
    return {
        "id": name,
        "epoch": key[-1] + 1,
        "input": question_text,
        "target": golds[0] if len(golds) == 1 else golds,
        "messages": messages,
        "output": output,
        "events": _events(run, messages, output, when),
        "scores": _scores(block, key, generation),
        "metadata": {**(about if isinstance(about, dict) else {}), DETAILS: details},
        "model_usage": {_model(run): usage} if usage else {},
        **{field: value for field, value in present.items() if value is not None},
    }


def _spoken(prompt: Row, generation: Row) -> list[Row]:
    """Prompt and response as messages, where no conversation is stored."""
    sent, said = (
        generation.get("prompt_sent") or prompt["text"],
        generation.get("response"),
    )
    messages = []
    if sent:
        messages = [{"role": "user", "content": sent}]
    if sent and sent.startswith('[{"'):
        with suppress(
            ValueError, AttributeError
        ):  # a text that only looks like messages
            messages = [
                message | {"source": "input"} for message in chat_messages(sent)
            ]
    if said is None:
        return messages
    return [*messages, {"role": "assistant", "content": said, "source": "generate"}]


def _output(run: Run, generation: Row, messages: list[Row], usage: Row) -> Row:
    last = next(
        (item for item in reversed(messages) if item.get("source") == "generate"), None
    )
    reason = generation.get("finish_reason")
    if isinstance(reason, str):
        reason = _ALIASES.get(reason, reason)
    else:
        reason = None
    choices = []
    if last:
        choices = [
            {"message": last, "stop_reason": reason if reason in _STOPS else "unknown"}
        ]
    parts = {"usage": usage or None, "time": generation.get("latency")}
    return {"model": _model(run), "choices": choices} | {
        name: value for name, value in parts.items() if value
    }


def _events(run: Run, messages: list[Row], output: Row, when: str) -> list[Row]:
    """The last request to the model, which holds the whole conversation: Inspect's
    table of messages reads these."""
    if not output["choices"]:
        return []
    index = messages.index(output["choices"][0]["message"])
    request: Row = {
        "model": _model(run),
        "input": messages[:index],
        "tools": [],
        "tool_choice": "auto",
        "config": {},
    }
    return [
        {
            "event": "model",
            "timestamp": when,
            "working_start": 0,
            **request,
            "output": output,
        }
    ]


def _usage(generation: Row, way: Row) -> Row:
    given, written = generation.get("input_tokens"), generation.get("output_tokens")
    if given is None or written is None:  # Inspect would write 0
        return {}
    cached = min(
        way.get("cached_tokens") or 0, given
    )  # which Inspect does not count as input
    parts = {
        "input_tokens_cache_read": cached or None,
        "reasoning_tokens": way.get("reasoning_tokens"),
        "total_cost": generation.get("cost"),
    }
    return {
        "input_tokens": given - cached,
        "output_tokens": written,
        "total_tokens": given + written,
        **{name: count for name, count in parts.items() if count is not None},
    }


def _scores(block: FactBlock, key: AnswerKey, generation: Row) -> Row:
    """Scores that have a number: Inspect would take any other value for a grade."""
    texts = {
        "answer": generation.get("extracted_answer"),
        "explanation": generation.get("explanation"),
    }
    present = {name: text for name, text in texts.items() if text is not None}
    return {
        result_id(score["metric"], score["filter"]): {
            "value": score["value"],
            **present,
        }
        for score in block.scores.get(key, [])
        if score["value"] is not None
    }


def _score_details(score: Row) -> Row:
    names = (
        "metric",
        "filter",
        "value",
        "weight",
        "n_draws",
        "raw",
        "status",
        "origin",
    )
    return {name: score[name] for name in names if score[name] not in (None, "")}


def _error(message: str | None) -> Row | None:
    if message is None:
        return None
    return {"message": message, "traceback": "", "traceback_ansi": ""}
