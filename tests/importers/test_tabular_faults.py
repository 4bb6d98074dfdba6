"""Bad rows are rejected with their place; the good ones beside them are taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.tabular import Taken, read_toml, scores
from warehouse.errors import InputError
from warehouse.importers.tabular import delimited

RUN = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
[sample]
prompt_id = "id"
"""
MAPPING = RUN + '[[scores]]\nmetric = "acc"\nvalue = "score"\n'


def take(
    folder: Path, name: str, content: bytes | str, mapping: str = MAPPING
) -> Taken:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return read_toml(folder, mapping)


def places(taken: Taken) -> list[str]:
    return [rejection.place for rejection in taken.rejections]


def lines(bad: bytes, at: int, count: int) -> bytes:
    rows = [b'{"id": %d, "score": 1}' % number for number in range(1, count + 1)]
    rows[at - 1] = bad
    return b"\n".join(rows) + b"\n"


@pytest.mark.parametrize(
    "bad",
    [
        b'{"id": 1, "score": ',
        b'{"id": "\xff", "score": 1}',
        b'{"id": "\\ud800", "score": 1}',
        b'{"id": 1, "score": 99999999999999999999}',
        b"[1, 2]",
        b"null",
        b'{"id": 1, "score": 1}{"id": 2, "score": 1}',
        b'{"id": 1, "score": 1}, {"id": 2, "score": 1}',
    ],
)
def test_bad_line_of_json(tmp_path: Path, bad: bytes) -> None:
    taken = take(tmp_path, "r.jsonl", lines(bad, 4712, 5000))
    assert places(taken) == ["r.jsonl line 4712"]
    assert len(taken.rows) == 4999


def test_blank_lines_count_but_do_not_matter(tmp_path: Path) -> None:
    taken = take(tmp_path, "r.jsonl", b'\n{"id": 1, "score": 1}\n  \n\nx\n')
    assert (len(taken.rows), places(taken)) == (1, ["r.jsonl line 5"])


def test_rows_of_the_wrong_length(tmp_path: Path) -> None:
    taken = take(tmp_path, "r.csv", "id,score\na,1\nb\nc,1,2\nd,0\n")
    assert scores(taken.rows) == [1, 0]
    assert places(taken) == ["r.csv row 3", "r.csv row 4"]
    assert taken.rejections[0].expected == "2 columns"


def test_cell_that_is_not_utf8(tmp_path: Path) -> None:
    taken = take(tmp_path, "r.csv", b"id,score\na,1\nb\xff,1\nc\nd,0\ne,7\n")
    assert [row["prompt_id"] for row in taken.rows] == ["a", "d", "e"]
    assert sorted(places(taken)) == ["r.csv row 3, column 'id'", "r.csv row 4"]


def test_rows_of_the_wrong_length_that_are_not_utf8(tmp_path: Path) -> None:
    taken = take(tmp_path, "r.csv", b"id,score\n\xff\nb,1\n")
    assert (len(taken.rows), places(taken)) == (1, ["r.csv row 2"])


def test_characters_across_the_borders_of_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ["é", "日本", "😀", "a", "ÿ😀é"] * 4
    table = "id,score\n" + "".join(f"{name},1\n" for name in ids)
    for size in range(14, 30):
        monkeypatch.setattr(delimited, "MAX_ROW_BYTES", size)
        found = take(tmp_path, "r.csv", table)
        assert [row["prompt_id"] for row in found.rows] == ids
        cut = take(
            tmp_path, "r.csv", table.encode()[:-5]
        )  # in the middle of the last é
        assert len(cut.rows) == 19 and "row 21" in places(cut)[0]


