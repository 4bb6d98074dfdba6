"""A first look at a file: where its records are, also in JSON documents, and what each
of their columns holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.json_fields import items_of
from warehouse.importers.common.streams import TooManyTablesError, members
from warehouse.importers.tabular.chunks import (
    Chunk,
    FieldPath,
    NestedChunk,
    NestedRow,
    parse_path,
)
from warehouse.importers.tabular.column_names import (
    AGGREGATES,
    ID_NAMES,
    METADATA_NAMES,
    RUN_NAMES,
    SAMPLE_NAMES,
    Grade,
    are_models,
    are_numbered,
    grade_of,
    is_metric,
    is_setting,
    path_of,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.columns import Unfit, as_list, number_of, text_of
from warehouse.importers.tabular.plain_tables import (
    NULL_WORDS,
    PERCENT,
    ScoreValues,
    plain,
)
from warehouse.importers.tabular.readers import (
    JsonLinesReader,
    JsonReader,
    ReadingRules,
    ignore,
)
from warehouse.importers.tabular.table import SHEETS, open_reader

_DEPTH, _LOOKED_AT, _MANY = 5, 50, 20
#: What exports call the objects that they flatten into columns (``inputs.question``).
_FLATTENED = frozenset(
    "dataset input inputs output outputs reference_outputs reference expected target "
    "feedback feedback_stats"
    " feedback_scores scores score metrics metadata meta example extra summary usage".split()
)
#: What names the elements of a list that are metrics of one generation.
METRIC_NAMES = ("metric", "metric_name", "name", "scorer", "evaluator", "grader", "key")
_CONTENT = {
    "text",
    "target",
    *SAMPLE_NAMES["text"],
    *SAMPLE_NAMES["target"],
    "user_input",
    "task_id",
    "question_id",
}
_OF_PROMPTS = {*ID_NAMES, "prompt_id", *_CONTENT}
_FAMILIAR = {
    *_OF_PROMPTS,
    *SAMPLE_NAMES["response"],
    *METADATA_NAMES,
    *RUN_NAMES,
    *chain.from_iterable(RUN_NAMES.values()),
}


@dataclass(frozen=True)
class RecordLocation:
    """Where records are: paths as ``[rows]`` has them, and what else the document holds
    of such records."""

    at: str = ""
    draws: str = ""
    alternatives: tuple[str, ...] = ()  #: paths of other records with the same fields.
    #: paths of objects with the same keys, which may hold further fields of the
    #: records.
    parallel: tuple[str, ...] = ()
    #: keys of the records, where each is a task of which the document states figures.
    task_keys: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()  #: keys beside them of what is no record.


def location_of(document: Any) -> RecordLocation:
    """The likeliest place of records in a document; the document itself where none is
    likelier."""
    found = list(_locations(document, "", None))
    best = None
    if found:
        best = max(enumerate(found), key=lambda item: (_weight(*item[1]), -item[0]))[1]
    task_keys = _stated_figures(document)
    if task_keys is not None and (best is None or _is_inside(best, task_keys.at)):
        return task_keys
    if best is None:
        return RecordLocation()
    return replace(
        best[0],
        alternatives=tuple(_alternatives(best, found)),
        parallel=tuple(_parallel(best[2], best[0].at)),
    )


#: Words for what figures lie in, which name no task.
_AROUND_FIGURES = frozenset(
    "metric metrics result results score scores value values data evaluation eval".split()
)


def _stated_figures(document: Any) -> RecordLocation | None:
    """The tasks of a document of which it states figures; None where it has none, or
    has them in several locations."""
    locations = list(_stated_below(document, ""))
    if len(locations) == 1:
        return locations[0]
    folders = {
        location.at.removesuffix("{}").rpartition(".")[0] for location in locations
    }
    if len(folders) != 1 or any(location.skipped for location in locations):
        return None
    tasks = tuple(
        dict.fromkeys(chain.from_iterable(location.task_keys for location in locations))
    )
    return RecordLocation(f"{folders.pop()}{{}}{{}}", task_keys=tasks)


def _stated_below(value: Any, path: str, depth: int = 0) -> Iterator[RecordLocation]:
    if (
        not isinstance(value, dict)
        or depth > 2
        or any(plain_name(str(key)) in _CONTENT for key in value)
    ):
        return
    tasks = tuple(
        str(key) for key, inner in value.items() if _states_figures(str(key), inner)
    )
    if not tasks:
        for key, inner in value.items():
            yield from _stated_below(
                inner, f"{path}.{path_of(str(key))}".removeprefix("."), depth + 1
            )
    elif not are_numbered(tasks) and not are_models(tasks):
        yield RecordLocation(
            f"{path}{{}}",
            task_keys=tasks,
            skipped=tuple(key for key in map(str, value) if key not in tasks),
        )


def _states_figures(key: str, inner: Any) -> bool:
    """True if an object holds means of a task: broken numbers by names of metrics, and
    nothing of a prompt."""
    if (
        not isinstance(inner, dict)
        or is_metric(key)
        or {*words_of(key)} <= _AROUND_FIGURES | AGGREGATES
    ):
        return False
    names = {plain_name(str(name)) for name in inner}
    numbers = [
        n
        for name, n in inner.items()
        if isinstance(n, int | float) and grade_of(str(name)) >= Grade.LIKELY
    ]
    return (
        not is_setting([key])
        and not names & _OF_PROMPTS
        and any(number % 1 for number in numbers)
    )


def _is_inside(found: tuple[RecordLocation, Any, Any, int], at: str) -> bool:
    """True if records lie where figures are stated, and are no prompts beside them."""
    location, *_ = found
    return (
        location.at == at
        or location.at.startswith(at.rstrip("{}"))
        and _weight(*found)[0] < 2
    )


def _alternatives(best: Any, found: Sequence[Any]) -> Iterator[str]:
    """Places apart from one whose records have mostly the same fields."""
    location, record = best[0], best[1]
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return
    for other, inner, *_ in found:
        apart = not (
            other.at.startswith(location.at) or location.at.startswith(other.at)
        )
        if apart and not other.draws and isinstance(inner, dict):
            common = record.keys() & inner.keys()
            if len(common) * 2 > max(len(record), len(inner)) and _score_grade(
                {key: inner[key] for key in common}
            ):
                yield other.at


def _parallel(around: Any, at: str) -> Iterator[str]:
    """Objects beside one of values by key that hold single values by the same keys, as
    tables by column do."""
    if not isinstance(around, dict) or not at.endswith("{}"):
        return
    folder = at[: at.rfind(".") + 1]
    inner_of = {}
    for key, inner in around.items():
        inner_of[folder + path_of(str(key))] = inner
    values = inner_of.get(at.removesuffix("{}"))
    if not isinstance(values, dict) or keyed_kind(values) != "values":
        return
    for path, inner in inner_of.items():
        same_keys = (
            inner is not values
            and isinstance(inner, dict)
            and inner.keys() == values.keys()
        )
        if same_keys and all(map(_is_scalar, inner.values())):
            yield path


def keyed_kind(value: Any) -> str:
    """The kind of what an object holds under keys that are no names: ``objects``,
    ``lists``, ``values``, or nothing."""
    if not isinstance(value, dict) or len(value) < 2:
        return ""
    inner = list(value.values())
    if all(isinstance(item, dict) for item in inner):
        if _are_alike(list(value), inner):
            return "objects"
        return ""
    keys_are_ids = (
        len(inner) > 2 and are_numbered(list(map(str, value))) or len(inner) >= _MANY
    )
    if not keys_are_ids:
        return ""
    if all(isinstance(item, list) for item in inner):
        if all(map(_is_scalar, chain.from_iterable(inner[:_LOOKED_AT]))):
            return "lists"
        return ""
    kinds = {type(item) for item in inner}
    if kinds <= {int, float, bool} and not any(_is_field(key) for key in value):
        return "values"
    return ""


def _are_alike(keys: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """True if objects have most of their fields in common, and are no objects with keys
    of the same kind."""
    if any(_is_field(key) for key in keys) or not any(records):
        return False
    if len(records) < 3 and not are_numbered(keys):
        return False
    looked_at = records[:_LOOKED_AT]
    times = Counter(chain.from_iterable(looked_at))
    common = {
        key for key, count in times.items() if count * 5 >= len(looked_at) and count > 1
    }
    if len(common) > 2 and are_numbered(sorted(common)):
        return False
    fits = 0
    for record in looked_at:
        fits += len(common & record.keys()) * 2 >= len(record)
    return fits * 5 >= len(looked_at) * 4


def _is_field(key: str) -> bool:
    return plain_name(str(key)) in _FAMILIAR


def _locations(
    value: Any, path: str, outer: Any, depth: int = 0
) -> Iterator[tuple[RecordLocation, Any, Any, int]]:
    """Places, with the first record of each, what it lies in, and how many there
    are."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        records = [item for item in value[:_LOOKED_AT] if isinstance(item, dict)]
        if records and len(records) * 2 > len(value[:_LOOKED_AT]):
            yield from _of_records(f"{path}[]", records, outer, len(value), depth)
    elif isinstance(value, dict):
        kind = keyed_kind(value)
        if kind == "objects":
            records = [item for item in value.values() if isinstance(item, dict)]
            yield from _of_records(f"{path}{{}}", records, value, len(value), depth)
            return
        if kind:
            if (
                _grade_of_keyed(value)
                and grade_of(path.rpartition(".")[2]) > Grade.NEVER
            ):
                yield (
                    RecordLocation(f"{path}{{}}", "[]" if kind == "lists" else ""),
                    value,
                    outer,
                    len(value),
                )
            return
        if _are_lists_of_one_kind(value):
            records = list(chain.from_iterable(value.values()))
            yield from _of_records(f"{path}{{}}[]", records, value, len(records), depth)
            return
        prefix = ""
        if path:
            prefix = f"{path}."
        yield from _inside(value, prefix, depth)


