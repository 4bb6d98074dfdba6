"""`schedule`, as real processes: what a run does, what it survives, how it ends."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller, in_fork
from tests.support.forked import COMMAND, Popen
from tests.support.lakes import INSTALLED, held_against, needs_lake, rows_of
from tests.support.stores import opener_of, select
from warehouse.api import connect
from warehouse.errors import StoreLockedError
from warehouse.schedule.job import Job, Outcome, run_job
from warehouse.schedule.log import JobLog
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener, open_store
from warehouse.store.schema.migrate import check
from warehouse.store.snapshot import publish

HEADER = "model,benchmark,prompt_id,metric,score\n"
EVERY_SECOND = "* * * * * *"
YEARLY = "0 0 1 1 *"
BROKEN_FAMILY = """
class Broken:
    name, version = "broken", "1"

    def questions(self, data, settings):
        from warehouse.analysis.families.family import RefreshQuestion
        return [RefreshQuestion("all", tuple(data.conditions))]

    def compute(self, data, question, settings):
        raise ZeroDivisionError("a defect of the family")


FAMILY = Broken()
"""
POINTS = "[warehouse.metrics]\nbroken = broken_family:FAMILY\n"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Caller:
    return Caller(capsys)


def dump(path: Path, model: str, unscored: int = 0) -> Path:
    """A dump of 40 prompts, of which some have no score."""
    path.parent.mkdir(exist_ok=True)
    scores = ["" if i < unscored else str(i % 3 // 2) for i in range(40)]
    path.write_text(
        HEADER
        + "".join(f"{model},quiz,p{i},acc,{score}\n" for i, score in enumerate(scores))
    )
    return path


def loaded(url: str) -> list[str]:
    with open_store(url, wait=30) as store:
        rows = select(
            store, "select path from source where state = 'loaded' order by path"
        )
    return [Path(row["path"]).name for row in rows]


class Events(list[dict[str, Any]]):
    """Lines of a log of JSON."""

    def __init__(self, text: str = "") -> None:
        super().__init__(json.loads(line) for line in text.splitlines())

    def named(self, event: str) -> list[dict[str, Any]]:
        """Fields of the events of a name."""
        return [one["fields"] for one in self if one["event"] == event]


class Once:
    """Does the job once, in the current folder; what it told."""

    def __init__(self, call: Caller, url: str) -> None:
        self.call, self.url = call, url

    def __call__(self, *arguments: str, code: int = 0) -> Events:
        words = ("schedule", "--once", "--log-format", "json", *arguments)
        done = self.call(*words, db=self.url)
        assert done.code == code, done.err
        assert not done.out
        return Events(done.err)


@pytest.fixture
def once(
    call: Caller, duckdb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Once:
    monkeypatch.chdir(tmp_path)
    return Once(call, duckdb_url)


class Running:
    """A scheduler at work; its events are read one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.events = process, Events()

    def until(self, event: str) -> dict[str, Any]:
        """Read on to the next event of this name; its fields."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.events.append(json.loads(line))
            if self.events[-1]["event"] == event:
                return dict(self.events[-1]["fields"])
        raise AssertionError(f"it ended without {event}: {self.events}")

    def stops(self, *numbers: signal.Signals) -> int:
        """Send signals and read to its end; the exit code."""
        for place, number in enumerate(numbers):
            if place:  # two at once would be one
                self.until("stopping")
            self.process.send_signal(number)
        assert self.process.stderr is not None
        self.events += Events(self.process.stderr.read())
        return self.process.wait(timeout=30)


@contextmanager
def running(folder: Path, *arguments: str, url: str = "") -> Iterator[Running]:
    words = [
        *(["--db", url] if url else []),
        "schedule",
        "--log-format",
        "json",
        *arguments,
    ]
    with Popen(
        [str(COMMAND), *words],
        cwd=folder,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    ) as process:
        try:
            yield Running(process)
        finally:
            if process.poll() is None:
                process.kill()


# --- one run ---------------------------------------------------------------------------------


@pytest.mark.rare
def test_a_run_ingests_refreshes_alerts_and_reports(
    once: Once, bare_url: str, tmp_path: Path
) -> None:
    once.url = bare_url
    dump(tmp_path / "new" / "a.csv", "org/a", unscored=4)
    dump(tmp_path / "new" / "b.csv", "org/b")
    (tmp_path / "warehouse.toml").write_text("[alerts]\nmax_unscored = 0.05\n")
    ask = (
        "--watch",
        "new",
        "--settle",
        "0",
        "--report",
        "out.html",
        "--prune-older-than",
        "90d",
    )
    found = once(*ask, code=1)
    assert [one["step"] for one in found.named("step_finished")] == [
        "ingest",
        "refresh",
        "alerts",
        "prune",
        "report",
    ]
    (alert,) = found.named("alert")
    assert (alert["rule"], alert["benchmark"]) == ("unscored", "quiz")
    assert alert["subject"].startswith("org/a#") and "10.0%" in alert["message"]
    (finished,) = found.named("job_finished")
    assert (finished["result"], finished["sources_loaded"], finished["alerts"]) == (
        "alerts",
        2,
        1,
    )
    assert "<title>" in (tmp_path / "out.html").read_text()
    again = once(*ask)
    (finished,) = again.named("job_finished")
    assert (finished["result"], finished["exit_code"]) == ("ok", 0)
    assert (
        finished["sources_loaded"]
        == finished["figures_recomputed"]
        == finished["alerts"]
        == 0
    )
    assert loaded(bare_url) == ["a.csv", "b.csv"]
    for event in (*found, *again):
        assert list(event) == ["time", "level", "event", "fields"]
        datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
        assert event["level"] in ("info", "warning", "error")


@pytest.mark.rare
def test_what_goes_wrong_in_a_step_leaves_the_others(
    duckdb_url: str, tmp_path: Path
) -> None:
    """A folder that is not there, a refused dump, a family that raises, a webhook that
    nobody answers, a copy and a report that cannot be written."""
    package = tmp_path / "plugins" / "broken_family-1.dist-info"
    package.mkdir(parents=True)
    (package / "entry_points.txt").write_text(POINTS)
    (package / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken-family\nVersion: 1\n"
    )
    (package.parent / "broken_family.py").write_text(BROKEN_FAMILY)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]  # nobody listens there
    (tmp_path / "warehouse.toml").write_text(
        f"[alerts]\nmax_unscored = 0.05\nwebhook = 'http://127.0.0.1:{port}/secret'\n"
        "[schedule]\nwatch = ['none', 'new']\nsettle = 0\nreport = 'none/out.html'\n"
        "publish = 'none/copy.db'\n"
    )
    dump(tmp_path / "new" / "a.csv", "org/a", unscored=4)
    (tmp_path / "new" / "bad.csv").write_text(HEADER + "org/a,q,p1,acc,x\n")
    words = (
        "--db",
        duckdb_url,
        "--config",
        "warehouse.toml",
        "schedule",
        "--once",
        "--log-format",
        "json",
    )
    done = in_fork(*words, folder=tmp_path, packages=package.parent)
    assert done.returncode == 3, done.stderr  # that of the dump
    found = Events(done.stderr)
    failed = {one["step"]: one["error"] for one in found.named("step_failed")}
    assert list(failed) == ["ingest", "alerts", "publish", "report"]  # not the refresh
    assert "no file or folder 'none'" in failed["ingest"]
    assert "webhook at 127.0.0.1 did not take" in failed["alerts"]
    assert "secret" not in str(found)
    for step in ("publish", "report"):
        assert "the folder none does not exist" in failed[step]
    assert found.named("source_refused")[0]["error"].count("bad.csv") == 1
    (figure,) = found.named("figure_failed")
    assert "ZeroDivisionError: a defect of the family" in figure["error"]
    assert [one["rule"] for one in found.named("alert")] == ["unscored"]
    (finished,) = found.named("job_finished")
    assert (finished["result"], finished["sources_loaded"]) == ("failed", 1)
    assert finished["figures_recomputed"] > 0


@pytest.mark.rare
def test_what_was_refused_before_and_is_the_same_is_no_mistake_again(
    once: Once, tmp_path: Path
) -> None:
    """Nor is a page rewritten that shows the same."""
    call = ("--watch", "new", "--settle", "0", "--report", "out.html")
    dump(tmp_path / "new" / "a.csv", "org/a")
    bad = tmp_path / "new" / "bad.csv"
    bad.write_text(HEADER + "org/a,q,p1,acc,1\norg/a,q,p1,acc,0\n")
    assert len(once(*call, code=3).named("source_refused")) == 1
    page = tmp_path / "out.html"
    written = page.stat().st_mtime_ns
    again = once(*call)
    assert again.named("source_refused") == []
    (finished,) = again.named("job_finished")
    assert (
        finished["result"],
        finished["sources_refused"],
        finished["sources_refused_before"],
    ) == ("ok", 0, 1)
    assert [
        one["unchanged"]
        for one in again.named("step_finished")
        if one["step"] == "report"
    ] == [True]
    assert page.stat().st_mtime_ns == written
    bad.write_text(HEADER + "org/a,q,p1,acc,1\norg/a,q,p1,acc,0\norg/a,q,p2,acc,0\n")
    assert (
        len(once(*call, code=3).named("source_refused")) == 1
    )  # it has changed: told again
    dump(tmp_path / "new" / "b.csv", "org/b")
    once(*call)
    assert page.stat().st_mtime_ns > written and "org/b" in page.read_text()
    dump(
        tmp_path / "new" / "b.csv", "org/b", unscored=20
    )  # what it said before counts beside it
    notes = [one for one in once(*call) if one["event"] == "note"]
    assert [
        note["level"]
        for note in notes
        if "b.csv was read before" in note["fields"]["text"]
    ] == ["warning"]


def test_a_file_that_is_being_written_waits(once: Once, tmp_path: Path) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    old = dump(tmp_path / "new" / "b.csv", "org/b")
    ahead = dump(tmp_path / "new" / "c.csv", "org/c")
    os.utime(old, (0, time.time() - 700))
    os.utime(
        ahead, (0, time.time() + 9_000)
    )  # another machine's clock: no reason to wait
    found = once("--watch", "new", "--settle", "600")
    step = found.named("step_finished")[0]
    assert (step["sources"], step["sources_loaded"], step["sources_waiting"]) == (
        2,
        2,
        1,
    )
    assert loaded(once.url) == ["b.csv", "c.csv"]


def run(
    url: str,
    job: Job,
    log: JobLog,
    stopped: Callable[[], bool],
    opener: StoreOpener | None = None,
) -> Outcome:
    create = partial(open_store, url, create=True)
    return run_job(
        job,
        opener or opener_of(url),
        log,
        stopped,
        create=create,
        publish=partial(publish, url),
    )


def test_a_report_is_made_from_the_copy_if_there_is_one(
    duckdb_url: str, tmp_path: Path
) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    copy, page, stream = tmp_path / "copy.db", tmp_path / "out.html", io.StringIO()

    def reading() -> Store:
        if copy.exists():
            raise StoreLockedError("from then on somebody writes to the store")
        return open_store(duckdb_url)

    held = StoreOpener(reading, opener_of(duckdb_url).writing)
    job = Job((str(tmp_path / "new"),), settle=0, publish=str(copy), report=str(page))
    found = run(duckdb_url, job, JobLog("json", stream), lambda: False, held)
    assert found.result == "ok", stream.getvalue()
    assert "org/a" in page.read_text() and loaded(str(copy)) == ["a.csv"]


@pytest.mark.lake
@needs_lake
def test_a_lake_is_brought_up_in_one_version_after_the_refresh(
    once: Once, duckdb_url: str, tmp_path: Path
) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    call = ("--watch", "new", "--settle", "0", "--lake", "lake")
    (step,) = [
        one for one in once(*call).named("step_finished") if one["step"] == "lake"
    ]
    assert (step["location"], step["version"], step["runs_written"]) == (
        str(tmp_path / "lake"),
        0,
        1,
    )
    assert held_against(duckdb_url, tmp_path / "lake").verdict == "same"
    assert len(rows_of(tmp_path / "lake", "metric_value")) > 0
    dump(tmp_path / "new" / "b.csv", "org/b")
    (tmp_path / "warehouse.toml").write_text(
        "[schedule]\nlake = 'lake'\npublish = 'copy.db'\n"
    )
    found = once(*call[:4])  # the file says it too; from the copy
    assert [one["step"] for one in found.named("step_finished")][-2:] == [
        "publish",
        "lake",
    ]
    assert len(rows_of(tmp_path / "lake", "run")) == 2
    assert held_against(duckdb_url, tmp_path / "lake").verdict == "same"


@pytest.mark.lake
@needs_lake
def test_a_lake_of_another_store_is_left_and_told(
    once: Once, tmp_path: Path, duckdb_url: str
) -> None:
    other = f"duckdb:///{tmp_path / 'other.duckdb'}"
    connect(other).ingest(
        dump(tmp_path / "other" / "o.csv", "org/o"), lake=str(tmp_path / "lake")
    )
    dump(tmp_path / "new" / "a.csv", "org/a")
    found = once(
        "--watch",
        "new",
        "--settle",
        "0",
        "--lake",
        "lake",
        "--report",
        "out.html",
        code=2,
    )
    (failed,) = found.named("step_failed")
    assert failed["step"] == "lake" and "made from another store" in failed["error"]
    assert (tmp_path / "out.html").exists() and loaded(duckdb_url) == ["a.csv"]
    assert held_against(other, tmp_path / "lake").verdict == "same"


@pytest.mark.parametrize("checks", [0, 2, 4])
@pytest.mark.rare
def test_stopped_at_any_point_the_next_run_completes(
    duckdb_url: str, tmp_path: Path, checks: int
) -> None:
    for name in ("a", "b"):
        dump(tmp_path / "new" / f"{name}.csv", f"org/{name}")
    log = JobLog("json", io.StringIO())
    job = Job(watch=(str(tmp_path / "new"),), settle=0)
    asked = itertools.count()
    found = run(duckdb_url, job, log, lambda: next(asked) >= checks)
    assert (found.result, found.exit_code) == ("stopped", 1)
    assert run(duckdb_url, job, log, lambda: False).result == "ok"
    assert loaded(duckdb_url) == ["a.csv", "b.csv"]
    with open_store(duckdb_url) as store:
        assert check(store).ok
        rows = select(
            store, "select distinct subject from metric_current where statistic='score'"
        )
    assert len(rows) == 2


def test_an_empty_folder_is_no_fault(once: Once, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "notes.txt").write_text("words")
    found = once("--watch", "new", "--settle", "0")
    step = found.named("step_finished")[0]
    assert (step["sources"], step["files_of_no_format"]) == (0, 1)
    assert found.named("job_finished")[0]["result"] == "ok"


#: A table whose columns no name says.
STRANGE = "who,which,right\n" + "".join(f"org/m,p{i},{i % 2}\n" for i in range(6))
MAPPING = """[run]
model = "who"
benchmark = { const = "quiz" }

