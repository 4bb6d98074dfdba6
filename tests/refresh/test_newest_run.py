"""A series is watched: the newest run of a condition is held against the runs before
it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.refresh.test_refresh import current
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.api import Warehouse, connect
from warehouse.refresh.alerts import Alerts, Rules, check
from warehouse.refresh.run import refresh
from warehouse.store.open import open_store

NOW = datetime(2026, 6, 1)


@pytest.fixture
def house(store_url: str) -> Warehouse:
    """An empty store of this test alone."""
    with open_store(store_url, create=True):
        pass  # made
    return connect(store_url)


def night(
    folder: Path, number: int, scores: Sequence[float], *, metric: str = "acc"
) -> Path:
    """A table with the scores of one night."""
    path = folder / f"n{number:02}.csv"
    lines = ["model,benchmark,prompt_id,started_at," + metric]
    lines += [
        f"fox,quiz,q{i},2026-05-{number:02}T02:00:00,{score}"
        for i, score in enumerate(scores)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def draws(number: int, n: int = 60, share: float = 0.7) -> list[float]:
    dice = random.Random(number)
    return [float(dice.random() < share) for _ in range(n)]


def look(house: Warehouse, **rules: Any) -> Alerts:
    found = refresh(house._opener)
    with house._reading() as store:
        return check(store, Rules(**rules), found.refresh_id, NOW)


def load(house: Warehouse, path: Path, *, higher_is_better: bool | None = True) -> None:
    report = house.ingest(path, higher_is_better=higher_is_better)
    assert [source.state for source in report.sources] == ["loaded"], report


@pytest.mark.rare
def test_nights_alike_then_a_collapse(house: Warehouse, tmp_path: Path) -> None:
    for number in range(1, 6):
        load(house, night(tmp_path, number, draws(number)))
        assert look(house).rows == ()
    load(house, night(tmp_path, 6, [0.0] * 60))
    found = look(house)
    (row,) = found.rows  # the score moved as well: one fact, one alert
    assert row.rule == "worse" and row.p_value is not None and row.p_value < 1e-15
    assert (
        "acc is 0 in run 6, the newest" in row.message
        and "the 5 runs of it before" in row.message
    )
    (stored,) = current(house, "newest_run")
    assert (
        stored["estimate"] == row.change and stored["method"] == "unequal_coins_exact"
    )
    assert look(house).rows == ()  # told once
    load(house, night(tmp_path, 7, draws(7)))
    assert "worse" not in [row.rule for row in look(house).rows]  # it recovers


def test_all_nights_at_once_and_in_any_order(house: Warehouse, tmp_path: Path) -> None:
    """Where runs say when they began, the newest is that which began last, whatever was
    loaded last."""
    paths = [night(tmp_path, number, draws(number)) for number in range(1, 5)]
    load(house, night(tmp_path, 5, [0.0] * 60))
    for path in paths:
        load(house, path)
    (row,) = look(house).rows
    assert row.rule == "worse" and "is 0 in run 1, the newest" in row.message


#: Share of the second night, and by the rules which are asked the one that is told.
RULES: list[tuple[float, list[tuple[dict[str, bool], list[str]]]]] = [
    (1.0, [({}, ["moved"]), ({"moved": False}, [])]),
    (
        0.0,
        [
            ({"moved": False}, ["worse"]),
            ({"worse": False}, ["moved"]),
            ({"worse": False, "moved": False}, []),
        ],
    ),
]


@pytest.mark.parametrize(("share", "asked"), RULES)
def test_which_rule_it_is(
    house: Warehouse,
    tmp_path: Path,
    share: float,
    asked: list[tuple[dict[str, bool], list[str]]],
) -> None:
    load(house, night(tmp_path, 1, draws(1, share=0.4)))
    load(house, night(tmp_path, 2, draws(2, share=share)))
    found = refresh(house._opener)
    with house._reading() as store:
        for rules, told in asked:
            alerts = check(store, Rules(**rules), found.refresh_id, NOW)
            assert [row.rule for row in alerts.rows] == told, rules


@pytest.mark.rare
def test_without_a_direction_a_fall_has_moved(house: Warehouse, tmp_path: Path) -> None:
    rows = [[3 * value for value in draws(number)] for number in (1, 2, 3)]
    for number, scores in enumerate([*rows, [0.5] * 60], start=1):
        load(
            house,
            night(tmp_path, number, scores, metric="score"),
            higher_is_better=None,
        )
    (row,) = look(house).rows
    assert row.rule == "moved" and row.p_value is not None and row.p_value < 1e-6


def test_what_did_not_change_is_not_told_again(
    house: Warehouse, tmp_path: Path
) -> None:
    load(house, night(tmp_path, 1, draws(1)))
    load(house, night(tmp_path, 2, [0.0] * 60))
    assert len(look(house).rows) == 1
    found = refresh(house._opener)
    other = tmp_path / "other.csv"
    other.write_text(
        "model,benchmark,prompt_id,acc\nowl,quiz,q1,1\nowl,quiz,q2,0\n",
        encoding="utf-8",
    )
    load(house, other)
    assert [row.rule for row in look(house).rows] == []
    assert found.total("recomputed") == 0


def stated(house: Warehouse, *figures: tuple[float, float | None]) -> None:
    """One figure without samples, stated anew again and again."""
    rows = StoreRows()
    metric = rows.metric()
    rows.describe("quiz", metric)
    last = len(figures)
    for number, (value, error) in enumerate(figures, start=1):
        later = None if number == last else last
        run = rows.run(
            "fox",
            started_at=datetime(2026, 5, number),
            repeat=number,
            superseded_by=later,
        )
        rows.published(run, value, metric, standard_error=error)
    with house._writing() as store:
        rows.write(store)


@pytest.mark.parametrize("error", [0.028, None])
def test_a_figure_that_is_stated_anew(house: Warehouse, error: float | None) -> None:
    stated(house, (0.4, 0.035), (0.8, error))
    found = look(house)
    (board,) = house.leaderboard("quiz").rows
    assert (board.estimate, board.standard_error, board.runs) == (0.8, error, 1)
    if error is None:  # how far the figures lie from what they measure is not known
        assert found.rows == ()
        return
    (row,) = found.rows
    assert (
        row.rule == "moved"
        and row.message == "acc is stated as 0.8, and was stated as 0.4 before"
    )


def test_the_command_ends_with_1(run: Caller, store_url: str, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        path = night(tmp_path, number, draws(number) if number < 3 else [0.0] * 60)
        assert run("ingest", str(path), "--higher-is-better", db=store_url).code == 0
        done = run("refresh", "--alerts", db=store_url)
        assert done.code == (1 if number == 3 else 0), done.err
    shown = run("history", "fox", "quiz", "--statistic", "newest_run", db=store_url)
    assert shown.code == 0 and "newest_run" in shown.out
