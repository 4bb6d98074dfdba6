"""Alerts of a refresh: what raises one, how false ones are held down, and who is told."""

from __future__ import annotations

import json
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from scipy import stats

from tests.refresh.test_refresh import BASE, build, change_run, current
from tests.refresh.test_refresh import WORK as ALL
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.page_reader import PageReader
from tests.support.stores import store_at
from warehouse.analysis.families.family import FamilySettings
from warehouse.api import Warehouse, connect
from warehouse.errors import MisuseError, WarehouseError
from warehouse.refresh.alerts import Alerts, Rules, check
from warehouse.refresh.run import RefreshRequest, refresh
from warehouse.refresh.webhook import post
from warehouse.serve.app import create_app
from warehouse.store.open import open_store

NOW = datetime(2026, 6, 1)
#: Only what rules look at.
WORK = replace(ALL, families=("scores", "differences"))


def alerts(house: Warehouse, **rules: Any) -> Alerts:
    found = refresh(house._opener, WORK)
    with house._reading() as store:
        return check(store, Rules(**rules), found.refresh_id, NOW)


def test_a_score_that_moved_beyond_its_errors(house: Warehouse, own_url: str) -> None:
    assert alerts(house, worse=False).tests == 0  # nothing to compare with
    before = {row["subject"]: row for row in current(house, "score", "essay")}
    change_run(house, 5, 0.05)  # org/b on essay: a collapse, without spread
    change_run(house, 6)  # org/c: other content, the same scores
    found = alerts(house, worse=False)
    assert found.tests == 2
    (row,) = found.rows
    assert (row.rule, row.benchmark) == ("moved", "essay") and row.subject.startswith(
        "org/b#"
    )
    old = before[row.subject]
    (new,) = [
        one for one in current(house, "score", "essay") if one["subject"] == row.subject
    ]
    # errors as the sides of the intervals that face one another have them; 10 clusters
    # each
    half = stats.t.ppf(0.975, 9)
    errors = [
        max(
            one["standard_error"] or 0.0,
            abs((one[side] or 0.05) - one["estimate"]) / half,
        )
        for one, side in ((old, "low"), (new, "high"))
    ]
    t = (0.05 - old["estimate"]) / np.hypot(*errors)
    df = 9 * sum(error**2 for error in errors) ** 2 / sum(error**4 for error in errors)
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9)
    assert row.p_holm == pytest.approx(2 * row.p_value, rel=1e-9)
    with PageReader(
        create_app(own_url, rules=Rules(worse=False)), base_url="http://localhost"
    ) as client:
        strip = client.get("/").text.partition('class="strip"')[2].partition("</ul>")[0]
    assert (
        f"moved: essay, {row.subject}: {row.message}" in strip
        and strip.count(" moved from ") == 1
    )
    assert alerts(house, worse=False).rows == ()  # told once


def test_worse_than_a_baseline_or_the_checkpoint_before(house: Warehouse) -> None:
    found = alerts(house, moved=False)
    rows = current(house, "difference")
    p = []
    for row in rows:
        error = row["standard_error"]
        df = (
            row["n"] - 1
            if row["method"] in ("paired_t", "paired_added_prompts")
            else None
        )
        one_sided = stats.t.cdf(row["estimate"] / error, df) if df else np.nan
        p.append(one_sided)
    assert found.tests == len(rows) == 6
    assert {row.rule for row in found.rows} == {"worse"}
    plain = [row for row in found.rows if row.benchmark == "quiz"]
    expected = {
        row["subject"]: one
        for row, one in zip(rows, p, strict=True)
        if row["benchmark"] == "quiz" and one < 0.001
    }
    assert {row.subject: row.p_value for row in plain} == pytest.approx(
        expected, rel=1e-9
    )
    assert all(row.p_holm is not None and row.p_holm < 0.05 for row in found.rows)
    assert not [
        row for row in found.rows if row.subject.startswith("org/b#")
    ]  # it is better


@pytest.mark.rare
def test_figures_that_were_gone_and_are_back_raise_nothing(house: Warehouse) -> None:
    """A refresh without the baselines takes the differences away; the next brings them
    back."""
    first = alerts(house, moved=False)
    assert first.rows and first.tests == 6
    refresh(house._opener, replace(WORK, settings=FamilySettings()))
    assert len(current(house, "difference")) == 2  # between checkpoints
    again = alerts(house, moved=False)
    assert len(current(house, "difference")) == 6 and (again.rows, again.tests) == (
        (),
        0,
    )
    refresh(house._opener, replace(WORK, settings=FamilySettings()))
    change_run(house, 2)  # org/b on quiz: other content, the same scores
    assert alerts(house, moved=False).tests == 1
    change_run(house, 6, 0.05)
    worse = alerts(house, moved=False).rows
    change_run(house, 6, 0.9)
    assert alerts(house, moved=False).tests == len(worse) == 1
    change_run(house, 6, 0.05)  # as it was before it was better: that is news
    assert [row.subject for row in alerts(house, moved=False).rows] == [
        worse[0].subject
    ]