def _are_lists_of_one_kind(value: Mapping[str, Any]) -> bool:
    """True if an object holds nothing but lists of records with the same fields: of
    several models, tasks, prompts."""
    lists = list(value.values())
    if (
        len(lists) < 2
        or not all(map(_is_list_of_records, lists))
        or any(map(_is_field, map(str, value)))
    ):
        return False
    first = {*lists[0][0]}
    return all(
        len(first & {*items[0]}) * 2 > max(len(first), len(items[0])) for items in lists
    )


def _of_records(
    path: str, records: Sequence[Any], outer: Any, count: int, depth: int
) -> Iterator[Any]:
    record = max(records, key=len)
    yield RecordLocation(path), record, outer, count
    names_prompts = any(plain_name(str(key)) in _OF_PROMPTS for key in record)
    if names_prompts:
        entries = record.items()
    else:
        entries = ()
    for key, inner in entries:
        if grade_of(str(key)) >= Grade.LIKELY and _scores_a_list(inner, record):
            yield (
                RecordLocation(path, f"{path_of(str(key))}[]"),
                {**record, key: inner[0]},
                outer,
                count,
            )
        if not _is_list_of_records(inner) or not _score_grade(inner[0]):
            continue
        if {plain_name(str(name)) for name in inner[0]} & _CONTENT - {"text"}:
            continue  # prompts of their own; a text may be that of a generation
        if not names_of_metrics(
            [item.get(key) for item in records if isinstance(item.get(key), list)]
        ):
            yield (
                RecordLocation(path, f"{path_of(str(key))}[]"),
                {**inner[0], **record},
                outer,
                count,
            )
    yield from _inside(record, f"{path}.", depth)


