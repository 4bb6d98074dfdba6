"""Alerts are told at least once, on every channel, whatever dies in between."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.refresh.test_alerts import server, socket_that
from tests.refresh.test_refresh import build as build
from tests.refresh.test_refresh import change_run
from tests.support.cli import Caller
from tests.support.forked import COMMAND, Popen
from warehouse.api import Warehouse
from warehouse.errors import WarehouseError
from warehouse.records.clock import utc_now
from warehouse.refresh import deliver_alerts as delivering
from warehouse.refresh.alerts import Alerts, Rules
from warehouse.refresh.deliver_alerts import Delivery, deliver_alerts
from warehouse.refresh.run import RefreshRequest, refresh
from warehouse.refresh.webhook import post
from warehouse.store.computed.metric_values import untold

RULES = Rules(worse=False)
#: Only what `moved` looks at.
WORK = RefreshRequest(("scores",))


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Caller:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Caller(capsys)


def configure(url: str = "") -> None:
    """Of the rules only `moved`; with a webhook."""
    hook = f'webhook = "{url}"\n' if url else ""
    text = f'[refresh]\nfamilies = ["scores"]\n[alerts]\nworse = false\n{hook}'
    Path("warehouse.toml").write_text(text)


def collapse(house: Warehouse, score: float) -> None:
    """org/b's answers on essay are all about as good: a score that has moved."""
    change_run(house, 5, score)
    with house._writing() as store, store.begin() as connection:
        spread = (
            "update prompt_score set value = value + 0.01 * (prompt_id % 7) where "
            "run_id = 5"
        )
        connection.execute(sa.text(spread))


def lines(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("alert: ")]


class Ear:
    """A channel that hears some refreshes, and then fails or dies."""

    def __init__(
        self, hears: int = 99, error: type[BaseException] = WarehouseError
    ) -> None:
        self.hears, self.error, self.heard = hears, error, list[int]()

    def __call__(self, alerts: Sequence[Alerts]) -> Iterator[int]:
        for one in alerts:
            assert one.rows
            if len(self.heard) == self.hears:
                raise self.error("nobody listens")
            self.heard.append(one.refresh_id)
            yield one.refresh_id


def told(
    house: Warehouse, *ears: Callable[[Sequence[Alerts]], Iterable[int]]
) -> Delivery:
    """A refresh whose alerts go to these channels."""
    channels = {f"ear {number}": ear for number, ear in enumerate(ears)}
    found = refresh(house._opener, replace(WORK, channels=tuple(channels)))
    return deliver_alerts(house._opener, RULES, found.refresh_id, utc_now(), channels)


@pytest.mark.rare
def test_what_a_webhook_did_not_take_the_next_refresh_sends(
    house: Warehouse, run: Caller, own_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        post, "__kwdefaults__", {"timeout": 5.0, "tries": 1, "pause": 0.0}
    )
    monkeypatch.setenv(
        "WAREHOUSE_CONFIG", "warehouse.toml"
    )  # a webhook is told by a file that somebody chose
    with server(404, 404, 200, 200) as (url, sent):
        configure(url)
        assert run("refresh", db=own_url).code == 0  # nothing to compare with
        collapse(house, 0.05)
        down = run("refresh", db=own_url)
        down.fails(1, "did not take the message: HTTP 404")
        assert len(lines(down.err)) == 1
        assert (
            "note: alerts of 1 refresh wait for the next refresh (webhook)" in down.err
        )
        still = run("refresh", db=own_url)
        still.fails(1, "did not take the message: HTTP 404")
        assert (
            lines(still.err) == [] and "0 recomputed" in still.err
        )  # the line was out
        up = run("refresh", db=own_url)
        assert up.code == 0 and lines(up.err) == []
        assert (
            "note: alerts of refresh 2 had not been told everywhere, and are now"
            in up.err
        )
        collapse(house, 0.9)
        assert run("refresh", db=own_url).code == 1
        quiet = run("refresh", db=own_url)
        assert quiet.code == 0 and "note" not in quiet.err
    assert [body["refresh_id"] for _, body in sent] == [2, 2, 2, 5]
    assert sent[0] == sent[1] == sent[2] and len(sent[0][1]["rows"]) == 1


