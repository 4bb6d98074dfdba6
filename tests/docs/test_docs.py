"""The documentation: its examples run as shown, its links lead somewhere, its lists are
whole."""

from __future__ import annotations

import re
import runpy
from itertools import pairwise
from pathlib import Path

import click
import pytest

from tests.support.pages import PAGES, ROOT, Terminal, agrees, blocks, examples
from warehouse.cli.command_table import COMMANDS, is_group
from warehouse.cli.main import cli
from warehouse.store.schema import tables

DOCS = ROOT / "docs"
#: What is looked up: made pages, methods, rules, measurements.
REFERENCE = DOCS / "reference"
#: Words of the pages that people read, tables and code among them.
MOST_WORDS = 25_000
LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:work|tmp|home|root|Users|mnt|opt|var)/")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as forges make them."""
    headings = re.findall(
        r"^#+ (.+)$", CODE.sub("", page.read_text(encoding="utf-8")), re.M
    )
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


def command_lines(page: Path) -> list[str]:
    """Calls of `warehouse` in code blocks and inline code, each up to a pipe or a
    comment."""
    text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
    found = re.findall(r"^(?:    )?(?:\$ )?(warehouse .*)$", text, re.MULTILINE)
    code = [*found, *re.findall(r"`(warehouse [^`]+)`", text)]
    return [re.split(r"\s[|&>#]|&&", line)[0] for line in code]


def command_faults(words: list[str]) -> list[str]:
    """Commands and options of a call that do not exist; capitals stand for something
    else."""
    command: click.Command = cli
    context = click.Context(
        cli, help_option_names=["-h", "--help"]
    )  # a command keeps them
    known = options_of(cli)
    for before, word in pairwise(words):
        if before in ("--db", "--wait", "--from"):
            continue
        if word.startswith("--"):
            if word.partition("=")[0] not in known:
                return [word]
        elif word.startswith("-"):
            continue  # to resolve -q would silence the process
        elif isinstance(command, click.Group):
            try:
                _name, following, _rest = command.resolve_command(context, [word])
            except click.UsageError:
                if re.fullmatch(r"[a-z][a-z-]*", word):
                    return [word]
                continue
            assert following is not None
            command = following
            known |= options_of(command)
    return []


def options_of(command: click.Command) -> set[str]:
    return {
        "--help",
        *(
            name
            for option in command.params
            for name in (*option.opts, *option.secondary_opts)
        ),
    }


#: Pages that show errors, or what a command says of its work.
SAID_BESIDE = ("identity.md", "refresh.md")
#: Pages with examples that other tests run: on the store of the demo, one after the
#: other, with a package installed, on both engines.
TRIED_ELSEWHERE = (
    *("README.md", "leaderboard.md", "extending.md", "tools.md"),
    *("your_files.md", "reading.md", "decide.md", "share.md"),
)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for found in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        target = (page.parent / found["path"]).resolve() if found["path"] else page
        if not target.exists() or (
            found["anchor"] and found["anchor"] not in anchors(target)
        ):
            broken.append(found[0])
    assert not broken


def test_no_page_names_a_folder_of_one_machine() -> None:
    files = [*PAGES, *(path for path in DOCS.rglob("*") if path.is_file())]
    found = {
        f"{named(path)}: {line}"
        for path in files
        if path.suffix not in (".pyc", ".png")
        for line in path.read_text(encoding="utf-8").splitlines()
        if MACHINE_PATH.search(line)
    }
    assert not found


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if examples(page.read_text(encoding="utf-8"))
        and page.name not in TRIED_ELSEWHERE
    ],
    ids=named,
)
def test_examples_give_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder of a checkout; what people read, on a terminal of 80 columns,
    but where a page shows what is said on standard error."""
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "docs").symlink_to(DOCS)
    is_narrow = page.parent == DOCS and page.name not in SAID_BESIDE
    terminal = Terminal(tmp_path, columns=80 if is_narrow else None)
    for example in examples(page.read_text(encoding="utf-8")):
        printed = terminal(example.command)
        assert agrees(printed, example.shown), f"$ {example.command}\n{printed}"


@pytest.mark.rare
def test_the_first_four_pages_give_what_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one folder, one after the other; the rows to begin with are those of the
    README."""
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    terminal = Terminal(tmp_path)
    for name in ("your_files", "reading", "decide", "share"):
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        for example in examples(text):
            printed = terminal(example.command)
            assert agrees(printed, example.shown), (
                f"{name}: $ {example.command}\n{printed}"
            )
        if name == "your_files":
            pasted = blocks(
                (ROOT / "README.md").read_text(encoding="utf-8"), "sh", mark="four rows"
            )
            assert pasted == blocks(text, "sh", mark="four rows")
            assert "model-a and model-b cannot be told apart." in terminal(pasted[0])


