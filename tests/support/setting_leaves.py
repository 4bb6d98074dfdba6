"""Is every leaf of a dump's run-level documents read? Each is changed by itself, and
the dump is read again.

A leaf that is changed has to make another condition, or be read as something else (a
mark, a version, another field of the header, a row), or stand in the table of names
that do not count. One that is dropped in silence would pool two settings as repeats of
one condition.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from warehouse.errors import InputError
from warehouse.importers.base import Importer
from warehouse.records import Candidate, ImportSettings, RunHeader, SourceFiles
from warehouse.records.dump import Scan
from warehouse.records.setting_names import rule_of
from warehouse.records.settings import RunSettings, settings_of

Place = tuple[str | int, ...]
_HEAD_BYTES = 64 << 10


@dataclass(frozen=True)
class Leaves:
    """The run-level documents of one small dump, and how it is read."""

    importer: Importer
    harness: str  #: whose rows of the table hold.
    folder: Path  #: a copy of the dump that may be written to.
    #: files of ``folder`` that say how the runs were made: JSON (and YAML), JSON lines
    #: (of which the first does).
    documents: Iterable[Path]
    not_settings: str = ""  #: pattern of the places (names joined by dots) of outcomes, figures and samples.
    values: Mapping[str, Any] = field(default_factory=dict)  #: as ``--set`` gives them.
    of_a_kind: int = 2  #: how many leaves of one place (list elements and tasks counted as one) are tried.

    def dropped(self) -> list[str]:
        """Places whose change nobody sees and no row of the table explains."""
        before = self._read()
        assert before, "the dump as it stands is read"
        return [
            where for path in self.documents for where in self._dropped_of(path, before)
        ]

    def counted_against_the_table(self) -> list[str]:
        """Places that the table leaves out of conditions and that make another one all
        the same; all are changed at once, and one by one where that makes a difference.
        """
        before = self._conditions()
        found: list[str] = []
        for path in self.documents:
            text = path.read_text(encoding="utf-8")
            document, rest = _parsed(path, text)
            left_out = [
                place
                for place, _ in leaves_of(document)
                if not self._is_counted(name_of(place))
            ]
            path.write_text(
                _written(path, _with_changes(document, left_out)) + rest,
                encoding="utf-8",
            )
            if self._conditions() != before:
                for place in left_out:
                    path.write_text(
                        _written(path, _with_changes(document, [place])) + rest,
                        encoding="utf-8",
                    )
                    if self._conditions() != before:
                        found.append(f"{path.name}: {name_of(place)}")
            path.write_text(text, encoding="utf-8")
        return found

    def _is_counted(self, named: str) -> bool:
        is_other = bool(self.not_settings and re.search(self.not_settings, named))
        return is_other or rule_of(self.harness, named).is_in_condition

    def _conditions(self) -> list[str]:
        headers = headers_of(self.importer, self.folder, self.values)
        return [settings_of(header).condition_key for header in headers]

    def _dropped_of(self, path: Path, before: str) -> Iterator[str]:
        text = path.read_text(encoding="utf-8")
        document, rest = _parsed(path, text)
        tried = Counter[str]()
        for place, value in leaves_of(document):
            named = name_of(place)
            tried[named] += 1
            if tried[named] > self.of_a_kind or self._is_no_setting(named):
                continue
            path.write_text(
                _written(path, with_leaf(document, place, changed(value))) + rest,
                encoding="utf-8",
            )
            if self._read() == before:
                yield f"{path.name}: {'.'.join(map(str, place))} = {value!r}"
        path.write_text(text, encoding="utf-8")

    def _is_no_setting(self, named: str) -> bool:
        if self.not_settings and re.search(self.not_settings, named):
            return True
        return not rule_of(self.harness, named).is_in_condition

    def _read(self) -> str:
        """All that is read of the dump, as one text; the error where it is refused."""
        try:
            return "\n".join(
                map(seen_of, headers_of(self.importer, self.folder, self.values))
            )
        except InputError as error:
            return str(error)


def headers_of(
    importer: Importer, folder: Path, values: Mapping[str, Any] | None = None
) -> list[RunHeader]:
    """The runs of a folder that one importer finds (InputError: a source is refused)."""
    headers: list[RunHeader] = []
    for source in sources_of(importer, folder):
        dump = importer.read(source, ImportSettings(values or {}))
        headers += dump.runs
        dump.close()
    return headers


def scan_of(importer: Importer, folder: Path) -> Scan:
    """What scanners said, of a folder of one scan."""
    (source,) = sources_of(importer, folder)
    scan = importer.read(source, ImportSettings()).scan
    assert scan is not None
    return scan


def sources_of(importer: Importer, folder: Path) -> list[SourceFiles]:
    """The sources of a folder that one importer claims."""
    candidates = []
    for path in sorted(item for item in folder.rglob("*") if item.is_file()):
        with path.open("rb") as handle:
            candidates.append(
                Candidate(path, handle.read(_HEAD_BYTES), path.stat().st_size)
            )
    return list(importer.claim(candidates))


def seen_of(header: RunHeader) -> str:
    """What is made of a header: its settings, marks, versions, what is left out, and
    the other fields."""
    found: RunSettings = settings_of(header)
    rest = replace(header, configuration={}, sampling={}, agent_parameters={})
    return repr((found.settings, found.marks, found.versions, found.left_out, rest))


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


def _parsed(path: Path, text: str) -> tuple[Any, str]:
    """The document of a file, and what follows it: of JSON lines the first is the
    document."""
    if path.suffix in (".yaml", ".yml"):
        return json.loads(
            json.dumps(yaml.safe_load(text), default=str)
        ), ""  # dates are texts
    if path.suffix == ".jsonl":
        first, _, rest = text.partition("\n")
        return json.loads(first), f"\n{rest}"
    return json.loads(text), ""


def _written(path: Path, document: Any) -> str:
    """A document as its file has it."""
    if path.suffix == ".yml":  # of a table that is known by its lines
        return yaml.safe_dump(document, sort_keys=False)
    return json.dumps(document)


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
