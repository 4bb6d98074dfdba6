"""What several importers share: rows of a file, packed files, folders, arguments and
figures as texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from warehouse.errors import MisuseError
from warehouse.importers.common.file_walk import walk
from warehouse.importers.common.header_values import (
    against_direction,
    parse_values,
    with_direction,
)
from warehouse.importers.common.json_fields import published_figure
from warehouse.importers.common.jsonl import SMALL_FILE, RowSource
from warehouse.importers.common.messages import listed
from warehouse.importers.common.model_names import parse_arguments
from warehouse.importers.common.streams import PackedReader
from warehouse.records import MetricSpec, RunHeader


def test_the_row_with_the_most_requests_is_looked_for_in_small_files(
    tmp_path: Path,
) -> None:
    """It may stand behind the rows that a first look takes."""
    rows = [
        {
            "doc_id": n,
            "arguments": {f"gen_args_{place}": {} for place in range(1 + n // 40)},
        }
        for n in range(50)
    ]
    text = "\n".join(map(json.dumps, rows))
    small, packed, large = (
        tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl")
    )
    small.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    large.write_text(text + "\n" * SMALL_FILE)
    assert [RowSource(small, "a").has_requests(count) for count in (1, 2, 3)] == [
        True,
        True,
        False,
    ]
    assert (
        RowSource(packed, "b").has_requests(2)
        is None
        is RowSource(large, "c").has_requests(2)
    )


def test_rows_that_hold_nothing_but_their_keys_are_in_the_sample(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(json.dumps({"doc_id": f"{n:01000}"}) + "\n" for n in range(3000))
    )
    sample = [int(row["doc_id"]) for row in RowSource(path, path.name).sample()]
    assert sample[:24] == list(range(24)) and len(sample) > 50 and max(sample) > 2800


def test_lines_of_a_packed_file_come_in_one_list_or_in_parts(tmp_path: Path) -> None:
    path, lines = tmp_path / "a.gz", [b"one\n", b"two\n", b"three\n", b"four"]
    path.write_bytes(gzip.compress(b"".join(lines)))
    for size in (-1, 0, None):
        with PackedReader(path) as handle:
            assert handle.readlines(size) == lines
    with PackedReader(path) as handle:
        assert (handle.readlines(5), handle.readlines(5), handle.readlines(5)) == (
            lines[:2],
            lines[2:3],
            lines[3:],
        )


def test_hidden_folders_are_not_entered(tmp_path: Path) -> None:
    for name in ("a/b.json", ".git/c.json", "a/.cache/d.json", "a/.e.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert list(walk(tmp_path)) == [tmp_path / "a" / "b.json"]


def test_arguments_are_typed_as_the_harness_types_them() -> None:
    text = "a=True,b=false,c=None,d=3,e=0.5,f='7',g=x"
    expected = {"a": True, "b": False, "c": None, "d": 3, "e": 0.5, "f": "7", "g": "x"}
    assert parse_arguments(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("Yes", True), ("1", True), ("no", False), ("0", False)],
)
def test_whether_a_checkpoint_is_the_last_is_said_in_words(
    text: str, value: bool
) -> None:
    assert parse_values([f"is_final={text}"]) == {"is_final": value}
    with pytest.raises(MisuseError, match="expected true or false"):
        parse_values(["is_final=maybe"])


@pytest.mark.parametrize(
    ("stated", "value", "raw"), [(0.5, 0.5, None), (0, 0, None), ("n/a", None, "n/a")]
)
def test_a_published_figure_that_is_no_number_keeps_its_text(
    stated: object, value: object, raw: object
) -> None:
    found = published_figure("acc", stated, n=3)
    assert (found.metric, found.value, found.raw, found.n) == ("acc", value, raw, 3)


def test_the_dump_is_believed_about_what_is_better_and_this_is_said() -> None:
    metrics = tuple(
        MetricSpec(name, higher_is_better=better)
        for name, better in (("acc", True), ("loss", False))
    )
    header = RunHeader("h", "m", "b", metrics=(*metrics, MetricSpec("other")))
    assert [
        metric.higher_is_better for metric in with_direction(header, False).metrics
    ] == [True, False, False]
    assert with_direction(header, None) == header
    assert against_direction([header], None) == []
    (up,), (down,) = (against_direction([header], better) for better in (True, False))
    assert "a lower loss is better" in up and "a higher acc is better" in down


def test_only_names_that_are_left_out_are_counted() -> None:
    assert (
        listed("abc", 3) == "a, b, c" and listed("abcd", 3) == "a, b, c, … (4 in all)"
    )
