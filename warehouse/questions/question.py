"""A question as a frozen dataclass: from its fields come keywords, options and checks."""

from __future__ import annotations

import inspect
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.spelling import in_python, shell_texts

P = ParamSpec("P")
T = TypeVar("T", covariant=True)
Q = TypeVar("Q", bound="Options")


@dataclass(frozen=True)
class Option:
    """What is to be said of a field of a question: ``name: Annotated[type, Option(...)]
    = default``."""

    help: str  #: its meaning, for the command's ``--help`` and the method's docstring.
    metavar: str | None = None  #: what stands for its value on the command line.
    flags: tuple[str, ...] = ()  #: how it is called there, where not by its name.
    #: the values that there are; on the command line with hyphens,
    choices: tuple[str, ...] = ()
    keeps_underscores: bool = False  #: or as they are.
    least: float | None = None  #: the smallest value; None: any.
    most: float | None = None  #: the largest.
    #: whether the limits are excluded, the smallest and the largest.
    is_open: tuple[bool, bool] = (
        False,
        False,
    )
    is_argument: bool = False  #: whether it stands on the command line without a flag, although it may be left out.
    is_spread: bool = False  #: whether the method takes each of several values as an argument of its own.
    in_python_only: bool = False  #: whether the command has no option for it.
    if_several: str = ""  #: what to do, where somebody names several.

    def check(self, name: str, value: Any) -> Any:
        """The value in its one spelling.

        Raises:
            MisuseError: none of the choices.
            StatisticsError: out of range.
        """
        if self.choices:
            value = str(value).replace("-", "_")
            if value not in self.choices:
                raise MisuseError(
                    f"unknown {name} {value!r}; there are: {', '.join(self.choices)}"
                )
        elif value is not None and not self._holds(value):
            raise StatisticsError(f"{name} must be {self.limits}, found {value}")
        return value

    def _holds(self, value: float) -> bool:
        above = (
            self.least is None
            or value > self.least
            or (value == self.least and not self.is_open[0])
        )
        return above and (
            self.most is None
            or value < self.most
            or (value == self.most and not self.is_open[1])
        )

    @property
    def shell_choices(self) -> tuple[str, ...]:
        """The choices as the command line has them."""
        return tuple(map(self.in_shell_spelling, self.choices))

    def in_shell_spelling(self, choice: str) -> str:
        """A choice as the command line has it."""
        if self.keeps_underscores:
            return choice
        return choice.replace("_", "-")

    @property
    def limits(self) -> str:
        """The range in words; empty where there is none."""
        if self.least is not None and self.most is not None:
            return (
                f"in {'[('[self.is_open[0]]}{self.least:g}, "
                f"{self.most:g}{'])'[self.is_open[1]]}"
            )
        if self.least is not None:
            if self.is_open[0]:
                return f"above {self.least:g}"
            return f"at least {self.least:g}"
        if self.most is None:
            return ""
        return f"at most {self.most:g}"


_IN_BRACES = re.compile(r"\{(\w+)\}")


