"""When an answer equals its target: signs, points and fraction bars of numbers count."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.tabular import read_toml, scores
from warehouse.errors import MappingError
from warehouse.importers.tabular.expressions import Equality
from warehouse.records.answer_text import normalised

MAPPING = """
[run]
model = {{ const = "m" }}
benchmark = {{ const = "b" }}
[sample]
prompt_id = "id"
[[scores]]
metric = "exact_match"
value = {{ equals = ["answer", "target"], {keys} }}
"""


@pytest.mark.parametrize(
    ("first", "second", "words", "numbers"),
    [
        ("1.5", "15", False, False),
        ("-5", "5", False, False),
        ("\u22125", "-5", True, True),
        ("1/2", "12", False, False),
        ("1,234", "1234", True, True),
        ("18.0", "18", False, True),
        ("1/2", "0.5", False, True),
        ("-1/2", "-.5", False, True),
        ("+5", "5", True, True),
        ("$18", "18", True, True),
        ("-$5", "5", False, False),
        ("1e3", "1000", False, True),
        ("1,2", "12", False, False),
        ("10:30", "1030", False, False),
        (".5", "5", False, False),
        ("5.", "5", True, True),
        ("The  cat.", "the cat", True, False),
        ("1/0", "1/0", True, True),
        ("2020-01-02", "20200102", False, False),
        ("and/or", "andor", True, False),
        ("0.1", "0.10000000000000001", False, True),
        ("1,23", "123", False, False),
        ("x=-5", "x = -5", True, False),
        ("x=-5", "x=5", False, False),
        ("-.5", "-0.5", False, True),
        ("5!.0", "5.0", False, False),
    ],
)
def test_what_is_equal(first: str, second: str, words: bool, numbers: bool) -> None:
    for one, two in ((first, second), (second, first)):
        assert Equality(normalise=True).same(one, two) is words
        assert Equality(numeric=True).same(one, two) is numbers


def test_the_tolerance_is_relative_above_one() -> None:
    loose = Equality(numeric=True, tolerance=1e-3)
    assert loose.same("0.333", "1/3") and loose.same("1000.9", "1000")
    assert not loose.same("1001.1", "1000") and not loose.same("0.332", "1/3")


@given(st.text(max_size=30) | st.text("a1.-/,!$_ \x08", max_size=12))
@example("A\x08.0")
def test_normalised_once_is_normalised(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(st.integers(), st.integers())
def test_integers_are_equal_as_numbers_if_they_are(first: int, second: int) -> None:
    exact = Equality(numeric=True, tolerance=0)
    assert exact.same(f"{first:,}", str(second)) is (first == second)


def test_numeric_in_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "id,answer,target\n"
        "1,18.0,18\n"
        '2,"1,234",1234\n'
        "3,1/2,0.5\n"
        "4,-5,5\n"
        "5,Paris,paris\n"
        "6,,1\n"
    )
    assert scores(read_toml(tmp_path, MAPPING.format(keys="numeric = true")).rows) == [
        1,
        1,
        1,
        0,
        0,
        None,
    ]
    both = MAPPING.format(keys="numeric = true, normalise = true")
    assert scores(read_toml(tmp_path, both).rows)[4] == 1
    near = MAPPING.format(keys="numeric = true, tolerance = 3")
    assert scores(read_toml(tmp_path, near).rows)[3] == 1


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("tolerance = 0.1", "numeric = true"),
        ("numeric = true, tolerance = -1", "0 or more"),
    ],
)
def test_a_tolerance_that_means_nothing(tmp_path: Path, keys: str, words: str) -> None:
    (tmp_path / "r.csv").write_text("id,answer,target\n1,1,1\n")
    with pytest.raises(MappingError, match=words):
        read_toml(tmp_path, MAPPING.format(keys=keys))
