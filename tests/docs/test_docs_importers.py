"""``docs/extending.md``: the importer on the page is installed as it says, and works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.dump_settings import importers_with_runs
from tests.support.pages import ROOT, Terminal, agrees, blocks, examples
from warehouse import importers

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "docs" / "reference"
TABLE = (REFERENCE / "importers.md").read_text(encoding="utf-8")
METADATA = "Metadata-Version: 2.1\nName: quiz\nVersion: 1\n"


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """In a folder with the sample file; the importer is installed as a distribution
    would be."""
    site = tmp_path / "site"
    installed = site / "quiz-1.dist-info"
    installed.mkdir(parents=True)
    (site / "quiz.py").write_text(blocks(PAGE, "python")[0], encoding="utf-8")
    (installed / "METADATA").write_text(METADATA)
    heading, point = blocks(PAGE, "toml")[0].splitlines()
    group = heading.removeprefix("[project.entry-points.").strip('"]')
    (installed / "entry_points.txt").write_text(
        f"[{group}]\n{point.replace(chr(34), '')}\n"
    )
    (tmp_path / "capitals.quiz").write_text(blocks(PAGE, "text")[0], encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "quiz", raising=False)
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    importers.refresh()
    yield Terminal(tmp_path)
    importers.refresh()


@pytest.mark.parametrize("name", importers_with_runs())
def test_what_an_importer_takes_of_a_run_is_listed(name: str) -> None:
    """On the page that is made of its small dump (which ``test_docs.py`` holds to
    that), linked from its own page."""
    listed = (REFERENCE / "importer_settings.md").read_text(encoding="utf-8")
    assert f"\n## `{name}`\n" in listed
    link = f"importer_settings.md#{name})"
    assert link in TABLE
    pages = (ROOT / "docs").rglob("*.md")
    linking = [page.name for page in pages if link in page.read_text(encoding="utf-8")]
    assert len(linking) == 2, "on the page of importers, and on its own"


def test_the_importer_on_the_page_works(terminal: Terminal) -> None:
    for example in examples(PAGE):
        printed = terminal(example.command)
        assert agrees(printed, example.shown), f"$ {example.command}\n{printed}"


def test_its_faults_are_told_as_those_of_any_importer(terminal: Terminal) -> None:
    dump = terminal.folder / "capitals.quiz"
    dump.write_text("quiz 1 benchmark=capitals\nFrance | Paris\n")
    printed = terminal("warehouse ingest capitals.quiz")
    assert "Error: capitals.quiz, line 1: no model; name it with --set" in printed
    printed = terminal("warehouse ingest capitals.quiz --set model=ada")
    assert "line 2: France | Paris; expected question | target | response" in printed


def test_every_built_in_importer_is_in_the_table() -> None:
    listed = {
        line.split("`")[1] for line in TABLE.splitlines() if line.startswith("| `")
    }
    assert listed == importers.importers().keys()
