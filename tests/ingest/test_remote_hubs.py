"""``hf://`` and ``s3://`` through the real packages, from a server on loopback that
speaks as those do."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.support.cli import in_subprocess
from tests.support.pages import ROOT

DEMO = ROOT / "docs" / "demo" / "results"
NAMES = sorted(str(path.relative_to(DEMO)) for path in DEMO.rglob("*.json*"))
TREE = "/api/datasets/org/results/tree/main"
S3_ROW = "<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>{}</Size></Contents>"


class Handler(BaseHTTPRequestHandler):
    """The demo as a dataset of the hub, and as a bucket."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {
            name: values[0]
            for name, values in parse_qs(parts.query, keep_blank_values=True).items()
        }
        path = unquote(parts.path)
        if path.startswith(TREE):
            self._tree(path[len(TREE) :].strip("/"), query.get("recursive") == "true")
        elif path.startswith("/api/datasets/org/results"):
            self._answer(
                json.dumps({"id": "org/results", "sha": "b" * 40, "siblings": []})
            )
        elif path.startswith("/datasets/org/results/resolve/main/"):
            self._file(path.split("/resolve/main/")[1])
        elif "list-type" in query:
            self._bucket(query.get("prefix", ""), query.get("delimiter", ""))
        elif path.startswith("/bucket/"):
            self._file(path.removeprefix("/bucket/"))
        else:
            self._answer("{}", 404)

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def _tree(self, folder: str, recursive: bool) -> None:
        place = DEMO / folder
        found = (
            sorted(place.rglob("*") if recursive else place.iterdir())
            if place.is_dir()
            else []
        )
        rows = [
            {
                "type": "directory",
                "path": str(path.relative_to(DEMO)),
                "oid": "a" * 40,
                "size": 0,
            }
            if path.is_dir()
            else {
                "type": "file",
                "path": str(path.relative_to(DEMO)),
                "oid": "a" * 40,
                "size": path.stat().st_size,
            }
            for path in found
        ]
        self._answer(
            json.dumps(rows),
            200 if found else 404,
            **({} if found else {"X-Error-Code": "EntryNotFound"}),
        )

    def _bucket(self, prefix: str, delimiter: str) -> None:
        below = [name for name in NAMES if name.startswith(prefix)]
        deeper = {
            name for name in below if delimiter and delimiter in name[len(prefix) :]
        }
        folders = sorted(
            {prefix + name[len(prefix) :].split("/")[0] + "/" for name in deeper}
        )
        rows = [
            S3_ROW.format(name, (DEMO / name).stat().st_size)
            for name in below
            if name not in deeper
        ]
        rows += [
            f"<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"
            for folder in folders
        ]
        inside = f"<Name>bucket</Name><IsTruncated>false</IsTruncated>{''.join(rows)}"
        space = "http://s3.amazonaws.com/doc/2006-03-01/"
        self._answer(
            f'<ListBucketResult xmlns="{space}">{inside}</ListBucketResult>',
            kind="application/xml",
        )

    def _file(self, name: str) -> None:
        if name in NAMES:
            self._answer(
                (DEMO / name).read_text(), ETag='"x"', **{"X-Repo-Commit": "b" * 40}
            )
        else:
            self._answer("<Error><Code>NoSuchKey</Code></Error>", 404)

    def _answer(
        self, text: str, code: int = 200, kind: str = "application/json", **headers: str
    ) -> None:
        body = text.encode()
        self.send_response(code)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    keys = {
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "hush",
        "AWS_REGION": "us-east-1",
    }
    yield {"HF_ENDPOINT": here, "AWS_ENDPOINT_URL": here, **keys}
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("package", "root"),
    [("huggingface_hub", "hf://datasets/org/results"), ("s3fs", "s3://bucket")],
)
def test_folders_and_patterns_of_a_hub(
    package: str, root: str, environment: dict[str, str], tmp_path: Path
) -> None:
    if (
        importlib.util.find_spec("fsspec") is None
        or importlib.util.find_spec(package) is None
    ):
        pytest.skip(f"needs fsspec and {package}")

    def ingest(url: str) -> Any:
        return in_subprocess(
            "--db",
            "s.db",
            "ingest",
            url,
            "--json",
            folder=tmp_path,
            environment=environment,
        )

    rows = json.loads(ingest(f"{root}/model-a").stdout)
    assert [row["source"].removeprefix(f"{root}/") for row in rows] == [
        name for name in NAMES if "model-a/res" in name
    ]
    assert {row["state"] for row in rows} == {"loaded"}
    rows = json.loads(ingest(f"{root}/*/*03-06*").stdout)
    assert [row["state"] for row in rows] == ["unchanged", "loaded"]
    none = ingest(f"{root}/nothing")
    assert none.returncode == 2 and f"no file or folder '{root}/nothing'" in none.stderr
