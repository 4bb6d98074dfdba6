"""Damaged dumps of lm-evaluation-harness: what is read with a note, what is rejected,
and what is refused."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from tests.support.lm_eval import FIXTURES, STAMP, Taken, take, take_slowly, take_v03
from warehouse.errors import InputError
from warehouse.importers.common.jsonl import RowSource
from warehouse.importers.common.streams import refuse_bomb

SAMPLES = FIXTURES / "v0_4_13" / "org__demo-model"
MC = f"samples_demo_mc_{STAMP}.jsonl"
RESULTS = f"results_{STAMP}.json"

BAD_LINES = {
    "cut": b'{"doc_id": 9, "doc": {"question": "Wh',
    "no JSON": b"Traceback (most recent call last):",
    "not UTF-8": b'{"doc_id": 9, "doc": "\xff\xfe"}',
    "a lone surrogate": b'{"doc_id": 9, "doc": "\\ud83d"}',
    "an integer beyond 64 bits": b'{"doc_id": 9, "doc": {"n": 123456789012345678901234}}',
    "a list": b"[1, 2]",
    "no doc_id": b'{"doc": {}, "target": "1"}',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the 0.4.13 run."""
    return Path(shutil.copytree(SAMPLES, tmp_path / "run"))


def with_line(folder: Path, line: bytes, at: int = 1) -> Path:
    """A run with one more line in its multiple-choice samples."""
    lines = (folder / MC).read_bytes().splitlines(keepends=True)
    lines.insert(at, line + b"\n")
    (folder / MC).write_bytes(b"".join(lines))
    return folder


def rejected(taken: Taken) -> list[tuple[str, str]]:
    return [(item.place, item.found) for item in taken.dump.rejections]


@pytest.mark.parametrize(
    ("part", "found"), [("results", "0.37"), ("groups", "'x'"), ("n-samples", "[]")]
)
def test_parts_of_results_that_are_no_objects_are_said(
    folder: Path, part: str, found: str
) -> None:
    """The figures of a task went without a word, and the benchmark was left with no
    metric."""
    path = folder / RESULTS
    document = json.loads(path.read_text())
    document.setdefault(part, {})["demo_mc"] = {"0.37": 0.37, "'x'": "x", "[]": []}[
        found
    ]
    path.write_text(json.dumps(document))
    (note,) = (note for note in take_slowly(folder).dump.notes if "no object" in note)
    assert (
        note
        == f"{RESULTS}: {part}.demo_mc is {found}, no object: nothing is read there"
    )


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_rejected_with_its_number_and_the_rest_is_read(
    folder: Path, line: bytes
) -> None:
    taken = take_slowly(with_line(folder, line))
    ((place, found),) = rejected(taken)
    assert place == f"{MC} line 2"
    assert found
    assert taken.mean("demo_mc", "acc") == pytest.approx(2 / 3)
    assert len(taken.rows_of("demo_mc")) == 3


def test_the_line_number_is_that_of_the_file(folder: Path) -> None:
    lines = (folder / MC).read_bytes().splitlines(keepends=True)
    rows = [lines[0].replace(b'"doc_id": 0', b'"doc_id": %d' % n) for n in range(4711)]
    (folder / MC).write_bytes(b"".join(rows) + b"\n{]\n" + lines[1])
    taken = take_slowly(folder)
    assert [place for place, _ in rejected(taken)] == [f"{MC} line 4713"]
    assert [item.is_cut for item in taken.dump.rejections] == [False]
    assert len(taken.rows_of("demo_mc")) == 4712


def test_a_file_cut_in_its_last_line(folder: Path) -> None:
    (folder / MC).write_bytes((folder / MC).read_bytes()[:-40])
    taken = take_slowly(folder)
    assert [place for place, _ in rejected(taken)] == [f"{MC} line 3"]
    assert len(taken.rows_of("demo_mc")) == 2
    assert [item.is_cut for item in taken.dump.rejections] == [True]


def test_a_byte_order_mark_is_noted(folder: Path) -> None:
    for name in (MC, RESULTS):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    taken = take(folder)
    assert taken.dump.notes == [f"{MC}: begins with a byte-order mark"]
    assert taken.dump.rejections == []
    assert taken.mean("demo_mc", "acc") == pytest.approx(2 / 3)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_no_finite_number_is_null_with_its_word(folder: Path, word: str) -> None:
    text = (folder / MC).read_text().replace('"acc_norm": null', f'"acc_norm": {word}')
    (folder / MC).write_text(text)
    for taken in (take(folder), take_slowly(folder)):
        (score,) = [
            s
            for s in taken.rows_of("demo_mc")[2]["scores"]
            if s["metric"] == "acc_norm"
        ]
        assert (score["value"], score["status"], score["raw"]) == (None, "error", word)


