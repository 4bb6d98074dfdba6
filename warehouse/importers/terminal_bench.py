"""Importer of run folders of Terminal-Bench."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric
from warehouse.importers.common.header_values import moment, seconds_between
from warehouse.importers.common.json_fields import (
    compact_or_none,
    number_or_none,
    part_of,
    require_model,
    required_text,
    text_or_none,
    verdict,
    whole_count,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    batches_of,
    has_keys,
    head_of,
    nearest,
    read_document,
)
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = "terminal-bench"
BENCHMARK = "terminal-bench-core"
METRIC = "resolved"

RESULTS, METADATA, LOCK = "results.json", "run_metadata.json", "tb.lock"
#: What of the metadata is read by itself.
_READ = frozenset(
    {
        "agent_name",
        "model_name",
        "agent_kwargs",
        "dataset_name",
        "dataset_version",
        "commit_hash",
    }
)

# 20250923_droid_gpt-5   date, agent and model: a submission to the leaderboard
_SUBMISSION = re.compile(r"\d{8}_(?P<agent>[^_]+)_(?P<model>.+)")
_ATTEMPT = re.compile(r"\.(\d{1,9})-of-\d+")

RESOLVED = binary_metric(METRIC, scorer_kind="execution", is_default=True)

Document = dict[str, Any]


class TerminalBench:
    """A run: ``results.json`` (``<time>_results.json``) of all trials,
    ``run_metadata.json``, results of single trials.

    Trials that the first of these lacks, as after an interruption, come from their own
    files.
    """

    name = "terminal_bench"
    version = "4"  # 3: results of no trial are none; 4: run_metadata.json and tb.lock are settings, each whole
    folders = 16

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each run."""
        several = defaultdict[Path, list[Path]](list)
        settings: dict[Path, Path] = {}
        locks: dict[Path, Path] = {}
        trials: list[Path] = []
        for item in candidates:
            head = head_of(item)
            if item.path.name == METADATA and has_keys(head, "agent_name", "run_id"):
                settings[item.path.parent] = item.path
            elif item.path.name == LOCK and has_keys(head, "run_config", "dataset"):
                locks[item.path.parent] = item.path
            elif item.path.name.endswith(RESULTS) and has_keys(
                head, "trial_name", "is_resolved"
            ):
                if has_keys(head, "results"):
                    several[item.path.parent].append(item.path)
                elif item.path.name == RESULTS:
                    trials.append(item.path)
        wholes = {folder: _main(paths) for folder, paths in several.items()}
        for folder, paths in several.items():
            yield from (
                SourceFiles(str(path), folder, (path,))
                for path in paths
                if path != wholes[folder]
            )
        parts = defaultdict[Path, list[Path]](list)
        for path in trials:  # <run>/<task>/<trial>/results.json
            above = nearest(path.parent, [*wholes, *settings])
            highest = path.parents[min(2, len(path.parents) - 1)]
            parts[above or highest].append(path)
        for folder in dict.fromkeys([*wholes, *parts]):
            own = [
                paths[folder] for paths in (wholes, settings, locks) if folder in paths
            ]
            yield SourceFiles(str(folder), folder, (*own, *sorted(parts[folder])))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one run (InputError: a file is damaged, or nothing names the model)."""
        documents = {path: read_document(path) for path in source.files}
        top = {
            path.name: document
            for path, document in documents.items()
            if path.parent == source.root
        }
        metadata = top.get(METADATA, {})
        lock = top.get(LOCK, {})
        whole: Document = next(
            (document for document in top.values() if "results" in document), {}
        )
        if not isinstance(whole.get("results", []), list):
            raise InputError(
                "'results' is no list",
                path=str(source.files[0]),
                expected="a list of trials",
            )
        trials = [
            (f"trial {index}", trial)
            for index, trial in enumerate(whole.get("results", []))
        ]
        trial_names = {
            str(trial.get("trial_name"))
            for _, trial in trials
            if isinstance(trial, dict)
        }
        trials += [
            (str(path.relative_to(source.root)), trial)
            for path, trial in documents.items()
            if trial is not whole and _is_of_a_trial(path, trial, trial_names)
        ]
        header = _header(source.root, metadata, lock, whole, settings.model)
        dump = Dump((header,), ())
        dump.batches = batches_of(
            trials,
            lambda trial: [_row(trial)],
            dump.rejections,
            "a trial as Terminal-Bench writes it",
        )
        return dump


def _is_of_a_trial(path: Path, document: Document, known: set[str]) -> bool:
    """True if a file is the result of a trial that the results of the run lack."""
    return (
        path.name not in (METADATA, LOCK)
        and str(document.get("trial_name")) not in known
    )


def _main(paths: Sequence[Path]) -> Path:
    """The results in a folder that trials and metadata belong to: those of the plain
    name, else the first."""
    return min(paths, key=lambda path: (path.name != RESULTS, path.name))


def _header(
    folder: Path,
    metadata: Document,
    lock: Document,
    whole: Document,
    model_setting: str | None,
) -> RunHeader:
    agent = text_or_none(metadata.get("agent_name"))
    model = text_or_none(metadata.get("model_name"))
    for part in reversed(folder.parts):
        submission = _SUBMISSION.fullmatch(part)
        if submission:
            agent = agent or submission["agent"]
            model = model or submission["model"]
            break
    require_model(model_setting or model, str(folder))
    commit = text_or_none(metadata.get("commit_hash"))
    arguments = dict(part_of(metadata, "agent_kwargs"))
    if model is not None and arguments.get("model_name") == model:
        arguments.pop("model_name")  # a copy
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        benchmark=text_or_none(metadata.get("dataset_name")) or BENCHMARK,
        agent=agent,
        agent_parameters=without_nulls(arguments),
        benchmark_version=text_or_none(metadata.get("dataset_version")),
        metrics=(RESOLVED,),
        run_id=text_or_none(whole.get("id")) or text_or_none(metadata.get("uuid")),
        harness_commit=None if commit == "unknown" else commit,
        started_at=moment(metadata.get("start_time")),
        configuration=_configuration(metadata, lock),
        n_benchmark=whole_count(metadata.get("dataset_size")) or None,
        n_requested=whole_count(metadata.get("n_tasks")),
        published=tuple(_published(whole or metadata)),
        place=RESULTS,
    )


def _configuration(metadata: Document, lock: Document) -> Document:
    """How the run was made: its metadata, the name that a person gave it, and what
    ``tb.lock`` says (time limits)."""
    configuration = {
        name: value for name, value in metadata.items() if name not in _READ
    }
    configuration |= {"run_name": metadata.get("run_id"), "lock": lock or None}
    return without_nulls(configuration)


def _published(document: Document) -> Iterator[PublishedScore]:
    tried = [whole_count(document.get(key)) for key in ("n_resolved", "n_unresolved")]
    if tried == [0, 0]:
        return  # the accuracy of no trial is written as 0
    accuracy = number_or_none(document.get("accuracy"))
    if accuracy is not None:
        yield PublishedScore(METRIC, accuracy)
    for k, value in part_of(document, "pass_at_k").items():
        if number_or_none(value) is not None:
            yield PublishedScore(METRIC, number_or_none(value), statistic=f"pass@{k}")


def _row(trial: Any) -> Document:
    task = required_text(trial, "task_id")
    attempt = _ATTEMPT.search(str(trial.get("trial_name")))
    failure = text_or_none(trial.get("failure_mode"))
    tests = part_of(trial, "parser_results")
    draw = None
    if attempt:
        draw = max(int(attempt[1]) - 1, 0)
    error = failure
    if failure in ("unset", "none"):
        error = None
    return {
        "run": 0,
        "prompt_id": task,
        "text": text_or_none(trial.get("instruction")),
        "draw": draw,
        "error": error,
        "input_tokens": whole_count(trial.get("total_input_tokens"))
        or None,  # 0: the agent did not count
        "output_tokens": whole_count(trial.get("total_output_tokens")) or None,
        "latency": seconds_between(
            trial.get("agent_started_at"), trial.get("agent_ended_at")
        ),
        "explanation": compact_or_none(tests),
        # no verdict is no score; the source's accuracy counts it as not resolved
        "scores": [
            {
                "metric": METRIC,
                "value": verdict(trial.get("is_resolved"), "is_resolved"),
            }
        ],
    }


IMPORTER = TerminalBench()
