"""Reliability on a published matrix: the figures of its file, without our reader, come
out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from warehouse.analysis.flash.answer import flash
from warehouse.analysis.reliability.answer import reliability
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.open import open_store

MAPPING = Path(__file__).parents[3] / "docs" / "mappings" / "mmlu_pro_matrix.toml"
FIELDS = ("question_id", "category", "src", "n_options")


@pytest.fixture(scope="module")
def store(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(
        f"duckdb:///{tmp_path_factory.mktemp('reliability') / 'mmlu.duckdb'}",
        create=True,
    ) as found:
        assert not ingest(
            found, [data_dir / "mmlu_pro_matrix"], mapping=MAPPING
        ).refused
        yield found


@pytest.fixture(scope="module")
def means(data_dir: Path) -> dict[str, np.ndarray]:
    """Accuracy of each model by category, in the order of their names."""
    table = pq.read_table(data_dir / "mmlu_pro_matrix" / "correct.parquet").to_pydict()
    category = np.array(table["category"])
    return {
        name: np.array(
            [
                np.mean(np.array(table[name])[category == c])
                for c in sorted(set(category))
            ]
        )
        for name in table
        if name not in FIELDS
    }


def test_categories_of_mmlu_pro(store: Store, means: dict[str, np.ndarray]) -> None:
    report = reliability(
        store, "mmlu_pro_7", scenarios="category", sizes=[100], n_resamples=200
    )
    assert (report.n_models, report.n_scenarios, report.n_prompts) == (17, 7, 6835)
    scores = np.array(list(means.values())).T
    wins = (stats.rankdata(scores, axis=1, method="min") - 1) / 16  # a tie is no win
    assert {row.model: row.mean_win_rate for row in report.models} == pytest.approx(
        dict(zip(means, wins.mean(axis=0).tolist(), strict=True))
    )
    assert {row.model: row.mean for row in report.models} == pytest.approx(
        {name: float(x.mean()) for name, x in means.items()}
    )
    hundred, whole = report.prompt_rows
    assert (
        0.8 < (hundred.ranking or 0) < (whole.ranking or 0) < 0.97
        and (hundred.rank_resolution or 0) <= 3
    )
    assert (
        "the top two are told apart" in report.one_line
    )  # the 70B model is first everywhere


def test_flash_on_mmlu_pro(store: Store) -> None:
    report = flash(store, "mmlu_pro_7", scenarios="category", n_resamples=60)
    assert report.sizes == (20, 50, 200, 1000, None) and report.tiers == (9, 5, 3, 1, 1)
    assert (
        (report.mean_saving or 0) > 5
        and (report.mean_error or 9) < 2
        and (report.within or 0) > 0.9
    )
    assert (
        report.check[0].saving < 3 < report.check[-1].saving
    )  # the best need all, the last hardly any