#: The page whose command is that of a package which it makes
#: (``test_docs_questions.py``).
ADDED = REFERENCE / "extending_questions.md"


@pytest.mark.parametrize("page", [page for page in PAGES if page != ADDED], ids=named)
def test_commands_and_options_that_a_page_names_are_there(page: Path) -> None:
    faults = [
        f"{line}: {fault}"
        for line in command_lines(page)
        for fault in command_faults(line.split())
    ]
    assert not faults


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("warehouse leaderboard gsm8k --where temperature=0.7 --json", []),
        ("warehouse --db evals store check", []),
        ("warehouse fix alias a b", []),
        ("warehouse COMMAND --help", []),
        ("warehouse ingest out/ --sett model=x", ["--sett"]),
        ("warehouse ladder gsm8k", ["ladder"]),
        ("warehouse matrix cluster gsm8k --pairs", ["--pairs"]),
    ],
)
def test_a_command_that_is_not_there_is_found(line: str, faults: list[str]) -> None:
    assert command_faults(line.split()) == faults


@pytest.mark.parametrize(
    "name",
    [
        "settings.md",
        "importer_settings.md",
        "views.md",
        "glossary.md",
        "performance.md",
    ],
)
def test_a_page_made_of_data_is_up_to_date(name: str) -> None:
    made = runpy.run_path(str(DOCS / "generate.py"))["PAGES"][f"reference/{name}"]()
    written = (REFERENCE / name).read_text(encoding="utf-8")
    assert written == made, f"{name} is stale; run: python docs/generate.py"


def test_what_people_read_stays_short_and_is_found() -> None:
    """By one page of questions; what is longer belongs into ``docs/reference``, or goes."""
    words = {
        page.name: len(page.read_text(encoding="utf-8").split())
        for page in DOCS.glob("*.md")
    }
    assert sum(words.values()) <= MOST_WORDS, sorted(
        words.items(), key=lambda one: -one[1]
    )[:9]
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert {name for name in words if f"]({name})" not in index} == {"index.md"}


def test_llms_txt_names_every_page_and_commands_that_are_there() -> None:
    made, written = (
        runpy.run_path(str(DOCS / "generate.py"))["llms"](),
        (DOCS / "llms.txt").read_text(encoding="utf-8"),
    )
    assert written == made, "docs/llms.txt is stale; run: python docs/generate.py"
    linked = set(re.findall(r"\]\((.+?)\)", made))
    read = {name for name in linked if not name.startswith("reference/")}
    assert read == {page.name for page in DOCS.glob("*.md")}
    assert all((DOCS / name).is_file() for name in linked)
    lines = command_lines(DOCS / "llms.txt")
    assert len(lines) >= 10 and len(made) < 6_000
    assert not [fault for line in lines for fault in command_faults(line.split())]


def described_columns() -> dict[str, set[str]]:
    """Columns that docs/reference/schema.md describes, by table."""
    text = (REFERENCE / "schema.md").read_text(encoding="utf-8")
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
    schema = {
        table.name: set(table.columns.keys()) for table in tables.metadata.sorted_tables
    }
    assert described_columns() == schema


def test_the_page_of_commands_lists_them_all() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    table = text.partition("## Which command\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[:2] for line in table.splitlines() if "| `" in line]
    found = {
        f"{group.strip('|` ')} {name}".strip()
        for group, names in rows
        for name in re.findall(r"`([\w-]+)`", names)
    }
    asked = {name for name in COMMANDS if not is_group(name)}
    asked.remove("claim verify")  # stands under `claim`, which does something itself
    asked.add("claim")
    assert found == asked
