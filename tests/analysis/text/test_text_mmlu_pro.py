"""Text and clusters of real questions (MMLU-Pro, two categories) against plain
libraries."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import cosine_similarity

import warehouse
from tests.support.embedders import TinyEmbedder
from tests.support.statsmodels import adjusted
from warehouse.store.curate.field_clusters import cluster_by

pytestmark = (
    pytest.mark.slow
)  # test_text.py and test_matrix_explain.py have the same oracles by day

MAPPING = Path(__file__).resolve().parents[3] / "docs" / "mappings" / "mmlu_pro.toml"
CATEGORIES = ("law", "history")
#: Of each archive its files, of each file rows.
Kept = dict[str, dict[str, list[dict[str, Any]]]]
EMBEDDER = TinyEmbedder(max_length=None, dimension=64)


@pytest.fixture(scope="module")
def kept(data_dir: Path) -> Kept:
    """Of each archive its files, of each file the rows of these categories."""
    found = {}
    for path in sorted((data_dir / "mmlu_pro").glob("model_outputs_*_5shots.zip")):
        with zipfile.ZipFile(path) as archive:
            found[path.name] = {
                name: [
                    row
                    for row in json.loads(archive.read(name))
                    if row["category"] in CATEGORIES
                ]
                for name in archive.namelist()
            }
    return found


@pytest.fixture(scope="module")
def frame(kept: Kept) -> pd.DataFrame:
    """One row per question: its text and source, and the score of each model as a
    column."""
    parts, texts = {}, {}
    for files in kept.values():
        ((name, rows),) = (
            (name, rows) for name, rows in files.items() if name.endswith("5shots.json")
        )
        model = name.split("model_outputs_")[1].removesuffix("_5shots.json")
        parts[model] = {
            str(row["question_id"]): float(row["pred"] == row["answer"]) for row in rows
        }
        texts |= {str(row["question_id"]): row for row in rows}
    made = pd.DataFrame(parts)
    for column in ("question", "src", "category"):
        made[column] = [texts[key][column] for key in made.index]
    return made


@pytest.fixture(scope="module")
def store(
    frame: pd.DataFrame, kept: Kept, tmp_path_factory: pytest.TempPathFactory
) -> warehouse.Warehouse:
    """The same questions through the documented mapping, with vectors."""
    folder = tmp_path_factory.mktemp("mmlu_pro")
    for archive, files in kept.items():
        with zipfile.ZipFile(folder / archive, "w") as new:
            for name, rows in files.items():
                new.writestr(name, json.dumps(rows))
    made = warehouse.connect(f"duckdb:///{folder / 'mmlu_pro.duckdb'}")
    made.ingest(folder, mapping=MAPPING)
    found = made.embed("mmlu_pro", embedder=EMBEDDER)
    assert [(row.n_new, row.dimension) for row in found.rows] == [(len(frame), 64)]
    return made


@pytest.fixture(scope="module")
def similarity(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    return cosine_similarity(
        EMBEDDER.encode(list(frame["question"])).astype(np.float64)
    )


def models(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["question", "src", "category"])


def cr2(scores: pd.Series, labels: Any) -> float:
    """Standard error of a mean by clusters: residual sums, each over the root of 1 −
    n_g/n."""
    groups = (scores - scores.mean()).groupby(np.asarray(labels)).agg(["sum", "size"])
    return float(
        np.sqrt((groups["sum"] ** 2 / (1 - groups["size"] / len(scores))).sum())
    ) / len(scores)


def test_near_duplicates_are_those_of_the_full_matrix(
    store: warehouse.Warehouse, frame: pd.DataFrame, similarity: np.ndarray[Any, Any]
) -> None:
    above = np.triu(similarity, 1) >= 0.9
    found = store.duplicates("mmlu_pro", threshold=0.9, keep=10**6)
    assert found.n_pairs == np.count_nonzero(above) == len(found.rows) > 100
    place = {key: row for row, key in enumerate(frame.index)}
    pairs = {
        (place[row.tool_id_a], place[row.tool_id_b])
        for row in found.rows
        if row.tool_id_a and row.tool_id_b
    }
    first, second = (axis.tolist() for axis in np.nonzero(above))
    assert {tuple(sorted(pair)) for pair in pairs} == set(
        zip(first, second, strict=True)
    )
    scores = models(frame).to_numpy()
    agreement = 1 - np.abs(scores[first] - scores[second]).mean(axis=0)
    assert {row.model: row.alike for row in found.models} == pytest.approx(
        dict(zip(models(frame).columns, agreement.tolist(), strict=True)), rel=1e-12
    )


def test_errors_of_semantic_clusters_are_cr2(
    store: warehouse.Warehouse, frame: pd.DataFrame, similarity: np.ndarray[Any, Any]
) -> None:
    n_clusters, labels = connected_components(similarity >= 0.9, directed=False)
    found = store.cluster_semantic("mmlu_pro", threshold=0.9)
    assert (found.n_clusters, found.n_prompts) == (n_clusters, len(frame))
    assert found.largest == np.bincount(labels).max()
    for row in found.rows:
        scores = frame[row.model]
        assert row.se_clustered == pytest.approx(cr2(scores, labels), rel=1e-10)
        assert row.se_unclustered == pytest.approx(
            scores.std(ddof=1) / len(scores) ** 0.5
        )


def test_errors_of_sources_are_cr2(
    store: warehouse.Warehouse, frame: pd.DataFrame
) -> None:
    with store._writing() as opened:
        cluster_by(opened, "mmlu_pro", ("src",))
    board = store.leaderboard("mmlu_pro", cluster="src")
    assert {row.model: row.standard_error for row in board.rows} == pytest.approx(
        {model: cr2(scores, frame["src"]) for model, scores in models(frame).items()},
        rel=1e-10,
    )
    assert {row.n_clusters for row in board.rows} == {frame["src"].nunique()}


def test_what_questions_ask_against_regressions_one_by_one(
    store: warehouse.Warehouse, frame: pd.DataFrame, similarity: np.ndarray[Any, Any]
) -> None:
    found = store.matrix("mmlu_pro").explain(permutations=20)
    scores = models(frame).to_numpy()
    alike = cosine_similarity(scores)
    unsolved = ~scores.any(axis=1)
    alike[np.ix_(unsolved, unsolved)] = 1
    place = {key: row for row, key in enumerate(frame.index)}
    assert len(found.rows) == len(frame)
    fits = {}
    for key, row in list(place.items())[::97]:
        others = np.arange(len(frame)) != row
        fits[key] = sm.OLS(
            alike[row, others], sm.add_constant(similarity[row, others])
        ).fit()
    rows = {row.prompt: row for row in found.rows}
    for key, fit in fits.items():
        assert rows[key].coefficient == pytest.approx(
            fit.params[1], rel=1e-8, abs=1e-10
        )
        assert rows[key].p_value == pytest.approx(fit.pvalues[1], rel=1e-6, abs=1e-12)
    p_values = [row.p_value for row in found.rows if row.p_value is not None]
    expected = adjusted(p_values, "fdr_bh")
    assert [row.fdr for row in found.rows if row.p_value is not None] == pytest.approx(
        expected.tolist(), rel=1e-9, abs=1e-300
    )
    upper = np.triu_indices(len(frame), 1)
    direct = np.corrcoef(alike[upper], similarity[upper])[0, 1]
    assert found.mantel_r == pytest.approx(direct, abs=1e-9)