def _scores_a_list(value: Any, record: Mapping[str, Any]) -> bool:
    """True if a list holds a score for each element of another one: texts of
    generations."""
    if not isinstance(value, list) or not value or not all(map(_is_unit, value)):
        return False
    others = (
        inner
        for inner in record.values()
        if inner is not value and _are_beside(inner, value)
    )
    first = chain.from_iterable(inner[:1] for inner in others)
    return any(isinstance(part, str) for part in first)


def _are_beside(value: Any, other: Any) -> bool:
    return (
        isinstance(value, list) and isinstance(other, list) and len(value) == len(other)
    )


def _inside(record: Mapping[str, Any], prefix: str, depth: int) -> Iterator[Any]:
    for key, inner in record.items():
        if isinstance(inner, list | dict):
            yield from _locations(
                inner, f"{prefix}{path_of(str(key))}", record, depth + 1
            )


def _are_objects(items: Sequence[Any]) -> bool:
    return all(isinstance(item, dict) for item in items)


def names_of_metrics(lists: Sequence[Sequence[Any]]) -> str:
    """The field that names the elements of lists, where they are metrics and no
    generations; else nothing."""
    filled = [items for items in lists[:_LOOKED_AT] if items and _are_objects(items)]
    for name in METRIC_NAMES:
        named = []
        for items in filled:
            named.append([item.get(name) for item in items])
        texts = list(chain.from_iterable(named))
        if not texts or not all(isinstance(text, str) for text in texts):
            continue
        if (
            all(len({*names}) == len(names) for names in named)
            and len({*texts}) <= max(map(len, named)) * 2
        ):
            return name
    return ""


