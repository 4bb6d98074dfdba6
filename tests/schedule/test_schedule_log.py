"""The log and the health file of a schedule: one form whatever comes, no failure of
their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.errors import MisuseError
from warehouse.schedule.log import Form, Health, JobLog, stamp
from warehouse.schedule.worker import Stop, run_child

NOW = datetime(2026, 5, 4, 3, 2, 1, 999_999, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=4,
)


def log(form: Form = "json", *, quiet: bool = False) -> tuple[JobLog, io.StringIO]:
    stream = io.StringIO()
    return JobLog(form, stream, quiet=quiet, clock=lambda: NOW), stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_time_is_utc_to_the_millisecond() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert stamp(east) == stamp(NOW) == "2026-05-04T03:02:01.999Z"


@given(st.text(max_size=40), JSON)
def test_whatever_is_told_is_one_line(text: str, value: Any) -> None:
    told, stream = log()
    told.write("event", "error", text=text, value=value)
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line) == {
        "time": "2026-05-04T03:02:01.999Z",
        "level": "error",
        "event": "event",
        "fields": {"text": text, "value": value},
    }
    told, stream = log("text")
    told.write("event", text=text, value=value)
    assert stream.getvalue().count("\n") == len(stream.getvalue().splitlines()) == 1
    assert stream.getvalue().startswith("2026-05-04T03:02:01.999Z info    event text=")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain", "plain"),
        ("two words", '"two words"'),
        ("", '""'),
        ("a=b", '"a=b"'),
        ('"', r'"\""'),
        ("a\nb", r'"a\nb"'),
        ("é", r'"\u00e9"'),
        (1.5, "1.5"),
        (None, "null"),
        (Path("x y"), '"x y"'),
        ("\udcff", r'"\udcff"'),
    ],
)
def test_a_value_in_text_is_a_word(value: object, shown: str) -> None:
    told, stream = log("text")
    told.write("event", value=value)
    assert (
        stream.getvalue() == f"2026-05-04T03:02:01.999Z info    event value={shown}\n"
    )


def test_what_another_process_wrote_is_an_event_too() -> None:
    told, stream = log()
    mine = '{"time": "t", "level": "info", "event": "e", "fields": {"a": 1}}'
    foreign = [
        "Traceback",
        "[1]",
        '{"time": "t"}',
        "null",
        '{"time":1,"level":2,"event":3,"fields":4}',
    ]
    for line in (mine, *foreign):
        told.relay(line)
    first, *others = lines(stream)
    assert first == json.loads(mine)
    assert [one["fields"]["text"] for one in others] == foreign
    assert {(one["event"], one["level"]) for one in others} == {("output", "warning")}


def test_quiet_leaves_out_what_is_in_order() -> None:
    told, stream = log(quiet=True)
    for level in ("info", "warning", "error"):
        told.write("e", level)  # type: ignore[arg-type]
    assert [one["level"] for one in lines(stream)] == ["warning", "error"]


def test_a_log_that_nobody_reads_is_no_failure() -> None:
    code = (
        "import sys; from warehouse.schedule.log import JobLog; sys.stdin.read();"
        "[JobLog('json', sys.stderr).write('e', text='x' * 999) for _ in range(99)];"
        "print('on')"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stderr.close()
        process.stdin.close()
        assert process.stdout.read() == "on\n" and process.wait() == 0
    closed = io.StringIO()
    closed.close()
    JobLog("json", closed).write("e")


# --- a process beside us ---------------------------------------------------------------------


def child(code: str) -> tuple[Any, list[dict[str, Any]]]:
    told, stream = log()
    beats: list[None] = []
    with Stop() as stop:
        ended = run_child(
            [sys.executable, "-I", "-c", code],
            dict(os.environ),
            stop,
            told,
            grace=1,
            beat=lambda: beats.append(None),
        )
    assert beats
    return ended, lines(stream)


def test_what_a_job_writes_arrives_whole() -> None:
    text = "é" * 40_000  # more than a pipe holds, cut inside a character
    ended, events = child(
        "import sys; sys.stdout.reconfigure(encoding='utf-8');print('é' * 40_000 + "
        "'\\n\\n' + 'x', end='')"
    )
    assert [one["fields"]["text"] for one in events] == [text, "x"]
    assert (ended.exit_code, ended.result) == (
        0,
        "crashed",
    )  # it did not say that it was done


def test_a_job_tells_how_it_went() -> None:
    event = {
        "time": "",
        "level": "info",
        "event": "job_finished",
        "fields": {"result": "ok"},
    }
    ended, events = child(f"print({json.dumps(event)!r})")
    assert ended.result == "ok" and events == [event]


@pytest.mark.parametrize(
    ("code", "exit_code", "result"),
    [
        ("raise SystemExit(3)", 3, "crashed"),
        ("import os; os.kill(os.getpid(), 9)", -9, "killed"),
        ("import os; os.kill(os.getpid(), 15)", -15, "stopped"),
    ],
)
def test_a_job_that_dies_is_told_from_one_that_was_ended(
    code: str, exit_code: int, result: str
) -> None:
    ended, _ = child(code)
    assert (ended.exit_code, ended.result) == (exit_code, result)


# --- the health file -------------------------------------------------------------------------


def test_health_that_cannot_be_written_later_is_told_once(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    told, stream = log()
    health = Health(folder / "h.json", told, lambda: NOW, cron="x")
    (folder / "h.json").unlink()
    folder.rmdir()
    health.tell(state="running")
    health.tell(state="waiting")
    assert [one["event"] for one in lines(stream)] == ["health_not_written"]
    folder.mkdir()
    health.tell(last={"result": "ok"})
    found = json.loads((folder / "h.json").read_text())
    assert (found["state"], found["cron"], found["last"]) == (
        "waiting",
        "x",
        {"result": "ok"},
    )
    assert found["updated"] == stamp(NOW) and found["pid"] == os.getpid()
    assert [path.name for path in folder.iterdir()] == ["h.json"]


def test_health_that_cannot_be_written_at_the_start_is_refused(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none" / "h.json", "does not exist; create it first"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(MisuseError, match=message):
            Health(path, log()[0], lambda: NOW)
    assert list(tmp_path.iterdir()) == []


def test_without_a_path_there_is_no_health_file(tmp_path: Path) -> None:
    health = Health(None, log()[0], lambda: NOW)
    health.tell(state="running")
    assert health.content["state"] == "running"
