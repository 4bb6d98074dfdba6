"""Methods of the library that ask questions: the fields of a question as keywords, and
their explanation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
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

from warehouse.errors import MisuseError, did_you_mean
from warehouse.questions.question import (
    FieldOption,
    Options,
    Question,
    described,
    options,
)
from warehouse.questions.saying import saying_methods

P = ParamSpec("P")
T = TypeVar("T", covariant=True)
Q = TypeVar("Q", bound=Options)


class Method(Protocol[P, T]):
    """A method of a warehouse, bound or not."""

    @overload
    def __get__(
        self, instance: None, owner: type, /
    ) -> Callable[Concatenate[Any, P], T]: ...
    @overload
    def __get__(self, instance: object, owner: type, /) -> Callable[P, T]: ...


class Gives(Generic[T]):
    """The class of an answer, for readers and type checkers: ``Gives["Comparison"]``."""


def method_of(question: type[Question]) -> Callable[..., Any]:
    """The method that asks a question, as a function of the warehouse and the
    question's keywords."""

    def ask(self: Any, filled_in: Question) -> Any:
        if question.CHANGES_STORE and self._only_asks:
            raise MisuseError(
                f"{question.NAME} changes a store, and files that were read have none "
                "that stays; make one: warehouse.connect(FILE).ingest(PATH)"
            )
        if question.OPENS:
            return filled_in.ask(self._opener)
        with self._reading() as store:
            return filled_in.ask(store)

    with_words = _with_keywords(question, question.NAME, ask)

    @wraps(with_words)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        with saying_methods(question):
            return with_words(self, *args, **kwargs)

    method.__signature__ = with_words.__signature__  # type: ignore[attr-defined]
    return method


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
        try:
            filled_in = question(*args, **kwargs)
        except TypeError as error:
            raise TypeError(_of_method(str(error), question, name)) from None
        return ask(self, filled_in)

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


def _of_method(message: str, question: type[Options], name: str) -> str:
    """What Python says of the keywords of a class, as a method says it."""
    said = message.replace(f"{question.__name__}.__init__()", f"{name}()")
    wrong = _UNEXPECTED.search(said)
    if wrong is None:
        return said
    other = _method_of_switch(question, wrong[1])
    if other:
        return f"{said}; ask {other}(), a method of its own"
    hint = did_you_mean(wrong[1], options(question), "")
    known = f"it takes: {', '.join(options(question))}"
    return f"{said}; {hint or known}"


def _method_of_switch(question: type[Options], keyword: str) -> str:
    """The method that is a switch of the command of a question, such as ``--unpaired``;
    empty where there is none."""
    from warehouse.questions.asked_by_methods import questions_of_methods

    command = getattr(question, "COMMAND", "") or getattr(question, "NAME", "")
    wanted = f"{command} --{keyword.replace('_', '-')}"
    for name, kind in questions_of_methods().items():
        if wanted == kind.COMMAND:
            return name
    return ""


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


#: How Python says that there is no such keyword.
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
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
