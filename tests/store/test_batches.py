"""Answers that come in parts: the same rows as at once, and a store that goes on when
nobody wants the rest."""

from __future__ import annotations

import pyarrow as pa
import pytest

from warehouse.errors import MisuseError
from warehouse.store.connection import Store

QUERY = "select id, name from model where id in (:ids) and name <> :name order by id"


def test_parts_are_the_rows_of_the_whole(world: Store) -> None:
    asked = {"ids": [1, 2, 3, 5], "name": "100% not %s"}
    parts = list(world.batches(QUERY, asked, n_rows=2))
    whole = world.arrow(QUERY, asked)
    assert len(whole) > 2
    assert pa.concat_tables(parts).to_pylist() == whole.to_pylist()
    assert list(world.batches(QUERY, {"ids": [], "name": ""}, n_rows=2)) == []


def test_what_nobody_reads_to_its_end_keeps_nothing_open(world: Store) -> None:
    many = "select prompt.id from prompt cross join model"
    for _ in range(3):
        parts = world.batches(many, n_rows=1)
        assert len(next(iter(parts))) > 0
        parts.close()  # type: ignore[attr-defined]
    assert world.rows("select count(*) as n from model")[0]["n"] > 0


def test_a_parameter_without_a_value_is_named(world: Store) -> None:
    with pytest.raises(MisuseError, match="ids, name"):
        next(iter(world.batches(QUERY, n_rows=2)))
