"""A question says how it is asked: its line given to a shell, and its Python, ask the
same again."""

from __future__ import annotations

import datetime
import inspect
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import warehouse.refresh.history
from tests.questions.test_question import every
from warehouse.analysis.anchors.question import Anchors
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.gate.question import ReleaseGate
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.power.question import PowerFromRuns
from warehouse.analysis.sequential.question import SequentialReleaseGate
from warehouse.analysis.slices.question import LeaderboardBy
from warehouse.analysis.suites.question import AnyLeaderboard, SuiteLeaderboard
from warehouse.analysis.variance.question import PassRates
from warehouse.api import Warehouse
from warehouse.cli.main import main
from warehouse.cli.state import State
from warehouse.errors import MisuseError
from warehouse.questions.question import Answer, FieldOption, Options, Question, options

WORDS = st.one_of(
    st.sampled_from(
        [
            "a b",
            "-x",
            "--metric",
            "it's",
            '"$HOME"',
            "a;b",
            "é 模型",
            "*",
            "#7",
            "a=b",
            "\\",
            "--",
        ]
    ),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        min_size=1,
        max_size=8,
    ),
)
NAMES = st.text("abc=-_/.", min_size=1, max_size=6).filter(str.strip)
#: Beyond it the command refuses what another question of the same field allows.
ALPHA = st.floats(0.01, 0.49)