def test_changes_without_spread_are_seen(store_url: str) -> None:
    """All right, then all wrong: no difference has a spread, no figure an error."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model in (BASE, "org/b"):
        rows.scores(rows.run(model, "quiz"), {f"q{i}": 1.0 for i in range(30)})
    with open_store(store_url, create=True) as store:
        rows.write(store)
    house = connect(store_url)
    assert alerts(house).rows == ()
    change_run(house, 2, 0.0)
    moved, worse = alerts(house).rows
    assert [row.rule for row in (moved, worse)] == ["moved", "worse"]
    # 30 of 30 at the lowest possible score, were the mean not below the baseline's
    assert worse.p_value == pytest.approx(stats.binom.pmf(30, 30, 0.5), rel=1e-9)
    assert min(moved.p_holm or 1, worse.p_holm or 1) == pytest.approx(
        2 * min(moved.p_value or 1, worse.p_value), rel=1e-9
    )


#: Models, benchmarks and prompts of the simulation; nobody is better than anybody.
MODELS, SUBJECTS, PROMPTS, CHANCE = 4, 3, 40, 0.8


def draw(house: Warehouse, dice: np.random.Generator, collapsed: str = "") -> None:
    """Every model answers anew; one of them, on one benchmark, as if it had forgotten
    all."""
    with house._writing() as store, store.begin() as connection:
        names = (
            "select run.id, benchmark.name as name from run join benchmark on "
            "benchmark.id"
        )
        rows = connection.execute(
            sa.text(f"{names} = run.benchmark_id order by run.id")
        ).all()
        for run, name in rows:
            chance = 0.3 if name == collapsed and run % MODELS == 0 else CHANCE
            right = np.flatnonzero(dice.random(PROMPTS) < chance).tolist()
            first = "select min(prompt_id) from prompt_score where run_id = :run"
            chosen = ", ".join(map(str, right)) or "-1"
            connection.execute(
                sa.text(
                    "update prompt_score set value = case when prompt_id - ("
                    + first
                    + ") in ("
                    + chosen
                    + ") then 1.0 else 0.0 end where run_id = :run"
                ),
                {"run": run},
            )
            told = {"digest": str(dice.integers(2**60)), "run": run}
            query = "update run set content_digest = :digest where id = :run"
            connection.execute(sa.text(query), told)


@pytest.mark.slow
def test_false_alarms_are_as_seldom_as_promised(tmp_path: Path) -> None:
    """Refreshes in which nothing but chance has changed: 12 scores that may have moved,
    and 9 differences from a baseline, in each."""
    rows, dice = StoreRows(), np.random.default_rng(11)
    for subject in range(SUBJECTS):
        rows.describe(f"quiz{subject}", rows.metric())
        for model in range(MODELS):
            name = f"quiz{subject}"
            rows.scores(
                rows.run(f"org/m{model}", name), {f"q{i}": 1.0 for i in range(PROMPTS)}
            )
    url = store_at(tmp_path / "store.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    house, alpha, trials = connect(url), 0.2, 80
    work = RefreshRequest(
        ("scores", "differences"), (), FamilySettings(baselines=("org/m0",))
    )

    def told(collapsed: str = "") -> Alerts:
        draw(house, dice, collapsed)
        found = refresh(house._opener, work)
        with house._reading() as store:
            return check(store, Rules(alpha=alpha), found.refresh_id, NOW)

    told()
    found = [told() for _ in range(trials)]
    assert {one.tests for one in found} == {MODELS * SUBJECTS + (MODELS - 1) * SUBJECTS}
    false = sum(bool(one.rows) for one in found)
    print(f"{false} of {trials} refreshes raised a false alarm at alpha {alpha}")
    assert false <= stats.binom.ppf(0.999, trials, alpha)
    assert false > 0  # the rules are awake
    for _ in range(5):
        collapse, back = told("quiz1"), told()
        for one in (collapse, back):
            assert ("moved", "quiz1") in {(row.rule, row.benchmark) for row in one.rows}
        assert ("worse", "quiz1") in {
            (row.rule, row.benchmark) for row in collapse.rows
        }


def test_shares_contradictions_and_silence(house: Warehouse) -> None:
    with house._writing() as store, store.begin() as connection:
        connection.execute(
            sa.text(
                "update prompt_score set value = null, n_scored = 0, n_unscored = 3"
                " where run_id = 2 and prompt_id <= 10"
            )
        )
        told = {"digest": "x"}
        connection.execute(
            sa.text("update run set content_digest = :digest where id = 2"), told
        )
    quiet = {"moved": False, "worse": False}
    found = alerts(house, **quiet, max_unscored=0.2, max_silence=timedelta(days=1))
    by_rule = {row.rule: row for row in found.rows}
    assert set(by_rule) == {"unscored", "silence"}
    assert by_rule["unscored"].message == "25.0% of the samples have no score by acc"
    assert by_rule["silence"].message == "nothing was loaded ever"
    assert alerts(house, **quiet, max_unscored=0.2).rows == ()
    with house._writing() as store, store.begin() as connection:
        connection.execute(
            sa.text(
                "update run set benchmark_id = (select benchmark_id from run where id "
                "= 1) where id = 5"
            )
        )
    (row,) = alerts(house, **quiet).rows
    assert (row.rule, row.benchmark, row.subject[:6]) == ("gone", "essay", "org/b#")
    assert row.message.startswith("acc was 0.")
    assert alerts(house, **quiet).rows == ()


def test_a_metric_without_direction_is_named_once(store_url: str) -> None:
    rows = StoreRows()
    for name in ("quiz", "essay"):
        rows.describe(name, rows.metric(), higher=None)
        for model, right in ((BASE, 30), ("org/b", 10)):
            scores = {f"q{i}": float(i < right) for i in range(40)}
            rows.scores(rows.run(model, name), scores)
    rows.describe("known", rows.metric())
    for model in (BASE, "org/b"):
        rows.scores(
            rows.run(model, "known"), {f"q{i}": float(i % 2) for i in range(40)}
        )
    with open_store(store_url, create=True) as store:
        rows.write(store)
    house = connect(store_url)
    found = alerts(house)
    assert found.rows == () and found.tests == 1
    assert found.notes == (
        "worse is not checked for acc on essay, quiz: it is not known whether a higher "
        "acc is better; this says so of the first of 2 benchmarks (--lower-is-better "
        "the opposite): warehouse fix metric essay --metric acc "
        "--higher-is-better",
    )
    assert alerts(house).notes == ()  # nothing was computed
    row = house.gate("org/b", BASE, 0.01, benchmarks=["quiz"]).rows[0]
    assert (
        row.verdict == "undecided"
        and "warehouse fix metric quiz --metric acc" in row.reason
    )


def test_a_contradicted_figure_is_told(store_url: str) -> None:
    rows = build()
    rows.published(1, 0.999)
    with open_store(store_url, create=True) as store:
        rows.write(store)
    found = alerts(connect(store_url), moved=False, worse=False)
    (row,) = found.rows
    assert (row.rule, row.benchmark, row.subject) == ("published", "quiz", BASE)
    assert row.message.startswith("acc is published as 0.999, its samples give 0.")


@pytest.mark.parametrize("rules", [{"alpha": 0}, {"alpha": 1.0}, {"max_unscored": 2.0}])
def test_rules_out_of_range_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        Rules(**rules)


@contextmanager
def server(*answers: int) -> Iterator[tuple[str, list[Any]]]:
    """A local service that gives these answers in turn, and what it was sent."""
    left, sent = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent.append((self.headers["Content-Type"], json.loads(body)))
            self.send_response(left.pop(0))
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(
            target=httpd.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_port}/secret", sent
        finally:
            httpd.shutdown()
            thread.join()


def test_a_message_is_posted_and_tried_again() -> None:
    with server(503, 429, 204) as (url, sent):
        post(url, {"a": 1}, pause=0)
    assert sent == [("application/json", {"a": 1})] * 3


def test_a_refusal_is_told_without_the_secret_of_the_url() -> None:
    with server(404) as (url, sent), pytest.raises(WarehouseError) as caught:
        post(url, {}, pause=0)
    assert "127.0.0.1 did not take the message: HTTP 404 (1 try)" in str(caught.value)
    assert "secret" not in str(caught.value) and len(sent) == 1
    with (
        server(500, 500) as (url, _),
        pytest.raises(WarehouseError, match=r"HTTP 500 \(2 tries"),
    ):
        post(url, {}, pause=0, tries=2)
    with server() as (url, _):
        pass
    with pytest.raises(WarehouseError, match="refused"):
        post(url, {}, pause=0, tries=2)
    with (
        server(302) as (url, sent),
        pytest.raises(WarehouseError, match=r"HTTP 302 \(1 try\)"),
    ):
        post(url, {}, pause=0)  # what is sent on would be a GET without the message
    for wrong in (
        "file:///etc/passwd",
        "nonsense",
        "http://",
        "http://a:b/",
        "http://[a",
        "http://a/\u00e9",
        "http://a b/",
        f"http://{'a' * 64}.b/",
        "http://a..b/",
        "http://u:%0d%0aX@a/",
    ):
        with pytest.raises(MisuseError, match="http:// or https://"):
            post(wrong, {})


def test_credentials_of_a_url_are_sent_as_a_header() -> None:
    seen: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers["Authorization"]))
            self.send_response(204 if len(seen) < 4 else 401)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(
            target=httpd.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        try:
            where = f"127.0.0.1:{httpd.server_port}/hook?token=t"
            for given in ("us%40er:p%3Aa%20ss@", "token@", ""):
                post(f"http://{given}{where}", {})
            with pytest.raises(WarehouseError) as caught:
                post(f"http://user:hush@{where}#part", {})
        finally:
            httpd.shutdown()
            thread.join()
    assert [header for _, header in seen] == [
        f"Basic {b64encode(text).decode()}" if text else None
        for text in (b"us@er:p:a ss", b"token:", b"", b"user:hush")
    ]
    assert {path for path, _ in seen} == {"/hook?token=t"}
    assert "HTTP 401" in str(caught.value) and "hush" not in str(caught.value)


@contextmanager
def socket_that(answer: bytes | None) -> Iterator[str]:
    """A port that takes connections, and says nothing, or no HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        taken: list[socket.socket] = []

        def serve() -> None:
            with suppress(OSError):  # the test has ended
                while True:
                    taken.append(listening.accept()[0])
                    if answer is not None:
                        taken[-1].sendall(answer)
                        taken[-1].shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/secret"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in taken:
                one.close()


