"""A run, or one prompt of it: target, responses, scores and what the grader wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from warehouse.analysis.selection.reference import find_conditions, pick_one
from warehouse.analysis.show.question import Show
from warehouse.analysis.show.view import (
    PromptRow,
    PromptRunRow,
    PromptRuns,
    PromptView,
    RunView,
)
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.intervals.closed_form import interval_wilson
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_PROMPT_ID = re.compile(r"prompt:(\d+)")
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"(\D*)(\d*)")
#: Columns of what a model did on a prompt.
_OF_MODEL = (
    "run_id",
    "model",
    "metric",
    "metric_filter",
    "value",
    "low",
    "high",
    "n_draws",
    "n_unscored",
)


@answers(Show)
def show(store: Store, question: Show) -> RunView | PromptView | PromptRuns:
    """The thing that a reference means, with everything that is stored about it."""
    run = str(question.run)
    prompt = None if question.prompt is None else str(question.prompt)
    named = _PROMPT_ID.fullmatch(run)
    if named and prompt is None:
        return _in_all_runs(store, int(named[1]))
    run_row = one_run(store, run)
    if prompt is None:
        named_run = {"run": run_row["run_id"]}
        rows = in_order(
            store.rows(query_text("analysis/show", "scores_of_run"), named_run)
        )
        summary = store.rows(
            query_text("analysis/show", "transcripts_of_run"), named_run
        )
        tools = store.rows(query_text("analysis/show", "tools_of_run"), named_run)
        return RunView(
            _set_columns(run_row),
            tuple(PromptRow(**row) for row in rows),
            _set_columns(summary[0]) if summary else {},
            tuple(tools),
        )
    keys = {
        "run": run_row["run_id"],
        "prompt": _one_prompt(store, run_row["run_id"], prompt),
    }
    (text,) = store.rows(query_text("analysis", "prompt"), {"prompt": keys["prompt"]})
    return PromptView(
        run=_set_columns(run_row),
        prompt=text,
        responses=tuple(
            store.rows(query_text("analysis/show", "sample_responses"), keys)
        ),
        scores=tuple(store.rows(query_text("analysis/show", "sample_scores"), keys)),
        choices=tuple(store.rows(query_text("analysis/show", "sample_choices"), keys)),
        findings=tuple(
            store.rows(query_text("analysis/show", "sample_findings"), keys)
        ),
    )


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the order of the benchmark: by the numbers in the tool's ids where these
    count (``sample_2`` before ``sample_10``), else as the prompts came into the store.
    """
    ids = [str(row["tool_id"] or "") for row in rows]
    forms = {_DIGITS.sub("0", name) for name in ids}
    counted = all(map(_DIGITS.search, ids)) and len(forms) <= max(
        1, len(set(ids)) // 10
    )
    if not counted:
        return rows

    def sort_key(row: dict[str, Any]) -> list[tuple[str, int]]:
        return [
            (text, int(number or -1))
            for text, number in _PARTS.findall(str(row["tool_id"]))
        ]

    return sorted(rows, key=sort_key)


def _in_all_runs(store: Store, prompt: int) -> PromptRuns:
    prompts = store.rows(query_text("analysis", "prompt"), {"prompt": prompt})
    if not prompts:
        raise MisuseError(
            f"no prompt has the id {prompt}; `warehouse show run:ID` lists the prompts "
            "of a run"
        )
    (where,) = store.rows(
        query_text("analysis/show", "benchmark_of_prompt"), {"prompt": prompt}
    )
    rows = store.rows(
        query_text("analysis/show", "scores_of_prompt"), {"prompt": prompt}
    )
    return PromptRuns(
        where["benchmark"], prompts[0], tuple(PromptRunRow(**row) for row in rows)
    )


def one_run(store: Store, text: str) -> Mapping[str, Any]:
    """The row of ``run_current`` that a reference or an id means."""
    if text.isdecimal():
        text = f"run:{text}"
    conditions = find_conditions(store, text)
    if len({condition.benchmark_split for condition in conditions}) > 1:
        splits = ", ".join(
            sorted({condition.benchmark_split[0] for condition in conditions})[:10]
        )
        raise MisuseError(
            f"{text!r} has runs on several benchmarks ({splits}); give run:ID"
        )
    condition = pick_one(store, conditions, text)
    if len(condition.runs) > 1:
        ids = ", ".join(f"run:{run}" for run in condition.run_ids)
        raise MisuseError(f"{text!r} was repeated; choose one of {ids}")
    return condition.runs[0]


def _one_prompt(store: Store, run: int, text: str) -> int:
    """The prompt meant: by the tool's id first, then the store's, then the key."""
    named = _PROMPT_ID.fullmatch(text)
    if named:
        return _by_id(store, run, int(named[1]))
    length = {"run": run, "text": text, "prefix_length": len(text)}
    matching = store.rows(query_text("analysis/show", "prompts_of_run_called"), length)
    by_tool = [row for row in matching if row["tool_id"] == text]
    chosen = by_tool or [row for row in matching if str(row["id"]) == text] or matching
    if not chosen:
        raise MisuseError(
            f"run:{run} has no prompt {text!r}; `warehouse show run:{run}` lists them"
        )
    if len(chosen) > 1:
        listed = ", ".join(_in_words(row) for row in chosen[:10])
        raise MisuseError(
            f"{len(chosen)} prompts of run:{run} fit {text!r}; by id: {listed}"
        )
    return int(chosen[0]["id"])


def _by_id(store: Store, run: int, prompt: int) -> int:
    if store.rows(
        query_text("analysis/show", "prompt_of_run"), {"run": run, "prompt": prompt}
    ):
        return prompt
    where = store.rows(
        query_text("analysis/show", "benchmark_of_prompt"), {"prompt": prompt}
    )
    if where:
        reason = f"prompt:{prompt} is of {where[0]['benchmark']}"
    else:
        reason = f"there is no prompt:{prompt}"
    raise MisuseError(
        f"run:{run} has no such prompt: {reason}; `warehouse show run:{run}` lists its "
        "own"
    )


def _in_words(row: Mapping[str, Any]) -> str:
    return f"{row['id']} (key {row['key'][:12]}, occurrence {row['occurrence']})"


def _set_columns(run: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if value not in (None, "")}


def models_on_prompt(store: Store, benchmark: int, prompt: int) -> list[dict[str, Any]]:
    """How current runs on a benchmark did on a prompt of it; of a binary metric the
    value is P(correct), with its Wilson interval."""
    runs = store.rows(
        "select run_id, model from run_current where benchmark_id = :id",
        {"id": benchmark},
    )
    models = {row["run_id"]: row["model"] for row in runs}
    rows = store.rows(
        query_text("analysis/show", "models_on_prompt"),
        {"benchmark": benchmark, "prompt": prompt},
    )
    found = [
        _of_model(row, models[row["run_id"]]) for row in rows if row["run_id"] in models
    ]
    return sorted(
        found, key=lambda row: (row["metric"], row["metric_filter"], row["model"])
    )


def _of_model(row: Mapping[str, Any], model: str) -> dict[str, Any]:
    wilson = None
    if row["is_rate"]:
        wilson = interval_wilson(row["value"] * row["n_draws"], row["n_draws"])
    fields = {
        **row,
        "model": model,
        "low": wilson and wilson.low,
        "high": wilson and wilson.high,
    }
    return {column: fields[column] for column in _OF_MODEL}
