"""Archives that are interrupted, damaged or made to do harm."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.inspect_logs import (
    FIXTURES,
    Entries,
    by_draw,
    edited,
    entries_of,
    scores_by,
    take,
    write_deflated,
    write_packed,
)
from warehouse.errors import InputError
from warehouse.importers.common import bounds

SAMPLE = "samples/last_epoch_1.json"


@pytest.fixture(scope="module")
def grid() -> Entries:
    return entries_of(FIXTURES / "grid.eval")


def rejected(taken: Any) -> list[tuple[str, str]]:
    return [(item.place, item.found) for item in taken.dump.rejections]


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def zstd_frames(data: bytes, size: int) -> bytes:
    packer = zstandard.ZstdCompressor()
    return b"".join(
        packer.compress(data[start : start + size])
        for start in range(0, len(data), size)
    )


def test_deflate_and_zstandard_say_the_same(tmp_path: Path, grid: Entries) -> None:
    old = take(write_deflated(tmp_path / "old.eval", grid))
    assert old.rows == take(FIXTURES / "grid.eval").rows
    assert (
        old.dump.runs[0].published
        == take(FIXTURES / "grid.eval").dump.runs[0].published
    )


def test_several_frames_are_one_entry(tmp_path: Path, grid: Entries) -> None:
    packed = {name: (93, zstd_frames(data, 500), data) for name, data in grid.items()}
    assert (
        take(write_packed(tmp_path / "a.eval", packed)).rows
        == take(FIXTURES / "grid.eval").rows
    )


def test_of_entries_that_stand_twice_the_last_counts(
    tmp_path: Path, grid: Entries
) -> None:
    sample = json.loads(grid[SAMPLE])
    sample["output"]["completion"] = "older"
    pairs = [(SAMPLE, json.dumps(sample).encode()), *grid.items()]
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = write_deflated(tmp_path / "a.eval", pairs)
    taken = take(path)
    assert by_draw(taken)["last", 0]["response"] == "nothing"
    assert taken.dump.notes == ["1 entries stand twice; the last counts"]


def test_an_interrupted_log_is_read_from_its_journal(
    tmp_path: Path, grid: Entries
) -> None:
    kept = {
        name: data
        for name, data in grid.items()
        if name.startswith("_journal") or name.startswith("samples/q")
    }
    taken = take(write_deflated(tmp_path / "a.eval", kept))
    (run,) = taken.dump.runs
    assert (run.model, run.benchmark, run.status) == (
        "mockllm/grid-model",
        "grid",
        "truncated",
    )
    assert run.n_requested == 3 and run.published == ()
    assert [row["draw"] for row in taken.rows] == [0, 1, 2]
    assert scores_by(taken.rows[1])["rubric.style", ""]["value"] == 7 / 64
    assert {spec.name for spec in run.metrics} == {
        "match",
        "rubric.style",
        "rubric.facts",
        "length",
    }
    assert "not finished" in taken.dump.notes[0]


def test_a_finished_log_that_lacks_samples_is_truncated(
    tmp_path: Path, grid: Entries
) -> None:
    kept = {name: data for name, data in grid.items() if name != SAMPLE}
    assert (
        take(write_deflated(tmp_path / "a.eval", kept)).dump.runs[0].status
        == "truncated"
    )


BAD_SAMPLES = {
    "cut": b'{"id": "last", "epoch": 1, "inp',
    "not UTF-8": b'{"id": "last", "input": "\xff\xfe"}',
    "a lone surrogate": b'{"id": "last", "input": "\\ud83d"}',
    "an integer beyond 64 bits": b'{"id": "last", "input": 123456789012345678901234}',
    "events that are not UTF-8": b'{"id": "last", "epoch": 1, "input": "x", "events": [{"data": "\xff"}]}',
    "events that are cut": b'{"id": "last", "epoch": 1, "input": "x", "events": [{"data": "y"]}',
    "a list": b"[1, 2]",
    "no id": b'{"input": "x"}',
    "an id of a strange kind": b'{"id": [1], "input": "x"}',
    "no input": b'{"id": "last", "epoch": 1}',
    "no epoch that counts": b'{"id": "last", "epoch": "one", "input": "x"}',
    "deep lists": b'{"id": "last", "input": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deeper than can be written": b'{"id": "last", "epoch": 1, "input": "x", "metadata": '
    + b'{"a": ' * 400
    + b"1"
    + b"}" * 400
    + b"}",
}


@pytest.mark.parametrize("data", BAD_SAMPLES.values(), ids=BAD_SAMPLES)
def test_a_bad_sample_is_rejected_with_its_place_and_the_rest_is_read(
    tmp_path: Path, grid: Entries, data: bytes
) -> None:
    taken = take(write_deflated(tmp_path / "a.eval", {**grid, SAMPLE: data}))
    ((place, found),) = rejected(taken)
    assert SAMPLE in place or place.startswith("sample last, epoch")
    assert found
    assert sum(row["draw"] >= 0 for row in taken.rows) == 8


PASSED_OVER = {
    "events that are none": b'"events": [' + b"9" * 400 + b', {"event": 1e400}]',
    "events that JSON has no form for": b'"events": [NaN, {}]',
    "no list of events": b'"events": 3',
    "no events": b'"events": null',
    "a long whole number": b'"store": {"n": 99999999999999999999}',
}


@pytest.mark.parametrize("rest", PASSED_OVER.values(), ids=PASSED_OVER)
def test_what_is_not_kept_of_a_sample_may_hold_anything(
    tmp_path: Path, grid: Entries, rest: bytes
) -> None:
    data = b'{"id": "last", "epoch": 1, "input": "x", ' + rest + b"}"
    taken = take(write_deflated(tmp_path / "a.eval", {**grid, SAMPLE: data}))
    assert not taken.dump.rejections
    assert by_draw(taken)["last", 0]["text"] == "x"


ODD_PARTS: dict[str, Any] = {
    "scores": [1],
    "messages": "text",
    "output": [],
    "metadata": "x",
    "choices": {"a": 1},
    "target": {"a": 1},
    "limit": 3,
    "error": [1],
    "model_usage": [],
    "invalidation": 1,
}


@pytest.mark.parametrize("key", ODD_PARTS)
def test_parts_of_a_strange_kind_stop_nothing(
    tmp_path: Path, grid: Entries, key: str
) -> None:
    entries = edited(grid, SAMPLE, **{key: ODD_PARTS[key]})
    taken = take(write_deflated(tmp_path / "a.eval", entries))
    assert len(taken.rows) + len(taken.dump.rejections) >= 9


@pytest.mark.parametrize("key", ["eval", "plan", "results", "stats", "tags"])
@pytest.mark.parametrize(
    "value", ["text", [1], 7, {"scores": 1, "config": 2, "model": [3]}]
)
def test_a_header_of_a_strange_kind_is_read_or_refused(
    tmp_path: Path, grid: Entries, key: str, value: Any
) -> None:
    path = write_deflated(
        tmp_path / "a.eval", edited(grid, "header.json", **{key: value})
    )
    try:
        taken = take(path, model="org/m", benchmark="b")
    except InputError as error:
        assert key == "eval" and "a.eval" in str(error)
    else:
        assert len(taken.rows) >= 9


def test_a_damaged_entry_is_rejected(tmp_path: Path, grid: Entries) -> None:
    packed = {name: (8, deflated(data), data) for name, data in grid.items()}
    cases = {
        "checksum": (8, deflated(b"x" * len(grid[SAMPLE])), grid[SAMPLE]),
        "more than": (8, deflated(grid[SAMPLE] * 2), grid[SAMPLE]),
        "unpacked": (93, b"no frame at all", grid[SAMPLE]),
        "holds 500 bytes": (93, zstd_frames(grid[SAMPLE][:500], 500), grid[SAMPLE]),
    }
    for message, case in cases.items():
        taken = take(write_packed(tmp_path / "a.eval", {**packed, SAMPLE: case}))
        ((place, found),) = rejected(taken)
        assert place == f"entry {SAMPLE}" and message in found


@pytest.mark.parametrize("name", ["header.json", "reductions.json"])
def test_a_damaged_document_refuses_the_source(
    tmp_path: Path, grid: Entries, name: str
) -> None:
    with pytest.raises(InputError, match=f"entry {name}"):
        take(write_deflated(tmp_path / "a.eval", {**grid, name: b'{"eval": '}))


def bomb(data: bytes, method: int) -> tuple[int, bytes, bytes]:
    pack = deflated if method == 8 else zstandard.ZstdCompressor(19).compress
    return method, pack(data), data


@pytest.mark.parametrize("method", [8, 93])
def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, grid: Entries, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "ALWAYS_FINE", 1 << 20)
    packed = {name: (8, deflated(data), data) for name, data in grid.items()}
    packed |= {
        f"samples/{n}_epoch_1.json": bomb(b" " * (40 << 20), method) for n in range(2)
    }
    with pytest.raises(InputError, match="unpack to"):
        take(write_packed(tmp_path / "a.eval", packed))


def test_an_entry_that_lies_about_its_size_is_not_unpacked_further(
    tmp_path: Path, grid: Entries
) -> None:
    packed = {name: (8, deflated(data), data) for name, data in grid.items()}
    packed[SAMPLE] = (
        93,
        zstandard.ZstdCompressor().compress(b" " * (64 << 20)),
        b" " * 10,
    )
    ((_, found),) = rejected(take(write_packed(tmp_path / "a.eval", packed)))
    assert "more than 10" in found


def test_an_entry_beyond_the_bound_is_refused(tmp_path: Path, grid: Entries) -> None:
    raw = write_packed(
        tmp_path / "a.eval", {name: (0, data, data) for name, data in grid.items()}
    ).read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = archive.getinfo(SAMPLE).file_size
    lying = raw.replace(size.to_bytes(4, "little"), (0xFFFFFF00).to_bytes(4, "little"))
    (tmp_path / "a.eval").write_bytes(lying)
    with pytest.raises(InputError, match="at most"):
        take(tmp_path / "a.eval")


def test_entries_that_share_bytes_are_refused(tmp_path: Path, grid: Entries) -> None:
    path = write_packed(tmp_path / "a.eval", {n: (0, d, d) for n, d in grid.items()})
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        first, second = archive.infolist()[:2]
    place = raw.rindex(second.filename.encode()) - 4  # its offset, in the directory
    raw[place : place + 4] = first.header_offset.to_bytes(4, "little")
    path.write_bytes(bytes(raw))
    with pytest.raises(InputError, match="shares bytes with"):
        take(path)


def test_encrypted_and_unknown_methods_are_refused(
    tmp_path: Path, grid: Entries
) -> None:
    packed = {name: (0, data, data) for name, data in grid.items()}
    path = write_packed(tmp_path / "a.eval", {**packed, SAMPLE: (98, b"x", b"x")})
    with pytest.raises(InputError, match="method 98"):
        take(path)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../up.json", "C:\\x.json", "samples/x"]
)
def test_other_entries_are_not_touched(
    tmp_path: Path, grid: Entries, name: str
) -> None:
    taken = take(write_deflated(tmp_path / "a.eval", {**grid, name: b"hello"}))
    assert taken.rows == take(FIXTURES / "grid.eval").rows
    assert [path.name for path in tmp_path.iterdir()] == ["a.eval"]


@pytest.mark.parametrize("number", ["../../up", ""])
def test_ids_that_look_like_paths_or_are_empty_are_ids(
    tmp_path: Path, grid: Entries, number: str
) -> None:
    entries = edited(grid, SAMPLE, id=number)
    entries[f"samples/{number}_epoch_1.json"] = entries.pop(SAMPLE)
    assert by_draw(take(write_deflated(tmp_path / "a.eval", entries)))[number, 0][
        "response"
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"no archive", "cannot be read"),
    ],
    ids=["nothing", "pointer", "text"],
)
def test_stand_ins_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.eval").write_bytes(data)
    with pytest.raises(InputError, match=message):
        take(tmp_path / "a.eval")


# --- chunked samples --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chunked() -> Entries:
    return entries_of(FIXTURES / "grid_chunked.eval")


FOLDER = "samples/last_epoch_1/"


def test_messages_of_several_chunks_and_texts_put_elsewhere(
    tmp_path: Path, chunked: Entries
) -> None:
    messages = json.loads(chunked[f"{FOLDER}messages/0.json"])
    messages[1]["content"] = "attachment://1"
    entries = {
        **chunked,
        f"{FOLDER}messages/0.json": json.dumps(messages[:1]).encode(),
        f"{FOLDER}messages/1.json": json.dumps(messages[1:]).encode(),
        f"{FOLDER}attachments/0.json": b'["zero"]',
        f"{FOLDER}attachments/1.json": b'["the long text"]',
    }
    row = by_draw(take(write_deflated(tmp_path / "a.eval", entries)))["last", 0]
    assert [item["content"] for item in json.loads(row["prompt_sent"])] == [
        messages[0]["content"],
        "the long text",
    ]


@pytest.mark.parametrize(
    "references",
    [[[0, 99]], [[2, 1]], [[-1, 1]], ["x"], [[0, 3]] * 400_000],
    ids=["beyond", "backward", "negative", "text", "very many"],
)
def test_references_to_messages_that_are_not_there(
    tmp_path: Path, chunked: Entries, references: Any
) -> None:
    entries = edited(chunked, f"{FOLDER}sample.json", message_refs=references)
    ((place, found),) = rejected(take(write_deflated(tmp_path / "a.eval", entries)))
    assert place == f"entry {FOLDER}sample.json" and "message_refs" in found


def test_attachments_that_multiply_are_bounded(
    tmp_path: Path, chunked: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_ENTRY_BYTES", 1 << 20)
    many = json.dumps([{"role": "user", "content": ["attachment://0"] * 5000}]).encode()
    entries = {
        **edited(chunked, f"{FOLDER}sample.json", message_refs=[[0, 1]]),
        f"{FOLDER}messages/0.json": many,
        f"{FOLDER}attachments/0.json": json.dumps(["x" * 10_000]).encode(),
    }
    ((_, found),) = rejected(take(write_deflated(tmp_path / "a.eval", entries)))
    assert "attachments add up" in found


def test_a_chunk_that_is_missing(tmp_path: Path, chunked: Entries) -> None:
    entries = dict(chunked)
    entries[f"{FOLDER}messages/1.json"] = entries.pop(f"{FOLDER}messages/0.json")
    ((_, found),) = rejected(take(write_deflated(tmp_path / "a.eval", entries)))
    assert "does not begin with item 0" in found