def _is_list_of_records(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
    )


def _weight(
    location: RecordLocation, record: Any, outer: Any, count: int
) -> tuple[int, ...]:
    """How much speaks for a place: scores beside prompts, scores, known names, how many
    records."""
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return (2, _grade_of_keyed(record), 0, count)
    grade, familiar = (
        _score_grade(record),
        {plain_name(str(key)) for key in record} & _FAMILIAR,
    )
    of_prompts = (
        bool(familiar & _OF_PROMPTS) or location.at.endswith("{}") and count > 2
    )
    if (
        not of_prompts
        and isinstance(outer, dict)
        and any(plain_name(str(key)) in _OF_PROMPTS for key in outer)
    ):
        siblings = outer.get(
            location.at.rpartition(".")[2].removesuffix("[]").strip('"')
        )
        of_prompts = bool(names_of_metrics([items_of(siblings)]))
    likely = 0
    if grade:
        likely = 1 + bool(of_prompts)
    return (likely, grade, len(familiar), count)


def _grade_of_keyed(record: Any) -> int:
    parts: list[Any] = []
    for item in record.values():
        if isinstance(item, list):
            parts += item
        else:
            parts += [item]
    if parts and all(_is_unit(part) for part in parts[:1000]):
        return int(Grade.LIKELY)
    return 0


def _score_grade(record: Any, parents: tuple[str, ...] = ()) -> int:
    """The best grade of a number in a record; 0 where it has none that may well be a
    score."""
    best = 0
    if not isinstance(record, dict):
        return best
    for key, value in record.items():
        if isinstance(value, dict) and len(parents) < 3 and not keyed_kind(value):
            best = max(best, _score_grade(value, (*parents, str(key))))
        elif (
            _is_scalar(value)
            and value is not None
            and not isinstance(number_of(value), Unfit | None)
        ):
            grade = grade_of(str(key), parents)
            if grade >= Grade.LIKELY:
                rank = int(grade)
            else:
                rank = 0
            best = max(best, rank)
    return best


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_unit(value: Any) -> bool:
    return isinstance(value, bool | int | float) and 0 <= value <= 1


#: Rows that are looked at, cells of them where columns are many, and rows in any case.
SAMPLE_ROWS, _CELLS, _LEAST_ROWS = 10_000, 2_000_000, 200
#: Records that are asked for their fields, most columns, most fields of an object that
#: is no map.
_ASKED, _MOST, _FIELDS = 200, 400, 40


#: A number of a leaderboard, with marks, an error or ends of an interval behind it.
_MARKED = r"[^\w.+()-]*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)[\s*†‡^_`~]*(?:[±+(][\s\d.,/+±-]+\)?)?[\s*†‡^_`~]*"


