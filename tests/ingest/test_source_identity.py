"""What makes a source this source: its bytes, and everything that it takes its identity
from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_ingest import write_run
from warehouse.importers import importer
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.connection import Store
from warehouse.store.load import source_ledger
from warehouse.store.open import open_store

ROWS = "prompt_id,score\nq1,1\nq2,0\n"
MAPPING = """
files = "**/r.csv"
[run]
model = { const = "m" }
benchmark = { const = "b" }
%s
[sample]
prompt_id = "prompt_id"
[[scores]]
metric = "quality"
value = "score"
"""
METRIC = "metric = 'score'\nvalue = 'score'\n"
BY_PATH = "training_seed = { group = 'training_seed' }\n[path]\n" + (
    r"pattern = 's(?P<training_seed>\d+)/r\.csv'"
)
BY_JOIN = "step = '&about.step'\n[join.about]\nfile = 'about.json'"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with open_store(store_url, create=True) as opened:
        yield opened


@pytest.fixture
def load(store: Store, tmp_path: Path) -> Callable[..., IngestReport]:
    def load_folder(name: str = "", how: str = "", **more: Any) -> IngestReport:
        mapping = tmp_path / "m.toml"
        mapping.write_text(MAPPING % how)
        return ingest(store, [tmp_path / "in" / name], mapping=mapping, **more)

    return load_folder


def write(folder: Path, *names: str, text: str = ROWS) -> None:
    for name in names:
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text)


def column(store: Store, sql: str) -> list[Any]:
    return [next(iter(row.values())) for row in store.arrow(sql).to_pylist()]


def states(report: IngestReport) -> list[tuple[str, int, int]]:
    return [(item.state, item.n_runs, item.n_seen_again) for item in report.sources]


SEEDS = (
    "select training_seed.label from run join checkpoint on checkpoint.id = "
    "checkpoint_id "
    "join training_seed on training_seed.id = training_seed_id order by 1"
)


def test_the_same_bytes_under_two_seeds_are_two_runs(
    store: Store, load: Callable[..., IngestReport], tmp_path: Path
) -> None:
    write(tmp_path, "s1/r.csv", "s2/r.csv")
    assert load(how=BY_PATH).total("n_runs") == 2
    assert column(store, SEEDS) == ["1", "2"]
    assert states(load(how=BY_PATH)) == [("unchanged", 0, 0)] * 2
    assert len(set(column(store, "select run_group_id from run"))) == 2


def test_a_plain_copy_holds_nothing_new(
    load: Callable[..., IngestReport], tmp_path: Path
) -> None:
    write(tmp_path, "s1/r.csv", "s2/r.csv", "deep/s1/r.csv")
    assert load().total("n_runs") == 1
    assert load("s2").total("n_runs") == 0
    assert load(how=BY_PATH).total("n_runs") == 2
    write(tmp_path, "r.csv")
    shutil.move(tmp_path / "in" / "s1", tmp_path / "in" / "moved" / "s1")
    assert [state for state, *_ in states(load("moved", how=BY_PATH))] == ["unchanged"]


def test_a_joined_file_that_changes_makes_another_run(
    store: Store, load: Callable[..., IngestReport], tmp_path: Path
) -> None:
    for name, step in (("a", 100), ("b", 200)):
        write(tmp_path, f"{name}/r.csv")
        write(tmp_path, f"{name}/about.json", text=f'{{"step": {step}}}')
    assert load(how=BY_JOIN).total("n_runs") == 2
    positions = (
        "select position from run join checkpoint on checkpoint.id = checkpoint_id "
        "order by 1"
    )
    assert column(store, positions) == [100, 200]
    assert states(load(how=BY_JOIN)) == [("unchanged", 0, 0)] * 2
    write(tmp_path, "a/about.json", text='{"step": 300}')
    assert sorted(states(load(how=BY_JOIN))) == [("loaded", 1, 0), ("unchanged", 0, 0)]
    assert column(store, positions) == [100, 200, 300]


def test_values_set_make_another_source(
    load: Callable[..., IngestReport], tmp_path: Path
) -> None:
    write(tmp_path, "s1/r.csv", "s2/r.csv")
    for folder, seed in (("s1", "1"), ("s2", "2")):
        assert states(load(folder, values={"training_seed": seed})) == [
            ("loaded", 1, 0)
        ]


def test_a_folder_that_names_the_step_makes_another_run(
    store: Store, tmp_path: Path
) -> None:
    for step in (100, 200):
        write_run(tmp_path / f"step_{step}")
    first = ingest(store, [tmp_path / "step_100"])
    both = ingest(store, [tmp_path])
    assert (first.total("n_runs"), both.total("n_runs")) == (1, 1)
    assert sorted(states(both)) == [("loaded", 1, 0), ("unchanged", 0, 0)]
    shutil.copytree(tmp_path / "step_100", tmp_path / "copy" / "of" / "this")
    assert (
        ingest(store, [tmp_path / "copy"]).total("n_runs") == 1
    )  # no step: a condition of its own


def test_what_an_earlier_version_entered_is_unchanged_where_its_path_tells(
    store: Store,
    load: Callable[..., IngestReport],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path, "s1/r.csv")
    write_run(tmp_path / "logs")
    with monkeypatch.context() as before:
        before.setattr("warehouse.ingest.reading.context.context_of", lambda *_: {})
        assert load(how=BY_PATH).total("n_runs") == 1
        assert ingest(store, [tmp_path / "logs"]).total("n_runs") == 1
    assert [state for state, *_ in states(ingest(store, [tmp_path / "logs"]))] == [
        "unchanged"
    ]
    # the ledger shows 'r.csv', which does not tell the seed: what is read anew replaces it
    assert states(load(how=BY_PATH)) == [("loaded", 1, 0)]
    with monkeypatch.context() as before:
        before.setattr("warehouse.ingest.reading.context.context_of", lambda *_: {})
        write(tmp_path, "s3/r.csv", "x/s4/r.csv", text=ROWS + "q3,1\n")
        # the fault of that version; it reads s1 anew, too, as it knows no folders
        assert load(how=BY_PATH).total("n_runs") == 2
    assert sorted(states(load(how=BY_PATH))) == [
        ("loaded", 1, 0),
        ("unchanged", 0, 0),
        ("unchanged", 0, 0),
    ]
    # those of the three folders, and that of the logs
    current = "select count(*) from run where superseded_by is null"
    assert column(store, current) == [4]


def test_every_importer_says_what_it_takes_from_folders() -> None:
    from warehouse.importers import importers

    assert [
        name for name in importers() if not hasattr(importer(name), "folders")
    ] == []


def test_a_mapping_that_says_more_of_a_metric_is_heard(
    store: Store, load: Callable[..., IngestReport], tmp_path: Path
) -> None:
    """The runs of the mapping that says more take the place of those of the one before."""
    write(tmp_path, "r.csv")
    before = "note = { const = 'x' }"
    assert load(how=before).total("n_runs") == 1
    direction = "select higher_is_better from benchmark_metric"
    assert column(store, direction) == [None]
    more = f"{before}\n[metrics.quality]\nhigher_is_better = true"
    assert states(load(how=more)) == [("loaded", 1, 0)]
    assert column(store, direction) == [True] and column(
        store, "select count(*) from run"
    ) == [1]


# --- a file that changes while it is read --------------------------------------------------------


class Meddler:
    """An importer that changes the file after or before it has read it."""

    name, version, folders = "tabular", "1", 0

    def __init__(self, meddle: Callable[[Path], None], *, first: bool = False) -> None:
        self.meddle, self.first, self.real = meddle, first, importer("tabular")

    def claim(self, candidates: Any) -> Any:
        return self.real.claim(candidates)

    def read(self, source: Any, settings: Any) -> Any:
        (path,) = source.files
        if self.first:
            self.meddle(path)
        dump = self.real.read(source, settings)
        batches = list(dump.batches)
        if not self.first:
            self.meddle(path)
        dump.batches = batches
        return dump


def rewrite_in_place(path: Path) -> None:
    """Other bytes, of the same number, under the same time of change."""
    status = path.stat()
    path.write_text(path.read_text().replace("q2,0", "q2,1"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def append(path: Path) -> None:
    with path.open("a") as out:
        out.write("a,b,q3,1\n")


def replace_by_rename(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text(path.read_text())
    other.replace(path)


@pytest.mark.parametrize(
    ("first", "meddle"),
    [
        *(
            (True, meddle)
            for meddle in (rewrite_in_place, append, replace_by_rename, Path.unlink)
        ),
        *((False, meddle) for meddle in (append, Path.unlink)),
        *(
            pytest.param(False, meddle, marks=pytest.mark.slow)
            for meddle in (rewrite_in_place, replace_by_rename)
        ),
    ],
)
def test_a_file_that_changes_while_it_is_read_is_refused(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    meddle: Any,
    first: bool,
) -> None:
    path = tmp_path / "r.csv"
    text = "model,benchmark,prompt_id,score\na,b,q1,1\na,b,q2,0\n"
    path.write_text(text)
    old = path.stat().st_mtime_ns - 10**10
    os.utime(path, ns=(old, old))
    with monkeypatch.context() as patched:
        tools = {"tabular": Meddler(meddle, first=first)}
        patched.setattr("warehouse.ingest.discover.importers", lambda: tools)
        report = ingest(store, [path])
    (refused,) = report.refused
    assert "changed while it was read" in refused.error and str(path) in refused.error
    assert column(store, "select count(*) from run") == [0]
    assert source_ledger.loaded(store) == {}
    path.write_text(text)
    assert states(ingest(store, [path])) == [("loaded", 1, 0)]


def test_a_file_that_is_only_touched_by_a_backup_is_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("model,benchmark,prompt_id,score\na,b,q1,1\n")
    tools = {"tabular": Meddler(lambda path: os.link(path, path.with_suffix(".link")))}
    monkeypatch.setattr("warehouse.ingest.discover.importers", lambda: tools)
    assert states(ingest(store, [path])) == [("loaded", 1, 0)]


def test_one_that_changes_leaves_the_others_whole(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.csv").write_text(
            f"model,benchmark,prompt_id,score\n{name},b,q1,1\n"
        )

    def meddle(path: Path) -> None:
        if path.name == "b.csv":
            append(path)

    monkeypatch.setattr(
        "warehouse.ingest.discover.importers", lambda: {"tabular": Meddler(meddle)}
    )
    report = ingest(store, [tmp_path])
    assert [item.source for item in report.refused] == [str(tmp_path / "b.csv")]
    assert "changed while it was read" in report.refused[0].error
    assert report.total("n_runs") == 2


def test_a_file_that_was_corrected_is_named_with_what_takes_the_former_out(
    store: Store, load: Callable[..., IngestReport], tmp_path: Path
) -> None:
    write(tmp_path, "r.csv", "copy/r.csv")
    assert not load("r.csv").notes
    write(tmp_path, "r.csv", text=ROWS.replace("q2,0", "q2,1"))
    report = load("r.csv")
    assert report.total("n_repeats") == 1
    assert [note.rpartition("; ")[2] for note in report.notes] == [
        "if this corrects it: warehouse fix forget 1"
    ]
    write(
        tmp_path, "copy/r.csv", text=ROWS.replace("q1,1", "q1,0")
    )  # a repeat, but from elsewhere
    assert load("copy/r.csv").total("n_repeats") == 1 and not load("copy/r.csv").notes


@pytest.mark.parametrize(
    ("published", "says"),
    [("0.625", ["score 0.625 published by run", "0.5 from 2"]), ("0.5", [])],
)
@pytest.mark.parametrize("names", [("board", "samples"), ("samples", "board")])
def test_published_figures_are_held_against_samples_from_elsewhere(
    store: Store,
    tmp_path: Path,
    published: str,
    says: list[str],
    names: tuple[str, str],
) -> None:
    write(
        tmp_path,
        "samples.csv",
        text="model,benchmark,prompt_id,score\nm,b,q1,1\nm,b,q2,0\n",
    )
    write(tmp_path, "board.csv", text=f"model,benchmark,score\nm,b,{published}\n")
    board = tmp_path / "board.toml"
    board.write_text(
        "files = 'board.csv'\n"
        "[run]\n"
        "model = 'model'\n"
        "benchmark = 'benchmark'\n"
        "[[published]]\n" + METRIC
    )
    told = [
        ingest(
            store,
            [tmp_path / "in" / f"{name}.csv"],
            mapping=board if name == "board" else None,
        ).notes
        for name in names
    ]
    assert [all(text in note for text in says) for note in told[1]] == [True] * bool(
        says
    )