class Asked(MisuseError):
    """Enough is known."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Options]]:
    """The questions that commands and methods ask, in a folder with the files that they
    name."""
    heard: list[Options] = []

    def hear(question: Options) -> Any:
        heard.append(question)
        raise Asked

    def made(
        kind: Any, values: Any, typed: Any, way: Any = Options.from_command.__func__
    ) -> Any:
        heard.append(way(kind, values, typed))
        return heard[-1]

    def unknown(*_: Any) -> None:
        raise MisuseError("no benchmark")

    monkeypatch.chdir(tmp_path)
    Path("verdicts.csv").touch()
    monkeypatch.setattr(Options, "from_command", classmethod(made))
    monkeypatch.setattr(Question, "ask", lambda question, _store: hear(question))
    monkeypatch.setattr(
        Answer,
        "__call__",
        lambda answer, _store, *args, **named: hear(answer.question(*args, **named)),
    )
    monkeypatch.setattr(State, "open", lambda *_, **__: nullcontext())
    monkeypatch.setattr(Warehouse, "_reading", lambda *_: nullcontext())
    monkeypatch.setattr(warehouse.refresh.history, "find_benchmark", unknown)
    yield heard


def values(
    kind: type[Question], name: str, option: FieldOption
) -> st.SearchStrategy[Any]:
    """What a field may hold."""
    least = 0 if option.least is None else option.least
    most = min(1e6 if option.most is None else option.most, 1e6)
    single: st.SearchStrategy[Any] = WORDS
    if (kind.__name__, name) in (
        ("Audit", "against"),
        ("Audit", "verdicts"),
        ("ImportSubset", "path"),
    ):
        single = st.just("verdicts.csv")
    elif name in ("margins", "weights"):
        single = st.dictionaries(NAMES, st.floats(0.001, 9), min_size=1, max_size=2)
    elif name == "alpha":
        single = ALPHA
    elif option.type is datetime.datetime:
        single = st.datetimes()
    elif option.choices:
        single = st.sampled_from(option.choices)
    elif option.type is bool:
        single = st.just(not option.default)
    elif option.type is int:
        single = st.integers(int(max(least, 1)), int(most))
    elif option.type is float:
        single = st.floats(
            least, most, exclude_min=option.is_open[0], exclude_max=option.is_open[1]
        )
    if option.is_list:
        single = st.lists(
            single,
            min_size=1,
            max_size=2 if option.is_spread or option.type is str else 4,
            unique=True,
        )
    return single


@st.composite
def questions(draw: Callable[..., Any], kind: type[Question]) -> Question:
    """A question with some of its fields not at their defaults."""
    known = options(kind)
    needed = [name for name, option in known.items() if option.default is option.empty]
    more = draw(
        st.sets(st.sampled_from(sorted(set(known) - set(needed)) or needed), max_size=4)
    )
    given = {name: draw(values(kind, name, known[name])) for name in {*needed, *more}}
    if kind is PassRates:
        given |= {"at": given.get("at") or (3,)}
    try:
        return kind(**given)
    except MisuseError:
        reject()


def same(heard: Options, question: Question) -> bool:
    """Whether what was heard asks it, itself or once the store says what a name is."""
    if type(heard) is type(question):
        return in_text(heard) == in_text(question)
    if isinstance(question, LeaderboardBy):
        return False  # it says more than the question that it is made of
    if isinstance(heard, AnyLeaderboard | PowerFromRuns):
        known = {
            name: getattr(heard, name)
            for name in ("benchmark", "group")
            if hasattr(heard, name)
        }
        return heard.only(type(question), "is too much", **known) == question
    return False


def in_text(question: Options) -> dict[str, Any]:
    """Its fields, paths and ids as the texts that they are typed as."""
    return {
        name: str(value)
        if isinstance(value, Path) or name in ("run", "prompt") and value is not None
        else value
        for name in options(type(question))
        for value in [getattr(question, name)]
    }


def check_command(question: Question, asked: list[Options]) -> None:
    asked.clear()
    program, *arguments = shlex.split(question.command())
    assert program == "warehouse"
    main(arguments)
    assert any(same(heard, question) for heard in asked), (question.command(), asked)


def check_python(question: Question, asked: list[Options]) -> None:
    asked.clear()
    names = {"datetime": datetime}
    if isinstance(question, PowerFromRuns):
        assert eval(question.python(), names | {"store": Spoken()}) == question
        return
    with pytest.raises(Asked):
        eval(question.python(), names | {"store": Unopened()})
    assert any(same(heard, question) for heard in asked), (question.python(), asked)


class Unopened(Warehouse):
    """A warehouse whose methods only say what they ask."""

    _opener = None

    def __init__(self) -> None:
        pass


class Spoken:
    """The method that plans makes its own questions: its arguments are what counts."""

    def power(self, *references: str, **named: Any) -> PowerFromRuns:
        inspect.signature(Warehouse.power).bind(self, *references, **named)
        return PowerFromRuns(references, **named)


@pytest.mark.parametrize("kind", every(), ids=lambda kind: kind.__name__)
def test_a_question_is_asked_again_by_what_it_says(
    kind: type[Question], asked: list[Options]
) -> None:
    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.filter_too_much,
        ],
    )
    @given(questions(kind))
    def ask(question: Question) -> None:
        check_python(question, asked)
        try:
            question.command()
        except MisuseError as error:
            assert "ask in Python" in str(error)
            beyond = [
                name
                for name, option in options(kind).items()
                if option.in_python_only or kind is Anchors
            ]
            assert any(
                getattr(question, name) != options(kind)[name].default
                for name in beyond
            )
        else:
            check_command(question, asked)

    ask()


def test_what_is_said_is_what_a_reader_would_type() -> None:
    assert Compare("a", "b").command() == "warehouse compare a b"
    assert (
        AnyLeaderboard("gsm8k", metric="acc").python()
        == 'store.leaderboard("gsm8k", metric="acc")'
    )
    assert SuiteLeaderboard("gsm8k,arc", weights={"arc": 2}).command() == (
        "warehouse leaderboard --group gsm8k,arc --weights arc=2"
    )
    gate = ReleaseGate(
        "new", "old", 0.01, margins={"gsm8k": 0.02}, benchmarks=["gsm8k"]
    )
    assert (
        gate.command()
        == "warehouse gate new old --margin 0.01 --margin gsm8k=0.02 --benchmark gsm8k"
    )
    assert (
        gate.python()
        == 'store.gate("new", "old", margin=0.01, margins={"gsm8k": 0.02}, benchmarks=["gsm8k"])'
    )
    sequential = SequentialReleaseGate("new", "old", 0.01, looks=4, use_history=False)
    assert (
        sequential.command()
        == "warehouse gate new old --sequential --obf --margin 0.01 --looks 4 --no-history"
    )
    assert (
        Anchors(["exam"], by="scores").command()
        == "warehouse subset anchors exam --list --by scores"
    )
    assert (
        Compare("-a", "b", where=["-x=1"]).command()
        == "warehouse compare --where=-x=1 -- -a b"
    )


def test_what_the_command_has_no_option_for_is_refused() -> None:
    with pytest.raises(
        MisuseError,
        match="with_flags=False cannot be said on the command line: ask in Python",
    ):
        AllPairs("exam", with_flags=False).command()
    assert (
        AllPairs("exam", with_flags=False).python()
        == 'store.pairs("exam", with_flags=False)'
    )


def test_the_line_can_be_pasted() -> None:
    where = ['model=it\'s $(id) `id` "x" \\ !', "a\nb=*"]
    words = subprocess.run(
        [
            "bash",
            "-c",
            f"printf '%s\\0' {Compare('a b', 'c;d', where=where).command()}",
        ],
        capture_output=True,
        check=True,
    )
    assert words.stdout.decode().split("\0")[:-1] == [
        *("warehouse", "compare", "a b", "c;d"),
        *("--where", where[0], "--where", where[1]),
    ]