class UnusedError(MisuseError):
    """A field of a question that would change nothing.

    Attributes:
        name: of the field.
        reason: why, to follow its name; other fields stand in it in braces.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} {_IN_BRACES.sub('{0[1]}'.format, reason)}")
        self.name, self.reason = name, reason

    def named(self, names: Mapping[str, str]) -> str:
        """The reason where fields have other names."""
        return _IN_BRACES.sub(lambda found: names[found[1]], self.reason)


@dataclass(frozen=True)
class Options:
    """Base of what questions are made of: fields with an `Option` each, which are
    checked."""

    #: whether conditions may be on prompts, ``prompt.FIELD=VALUE`` (``where``).
    SOME_PROMPTS: ClassVar[bool] = False

    #: fields that were typed although they may be at their default; for `refuse`.
    typed: frozenset[str] = field(
        default=frozenset(), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for name, option in options(type(self)).items():
            object.__setattr__(self, name, option.checked(name, getattr(self, name)))

    @classmethod
    def from_command(cls, values: Mapping[str, Any], typed: Sequence[str]) -> Self:
        """The question of a command line.

        Args:
            values: of all its options, by name.
            typed: names of those that were typed; `refuse` refuses these at their
                default, too.

        Raises:
            MisuseError: as the class itself.
        """
        question = cls(**values)
        object.__setattr__(question, "typed", frozenset(typed))
        question.__post_init__()  # what was typed may be too much
        return question

    def refuse(self, reason: str, *names: str) -> None:
        """Refuse fields that would change nothing.

        Args:
            reason: why, to follow the name; another field in it stands in braces.
            names: of the fields.

        Raises:
            UnusedError: one of them was typed, or is not at its default.
        """
        for name in names:
            if (
                name in self.typed
                or getattr(self, name) != options(type(self))[name].default
            ):
                raise UnusedError(name, reason)

    def only(self, kind: type[Q], reason: str, **values: Any) -> Q:
        """The question of another kind that says the same.

        Args:
            kind: its class.
            reason: why it does not know what is refused.
            values: what it says of its own; and, without effect, what need not be
                refused.

        Raises:
            UnusedError: a field that the other kind does not know is not at its
                default, or was typed.
        """
        declared = options(kind)
        self.refuse(
            reason,
            *(
                name
                for name in options(type(self))
                if name not in declared and name not in values
            ),
        )
        return self.shared_with(
            kind, **{name: value for name, value in values.items() if name in declared}
        )

    def shared_with(self, kind: type[Q], **values: Any) -> Q:
        """Another kind with what both of them say, and with these values."""
        own = {
            name: getattr(self, name) for name in options(kind) if hasattr(self, name)
        }
        return kind(**(own | values))


@dataclass(frozen=True)
class Question(Options):
    """Base of a question."""

    #: of the method that asks it, and of the command, where that has no COMMAND of its
    #: own.
    NAME: ClassVar[str]
    #: ``file:function`` of what answers it, in the folder of the class; empty: the
    #: function NAME of `answer.py`.
    ANSWER: ClassVar[str] = ""
    #: words of that command and the switches without which it asks something else.
    COMMAND: ClassVar[str] = ""
    #: whether that is given how to open the store, as it lets go of it while it works,
    #: or writes.
    OPENS: ClassVar[bool] = False
    #: whether there is a picture of the answer (``--svg``).
    IS_DRAWN: ClassVar[bool] = False
    #: whether its answer changes what the store holds, beside figures that were computed.
    CHANGES_STORE: ClassVar[bool] = False
    #: ``module:Class`` of its section in the report of a benchmark; of a question of
    #: another package.
    SECTION: ClassVar[str] = ""
    #: view, library query or SELECT that gives the same figures in columns of the same
    #: names; its parameters are fields of the question (`warehouse.testing`).
    SQL: ClassVar[str] = ""
    #: command lines that can be pasted, of a question of another package.
    EXAMPLES: ClassVar[tuple[str, ...]] = ()

    def ask(self, store: Any) -> Any:
        """The answer that a store gives, or what opens it."""
        return self.answer(store)

    def answer(self, store: Any) -> Any:
        """What answers it, a `warehouse.Result`; loaded when it is asked
        (`answered_by`).

        A question of another package may say so itself, in this method.

        Args:
            store: an open `Store`, or a `StoreOpener` where the class says ``OPENS``.
        """
        module, function = self.answered_by()
        return getattr(import_module(module), function).to(store, self)

    @classmethod
    def answered_by(cls) -> tuple[str, str]:
        """Module and function of its answer, an `Answer`: they stand in the folder of
        the class that names it."""
        named = next(kind for kind in cls.__mro__ if "NAME" in vars(kind))
        folder = named.__module__.rpartition(".")[0]
        file, _, function = cls.ANSWER.partition(":")
        module = file or "answer"
        return f"{folder}.{module}" if folder else module, function or cls.NAME

    def command(self, *more: str) -> str:
        """The line of a shell that asks it, without the store; what is at its default
        is left out.

        Args:
            more: further words of it, such as ``--json``.

        Raises:
            MisuseError: it says what the command has no option for.
        """
        name, *switches = self._command().split(" --")
        arguments: list[str] = []
        flags = [f"--{switch}" for switch in switches]
        for field_name, option, value in self._said():
            (arguments if option.is_argument else flags).extend(
                option.in_shell(field_name, value)
            )
        if any(argument.startswith("-") for argument in arguments):
            return shlex.join(
                ["warehouse", *name.split(), *flags, *more, "--", *arguments]
            )
        return shlex.join(["warehouse", *name.split(), *arguments, *flags, *more])

    def _command(self) -> str:
        return self.COMMAND or self.NAME

    def python(self) -> str:
        """The call of a method of ``store``, a `Warehouse`, that asks it; what is at
        its default is left out."""
        texts: list[str] = []
        for index, (name, option, value) in enumerate(self._said()):
            if option.is_spread:
                texts += map(in_python, value)
            else:
                by_position = option.is_argument and index == len(texts)
                texts.append(
                    in_python(value) if by_position else f"{name}={in_python(value)}"
                )
        return f"store.{self.NAME}({', '.join(texts)})"

    def _said(self) -> Iterable[tuple[str, FieldOption, Any]]:
        """Fields that are required or not at their default."""
        for name, option in options(type(self)).items():
            value = getattr(self, name)
            if option.default is option.empty or value != option.default:
                yield name, option, value

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The question as a JSON Schema (draft 2020-12): what programs may fill in, and
        what is checked.

        Fields that would change nothing beside others are refused when the question is
        made, not by the schema.
        """
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": cls.NAME,
            "description": described(cls)[0],
            **fields_schema(cls),
        }


