"""Tables of BFCL's leaderboard: figures of all models in all categories, without
samples."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.base import TASK_COST, binary_metric
from warehouse.importers.common.header_values import local_time
from warehouse.importers.common.json_fields import (
    number_in_text,
    number_or_none,
    share_of,
)
from warehouse.importers.common.jsonl import head_of, require_content
from warehouse.records import Candidate, PublishedScore, RunHeader

_FIRST = ("Rank,Overall Acc,Model,", "Rank,Model,")
_PERCENT = re.compile(r"(-?\d+(?:\.\d+)?)%")
_WORD = re.compile(r"[^a-z0-9]+")
# GPT-4-0125-Preview (Prompt), Mistral-large-2402 (FC Any)
_SYSTEM = re.compile(r"(?P<model>.+?)\s*\((?P<how>FC|Prompt)(?: (?P<more>[^)]+))?\)")
_HOW = {"FC": "function_calling", "Prompt": "prompting"}
_OVERALL = "overall_acc"
_COST = "Cost ($ Per 1k Function Calls)"  # newer tables have the cost of all calls, and not how many
ACCURACY = binary_metric("accuracy", is_default=True)


def is_table(candidate: Candidate) -> bool:
    """True if a file is a table of the leaderboard, by its name and its heading."""
    name = candidate.path.name
    head = head_of(candidate).partition("\n")[0]
    return (
        name.startswith("data")
        and candidate.path.suffix == ".csv"
        and head.startswith(_FIRST)
        and " Acc" in head
    )


def table_headers(path: Path, date: str | None) -> Iterator[RunHeader]:
    """A run without samples for each model and each column of shares (InputError: the
    file is damaged)."""
    require_content(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            rows = list(csv.DictReader(handle))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(
            f"cannot be read: {error}", path=str(path), expected="a table of BFCL"
        ) from None
    for line, row in enumerate(rows, start=2):
        is_uneven = None in row or None in row.values()
        if is_uneven or not (row.get("Model") or "").strip():
            raise InputError(
                f"a row with {sum(value is not None for value in row.values())} fields",
                path=str(path),
                place=f"line {line}",
                expected="as many fields as the heading has, and a model",
            )
        yield from _runs(path, row, date)


def _runs(path: Path, row: dict[str, str], date: str | None) -> Iterator[RunHeader]:
    system = _SYSTEM.fullmatch(row["Model"].strip())
    for column, text in row.items():
        share = _PERCENT.fullmatch(text.strip())
        value = None
        if share:
            value = number_or_none(float(share[1]))
        if value is None:
            continue
        name = _named(column, path.stem)
        published = [PublishedScore("accuracy", share_of(value), raw=text.strip())]
        # 0 is written where nothing is known
        if name == _OVERALL and (cost := number_in_text(row.get(_COST))):
            published.append(
                PublishedScore(TASK_COST.name, cost / 1000, raw=row[_COST].strip())
            )
        formulation = None
        if system:
            model = system["model"]
            formulation = _HOW[system["how"]]
        else:
            model = row["Model"].strip()
        yield RunHeader(
            harness="bfcl",
            model=model,
            developer=row.get("Organization") or None,
            benchmark=f"bfcl_{'overall' if name == _OVERALL else name}",
            # the weights and the categories of a table are those of its date
            task_version=date,
            formulation=formulation,
            sampling={"variant": system["more"]} if system and system["more"] else {},
            metrics=(ACCURACY, TASK_COST)[: len(published)],
            run_id=f"{date}/{row['Model'].strip()}" if date else None,
            started_at=local_time(date or "", "%Y-%m-%d"),
            published=tuple(published),
            place=path.name,
        )


def _named(column: str, table: str) -> str:
    """A column as a benchmark: those of ``data_live`` and of ``data_non_live`` have the
    same names."""
    name = _WORD.sub("_", column.lower()).strip("_")
    part = table.removeprefix("data").strip("_")
    if part in ("", "overall") or name.startswith(f"{part}_"):
        return name
    return f"{part}_{name}"
