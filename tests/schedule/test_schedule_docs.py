"""The files of docs/schedule: commands, times and settings hold, and run as far as they
can."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.support.cli import COMMAND, Caller
from tests.support.pages import ROOT
from warehouse import config
from warehouse.cli.main import cli
from warehouse.refresh.alerts import Rules
from warehouse.schedule.loop import Times, zone_named
from warehouse.store.engines import parse_url

FOLDER = ROOT / "docs" / "schedule"
UNITS = sorted([*FOLDER.glob("*.service"), *FOLDER.glob("*.timer")])
CRON_LINE = re.compile(r"(?:# )?((?:[\d*/,-]+ +){5})(.+)")


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def commands(line: str) -> list[list[str]]:
    """Words of each call of warehouse in a line of shell."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in reader:
        if set(word) <= set(";&|()<>"):
            found.append([])
        else:
            found[-1].append(word)
    calls = [
        words[1:] for words in found if words and Path(words[0]).name == "warehouse"
    ]
    assert calls, line
    return calls


def parses(words: list[str]) -> None:
    """The command is there, with these options and arguments.

    Raises:
        click.UsageError: otherwise.
    """
    with cli.make_context("warehouse", list(words)) as top:
        arguments = [*top._protected_args, *top.args]
        command = cli.get_command(top, arguments[0])
        assert command is not None, arguments[0]
        command.make_context(command.name, arguments[1:], parent=top)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder as the files have it, with one dump."""
    evals = tmp_path / "evals"
    (evals / ".venv" / "bin").mkdir(parents=True)
    (evals / ".venv" / "bin" / "warehouse").symlink_to(COMMAND)
    (evals / "new").mkdir()
    (evals / "new" / "a.csv").write_text(
        "model,benchmark,prompt_id,metric,score\n"
        "org/a,quiz,p1,acc,1\n"
        "org/a,quiz,p2,acc,0\n"
    )
    os.utime(evals / "new" / "a.csv", (0, 0))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    monkeypatch.chdir(evals)
    return tmp_path


def shell(
    script: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder,
        text=True,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_a_wrong_command_is_noticed(home: Path) -> None:
    parses(["schedule", "--once", "--watch", "new/"])
    for wrong in (
        ["schedule", "--twice"],
        ["refresh", "--cron", "x"],
        ["ingest", "none/"],
    ):
        with pytest.raises(click.UsageError):
            parses(wrong)


# --- cron ------------------------------------------------------------------------------------


def test_the_crontab_has_times_and_commands_that_hold(home: Path) -> None:
    found = [
        match
        for line in text("crontab").splitlines()
        if (match := CRON_LINE.match(line))
    ]
    assert len(found) == 2
    for expression, line in (match.groups() for match in found):
        Times(expression, UTC)
        assert "%" not in line  # cron would end the line there
        for words in commands(line):
            parses(words)


@pytest.mark.rare
def test_the_crontab_says_nothing_when_all_is_well(home: Path) -> None:
    (line,) = re.findall(r"^0 \* \* \* \*  (.+)", text("crontab"), re.MULTILINE)
    done = shell(line, home)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (home / "evals" / "report.html").exists()


# --- systemd ---------------------------------------------------------------------------------


def verify(unit: Path, home: Path) -> str:
    """What systemd says against a unit of a user."""
    (home / "run").mkdir(exist_ok=True)
    done = subprocess.run(
        ["systemd-analyze", "--user", "--man=no", "verify", str(unit)],
        text=True,
        capture_output=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(home / "run")},
    )
    return done.stderr or ("" if done.returncode == 0 else "refused")


needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="no systemd-analyze"
)


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_nothing_wrong(unit: Path, home: Path) -> None:
    assert verify(unit, home) == ""


@needs_systemd
@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("warehouse-schedule.service", "KillMode=", "KilMode="),
        ("warehouse-schedule.service", "bin/warehouse", "bin/none"),
        ("warehouse-refresh.timer", "=hourly", "=sometimes"),
    ],
)
def test_systemd_would_find_something_wrong(
    home: Path, name: str, good: str, bad: str
) -> None:
    (home / name).write_text(text(name).replace(good, bad))
    assert verify(home / name, home) != ""


def entries(unit: Path) -> Iterator[tuple[str, str]]:
    for line in unit.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[":
            name, sign, value = line.partition("=")
            assert sign and name.isalnum(), line
            yield name, value


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_have_sections_and_commands_that_hold(unit: Path, home: Path) -> None:
    sections = re.findall(
        r"^\[(\w+)\]$", unit.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sections[0] == "Unit" and set(sections) <= {
        "Unit",
        "Service",
        "Timer",
        "Install",
    }
    found = dict(entries(unit))
    if unit.suffix == ".timer":
        assert unit.with_suffix(".service").exists() and "OnCalendar" in found
    else:
        assert found["WorkingDirectory"] == "%h/evals"
        for words in commands(found["ExecStart"].replace("%h", str(home))):
            parses(words)


def test_systemd_waits_longer_than_the_scheduler() -> None:
    found = dict(entries(FOLDER / "warehouse-schedule.service"))
    words = found["ExecStart"].split()
    assert float(found["TimeoutStopSec"]) > float(words[words.index("--grace") + 1])
    assert found["KillMode"] == "mixed"  # the job's process is the scheduler's to end


def test_the_settings_hold(
    home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shutil.copy(FOLDER / "warehouse.toml", home / "evals")
    found = config.load(home / "evals", {})
    Times(found.get("schedule.cron"), zone_named(found.get("schedule.timezone")))
    Rules(max_unscored=found.get("alerts.max_unscored"))
    rows = Caller(capsys)("schedule", "--show-next", "24", "--json").rows
    assert len({row["utc"] for row in rows}) == 24
    assert {row["time"][13:19] for row in rows} == {":00:00"}


# --- Airflow ---------------------------------------------------------------------------------


def calls(tree: ast.AST, name: str) -> list[dict[str, Any]]:
    """Keywords of each call of a name, those that are constants."""
    return [
        {
            one.arg: one.value.value
            for one in node.keywords
            if one.arg and isinstance(one.value, ast.Constant)
        }
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
    ]


def test_the_airflow_file_compiles_and_its_commands_hold(home: Path) -> None:
    tree = ast.parse(text("airflow_dag.py"))
    compile(tree, "airflow_dag.py", "exec")
    (dag,) = calls(tree, "DAG")
    Times(dag["schedule"], UTC)
    assert dag["max_active_runs"] == 1 and dag["catchup"] is False
    tasks = {one["task_id"]: one for one in calls(tree, "BashOperator")}
    assert list(tasks) == ["ingest", "refresh", "report"]
    for task in tasks.values():
        for words in commands(task["bash_command"]):
            parses(words)
        assert not task["bash_command"].endswith(
            ".sh"
        )  # Airflow would take it for a template
    assert (
        tasks["refresh"]["trigger_rule"]
        == tasks["report"]["trigger_rule"]
        == "all_done"
    )


@pytest.mark.skipif(find_spec("airflow") is None, reason="Airflow is not installed")
def test_airflow_takes_the_file() -> None:
    import runpy

    dag = runpy.run_path(str(FOLDER / "airflow_dag.py"))["dag"]
    assert dag.task_dict["refresh"].upstream_task_ids == {"ingest"}
    assert dag.task_dict["report"].upstream_task_ids == {"refresh"}


# --- a pipeline ------------------------------------------------------------------------------


def workflow() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text("github-workflow.yml"))
    return found


def test_the_workflow_has_steps_whose_commands_hold(home: Path) -> None:
    found = workflow()
    assert True in found  # YAML 1.1 reads the key `on` so; the forge does not mind
    assert parse_url(found["env"]["WAREHOUSE_URL"]).database == "evals.duckdb"
    steps = found["jobs"]["gate"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    uses = [step["uses"] for step in steps if "uses" in step]
    action = [
        step for step in steps if step.get("uses") == "ORGANISATION/eval-warehouse@main"
    ]
    assert len(action) == 1
    assert all(
        re.fullmatch(r"actions/[\w-]+@v\d+", one)
        for one in uses
        if one != action[0]["uses"]
    )
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    required = {name for name, about in inputs.items() if about.get("required")}
    assert required <= set(action[0]["with"]) <= set(inputs)
    used = [
        words[0]
        for step in steps
        if "run" in step
        for words in commands(step["run"].strip())
        for _ in [parses(words)]
    ]
    assert used == ["report"]
