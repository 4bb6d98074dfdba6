"""The export: complete, by natural keys, the same from either engine, whole or not
there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.stores import ENGINES, filled_store, select
from tests.support.world import build_world
from warehouse import export as exporting
from warehouse.errors import MisuseError
from warehouse.export import export
from warehouse.store.connection import Store
from warehouse.store.schema import tables
from warehouse.store.sql import natural_keys, query_files

#: Columns that end in _id and are the harness's own names.
TOOLS_OWN = {"tool_id", "harness_run_id", "tool_prompt_id", "scan_id"}


@pytest.fixture(scope="module", params=ENGINES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    rows = build_world()
    rows.rows["content"] = [
        {"sha256": bytes([number] * 32), "text": f"text {number}"}
        for number in range(5)
    ]
    with filled_store(request, request.param, rows) as filled:
        yield filled


@pytest.fixture(scope="module")
def exported(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "out"
    export(store, folder)
    return folder


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files in place of all: what becomes of folders does not depend on how many
    they hold."""
    every, views = (
        exporting._files,
        [view for view in query_files.views() if view.name == "run_current"],
    )
    monkeypatch.setattr(query_files, "views", lambda *_engine: views)
    names = ("tables/score.parquet", "views/run_current.parquet")
    monkeypatch.setattr(
        exporting,
        "_files",
        lambda *of: (file for file in every(*of) if file[0] in names),
    )


def rows_of(file: Path) -> list[str]:
    return sorted(
        json.dumps(row, default=str, sort_keys=True) for row in read(file).to_pylist()
    )


def read(file: Path) -> pa.Table:
    return pq.read_table(file)


@pytest.mark.rare
def test_every_table_and_view_is_there_whole(store: Store, exported: Path) -> None:
    expected = {
        f"tables/{name}"
        for name in tables.metadata.tables
        if name not in ("id_counter", "statement")
    }
    expected |= {f"views/{view.name}" for view in query_files.views()}
    found = {
        str(file.relative_to(exported))[:-8] for file in exported.rglob("*.parquet")
    }
    assert found == expected
    manifest = json.loads((exported / "manifest.json").read_text())
    for path in sorted(expected):
        (held,) = select(store, f"select count(*) as n from {path.split('/')[1]}")
        assert read(exported / f"{path}.parquet").num_rows == held["n"], path
        assert manifest["rows"][f"{path}.parquet"] == held["n"]


@pytest.mark.usefixtures("few_files")
def test_an_export_that_was_killed_while_it_replaced_one_loses_nothing(
    store: Store, tmp_path: Path
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder = tmp_path / "out"
    export(store, folder)
    folder.rename(tmp_path / f".out.{dead.pid}-1.part.old")
    with pytest.raises(MisuseError, match="--overwrite"):
        export(store, folder)
    assert [*tmp_path.iterdir()] == [folder] and (folder / "manifest.json").is_file()


def test_no_surrogate_key_leaves_the_store(exported: Path) -> None:
    for file in exported.rglob("*.parquet"):
        names = read(file).column_names
        assert len(names) == len(set(names)), file
        left = {
            name for name in names if name == "id" or name.endswith("_id")
        } - TOOLS_OWN
        assert left == set(), file


def test_scores_can_be_joined_and_averaged_by_natural_keys(
    store: Store, exported: Path
) -> None:
    (run,) = select(
        store,
        "select recorded_key, content_digest, execution_key from run where id = 1",
    )
    names = ("run_recorded_key", "run_content_digest", "run_execution_key")
    scores = [
        row
        for row in read(exported / "tables/score.parquet").to_pylist()
        if tuple(row[name] for name in names) == tuple(run.values())
    ]
    (held,) = select(
        store, "select estimate, metric from score_summary where run_id = 1"
    )
    values = [row["value"] for row in scores if row["metric_name"] == held["metric"]]
    assert sum(values) / len(values) == pytest.approx(held["estimate"], abs=1e-12)
    assert {row["prompt_benchmark_name"] for row in scores} == {"golden"}


def test_a_reference_to_the_same_table_is_followed(exported: Path) -> None:
    models = {
        row["name"]: row["canonical_name"]
        for row in read(exported / "tables/model.parquet").to_pylist()
    }
    assert (models["old/a"], models["org/a"]) == ("org/a", None)
    (link,) = read(exported / "tables/prompt_link.parquet").to_pylist()
    assert (link["prompt_benchmark_name"], link["canonical_prompt_benchmark_name"]) == (
        "quiz_2024",
        "quiz",
    )


@pytest.mark.rare
def test_small_slices_give_the_same_rows(
    store: Store, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "FACT_ROWS", 97)
    monkeypatch.setattr(exporting, "TEXT_ROWS", 11)
    monkeypatch.setattr(
        query_files, "views", lambda *_engine: []
    )  # they are read as the tables are
    export(store, tmp_path / "out")
    for file in (exported / "tables").iterdir():
        assert rows_of(file) == rows_of(tmp_path / "out" / "tables" / file.name), (
            file.name
        )


@pytest.mark.engine
@pytest.mark.rare
def test_both_engines_export_the_same(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    for engine in ("duckdb", "postgresql"):
        with filled_store(request, engine, build_world()) as filled:
            export(filled, tmp_path / engine)
    for name in (
        "tables/score",
        "tables/run",
        "tables/published_score",
        "views/run_current",
    ):
        one, other = (
            tmp_path / engine / f"{name}.parquet" for engine in ("duckdb", "postgresql")
        )
        assert rows_of(one) == rows_of(other), name


def test_every_reference_of_the_schema_is_known() -> None:
    known = set(natural_keys.REFERENCES) | {"canonical_id"} | TOOLS_OWN
    exported = [
        table
        for name, table in tables.metadata.tables.items()
        if name not in ("id_counter", "statement")
    ]
    columns = {column.name for table in exported for column in table.columns}
    columns |= {name for view in query_files.views() for name, _ in view.columns}
    assert {name for name in columns if name.endswith("_id")} <= known


# --- whole or not there ----------------------------------------------------------------------


@pytest.mark.usefixtures("few_files")
def test_an_export_that_dies_leaves_nothing(store: Store, tmp_path: Path) -> None:
    def die(path: str) -> None:
        if path.startswith("views/"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(store, tmp_path / "out", progress=die)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("few_files")
def test_a_folder_that_holds_something_is_left_alone(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert (
        export(store, folder).rows["tables/score.parquet"] > 0
    )  # an empty one may be there
    with pytest.raises(MisuseError, match="not empty; --overwrite replaces"):
        export(store, folder)
    (folder / "tables" / "score.parquet").unlink()
    export(store, folder, overwrite=True)
    assert (folder / "tables" / "score.parquet").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("precious", "holds no earlier export"),
        ("precious/file.txt", "is a file"),
        ("missing/out", "missing does not exist"),
    ],
)
def test_nothing_of_anybody_else_is_replaced(
    store: Store, tmp_path: Path, place: str, message: str
) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file.txt").write_text("mine")
    with pytest.raises(MisuseError, match=message):
        export(store, tmp_path / place, overwrite=True)
    assert (tmp_path / "precious" / "file.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "manifest", ['{"manifest_version": 3}', '{"rows": {"file.txt": 1}}', "[]", "{"]
)
def test_a_manifest_of_others_is_no_export(
    store: Store, tmp_path: Path, manifest: str
) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "file.txt").write_text("mine")
    with pytest.raises(
        MisuseError, match=r"holds no earlier export \(no manifest.json of one\)"
    ):
        export(store, tmp_path, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "file.txt",
        "manifest.json",
    ]
