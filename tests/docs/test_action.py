"""The action for GitHub: its own shell, run without GitHub; and the image, built where
there is a builder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.support import forked
from tests.support.pages import ROOT
from warehouse.cli.main import cli

ACTION: dict[str, Any] = yaml.safe_load(
    (ROOT / "action.yml").read_text(encoding="utf-8")
)
STEPS: dict[str, dict[str, Any]] = {
    step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step
}
DEMO = ROOT / "docs" / "demo" / "results"
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@dataclass(frozen=True)
class Decided:
    """How the step ended: exit code, what it printed, its summary and outputs."""

    code: int
    printed: str
    summary: str
    outputs: str


@pytest.fixture
def decide(tmp_path: Path) -> Any:
    """The step that decides, with inputs as a workflow gives them."""

    def call(step: str = "Decide", **inputs: str) -> Decided:
        usual = {name: found.get("default") for name, found in ACTION["inputs"].items()}
        given = (
            usual
            | {
                "candidate": "model-a",
                "baseline": "model-b",
                "dumps": str(DEMO),
                "margin": "0.01",
            }
            | inputs
        )
        environment = {
            name: INPUT.sub(lambda found: given[found[1]], text)
            for name, text in STEPS[step]["env"].items()
        }
        files = {
            name: tmp_path / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
        }
        for path in files.values():
            path.write_text("")
        environment |= {"RUNNER_TEMP": str(tmp_path)} | {
            name: str(one) for name, one in files.items()
        }
        shell = [
            "bash",
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            STEPS[step]["run"],
        ]
        done = forked.in_shell(
            shell, env={**os.environ, **environment}, cwd=tmp_path, capture_output=True
        )
        return Decided(
            done.returncode,
            done.stdout + done.stderr,
            *(one.read_text() for one in files.values()),
        )

    return call


@pytest.mark.rare
def test_a_candidate_that_is_no_worse_passes(decide: Any) -> None:
    done = decide(benchmarks="\n  sums  \n")
    assert (done.code, done.outputs) == (0, "verdict=pass\n"), done.printed
    assert (
        "sums" in done.summary and "reading" not in done.summary and "|" in done.summary
    )
    assert done.summary in done.printed


@pytest.mark.rare
def test_one_that_is_worse_fails_and_what_is_open_may_pass(decide: Any) -> None:
    worse = decide(candidate="model-b", baseline="model-a", benchmarks="sums")
    assert (worse.code, worse.outputs) == (1, "verdict=fail\n")
    still_open = decide(margin="reading=0.02\n0.01")
    assert (still_open.code, still_open.outputs) == (5, "verdict=undecided\n")
    taken = decide(margin="reading=0.02\n0.01", undecided="pass")
    assert (taken.code, taken.outputs) == (
        0,
        "verdict=undecided\n",
    ) and "::warning::" in taken.printed


@pytest.mark.rare
def test_a_figure_that_cannot_be_right_fails_the_job(
    decide: Any, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "board.md").read_text(encoding="utf-8")
    (tmp_path / "my board.csv").write_text(page.split("```")[1].lstrip())
    step = "Look at published tables"
    assert "inputs.boards != ''" in STEPS[step]["if"]
    wrong = decide(step, boards=f"\n  {tmp_path / 'my board.csv'}  \n")
    assert (wrong.code, "birch-70B" in wrong.summary) == (3, True), wrong.printed
    harmful = decide(step, boards=f"$(touch {tmp_path}/made)")
    assert harmful.code == 2
    assert not (tmp_path / "made").exists()


@pytest.mark.rare
def test_mistakes_end_it_and_inputs_are_no_commands(
    decide: Any, tmp_path: Path
) -> None:
    harmful = f'$(touch {tmp_path}/made) "; touch {tmp_path}/made; "'
    named = decide(candidate=harmful)
    assert named.code == 2 and not named.summary and not (tmp_path / "made").exists()
    assert decide(dumps=str(tmp_path / "missing")).code == 2
    assert decide(dumps="--help").code == 2  # no option
    assert decide(arguments="--alpha=2").code == 2


@pytest.mark.rare
def test_more_than_one_folder_a_mapping_and_a_store_of_ones_own(
    decide: Any, tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text('[run]\nmodel = "model"\nbenchmark = { const = "b" }\n[sample]\nprompt_id = "id"\n'
                                     '[[scores]]\nmetric = "acc"\nvalue = "ok"\n'
                                     '[metrics.acc]\nkind = "binary"\nhigher_is_better = true\n')  # fmt: skip
    for model in "ab":
        rows = "".join(f"{model},{n},{int(n % 3 > 0)}\n" for n in range(400))
        (tmp_path / f"{model} 1.csv").write_text(f"model,id,ok\n{rows}")
    dumps = "\n".join(str(tmp_path / f"{model} 1.csv") for model in "ab")
    store = f"duckdb:///{tmp_path}/own.duckdb"
    done = decide(
        candidate="a",
        baseline="b",
        dumps=dumps,
        mapping=str(tmp_path / "m.toml"),
        store=store,
    )
    assert done.outputs == "verdict=pass\n", done.printed
    assert (tmp_path / "own.duckdb").exists() and not (
        tmp_path / "evals.duckdb"
    ).exists()


def test_the_action_says_what_it_uses() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert {*INPUT.findall(text)} == {*ACTION["inputs"]}
    for step in STEPS.values():
        assert "${{" not in step["run"]  # inputs are variables
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for name in re.findall(r"GITHUB_ACTION_PATH\[(\w+)\]", text) + re.findall(
        r"^ARG EXTRAS=(\w+)", dockerfile(), re.M
    ):
        assert name in extras
    assert set(re.findall(r"warehouse (\w+)", STEPS["Decide"]["run"])) <= set(
        cli.list_commands(click.Context(cli))
    )


# --- the image -------------------------------------------------------------------------------


def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    joined = re.sub(
        r"\\\n\s*", "", re.sub(r"^#.*\n", "", dockerfile(), flags=re.MULTILINE)
    )
    return [
        (line.split()[0], line.split(maxsplit=1)[1])
        for line in joined.splitlines()
        if line
    ]


def test_the_image_is_made_of_what_the_package_needs_and_runs_without_root() -> None:
    found = instructions()
    users = [rest for name, rest in found if name == "USER"]
    assert users == ["10001"] and ("ENTRYPOINT", '["warehouse"]') in found
    assert all(
        json.loads(rest) for name, rest in found if name in ("ENTRYPOINT", "CMD")
    )  # in the form without a shell
    assert all(
        re.match(r"python:\$\{PYTHON\}-slim( AS build)?$", rest)
        for name, rest in found
        if name == "FROM"
    )
    assert not [name for name, _ in found if name == "ADD"]
    copied = {
        word
        for name, rest in found
        if name == "COPY" and "--from" not in rest
        for word in rest.split()[:-1]
    }
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {*settings["tool"]["setuptools"]["package-dir"].values()}
    assert copied == folders | {
        "pyproject.toml",
        settings["project"]["readme"],
        *settings["project"]["license-files"],
    }
    shown = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert shown == copied


def builder() -> str:
    """Why there is no builder of images; empty if there is one."""
    if not shutil.which("docker"):
        return "no docker"
    answer = subprocess.run(
        ["docker", "info"], capture_output=True, text=True, timeout=30
    )
    return "" if answer.returncode == 0 else "no docker daemon answers"


@pytest.mark.rare
@pytest.mark.timeout(1800)
def test_the_image_is_built_and_started(tmp_path: Path) -> None:
    if reason := builder():
        pytest.skip(reason)
    tag = "eval-warehouse-under-test"
    subprocess.run(["docker", "build", "--quiet", "--tag", tag, str(ROOT)], check=True)
    try:
        shutil.copytree(DEMO, tmp_path / "results")
        call = [
            "docker",
            "run",
            "--rm",
            "--user",
            f"{os.getuid()}:{os.getgid()}",
            "--volume",
            f"{tmp_path}:/data",
            tag,
        ]
        read = subprocess.run(
            [*call, "ingest", "results/"], capture_output=True, text=True, check=True
        )
        assert "6 loaded" in read.stdout
        board = subprocess.run(
            [*call, "leaderboard", "sums", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert [row["model"] for row in json.loads(board.stdout)] == [
            "model-a",
            "model-b",
        ]
        who = subprocess.run(
            ["docker", "run", "--rm", "--entrypoint", "id", tag, "-u"],
            capture_output=True,
            text=True,
        )
        assert who.stdout.strip() == "10001"
    finally:
        subprocess.run(["docker", "image", "rm", "--force", tag], capture_output=True)
