"""Columns of tables without a mapping that say how a run was made are settings of it."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import warehouse
from tests.support.tabular import candidates, read
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.importers.tabular.importer import IMPORTER
from warehouse.records import ImportSettings, RunHeader
from warehouse.records.settings import settings_of

Row = Mapping[str, Any]


def rows(
    prompts: Iterable[str] = ("1", "2", "3"), **fields: Any
) -> list[dict[str, Any]]:
    """Rows of one run; a field may be a function of the prompt."""
    shared = {"model": "a", "benchmark": "quiz", "score": 1} | fields
    made = []
    for prompt in prompts:
        values = {
            name: value(prompt) if callable(value) else value
            for name, value in shared.items()
        }
        made.append({"prompt_id": prompt} | values)
    return made


def written(folder: Path, name: str, table: Sequence[Row]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    pd.DataFrame(table).to_csv(path, index=False)
    return path


def taken(
    folder: Path, table: Sequence[Row]
) -> tuple[tuple[RunHeader, ...], list[str], int]:
    """Runs and notes of a table, and how many rows it has."""
    written(folder, "t.csv", table)
    (source,) = IMPORTER.claim(candidates(folder))
    dump = IMPORTER.read(source, ImportSettings({}))
    n_rows = sum(batch.num_rows for batch in dump.batches)
    assert not dump.rejections
    return dump.runs, dump.notes, n_rows


def settings(runs: Sequence[RunHeader], column: str) -> list[str | None]:
    return [settings_of(run).settings.get(column) for run in runs]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (rows(thinking="on"), ["on"]),
        (rows(thinking="on") + rows(model="b", thinking="off"), ["on", "off"]),
        (rows(thinking="on") + rows(model="b", thinking=None), ["on", None]),
        (rows(thinking="on") + rows(benchmark="sums", thinking="off"), ["on", "off"]),
        (rows(thinking="on") + rows(thinking="off"), ["on", "off"]),
        (
            rows(thinking="on") + rows(thinking="off") + rows(model="b", thinking="on"),
            ["on", "off", "on"],
        ),
        (rows(thinking=lambda prompt: prompt == "1"), [None]),
        (
            rows(thinking=lambda prompt: prompt == "1")
            + rows(model="b", thinking=lambda prompt: prompt == "1"),
            [None] * 2,
        ),
        (rows(("1",), thinking="on"), [None]),
        (rows(thinking=1) + rows(model="b", thinking="1.0"), ["1", "1"]),
    ],
    ids=[
        *(
            "of a file",
            "of each model",
            "of some models",
            "of each benchmark",
            "of one model",
            "of one of two models",
        ),
        *(
            "of the prompt",
            "of the prompt in both models",
            "of a single row",
            "a number in two forms",
        ),
    ],
)
def test_what_is_a_setting(
    tmp_path: Path, table: list[Row], expected: list[str | None]
) -> None:
    runs, notes, n_rows = taken(tmp_path, table)
    assert settings(runs, "thinking") == expected
    assert n_rows == len(table)
    is_told = any(
        note.startswith("columns taken as settings of the runs: thinking;")
        for note in notes
    )
    assert is_told == (expected[0] is not None)


@pytest.mark.parametrize(
    ("column", "first", "second", "kind"),
    [
        ("dataset_version", "v1", "v2", "settings"),
        ("prompt version", 1, 2, "settings"),
        ("config.top_k", 5, 6, "settings"),
        ("date", "2026-01-01", "2026-01-02", "marks"),
        ("run", 1, 2, "marks"),
        ("trial", 1, 2, "marks"),
        ("latency_ms", 10, 20, "marks"),
        ("output_dir", "/a", "/b", ""),
        ("mean_accuracy", 0.5, 0.6, ""),
        ("rank", 1, 2, ""),
        ("source", "web", "book", ""),
    ],
)
def test_what_a_column_is_by_its_name(
    tmp_path: Path, column: str, first: Any, second: Any, kind: str
) -> None:
    (one,), _, _ = taken(tmp_path / "one", rows(**{column: first}))
    (other,), _, _ = taken(tmp_path / "other", rows(**{column: second}))
    of_one, of_other = settings_of(one), settings_of(other)
    assert (of_one.condition_key != of_other.condition_key) == (kind == "settings")
    assert (of_one.marks != of_other.marks) == (kind == "marks")


def test_columns_that_differ_from_row_to_row_are_none(tmp_path: Path) -> None:
    table = rows(
        map(str, range(40)),
        latency=lambda prompt: int(prompt) * 1.5,
        topic_id=lambda prompt: int(prompt) % 3,
    )
    (run,), notes, _ = taken(tmp_path, table)
    assert run.configuration == {}
    assert any(note.startswith("columns not used: topic_id") for note in notes)


def test_two_columns_tell_runs_apart_together(tmp_path: Path) -> None:
    table: list[Row] = []
    for effort, tools in itertools.product(("low", "high"), ("none", "bash")):
        table += rows(effort=effort, tools=tools)
    runs, _, n_rows = taken(tmp_path, table)
    assert (len(runs), n_rows) == (4, 12)
    assert sorted(
        zip(settings(runs, "effort"), settings(runs, "tools"), strict=True), key=str
    ) == [*(("high", "bash"), ("high", None), ("low", "bash"), ("low", None))]


def test_numbered_runs_of_one_file_are_repeats(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", rows(run=1) + rows(run=2, score=0))
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    store.ingest(path)
    (row,) = store.leaderboard("quiz").rows
    assert (row.runs, row.estimate) == (2, 0.5)


@pytest.mark.parametrize("order", [("on.csv", "off.csv"), ("off.csv", "on.csv")])
def test_files_that_differ_by_a_column_are_two_conditions(
    tmp_path: Path, order: Sequence[str]
) -> None:
    written(tmp_path, "on.csv", rows(thinking="on"))
    written(tmp_path, "off.csv", rows(thinking="off", score=0))
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    for name in order:
        store.ingest(tmp_path / name)
    estimates = {row.condition: row.estimate for row in store.leaderboard("quiz").rows}
    assert estimates == {"thinking=on": 1.0, "thinking=off": 0.0}


def test_frames_of_one_model_under_two_settings(tmp_path: Path) -> None:
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    store.ingest(pd.DataFrame(rows(thinking=True) + rows(thinking=False, score=0)))
    assert sorted(row.estimate for row in store.leaderboard("quiz").rows) == [0.0, 1.0]


def test_the_configuration_of_a_frame_is_taken_whole(tmp_path: Path) -> None:
    store = warehouse.connect(f"duckdb:///{tmp_path / 's.duckdb'}")
    first = {"agent": {"max_steps": 10, "tools": ["bash", "web"]}, "output_dir": "/a"}
    second = {"agent": {"max_steps": 50, "tools": ["web", "bash"]}, "output_dir": "/b"}
    again = {"agent": {"max_steps": 10, "tools": ["web", "bash"]}, "output_dir": "/c"}
    store.ingest(pd.DataFrame(rows(configuration=first)))
    store.ingest(pd.DataFrame(rows(configuration=second, score=0)))
    store.ingest(pd.DataFrame(rows(configuration=again, score=0)))
    estimates = sorted(
        (row.runs, row.estimate) for row in store.leaderboard("quiz").rows
    )
    assert estimates == [(1, 0.0), (2, 0.5)]


def test_a_draft_takes_the_settings_of_columns_and_document(tmp_path: Path) -> None:
    """Two files that differ by one of them are two conditions by the mapping that was
    drafted for the first."""
    results = [
        {
            "qid": number,
            "topic": f"t{number % 2}",
            "thinking": "on",
            "correct": number % 2,
        }
        for number in range(6)
    ]
    document = {
        "model": "a",
        "benchmark": "quiz",
        "config": {"temperature": 0.5, "max_steps": 4},
        "accuracy": 0.5,
    }
    mapping: dict[str, Any] = {}
    keys = []
    others = [
        {},
        {"results": [row | {"thinking": "off"} for row in results]},
        {"config": {"temperature": 0.5, "max_steps": 9}},
        {"accuracy": 0.7},
    ]
    for number, other in enumerate(others):
        own = document | {"results": results} | other
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "r.json").write_text(json.dumps(own), encoding="utf-8")
        if not number:
            mapping = tomllib.loads(starting_mapping(folder / "r.json"))
        keys.append(settings_of(read(folder, mapping).runs[0]).condition_key)
    assert keys[0] == keys[3] and len(set(keys[:3])) == 3
    assert set(mapping["run"]["configuration"]) == {"config.max_steps", "thinking"}


@pytest.mark.parametrize("name", ["config", "generation_settings"])
def test_objects_are_looked_into_leaf_by_leaf(tmp_path: Path, name: str) -> None:
    """Also ``config``, which else says of which part of a data set a prompt is."""
    lines = []
    for number in range(3):
        held = {"temperature": 0.5, "agent": {"max_steps": 4}, "question": number}
        row = {
            "model": "a",
            "benchmark": "quiz",
            "prompt_id": number,
            "score": 1,
            name: held,
        }
        lines.append(json.dumps(row))
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (source,) = IMPORTER.claim(candidates(tmp_path))
    (run,) = IMPORTER.read(source, ImportSettings({})).runs
    told = settings_of(run).settings
    assert {path: form for path, form in told.items() if path.startswith(name)} == {
        f"{name}.temperature": "0.5",
        f"{name}.agent.max_steps": "4",
    }
