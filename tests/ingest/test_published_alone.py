"""Figures of sources without samples: what an ingest reports of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.ingested import ingested
from tests.support.stores import select

DUMPS = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("dump", ["aider", "mteb"])
def test_the_report_has_the_figures_of_the_view_on_each_engine(
    store_url: str, dump: str
) -> None:
    with ingested(store_url, DUMPS / dump) as (store, report):
        rows = select(
            store,
            "select run_id, model, benchmark, published, recomputed, verdict "
            "from published_against_recomputed where run_id is not null",
        )
        assert not select(store, "select * from score limit 1")
    shown = [
        (item.run, item.model, item.benchmark)
        + (item.published, item.recomputed, item.verdict)
        for item in report.reconciliation
    ]
    assert shown
    assert sorted(shown, key=repr) == sorted(
        (tuple(row.values()) for row in rows), key=repr
    )