[sample]
prompt_id = "which"

[[scores]]
metric = "acc"
value = "right"

[metrics.acc]
kind = "binary"
higher_is_better = true
"""


def test_a_file_that_nobody_reads_makes_the_job_incomplete_and_says_what_to_do(
    once: Once, tmp_path: Path
) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    (tmp_path / "new" / "costs.json").write_text('{"dollars": 3}')
    found = once("--watch", "new", "--settle", "0", code=3)
    finished = found.named("job_finished")[0]
    assert (finished["result"], finished["exit_code"]) == ("incomplete", 3)
    assert (finished["sources_loaded"], finished["files_not_read"]) == (1, 1)
    (told,) = found.named("file_not_read")
    assert "new/costs.json: no importer knows this file" in told["error"]
    assert "[ingest.maps]" in told["error"]
    again = once("--watch", "new", "--settle", "0", code=3)  # until it is settled
    assert again.named("job_finished")[0]["result"] == "incomplete"
    (tmp_path / "warehouse.toml").write_text('[ingest]\nignore = ["new/costs.json"]\n')
    assert once("--watch", "new", "--settle", "0").named("job_finished") != []


def test_the_settings_say_which_mapping_reads_which_files_of_a_watched_folder(
    once: Once, tmp_path: Path
) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    (tmp_path / "new" / "strange.csv").write_text(STRANGE)
    (tmp_path / "quiz.toml").write_text(MAPPING)
    (tmp_path / "warehouse.toml").write_text(
        '[ingest.maps]\n"new/strange*.csv" = "quiz.toml"\n'
    )
    found = once("--watch", "new", "--settle", "0")
    assert found.named("job_finished")[0]["sources_loaded"] == 2
    notes = [note["text"] for note in found.named("note")]
    assert "read by the mapping quiz.toml (ingest.maps): new/strange.csv" in notes, (
        notes
    )
    assert once("--watch", "new", "--settle", "0").named("file_not_read") == []


def test_no_store_is_told(once: Once, tmp_path: Path) -> None:
    (tmp_path / "store.duckdb").unlink()
    assert "no store at" in once(code=4).named("step_failed")[0]["error"]


def test_an_engine_that_fails_is_store_trouble_and_says_what_to_do(
    once: Once, tmp_path: Path
) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    with open_store(once.url, create=True) as store, store.begin() as connection:
        connection.exec_driver_sql(
            "drop table metric_value"
        )  # views stay: one that is missing is refused before
    failed = {
        one["step"]: one["error"]
        for one in once("--watch", "new", "--settle", "0", code=4).named("step_failed")
    }
    assert failed["refresh"].startswith("the store failed: Catalog Error: ")
    assert failed["refresh"].endswith("See: warehouse store check")


def test_a_store_that_is_held_is_told(duckdb_url: str, tmp_path: Path) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    with open_store(duckdb_url, create=True):
        done = in_fork(
            "--db",
            duckdb_url,
            "--wait",
            "0",
            "schedule",
            "--once",
            "--log-format",
            "json",
            "--watch",
            "new",
            folder=tmp_path,
        )
    assert done.returncode == 4
    failed = Events(done.stderr).named("step_failed")
    assert [one["step"] for one in failed] == ["ingest", "refresh"]
    assert str(os.getpid()) in failed[0]["error"]


# --- the process that stays ------------------------------------------------------------------


def works_and_stops(url: str, folder: Path, number: signal.Signals) -> None:
    health, copy = folder / "health.json", folder / "copy.db"
    dump(folder / "new" / "a.csv", "org/a")
    ask = [
        "--cron",
        EVERY_SECOND,
        "--watch",
        "new",
        "--settle",
        "0",
        "--health",
        str(health),
    ]
    ask += [] if "postgresql" in url else ["--publish", str(copy)]
    ask += ["--lake", str(folder / "lake")] if INSTALLED else []
    with running(folder, *ask, url=url) as at_work:
        started = at_work.until("started")
        assert (
            started["pid"]
            == at_work.process.pid
            == json.loads(health.read_text())["pid"]
        )
        assert at_work.until("job_finished")["sources_loaded"] == 1
        dump(folder / "new" / "b.csv", "org/b")
        at_work.until("times_left_out")  # a job takes longer than a second
        assert "a.csv" in loaded(url)  # between jobs the store is anybody's
        now = json.loads(health.read_text())
        assert now["last"]["result"] == "ok" and now["last"]["sources_loaded"] == 1
        assert at_work.until("step_finished")["sources_loaded"] == 1
        assert at_work.stops(number) == 0
    names = [event["event"] for event in at_work.events]
    assert "stopping" in names and names[-1] == "stopped"
    assert {"output", "job_died", "killing", "step_failed"}.isdisjoint(names)
    now = json.loads(health.read_text())
    assert now["state"] == "stopped" and now["next_run"] is None
    assert (
        now["last"]["result"]
        == at_work.events.named("job_finished")[-1]["result"]
        == "stopped"
    )
    assert loaded(url) == ["a.csv", "b.csv"]
    assert "postgresql" in url or copy.exists()
    assert not INSTALLED or (folder / "lake" / "lake_version").exists()
    assert [path.name for path in folder.iterdir() if path.suffix == ".part"] == []


@pytest.mark.rare
def test_it_runs_again_and_again_and_stops_when_asked(
    duckdb_url: str, tmp_path: Path
) -> None:
    works_and_stops(duckdb_url, tmp_path, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_same_on_each_engine_by_each_signal(
    store_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    works_and_stops(store_url, tmp_path, number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_idle_it_stops_at_once(tmp_path: Path, number: signal.Signals) -> None:
    health = tmp_path / "health.json"
    with running(
        tmp_path, "--cron", YEARLY, "--timezone", "UTC", "--health", str(health)
    ) as at_work:
        next_run = at_work.until("started")["next_run"]
        assert next_run.endswith("-01-01T00:00:00.000Z")
        now = json.loads(health.read_text())
        assert (now["state"], now["next_run"], now["last"]) == (
            "waiting",
            next_run,
            None,
        )
        assert at_work.stops(number) == 0
    assert [one["event"] for one in at_work.events] == ["started", "stopped"]
    assert not (tmp_path / "warehouse.duckdb").exists()


@pytest.mark.rare
@pytest.mark.parametrize(
    ("grace", "numbers"),
    [("0.3", [signal.SIGTERM]), ("600", [signal.SIGTERM, signal.SIGTERM])],
    ids=["within the bound", "a second signal: at once"],
)
def test_a_run_that_does_not_end_is_ended(
    duckdb_url: str, tmp_path: Path, grace: str, numbers: list[signal.Signals]
) -> None:
    dump(tmp_path / "new" / "a.csv", "org/a")
    health = tmp_path / "health.json"
    ask = ["--wait", "900", "--cron", EVERY_SECOND, "--watch", "new", "--grace", grace]
    with (
        open_store(duckdb_url, create=True),  # the run waits for us
        running(tmp_path, *ask, "--health", str(health), url=duckdb_url) as at_work,
    ):
        at_work.until("step_started")
        assert at_work.stops(*numbers) == 0
    assert at_work.events.named("killing") and at_work.events.named("job_died")
    assert json.loads(health.read_text())["last"]["result"] == "killed"
    assert loaded(duckdb_url) == []  # nothing half done


def test_a_run_that_dies_does_not_end_it(tmp_path: Path) -> None:
    """Here because ``warehouse.toml`` is broken by then; what it says is part of the
    log."""
    with running(tmp_path, "--cron", EVERY_SECOND) as at_work:
        at_work.until("started")
        (tmp_path / "warehouse.toml").write_text("[store")
        assert at_work.until("job_died") == {"result": "crashed", "exit_code": 3}
        assert "warehouse.toml: not TOML" in at_work.events.named("output")[0]["text"]
        (tmp_path / "warehouse.toml").unlink()
        assert at_work.until("job_started")  # it has gone on
        assert at_work.stops(signal.SIGTERM) == 0


# --- what is refused, what is shown ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--cron", "0 0 30 2 *"], 2, "--cron: '0 0 30 2 *' never fires"),
        (["--cron", "x"], 2, "--cron: 'x' has 1 fields; expected five"),
        ([], 2, "give --cron, or schedule.cron in warehouse.toml"),
        (
            ["--cron", "* * * * *", "--timezone", "Mars"],
            2,
            "--timezone: no time zone 'Mars'",
        ),
        (["--cron", "* * * * *", "--log-format", "xml"], 2, "--log-format"),
        (["--cron", "* * * * *", "--grace", "-1"], 2, "--grace"),
        (
            ["--cron", "* * * * *", "--prune-older-than", "soon"],
            2,
            "not an age such as",
        ),
        (
            ["--cron", "* * * * *", "--health", "none/h.json"],
            2,
            "the folder none does not exist",
        ),
        (["--cron", "* * * * *", "--json"], 2, "go with --show-next"),
        (["--once", "--health", "h.json"], 2, "--once goes with neither"),
        (["--once", "--show-next", "3"], 2, "--once goes with neither"),
        (["--once", "--cron", "x"], 2, "--cron is for a process that stays"),
        (
            ["--cron", "x", "--show-next", "1"],
            2,
            "--cron: 'x' has 1 fields; expected five",
        ),
        (
            ["--cron", "* * * * *", "--show-next", "1", "--settle", "3"],
            2,
            "--settle is for the job",
        ),
    ],
)
def test_a_mistake_is_refused_at_the_start(
    call: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    call("schedule", *arguments).fails(code, message)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            "[schedule]\n\ncron = '0 0 31 4 *'",
            2,
            "schedule.cron (warehouse.toml, line 3): '0 0 31",
        ),
        (
            "[schedule]\ncron = '* * * * *'\ntimezone = 'x'",
            2,
            "(warehouse.toml, line 3): no time",
        ),
        (
            "[schedule]\ngrace = -1",
            3,
            "line 2: schedule.grace is -1; expected a number of seconds",
        ),
        (
            "[schedule]\nlog_format = 'xml'",
            3,
            "schedule.log_format is 'xml'; expected 'text' or",
        ),
        ("[schedule]\nevery = '1h'", 3, "unknown key 'schedule.every'"),
        (
            "[schedule]\ncron='* * * * *'\n[refresh]\nfamilies = ['x']",
            2,
            "line 4: no metric family 'x'",
        ),
        (
            "[schedule]\ncron='* * * * *'\n[alerts]\nalpha = 1",
            2,
            "alpha of alerts lies between",
        ),
    ],
)
def test_a_mistake_in_the_file_is_refused_at_the_start(
    call: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.toml").write_text(text)
    call("schedule").fails(code, message)


def test_the_next_times_are_shown_and_flags_win(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.toml").write_text(
        "[schedule]\n"
        "cron = '0 6 * * *'\n"
        "timezone = 'Asia/Kolkata'\n"
        "prune_older_than = '90d'\n"
    )
    shown = {row["setting"]: row["value"] for row in call("config", "--json").rows}
    assert shown["schedule.cron"] == "0 6 * * *"
    rows = call("schedule", "--show-next", "2", "--json").rows
    assert [row["time"][10:] for row in rows] == ["T06:00:00+05:30"] * 2
    assert [row["utc"][10:] for row in rows] == ["T00:30:00+00:00"] * 2
    rows = call("schedule", "--show-next", "1", "--json", "--cron", "5 7 * * *").rows
    assert rows[0]["time"][10:] == "T07:05:00+05:30"
