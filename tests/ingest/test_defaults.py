"""``--default`` names what a dump lacks, ``--set`` holds whatever it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_ingest import write_run
from tests.support.cli import Caller
from warehouse.importers import importer
from warehouse.importers.common.header_values import with_values
from warehouse.ingest.discover import sources
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.watch import Watcher
from warehouse.records import Candidate, ImportSettings, RunHeader
from warehouse.store.open import open_store


def models(run: Caller, url: str) -> list[str]:
    return sorted(row["model"] for row in run("list", "runs", "--json", db=url).rows)


def tables(folder: Path) -> None:
    """Tables of two named models, one without a name, and one with a row of each."""
    folder.mkdir(exist_ok=True)
    for name in ("ada", "bob"):
        (folder / f"{name}.csv").write_text(
            f"model,benchmark,prompt_id,score\n{name},sums,q1,1\n{name},sums,q2,0\n"
        )
    (folder / "bare.csv").write_text(
        "benchmark,prompt_id,score\nsums,q1,0\nsums,q2,0\n"
    )


def test_a_default_names_only_what_has_no_name(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    tables(tmp_path / "in")
    done = run("ingest", str(tmp_path / "in"), db=store_url)
    done.fails(3, "bare.csv", "--default model=NAME")
    assert "--set" not in done.err
    (tmp_path / "in" / "mixed.csv").write_text(
        "model,benchmark,prompt_id,score\n,sums,q7,1\ncleo,sums,q7,0\n"
    )
    done = run("ingest", str(tmp_path / "in"), "--default", "model=org/x", db=store_url)
    assert done.code == 0, done.err
    assert models(run, store_url) == ["ada", "bob", "cleo", "org/x", "org/x"]
    again = run(
        "ingest", str(tmp_path / "in"), "--default", "model=org/x", db=store_url
    )
    assert "4 sources unchanged" in again.out


def test_a_value_that_would_rename_several_models_is_refused(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    tables(tmp_path / "in")
    call = ("ingest", str(tmp_path / "in"), "--set", "model=org/x")
    done = run(*call, db=store_url)
    done.fails(
        2,
        "2 models",
        "ada in ",
        "/ada.csv, bob in ",
        "/bob.csv",
        "--default model=org/x",
        "--force",
    )
    assert run("list", "runs", "--json", db=store_url).rows == []
    (tmp_path / "in" / "bob.csv").unlink()
    assert run(*call, db=store_url).code == 0  # one name may be corrected
    assert models(run, store_url) == ["org/x", "org/x"]
    tables(tmp_path / "in")
    (tmp_path / "in" / "eve.csv").write_text(
        "model,benchmark,prompt_id,score\neve,b,q,1\n"
    )
    run(*call, db=store_url).fails(2, "2 models")
    assert run(*call, "--force", db=store_url).code == 0
    assert set(models(run, store_url)) == {"org/x"}


def test_one_table_of_several_models_is_no_exception(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("model,benchmark,prompt_id,score\nada,b,q1,1\nbob,b,q1,0\n")
    run("ingest", str(path), "--set", "model=x", db=duckdb_url).fails(2, "2 models")


def test_runs_of_a_harness_are_held_to_the_same(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    for name in ("org/a", "org/b"):
        write_run(tmp_path / "in", name)
    call = ("ingest", str(tmp_path / "in"))
    run(*call, "--set", "model=org/x", db=duckdb_url).fails(2, "org/a", "org/b")
    assert run(*call, "--default", "model=org/x", db=duckdb_url).code == 0
    assert models(run, duckdb_url) == ["org/a", "org/b"]
    # what an earlier version has renamed is in the store and stays unchanged
    assert run(*call, "--set", "model=y", "--force", db=duckdb_url).code == 0
    assert "2 sources unchanged" in run(*call, "--set", "model=y", db=duckdb_url).out


def test_the_library_takes_defaults_too(store_url: str, tmp_path: Path) -> None:
    tables(tmp_path / "in")
    with open_store(store_url, create=True) as store:
        report = ingest(
            store, [tmp_path / "in"], defaults={"model": "org/x", "temperature": 0.5}
        )
        assert report.refused == ()
        found = store.arrow("select distinct temperature from run")[
            "temperature"
        ].to_pylist()
    assert found == [0.5]


def test_a_watch_groups_files_under_the_same_defaults(tmp_path: Path) -> None:
    tables(tmp_path / "in")
    reading: dict[str, Any] = {"format": None, "values": {}, "mapping": None}
    watcher = Watcher([tmp_path / "in"], settle=0, defaults={"model": "x"}, **reading)
    assert watcher.look()
    assert len(watcher.ready()[0]) == len(
        sources([tmp_path / "in"], defaults={"model": "x"})[0]
    )


def test_values_go_before_the_dump_and_defaults_behind_it() -> None:
    header = RunHeader("h", "", "b", temperature=0.0, suite=())
    done = with_values(
        header,
        {"benchmark": "c"},
        {"model": "m", "temperature": 1.0, "suite": ("s",), "step": 3},
    )
    assert (done.model, done.benchmark, done.temperature) == ("m", "c", 0.0)
    assert (done.suite, done.step) == (("s",), 3)


@pytest.mark.parametrize("field", ["values", "defaults"])
def test_an_importer_is_told_of_both(tmp_path: Path, field: str) -> None:
    path = tmp_path / "x.jsonl"
    text = '{"task_id": "t/0", "completion": "c", "result": "passed", "passed": true}\n'
    path.write_text(text)
    tool = importer("human_eval")
    (source,) = tool.claim([Candidate(path, text.encode(), len(text))])
    given: dict[str, Any] = {field: {"model": "m"}}
    assert len(tool.read(source, ImportSettings(**given)).runs) == 1


@pytest.mark.parametrize("flag", ["--default", "--set"])
def test_files_that_became_one_model_by_its_name_are_told(
    run: Caller, store_url: str, tmp_path: Path, flag: str
) -> None:
    for name, scores in (("ada", (1, 0)), ("bob", (0, 0)), ("other", (1, 1))):
        benchmark = "else" if name == "other" else "sums"
        rows = [
            f"{benchmark},q{number},{score}\n" for number, score in enumerate(scores)
        ]
        (tmp_path / f"{name}.csv").write_text(
            "".join(["benchmark,prompt_id,score\n", *rows])
        )
    said = run("ingest", str(tmp_path), flag, "model=m", db=store_url).err
    assert "ada.csv, " in said and "bob.csv became repeats of one model, m" in said
    assert "warehouse fix forget 1 && warehouse fix forget 2, then" in said
    run("fix", "forget", "1", "2", "3", db=store_url)
    calls = [
        run(
            "ingest", str(tmp_path / f"{name}.csv"), flag, f"model={name}", db=store_url
        )
        for name in ("ada", "bob")
    ]
    assert all("became repeats" not in call.err for call in calls)
