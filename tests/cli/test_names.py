"""Names and texts of dumps that terminals, encodings and patterns could trip over."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess

import pytest

from tests.support.cli import COMMAND, Caller
from warehouse.cli.main import main

STEERING = "red\x1b[31m\u202eback"
NAMES = ("模型", "v[1]", "v1", STEERING)


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("names")
    rows = [
        {"model": name, "benchmark": "b[x]", "prompt_id": f"q{n}", "score": (n + k) % 2}
        for k, name in enumerate(NAMES)
        for n in range(4)
    ]
    (folder / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    database = str(folder / "names.duckdb")
    assert main(["--db", database, "ingest", str(folder / "data.jsonl")]) == 0
    return database


def _in_encoding(encoding: str, *arguments: str) -> bytes:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [str(COMMAND), *arguments], capture_output=True, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_terminal_without_the_characters_gets_them_spelled_out(named: str) -> None:
    table = _in_encoding("ascii", "--db", named, "list", "models").decode("ascii")
    assert "\\u6a21\\u578b" in table and "v[1]" in table


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_programs_read_is_utf8_in_any_encoding(named: str, encoding: str) -> None:
    rows = json.loads(_in_encoding(encoding, "--db", named, "list", "models", "--json"))
    assert {row["model"] for row in rows} == {*NAMES}
    text = _in_encoding(encoding, "--db", named, "list", "models", "--csv").decode(
        "utf-8"
    )
    steers = str.maketrans(
        {"\x1b": r"\x1b", "\u202e": r"\u202e"}
    )  # no cell of a table does that
    shown = {name.translate(steers) for name in NAMES}
    assert {row["model"] for row in csv.DictReader(io.StringIO(text))} == shown


def test_a_name_cannot_steer_the_terminal(run: Caller, named: str) -> None:
    for call in (
        ["list", "models"],
        ["leaderboard"],
        ["compare", "v1", STEERING],
        ["show", "run:4"],
        ["compare", STEERING, "nobody"],
        ["compare", f"{STEERING}?", "v1"],
    ):
        found = run(*call, db=named)
        shown = found.out + found.err
        assert "\x1b" not in shown and "\u202e" not in shown, call
    assert "red\\x1b[31m\\u202eback" in run("list", "models", db=named).out


def test_a_name_with_brackets_is_meant_literally_too(run: Caller, named: str) -> None:
    for command in (["list", "runs"], ["leaderboard"]):
        rows = run(*command, "--where", "model=v[1]", "--json", db=named).rows
        assert {row["model"] for row in rows} == {"v[1]", "v1"}, command
