"""The current runs as a folder of Every Eval Ever (schema 0.3.0): one evaluation for
each run, one line for each score.

What the format has no field for (draws, statuses, weights, likelihoods, the condition)
is kept as JSON text among the details that it leaves free, so that an import gives the
same runs again.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError
from warehouse.export import require_free
from warehouse.files import draft_beside, in_place_of, replace_file
from warehouse.interchange.conversations import messages_of, stored
from warehouse.interchange.every_eval_ever_results import (
    DETAILS,
    SCHEMA_VERSION,
    Run,
    aggregate,
    parsed,
    result_id,
    runs_of,
)
from warehouse.records.canonical_json import sha256_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Says what the folder is; hidden, since it is no evaluation.
MANIFEST = ".eval-warehouse.json"

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True)
class EveryEvalEverReport:
    """What was written."""

    folder: Path  #: where.
    n_runs: int  #: evaluations, one for each run.
    n_rows: int  #: lines of samples.
    #: lines of samples without a score, which the format has no form for; they are
    #: beside the samples, in files ending in ``_unscored.ndjson``.
    n_unscored: int
    #: runs of which no figure can be given, with the reason.
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.n_runs} evaluations, {self.n_rows} sample rows, {self.n_unscored} "
            f"without a score in {self.folder}"
        )


def export(
    store: Store,
    folder: Path,
    *,
    now: float,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _name: None,
) -> EveryEvalEverReport:
    """Write ``data/BENCHMARK/DEVELOPER/MODEL/UUID.json`` and its samples for each
    current run.

    The folder is complete or not there at all. Names of files follow from what was
    measured: the same runs give the same names. Arguments and errors are those of
    `Warehouse.export_every_eval_ever`; ``progress`` is told each file's name before it
    is written.
    """
    folder = require_free(folder, overwrite, MANIFEST)
    partial = draft_beside(folder)
    with in_place_of(folder, partial):
        report = _write_all(store, folder, partial, now, progress)
        files = sorted(
            path.relative_to(partial).as_posix()
            for path in partial.rglob("*")
            if path.is_file()
        )
        manifest = {
            "format": f"every-eval-ever {SCHEMA_VERSION}",
            "runs": report.n_runs,
            "rows": files,
        }
        replace_file(
            partial / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode()
        )
    return report


def _write_all(
    store: Store,
    folder: Path,
    partial: Path,
    now: float,
    progress: Callable[[str], None],
) -> EveryEvalEverReport:
    rows, unscored, written = 0, 0, 0
    left_out: list[str] = []
    for run in runs_of(store):
        where = Path("data") / _path_of(run)
        document = aggregate(store, run, now)
        if not document["evaluation_results"]:
            left_out.append(
                f"{run.header['model']} on {run.header['benchmark']}: no figure"
            )
            continue
        progress(f"{where}.json")
        target = partial / where
        target.parent.mkdir(parents=True, exist_ok=True)
        samples = target.with_name(f"{target.name}_samples.jsonl")
        apart = target.with_name(f"{target.name}_unscored.ndjson")
        counts = [
            _write(lines_of(store, run, document["evaluation_id"], scored), path)
            for scored, path in ((True, samples), (False, apart))
        ]
        if counts[0]:
            with samples.open("rb") as file:
                checksum = hashlib.file_digest(file, "sha256").hexdigest()
            document["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{where.as_posix()}_samples.jsonl",
                "hash_algorithm": "sha256",
                "total_rows": counts[0],
                "checksum": checksum,
            }
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        replace_file(target.with_name(f"{target.name}.json"), f"{text}\n".encode())
        rows, unscored, written = rows + counts[0], unscored + counts[1], written + 1
    if not written:
        raise MisuseError(
            "the store has no run with a figure: there is nothing to export"
        )
    return EveryEvalEverReport(folder, written, rows, unscored, tuple(left_out))


def _path_of(run: Run) -> Path:
    """Collection, developer, model and file name of a run."""
    developer, _, model = run.model_id.partition("/")
    parts = [_safe(part) for part in (str(run.header["benchmark"]), developer, model)]
    digest = hashlib.sha256(
        f"{run.condition_key} {run.content_digest}".encode()
    ).digest()
    return Path(*parts) / str(uuid.UUID(bytes=digest[:16], version=4))


def _safe(name: str) -> str:
    cleaned = _UNSAFE.sub("_", name).strip(".")
    return cleaned[:100] or "unknown"


def _write(lines: Iterator[dict[str, Any]], path: Path) -> int:
    """Write lines; no file where there are none."""
    count = 0
    with path.open("w", encoding="utf-8") as handle:
        for line in lines:
            handle.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    if not count:
        path.unlink()
    return count


#: Prompts that are held in memory at a time; fewer where there are whole conversations.
BLOCK, SPOKEN_BLOCK = 500, 20

_SPOKEN = (
    "select 1 from transcript where run_id = :run and messages_hash is not null limit 1"
)

_TEXTS = """
select id, key, occurrence, tool_id, text, target, choices, metadata from prompt
where id between :first and :last
"""
_COLUMNS = ("finish_reason", "input_tokens", "output_tokens", "cost", "explanation")
_ANSWER_KEY = ("prompt_id", "perturbation", "fewshot_draw", "template", "draw")

Row = dict[str, Any]
AnswerKey = tuple[Any, ...]


def lines_of(store: Store, run: Run, evaluation_id: str, scored: bool) -> Iterator[Row]:
    """The lines of a run.

    Args:
        evaluation_id: id of its evaluation.
        scored: lines with a score; else what has none: scores without a number, and
            responses and likelihoods that nothing scores.
    """
    specs = {metric["id"]: metric for metric in run.metrics}
    for part in blocks_of(store, run):
        for answer_key in part.answer_keys:
            again = not scored and bool(part.lines(answer_key, True))
            for score in part.lines(answer_key, scored):
                yield part.line(
                    answer_key,
                    score,
                    part.positions[answer_key[0]],
                    evaluation_id,
                    specs,
                    again,
                )
                again = True


def blocks_of(store: Store, run: Run) -> Iterator[FactBlock]:
    """The facts of a run, some prompts at a time."""
    prompts = store.rows(query_text("interchange", "prompts_of_run"), {"run": run.id})
    ordered = sorted(prompts, key=lambda row: (row["occurrence"], row["id"]))
    positions = {row["id"]: position for position, row in enumerate(ordered)}
    ids = [row["id"] for row in prompts]
    size = BLOCK
    if store.rows(_SPOKEN, {"run": run.id}):
        size = SPOKEN_BLOCK
    for start in range(0, len(ids), size):
        block = ids[start : start + size]
        yield FactBlock(store, run, {"first": block[0], "last": block[-1]}, positions)


class FactBlock:
    """Facts of a run on some prompts that follow each other."""

    def __init__(
        self, store: Store, run: Run, bounds: dict[str, int], positions: dict[int, int]
    ) -> None:
        bound = {"run": run.id, **bounds}
        self.run, self.positions = run, positions
        self.prompts = {row["id"]: row for row in store.rows(_TEXTS, bounds)}
        self.scores, self.choices = (
            defaultdict[AnswerKey, list[Row]](list),
            defaultdict[AnswerKey, list[Row]](list),
        )
        for query, target in (
            (query_text("interchange", "scores_of_block"), self.scores),
            (query_text("interchange", "choices_of_block"), self.choices),
        ):
            for row in store.rows(query, bound):
                target[_answer_key(row)].append(row)
        rows = store.rows(query_text("interchange", "generations_of_block"), bound)
        self.generations = {_answer_key(row): row for row in rows}
        tools = defaultdict[AnswerKey, list[Row]](list)
        for row in store.rows(query_text("interchange", "tools_of_block"), bound):
            tools[_answer_key(row)].append(row)
        self.ways = {
            (key := _answer_key(row)): stored(
                _without(row, _ANSWER_KEY) | {"n_tool_calls": row["n_tool_calls"]},
                tools[key],
            )
            for row in store.rows(
                query_text("interchange", "transcripts_of_block"), bound
            )
        }
        self.answer_keys = list(
            dict.fromkeys((*self.generations, *self.choices, *self.scores))
        )

    def lines(self, answer_key: AnswerKey, scored: bool) -> list[Row | None]:
        """Scores of which lines are made; ``None``: a line without one."""
        scored_rows = [
            row for row in self.scores.get(answer_key, []) if row["value"] is not None
        ]
        if scored:
            return list(scored_rows)
        rest: list[Row | None] = [
            row for row in self.scores.get(answer_key, []) if row["value"] is None
        ]
        return rest or ([] if scored_rows else [None])

    def line(
        self,
        answer_key: AnswerKey,
        score: Row | None,
        position: int,
        evaluation_id: str,
        specs: dict[int, Row],
        again: bool,
    ) -> Row:
        """One line; ``again``: prompt and response stand in an earlier one already."""
        prompt, generation = (
            self.prompts[answer_key[0]],
            self.generations.get(answer_key, {}),
        )
        golds = golds_of(prompt["target"])
        text = prompt["text"] or ""
        choices = parsed(prompt["choices"])
        options = (
            [_text(item) for item in choices] if isinstance(choices, list) else None
        )
        kept = self._kept(answer_key, prompt, position, again)
        hashed = json.dumps(
            {"raw": text, "reference": golds},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )
        answer = generation.get("extracted_answer")
        way = self.ways.get(answer_key, {})
        messages = messages_of(way["messages"]) if "messages" in way else None
        output = None
        if messages is None:
            output = {"raw": self._texts(answer_key, generation)}
        line: Row = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": evaluation_id,
            "model_id": self.run.model_id,
            "evaluation_name": str(self.run.header["benchmark"]),
            "sample_id": prompt["tool_id"] or prompt["key"],
            "sample_hash": sha256_of(hashed),
            "interaction_type": _interaction_type(messages, way),
            "input": {
                "raw": text,
                "formatted": generation.get("prompt_sent"),
                "reference": golds,
                "choices": options,
            },
            "output": output,
            "messages": messages,
            "answer_attribution": _attribution(answer, messages, score),
            "evaluation": None,
            **_counts(generation, way),
            "error": generation.get("error"),
        }
        if score is not None:
            line["evaluation_result_id"] = result_id(score["metric"], score["filter"])
            kept["score"] = _without(score, (*_ANSWER_KEY, "value", "metric_id"))
            if score["value"] is not None:
                correct = _is_correct(score["value"], specs[score["metric_id"]])
                line["evaluation"] = {
                    "score": score["value"],
                    "is_correct": correct,
                    **_turns(way),
                }
        text_kept = json.dumps(
            kept, sort_keys=True, allow_nan=False, ensure_ascii=False
        )
        return line | {"metadata": {DETAILS: text_kept}}

    def _texts(self, answer_key: AnswerKey, generation: Row) -> list[str]:
        """The response; of a score of all draws, those of all draws."""
        if answer_key[-1] >= 0:
            if generation.get("response") is None:
                return []
            return [generation["response"]]
        others = (
            row
            for key, row in self.generations.items()
            if key[:-1] == answer_key[:-1] and key[-1] >= 0
        )
        return [row["response"] for row in others if row["response"] is not None]

    def _kept(
        self, answer_key: AnswerKey, prompt: Row, position: int, again: bool
    ) -> Row:
        """Values that the format has no field for: columns of a sample row."""
        generation = self.generations.get(answer_key, {})
        row: Row = {
            "prompt_id": prompt["key"],
            "position": position,
            "draw": answer_key[-1],
            **{
                name: value
                for name, value in zip(_ANSWER_KEY[1:-1], answer_key[1:-1], strict=True)
                if value
            },
        }
        if again:
            return {"row": row, "again": True}
        row |= {"target": prompt["target"], "text": prompt["text"]}
        row |= {
            name: generation[name]
            for name in _COLUMNS
            if generation.get(name) is not None
        }
        for name in ("choices", "metadata"):
            value = parsed(prompt[name])
            if value is not None:
                row[name] = json.dumps(value, ensure_ascii=False)
        if row["text"]:
            del row["text"]
        if answer_key in self.ways:
            row["transcript"] = self.ways[answer_key]
        if (
            "messages" in row.get("transcript", {})
            and generation.get("response") is not None
        ):
            row["response"] = generation["response"]
        choices = self.choices.get(answer_key)
        if choices:
            row["choice_scores"] = [_without(item, _ANSWER_KEY) for item in choices]
        return {"row": row}


def _answer_key(row: Row) -> AnswerKey:
    return tuple(row[name] for name in _ANSWER_KEY)


def _without(row: Row, names: tuple[str, ...]) -> Row:
    return {
        key: value
        for key, value in row.items()
        if key not in names and value is not None
    }


def golds_of(target: str | None) -> list[str]:
    """Right answers: several are kept as a JSON list of texts."""
    if target is None:
        return []
    try:
        golds = None
        if target.startswith("["):
            golds = json.loads(target)
    except ValueError:
        golds = None
    texts = isinstance(golds, list) and all(isinstance(item, str) for item in golds)
    if texts and isinstance(golds, list):
        return golds
    return [target]


def _is_correct(value: float, spec: Row) -> bool:
    """Whether a score is the best there is; never, where no bound says what that is."""
    if spec["higher_is_better"] is False:
        best = spec["low"]
    else:
        best = spec["high"]
    return bool(best is not None and value == best)


def _turns(way: Row) -> Row:
    """Turns and calls of tools, where there is a conversation of which they are
    known."""
    if "messages" not in way:
        return {}
    turns = {}
    if way.get("n_turns"):
        turns = {"num_turns": way["n_turns"]}
    if "tools" in way:
        turns["tool_calls_count"] = sum(tool["n_calls"] for tool in way["tools"])
    return turns


def _interaction_type(messages: Sequence[Row] | None, way: Row) -> str:
    if messages is None:
        return "single_turn"
    if way.get("tools"):
        return "agentic"
    return "multi_turn"


def _attribution(
    answer: str | None, messages: Sequence[Row] | None, score: Row | None
) -> list[Row]:
    """Where the extracted answer was taken from; empty where there is none."""
    if answer is None:
        return []
    turn, source = 0, "output.raw"
    if messages is not None:
        turn, source = max(len(messages) - 1, 0), "messages[turn_idx].content"
    return [
        {
            "turn_idx": turn,
            "source": source,
            "extracted_value": answer,
            "extraction_method": (score or {}).get("filter") or "unknown",
            "is_terminal": True,
        }
    ]


def _counts(generation: Row, way: Row) -> Row:
    counts: Row = {}
    given, written = generation.get("input_tokens"), generation.get("output_tokens")
    if given is not None and written is not None:
        parts = {
            "input_tokens_cache_read": way.get("cached_tokens"),
            "reasoning_tokens": way.get("reasoning_tokens"),
        }
        present = {name: count for name, count in parts.items() if count is not None}
        counts["token_usage"] = {
            **{
                "input_tokens": given,
                "output_tokens": written,
                "total_tokens": given + written,
            },
            **present,
        }
    if generation.get("latency") is not None and generation["latency"] >= 0:
        counts["performance"] = {"latency_ms": generation["latency"] * 1000}
    return counts


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
