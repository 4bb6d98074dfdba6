"""Is every leaf of what a dump says of a run read? Each is changed by itself, and the
dump is read again.

A leaf that is changed has to make another condition, or be read as something else (a
mark, a version, a figure), or stand in the table of names that do not count. One that
is dropped in silence would pool two settings as repeats of one condition.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from warehouse.errors import InputError
from warehouse.records import BulkQuery, Dump, RunHeader
from warehouse.records.setting_names import rule_of
from warehouse.records.settings import settings_of

Place = tuple[str | int, ...]
#: Files of which each leaf can be changed: whole documents, and JSON lines, of which
#: the first is one.
DOCUMENTS = (".json", ".toml", ".yaml", ".yml")
#: Fields of a header that tell no two runs apart.
_WORDS: dict[str, Any] = {"note": None, "place": "", "hardware": None, "tags": ()}


@dataclass(frozen=True)
class Leaves:
    """The documents of one small dump that say how its runs were made, and how it is
    read."""

    #: reads the dump as it lies there (InputError: a source is refused).
    read: Callable[[], Iterable[Dump]]
    harness: str  #: whose rows of the table hold.
    documents: Iterable[Path]  #: files that say how the runs were made.
    not_settings: str = ""  #: pattern of the places (names joined by dots) of outcomes, figures and samples.
    of_a_kind: int = 2  #: how many leaves of one place (list elements and tasks counted as one) are tried.

    def dropped(self) -> list[str]:
        """Leaves whose change nobody sees and no row of the table explains."""
        before = self.seen()
        assert before, "the dump as it stands is read"
        return [
            f"{path.name}: {leaf}"
            for path in self.documents
            for leaf in self.changes(path)
            if self.seen() == before
        ]

    def counted_against_the_table(self) -> list[str]:
        """Places that the table leaves out of conditions and that make another one all
        the same; all are changed at once, and one by one where that makes a difference.
        """
        before = self._conditions()
        found: list[str] = []
        for path in self.documents:
            document = Document.of(path)
            left_out = [
                place
                for place, _ in leaves_of(document.value)
                if self._is_left_out(place)
            ]
            document.write(_with_changes(document.value, left_out))
            if self._conditions() != before:
                for place in left_out:
                    document.write(_with_changes(document.value, [place]))
                    if self._conditions() != before:
                        found.append(f"{path.name}: {name_of(place)}")
            document.restore()
        return found

    def changes(self, path: Path) -> Iterator[str]:
        """Change one leaf of a document after the other; each is named while the file
        has the change."""
        document = Document.of(path)
        tried = Counter[str]()
        try:
            for place, value in leaves_of(document.value):
                named = name_of(place)
                tried[named] += 1
                if tried[named] > self.of_a_kind or self._is_no_setting(named):
                    continue
                document.write(with_leaf(document.value, place, changed(value)))
                yield f"{'.'.join(map(str, place))} = {value!r}"
        finally:
            document.restore()

    def seen(self) -> str:
        """All that is read of the runs, as one text; the error where it is refused."""
        try:
            return "\n".join(map(seen_of, self.read()))
        except InputError as error:
            return str(error)

    def rows(self) -> str:
        """All that is read of samples, votes and scanned generations, as one text."""
        try:
            return "\n".join(map(rows_of, self.read()))
        except InputError as error:
            return str(error)

    def _conditions(self) -> list[str]:
        return [
            settings_of(header).condition_key
            for dump in self.read()
            for header in dump.runs
        ]

    def _is_left_out(self, place: Place) -> bool:
        """Whether the table leaves it out, and it is no outcome either."""
        named = name_of(place)
        is_outcome = bool(self.not_settings and re.search(self.not_settings, named))
        return not is_outcome and not rule_of(self.harness, named).is_in_condition

    def _is_no_setting(self, named: str) -> bool:
        if self.not_settings and re.search(self.not_settings, named):
            return True
        return not rule_of(self.harness, named).is_in_condition


def seen_of(dump: Dump) -> str:
    """What is made of a dump but for its rows: settings, marks, versions, what is left
    out, and figures."""
    dump.close()
    parts = [_seen_of_run(header) for header in dump.runs]
    parts.append(repr(dump.published))
    if dump.scan is not None:
        parts.append(repr((dump.scan.scan_id, dump.scan.metrics)))
    return "\n".join(parts)


def _seen_of_run(header: RunHeader) -> str:
    found = settings_of(header)
    rest = replace(header, configuration={}, sampling={}, agent_parameters={}, **_WORDS)
    return repr((found.settings, found.marks, found.versions, found.left_out, rest))


def rows_of(dump: Dump) -> str:
    """The rows of a dump."""
    batches: list[Any] = []
    for batch in dump.batches:
        if isinstance(batch, BulkQuery):
            batches += batch.fallback()
        else:
            batches.append(batch)
    batches += dump.votes or ()
    if dump.scan is not None:
        batches += dump.scan.batches
    dump.close()
    return repr([batch.to_pylist() for batch in batches])


def leaves_of(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Place and value of every scalar in a document."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves_of(item, (*place, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves_of(item, (*place, number))
    elif value is not None:
        yield place, value


def name_of(place: Place) -> str:
    """A place as the table has it: names joined by dots, without the numbers of
    elements."""
    return ".".join(part for part in place if isinstance(part, str))


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return 0 if math.isinf(value) else value + 1
    if "://" in value:  # of an endpoint its host counts
        return value.replace("://", "://x")
    return f"{value}x"


@dataclass(frozen=True)
class Document:
    """A file of one value in JSON, TOML or YAML; of JSON lines the first is the value."""

    path: Path
    text: str  #: as the file was found.
    value: Any
    rest: str = ""  #: what follows the value.

    @classmethod
    def of(cls, path: Path) -> Document:
        """The document of a file.

        Raises:
            ValueError: it holds none.
        """
        text = path.read_text(encoding="utf-8")
        if path.suffix in (".yaml", ".yml"):
            try:
                value = yaml.safe_load(text)
            except yaml.YAMLError as error:
                raise ValueError(str(error)) from None
            return cls(path, text, _plain(value))
        if path.suffix == ".toml":
            return cls(path, text, _plain(tomllib.loads(text)))
        if path.suffix == ".jsonl":
            first, _, rest = text.partition("\n")
            return cls(path, text, json.loads(first), f"\n{rest}")
        return cls(path, text, json.loads(text))

    def write(self, value: Any) -> None:
        """Write another value into the file."""
        if self.path.suffix in (".yaml", ".yml"):
            text = yaml.safe_dump(value, sort_keys=False)
        elif self.path.suffix == ".toml":
            text = "".join(
                f"{json.dumps(key)} = {_in_toml(value[key])}\n" for key in value
            )
        else:
            text = json.dumps(value)
        self.path.write_text(text + self.rest, encoding="utf-8")

    def restore(self) -> None:
        """Write the file as it was found."""
        self.path.write_text(self.text, encoding="utf-8")


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates are texts."""
    return json.loads(json.dumps(value, default=str))


def _in_toml(value: Any) -> str:
    if isinstance(value, Mapping):
        items = [f"{json.dumps(key)} = {_in_toml(value[key])}" for key in value]
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _with_changes(document: Any, places: Iterable[Place]) -> Any:
    for place in places:
        document = with_leaf(document, place, changed(_at(document, place)))
    return document


def _at(document: Any, place: Place) -> Any:
    for step in place:
        document = document[step]
    return document


def with_leaf(document: Any, place: Place, value: Any) -> Any:
    """A copy of a document in which one leaf has another value."""
    if not place:
        return value
    first, *rest = place
    inner = with_leaf(document[first], tuple(rest), value)
    if isinstance(document, Mapping):
        return {**document, str(first): inner}
    assert isinstance(first, int)
    return [*document[:first], inner, *document[first + 1 :]]