@dataclass(frozen=True)
class FieldOption(Option):
    """An `Option` with the field that it is of."""

    type: Any = None  #: of the value, or of one of several; None left out.
    #: of what the value, or each of several, has to be an instance.
    kinds: tuple[Any, ...] = ()
    may_be_none: bool = False  #: whether None may stand for it.
    #: ``inspect.Parameter.empty`` where it is required.
    default: Any = inspect.Parameter.empty
    is_list: bool = False  #: whether it is several values,
    may_be_single: bool = False  #: of which one may stand by itself.
    maps_to_numbers: bool = False  #: whether a dictionary gives numbers.

    def checked(self, name: str, value: Any) -> Any:
        """The value in its one spelling, several as a tuple; raises as `check` does."""
        if value is None and self.may_be_none:
            return None
        if not self.is_list:
            return self._one(name, value)
        if (
            isinstance(value, str)
            or self.may_be_single
            and isinstance(value, self.kinds)
        ):
            return (self._one(name, value),)
        if not isinstance(value, Iterable) or isinstance(value, Mapping):
            raise MisuseError(f"{name} must be a list, found {value!r}")
        return tuple(self._one(name, item) for item in value)

    def _one(self, name: str, value: Any) -> Any:
        """A single value of the right type."""
        is_truth = type(value).__name__ in (
            "bool",
            "bool_",
        )  # numpy's too; as a number it is a slip
        if is_truth and self.type is bool:
            return bool(value)
        if is_truth or not isinstance(value, self.kinds):
            error = MisuseError
            if self.type in (float, int):
                error = StatisticsError
            what = _IN_WORDS.get(
                get_origin(self.type) or self.type, f"a {self.type.__name__}"
            )
            several = ""
            if self.if_several and isinstance(value, list | tuple):
                several = f"; {self.if_several}"
            raise error(f"{name} must be {what}, found {value!r}{several}")
        if isinstance(value, Mapping) and self.maps_to_numbers:
            for key, number in value.items():
                FieldOption("", type=float, kinds=(Real,)).checked(
                    f"{name} of {key}", number
                )
        return self.check(name, value)

    @property
    def is_called(self) -> bool:
        """Whether only Python has such values: something that is called."""
        return all(
            kind is Callable or getattr(kind, "_is_protocol", False)
            for kind in self.kinds
        )

    @property
    def empty(self) -> Any:
        """The default of what is required."""
        return inspect.Parameter.empty

    def all_flags(self, name: str) -> tuple[str, ...]:
        """How the field of this name is called on the command line."""
        return self.flags or (f"--{name.replace('_', '-')}",)

    def in_shell(self, name: str, value: Any) -> list[str]:
        """The words of a command line that say a value.

        Raises:
            MisuseError: there are none.
        """
        if value is None and self.default is self.empty:
            return []
        if self.choices and self.is_list:
            value = tuple(map(self.in_shell_spelling, value))
        elif self.choices:
            value = self.in_shell_spelling(value)
        texts = shell_texts(
            value,
            joined=self.type in (int, float) or self.type is str and not self.is_list,
        )
        if self.in_python_only or not texts:
            raise MisuseError(
                f"{name}={in_python(value)} cannot be said on the command line: ask in "
                "Python"
            )
        if self.is_argument:
            return texts
        flag = max(self.all_flags(name), key=len)
        if self.type is bool:
            return flag.split()
        return [
            word
            for text in texts
            for word in ([f"{flag}={text}"] if text.startswith("-") else [flag, text])
        ]

    def json_schema(self) -> dict[str, Any]:
        """The values that there are, as a JSON Schema."""
        none = ["null"] * self.may_be_none
        kinds = dict.fromkeys(_IN_JSON.get(kind, "string") for kind in self.kinds)
        single: dict[str, Any] = {
            "type": _one_or_all([*kinds, *([] if self.is_list else none)])
        }
        if self.choices:
            single["enum"] = [
                *self.choices,
                *([None] if self.may_be_none and not self.is_list else []),
            ]
        for names, limit, is_open in zip(
            _LIMITS, (self.least, self.most), self.is_open, strict=True
        ):
            if limit is not None and math.isfinite(limit):
                single[names[is_open]] = limit
        schema = single
        if self.is_list:
            schema = {"type": _one_or_all(["array", *none]), "items": single}
        schema["description"] = self.help
        if self.default is not self.empty:
            if isinstance(self.default, tuple):
                schema["default"] = list(self.default)
            else:
                schema["default"] = self.default
        return schema


