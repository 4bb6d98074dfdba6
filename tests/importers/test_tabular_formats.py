"""One table in every format, packed and plain, in pieces of any size: the same rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.tabular import Taken, candidates, read
from warehouse.importers.tabular import delimited, readers
from warehouse.importers.tabular import readers as json_lines
from warehouse.importers.tabular.importer import IMPORTER, load_mapping
from warehouse.records import ImportSettings

DATA = Path(__file__).parents[1] / "data" / "tabular"
NUMBERS = ("draw", "score", "latency")


def table() -> list[dict[str, Any]]:
    with (DATA / "long.csv").open(newline="") as handle:
        rows = [dict(row) for row in csv.DictReader(handle)]
    for row in rows:
        row.update(
            {name: json.loads(row[name]) if row[name] else None for name in NUMBERS}
        )
    return rows


def as_tsv() -> bytes:
    out = io.StringIO()
    with (DATA / "long.csv").open(newline="") as handle:
        csv.writer(out, delimiter="\t", lineterminator="\n").writerows(
            csv.reader(handle)
        )
    return out.getvalue().encode()


def as_jsonl(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", "not a table")
        archive.writestr(f"folder/{name}", content)
    return out.getvalue()


FORMATS: dict[str, Callable[[], bytes]] = {
    "long.csv": lambda: (DATA / "long.csv").read_bytes(),
    "long.tsv": as_tsv,
    "long.json": lambda: json.dumps(table(), indent=1).encode(),
    "long.jsonl": lambda: as_jsonl(table()),
    "long.parquet": lambda: as_parquet(table()),
    "long.ndjson": lambda: b"\xef\xbb\xbf" + as_jsonl(table()).replace(b"\n", b"\r\n"),
    "long.csv.gz": lambda: gzip.compress((DATA / "long.csv").read_bytes()),
    "long.jsonl.gz": lambda: gzip.compress(as_jsonl(table())),
    "long.parquet.gz": lambda: gzip.compress(as_parquet(table())),
    "long.zip": lambda: zipped("long.tsv", as_tsv()),
    "long.packed.zip": lambda: zipped(
        "long.json.gz", gzip.compress(json.dumps(table()).encode())
    ),
}


def shown(taken: Taken) -> list[dict[str, Any]]:
    """What a user sees of each row."""
    found = []
    for row in taken.rows:
        header = taken.run_of(row)
        fields = ("prompt_id", "text", "draw", "latency")
        (score,) = row["scores"]
        found.append(
            {name: row[name] for name in fields}
            | {
                "model": header.model,
                "benchmark": header.benchmark,
                "value": score["value"],
            }
        )
    return found


EXPECTED = [
    {
        "prompt_id": row["prompt_id"],
        "text": row["question"],
        "draw": row["draw"],
        "latency": row["latency"],
        "model": row["model"],
        "benchmark": row["benchmark"],
        "value": row["score"],
    }
    for row in table()
]


@pytest.fixture(params=list(FORMATS))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / request.param).write_bytes(FORMATS[request.param]())
    return tmp_path


@pytest.fixture(params=["pieces", "whole"])
def sizes(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Files are read in pieces of a few bytes or rows, or at once."""
    if request.param == "pieces":
        monkeypatch.setattr(json_lines, "BLOCK_BYTES", 50)
        monkeypatch.setattr(readers, "CHUNK_ROWS", 2)
        monkeypatch.setattr(readers, "_NESTED_ROWS", 2)
        monkeypatch.setattr(delimited, "MAX_ROW_BYTES", 80)
    return


@pytest.mark.usefixtures("sizes")
def test_every_format_gives_the_same_rows(folder: Path) -> None:
    taken = read(folder, load_mapping(DATA / "long.toml"))
    assert shown(taken) == EXPECTED
    assert [(run.model, run.benchmark) for run in taken.runs] == [
        ("org/a", "sums"),
        ("org/b", "sums"),
        ("org/b", "products"),
    ]
    assert taken.rejections == []


def test_tables_with_field_names_need_no_mapping(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for name in ("long.csv", "long.tsv", "long.jsonl", "long.parquet"):
        (tmp_path / name).write_bytes(FORMATS[name]())
    sources = list(IMPORTER.claim(candidates(tmp_path)))
    assert [Path(source.name).name for source in sources] == [
        "long.csv",
        "long.jsonl",
        "long.parquet",
        "long.tsv",
    ]
    for source in sources:
        dump = IMPORTER.read(source, ImportSettings())
        rows = [row for batch in dump.batches for row in batch.to_pylist()]
        assert [row["prompt_id"] for row in rows] == ["q1", "q1", "q2", "q1", "p1"]
        assert [row["draw"] for row in rows] == [0, 1, 0, 0, 0]
        assert dump.runs[0].metrics[0].name == "score"


def test_large_files_are_read_in_pieces(tmp_path: Path) -> None:
    line = json.dumps(
        {"model": "m", "benchmark": "b", "prompt_id": "7", "score": 1, "draw": 0}
    )
    (tmp_path / "long.jsonl").write_text(f"{line}\n" * 60_000)
    (source,) = IMPORTER.claim(candidates(tmp_path))
    sizes = [
        batch.num_rows for batch in IMPORTER.read(source, ImportSettings()).batches
    ]
    assert sum(sizes) == 60_000
    assert max(sizes) < 20_000


def test_shards_of_one_run_are_one_source(tmp_path: Path) -> None:
    rows = as_jsonl(table()).splitlines(keepends=True)
    (tmp_path / "long.0.jsonl").write_bytes(b"".join(rows[:2]))
    (tmp_path / "long.1.jsonl").write_bytes(b"".join(rows[2:]))
    mapping = load_mapping(DATA / "long.toml")
    apart = read(tmp_path, mapping)
    assert (len(apart.sources), len(apart.runs)) == (2, 4)
    together = read(tmp_path, mapping | {"together": True})
    assert (len(together.sources), len(together.runs)) == (1, 3)
    assert shown(together) == shown(apart) == EXPECTED


def test_json_lines_in_a_json_file_and_an_array_in_a_jsonl_file(tmp_path: Path) -> None:
    mapping = load_mapping(DATA / "long.toml")
    (tmp_path / "long.json").write_bytes(as_jsonl(table()))
    assert shown(read(tmp_path, mapping)) == EXPECTED
    (tmp_path / "long.json").rename(tmp_path / "gone")
    (tmp_path / "long.jsonl").write_text(json.dumps(table()))
    assert shown(read(tmp_path, mapping)) == EXPECTED
    (tmp_path / "long.jsonl").write_text(json.dumps(table(), indent=2))
    assert shown(read(tmp_path, mapping)) == EXPECTED


def test_glob_takes_only_its_files(tmp_path: Path) -> None:
    for name in ("a/keep/long.csv", "a/drop/long.csv", "a/keep/deep/long.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DATA / "long.csv", tmp_path / name)
    mapping = load_mapping(DATA / "long.toml")
    assert read(tmp_path, mapping | {"files": ["keep/*.csv"]}).sources == [
        str(tmp_path / "a/keep/long.csv")
    ]
    found = read(tmp_path, mapping | {"files": "a/**/*.csv", "exclude": "drop/*"})
    assert found.sources == [
        str(tmp_path / name) for name in ("a/keep/deep/long.csv", "a/keep/long.csv")
    ]
