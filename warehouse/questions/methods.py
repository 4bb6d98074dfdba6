"""Methods of the library that ask questions: the fields of a question as keywords, and
their explanation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import (
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    get_type_hints,
    overload,
)

from warehouse.questions.question import (
    FieldOption,
    Options,
    Question,
    described,
    options,
)

P = ParamSpec("P")
P2 = ParamSpec("P2")
P3 = ParamSpec("P3")
T = TypeVar("T", covariant=True)
T2 = TypeVar("T2", covariant=True)
T3 = TypeVar("T3", covariant=True)
Q = TypeVar("Q", bound=Options)


class Method(Protocol[P, T]):
    """A method of a warehouse, bound or not."""

    @overload
    def __get__(
        self, instance: None, owner: type, /
    ) -> Callable[Concatenate[Any, P], T]: ...
    @overload
    def __get__(self, instance: object, owner: type, /) -> Callable[P, T]: ...


class Overloaded(Protocol[P, T, P2, T2, P3, T3]):
    """A method with three ways to be called, each with an answer of its own."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def __call__(self, *args: P2.args, **kwargs: P2.kwargs) -> T2: ...
    @overload
    def __call__(self, *args: P3.args, **kwargs: P3.kwargs) -> T3: ...


class OfSeveral(Protocol[P, T]):
    """A method that takes one name, a list of them, or several as arguments of their
    own."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def __call__(
        self, first: str, second: str, /, *more: str, **keywords: Any
    ) -> T: ...


class Gives(Generic[T]):
    """The class of an answer, for readers and type checkers: ``Gives["Comparison"]``."""


def method(question: Callable[P, Question], _gives: type[Gives[T]]) -> Method[P, T]:
    """The method of a warehouse that asks a question: its keywords, with its
    explanation."""
    return cast("Method[P, T]", method_of(cast("type[Question]", question)))


def method_of_several(
    question: Callable[P, Question], _gives: type[Gives[T]]
) -> OfSeveral[P, T]:
    """The same where several names are arguments of their own."""
    return cast("OfSeveral[P, T]", method_of(cast("type[Question]", question)))


def method_by_kind(
    question: type[Question],
    _one: tuple[Callable[P, Question], type[Gives[T]]],
    _two: tuple[Callable[P2, Question], type[Gives[T2]]],
    _three: tuple[Callable[P3, Question], type[Gives[T3]]],
) -> Overloaded[P, T, P2, T2, P3, T3]:
    """A method that chooses among several questions by its arguments."""
    return cast("Overloaded[P, T, P2, T2, P3, T3]", method_of(question))


def method_of(question: type[Question]) -> Callable[..., Any]:
    """The method that asks a question, as a function of the warehouse and the
    question's keywords."""

    def ask(self: Any, filled_in: Question) -> Any:
        if question.OPENS:
            return filled_in.ask(self._opener)
        with self._reading() as store:
            return filled_in.ask(store)

    return _with_keywords(question, question.NAME, ask)


def with_keywords(
    question: Callable[P, Q], _gives: type[Gives[T]]
) -> Callable[[Callable[[Any, Q], T]], Method[P, T]]:
    """Make a method that takes options one that takes their keywords, with their
    explanation."""
    kind = cast("type[Options]", question)
    return lambda function: cast(
        "Method[P, T]", _with_keywords(kind, function.__name__, function)
    )


def _with_keywords(
    question: type[Options], name: str, ask: Callable[[Any, Any], Any]
) -> Callable[..., Any]:
    spread = next(
        (key for key, option in options(question).items() if option.is_spread), ""
    )

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if spread and args:
            args = (args[0] if len(args) == 1 else args,)
        return ask(self, question(*args, **kwargs))

    kinds = get_type_hints(question)
    named = inspect.signature(question.__init__).parameters.values()
    shown = [
        parameter.replace(annotation=kinds.get(parameter.name, parameter.empty))
        for parameter in named
    ]
    if spread:
        several = inspect.Parameter(
            spread, inspect.Parameter.VAR_POSITIONAL, annotation=str
        )
        shown = [
            several if parameter.name == spread else parameter for parameter in shown
        ]
    method.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    method.__name__, method.__doc__ = name, explained(question)
    return method


def explained(question: type[Options]) -> str:
    """The docstring of a method that asks it: what it is, its keywords, what is raised."""
    text, raises = described(question)
    declared = options(question)
    names = {
        flag: name
        for name, option in declared.items()
        for flag in option.all_flags(name)
    }
    keywords = [
        f"    {name}: "
        f"{_FLAG.sub(lambda found: names.get(found[0], found[0]), _in_words(option))}"
        for name, option in declared.items()
    ]
    return "\n".join([text, "", "Args:", *keywords, "", f"Raises:{raises}"])


_FLAG = re.compile(r"--[a-z][a-z-]*")


def _in_words(option: FieldOption) -> str:
    if option.choices:
        values = f"one of {', '.join(option.choices)}"
    else:
        values = option.limits
    text = f"{option.help.rstrip(' .')}{f'; {values}' if values else ''}"
    if text.endswith(("?", "]")) and not values:
        return text
    return f"{text}."
