"""What is said once of a question reaches whoever asks it: command, method, checks,
explanation."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module, resources
from typing import Annotated, Any

import click
import numpy as np
import pytest

from tests.support.embedders import TinyEmbedder
from warehouse.analysis.compare.question import Compare, CompareUnpaired
from warehouse.analysis.leaderboard.question import OneLeaderboard, Ranking
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.analysis.text.question import EmbedPrompts, FindDuplicates
from warehouse.api import Warehouse
from warehouse.cli.ui.questions import in_flags, options_of
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.methods import explained
from warehouse.questions.question import Answer, Option, Question, UnusedError, options
from warehouse.records.dump import ImportSettings


def every() -> list[type[Question]]:
    """All questions that there are."""
    for folder in resources.files("warehouse.analysis").iterdir():
        if (folder / "question.py").is_file():
            import_module(f"warehouse.analysis.{folder.name}.question")
    import_module("warehouse.refresh.question")
    found, left = [], [Question]
    while left:
        below = left.pop().__subclasses__()
        found += [kind for kind in below if kind.__module__.endswith(".question")]
        left += below
    return found


@dataclass(frozen=True)
class Ask(Question):
    """How far it is.

    Raises:
        MisuseError: nowhere.
    """

    NAME, ANSWER = "ask", "nowhere:ask"

    to: Annotated[str, Option("Where to.", "PLACE")]
    share: Annotated[
        float, Option("Of the way.", "P", least=0, most=1, is_open=(True, False))
    ] = 0.5
    kind: Annotated[str, Option("On what.", choices=("by_foot", "by_bike"))] = "by_foot"
    slow_ok: Annotated[bool, Option("Slowly too.", flags=("--slow",))] = False
    stops: Annotated[int | None, Option("At most.", "N", least=1)] = None


@pytest.mark.parametrize("question", every(), ids=lambda kind: kind.__name__)
def test_a_question_is_answered_by_a_function_of_it(question: type[Question]) -> None:
    module, function = question.answered_by()
    answer = getattr(import_module(module), function)
    assert isinstance(answer, Answer)
    assert answer.question is question
    assert all(option.help.strip() for option in options(question).values())


@pytest.mark.parametrize("question", every(), ids=lambda kind: kind.__name__)
def test_a_question_loads_nothing_that_computes(question: type[Question]) -> None:
    assert not {"numpy", "sqlalchemy", "click"} & {
        name.partition(".")[0] for name in vars(inspect.getmodule(question))
    }


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"share": 0}, StatisticsError, r"share must be in \(0, 1\], found 0"),
        ({"share": float("nan")}, StatisticsError, "share must be"),
        (
            {"kind": "by-boat"},
            MisuseError,
            "unknown kind 'by_boat'; there are: by_foot, by_bike",
        ),
        ({"stops": 0}, StatisticsError, "stops must be at least 1, found 0"),
        ({"stops": 2.5}, StatisticsError, "stops must be a whole number, found 2.5"),
        ({"stops": True}, StatisticsError, "stops must be a whole number, found True"),
        ({"share": "0.5"}, StatisticsError, "share must be a number, found '0.5'"),
        ({"share": None}, StatisticsError, "share must be a number, found None"),
        ({"slow_ok": "yes"}, MisuseError, "slow_ok must be True or False, found 'yes'"),
        ({"kind": None}, MisuseError, "kind must be a text, found None"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Ask("town", **values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": 1}, "a must be a text, found 1"),
        ({"where": None}, "where must be a list, found None"),
        ({"where": [1]}, "where must be a text, found 1"),
        ({"where": {"model": "x"}}, "where must be a list, found {'model': 'x'}"),
    ],
)
def test_what_is_no_text_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(MisuseError, match=re.escape(message)):
        Compare(**({"a": "x", "b": "y"} | values))


def test_numbers_of_numpy_are_numbers() -> None:
    asked = Ask(
        "town", share=np.float32(0.5), stops=np.int64(3), slow_ok=np.bool_(True)
    )
    assert (asked.share, asked.stops, asked.slow_ok) == (0.5, 3, True)
    assert AnyLeaderboard(group="exam", weights={"a": 1.0}).weights == {"a": 1.0}


def test_values_have_one_spelling() -> None:
    assert Ask("town", kind="by-bike").kind == "by_bike"
    assert Compare("a", "b", where="model=x").where == ("model=x",)


def test_what_would_change_nothing_is_refused_by_its_name() -> None:
    Ask("town").refuse("is for bikes", "slow_ok", "stops")
    with pytest.raises(UnusedError, match="stops is for bikes"):
        Ask("town", stops=3).refuse("is for bikes", "slow_ok", "stops")
    with pytest.raises(
        UnusedError, match="slow_ok is for bikes"
    ):  # said, though it is the default
        Ask.from_command({"to": "town"}, ["slow_ok"]).refuse("is for bikes", "slow_ok")


def test_another_kind_of_question_takes_what_it_knows() -> None:
    paired = Compare("a", "b", level=0.9, force=True)
    assert paired.only(CompareUnpaired, "is for pairs") == CompareUnpaired(
        "a", "b", level=0.9, force=True
    )
    with pytest.raises(UnusedError, match="flips is for pairs"):
        Compare("a", "b", flips=3).only(CompareUnpaired, "is for pairs")
    board = AnyLeaderboard("exam", level=0.9)
    assert board.only(OneLeaderboard, "is for suites") == OneLeaderboard(
        "exam", level=0.9
    )
    with pytest.raises(UnusedError, match="weights is for suites"):
        AnyLeaderboard("exam", weights="prompts").only(OneLeaderboard, "is for suites")


def test_a_suite_and_a_benchmark_are_not_both_named() -> None:
    with pytest.raises(MisuseError, match="not both"):
        AnyLeaderboard("exam", group="exam")
    with pytest.raises(MisuseError, match="prompts fixed has one of its own"):
        Ranking(method="t", estimand="prompts-fixed")


def run(*words: str) -> tuple[int, str, dict[str, Any]]:
    """A command made of the question: exit code, output, values that it got."""
    seen: dict[str, Any] = {}

    @click.command("ask")
    @options_of(Ask, share={"help": "Of the whole way."})
    def ask(**values: Any) -> None:
        seen.update(values)
        Ask.from_command(values, [name for name in values if name == "slow_ok"]).refuse(
            "is for bikes", "slow_ok"
        )

    from click.testing import CliRunner

    result = CliRunner().invoke(ask, list(words))
    return result.exit_code, result.output, seen


def test_a_command_has_the_options_of_its_question() -> None:
    code, output, seen = run(
        "town", "--share", "1", "--kind", "by-bike", "--stops", "2"
    )
    assert seen == {
        "to": "town",
        "share": 1.0,
        "kind": "by-bike",
        "slow_ok": False,
        "stops": 2,
    }
    assert (code, "--slow is for bikes" in output) == (
        2,
        True,
    )  # by its name on the command line
    _, helped, _ = run("--help")
    for text in (
        "PLACE",
        "Of the whole way.",
        "[default: 0.5; 0<x<=1]",
        "[by-foot|by-bike]",
        "--slow",
        "[x>=1]",
    ):
        assert text in helped
    assert run("town", "--share", "0")[0] == 2
    assert run()[0] == 2


def test_notes_name_options_as_the_command_does() -> None:
    assert (
        in_flags(Ask, "not shown (slow_ok shows it)") == "not shown (--slow shows it)"
    )


def test_the_explanation_has_every_option_with_its_range() -> None:
    text = explained(Ask)
    assert text.startswith(
        "How far it is.\n"
        "\n"
        "Args:\n"
        "    to: Where to.\n"
        "    share: Of the way; in (0, 1].\n"
    )
    assert "    kind: On what; one of by_foot, by_bike.\n" in text
    assert text.endswith("Raises:\n    MisuseError: nowhere.")


def test_several_names_are_arguments_of_their_own_and_one_model_stands_by_itself() -> (
    None
):
    shown = inspect.signature(Warehouse.duplicates).parameters["benchmarks"]
    assert shown.kind is inspect.Parameter.VAR_POSITIONAL
    assert FindDuplicates(("a", "b")).python() == 'store.duplicates("a", "b")'
    model = TinyEmbedder()
    assert (
        EmbedPrompts(embedder=model).embedder
        == EmbedPrompts(embedder=[model]).embedder
        == (model,)
    )
    with pytest.raises(MisuseError, match="embedder must be a list, found 5"):
        EmbedPrompts(embedder=5)  # type: ignore[arg-type]
    assert (
        "progress" not in EmbedPrompts.json_schema()["properties"]
    )  # only Python has it


def test_a_name_that_an_importer_may_still_use_says_what_it_is_now() -> None:
    settings = ImportSettings(
        values={"model": "a"}, defaults={"model": "b", "agent": "c"}
    )
    with pytest.warns(DeprecationWarning, match="user_values"):
        assert settings.stated == settings.user_values == {"model": "a", "agent": "c"}
