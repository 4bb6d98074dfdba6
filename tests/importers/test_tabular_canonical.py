"""Tables that need no mapping, as pandas and spreadsheets write them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.support.tabular import candidates, read_toml, scores
from warehouse.errors import InputError
from warehouse.importers.tabular.delimited import delimiter_of
from warehouse.importers.tabular.importer import IMPORTER
from warehouse.records import ImportSettings

RECORDS = {
    "model": ["org/a", "org/b"] * 2,
    "benchmark": ["sums"] * 4,
    "prompt_id": [7, 7, 8, 8],
    "score": [1.0, 0.25, 0.5, 0.75],
}
MAPPING = """
[run]
model = "model"
benchmark = "benchmark"
[sample]
prompt_id = "prompt_id"
[[scores]]
metric = "acc"
value = "score"
"""


def values(folder: Path, **stated: str) -> list[tuple[Any, ...]]:
    """Model, prompt and value of each row of the one table of a folder."""
    (source,) = IMPORTER.claim(candidates(folder))
    dump = IMPORTER.read(source, ImportSettings(stated))
    rows = [row for batch in dump.batches for row in batch.to_pylist()]
    assert not dump.rejections
    return [
        (dump.runs[row["run"]].model, row["prompt_id"], row["scores"][0]["value"])
        for row in rows
    ]


@pytest.mark.parametrize(
    ("name", "writer", "options"),
    [
        ("a.csv", "to_csv", {"index": False}),
        ("a.csv", "to_csv", {}),
        ("a.csv", "to_csv", {"index": False, "sep": ";"}),
        ("a.csv", "to_csv", {"index": False, "sep": "\t"}),
        (
            "a.csv",
            "to_csv",
            {"index": False, "encoding": "utf-8-sig", "lineterminator": "\r\n"},
        ),
        ("a.csv.gz", "to_csv", {"index": False}),
        ("a.tsv", "to_csv", {"index": False, "sep": "\t"}),
        ("a.json", "to_json", {"orient": "records"}),
        ("a.json", "to_json", {"orient": "records", "indent": 2}),
        ("a.jsonl", "to_json", {"orient": "records", "lines": True}),
        ("a.jsonl.gz", "to_json", {"orient": "records", "lines": True}),
        ("a.parquet", "to_parquet", {}),
    ],
)
def test_whatever_pandas_writes_is_taken(
    tmp_path: Path, name: str, writer: str, options: dict[str, Any]
) -> None:
    getattr(pd.DataFrame(RECORDS), writer)(tmp_path / name, **options)
    assert values(tmp_path) == [
        ("org/a", "7", 1.0),
        ("org/b", "7", 0.25),
        ("org/a", "8", 0.5),
        ("org/b", "8", 0.75),
    ]


def test_model_and_benchmark_may_be_set(tmp_path: Path) -> None:
    frame = pd.DataFrame(RECORDS)[["prompt_id", "score"]].iloc[::2]
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = values(tmp_path, model="org/c", benchmark="sums")
    assert found == [("org/c", "7", 1.0), ("org/c", "8", 0.5)]
    with pytest.raises(
        InputError,
        match="no column names the benchmark: .* say --default benchmark=NAME, or",
    ):
        values(tmp_path, model="org/c")


def test_odd_types_of_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(RECORDS).astype({"model": "category", "prompt_id": "int8"})
    frame["score"] = pd.array([True, None, False, True], dtype="boolean")
    frame.to_parquet(tmp_path / "a.parquet")
    assert [value for _, _, value in values(tmp_path)] == [1.0, None, 0.0, 1.0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.json",
            b'{"model": {"0": "org/a"}, "benchmark": {}, "prompt_id": {}, "score": {}}',
        ),
        ("a.json", b'[{"model": "org/a", "benchmark": "b", "prompt_id": 1, "sco'),
        ("a.json", b"[" * 50_000),
        ("a.csv.gz", b"model,benchmark,prompt_id,score\n"),
        ("a.csv.gz", gzip.compress(b"model,benchmark,prompt_id,colour\n", mtime=0)),
    ],
)
def test_other_files_are_left_to_others(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert not list(IMPORTER.claim(candidates(tmp_path)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_table_in_utf_16_is_refused_by_that_name(
    tmp_path: Path, encoding: str
) -> None:
    text = "\N{ZERO WIDTH NO-BREAK SPACE}" if encoding == "utf-16-be" else ""
    text += pd.DataFrame(RECORDS).to_csv(index=False)
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match="UTF-16"):
        read_toml(tmp_path, MAPPING)


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_cells_may_be_parted_by_other_marks(tmp_path: Path, mark: str) -> None:
    frame = pd.DataFrame(RECORDS)
    frame["text"] = [f'is it {mark} or "," {number}?' for number in range(4)]
    frame.to_csv(tmp_path / "a.csv", index=False, sep=mark)
    assert scores(read_toml(tmp_path, MAPPING).rows) == [1.0, 0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    ("line", "format", "expected"),
    [
        ("a,b;c", "csv", ","),
        ("a\tb,c", "tsv", "\t"),
        ("a,b", "tsv", ","),
        ("a;b", None, ";"),
        ("a,b\tc", None, "\t"),
        ("alone", "csv", ","),
        ("alone", "tsv", "\t"),
    ],
)
def test_the_delimiter_of_the_suffix_comes_first(
    line: str, format: str | None, expected: str
) -> None:
    assert delimiter_of(line, format) == expected
