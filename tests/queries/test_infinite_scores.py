"""Infinite scores as figures are made of them, on both engines: kept as text, counted by prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse import connect
from warehouse.store.open import open_store
from warehouse.store.sql.query_files import query_text

TABLE = """\
model,benchmark,prompt_id,score
a,reg,q0,inf
a,reg,q1,-Infinity
a,reg,q2,1.5
a,reg,q3,
b,reg,q0,2
b,reg,q1,nan
b,reg,q2,1
b,reg,q3,3
"""


@pytest.fixture
def filled(store_url: str, tmp_path: Path) -> str:
    path = tmp_path / "inf.csv"
    path.write_text(TABLE)
    connect(store_url).ingest(path, higher_is_better=False)
    return store_url


def test_only_infinite_scores_are_found(filled: str) -> None:
    with open_store(filled) as store:
        runs = store.rows("select run_id, model from run_current order by model")
        metrics = [row["id"] for row in store.rows("select id from metric")]
        ids = {"run_ids": [row["run_id"] for row in runs], "metric_ids": metrics}
        found = store.rows(query_text("analysis", "infinite_scores"), ids)
    counted = [(row["run_id"], row["n_above"], row["n_below"]) for row in found]
    assert sorted(counted) == [(runs[0]["run_id"], 0, 1), (runs[0]["run_id"], 1, 0)]


def test_views_and_figures_stand_beside_infinite_scores(filled: str) -> None:
    with open_store(filled) as opened:
        assert len(opened.rows("select model, estimate from score_summary")) == 2
    rows = {row.model: row for row in connect(filled).leaderboard("reg").rows}
    assert (rows["a"].estimate, rows["a"].reason, rows["a"].n_unscored) == (None, "both_infinities", 1)
    assert rows["b"].estimate == pytest.approx(2)
