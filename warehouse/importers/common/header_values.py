"""Header fields that the user states: ``--set field=value``, ``--default
field=value``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from warehouse.errors import MisuseError
from warehouse.importers.common.json_fields import items_of, texts_of
from warehouse.records import MetricSpec, PublishedScore, RunHeader, canonical_json
from warehouse.records.canonical_json import sha256_of
from warehouse.records.credentials import masked_name, without_credentials

#: Values of a field that say nothing.
EMPTY = (None, "", ())
#: Fields that only an importer can fill.
_DERIVED = frozenset({"metrics", "published", "place", "configuration"})
#: Fields that things are told apart by: two names that differ in their keys alone stay
#: two.
_NAMES = frozenset(
    (
        "harness model agent opponent training_seed recipe benchmark suite split".split()
    )  # of a run
    + ("name filter scorer judge_model".split())  # of a metric
    + ("metric statistic perturbation".split())  # of a published figure
)
#: Fields that hold other records, are words of ours, or are masked where they are
#: stored.
_OTHERS = frozenset("unit metrics published place".split())


@cache
def header_kinds() -> dict[str, Any]:
    """Types of the header fields: ``str``, ``int``, ``float``, ``bool``,
    ``datetime``, ``tuple`` or ``Mapping``; ``Literal`` for one of several words."""
    hints = get_type_hints(RunHeader)
    return {item.name: _kind(hints[item.name]) for item in fields(RunHeader)}


def words_of(name: str) -> tuple[str, ...]:
    """The words that a header field of the kind ``Literal`` may hold."""
    return get_args(get_type_hints(RunHeader)[name])


def settable_fields() -> list[str]:
    """Every header field that ``--set`` takes."""
    return [
        name
        for name, kind in header_kinds().items()
        if name not in _DERIVED and kind is not Mapping
    ]


def parse_values(pairs: Iterable[str]) -> dict[str, Any]:
    """``field=value`` texts as typed header fields.

    >>> parse_values(["temperature=0.7", "step=400", "suite=mmlu/stem"])
    {'temperature': 0.7, 'step': 400, 'suite': ('mmlu', 'stem')}

    Raises:
        MisuseError: no such field, or a value that is not of its type; all of them at
            once.
    """
    settable = settable_fields()
    parsed = {}
    faults = []
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in settable:
            faults.append(
                f"'{pair}' (no field '{name}')" if equals else f"'{pair}' (no '=')"
            )
            continue
        try:
            parsed[name] = _typed(name, text)
        except (ValueError, OverflowError) as error:
            faults.append(f"'{pair}' ({error})")
    if faults:
        raise MisuseError(
            f"cannot set {', '.join(faults)}; expected field=value, fields are: "
            f"{', '.join(sorted(settable))}"
        )
    return parsed


def with_values(
    header: RunHeader, values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> RunHeader:
    """The header with its values overridden by the user's, and defaults where it has
    none."""
    settable = settable_fields()
    lacking = {
        name: value
        for name, value in defaults.items()
        if name in settable and getattr(header, name) in EMPTY
    }
    chosen = lacking | {
        name: value for name, value in values.items() if name in settable
    }
    if chosen:
        return replace(header, **chosen)
    return header


def strip_credentials(header: RunHeader) -> RunHeader:
    """The header without the keys and passwords that a dump holds: no condition depends
    on them, and none is stored."""
    metrics = tuple(map(metric_without_credentials, header.metrics))
    published = tuple(map(published_without_credentials, header.published))
    changed = _without_credentials(header)
    if metrics != header.metrics:
        changed |= {"metrics": metrics}
    if published != header.published:
        changed |= {"published": published}
    if changed:
        return replace(header, **changed)
    return header


def metric_without_credentials(metric: MetricSpec) -> MetricSpec:
    """A metric without the keys and passwords in its names and among its parameters."""
    return replace(metric, **_without_credentials(metric))


def published_without_credentials(figure: PublishedScore) -> PublishedScore:
    """A published figure without keys and passwords in its names."""
    changed = _without_credentials(figure)
    if changed:
        return replace(figure, **changed)
    return figure


def _without_credentials(of: RunHeader | MetricSpec | PublishedScore) -> dict[str, Any]:
    """The fields that hold keys or passwords, without them."""
    values = {
        item.name: getattr(of, item.name)
        for item in fields(of)
        if item.name not in _OTHERS
    }
    kept = {
        name: _value_without(
            value, masked_name if name in _NAMES else without_credentials
        )
        for name, value in values.items()
        if value and isinstance(value, str | tuple | Mapping)
    }
    return {name: value for name, value in kept.items() if value != values[name]}


def _value_without(value: Any, mask: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return type(value)(map(mask, value))
    return mask(value)


def with_direction(header: RunHeader, higher_is_better: bool | None) -> RunHeader:
    """The header with a direction for those of its metrics of which the dump says
    none."""
    if higher_is_better is None or all(
        m.higher_is_better is not None for m in header.metrics
    ):
        return header
    return replace(
        header,
        metrics=tuple(
            metric
            if metric.higher_is_better is not None
            else replace(metric, higher_is_better=higher_is_better)
            for metric in header.metrics
        ),
    )


def against_direction(
    headers: Iterable[RunHeader], higher_is_better: bool | None
) -> list[str]:
    """A note on the metrics of which a dump says the opposite of what the user does."""
    if higher_is_better is None:
        return []
    opposite = not higher_is_better
    metrics = chain.from_iterable(header.metrics for header in headers)
    names = {metric.name for metric in metrics if metric.higher_is_better is opposite}
    if not names:
        return []
    word = "higher"
    if higher_is_better:
        word = "lower"
    return [
        f"the dump says itself that a {word} {', '.join(sorted(names))} is better: "
        "this holds"
    ]


def _kind(hint: Any) -> Any:
    """The class behind a type hint, without ``None`` and what it is made of."""
    if isinstance(hint, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    return get_origin(hint) or hint


def _typed(name: str, text: str) -> Any:
    kind = header_kinds()[name]
    if kind is Literal and text not in words_of(name):
        raise ValueError(f"expected one of {', '.join(sorted(words_of(name)))}")
    return _FROM_TEXT.get(kind, str)(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.replace(",", "/").split("/") if part)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
        raise ValueError("expected true or false")
    return text.lower() in ("true", "1", "yes")


def _time(text: str) -> datetime:
    return naive_utc(datetime.fromisoformat(text))


_FROM_TEXT: dict[Any, Callable[[str], Any]] = {
    tuple: _names,
    bool: _truth,
    datetime: _time,
    int: int,
    float: float,
}


def naive_utc(time: datetime) -> datetime:
    """A time in UTC without zone; one that has none is taken as UTC."""
    if time.tzinfo is None:
        return time
    return time.astimezone(UTC).replace(tzinfo=None)


def moment(value: Any) -> datetime | None:
    """A time, or its ISO text, with zone or meant as UTC, as naive UTC; none for
    anything else.

    >>> moment("2026-01-02T03:04:05+01:00")
    datetime.datetime(2026, 1, 2, 2, 4, 5)
    """
    try:
        time = value
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
        if isinstance(time, datetime):
            return naive_utc(time)
        return None
    except (ValueError, OverflowError):
        return None


def unix_time(seconds: float) -> datetime | None:
    """A time in Unix seconds; none beyond the years that there are."""
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def local_time(text: str, layout: str) -> datetime | None:
    """A time in the name of a file or folder: local time of an unknown zone."""
    try:
        return datetime.strptime(text, layout)
    except ValueError:
        return None


def seconds_between(begin: Any, end: Any) -> float | None:
    """Seconds between two times; none where one is missing or they are reversed."""
    first = moment(begin)
    last = moment(end)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds()


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def fingerprint_of(**parts: Any) -> str | None:
    """The fingerprint of those parts that say something; none where none does."""
    present = {name: part for name, part in parts.items() if part}
    if present:
        return fingerprint(present)
    return None


def fingerprint(parts: Mapping[str, Any]) -> str:
    """sha256 of canonical JSON, blind to the memory addresses that Python writes into
    reprs."""
    return sha256_of(_ADDRESS.sub("", canonical_json(parts).decode()))


def groups_above(task: str, subtasks: Mapping[str, Any]) -> tuple[str, ...]:
    """Groups above a task, outermost first. Of several that name it, the one with the
    fewest subtasks is the nearest; of those the first by name.

    Args:
        subtasks: what each group names.
    """
    parents: dict[str, str] = {}
    for group, children in sorted(
        subtasks.items(), key=lambda item: (len(items_of(item[1])), item[0])
    ):
        for child in texts_of(children):
            parents.setdefault(child, group)
    chain: list[str] = []
    while task in parents and parents[task] not in chain:
        task = parents[task]
        chain.insert(0, task)
    return tuple(chain)
