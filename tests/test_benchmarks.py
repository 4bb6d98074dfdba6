"""Every script of benchmarks/ still runs: at its smallest size, without a word on how
fast.

A script that is not named here runs as it stands, and fails by the clock: give it its
smallest size.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import forked

ROOT = Path(__file__).resolve().parents[1]
DATA = str(ROOT.parent / "shared" / "data")
FOLDER = ROOT / "benchmarks"
#: Not scripts: what they share.
SHARED = {"dumps", "measure", "run"}
SCRIPTS = sorted({path.stem for path in FOLDER.glob("*.py")} - SHARED)
#: Names that `run.py` knows, and those of scripts that are run by themselves.
NAMES = re.findall(
    r'^    "([\w-]+)": \w+\.\w+,$', (FOLDER / "run.py").read_text(), re.MULTILINE
)
NAMES += [name for name in SCRIPTS if name.startswith("calibrate")]
#: By file: what stands there, and what stands in its place at the smallest size.
SMALLEST = {
    "bootstrap": {"10_000, 10_000, 1000": "60, 199, 12"},
    "calibration/cells": {
        "1_000_000": "10_000",
        "(1000, 20_000)": "(100, 2000)",
        "50, 100, 300, 1000, 10_000": "10_000",
        "5, 10, 20, 50, 500": "5",
        "0.0, 0.2, 0.6": "0.0, 0.2",
    },
    "calibration/hard": {"2_000_000, 1500, 400": "2_000, 4, 3", "400_000": "400"},
    "calibration/simulate": {"2000, 2, 10": "20, 2, 2"},
    "calibration/weighted": {"600": "2", "60, 300, 1000": "60,"},
    "dumps": {"PROMPTS = 10_000": "PROMPTS = 20"},
    "duplicates": {"REDUCED, 1000": "REDUCED, 20"},
    "growth": {
        '"rows": [(1, 10, 10_000), (1, 10, 100_000), (1, 10, 300_000)],': "",
        '"models": [(1, 10, 100), (1, 100, 100), (1, 1000, 100)],': "",
        '"benchmarks": [(10, 3, 30), (100, 3, 30), (900, 3, 30)],': "",
        "(10, 100, 10), (100, 100, 10), (1000, 100, 10)": "(1, 2, 12), (2, 2, 12)",
    },
    "helm_run": {"10_000, 25": "20, 25"},
    "inspect_log": {"SAMPLES = 10_000": "SAMPLES = 10"},
    "items": {
        '"200", "500"': '"30", "12"',
        "'2000', '12000'": "'40', '20'",
        "12_000": "60",
        "45, 27, 87": "10, 4, 3",
    },
    "large": {
        '"5000", "20"': '"5", "2"',
        "(100, 1000)": "(43, 44)",
        "(100, STAGES": "(43, STAGES",
    },
    "lake": {"= 1000, 20": "= 5, 2", "(10, 100)": "(2, 3)"},
    "matrix": {
        "10_042": "40",
        "14_042": "44",
        "100_000": "60",
        "10_000": "42",
        "5000": "120",
        "2000": "40",
        "1000": "20",
    },
    "pairs": {
        '"1000", "20"': '"40", "5"',
        '"10000", "100"': '"60", "6"',
        "(500,": "(12,",
        "(2000,": "(15,",
    },
    "permutation": {"10_000": "60"},
    "preferences": {"1_000_000, 300, 1000": "2000, 6, 20", "(5000, 0)": "(9, 0)"},
    "refresh": {
        '"100", "5000", "20"': '"3", "8", "2"',
        '"101", "5000", "20"': '"4", "8", "2"',
    },
    "reliability": {
        "12_000": "60",
        "(50, 10), (200, 5), (1000, 2)": "(30, 10), (40, 5), (50, 2)",
    },
    "report": {
        "'10', '50', '300', '4'": "'1', '4', '20', '2'",
        "20, models, 100) for models in (50, 500)": (
            "2, models, 9) for models in (3, 4)"
        ),
        "n, 100, 50) for n in (100, 1000)": "n, 4, 9) for n in (2, 3)",
    },
    "scores": {
        "'100', '5000', '20'": "'43', '5', '2'",
        '"1", "1000", "500"': '"1", "5", "20"',
    },
    "sequential": {"10_000": "1200"},
    "server": {"range(100000)": "range(100)", "1_000_000": "1000"},
    "spark": {'"100", "1000", "20"': '"3", "10", "2"'},
    "subsets": {"1000, 12_000, 400": "12, 60, 16"},
    "writers": {"200, 1000, 8": "8, 10, 2"},
}
OPTIONS = [
    "--rows",
    "20",
    "--prompts",
    "40",
    "--sources",
    "4",
    "--benchmarks",
    "2",
    "--runs",
    "1",
]
ARGUMENTS = {
    "calibrate_active": ["--held-out", "2", "--times", "3"],
    "calibrate": ["--cache", "cache.jsonl"],
    "calibrate_audit": ["--times", "1"],
    "calibrate_scale": ["--runs", "1"],
    "calibrate_composed": [
        "--percent",
        "1",
        "--rule",
        "e",
        "--cache",
        "composed.jsonl",
    ],
    "calibrate_cost": ["--runs", "5"],
    "calibrate_dimensions": ["--runs", "1", "--cells", "1"],
    "calibrate_features": ["--samples", "2"],
    "calibrate_formulations": [
        "--simulations",
        "3",
        "--models",
        "3",
        "--cache",
        "formulations.jsonl",
    ],
    "calibrate_horizon": ["--runs", "1", "--cells", "1"],
    "calibrate_matrix": ["--times", "2", "--plans", "1"],
    "calibrate_preferences": ["--runs", "1", "--cells", "2"],
    "calibrate_judges": ["--runs", "2"],
    "calibrate_sequential": ["--runs", "20"],
    "calibrate_subsets": ["--estimates", "4"],
    "calibrate_training": ["--draws", "9"],
    "calibrate_unequal": ["--simulations", "9", "--question", "paired"],
}
#: Those that are run more often than at night: a question, a server, a simulation.
#: Users run none of them, and that all are loaded with their smallest sizes is tried by
#: default.
IN_CI = ("pairs", "server", "calibrate_unequal")
#: Pages whose tables a script renews.
PAGES = {
    "calibrate_composed": "calibration_composed.md",
    "calibrate_cost": "methods_cost.md",
    "calibrate_features": "methods_items.md",
    "calibrate_horizon": "methods_horizon.md",
    "calibrate_preferences": "calibration_preferences.md",
    "calibrate_scale": "methods_items.md",
}
NEEDS = {"lake": "pysail", "spark": "pysail"}
#: A script of the current folder, as Python runs it.
AS_SCRIPT = (
    "import runpy, sys; sys.path.insert(0, ''); del sys.argv[0]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
SPARK = ROOT / "build" / "spark" / "pyspark"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sizes above."""
    copy = Path(shutil.copytree(FOLDER, tmp_path_factory.mktemp("root") / "benchmarks"))
    for beside in ("warehouse", "tests", "docs"):
        (copy.parent / beside).symlink_to(ROOT / beside)
    for name, sizes in SMALLEST.items():
        text = (copy / f"{name}.py").read_text()
        for usual, smallest in sizes.items():
            assert usual in text, (
                f"benchmarks/{name}.py has no {usual!r} any more: name its size anew"
            )
            text = re.sub(
                rf"(?<![\w.]){re.escape(usual)}"
                if usual[0].isdigit()
                else re.escape(usual),
                smallest,
                text,
            )
        (copy / f"{name}.py").write_text(text)
    return copy


