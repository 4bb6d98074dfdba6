"""Results of MTEB: figures without samples. Those of ``tests/data/mteb`` were made by
hand after published files of both layouts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import InputError
from warehouse.importers.mteb import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.records import RunHeader
from warehouse.store.open import open_store

DUMPS = Path(__file__).parents[1] / "data" / "mteb"
NEW = DUMPS / "org__embed" / "0123456789abcdef0123456789abcdef01234567"
OLD = DUMPS / "org__old" / "no_revision_available"


def take(path: Path) -> Taken:
    meta = path.with_name("model_meta.json")
    return lm_eval.take(path, *([meta] if meta.exists() else []), importer=IMPORTER)


def figures(run: RunHeader) -> dict[tuple[str, str], Any]:
    return {(item.metric, item.statistic): item.value for item in run.published}


def default(run: RunHeader) -> str:
    (name,) = (metric.name for metric in run.metrics if metric.is_default)
    return name


def test_a_run_for_each_split_and_subset() -> None:
    runs = take(NEW / "TopicsClassification.json").dump.runs
    assert [
        (run.benchmark, run.split, figures(run)["main_score", "mean"]) for run in runs
    ] == [
        ("TopicsClassification_de", "validation", 0.5),
        ("TopicsClassification_de", "test", 0.7),
        ("TopicsClassification_en", "test", 0.9),
    ]
    run = runs[1]
    assert (run.model, run.revision, run.parameter_count) == (
        "org/embed",
        NEW.name,
        1000,
    )
    assert (run.suite, run.dataset_revision, run.harness_version) == (
        ("TopicsClassification",),
        "d0d0",
        "2.26.0",
    )
    assert (run.configuration["languages"], str(run.started_at)) == (
        ["deu-Latn"],
        "2026-01-01 00:00:00",
    )
    assert default(run) == "main_score"


def test_experiments_are_figures_of_their_own() -> None:
    run = take(NEW / "TopicsClassification.json").dump.runs[1]
    assert figures(run)["accuracy", "mean"] == 0.7
    assert [figures(run)["accuracy", f"experiment {number}"] for number in (1, 2)] == [
        0.6,
        0.8,
    ]


def test_what_is_no_number_is_told_as_such() -> None:
    (run,) = take(NEW / "FactRetrieval.json").dump.runs
    (nauc,) = (item for item in run.published if item.metric.startswith("nauc"))
    assert (nauc.value, nauc.raw) == (None, "no number")
    assert (run.benchmark, run.harness_version) == ("FactRetrieval", None)


def test_scores_of_a_model_card_are_another_checkpoint() -> None:
    (run,) = take(DUMPS / "org__embed" / "external" / "FactRetrieval.json").dump.runs
    assert (run.model, run.revision) == ("org/embed", "external")


def test_arguments_of_an_experiment_are_no_checkpoint(tmp_path: Path) -> None:
    """As mteb 2 caches them, which also says the version of each subset."""
    folder = tmp_path / "org__embed" / NEW.name / "experiments" / "embed_dim_64"
    folder.mkdir(parents=True)
    document = json.loads((NEW / "FactRetrieval.json").read_text())
    for entries in document["scores"].values():
        entries[0]["mteb_version"] = "2.26.24"
    (folder / "FactRetrieval.json").write_text(json.dumps(document))
    (run,) = take(folder / "FactRetrieval.json").dump.runs
    assert (run.model, run.revision, run.harness_version) == (
        "org/embed",
        NEW.name,
        "2.26.24",
    )
    assert run.sampling == {"experiment_arguments": "embed_dim_64"}


def test_the_old_layout_with_languages_and_similarities() -> None:
    topics, twins = (
        take(OLD / "TopicsClassification.json").dump.runs,
        take(OLD / "TwinsSTS.json").dump.runs,
    )
    assert [(run.benchmark, run.split, default(run)) for run in topics] == [
        ("TopicsClassification_de", "test", "accuracy"),
        ("TopicsClassification_en", "test", "accuracy"),
    ]
    assert topics[0].revision is None
    assert topics[0].published[0].standard_error == 0.01
    assert figures(twins[0]) == {
        ("cos_sim.pearson", "mean"): 0.84,
        ("cos_sim.spearman", "mean"): 0.83,
        ("euclidean.pearson", "mean"): 0.83,
        ("euclidean.spearman", "mean"): 0.82,
    }
    assert default(twins[0]) == "cos_sim.spearman"


def test_speed_has_no_better(tmp_path: Path) -> None:
    path = tmp_path / "org__embed" / "external" / "GPUSpeedTask.json"
    path.parent.mkdir(parents=True)
    entry = {"hf_subset": "default", "main_score": 3.5, "time_mean": 1.25}
    document = {
        "dataset_revision": None,
        "task_name": "GPUSpeedTask",
        "mteb_version": None,
        "scores": {"test": [entry]},
    }
    path.write_text(json.dumps(document))
    assert {metric.higher_is_better for metric in take(path).dump.runs[0].metrics} == {
        None
    }


def test_without_a_model_and_without_scores(tmp_path: Path) -> None:
    path = Path(shutil.copy(NEW / "FactRetrieval.json", tmp_path))
    with pytest.raises(InputError, match="names the model"):
        take(path)
    path = Path(shutil.copytree(OLD, tmp_path / "org__m" / "1")) / "TwinsSTS.json"
    path.write_text('{"dataset_revision": null, "mteb_version": "1.0.1", "scores": {}}')
    with pytest.raises(InputError, match="no scores"):
        take(path)
    path.write_text(
        '{"dataset_revision": null, "mteb_version": "1.0.1", "scores": {"te'
    )
    with pytest.raises(InputError, match="complete JSON object"):
        take(path)


def test_scores_that_are_texts_are_no_figures(tmp_path: Path) -> None:
    path = tmp_path / "org__m" / "abc" / "Topics.json"
    path.parent.mkdir(parents=True)
    scores = {"test": [{"hf_subset": "default", "main_score": "0.5"}]}
    path.write_text(
        json.dumps({"dataset_revision": "x", "mteb_version": "2", "scores": scores})
    )
    with pytest.raises(InputError, match="no scores"):
        take(path)


def test_in_a_store_they_have_places_of_their_own(store_url: str) -> None:
    with ingested(store_url, DUMPS) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 8)
        board = leaderboard(store, benchmark="FactRetrieval")
        assert [(row.model, row.estimate, row.flags) for row in board.rows] == [
            ("org/embed", 0.36, ("published",)),
            ("org/embed", 0.31096, ("published",)),
        ]


def test_the_figures_of_real_files(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "mteb"
    if not folder.is_dir():
        pytest.skip("no real results of MTEB")
    with open_store(
        f"duckdb:///{tmp_path / 'real.duckdb'}", create=True, write=True
    ) as store:
        report = ingest(store, [folder])
        assert (report.refused, report.unclaimed) == ((), ())
        rows = select(
            store,
            "select r.model, r.benchmark, r.split, m.name as metric, p.statistic, "
            "p.value from published_score p "
            "join run_current r on r.run_id = p.run_id join metric m on m.id = "
            "p.metric_id",
        )
    found = {
        (row["benchmark"], row["split"], row["metric"]): row["value"]
        for row in rows
        if row["statistic"] == "mean"
        and row["model"] == "intfloat/multilingual-e5-small"
    }
    old = {
        (row["benchmark"], row["metric"]): row["value"]
        for row in rows
        if row["model"].startswith("openai/")
    }
    main = {
        ("Banking77Classification", "test"): 0.706396,
        ("AmazonCounterfactualClassification_de", "test"): 0.698501,
        ("AmazonCounterfactualClassification_en", "test"): 0.714328,
        ("AmazonCounterfactualClassification_de", "validation"): 0.705794,
        ("NFCorpus", "test"): 0.31096,
        ("SciFact", "test"): 0.67585,
        ("SciFact", "train"): 0.67718,
        ("STSBenchmark", "test"): 0.835893,
        ("STS22_it", "test"): 0.777814,
        ("NFCorpus-PL", "test"): 0.26503,
    }
    assert {key: found[*key, "main_score"] for key in main} == main
    assert (
        len(
            [
                key
                for key in found
                if key[0].startswith("STS22_") and key[2] == "main_score"
            ]
        )
        == 18
    )
    assert old["Banking77Classification", "accuracy"] == 0.8065584415584416
    assert old["STSBenchmark", "cos_sim.spearman"] == 0.8316780387096034
    experiments = [
        row
        for row in rows
        if row["benchmark"] == "Banking77Classification" and row["metric"] == "accuracy"
    ]
    assert (
        len([row for row in experiments if row["statistic"].startswith("experiment")])
        == 10
    )