def test_a_service_that_says_nothing_or_nonsense() -> None:
    with (
        socket_that(None) as url,
        pytest.raises(WarehouseError, match=r"timed out \(2 tries\)"),
    ):
        post(url, {}, timeout=0.05, tries=2, pause=0)
    with (
        socket_that(b"nonsense\r\n\r\n") as url,
        pytest.raises(WarehouseError) as caught,
    ):
        post(url, {}, tries=2, pause=0)
    assert "no answer of HTTP (BadStatusLine) (2 tries)" in str(caught.value)


def test_the_command_tells_alerts(
    house: Warehouse,
    own_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, run = tmp_path / "here", Caller(capsys)
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv(
        "WAREHOUSE_CONFIG", "warehouse.toml"
    )  # a webhook is told by a file that somebody chose
    with server(200, 404, 200) as (url, sent):
        (folder / "warehouse.toml").write_text(
            "[refresh]\n"
            f'baselines = ["{BASE}"]\n'
            "[alerts]\n"
            "moved = false\n"
            f'webhook = "{url}"\n'
        )
        found = run("refresh", db=own_url)
        again = run("refresh", "quiz", "--level", "0.9", db=own_url)
        late = run("refresh", "quiz", "--level", "0.9", db=own_url)
    assert found.code == 1
    lines = [
        line for line in found.err.splitlines() if line.startswith("alert: worse: ")
    ]
    assert lines and len(sent) == 3 and len(sent[0][1]["rows"]) == len(lines)
    again.fails(1, "did not take the message: HTTP 404 (1 try)")
    assert "recomputed" in again.out  # what was done is told all the same
    assert late.code == 0 and sent[2] == sent[1]  # what was not taken is sent again
    none = run("refresh", "quiz", "--level", "0.9", "--alerts", "--json", db=own_url)
    assert (
        none.rows == [] and none.err.count("no alerts") == 1
    )  # a line beside the answer, and no table again
    shown = {row["setting"]: row["value"] for row in run("config", "--json").rows}
    assert shown["refresh.baselines"] == BASE and shown["alerts.moved"] == "false"
    assert shown["alerts.webhook"] == "http://127.0.0.1/..."
    run("refresh", "--alerts", "--dry-run", db=own_url).fails(2, "give one of")
    (folder / "warehouse.toml").write_text(
        '[alerts]\n\nwebhook = "example.org/secret"\n'
    )
    refused = run("refresh", db=own_url)
    refused.fails(2, "warehouse.toml, line 3: a webhook is an http:// or https:// URL")
    assert "secret" not in refused.err
