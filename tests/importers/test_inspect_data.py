"""Inspect logs through the whole path, on both engines: fixtures, and real logs with
the figures that their README gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.inspect_logs import FIXTURES, as_first_asked
from tests.support.stores import select
from warehouse.analysis.show.answer import show
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

#: (start of the file's name after the time, accuracy, standard error)
FIGURES = {
    "popularity_A2Ld": (0.68, 0.04688261722621507),
    "popularity_L8g2": (0.52, 0.05021167315686782),
    "popularity_LthY": (0.57, 0.0497569851956243),
    "popularity_eF3B": (0.66, 0.04760952285695234),
    "popularity_CuCF": (0.6, 0.16329931618554522),
    "popularity_J5Es": (0.7, 0.15275252316519464),
    "popularity_jKN6": (0.66, 0.14922019523732927),
    "theory-of-mind_8zKw": (0.9666666666666668, 0.03333333333333333),
    "theory-of-mind_TZtK": (1.0, 0.0),
    "theory-of-mind_HU92": (0.9333333333333332, 0.06666666666666667),
    "log_streaming": (0.75, 0.25),
    "popularity_mj7k": (0.8, 0.13333333333333333),
}


def load(url: str, *paths: Path, **options: Any) -> IngestReport:
    with open_store(url, create=True, write=True) as store:
        return ingest(store, paths, **options)


def verdicts(store: Store) -> set[str]:
    return {
        row["verdict"]
        for row in select(store, "select verdict from published_against_recomputed")
    }


@pytest.mark.rare
def test_the_figures_of_real_logs_come_out(data_dir: Path, store_url: str) -> None:
    folder = data_dir / "inspect_logs"
    if not folder.is_dir():
        pytest.skip("no Inspect logs among the real dumps")
    report = load(store_url, folder)
    assert [item.error for item in report.refused] == []
    assert report.total("n_rejected") == 0
    with open_store(store_url) as store:
        found = select(
            store,
            "select source.path, score_summary.estimate, score_summary.se_clt, "
            "score_summary.n_prompts from score_summary "
            "join run_source on run_source.run_id = score_summary.run_id "
            "join source on source.id = run_source.source_id",
        )
        figures = {
            name: (row["estimate"], row["se_clt"] or 0.0)
            for row in found
            for name in FIGURES
            if f"_{name}" in row["path"] or f"/{name}" in row["path"]
        }
        assert figures == {
            name: (pytest.approx(mean, rel=1e-12), pytest.approx(error, rel=1e-10))
            for name, (mean, error) in FIGURES.items()
        }
        counts = select(
            store,
            "select n_found, n_generations, n_scores from run_current "
            "where n_found = 10 order by n_generations, n_scores",
        )
        assert counts[0] == {
            "n_found": 10,
            "n_generations": 10,
            "n_scores": 0,
        }  # unscored
        assert counts[-1] == {"n_found": 10, "n_generations": 50, "n_scores": 50}
        assert verdicts(store) == {
            "exact",
            "not_recomputable",
        }  # the latter has no samples
        assert check(store).ok


def test_the_log_of_the_zstandard_writer(data_dir: Path, store_url: str) -> None:
    folder = data_dir / "writers" / "inspect_eval_zstd"
    if not folder.is_dir():
        pytest.skip("no log of the Zstandard writer among the real dumps")
    report = load(store_url, folder)
    assert (report.total("n_runs"), len(report.refused)) == (1, 0)
    with open_store(store_url) as store:
        assert verdicts(store) == {"exact"}
        (run,) = select(store, "select n_found, n_generations from run_current")
        assert run == {"n_found": 2, "n_generations": 6}


def test_fixtures_reconcile_and_the_store_is_clean(store_url: str) -> None:
    names = ("grid.eval", "choices.eval", "judged.eval", "faults.eval")
    report = load(store_url, *(FIXTURES / name for name in names))
    assert (report.total("n_runs"), len(report.refused)) == (4, 0)
    with open_store(store_url) as store:
        assert verdicts(store) == {"exact"}
        assert check(store).ok
        kinds = select(
            store,
            "select distinct scorer.name, scorer.kind, scorer.judge_model from scorer "
            "where kind = 'model'",
        )
        assert kinds == [
            {
                "name": "model_graded_qa",
                "kind": "model",
                "judge_model": "mockllm/judge-model",
            }
        ]
        prompt = show(store, "run:1", "q/1").to_dict()
        assert "It is 2" in str(prompt)


def test_the_same_log_in_other_containers_is_seen_again(store_url: str) -> None:
    names = ("grid.eval", "grid.json", "grid_chunked.eval")
    report = load(store_url, *(FIXTURES / name for name in names))
    assert (report.total("n_runs"), report.total("n_seen_again")) == (1, 2)


TRIES = ("faults.eval", "faults_retried.eval")


def retry_is_current(url: str) -> None:
    with open_store(url) as store:
        (row,) = select(store, "select estimate, n_prompts from score_summary")
        assert row == {"estimate": 0.75, "n_prompts": 4}
        tries = select(
            store,
            "select superseded_by is null as current, count(*) as n from run group by "
            "1 order by 1",
        )
        assert tries == [{"current": False, "n": 1}, {"current": True, "n": 1}]
        assert check(store).ok


@pytest.mark.parametrize("names", [("2026-01-01", "2026-02-01"), ("b", "a")])
@pytest.mark.rare
def test_a_retry_supersedes_what_it_completes(
    names: tuple[str, str], tmp_path: Path, store_url: str
) -> None:
    """Inspect's names begin with the time unless a pattern of one's own says otherwise:
    the order in a folder says nothing."""
    for folder, (name, log) in enumerate(zip(names, TRIES, strict=True)):
        place = tmp_path / "ba"[folder]
        place.mkdir()
        as_first_asked(FIXTURES / log, place / f"{name}_faults.eval")
    report = load(store_url, tmp_path)
    assert (
        report.total("n_runs"),
        report.total("n_superseded"),
        len(report.refused),
    ) == (2, 1, 0)
    retry_is_current(store_url)


def test_an_interrupted_try_that_comes_after_its_retry_is_superseded(
    tmp_path: Path, store_url: str
) -> None:
    for log in reversed(TRIES):
        report = load(store_url, as_first_asked(FIXTURES / log, tmp_path / log))
        assert (report.total("n_runs"), len(report.refused)) == (1, 0)
    (source,) = report.sources
    assert any("holds all of this one" in note for note in source.notes)
    retry_is_current(store_url)


def test_an_edited_log_is_a_conflict_until_it_is_told_to_replace(
    store_url: str,
) -> None:
    first = load(store_url, FIXTURES / "grid.eval")
    edited = load(store_url, FIXTURES / "grid_edited.eval")
    assert (first.total("n_runs"), len(edited.refused)) == (1, 1)
    assert "--on-conflict supersede" in edited.refused[0].error


@pytest.mark.parametrize("late_first", [False, True])
def test_of_two_logs_that_contradict_each_other_the_later_is_named(
    tmp_path: Path, store_url: str, late_first: bool
) -> None:
    document = parse_json((FIXTURES / "grid.json").read_bytes())
    for name, year, value in (("a.json", 2030, 0.25), ("b.json", 2031, 0.75)):
        sample = document["samples"][0]
        sample["events"] = [
            {
                "event": "state",
                "timestamp": f"{year}-01-01T00:00:00+00:00",
                "changes": [],
            }
        ]
        next(iter(sample["scores"].values()))["value"] = value
        (tmp_path / name).write_text(json.dumps(document))
    first, second = ("b.json", "a.json") if late_first else ("a.json", "b.json")
    assert not load(store_url, tmp_path / first).refused
    (refused,) = load(store_url, tmp_path / second).refused
    later = (
        f"{tmp_path / first} is the later" if late_first else "this file is the later"
    )
    assert refused.error.endswith(later), refused.error


def test_a_scorer_that_only_ever_fails_is_still_a_metric_of_the_benchmark(
    tmp_path: Path, store_url: str
) -> None:
    document = parse_json((FIXTURES / "grid.json").read_bytes())
    document["samples"][-1]["scores"]["late"] = {
        "value": None
    }  # beyond those looked at first
    (tmp_path / "a.json").write_text(json.dumps(document))
    assert load(store_url, tmp_path).refused == ()
    with open_store(store_url) as store:
        assert check(store).ok
        names = select(
            store,
            "select metric.name from benchmark_metric join metric on metric.id = "
            "benchmark_metric.metric_id",
        )
        assert {"name": "late"} in names


def test_a_log_that_lacks_samples_is_told_beside_its_figures(
    tmp_path: Path, store_url: str
) -> None:
    document = parse_json((FIXTURES / "grid.json").read_bytes())
    document["samples"] = document["samples"][:4]
    (tmp_path / "a.json").write_text(json.dumps(document))
    load(store_url, tmp_path)
    with open_store(store_url) as store:
        found = select(
            store,
            "select distinct verdict from published_against_recomputed where "
            "metric_filter = ''",
        )
        assert found == [{"verdict": "truncated"}]
        assert select(store, "select status from run_current") == [
            {"status": "truncated"}
        ]