@pytest.mark.rare
def test_a_process_that_is_killed_while_it_tells_leaves_it_to_the_next(
    house: Warehouse, run: Caller, own_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "WAREHOUSE_CONFIG", "warehouse.toml"
    )  # a webhook is told by a file that somebody chose
    configure()
    assert run("refresh", db=own_url).code == 0
    collapse(house, 0.05)
    with socket_that(None) as url:  # takes the message, and never answers
        configure(url)
        process = Popen(
            [str(COMMAND), "--db", own_url, "refresh"],
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        said = ""
        while not lines(said) and (line := process.stderr.readline()):
            said += line
        time.sleep(0.05)  # it is about to send, or has sent
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL and len(lines(said)) == 1
    with server(200) as (url, sent):
        configure(url)
        found = run("refresh", db=own_url)
    assert found.code == 1 and "refresh 3: 0 recomputed" in found.err
    assert lines(found.err) == [lines(said)[0] + " (found by refresh 2)"]
    assert [body["refresh_id"] for _, body in sent] == [2]
    again = run("refresh", "--alerts", "--json", db=own_url)
    assert again.rows == [] and again.code == 0


@pytest.mark.rare
@pytest.mark.parametrize("error", [KeyboardInterrupt, WarehouseError])
def test_each_channel_has_its_own_marks(
    house: Warehouse, error: type[BaseException]
) -> None:
    deaf, other = Ear(0, error), Ear()
    told(house, deaf, other)
    collapse(house, 0.05)
    if error is WarehouseError:
        assert str(told(house, deaf, other).problem) == "nobody listens"
        assert other.heard == [
            2
        ]  # one that fails does not keep the others from telling
    else:
        with pytest.raises(KeyboardInterrupt):
            told(house, deaf, other)
        assert other.heard == []
    again, other = Ear(), Ear()
    found = told(house, again, other)
    assert again.heard == [2] and found.problem is None
    assert other.heard == ([] if error is WarehouseError else [2])
    last = Ear()
    assert told(house, last).notes == [] and last.heard == []


@pytest.mark.rare
def test_a_refresh_that_was_not_asked_for_alerts_is_told_by_the_next_that_is(
    house: Warehouse,
) -> None:
    refresh(house._opener, WORK)
    collapse(house, 0.05)
    refresh(house._opener, WORK)
    collapse(house, 0.9)
    first = Ear()
    told(house, first)
    assert first.heard == [3]  # nobody had asked before: the past is not told
    collapse(house, 0.05)
    refresh(house._opener, WORK)
    second, third = Ear(), Ear()
    told(house, second)
    assert second.heard == [4]
    told(house, second, third)
    assert second.heard == [4] and third.heard == []


def test_a_refresh_that_ended_without_telling(house: Warehouse) -> None:
    """Killed between the end of the refresh and the first alert: the marks are in the
    store."""
    work = replace(WORK, channels=("ear 0",))
    refresh(house._opener, work)
    collapse(house, 0.05)
    refresh(house._opener, work)
    ear = Ear()
    assert (
        [one.refresh_id for one in told(house, ear).taken["ear 0"]] == ear.heard == [2]
    )


@pytest.mark.rare
def test_what_waits_is_bounded_in_number_and_age(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "AT_ONCE", 2)
    told(house, Ear(0))
    for turn in range(4):
        collapse(house, 0.05 if turn % 2 == 0 else 0.9)
        found = told(house, Ear(0))
    assert found.notes == ["alerts of 4 refreshes wait for the next refresh (ear 0)"]
    some = Ear()
    assert told(house, some).notes == [
        "alerts of 2 refreshes wait for the next refresh (ear 0)"
    ]
    assert some.heard == [2, 3]
    late = refresh(house._opener, replace(WORK, channels=("ear 0",))).refresh_id
    ears, week = Ear(), utc_now() + timedelta(days=7, seconds=1)
    old = deliver_alerts(house._opener, RULES, late, week, {"ear 0": ears})
    assert ears.heard == []
    assert old.notes == [
        "alerts of 2 refreshes were not taken for 7 days and are given up (ear 0)"
    ]
    assert deliver_alerts(house._opener, RULES, late, week, {"ear 0": ears}).notes == []


def test_figures_that_are_not_visible_yet_are_not_told(house: Warehouse) -> None:
    """An unfinished refresh has no alerts; the one that takes it up has."""
    told(house, Ear())
    collapse(house, 0.05)
    ear = Ear()
    told(house, ear)
    assert ear.heard == [2]
    with house._writing() as store, store.begin() as connection:
        connection.execute(
            sa.text(
                "update refresh set finished_at = null, summary = null where id = 2"
            )
        )
    with house._reading() as store:
        assert [one.id for one in untold(store, 1)] == [1]
        assert untold(store, 2) == []
    told(house, ear)
    assert ear.heard == [2, 2]


def test_marks_of_old_stores(house: Warehouse) -> None:
    """Refreshes of a program that kept no marks, or no summary."""
    refresh(house._opener, WORK)
    with house._writing() as store, store.begin() as connection:
        connection.execute(sa.text("update refresh set summary = null"))
    with house._reading() as store:
        (one,) = untold(store, 1)
    assert one.marks == {} and one.awaits("log") and isinstance(one.ended, datetime)