@pytest.mark.parametrize("at", [0, 13, 29])
@pytest.mark.rare
def test_row_that_is_longer_than_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    rows = [b"q%d,%d" % (number, number % 2) for number in range(30)]
    rows[4], rows[6], rows[20], rows[22] = b"bad", b"\xff,1", b"bad", b"\xff,1"
    rows.insert(at, b'"' + b"long\n" * 40 + b'",1')
    table = b"\n".join([b"id,score", *rows, b""])
    whole = take(tmp_path, "r.csv", table)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    in_blocks = take(tmp_path, "r.csv", table)
    assert len(whole.rows) == 27 and len(places(whole)) == 4
    assert (in_blocks.rows, sorted(places(in_blocks))) == (
        whole.rows,
        sorted(places(whole)),
    )
    monkeypatch.setattr(delimited, "MAX_ROW_BYTES", 64)
    with pytest.raises(InputError, match="a row of more than 64 bytes"):
        take(tmp_path, "r.csv", table)


def test_row_numbers_after_rejected_rows(tmp_path: Path) -> None:
    taken = take(tmp_path, "r.csv", "id,score\na\nb\nc,1\nd,99999999999999999999\n")
    assert places(taken) == ["r.csv row 2", "r.csv row 3", "r.csv row 5"]


@pytest.mark.parametrize("number", ["99999999999999999999", "9223372036854775808"])
def test_integers_beyond_64_bits(tmp_path: Path, number: str) -> None:
    taken = take(tmp_path, "r.csv", f"id,score\na,1\nb,{number}\nc,1e30\n")
    assert scores(taken.rows) == [1, 1e30]
    assert places(taken) == ["r.csv row 3"]
    assert "64 bits" in taken.rejections[0].expected
    with pytest.raises(InputError, match="64 bits"):
        (tmp_path / "r.csv").unlink()
        take(tmp_path, "r.json", f'[{{"id": 1, "score": {number}00}}]')


def test_value_that_does_not_fit_its_field(tmp_path: Path) -> None:
    mapping = (
        RUN
        + 'draw = "draw"\ninput_tokens = "n"\n[[scores]]\nmetric = "acc"\nvalue = "score"\n'
    )
    table = "id,draw,n,score\na,0,5,1\nb,x,5,1\nc,0,5.5,1\nd,3000000000,5,1\ne,1,,1\n"
    taken = take(tmp_path, "r.csv", table, mapping)
    assert [row["prompt_id"] for row in taken.rows] == ["a", "e"]
    found = {rejection.place: rejection.expected for rejection in taken.rejections}
    assert found == {
        "r.csv row 3": "[sample] draw: a number",
        "r.csv row 4": "[sample] input_tokens: a whole number",
        "r.csv row 5": "[sample] draw: an integer of at most 32 bits",
    }


def test_rows_without_a_model(tmp_path: Path) -> None:
    mapping = MAPPING.replace('{ const = "m" }', '"model"')
    taken = take(tmp_path, "r.csv", "id,model,score\na,x,1\nb,,1\n", mapping)
    assert len(taken.rows) == 1
    assert taken.rejections[0].found == "no model"
    assert "--default model=" in taken.rejections[0].expected


def test_rows_without_a_key(tmp_path: Path) -> None:
    mapping = 'key = ["text"]\n' + MAPPING.replace("prompt_id", "text")
    taken = take(tmp_path, "r.csv", "id,score\na,1\n,0\n", mapping)
    assert places(taken) == ["r.csv row 3"]


def test_place_in_a_document(tmp_path: Path) -> None:
    stored = {
        "sets": {
            "x": [
                {"id": "a", "tries": [{"ok": 1}]},
                {"id": "b", "tries": [{"ok": 1}, {"ok": 2**63 + 1}]},
            ]
        }
    }
    mapping = RUN + '[rows]\nat = "sets{}[]"\ndraws = "tries[]"\n'
    mapping += '[[scores]]\nmetric = "acc"\nvalue = "tries[].ok"\n'
    taken = take(tmp_path, "r.json", json.dumps(stored), mapping)
    assert places(taken) == ["r.json sets['x'][1].tries[1]"]
    assert len(taken.rows) == 2
    taken = take(
        tmp_path, "r.jsonl", "\n" + json.dumps(stored), 'files = "*.jsonl"\n' + mapping
    )
    assert places(taken) == ["r.jsonl line 2, sets['x'][1].tries[1]"]


