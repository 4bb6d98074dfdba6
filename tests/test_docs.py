"""The documentation: its examples run as shown, its links lead somewhere, its lists are whole."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.pages import PAGES, ROOT, Terminal, agrees, examples
from warehouse.store import tables

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:work|tmp|home|root|Users|mnt|opt|var)/")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as forges make them."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for found in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        target = (page.parent / found["path"]).resolve() if found["path"] else page
        if not target.exists() or (found["anchor"] and found["anchor"] not in anchors(target)):
            broken.append(found[0])
    assert not broken


def test_no_page_names_a_folder_of_one_machine() -> None:
    files = [*PAGES, *(path for path in DOCS.rglob("*") if path.is_file())]
    found = {
        f"{named(path)}: {line}"
        for path in files
        if path.suffix != ".pyc"
        for line in path.read_text(encoding="utf-8").splitlines()
        if MACHINE_PATH.search(line)
    }
    assert not found


@pytest.mark.parametrize(
    "name", ["docs/identity.md", "docs/planning.md", "docs/generations.md", "docs/suites.md"]
)
def test_examples_give_what_the_page_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    terminal = Terminal(tmp_path)
    for example in examples((ROOT / name).read_text(encoding="utf-8")):
        printed = terminal(example.command)
        assert agrees(printed, example.shown), f"$ {example.command}\n{printed}"


def test_views_page_is_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "generate.py"))["page"]()
    written = (DOCS / "views.md").read_text(encoding="utf-8")
    assert written == made, "docs/views.md is stale; run: python docs/generate.py"


def described_columns() -> dict[str, set[str]]:
    """Columns that docs/schema.md describes, by table."""
    text = (DOCS / "schema.md").read_text(encoding="utf-8")
    sections = re.split(r"^### `(\w+)`$", text, flags=re.MULTILINE)[1:]
    return {
        table: {
            name
            for line in body.splitlines()
            if line.startswith("| `")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])
        }
        for table, body in zip(sections[::2], sections[1::2], strict=True)
    }


def test_schema_page_names_every_table_and_column() -> None:
    schema = {table.name: set(table.columns.keys()) for table in tables.metadata.sorted_tables}
    assert described_columns() == schema
