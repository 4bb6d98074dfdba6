"""Importer of METR's ``all_runs.jsonl``: runs of agents and people on tasks of known
length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric, source_of
from warehouse.importers.common.json_fields import (
    Row,
    compact,
    number_or_none,
    required_text,
    text_or_none,
    verdict,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    ODD_VALUES,
    RowSource,
    batches_of,
    has_keys,
    head_of,
    nearest,
)
from warehouse.importers.common.run_settings import SameInAll
from warehouse.importers.common.yaml_text import read_yaml
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    RunHeader,
    SourceFiles,
)

HARNESS, BENCHMARK = "metr", "metr_horizon"
NEEDED = ("task_id", "alias")
KEYS = (*NEEDED, "task_family", "human_minutes", "score_binarized")
#: Beside the runs: days of release by alias.
DATES = "release_dates.yaml"
SUCCESS, SCORE = "score_binarized", "score"
_METRICS = (
    binary_metric(SUCCESS, scorer_kind="execution", is_default=True),
    MetricSpec(
        SCORE,
        kind="continuous",
        higher_is_better=True,
        scorer_kind="execution",
        is_default=False,
    ),
)
_TASK = ("task_family", "human_minutes", "human_score", "human_source")
#: Fields of a run of an agent on a task, and of the task.
_OF_ROWS = frozenset(
    """
    run_id task_id score score_binarized started_at completed_at alias fatal_error_from dollar_equivalent total_tokens
    generation_cost equal_task_weight invsqrt_task_weight
    """.split()
) | {*_TASK}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Metr:
    """A line for each run of an agent on a task; ``release_dates.yaml`` beside it."""

    name = "metr"
    version = "2"  # 2: what all runs of an agent say is a setting
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file of runs is a source, with the days of release in its folder."""
        dates = {
            item.path.parent: item.path
            for item in candidates
            if item.path.name == DATES
        }
        for item in candidates:
            if item.path.suffix == ".jsonl" and has_keys(head_of(item), *KEYS):
                folder = nearest(item.path.parent, dates)
                companions = (dates[folder],) if folder == item.path.parent else ()
                yield source_of(item.path, *companions)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: it is damaged, or names no agent)."""
        path, *companions = source.files
        days = {}
        if companions:
            days = _days(companions[0])
        same = SameInAll(_OF_ROWS)
        for row, _ in RowSource(path, path.name, NEEDED).rows():
            same.add(text_or_none(row.get("alias")), row)
        names = [name for name in same.runs if isinstance(name, str)]
        if not names:
            raise InputError(
                "no agent", path=str(path), expected=f"lines with {', '.join(KEYS)}"
            )
        headers = tuple(
            RunHeader(
                harness=HARNESS,
                model=name,
                benchmark=BENCHMARK,
                metrics=_METRICS,
                configuration=without_nulls(
                    {"release_date": days.get(name), **same.of(name)}
                ),
                place=path.name,
            )
            for name in names
        )
        dump = Dump(headers, ())
        lines = RowSource(path, path.name, NEEDED, dump.rejections, dump.notes)
        runs = {name: number for number, name in enumerate(names)}
        rows_of = partial(_rows, runs=runs, tasks={}, draws=Counter())
        dump.batches = batches_of(
            lines.located(),
            rows_of,
            dump.rejections,
            "a run as METR writes it",
            ODD_VALUES,
        )
        return dump


def _days(path: Path) -> dict[str, str]:
    """Days of release by alias."""
    document = read_yaml(path)
    listed = None
    if isinstance(document, dict):
        listed = document.get("date")
    if not isinstance(listed, dict):
        raise InputError(
            "no days of release",
            path=str(path),
            expected="date: with a day for each agent",
        )
    return {
        str(name): str(day) for name, day in listed.items() if _DAY.fullmatch(str(day))
    }


def _rows(
    row: Row,
    runs: dict[str, int],
    tasks: dict[str, int],
    draws: Counter[tuple[int, str]],
) -> Iterator[Row]:
    """A run as a row; those of one agent on one task are numbered."""
    task = required_text(row, "task_id")
    run = runs[required_text(row, "alias")]
    value = verdict(row.get(SUCCESS), SUCCESS)
    begin, end = (
        number_or_none(row.get(name)) for name in ("started_at", "completed_at")
    )
    draw = draws[run, task]
    draws[run, task] += 1
    latency = None
    if begin is not None and end is not None and end >= begin:
        latency = (end - begin) / 1000
    yield {
        "run": run,
        "position": tasks.setdefault(task, len(tasks)),
        "prompt_id": task,
        "metadata": compact(without_nulls({name: row.get(name) for name in _TASK})),
        "draw": draw,
        "finish_reason": text_or_none(row.get("fatal_error_from")),
        "latency": latency,
        "cost": number_or_none(row.get("dollar_equivalent")),
        "scores": [
            {"metric": SUCCESS, "value": value},
            {"metric": SCORE, "value": number_or_none(row.get(SCORE))},
        ],
        "transcript": {"uuid": text_or_none(row.get("run_id"))},
    }


IMPORTER = Metr()
