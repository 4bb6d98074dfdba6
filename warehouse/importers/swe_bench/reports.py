"""Instances as files of SWE-bench report them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric
from warehouse.importers.common.json_fields import (
    Row,
    as_items,
    as_text,
    compact,
    compact_or_none,
    number_or_none,
    object_of,
    part_of,
    string_or_none,
    text_or_none,
    texts_of,
    verdict,
    whole_count,
)
from warehouse.importers.common.jsonl import RowSource, read_document
from warehouse.importers.common.yaml_text import read_yaml
from warehouse.records import MetricSpec, Rejection

#: Lists of a leaderboard's results: no verdict came about, for reasons of the
#: infrastructure.
_NO_VERDICT = ("no_logs", "install_fail", "reset_failed")
#: Lists that name instances which were tried.
_TRIED = (
    "generated",
    "with_logs",
    "applied",
    "no_apply",
    "test_errored",
    "test_timeout",
)

#: Lists of ids in a run report, and in the results of a leaderboard's submission.
REPORT_LISTS = (
    *(
        "submitted_ids",
        "completed_ids",
        "incomplete_ids",
        "empty_patch_ids",
        "error_ids",
        "unresolved_ids",
    ),
    *("resolved_ids", "infra_failure_ids"),
)
RESULTS_LISTS = ("resolved", "no_generation", *_NO_VERDICT, *_TRIED)

#: Fields of an instance's report other than its verdict.
_EXPLAINED = ("infra_failure_reason", "patch_successfully_applied", "tests_status")

#: By instance: value, status, origin, raw, explanation, response, cost, api_calls.
Instances = dict[str, Row]


def refuse_what_is_no_list(
    document: Row, names: tuple[str, ...], shown_path: str
) -> None:
    """Refuse lists of ids that hold something else: what is left out would lack, or
    count as not resolved.

    Raises:
        InputError: one is no list, or an entry of it no id.
    """
    for name in names:
        value = document.get(name)
        if value is None:
            continue
        is_list = isinstance(value, list)
        strange = [value]
        if is_list:
            strange = [
                entry for entry in value if not isinstance(entry, str) or not entry
            ]
        if strange:
            verb = "is"
            if is_list:
                verb = "holds"
            found = f"{name} {verb} {compact(strange[0])[:80]}"
            raise InputError(
                found, path=shown_path, expected="a list of ids of instances"
            )


def run_report(document: Row) -> Instances:
    """A run report: every instance of the data set in one of its lists of ids."""
    lists = {
        name: texts_of(document.get(f"{name}_ids"))
        for name in (
            "submitted",
            "incomplete",
            "empty_patch",
            "error",
            "unresolved",
            "resolved",
            "infra_failure",
        )
    }
    unasked = never_asked(document)
    submitted = [name for name in lists["submitted"] if name not in unasked]
    instances: Instances = {name: _unscored() for name in (*submitted, *lists["error"])}
    instances |= {
        name: {"value": 0.0, "status": "no_answer", "origin": "implied"}
        for name in lists["incomplete"]
    }
    instances |= {
        name: {"value": 0.0, "status": "no_answer"} for name in lists["empty_patch"]
    }
    instances |= {name: {"value": 0.0} for name in lists["unresolved"]}
    instances |= {name: {"value": 1.0} for name in lists["resolved"]}
    instances |= {name: _unscored("unresolved") for name in lists["infra_failure"]}
    for name, reason in part_of(document, "failure_reasons").items():
        instances.get(name, {})["explanation"] = as_text(reason)
    return instances


def never_asked(document: Row) -> frozenset[str]:
    """Predictions of instances that ``--instance_ids`` left out: a run report lists
    every prediction as submitted, and its other lists are of the instances that it
    counts as its total."""
    kinds = (
        "completed",
        "incomplete",
        "empty_patch",
        "error",
        "unresolved",
        "resolved",
        "infra_failure",
    )
    listed = set(
        chain.from_iterable(texts_of(document.get(f"{kind}_ids")) for kind in kinds)
    )
    total = whole_count(document.get("total_instances"))
    if total is None or len(listed) < total:
        return frozenset()  # of some nobody says what became of them
    return frozenset(texts_of(document.get("submitted_ids"))) - listed


def instance_report(document: Row) -> Instances:
    """The report of one instance: ``{id: {"resolved": …, "tests_status": …}}``
    (ValueError: it is none)."""
    instances: Instances = {}
    for name, report in document.items():
        if not isinstance(report, dict) or "resolved" not in report:
            shown = compact(report)[:100]
            raise ValueError(f"no 'resolved' for {name[:100]}: {shown}")
        value = verdict(report["resolved"], "resolved")
        row: Row = {"value": value}
        if report.get("infra_failure") is True and value != 1:
            row = _unscored("unresolved")
        elif value == 0 and (
            report.get("patch_is_None") or report.get("patch_exists") is False
        ):
            row["status"] = "no_answer"
        explanation = {
            key: report[key] for key in _EXPLAINED if report.get(key) is not None
        }
        instances[name] = row | {"explanation": compact_or_none(explanation)}
    return instances


def details(document: Row, rejections: list[Rejection], shown_path: str) -> Instances:
    """``per_instance_details.json``: ``{id: {"resolved", "cost", "api_calls"}}``."""
    instances: Instances = {}
    for name, report in document.items():
        try:
            if not isinstance(report, dict):
                raise ValueError(f"a {type(report).__name__} stands here")
            cost = number_or_none(report.get("cost"))
            calls = number_or_none(report.get("api_calls"))
            instances[name] = {
                "value": verdict(report.get("resolved"), "resolved"),
                "cost": None
                if calls and not cost
                else cost,  # 0 is written where the price is not known
                "api_calls": calls,
            }
        except ValueError as error:
            expected = "an instance with 'resolved', 'cost' and 'api_calls'"
            rejections.append(
                Rejection(f"{shown_path}, {name[:100]}", str(error), expected)
            )
    return instances


def leaderboard_results(
    document: Row, declared: list[str] | None, shown_path: str
) -> Instances:
    """``results.json`` of a leaderboard's submission.

    It names the resolved instances; the others are implied by a declared list, or by
    its own lists of instances that were tried.

    Raises:
        InputError: nothing says which instances there are, or the list is of another
            data set.
    """
    refuse_what_is_no_list(document, RESULTS_LISTS, shown_path)
    resolved = texts_of(document.get("resolved"))
    tried = list(chain.from_iterable(texts_of(document.get(key)) for key in _TRIED))
    if declared is None and not tried:
        raise InputError(
            f"names {len(resolved)} resolved instances and not those that were not "
            "resolved",
            path=shown_path,
            expected="a list of all instances",
            advice="put their ids, one on a line, into 'instances.txt' beside it or in a folder "
            "above that is ingested with it",
        )
    strangers = set(resolved) - set(declared or resolved)
    if strangers:
        raise InputError(
            f"{len(strangers)} resolved instances are not in the declared list, such "
            f"as {min(strangers)[:100]}",
            path=shown_path,
            expected="the list of the same data set",
        )
    named = declared if declared is not None else dict.fromkeys((*tried, *resolved))
    instances: Instances = {name: {"value": 0.0, "origin": "implied"} for name in named}
    unfinished = list(
        chain.from_iterable(texts_of(document.get(key)) for key in _NO_VERDICT)
    )
    instances |= {name: _unscored() for name in unfinished}
    instances |= {
        name: {"value": 0.0, "status": "no_answer"}
        for name in texts_of(document.get("no_generation"))
    }
    instances |= {name: {"value": 1.0} for name in resolved}
    return instances


def _unscored(raw: str | None = None) -> Row:
    return {"value": None, "status": "error", "raw": raw}


def declared_instances(path: Path) -> list[str]:
    """Ids of a declared list: a text with one on a line, or JSON (lines or a list) of
    ids or of objects with ``instance_id``.

    Raises:
        InputError: it holds none, or something else.
    """
    if path.suffix == ".json":
        items = read_document(path, list)
        entries = [
            item.get("instance_id") if isinstance(item, dict) else item
            for item in items
        ]
    elif path.suffix == ".jsonl":
        entries = [
            row.get("instance_id")
            for _, row in RowSource(path, path.name, ()).numbered()
        ]
    else:
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot be read: {error}",
                path=str(path),
                expected="a text with an id on each line",
            ) from None
        entries = [line.strip() for line in lines if line.strip()]
    names = [name for name in entries if isinstance(name, str) and name]
    if not names or len(names) < len(entries):
        raise InputError(
            f"{len(entries) - len(names)} of {len(entries)} entries are no ids",
            path=str(path),
            expected="ids of instances",
        )
    return list(dict.fromkeys(names))


def predictions(path: Path, notes: list[str]) -> Iterator[tuple[str, str, str | None]]:
    """Instance, model and patch of each prediction."""
    for _, row in RowSource(path, path.name, ("instance_id",), notes=notes).numbered():
        patch = row.get("model_patch")
        model = text_or_none(row.get("model_name_or_path")) or ""
        yield str(row["instance_id"]), model, string_or_none(patch)


def metadata(path: Path) -> tuple[Row, str | None, list[str]]:
    """The ``metadata.yaml`` of a submission: all of it, and its name and models,
    wherever they stand in it.

    Raises:
        InputError: it cannot be read, or names models by what is no text.
    """
    document = read_yaml(path)
    entries = list(_entries(document))
    names = [value for key, value in entries if key == "name" and _is_said(value)]
    models: list[Any] = []
    for key, value in entries:
        if key == "model":
            models += as_items(value)
    for model in models:
        if not isinstance(model, str):
            found = f"model is {str(model)[:80]}"
            raise InputError(
                found, path=str(path), expected="a text, or a list of texts"
            )
    about = object_of(document)
    return about, next(iter(names), None), list(filter(_is_said, models))


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Keys and values of mappings inside each other, in their order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from _entries(inner)


def _is_said(value: Any) -> bool:
    return isinstance(value, str) and value.strip() not in ("", "~", "null")


def sample_rows(
    instances: Mapping[str, Row], patches: Mapping[str, str | None]
) -> Iterator[Row]:
    """A sample row for each instance."""
    for name, row in instances.items():
        scores = [
            {
                "metric": "resolved",
                **{key: row.get(key) for key in ("value", "status", "origin", "raw")},
            }
        ]
        if "api_calls" in row:
            scores.append({"metric": "api_calls", "value": row["api_calls"]})
        transcript = None
        if row.get("api_calls"):
            transcript = {"n_turns": whole_count(row["api_calls"])}
        yield {
            "run": 0,
            "prompt_id": name,
            "draw": 0,
            "metadata": compact({"repo": name.rpartition("-")[0].replace("__", "/")}),
            "response": patches.get(name, row.get("response")),
            "explanation": row.get("explanation"),
            "cost": row.get("cost"),
            "scores": scores,
            "transcript": transcript,
        }


BENCHMARK = "swe_bench"
METRIC = "resolved"

RESOLVED = binary_metric(METRIC, scorer_kind="execution", is_default=True)
API_CALLS = MetricSpec(
    "api_calls",
    kind="continuous",
    low=0,
    higher_is_better=False,
    scorer_kind="execution",
    unit="calls",
    is_default=False,
)


def track_fields(track: str) -> dict[str, Any]:
    """Benchmark and split of a track of the leaderboard (``verified``, ``lite``,
    ``test`` …)."""
    if track in ("", "test"):
        benchmark = BENCHMARK
    else:
        benchmark = f"{BENCHMARK}_{track}"
    split = ""
    if track:
        split = "test"
    return {
        "benchmark": benchmark,
        "split": split,
    }