def test_an_array_in_a_jsonl_and_lines_in_a_json(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / MC).read_text().splitlines()]
    expected = take(folder).rows_of("demo_mc")
    (folder / MC).write_text(json.dumps(rows, indent=2))
    assert take(folder).rows_of("demo_mc") == expected
    (folder / MC).rename(folder / MC.replace("jsonl", "json"))
    assert take(folder).rows_of("demo_mc") == expected
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / MC.replace("jsonl", "json")).write_text(text)
    assert take(folder).rows_of("demo_mc") == expected


@pytest.mark.parametrize(("cut", "whole"), [(30, 2), (2, 3)])
def test_an_array_cut_short(folder: Path, cut: int, whole: int) -> None:
    rows = [json.loads(line) for line in (folder / MC).read_text().splitlines()]
    (folder / MC).write_text(json.dumps(rows, indent=2)[:-cut])
    taken = take(folder)
    ((place, _),) = rejected(taken)
    assert place.startswith(f"{MC} line ")
    assert len(taken.rows_of("demo_mc")) == whole


def test_blank_lines_and_very_long_lines(folder: Path) -> None:
    lines = (folder / MC).read_text().splitlines()
    row = json.loads(lines[0])
    row["doc"]["padding"] = "x" * 17_000_000
    row["doc_id"] = 7
    (folder / MC).write_text("\n\n".join([*lines, json.dumps(row), ""]))
    taken = take_slowly(folder)
    assert len(taken.rows_of("demo_mc")) == 4
    assert taken.dump.rejections == []


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"


@pytest.mark.parametrize("name", [MC, "yes_write_out_info.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"\n \n", "empty"), (POINTER, "git lfs pull")],
    ids=["nothing", "blank", "pointer"],
)
def test_stand_ins_are_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    reader = take_v03 if name.startswith("yes") else take
    with pytest.raises(InputError, match=message) as caught:
        reader(tmp_path, model="org/m")
    assert name in str(caught.value)


def test_a_results_file_cut_short_is_refused(folder: Path) -> None:
    (folder / RESULTS).write_bytes((folder / RESULTS).read_bytes()[:3000])
    with pytest.raises(InputError, match="complete JSON object") as caught:
        take(folder)
    assert RESULTS in str(caught.value)


def test_a_packed_file_cut_short_is_refused(folder: Path) -> None:
    packed = gzip.compress((folder / MC).read_bytes() * 50)
    (folder / MC).unlink()
    (folder / f"{MC}.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="ended before .* downloaded whole"):
        take_slowly(folder)


def test_samples_that_name_no_task(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / MC, tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match="--default benchmark="):
        take(tmp_path, model="org/m")


def test_every_line_bad(folder: Path) -> None:
    (folder / MC).write_text("oh\nno\n")
    taken = take(folder)
    assert [place for place, _ in rejected(taken)] == [f"{MC} line 1", f"{MC} line 2"]
    assert taken.rows_of("demo_mc") == []


@pytest.mark.parametrize(
    ("filler", "size", "is_honest"),
    [
        pytest.param(b" ", 100 << 20, True, marks=pytest.mark.rare),
        pytest.param(b" ", 100 << 20, False, marks=pytest.mark.rare),
        pytest.param(b"\n", 8 << 20, False, marks=pytest.mark.rare),
        pytest.param(b"\n", 8 << 20, True, marks=pytest.mark.slow),
    ],
    ids=["honest", "lying", "lying, many lines", "honest, many lines"],
)
def test_a_gzip_bomb_is_refused(
    tmp_path: Path, filler: bytes, size: int, is_honest: bool
) -> None:
    """The bound is that of archives: a thousand times the packed size."""
    packed = gzip.compress(filler * size, 9)
    if not is_honest:  # a small member behind it, whose size stands at the end
        packed += gzip.compress(b"{}\n")
    path = tmp_path / "samples_x_2024-01-01T00-00-00.000000.jsonl.gz"
    path.write_bytes(packed)
    with pytest.raises(InputError, match="unpacks to more than"):
        list(RowSource(path, path.name).texts())
    with pytest.raises(InputError, match="unpacks to more than"):
        refuse_bomb(path)


def test_a_line_of_a_packed_file_has_a_longest_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(
        gzip.compress(b'{"doc_id": 1}\n' + b'{"doc_id": 2, "x": "yyyyyyyyyy"}\n')
    )
    lines = RowSource(path, path.name)
    assert len(list(lines.texts())) == 2
    monkeypatch.setattr("warehouse.importers.common.bounds.MAX_DOCUMENT_BYTES", 20)
    with pytest.raises(InputError, match="more than 20 bytes in one line"):
        list(lines.texts())
