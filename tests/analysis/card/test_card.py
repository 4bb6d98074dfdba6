"""Cards on both engines: the figures of every leaderboard and comparison, and what
differs by kind of metric."""

from __future__ import annotations

import json

import pytest

from tests.support.cli import Caller
from tests.support.every_eval_ever import schema
from warehouse.api import Warehouse

SAME = (
    *(
        "estimate",
        "standard_error",
        "ci_low",
        "ci_high",
        "n_clusters",
        "n_draws",
        "n_unscored",
        "method",
        "flags",
    ),
    "reason",
)


@pytest.mark.rare
def test_every_row_is_one_of_a_leaderboard_on_each_engine(
    house: Warehouse, url: str, run: Caller
) -> None:
    rows = house.card("org/a", against="org/b").rows
    boards = {
        row.run_ids: row for board in house.leaderboard().boards for row in board.rows
    }
    expected = {
        ids
        for ids, row in boards.items()
        if row.model == "org/a" and row.estimate is not None
    }
    assert (
        expected <= {row.run_ids for row in rows}
        and len({row.benchmark for row in rows}) > 2
    )
    for row in rows:
        board = boards[row.run_ids]
        assert [getattr(row, name) for name in SAME] == [
            getattr(board, name) for name in SAME
        ]
        assert row.n_prompts == (board.n_prompts or (None if row.is_published else 0))
    both = [row for row in rows if row.paired is not None]
    assert both
    for row in both:
        (pair,) = house.compare(
            f"run:{row.run_ids[0]}",
            f"run:{row.paired.runs_b[0]}",
            benchmark=row.benchmark,
        ).rows
        if len(row.run_ids) == 1 == len(row.paired.runs_b):
            assert (row.difference, row.p_value) == (pair.difference, pair.p_value)
    assert {row.unit for row in rows if "perplexity" in row.metric} <= {""}
    text = run("card", "org/a", "--format", "eee", db=url).out
    for document in [text] if text.startswith("{\n") else text.splitlines():
        schema("eval").validate(json.loads(document))
