"""The options of a command out of the question that it asks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from warehouse.questions.options import Seed, SelectedAtLevel, StoreResult
from warehouse.questions.question import FieldOption, Options, UnusedError, options

from .only_benchmark import only_benchmark
from .options import decimal_numbers, whole_numbers

Function = Callable[..., Any]
#: Names of the fields that say which benchmarks a question is of.
_BENCHMARKS = ("benchmark", "benchmarks")


def options_of(
    question: type[Options],
    *,
    only: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    **settings: Any,
) -> Callable[[Function], Function]:
    """An option for each field of a question, an argument for each that is required;
    the command gets their values.

    A field that the question finds unused is refused by its name on the command line.
    A benchmark that has to be named may be left out where the store holds only one.

    Args:
        only: these fields, where not all.
        without: fields that the command gets in another way.
        settings: what click is told besides of a field, by its name.
    """
    names = [name for name in only or options(question) if name not in without]
    chosen = {
        name: option
        for name in names
        if not (option := options(question)[name]).in_python_only
    }
    flags = {name: option.all_flags(name) for name, option in options(question).items()}
    shown = {name: max(own, key=len) for name, own in flags.items()}
    found = [name for name, option in chosen.items() if _may_be_found(name, option)]

    def decorate(function: Function) -> Function:
        @wraps(function)
        def wrapper(*args: Any, **values: Any) -> Any:
            for name in found:
                if not values[name]:
                    only = only_benchmark(args[0])
                    values[name] = (only,) if chosen[name].is_list else only
            try:
                return function(*args, **values)
            except UnusedError as error:
                if error.name not in shown:  # of another question that the command asks
                    raise
                raise click.UsageError(
                    f"{shown[error.name]} {error.named(shown)}"
                ) from None

        for name, option in reversed(chosen.items()):
            wrapper = _parameter(name, flags[name], option, settings.get(name, {}))(
                wrapper
            )
        return wrapper

    return decorate


def _may_be_found(name: str, option: FieldOption) -> bool:
    """True of the benchmark that a command has to be told, which a store of only one
    leaves no choice of."""
    is_needed = option.is_argument and option.default is option.empty
    return name in _BENCHMARKS and is_needed


def _shared_option(name: str) -> Callable[[Function], Function]:
    """An option that many questions have, for a command that asks none."""
    return options_of(Shared, only=(name,))


def _parameter(
    name: str, flags: tuple[str, ...], option: FieldOption, settings: dict[str, Any]
) -> Function:
    is_required = option.default is option.empty and not _may_be_found(name, option)
    if option.is_argument:
        several = {"nargs": -1} if option.is_list else {}
        return click.argument(
            name,
            **(
                {"metavar": option.metavar, "required": is_required}
                | several
                | settings
            ),
        )
    arguments: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
    arguments |= {"required": True} if is_required else {}
    if option.type is bool:
        arguments |= _switch_off(option) if option.default else {"is_flag": True}
    elif option.is_list and option.type is int:
        arguments |= {"callback": whole_numbers if option.default is None else _numbers}
    elif option.is_list and option.type is float:
        arguments |= {
            "callback": decimal_numbers,
            "default": ",".join(f"{number:g}" for number in option.default),
        }
    elif option.is_list:
        arguments |= {
            "multiple": True,
            "default": None if is_required else option.default or None,
        }
        arguments |= (
            {"type": click.Choice(option.shell_choices)} if option.choices else {}
        )
    elif option.choices:
        arguments |= {"type": click.Choice(option.shell_choices)}
    else:
        arguments |= {"type": _type(option)}
    if not (
        is_required or option.default is None or option.type is bool or option.is_list
    ):
        default = (
            option.in_shell_spelling(option.default)
            if option.choices
            else option.default
        )
        arguments |= {"default": default, "show_default": True}
    return click.option(*flags, name, **(arguments | settings))


def _switch_off(option: FieldOption) -> dict[str, Any]:
    """What click is told of a flag that makes False of True; its help says what False
    is for."""
    text = option.help.removeprefix("False for ")
    return {
        "flag_value": False,
        "type": bool,
        "default": True,
        "help": f"{text[0].upper()}{text[1:]}",
    }


def _numbers(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...]:
    """The numbers of ``1,2,5``; none where the option is not given."""
    return whole_numbers(ctx, param, value) or ()


class Number(click.types.FloatParamType):
    """A number, as such or as a percentage: ``0.02`` or ``2%``."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number (BadParameter: it is none)."""
        number: float = super().convert(without_percent(value), param, ctx)
        return number


class NumberRange(click.FloatRange):
    """A number between limits, as such or as a percentage."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number (BadParameter: it is none, or beyond the limits)."""
        number: float = super().convert(without_percent(value), param, ctx)
        return number


def without_percent(text: Any) -> Any:
    """A percentage as a number; anything else as it is."""
    if not isinstance(text, str):
        return text
    number = text.removesuffix("%")
    try:
        if number != text:
            return float(number) / 100
    except ValueError:
        pass  # the type says what was expected
    return text


def _type(option: FieldOption) -> Any:
    """What click makes of a value, with its limits."""
    if option.most == float("inf"):
        most = None
    else:
        most = option.most
    is_bounded = option.least is not None or most is not None
    if option.type is float and not is_bounded:
        return Number()
    if option.type not in (float, int) or not is_bounded:
        return option.type
    if option.type is int:
        return click.IntRange(
            None if option.least is None else int(option.least),
            None if most is None else int(most),
        )
    least_open, most_open = option.is_open
    open_ends = {
        "min_open": least_open and option.least is not None,
        "max_open": most_open and most is not None,
    }
    return NumberRange(option.least, most, **open_ends)


def in_flags(question: type[Options], text: str) -> str:
    """A text with keywords replaced by the options of the command."""
    for name, option in options(question).items():
        if "_" in name:  # a keyword, not a word of the text
            text = re.sub(rf"\b{name}\b", max(option.all_flags(name), key=len), text)
    return text


@dataclass(frozen=True, kw_only=True)
class Shared(SelectedAtLevel):
    """Options that many questions have, for a command that asks none."""

    seed: Seed = 0
    store_result: StoreResult = True


(
    metric_option,
    where_option,
    latest_option,
    level_option,
    seed_option,
    no_store_option,
) = map(_shared_option, ("metric", "where", "latest", "level", "seed", "store_result"))
