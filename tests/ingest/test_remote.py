"""Dumps at URLs: a real server on loopback, and the file systems that fsspec has in
itself."""

from __future__ import annotations

import base64
import contextlib
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.support.cli import Caller, in_fork
from tests.support.forked import COMMAND, Popen
from tests.support.pages import ROOT
from warehouse import connect
from warehouse.errors import InputError, MisuseError
from warehouse.ingest.remote import FetchLimits, fetched
from warehouse.ingest.remote_hosts import (
    Hosts,
    is_url,
    kind_of,
    shown_url,
    without_secrets,
)
from warehouse.store.open import open_store

fsspec = pytest.importorskip("fsspec", reason="needs the extra remote")
pytest.importorskip("aiohttp", reason="needs the extra remote")

DEMO = ROOT / "docs" / "demo" / "results"
PAGES_OF_LINKS = {
    "/strange/": (
        "?C=N;O=D",
        "/model-a/",
        "x%2f..%2f..%2fescaped.jsonl",
        ".hidden.json",
        "./",
        "deeper/",
    ),
    "/half/": ("there.json", "gone/"),
    "/strange/deeper/": ("/strange/", "odd%20name.json"),
}
USER, PASSWORD, TOKEN = "someone", "open-sesame", "hush-hush"


def packed() -> bytes:
    """The demo in an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(DEMO.rglob("*.json*")):
            archive.write(path, path.relative_to(DEMO))
    return out.getvalue()


class Handler(SimpleHTTPRequestHandler):
    """A folder, and some strange places below it."""

    def do_GET(self) -> None:
        place = self.path.partition("?")[0]
        if place.startswith("/locked/") and not self._allowed():
            self.send_error(401)
        elif place == "/broken.json":
            self.send_error(503)
        elif place == "/forbidden.json":
            self.send_error(403)
        elif place in PAGES_OF_LINKS:
            self._page(*PAGES_OF_LINKS[place])
        elif place == "/strange/deeper/odd%20name.json":
            self._answer(b'{"no": "dump"}')
        elif re.fullmatch(r"/maze/(x/)*", place):
            self._page("x/")
        elif place.startswith("/sent/"):
            self.send_response(302)
            self.send_header("Location", unquote(self.path.removeprefix("/sent/")))
            self.end_headers()
        elif place in ("/drip.json", "/drip/"):
            self._drip()
        elif place == "/endless.json":
            self._endless()
        else:
            self.path = self.path.replace("/locked/", "/")
            super().do_GET()

    def do_HEAD(self) -> None:
        self.send_error(405)  # as servers of signed URLs do

    def log_message(self, *_: Any) -> None:
        """Nothing: the tests' output is read."""

    def _allowed(self) -> bool:
        sent = self.headers.get("Authorization", "")
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return sent == f"Basic {basic}" and f"token={TOKEN}" in self.path

    def _page(self, *links: str) -> None:
        self._answer(
            "".join(f'<a href="{link}">x</a>' for link in links).encode(), "text/html"
        )

    def _answer(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        with contextlib.suppress(OSError):  # nobody listens any more
            for _ in range(600):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)

    def _endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65_536)
                time.sleep(0.01)
        except OSError:  # nobody listens any more
            return


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(DEMO))
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The folder for temporary ones, of this test alone; a server has its own
    elsewhere."""
    if "store_url" in request.fixturenames:
        request.getfixturevalue("store_url")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def memory() -> Iterator[Any]:
    """fsspec's file system in memory, with the demo in it."""
    system = fsspec.filesystem("memory")
    for path in DEMO.rglob("*.json*"):
        system.pipe_file(f"/runs/{path.relative_to(DEMO)}", path.read_bytes())
    yield system
    system.rm("/runs", recursive=True)


def told(url: str) -> str:
    """Everything that a store holds on its sources."""
    with open_store(url) as store:
        return str(
            [
                store.arrow(f"select * from {name}").to_pylist()
                for name in ("source", "run_source", "rejection")
            ]
        )


