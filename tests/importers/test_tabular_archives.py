"""Packed files: bounded, never unpacked to disk, hostile ones refused."""

from __future__ import annotations

import gzip
import tomllib
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.tabular import Taken, candidates, read_toml, scores
from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.tabular.importer import IMPORTER
from warehouse.records import ImportSettings

MAPPING = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "score"
"""
TABLE = b"id,score\na,1\nb,0\n"


def take(folder: Path, mapping: str = MAPPING) -> Taken:
    return read_toml(folder, mapping)


def pack(path: Path, entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def test_entries_of_an_archive_are_one_source(tmp_path: Path) -> None:
    pack(
        tmp_path / "r.zip",
        {"x/one.csv": TABLE, "two.csv": TABLE, "__MACOSX/x/._one.csv": b"\0"},
    )
    taken = take(tmp_path, MAPPING + "[path]\npattern = '(?P<note>\\w+)\\.csv'\n")
    assert taken.sources == [str(tmp_path / "r.zip")]
    assert {(run.note, run.place) for run in taken.runs} == {
        ("one", "r.zip/x/one.csv"),
        ("two", "r.zip/two.csv"),
    }
    chosen = take(tmp_path, MAPPING + "[archive]\nmembers = ['x/*']\n")
    assert scores(chosen.rows) == [1, 0]


@pytest.mark.parametrize(
    "name", ["../r.csv", "/etc/r.csv", "a/../../r.csv", "..\\r.csv"]
)
def test_names_that_leave_the_archive(tmp_path: Path, name: str) -> None:
    pack(tmp_path / "r.zip", {"fine.csv": TABLE, name: TABLE})
    with pytest.raises(InputError, match=r"r\.zip: an entry that leaves its folder"):
        take(tmp_path)


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = b"id,score\n" + b"a,1\n" * 1_000_000  # 4 MB from some 4 kB
    pack(tmp_path / "r.zip", {"r.csv": bomb})
    monkeypatch.setattr(bounds, "MAX_RATIO", 100)
    with pytest.raises(InputError, match=r"r\.zip/r\.csv: unpacks to more than"):
        take(tmp_path)
    (tmp_path / "r.zip").unlink()
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(bomb))
    with pytest.raises(InputError, match=r"r\.csv\.gz: unpacks to more than"):
        take(tmp_path)
    monkeypatch.setattr(bounds, "MAX_RATIO", 1000)
    monkeypatch.setattr(bounds, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(InputError, match="unpacks to more than 1000 bytes"):
        take(tmp_path)


@pytest.mark.rare
def test_an_archive_of_many_bombs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(
        tmp_path / "r.zip",
        {f"{name}.csv": b"id,score\n" + b"a,1\n" * 60_000 for name in "abcd"},
    )
    assert len(take(tmp_path).runs) == 1
    monkeypatch.setattr(bounds, "ALWAYS_FINE", 1 << 18)
    monkeypatch.setattr(bounds, "MAX_ARCHIVE_RATIO", 100)
    with pytest.raises(
        InputError, match=r"r\.zip: 4 entries of \d+ bytes unpack to 960036 bytes"
    ):
        take(tmp_path)


def test_entries_that_share_bytes(tmp_path: Path) -> None:
    path = tmp_path / "r.zip"
    pack(path, {"one.csv": TABLE, "two.csv": TABLE})
    raw = bytearray(path.read_bytes())
    place = raw.rindex(b"two.csv") - 4  # its offset, in the directory
    raw[place : place + 4] = (0).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(
        InputError, match=r"r\.zip, entry (one|two)\.csv: shares bytes with"
    ):
        take(tmp_path)


def test_encrypted_entry(tmp_path: Path) -> None:
    pack(tmp_path / "r.zip", {"r.csv": TABLE})
    data = bytearray((tmp_path / "r.zip").read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    (tmp_path / "r.zip").write_bytes(data)
    with pytest.raises(InputError, match=r"r\.zip: an encrypted entry: 'r\.csv'"):
        take(tmp_path)


def test_damaged_archives(tmp_path: Path) -> None:
    pack(tmp_path / "r.zip", {"r.csv": TABLE * 1000})
    whole = (tmp_path / "r.zip").read_bytes()
    (tmp_path / "r.zip").write_bytes(whole[:-30])
    with pytest.raises(InputError, match=r"r\.zip: cannot be read"):
        take(tmp_path)
    broken = bytearray(whole)
    broken[60] ^= 0xFF
    (tmp_path / "r.zip").write_bytes(broken)
    with pytest.raises(InputError, match=r"r\.zip/r\.csv: cannot be read"):
        take(tmp_path)
    (tmp_path / "r.zip").unlink()
    packed = gzip.compress(TABLE * 1000)
    for content in (packed[:-20], b"no gzip", packed[:40] + b"\0" * 10 + packed[50:]):
        (tmp_path / "r.csv.gz").write_bytes(content)
        with pytest.raises(InputError, match=r"r\.csv\.gz: cannot be read"):
            take(tmp_path)


def test_archive_without_tables(tmp_path: Path) -> None:
    pack(tmp_path / "r.zip", {"README.md": b"", "inner.zip": b""})
    with pytest.raises(InputError, match="an archive of 2 files, none of which"):
        take(tmp_path)


def test_large_file_pointer(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n"
    for name in ("r.csv", "r.jsonl", "r.parquet"):
        (tmp_path / name).write_text(pointer)
        with pytest.raises(InputError, match="a Git LFS pointer.*git lfs pull"):
            take(tmp_path)
        (tmp_path / name).unlink()


def test_documents_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.json").write_text('[{"id": 1, "score": 1}]')
    monkeypatch.setattr(bounds, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(
        InputError, match="more than 10 bytes in one document.*JSON lines"
    ):
        take(tmp_path)


def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(TABLE)
    (offered,) = candidates(tmp_path)
    (tmp_path / "r.csv").unlink()
    (tmp_path / "r.csv").mkdir()
    importer = IMPORTER.for_mapping(tomllib.loads(MAPPING), "m.toml")
    (source,) = importer.claim([offered])
    with pytest.raises(InputError, match=r"r\.csv: cannot be read"):
        importer.read(source, ImportSettings())


@pytest.mark.rare
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_too_many_columns(tmp_path: Path, suffix: str) -> None:
    names = ["id", "score", *(f"c{number}" for number in range(50_000))]
    if suffix == "csv":
        row = ",".join(["a", "1", *["x"] * 50_000])
        (tmp_path / "r.csv").write_text(f"{','.join(names)}\n{row}\n")
    else:
        schema = pa.schema([pa.field(name, pa.null()) for name in names])
        pq.write_table(schema.empty_table(), tmp_path / "r.parquet")
    with pytest.raises(
        InputError, match="a table of 50002 columns; expected at most 50000"
    ):
        take(tmp_path)


def test_repeated_names_of_columns_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id_3,score,id,id,\na,1,b,c,d\n")
    taken = take(tmp_path, MAPPING.replace('"id"', '"id_4"'))
    assert [row["prompt_id"] for row in taken.rows] == ["c"]