_KNOWN: dict[Any, dict[str, FieldOption]] = {}
_KINDS: dict[Any, Any] = {float: Real, int: Integral}  # those of numpy too
#: Types of JSON; any other value is written as a text.
_IN_JSON = {Real: "number", Integral: "integer", bool: "boolean", Mapping: "object"}
#: What JSON Schema calls the limits of a number, included and excluded.
_LIMITS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_IN_WORDS = {
    float: "a number",
    int: "a whole number",
    str: "a text",
    bool: "True or False",
    Mapping: "a dictionary",
}


def options(question: type[Options]) -> Mapping[str, FieldOption]:
    """The options of a question by name: first those that may stand without it, in the
    order of its fields."""
    if question not in _KNOWN:
        hints = get_type_hints(question, include_extras=True)
        own = sorted(
            (item for item in fields(question) if item.init),
            key=lambda item: item.kw_only is True,
        )
        _KNOWN[question] = {
            item.name: _field_option(item.default, hints[item.name]) for item in own
        }
    return _KNOWN[question]


def fields_schema(question: type[Options]) -> dict[str, Any]:
    """The values of all options as a JSON Schema of an object."""
    declared = options(question)
    return {
        "type": "object",
        "properties": {
            name: option.json_schema()
            for name, option in declared.items()
            if not option.is_called
        },
        "required": [
            name for name, option in declared.items() if option.default is option.empty
        ],
        "additionalProperties": False,
    }


def _field_option(default: Any, hint: Any) -> FieldOption:
    kind, (option, *_) = hint.__origin__, hint.__metadata__
    every = _members(kind)
    lists = [part for part in every if get_origin(part) is Sequence]
    types = [
        part
        for part in (_members(get_args(lists[0])[0]) if lists else every)
        if part is not NoneType
    ]
    return FieldOption(
        **(
            vars(option)
            | {
                "is_argument": option.is_argument
                or default is MISSING
                and not option.flags
            }
        ),
        type=types[0],
        kinds=tuple(_KINDS.get(part, get_origin(part) or part) for part in types),
        may_be_none=NoneType in every,
        default=inspect.Parameter.empty if default is MISSING else default,
        is_list=bool(lists),
        maps_to_numbers=any(
            get_origin(part) is Mapping and get_args(part)[1] is float for part in types
        ),
        may_be_single=bool(lists) and any(part in types for part in every),
    )


def _members(kind: Any) -> tuple[Any, ...]:
    """The types of a union, or the type itself."""
    if get_origin(kind) in (Union, UnionType):
        return get_args(kind)
    return (kind,)


class Answer(Generic[P, Q, T]):
    """What answers a question: a function of the store and the question; called with
    its fields, or by `to` with it."""

    def __init__(
        self, question: Callable[P, Q], function: Callable[[Any, Q], T]
    ) -> None:
        self.question, self.function = question, function
        self.__doc__ = function.__doc__

    def to(self, store: Any, question: Q) -> T:
        """The answer to a question that is filled in; where it knows of policies under
        its own, else under those of the benchmarks."""
        if hasattr(question, "policy") and store.declared is None:
            store = store.under(question.policy)
        return self.function(store, question)

    def __call__(self, store: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.to(store, self.question(*args, **kwargs))


def answers(
    question: Callable[P, Q],
) -> Callable[[Callable[[Any, Q], T]], Answer[P, Q, T]]:
    """Make a function the answer to a question."""
    return lambda function: Answer(question, function)


def _one_or_all(types: Sequence[str]) -> str | list[str]:
    if len(types) == 1:
        return types[0]
    return [*types]


def described(question: type[Options]) -> tuple[str, str]:
    """What a question is, and what is raised."""
    text, _, raises = (inspect.getdoc(question) or "").partition("\n\nRaises:")
    return text, raises
