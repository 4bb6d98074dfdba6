"""The way of scores through the code, followed call by call: short to the leaderboard,
and to the page.

A call is on the way if an argument or what it gives holds an array of the prompts'
scores. Counted are files, and returns to a file that the way has left. Each function
counts once, and stands for its file; the store, where the way begins, is left out, and
so is what the statistics do among themselves.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.stores import filled_store
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.report_data.report import read_report
from warehouse.analysis.report_data.section_table import SECTIONS
from warehouse.report.page import render
from warehouse.store.connection import Store

PACKAGE = Path(warehouse.__file__).parent
#: A length that no other array has.
PROMPTS = 37
DEEPEST = 5
#: What sections do that say nothing else.
BASE = "analysis/report_data/part.py"


@pytest.fixture(scope="module")
def quiz(request: pytest.FixtureRequest) -> Iterator[Store]:
    """Two models on one benchmark, two draws of each prompt."""
    rows, dice = StoreRows(), random.Random(1)
    rows.describe("quiz", rows.metric())
    for model in ("lab/a", "lab/b"):
        rows.scores(
            rows.run(model, "quiz"),
            {
                f"q{n}": [float(dice.random() < 0.6) for _ in "ab"]
                for n in range(PROMPTS)
            },
        )
    with filled_store(request, "duckdb", rows) as store:
        yield store


def holds_scores(value: Any, depth: int = DEEPEST) -> bool:
    """Whether an array of scores, or of what was made of them prompt by prompt, is
    somewhere in a value."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and PROMPTS in value.shape
    if isinstance(value, pa.Table):
        return (
            value.num_rows in (PROMPTS, 2 * PROMPTS)
            and pa.float64() in value.schema.types
        )
    if not depth or isinstance(value, type):
        return False
    if is_dataclass(value):
        return any(
            holds_scores(getattr(value, item.name, None), depth - 1)
            for item in fields(value)
        )
    parts = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list | tuple)
        else ()
    )
    return any(holds_scores(part, depth - 1) for part in parts)


def way_of_scores(ask: Callable[[], object]) -> list[str]:
    """Files in the order in which scores come to them, in a path from one to the next."""
    passed: dict[tuple[str, CodeType], None] = {}

    def follow(frame: FrameType, event: str, result: Any) -> None:
        if (
            event not in ("call", "return")
            or (place := _place(frame)) is None
            or (place, frame.f_code) in passed
        ):
            return
        names = frame.f_code.co_varnames[
            : frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
        ]
        values = (
            [frame.f_locals[name] for name in names] if event == "call" else [result]
        )
        if any(map(holds_scores, values)):
            passed[place, frame.f_code] = None

    sys.setprofile(follow)
    try:
        ask()
    finally:
        sys.setprofile(None)
    files = [place for place, _ in passed]
    return [
        file
        for file, before in zip(files, ["", *files], strict=False)
        if file != before
    ]


def _place(frame: FrameType) -> str | None:
    """The file of a function that counts."""
    file = _inside(frame.f_code.co_filename)
    if (
        file is None
        or file.startswith("store/")
        or frame.f_code.co_name.startswith("<")
        or _is_property(frame)
    ):
        return None
    caller = next(
        (
            place
            for one in _callers(frame)
            if (place := _inside(one.f_code.co_filename))
        ),
        "",
    )
    return None if file.startswith("stats/") and caller.startswith("stats/") else file


@cache
def _inside(filename: str) -> str | None:
    path = Path(filename)
    return (
        path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None
    )


def _callers(frame: FrameType) -> Iterator[FrameType]:
    while (above := frame.f_back) is not None:
        yield above
        frame = above


def _is_property(frame: FrameType) -> bool:
    """To read a field of a record is no hand-over."""
    owner = type(frame.f_locals.get("self"))
    return not isinstance(getattr(owner, frame.f_code.co_name, len), Callable)  # type: ignore[arg-type]


def assert_short(way: list[str], most_files: int, most_returns: int) -> None:
    n_files = len(set(way))
    assert (n_files <= most_files, len(way) - n_files <= most_returns) == (
        True,
        True,
    ), "\n".join(way)


def test_from_the_store_to_the_leaderboard(quiz: Store) -> None:
    way = way_of_scores(lambda: leaderboard(quiz, "quiz", n_resamples=99))
    assert {
        "analysis/selection/scores.py",
        "analysis/leaderboard/row.py",
        "stats/multiple/all_pairs.py",
    } <= {*way}
    assert_short(way, 10, 10)


def test_from_the_store_to_the_page(quiz: Store) -> None:
    way = way_of_scores(lambda: render(read_report(quiz, n_resamples=99)))
    assert {"analysis/pairs/answer.py", "analysis/variance/row.py"} <= {*way}
    # sections are asked one after the other, first what they read, then what they make
    # of it; none asks another
    sections = [file for file in way if file.endswith("section.py") or file == BASE]
    assert (
        len(set(sections)) <= len(SECTIONS) + 1 and max(Counter(sections).values()) <= 2
    )
    others = [file for file in way if file not in sections]
    onward = [
        file
        for file, before in zip(others, ["", *others], strict=False)
        if file != before
    ]
    assert_short(
        onward, 21, 17
    )  # one of them for the flags of differences, which the page shows