@dataclass
class ColumnProfile:
    """A column of a table, as its first rows show it."""

    name: str  #: what it is called; ``path`` is how a mapping names it.
    path: str
    rows: int  #: how many rows were looked at; ``nulls`` of them have no value.
    nulls: int
    values: list[Any]  #: the distinct values, nulls left out.
    #: names of the objects that it lies in, outermost first.
    parents: tuple[str, ...] = ()

    @cached_property
    def kind(self) -> str:
        """The kind of its values, in a word or two."""
        if not self.values:
            return "empty"
        if all(isinstance(value, list | dict) for value in self.values):
            if isinstance(self.values[0], list):
                return "list"
            return "object"
        if all(isinstance(value, bool) for value in self.values):
            return "true/false"
        scores = self.scores
        if scores.texts:
            if scores.numbers:
                return "mixed"
            return "text"
        if scores.is_truth:
            return "0/1"
        return "number"

    @cached_property
    def scores(self) -> ScoreValues:
        """The values as if they were scores."""
        scores = ScoreValues()
        scores.learn_values(value for value in self.values if value != "")
        return scores

    def reading(self, delimiter: str = ",") -> tuple[dict[str, Any], str]:
        """Keys of an expression that turn the values into numbers, and what they do in
        words; nothing where they are numbers, or none at all."""
        keys, meaning = self.scores.reading(delimiter)
        if not keys and self._marked:
            nulls = [text for text in self.values if plain(str(text)) in NULL_WORDS]
            keys = ({"null": nulls} if nulls else {}) | {
                "pattern": r"[+-]?\d[\d,]*\.?\d*",
                "decimal": ".",
            }
            meaning = "commas part thousands; marks around numbers are left out"
        return keys, meaning

    @cached_property
    def _marked(self) -> list[str]:
        """The numbers, where values are written as in leaderboards: ``**86.4**``,
        ``86.4 ± 0.3``, ``1,287``."""
        texts = [
            text
            for value in self.values
            if plain(text := str(value)) not in {"", *NULL_WORDS}
        ]
        found = [
            match for text in texts if (match := re.fullmatch(_MARKED, text.strip()))
        ]
        is_marked = len(found) == len(texts) and any(
            isinstance(number_of(text), Unfit) for text in texts
        )
        if is_marked:
            return [match[1].replace(",", "") for match in found]
        return []

    @cached_property
    def is_percent(self) -> bool:
        """True if all values are texts like ``85.2 %``, but for those that stand for a
        missing one."""
        texts = [value.strip() for value in self.values if isinstance(value, str)]
        filled = [text for text in texts if text and plain(text) not in NULL_WORDS]
        return (
            len(texts) == len(self.values)
            and bool(filled)
            and all(map(PERCENT.fullmatch, filled))
        )

    @cached_property
    def numbers(self) -> list[float]:
        """The values that are numbers."""
        values = self._marked or self.values
        return [
            float(number)
            for value in values
            if isinstance(number := number_of(value), int | float)
        ]

    @property
    def coverage(self) -> float:
        """Share of the rows that have a value."""
        if self.rows:
            return 1 - self.nulls / self.rows
        return 0.0

    @property
    def is_number(self) -> bool:
        """True if all of its values are numbers."""
        scores = self.scores
        return scores.numbers and not scores.texts

    @property
    def is_figures(self) -> bool:
        """True if all of its values are numbers, percentages or words for a missing
        one, as in leaderboards."""
        scores = self.scores
        are_numbers = scores.numbers and all(
            plain(text) in NULL_WORDS for text in scores.texts
        )
        return self.is_percent or are_numbers or bool(self._marked)

    @property
    def depth(self) -> int:
        """Objects of the record that it lies in; what lies beside the record counts as
        deeper than what is in it."""
        return len(self.parents) + self.path.startswith("^")

    @property
    def is_unique(self) -> bool:
        """True if every row has a value of its own."""
        return len(self.values) == self.rows > 0


