"""What a mapping declares of a metric is checked; what a mapping names and no record
has is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller

MAPPING = """
files = ["*.json*"]
[run]
model = "model"
benchmark = { const = "quiz" }
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = VALUE
[metrics.acc]
KIND
higher_is_better = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(
    folder: Path,
    values: list[Any],
    value: str = '"acc"',
    kind: str = 'kind = "binary"',
    more: str = "",
) -> str:
    lines = [
        json.dumps({"model": "ada", "id": number, "acc": acc})
        for number, acc in enumerate(values)
    ]
    (folder / "r.jsonl").write_text("\n".join(lines) + "\n")
    mapping = MAPPING.replace("VALUE", value + more).replace("KIND", kind)
    (folder / "m.toml").write_text(mapping)
    return f"duckdb:///{folder}/s.duckdb"


def load(run: Caller, folder: Path, db: str) -> Any:
    return run(
        "ingest", str(folder / "r.jsonl"), "--map", str(folder / "m.toml"), db=db
    )


def test_a_binary_metric_is_right_or_wrong(run: Caller, folder: Path) -> None:
    db = write(folder, [1, 0, 0.5])
    load(run, folder, db).fails(
        3, "line 3", "acc is 0.5", "kind = 'binary': 0 or 1", "n_draws", "bounded"
    )
    assert not (folder / "s.duckdb").exists()  # nothing half-loaded stays


def test_the_rate_of_several_generations_may_lie_between(
    run: Caller, folder: Path
) -> None:
    db = write(folder, [1, 0, 0.5], more="\nn_draws = { const = 4 }")
    assert load(run, folder, db).code == 0


def test_a_threshold_keeps_the_number_as_it_stood(run: Caller, folder: Path) -> None:
    threshold = '{ equals = ["acc", { const = 1 }], numeric = true, tolerance = 1e-6 }'
    db = write(folder, [1, 0, 0.5, 1 - 1e-7], threshold)
    assert load(run, folder, db).code == 0
    rows = run(
        "query",
        "--sql",
        "select value, raw from score order by prompt_id",
        "--json",
        db=db,
    ).rows
    assert [row["value"] for row in rows] == [1, 0, 0, 1]
    assert [row["raw"] for row in rows] == [None, None, "0.5", "0.9999999"]


def test_values_outside_declared_bounds_are_told(run: Caller, folder: Path) -> None:
    db = write(folder, [1, 0, 7, -1], kind='kind = "bounded"\nlow = 0\nhigh = 5')
    found = load(run, folder, db)
    assert found.code == 0
    assert "acc: 2 of 4 values are not 0 to 5, as declared, such as 7" in found.err
    db = write(folder, [1, 0, 5, 2.5], kind='kind = "bounded"\nlow = 0\nhigh = 5')
    assert "as declared" not in load(run, folder, f"{db}2").err


def test_a_label_sheet_with_a_misspelt_column_is_refused(
    run: Caller, folder: Path
) -> None:
    sheet, db = folder / "sheet.csv", f"duckdb:///{folder}/s.duckdb"
    sheet.write_text("model,benchmark,spilt,prompt_id,label\nada,essays,test,q1,1\n")
    run("ingest", str(sheet), "--map", "label_sheet", db=db).fails(
        3, "'spilt'", "did you mean 'split'?"
    )
    sheet.write_text(
        "model,benchmark,split,prompt_id,label,note\nada,essays,test,q1,1,fine\n"
    )
    assert run("ingest", str(sheet), "--map", "label_sheet", db=db).code == 0


@pytest.mark.parametrize("rows", ['draws = "accs[]"', 'at = "tries[]"'])
def test_records_without_anything_that_is_mapped_are_refused(
    run: Caller, folder: Path, rows: str
) -> None:
    (folder / "a.json").write_text(
        json.dumps([{"id": number, "infos": [1]} for number in range(3)])
    )
    head, _, tail = MAPPING.partition("[run]")
    text = (head + f"[rows]\n{rows}\n[run]" + tail).replace(
        "VALUE", '"accs[]"' if "draws" in rows else '"acc"'
    )
    (folder / "m.toml").write_text(
        text.replace("KIND", 'kind = "binary"').replace('"model"', '{ const = "ada" }')
    )
    db = f"duckdb:///{folder}/s.duckdb"
    path = rows.split('"')[1]
    found = run(
        "ingest", str(folder / "a.json"), "--map", str(folder / "m.toml"), db=db
    )
    found.fails(3, "a.json", path, "mapping")
    assert not (folder / "s.duckdb").exists()
