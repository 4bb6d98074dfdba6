"""Thousands of runs in one source: what is done once for all of them, and rows in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa

from warehouse.records import Dump
from warehouse.store.load import bulk_insert, dimensions, loader
from warehouse.store.load.parts import SourcePart
from warehouse.store.load.state import LoadOptions, SourceClaim, _Load
from warehouse.store.schema import tables
from warehouse.store.schema.migrate import check


@contextmanager
def statements(kit: Any) -> Iterator[list[str]]:
    """What is asked of the store's connection meanwhile (bulk loads apart)."""
    asked: list[str] = []

    def listen(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        asked.append(statement)

    sa.event.listen(kit.store.engine, "before_cursor_execute", listen)
    try:
        yield asked
    finally:
        sa.event.remove(kit.store.engine, "before_cursor_execute", listen)


def many(
    kit: Any, name: str, count: int, scores: dict[str, float]
) -> tuple[list[Any], list[Any]]:
    headers = [kit.header("1", model=f"{name}/{run}") for run in range(count)]
    return headers, [row for run in range(count) for row in kit.rows(scores, run=run)]


def test_statements_do_not_grow_with_runs(kit: Any) -> None:
    """Neither for new runs nor for runs that supersede stored ones."""
    kit.load(*many(kit, "first", 1, {"a": 1.0, "b": 0.0}))
    asked = []
    for count in (3, 30):
        for scores in ({"a": 1.0}, {"a": 1.0, "b": 0.0}):
            with statements(kit) as found:
                report = kit.load(*many(kit, f"org{count}", count, scores))
            assert report.n_runs == count
            asked.append(len(found))
    assert report.n_superseded == 30
    few, many_more = asked[:2], asked[2:]
    reserving_ids = 3
    assert all(
        more <= less + reserving_ids for less, more in zip(few, many_more, strict=True)
    )
    assert check(kit.store).ok


@pytest.mark.parametrize("limit", [0, 200])
def test_dimensions_are_found_by_their_keys_or_among_all(
    kit: Any, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dimensions, "MANY", limit)
    headers = [
        kit.header(
            None,
            model=model,
            training_seed=seed,
            step=step,
            suite=("suite",),
            agent=agent,
        )
        for model in ("org/a", "org/b")
        for seed in ("1", "2")
        for step in (1, 2)
        for agent in (None, "x")
    ]
    for value in (
        0.0,
        1.0,
    ):  # new to the store, then known to it but not to the session
        kit.loader.dimensions.forget()
        data = [kit.row("a", value, run=run) for run in range(len(headers))]
        assert kit.load(headers, data).n_runs == 16
        assert kit.counts("model", "training_seed", "checkpoint", "agent") == (
            2,
            4,
            8,
            2,
        )
    assert kit.counts("run_group", "benchmark") == (2, 2)
    assert check(kit.store).ok


def test_runs_without_an_id_of_the_tool_have_no_key_in_common(kit: Any) -> None:
    """Else loads of them would wait for each other."""

    def keys(number: int, run_id: str | None, model: str = "") -> set[str]:
        header = kit.header(run_id, model=model or f"org/{number}")
        part = SourcePart(Dump((header,), ()), SourceClaim(number, "", ""), range(1))
        state = _Load(part.dump, [part], LoadOptions())
        return set(loader._keys(state))

    assert len(keys(1, None)) == 2 and len(keys(1, "x")) == 3
    assert not keys(1, None) & keys(2, None)
    assert keys(1, "x") & keys(2, None, "org/1")  # one condition: a repeat


# --- rows made in Python -----------------------------------------------------------------------


def test_rows_arrive_as_they_are(kit: Any) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, 678)
    given = [
        {
            "id": 2**40,
            "started_at": when,
            "finished_at": None,
            "state": "done",
            "program_version": "é\u2028",
            "parameters": {"a": [1, None, float("nan")]},
            "summary": None,
        },
        {
            "id": 2,
            "started_at": datetime(1969, 7, 20),
            "finished_at": when,
            "state": "",
            "program_version": None,
            "parameters": [],
            "summary": {"n": 2**63},
        },
    ]
    with kit.store.begin() as connection:
        bulk_insert.append(connection, tables.refresh, given)
        bulk_insert.append(connection, tables.refresh, [])
        found = connection.execute(
            sa.select(tables.refresh).order_by(tables.refresh.c.id)
        ).all()
    given[0]["parameters"] = {"a": [1, None, None]}
    assert [dict(row._mapping) for row in found] == given[::-1]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("fewshot", 2**31),
        ("fewshot", 1.5),
        ("fewshot", True),
        ("fewshot_seed", 2**63),
        ("fewshot_seed", "one"),
        ("temperature", "hot"),
        ("temperature", 10**400),
        ("endpoint", 5),
        ("endpoint", "\ud800"),
        ("started_at", "today"),
    ],
)
def test_a_value_that_does_not_fit_its_column_is_named(
    kit: Any, column: str, value: object
) -> None:
    with (
        pytest.raises(bulk_insert.UnfitError, match=f"^{column} of run: "),
        kit.store.begin() as open_,
    ):
        bulk_insert.append(open_, tables.run, [{column: value}])


def test_a_key_is_never_changed_to_fit(kit: Any) -> None:
    if kit.store.dialect.embedded:
        pytest.skip("this engine holds U+0000")
    with (
        pytest.raises(bulk_insert.UnfitError, match="U\\+0000 in name"),
        kit.store.begin() as connection,
    ):
        bulk_insert.append(connection, tables.model, [{"id": 1, "name": "a\0b"}])
    assert kit.counts("model") == (0,)
