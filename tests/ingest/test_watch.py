"""Watching folders: what settles is ingested, once; it ends cleanly."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.forked import COMMAND, Popen
from tests.support.lm_eval import FIXTURES
from tests.support.races import dumps
from warehouse.ingest.file_rules import FileRules
from warehouse.ingest.watch import Watcher
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

LINE = "org/a,quiz,p{},acc,1\n"
HEADER = "model,benchmark,prompt_id,metric,score\n"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def ready(watcher: Watcher) -> tuple[list[str], list[str]]:
    """Names of the files that are ready, and of those nobody knows."""
    if not watcher.look():
        return [], []
    chosen, unknown = watcher.ready()
    return [path.name for files in chosen for path in files], [
        item.path.name for item in unknown
    ]


def test_a_file_is_ready_when_it_has_stayed_the_same(
    tmp_path: Path, clock: Clock
) -> None:
    watcher = Watcher([tmp_path], settle=2, clock=clock)
    (tmp_path / "a.csv").write_text(HEADER)
    found = []
    for now in (0, 1, 2, 3, 4, 5):
        clock.now = now
        if now == 1:
            (tmp_path / "a.csv").write_text(HEADER + LINE.format(1))
        found.append(ready(watcher)[0])
    assert found == [[], [], [], ["a.csv"], ["a.csv"], ["a.csv"]]


def test_what_is_taken_comes_again_when_it_changes(
    tmp_path: Path, clock: Clock
) -> None:
    watcher = Watcher([tmp_path], settle=1, clock=clock)
    (tmp_path / "a.csv").write_text(HEADER + LINE.format(1))
    (tmp_path / "readme.txt").write_text("words")
    (tmp_path / ".hidden.csv").write_text(HEADER)
    ready(watcher)
    clock.now = 1
    assert ready(watcher) == (["a.csv"], ["readme.txt"])
    watcher.take([tmp_path / "a.csv", tmp_path / "readme.txt"])
    assert not watcher.look()
    os.utime(tmp_path / "readme.txt", ns=(1, 1))
    assert not watcher.look()
    clock.now = 2
    assert ready(watcher) == ([], ["readme.txt"])


@pytest.mark.parametrize("within", [True, False])
def test_a_source_comes_again_when_a_table_changes_that_it_is_joined_with(
    tmp_path: Path, clock: Clock, within: bool
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    other = (folder if within else tmp_path) / "labels.csv"
    (folder / "a.jsonl").write_text('{"id": 1, "score": 1}\n')
    other.write_text("id,subject\n1,maths\n")
    (tmp_path / "map.toml").write_text(
        'files = ["a.jsonl"]\n[run]\nmodel = { const = "m" }\nbenchmark = { const = "b" }\n'
        '[sample]\nprompt_id = "id"\ntext = "&labels.subject"\n[[scores]]\nmetric = "acc"\nvalue = "score"\n'
        f'[join.labels]\nfile = "{"" if within else "../"}labels.csv"\nkey = "id"\non = "id"\n'
    )
    watcher = Watcher([folder], settle=1, clock=clock, mapping=tmp_path / "map.toml")
    found = []
    for now in range(12):
        clock.now = now
        if now == 5:
            other.write_text("id,subject\n1,chemistry\n")
        names, unknown = ready(watcher)
        assert unknown == []
        watcher.take([folder / name for name in names])
        found.append(names)
    assert [now for now, names in enumerate(found) if names] == [1, 6]


def test_a_file_waits_for_nobody_where_the_settings_name_its_mapping(
    tmp_path: Path, clock: Clock
) -> None:
    (tmp_path / "strange.csv").write_text("who,which,right\norg/a,1,1\n")
    (tmp_path / "quiz.toml").write_text(
        '[run]\nmodel = "who"\nbenchmark = { const = "quiz" }\n'
        '[sample]\nprompt_id = "which"\n[[scores]]\nmetric = "acc"\nvalue = "right"\n'
    )
    rules = FileRules((("strange.csv", str(tmp_path / "quiz.toml")),), ("*.toml",))
    watcher = Watcher([tmp_path], settle=0, clock=clock, rules=rules)
    assert ready(watcher) == (["strange.csv"], [])
    without = Watcher([tmp_path], settle=0, clock=clock)
    assert "strange.csv" in ready(without)[1]


def test_files_that_belong_together_wait_for_each_other(
    tmp_path: Path, clock: Clock
) -> None:
    files = sorted(path for path in (FIXTURES / "v0_4_9").rglob("*") if path.is_file())
    watcher = Watcher([tmp_path], settle=2, clock=clock)
    for now, path in enumerate(files):
        clock.now = now
        shutil.copy(path, tmp_path)
        assert ready(watcher)[0] == []
    clock.now = len(files)  # the last one has been there for a second
    assert ready(watcher)[0] == []
    clock.now += 1
    assert sorted(ready(watcher)[0]) == [path.name for path in files]


def test_a_folder_that_goes_has_no_files(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "runs"
    watcher = Watcher([folder], settle=0, clock=clock)
    assert not watcher.look()
    dumps(folder, 1)
    assert ready(watcher)[0] == ["dump-0000.csv"]
    (folder / "dump-0000.csv").unlink()
    folder.rmdir()
    assert not watcher.look()


@pytest.mark.rare_on_server
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.rare), signal.SIGTERM]
)
def test_the_command_ingests_publishes_and_stops(
    bare_url: str,
    tmp_path: Path,
    number: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(
        "PYTHONUNBUFFERED", raising=False
    )  # with it every line of a pipe is out at once
    folder, copy = tmp_path / "runs", tmp_path / "copy.db"
    dumps(folder, 1)
    (folder / "bad.csv").write_text(
        HEADER + "org/a,quiz,p1,acc,1\norg/a,quiz,p1,acc,0\n"
    )
    server = "postgresql" in bare_url
    command = [
        str(COMMAND),
        "--db",
        bare_url,
        "ingest",
        str(folder),
        "--watch",
        "--settle",
        "0.2",
    ]
    command += [] if server else ["--publish", str(copy)]
    with Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as watching:
        line = reader(watching)
        first = line()
        assert "2 sources, 1 runs new" in first and "1 refused" in first
        dumps(folder, 3)  # the first is written anew, the same
        seen = ""
        while "dump-0002" not in "".join(sources(bare_url)):
            seen = line()
            assert seen and "1 refused" not in seen  # the bad one is not read again
        watching.send_signal(number)
        _, said = watching.communicate(timeout=60)
    assert watching.returncode == 0, said
    assert "taken as higher is better" in said
    assert (
        said.count("bad.csv") == 1
        and said.endswith("stopped\n")
        and "Traceback" not in said
    )
    assert server or copy.exists()
    with open_store(bare_url) as store:
        assert check(store).ok


def reader(watching: subprocess.Popen[str]) -> Callable[[], str]:
    assert watching.stdout is not None
    return watching.stdout.readline


def sources(url: str) -> list[str]:
    with open_store(url, wait=30) as store:
        query = "select path from source where state = 'loaded' order by path"
        return list(store.arrow(query)["path"].to_pylist())


def test_what_does_not_go_together(
    capsys: pytest.CaptureFixture[str], duckdb_url: str, tmp_path: Path
) -> None:
    call = Caller(capsys)
    for flag in ("--dry-run", "--json"):
        call("ingest", str(tmp_path), "--watch", flag, db=duckdb_url).fails(
            2, "--watch"
        )
