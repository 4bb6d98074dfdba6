"""What each importer takes of its small dumps as settings, marks and versions, and what
it leaves out."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from tests.support.dumps import DATA
from tests.support.every_eval_ever import STEM, evaluation
from tests.support.setting_leaves import sources_of
from warehouse.importers.base import Importer
from warehouse.records import ImportSettings, RunHeader
from warehouse.records.settings import settings_of

#: Folders of small dumps that are not called as their importer is.
_FOLDERS = {"lm_eval_v03": "lm_eval/v0_3", "inspect": "inspect"}
#: Small files of formats of which no dump is kept: name of the file and content.
MADE: Mapping[str, tuple[str, Any]] = {
    "alpaca_eval": (
        "tiny/judge/annotations.json",
        [
            {
                "instruction": text,
                "output_1": "a",
                "generator_1": "reference",
                "output_2": "b",
                "generator_2": "tiny",
                "annotator": "judge",
                "preference": 1.5,
                "preference_version": "0.6.6",
                "preference_date": "2026-01-01T10:00:00",
                "price_per_example": 0.1,
            }
            for text in ("do 1", "do 2")
        ],
    ),
    "every_eval_ever": (f"{STEM}.json", evaluation()),
    "evalplus": (
        "humaneval/org--tiny_vllm_temp_0.2-sanitized_eval_results.json",
        {
            "date": "2026-01-01 10:00",
            "hash": "d41d",
            "eval": {
                "HumanEval/0": [
                    {
                        "task_id": "HumanEval/0",
                        "solution": "x",
                        "base_status": "pass",
                        "plus_status": "pass",
                    }
                ]
            },
        },
    ),
    "livecodebench": (
        "tiny/Scenario.codeexecution_1_0.2_cot_eval_all.json",
        [
            {
                "question_content": "q",
                "question_id": "1",
                "output_list": ["a"],
                "code_list": ["a"],
                "graded_list": [True],
            }
        ],
    ),
    "olmes": (
        "task-000-arc-metrics.json",
        {
            "task_name": "arc",
            "task_hash": "t",
            "model_hash": "m",
            "model_config": {
                "model": "org/tiny",
                "revision": "main",
                "dtype": "float16",
                "batch_size": 4,
            },
            "task_config": {
                "task_name": "arc",
                "num_shots": 5,
                "split": "test",
                "primary_metric": "acc",
            },
            "compute_config": {"batch_size": 4},
            "current_date": "2026-01-01 10:00:00 UTC",
            "num_instances": 2,
            "metrics": {"acc": 0.5},
        },
    ),
}
#: Sources of a dump that are looked at.
_MOST = 4
_NUMBERED = re.compile(r"\.\d+(?=\.|$)")


@dataclass
class Taken:
    """Names by what is made of them."""

    settings: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)

    def add(self, header: RunHeader) -> None:
        """Take in a run."""
        told = settings_of(header)
        self.settings |= set(map(_plain, told.settings))
        self.marks |= set(map(_plain, told.marks))
        self.versions |= set(map(_plain, told.versions))
        self.left_out |= {
            _plain(path)
            for path, found in told.left_out.items()
            if found.kind in ("ignore", "subset")
        }


def importers_with_runs() -> dict[str, Importer]:
    """Importers of tools by name: not that of tables, nor the one of scans, which has
    no runs."""
    found = {
        entry.name: entry.load() for entry in entry_points(group="warehouse.importers")
    }
    return {
        name: found[name]
        for name in sorted(found)
        if name not in ("tabular", "inspect_scout")
    }


def taken_by_importers() -> Iterator[tuple[str, Taken]]:
    """Each importer with what is made of its small dump."""
    for name, importer in importers_with_runs().items():
        taken = Taken()
        for header in _headers(name, importer):
            taken.add(header)
        yield name, taken


def _headers(name: str, importer: Importer) -> Iterator[RunHeader]:
    if name not in MADE:
        yield from _headers_in(importer, DATA / _FOLDERS.get(name, name))
        return
    file, document = MADE[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")
        yield from _headers_in(importer, Path(folder))


def _headers_in(importer: Importer, folder: Path) -> Iterator[RunHeader]:
    for source in sources_of(importer, folder)[:_MOST]:
        dump = importer.read(source, ImportSettings({"model": "org/unnamed"}))
        yield from dump.runs
        dump.close()


def _plain(path: str) -> str:
    """A path without the numbers of elements."""
    return _NUMBERED.sub("", path)
