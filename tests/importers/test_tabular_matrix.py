"""Wide performance matrices, in both orientations."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.tabular import Taken, read_toml
from warehouse.errors import MappingError
from warehouse.importers.tabular import readers

DATA = Path(__file__).parents[1] / "data" / "tabular"
BENCHMARK = '[run]\nbenchmark = { const = "b" }\n'
BY_MODELS = (
    '[matrix]\norientation = "prompts_by_models"\ncells = "org/.*"\n' + BENCHMARK
)
EXPECTED = {
    ("org/a", "q1"): 1,
    ("org/a", "q2"): 0.5,
    ("org/b", "q1"): 0,
    ("org/b", "q3"): 1,
}


def cells(taken: Taken) -> dict[tuple[str, str], float]:
    return {
        (taken.run_of(row).model, row["prompt_id"]): row["scores"][0]["value"]
        for row in taken.rows
    }


def transposed(path: Path) -> None:
    with (DATA / "matrix.csv").open(newline="") as handle:
        columns = [list(column) for column in zip(*csv.reader(handle), strict=True)][:3]
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows(columns)


@pytest.mark.parametrize("per_chunk", [1, 1 << 20])
def test_prompts_by_models(
    tmp_path: Path, per_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_CELLS_PER_CHUNK", per_chunk)
    shutil.copy(DATA / "matrix.csv", tmp_path)
    taken = read_toml(tmp_path, BY_MODELS + '[metadata]\ntopic = "topic"\n')
    assert cells(taken) == EXPECTED
    topics = {
        row["prompt_id"]: json.loads(row["metadata"])["topic"] for row in taken.rows
    }
    assert topics == {"q1": "sums", "q2": "sums", "q3": "words"}
    assert taken.notes == ["matrix.csv: 2 empty cells of the matrix left out"]
    assert {spec.name for run in taken.runs for spec in run.metrics} == {"score"}


def test_models_by_prompts(tmp_path: Path) -> None:
    transposed(tmp_path / "matrix.csv")
    taken = read_toml(
        tmp_path, '[matrix]\norientation = "models_by_prompts"\n' + BENCHMARK
    )
    assert cells(taken) == EXPECTED


def test_numbers_of_several_types_in_parquet(tmp_path: Path) -> None:
    table = {
        "question": ["q1", "q2", "q3"],
        "org/a": [1.0, 0.5, None],
        "org/b": [0, None, 1],
    }
    pq.write_table(pa.table(table), tmp_path / "m.parquet")
    assert cells(read_toml(tmp_path, BY_MODELS)) == EXPECTED


@pytest.mark.parametrize("name", ["question", None])
def test_an_index_of_pandas_labels_the_rows(tmp_path: Path, name: str | None) -> None:
    frame = pd.DataFrame({"7": [1, 0], "org/a": [0.5, None], "13": [True, False]})
    frame.index = pd.Index(["q1", "q2"], name=name)
    frame.to_parquet(tmp_path / "a.parquet")
    taken = read_toml(tmp_path, BY_MODELS.replace('cells = "org/.*"\n', ""))
    assert cells(taken) == {
        ("7", "q1"): 1,
        ("7", "q2"): 0,
        ("org/a", "q1"): 0.5,
        ("13", "q1"): 1,
        ("13", "q2"): 0,
    }


def test_a_row_that_names_no_prompt_is_rejected_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("question,org/a,org/b\nq1,1,0\n,1,1\n")
    taken = read_toml(tmp_path, BY_MODELS)
    assert cells(taken) == {("org/a", "q1"): 1, ("org/b", "q1"): 0}
    assert [rejection.place for rejection in taken.rejections] == [
        "m.csv row 3, column 'org/a'",
        "m.csv row 3, column 'org/b'",
    ]


def test_a_column_that_holds_no_scores_is_told_cell_by_cell(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": ["q1", "q2"],
            "org/a": [1, 0],
            "note": ["fine", "so so"],
            "seen": pd.to_datetime(["2026-01-01", "2026-01-02"]),
            "tags": [["x"], []],
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    taken = read_toml(tmp_path, BY_MODELS.replace('cells = "org/.*"\n', ""))
    assert {key: value for key, value in cells(taken).items() if value is not None} == {
        ("org/a", "q1"): 1,
        ("org/a", "q2"): 0,
    }


def test_rows_and_columns_may_be_other_fields(tmp_path: Path) -> None:
    (tmp_path / "seeds.csv").write_text(
        "run,mnli,hans\nRun 0,0.8,0.5\nRun 1,0.9,\nMean,0.85,\n"
    )
    taken = read_toml(
        tmp_path,
        """
        [matrix]
        label = "run"
        [[rows.skip]]
        path = "run"
        not_matching = "^Run"
        [run]
        model = { const = "bert" }
        training_seed = { path = "@row", pattern = '\\d+' }
        benchmark = "@column"
        [[published]]
        metric = "acc"
        value = "@cell"
        """,
    )
    figures = {(r.benchmark, r.training_seed): r.published[0].value for r in taken.runs}
    assert figures == {("mnli", "0"): 0.8, ("mnli", "1"): 0.9, ("hans", "0"): 0.5}
    assert any("1 rows skipped" in note for note in taken.notes)


def test_place_of_a_bad_cell(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "q,org/a,org/b\nq1,1,0\nq2,1,99999999999999999999\n"
    )
    taken = read_toml(tmp_path, BY_MODELS)
    assert [rejection.place for rejection in taken.rejections] == [
        "m.csv row 3, column 'org/b'"
    ]
    assert len(taken.rows) == 3


def test_mistakes_name_the_columns_of_the_wide_table(tmp_path: Path) -> None:
    shutil.copy(DATA / "matrix.csv", tmp_path)
    wrong = BY_MODELS + '[[rows.skip]]\npath = "Question"\nnull = true\n'
    with pytest.raises(
        MappingError, match="'Question'.*there are: question, org/a, org/b, topic"
    ):
        read_toml(tmp_path, wrong)
    with pytest.raises(MappingError, match=r"\[matrix\] label = 'id'"):
        read_toml(tmp_path, BY_MODELS.replace("cells", 'label = "id"\ncells'))
    with pytest.raises(
        MappingError, match=r"\[matrix\] cells = 'model_.*' matches no column"
    ):
        read_toml(tmp_path, BY_MODELS.replace("org/.*", "model_.*"))