def column_of_values(values: Iterable[Any]) -> ColumnProfile:
    """Values of several columns, or a few of one, as a column."""
    return ColumnProfile("", "", 0, 0, list(values))


@dataclass
class TableProfile:
    """A file as its first rows show it."""

    path: Path
    format: str
    delimiter: str
    columns: list[ColumnProfile]
    rows: int
    chunk: Chunk  #: the rows themselves.
    #: where the records are, and the generations in each.
    location: RecordLocation = RecordLocation()
    #: scalars of the document that holds the records, by path.
    document: dict[str, Any] = field(default_factory=dict)
    parent: str = ""  #: where other rows, which are left out here, name the row that they are a part of.

    @property
    def is_flat(self) -> bool:
        """True if a cell is a text or a number, as in CSV."""
        return self.format in ("CSV", "TSV")

    @property
    def is_object(self) -> bool:
        """True if the file is one object of JSON that holds no records."""
        return (
            self.rows == 1 and self.format.startswith("JSON") and not self.location.at
        )

    def values(self, column: ColumnProfile) -> list[Any]:
        """The values of a column, row by row."""
        return as_list(self.chunk.column(column.path), self.rows)


def profile(path: Path) -> TableProfile:
    """Look at a CSV, TSV, JSON, JSON lines or Parquet file, also in gzip, or in a zip
    the first.

    Raises:
        InputError: the file cannot be read as a table, or has no rows.
    """
    member = members(path, path.name)[0]
    reader = open_reader(member, ReadingRules())
    location = RecordLocation()
    document: Any = None
    if isinstance(reader, JsonReader | JsonLinesReader):
        location, document = _placed(reader)
        reader = open_reader(
            member, ReadingRules(at=_parsed(location.at), draws=_parsed(location.draws))
        )
    bad: list[str] = []
    chunks = reader.chunks(
        None,
        lambda location, found, expected: bad.append(
            f": {location}: {found}; expected {expected}"
        ),
    )
    chunk = next((part for part in chunks if part.size), None)
    if chunk is None:
        first = bad[0] if bad else ""
        raise InputError(
            f"no rows{first}",
            path=path.name,
            expected="" if bad else "a table with at least one row",
        )
    if location.skipped:
        keys = as_list(chunk.column("@key"), chunk.size)
        chunk = chunk.keep(
            [row for row, key in enumerate(keys) if key in location.task_keys]
        )
    parent, roots = _above_others(chunk)
    chunk = chunk.keep(roots) if parent else chunk
    n_columns = max(1, len(chunk.names()))
    rows = max(_LEAST_ROWS, min(SAMPLE_ROWS, _CELLS // n_columns))
    chunk = chunk.keep(range(min(chunk.size, rows)))
    paths = (
        _table_paths(chunk)
        if reader.is_table
        else _record_paths(chunk, location, isinstance(document, dict))
    )
    columns = [_column(chunk, *item) for item in paths]
    scalars = {}
    if location.at and isinstance(document, dict):
        scalars = dict(_scalars(document, "$"))
    return TableProfile(
        path,
        reader.kind,
        getattr(reader, "delimiter", ""),
        columns,
        chunk.size,
        chunk,
        location=location,
        document=scalars,
        parent=parent,
    )


def _parents_in(value: Any) -> list[Any]:
    """Names of the rows above, of which a cell holds a list, one or none."""
    if isinstance(value, list):
        return value
    if value in (None, ""):
        return []
    return [value]


def _above_others(chunk: Chunk) -> tuple[str, list[int]]:
    """Where rows name the row that they are a part of, as spans of a trace do, and the
    rows that name none; nothing where there are none of either kind."""
    columns = {
        name: as_list(chunk.column(path_of(name)), chunk.size) for name in chunk.names()
    }
    for name, values in columns.items():
        above = [_parents_in(value) for value in values]
        roots = [row for row, parents in enumerate(above) if not parents]
        named = set(map(str, chain.from_iterable(above)))
        if "parent" not in plain_name(name) or not named or not roots:
            continue
        if any(
            named <= {*map(str, ids)} for other, ids in columns.items() if other != name
        ):
            return path_of(name), roots
    return "", []


def why_unreadable(path: Path) -> str:
    """The fault of JSON (with line and column), CSV, TSV or a spreadsheet, or with an
    archive of too many tables; nothing if it can be read."""
    if path.suffix.lower() == ".zip":
        return _too_many(path)
    if path.suffix.lower() not in (
        ".json",
        ".jsonl",
        ".ndjson",
        ".csv",
        ".tsv",
        *SHEETS,
    ):
        return ""
    try:
        reader = open_reader(members(path, path.name)[0], ReadingRules())
        if not isinstance(reader, JsonLinesReader):
            next(iter(reader.chunks(None, ignore)), None)
    except InputError as error:
        return str(error)
    except OSError:
        pass  # which the walk has said
    return ""


def _too_many(path: Path) -> str:
    try:
        members(path, path.name)
    except TooManyTablesError as error:
        return str(error)
    except InputError:  # which is said otherwise
        return ""
    return ""


def _placed(reader: JsonReader | JsonLinesReader) -> tuple[RecordLocation, Any]:
    """Where the records of a document are, and the document; nothing said where they
    are its elements or lines."""
    chunk = next(iter(reader.chunks(None, ignore)), None)
    if chunk is None or not chunk.size:
        return RecordLocation(), None
    is_nested = isinstance(chunk, NestedChunk)
    document = None
    if isinstance(chunk, NestedChunk):
        document = chunk.rows[0].levels[0][0]
    if is_nested and isinstance(document, dict):
        return location_of(document), document
    records = [
        record
        for record in chunk.keep(range(min(chunk.size, _ASKED))).records()
        if isinstance(record, dict)
    ]
    location = location_of(records)
    if location.at == "[]":
        return RecordLocation("", location.draws), None
    if is_nested:
        place = location.at
    else:
        place = location.at.removeprefix("[].")
    return RecordLocation(place, location.draws), None


def _scalars(
    value: Mapping[str, Any], path: str, depth: int = 0
) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        here = f"{path}.{path_of(str(key))}"
        if isinstance(inner, dict) and depth < 2:
            yield from _scalars(inner, here, depth + 1)
        elif isinstance(inner, str | int | float) and inner != "":
            yield here, inner


#: Name, path and objects around a column.
_Where = tuple[str, str, tuple[str, ...]]


def _table_paths(chunk: Chunk) -> list[_Where]:
    """Columns of a table, and the fields of those that hold objects."""
    found: list[_Where] = []
    for name in chunk.names():
        column = chunk.column(name)
        is_nested = isinstance(column, list) or pa.types.is_nested(
            getattr(column, "type", pa.null())
        )
        objects = []
        if is_nested:
            objects = [
                value
                for value in as_list(column, chunk.size)
                if isinstance(value, dict)
            ]
        if not objects:
            found.append(_unflattened(name, path_of(name), ()))
        fields: dict[str, _Where] = {}
        for value in objects[:_ASKED]:
            fields |= {field[1]: field for field in _fields({name: value})}
        found += fields.values()
    return found


def _unflattened(name: str, path: str, parents: tuple[str, ...]) -> _Where:
    """A column by its last name, where an export made it of objects
    (``inputs.question``)."""
    *around, last = name.split(".")
    is_inside = bool(around) and not parents and plain_name(around[0]) in _FLATTENED
    if is_inside:
        return (last, path, tuple(around))
    return (name, path, parents)


def _record_paths(
    chunk: Chunk, location: RecordLocation, is_document: bool
) -> list[_Where]:
    """Names and paths of the fields of records, those inside objects included, and of
    what the records lie in."""
    found: dict[str, _Where] = {}
    inner = location.draws.removesuffix("[]")
    for record in chunk.records()[:_ASKED]:
        for item in _fields(record) if isinstance(record, dict) else ():
            if inner and _are_beside(record.get(item[0]), record.get(inner)):
                item = (
                    item[0].removesuffix("s"),
                    f"{item[1]}[@draw]",
                    (),
                )  # a list beside that of the generations
            if not inner or not item[1].startswith(inner):
                found.setdefault(item[1], item)
    if isinstance(chunk, NestedChunk):
        for row in chunk.rows[:_ASKED]:
            for item in _around(row, location, is_document):
                found.setdefault(item[1], item)
    if (
        location.at
        and isinstance(chunk, NestedChunk)
        and not any(isinstance(part, dict) for part in chunk.records())
    ):
        found = {
            path: item
            for path, item in found.items()
            if path.lstrip("^").startswith("@")
        }
        found.setdefault("@", ("value", location.draws or "@", ()))
    return _gathered(found.values())[:_MOST]


def _gathered(found: Iterable[_Where]) -> list[_Where]:
    """The columns, with one for all fields of an object that has too many of them to be
    one record."""
    columns = list(found)
    counts = Counter(parents for _, _, parents in columns)
    keyed = {
        parents for parents, count in counts.items() if parents and count > _FIELDS
    }
    kept: dict[str, _Where] = {}
    for name, path, parents in columns:
        around = next(
            (parents[:n] for n in range(1, len(parents) + 1) if parents[:n] in keyed),
            None,
        )
        if around is not None and not path.startswith("^"):
            name, path, parents = (
                around[-1],
                ".".join(map(path_of, around)),
                around[:-1],
            )
        kept.setdefault(path, (name, path, parents))
    return list(kept.values())


def _around(
    row: NestedRow, location: RecordLocation, is_document: bool
) -> Iterator[_Where]:
    """The key of a record, the fields of its generation, and those of the record that
    it lies in."""
    if location.at.endswith("{}"):
        yield "@key", "@key", ()
        if location.at.endswith("{}{}"):
            yield "^@key", "^@key", ()
    elif "{}" in location.at:
        path = "^" * location.at.rpartition("{}")[2].count("[]") + "@key"
        yield path, path, ()
    if (
        location.draws != "[]"
        and row.draw is not None
        and not isinstance(row.draw, dict)
    ):
        yield location.draws.removesuffix("[]"), location.draws, ()
    elif location.draws and isinstance(row.draw, dict):
        yield from (
            (name, f"{location.draws}.{path}", parents)
            for name, path, parents in _fields(row.draw)
        )
    around = row.levels[-2][0] if len(row.levels) > 1 + is_document else None
    is_map = not location.at.endswith("[]")
    if not isinstance(around, dict):
        return
    for name, path, parents in _fields(around):
        value: Any = around
        for key in (*parents, name):
            value = value[key]
        if not isinstance(value, list | dict) and not (parents and is_map):
            yield name, f"^.{path}", parents


def _fields(
    record: Mapping[str, Any], parents: tuple[str, ...] = (), depth: int = 0
) -> Iterator[_Where]:
    """The fields of a record; an object with keys that are no names of fields is one of
    them."""
    for key, value in record.items():
        if (
            isinstance(value, dict)
            and value
            and depth < _DEPTH - 1
            and not keyed_kind(value)
        ):
            yield from _fields(value, (*parents, str(key)), depth + 1)
        else:
            yield _unflattened(
                str(key),
                ".".join(path_of(str(step)) for step in (*parents, key)),
                parents,
            )


def _column(
    chunk: Chunk, name: str, path: str, parents: tuple[str, ...]
) -> ColumnProfile:
    values = as_list(chunk.column(path), chunk.size)
    distinct: dict[str, Any] = {}
    nulls = 0
    for value in values:
        if value is None:
            nulls += 1
        else:
            distinct.setdefault(f"{type(value).__name__} {text_of(value)}", value)
    return ColumnProfile(
        name, path, chunk.size, nulls, list(distinct.values()), parents
    )


def _parsed(text: str) -> FieldPath | None:
    if text:
        return parse_path(text)
    return None