def test_a_folder_of_a_web_server_is_read_like_one_of_this_machine(
    run: Caller, store_url: str, site: str, place: Path
) -> None:
    done = run("ingest", f"{site}/", "--json", db=store_url)
    names = {row["source"] for row in done.rows}
    assert len(names) == 6 and all(row["state"] == "loaded" for row in done.rows)
    assert f"{site}/model-a/results_2026-03-04T05-01-01.750000.json" in names
    assert not list(place.iterdir())
    assert str(place) not in told(store_url) and "/_/" not in told(store_url)
    again = run("ingest", f"{site}/", "--json", db=store_url)
    assert {row["state"] for row in again.rows} == {"unchanged"}
    (board,) = run(
        "leaderboard", "sums", "--json", "--columns", "model,estimate", db=store_url
    ).rows[:1]
    local = connect(str(place.parent / "local.duckdb"))
    local.ingest(DEMO)
    assert board == {
        "model": "model-a",
        "estimate": local.leaderboard("sums").rows[0].estimate,
    }


def test_other_bytes_at_the_same_url_are_another_source(
    run: Caller, duckdb_url: str, memory: Any
) -> None:
    name = "/runs/model-a/results_2026-03-05T05-01-01.750000.json"
    first = run("ingest", "memory://runs/model-a", "--json", db=duckdb_url).rows
    memory.pipe_file(name, memory.cat_file(name) + b"\n")
    second = run("ingest", "memory://runs/model-a", "--json", db=duckdb_url).rows
    assert [row["state"] for row in first] == ["loaded"] * 3
    assert sorted(row["state"] for row in second) == [
        "loaded",
        "unchanged",
        "unchanged",
    ]


def test_patterns_single_files_and_local_folders_together(
    run: Caller, duckdb_url: str, memory: Any
) -> None:
    call = (
        "ingest",
        "memory://runs/*/*2026-03-05*",
        str(DEMO / "model-b"),
        f"file://{DEMO}/model-a",
        "--json",
    )
    rows = run(*call, db=duckdb_url).rows
    states = {row["source"]: (row["state"], row["n_seen_again"]) for row in rows}
    assert (
        states["memory://runs/model-a/results_2026-03-05T05-01-01.750000.json"][0]
        == "loaded"
    )
    assert states[f"file://{DEMO}/model-a/results_2026-03-05T05-01-01.750000.json"] == (
        "loaded",
        1,
    )
    assert str(DEMO / "model-b/results_2026-03-06T05-01-01.750000.json") in states
    single = "memory://runs/model-a/samples_sums_2026-03-04T05-01-01.750000.jsonl"
    (row,) = run("ingest", single, "--set", "model=m", "--json", db=duckdb_url).rows
    assert row["source"] == single and row["state"] == "loaded"


def test_what_a_url_holds_beside_its_place_is_told_nowhere(
    run: Caller, duckdb_url: str, site: str
) -> None:
    secret = site.replace("//", f"//{USER}:{PASSWORD}@")
    name = "model-a/samples_sums_2026-03-04T05-01-01.750000.jsonl"
    done = run(
        "-v",
        "ingest",
        f"{secret}/locked/{name}?token={TOKEN}",
        "--set",
        "model=m",
        db=duckdb_url,
    )
    assert done.code == 0 and ": 1 run" in done.out
    gone = run(
        "-v", "ingest", f"{secret}/locked/nothing.json?token={TOKEN}", db=duckdb_url
    )
    gone.fails(2, f"no file or folder '{site}/locked/nothing.json'")
    unknown = run("-v", "ingest", f"{secret}/strange/?token={TOKEN}", db=duckdb_url)
    seen = done.out + done.err + gone.err + unknown.err + told(duckdb_url)
    assert f"{site}/locked/{name}" in seen
    for word in (USER, PASSWORD, TOKEN):
        assert word not in seen


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        ("/nothing.json", 2, "no file or folder"),
        ("/broken.json", 3, "HTTP 503: the server failed"),
        ("/forbidden.json", 3, "HTTP 403: the server does not allow it"),
        ("/locked/x.json", 3, "HTTP 401"),
        ("/strange/", 2, "a folder with parameters"),
    ],
)
def test_what_a_server_refuses(
    run: Caller, tmp_path: Path, site: str, end: str, code: int, words: str
) -> None:
    new = tmp_path / "new.duckdb"
    run("ingest", f"{site}{end}?token=hush", db=str(new)).fails(
        code, words, f"{site}{end}"
    )
    assert not new.exists()  # no store for nothing


