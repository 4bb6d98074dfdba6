"""How many prompts were asked is a setting where figures alone are stored; where
samples are, their prompts say it."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import warehouse
from tests.support.dumps import DATA
from warehouse.api.connection import Connection

DUMP = DATA / "subsets" / "lm_eval" / "lab__one"


def results(folder: Path, accuracy: float, date: float, **config: Any) -> Path:
    """A results file without samples."""
    (path,) = DUMP.glob("results_*.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["config"] |= config
    document["date"] = date
    for figures in document["results"].values():
        figures |= {name: accuracy for name in figures if name.startswith("acc,")}
    target = folder / DUMP.name / path.name
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(document), encoding="utf-8")
    return folder


def rows_of(store: Connection) -> list[tuple[int, str]]:
    (benchmark,) = {row.benchmark for row in store.benchmarks() if row.n_runs}
    return [(row.runs, row.condition) for row in store.leaderboard(benchmark).rows]


@pytest.mark.parametrize(
    ("order", "first", "second", "is_same"),
    [
        ((0, 1), {"limit": 10}, {"limit": 100}, False),
        ((1, 0), {"limit": 10}, {"limit": None}, False),
        ((0, 1), {"limit": 10}, {"limit": 10.0}, True),
        ((0, 1), {"batch_size": 1}, {"batch_size": 8}, True),
    ],
)
def test_figures_of_another_subset(
    tmp_path: Path,
    order: tuple[int, int],
    first: dict[str, Any],
    second: dict[str, Any],
    is_same: bool,
) -> None:
    folders = [
        results(tmp_path / "a", 0.5, 1.7e9, **first),
        results(tmp_path / "b", 0.75, 1.8e9, **second),
    ]
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    for number in order:
        store.ingest(folders[number])
    assert len(rows_of(store)) == (1 if is_same else 2)


@pytest.mark.parametrize("limits", [(2, 4), (2, None)])
def test_samples_tell_which_prompts_were_asked(
    tmp_path: Path, limits: tuple[Any, Any]
) -> None:
    """Two runs of one condition, of which one has fewer prompts: its samples say so,
    and no setting does."""
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    for number, limit in enumerate(limits):
        folder = Path(shutil.copytree(DUMP, tmp_path / str(number) / DUMP.name))
        (path,) = folder.glob("results_*.json")
        document = json.loads(path.read_text(encoding="utf-8"))
        document["config"]["limit"] = limit
        document["date"] += number
        path.write_text(json.dumps(document), encoding="utf-8")
        store.ingest(folder)
    sql = "select distinct condition_key from run"
    assert len(store.query(sql)) == 1


@pytest.mark.parametrize("order", list(itertools.permutations(("figures", "samples"))))
def test_samples_of_a_run_replace_its_figures_whatever_was_asked(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    whole = Path(shutil.copytree(DUMP, tmp_path / "samples" / DUMP.name))
    (path,) = whole.glob("results_*.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["config"]["limit"] = 4
    path.write_text(json.dumps(document), encoding="utf-8")
    alone = tmp_path / "figures" / DUMP.name
    alone.mkdir(parents=True)
    shutil.copy(path, alone)
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    for name in order:
        store.ingest(tmp_path / name)
    (row,) = rows_of(store)
    assert row == (1, "")
