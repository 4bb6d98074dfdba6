"""Header fields that the user states: ``--set field=value``, ``--default field=value``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, get_args, get_type_hints

from warehouse.errors import MisuseError
from warehouse.records import RunHeader

#: Values of a field that say nothing.
EMPTY = (None, "", ())
#: Fields that only an importer can fill.
_DERIVED = frozenset({"metrics", "published", "place", "configuration"})


@cache
def settable_fields() -> dict[str, Any]:
    """Name and type of every header field that ``--set`` takes."""
    hints = get_type_hints(RunHeader)
    return {
        item.name: hints[item.name]
        for item in fields(RunHeader)
        if item.name not in _DERIVED and "Mapping" not in str(hints[item.name])
    }


def parse_values(pairs: Iterable[str]) -> dict[str, Any]:
    """``field=value`` texts as typed header fields.

    >>> parse_values(["temperature=0.7", "step=400", "suite=mmlu/stem"])
    {'temperature': 0.7, 'step': 400, 'suite': ('mmlu', 'stem')}

    Raises:
        MisuseError: no such field, or a value that is not of its type; all of them at once.
    """
    known, parsed, faults = settable_fields(), {}, []
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in known:
            faults.append(f"'{pair}' (no field '{name}')" if equals else f"'{pair}' (no '=')")
            continue
        try:
            parsed[name] = _typed(text, known[name])
        except (ValueError, OverflowError) as error:
            faults.append(f"'{pair}' ({error})")
    if faults:
        raise MisuseError(
            f"cannot set {', '.join(faults)}; expected field=value, fields are: {', '.join(sorted(known))}"
        )
    return parsed


def with_values(header: RunHeader, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> RunHeader:
    """The header with the user's values in place of its own, and defaults where it has none."""
    known = settable_fields()
    lacking = {name: value for name, value in defaults.items() if name in known and getattr(header, name) in EMPTY}
    chosen = lacking | {name: value for name, value in values.items() if name in known}
    return replace(header, **chosen) if chosen else header


def with_direction(header: RunHeader, higher_is_better: bool | None) -> RunHeader:
    """The header with a direction for those of its metrics of which the dump says none."""
    if higher_is_better is None or all(m.higher_is_better is not None for m in header.metrics):
        return header
    return replace(
        header,
        metrics=tuple(
            metric if metric.higher_is_better is not None else replace(metric, higher_is_better=higher_is_better)
            for metric in header.metrics
        ),
    )


def against_direction(headers: Iterable[RunHeader], higher_is_better: bool | None) -> list[str]:
    """A note on the metrics of which a dump says the opposite of what the user does."""
    if higher_is_better is None:
        return []
    names = {
        metric.name
        for header in headers
        for metric in header.metrics
        if metric.higher_is_better is (not higher_is_better)
    }
    word = "lower" if higher_is_better else "higher"
    return [f"the dump says itself that a {word} {', '.join(sorted(names))} is better: this holds"] if names else []


def _typed(text: str, hint: Any) -> Any:
    kinds = {kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)}
    if tuple[str, ...] in (hint, *kinds) or "tuple" in str(hint):
        return tuple(part for part in text.replace(",", "/").split("/") if part)
    if bool in kinds:
        return _truth(text)
    if datetime in kinds:
        return _time(text)
    if int in kinds:
        return int(text)
    if float in kinds:
        return float(text)
    if kinds and all(isinstance(kind, str) for kind in kinds) and text not in kinds:
        raise ValueError(f"expected one of {', '.join(sorted(kinds))}")
    return text


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
        raise ValueError("expected true or false")
    return text.lower() in ("true", "1", "yes")


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
