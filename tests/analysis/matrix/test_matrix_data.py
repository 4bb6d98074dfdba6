"""Real matrices: eval_arena (three full ones) and eq_bench (continuous, with gaps)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from tests.analysis.matrix.test_matrix_clusters import distances
from tests.analysis.matrix.test_matrix_permutation import share_at_least, shuffled
from tests.analysis.matrix.test_matrix_similarity import slow
from tests.support.matrices import Matrix, cosines, upper
from tests.support.stores import store_at
from warehouse.api import Warehouse
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

MAPPINGS = Path(__file__).parents[3] / "docs" / "mappings"
FILES = {"humaneval+": (164, 49), "mbpp+": (378, 59), "lcb_codegen": (400, 58)}


def fill(folder: Path, path: Path, mapping: str) -> Warehouse:
    url = store_at(path)
    with open_store(url, write=True) as store:
        ingest(store, [folder], mapping=MAPPINGS / f"{mapping}.toml")
    return Warehouse(url)


@pytest.fixture(scope="module")
def arena(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Warehouse]:
    yield fill(
        data_dir / "eval_arena",
        tmp_path_factory.mktemp("arena") / "s.duckdb",
        "eval_arena",
    )


def by_hand(path: Path) -> tuple[list[str], list[str], Matrix]:
    """Models, prompts and scores, straight from the file."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    scores = {(row["example_id"], row["model"]): float(row["pass1"]) for row in lines}
    prompts, models = (sorted({key[place] for key in scores}) for place in (0, 1))
    return models, prompts, np.array([[scores[p, m] for m in models] for p in prompts])


@pytest.mark.parametrize("name", FILES)
def test_the_matrix_is_that_of_the_file(
    arena: Warehouse, data_dir: Path, name: str
) -> None:
    data = arena.matrix(name).data
    models, prompts, scores = by_hand(data_dir / "eval_arena" / f"{name}.jsonl")
    assert data.values.shape == scores.shape == FILES[name]
    assert (data.n_incomplete, sorted(data.models)) == (0, models)
    rows = [prompts.index(key) for key in data.keys]
    columns = [models.index(model) for model in data.models]
    assert data.values == pytest.approx(scores[np.ix_(rows, columns)], abs=1e-12)


def test_humaneval_equals_n_by_n_code(arena: Warehouse) -> None:
    asked = arena.matrix("humaneval+")
    values, n = asked.data.values, 19
    assert not values.any(axis=1).all()  # some prompts nobody solves
    assert values.all(axis=1).any()  # some everybody
    found = asked.test(permutations=n, seed=3)
    matrices = shuffled(values, n, 3)
    for similarity in ("hamming", "cosine", "jaccard"):
        tables = [slow(similarity, one) for one in matrices]
        for name, figures in (
            ("mean", [table.mean() for table in tables]),
            ("percentile_75", [np.percentile(table, 75) for table in tables]),
            ("percentile_95", [np.percentile(table, 95) for table in tables]),
        ):
            row = next(
                r
                for r in found.rows
                if (r.similarity, r.statistic) == (similarity, name)
            )
            assert row.observed == pytest.approx(figures[0], abs=1e-12)
            assert row.p_value == share_at_least(figures[0], np.array(figures[1:]))
        ks = next(
            r for r in found.rows if (r.similarity, r.statistic) == (similarity, "ks")
        )
        assert ks.p_value == 0.05  # the least that 19 permutations can say


def test_mbpp_clusters_and_weights(arena: Warehouse) -> None:
    asked = arena.matrix("mbpp+")
    found = asked.cluster(n_clusters=[2, 3, 4], permutations=1, store="alike")
    values, labels = asked.data.values, np.array(found.labels)
    score = silhouette_score(distances(values), labels, metric="precomputed")
    assert found.silhouette == pytest.approx(score, abs=1e-9)
    assert found.silhouette_permuted is not None and found.silhouette is not None
    assert found.silhouette_permuted < 0.2 < found.silhouette
    unsolved = ~values.any(axis=1)
    assert len(set(labels[unsolved])) == 1  # what nobody solves is alike
    weights = asked.weights(draws=2000, cluster="alike")
    uniform = {row.model: row.score for row in weights.rows if row.scheme == "uniform"}
    assert uniform["gpt-4-1106-preview"] == pytest.approx(0.740741, abs=1e-6)
    sd = {row.model: row.standard_deviation for row in weights.random}
    p = uniform["gpt-4-1106-preview"]
    assert sd["gpt-4-1106-preview"] == pytest.approx(
        np.sqrt(p * (1 - p) / 379), rel=1e-12
    )


@pytest.mark.slow
def test_eq_bench_is_continuous_and_has_gaps(data_dir: Path, tmp_path: Path) -> None:
    store = fill(data_dir / "eq_bench", tmp_path / "s.duckdb", "eq_bench")
    asked = store.matrix("eq_bench_v2")
    counts = (
        store.query(
            "select fact.prompt_id, count(distinct case when fact.value is not null then "
            "run.model end)"
            " as models from prompt_score fact join run_current run on run.run_id = "
            "fact.run_id"
            " join metric on metric.id = fact.metric_id and metric.name = :metric"
            " group by fact.prompt_id",
            metric=asked.data.metric,
        )
        .to_frame()
        .models
    )
    assert asked.data.values.shape == ((counts == 86).sum(), 86)
    assert 0 < asked.data.n_incomplete == (counts < 86).sum()
    found = asked.test(permutations=19)
    pairs = upper(cosines(asked.data.values))
    figures = [pairs.mean(), *np.percentile(pairs, [75, 95])]
    assert [row.observed for row in found.rows[:3]] == pytest.approx(figures, abs=1e-12)
    assert {row.similarity for row in found.rows} == {"cosine"}
