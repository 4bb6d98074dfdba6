"""The words of results, each in plain sentences: one file of data, for ``warehouse
help`` and the page of the docs."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warehouse.tables.flag_meanings import MEANINGS


@dataclass(frozen=True)
class Term:
    """A word."""

    name: str  #: as ``warehouse help`` is asked for it.
    says: str  #: what it means, on one line.
    page: str  #: of the docs, without folder and suffix.
    also: tuple[str, ...] = ()  #: other names of it.


@cache
def terms() -> dict[str, Term]:
    """All terms by name, in alphabetical order."""
    read = tomllib.loads(
        files(__package__).joinpath("glossary.toml").read_text(encoding="utf-8")
    )
    return {
        name: Term(
            name,
            " ".join(entry["says"].split()),
            entry["page"],
            tuple(entry.get("also", ())),
        )
        for name, entry in sorted(read.items())
    }


@cache
def columns() -> dict[str, Term]:
    """Headings of tables that no word above explains, in the order of their pages."""
    read = tomllib.loads(
        files(__package__).joinpath("columns.toml").read_text(encoding="utf-8")
    )
    found: dict[str, Term] = {}
    for page, headings in read.items():
        for heading, says in headings.items():
            found[heading] = Term(heading, says, page)
    return found


@cache
def names() -> dict[str, Term]:
    """Each name that a term goes by, flags of figures and headings among them."""
    headings = {slug(heading): term for heading, term in columns().items()}
    flags = {
        slug(flag): Term(flag, f"A flag: {text}.", "leaderboard")
        for flag, text in MEANINGS.items()
    }
    others: dict[str, Term] = {}
    for term in terms().values():
        others |= dict.fromkeys(term.also, term)
    return headings | flags | others | terms()


def slug(word: str) -> str:
    """A word, or the heading of a column, as names of terms are spelled."""
    return re.sub(r"[\s_.%()-]+", "-", word.strip().lower()).strip("-")


def find(word: str) -> Term | None:
    """The term of a word, however it is spelled; None where there is none."""
    return names().get(slug(word))
