"""How heavy a page is that has much to show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.serve.test_pages import _COLUMNS
from tests.support.builders import StoreRows
from tests.support.cli import filled_url
from tests.support.page_reader import PageReader
from warehouse.serve.app import create_app


@pytest.mark.rare
def test_a_benchmark_of_a_hundred_models_is_light(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    rows.describe("long", rows.metric())
    for model in range(100):
        name = f"an-organisation-with-a-name/a-model-of-its-own-{model:03}-{'with-long-context-' * 8}"
        began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=model)
        run = rows.run(name, "long", started_at=began)
        rows.scores(
            run,
            {
                f"p{key}": float((key * 7 + model) % 60 < 20 + model // 5)
                for key in range(60)
            },
        )
        rows.generation(run, "p0", 0, "words", **_COLUMNS, cost=0.01 * (model + 1))
    with (
        filled_url(request, "duckdb", rows) as url,
        PageReader(create_app(url), base_url="http://localhost") as client,
    ):
        page = client.whole("/benchmark/long")
        assets = sum(
            len(client.get(f"/static/{name}").text)
            for name in ("style.css", "script.js")
        )
    assert (
        "copied: " in page
        and "Score against cost" in page
        and "Score by date" in page
        and "More rows" in page
    )
    assert len(page) + assets < 300_000


def test_a_benchmark_whose_means_overflow_is_said_to_be_left_out(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    for name, score in (("boundless", 1.7e308), ("usual", 1.0)):
        rows.describe(name, rows.metric())
        for model in ("lab/a", "lab/b"):
            rows.scores(
                rows.run(model, name), {f"{name}{key}": score for key in range(6)}
            )
    with (
        filled_url(request, "duckdb", rows) as url,
        PageReader(create_app(url), base_url="http://localhost") as client,
    ):
        left_out = client.whole("/").partition("Left out")[2].partition("</li>")[0]
    assert "boundless: " in left_out and "usual" not in left_out
