"""Docstrings with what stands behind the fields."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from warehouse.field_docs import document_fields


@dataclass(frozen=True)
class Base:
    """A base."""

    first: int  #: what it counts


@dataclass(frozen=True)
class Derived(Base):
    """Some figures.

    Over two lines.
    """

    #: from
    #: here, to there
    low: float
    #: start, stop: both ends
    start: int
    stop: int
    silent: str


def test_fields_follow_the_text_as_attributes() -> None:
    document_fields(Derived)
    document_fields(Derived)
    assert inspect.getdoc(Derived) == (
        "Some figures.\n"
        "\n"
        "Over two lines.\n"
        "\n"
        "Attributes:\n"
        "    first: what it counts\n"
        "    low: from here, to there\n"
        "    start, stop: both ends"
    )


def test_a_docstring_of_its_own_stays() -> None:
    @dataclass
    class Own:
        """Text.

        Attributes:
            value: told here.
        """

        value: int  #: and here

    document_fields(Own)
    assert (inspect.getdoc(Own) or "").endswith("value: told here.")
