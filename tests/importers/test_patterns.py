"""Regular expressions of mappings: as Python's, in linear time, and what is refused
says what to write instead."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cli import Caller
from warehouse.importers.common.patterns import Pattern, PatternError
from warehouse.importers.common.streams import glob_matches

#: Parts of patterns, and signs that they tell apart.
PARTS = [
    "a", "b", ".", r"\d", r"\w", r"\W", r"\s", r"\S", r"\D", "[^a]", r"[\w-]", r"[^\W_]", r"[\W_]", r"[^\s]", r"[]a]",
    "^", "$", "(a|b)", "(?P<n>a+)", "(?:ab)?", r"\u00e9", r"\.", r"\Z", "(?i:A)", r"[\S]", "a{,2}", r"\\", r"\$",
]  # fmt: skip
SIGNS = "aAbB1_-. \n\t\u00a0é٣ⅷ‿\\$]\u2028"
texts = st.text(st.sampled_from(SIGNS), max_size=8)
patterns = st.lists(
    st.tuples(
        st.sampled_from(PARTS), st.sampled_from(["", "", "", "*", "+", "?", "*?"])
    ),
    min_size=1,
    max_size=5,
)


@given(patterns, texts)
def test_a_pattern_means_what_it_means_in_python(
    parts: list[tuple[str, str]], text: str
) -> None:
    pieces = [
        part + (repeat if part not in ("^", "$", r"\Z", "a{,2}", "(?:ab)?") else "")
        for part, repeat in parts
    ]
    written = "".join(dict.fromkeys(pieces))  # a named group once
    if written.count("(?P<n>") > 1 or "$" in written and text.endswith("\n"):
        return  # where a text ends is told apart below
    ours, theirs = Pattern(written), re.compile(written)
    for how in ("search", "fullmatch"):
        mine, wanted = getattr(ours, how)(text), getattr(theirs, how)(text)
        assert (mine and mine.group(0)) == (wanted and wanted.group(0)), (
            written,
            text,
            how,
        )
    assert dict(ours.groupindex) == theirs.groupindex and ours.groups == theirs.groups


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a(\d+)$", "a1\n"),
        (r"(.*)$", "a\n"),
        ("(?m)^(b)$", "a\nb\nc"),
        (r"(a)\Z", "a\n"),
    ],
)
def test_where_a_text_ends(written: str, text: str) -> None:
    mine, wanted = Pattern(written).search(text), re.search(written, text)
    assert (mine and mine.group(1)) == (wanted and wanted[1])


@pytest.mark.parametrize(
    "written",
    [
        "(?!(id|src)$).+",
        "(?!a)(?!b)(?=c).*",
        "^(?!id$)(.+)",
        r"(?![)(\]]+\)).+",
        "(?!x).*(?P<n>c)",
    ],
)
def test_look_aheads_at_the_beginning(written: str) -> None:
    for text in ("id", "ids", "src", "a", "b", "c", "x", "xc", "ac", "](", ")", ""):
        mine, wanted = (
            Pattern(written, whole=True).fullmatch(text),
            re.fullmatch(written, text),
        )
        assert (mine and mine.group()) == (wanted and wanted[0]), text


def test_names_that_are_no_text_of_utf8_are_matched_and_kept() -> None:
    found = Pattern(r"(?P<model>.+)/r\.csv").fullmatch("m\udcffé/r.csv")
    assert found is not None and found.groupdict() == {"model": "m\udcffé"}
    again = pickle.loads(pickle.dumps(Pattern("(?!a).+", whole=True)))
    assert (
        again == Pattern("(?!a).+", whole=True)
        and again.fullmatch("b")
        and not again.fullmatch("a")
    )


@pytest.mark.timeout(60)  # ages, for an engine that goes back
@pytest.mark.parametrize(
    "written",
    [
        "(a+)+",
        "(a|a)*",
        "(a*)*",
        "([a-z]+)*",
        "(.*a){20}",
        r"(\w+\s?)*",
        "(a?){50}a{50}",
    ],
)
def test_no_pattern_takes_longer_than_its_text(written: str) -> None:
    text = "a" * 100_000 + "!"
    assert Pattern(written).fullmatch(text) is None
    assert not glob_matches("*a" * 20 + "b", text)


@pytest.mark.parametrize(("written", "what", "instead"), [
    ("a(?=b)", "look-ahead", "group"), ("a(?!b)", "look-ahead", "[^x]"), ("(?!a)b", "look-ahead", "[^x]"),
    ("(?<=a)b", "look-behind", "group"), ("(?<!a)b", "look-behind", "(?:^|[^x])"),
    (r"(a)\1", "back-reference", "write out"),
    ("(?P<n>a)(?P=n)", "back-reference", "write out"), ("a++", "possessive", "leave out"), ("(?>a)", "atomic", "(?: )"),
    ("(a)?(?(1)b|c)", "condition", "|"), ("(?#no)a", "comment", "leave it out"), ("a{2000}", "not supported", "RE2"),
    ("(?x) a", "not supported", "RE2"), ("[[:alpha:]]+", "no such class", "A-Za-z"),
    ("(", "no regular expression", "position 0"),
])  # fmt: skip
def test_what_is_not_supported_says_what_to_write_instead(
    written: str, what: str, instead: str
) -> None:
    with pytest.raises(PatternError, match=re.escape(what)) as raised:
        Pattern(written)
    assert instead in str(raised.value)


def test_patterns_are_equal_where_their_texts_are() -> None:
    assert len({Pattern("a"), Pattern("b"), Pattern("a")}) == 2
    assert Pattern("a") != Pattern("b") and Pattern("a") != "a"


MAPPING = """
[path]
pattern = '(?P<model>.+)\\.csv'
[run]
benchmark = { const = "b" }
[sample]
prompt_id = "id"
target = { path = "text", pattern = PATTERN }
[[scores]]
metric = "acc"
value = "score"
"""


@pytest.mark.timeout(120)
def test_a_hostile_pattern_does_not_hang_and_one_that_is_refused_names_its_line(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    (tmp_path / "m.csv").write_text(f"id,text,score\n1,{'a' * 5000}!,1\n2,aa,0\n")
    mapping = tmp_path / "m.toml"
    mapping.write_text(MAPPING.replace("PATTERN", "'^(a+)+$', default = 'none'"))
    done = run(
        "ingest",
        "--map",
        str(mapping),
        str(tmp_path / "m.csv"),
        "--json",
        db=duckdb_url,
    )
    assert done.code == 0 and done.rows[0]["n_scores"] == 2
    for written in ("'(?<=a)b'", '"(?<=a)b"', '"\\\\d(?<=a)b"'):
        mapping.write_text(MAPPING.replace("PATTERN", written))
        done = run(
            "ingest", "--map", str(mapping), str(tmp_path / "m.csv"), db=duckdb_url
        )
        done.fails(3, str(mapping), "(line 8)", "look-behind is not supported", "group")
