"""Questions and filters from an address: the fields of their classes by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from warehouse.errors import MisuseError
from warehouse.questions.question import FieldOption, Options, options
from warehouse.serve.page import PageRequest

T = TypeVar("T", bound=Options)


def question_from(kind: type[T], request: PageRequest, names: Sequence[str] = ()) -> T:
    """What an address asks for, as a question or a filter.

    Args:
        kind: its class.
        names: fields that an address may say; none for all.

    Raises:
        MisuseError: a value that is none of the field, or a field that is required and missing.
        StatisticsError: a number out of range.
    """
    fields = options(kind)
    given = {name: _read(name, fields[name], request) for name in names or fields if request.value(name)}
    missing = [name for name, option in fields.items() if option.default is option.empty and name not in given]
    if missing:
        raise MisuseError(f"the address does not say {' and '.join(missing)}")
    return kind(**given)


def _read(name: str, option: FieldOption, request: PageRequest) -> Any:
    if option.is_list:
        return [value for value in request.values(name) if value]
    text = request.value(name)
    if option.type is bool:
        return text not in ("0", "no", "false")
    if option.type not in (int, float):
        return text
    try:
        return option.type(text)
    except ValueError:
        raise MisuseError(f"{name} is a number; found {text[:40]!r}") from None
