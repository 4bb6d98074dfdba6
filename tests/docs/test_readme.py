"""README and the first page: their commands for files of one's own work, and so does the
Python of the README."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.pages import ROOT, Terminal, agrees, blocks, commands, examples

README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = (ROOT / "docs" / "your_files.md").read_text(encoding="utf-8")
#: Lines and links that a front page has at most.
MOST_LINES, MOST_LINKS = 90, 10
DUMPS = ROOT / "docs" / "demo" / "results"
GSM8K = {"model-a": "1101110100", "model-b": "1001010100"}


def test_the_first_command_answers_on_the_logs_that_are_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(DUMPS, tmp_path / "docs" / "demo" / "results")
    terminal = Terminal(tmp_path, columns=80)
    (first,) = examples(README)
    printed = terminal(first.command)
    assert agrees(printed, first.shown), printed
    (asked,) = blocks(README, "sh", mark="asked")
    for command in commands(asked):
        terminal(command)
        assert terminal.status == 0, command
    assert {path.name for path in tmp_path.iterdir()} == {
        *("cache", "docs", "report.html")
    }


def test_the_front_page_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    assert README.count("](") <= MOST_LINKS


@pytest.fixture
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """In a folder with the files that the README speaks of."""
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(DUMPS, tmp_path / "path" / "to" / "lm_eval_output")
    (tmp_path / "results").mkdir()
    rows = [
        f"{model},q{number},{score}\n"
        for model, scores in GSM8K.items()
        for number, score in enumerate(scores)
    ]
    (tmp_path / "results" / "all.csv").write_text(
        "model,question_id,correct\n" + "".join(rows)
    )
    (tmp_path / "mapping.toml").write_text(blocks(FILES, "toml")[0], encoding="utf-8")
    return Terminal(tmp_path)


def test_commands_for_own_files_work(
    own_files: Terminal,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (block,) = blocks(FILES, "sh", mark="own files")
    printed = ""
    for command in commands(block):
        printed += own_files(command)
        assert own_files.status == 0, command
    assert (own_files.folder / "out" / "manifest.json").exists()
    monkeypatch.chdir(own_files.folder)
    exec(blocks(README, "python")[0], {})
    assert "model-a leads with 73.2 %" in capsys.readouterr().out
    assert "gsm8k · exact_match, higher is better · " in printed
    assert re.search(r"^model-a has the highest figure \d\d %", printed, re.MULTILINE)
    assert "model-a against model-b" in printed and "+20" in printed
