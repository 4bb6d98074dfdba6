"""``docs/reference/extending_questions.md``: the question on the page is installed as
it says, and works
like one of this package."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.pages import ROOT, Terminal, agrees, blocks, examples
from warehouse.api import Warehouse
from warehouse.errors import StatisticsError
from warehouse.questions import registry

PAGE = (ROOT / "docs" / "reference" / "extending_questions.md").read_text(
    encoding="utf-8"
)
#: Questions that are none.
OTHERS = """

class Mute(Question):
    NAME = "mute"


class Unnamed(Question):
    pass
"""
METADATA = "Metadata-Version: 2.1\nName: telling\nVersion: 1\n"


def install(site: Path, code: str, points: str) -> None:
    """A package as a distribution would leave it."""
    installed = site / "telling-1.dist-info"
    installed.mkdir(parents=True)
    (site / "telling.py").write_text(code, encoding="utf-8")
    (installed / "METADATA").write_text(METADATA)
    (installed / "entry_points.txt").write_text(points)


def forget_modules() -> None:
    """The package as it lies there now, not as a test before this one had it."""
    for name in ("telling", "telling_section"):
        sys.modules.pop(name, None)
    registry.refresh()


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """In a folder with the scores of the page; its package is installed."""
    heading, point = blocks(PAGE, "toml")[0].splitlines()
    group = heading.removeprefix("[project.entry-points.").strip('"]')
    points = (
        f"[{group}]\n"
        f"{point.replace(chr(34), '')}\n"
        "broken = telling:Nothing\n"
        "compare = telling:Telling\n"
    )
    points += (
        "renamed = telling:Telling\nmute = telling:Mute\nunnamed = telling:Unnamed\n"
    )
    install(tmp_path / "site", blocks(PAGE, "python")[0] + OTHERS, points)
    (tmp_path / "quiz.csv").write_text(blocks(PAGE, "text")[0], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    forget_modules()
    yield Terminal(tmp_path)
    forget_modules()


def test_the_question_on_the_page_works(terminal: Terminal) -> None:
    for example in examples(PAGE):
        printed = terminal(example.command)
        assert agrees(printed, example.shown), f"$ {example.command}\n{printed}"


def test_it_is_a_command_like_others(terminal: Terminal) -> None:
    terminal("warehouse ingest quiz.csv")
    listed = terminal("warehouse --help")
    assert "What packages of others answer:" in listed
    assert "telling  How many prompts tell models apart." in listed
    assert "warehouse telling quiz --level 0.9 --json" in terminal(
        "warehouse telling --help"
    )
    assert "did you mean telling" in terminal("warehouse teling quiz")
    assert "--level" in terminal("warehouse telling quiz --level 2")
    assert "| metric |" in terminal("warehouse telling quiz --markdown")
    assert json.loads(terminal("warehouse telling nothing --json")) == []
    claimed = terminal('warehouse claim "telling quiz" -o claim.json')
    assert "1 of 3 by score" in claimed and "from 2 runs of 1 sources" in claimed
    assert "the claim holds" in terminal("warehouse claim verify claim.json")


def test_nothing_is_claimed_of_an_answer_that_rests_on_no_run(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = terminal.folder / "site" / "telling.py"
    code = file.read_text(encoding="utf-8")
    file.write_text(code.replace(", tuple(runs))", ")"), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "telling", raising=False)
    registry.refresh()
    terminal("warehouse ingest quiz.csv")
    said = terminal('warehouse claim "telling quiz" -o claim.json')
    assert "does not say on which runs it rests" in said and terminal.status == 2
    assert not (terminal.folder / "claim.json").exists()


def test_it_is_a_method_like_others(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal("warehouse ingest quiz.csv")
    monkeypatch.chdir(terminal.folder)
    *lines, asked = blocks(PAGE, "python")[1].splitlines()
    code, said = asked.split("  # ")
    known: dict[str, object] = {}
    exec("\n".join(lines), known)
    assert repr(eval(code, known)) == said
    store = Warehouse(terminal.folder / "warehouse.duckdb")
    assert "telling" in dir(store)
    found = store.telling("quiz", level=0.9)
    assert [(row.n_telling, row.n_prompts) for row in found.rows] == [(1, 3)]
    assert (
        list(found.to_frame()["n_telling"]) == [1] and "1 of 3" in found._repr_html_()
    )
    assert "level: Level of the intervals" in store.telling.__doc__
    with pytest.raises(StatisticsError, match="level must be"):
        store.telling("quiz", level=1.5)
    with pytest.raises(AttributeError, match="no attribute 'tell'"):
        store.tell("quiz")


def test_one_that_does_not_load_is_told_and_stops_nothing(terminal: Terminal) -> None:
    listed = terminal("warehouse --help")
    assert "the question 'broken' (telling:Nothing) does not load" in " ".join(
        listed.split()
    )
    asked = terminal("warehouse broken quiz")
    assert (
        asked.startswith("Error: the question 'broken' (telling:Nothing) does not load")
        and "Traceback" not in asked
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "renamed",
            "calls itself 'telling'; its NAME has to be that of its entry point",
        ),
        ("mute", "has no answer; expected a method answer(self, store)"),
        ("unnamed", "calls itself ''"),
    ],
)
def test_a_class_that_cannot_be_asked_is_told(
    terminal: Terminal, name: str, said: str
) -> None:
    assert f"the question '{name}'" in terminal(
        f"warehouse {name}"
    ) and said in terminal(f"warehouse {name}")


def test_a_name_of_this_package_is_its_own(terminal: Terminal) -> None:
    assert "Compare two models on the prompts they share, beyond noise." in terminal(
        "warehouse compare --help"
    )
    assert "compare" not in registry.added_names()


def test_every_question_of_the_table_is_there() -> None:
    for name, entry in registry.ENTRIES.items():
        if entry.question:
            assert registry.question_of(name).__doc__, name


def test_its_section_stands_at_the_end_of_the_benchmark(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the one page, and on the benchmark's own."""
    terminal("warehouse ingest quiz.csv")
    terminal("warehouse report --out without.html")
    site = terminal.folder / "site"
    code = (site / "telling.py").read_text(encoding="utf-8")
    named = 'NAME = "telling"'
    (site / "telling.py").write_text(
        code.replace(named, f'{named}\n    SECTION = "telling_section:TellingSection"')
    )
    (site / "telling_section.py").write_text(
        blocks(PAGE, "python")[2], encoding="utf-8"
    )
    for module in ("telling", "telling_section"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    registry.refresh()
    terminal("warehouse report --out with.html")
    terminal("warehouse report --split --out pages")
    without, one = (
        (terminal.folder / name).read_text() for name in ("without.html", "with.html")
    )
    (split,) = (
        path.read_text() for path in (terminal.folder / "pages").glob("quiz*.html")
    )
    assert "Telling prompts" not in without
    for page in (one, split):
        _, _, after = page.partition('<h3 id="telling-quiz">Telling prompts</h3>')
        section, _, _ = after.partition("</section>")
        assert ">0.33" in section and "<h3" not in section
        assert '<a href="#telling-quiz">Telling prompts</a>' in page
        assert "warehouse claim &#34;telling quiz&#34;" in section


def test_a_section_that_does_not_load_is_told_and_stops_nothing(
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    terminal("warehouse ingest quiz.csv")
    code = (terminal.folder / "site" / "telling.py").read_text(encoding="utf-8")
    named = 'NAME = "telling"'
    (terminal.folder / "site" / "telling.py").write_text(
        code.replace(named, f'{named}\n    SECTION = "nowhere:TellingSection"')
    )
    monkeypatch.delitem(sys.modules, "telling", raising=False)
    registry.refresh()
    assert "wrote page.html" in terminal("warehouse report --out page.html")
    assert (
        caplog.messages.count(
            "the report lacks the section of the question 'telling': "
            "No module named 'nowhere'"
        )
        == 1
    )