def test_who_does_not_answer_and_what_is_not_known(
    run: Caller, duckdb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("ingest", "http://127.0.0.1:1/x.json", db=duckdb_url).fails(
        3, "cannot be fetched", "127.0.0.1:1"
    )
    run("ingest", "nix://u:pw@there/x.json", db=duckdb_url).fails(
        2, "'nix://there/x.json'", "protocol"
    )
    run("ingest", "memory://nothing", db=duckdb_url).fails(
        2, "no file or folder 'memory://nothing'"
    )
    run("ingest", "memory://nothing/*.json", db=duckdb_url).fails(
        2, "no file or folder"
    )
    run("ingest", "memory://x", "--watch", db=duckdb_url).fails(2, "warehouse schedule")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    importlib.import_module("fsspec.registry")._registry.pop(
        "hf", None
    )  # where another test has loaded it
    run("ingest", "hf://datasets/o/r", db=duckdb_url).fails(
        2, "huggingface_hub", "-m pip install"
    )
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    run("ingest", "memory://x", db=duckdb_url).fails(
        2, "the package fsspec", "-m pip install"
    )


def test_no_more_is_fetched_than_allowed(
    run: Caller, duckdb_url: str, site: str, memory: Any, place: Path
) -> None:
    run("ingest", "memory://runs", "--max-files", "5", db=duckdb_url).fails(
        2, "more than 5 files, or folders", "--max-files"
    )
    run("ingest", "memory://runs", "--max-bytes", "1kB", db=duckdb_url).fails(
        2, "more than 1,000 bytes"
    )
    run("ingest", f"{site}/endless.json", "--max-bytes", "0.3MB", db=duckdb_url).fails(
        2, "more than 300,000 bytes"
    )
    run("ingest", "memory://runs", "--max-bytes", "lots", db=duckdb_url).fails(
        2, "is no size"
    )
    run("ingest", f"{site}/maze/", "--max-files", "9", db=duckdb_url).fails(
        2, "more than 9 files, or folders"
    )
    assert not list(place.iterdir())
    with (
        pytest.raises(MisuseError),
        fetched(["memory://runs", "memory://runs"], limits=FetchLimits(files=20)),
    ):
        pass  # the two together are more


def test_a_folder_that_cannot_be_listed_is_not_left_out(site: str) -> None:
    with (
        pytest.raises(MisuseError, match="no file or folder"),
        fetched([f"{site}/half/"]),
    ):
        pass


def test_pages_lead_nowhere_else(site: str) -> None:
    with pytest.raises(InputError, match="escaped"), fetched([f"{site}/strange/"]):
        pass
    with fetched([f"{site}/strange/deeper/"]) as local:
        (folder,) = local.paths
        assert [path.name for path in Path(folder).rglob("*")] == ["odd name.json"]
        assert (
            local.shown(f"{folder}/odd name.json: no")
            == f"{site}/strange/deeper/odd name.json: no"
        )


def test_faults_name_the_url_and_not_the_copy(
    run: Caller, store_url: str, memory: Any, place: Path
) -> None:
    name = "/runs/model-a/samples_sums_2026-03-04T05-01-01.750000.jsonl"
    memory.pipe_file(name, memory.cat_file(name) + b"{no json\n")
    memory.pipe_file("/runs/model-b/results_2026-03-05T05-01-01.750000.json", b"{")
    memory.pipe_file("/runs/notes.zip", b"PK")
    refused = run("ingest", "memory://runs", db=store_url)
    assert (
        refused.code == 3
        and "Error: memory://runs/model-a/results_2026-03-04" in refused.err
    ), refused.err
    assert "memory://runs/notes.zip" in refused.err
    taken = run("ingest", "memory://runs", "--max-rejected", "1", db=store_url)
    stored = told(store_url)
    assert "no json" in stored
    for text in (refused.out, refused.err, taken.out, taken.err, stored):
        assert str(place) not in text and "/_/" not in text


def test_what_lies_in_an_archive_elsewhere(
    run: Caller, duckdb_url: str, memory: Any
) -> None:
    memory.pipe_file("/runs/packed.zip", packed())
    rows = run(
        "ingest", "zip://model-a/*::memory://runs/packed.zip", "--json", db=duckdb_url
    ).rows
    assert {row["state"] for row in rows} == {"loaded"} and len(rows) == 3
    assert all(row["source"].startswith("zip://model-a") for row in rows)


def test_a_hidden_file_is_not_fetched(memory: Any) -> None:
    memory.pipe_file("/runs/.git/config", b"x")
    memory.pipe_file("/runs/.hidden", b"x")
    with fetched(["memory://runs"]) as local:
        names = {path.name for path in Path(local.paths[0]).rglob("*")}
        assert len(names) == 12 and not any(name.startswith(".") for name in names)


@pytest.mark.rare
def test_python_and_schedule_read_urls_too(
    tmp_path: Path, site: str, memory: Any
) -> None:
    store = connect(str(tmp_path / "store.duckdb"))
    report = store.ingest("memory://runs/model-a", DEMO / "model-b")
    assert {one.state for one in report.sources} == {"loaded"} and len(
        report.sources
    ) == 6
    once = in_fork(
        "--db", "scheduled.duckdb", "schedule", "--once", "--log-format", "json", "--watch",
        f"{site.replace('//', '//u:pw@')}/", folder=tmp_path,
    )  # fmt: skip
    assert once.returncode == 0, once.stderr
    events = [json.loads(line) for line in once.stderr.splitlines()]
    done = next(
        one["fields"]
        for one in events
        if one["event"] == "step_finished" and one["fields"]["step"] == "ingest"
    )
    assert (done["folder"], done["sources_loaded"], done["sources_waiting"]) == (
        f"{site}/",
        6,
        0,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_copy_goes_however_the_process_ends(
    number: int, tmp_path: Path, site: str, place: Path
) -> None:
    process = Popen(
        [str(COMMAND), "--db", "s.duckdb", "ingest", f"{site}/endless.json"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    )
    with process:
        while not list(place.rglob("endless.json")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        process.wait(30)
    left = list(place.iterdir())
    assert len(left) == (number == signal.SIGKILL)
    for folder in left:
        os.utime(folder, (0, 0))
    with fetched([f"{site}/model-a/results_2026-03-04T05-01-01.750000.json"]):
        assert len(list(place.iterdir())) == 1
    assert not list(place.iterdir())


SAMPLES = "model-a/samples_sums_2026-03-04T05-01-01.750000.jsonl"


@pytest.mark.parametrize("target", [
    "http://10.0.0.1/x.json", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/x", "http://[::ffff:10.0.0.1]/x",
    "http://[::ffff:a9fe:a9fe]/x", "http://192.168.1.1:8080/x", "http://100.64.0.1/x",
    "http://[fe80::1]/x", "http://[64:ff9b::a00:1]/x",
])  # fmt: skip
def test_a_redirection_to_a_private_address_is_refused(
    run: Caller, tmp_path: Path, site: str, target: str
) -> None:
    new = tmp_path / "new.duckdb"
    done = run(
        "ingest", f"{site}/sent/{site}/sent/{target}", db=str(new)
    )  # the second hop too
    done.fails(3, "redirected to", "address", "--allow-private")
    assert not new.exists()


def test_a_redirection_to_no_web_address_says_so(
    run: Caller, tmp_path: Path, site: str
) -> None:
    done = run(
        "ingest", f"{site}/sent/file:///etc/passwd", db=str(tmp_path / "new.duckdb")
    )
    done.fails(3, "redirected to no web address; name the file where it is")


def test_a_redirection_to_another_host_is_told_and_one_within_this_machine_is_followed(
    run: Caller, store_url: str, site: str
) -> None:
    elsewhere = site.replace("127.0.0.1", "localhost")
    call = (
        "ingest",
        f"{site}/sent/{elsewhere}/{SAMPLES}?token={TOKEN}",
        "--set",
        "model=m",
    )
    done = run(*call, "--json", db=store_url)
    assert done.code == 0 and done.rows[0]["state"] == "loaded"
    again = run(*call, db=store_url)
    assert f"redirected to {elsewhere}\n" in again.out + again.err
    assert TOKEN not in done.out + done.err + again.out + again.err + told(store_url)
    same = run(
        "ingest", f"{site}/sent/{site}/{SAMPLES}", "--set", "model=m", db=store_url
    )
    assert same.code == 0 and "redirected" not in same.out + same.err


def test_hosts_that_were_public_may_not_become_private() -> None:
    hosts = Hosts("https://host/a", "https://host/a", allow_private=False)
    hosts.check("host", ["1.1.1.1", "2606:4700::1111"])
    hosts.check("other", ["8.8.8.8"])
    for name, address in (
        ("host", "127.0.0.1"),
        ("other", "10.0.0.1"),
        ("other", "::1"),
        ("other", "fe80::1%eth0"),
    ):
        with pytest.raises(InputError, match=f"redirected to {name}"):
            hosts.check(name, ["8.8.8.8", address])
    Hosts("https://host/a", "https://host/a", allow_private=True).check(
        "other", ["10.0.0.1"]
    )
    inside = Hosts("http://10.0.0.1/a", "http://10.0.0.1/a", allow_private=False)
    inside.check("10.0.0.1", ["10.0.0.1"])
    inside.check("other", ["192.168.0.1"])
    with pytest.raises(InputError):
        inside.check("other", ["127.0.0.1"])  # another kind of place


@pytest.mark.parametrize(("address", "kind"), [
    ("127.0.0.53", "loopback"), ("::1", "loopback"), ("0.0.0.0", "loopback"),
    ("::", "loopback"), ("::ffff:127.0.0.1", "loopback"), ("10.1.2.3", "private"),
    ("172.16.0.1", "private"), ("192.168.0.1", "private"), ("100.64.0.1", "private"),
    ("fd12::1", "private"), ("::ffff:192.168.0.1", "private"), ("2002:0a00:0001::1", "private"),
    ("64:ff9b::7f00:1", "loopback"), ("::10.0.0.1", "private"), ("224.0.0.1", "private"),
    ("169.254.169.254", "link-local"), ("fe80::1%eth0", "link-local"), ("8.8.8.8", "public"),
    ("2606:4700::1111", "public"), ("64:ff9b::808:808", "public"),
])  # fmt: skip
def test_kinds_of_addresses(address: str, kind: str) -> None:
    assert kind_of(address) == kind


@pytest.mark.parametrize("end", ["/drip.json", "/drip/"])
@pytest.mark.timeout(60)
def test_a_server_that_drips_does_not_hold_it_for_ever(
    run: Caller, duckdb_url: str, site: str, end: str
) -> None:
    done = run("ingest", f"{site}{end}", "--max-time", "1", db=duckdb_url)
    done.fails(2, "took longer than 1 seconds", "--max-time")


def test_tables_keep_their_path(run: Caller, store_url: str, tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / "tables" / model).mkdir(parents=True)
        (tmp_path / "tables" / model / "r.csv").write_text("id,acc\n1,1\n2,0\n")
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        "[path]\n"
        "pattern = '(?P<model>[^/]+)/r\\.csv'\n"
        "[run]\n"
        "benchmark = { const = 'b' }\n"
        "[sample]\n"
        "prompt_id = 'id'\n"
        "[[scores]]\n"
        "metric = 'acc'\n"
        "value = 'acc'\n"
    )
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(tmp_path))
    )
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    call = ("ingest", "--map", str(mapping), "--json")
    far = run(
        *call,
        f"{place.replace('//', '//u:hidden@')}/tables/",
        f"{place}/tables/a/r.csv?token={TOKEN}",
        db=store_url,
    )
    near = run(*call, str(tmp_path / "tables"), db=store_url)
    server.shutdown()
    server.server_close()
    assert [row["source"] for row in far.rows] == [
        f"{place}/tables/{name}/r.csv" for name in ("a", "b", "a")
    ]
    assert [row["source"] for row in near.rows] == [
        str(tmp_path / "tables" / name / "r.csv") for name in ("a", "b")
    ]
    assert f"{place}/tables/b/r.csv" in told(store_url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@host:8080/a/b.json?token=abc#x", "https://host:8080/a/b.json"),
        ("https://me:p/w@host/a", "https://***"),  # nobody escaped the slash
        ("zip://x.json::https://u:p@h/x.zip?sig=1", "zip://x.json::https://h/x.zip"),
        ("hf://datasets/o/r@main/f", "hf://datasets/o/r@main/f"),
        ("https://[::1]:80/x", "https://[::1]:80/x"),
        ("https://u:p@[2001:db8::1]:80/x?token=a", "https://[2001:db8::1]:80/x"),
        ("https://host/a::b.csv?token=a", "https://host/a::b.csv"),
        (
            "zip://x::simplecache::https://[::1]/x.zip?sig=1",
            "zip://x::simplecache::https://[::1]/x.zip",
        ),
    ],
)
def test_urls_as_they_are_shown(url: str, shown: str) -> None:
    assert is_url(url) and shown_url(url) == shown


def test_paths_are_no_urls_and_messages_lose_their_secrets() -> None:
    assert not any(map(is_url, ["results/", "a::b", "c.json", "/a//b", Path("x")]))
    said = "no answer of https://me:open@host/a?token=abc%20d (abc d, open)"
    assert (
        without_secrets(said, "https://me:open@host/a?token=abc%20d")
        == "no answer of https://host/a (***, ***)"
    )
