"""Alerts of a refresh: what raises one, how false ones are held down, and who is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from scipy import stats

from tests.cli import Caller
from tests.test_refresh import BASE, WORK, access, build, change_run, current
from warehouse.api import Warehouse, connect
from warehouse.errors import MisuseError, WarehouseError
from warehouse.refresh.alerts import Alerts, Rules, check
from warehouse.refresh.running import refresh
from warehouse.refresh.webhook import post
from warehouse.store.engine import open_store

NOW = datetime(2026, 6, 1)


@pytest.fixture
def house(store_url: str) -> Warehouse:
    with open_store(store_url, create=True) as store:
        build().write(store)
    return connect(store_url)


def alerts(house: Warehouse, **rules: Any) -> Alerts:
    found = refresh(access(house), WORK)
    with house.reading() as store:
        return check(store, Rules(**rules), found.refresh_id, NOW)


def test_a_score_that_moved_beyond_its_errors(house: Warehouse) -> None:
    assert alerts(house, worse=False).tests == 0  # nothing to compare with
    before = {row["subject"]: row for row in current(house, "score", "essay")}
    change_run(house, 5, 0.05)  # org/b on essay: a collapse, without spread
    change_run(house, 6)  # org/c: other content, the same scores
    found = alerts(house, worse=False)
    assert found.tests == 2
    (row,) = found.rows
    assert (row.rule, row.benchmark) == ("moved", "essay") and row.subject.startswith("org/b#")
    old = before[row.subject]
    z = (0.05 - old["estimate"]) / old["standard_error"]
    assert row.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
    assert row.p_holm == pytest.approx(2 * row.p_value, rel=1e-9)
    assert alerts(house, worse=False).rows == ()  # told once


def test_worse_than_a_baseline_or_the_checkpoint_before(house: Warehouse) -> None:
    found = alerts(house, moved=False)
    rows = current(house, "difference")
    p = []
    for row in rows:
        error = row["standard_error"]
        df = {"paired_t": row["n"] - 1}.get(row["method"])
        one_sided = stats.t.cdf(row["estimate"] / error, df) if df else np.nan
        p.append(one_sided)
    assert found.tests == len(rows) == 6
    assert {row.rule for row in found.rows} == {"worse"}
    plain = [row for row in found.rows if row.benchmark == "quiz"]
    expected = {
        row["subject"]: one for row, one in zip(rows, p, strict=True)
        if row["benchmark"] == "quiz" and one < 0.001
    }  # fmt: skip
    assert {row.subject: row.p_value for row in plain} == pytest.approx(expected, rel=1e-9)
    assert all(row.p_holm is not None and row.p_holm < 0.05 for row in found.rows)
    assert not [row for row in found.rows if row.subject.startswith("org/b#")]  # it is better


def test_shares_contradictions_and_silence(house: Warehouse) -> None:
    with house.writing() as store, store.begin() as connection:
        connection.execute(sa.text(
            "update prompt_score set value = null, n_scored = 0, n_unscored = 3"
            " where run_id = 2 and prompt_id <= 10"
        ))  # fmt: skip
        told = {"digest": "x"}
        connection.execute(sa.text("update run set content_digest = :digest where id = 2"), told)
    quiet = {"moved": False, "worse": False}
    found = alerts(house, **quiet, max_unscored=0.2, max_silence=timedelta(days=1))
    by_rule = {row.rule: row for row in found.rows}
    assert set(by_rule) == {"unscored", "silence"}
    assert by_rule["unscored"].message == "25.0% of the samples have no score by acc"
    assert by_rule["silence"].message == "nothing was loaded ever"
    assert alerts(house, **quiet, max_unscored=0.2).rows == ()


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
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
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
    with server(500, 500) as (url, _), pytest.raises(WarehouseError, match=r"HTTP 500 \(2 tries"):
        post(url, {}, pause=0, tries=2)
    with server() as (url, _):
        pass
    with pytest.raises(WarehouseError, match="refused"):
        post(url, {}, pause=0, tries=2)
    for wrong in ("file:///etc/passwd", "nonsense", "http://"):
        with pytest.raises(MisuseError, match="http:// or https://"):
            post(wrong, {})


def test_the_command_tells_alerts(
    house: Warehouse, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder, run = tmp_path / "here", Caller(capsys)
    folder.mkdir()
    monkeypatch.chdir(folder)
    with server(200, 404) as (url, sent):
        (folder / "warehouse.toml").write_text(
            f'[refresh]\nbaselines = ["{BASE}"]\n[alerts]\nmoved = false\nwebhook = "{url}"\n'
        )
        found = run("refresh", db=store_url)
        again = run("refresh", "quiz", "--level", "0.9", db=store_url)
    assert found.code == 1
    lines = [line for line in found.err.splitlines() if line.startswith("alert: worse: ")]
    assert lines and len(sent) == 2 and len(sent[0][1]["rows"]) == len(lines)
    again.fails(1, "did not take the message: HTTP 404 (1 try)")
    assert "recomputed" in again.out  # what was done is told all the same
    assert run("refresh", "quiz", "--level", "0.9", db=store_url).code == 0
    assert run("refresh", "quiz", "--level", "0.9", "--alerts", "--json", db=store_url).rows == []
    shown = {row["setting"]: row["value"] for row in run("config", "--json").rows}
    assert shown["refresh.baselines"] == BASE and shown["alerts.moved"] == "false"
    assert shown["alerts.webhook"] == "http://127.0.0.1/..."
    run("refresh", "--alerts", "--dry-run", db=store_url).fails(2, "give one of")
