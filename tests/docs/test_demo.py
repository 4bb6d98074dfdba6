"""`make demo`, and the page that goes on from its store."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.pages import ROOT, Terminal, agrees, examples

pytestmark = pytest.mark.rare
DEMO = ROOT / "docs" / "demo"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As much of a checkout as the demo reads."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(DEMO, folder / "docs" / "demo")
    return folder


@pytest.fixture(scope="module")
def shown(checkout: Path) -> str:
    """What the demo prints, where an earlier one has left its store."""
    (checkout / "demo.duckdb").write_text("left by an earlier demo")
    done = forked.in_shell(
        ["sh", "docs/demo/run.sh"], cwd=checkout, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.startswith(
        "created duckdb:///demo.duckdb\nrefresh 1: 10 recomputed"
    )
    assert (
        f"The report is the file {checkout}/report.html" in done.stdout
        and (checkout / "report.html").is_file()
    )
    return done.stdout


def test_the_demo_ranks_and_compares_on_both_benchmarks(
    shown: str, checkout: Path
) -> None:
    assert "4 of the runs repeat others" in shown
    assert re.search(
        r"^published figures: (\d+) of \1 come out exactly$", shown, re.MULTILINE
    )
    assert "error bars use it" in shown
    boards = dict(
        re.findall(r"^(\w+) · test · (\S+), higher is better · ", shown, re.MULTILINE)
    )
    assert boards == {"reading": "acc", "sums": "exact_match,strict-match"}
    better = dict(
        re.findall(r"^(reading|sums)  .*\]  (model-\w|open)  ", shown, re.MULTILINE)
    )
    assert better == {"reading": "open", "sums": "model-a"}
    assert f"The store is the file demo.duckdb in {checkout}." in shown
    assert (checkout / "demo.duckdb").is_file()


def test_what_the_demo_suggests_works(shown: str, checkout: Path) -> None:
    terminal = Terminal(checkout)
    for command in re.findall(r"^  \S*(warehouse --db .*)$", shown, re.MULTILINE):
        terminal(command)
        assert terminal.status == 0, command


@pytest.mark.usefixtures("shown")
def test_the_page_about_the_demo_shows_what_comes_out(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", "duckdb:///demo.duckdb")
    terminal = Terminal(checkout, columns=80)
    for example in examples(
        (DEMO.parent / "leaderboard.md").read_text(encoding="utf-8")
    ):
        printed = terminal(example.command)
        assert agrees(printed, example.shown), f"$ {example.command}\n{printed}"


def test_the_dumps_are_what_their_script_makes(tmp_path: Path) -> None:
    script = [sys.executable, str(DEMO / "make_results.py"), str(tmp_path / "results")]
    subprocess.run(script, check=True)

    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    assert contents(tmp_path / "results") == contents(DEMO / "results")
