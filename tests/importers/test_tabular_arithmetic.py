"""The mapping language where a value is computed of several, is one of alternatives, or
is a number that means that there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.tabular import read_toml, scores
from warehouse.errors import MappingError

HEAD = """
[run]
model = { const = "m" }
benchmark = { const = "b" }

[sample]
prompt_id = "id"

[[scores]]
metric = "score"
"""


def of_records(folder: Path, records: list[Any], value: str, before: str = "") -> Any:
    lines = "\n".join(json.dumps({"id": n, **r}) for n, r in enumerate(records))
    (folder / "r.jsonl").write_text(lines)
    return read_toml(folder, f"{before}\n{HEAD}value = {value}\n")


def test_points_earned_by_those_possible(tmp_path: Path) -> None:
    rows = [
        {"got": 1, "of": 3},
        {"got": "2", "of": "4"},
        {"got": None, "of": 3},
        {"got": 0, "of": 0},
        {"got": 1, "of": 0},
        {"got": "none", "of": 2},
    ]
    taken = of_records(tmp_path, rows, '{ quotient = ["got", "of"] }')
    assert scores(taken.rows) == [1 / 3, 0.5, None, None]
    assert [(item.place, item.found) for item in taken.rejections] == [
        ("r.jsonl line 5", "1 / 0"),
        ("r.jsonl line 6", "'none'"),
    ]
    assert {row["scores"][0]["origin"] for row in taken.rows} == {"mapped", None}


def test_numbers_are_added_and_taken_away(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"a": 1, "b": 2, "parts": [1, 0, 1]},
        {"a": 0.5, "b": None, "parts": []},
        {"a": 4, "b": 6, "parts": [2, None]},
    ]
    (tmp_path / "more").mkdir()
    for value, expected in (
        ('{ sum = ["a", "b"] }', [3, None, 10]),
        ('{ difference = ["b", "a"] }', [1, None, 2]),
        ('{ sum = "parts" }', [2, None, None]),
        ('{ length = "parts" }', [3, 0, 2]),
        ('{ quotient = [{ sum = ["a", "b"] }, { const = 2 }] }', [1.5, None, 5]),
        ('{ difference = ["b", "a"], scale = 10, default = -1 }', [10, -1, 20]),
    ):
        taken = of_records(tmp_path, rows, value)
        assert scores(taken.rows) == expected, value
        assert not taken.rejections


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('{ quotient = ["a"] }', "expected a list of two, found 1"),
        ('{ difference = ["a", "a", "a"] }', "expected a list of two, found 3"),
        ("{ sum = [] }", "expected a list of expressions"),
        ('{ quotient = ["a", "b"] }', "'b': no such key"),
    ],
)
def test_what_cannot_be_computed_is_a_mistake(
    tmp_path: Path, value: str, said: str
) -> None:
    with pytest.raises(MappingError, match=said):
        of_records(tmp_path, [{"a": 1}], value)


def test_of_alternatives_one_has_to_be_there(tmp_path: Path) -> None:
    value = '{ first = ["score", "reward", { quotient = ["got", "of"] }] }'
    for record in ({"score": 1}, {"reward": 1}, {"got": 2, "of": 2}):
        assert scores(of_records(tmp_path, [record], value).rows) == [1]
    with pytest.raises(MappingError) as caught:
        of_records(tmp_path, [{"got": 1, "points": 1}], value)
    assert (
        "none of 'score', 'reward', 'of' is in 'r.jsonl'; expected one of these "
        "alternatives; there are: id, got, points"
    ) in str(caught.value)


def test_a_constant_is_no_alternative_to_a_name_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="'scoer': no such key"):
        of_records(tmp_path, [{"score": 1}], '{ first = ["scoer", { const = 0 }] }')


def test_alternatives_are_columns_of_tables_too(tmp_path: Path) -> None:
    value = 'value = { first = ["score", "reward"] }'
    (tmp_path / "a.csv").write_text("id,score\n1,0.25\n")
    (tmp_path / "b.csv").write_text("id,reward\n1,0.75\n")
    taken = read_toml(tmp_path, f"{HEAD}{value}\n")
    assert scores(taken.rows) == [0.25, 0.75]


def test_a_number_can_mean_that_there_is_none(tmp_path: Path) -> None:
    rows = [{"s": -1}, {"s": -1.0}, {"s": "-1"}, {"s": "-1.0"}, {"s": 1}, {"s": "-"}]
    for nulls, expected in (
        ('[-1, "-"]', [None, None, None, None, 1, None]),
        ('["-1", "-"]', [None, None, None, -1, 1, None]),
        ("-1", [None, None, None, None, 1, None]),
    ):
        taken = of_records(tmp_path, rows, f'{{ path = "s", null = {nulls} }}')
        assert scores(taken.rows) == expected
        taken = of_records(tmp_path, rows, '"s"', before=f"null = {nulls}")
        assert scores(taken.rows) == expected


def test_truth_is_no_number_that_means_null(tmp_path: Path) -> None:
    rows = [{"s": False}, {"s": True}, {"s": 0}]
    taken = of_records(tmp_path, rows, '{ path = "s", null = [0] }')
    assert scores(taken.rows) == [0, 1, None]


def test_ids_stay_apart_from_numbers_given_as_text(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,s\n01,0.5\n1,0\n")
    taken = read_toml(tmp_path, f'null = ["1"]\n{HEAD}value = "s"\n')
    assert [row["prompt_id"] for row in taken.rows] == ["01"]


def test_columns_of_numbers_lose_what_means_null(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame({"id": [1, 2, 3], "s": [-1, 0, 1]}).to_parquet(tmp_path / "r.parquet")
    taken = read_toml(tmp_path, f'null = [-1]\n{HEAD}value = "s"\n')
    assert scores(taken.rows) == [None, 0, 1]
