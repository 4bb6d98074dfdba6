"""What type checkers and editors are told of the methods that ask questions:
``warehouse/api/questions.pyi``, made of the questions by

    python -m tests.support.method_stub
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, overload

import warehouse.api
from warehouse.api.connection import Connection
from warehouse.questions.asked_by_methods import questions_of_methods
from warehouse.questions.question import Question, described, options

STUB = Path(warehouse.api.__file__).with_name("questions.pyi")
_HEAD = (
    "# Made of the questions by `python -m tests.support.method_stub`: change these."
)
#: Length of a line.
_WIDTH = 88


def stub_text() -> str:
    """The whole stub."""
    names = _Names()
    lines = [f"class QuestionMethods({names.of(Connection)}):"]
    for name, question in sorted(questions_of_methods().items()):
        lines += _method(name, question, names)
    return "\n".join([_HEAD, "", *names.imports(), "", *lines])


class _Names:
    """Types as they are written, and what has to be imported for them."""

    def __init__(self) -> None:
        self._by_module: dict[str, set[str]] = defaultdict(set)

    def of(self, kind: Any) -> str:
        """A type as it is written."""
        if kind in (None, NoneType):
            return "None"
        if kind is Ellipsis:
            return "..."
        if isinstance(kind, list):  # parameters of something that is called
            return f"[{', '.join(map(self.of, kind))}]"
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            return " | ".join(map(self.of, arguments))
        if origin is not None:
            return f"{self.of(origin)}[{', '.join(map(self.of, arguments))}]"
        if kind.__module__ != "builtins":
            self._by_module[kind.__module__].add(kind.__qualname__)
        return str(kind.__qualname__)

    def imports(self) -> Iterator[str]:
        """The imports: first those of Python's own library."""
        modules = sorted(self._by_module, key=lambda name: (_is_own(name), name))
        for number, module in enumerate(modules):
            if number and _is_own(module) and not _is_own(modules[number - 1]):
                yield ""
            names = sorted(self._by_module[module])
            line = f"from {module} import {', '.join(names)}"
            if len(line) <= _WIDTH:
                yield line
            else:
                yield f"from {module} import ("
                yield from (f"    {name}," for name in names)
                yield ")"


def _is_own(module: str) -> bool:
    return module.startswith("warehouse")


def _method(name: str, question: type[Question], names: _Names) -> Iterator[str]:
    """The lines of a method, once for each way to call it."""
    kinds = _kinds(question)
    ways = [_way(name, kind, _parameters(kind), names) for kind in kinds]
    spread = [key for key, option in options(question).items() if option.is_spread]
    if spread:
        several = [one for one in _parameters(question) if one.name != spread[0]]
        ways.append(_way(name, question, [*_SEVERAL, *several], names))
    for way in ways:
        if len(ways) > 1:
            yield f"    @{names.of(overload)}"
        yield from way
        yield f'        """{_sentence(question)}"""'
        yield ""


def _kinds(question: type[Question]) -> list[type[Question]]:
    """The questions among which one chooses by its arguments, the most definite first;
    itself where it does not."""
    others = [
        kind
        for kind in _below(Question)
        if vars(kind).get("NAME") == question.NAME
        and kind is not question
        and _is_own(kind.__module__)
    ]
    return sorted(
        others or [question],
        key=lambda kind: (-_n_required(kind), kind.__name__),
    )


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _n_required(question: type[Question]) -> int:
    return sum(one.default is one.empty for one in _parameters(question))


#: Several names as arguments of their own, before the keywords.
_SEVERAL = (
    Parameter("first", Parameter.POSITIONAL_ONLY, annotation=str),
    Parameter("second", Parameter.POSITIONAL_ONLY, annotation=str),
    Parameter("more", Parameter.VAR_POSITIONAL, annotation=str),
)


def _parameters(question: type[Question]) -> list[Parameter]:
    """The keywords of a question, each with its type."""
    kinds = get_type_hints(question)
    _, *own = inspect.signature(question.__init__).parameters.values()
    return [one.replace(annotation=kinds[one.name]) for one in own]


def _way(
    name: str, question: type[Question], parameters: list[Parameter], names: _Names
) -> list[str]:
    """The lines of one way to call a method: its keywords, and the class of its answer."""
    lines = [f"    def {name}(", "        self,"]
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    for one in parameters:
        if kind is Parameter.POSITIONAL_ONLY != one.kind:
            lines.append("        /,")
        if one.kind is Parameter.VAR_POSITIONAL:
            lines.append(f"        *{one.name}: {names.of(one.annotation)},")
            kind = Parameter.KEYWORD_ONLY
            continue
        if one.kind is Parameter.KEYWORD_ONLY != kind:
            lines.append("        *,")
        kind = one.kind
        default = ""
        if one.default is not one.empty:
            default = f" = {one.default!r}".replace("'", '"')
        lines.append(f"        {one.name}: {names.of(one.annotation)}{default},")
    answer = names.of(_answer_of(question))
    return [*lines, f"    ) -> {answer}:"]


def _answer_of(question: type[Question]) -> Any:
    """The class of the answer."""
    module, function = question.answered_by()
    answers: Callable[..., Any] = getattr(import_module(module), function).function
    if isinstance(answers, type):
        return answers
    return get_type_hints(answers)["return"]


def _sentence(question: type[Question]) -> str:
    """What it is, in the first lines of its docstring."""
    text, _, _ = described(question)[0].partition("\n\n")
    return text.replace("\n", "\n        ")


if __name__ == "__main__":
    STUB.write_text(stub_text(), encoding="utf-8")
