"""The options of a command out of the question that it asks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from warehouse.questions.options import SelectedAtLevel
from warehouse.questions.question import FieldOption, Options, UnusedError, options

from .options import decimal_numbers, whole_numbers

Function = Callable[..., Any]


def options_of(
    question: type[Options], *, without: tuple[str, ...] = (), **settings: Any
) -> Callable[[Function], Function]:
    """An option for each field of a question, an argument for each that is required; the command gets their values.

    A field that the question finds unused is refused by its name on the command line.

    Args:
        without: fields that the command gets in another way.
        settings: what click is told besides of a field, by its name.
    """
    chosen = {
        name: option for name, option in options(question).items() if not (name in without or option.in_python_only)
    }
    flags = {name: option.all_flags(name) for name, option in options(question).items()}
    shown = {name: max(own, key=len) for name, own in flags.items()}

    def decorate(function: Function) -> Function:
        @wraps(function)
        def wrapper(*args: Any, **values: Any) -> Any:
            try:
                return function(*args, **values)
            except UnusedError as error:
                if error.name not in shown:  # of another question that the command asks
                    raise
                raise click.UsageError(f"{shown[error.name]} {error.named(shown)}") from None

        for name, option in reversed(chosen.items()):
            wrapper = _parameter(name, flags[name], option, settings.get(name, {}))(wrapper)
        return wrapper

    return decorate


def _shared_option(name: str) -> Callable[[Function], Function]:
    """An option that many questions have, for a command that asks none."""
    return options_of(SelectedAtLevel, without=tuple(other for other in options(SelectedAtLevel) if other != name))


def _parameter(name: str, flags: tuple[str, ...], option: FieldOption, settings: dict[str, Any]) -> Function:
    if option.default is option.empty:
        several = {"nargs": -1, "required": True} if option.is_list else {}
        return click.argument(name, **({"metavar": option.metavar} | several | settings))
    arguments: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
    if option.type is bool:
        arguments |= {"flag_value": False, "type": bool, "default": True} if option.default else {"is_flag": True}
    elif option.is_list and option.type is int:
        arguments |= {"callback": whole_numbers if option.default is None else _numbers}
    elif option.is_list and option.type is float:
        arguments |= {"callback": decimal_numbers, "default": ",".join(f"{number:g}" for number in option.default)}
    elif option.is_list:
        arguments |= {"multiple": True}
    elif option.choices:
        arguments |= {"type": click.Choice([choice.replace("_", "-") for choice in option.choices])}
    else:
        arguments |= {"type": _type(option)}
    if not (option.default is None or option.type is bool or option.is_list):
        default = option.default.replace("_", "-") if option.choices else option.default
        arguments |= {"default": default, "show_default": True}
    return click.option(*flags, name, **(arguments | settings))


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    """The numbers of ``1,2,5``; none where the option is not given."""
    return whole_numbers(ctx, param, value) or ()


def _type(option: FieldOption) -> Any:
    """What click makes of a value, with its limits."""
    most = None if option.most == float("inf") else option.most
    if option.least is None or option.type not in (float, int):
        return option.type
    if option.type is int:
        return click.IntRange(int(option.least), None if most is None else int(most))
    least_open, most_open = option.is_open
    return click.FloatRange(option.least, most, min_open=least_open, max_open=most_open and most is not None)


def in_flags(question: type[Options], text: str) -> str:
    """A text with keywords replaced by the options of the command."""
    for name, option in options(question).items():
        if "_" in name:  # a keyword, not a word of the text
            text = re.sub(rf"\b{name}\b", max(option.all_flags(name), key=len), text)
    return text


metric_option, where_option, latest_option, level_option = map(_shared_option, ("metric", "where", "latest", "level"))