def mark_of(script: str) -> pytest.MarkDecorator:
    return pytest.mark.rare if script in IN_CI else pytest.mark.slow


def test_every_script_finds_what_it_imports_and_its_smallest_size(small: Path) -> None:
    assert {
        name for name in SCRIPTS if name.startswith("calibrate")
    } == ARGUMENTS.keys()
    code = f"import run, {', '.join(ARGUMENTS)}"  # run.py imports the others
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=small, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=mark_of(name)) for name in NAMES]
)
def test_the_script_runs(
    small: Path, tmp_path: Path, script: str, request: pytest.FixtureRequest
) -> None:
    if package := NEEDS.get(script):
        pytest.importorskip(package)
    if script == "spark" and not SPARK.exists():
        pytest.skip("no Spark in build/spark: make test-spark installs it")
    if script.startswith("calibrate"):
        page = Path(
            shutil.copy(
                ROOT / "docs" / "reference" / PAGES.get(script, "methods_subsets.md"),
                tmp_path / "page.md",
            )
        )
        if script == "calibrate_audit":  # two pages, in their folder
            page = Path(
                shutil.copytree(ROOT / "docs" / "reference", tmp_path / "reference")
            )
        call = [f"{script}.py", "--output", str(page), *ARGUMENTS[script]]
    else:
        call = ["run.py", script, *OPTIONS, "--folder", str(tmp_path)]
        if script in ("server", "writers", "small-sources", "postgresql"):
            call += ["--server", request.getfixturevalue("postgres_url")]
        if script == "inspect" and importlib.util.find_spec("inspect_ai"):
            call += ["--peer", sys.executable]
    environment = {"WAREHOUSE_TEST_DATA": DATA, "SPARK_HOME": str(SPARK)} | os.environ
    done = forked.run(
        [sys.executable, "-c", AS_SCRIPT, *call], cwd=small, env=environment
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_every_script_is_one_that_runs() -> None:
    names = set(
        re.findall(r"^import (\w+)$", (FOLDER / "run.py").read_text(), re.MULTILINE)
    )
    names -= set(sys.stdlib_module_names)
    assert names | {name for name in SCRIPTS if name.startswith("calibrate")} == set(
        SCRIPTS
    )
