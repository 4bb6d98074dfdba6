"""``warehouse help``: words in plain sentences, commands, the forms of output; what the
first help shows first."""

from __future__ import annotations

import re

import pytest

from tests.support.cli import Caller
from tests.support.pages import ROOT
from warehouse.cli.command_table import COMMANDS, EVERYDAY
from warehouse.tables.glossary import find, names, terms
from warehouse.tables.words import MEANINGS


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("rank-set", "rank-set: The places"),
        ("Rank set", "rank-set: The places"),
        ("p Holm", "holm: An adjustment"),
        ("95% interval", "interval: The range"),
        ("se", "standard-error: How far"),
        ("few_clusters", "few_clusters: A flag: fewer than 20 clusters"),
    ],
)
def test_a_word_is_explained_however_it_is_spelled(
    run: Caller, words: str, begins: str
) -> None:
    for asked in ((words,), words.split()):
        out = run("help", *asked).out
        assert out.startswith(begins) and re.search(
            r"^More: docs/\w+\.md$", out, re.MULTILINE
        )


def test_several_words_are_explained_one_below_the_other(run: Caller) -> None:
    assert [
        line.partition(":")[0]
        for line in run("help", "rank-set", "group").out.splitlines()
    ] == [*("rank-set", "More", "group", "More")]


def test_help_on_a_command_is_its_own(run: Caller) -> None:
    for name in ("leaderboard", "store check"):
        assert run("help", *name.split()).out == run(*name.split(), "--help").out
    assert run("help", "seeds").out.endswith(run("training", "seeds", "--help").out)
    all_of_them = run("help", "cluster").out
    assert all_of_them.startswith("cluster: Prompts")
    for group in ("fix", "text", "matrix"):
        assert run(group, "cluster", "--help").out in all_of_them


def test_a_slip_is_answered_with_what_was_meant(run: Caller) -> None:
    run("help", "rnk-set").fails(
        2, "no command or term 'rnk-set'; did you mean rank-set"
    )
    run("help", "leaderbord").fails(2, "did you mean leaderboard")
    run("help", "xyzzy").fails(2, "see: warehouse help")


def test_the_terms_are_listed_and_name_pages_that_are_there(run: Caller) -> None:
    listed = run("help").out
    spelled = [
        name for term in terms().values() for name in (term.name, *term.also)
    ] + [*MEANINGS]
    assert len(spelled) == len(set(spelled))
    for name in terms():
        assert name in listed
    for name, term in names().items():
        assert (ROOT / "docs" / f"{term.page}.md").is_file(), name
        assert 1 <= len(
            re.findall(r"[.:](?: |$)", term.says)
        ) <= 6 and term.says.endswith(".")


@pytest.mark.parametrize(
    "column",
    ["stat. rank", "rank set", "group", "se", "p", "p Holm", "flags", "clusters"],
)
def test_columns_that_tables_explain_are_terms(column: str) -> None:
    assert find(column) is not None


def test_forms_of_output_are_said_once(run: Caller) -> None:
    output = run("help", "output").out
    for flag in (
        *(
            "--json",
            "--jsonl",
            "--csv",
            "--parquet FILE",
            "--markdown",
            "--latex",
            "--html",
            "--percent",
            "--svg",
        ),
    ):
        assert re.search(rf"^{flag} ", output, re.MULTILINE), flag
    own = run("leaderboard", "--help").out
    assert (
        "\nOutput: --json, --csv, --markdown …; see: warehouse help output\n" in own
        and "--latex" not in own
    )
    assert (
        "--markdown  " in run("gate", "--help").out
    )  # which means something of its own there
    assert "Output: " not in run("store", "init", "--help").out


def test_the_everyday_commands_come_first(run: Caller) -> None:
    shown = run("--help").out
    first = re.findall(
        r"^  ([\w-]+)  ", shown.partition("Every day:\n")[2], re.MULTILINE
    )
    there = [name for name in EVERYDAY if name in COMMANDS]
    assert first[: len(there)] == there and len(EVERYDAY) == 12
    assert not {*first[len(there) :]} & {*EVERYDAY}


#: Columns of tables of single statements, of models, and of what these are called.
_NAMES = re.compile(r"\d+|org/.*|[a-z]|win/.*|lab/.*")
#: Of questions that few ask, whose pages explain them.
_RARE = frozenset(
    (
        *("key", "scorer", "scorer_kind", "id", "text", "sd", "p25", "p75", "ranks"),
        *("P = 0", "P = 1", "behind", "block", "90% interval", "r_c"),
        *("se seeds fixed", "se prompts fixed", "se both sampled", "seed sd"),
        *("V prompts", "V seeds", "V both"),
    )
)


def _headings(text: str) -> list[str]:
    """The headings of all tables of a golden output."""
    lines = text.splitlines()
    found = []
    for head, rule in zip(lines, lines[1:], strict=False):
        if not re.fullmatch(r"-+(  +-+)+", rule.strip()):
            continue
        for column in re.finditer(r"-+", rule):
            found.append(head[column.start() : column.end()].strip())
    return [name for name in found if name]


def test_the_word_of_every_column_is_known() -> None:
    unknown = set()
    for path in (ROOT / "tests" / "cli" / "golden").glob("*.txt"):
        for heading in _headings(path.read_text(encoding="utf-8")):
            is_told = find(heading) or _NAMES.fullmatch(heading) or heading in _RARE
            if not is_told:
                unknown.add(heading)
    assert not unknown


@pytest.mark.parametrize(
    ("wish", "meant"),
    [
        ("how many prompts do I need", "power"),
        ("which prompts are wrong", "items audit"),
        ("undo an ingest", "fix forget"),
        ("export to pandas", "query"),
        ("rename a model", "fix alias"),
        ("latex table", "leaderboard"),
        ("is it seed noise", "training seeds"),
        ("cost", "frontier"),
        ("scores by category", "leaderboard"),
        ("find a word in transcripts", "text grep"),
        ("is model A better than B", "compare"),
        ("do timeouts count as wrong", "fix policy"),
        ("cost per task", "frontier"),
        ("which prompts changed between two versions", "compare"),
        ("why is my score different from the paper", "query"),
        ("is this benchmark saturated", "items difficulty"),
    ],
)
def test_a_wish_in_ones_own_words_finds_the_command(
    run: Caller, wish: str, meant: str
) -> None:
    found = run("help", *wish.split())
    assert found.code == 0
    listed = [line.strip() for line in found.out.splitlines()[1:4]]
    assert any(line.startswith(f"warehouse {meant} ") for line in listed), found.out
