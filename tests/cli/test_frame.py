"""The frame of the command line: help, exit codes, messages, lazy imports."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
import sqlalchemy as sa

from tests.support.cli import COMMAND, Caller, in_subprocess
from tests.support.stores import store_at
from warehouse.cli.command_table import COMMANDS, SECTIONS, is_group, names_below
from warehouse.cli.main import cli
from warehouse.questions.registry import ADDED
from warehouse.store.open import open_store

HEAVY = (
    "sqlalchemy",
    "pyarrow",
    "numpy",
    "pandas",
    "scipy",
    "rich",
    "duckdb",
    "alembic",
)


def find(name: str) -> click.Command:
    """A command of the table, imported."""
    first, *rest = name.split()
    found = cli.get_command(click.Context(cli), first)
    for part in rest:
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), part)
    assert found is not None
    return found


# --- help ------------------------------------------------------------------------------------


def test_help_lists_every_command_in_its_section(run: Caller) -> None:
    text = run("--help").out
    places = [
        text.index(f"\n{title}:\n")
        for section, title in SECTIONS.items()
        if section != ADDED
    ]
    assert places == sorted(places)
    for name, entry in COMMANDS.items():
        if " " not in name:
            assert f"  {name} " in text and entry.sentence in text


def test_a_group_says_what_it_holds(run: Caller) -> None:
    groups = [name for name in COMMANDS if is_group(name)]
    assert {"list", "fix", "store", "training", "noise", "items"} <= {*groups}
    for group in groups:
        text = run(group, "--help").out
        for name in names_below(group):
            assert f"  {name} " in text
            assert len(COMMANDS[f"{group} {name}"].sentence) <= 80


def test_no_section_has_a_single_command() -> None:
    for section in SECTIONS.keys() - {ADDED}:
        names = [name for name in names_below("") if COMMANDS[name].section == section]
        assert len(names) > 1, section


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_sentence_and_examples(run: Caller, name: str) -> None:
    entry, text = (
        COMMANDS[name],
        run(*name.split(), "--help").out.replace(" \\\n        ", " "),
    )
    assert entry.sentence.endswith(".") and entry.sentence in text
    for example in entry.examples:
        assert example in text
        assert example.startswith("warehouse ") and f" {name}" in example


@pytest.mark.parametrize(
    "example", [text for entry in COMMANDS.values() for text in entry.examples]
)
def test_every_example_can_be_pasted(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("path/to/lm_eval_output", "results"):
        Path(path).mkdir(parents=True)
    for file in (
        "mapping.toml",
        "results.csv",
        "verdicts.csv",
        "judge.csv",
        "plan.json",
        "token.txt",
    ):
        Path(file).touch()
    _program, *words = shlex.split(example)
    with cli.make_context("warehouse", words) as top:
        command: click.Command = cli
        arguments = [*top._protected_args, *top.args]
        while isinstance(command, click.Group) and arguments:
            _name, following, arguments = command.resolve_command(top, arguments)
            assert following is not None
            command = following
            if not isinstance(command, click.Group):
                command.make_context(command.name, arguments, parent=top)


def test_the_commands_are_those_of_the_table() -> None:
    for name, entry in COMMANDS.items():
        command = find(name)
        assert command.name == name.split()[-1]
        if isinstance(command, click.Group):
            context = click.Context(command)
            for inner in command.list_commands(context):
                assert command.get_command(context, inner) is not None
                assert f"{name} {inner}" in COMMANDS
        assert entry.section in SECTIONS


def test_help_imports_nothing_heavy_and_is_quick(tmp_path: Path) -> None:
    started = time.perf_counter()
    done = in_subprocess(
        "--help", folder=tmp_path, environment={"PYTHONPROFILEIMPORTTIME": "1"}
    )
    elapsed = time.perf_counter() - started
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "click" in imported
    assert not {name for name in imported if name.split(".")[0] in HEAVY}
    assert elapsed < 5  # the aim is 0.3 s; a loaded machine gets its time


def test_looking_imports_nothing_that_takes_longer_than_the_answer(
    tmp_path: Path,
) -> None:
    open_store(
        store_at(tmp_path / "s.duckdb")
    ).close()  # the first look at a store that comes from elsewhere is longer
    environment = {"PYTHONPROFILEIMPORTTIME": "1"}
    done = in_subprocess(
        "--db", "s.duckdb", "leaderboard", "x", folder=tmp_path, environment=environment
    )
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "warehouse.analysis.leaderboard.answer" in imported
    heavy = {
        "pandas",
        "scipy.stats",
        "scipy.special",
        "scipy.sparse",
        "alembic.command",
        "sqlalchemy",
        "numba",
    }
    assert not imported & heavy


#: What numpy's threads are told before it is loaded, by a command and not by who
#: imports the library.
IDLE = """
import os, sys
from warehouse.cli.main import IDLE_SPIN, main
before = os.environ.get(IDLE_SPIN[0])
assert main(["--version"]) == 0 and "numpy" not in sys.modules
print(before, os.environ[IDLE_SPIN[0]])
"""


@pytest.mark.parametrize(
    ("own", "said"), [({}, "None 20"), ({"OPENBLAS_THREAD_TIMEOUT": "7"}, "7 7")]
)
def test_threads_of_the_algebra_sleep_soon_unless_the_user_says_otherwise(
    own: dict[str, str], said: str
) -> None:
    env = {
        name: value
        for name, value in os.environ.items()
        if name != "OPENBLAS_THREAD_TIMEOUT"
    } | own
    ran = subprocess.run(
        [sys.executable, "-c", IDLE],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == said


def test_the_version_is_that_of_the_package(run: Caller) -> None:
    from warehouse import __version__

    assert run("--version").out == f"warehouse {__version__}\n"


# --- misuse ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["querry"], ["no command 'querry'", "did you mean query?"]),
        (["bogus"], ["no command 'bogus'"]),
        (
            ["list", "runs", "--bogus"],
            ["No such option '--bogus'", "warehouse list runs --help"],
        ),
        (["fix", "invalidate", "run:1"], ["Missing option '--reason'"]),
        (["config", "--json", "--csv"], ["one of --json, --jsonl, --csv, --parquet"]),
        (["query", "-p", "x"], ["'x' is not NAME=VALUE"]),
        (
            ["query", "-p", "a=1", "-p", "a=2", "--sql", "select :a"],
            ["-p gives a twice"],
        ),
        (["query", "score_summary", "--sql", "select 1"], ["not both"]),
        (["leaderboard", "x", "--level", "95"], ["--level"]),
        (["seeds"], ["no command 'seeds' here: warehouse training seeds"]),
        (["check"], ["warehouse store check or warehouse lake check"]),
        (["training", "sedes"], ["no command 'sedes'", "did you mean seeds?"]),
        (["training", "audit"], ["no command 'audit' here: warehouse items audit"]),
        (["training", "xyzzy"], ["See: warehouse training --help"]),
        (["fix", "cluster", "x", "a,,b"], ["empty field name"]),
        (["fix", "tag", "run:1"], ["say a TAG"]),
        (["fix", "settings", "b"], ["--ignore", "warehouse list settings b"]),
        (["fix", "metric", "b"], ["--metric", "warehouse list metrics b"]),
        (["fix", "released", "m"], ["give a DAY"]),
        (["fix", "alias", "a"], ["Missing argument 'CANONICAL'"]),
        (["fix", "alias", "a", "b", "--undo"], ["name it alone, without b"]),
        (["fix", "link", "x"], ["link to which benchmark"]),
        (["--db", "oracle://x/y", "list", "runs"], ["no engine 'oracle'"]),
        (
            ["--db", "duckdb://", "list", "runs"],
            ["'duckdb://' names no file", "duckdb:///FILE"],
        ),
        (["--db", "duckdb:///", "store", "init"], ["'duckdb:///' names no file"]),
        (
            ["--db", "duckdb://x.duckdb", "store", "init"],
            ["'duckdb://x.duckdb' names no file"],
        ),
        (["ingest", "nowhere"], ["'nowhere' does not exist"]),
    ],
)
def test_misuse_is_one_message_and_exit_2(
    run: Caller,
    arguments: list[str],
    parts: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    run(*arguments).fails(2, *parts)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_settings_file_is_bad_input(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.toml").write_text("[store]\nport = 1\n")
    run("list", "runs").fails(3, "warehouse.toml, line 2: unknown key 'store.port'")


STORELESS = [
    *(
        "store upgrade",
        "store downgrade base --yes",
        "store current",
        "store check",
        "store export --parquet out",
        "list sources",
    ),
    *(
        "fix forget 1",
        "fix invalidate 1 --reason x",
        "fix cluster b f",
        "list links",
        "list settings",
        "list metrics b",
        "list prices",
        "list clusters",
        "fix link a b",
        "fix settings --ignore f",
        "fix metric b --metric m",
        "fix released m 2024-01-31",
        "list models",
        "fix alias a b",
        "fix alias a --undo",
    ),
    *(
        "list benchmarks",
        "list runs",
        "fix tag 1 x",
        "leaderboard",
        "leaderboard b",
        "compare a b",
        "show 1",
    ),
    *("query score_summary", "shell"),
]


@pytest.mark.parametrize("line", STORELESS)
def test_without_a_store_every_command_says_so_and_makes_none(
    run: Caller, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(*line.split()).fails(4, "no store at warehouse.duckdb", "warehouse ingest")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_is_store_trouble(run: Caller) -> None:
    run("list", "runs", db="postgresql://nobody:secret@127.0.0.1:1/x").fails(
        4, "cannot open", ":***@"
    )


def test_a_file_that_is_no_store_is_store_trouble(run: Caller, tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text(
        "not a store, but long enough to have a header" * 200
    )
    run("list", "runs", db=str(tmp_path / "x.duckdb")).fails(4, "x.duckdb")


def test_a_store_that_lacks_a_table_is_store_trouble(
    run: Caller, store_url: str
) -> None:
    with open_store(store_url, create=True) as store, store.begin() as connection:
        connection.execute(sa.text("drop table run_source cascade"))
    run("list", "runs", db=store_url).fails(4, "run_source", "warehouse store check")


# --- how it ends -----------------------------------------------------------------------------


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    store_at(tmp_path / "s.duckdb")
    rows = "select range as n from range(200000)"
    command = (
        f"{COMMAND} --db s.duckdb query --csv --sql '{rows}' | head -n 2; exit "
        f"${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("n\n0\n", "", 141)


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    shell = f"{shlex.quote(str(COMMAND))} --db x.duckdb list models >&-"
    store_at(tmp_path / "x.duckdb")
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    store_at(tmp_path / "s.duckdb")
    # an open pipe as standard input: the shell waits for a statement
    process = subprocess.Popen(
        [str(COMMAND), "--db", "s.duckdb", "-v", "shell"],
        cwd=tmp_path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout
    process.stdin.write("select 1 as ready;\n")
    process.stdin.flush()
    while "1" not in process.stdout.readline():
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    _out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err and "interrupted" in err


def test_config_shows_no_password_of_a_watched_url(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    watched = '["new", "https://me:s3cret@host.org/dumps?token=t0ken"]'
    (tmp_path / "warehouse.toml").write_text(f"[schedule]\nwatch = {watched}\n")
    shown = {row["setting"]: row["value"] for row in run("config", "--json").rows}
    assert shown["schedule.watch"] == "new, https://host.org/dumps"