def test_unclosed_quote_is_not_silent(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"r\.csv, row 3: a double quote.*quoting = false"
    ):
        take(tmp_path, "r.csv", 'id,score\na,1\n"b,1\nc,1\nd,1\n')
    mapping = "[table]\nquoting = false\n" + MAPPING
    taken = take(tmp_path, "r.csv", 'id,score\na,1\n"b,1\nc,1\n', mapping)
    assert [row["prompt_id"] for row in taken.rows] == ["a", '"b', "c"]


def test_two_stray_quotes_between_tabs_are_not_silent(tmp_path: Path) -> None:
    table = 'id\ttext\tscore\na\t"x\t1\nb\ty"z\t1\nc\tw\t1\n'
    mapping = MAPPING.replace("[[scores]]", 'text = "text"\n[[scores]]')
    with pytest.raises(InputError, match=r"row 2: a double quote.*quoting = false"):
        take(tmp_path, "r.tsv", table, mapping)
    taken = take(tmp_path, "r.tsv", table, "[table]\nquoting = false\n" + mapping)
    assert [row["text"] for row in taken.rows] == ['"x', 'y"z', "w"]


@pytest.mark.parametrize("name", ["r.csv", "r.json", "r.jsonl"])
def test_empty_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="an empty file"):
        take(tmp_path, name, b"")


def test_table_without_rows(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="expected rows with scores; there are no rows"
    ):
        take(tmp_path, "r.csv", "id,score\n")


def test_odd_headers(tmp_path: Path) -> None:
    table = b'\xef\xbb\xbfid,,score,score\r\n"a, b",x,1,2\r\n'
    mapping = RUN + 'text = "column_2"\n[[scores]]\nmetric = "acc"\nvalue = "score_4"\n'
    (row,) = take(tmp_path, "r.csv", table, mapping).rows
    assert (row["prompt_id"], row["text"], *scores([row])) == ("a, b", "x", 2)


def test_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'does not tell its format.*format = "…"'):
        take(tmp_path, "r.dat", "id,score\na,1\n", 'files = "*.dat"\n' + MAPPING)
    mapping = 'files = "*.dat"\nformat = "csv"\n' + MAPPING
    assert scores(take(tmp_path, "r.dat", "id,score\na,1\n", mapping).rows) == [1]


def test_json_that_is_no_json(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"r\.json: not a JSON document.*jsonl"):
        take(tmp_path, "r.json", b"[{]")
    with pytest.raises(InputError, match="not a JSON document"):
        take(tmp_path, "r.json", b'["\xff"]')


def test_parquet_that_is_no_parquet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"r\.parquet: cannot be read as Parquet"):
        take(tmp_path, "r.parquet", b"PAR1 nothing PAR1")


def test_ids_with_anything_in_them(tmp_path: Path) -> None:
    ids = ["a/b", "'; drop table x; --", 'say "hi"', "new\nline", "{x}"]
    content = "\n".join(json.dumps({"id": name, "score": 1}) for name in ids)
    taken = take(tmp_path, "r.jsonl", content)
    assert [row["prompt_id"] for row in taken.rows] == ids


def test_a_weight_below_0_is_none(tmp_path: Path) -> None:
    """Taken for unscored, its prompt was missing from the mean without a word."""
    taken = take(
        tmp_path,
        "r.csv",
        "id,score,words\na,1,3\nb,0,-1\nc,0,0\nd,0,\n",
        MAPPING + 'weight = "words"\n',
    )
    assert places(taken) == ["r.csv row 3"]
    assert (
        "-1" in taken.rejections[0].found
        and "weight of at least 0" in taken.rejections[0].expected
    )
    assert [score["weight"] for row in taken.rows for score in row["scores"]] == [
        3,
        0,
        None,
    ]
