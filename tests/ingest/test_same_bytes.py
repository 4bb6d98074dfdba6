"""The same bytes, read in another way, replace what they were read as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import warehouse
from tests.support.cli import Caller
from warehouse.store.alchemy import sa
from warehouse.store.load import run_tags
from warehouse.store.load.state import LoadOptions, LoadReport
from warehouse.store.load.statements import EARLIER
from warehouse.store.open import open_store
from warehouse.store.schema.later import tables
from warehouse.store.schema.migrate import check

TABLE = "model,benchmark,seed,item,score\nada,quiz,0,q1,1\nada,quiz,0,q2,0\nada,quiz,1,q1,0\nada,quiz,1,q2,0\n"
MAPPING = """
[run]
model = "model"
benchmark = "benchmark"
{seed} = "seed"
[sample]
prompt_id = "item"
[[scores]]
metric = "score"
value = "score"
[metrics.score]
kind = "binary"
higher_is_better = {higher}
"""


@pytest.fixture
def store(tmp_path: Path) -> Any:
    (tmp_path / "s.csv").write_text(TABLE)
    readings = {
        "a": ("training_seed", "true"),
        "b": ("sampling_seed", "true"),
        "c": ("fewshot", "false"),
    }
    for name, (seed, higher) in readings.items():
        (tmp_path / f"{name}.toml").write_text(MAPPING.format(seed=seed, higher=higher))
    return warehouse.connect(tmp_path / "s.db")


def read(store: Any, tmp_path: Path, mapping: str = "", **given: Any) -> LoadReport:
    if mapping:
        given["mapping"] = tmp_path / f"{mapping}.toml"
    (source,) = store.ingest(tmp_path / "s.csv", **given).sources
    return source


def rows(store: Any, select: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        store.query(f"select {select}").to_frame().to_dict("records")
    )
    return found


def is_sound(tmp_path: Path) -> bool:
    with open_store(str(tmp_path / "s.db")) as store:
        return check(store).ok


def conditions(store: Any) -> set[tuple[str, ...]]:
    found = rows(store, "training_seed, sampling_seed, fewshot from run_current")
    return {tuple(str(value) for value in row.values()) for row in found}


def test_what_is_read_now_takes_the_place_of_what_was_read_before(
    store: Any, tmp_path: Path
) -> None:
    read(store, tmp_path, "a")
    report = read(store, tmp_path, "b")
    assert conditions(store) == {("", "0", "nan"), ("", "1", "nan")}
    assert (
        "as source 1: 2 runs and 4 scores of ada on quiz are replaced"
        in report.notes[0]
    )
    assert [row["source_id"] for row in store.sources().records()] == [2]
    assert is_sound(tmp_path)


def test_the_store_is_that_of_the_last_reading(store: Any, tmp_path: Path) -> None:
    """The direction that the first reading gave the metric goes with it."""
    read(store, tmp_path, "a")
    read(store, tmp_path, "c")
    (metric,) = rows(store, "distinct higher_is_better from score_summary")
    assert metric == {"higher_is_better": False}
    read(store, tmp_path, "a")
    (metric,) = rows(store, "distinct higher_is_better from score_summary")
    assert metric == {"higher_is_better": True}


def test_other_values_of_the_user_replace_too(store: Any, tmp_path: Path) -> None:
    read(store, tmp_path, "a", values={"temperature": 0.5})
    read(store, tmp_path, "a", values={"temperature": 0.7})
    assert rows(store, "distinct temperature from run_current") == [
        {"temperature": 0.7}
    ]


def test_both_are_kept_where_that_is_asked_for(store: Any, tmp_path: Path) -> None:
    read(store, tmp_path, "a")
    assert read(store, tmp_path, "b", options=LoadOptions(beside=True)).n_runs == 2
    assert len(conditions(store)) == 4


def test_a_reading_that_is_refused_replaces_nothing(store: Any, tmp_path: Path) -> None:
    read(store, tmp_path, "a")
    (tmp_path / "b.toml").write_text(
        MAPPING.format(seed="sampling_seed", higher="true").replace('"item"', '"items"')
    )
    assert read(store, tmp_path, "b").state == "refused"
    assert len(conditions(store)) == 2 and is_sound(tmp_path)


def test_a_dry_run_replaces_nothing(store: Any, tmp_path: Path) -> None:
    read(store, tmp_path, "a")
    report = read(store, tmp_path, "b", dry_run=True)
    assert "replaced" in report.notes[0] and conditions(store) == {
        ("0", "nan", "nan"),
        ("1", "nan", "nan"),
    }


def test_equal_files_of_folders_that_say_something_are_two(
    store: Any, tmp_path: Path
) -> None:
    mapping = MAPPING.format(seed="sampling_seed", higher="true").replace(
        'model = "model"\n', ""
    )
    (tmp_path / "b.toml").write_text(
        mapping + "[path]\npattern = '(?P<model>[^/]+)/s\\.csv'\n"
    )
    for name in ("ada", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.csv").write_text(TABLE)
    store.ingest(tmp_path / "ada", tmp_path / "bob", mapping=tmp_path / "b.toml")
    assert rows(store, "distinct model from run_current order by 1") == [
        {"model": "ada"},
        {"model": "bob"},
    ]


def test_several_files_that_are_read_otherwise(store: Any, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.csv").write_text(TABLE.replace("ada", f"ada{number}"))
    store.ingest(folder, mapping=tmp_path / "a.toml")
    report = store.ingest(folder, mapping=tmp_path / "b.toml")
    assert [source.state for source in report.sources] == ["loaded"] * 3
    assert rows(store, "count(*) as n from run_current where training_seed <> ''") == [
        {"n": 0}
    ]
    assert is_sound(tmp_path)


def test_what_people_said_stays_where_a_source_is_read_anew(
    store: Any, tmp_path: Path, run: Caller
) -> None:
    """Names, headline, direction, bounds, clusters, links; tags, remarks and
    invalidations of runs."""
    text = MAPPING.format(seed="training_seed", higher="true").replace(
        "[[scores]]", '[metadata]\ntopic = "item"\n[[scores]]'
    )
    (tmp_path / "d.toml").write_text(text)
    (tmp_path / "e.toml").write_text(text.replace('kind = "binary"\n', ""))
    (tmp_path / "other.csv").write_text(
        TABLE.replace("ada", "bob").replace("quiz", "exam")
    )
    store.ingest(tmp_path / "other.csv", mapping=tmp_path / "d.toml")
    read(store, tmp_path, "d")
    db = str(tmp_path / "s.db")
    of_ada = (
        store.query(
            "select run_id from run_current where model = 'ada' order by run_id"
        )
        .to_frame()["run_id"]
        .tolist()
    )
    said = (
        ("fix", "alias", "bob", "ada"),
        ("fix", "link", "exam", "quiz", "--by", "id"),
        ("fix", "cluster", "quiz", "topic", "--default"),
        ("fix", "metric", "quiz", "--metric", "score"),
        ("fix", "metric", "quiz", "--metric", "score", "--lower-is-better"),
        ("fix", "metric", "quiz", "--metric", "score", "--bounds", "0", "2"),
        ("fix", "tag", f"run:{of_ada[0]}", "kept", "--note", "a remark"),
        ("fix", "invalidate", f"run:{of_ada[1]}", "--reason", "odd"),
    )
    for words in said:
        assert run(*words, db=db).code == 0, words
    before = what_people_said(store)
    report = read(store, tmp_path, "e")
    assert "are replaced" in report.notes[0] and len(report.notes) < 3
    assert what_people_said(store) == before
    assert is_sound(tmp_path)


def what_people_said(store: Any) -> list[list[tuple[Any, ...]]]:
    selects = (
        "shown.name as a, model.name as b from model join model shown on shown.id = "
        "model.canonical_id",
        "count(*) as n, min(method) as method from prompt_link",
        "name, count(*) as n from clustering join prompt_cluster on "
        "prompt_cluster.clustering_id = clustering.id group by name",
        "name, headline_metric, default_clustering_id is null as none from benchmark "
        "order by name",
        "benchmark.name, higher_is_better, direction_by, kind, low, high from "
        "benchmark_metric join benchmark on benchmark.id = "
        "benchmark_metric.benchmark_id order by benchmark.name",
        "cast(tags as varchar) as tags, note, status, status_reason from run order by "
        "1, 2, 3",
    )
    return [
        [tuple(str(value) for value in row.values()) for row in rows(store, select)]
        for select in selects
    ]


def test_tags_stay_where_it_is_not_known_who_put_them_there(
    store: Any, tmp_path: Path, run: Caller
) -> None:
    """As of a source that an earlier version has loaded."""
    read(store, tmp_path, "a")
    db = str(tmp_path / "s.db")
    assert run("fix", "tag", "run:1", "kept", db=db).code == 0
    with open_store(db, write=True) as opened, opened.begin() as connection:
        connection.execute(
            sa.delete(tables.statement).where(
                tables.statement.c.about == run_tags.OF_PEOPLE
            )
        )
        connection.execute(
            sa.insert(tables.statement).values(
                source_id=1, about=EARLIER, subject_id=0, said={}
            )
        )
    read(store, tmp_path, "b")
    assert rows(
        store,
        "sampling_seed, cast(tags as varchar) as tags from run where tags is not null",
    ) == [{"sampling_seed": 0, "tags": '["kept"]'}]


def test_a_run_of_which_nothing_is_there_again_is_named(
    store: Any, tmp_path: Path, run: Caller
) -> None:
    read(store, tmp_path, "a")
    assert (
        run(
            "fix", "invalidate", "run:1", "--reason", "odd", db=str(tmp_path / "s.db")
        ).code
        == 0
    )
    report = read(store, tmp_path, "a", values={"benchmark": "another"})
    assert any(
        "been invalidated (odd); no run that is read now" in note
        for note in report.notes
    )
