"""With ``--json`` an error is an object in the last line of standard error: what, of
what kind, what to do."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import click
import pytest

from tests.cli.test_options_used import command_of
from tests.support.cli import Caller
from warehouse import errors
from warehouse.cli.command_table import COMMANDS
from warehouse.errors import MisuseError, WarehouseError, parted
from warehouse.questions.question import UnusedError


def told(run: Caller, *words: str, db: str = "") -> dict[str, Any]:
    """The error of a call, which prints nothing else."""
    ended = run(*words, "--json", db=db)
    assert ended.out == ""
    error: dict[str, Any] = json.loads(ended.err.splitlines()[-1])
    assert (
        list(error) == ["error", "kind", "advice", "exit_code"]
        and error["exit_code"] == ended.code
    )
    return error


def test_an_error_is_parted_into_what_is_wrong_and_what_to_do(
    run: Caller, url: str, tmp_path: Path
) -> None:
    unknown = told(run, "leaderboard", "gsm", db=url)
    assert (unknown["kind"], unknown["exit_code"]) == (
        "misuse",
        2,
    ) and "gsm" in unknown["error"]
    missing = told(run, "leaderboard", "x", db=str(tmp_path / "none.db"))
    assert (missing["kind"], missing["exit_code"]) == ("store", 4)
    assert (
        missing["advice"] == "create it with: warehouse store init, or warehouse ingest"
    )
    usage = told(run, "compare", "one", db=url)
    assert usage == {
        "error": "Missing argument 'MODEL[@REVISION|@step=N][+AGENT]'.",
        "kind": "usage",
        "advice": "See: warehouse compare --help",
        "exit_code": 2,
    }
    assert told(run, "ingest", str(tmp_path / "nowhere"), db=url)["exit_code"] in (2, 3)


def test_without_it_nothing_changes(run: Caller, url: str) -> None:
    assert run("leaderboard", "gsm", db=url).err.startswith("Error: no benchmark")
    assert run("compare", "--", "--json", db=url).err.startswith(
        "Error: Missing argument"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_with_json_has_such_errors(name: str, run: Caller) -> None:
    words = name.split()
    if any(
        "--json" in one.opts
        for one in command_of(words).params
        if isinstance(one, click.Option)
    ):
        error = told(run, *words, "--no-such-option")
        assert (error["kind"], error["exit_code"]) == (
            "usage",
            2,
        ) and "--no-such-option" in error["error"]


def test_kinds_are_the_classes_of_errors() -> None:
    kinds = [
        one
        for one in vars(errors).values()
        if inspect.isclass(one) and issubclass(one, WarehouseError)
    ]
    found = {one.kind.fget(one.__new__(one)) for one in kinds}  # type: ignore[attr-defined]
    assert {
        "misuse",
        "statistics",
        "query_limit",
        "input",
        "store",
        "schema_version",
        "store_locked",
    } <= found
    assert len(found) == len(kinds)
    assert UnusedError("seed", "is not used").kind == "misuse"


@pytest.mark.parametrize(
    ("message", "error", "advice"),
    [
        (
            "no source 'x'; see: warehouse list sources",
            "no source 'x'",
            "see: warehouse list sources",
        ),
        (
            "condition x; expected field=value, such as a=b; or none",
            "condition x",
            "expected field=value, such as a=b; or none",
        ),
        (
            "s.db is held by 7; waited 10 s; try again when it has ended",
            "s.db is held by 7; waited 10 s",
            "try again when it has ended",
        ),
        (
            "no option '--x'\nSee: warehouse compare --help",
            "no option '--x'",
            "See: warehouse compare --help",
        ),
        (
            "unknown model 'a;b'; did you mean ab?",
            "unknown model 'a;b'",
            "did you mean ab?",
        ),
        ("a wrong name", "a wrong name", ""),
    ],
)
def test_a_message_is_parted_where_advice_begins(
    message: str, error: str, advice: str
) -> None:
    assert parted(message) == (error, advice)
    assert str(MisuseError(message)) == message
