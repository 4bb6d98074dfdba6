"""Fields of a question that hold several numbers, that may be left open, and that a
reason names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import click
import pytest
from click.testing import CliRunner

from warehouse.analysis.anchors.question import Anchors
from warehouse.analysis.flash.question import Flash
from warehouse.analysis.items.question import ItemPruning
from warehouse.analysis.pairs.question import AllPairs
from warehouse.cli.ui.questions import in_flags, options_of
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Ask(Question):
    """How far it is."""

    NAME, ANSWER = "ask", "nowhere:ask"

    places: Annotated[Sequence[str], Option("Where to.", "PLACE...")]
    _: KW_ONLY
    stops: Annotated[
        Sequence[int] | None, Option("After so many miles.", "N,N...", least=1)
    ] = None
    kind: Annotated[str | None, Option("On what.", choices=("by_foot", "by_bike"))] = (
        None
    )
    gear: Annotated[int, Option("To begin with.", "N", ("--first-gear",), least=1)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind is None:
            self.refuse("goes with {kind}", "gear")


def asked(*arguments: str) -> Any:
    """What the command makes of them: its question, or the text of the refusal."""
    found: list[Ask] = []

    @click.command()
    @options_of(Ask)
    def command(**options: Any) -> None:
        found.append(Ask(**options))

    done = CliRunner().invoke(command, arguments)
    return found[0] if found else done.output


def test_several_values_are_checked_one_by_one() -> None:
    assert Ask("town", stops=[3, 1]).stops == (3, 1)
    assert (
        Ask("town").places == ("town",)
        and Ask("town").stops is None
        and Ask("town").kind is None
    )
    with pytest.raises(StatisticsError, match="stops must be at least 1, found 0"):
        Ask("town", stops=[2, 0])
    with pytest.raises(StatisticsError, match=r"shares must be in \[0, 1\), found 1"):
        ItemPruning("exam", shares=(0.5, 1))
    for question in (Anchors, Flash):
        with pytest.raises(MisuseError, match="sizes is empty: name one"):
            question("exam", sizes=())


def test_a_command_has_them_too() -> None:
    assert asked("here", "there", "--stops", "2,1", "--kind", "by-bike") == Ask(
        ("here", "there"), stops=(2, 1), kind="by_bike"
    )
    assert asked("here") == Ask(("here",))
    assert "Missing argument 'PLACE...'" in asked()
    assert "number below 1" in asked("here", "--stops", "0")


def test_a_reason_names_fields_as_they_are_called_there() -> None:
    with pytest.raises(MisuseError, match="^gear goes with kind$"):
        Ask("town", gear=2)
    assert "--first-gear goes with --kind\n" in asked("here", "--first-gear", "2")


def test_words_of_a_note_stay_words() -> None:
    note = (
        "n_resamples: more; where a metric is random: warehouse list metrics b "
        "--metric m"
    )
    assert in_flags(AllPairs, note) == note.replace("n_resamples", "--resamples")
